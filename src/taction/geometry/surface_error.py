"""How far the surface that collides is from that of the mesh: what a hull, or convex pieces, get wrong.

What it solves: the two-sided Hausdorff distance between the surface of a mesh and the boundary of a union of
convex bodies: the largest distance of any point of either surface from the other.

Method: `SAMPLES` points on each surface, spread evenly by area, with all corners; of the pieces, those with
another piece just before them do not count: where two overlap or were cut apart. The distance of each is
bounded by that of the triangles that are nearest by samples `FINER` times as dense. Beginning with the
largest bound, distances from all triangles are found, until the largest of these is above all bounds left.

Departures: what lies between the samples is not seen, so the result can be too small by their spacing, the
square root of area / `SAMPLES`; where `WORK` is done before the end, it can be too large by as much. Parts
inside of a closed mesh, which nothing can touch, count as surface.

References: [Ericson2005, Section 5.1.5] for the distance from a triangle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import ModelError
from taction.geometry.hull import convex_hull, hull_triangles
from taction.model.shapes import Mesh

SAMPLES = 20_000
FINER = 4  # times as many samples to look for the nearest triangles
NEAREST = 6  # of these samples whose triangles are asked
WORK = 20_000_000  # distances of points from triangles that are found at most
BATCH = 200_000  # of them at once
OUTSIDE = 1e-4  # how far before a piece another one may not be, relative to the extent
TINY = np.finfo(float).tiny
PLASTIC = 1.32471795724474602596  # solution of x³ = x + 1, whose powers spread points evenly


def hull_error(mesh: Mesh) -> float:
    """How far the convex hull of a mesh, as which it collides, is from its surface [m].

    Raises:
        ModelError: the mesh has no faces or no volume.
    """
    return surface_error(mesh, [mesh.vertices])


def surface_error(mesh: Mesh, pieces: Sequence[Array]) -> float:
    """Two-sided distance of the surface of a mesh and the union of the hulls of points (n, 3) [m].

    Raises:
        ModelError: the mesh has no faces, or a piece no volume.
    """
    if not len(mesh.faces):
        raise ModelError(f"the {mesh.label} has no faces, so there is no surface to compare with")
    ours = mesh.vertices[mesh.faces]
    hulls = [points[faces] for points, faces in (hull_triangles(p, mesh.label) for p in pieces)]
    theirs = np.concatenate(hulls)
    spread, triangle = _spread(theirs, SAMPLES)
    points = np.concatenate([spread, theirs.reshape(-1, 3)])
    owner = np.repeat(np.arange(len(hulls)), [len(hull) for hull in hulls])
    middle = np.array([0.5 * (piece.min(axis=0) + piece.max(axis=0)) for piece in pieces])[owner]
    out = np.concatenate([_normals(theirs)[triangle], (theirs - middle[:, None]).reshape(-1, 3)])
    length = np.linalg.norm(out, axis=1, keepdims=True)
    before = points + OUTSIDE * np.linalg.norm(np.ptp(theirs, axis=(0, 1))) * out / np.maximum(length, TINY)
    owner = np.concatenate([owner[triangle], np.repeat(owner, 3)])
    points = points[~_is_inside(before, owner, pieces)]
    here = np.concatenate([_spread(ours, SAMPLES)[0], ours.reshape(-1, 3)])
    return max(_farthest(points, ours), _farthest(here, theirs))


def _normals(corners: Array) -> Array:
    """Normals (t, 3) of triangles (t, 3, 3), as long as twice their area."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _spread(corners: Array, count: int) -> tuple[Array, IntArray]:
    """Points on triangles (t, 3, 3), evenly by area, and the triangle of each."""
    area = np.linalg.norm(_normals(corners), axis=1)
    k = np.arange(count) + 0.5
    triangle = np.searchsorted(np.cumsum(area), k / count * area.sum()).clip(max=len(corners) - 1)
    u, v = np.sqrt(k / PLASTIC % 1.0), k / PLASTIC**2 % 1.0
    a, b, c = (corners[triangle, i] for i in range(3))
    return (1.0 - u)[:, None] * a + (u * (1.0 - v))[:, None] * b + (u * v)[:, None] * c, triangle


def _is_inside(points: Array, owner: IntArray, pieces: Sequence[Array]) -> np.ndarray:
    """Whether points (n, 3) are inside of a piece other than their owner (n,)."""
    out = np.zeros(len(points), dtype=bool)
    for i, piece in enumerate(pieces):
        hull = convex_hull(piece)
        x = points - hull.centre
        near = np.flatnonzero(
            (owner != i) & ~out & (np.abs(x) < np.abs(hull.vertices).max(axis=0)).all(axis=1)
        )
        depth = np.einsum("fi,fi->f", hull.face_normal, hull.vertices[hull.face_vertex[hull.face_start[:-1]]])
        out[near] = (x[near] @ hull.face_normal.T < depth).all(axis=1)
    return out


def _farthest(points: Array, corners: Array) -> float:
    """Largest distance of points (n, 3) from triangles (t, 3, 3)."""
    from scipy.spatial import cKDTree

    samples, triangle = _spread(corners, FINER * SAMPLES)
    samples = np.concatenate([samples, corners.reshape(-1, 3)])
    triangle = np.concatenate([triangle, np.repeat(np.arange(len(corners)), 3)])
    _, near = cKDTree(samples).query(points, k=NEAREST)
    bound = np.min([_to_triangles(points, corners[triangle[near[:, k]]]) for k in range(NEAREST)], axis=0)
    order, found = np.argsort(-bound, kind="stable"), 0.0
    some = max(1, BATCH // len(corners))
    for k in range(0, min(len(order), WORK // len(corners)), some):
        if bound[order[k]] <= found:
            return found
        one, other = np.meshgrid(order[k : k + some], np.arange(len(corners)), indexing="ij")
        exact = _to_triangles(points[one.ravel()], corners[other.ravel()]).reshape(one.shape).min(axis=1)
        found, bound[order[k : k + some]] = max(found, float(exact.max())), 0.0
    return max(found, float(bound.max()))


def _to_triangles(points: Array, corners: Array) -> Array:
    """Distance of points (n, 3) from a triangle each (n, 3, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    best = np.full(len(points), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        along, arm = end - start, points - start
        length = np.einsum("ni,ni->n", along, along)
        t = np.einsum("ni,ni->n", along, arm) / np.maximum(length, TINY)
        best = np.minimum(best, np.linalg.norm(arm - t.clip(0.0, 1.0)[:, None] * along, axis=1))
    normal = _normals(corners)
    is_over = np.linalg.norm(normal, axis=1) > 0.0
    for start, end in ((a, b), (b, c), (c, a)):
        is_over &= np.einsum("ni,ni->n", np.cross(normal, end - start), points - start) >= 0.0
    unit = normal[is_over] / np.linalg.norm(normal[is_over], axis=1, keepdims=True)
    best[is_over] = np.abs(np.einsum("ni,ni->n", unit, (points - a)[is_over]))
    return best
