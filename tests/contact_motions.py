"""Motions of two bodies whose closest points are known in closed form at all times.

Prescribed are the normal n_1 of body 1 and d_2 of body 2 at the contact, each by longitude and latitude, the
angle ψ by which one body is turned about the normal, and the distance Δ. The points are those with these
normals, and the pose follows: R takes d_2 to −n_1, r = p_1 + Δ n_1 − R p_2. The twist is exact as well: all
is analytic in the time, and the imaginary part of a function of t + i ε is ε times its derivative, without
differences and so without their error, for an ε whose square vanishes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.geometry.surfaces import Ellipsoid, Plane, Sphere, Superquadric

TINY = 1e-30  # ε [s]


class Moment(NamedTuple):
    """Pose (4, 4), twist (6,), points (3,) in their frames, distance and coordinates with their rates."""

    H: Array
    twist: Array
    p1: Array
    p2: Array
    distance: float
    angles: Array  # longitude and latitude of n_1, of d_2, and ψ
    rates: Array


def frame(longitude: Any, latitude: Any) -> Any:
    """Axes to the east, to the north and outwards, as columns."""
    c, s, q, z = np.cos(longitude), np.sin(longitude), np.cos(latitude), np.sin(latitude)
    return np.array([[-s, -z * c, q * c], [c, -z * s, q * s], [0.0 * q, q, z]])


def about_normal(psi: Any) -> Any:
    """The frame of body 2 in that of body 1: normals opposite, turned by ψ."""
    c, s = np.cos(psi), np.sin(psi)
    return np.array([[c, -s, 0.0], [-s, -c, 0.0], [0.0, 0.0, -1.0]])


def support(surface: Any, d: Any, t: Any) -> Any:
    """The point with the normal d; of a plane, one that wanders about."""
    if isinstance(surface, Plane):
        return np.array([0.3 * np.sin(0.8 * t), 0.2 * np.cos(0.5 * t), 0.0])
    if isinstance(surface, Sphere):
        return surface.radius * d
    S = np.array(surface.radii)
    if isinstance(surface, Ellipsoid):
        return S * S * d / np.sqrt(((S * d) ** 2).sum())
    assert isinstance(surface, Superquadric)
    k, m = (e / (e - 1.0) for e in (2.0 / x for x in surface.exponents))
    signs = np.copysign(1.0, d.real)
    x, y, z = signs * S * d
    rho = (x**m + y**m) ** (1.0 / m)
    h = (rho**k + z**k) ** (1.0 / k)
    bent = (rho / h) ** (k - 1.0)
    return signs * S * (bent * (x / rho) ** (m - 1.0), bent * (y / rho) ** (m - 1.0), (z / h) ** (k - 1.0))


def wandering(t: Any) -> list[Any]:
    """Angles that take the contact of smooth bodies all around them."""
    return [0.9 * t, 0.8 * np.sin(0.7 * t), -0.6 * t + 1.0, 0.7 * np.cos(0.9 * t), 0.5 * t + np.sin(t)]


def within_an_octant(t: Any) -> list[Any]:
    """Angles that stay between the coordinate planes, where superquadrics have no finite curvature."""
    return [
        0.8 + 0.25 * np.sin(0.9 * t), 0.65 + 0.2 * np.cos(0.7 * t),
        0.75 + 0.2 * np.cos(1.1 * t), 0.7 + 0.2 * np.sin(0.6 * t), 0.4 * t,
    ]  # fmt: skip


class ExactMotion:
    """A motion of two surfaces at a distance Δ(t); remembers what it was asked for."""

    def __init__(self, first: Any, second: Any, distance: Any, angles: Any = wandering) -> None:
        self.first, self.second, self.distance, self.angles = first, second, distance, angles
        self.known: dict[float, Moment] = {}

    def __call__(self, t: float) -> tuple[Array, Array]:
        moment = self.at(t)
        return moment.H, moment.twist

    def at(self, t: float) -> Moment:
        if t not in self.known:
            self.known[t] = self._at(t)
        return self.known[t]

    def _at(self, t: float) -> Moment:
        time = complex(t, TINY)
        a = np.array(self.angles(time))
        F1, F2 = frame(a[0], a[1]), frame(a[2], a[3])
        if isinstance(self.second, Plane):
            F2 = np.eye(3)
        n = F1[:, 2]
        p1, p2 = support(self.first, n, time), support(self.second, F2[:, 2], time)
        delta = self.distance(time)
        H = np.eye(4, dtype=complex)
        H[:3, :3] = R = F1 @ about_normal(a[4]) @ F2.T
        H[:3, 3] = p1 + delta * n - R @ p2
        tilde = H.imag / TINY @ np.linalg.inv(H.real)
        twist = np.array([tilde[2, 1], tilde[0, 2], tilde[1, 0], *tilde[:3, 3]])
        return Moment(H.real, twist, p1.real, p2.real, delta.real, a.real, a.imag / TINY)
