"""Plans of walks: footsteps, and the motion of the centre of mass that the feet can carry.

What it solves: from speed and gait, where every foot is at every time, and how the centre of mass must move
so that the ground can push where feet stand. What follows the plan is another matter: joint angles alone
(`taction.control.walking.walk`) or torques of the whole body (`taction.control.walking.whole_body_walk`).

Method
1. *Footsteps* (`taction.control.walking.footsteps`): where each foot stands and how it swings.
2. *Zero-moment point*: where the feet that carry can be pressed, p*(t) = Σ wᵢ fᵢ / Σ wᵢ with the loads w of
   the gait: one foot, the middle of a diagonal, of a side, of a triangle.
3. *Centre of mass*: the motion that keeps the zero-moment point there, by preview control
   (`taction.control.walking.zmp_preview`), from above the middle of the feet, where it goes before the first
   step; at a constant height.

References: [Kajita2003]; [Akbas2012].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.control.walking.footsteps import foot_path, smooth_step
from taction.control.walking.gaits import Gait
from taction.control.walking.zmp_preview import HORIZON, follow_zmp, preview_gains


class Plan(NamedTuple):
    """A walk of k feet, sampled."""

    t: Array  # (n,) [s], equally spaced
    feet: Array  # (n, k, 3) [m]
    centre: Array  # (n, 2) of mass [m]
    aim: Array  # (n, 2) where the zero-moment point should be [m]
    zmp: Array  # (n, 2) where preview control brings it [m]
    gait: Gait
    start: float  # from when on legs lift [s]
    height: float  # of the centre of mass above the ground [m]


def plan_walk(
    homes: Array,
    centre: Array,
    gait: Gait,
    *,
    speed: float,
    step_height: float,
    start: float,
    ramp: float,
    interval: float,
    count: int,
    ground: float = 0.0,
    gravity: float = 9.81,
) -> Plan:
    """A walk along x.

    Args:
        homes: where feet stand at the start [m], shape (k, 3).
        centre: of mass at the start [m], shape (3,).
        gait: when legs lift.
        speed: ahead [m/s]; negative: backward.
        step_height: by which feet rise [m].
        start: how long it stands first [s].
        ramp: time in which the speed grows [s].
        interval: between two samples [s].
        count: how many samples are wanted; those after them are only seen ahead.
        ground: its height [m].
        gravity: [m/s²].

    Raises:
        BadInput: impossible numbers, or a gait of another number of legs.
    """
    for name, value in {"step_height": step_height, "start": start, "ramp": ramp}.items():
        if not (np.isfinite(value) and value >= 0.0):
            raise BadInput(f"walk: {name} must be finite and not negative, got {value!r}")
    if not np.isfinite(speed):
        raise BadInput(f"walk: speed must be finite, got {speed!r}")
    if len(gait.lift) != len(homes):
        raise BadInput(f"walk: {gait.name} is a gait of {len(gait.lift)} legs, not of {len(homes)}")
    t = np.asarray(interval * np.arange(count + round(HORIZON / interval)), dtype=np.float64)
    feet = np.stack(
        [
            foot_path(t, home, gait, k, start=start, speed=speed, ramp=ramp, height=step_height)
            for k, home in enumerate(homes)
        ],
        axis=1,
    )
    load = np.stack([gait.load(k, t, start) for k in range(len(homes))], axis=1)
    aim = np.einsum("nk,nki->ni", load, feet[:, :, :2]) / load.sum(axis=1, keepdims=True)
    height = float(centre[2] - ground)
    moved, zmp = follow_zmp(aim - aim[0], preview_gains(height, interval, gravity=gravity))
    path = centre[:2] + moved
    if start > 0.0:  # the centre of mass goes above the middle of the feet first
        path = path + smooth_step(np.minimum(t / start, 1.0))[:, None] * (aim[0] - centre[:2])
    n = count
    return Plan(t[:n], feet[:n], path[:n], aim[:n], (zmp + aim[0])[:n], gait, start, height)
