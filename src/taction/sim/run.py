"""`Run`: what a simulation recorded, its certificate and its energy ledger.

Energy ledger: E_final − E_initial = actuation + joint friction + remainder, with E kinetic plus
gravitational plus joint springs' energy; actuation is the work of controllers and PD gains, joint friction
that of the model's dampers (≤ 0), both by the trapezoidal rule; the remainder is what the time
discretisation added or lost.

Certificate: the largest residual of the equation of motion over all recorded states, τ against Newton–Euler
at the acceleration that the articulated-body algorithm gave: two algorithms that share nothing but the
kinematics. Contact residuals are None in a run without contact.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.model import Model

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
        """Write arrays and summary to a ``.npz`` file; returns its path."""
        path = Path(path).with_suffix(".npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name) for name in ("t", "q", "v", "tau", "kinetic", "potential")}
        np.savez_compressed(path, **arrays, summary=json.dumps(self.summary()))
        return path

    @property
    def hashes(self) -> list[str]:
        """A digest of configuration and velocity at every time: equal digests mean equal bits."""
        return [
            blake2b(q.tobytes() + v.tobytes(), digest_size=8).hexdigest()
            for q, v in zip(self.q, self.v, strict=True)
        ]

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
        out = {name: np.zeros((self.steps, 3)) for name in names}
        force = np.einsum("cij,cj->ci", table.frame.reshape(-1, 3, 3), table.impulse) / self.dt
        for side, sign in ((0, 1.0), (1, -1.0)):
            for shape in np.unique(table.key[:, side]):
                rows = table.key[:, side] == shape
                np.add.at(out[names[int(shape)]], table.step[rows], sign * force[rows])
        return out


def quaternion_error(model: Model, Q: Array) -> float:
    """Largest deviation of a quaternion in configurations Q (n, nq) from unit length."""
    ends = [j.q_slice.stop for j in model.joints if j.kind.nq != j.kind.nv]
    return max(
        (float(np.abs(np.linalg.norm(Q[:, e - 4 : e], axis=1) - 1.0).max()) for e in ends), default=0.0
    )
