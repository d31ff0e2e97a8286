"""Gaits: which leg is on the ground when.

What it says: over a period T every leg lifts once, at its own part of the period, and is in the air for
(1 − duty) T. The order of the legs is the gait:

    trot    diagonal legs lift together, the other pair half a period later
    pace    the legs of one side lift together
    bound   the back legs lift together, then the front legs
    walk    one leg after the other: left back, left front, right back, right front; three carry
    steps   of two legs: one lifts when the other lands
    stride  of two legs: both stand for a while in between

Before the start all legs stand. `load` says how much a leg counts where the carrying point of the ground is
planned (`taction.control.walking.walk`): 1 on the ground, 0 in the air, and in between where the load passes
from one pair to the next while both stand, which lasts T/b − (1 − duty) T of a gait of b beats.

References: [Hildebrand1965] for gaits as duty and phase; [Akbas2012] for the load.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.names import choose


@dataclass(frozen=True)
class Gait:
    """When the legs of a robot lift.

    Attributes:
        name: what it is called.
        lift: part of the period at which each leg lifts: right back, left back, right front, left front; or
            right, left.
        period: T [s].
        duty: part of the period that a leg is on the ground.
    """

    name: str
    lift: tuple[float, ...]
    period: float
    duty: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise BadInput(f"{self.name}: period must be positive and finite, got {self.period!r}")
        least = 1.0 - 1.0 / self.beats
        if not (np.isfinite(self.duty) and least <= self.duty < 1.0):
            raise BadInput(
                f"{self.name}: duty must be at least {least:g}, so that a leg stands before the next lifts, "
                f"and below 1, got {self.duty!r}"
            )

    @property
    def beats(self) -> int:
        """How many times legs lift in a period."""
        return len(set(self.lift))

    @property
    def swing(self) -> float:
        """Time in the air [s]."""
        return (1.0 - self.duty) * self.period

    @property
    def stance(self) -> float:
        """Time on the ground [s]."""
        return self.duty * self.period

    @property
    def passing(self) -> float:
        """Time in which the load passes to those that just landed [s]."""
        return max(self.period / self.beats - self.swing, 0.0)

    def lifts(self, leg: int, start: float, end: float) -> Array:
        """When a leg lifts after the start and before the end [s]."""
        first = start + self.lift[leg] * self.period
        count = max(int(np.ceil((end - first) / self.period)), 0)
        return np.asarray(first + self.period * np.arange(count), dtype=np.float64)

    def swung(self, leg: int, t: float, start: float) -> float:
        """How much of its swing a leg has behind it at a time [s], 0 to 1; negative while it stands."""
        since = t - start - self.lift[leg] * self.period
        phase = since % self.period
        return phase / self.swing if since >= 0.0 and phase < self.swing else -1.0

    def load(self, leg: int, t: Array, start: float) -> Array:
        """How much a leg counts at times (n,) [s], 0 to 1; legs begin to lift at the start [s]."""
        since = t - start - self.lift[leg] * self.period
        phase = np.where(since >= -self.passing, np.mod(since + self.passing, self.period), self.period)
        pass_time = max(self.passing, 1e-9)
        leaving = np.clip(1.0 - phase / pass_time, 0.0, 1.0)
        coming = np.clip((phase - self.passing - self.swing) / pass_time, 0.0, 1.0)
        return np.where(phase >= self.period, 1.0, np.where(phase <= self.passing, leaving, coming))


GAITS = {
    gait.name: gait
    for gait in (
        Gait("trot", (0.0, 0.5, 0.5, 0.0), period=0.6, duty=0.55),
        Gait("pace", (0.0, 0.5, 0.0, 0.5), period=1.0, duty=0.52),
        Gait("bound", (0.0, 0.0, 0.5, 0.5), period=0.7, duty=0.52),
        Gait("walk", (0.5, 0.0, 0.75, 0.25), period=1.6, duty=0.8),
    )
}

STRIDE = Gait("stride", (0.0, 0.5), period=1.4, duty=0.62)  # of two legs


def get_gait(name: str) -> Gait:
    """The gait of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    if name not in GAITS:
        raise BadInput(f"unknown gait {name!r}; {choose(name, GAITS)}")
    return GAITS[name]
