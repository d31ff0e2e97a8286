"""Errors of the time steps of a run, in metres and metres per second: what is known of them, and the verdict.

Of steps that divide themselves the record says what each is estimated to be off by
(`taction.sim.divided_step`), and whether its shortest parts still were less accurate than was asked for.

References: [HairerNorsettWanner1993, Section II.4] for estimates.
"""

from __future__ import annotations

import warnings

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import AccuracyWarning
from taction._core.show import brief, count
from taction.steppers import columns as column


def first_inaccurate(rows: Array) -> tuple[int, str] | None:
    """The first step that is less accurate than was asked for, and why a strict run refuses it."""
    bad = np.flatnonzero(rows[:, column.INACCURATE] > 0.0)
    if not len(bad):
        return None
    k = int(bad[0])
    return k, (
        "the shortest parts of a step are less accurate than asked for: "
        f"{rows[k, column.POSITION_ERROR]:.3g} m in {rows[k, column.PARTS]:.0f} parts; {REMEDY}"
    )


REMEDY = "take a shorter dt, a larger accuracy, or more most_divisions"


def warn_of_accuracy(rows: Array, name: str, t0: float, dt: float, stacklevel: int) -> None:
    """Say where steps were less accurate than was asked for."""
    bad = np.flatnonzero(rows[:, column.INACCURATE] > 0.0)
    if not len(bad):
        return
    worst = int(bad[rows[bad, column.POSITION_ERROR].argmax()])
    text = (
        f"{name}: {count(len(bad), 'step')} less accurate than asked for, the worst at t = "
        f"{t0 + dt * worst:.6g} s, some {brief(rows[worst, column.POSITION_ERROR])} m in "
        f"{rows[worst, column.PARTS]:.0f} parts; {REMEDY}"
    )
    warnings.warn(text, AccuracyWarning, stacklevel=stacklevel + 1)
