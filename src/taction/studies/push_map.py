"""Which pushes a robot takes: the largest impulse in every direction, with and without other footsteps.

What it solves: the scenario `push-recovery` for pushes of several sizes and directions. A push counts as
taken if the robot has not fallen `AFTER` later; after that it steps in place again. For every direction the
largest of the sizes that is taken, by bisection: a push that is taken is assumed to be taken when it is
smaller, which gaits do not promise; directions and sizes are few, so the map is a survey, not a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.scenarios import get_scenario
from taction.scenarios.base import ContactScenario

SIZES = tuple(float(size) for size in range(3, 25, 3))  # [N s]
PUSHED = 2.3  # when the push begins: in the air with the second step [s]
AFTER = 2.7  # [s]


class PushMap(NamedTuple):
    """Largest pushes taken."""

    directions: Array  # (n,) from x towards y [deg]
    adapted: Array  # (n,) with footsteps that change [N s]; 0 if none is taken
    planned: Array  # (n,) with those of the plan [N s]
    mass: float  # of the robot [kg]


def push_map(
    directions: Sequence[float] | Array,
    sizes: Sequence[float] = SIZES,
    say: Callable[[str], Any] = lambda text: None,
) -> PushMap:
    """The largest pushes of increasing sizes [N s] that are taken in directions [deg]."""
    out = np.zeros((2, len(directions)))
    for k, direction in enumerate(directions):
        say(f"push-recovery, {direction:g}°")
        for row, adapts in enumerate((True, False)):
            low, high = 0, len(sizes)  # sizes[:low] are taken, sizes[high:] are not
            while low < high:
                middle = (low + high) // 2
                if is_taken(sizes[middle], direction, adapts):
                    low = middle + 1
                else:
                    high = middle
            out[row, k] = sizes[low - 1] if low else 0.0
    scenario = get_scenario("push-recovery")
    assert isinstance(scenario, ContactScenario)
    mass = scenario.world(scenario.settings()).model.total_mass
    return PushMap(np.asarray(directions, dtype=np.float64), out[0], out[1], mass)


def is_taken(size: float, direction: float, adapts: bool) -> bool:
    """Whether a push [N s] in a direction [deg] is taken."""
    scenario = get_scenario("push-recovery")
    given = {"push": size, "push_direction": direction, "push_time": PUSHED, "adapts": adapts}
    simulation, start = scenario.make(scenario.settings(given), scenario.dt, None, {})
    run = simulation.run(PUSHED + AFTER, **start)
    return bool(run.t[-1] > PUSHED + AFTER - 0.5 * run.dt)
