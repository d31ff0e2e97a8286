"""How one walks over a convex hull: its corners' neighbours, the faces at a corner, and where to start.

What it solves: the farthest corner of a hull along a direction without a look at every corner. A convex body
has no local maxima: from any corner there is a way up to the farthest one along edges, each step to the
highest neighbour.

Notation: corners are rows of `Colliders.vertices`; d is a direction in the axes of the hull.

Method
1. Edges, and the faces at each corner: `taction.geometry.hull_ways`. Corners that rounding lays inside of the
   triangulated hull have no edges and are never the farthest by more than rounding.
2. Starts: the directions are divided as a cube is that surrounds them, each side into CELLS × CELLS; of each
   cell the farthest corner along its middle is known. So the walk depends on d alone, not on earlier ones:
   results do not depend on history.
3. Hulls of up to `FEW` corners are not worth it; all their corners are looked at.

Cost: a walk takes two or three steps of some six neighbours: 30 to 60 ns for hulls of hundreds or thousands
of corners, where looking at all of them took 1 ns for each.

References: [DobkinKirkpatrick1983] for walks over convex bodies; [Bergen2003, Section 4.3.4] for collision
detection with them.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import IntArray, frozen
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, ints

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
    none, firsts = frozen([], np.int64), frozen(np.zeros(corners + 1), np.int64)
    return HullGraph(frozen(np.full(n, NOWHERE), np.int64), none, firsts, none, firsts, none)


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
