"""What every integrator of smooth motion offers.

A step takes (q, v) at time t to (q, v) at t + h in place. The controller's force τ is held over the step;
the joint law (springs, dampers, PD gains) acts continuously within it, as each method evaluates it.

References: [HairerNorsettWanner1993, Section II.1] for one-step methods and their order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar

from taction._core.arrays import Array
from taction.steppers.plant import Plant, Scratch


class StepStatus(IntEnum):
    """How a step ended."""

    OK = 0
    SINGULAR = 1
    NOT_CONVERGED = 2
    STEP_TOO_SMALL = 3
    NOT_FINITE = 4

    @property
    def message(self) -> str:
        """One sentence for the user."""
        return _MESSAGES[self]


_MESSAGES = {
    StepStatus.OK: "the step succeeded",
    StepStatus.SINGULAR: "the mass matrix is singular",
    StepStatus.NOT_CONVERGED: "the implicit equations did not converge; reduce the time step",
    StepStatus.STEP_TOO_SMALL: "the error control asked for steps below rounding; loosen its tolerance",
    StepStatus.NOT_FINITE: "the state is not finite; reduce the time step or treat stiff forces implicitly",
}


class Integrator(ABC):
    """A method for smooth motion; subclasses are frozen dataclasses of their options."""

    order: ClassVar[int]
    summary: ClassVar[str]

    def prepare(self, plant: Plant, h: float) -> Plant:
        """The plant as this method sees it for steps of h [s]."""
        return plant

    @abstractmethod
    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance q_io (nq,), v_io (nv,) by h [s] under the held forces tau (nv,); returns a `StepStatus`."""
