"""Two boxes: how far apart or how deep they are along the fifteen directions that can part them.

What it solves: the largest separation of two boxes over all directions, and which pair of features it belongs
to. Positive, it is a lower bound of the distance, attained if a face or a pair of edges is nearest. Negative,
it is the least overlap, because the faces of the difference of two boxes have these fifteen normals.

Notation: box 0 is the first (s), box 1 the second (t). For each as the *own* box, in its own axes: h half
extents, D centre of the other, M the axes of the other as columns, g half extents of the other.

Method
1. Along axis k of an own box the separation is  |D_k| − h_k − Σ_j g_j |M_kj|.  Faces of box 1 must be better
   than those of box 0 by `BIAS` of the value and the slack the caller gives, and are never chosen if parallel
   to the face of box 0 within a thousandth of a radian: there the overlap of both faces says the same, up to
   a relative error of 5·10⁻⁷ in the gap. A stack at rest thus keeps its face whatever the rounding.
2. Along the product of axis i of box 0 and axis j of box 1 the separation is that of two boxes seen along
   both edges, divided by the length of the product. Products shorter than `SHORTEST` are left out: parallel
   edges are parted by faces. The best of them must be better than the face by the same amount as in step 1,
   and does not win either if its normal is the face's within a thousandth of a radian.
Any separation beyond the margin ends the search.

Departure: [GottschalkLinManocha1996] only asks whether boxes overlap and needs no lengths; here a length is
computed only where the separation without it could still win.

Cost: about 250 multiplications and at most nine square roots.

References: [GottschalkLinManocha1996]; [Ericson2005, Section 4.4.1]; [CameronCulley1986] for the least
overlap.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import PLACED_CENTRE
from taction.math.vector import dot, load3, sub

# Rows of the scratch; those of box 1 as own box come after those of box 0
TURN = np.int64(0)  # rows 0–2, 3–5: M in columns 0–2, |M| in columns 3–5
SIZES = np.int64(6)  # rows 6, 7: own half extents in columns 0–2, the other's in columns 3–5
AWAY = np.int64(8)  # rows 8, 9: D
FIRST, OTHER = np.int64(0), np.int64(3)  # first columns

BIAS = 1e-3  # part of the separation by which a later axis must be better
SAME = 1.0 - 5e-7  # axes with a larger cosine are the same
SHORTEST = 1e-6  # products of axes shorter than this are none

NO_EDGES, BEYOND = -1, -2  # instead of a face or a pair of edges


@kernel
def relate(size, placed, s, t, ws):
    """Rows TURN, SIZES and AWAY of the scratch for boxes s and t."""
    d = sub(load3(placed, t, PLACED_CENTRE), load3(placed, s, PLACED_CENTRE))
    for i in range(3):
        a = (placed[s, i], placed[s, 3 + i], placed[s, 6 + i])
        b = (placed[t, i], placed[t, 3 + i], placed[t, 6 + i])
        ws[AWAY, i] = dot(a, d)
        ws[AWAY + 1, i] = -dot(b, d)
        ws[SIZES, i] = size[s, i]
        ws[SIZES, 3 + i] = size[t, i]
        ws[SIZES + 1, i] = size[t, i]
        ws[SIZES + 1, 3 + i] = size[s, i]
        for j in range(3):
            r = a[0] * placed[t, j] + a[1] * placed[t, 3 + j] + a[2] * placed[t, 6 + j]
            ws[i, j] = r
            ws[i, 3 + j] = abs(r)
            ws[3 + j, i] = r
            ws[3 + j, 3 + i] = abs(r)


@inline_kernel
def total_size(ws):
    """Sum of all half extents [m]."""
    h, g = load3(ws, SIZES, FIRST), load3(ws, SIZES, OTHER)
    return h[0] + h[1] + h[2] + g[0] + g[1] + g[2]


@kernel
def best_face(margin, slack, ws):
    """(face 0–5 as 3·box + axis, its separation, largest separation); BEYOND the margin, no face."""
    face, best, most = 0, -math.inf, -math.inf
    for k in range(6):
        box = k // 3
        i = k - 3 * box
        reach = dot(load3(ws, SIZES + box, OTHER), load3(ws, TURN + k, OTHER))
        separation = abs(ws[AWAY + box, i]) - ws[SIZES + box, i] - reach
        if separation >= margin:
            return BEYOND, separation, separation
        most = max(most, separation)
        if box == 1 and face < 3 and ws[face, 3 + i] > SAME:
            best = max(best, separation)
        elif k == 0 or separation > best + BIAS * abs(best) + slack:
            face, best = k, separation
    return face, best, most


@inline_kernel
def edge_cosine(i, j, length, face, ws):
    """|cosine| between the product of axis i of box 0 with axis j of box 1, and the normal of a face."""
    if face < 3:
        return 0.0 if face == i else ws[3 - i - face, 3 + j] / length
    return 0.0 if face - 3 == j else ws[9 - j - face, 3 + i] / length


@kernel
def best_edge(margin, slack, face, best, most, ws):
    """(pair of edges 3 i + j, NO_EDGES or BEYOND; its separation and cosine with the face; largest)."""
    pair, cosine = NO_EDGES, 0.0
    goal = best + BIAS * abs(best) + slack
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        h1, h2 = ws[SIZES, i1], ws[SIZES, i2]
        d1, d2 = ws[AWAY, i1], ws[AWAY, i2]
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            away = abs(d2 * ws[i1, j] - d1 * ws[i2, j])
            reach = h1 * ws[i2, 3 + j] + h2 * ws[i1, 3 + j]
            reach += ws[SIZES, 3 + j1] * ws[i, 3 + j2] + ws[SIZES, 3 + j2] * ws[i, 3 + j1]
            separation = away - reach
            if separation <= min(goal, 0.0):
                continue  # divided by a length of at most one it only falls
            length = math.sqrt(ws[i1, j] * ws[i1, j] + ws[i2, j] * ws[i2, j])
            if length <= SHORTEST:
                continue
            separation /= length
            if separation >= margin:
                return BEYOND, separation, 0.0, separation
            most = max(most, separation)
            if separation > goal:
                pair, goal = 3 * i + j, separation
                cosine = edge_cosine(i, j, length, face, ws)
    if pair >= 0 and cosine > SAME:
        return NO_EDGES, best, 0.0, most
    return pair, goal, cosine, most
