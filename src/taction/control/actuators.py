"""The model's own actuators, driven by a control vector, as in the files that describe them.

Per actuator with length l, which is gear·q of a joint or gear times the length of a tendon:
    motor      f = u
    position   f = k_p (u − l) − k_v l̇
    velocity   f = k_v (u − l̇)
    affine     f = k u + b − k_p l − k_v l̇
with u clipped to its control range, f to its force range, and the joint forces τ = f ∂l/∂q. Motors also turn
joints of several axes, with a gear for each.

All of it is inside the step. Servos on one joint without a force range are linear in the state: their gains
are a joint law, implicit in the step. Others are set-valued elements of the step, exact within the range and
at its ends for any gain (`taction.dynamics.servo`). What is left outside is a function of time: the forces of
motors, and the inputs k u + b of servos.

Where an actuator has an activation, that stands for u (`taction.control.activation`). A motor at a site
pushes with f times its gears, force and torque. Sites that push against another one, and actuators of kind
"none" take their entries of the control vector and make no force. A file that has them says so
(`Model.unread`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.contact.transmission import numbers_of
from taction.control.activation import Activations
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
    _moment: Array = field(init=False, repr=False)  # (nu, nv): ∂l/∂q
    _held: Array = field(init=False, repr=False)  # the same without servos that are elements
    _rows: IntArray = field(init=False, repr=False)  # which these are
    _ranges: Array = field(init=False, repr=False)  # (6, nu): gain, bias, bounds of control and of force
    _activations: Activations = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.model, Model, "the first argument of Actuators")
        actuators = self.model.spec.actuators
        if not actuators:
            raise BadInput(f"{self.model.name} has no actuators")
        moment = np.array([_moment(self.model, actuator) for actuator in actuators])
        numbers = numbers_of(self.model)
        is_row = np.array([_is_element(a, row, numbers) for a, row in zip(actuators, moment, strict=True)])
        ranges = np.array([(_gain(a), a.bias, *a.control_range, *a.force_range) for a in actuators]).T
        activations = Activations(actuators)
        ranges[2:4, activations.which] = [[-np.inf], [np.inf]]  # an activation has bounds of its own
        for name, value in (
            ("_moment", moment),
            ("_held", np.where(is_row[:, None], 0.0, moment)),
            ("_rows", np.flatnonzero(is_row)),
            ("_ranges", ranges),
            ("_activations", activations),
        ):
            object.__setattr__(self, name, value)
        if not callable(self.control):
            self._check(self.control)

    def joint_law(self, model: Model) -> JointLaw:
        """Gains of the servos that are linear."""
        self._require(model)
        K, D = np.zeros(model.nv), np.zeros(model.nv)
        for actuator, row in zip(model.spec.actuators, self._held, strict=True):
            K += row**2 * _stiffness(actuator)
            D += row**2 * _damping(actuator)
        return joint_law(model, K, D)._replace(b=np.zeros(model.nv))

    def gains(self, model: Model) -> JointLaw:
        """The same: the gains do not depend on the controls."""
        return self.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The servos that are elements of the step."""
        self._require(model)
        numbers = numbers_of(model)
        return make_servos([_servo(model, model.spec.actuators[i], numbers) for i in self._rows])

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces beyond the gains, then inputs of servos that are elements: (n, nv + m).

        Args:
            model: the mechanism.
            commands: control vectors with activations in place, as `activate` gives them, shape (n, nu).
        """
        self._require(model)
        gain, bias, low, high, least, most = self._ranges
        controls = as_float(commands, (None, len(gain)), "controls")
        force = gain * np.minimum(np.maximum(controls, low), high) + bias
        out = np.empty((len(controls), model.nv + len(self._rows)))
        out[:, : model.nv] = np.minimum(np.maximum(force, least), most) @ self._held
        out[:, model.nv :] = force[:, self._rows]
        return out

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """What stands for control vectors (n, nu) held over a step each; the activations (na,) after them.

        act (na,): at the start, an empty array for zeros; dt: time step [s].
        """
        controls = as_float(commands, (None, len(self._moment)), "controls")
        return self._activations.follow(controls, act, dt) if self._activations.count else (controls, act)

    @property
    def is_constant(self) -> bool:
        """Whether what drives the actuators is always the same."""
        return not callable(self.control) and self._activations.count == 0

    def schedule(self, times: Array) -> Array:
        """The control vectors (n, nu) at times (n,) [s]."""
        if not callable(self.control):
            return np.broadcast_to(self._check(self.control), (len(times), len(self._moment)))
        return np.array([self._check(self.control(float(t))) for t in times])

    def _require(self, model: Model) -> None:
        if model is not self.model:
            mine, other = self.model.name, model.name
            whose = f"another model of the name {other}" if mine == other else f"{mine}, not to {other}"
            raise BadInput(
                f"these actuators belong to {whose}; make them of the model that moves, `Simulation.model`: "
                "a world with a ground, a gravity or parts of its own has its own"
            )

    def _check(self, control: ArrayLike) -> Array:
        return as_float(control, (len(self.model.spec.actuators),), "control")


def _moment(model: Model, actuator: ActuatorSpec) -> Array:
    """∂l/∂q (nv,) of an actuator; zero where it makes no force."""
    row = np.zeros(model.nv)
    if _is_idle(actuator):
        return row
    if actuator.tendon:
        tendon = next(t for t in model.spec.tendons if t.name == actuator.tendon)
        for name, factor in tendon.joints.items():
            row[model.joint(name).iv] += actuator.gear * factor
    elif actuator.joint and not actuator.gears:
        row[model.joint(actuator.joint).iv] = actuator.gear
    elif actuator.joint and actuator.kind == "motor":
        row[model.joint(actuator.joint).v_slice] = actuator.gears
    return row


def _is_element(actuator: ActuatorSpec, moment: Array, numbers: Mapping[tuple[str, str], int]) -> bool:
    """Whether it is an element of the step: a servo with a range or along a tendon, a force at a site."""
    if _is_idle(actuator):
        return False
    has_gains = _stiffness(actuator) > 0.0 or _damping(actuator) > 0.0
    if moment.any():
        return has_gains and (bool(np.isfinite(actuator.force_range).any()) or bool(actuator.tendon))
    return _transmission(actuator) in numbers and (bool(actuator.tendon) or not has_gains)


def _is_idle(actuator: ActuatorSpec) -> bool:
    return actuator.kind == "none"


def _transmission(actuator: ActuatorSpec) -> tuple[str, str]:
    return ("tendon", actuator.tendon) if actuator.tendon else ("actuator", actuator.name)


def _servo(model: Model, actuator: ActuatorSpec, numbers: Mapping[tuple[str, str], int]) -> Servo:
    limits = _stiffness(actuator), _damping(actuator), *actuator.force_range
    if actuator.joint:
        return Servo(*limits, dof=model.joint(actuator.joint).iv, gear=actuator.gear)
    gear = actuator.gear if actuator.tendon else 1.0  # a site's gears are in its wrench
    return Servo(*limits, transmission=numbers[_transmission(actuator)], gear=gear)


def _gain(actuator: ActuatorSpec) -> float:
    """Force per control."""
    gains = {"motor": 1.0, "position": actuator.kp, "velocity": actuator.kv, "affine": actuator.gain}
    return gains.get(actuator.kind, 0.0)


def _stiffness(actuator: ActuatorSpec) -> float:
    return actuator.kp if actuator.kind in ("position", "affine") else 0.0


def _damping(actuator: ActuatorSpec) -> float:
    return actuator.kv if actuator.kind in ("position", "velocity", "affine") else 0.0
