"""Footsteps: where feet stand, and how they get from one place to the next.

What it solves: a body moves ahead by X(t) along x; feet stand below it at their homes. A foot that stands
from t_a to t_b should be below its home in the middle of that time, so that the leg leans as much
backward at the end as forward at the beginning: its place is home + X((t_a + t_b)/2).

Method. X grows with the speed after a ramp of the speed. In the air a foot moves from place to place by
s(x) = 10 x³ − 15 x⁴ + 6 x⁵, whose velocity and acceleration vanish at both ends, and rises by
H·64 x³ (1 − x)³, x from 0 to 1 over the time in the air: it leaves and meets the ground at rest.

References: [Akbas2012] for feet that follow the body; [Kajita2003] for the ground as a plan.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.control.walking.gaits import Gait


def progress(t: Array, start: float, speed: float, ramp: float) -> Array:
    """How far a body got by times (n,) [s], shape (n,) [m]: at rest, faster over the ramp, then steady."""
    since = np.maximum(t - start, 0.0)
    if ramp <= 0.0:
        return speed * since
    grown = np.minimum(since, ramp)
    return speed * (grown**2 / (2.0 * ramp) + (since - grown))


def smooth_step(x: Array) -> Array:
    """s(x) of the module text for x in [0, 1]."""
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def foot_path(
    t: Array, home: Array, gait: Gait, leg: int, *, start: float, speed: float, ramp: float, height: float
) -> Array:
    """Positions of a foot at times (n,) [s], shape (n, 3) [m].

    Args:
        t: times, increasing.
        home: where it stands at the start [m], shape (3,).
        gait: when it lifts.
        leg: which one it is of the gait's four.
        start: from when on legs lift [s].
        speed: of the body, along x [m/s].
        ramp: time in which the speed grows [s].
        height: by which it rises in the air [m].
    """
    out = np.tile(home, (len(t), 1))
    place = 0.0
    for lift in gait.lifts(leg, start, float(t[-1])):
        land = lift + gait.swing
        goal = float(progress(np.array([land + 0.5 * gait.stance]), start, speed, ramp)[0])
        air = (t >= lift) & (t < land)
        x = (t[air] - lift) / gait.swing
        out[air, 0] = home[0] + place + (goal - place) * smooth_step(x)
        out[air, 2] = home[2] + 64.0 * height * (x * (1.0 - x)) ** 3
        out[t >= land, 0] = home[0] + goal
        place = goal
    return out
