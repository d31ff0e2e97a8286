"""What all planning methods have in common: made for a problem once, asked for plans from many states.

| method | finds | says how good |
|---|---|---|
| `taction.planning.enumeration` | the best plan, by all combinations of contacts | exactly |
| `taction.planning.mixed_integer` | the best plan, by branch and bound | a gap |
| `taction.planning.consensus` | a good plan, in milliseconds | nothing |
| `taction.planning.direct` | a plan of the nonlinear world, by continuation | nothing |
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction.planning.problem import Plan, PlanningProblem


class Planner(ABC):
    """A method for one planning problem.

    Attributes:
        name: how it is called.

    Args:
        problem: what is asked.
        time_limit: after which the best plan so far is given [s]; without a limit by default.
    """

    name: ClassVar[str]

    def __init__(self, problem: PlanningProblem, *, time_limit: float = math.inf) -> None:
        self.problem: PlanningProblem = instance(problem, PlanningProblem, "problem")
        self.time_limit = number(time_limit, "time_limit")
        if not self.time_limit > 0.0:
            raise BadInput(f"time_limit: must be positive, got {time_limit}")

    def solve(
        self,
        x0: ArrayLike,
        target: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        *,
        warm: Plan | None = None,
    ) -> Plan:
        """A plan from a state; what went wrong is its outcome, not an error.

        Args:
            x0: where it starts, shape (n,).
            target: x̄, shape (N + 1, n), or (n,) for all steps; zero by default.
            rest: ū, shape (N, m) or (m,), likewise.
            warm: a plan from a state nearby, over the same steps, to start from.
        """
        begin = time.perf_counter()
        x0 = as_float(x0, (self.problem.system(0).sizes[0],), "x0")
        goal, force = self.problem.targets(target, rest)
        found = self._find(x0, goal, force, None if warm is None or warm.motion is None else warm)
        return replace(found, seconds=time.perf_counter() - begin)

    @abstractmethod
    def _find(self, x0: Array, target: Array, rest: Array, warm: Plan | None) -> Plan:
        """The plan; its time is measured outside. A warm one has a motion."""
