"""Whether contact as a force made energy: the end of a run whose step is too long for its springs.

A motion cannot have more kinetic energy than it started with, plus what gravity and joint springs gave, plus
the positive work of controllers and wrenches: contact only takes, or returns what it stored. Explicit steps
of a stiff spring break that first slowly, then without bound. `BlowUp.find` ends a run at the first state
with more than `MOST` times what there was, if contact made at least half of what is too much: the work of its
springs beyond what they gave up, and positive works of dampers and friction in steps with contacts. Loops
that are pulled together, and joints that are pushed back, may add energy, too, and are none of its business.

References: [HairerNorsettWanner1993, Section IV.2] for what explicit steps do to stiff springs.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.model import Model
from taction.steppers.columns import (
    ACTUATION,
    CONTACTS,
    ELASTIC,
    FRICTION,
    IMPACT,
    KINETIC,
    POTENTIAL,
    STORED,
    STORED_AFTER,
)

MOST = 2.0


def least_energy(model: Model, dt: float) -> float:
    """An energy [J] that is next to none: of all masses at the speed that gravity gives in a step [s]."""
    with np.errstate(over="ignore"):  # infinite where it overflows
        speed = dt * float(np.linalg.norm(model.tree.gravity))
    return float(model.total_mass * (speed * speed))


class BlowUp:
    """What a run had to move with so far.

    Attributes:
        has_contact: whether anything touched.

    Args:
        least: energy that counts as none [J].
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._start = self._highest = 0.0
        self._lowest = np.inf
        self._driven = self._made = 0.0
        self._is_new = True
        self.has_contact = False

    def find(self, rows: Array, kinetic: float, potential: float) -> int | None:
        """First of the states after these steps that has too much, by its place among them, or None.

        Args:
            rows: records of the steps since the last call, shape (n, ·).
            kinetic: energy at their end [J].
            potential: likewise.
        """
        if not len(rows):
            return None
        if self._is_new:
            self._is_new = False
            self._start, self._highest = float(rows[0, KINETIC] + rows[0, STORED]), float(rows[0, POTENTIAL])
        heights = np.append(rows[:, POTENTIAL], potential)
        lowest = np.minimum(np.minimum.accumulate(heights), self._lowest)
        driven = self._driven + np.append(0.0, np.cumsum(np.maximum(rows[:, ACTUATION], 0.0)))
        had = self._start + (self._highest - lowest) + driven
        moving = np.append(rows[:, KINETIC], kinetic)
        touches = rows[:, CONTACTS] > 0.0
        springs = np.maximum(rows[:, ELASTIC] + rows[:, STORED_AFTER] - rows[:, STORED], 0.0)
        works = np.maximum(rows[:, IMPACT], 0.0) + np.maximum(rows[:, FRICTION], 0.0)
        made = self._made + np.append(0.0, np.cumsum(np.where(touches, springs + works, 0.0)))
        self._lowest, self._driven, self._made = float(lowest[-1]), float(driven[-1]), float(made[-1])
        self.has_contact = self.has_contact or bool(touches.any())
        is_too_much = ~(moving <= MOST * had + self._least)
        bad = np.flatnonzero(is_too_much & ~(made < 0.5 * (moving - had)))
        return int(bad[0]) if len(bad) else None
