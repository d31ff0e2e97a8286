"""What a simulation asks of a controller: its force inside the step, outside the step, or by commands.

| contract | gives | who asks |
|---|---|---|
| `HasJointLaw` | a force linear in the state: part of the step, stable at any gain | `Simulation.run` |
| `HasServos` | servos with limits: elements of the step, exact at any gain | `Simulation.run` |
| `Feedback` | joint forces from (t, q, v), held until it is asked again | `Simulation.run` |
| `Commanded` | a linear law, and joint forces that commands add to it | `Simulation.rollout` |
| `Scheduled` | commands of its own over time | both |
| `Activated` | activations that stand for commands, from step to step | both |
| `Remembering` | what it keeps of the motion, e.g. an integral | `Simulation.run` |

A controller may keep several: `taction.control.actuators.Actuators` keep all but `Feedback`.

What acts besides the law is a *drive*: joint forces (nv,), then the inputs of the servos (m,), held over a
step.

A function that needs four arguments is given what it may see besides the state, contacts and sensors, as the
last one (`taction.sim.seen`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import given, takes
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos
from taction.model.model import Model

Feedback = Callable[..., ArrayLike]  # (t, q, v), or (t, q, v, seen)
# Drives (n, nv + m) at times (n,) of steps, and activations (na,) after them; activations before, time step
Plan = Callable[[Array, Array, float], tuple[Array, Array]]


@runtime_checkable
class HasJointLaw(Protocol):
    """A controller whose force is linear in the state, so that integrators may treat it implicitly."""

    def joint_law(self, model: Model) -> JointLaw:
        """The controller as a joint law of a model."""
        ...


@runtime_checkable
class HasServos(Protocol):
    """A controller with servos that have limits, or act on several joints."""

    def servos(self, model: Model) -> Servos:
        """These servos, m of them."""
        ...


@runtime_checkable
class Commanded(Protocol):
    """A linear controller that takes commands: joint targets, or controls of actuators."""

    def gains(self, model: Model) -> JointLaw:
        """What the controller does without its commands."""
        ...

    def drive(self, model: Model, commands: Array) -> Array:
        """Joint forces, inputs of servos (n, nv + m) that commands (n, nu) amount to, besides the gains."""
        ...


@runtime_checkable
class Scheduled(Commanded, Protocol):
    """A controller that has commands of its own."""

    def schedule(self, times: Array) -> Array:
        """Its commands (n, nu) at times (n,) [s]."""
        ...


@runtime_checkable
class Activated(Commanded, Protocol):
    """A controller whose commands act through activations, which are part of the state."""

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """What stands for commands (n, nu) held over steps [s], and activations (na,) after them."""
        ...


@runtime_checkable
class Remembering(Scheduled, Activated, Protocol):
    """A controller that keeps something of the motion, as activations, and acts on it now and then."""

    def remember(self, times: Array, q: Array, act: Array, dt: float) -> Array:
        """Activations after steps that started at times (n,) [s] from q (n, nq), each dt [s] long."""
        ...

    def every(self, dt: float) -> int:
        """Steps of a length [s] from one time at which it acts on that to the next, counted from t = 0."""
        ...


def driven(
    controller: Commanded, model: Model, commands: Array, act: Array, dt: float
) -> tuple[Array, Array]:
    """Drives (n, nv + m) of commands (n, nu) held over a step [s] each; activations (na,) after them."""
    if isinstance(controller, Activated):
        commands, act = controller.activate(commands, act, dt)
    return controller.drive(model, commands), act


class Control(NamedTuple):
    """A controller as a run needs it; all parts act that are there."""

    law: JointLaw | None = None  # inside the step
    feedback: Feedback | None = None  # held over a step
    servos: Servos | None = None  # inside the step
    plan: Plan | None = None  # held over each step
    is_seeing: bool = False  # whether the feedback takes what can be seen as its fourth argument
    memory: Remembering | None = None  # what keeps something of the motion


def read_controller(controller: Any, model: Model) -> Control:
    """The parts of a controller that act on a model; of None, none.

    Raises:
        BadInput: it is neither linear nor a function, or not made for this model.
    """
    if isinstance(controller, type):
        raise BadInput(f"controller must be a PD or a function (t, q, v), got {given(controller)}")
    law, servos = joint_law_of(controller, model), servos_of(controller, model)
    if isinstance(controller, Scheduled):
        return Control(
            law, None, servos, lambda t, act, dt: driven(controller, model, controller.schedule(t), act, dt),
            memory=controller if isinstance(controller, Remembering) else None,
        )  # fmt: skip
    feedback = controller if callable(controller) else None
    if controller is not None and law is None and feedback is None:
        raise BadInput(f"controller must be a PD or a function (t, q, v), not {type(controller).__name__}")
    is_seeing = feedback is not None and _is_seeing(feedback)
    return Control(law, feedback, servos, rest_plan(controller, model, servos), is_seeing)


def refuse_memory(control: Control, what: str) -> None:
    """Refuse a controller that keeps something of the motion where nothing is kept for it.

    Raises:
        BadInput: it does.
    """
    if control.memory is not None:
        name = type(control.memory).__name__
        raise BadInput(f"{what} keeps no integral for a {name}: use Simulation.run, or a Tracking or PD")


def _is_seeing(feedback: Feedback) -> bool:
    """Whether a controller needs four arguments, not three.

    Raises:
        BadInput: it takes neither.
    """
    if takes(feedback, 3):
        return False
    if takes(feedback, 4):
        return True
    name, signature = getattr(feedback, "__name__", type(feedback).__name__), inspect.signature(feedback)
    raise BadInput(
        f"controller must be a function of (t, q, v) or (t, q, v, seen), but {name} takes {signature}"
    )


def joint_law_of(controller: Any, model: Model) -> JointLaw | None:
    """The linear part of a controller, if it has one.

    Raises:
        BadInput: its gains are too large for a number.
    """
    if not isinstance(controller, HasJointLaw):
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a law refuses what is not finite
            return controller.joint_law(model)
    except OverflowError:
        raise BadInput(f"the gains of {type(controller).__name__} are too large: they overflow") from None


def servos_of(controller: Any, model: Model) -> Servos | None:
    """The servos of a controller, if it has any."""
    servos = controller.servos(model) if isinstance(controller, HasServos) else None
    return servos if servos is not None and len(servos) else None


def rest_plan(controller: Any, model: Model, servos: Servos | None) -> Plan | None:
    """The drive of servos that have targets of their own and no schedule: always the same."""
    if servos is None:
        return None
    row = np.concatenate([np.zeros(model.nv), controller.inputs(model)])
    return lambda times, act, dt: (np.broadcast_to(row, (len(times), len(row))), act)
