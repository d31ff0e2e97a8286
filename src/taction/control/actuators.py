"""The model's own actuators, driven by a control vector, as in the files that describe them.

Per actuator with gear g, on its joint's coordinate q and rate v:
    motor      f = u
    position   f = k_p (u − g q) − k_v g v
    velocity   f = k_v (u − g v)
with u clipped to its control range, f to its force range, and the joint force τ = g f.

All of it is inside the step. Servos without a force range are linear in the state: their gains are a joint
law, implicit in the step. Servos with a force range are set-valued elements of the step, exact within the
range and at its ends for any gain (`taction.dynamics.servo`). What is left outside is a function of time: the
forces of motors, and the inputs k_p u or k_v u of servos.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.dynamics.servo import Servo, Servos, make_servos
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
    _moment: Array = field(init=False, repr=False)  # (nu, nv)
    _held: Array = field(init=False, repr=False)  # the same without servos that have a force range
    _rows: IntArray = field(init=False, repr=False)  # which these are
    _ranges: Array = field(init=False, repr=False)  # (5, nu): force per control, bounds of control and force

    def __post_init__(self) -> None:
        actuators = self.model.spec.actuators
        if not actuators:
            raise BadInput(f"{self.model.name} has no actuators")
        moment = np.zeros((len(actuators), self.model.nv))
        for row, actuator in zip(moment, actuators, strict=True):
            row[self.model.joint(actuator.joint).iv] = actuator.gear
        is_row = np.array([_is_servo(a) and bool(np.isfinite(a.force_range).any()) for a in actuators])
        ranges = [(_gain(a), *a.control_range, *a.force_range) for a in actuators]
        for name, value in (
            ("_moment", moment),
            ("_held", np.where(is_row[:, None], 0.0, moment)),
            ("_rows", np.flatnonzero(is_row)),
            ("_ranges", np.array(ranges).T),
        ):
            object.__setattr__(self, name, value)
        if not callable(self.control):
            self._check(self.control)

    def joint_law(self, model: Model) -> JointLaw:
        """Gains of the servos that have no force range."""
        self._require(model)
        K, D = np.zeros(model.nv), np.zeros(model.nv)
        for actuator, row in zip(model.spec.actuators, self._held, strict=True):
            if _is_servo(actuator):
                K += row**2 * (actuator.kp if actuator.kind == "position" else 0.0)
                D += row**2 * actuator.kv
        return joint_law(model, K, D)._replace(b=np.zeros(model.nv))

    def gains(self, model: Model) -> JointLaw:
        """The same: the gains do not depend on the controls."""
        return self.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The servos that have a force range."""
        self._require(model)
        return make_servos(
            [
                Servo(
                    np.flatnonzero(self._moment[i]).tolist(),
                    self._moment[i][self._moment[i] != 0.0].tolist(),
                    _stiffness(model.spec.actuators[i]),
                    model.spec.actuators[i].kv,
                    *model.spec.actuators[i].force_range,
                )
                for i in self._rows
            ]
        )

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces beyond the gains, then inputs of the servos with a range: (n, nv + m).

        Args:
            model: the mechanism.
            commands: control vectors, shape (n, nu).
        """
        self._require(model)
        gain, low, high, least, most = self._ranges
        controls = as_float(commands, (None, len(gain)), "controls")
        force = gain * np.minimum(np.maximum(controls, low), high)
        out = np.empty((len(controls), model.nv + len(self._rows)))
        out[:, : model.nv] = np.minimum(np.maximum(force, least), most) @ self._held
        out[:, model.nv :] = force[:, self._rows]
        return out

    def schedule(self, times: Array) -> Array:
        """The control vectors (n, nu) at times (n,) [s]."""
        if not callable(self.control):
            return np.broadcast_to(self._check(self.control), (len(times), len(self._moment)))
        return np.array([self._check(self.control(float(t))) for t in times])

    def _require(self, model: Model) -> None:
        if model is not self.model:
            raise BadInput(f"these actuators belong to {self.model.name}, not to {model.name}")

    def _check(self, control: ArrayLike) -> Array:
        return as_float(control, (len(self.model.spec.actuators),), "control")


def _gain(actuator: ActuatorSpec) -> float:
    """Force per control."""
    return {"motor": 1.0, "position": actuator.kp, "velocity": actuator.kv}[actuator.kind]


def _stiffness(actuator: ActuatorSpec) -> float:
    return actuator.kp if actuator.kind == "position" else 0.0


def _is_servo(actuator: ActuatorSpec) -> bool:
    return actuator.kind != "motor"
