"""Contact points to rounding, from points that are nearly right: Newton's method on equation (6).

What it solves: p_1 on surface 1, p_2 on surface 2 and Δ with
    r = H p_2 − p_1 − Δ g_1 = 0  (three equations),    s = −g_1 − H g_2 = 0  (two, across g_1).
The points move within their surfaces, so there are five unknowns.

Method:
1. With tangent bases E_1, E_2 and the rotation R of H, steps δp_1 = E_1 x, δp_2 = E_2 y and δΔ solve
       (1 + Δ g_1*) E_1 x − R E_2 y + g_1 δΔ = r,
       E_1ᵀ (g_1* E_1 x + R g_2* E_2 y) = E_1ᵀ s.
2. The points p + δp are brought back onto their surfaces by `Surface.onto`. That changes them in second order
   only, so that Newton's method stays quadratic.
3. A step that makes ‖r‖ + L ‖s‖ larger is halved, up to eight times; L is the size of the smaller surface.
4. After a step shorter than 1e-8 L the next one would change nothing, provided that (6) holds by then; where
   curvature is nearly infinite points hardly move while normals are still off. Δ is read off the points.

The matrix is singular exactly where that of the rates is, see `conditions`. Points that fulfil (6) already,
as a box with round edges that lies flat on a plane, are solutions there, too.

Departures: the document integrates rates only; errors of the integration then stay. This takes them away.

Cost: 0.4 ms per step, two or three steps along a motion.

References: [DuindamStramigioli2003, Eqs. (6) and (7)]; [AbsilMahonySepulchre2008, Section 6.2] for Newton's
method with a retraction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.show import brief
from taction.geometry.contact_kinematics.contact_points import ContactPoints, signed_distance
from taction.geometry.contact_kinematics.homogeneous import as_pose, point
from taction.geometry.surfaces.base import Surface, tangent_basis
from taction.math.transform import Transform

NEWTON_STEPS = 40
HALVINGS = 8
LAST_STEP = 1e-8  # after a step as small as this, relative to L, the next changes nothing
SETTLED = 1e-10  # residual, relative to L, that counts as solved
ROUNDING = 1e-14  # residual, relative to L, that may grow again
LONGEST = 0.5  # step of a point, relative to L


def correct(
    first: Surface, second: Surface, H: ArrayLike | Transform, points: ContactPoints
) -> ContactPoints:
    """The solution of (6) near given points, to rounding.

    Args:
        first: surface of body 1.
        second: surface of body 2.
        H: pose of body 2 in the frame of body 1, shape (4, 4).
        points: nearly the closest points; they need not be on their surfaces.

    Raises:
        BadInput: there is no solution near, or it is not unique.
    """
    H = as_pose(H)
    found = solve(first, second, H, first.onto(points.p1), second.onto(points.p2))
    if found is None:
        raise BadInput(
            f"{first.label} and {second.label}: no contact points were found near p1 = {brief(points.p1)}, "
            f"p2 = {brief(points.p2)}; closest_points searches everywhere"
        )
    p1, p2 = found
    return ContactPoints(p1, p2, signed_distance(first, H, p1, p2), points.members)


def solve(first: Surface, second: Surface, H: Array, p1: Array, p2: Array) -> tuple[Array, Array] | None:
    """Points (3,) on both surfaces that fulfil (6), from points on them; None if Newton's method fails.

    Where curvatures are not finite there is no Newton's method; points that are already right stay.
    """
    length = characteristic_length(first, second)
    residual = _Residual(first, second, H, p1, p2, length)
    for _ in range(NEWTON_STEPS):
        try:
            step1, step2 = residual.step()
        except (np.linalg.LinAlgError, BadInput):
            return (p1, p2) if residual.size <= SETTLED * length else None
        longest = max(float(np.linalg.norm(step1)), float(np.linalg.norm(step2)))
        if not np.isfinite(longest):
            return None
        share = min(1.0, LONGEST * length / longest) if longest else 1.0
        for _ in range(HALVINGS):
            new1, new2 = first.onto(p1 + share * step1), second.onto(p2 + share * step2)
            moved = _Residual(first, second, H, new1, new2, length)
            if moved.size < residual.size or moved.size <= ROUNDING * length:
                break
            share *= 0.5
        else:
            return (p1, p2) if residual.size <= SETTLED * length else None
        p1, p2, residual = new1, new2, moved
        if longest <= LAST_STEP * length and residual.size <= SETTLED * length:
            return p1, p2
    return None


class _Residual:
    """Residuals r and s of (6) at two points on their surfaces, and how to make them vanish."""

    def __init__(
        self, first: Surface, second: Surface, H: Array, p1: Array, p2: Array, length: float
    ) -> None:
        self.R = H[:3, :3]
        self.surfaces, self.points = (first, second), (p1, p2)
        self.g1, self.g2 = first.gauss_map(p1), second.gauss_map(p2)
        between = (H @ point(p2))[:3] - p1
        self.delta = float(self.g1 @ between)
        self.r = between - self.delta * self.g1
        self.s = -self.g1 - self.R @ self.g2
        self.size = float(np.linalg.norm(self.r)) + length * float(np.linalg.norm(self.s))

    def step(self) -> tuple[Array, Array]:
        """δp_1 and δp_2 (3,)."""
        E1, E2 = tangent_basis(self.g1), tangent_basis(self.g2)
        A = self.surfaces[0].gauss_derivative(self.points[0]) @ E1
        B = self.surfaces[1].gauss_derivative(self.points[1]) @ E2
        matrix = np.zeros((5, 5))
        matrix[:3, :2] = E1 + self.delta * A
        matrix[:3, 2:4] = -self.R @ E2
        matrix[:3, 4] = self.g1
        matrix[3:, :2] = E1.T @ A
        matrix[3:, 2:4] = E1.T @ self.R @ B
        x = np.linalg.solve(matrix, np.concatenate([self.r, E1.T @ self.s]))
        return E1 @ x[:2], E2 @ x[2:4]


def characteristic_length(first: Surface, second: Surface) -> float:
    """L: the size of the smaller surface; a metre if both are endless [m]."""
    length = min(first.size, second.size)
    return length if np.isfinite(length) else 1.0
