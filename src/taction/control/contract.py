"""What a simulation asks of a controller: its force inside the step, outside the step, or by commands.

| contract | gives | who asks |
|---|---|---|
| `HasJointLaw` | a force linear in the state: part of the step, stable at any gain | `Simulation.run` |
| `Feedback` | joint forces from (t, q, v), held until it is asked again | `Simulation.run` |
| `Commanded` | a linear law, and joint forces that commands add to it | `Simulation.rollout` |
| `Scheduled` | commands of its own over time | `Simulation.rollout` |

A controller may keep several: `taction.control.actuators.Actuators` keep all four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import function, given
from taction.dynamics.joint_law import JointLaw
from taction.model.model import Model

Feedback = Callable[[float, Array, Array], ArrayLike]


@runtime_checkable
class HasJointLaw(Protocol):
    """A controller whose force is linear in the state, so that integrators may treat it implicitly."""

    def joint_law(self, model: Model) -> JointLaw:
        """The controller as a joint law of a model."""
        ...


@runtime_checkable
class Commanded(Protocol):
    """A linear controller that takes commands: joint targets, or controls of actuators."""

    def gains(self, model: Model) -> JointLaw:
        """What the controller does without its commands."""
        ...

    def drive(self, model: Model, commands: Array) -> Array:
        """Joint forces (n, nv) that commands (n, nu) amount to, on top of the gains."""
        ...


@runtime_checkable
class Scheduled(Commanded, Protocol):
    """A controller that has commands of its own."""

    def schedule(self, times: Array) -> Array:
        """Its commands (n, nu) at times (n,) [s]."""
        ...


class Control(NamedTuple):
    """A controller as a run needs it; both parts act, where both are there."""

    law: JointLaw | None = None  # inside the step
    feedback: Feedback | None = None  # held over a step


def read_controller(controller: Any, model: Model) -> Control:
    """The parts of a controller that act on a model; of None, none.

    Raises:
        BadInput: it is neither linear nor a function, or not made for this model.
    """
    if isinstance(controller, type):
        raise BadInput(f"controller must be a PD or a function (t, q, v), got {given(controller)}")
    law = controller.joint_law(model) if isinstance(controller, HasJointLaw) else None
    feedback = controller if callable(controller) else None
    if controller is not None and law is None and feedback is None:
        raise BadInput(f"controller must be a PD or a function (t, q, v), not {type(controller).__name__}")
    if feedback is not None:
        function(feedback, "t, q, v", "controller")
    return Control(law, feedback)
