"""Pushes: a force from outside on the base of a robot, for a while, beside whatever controls it.

What it solves: how does a controlled robot take a push? A force F acts at the origin of its base over some
time; its impulse is what counts. It acts on the freedoms that move the base along straight lines
(`taction.control.walking.base`), as the forces of a controller do, and is recorded with these.

Method. A controller is given to a run wrapped: commands have one more column, whether the push acts, which
becomes a joint force (`taction.control.contract`). Functions of (t, q, v) have it added to what they return.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import number, numbers, takes
from taction.control.contract import Remembering, Scheduled
from taction.control.walking.base import base_of
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos, make_servos
from taction.model.model import Model


@dataclass(frozen=True)
class Push:
    """A force that is constant for a while.

    Attributes:
        impulse: in world axes [N s].
        at: when it begins [s].
        lasting: for how long [s].

    Raises:
        BadInput: numbers that are not finite, or no time to act in.
    """

    impulse: tuple[float, float, float]
    at: float = 0.0
    lasting: float = 0.1

    def __post_init__(self) -> None:
        impulse = numbers(self.impulse, 3, "Push: impulse")
        at, lasting = number(self.at, "Push: at"), number(self.lasting, "Push: lasting")
        if not (np.isfinite([*impulse, at, lasting]).all() and lasting > 0.0):
            raise BadInput(f"Push: finite numbers and a positive time are needed, got {self!r}")

    def acts(self, times: Array) -> Array:
        """Whether it acts in steps that start at times (n,) [s]: 1 or 0, shape (n,)."""
        since = (np.asarray(times, dtype=np.float64) - self.at) / self.lasting
        return ((since > -1e-9) & (since < 1.0 - 1e-9)).astype(np.float64)

    def joint_forces(self, model: Model) -> Array:
        """What it does to the freedoms of a robot while it acts [N or N m], shape (nv,)."""
        base, out = base_of(model), np.zeros(model.nv)
        out[base.dofs] = base.directions @ np.array(self.impulse) / self.lasting
        return out


def with_push(controller: Any, model: Model, push: Push) -> Any:
    """A controller of a robot, and a push beside it.

    Args:
        controller: with commands of its own (`Tracking`, `PathDrives`, `Replay`, …), or a function of
            (t, q, v) or (t, q, v, seen).
        model: the robot.
        push: what pushes its base.

    Raises:
        BadInput: another kind of controller.
    """
    if isinstance(controller, Remembering):
        return _PushedMemory(controller, model, push)
    if isinstance(controller, Scheduled):
        return _Pushed(controller, model, push)
    if not callable(controller):
        raise BadInput(f"with_push: no commands of its own, and no function: {type(controller).__name__}")
    force = push.joint_forces(model)
    if takes(controller, 3):
        return lambda t, q, v: controller(t, q, v) + push.acts(np.array([t]))[0] * force
    return lambda t, q, v, seen: controller(t, q, v, seen) + push.acts(np.array([t]))[0] * force


@dataclass(frozen=True, eq=False)
class _Pushed:
    """A controller with commands of its own and a push."""

    controller: Any
    model: Model
    push: Push
    _force: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_force", self.push.joint_forces(self.model))

    def joint_law(self, model: Model) -> JointLaw:
        """That of the controller."""
        return self.controller.joint_law(model)

    def gains(self, model: Model) -> JointLaw:
        """Those of the controller."""
        return self.controller.gains(model)

    def servos(self, model: Model) -> Servos:
        """Those of the controller."""
        return self.controller.servos(model) if hasattr(self.controller, "servos") else make_servos()

    def schedule(self, times: Array) -> Array:
        """Commands of the controller, then whether the push acts."""
        return np.concatenate([self.controller.schedule(times), self.push.acts(times)[:, None]], axis=1)

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """What the controller makes of its commands, and the push."""
        given = np.asarray(commands)
        out = self.controller.drive(model, given[:, :-1])
        out[:, : model.nv] += given[:, -1:] * self._force
        return out


class _PushedMemory(_Pushed):
    """The same of a controller that keeps something of the motion."""

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """What stands for the commands of the controller, then whether the push acts."""
        given = np.asarray(commands)
        found, act = self.controller.activate(given[:, :-1], act, dt)
        return np.concatenate([found, given[:, -1:]], axis=1), act

    def remember(self, times: Array, q: Array, act: Array, dt: float) -> Array:
        """What the controller remembers."""
        return self.controller.remember(times, q, act, dt)

    def every(self, dt: float) -> int:
        """How often that counts."""
        return self.controller.every(dt)
