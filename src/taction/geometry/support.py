"""Two convex shapes as a pair: cores, placements and points of their Minkowski difference.

What it gives: for a shape K and a direction d, a point of K with the largest d·x. Distances (`gjk`), depths
(`epa`) and normals (`refine`) see the shapes only through this; shapes themselves are in
`taction.geometry.shapes`, one file each.

Notation: a shape is a *core* and a radius around it: a sphere is a point, a capsule a segment; the other
shapes are their own core with radius zero. The two shapes of a pair are FIRST (A) and SECOND (B). All
vectors are in the axes of A, from the centre of A, where B is placed by a rotation R and an offset c: the
accuracy does not depend on how far away the world's origin is. Points of the Minkowski difference A − B are
w = a − b; the cores overlap where it holds the origin.

Every support point carries an id, the same for two directions if the same corner supports both: the number
of the corner of a box or hull, the end of a segment, the cap of a cylinder, 0 for points and ellipsoids.

Curvature: the support function h(d) = max d·x has the gradient x(d) and, where that moves smoothly, a Hessian
H. For unit tangents t₁, t₂ of the sphere of directions, t_iᵀ H t_j are the radii of curvature of the
surface; zero at corners.

Parts: what of a shape faces d is the face of a box or hull, of a round solid its cap or, away from it, a line
on its side, of a capsule its axis.

Cost: some ten operations, and one pass over the corners of a hull.

References: [Ericson2005, Sections 3.9 and 9.5] for support mappings, [Bergen2003, Section 4.3] for cores.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE
from taction.geometry.scratch import (
    BEFORE,
    FIRST,
    ID_FIRST,
    ID_SECOND,
    KIND,
    OFFSET,
    ON_FIRST,
    PLACE,
    SECOND,
    SHAPE,
    TURN,
    W,
)
from taction.geometry.shapes import dispatch
from taction.math.vector import (
    add,
    dot,
    load3,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    scale,
    store3,
    store9,
    sub,
)

UPRIGHT = math.sqrt(0.5)  # cosine to the axis of a round solid from which on its cap takes part, not its side


@inline_kernel
def set_shape(colliders, i, side, ws):
    """Make shape i one of the pair, in row side of ws."""
    ws[side, KIND] = colliders.kind[i]
    ws[side, SHAPE] = i


@inline_kernel
def shape_of(side, ws):
    """Kind of a shape of the pair, and its row in `Colliders`."""
    return int(ws[side, KIND]), int(ws[side, SHAPE])


@kernel
def set_place(placed, s, t, ws):
    """Place shape t in the axes of shape s, both given by rows of placed (n, PLACED_WIDTH)."""
    A = load9(placed, s, PLACED_AXES)
    apart = sub(load3(placed, t, PLACED_CENTRE), load3(placed, s, PLACED_CENTRE))
    A = A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]
    store9(mat_mul(A, load9(placed, t, PLACED_AXES)), PLACE, TURN, ws)
    store3(mat_vec(A, apart), PLACE, OFFSET, ws)


@inline_kernel
def towards(side, n, ws):
    """Direction from a shape to the other, in its own axes, for the normal n from B to A."""
    return scale(-1.0, n) if side == FIRST else mat_t_vec(load9(ws, PLACE, TURN), n)


@inline_kernel
def core_support(colliders, side, d, ws):
    """Farthest point of the core of a shape along d, in its own axes, and its id: (x, y, z, id)."""
    kind, i = shape_of(side, ws)
    return dispatch.support(kind, colliders, i, d)


@kernel
def set_point(colliders, d, row, ws):
    """Write the point of A − B farthest along −d to a row of ws; returns d·w, the least of all w."""
    ax, ay, az, ia = core_support(colliders, FIRST, (-d[0], -d[1], -d[2]), ws)
    R = load9(ws, PLACE, TURN)
    bx, by, bz, ib = core_support(colliders, SECOND, mat_t_vec(R, d), ws)
    b = add(mat_vec(R, (bx, by, bz)), load3(ws, PLACE, OFFSET))
    w = ax - b[0], ay - b[1], az - b[2]
    store3(w, row, W, ws)
    store3((ax, ay, az), row, ON_FIRST, ws)
    ws[row, ID_FIRST] = ia
    ws[row, ID_SECOND] = ib
    return dot(d, w)


@inline_kernel
def facing_part(kind, colliders, i, d):
    """Part of shape i that faces d: (face, or −1 for a line; normal; cosine), for `set_part`."""
    face, m, cosine = dispatch.facing(kind, colliders, i, d)
    if dispatch.is_round(kind) and cosine < UPRIGHT:
        face = np.int64(-1)
    return face, m, cosine


@inline_kernel
def set_part(colliders, side, face, d, row, ws):
    """Corners of the part of a shape that faces d (own axes), from a row of ws on; their number."""
    kind, i = shape_of(side, ws)
    count = dispatch.set_part(kind, colliders, i, face, d, side, row, ws)
    ws[row, BEFORE] = count - 1
    return count
