"""The chart of the unit sphere by longitude and latitude, for surfaces that are images of it.

    d(u) = (cos u_2 cos u_1, cos u_2 sin u_1, sin u_2)

with u_1 about z and u_2 up from the equator [rad]. In this order ∂d/∂u_1 × ∂d/∂u_2 points outwards. At the
poles, u_2 = ±π/2, the first derivative by u_1 vanishes: no chart of a whole sphere is without such points,
which is why contacts are kept as points and not as parameters.

References: [DoCarmo1976, Section 2-2].
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array


class Direction(NamedTuple):
    """d (3,), its first derivatives (3, 2) and its second ones (3, 2, 2)."""

    value: Array
    first: Array
    second: Array


def direction(longitude: float, latitude: float) -> Direction:
    """d(u) and its derivatives."""
    c, s = math.cos(longitude), math.sin(longitude)
    q, z = math.cos(latitude), math.sin(latitude)
    d = np.array([q * c, q * s, z])
    first = np.array([[-q * s, -z * c], [q * c, -z * s], [0.0, q]])
    second = np.empty((3, 2, 2))
    second[:, 0, 0] = -q * c, -q * s, 0.0
    second[:, 0, 1] = second[:, 1, 0] = z * s, -z * c, 0.0
    second[:, 1, 1] = -d
    return Direction(d, first, second)


def angles(d: Array) -> Array:
    """Longitude and latitude (2,) of a vector (3,) of any length [rad]."""
    x, y, z = d.tolist()
    return np.array([math.atan2(y, x), math.atan2(z, math.hypot(x, y))])
