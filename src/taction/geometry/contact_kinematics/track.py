"""Contact points along a motion: rates integrated by Runge and Kutta's method, corrected by Newton's.

What it solves: given H(t) and the twist T(t) of body 2 against body 1, and contact points at the start, where
are they later, and how large is the distance?

Method, a step of length h from t:
1. The classical fourth-order step of Runge and Kutta for (p_1, p_2, Δ) with the rates of `rates`; H and T are
   given at t, t + h/2 and t + h. Points leave their surfaces by the error of the step only.
2. With correction: Newton's method from there, at H(t + h). Errors are then rounding, at every step.
   Without: they grow with h⁴, which is a test of the rates.
3. The conditions are looked at after every step: where they break, closest points jump or cease to be
   closest, and no small step leads across.

Cost: 3 to 5 ms per step, of which 2.5 ms are the four rates.

References: [DuindamStramigioli2003, Section 5] for following contact points by their rates;
[HairerNorsettWanner1993, Section II.1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import function, instance
from taction._core.show import brief_repr
from taction.geometry.contact_kinematics.conditions import conditions
from taction.geometry.contact_kinematics.contact_points import ContactPoints
from taction.geometry.contact_kinematics.newton import correct
from taction.geometry.contact_kinematics.rates import generalised_rates
from taction.geometry.surfaces.base import Surface, positive

Placed = tuple[ArrayLike, ArrayLike]  # pose and twist
Motion = Callable[[float], Placed]


@dataclass(frozen=True, eq=False)
class Track:
    """Contact points over time.

    Attributes:
        t: times, shape (n + 1,) [s].
        p1: points on the first surface, in its frame, shape (n + 1, 3) [m].
        p2: points on the second surface, in its frame, shape (n + 1, 3) [m].
        distance: Δ, shape (n + 1,) [m].
    """

    t: Array
    p1: Array
    p2: Array
    distance: Array

    __repr__ = brief_repr


def track(
    first: Surface,
    second: Surface,
    motion: Motion,
    start: ContactPoints,
    duration: float,
    steps: int,
    *,
    is_corrected: bool = True,
) -> Track:
    """Follow contact points along a motion of body 2 against body 1.

    Args:
        first: surface of body 1.
        second: surface of body 2.
        motion: from a time [s] to the pose H (4, 4) of body 2 in frame 1 and its twist (6,) there.
        start: contact points at time 0, see `closest_points`.
        duration: how long [s].
        steps: number of steps of equal length.
        is_corrected: whether Newton's method follows every step.

    Raises:
        BadInput: the conditions break on the way; the message names the pair, the limit and the time.
    """
    function(motion, "t", "motion")
    instance(start, ContactPoints, "start")
    if instance(steps, (int, np.integer), "steps") < 1:
        raise BadInput(f"steps must be at least 1, got {steps}")
    h = positive(duration, "duration") / steps
    points, kept, begin = start, [start], motion(0.0)
    for k in range(steps):
        middle, end = motion((k + 0.5) * h), motion((k + 1) * h)
        try:
            points = _runge_kutta(first, second, points, h, begin, middle, end)
            if is_corrected:
                points = correct(first, second, end[0], points)
            conditions(first, second, end[0], points).require()
        except BadInput as error:
            raise BadInput(f"at t = {(k + 1) * h:.6g} s: {error}") from None
        kept.append(points)
        begin = end
    return Track(
        np.array([k * h for k in range(steps + 1)]),
        np.array([x.p1 for x in kept]),
        np.array([x.p2 for x in kept]),
        np.array([x.distance for x in kept]),
    )


def _runge_kutta(
    first: Surface,
    second: Surface,
    points: ContactPoints,
    h: float,
    begin: Placed,
    middle: Placed,
    end: Placed,
) -> ContactPoints:
    """One step of the classical method."""
    x = np.concatenate([points.p1, points.p2, [points.distance]])

    def slope(at: Placed, y: Array) -> Array:
        rates = generalised_rates(first, second, *at, ContactPoints(y[:3], y[3:6], y[6]))
        return np.concatenate([rates.p1, rates.p2, [rates.distance]])

    k1 = slope(begin, x)
    k2 = slope(middle, x + 0.5 * h * k1)
    k3 = slope(middle, x + 0.5 * h * k2)
    k4 = slope(end, x + h * k3)
    x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return ContactPoints(x[:3], x[3:6], float(x[6]))
