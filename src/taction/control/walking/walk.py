"""A walking reference by the zero-moment-point method: from speed and gait to joint angles over time.

What it solves: joint angles of a legged robot over time such that it trots, walks, paces or bounds along x,
to be followed by joint controllers alone.

Method
1. *Plan* (`taction.control.walking.plan`): footsteps, and the motion of the centre of mass that they carry;
   the body stays level and at its height.
2. *Inverse kinematics* (`taction.control.walking.legs`): the angles of all legs, sampled, as a `JointPath`.
   A steady gait is periodic: once the start is forgotten, the last period is repeated for ever.

The centre of mass is where it is in the stance, against the base: legs that swing do not move it. There is no
feedback of the body's motion: heading and place drift with what feet slip, and ground that is not flat tilts
the robot.

Departures: [Akbas2012] plans a pace; trot and the others are the same method with other loads.

References: [Akbas2012]; [Kajita2003]; [Ayit2015, Section 5.4.1].
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.show import brief_repr
from taction.control.joint_path import JointPath
from taction.control.walking.base import base_pose
from taction.control.walking.gaits import Gait, get_gait
from taction.control.walking.legs import Leg, find_legs, in_order, joint_path
from taction.control.walking.plan import plan_walk
from taction.dynamics.energy import totals
from taction.model.model import Model

INTERVAL = 5e-3  # between two samples [s]
STEADY = 4.0  # after the start, until the body moves the same way in every period, to 1e-6 m [s]


@dataclass(frozen=True, eq=False)
class Walk:
    """A walking reference, sampled up to where it repeats itself.

    Attributes:
        path: joint angles; the last period is repeated for ever.
        t: times of the samples [s], shape (n,).
        body: of the base [m], shape (n, 3).
        feet: of the four feet [m], shape (n, 4, 3).
        plan: where the zero-moment point should be [m], shape (n, 2).
        zmp: where preview control brings it [m], shape (n, 2).
        gait: when legs lift.
        legs: right back, left back, right front, left front.
    """

    path: JointPath
    t: Array
    body: Array
    feet: Array
    plan: Array
    zmp: Array
    gait: Gait
    legs: tuple[Leg, ...]

    __repr__ = brief_repr


def walk(
    model: Model,
    gait: str | Gait = "trot",
    *,
    speed: float = 0.1,
    step_height: float = 0.05,
    period: float | None = None,
    duty: float | None = None,
    start: float = 1.5,
    ramp: float = 1.0,
    q: ArrayLike | None = None,
    feet: tuple[str, ...] | None = None,
    interval: float = INTERVAL,
) -> Walk:
    """A reference of joint angles with which a quadruped walks along x.

    Args:
        model: a robot with a floating base and four legs of three or four hinges.
        gait: ``"trot"``, ``"walk"``, ``"pace"``, ``"bound"``, or when legs lift.
        speed: ahead [m/s]; negative: backward.
        step_height: by which feet rise [m].
        period: of the gait [s]; its own by default.
        duty: part of the period that feet stand; the gait's own by default.
        start: how long it stands first [s]; the body begins to move before the feet do, and if that is soon,
            with a jerk.
        ramp: time in which the speed grows [s].
        q: stance, shape (nq,); the neutral configuration by default. The base is level there, or as it
            should be carried.
        feet: bodies that carry the feet; found by default, see `find_legs`.
        interval: between two samples, or a little less, so that a period has a whole number of them [s].

    Raises:
        BadInput: no quadruped, impossible numbers, or a step that a leg cannot reach or a joint's stop
            forbids.
    """
    shape = get_gait(gait) if isinstance(gait, str) else gait
    shape = replace(
        shape, period=shape.period if period is None else period, duty=shape.duty if duty is None else duty
    )
    stance = model.q0 if q is None else model.check_q(q, "stance")
    legs = in_order(model, find_legs(model, stance, feet))
    R, origin = base_pose(model, stance)
    count = max(int(np.ceil(shape.period / interval)), 2)
    interval = shape.period / count
    periods = int(np.ceil((start + ramp + STEADY) / shape.period))
    n = periods * count + 1
    homes = np.array([origin + R @ leg.home for leg in legs])
    centre = totals(model, stance).com
    plan = plan_walk(
        homes, centre, shape, speed=speed, step_height=step_height, start=start, ramp=ramp,
        interval=interval, count=n, ground=float(np.mean(homes[:, 2] - [leg.radius for leg in legs])),
        gravity=float(np.linalg.norm(model.tree.gravity)),
    )  # fmt: skip
    body = np.tile(origin, (n, 1))
    body[:, :2] += plan.centre - centre[:2]
    path = joint_path(model, legs, plan.feet, body, R, interval, repeated=count)
    return Walk(path, plan.t, body, plan.feet, plan.aim, plan.zmp, shape, legs)
