"""Ways over a convex hull: which corners share an edge, which faces meet at a corner, where to start.

What `taction.geometry.hull_graph` walks along, found once per mesh.

Method
1. Edges: those of the triangulated hull of the corners, so that faces with many corners have diagonals too.
   Corners that rounding lays inside of it have no edges. That hull is mostly known: it is found again where
   corners on straight lines were left out, or flat sides could be cut in other ways.
2. Starts: of each cell of the directions the farthest corner along its middle, among those with an edge.

Cost: a sort of the edges, 6 CELLS² products with all corners, and for some hulls a second quickhull.

References: none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction.geometry.hull_graph import CELLS, FEW, NOWHERE, HullGraph

STARTS = 6 * CELLS * CELLS
TOGETHER = 1 << 17  # products of directions and corners at a time, which fit a cache


class Ways(NamedTuple):
    """Ways over one hull of m corners, as it numbers corners and faces; all empty for one of few corners."""

    corner: IntArray  # (STARTS,) farthest corners along the middles of the cells
    near_first: IntArray  # (m + 1,) where the neighbours of each corner start, and the end of all
    near: IntArray  # (e,) those neighbours, ascending
    face_first: IntArray  # (m + 1,) where the faces at each corner start, and the end of all
    face: IntArray  # (k,) those faces, ascending


def find_ways(
    vertices: Array, triangles: IntArray | None, face_start: IntArray, face_vertex: IntArray
) -> Ways:
    """Ways over a hull.

    Args:
        vertices: corners, shape (m, 3).
        triangles: the triangulated hull of these, shape (t, 3), if it is known.
        face_start: ranges of face_vertex, shape (f + 1,).
        face_vertex: corners of each face, shape (k,).
    """
    count = len(vertices)
    if count <= FEW:
        none, firsts = np.zeros(0, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
        return Ways(none, firsts, none, firsts, none)
    if triangles is None:
        from scipy.spatial import ConvexHull

        triangles = ConvexHull(vertices).simplices.astype(np.int64)
    near_first, near = _neighbours(triangles, count)
    face = np.repeat(np.arange(len(face_start) - 1), np.diff(face_start))
    return Ways(
        corner=_farthest(vertices, np.flatnonzero(np.diff(near_first))),
        near_first=near_first,
        near=near,
        face_first=_firsts(face_vertex, count),
        face=face[np.argsort(face_vertex, kind="stable")],
    )


def join_ways(hulls: Iterable[tuple[int, Ways, int]], n: int) -> HullGraph:
    """Ways over the hulls of n shapes: number of the shape, its ways and how many faces it has, in order."""
    start = np.full(n, NOWHERE)
    parts: list[list[Any]] = [[] for _ in Ways._fields]
    starts = nears = meets = corners = faces = 0
    for i, ways, count in hulls:
        start[i] = starts if len(ways.corner) else NOWHERE
        moves = corners, nears, corners, meets, faces
        for part, array, move in zip(parts, ways, moves, strict=True):
            part.append(array + move)
        parts[1][-1], parts[3][-1] = parts[1][-1][:-1], parts[3][-1][:-1]
        starts, nears, meets = starts + len(ways.corner), nears + len(ways.near), meets + len(ways.face)
        corners, faces = corners + len(ways.near_first) - 1, faces + count
    parts[1].append([nears])
    parts[3].append([meets])
    whole = [frozen(np.concatenate([np.zeros(0, dtype=np.int64), *part]), np.int64) for part in parts]
    return HullGraph(frozen(start, np.int64), *whole)


def _neighbours(triangles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Step 1: where the neighbours of each of so many corners start (count + 1,), and those (e,)."""
    one, other = triangles.ravel(), triangles[:, [1, 2, 0]].ravel()
    edges = np.sort(np.concatenate([one * count + other, other * count + one]))
    edges = edges[np.diff(edges, prepend=-1) > 0]
    return _firsts(edges // count, count), edges % count


def _firsts(owner: IntArray, count: int) -> IntArray:
    """Where the entries of each of so many owners start once they are sorted by it, and the end of all."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])


def _farthest(vertices: Array, linked: IntArray) -> IntArray:
    """Step 2: farthest of the linked corners along the middle of each cell, (STARTS,)."""
    middle = (np.arange(CELLS) + 0.5) * (2.0 / CELLS) - 1.0
    u, v = (x.ravel() for x in np.meshgrid(middle, middle, indexing="ij"))
    sides = np.zeros((6, CELLS * CELLS, 3))
    for axis in range(3):
        for k, sign in enumerate((1.0, -1.0)):
            side = sides[2 * axis + k]
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = sign, u, v
    across, d = vertices[linked].T, sides.reshape(-1, 3)
    some = max(4, TOGETHER // len(linked))  # of one at a time the product is slow
    best = [np.argmax(d[k : k + some] @ across, axis=1) for k in range(0, STARTS, some)]
    return linked[np.concatenate(best)]
