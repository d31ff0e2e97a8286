"""When contact points move smoothly: rank, relative convexity, and how deep an overlap may be.

What it solves: on the tangent plane let A = g_1* and B = H g_2* H⁻¹ be the curvatures of both surfaces, as
symmetric matrices (2, 2). The rates of contact points at the distance Δ come from systems with
    M(Δ) = A + B + Δ B A      and its transpose.

Conditions:
1. *Rank.* M(Δ) has rank two: its smaller singular value is not zero.
2. *Relative convexity.* A + B is positive definite: where one surface is hollow the other bulges more.
3. *Distance.* Δ lies between Δ_min < 0 and Δ_max > 0, the roots next to zero of
       det M(Δ) = det(A + B) + Δ tr(adj(A + B) B A) + Δ² det A det B.
   For two absolutely convex surfaces M = B (A⁻¹ + B⁻¹ + Δ) A, so that
       Δ_min = −λ_min(A⁻¹ + B⁻¹),   Δ_max = ∞:
   overlap may reach the least sum of the radii of curvature. A plane has no such limit. A hollow surface has
   Δ_max < ∞: seen from its centre of curvature all its points are equally far, and closest points jump.

What 2 and 3 mean together: points that fulfil them are a strict local minimum of the distance of two
surfaces that are apart, and a strict local maximum of the separation n ↦ min n·(b − a) in overlap. Beyond
Δ_min the equations still have solutions, but these are no longer closest points.

Departures: the document names Δ_min, and a formula is derived here. For pairs that are relatively but not
absolutely convex it says that points can jump; Δ_max says where.

Cost: two Gauss derivatives and a quadratic equation, 0.3 ms.

References: [DuindamStramigioli2003, Section 3 and Theorem 1]; [AbsilMahonySepulchre2008, Section 6.2] for
Hessians on the sphere of directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.show import brief, brief_repr
from taction.geometry.contact_kinematics.contact_points import ContactPoints
from taction.geometry.contact_kinematics.homogeneous import as_pose
from taction.geometry.surfaces.base import Surface, tangent_basis
from taction.math.transform import Transform

DOUBLE = 1e-13  # discriminant of a quadratic equation, relative to b², that rounding may make of zero
SINGULAR = 1e-12  # singular value below which a matrix has lost rank, relative to the parts it is made of


@dataclass(frozen=True, eq=False)
class Conditions:
    """Whether contact points move smoothly, and what limits them.

    Attributes:
        rank: of M(Δ) on the tangent plane, 0 to 2; −1 where a surface has no finite curvature.
        singular_value: the smaller one of M(Δ) [1/m].
        relative_curvature: the smaller eigenvalue of A + B, positive for relatively convex surfaces [1/m].
        distance: Δ [m].
        lowest: Δ_min, −inf if there is no limit [m].
        highest: Δ_max, inf if there is no limit [m].
        limit: one line that names the pair and what is broken; empty if nothing is.
    """

    rank: int
    singular_value: float
    relative_curvature: float
    distance: float
    lowest: float
    highest: float
    limit: str

    __repr__ = brief_repr

    @property
    def is_relatively_convex(self) -> bool:
        """Condition 2."""
        return self.relative_curvature > 0.0

    @property
    def are_met(self) -> bool:
        """All three."""
        return not self.limit

    def require(self) -> None:
        """Raise `BadInput` with `limit` unless all are met."""
        if self.limit:
            raise BadInput(self.limit)


def conditions(
    first: Surface, second: Surface, H: ArrayLike | Transform, points: ContactPoints
) -> Conditions:
    """Conditions for the motion of contact points.

    Args:
        first: surface of body 1.
        second: surface of body 2.
        H: pose of body 2 in the frame of body 1, shape (4, 4).
        points: contact points, see `closest_points`.
    """
    pair = f"{first.label} and {second.label}"
    delta = points.distance
    try:
        A, B = curvatures(first, second, as_pose(H), points.p1, points.p2)
    except BadInput as error:
        return Conditions(-1, math.nan, math.nan, delta, math.nan, math.nan, f"{pair}: {error}")
    M = A + B + delta * B @ A
    values = np.linalg.svd(M, compute_uv=False)
    rank = int((values > SINGULAR * scale(A, B, delta)).sum())
    relative = float(np.linalg.eigvalsh(A + B)[0])
    if abs(relative) <= SINGULAR * scale(A, B, 0.0):
        relative = 0.0
    lowest, highest = interval(A, B)
    place = f"at p1 = {brief(points.p1)}"
    if relative <= 0.0:
        limit = f"{pair}: not relatively convex {place}, the smaller sum of curvatures is {relative:.6g} 1/m"
    elif not lowest < delta:
        limit = f"{pair}: overlap of {-delta:.6g} m {place} reaches the limit of {-lowest:.6g} m"
    elif not delta < highest:
        limit = f"{pair}: distance of {delta:.6g} m {place} reaches the limit of {highest:.6g} m"
    elif rank < 2:
        limit = f"{pair}: contact points are not unique {place}, their matrix has rank {rank}"
    else:
        limit = ""
    return Conditions(rank, float(values[1]), relative, delta, lowest, highest, limit)


def curvatures(first: Surface, second: Surface, H: Array, p1: Array, p2: Array) -> tuple[Array, Array]:
    """A and B (2, 2) on the tangent plane at p1 [1/m]."""
    R = H[:3, :3]
    E = tangent_basis(first.gauss_map(p1))
    turned = R.T @ E
    return E.T @ first.gauss_derivative(p1) @ E, turned.T @ second.gauss_derivative(p2) @ turned


def scale(A: Array, B: Array, delta: float) -> float:
    """Size of the parts that M(Δ) is made of [1/m]."""
    a, b = float(np.linalg.norm(A)), float(np.linalg.norm(B))
    return a + b + abs(delta) * a * b


def interval(A: Array, B: Array) -> tuple[float, float]:
    """Δ_min and Δ_max: roots of det M next to zero, infinite where there is none [m]."""
    S = A + B
    adjugate = np.array([[S[1, 1], -S[0, 1]], [-S[1, 0], S[0, 0]]])
    a, b, c = determinant(A) * determinant(B), float((adjugate @ B @ A).trace()), determinant(S)
    square = b * b - 4.0 * a * c
    if square < -DOUBLE * b * b:
        return -math.inf, math.inf
    q = -0.5 * (b + math.copysign(math.sqrt(max(square, 0.0)), b))  # a sum of equal signs: nothing cancels
    roots = [x / y for x, y in ((q, a), (c, q)) if y]
    lowest = max((x for x in roots if x < 0.0), default=-math.inf)
    return lowest, min((x for x in roots if x > 0.0), default=math.inf)


def determinant(A: Array) -> float:
    """Of a matrix (2, 2)."""
    return float(A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
