"""`Run`: what a simulation recorded, its certificate and its energy ledger.

Energy ledger: E_final − E_initial = actuation + joint friction + remainder, with E kinetic plus
gravitational plus joint springs' energy; actuation is the work of controllers and PD gains, joint friction
that of the model's dampers (≤ 0), both by the trapezoidal rule; the remainder is what the time
discretisation added or lost.

Certificate: the largest residual of the equation of motion over all recorded states, τ against Newton–Euler
at the acceleration that the articulated-body algorithm gave: two algorithms that share nothing but the
kinematics. Contact residuals are None in a run without contact.

Through contact both are sums and maxima of the records of the steps (`taction.steppers.ledger`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.model import Model
from taction.sim.columns import (
    RECORD_COLUMNS,
    force_columns,
    position_columns,
    quaternion_starts,
    shared_unit,
    sum_forces,
    velocity_columns,
)
from taction.sim.resample import Samples, interpolate, new_times, place, turn

if TYPE_CHECKING:
    from taction.sim.contact_simulation import SimState
    from taction.sim.world import World
    from taction.steppers.driver import ContactTable


@dataclass(frozen=True)
class Certificate:
    """Worst residuals over a run; None where the run has no such element.

    Attributes:
        motion: equation of motion, relative to the largest joint and bias forces.
        motion_time: when that happened [s].
        quaternion: largest deviation of a quaternion from unit length.
        joint_gap: largest violation of a mimic coupling [m or rad].
        signorini: normal contact law.
        cone: friction cone.
        dissipation: maximum dissipation.
        penetration: overlap [m].
        unconverged_steps: steps whose equations were not solved.
        residual: natural map of all contact laws, relative to the free velocities.
        residual_time: when that happened [s].
        residual_at: the two shapes where it was worst.
    """

    motion: float
    motion_time: float
    quaternion: float
    joint_gap: float | None = None
    signorini: float | None = None
    cone: float | None = None
    dissipation: float | None = None
    penetration: float | None = None
    unconverged_steps: int = 0
    residual: float | None = None
    residual_time: float | None = None
    residual_at: str = ""


@dataclass(frozen=True)
class EnergyLedger:
    """Energies and works of a run [J]; see the module text. ``closure`` is relative to the energy scale."""

    initial: float
    final: float
    actuation: float
    joint_friction: float
    remainder: float
    friction: float | None = None
    impact: float | None = None
    correction: float | None = None
    closure: float | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """A recorded motion.

    Attributes:
        model: what moved.
        dt: time step [s].
        integrator: name of the method.
        t: times [s], shape (n + 1,).
        q: configurations, shape (n + 1, nq).
        v: velocities, shape (n + 1, nv).
        tau: joint forces of the controller and its gains at each time [N or N m], shape (n + 1, nv).
        kinetic: kinetic energy [J], shape (n + 1,).
        potential: gravitational and spring energy [J], shape (n + 1,).
        certificate: worst residuals.
        energy: where the energy went.
        wall_s: time the steps took [s].
        left_out: effects that the model describes and this kind of run leaves out.
        metrics: a scenario's own results.
        world: what moved and touched, in a run through contact.
        contact: law of contact.
        solver: of the contact problems.
        records: one row per step, columns of `taction.steppers.ledger`.
        contacts: all contacts of all steps.
        state: where it ended: `Simulation.run` continues from it bit for bit.
        events: times and names of the events asked for.
        coordinates: in which the steps were taken: ``"reduced"`` or ``"absolute"``.
        residuals: of the equation of motion at each recorded state, in smooth motion, shape (n + 1,).
    """

    model: Model
    dt: float
    integrator: str
    t: Array
    q: Array
    v: Array
    tau: Array
    kinetic: Array
    potential: Array
    certificate: Certificate
    energy: EnergyLedger
    wall_s: float
    left_out: tuple[str, ...] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    world: World | None = None
    contact: str | None = None
    solver: str | None = None
    records: Array | None = None
    contacts: ContactTable | None = None
    state: SimState | None = None
    events: list[tuple[float, str]] = field(default_factory=list)
    coordinates: str = "reduced"
    residuals: Array | None = None

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return len(self.t) - 1

    @property
    def energy_drift(self) -> float:
        """Unexplained energy, relative to the largest kinetic energy of the run."""
        return abs(self.energy.remainder) / max(float(self.kinetic.max()), 1e-300)

    def summary(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        return {
            "model": self.model.name,
            "integrator": self.integrator,
            "dt": self.dt,
            "steps": self.steps,
            "wall_s": self.wall_s,
            "certificate": asdict(self.certificate),
            "energy": {**asdict(self.energy), "drift": self.energy_drift},
            "left_out": list(self.left_out),
            "metrics": self.metrics,
        }

    def save(self, path: str | Path) -> Path:
        """Write arrays and summary; returns the path.

        A name in ``.h5`` or ``.hdf5`` makes the file of `taction.sim.run_file`, which `taction.load_run`
        reads; any other a ``.npz`` file.
        """
        path = Path(path)
        if path.suffix in (".h5", ".hdf5"):
            from taction.sim.run_file import save_run

            return save_run(self, path)
        path = path.with_suffix(".npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in ("t", "q", "v", "tau", "kinetic", "potential")}
        if self.records is not None and self.contacts is not None:
            arrays["records"] = self.records
            arrays |= {
                f"contact_{name}": array for name, array in self.contacts._asdict().items() if name != "count"
            }
        np.savez_compressed(path, **arrays, summary=json.dumps(self.summary()))
        return path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded arrays, those of `arrays`."""
        return tuple(self.arrays())

    def arrays(self) -> dict[str, tuple[Array, str]]:
        """Recorded arrays by name, each with its unit.

        The states and energies have n + 1 rows; records of the steps through contact (``residual``,
        ``friction``, ``contacts``, …) and forces on bodies (``force[NAME]``, world axes) have n, one per
        step. Where the columns of an array differ in unit, the unit lists those there are; `columns` gives
        each its own.
        """
        model = self.model
        out = {
            "t": (self.t, "s"),
            "q": (self.q, shared_unit(position_columns(model))),
            "v": (self.v, shared_unit(velocity_columns(model))),
            "tau": (self.tau, shared_unit(force_columns(model))),
            "kinetic": (self.kinetic, "J"),
            "potential": (self.potential, "J"),
        }
        if self.residuals is not None:
            out["motion"] = self.residuals, "1"
        if self.records is not None:
            for c, column in enumerate(RECORD_COLUMNS):
                if column.name not in out:  # energies at the start of a step: in there already
                    out[column.name] = self.records[:, c], column.unit
        if self.contacts is not None:
            out |= {f"force[{name}]": (force, "N") for name, force in self.contact_forces().items()}
        return out

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every recorded number over time by name, with its unit: 1-D arrays of n + 1 rows.

        Coordinates are called by their joints, ``q[hip]``, ``v[root.wx]``, ``tau[hip]``
        (`taction.sim.columns`), forces on bodies ``force[box.x]``. What belongs to a step stands in the row
        of its start; the last row has none: NaN.
        """
        model = self.model
        named = {"q": position_columns(model), "v": velocity_columns(model), "tau": force_columns(model)}
        out: dict[str, tuple[Array, str]] = {}
        for name, (array, unit) in self.arrays().items():
            if len(array) == self.steps:
                array = np.concatenate([array, np.full((1, *array.shape[1:]), np.nan)])
            if name in named:
                for c, column in enumerate(named[name]):
                    out[f"{name}[{column.name}]"] = array[:, c], column.unit
            elif array.ndim == 2:
                for c, axis in enumerate("xyz"):
                    out[f"{name[:-1]}.{axis}]"] = array[:, c], unit
            else:
                out[name] = array, unit
        return out

    def to_dataframe(self) -> Any:
        """`columns` as a pandas data frame; the units are in its ``attrs["units"]``.

        Raises:
            BadInput: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise BadInput("to_dataframe needs pandas (pip install 'taction[pandas]')") from None
        columns = self.columns()
        frame = pandas.DataFrame({name: array for name, (array, _) in columns.items()})
        frame.attrs["units"] = {name: unit for name, (_, unit) in columns.items()}
        return frame

    def resample(self, dt: float) -> Samples:
        """States, forces and energies every dt [s] from the start on; see `taction.sim.resample`."""
        times = new_times(self.t, dt)
        k, share = place(self.t, times)
        q = interpolate(self.q, k, share)
        for i in quaternion_starts(self.model):
            q[:, i : i + 4] = turn(self.q[:, i : i + 4], k, share)
        v, kinetic, potential = (interpolate(x, k, share) for x in (self.v, self.kinetic, self.potential))
        return Samples(times, q, v, self.tau[k], kinetic, potential)

    def plot(self) -> Any:
        """Motion, energies, contact forces and residuals over time; a matplotlib figure.

        Raises:
            BadInput: matplotlib is not installed.
        """
        return _report("overview", "draw_overview")(self)

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page about the run; returns its path.

        Raises:
            BadInput: matplotlib is not installed, or the page cannot be written.
        """
        return _report("run_report", "write_report")(self, path)

    @property
    def hashes(self) -> list[str]:
        """A digest of configuration and velocity at every time: equal digests mean equal bits."""
        states = zip(self.q, self.v, strict=True)
        return [blake2b(q.tobytes() + v.tobytes(), digest_size=8).hexdigest() for q, v in states]

    def contact_forces(self, by: str = "body") -> dict[str, Array]:
        """Mean contact force on each body or shape over each step, world axes [N], shape (n, 3) each.

        Args:
            by: ``"body"`` or ``"shape"``; the ground is a body called ``"world"``.
        """
        if self.contacts is None or self.world is None:
            raise BadInput("this run has no contact")
        if by not in ("body", "shape"):
            raise BadInput(f"by {by!r}: choose body or shape")
        table, world = self.contacts, self.world
        names = [world.body_name(i) if by == "body" else n for i, n in enumerate(world.shape_names)]
        force = np.einsum("cij,cj->ci", table.frame.reshape(-1, 3, 3), table.impulse) / self.dt
        return sum_forces(table.step, table.key, force, names, self.steps)


def _report(module: str, name: str) -> Any:
    """A function of the report layer.

    That layer is above this one and may import it; the other way round would be a circle. So it is looked
    up by name when it is asked for: nothing that simulates depends on it.
    """
    return getattr(import_module(f"taction.report.{module}"), name)


def quaternion_error(model: Model, Q: Array) -> float:
    """Largest deviation of a quaternion in configurations Q (n, nq) from unit length."""
    ends = [j.q_slice.stop for j in model.joints if j.kind.nq != j.kind.nv]
    return max(
        (float(np.abs(np.linalg.norm(Q[:, e - 4 : e], axis=1) - 1.0).max()) for e in ends), default=0.0
    )
