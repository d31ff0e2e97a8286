"""The model's own actuators, driven by a control vector, as in the files that describe them.

Per actuator with gear g, on its joint's coordinate q and rate v:
    motor      f = u
    position   f = k_p (u − g q) − k_v g v
    velocity   f = k_v (u − g v)
    affine     f = k u + b − k_p g q − k_v g v
with u clipped to its control range, f to its force range, and the joint force τ = g f.

Servos without a force range are linear in the state: their gains go to the integrator as a joint law, so
that it can treat them implicitly, and only k_p u or k_v u is held over a step. A servo with a force range is
evaluated at the start of each step. Actuators on tendons, sites and joints of several axes, integrators and
those of kind "none" take their entries of the control vector and make no force; filters act at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
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

    def __post_init__(self) -> None:
        if not self.model.spec.actuators:
            raise BadInput(f"{self.model.name} has no actuators")
        if not callable(self.control):
            self._check(self.control)

    def joint_law(self, model: Model) -> JointLaw:
        """Gains of the servos that have no force range."""
        if model is not self.model:
            raise BadInput(f"these actuators belong to {self.model.name}, not to {model.name}")
        K, D = np.zeros(model.nv), np.zeros(model.nv)
        for _, actuator, joint in self._driven():
            if _is_linear(actuator):
                K[joint.iv] += actuator.gear**2 * _stiffness(actuator)
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
        limited = [a.name for _, a, _ in self._driven() if a.kind != "motor" and not _is_linear(a)]
        if limited:
            raise BadInput(f"actuator {limited[0]!r} is a servo with a force range: run it step by step")
        controls = as_float(commands, (None, len(model.spec.actuators)), "controls")
        tau = np.zeros((len(controls), model.nv))
        for k, actuator, joint in self._driven():
            force = _gain(actuator) * np.clip(controls[:, k], *actuator.control_range) + actuator.bias
            tau[:, joint.iv] += actuator.gear * np.clip(force, *actuator.force_range)
        return tau

    def schedule(self, times: Array) -> Array:
        """The control vectors (n, nu) at times (n,) [s]."""
        return np.array([self._at(t) for t in times])

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Joint forces (nv,) beyond the joint law at time t, q (nq,), v (nv,)."""
        control = self._at(t)
        tau = np.zeros(self.model.nv)
        for k, actuator, joint in self._driven():
            force = _gain(actuator) * np.clip(control[k], *actuator.control_range) + actuator.bias
            if actuator.kind != "motor" and not _is_linear(actuator):
                stretch = _stiffness(actuator) * q[joint.iq]
                force -= actuator.gear * (stretch + actuator.kv * v[joint.iv])
            tau[joint.iv] += actuator.gear * np.clip(force, *actuator.force_range)
        return tau

    def _driven(self):
        """Number in the control vector, actuator and joint of all that make a force."""
        return [
            (k, a, self.model.joint(a.joint))
            for k, a in enumerate(self.model.spec.actuators)
            if a.kind != "none" and a.joint and not a.gears and a.activation != "integrator"
        ]

    def _at(self, t: float) -> Array:
        return self._check(self.control(t) if callable(self.control) else self.control)

    def _check(self, control: ArrayLike) -> Array:
        return as_float(control, (len(self.model.spec.actuators),), "control")


def _gain(actuator: ActuatorSpec) -> float:
    """Force per control."""
    gains = {"motor": 1.0, "position": actuator.kp, "velocity": actuator.kv, "affine": actuator.gain}
    return gains[actuator.kind]


def _stiffness(actuator: ActuatorSpec) -> float:
    return actuator.kp if actuator.kind in ("position", "affine") else 0.0


def _is_linear(actuator: ActuatorSpec) -> bool:
    return actuator.kind != "motor" and not np.isfinite(actuator.force_range).any()
