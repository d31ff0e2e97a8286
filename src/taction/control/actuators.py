"""The model's own actuators, driven by a control vector, as in the files that describe them.

Per actuator with gear g, on its joint's coordinate q and rate v:
    motor      f = u
    position   f = k_p (u − g q) − k_v g v
    velocity   f = k_v (u − g v)
with u clipped to its control range, f to its force range, and the joint force τ = g f.

Servos without a force range are linear in the state: their gains go to the integrator as a joint law, so
that it can treat them implicitly, and only k_p u or k_v u is held over a step. A servo with a force range is
evaluated at the start of each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.model.model import Model
from taction.model.spec import ActuatorSpec


@dataclass(frozen=True, eq=False)
class Actuators:
    """Controller that drives the actuators of a model.

    Attributes:
        model: the mechanism; its actuators, in order, take the entries of the control vector.
        control: control vector u, shape (nu,), or a function of time [s] that returns one.
    """

    model: Model
    control: ArrayLike | Callable[[float], ArrayLike]

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.model, Model, "the first argument of Actuators")
        if not self.model.spec.actuators:
            raise BadInput(f"{self.model.name} has no actuators")
        if not callable(self.control):
            self._check(self.control)

    def joint_law(self, model: Model) -> JointLaw:
        """Gains of the servos that have no force range."""
        if model is not self.model:
            raise BadInput(f"these actuators belong to {self.model.name}, not to {model.name}")
        K, D = np.zeros(model.nv), np.zeros(model.nv)
        for actuator, joint in self._driven():
            if _is_linear(actuator):
                K[joint.iv] += actuator.gear**2 * (actuator.kp if actuator.kind == "position" else 0.0)
                D[joint.iv] += actuator.gear**2 * actuator.kv
        return joint_law(model, K, D)._replace(b=np.zeros(model.nv))

    def gains(self, model: Model) -> JointLaw:
        """The same: the gains do not depend on the controls."""
        return self.joint_law(model)

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces (n, nv) of control vectors (n, nu) beyond the gains.

        Raises:
            BadInput: a servo has a force range, so that its force depends on the state; or a wrong shape.
        """
        limited = [a.name for a in model.spec.actuators if a.kind != "motor" and not _is_linear(a)]
        if limited:
            raise BadInput(f"actuator {limited[0]!r} is a servo with a force range: run it step by step")
        controls = as_float(commands, (None, len(model.spec.actuators)), "controls")
        tau = np.zeros((len(controls), model.nv))
        for u, (actuator, joint) in zip(controls.T, self._driven(), strict=True):
            force = _gain(actuator) * np.clip(u, *actuator.control_range)
            tau[:, joint.iv] += actuator.gear * np.clip(force, *actuator.force_range)
        return tau

    def schedule(self, times: Array) -> Array:
        """The control vectors (n, nu) at times (n,) [s]."""
        return np.array([self._at(t) for t in times])

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Joint forces (nv,) beyond the joint law at time t, q (nq,), v (nv,)."""
        control = self._at(t)
        tau = np.zeros(self.model.nv)
        for u, (actuator, joint) in zip(control, self._driven(), strict=True):
            u = np.clip(u, *actuator.control_range)
            force = _gain(actuator) * u
            if not _is_linear(actuator):
                stretch = actuator.kp * q[joint.iq] if actuator.kind == "position" else 0.0
                force -= actuator.gear * (stretch + actuator.kv * v[joint.iv])
            tau[joint.iv] += actuator.gear * np.clip(force, *actuator.force_range)
        return tau

    def _driven(self):
        return [(a, self.model.joint(a.joint)) for a in self.model.spec.actuators]

    def _at(self, t: float) -> Array:
        return self._check(self.control(t) if callable(self.control) else self.control)

    def _check(self, control: ArrayLike) -> Array:
        return as_float(control, (len(self.model.spec.actuators),), "control")


def _gain(actuator: ActuatorSpec) -> float:
    """Force per control."""
    return {"motor": 1.0, "position": actuator.kp, "velocity": actuator.kv}[actuator.kind]


def _is_linear(actuator: ActuatorSpec) -> bool:
    return actuator.kind != "motor" and not np.isfinite(actuator.force_range).any()
