"""How contact points move over two surfaces while the bodies move: equations (5), (8) and (10).

What it solves: two bodies with surfaces 1 and 2, H = H_2^1 the pose of body 2 in frame 1, T = T_2^{1,1} its
twist. Contact points fulfil
    p_1 + Δ g_1 = H p_2,    g_1 = −H g_2.                                                             (6)
Given T, how do p_1, p_2 and Δ change?

Notation: homogeneous coordinates of `homogeneous`; g_1* and g_2* as matrices (4, 4); T̃_1^{2,2} = −H⁻¹ T̃ H the
same motion seen from body 2.

Method:
1. Δ̇ = ⟨g_1, T̃ H p_2⟩: what moves along the surfaces moves across the normal.                         (10)
2. The derivative of (6), with ṗ_2 from its first line put into its second:
    (g_1* + H g_2* H⁻¹ (1 + Δ g_1*)) ṗ_1 = T̃ g_1 + H g_2* (Δ̇ g_2 − T̃_1^{2,2} p_2)                      (8)
   and the same with 1 and 2 exchanged for ṗ_2.
3. Both sides are tangent vectors; g_2* takes the normal part of its argument to zero, so that Δ̇ could be left
   out here. With the tangent basis E (4, 2) of the surface, ṗ_1 = E y and two equations
   for two unknowns y remain.
4. Touching, Δ = Δ̇ = 0: that is (5), and the normal velocity at the contact must vanish.

Departures: (8) is printed with ṗ_1 and ṗ_2 exchanged, see the page on deviations. Conditions for a solution
are in `conditions`; here only the rank is looked at.

Cost: 0.6 ms for both points.

References: [DuindamStramigioli2003, Eqs. (5) to (11)].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.show import brief
from taction.geometry.contact_kinematics.conditions import SINGULAR
from taction.geometry.contact_kinematics.contact_points import ContactPoints, Rates
from taction.geometry.contact_kinematics.homogeneous import (
    as_pose,
    as_twist,
    free,
    inverse,
    point,
    tensor,
    tilde,
)
from taction.geometry.surfaces.base import Surface, tangent_basis
from taction.math.transform import Transform

NORMAL_SHARE = 1e-6  # of the speed of the motion, above which bodies that should touch part or collide
ONE = np.eye(4)


class Place:
    """A contact point on one of the surfaces, in homogeneous coordinates."""

    def __init__(self, surface: Surface, p: Array) -> None:
        n = surface.gauss_map(p)
        self.surface = surface
        self.p = point(p)
        self.g = free(n)
        self.g_star = tensor(surface.gauss_derivative(p))
        self.E = np.vstack([tangent_basis(n), np.zeros(2)])


def regular_rates(
    first: Surface,
    second: Surface,
    H: ArrayLike | Transform,
    twist: ArrayLike,
    points: ContactPoints,
) -> Rates:
    """Velocities of the point of contact over two surfaces that roll and slide on each other.

    Args:
        first: surface of body 1.
        second: surface of body 2.
        H: pose of body 2 in the frame of body 1, shape (4, 4).
        twist: (ω, v) of body 2 against body 1 in the frame of body 1, shape (6,) [rad/s, m/s].
        points: where they touch; its distance is not looked at.

    Raises:
        BadInput: the bodies part or collide, or the rates are not unique.
    """
    H, T = as_pose(H), tilde(as_twist(twist))
    one, two = Place(first, points.p1), Place(second, points.p2)
    at = H @ two.p
    normal = float(one.g @ T @ at)
    fastest = float(np.linalg.norm(T[:3, 3]) + np.linalg.norm(T[:3, :3]) * np.linalg.norm(at[:3]))
    if abs(normal) > NORMAL_SHARE * fastest:
        raise BadInput(
            f"{first.label} and {second.label}: the normal velocity {normal:.6g} m/s at the contact must be "
            "zero; generalised_rates takes any"
        )
    p1 = _rate(one, two, H, T, 0.0, 0.0)
    p2 = _rate(two, one, *_seen_from_other(H, T), 0.0, 0.0)
    return Rates(p1[:3], p2[:3], 0.0)


def generalised_rates(
    first: Surface,
    second: Surface,
    H: ArrayLike | Transform,
    twist: ArrayLike,
    points: ContactPoints,
) -> Rates:
    """Velocities of the closest points over two surfaces, apart, touching or overlapping; any relative twist.

    Args:
        first: surface of body 1.
        second: surface of body 2.
        H: pose of body 2 in the frame of body 1, shape (4, 4).
        twist: (ω, v) of body 2 against body 1 in the frame of body 1, shape (6,) [rad/s, m/s].
        points: the closest points and their distance.

    Raises:
        BadInput: the rates are not unique.
    """
    H, T = as_pose(H), tilde(as_twist(twist))
    one, two = Place(first, points.p1), Place(second, points.p2)
    speed = float(one.g @ T @ H @ two.p)
    p1 = _rate(one, two, H, T, points.distance, speed)
    p2 = _rate(two, one, *_seen_from_other(H, T), points.distance, speed)
    return Rates(p1[:3], p2[:3], speed)


def _seen_from_other(H: Array, T: Array) -> tuple[Array, Array]:
    """H_1^2 and T̃_1^{2,2} of H_2^1 and T̃_2^{1,1}."""
    back = inverse(H)
    return back, -back @ T @ H


def _rate(one: Place, two: Place, H: Array, T: Array, delta: float, speed: float) -> Array:
    """ṗ_1 (4,) by the first line of (8)."""
    back, T_12 = _seen_from_other(H, T)
    B = H @ two.g_star @ back
    M = one.g_star + B @ (ONE + delta * one.g_star)
    right = T @ one.g + H @ two.g_star @ (speed * two.g - T_12 @ two.p)
    reduced = one.E.T @ M @ one.E
    a, b = float(np.linalg.norm(one.g_star)), float(np.linalg.norm(two.g_star))
    smaller = float(np.linalg.svd(reduced, compute_uv=False)[1])
    if not smaller > SINGULAR * (a + b + abs(delta) * a * b):
        raise BadInput(
            f"{one.surface.label} and {two.surface.label}: closest points are not unique at "
            f"{brief(one.p[:3])}, the matrix of their rates has a singular value of {smaller:.3g} 1/m"
        )
    return one.E @ np.linalg.solve(reduced, one.E.T @ right)
