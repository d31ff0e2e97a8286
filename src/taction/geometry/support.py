"""Support points and supporting faces of convex shapes: what lies farthest in a direction.

What it gives: for a shape K and a direction d, a point of K with the largest d·x. Distances (`gjk`), depths
(`epa`) and normals (`refine`) see the shapes only through this, so a new shape needs one more branch here.

Notation: a shape is a *core* and a radius around it: a sphere is a point, a capsule a segment; the other
shapes are their own core with radius zero. The two shapes of a pair are FIRST (A) and SECOND (B). All
vectors are in the axes of A, from the centre of A, where B is placed by a rotation R and an offset c: the
accuracy does not depend on how far away the world's origin is. Points of the Minkowski difference A − B are
w = a − b; the cores overlap where it holds the origin.

Every support point carries an id, the same for two directions if the same corner supports both: the number
of the corner of a box or hull, the end of a segment, the cap of a cylinder, 0 for points and ellipsoids.

Curvature: the support function h(d) = max d·x has the gradient x(d) and, where that moves smoothly, a Hessian
H. For unit tangents t₁, t₂ of the sphere of directions, t_iᵀ H t_j are the radii of curvature of the
surface: (S² − y yᵀ/h²)/h with y = S² d for an ellipsoid with semi-axes S; its radius over ‖d_xy‖ across the
axis of a cylinder, and nothing along it; zero at corners.

Faces: the part of a shape that faces d is the face of a box or hull, or of a cylinder its cap or, away from
it, a line on its side, of a capsule its axis. A rim has no corners: eight points stand for it, fixed to the
cylinder, but the one nearest to the farthest point of the rim along d moves there, so that this is always
among them, tilted or not.

Scratch: kernels of a pair hand each other one float array `ws` (SCRATCH_ROWS, SCRATCH_COLUMNS) instead of
dozens of words. Its first rows describe the pair, the next hold points w; integers are stored as floats.

Cost: some ten operations, and one pass over the corners of a hull.

References: [Ericson2005, Sections 3.9 and 9.5] for support mappings, [Bergen2003, Section 4.3] for cores.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE
from taction.math.vector import (
    add,
    cross,
    dot,
    load3,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    store3,
    store9,
    sub,
)

SPHERE = int(ShapeKind.SPHERE)
CAPSULE = int(ShapeKind.CAPSULE)
BOX = int(ShapeKind.BOX)
CYLINDER = int(ShapeKind.CYLINDER)
ELLIPSOID = int(ShapeKind.ELLIPSOID)
HULL = int(ShapeKind.HULL)

# Rows of the scratch array
FIRST = np.int64(0)
SECOND = np.int64(1)
PLACE = np.int64(2)  # the second shape in the axes of the first
POINTS = np.int64(3)  # up to four points of A − B: the simplex
SPARE = np.int64(7)  # one more point
BUFFER = np.int64(8)  # polytopes of `epa` and polygons of `manifold`, from here on
SCRATCH_ROWS = 384
SCRATCH_COLUMNS = 12

# Columns of a shape
KIND = np.int64(0)
CORNER_FIRST = np.int64(1)  # rows of the corners of a hull
CORNER_COUNT = np.int64(2)
FACE_FIRST = np.int64(3)  # rows of the faces of a hull
FACE_COUNT = np.int64(4)
RADIUS = np.int64(5)  # around the core [m]
SIZE = np.int64(6)  # 3: half length of a segment; (radius, half length); half extents; semi-axes [m]

# Columns of the placement
TURN = np.int64(0)  # 9: R row by row
OFFSET = np.int64(9)  # 3: c [m]

# Columns of a corner of a polygon
AT = np.int64(0)  # 3: A's axes [m]
NUMBER = np.int64(3)  # of the corner in its shape, −1 where an edge was cut
BEFORE = np.int64(4)  # edge that ends here: k of the polygon itself, −1 − k of the reference polygon
AFTER = np.int64(5)  # edge that starts here
UNCUT = np.int64(6)  # number of the corner that was in this row before all cuts

# Columns of a point of A − B
W = np.int64(0)  # 3: a − b [m]
ON_FIRST = np.int64(3)  # 3: a [m]
ID_FIRST = np.int64(6)
ID_SECOND = np.int64(7)
WEIGHT = np.int64(8)

TINY = 1e-300  # lengths below this are zero [m]
TILT = 1e-9  # of a cap against d below which no point of its rim is the farthest [rad]
OCTANT = 0.25 * math.pi
MOST_CORNERS = 48  # of a face; of larger ones every second, third, … corner is used
RIM_NUMBERS = 18  # corners of a cylinder: eight on each rim, and the two ends of a line


class Hulls(NamedTuple):
    """The arrays of `Colliders` that hold corners and faces of hulls; fewer words to hand on."""

    vertices: Array
    face_normal: Array
    face_start: IntArray
    face_vertex: IntArray


@kernel
def set_shape(colliders, i, side, ws):
    """Describe core and radius of shape i in row side of ws."""
    kind = colliders.kind[i]
    x, y, z = load3(colliders.size, i, W)
    radius = 0.0
    if kind == SPHERE:
        radius = x
    elif kind == CAPSULE:
        radius, x = x, y
    ws[side, KIND] = kind
    ws[side, CORNER_FIRST] = colliders.first[i]
    ws[side, CORNER_COUNT] = colliders.count[i]
    ws[side, FACE_FIRST] = colliders.face_first[i]
    ws[side, FACE_COUNT] = colliders.face_count[i]
    ws[side, RADIUS] = radius
    store3((x, y, z), side, SIZE, ws)


@kernel
def set_place(placed, s, t, ws):
    """Place shape t in the axes of shape s, both given by rows of placed (n, PLACED_WIDTH)."""
    A = load9(placed, s, PLACED_AXES)
    apart = sub(load3(placed, t, PLACED_CENTRE), load3(placed, s, PLACED_CENTRE))
    A = A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]
    store9(mat_mul(A, load9(placed, t, PLACED_AXES)), PLACE, TURN, ws)
    store3(mat_vec(A, apart), PLACE, OFFSET, ws)


@kernel
def core_support(vertices, side, d, ws):
    """Farthest point of the core of a shape along d, in its own axes, and its id: (x, y, z, id)."""
    kind = int(ws[side, KIND])
    if kind == HULL:
        first = int(ws[side, CORNER_FIRST])
        best, at = -math.inf, first
        for k in range(first, first + int(ws[side, CORNER_COUNT])):
            value = vertices[k, 0] * d[0] + vertices[k, 1] * d[1] + vertices[k, 2] * d[2]
            if value > best:
                best, at = value, k
        return vertices[at, 0], vertices[at, 1], vertices[at, 2], float(at - first)
    x, y, z = load3(ws, side, SIZE)
    if kind == BOX:
        i, j, k = d[0] >= 0.0, d[1] >= 0.0, d[2] >= 0.0
        id_ = (1.0 if i else 0.0) + (2.0 if j else 0.0) + (4.0 if k else 0.0)
        return x if i else -x, y if j else -y, z if k else -z, id_
    if kind == CYLINDER:
        rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
        s = x / rho if rho > TINY else 0.0
        return s * d[0], s * d[1], y if d[2] >= 0.0 else -y, 1.0 if d[2] >= 0.0 else 0.0
    if kind == ELLIPSOID:
        a, b, c = x * d[0], y * d[1], z * d[2]
        h = math.sqrt(a * a + b * b + c * c)
        s = 1.0 / h if h > TINY else 0.0
        return s * x * a, s * y * b, s * z * c, 0.0
    if kind == CAPSULE:
        return 0.0, 0.0, x if d[2] >= 0.0 else -x, 1.0 if d[2] >= 0.0 else 0.0
    return 0.0, 0.0, 0.0, 0.0


@kernel
def set_point(vertices, d, row, ws):
    """Write the point of A − B farthest along −d to a row of ws; returns d·w, the least of all w."""
    ax, ay, az, ia = core_support(vertices, FIRST, (-d[0], -d[1], -d[2]), ws)
    R = load9(ws, PLACE, TURN)
    bx, by, bz, ib = core_support(vertices, SECOND, mat_t_vec(R, d), ws)
    b = add(mat_vec(R, (bx, by, bz)), load3(ws, PLACE, OFFSET))
    w = ax - b[0], ay - b[1], az - b[2]
    store3(w, row, W, ws)
    store3((ax, ay, az), row, ON_FIRST, ws)
    ws[row, ID_FIRST] = ia
    ws[row, ID_SECOND] = ib
    return dot(d, w)


@kernel
def curvature(side, d, p, q, ws):
    """(pᵀ H p, pᵀ H q, qᵀ H q) of a shape in its own axes, for unit d and tangents p, q: radii [m]."""
    kind = int(ws[side, KIND])
    x, y, z = load3(ws, side, SIZE)
    if kind == ELLIPSOID:
        d = x * d[0], y * d[1], z * d[2]
        p = x * p[0], y * p[1], z * p[2]
        q = x * q[0], y * q[1], z * q[2]
        dd, u, v = dot(d, d), dot(d, p), dot(d, q)
        s = 1.0 / math.sqrt(dd)
        return s * (dot(p, p) - u * u / dd), s * (dot(p, q) - u * v / dd), s * (dot(q, q) - v * v / dd)
    if kind == CYLINDER:
        dd = d[0] * d[0] + d[1] * d[1]
        s = x / (dd * math.sqrt(dd)) if dd > TINY else 0.0
        u, v = d[0] * p[1] - d[1] * p[0], d[0] * q[1] - d[1] * q[0]
        return s * u * u, s * u * v, s * v * v
    return 0.0, 0.0, 0.0


@kernel
def unit(a):
    """The vector at length one; unchanged if zero."""
    length = math.sqrt(dot(a, a))
    s = 1.0 / length if length > 0.0 else 1.0
    return s * a[0], s * a[1], s * a[2]


@kernel
def facing(hulls, side, d, ws):
    """Flat face of a shape that faces d most, in its own axes: (face, outward normal, cosine for unit d).

    Of the faces of a hull only those at the corner farthest along d count. Without flat faces: −1.
    """
    kind = int(ws[side, KIND])
    m = 0.0, 0.0, 0.0
    best, at = -2.0, np.int64(-1)
    if kind == BOX or kind == CYLINDER:
        x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
        if kind == CYLINDER:
            x = y = 0.0
        if x > y and x > z:
            at, best, m = np.int64(0), x, (math.copysign(1.0, d[0]), 0.0, 0.0)
        elif y > z:
            at, best, m = np.int64(2), y, (0.0, math.copysign(1.0, d[1]), 0.0)
        else:
            at, best, m = np.int64(4), z, (0.0, 0.0, math.copysign(1.0, d[2]))
        if m[0] + m[1] + m[2] > 0.0:
            at += 1
    elif kind == HULL:
        corner = core_support(hulls.vertices, side, d, ws)
        wanted = int(ws[side, CORNER_FIRST] + corner[3])
        first = int(ws[side, FACE_FIRST])
        for f in range(first, first + int(ws[side, FACE_COUNT])):
            k = load3(hulls.face_normal, f, W)
            value = dot(k, d)
            if value > best:
                for e in range(hulls.face_start[f], hulls.face_start[f + 1]):
                    if hulls.face_vertex[e] == wanted:
                        best, at, m = value, f, k
    return at, m, best


@kernel
def is_over_face(hulls, side, face, p, slack, ws):
    """Whether a point lies within the prism over a face, in the shape's own axes, up to slack [m]."""
    kind = int(ws[side, KIND])
    x, y, z = load3(ws, side, SIZE)
    if kind == BOX:
        is_x, is_y, is_z = abs(p[0]) <= x + slack, abs(p[1]) <= y + slack, abs(p[2]) <= z + slack
        return (is_x or face < 2) and (is_y or face == 2 or face == 3) and (is_z or face > 3)
    if kind == CYLINDER:
        return p[0] * p[0] + p[1] * p[1] <= (x + slack) * (x + slack)
    m = load3(hulls.face_normal, face, W)
    start, end = hulls.face_start[face], hulls.face_start[face + 1]
    u = load3(hulls.vertices, hulls.face_vertex[end - 1], W)
    for e in range(start, end):
        v = load3(hulls.vertices, hulls.face_vertex[e], W)
        if dot(unit(cross(m, sub(v, u))), sub(p, u)) < -slack:
            return False
        u = v
    return True


@kernel
def set_corner(p, number, k, side, row, ws):
    """Write corner k of the polygon that starts at a row; p in the axes of the shape."""
    if side == SECOND:
        p = add(mat_vec(load9(ws, PLACE, TURN), p), load3(ws, PLACE, OFFSET))
    store3(p, row + k, AT, ws)
    ws[row + k, NUMBER] = number
    ws[row + k, UNCUT] = number
    ws[row + k, AFTER] = k
    ws[row + k, BEFORE] = k - 1


@kernel
def set_box_face(face, side, row, ws):
    """Corners of a face of a box; returns their number."""
    x, y, z = load3(ws, side, SIZE)
    out = 1.0 if face % 2 == 1 else -1.0
    for k in range(4):
        u = 1.0 if k == 1 or k == 2 else -1.0
        v = out if k >= 2 else -out
        i, j, l = out, u, v
        if face >= 4:
            i, j, l = u, v, out
        elif face >= 2:
            i, j, l = v, out, u
        number = (1.0 if i > 0.0 else 0.0) + (2.0 if j > 0.0 else 0.0) + (4.0 if l > 0.0 else 0.0)
        set_corner((i * x, j * y, l * z), number, k, side, row, ws)
    return np.int64(4)


@kernel
def set_rim(face, side, d, row, ws):
    """Points of the cap or line of a cylinder, or of a segment, that faces d (own axes); their number.

    face: 4 and 5 are the caps, −1 is the line.
    """
    r, h = ws[side, SIZE], ws[side, SIZE + 1]
    if int(ws[side, KIND]) != CYLINDER:
        r, h = 0.0, r
    angle, is_tilted = math.atan2(d[1], d[0]), d[0] * d[0] + d[1] * d[1] > TILT * TILT
    moved = math.floor(angle / OCTANT + 0.5) % 8
    count = np.int64(2) if face < 0 else np.int64(8)
    for k in range(count):
        x, z, number = angle, -h if k == 0 else h, 16 + k
        if face >= 0:
            j = k if face == 5 else 7 - k
            x, z, number = OCTANT * j, -h if face == 4 else h, j + 8 * (face - 4)
            if is_tilted and j == moved:
                x = angle
        set_corner((r * math.cos(x), r * math.sin(x), z), float(number), k, side, row, ws)
    return count


@kernel
def set_part(hulls, side, face, d, row, ws):
    """Corners of the part of a shape that faces d (own axes), counter-clockwise from outside; their number.

    face: as `facing` gives it, −1 for a line.
    """
    kind = int(ws[side, KIND])
    if face >= 0 and kind == BOX:
        count = set_box_face(face, side, row, ws)
    elif face >= 0 and kind == HULL:
        start, end = hulls.face_start[face], hulls.face_start[face + 1]
        count = np.int64(0)
        for e in range(start, end, (end - start + MOST_CORNERS - 1) // MOST_CORNERS):
            v = hulls.face_vertex[e]
            set_corner(load3(hulls.vertices, v, AT), v - ws[side, CORNER_FIRST], count, side, row, ws)
            count += 1
    else:
        count = set_rim(face, side, d, row, ws)
    ws[row, BEFORE] = count - 1
    return count
