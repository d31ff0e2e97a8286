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
motors, and the inputs k u + b of servos. Joints and tendons with a largest force bound the sum of what acts
on them, in the same ways (`taction.control.actuator_lines`).

Where an actuator has an activation, that stands for u (`taction.control.activation`). A motor at a site
pushes with f times its gears, force and torque. Sites that push against another one, and actuators of kind
"none" take their entries of the control vector and make no force. A file that has them says so
(`Model.unread`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.contact.transmission import numbers_of
from taction.control.activation import Activations
from taction.control.actuator_lines import Axis, Line, Lines, damping, make_lines, stiffness
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
    _lines: Lines = field(init=False, repr=False)
    _ranges: Array = field(init=False, repr=False)  # (6, nu): gain, bias, bounds of control and of force
    _sums: Array | None = field(init=False, repr=False)  # (nu, l): share of each actuator in a line
    _line_bounds: Array = field(init=False, repr=False)  # (2, l): of lines whose forces are known beforehand
    _arms: Array = field(init=False, repr=False)  # (l, nv): what the joints feel of these, and of inputs
    _joint_bounds: Array | None = field(init=False, repr=False)  # (2, nv)
    _elements: list[Servo] = field(init=False, repr=False)  # m of them
    _inputs: Array = field(init=False, repr=False)  # (l, m): of the elements
    _activations: Activations = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.model, Model, "the first argument of Actuators")
        actuators = self.model.spec.actuators
        if not actuators:
            raise BadInput(f"{self.model.name} has no actuators")
        lines, nv, activations = make_lines(self.model.spec), self.model.nv, Activations(actuators)
        self._refuse_powerless(lines)
        ranges = np.array([(_gain(a), a.bias, *a.control_range, *_own_range(a)) for a in actuators]).T
        ranges[2:4, activations.which] = [[-np.inf], [np.inf]]  # an activation has bounds of its own
        sums, arms = np.zeros((len(actuators), len(lines.lines))), np.zeros((len(lines.lines), nv))
        for n, line in enumerate(lines.lines):
            for i, factor in line.parts.items():
                sums[i, n] = factor
            if not _is_element(line):
                for axis, arm in line.arms.items():
                    arms[n, self._dof(axis)] = arm
        known = np.array([_known_range(line) for line in lines.lines]).reshape(-1, 2).T
        joint_bounds = np.tile([[-np.inf], [np.inf]], nv)
        for axis, bounds in lines.bounds.items():
            joint_bounds[:, self._dof(axis)] = bounds
        elements, inputs = self._made_elements(lines)
        is_plain = np.array_equal(sums, np.eye(len(actuators))) and np.array_equal(known, ranges[4:])
        for name, value in (
            ("_lines", lines),
            ("_ranges", ranges),
            ("_sums", None if is_plain else sums),
            ("_line_bounds", known),
            ("_arms", arms),
            ("_joint_bounds", joint_bounds if lines.bounds else None),
            ("_elements", elements),
            ("_inputs", inputs),
            ("_activations", activations),
        ):
            object.__setattr__(self, name, value)
        if not callable(self.control):
            self._check(self.control)

    def joint_law(self, model: Model) -> JointLaw:
        """Gains of the servos that are linear."""
        self._require(model)
        K, D = np.zeros(model.nv), np.zeros(model.nv)
        for line in self._lines.lines:
            if line.has_gains and not _is_element(line):
                for axis, arm in line.arms.items():
                    K[self._dof(axis)] += arm**2 * line.K
                    D[self._dof(axis)] += arm**2 * line.D
        return joint_law(model, K, D)._replace(b=np.zeros(model.nv))

    def gains(self, model: Model) -> JointLaw:
        """The same: the gains do not depend on the controls."""
        return self.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The servos that are elements of the step."""
        self._require(model)
        return make_servos(self._elements)

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
        for motors, (lower, upper) in self._lines.shared:
            whole = force[:, motors].sum(axis=1)
            scale = np.divide(
                np.clip(whole, lower, upper), whole, out=np.ones(len(whole)), where=whole != 0.0
            )
            force[:, motors] *= scale[:, None]
        force = np.minimum(np.maximum(force, least), most)
        if self._sums is not None:
            force = np.minimum(np.maximum(force @ self._sums, self._line_bounds[0]), self._line_bounds[1])
        joints = force @ self._arms
        if self._joint_bounds is not None:
            joints = np.minimum(np.maximum(joints, self._joint_bounds[0]), self._joint_bounds[1])
        return np.concatenate([joints, force @ self._inputs], axis=1)

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """What stands for control vectors (n, nu) held over a step each; the activations (na,) after them.

        act (na,): at the start, an empty array for zeros; dt: time step [s].
        """
        controls = as_float(commands, (None, self._ranges.shape[1]), "controls")
        return self._activations.follow(controls, act, dt) if self._activations.count else (controls, act)

    @property
    def is_constant(self) -> bool:
        """Whether what drives the actuators is always the same."""
        return not callable(self.control) and self._activations.count == 0

    def schedule(self, times: Array) -> Array:
        """The control vectors (n, nu) at times (n,) [s]."""
        if not callable(self.control):
            return np.broadcast_to(self._check(self.control), (len(times), self._ranges.shape[1]))
        return np.array([self._check(self.control(float(t))) for t in times])

    def _made_elements(self, lines: Lines) -> tuple[list[Servo], Array]:
        """The elements of a step, m of them, and the factors (l, m) of lines in their inputs."""
        numbers, elements, inputs = numbers_of(self.model), list[Servo](), list[dict[int, float]]()
        for n, line in enumerate(lines.lines):
            if not _is_element(line):
                continue
            if line.is_row:
                key = ("tendon", line.tendon) if line.tendon else ("actuator", line.site)
                servo = Servo(line.K, line.D, *line.bounds, transmission=numbers[key], gear=line.gear)
                elements.append(servo)
                inputs.append({n: 1.0})
            elif line.arms:  # otherwise part of a sum
                (axis,) = line.arms
                elements.append(Servo(line.K, line.D, *line.bounds, dof=self._dof(axis), gear=line.gear))
                inputs.append({n: 1.0})
        for whole in lines.sums:
            elements.append(Servo(whole.K, whole.D, *whole.bounds, dof=self._dof(whole.axis)))
            inputs.append(whole.inputs)
        factors = np.zeros((len(lines.lines), len(elements)))
        for m, shares in enumerate(inputs):
            factors[list(shares), m] = list(shares.values())
        return elements, factors

    def _dof(self, axis: Axis) -> int:
        return self.model.joint(axis[0]).iv + axis[1]

    def _refuse_powerless(self, lines: Lines) -> None:
        """Refuse a joint whose largest force is zero: a file that has no number there often writes one.

        Raises:
            BadInput: an actuator acts on such a joint.
        """
        for line in lines.lines:
            for name, k in line.arms:
                if self.model.effort[self._dof((name, k))] == 0.0:
                    raise BadInput(
                        f"joint {name!r} has actuators, but its effort limit is 0, so they make no force; "
                        f"set model.spec.joint({name!r}).effort, to numpy.inf for no limit, and compile again"
                    )

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


def _is_element(line: Line) -> bool:
    """Whether it is an element of the step: a servo with a range or along a tendon, a force at a site."""
    return line.is_row or (line.has_gains and line.is_bounded)


def _own_range(actuator: ActuatorSpec) -> tuple[float, float]:
    """Bounds of what an actuator does that is known beforehand; the force of a servo is not."""
    is_known = stiffness(actuator) == damping(actuator) == 0.0
    return actuator.force_range if is_known else (-np.inf, np.inf)


def _known_range(line: Line) -> tuple[float, float]:
    """Bounds of a line whose force is known beforehand."""
    return (-np.inf, np.inf) if line.has_gains else line.bounds


def _gain(actuator: ActuatorSpec) -> float:
    """Force per control."""
    gains = {"motor": 1.0, "position": actuator.kp, "velocity": actuator.kv, "affine": actuator.gain}
    return gains.get(actuator.kind, 0.0)
