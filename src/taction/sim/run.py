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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import as_path
from taction._core.show import brief, brief_repr, count, rows, some
from taction._core.whole_file import written_whole
from taction.model.model import Model
from taction.sim.certified import Certificate
from taction.sim.columns import force_columns, position_columns, quaternion_starts, velocity_columns
from taction.sim.description import pack
from taction.sim.motion_errors import StepErrors, estimate_errors
from taction.sim.recording import Layout, Recording
from taction.sim.resample import Samples, interpolate, new_times, place, turn
from taction.sim.run_file import CONTACT_FIELDS, STATES, column_names, datasets, header
from taction.sim.state import SimState, digest
from taction.steppers.columns import COLUMNS, STORED, STORED_AFTER

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.world import World


@dataclass(frozen=True)
class EnergyLedger:
    """Energies and works of a run [J]; see the module text. ``closure`` is relative to the energy scale.

    ``stored`` is what the springs of soft contacts hold at the end, a part of ``final``.
    """

    initial: float
    final: float
    actuation: float
    joint_friction: float
    remainder: float
    friction: float | None = None
    impact: float | None = None
    pressing: float | None = None
    joints: float | None = None
    correction: float | None = None
    closure: float | None = None
    stored: float | None = None

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Recording):
    """A recorded motion.

    Besides the arrays of `taction.sim.recording.Recording`:

    Attributes:
        model: what moved.
        integrator: name of the method.
        certificate: worst residuals.
        energy: where the energy went.
        wall_s: time the steps took [s].
        left_out: effects that the model describes and this kind of run leaves out.
        metrics: a scenario's own results.
        world: what moved and touched, in a run through contact.
        contact: law of contact.
        solver: of the contact problems.
        state: where it ended: `Simulation.run` continues from it bit for bit.
        events: times and names of the events asked for.
        coordinates: in which the steps were taken: ``"reduced"`` or ``"absolute"``.
        blew_up: why the run ended early, where contact as a force made energy; else empty.
        stopped: whether Ctrl-C ended the run before its time.
        springs: numbers of contact as a force that were given, in words.
        accuracy: to which steps divided themselves, with its unit; empty for plain steps.
    """

    model: Model
    integrator: str
    certificate: Certificate
    energy: EnergyLedger
    wall_s: float
    left_out: tuple[str, ...] = ()
    metrics: dict[str, Any] = field(default_factory=dict)
    world: World | None = None
    contact: str | None = None
    solver: str | None = None
    state: SimState
    events: list[tuple[float, str]] = field(default_factory=list)
    coordinates: str = "reduced"
    blew_up: str = ""
    stopped: bool = False
    springs: str = ""
    accuracy: str = ""

    def __repr__(self) -> str:
        worst = self.certificate
        residual = "" if worst.residual is None else f"residual {brief(worst.residual)}, "
        return rows(
            f"<Run of {self.model.name!r}: {count(self.steps, 'step')} of {self.dt:g} s, "
            f"t = {self.t[0]:.6g} to {self.t[-1]:.6g} s{', stopped' if self.stopped else ''}>",
            ", ".join(f"{key} {value}" for key, value in self.settings.items()),
            *self._rows(),
            f"certificate: {residual}motion {brief(worst.motion)}, "
            f"{worst.unconverged_steps} steps not converged",
            *worst.in_words,
            f"energy: {brief(self.energy.initial)} J to {brief(self.energy.final)} J, remainder "
            f"{brief(self.energy.remainder)} J",
            f"left out: {', '.join(self.left_out)}" if self.left_out else "",
            self.blew_up,
            f"metrics: {some(self.metrics)}" if self.metrics else "",
            f"{count(self.events, 'event')}" if self.events else "",
        )

    @property
    def layout(self) -> Layout:
        """Names and units of the columns, from the model and the world."""
        model, world = self.model, self.world
        shapes = () if world is None else world.shape_names
        bodies = () if world is None else tuple(world.body_name(i) for i in range(len(shapes)))
        return Layout(position_columns(model), velocity_columns(model), force_columns(model), shapes, bodies)

    @property
    def settings(self) -> dict[str, str]:
        """Scheme, and through contact law, solver and coordinates, for the head of a file."""
        given = {"scheme": self.integrator, "contact": self.contact, "solver": self.solver}
        given["coordinates"] = None if self.world is None else self.coordinates
        given["springs"], given["accuracy"] = self.springs or None, self.accuracy or None
        return {name: value for name, value in given.items() if value is not None}

    @property
    def energy_drift(self) -> float:
        """Unexplained energy, relative to the largest kinetic energy of the run."""
        return abs(self.energy.remainder) / max(float(self.kinetic.max()), 1e-300)

    @property
    def errors(self) -> StepErrors:
        """What steps through contact are estimated to be off by, each by itself; see `StepErrors`.

        Raises:
            BadInput: a smooth run; integrators keep what their order says, or adapt their steps themselves.
        """
        if self.records is None:
            raise BadInput("a run without contact has no estimated errors: make it a World")
        return estimate_errors(self.model, self.dt, self.v, of_today(self.records))

    @property
    def stored(self) -> Array:
        """Energy in the springs of soft contacts at every time [J], shape (n + 1,)."""
        return np.zeros(len(self.t)) if self.records is None else stored_energy(self.records)

    @property
    def total_energy(self) -> Array:
        """Kinetic, potential and stored energy at every time [J], shape (n + 1,)."""
        return self.kinetic + self.potential + self.stored

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
            "blew_up": self.blew_up,
            "stopped": self.stopped,
            "metrics": self.metrics,
            "events": [list(event) for event in self.events],
        }

    def save(self, path: str | Path) -> Path:
        """Write arrays and summary; returns the path.

        A name in ``.h5`` or ``.hdf5`` makes the HDF5 file of `taction.sim.run_file`, any other a ``.npz``
        file; `taction.load_run` reads both.
        """
        path = as_path(path)
        if path.suffix in (".h5", ".hdf5"):
            with written_whole(path, with_folder=True) as begun:
                try:
                    self._save_file(begun)
                except BadInput as error:
                    raise BadInput(str(error).replace(str(begun), str(path))) from None
            return path
        path = path.with_suffix(".npz")
        tables = datasets(self.model, self.world is not None)
        head = {
            "attributes": header(self.model, self.dt, self.world, self.settings),
            "tables": {name: column_names(dataset) for name, dataset in tables.items()},
        }
        arrays = {name: getattr(self, name) for name in (*STATES, "tau")}
        if self.residuals is not None:
            arrays["motion"] = self.residuals
        if self.records is not None and self.contacts is not None:
            arrays["records"] = self.records
            arrays |= {f"contact_{name}": array for name, array in vars(self.contacts).items()}
        for name, data in (("description", pack(self.model, self.world)), ("state", self.state.to_bytes())):
            arrays[name] = np.frombuffer(data, dtype=np.uint8)
        with written_whole(path, with_folder=True) as begun:
            np.savez(begun, **arrays, header=json.dumps(head), summary=json.dumps(self.summary()))
        return path

    def _save_file(self, path: Path) -> None:
        from taction.sim.recorder import Recorder, Rows

        data = {name: getattr(self, name) for name in (*STATES, "tau")}
        if self.contacts is not None:
            data |= {"tau": self.tau[:-1], "records": self.records}
            data |= {f"contacts/{name}": getattr(self.contacts, name) for name in CONTACT_FIELDS}
        count = 0 if self.contacts is None else len(self.contacts.step)
        rows = Rows(self.steps, count, {name: (0, array) for name, array in data.items()})
        with Recorder(
            path, self.model, self.dt, rows, world=self.world, settings=self.settings, is_live=False
        ) as recorder:
            recorder.finish(self.summary(), self.state, self.residuals)

    @property
    def has_sensors(self) -> bool:
        """Whether the model has sensors."""
        return bool(self.model.spec.sensors)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded arrays, those of `arrays`."""
        return tuple(self.arrays())

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
        return _above("report.overview", "draw_overview")(self)

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page about the run; returns its path.

        Raises:
            BadInput: the page cannot be written.
        """
        return _above("report.run_report", "write_report")(self, path)

    def view(self, **options: Any) -> Any:
        """Show the replay in a browser, or in a notebook below the cell; a `taction.viewer.view.View`.

        Args:
            options: ``host``, ``port``, ``browser`` (False: only serve), ``folder`` for the page's files.

        Raises:
            BadInput: websockets is not installed, or the port is taken.
        """
        return _above("viewer.view", "view_run")(self, **options)

    @property
    def hashes(self) -> list[str]:
        """A digest of configuration and velocity at every time: equal digests mean equal bits."""
        return [digest(q, v) for q, v in zip(self.q, self.v, strict=True)]


def _above(module: str, name: str) -> Any:
    """A function of the layers that draw.

    Those are above this one and may import it; the other way round would be a circle. So it is looked up by
    name when it is asked for: nothing that simulates depends on it.
    """
    return getattr(import_module(f"taction.{module}"), name)


def of_today(rows: Array) -> Array:
    """Records with all columns; those that an older run file did not know are zero."""
    missing = COLUMNS - rows.shape[1]
    return rows if missing <= 0 else np.pad(rows, ((0, 0), (0, missing)))


def stored_energy(rows: Array) -> Array:
    """Energy in the springs of soft contacts at every time of a run [J], shape (n + 1,); rows (n, ·)."""
    return np.append(rows[:, STORED], rows[-1:, STORED_AFTER] if len(rows) else [0.0])


def quaternion_error(model: Model, Q: Array) -> float:
    """Largest deviation of a quaternion in configurations Q (n, nq) from unit length."""
    lengths = [np.linalg.norm(Q[:, i : i + 4], axis=1) for i in quaternion_starts(model)]
    return max((float(np.abs(length - 1.0).max()) for length in lengths), default=0.0)
