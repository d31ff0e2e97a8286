"""Errors of the time steps of a run, in metres and metres per second: what is known of them, and the verdict.

Of steps that divide themselves the record says what each is estimated to be off by
(`taction.sim.divided_step`), and whether its shortest parts still were less accurate than was asked for. Of
plain steps it says so of samples (`taction.sim.step_samples`), and the others are judged beside them by their
velocities:

    r_n = |W (v_{n+1} − 2 v_n + v_{n−1})|,        W: 1 for a translation, the size of its link for a turn

is h² times a second derivative where the motion is smooth, as is h⁻¹ times the error of a place of a scheme
of order 2, and the jump of velocities where something strikes.

1. *Smooth*: e_x = c_x h r, e_v = c_v r, r the root of its mean square over `WINDOW` steps on either side. At
   a sample c is what the sample says; between samples it changes geometrically, and without any it is
   `PLAIN`, the midpoint rule's own; it is 1 at most. Where something touches c_x is `PLAIN` at least: it may
   begin to slide, or stick.
2. *An event*, in the step, before or after it, where something strikes: e_x = h r and e_v = r, the most that
   an impact one step too early or too late is off by.

The verdict: errors of smooth steps, without the floor of 1, added up, over the *way*, the integral of the
largest |W v|; above `COARSE` steps are too long for the motion. What impacts are off by in time is an upper
bound, and counted thrice, in the steps beside them too: it is held against a run above `SCATTERED`.

Cost: a few operations on the recorded velocities, in NumPy: 0.1 µs per step and degree of freedom.

References: [HairerNorsettWanner1993, Section II.4] for estimates.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array
from taction._core.errors import AccuracyWarning
from taction._core.kinds import LinkKind
from taction._core.show import brief, count
from taction.kinematics.state_distance import centres_and_radii
from taction.model.model import Model
from taction.steppers import columns as column

WINDOW = 4  # steps on either side over which second differences are averaged
PLAIN = 1.0 / 12.0  # h times a second difference to the error of a place, where nothing was sampled
CLEAR = 1e-3  # share of its median that r must have where a sample counts
ROUNDING = 1e-13  # what a sample below says at least [m] or [m/s]
COARSE = 0.003  # errors of smooth steps over the way of a motion, above which a strict run refuses them
SCATTERED = 1.5  # bounds of those of events over it, likewise
MANY = 64  # steps of a run from which on those are judged: a first impact has no way before it
# Way that is next to nothing [m]: of a robot that stands and settles; and of one impact
NEAR, CLOSE = 1e-2, 1e-3
REMEDY = "take a shorter dt, a larger accuracy, or more most_divisions"


class StepErrors(NamedTuple):
    """What the steps of a run are estimated to be off by, each by itself."""

    position: Array  # places of links [m], shape (n,)
    velocity: Array  # their velocities [m/s], shape (n,)
    is_event: NDArray[np.bool_]  # something strikes there or in the step before or after, shape (n,)
    smooth: Array  # errors of places of steps without an event, not raised to any floor [m], shape (n,)
    way: Array  # what links have gone until the end of each step [m], shape (n,)

    @property
    def share(self) -> Array:
        """Errors of smooth steps until the end of each step, over the way until then, shape (n,)."""
        return np.cumsum(self.smooth) / (self.way + NEAR)

    @property
    def event_share(self) -> Array:
        """Bounds of errors of events until the end of each step, over the way until then, shape (n,)."""
        return np.cumsum(np.where(self.is_event, self.position, 0.0)) / (self.way + CLOSE)


def turning_sizes(model: Model) -> Array:
    """W: metres per unit of each velocity, shape (nv,); of a turn the radius of gyration about its origin."""
    out, tree = np.ones(model.nv), model.tree
    centre, radius = centres_and_radii(model)
    size = np.sqrt(radius**2 + (centre**2).sum(axis=1))
    for i in range(1, len(tree.parent)):
        kind, k = tree.kind[i], tree.iv[i]
        if kind == LinkKind.REVOLUTE:
            out[k] = size[i]
        elif kind == LinkKind.SPHERICAL:
            out[k : k + 3] = size[i]
        elif kind == LinkKind.FLOATING:
            out[k + 3 : k + 6] = size[i]
    return out


def estimate_errors(model: Model, dt: float, v: Array, rows: Array) -> StepErrors:
    """Errors of steps from their records.

    Args:
        model: whose velocities are recorded.
        dt: time step [s].
        v: velocities, shape (n + 1, nv).
        rows: records of the steps, columns of `taction.steppers.columns`, shape (n, ·).
    """
    n, sizes = len(rows), turning_sizes(model)
    speed = np.abs(v[:-1] * sizes).max(axis=1, initial=0.0)
    way = np.cumsum(dt * speed)
    known = rows[:, column.POSITION_ERROR], rows[:, column.VELOCITY_ERROR]
    touching = rows[:, column.CONTACTS]
    struck = near(rows[:, column.IMPACT] != 0.0)
    if n == 0 or (rows[:, column.PARTS] > 0.0).any():
        return StepErrors(known[0].copy(), known[1].copy(), np.zeros(n, dtype=bool), known[0].copy(), way)
    r = _second_differences(v * sizes)
    smooth = _averaged(r, ~struck)
    out = []
    for estimate, unit in ((known[0], dt), (known[1], 1.0)):
        error = _calibrated(estimate, unit * smooth, ~struck) * unit * smooth
        out.append(np.where(estimate > 0.0, estimate, error))
    position = np.where(touching > 0.0, np.maximum(out[0], PLAIN * dt * smooth), out[0])
    position = np.where(known[0] > 0.0, known[0], position)  # a sample knows better
    jump = np.where(struck, r, 0.0)
    return StepErrors(
        np.maximum(position, dt * jump), np.maximum(out[1], jump), struck, np.where(struck, 0.0, out[0]), way
    )


def near(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each step, the one before or the one after has a flag."""
    out = flags.copy()
    out[1:] |= flags[:-1]
    out[:-1] |= flags[1:]
    return out


def _second_differences(u: Array) -> Array:
    """The larger of |u_{n+1} − 2 u_n + u_{n−1}| at both ends of each step, shape (n,); u (n + 1, ·)."""
    change = np.diff(u, axis=0)
    second = np.sqrt((np.diff(change, axis=0) ** 2).sum(axis=1))
    out = np.zeros(len(change))
    out[1:] = second
    out[:-1] = np.maximum(out[:-1], second)
    return out


def _averaged(r: Array, counts: NDArray[np.bool_]) -> Array:
    """Root of the mean square over a window, of the steps that count; r itself where none does."""
    kernel = np.ones(2 * WINDOW + 1)
    total = np.convolve(np.where(counts, r, 0.0) ** 2, kernel)[WINDOW : WINDOW + len(r)]
    number = np.convolve(counts.astype(float), kernel)[WINDOW : WINDOW + len(r)]
    return np.where(number > 0.0, np.sqrt(total / np.maximum(number, 1.0)), r)


def _calibrated(estimate: Array, scale: Array, counts: NDArray[np.bool_]) -> Array:
    """The factor from a scale to errors at every step, from samples; `PLAIN` where there are none."""
    clear = CLEAR * float(np.median(scale))
    at = np.flatnonzero((estimate > 0.0) & counts & (scale > clear))
    if not len(at):
        return np.full(len(scale), PLAIN)
    known = np.minimum(np.maximum(estimate[at], ROUNDING) / scale[at], 1.0)
    return np.exp(np.interp(np.arange(len(scale)), at, np.log(known)))


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


def first_coarse(errors: StepErrors) -> tuple[int, str] | None:
    """The first step by which those of a run are off by too much, and why a strict run refuses that."""
    share, events, n = errors.share, errors.event_share, len(errors.way)
    bad = np.flatnonzero(~(share <= COARSE))
    if len(bad):
        k, size, what = int(bad[0]), share[bad[0]], "errors add up to"
    elif n >= MANY and not events[-1] <= SCATTERED:
        k, size, what = n - 1, events[-1], "errors of impacts may add up to"
    else:
        return None
    return k, (
        f"steps are too long: their estimated {what} {size:.2g} of the way of the motion; reduce the time "
        f"step, or give an accuracy, such as accuracy={accuracy_for(errors):.0e}"
    )


def accuracy_for(errors: StepErrors) -> float:
    """An accuracy [m] that keeps errors of steps below a tenth of `COARSE` of the way in each."""
    each = float(errors.way[-1]) / max(len(errors.way), 1)
    return 0.1 * COARSE * each + 1e-12


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
