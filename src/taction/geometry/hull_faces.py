"""Triangles of a convex hull that lie in one plane, joined to polygons.

What it solves: given the triangulated surface of a convex body, faces with as many corners as they really
have, each with its corners in order and its outward normal.

Method
1. Beginning with the largest triangle left, neighbours join while all their corners lie within a slack of its
   plane. For most triangles of a body no neighbour does; that is seen for all of them at once, and only the
   others are walked over, one by one.
2. The rim of a face is the cycle of those edges that only one of its triangles has.
3. Corners on a straight line between their neighbours are left out. Rims without any, which is nearly all of
   them, are found at once.
4. The normal of a face is that of its rim as a whole (the area vector), good to rounding for flat sides.
Steps 3 and 4 take faces with equally many corners together: a *block* has a row for each.

Cost: a few passes over all triangles, and some microseconds for each triangle that shares its plane.

References: none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray

BoolArray = NDArray[np.bool_]

ALMOST = 1e-6  # relative: what is nearer to a bound is looked at again, one by one


class Block(NamedTuple):
    """Faces with m corners each."""

    first: IntArray  # (f,) number of the first triangle of each, by which faces are ordered
    rim: IntArray  # (f, m) corners, counter-clockwise seen from outside


class Faces(NamedTuple):
    """Polygons on a surface."""

    normal: Array  # (f, 3) outward unit normals
    start: IntArray  # (f + 1,) ranges of vertex
    vertex: IntArray  # (e,) corners of each, counter-clockwise seen from outside


def join_faces(corners: Array, triangles: IntArray, neighbours: IntArray, slack: float) -> Faces:
    """Faces of a convex surface.

    Args:
        corners: shape (n, 3) [m].
        triangles: corners of each, counter-clockwise seen from outside, shape (t, 3).
        neighbours: triangles that share an edge with each, shape (t, 3).
        slack: distance from a plane or line that counts as none [m].
    """
    out: list[Block] = []
    crooked: list[tuple[int, list[int]]] = []
    for block in _rims(corners, triangles, neighbours, slack):
        has_straight = _has_straight(corners[block.rim], slack)
        out.append(Block(block.first[~has_straight], block.rim[~has_straight]))
        for first, rim in zip(block.first[has_straight], block.rim[has_straight], strict=True):
            crooked.append((int(first), _straightened(rim, corners, slack)))
    return _faces([*out, *_blocks([entry for entry in crooked if len(entry[1]) >= 3])], corners)


# ----- 1. Planes ------------------------------------------------------------------------------------------


def _rims(corners: Array, triangles: IntArray, neighbours: IntArray, slack: float) -> list[Block]:
    """Steps 1 and 2: corners around each flat face."""
    p, q, r = (corners[triangles[:, k]] for k in range(3))
    area = np.cross(q - p, r - p)
    size = np.linalg.norm(area, axis=1)
    normals = area / np.maximum(size, np.finfo(float).tiny)[:, None]
    is_alone = np.ones(len(triangles), dtype=bool)
    for k in range(3):
        other = neighbours[:, k]
        far = np.einsum("nci,ni->nc", corners[triangles[other]] - p[:, None], normals)
        is_near = np.abs(far).max(axis=1) <= slack * (1.0 + ALMOST)
        is_alone &= ~(is_near & (np.einsum("ni,ni->n", area[other], normals) >= -ALMOST * size[other]))
    joined = _joined(corners, triangles, neighbours, slack, area, normals, size, is_alone)
    single = np.ones(len(triangles), dtype=bool)
    single[[t for members in joined for t in members]] = False
    first = np.flatnonzero(single)
    rim = triangles[first]
    from_smallest = (rim.argmin(axis=1)[:, None] + np.arange(3)) % 3
    alone = Block(first, np.take_along_axis(rim, from_smallest, axis=1))
    return [alone, *_blocks([(min(members), _rim(triangles[members].tolist())) for members in joined])]


def _joined(
    corners: Array,
    triangles: IntArray,
    neighbours: IntArray,
    slack: float,
    area: Array,
    normals: Array,
    size: Array,
    is_alone: BoolArray,
) -> list[list[int]]:
    """Triangles of each face of several; is_alone (t,): no neighbour lies in the plane of the triangle."""
    order = np.argsort(-size, kind="stable")
    seeds = order[~is_alone[order]].tolist()
    if not seeds:
        return []
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    # what is alone is taken when its turn comes, which only those before it can forestall
    turn = np.where(is_alone, rank, len(order)).tolist()
    is_taken = [False] * len(turn)
    faces = []
    for seed in seeds:
        if is_taken[seed]:
            continue
        is_taken[seed] = True
        now = int(rank[seed])
        nx, ny, nz = normals[seed].tolist()
        px, py, pz = corners[triangles[seed, 0]].tolist()
        members = [seed]
        for member in members:
            for other in neighbours[member].tolist():
                if is_taken[other] or turn[other] < now:
                    continue
                x, y, z = area[other].tolist()
                if x * nx + y * ny + z * nz < 0.0:
                    continue
                for x, y, z in corners[triangles[other]].tolist():
                    if abs((x - px) * nx + (y - py) * ny + (z - pz) * nz) > slack:
                        break
                else:
                    is_taken[other] = True
                    members.append(other)
        if len(members) > 1:
            faces.append(members)
    return faces


# ----- 2. and 3. Rims -------------------------------------------------------------------------------------


def _rim(triangles: list[list[int]]) -> list[int]:
    """Cycle of the edges that only one of the triangles has, from its smallest corner."""
    edges = {edge for i, j, k in triangles for edge in ((i, j), (j, k), (k, i))}
    following = {i: j for i, j in edges if (j, i) not in edges}
    start = min(following)
    cycle, at = [start], following[start]
    while at != start and len(cycle) <= len(following):
        cycle.append(at)
        at = following[at]
    return cycle


def _has_straight(rims: Array, slack: float) -> BoolArray:
    """Whether a corner of each polygon (f, m, 3) lies on the line between its neighbours; shape (f,)."""
    before, after = np.roll(rims, 1, axis=1), np.roll(rims, -1, axis=1)
    along = after - before
    length = np.linalg.norm(along, axis=2)
    height = np.linalg.norm(np.cross(rims - before, along), axis=2)
    return ((length > slack) & (height <= slack * length)).any(axis=1)


def _straightened(rim: IntArray, corners: Array, slack: float) -> list[int]:
    """The rim without corners that lie on the line between their neighbours."""
    points = corners[rim].tolist()
    m, kept = len(points), list[int]()
    for k, (x, y, z) in enumerate(points):
        if len(kept) + m - k < 3:
            break
        bx, by, bz = points[kept[-1] if kept else m - 1]
        cx, cy, cz = points[k + 1 if k + 1 < m else kept[0]]
        ux, uy, uz, vx, vy, vz = x - bx, y - by, z - bz, cx - bx, cy - by, cz - bz
        length = math.hypot(vx, vy, vz)
        height = math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
        if not (length > slack and height <= slack * length):
            kept.append(k)
    else:
        return rim[kept].tolist()
    return []


# ----- Blocks ---------------------------------------------------------------------------------------------


def _blocks(rims: list[tuple[int, list[int]]]) -> list[Block]:
    """Rims, each with the number of its first triangle, by how many corners they have."""
    by_count: dict[int, list[tuple[int, list[int]]]] = {}
    for entry in rims:
        by_count.setdefault(len(entry[1]), []).append(entry)
    return [
        Block(np.array([first for first, _ in some]), np.array([rim for _, rim in some]))
        for some in by_count.values()
    ]


def _faces(blocks: list[Block], corners: Array) -> Faces:
    """The faces of all blocks, in the order of their first triangles."""
    order = np.argsort(np.concatenate([block.first for block in blocks]))
    count = np.concatenate([np.full(len(block.rim), block.rim.shape[1]) for block in blocks])
    start = np.concatenate([[0], np.cumsum(count[order])])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    vertex, done = np.empty(start[-1], dtype=np.int64), 0
    for block in blocks:
        number = place[done : done + len(block.rim)]
        vertex[start[number][:, None] + np.arange(block.rim.shape[1])] = block.rim
        done += len(block.rim)
    normal = np.concatenate([_unit_normals(corners[block.rim]) for block in blocks])[order]
    return Faces(normal, start, vertex)


def _unit_normals(rims: Array) -> Array:
    """Directions of the area vectors of closed polygons, shape (f, m, 3)."""
    arms = rims - rims[:, :1]
    area = np.cross(arms, np.roll(arms, -1, axis=1)).sum(axis=1)
    # a product of rows with themselves rounds as that of two vectors does
    return area / np.sqrt(area[:, None, :] @ area[:, :, None])[:, :, 0]
