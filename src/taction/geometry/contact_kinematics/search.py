"""Closest points of two surfaces without knowing where they are: a search for starts, then Newton's method.

What it solves: equation (6) has several solutions; two balls have four, each with its own pairing of near
and far sides. Which of them are the closest points?

*Two convex bodies.* Along a unit vector n from 1 to 2 their separation is
    f(n) = min_b n·b − max_a n·a,
taken at the points with normals n and −n. Solutions of (6) are the critical points of f, with f = Δ. The
largest value of f is the distance of bodies that are apart, and minus the least translation that parts
bodies that overlap, as GJK and EPA define it. So: the solution with the largest Δ.
1. Evaluate f for directions spread over the sphere, or over the circle or the single normal that one of the
   surfaces has.
2. From the best few, well apart from each other, climb: try eight directions around at an angle, go to the
   best, else halve the angle, down to one degree.
3. Newton's method from there. What does not end at least as high as the search was is dropped.

*A body that is not convex.* Solutions that fulfil the conditions of `conditions` are local minima of the
signed distance, as long as one of the points is the nearest of its surface to the other one: 1 + Δ B > 0 or
1 + Δ A > 0, which bounds overlap by the radii of curvature. So: of these, the one with the smallest Δ.
1. Every sample of a surface that is not convex is paired with the point of the other one whose normal is
   opposite: by the support mapping if that is convex, else the sample that fits best.
2. Newton's method from the pairs that miss (6) by least, well apart from each other.
3. No sample may be nearer to the other surface than the points found, nor inside it if they are apart: deep
   overlap has no smooth closest points, and a solution elsewhere must not be taken for one.

*Unions.* The least Δ over all pairs of members, and which members these are.

Departures: closed forms exist for spheres and planes, and are not used: one way for all pairs.

Cost: 30 to 80 ms for a convex pair, 0.2 s with a torus, 1 s with a `Parametric` surface. Along a motion use
`track`, which starts from where the points were.

References: [DuindamStramigioli2003, Sections 4 and 7]; [Bergen2003, Section 4.3] for f;
[CameronCulley1986] for the depth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction.geometry.contact_kinematics.conditions import conditions, curvatures
from taction.geometry.contact_kinematics.contact_points import ContactPoints, signed_distance
from taction.geometry.contact_kinematics.homogeneous import as_pose, inverse, point
from taction.geometry.contact_kinematics.newton import characteristic_length, solve
from taction.geometry.surfaces.base import ConvexSurface, Surface, tangent_basis
from taction.geometry.surfaces.union import Union
from taction.math.transform import Transform

STARTS = 6  # of convex pairs
SAMPLED_STARTS = 24  # of other pairs
APART = math.cos(math.radians(25.0))  # cosine of the angle between two starts
FIRST_ANGLE, LAST_ANGLE = math.radians(8.0), math.radians(1.0)  # of the climb
NEIGHBOURS = 0.08  # distance below which two samples are one start, relative to the size of the surface
INWARDS = 0.5  # cosine from the inward normal within which a point is inside and not beside
HIGH_ENOUGH = 1e-9  # by which a solution may lie below the search, relative to the size of the pair
AROUND = np.stack([np.cos(np.arange(8) * math.pi / 4), np.sin(np.arange(8) * math.pi / 4)])


def closest_points(
    first: Surface | Union, second: Surface | Union, H: ArrayLike | Transform
) -> ContactPoints:
    """Closest points of two bodies that are apart, touch or overlap.

    Args:
        first: surface of body 1, or a union.
        second: surface of body 2, or a union.
        H: pose of body 2 in the frame of body 1, shape (4, 4).

    Returns:
        Points in the frames of the bodies, and which members of unions they are on.

    Raises:
        BadInput: closest points are not unique (parallel planes or cylinders), or none were found.
    """
    H = as_pose(H)
    bodies = [_members(body, k) for k, body in enumerate((first, second))]
    best = None
    for (i, (one, at1)), (j, (two, at2)) in itertools.product(*map(enumerate, bodies)):
        found = _closest(one, two, inverse(at1.matrix) @ H @ at2.matrix)
        if best is None or found.distance < best.distance:
            best = ContactPoints(at1.apply(found.p1), at2.apply(found.p2), found.distance, (i, j))
    assert best is not None
    return best


def _members(body: Surface | Union, k: int) -> Sequence[tuple[Surface, Transform]]:
    instance(body, (Surface, Union), f"body {k + 1}", called="a surface or a union of surfaces")
    return body.members if isinstance(body, Union) else [(body, Transform())]


def _closest(first: Surface, second: Surface, H: Array) -> ContactPoints:
    if isinstance(first, ConvexSurface) and isinstance(second, ConvexSurface):
        best = _closest_convex(first, second, H)
    elif not first.is_convex:
        best = _closest_sampled(first, second, H)
    else:
        best = _closest_sampled(second, first, inverse(H))
        if best is not None:
            best = ContactPoints(best.p2, best.p1, best.distance)
    if best is None:
        raise BadInput(
            f"{first.label} and {second.label}: there are no closest points, or no unique ones: surfaces are "
            "parallel along a line, overlap too far, or have no finite curvature there"
        )
    return best


# ----- Convex bodies --------------------------------------------------------------------------------------


def _closest_convex(first: ConvexSurface, second: ConvexSurface, H: Array) -> ContactPoints | None:
    """The solution with the largest Δ."""
    R = H[:3, :3]
    is_first = first.image <= second.image
    directions = first.directions() if is_first else -second.directions() @ R.T
    heights = np.array([_separation(first, second, H, n)[0] for n in directions])
    size = characteristic_length(first, second) + float(np.abs(heights).max())
    may_climb = first.image == second.image == 2
    best, highest = None, -math.inf
    for n in _spread(directions, -heights, STARTS):
        if may_climb:
            n = _climb(first, second, H, n)
            highest = max(highest, _separation(first, second, H, n)[0])
        _, p1, p2 = _separation(first, second, H, n)
        points = solve(first, second, H, p1, p2)
        if points is None:
            continue
        found = ContactPoints(*points, signed_distance(first, H, *points))
        if best is None or found.distance > best.distance:
            best = found
    if best is None or best.distance < highest - HIGH_ENOUGH * size:
        return None
    is_strict = max(first.image, second.image) == 2  # else lines or planes may be parallel
    return best if is_strict or conditions(first, second, H, best).rank == 2 else None


def _separation(
    first: ConvexSurface, second: ConvexSurface, H: Array, n: Array
) -> tuple[float, Array, Array]:
    """f(n) and the points where it is taken; endless surfaces have one near the other body.

    Of surfaces that do not have the normal n it is less by how much it is missed.
    """
    back = inverse(H)
    d = -H[:3, :3].T @ n
    p2 = second.support(d, back[:3, 3])
    p1 = first.support(n, (H @ point(p2))[:3])
    p2 = second.support(d, (back @ point(p1))[:3])
    between = (H @ point(p2))[:3] - p1
    height = float(n @ between)
    if first.image < 2 or second.image < 2:
        missed = np.linalg.norm(first.gauss_map(p1) - n) + np.linalg.norm(second.gauss_map(p2) - d)
        height -= float(missed * np.linalg.norm(between))
    return height, p1, p2


def _climb(first: ConvexSurface, second: ConvexSurface, H: Array, n: Array) -> Array:
    """A direction near n with a larger separation, by trying those around it."""
    height, angle = _separation(first, second, H, n)[0], FIRST_ANGLE
    while angle > LAST_ANGLE:
        around = (tangent_basis(n) @ AROUND).T * math.sin(angle) + n * math.cos(angle)
        heights = [_separation(first, second, H, m)[0] for m in around]
        k = int(np.argmax(heights))
        if heights[k] > height:
            n, height = around[k], heights[k]
        else:
            angle *= 0.5
    return n


def _spread(directions: Array, costs: Array, count: int) -> list[Array]:
    """The cheapest unit vectors, each well apart from those before."""
    chosen: list[Array] = []
    for k in np.argsort(costs, kind="stable"):
        if all(directions[k] @ other < APART for other in chosen):
            chosen.append(directions[k])
        if len(chosen) == count:
            break
    return chosen


# ----- Bodies that are not convex -------------------------------------------------------------------------


def _closest_sampled(first: Surface, second: Surface, H: Array) -> ContactPoints | None:
    """The solution with the smallest Δ that is a local minimum; the first surface is not convex."""
    best, chosen = None, np.zeros((0, 3))
    pairs, reach = _pairs(first, second, H)
    for p1, p2 in pairs:
        if (np.linalg.norm(chosen - p1, axis=1) < NEIGHBOURS * first.size).any():
            continue
        chosen = np.vstack([chosen, p1])
        points = solve(first, second, H, p1, p2)
        if points is not None:
            found = ContactPoints(*points, signed_distance(first, H, *points))
            is_less = best is None or found.distance < best.distance
            if is_less and _is_local_minimum(first, second, H, found):
                best = found
        if len(chosen) == SAMPLED_STARTS:
            break
    return None if best is None or best.distance > reach else best


def _is_local_minimum(first: Surface, second: Surface, H: Array, points: ContactPoints) -> bool:
    """Whether the conditions are met, and one point is the nearest of its surface to the other one."""
    if not conditions(first, second, H, points).are_met:
        return False
    sides = curvatures(first, second, H, points.p1, points.p2)
    return any(1.0 + points.distance * np.linalg.eigvalsh(side)[1] > 0.0 for side in sides)


def _pairs(first: Surface, second: Surface, H: Array) -> tuple[list[tuple[Array, Array]], float]:
    """Samples of the first surface with points of the second that have opposite normals, best ones first.

    Also a bound on Δ: the distance of the nearest sample from the second surface, 0 if one is inside [m].
    """
    R, back = H[:3, :3], inverse(H)
    length, reach = characteristic_length(first, second), math.inf
    others = None if second.is_convex else second.samples()
    pairs, costs = [], []
    for p, n in zip(*first.samples(), strict=True):
        x = (back @ point(p))[:3]
        if isinstance(second, ConvexSurface):
            p2 = np.array([second.support(-R.T @ n, x), second.onto(x)])
            n2 = np.array([second.gauss_map(q) for q in p2])
        else:
            assert others is not None
            p2, n2 = others
        missed = _missed(p2 @ R.T + H[:3, 3] - p, n, n2 @ R.T, length)
        k = int(np.argmin(missed))
        pairs.append((p, p2[k]))
        costs.append(missed[k])
        apart = np.linalg.norm(p2 - x, axis=1)
        k = int(np.argmin(apart))
        is_inside = n2[k] @ (x - p2[k]) < -INWARDS * apart[k]
        reach = min(reach, 0.0 if is_inside else float(apart[k]))
    return [pairs[k] for k in np.argsort(costs, kind="stable")], reach


def _missed(between: Array, n: Array, n2: Array, length: float) -> Array:
    """By how much points miss (6), of vectors to them and their normals (k, 3): shape (k,) [m]."""
    across = between - np.outer(between @ n, n)
    return np.linalg.norm(across, axis=1) + length * np.linalg.norm(n2 + n, axis=1)
