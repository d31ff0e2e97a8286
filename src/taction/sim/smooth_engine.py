"""Smooth motion of a model: no contact, an integrator of choice, energies and certificate afterwards.

The certificate judges every recorded state: joint forces τ against Newton–Euler's at the acceleration that
the articulated-body algorithm gives, two algorithms that share nothing but the kinematics. The ledger books
works by the trapezoidal rule over the recorded states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import IntegrationError
from taction.control.contract import Control
from taction.dynamics.joint_law import joint_law
from taction.dynamics.rnea import bias_forces, rnea
from taction.dynamics.singular import tell_singular
from taction.model.loose import require_inertia
from taction.model.model import Model
from taction.sim.energy import energies
from taction.sim.recorder import Rows
from taction.sim.run import Certificate, EnergyLedger, Run, quaternion_error
from taction.sim.state import SimState, smooth_state, starting_point
from taction.steppers import make_integrator
from taction.steppers.base import Integrator, StepStatus
from taction.steppers.plant import acceleration, make_plant, make_scratch


def _beyond_integrators(model: Model) -> tuple[str, ...]:
    """What forces a model has by itself, besides its joints', that only the steps of a world know."""
    tendons = model.spec.tendons
    effects = {
        "gravity compensation": any(body.gravity_compensation != 0.0 for body in model.spec.bodies),
        "springs of tendons": any(t.stiffness != 0.0 for t in tendons),
        "dampers of tendons": any(t.damping != 0.0 for t in tendons),
        "friction of tendons": any(t.friction != 0.0 for t in tendons),
        "limits of tendons": any(np.isfinite([t.lower, t.upper]).any() for t in tendons),
        "lengths that tendons hold": any(t.held is not None for t in tendons),
    }
    return tuple(name for name, present in effects.items() if present)


class SmoothEngine:
    """A model and an integrator; see `taction.sim.engine.Engine`.

    Args:
        robot: the mechanism.
        dt: time step [s].
        integrator: a name from `taction.steppers.INTEGRATORS` or an integrator with options.
    """

    def __init__(self, robot: Model, *, dt: float, integrator: str | Integrator) -> None:
        require_inertia(robot)
        self.robot, self.dt, self.integrator = robot, dt, make_integrator(integrator)

    @property
    def settings(self) -> dict[str, str]:
        """The scheme, for the head of a file."""
        return {"scheme": type(self.integrator).__name__}

    def start(self, q: ArrayLike | None, v: ArrayLike | None, t: float = 0.0) -> SimState:
        """A state at q (nq,), v (nv,); neutral and at rest by default."""
        return smooth_state(t, *starting_point(self.robot, q, v))

    def set_off(self, start: SimState, steps: int, control: Control) -> SmoothCourse:
        """Begin a run; see `taction.sim.engine.Engine`."""
        return SmoothCourse(self, start, steps, control)


class SmoothCourse:
    """A smooth run on its way; see `taction.sim.engine.Course`.

    Attributes:
        taken: steps so far.
        dt: time step [s].
        act: activations of actuators now.
        error: what is raised where a step fails.
        ended: empty; a smooth run goes on while steps succeed.
    """

    error, ended = IntegrationError, ""

    def __init__(self, engine: SmoothEngine, start: SimState, steps: int, control: Control) -> None:
        model, self.dt, self.act = engine.robot, engine.dt, start.act
        self._engine, self._model, self._t0, self.taken = engine, model, start.t, 0
        self._plant = make_plant(model, control.law)
        self._prepared = engine.integrator.prepare(self._plant, engine.dt)
        self._ws = make_scratch(model)
        self._q, self._v = np.empty((steps + 1, model.nq)), np.empty((steps + 1, model.nv))
        self._held = np.zeros((steps + 1, model.nv))
        self._q[0], self._v[0] = model.check_q(start.q, "state.q"), model.check_v(start.v, "state.v")

    def inspect(self, is_strict: bool) -> None:
        """Nothing touches here."""

    def time(self, step: int) -> float:
        """When a step starts [s]."""
        return self._t0 + self._engine.dt * step

    def look(self) -> tuple[Array, Array]:
        """Configuration (nq,) and velocity (nv,) now, copies."""
        return self._q[self.taken].copy(), self._v[self.taken].copy()

    def started_from(self, first: int) -> Array:
        """Configurations from which the steps from ``first`` on started, shape (n, nq)."""
        return self._q[first : self.taken]

    def hold(self, drive: Array, end: int) -> None:
        """Hold joint forces over the steps before ``end``: a row (nv,), or one for each."""
        self._held[self.taken : end] = drive

    def advance(self, end: int) -> str:
        """Take the steps before ``end``; empty, or why there was no further one."""
        engine, q, v = self._engine, self._q, self._v
        for k in range(self.taken, end):
            q[k + 1], v[k + 1] = q[k], v[k]
            status = engine.integrator.step(
                self._prepared, self._held[k], engine.dt, self._ws, q[k + 1], v[k + 1]
            )
            if status == 0 and not (np.isfinite(v[k + 1]).all() and np.isfinite(q[k + 1]).all()):
                status = StepStatus.NOT_FINITE
            if status != 0:
                why = f": {tell_singular(self._model, q[k])}" if status == StepStatus.SINGULAR else ""
                return f"{StepStatus(status).message}{why}"
            self.taken = k + 1
        return ""

    def require(self, first: int, limit: float) -> None:
        """Nothing: an integrator solves no contact problem that could be left unsolved."""

    def rows(self, first: int) -> Rows:
        """The states from the start of step ``first`` on, their energies and joint forces."""
        states = slice(first, self.taken + 1)
        q, v = self._q[states], self._v[states]
        kinetic, potential = energies(self._model, q, v)
        tau = self._forces(states)
        t = np.asarray(self._t0 + self._engine.dt * np.arange(first, self.taken + 1))
        data = {"t": t, "q": q, "v": v, "kinetic": kinetic, "potential": potential, "tau": tau}
        return Rows(self.taken, 0, {name: (first, array) for name, array in data.items()})

    def finish(self, wall_s: float) -> Run:
        """The run up to here; its steps took so long [s]."""
        data, dt = self.rows(0).arrays(), self._engine.dt
        certificate, energy, residuals = judge_motion(
            self._model, dt, energy=data["kinetic"] + data["potential"],
            **{name: data[name] for name in ("t", "q", "v", "tau")},
        )  # fmt: skip
        return Run(
            model=self._model,
            dt=dt,
            integrator=self._engine.settings["scheme"],
            **data,
            certificate=certificate,
            energy=energy,
            wall_s=wall_s,
            left_out=_left_out(self._model),
            residuals=residuals,
            state=smooth_state(self.time(self.taken), *self.look(), self.act),
        )

    def _forces(self, states: slice) -> Array:
        """Joint forces of the controller (n, nv) at states."""
        model, law = self._model, self._plant.law
        scalar, q, v, held = law.iq >= 0, self._q[states], self._v[states], self._held[states].copy()
        if states.stop == self.taken + 1:  # no step starts there: the force stays
            held[-1] = self._held[self.taken - 1] if self.taken else 0.0
        springs, dampers = _own_forces(model, q, v)
        # everything linear that is not the model's own belongs to the controller
        return held + law.b - law.K * np.where(scalar, q[:, law.iq], 0.0) - law.D * v - springs - dampers


def judge_motion(
    model: Model, dt: float, t: Array, q: Array, v: Array, tau: Array, energy: Array
) -> tuple[Certificate, EnergyLedger, Array]:
    """Certificate, ledger, and residuals (n,) of a smooth motion from what was recorded of it.

    Args:
        model: what moved.
        dt: time step [s].
        t: times [s], shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        tau: joint forces of the controller, shape (n, nv).
        energy: kinetic and potential [J], shape (n,).

    Raises:
        IntegrationError: an acceleration, an energy or a residual is not finite.
    """
    _require_numbers(model, t, energy)
    springs, dampers = _own_forces(model, q, v)
    certificate, residuals = certify_motion(model, t, q, v, tau + springs + dampers)
    works = [(0.5 * dt * (power[1:] + power[:-1])).sum() for power in (tau * v, dampers * v)]
    ledger = EnergyLedger(
        initial=float(energy[0]),
        final=float(energy[-1]),
        actuation=float(works[0]),
        joint_friction=float(works[1]),
        remainder=float(energy[-1] - energy[0] - sum(works)),
    )
    return certificate, ledger, residuals


def _own_forces(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Joint forces (n, nv) of the model's own springs and of its dampers, at states."""
    iq = joint_law(model).iq
    stretch = np.where((iq >= 0) & (model.stiffness > 0), q[:, iq] - model.rest, 0.0)
    return np.where(iq >= 0, -model.stiffness * stretch, 0.0), -model.damping * v


def certify_motion(model: Model, t: Array, q: Array, v: Array, force: Array) -> tuple[Certificate, Array]:
    """Certificate of a smooth motion, and the residual of the equation of motion at each state, shape (n,).

    Args:
        model: what moved.
        t: times [s], shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        force: all joint forces, shape (n, nv).

    Raises:
        IntegrationError: an acceleration or a residual is not finite.
    """
    ws, vdot = make_scratch(model), np.empty_like(v)
    free = make_plant(model)._replace(law=joint_law(model))
    for k in range(len(t)):
        acceleration(free, q[k], v[k], force[k], 0.0, ws, vdot[k])
        if not np.isfinite(vdot[k]).all():  # the last step may be finite itself and have nowhere to go
            message = StepStatus.NOT_FINITE.message
            raise IntegrationError(f"{model.name}: at t = {t[k]:.6g} s {message}")
    rest = rnea(model, q, v, vdot) - force
    for c in model.couplings:  # the coupling's own force does no work on v = G v_r
        rest[:, c.leader_v] += c.multiplier * rest[:, c.follower_v]
        rest[:, c.follower_v] = 0.0
    scale = np.abs(bias_forces(model, q, v)).max(initial=0.0) + np.abs(force).max(initial=0.0)
    worst = np.abs(rest).max(1, initial=0.0) / max(scale, 1e-300)
    _require_numbers(model, t, worst)
    k = int(worst.argmax())
    gaps = [
        np.abs(q[:, c.follower_q] - c.multiplier * q[:, c.leader_q] - c.offset).max() for c in model.couplings
    ]
    certificate = Certificate(
        motion=float(worst[k]),
        motion_time=float(t[k]),
        quaternion=quaternion_error(model, q),
        joint_gap=float(max(gaps)) if gaps else None,
    )
    return certificate, worst


def _require_numbers(model: Model, t: Array, values: Array) -> None:
    """Raise `IntegrationError` at the first time t (n,) at which a value (n,) is not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise IntegrationError(f"{model.name}: at t = {t[bad[0]]:.6g} s {StepStatus.NOT_FINITE.message}")


def _left_out(model: Model) -> tuple[str, ...]:
    """What the model has and smooth motion does not: said, not hidden."""
    effects = dict.fromkeys(_beyond_integrators(model), True) | {
        "joint Coulomb friction": bool(model.friction.any()),
        "joint limits": bool(np.isfinite(model.lower).any() or np.isfinite(model.upper).any()),
        "contact": any(shape.collides for body in model.spec.bodies for shape in body.shapes),
    }
    return tuple(name for name, present in effects.items() if present)
