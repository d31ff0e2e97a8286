"""Smooth motion of a model: no contact, an integrator of choice, energies and certificate afterwards."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput, IntegrationError
from taction.dynamics.energy import sum_links
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.dynamics.rnea import bias_forces, rnea
from taction.kinematics.configuration import normalize_configuration
from taction.model.model import Model
from taction.model.workspace import make_workspace
from taction.sim.run import Certificate, EnergyLedger, Run, quaternion_error
from taction.steppers import make_integrator
from taction.steppers.base import Integrator, StepStatus
from taction.steppers.plant import Plant, acceleration, make_plant, make_scratch

Feedback = Callable[[float, Array, Array], ArrayLike]


@runtime_checkable
class HasJointLaw(Protocol):
    """A controller whose force is linear in the state, so that integrators may treat it implicitly."""

    def joint_law(self, model: Model) -> JointLaw:
        """The controller as a joint law of a model."""
        ...


class SmoothEngine:
    """Smooth motion of a model in time.

    Args:
        model: the mechanism.
        dt: time step [s]; the model's own, if it has one, or 1 ms.
        integrator: a name from `taction.steppers.INTEGRATORS` or an integrator with options.
    """

    def __init__(
        self, model: Model, *, dt: float | None = None, integrator: str | Integrator = "semi-implicit-euler"
    ) -> None:
        dt = (model.spec.timestep or 1e-3) if dt is None else dt
        if not (np.isfinite(dt) and dt > 0):
            raise BadInput(f"dt must be positive and finite, got {dt}")
        self.model, self.dt, self.integrator = model, float(dt), make_integrator(integrator)

    def run(
        self,
        duration: float,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        controller: HasJointLaw | Feedback | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Run:
        """Simulate and record every step.

        Args:
            duration: simulated time [s], rounded to whole steps.
            q: initial configuration, shape (nq,); the neutral one by default. Mimic joints are set.
            v: initial velocity, shape (nv,); rest by default.
            controller: a `PD`, the model's `Actuators`, or a function (t, q, v) → joint forces (nv,) that are
                held over each step.
            progress: called with the simulated time now and then.

        Raises:
            BadInput: impossible arguments.
            IntegrationError: a step failed; the message says when and why.
        """
        steps = self._count(duration)
        plant, feedback = self._plant(controller)
        t = self.dt * np.arange(steps + 1, dtype=np.float64)
        Q, V, T = np.empty((steps + 1, self.model.nq)), *np.zeros((2, steps + 1, self.model.nv))
        Q[0], V[0] = self._start(q, v)
        prepared, ws = self.integrator.prepare(plant, self.dt), make_scratch(self.model)
        begin = clock.perf_counter()
        for k in range(steps):
            if feedback is not None:
                T[k] = self.model.check_v(feedback(t[k], Q[k].copy(), V[k].copy()), "controller output")
            Q[k + 1], V[k + 1] = Q[k], V[k]
            status = self.integrator.step(prepared, T[k], self.dt, ws, Q[k + 1], V[k + 1])
            if status == 0 and not (np.isfinite(V[k + 1]).all() and np.isfinite(Q[k + 1]).all()):
                status = StepStatus.NOT_FINITE
            if status != 0:
                raise IntegrationError(f"{self.model.name}: at t = {t[k]:.6g} s {StepStatus(status).message}")
            if progress is not None and k % 64 == 0:
                progress(t[k])
        wall_s = clock.perf_counter() - begin
        T[-1] = T[-2] if steps else 0.0
        return self._record(plant, t, Q, V, T, wall_s)

    def _count(self, duration: float) -> int:
        if not (np.isfinite(duration) and duration >= 0):
            raise BadInput(f"duration must be finite and not negative, got {duration}")
        return round(duration / self.dt)

    def _plant(self, controller: HasJointLaw | Feedback | None) -> tuple[Plant, Feedback | None]:
        law = controller.joint_law(self.model) if isinstance(controller, HasJointLaw) else None
        feedback = controller if callable(controller) else None
        if controller is not None and law is None and feedback is None:
            what = type(controller).__name__
            raise BadInput(f"controller must be a PD or a function (t, q, v), not {what}")
        return make_plant(self.model, law), feedback

    def _start(self, q: ArrayLike | None, v: ArrayLike | None) -> tuple[Array, Array]:
        model = self.model
        q = np.array(model.q0 if q is None else model.check_q(q))
        v = np.zeros(model.nv) if v is None else np.array(model.check_v(v))
        for c in model.couplings:
            q[c.follower_q] = c.multiplier * q[c.leader_q] + c.offset
            v[c.follower_v] = c.multiplier * v[c.leader_v]
        normalize_configuration(model.tree, q)
        return q, v

    def _record(self, plant: Plant, t: Array, Q: Array, V: Array, T: Array, wall_s: float) -> Run:
        model, law, scalar = self.model, plant.law, plant.law.iq >= 0
        ws = make_workspace(model)
        sums = [sum_links(model.tree, q, v, ws)[4:] for q, v in zip(Q, V, strict=True)]
        kinetic, potential = np.array(sums).T
        stretch = np.where(scalar & (model.stiffness > 0), Q[:, law.iq] - model.rest, 0.0)
        potential = potential + 0.5 * (model.stiffness * stretch**2).sum(1)
        springs = np.where(scalar, -model.stiffness * stretch, 0.0)
        dampers = -model.damping * V
        # everything linear that is not the model's own belongs to the controller
        T = T + law.b - law.K * np.where(scalar, Q[:, law.iq], 0.0) - law.D * V - springs - dampers
        works = [(0.5 * self.dt * ((F * V)[1:] + (F * V)[:-1])).sum() for F in (T, dampers)]
        energy = kinetic + potential
        ledger = EnergyLedger(
            initial=float(energy[0]),
            final=float(energy[-1]),
            actuation=float(works[0]),
            joint_friction=float(works[1]),
            remainder=float(energy[-1] - energy[0] - sum(works)),
        )
        certificate, residuals = self._certify(t, Q, V, T + springs + dampers)
        name = type(self.integrator).__name__
        left_out = _left_out(model)
        return Run(
            model, self.dt, name, t, Q, V, T, kinetic, potential, certificate, ledger, wall_s, left_out,
            residuals=residuals,
        )  # fmt: skip

    def _certify(self, t: Array, Q: Array, V: Array, force: Array) -> tuple[Certificate, Array]:
        model, ws, vdot = self.model, make_scratch(self.model), np.empty_like(V)
        free = make_plant(model)._replace(law=joint_law(model))
        for k in range(len(t)):
            acceleration(free, Q[k], V[k], force[k], 0.0, ws, vdot[k])
            if not np.isfinite(vdot[k]).all():  # the last step may be finite itself and have nowhere to go
                message = StepStatus.NOT_FINITE.message
                raise IntegrationError(f"{model.name}: at t = {t[k]:.6g} s {message}")
        rest = rnea(model, Q, V, vdot) - force
        for c in model.couplings:  # the coupling's own force does no work on v = G v_r
            rest[:, c.leader_v] += c.multiplier * rest[:, c.follower_v]
            rest[:, c.follower_v] = 0.0
        scale = np.abs(bias_forces(model, Q, V)).max() + np.abs(force).max()
        worst = np.abs(rest).max(1) / max(scale, 1e-300)
        k = int(worst.argmax())
        gaps = [
            np.abs(Q[:, c.follower_q] - c.multiplier * Q[:, c.leader_q] - c.offset).max()
            for c in model.couplings
        ]
        certificate = Certificate(
            motion=float(worst[k]),
            motion_time=float(t[k]),
            quaternion=quaternion_error(model, Q),
            joint_gap=float(max(gaps)) if gaps else None,
        )
        return certificate, worst


def _left_out(model: Model) -> tuple[str, ...]:
    """What the model has and smooth motion does not: said, not hidden."""
    effects = {
        "joint Coulomb friction": bool(model.friction.any()),
        "joint limits": bool(np.isfinite(model.lower).any() or np.isfinite(model.upper).any()),
        "contact": any(shape.collides for body in model.spec.bodies for shape in body.shapes),
    }
    return tuple(name for name, present in effects.items() if present)
