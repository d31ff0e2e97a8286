"""How one walks over a convex hull: its corners' neighbours, the faces at a corner, and where to start.

What it solves: the farthest corner of a hull along a direction without a look at every corner. A convex body
has no local maxima: from any corner there is a way up to the farthest one along edges, each step to the
highest neighbour.

Notation: corners are rows of `Colliders.vertices`; d is a direction in the axes of the hull.

Method
1. Edges: those of the triangulated hull of the corners, so that faces with many corners have diagonals too.
   Corners that rounding lays inside of it have no edges and are never the farthest by more than rounding.
2. Starts: the directions are divided as a cube is that surrounds them, each side into CELLS × CELLS; of each
   cell the farthest corner along its middle is known. So the walk depends on d alone, not on earlier ones:
   results do not depend on history.
3. Hulls of up to `FEW` corners are not worth it; all their corners are looked at.

Cost: once per mesh a second hull and 6 CELLS² products with all corners. A walk takes two or three steps of
some six neighbours: 30 to 60 ns for hulls of hundreds or thousands of corners, where looking at all of them
took 1 ns for each.

References: [DobkinKirkpatrick1983] for walks over convex bodies; [Bergen2003, Section 4.3.4] for collision
detection with them.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, ints
from taction.geometry.hull import Hull

FEW = 24  # corners up to which all of them are looked at
CELLS = 8  # along a side of the cube of directions
NOWHERE = -1  # instead of the first start: a hull of few corners, or no hull


class HullGraph(Layout):
    """Ways over the hulls, read-only: n shapes, m corners of all hulls."""

    start: IntArray = ints("n", "first entry of `corner` of a shape, −1 without a graph")
    corner: IntArray = ints("s", "farthest corners along the middles of the cells, rows of `vertices`")
    near_first: IntArray = ints("m + 1", "where the neighbours of each corner start, and the end of all")
    near: IntArray = ints("e", "neighbours, rows of `vertices`")
    face_first: IntArray = ints("m + 1", "where the faces at each corner start, and the end of all")
    face: IntArray = ints("f", "those faces, ascending, as numbered in `Colliders`")


def no_graph(n: int, corners: int) -> HullGraph:
    """No ways over any of n shapes with so many corners of hulls."""
    return _frozen(np.full(n, NOWHERE), [], [[]] * corners, [[]] * corners)


def make_graph(hulls: dict[int, Hull], n: int) -> HullGraph:
    """Ways over hulls, by the number of their shape among n, in the order of their corners and faces."""
    start = np.full(n, NOWHERE)
    corner: list[int] = []
    near: list[IntArray] = []
    at: list[list[int]] = []
    faces = 0
    for i, hull in hulls.items():
        count, first = len(hull.vertices), len(near)
        is_walked = count > FEW
        ways = _neighbours(hull.vertices) if is_walked else [np.zeros(0, dtype=np.int64)] * count
        if is_walked:
            start[i] = len(corner)
            corner += [first + k for k in _farthest(hull.vertices, ways)]
        near += [first + other for other in ways]
        own: list[list[int]] = [[] for _ in range(count)]
        for f in range(len(hull.face_normal) if is_walked else 0):
            for v in hull.face_vertex[hull.face_start[f] : hull.face_start[f + 1]]:
                own[v].append(faces + f)
        at += own
        faces += len(hull.face_normal)
    return _frozen(start, corner, near, at)


def _frozen(start: IntArray, corner: list[int], near: list, at: list) -> HullGraph:
    """The graph of these lists, one of neighbours and one of faces per corner."""
    return HullGraph(
        start=frozen(start, np.int64),
        corner=frozen(corner, np.int64),
        near_first=frozen(np.cumsum([0, *map(len, near)]), np.int64),
        near=frozen(np.concatenate([np.zeros(0), *near]), np.int64),
        face_first=frozen(np.cumsum([0, *map(len, at)]), np.int64),
        face=frozen(np.concatenate([np.zeros(0), *at]), np.int64),
    )


def _neighbours(vertices: Array) -> list[IntArray]:
    """Step 1: corners that share an edge with each corner, ascending."""
    from scipy.spatial import ConvexHull

    t = ConvexHull(vertices).simplices
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).astype(np.int64)
    edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    return np.split(edges[:, 1], np.searchsorted(edges[:, 0], np.arange(1, len(vertices))))


def _farthest(vertices: Array, ways: list[IntArray]) -> IntArray:
    """Step 2: farthest corner with neighbours along the middle of each cell, (6 CELLS²,)."""
    middle = (np.arange(CELLS) + 0.5) * (2.0 / CELLS) - 1.0
    u, v = (x.ravel() for x in np.meshgrid(middle, middle, indexing="ij"))
    d = np.zeros((6, CELLS * CELLS, 3))
    for axis in range(3):
        for k, sign in enumerate((1.0, -1.0)):
            side = d[2 * axis + k]
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = sign, u, v
    linked = np.flatnonzero([len(w) > 0 for w in ways])
    return linked[np.argmax(d.reshape(-1, 3) @ vertices[linked].T, axis=1)]


@inline_kernel
def cell(x):
    """Which of CELLS parts of [−1, 1] holds x; the first for what is no number."""
    y = (0.5 * CELLS) * (x + 1.0)
    if not y >= 1.0:
        return np.int64(0)
    return np.int64(CELLS - 1) if y >= CELLS - 1 else np.int64(y)


@inline_kernel
def start_of(graph, i, d):
    """Corner of hull i to start from, along d."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if x >= y and x >= z:
        side, top, u, v = np.int64(0), d[0], d[1], d[2]
    elif y >= z:
        side, top, u, v = np.int64(2), d[1], d[2], d[0]
    else:
        side, top, u, v = np.int64(4), d[2], d[0], d[1]
    if top < 0.0:
        side, top = side + 1, -top
    at = (side * CELLS + cell(u / top)) * CELLS + cell(v / top)
    return graph.corner[graph.start[i] + at]


@kernel
def walk(graph, vertices, i, d):
    """The farthest corner of hull i along d, a row of vertices (m, 3)."""
    at = start_of(graph, i, d)
    best = vertices[at, 0] * d[0] + vertices[at, 1] * d[1] + vertices[at, 2] * d[2]
    while True:
        here = at
        for e in range(graph.near_first[here], graph.near_first[here + 1]):
            k = graph.near[e]
            value = vertices[k, 0] * d[0] + vertices[k, 1] * d[1] + vertices[k, 2] * d[2]
            if value > best:
                best, at = value, k
        if at == here:
            return at
