"""Two boxes: the overlap of two faces as up to eight contacts, a crossing of edges as one.

What it solves: at which points two boxes touch or will touch, such that a stack can rest on them.

Notation: as in `taction.geometry.box_axes`. A face is the pair (own box, axis k) with the side σ towards the
other box; x, y are the coordinates along the next two axes of the own box, z is the height above the face.

Method
1. The face or the pair of edges of largest separation; beyond the margin, nothing to do.
2. A face: the facing face of the other box is a parallelogram over the rectangle |x| ≤ h_x, |y| ≤ h_y. The
   corners of their overlap are corners of the parallelogram inside the rectangle, corners of the rectangle
   inside the parallelogram, and crossings of sides. Each is a contact with its own height as gap. The
   rectangle gives way by `SLACK`, so that boxes of equal size stacked flush have four contacts, not a noisy
   choice of eight.
3. Edges: one contact at the nearest points of the two edges. If its normal is also close to that of the best
   face (`NEAR_FACE`), the points of step 2 follow, but for those near the contact or deeper: the boxes may
   close like a book within the step.
4. Apart, the largest separation is less than the distance where two corners, or a corner and an edge, are
   nearest. It shows in the points found: the lowest is higher than the separation, or the nearest points of
   the lines of the edges lie beyond their ends. Then the nearest points are those of the 24 edges with the
   respective other box, and one contact with the exact distance and normal is added.

Departure: only one face of the other box is looked at, the one that faces the most. A box balanced on an
edge has the contacts of that edge, but of the two faces beside it only one has contacts ahead of touching.

Accuracy: apart, the smallest gap is the distance up to a relative 10⁻⁶ and 10⁻⁸ of the size, its normal the
true one within 1.5 thousandths of a radian; where faces are parallel and above each other, and at edges and
corners, both are exact. Overlapping, the smallest gap is the least overlap up to a relative 10⁻³ and 10⁻⁸ of
the size, within which a face is preferred to edges.

Features: 24 numbers for each pair of a face and a facing face: 4 corners of the parallelogram, 4 corners of
the rectangle, 16 crossings; then 144 pairs of edges; then one for step 4.

Cost: about 100 multiplications for step 2; 24 distances of a segment and a box for step 4, which is rare.

References: [LiangBarsky1984] for the crossings; [Ericson2005, Section 5.1.9] for the nearest points of edges.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.box_axes import (
    AWAY,
    BEYOND,
    FIRST,
    SIZES,
    TURN,
    best_edge,
    best_face,
    relate,
    total_size,
)
from taction.geometry.closest import clamp, segment_box
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import add, add_scaled, dot, load3, load9, mat_vec, scale, store3, sub

# Further rows of the scratch
CORNER = np.int64(10)  # rows 10–13: corners of the parallelogram (x, y, z)
POINT = np.int64(14)  # rows 14…: points of the overlap (x, y, z, number)

TIE = 1e-8  # part of the size by which edges, or a face of the second box, must be better
INCIDENT_BIAS = 1e-3  # a later axis must face more by this to be the facing one
SLACK = 1e-6  # part of the size of a face by which its sides give way
NEAR_FACE = 0.95  # cosine between the normals of edges and face above which both have contacts
NEARBY = 0.01  # points of the face this part of the size from a contact of edges are left out
LOOSE = 1e-6  # relative difference of separation and lowest point above which step 4 is taken
GRAZING = 1e-10  # boxes nearer than this part of their size have no normal of their own

NONE = np.int64(0)
SIDE_X, SIDE_Y, NO_SIDE = np.int64(0), np.int64(2), np.int64(-1)  # first of two sides of the rectangle
PER_FACE = 24
EDGE_PAIRS = 72 * PER_FACE  # first feature of edges
NEAREST = np.int64(EDGE_PAIRS + 144)  # feature of step 4


@kernel
def facing_face(face, ws):
    """(side of the face, axis of the other box that faces it most, side of that axis)."""
    box, k = face // 3, face % 3
    side = 1.0 if ws[AWAY + box, k] >= 0.0 else -1.0
    m = 0
    for j in range(1, 3):
        if ws[face, 3 + j] > ws[face, 3 + m] + INCIDENT_BIAS:
            m = j
    return side, m, (-side if ws[face, m] >= 0.0 else side)


@kernel
def overlap_of_faces(face, ws):
    """Step 2: points (x, y, z, feature) into rows POINT…; returns their number."""
    box, k = face // 3, face % 3
    k1, k2 = (k + 1) % 3, (k + 2) % 3
    side, m, flip = facing_face(face, ws)
    m1, m2 = (m + 1) % 3, (m + 2) % 3
    u, v, w, sizes, away = TURN + 3 * box + k1, TURN + 3 * box + k2, TURN + face, SIZES + box, AWAY + box
    out, g1, g2 = flip * ws[sizes, 3 + m], ws[sizes, 3 + m1], ws[sizes, 3 + m2]
    c = (
        ws[away, k1] + out * ws[u, m],
        ws[away, k2] + out * ws[v, m],
        abs(ws[away, k]) - ws[sizes, 3 + m] * ws[w, 3 + m] - ws[sizes, k],
    )
    e = (g1 * ws[u, m1], g1 * ws[v, m1], side * g1 * ws[w, m1])
    f = (g2 * ws[u, m2], g2 * ws[v, m2], side * g2 * ws[w, m2])
    hx, hy = ws[sizes, k1], ws[sizes, k2]
    number = PER_FACE * (6 * (2 * face + (1 if side > 0.0 else 0)) + 2 * m + (1 if flip > 0.0 else 0))
    count = NONE
    for corner in range(4):
        p = add_scaled(c, -1.0 if corner == 0 or corner == 3 else 1.0, e)
        p = add_scaled(p, -1.0 if corner < 2 else 1.0, f)
        store3(p, CORNER + corner, FIRST, ws)
        if abs(p[0]) <= hx * (1.0 + SLACK) and abs(p[1]) <= hy * (1.0 + SLACK):
            count = put_point(p, number + corner, count, ws)
    if count == 4:
        return count
    count = rectangle_corners(hx, hy, c, e, f, number + 4, count, ws)
    for corner in range(4):
        count = side_crossings(corner, hx, hy, number + 8 + 4 * corner, count, ws)
    return count


@inline_kernel
def put_point(p, number, count, ws):
    """Append a point of the overlap; returns the new count."""
    store3(p, POINT + count, FIRST, ws)
    ws[POINT + count, 3] = number
    return count + 1


@kernel
def rectangle_corners(hx, hy, c, e, f, number, count, ws):
    """Append the corners of the rectangle inside the parallelogram c ± e ± f; returns the new count."""
    area = e[0] * f[1] - e[1] * f[0]
    for corner in range(4):
        x = -hx if corner == 0 or corner == 3 else hx
        y = -hy if corner < 2 else hy
        along_e = ((x - c[0]) * f[1] - (y - c[1]) * f[0]) / area
        along_f = ((y - c[1]) * e[0] - (x - c[0]) * e[1]) / area
        if abs(along_e) < 1.0 - SLACK and abs(along_f) < 1.0 - SLACK:
            z = c[2] + along_e * e[2] + along_f * f[2]
            count = put_point((x, y, z), number + corner, count, ws)
    return count


@inline_kernel
def cut(x0, x1, h, side, low, side_low, high, side_high):
    """Narrow the part [low, high] of the way from x0 to x1 to |x| ≤ h; side: number of the plane −h."""
    bound = h * (1.0 + SLACK)
    for k in range(2):
        y0, y1 = (x0, x1) if k else (-x0, -x1)
        if y0 > bound and y1 > bound:
            return 2.0, side_low, high, side_high
        if y0 > bound or y1 > bound:
            w = clamp((h - y0) / (y1 - y0) - 0.5, 0.5) + 0.5
            if y0 > bound and w > low:
                low, side_low = w, side + k
            if y1 > bound and w < high:
                high, side_high = w, side + k
    return low, side_low, high, side_high


@kernel
def side_crossings(corner, hx, hy, number, count, ws):
    """Append where the side from a corner to the next crosses the rectangle; returns the new count."""
    p, q = load3(ws, CORNER + corner, FIRST), load3(ws, CORNER + (corner + 1) % 4, FIRST)
    low, side_low, high, side_high = cut(p[0], q[0], hx, SIDE_X, 0.0, NO_SIDE, 1.0, NO_SIDE)
    low, side_low, high, side_high = cut(p[1], q[1], hy, SIDE_Y, low, side_low, high, side_high)
    if low >= high:
        return count
    d = sub(q, p)
    if 0 <= side_low and (side_low < side_high or side_high < 0):
        count = put_point(add_scaled(p, low, d), number + side_low, count, ws)
    if 0 <= side_high:
        count = put_point(add_scaled(p, high, d), number + side_high, count, ws)
        if side_low > side_high:
            count = put_point(add_scaled(p, low, d), number + side_low, count, ws)
    return count


@inline_kernel
def face_normal(placed, s, t, face, ws):
    """Normal of a face, from box t to box s."""
    k, own = face % 3, (t if face >= 3 else s)
    sign = 1.0 if (ws[AWAY + face // 3, k] >= 0.0) == (face >= 3) else -1.0
    return scale(sign, (placed[own, k], placed[own, 3 + k], placed[own, 6 + k]))


@kernel
def add_face_points(
    a, b, is_swapped, placed, s, t, face, count, skip, distance2, floor, margin, ws, contacts_io
):
    """Contacts of the points of step 2, but for those near skip or below floor; returns the lowest height."""
    box, k = face // 3, face % 3
    own = t if box else s
    normal = face_normal(placed, s, t, face, ws)
    out = normal if box else scale(-1.0, normal)
    k1, k2 = (k + 1) % 3, (k + 2) % 3
    e = (placed[own, k1], placed[own, 3 + k1], placed[own, 6 + k1])
    f = (placed[own, k2], placed[own, 3 + k2], placed[own, 6 + k2])
    c = load3(placed, own, PLACED_CENTRE)
    lowest = math.inf
    for i in range(count):
        p = load3(ws, POINT + i, FIRST)
        lowest = min(lowest, p[2])
        if floor <= p[2] < margin:
            x = add_scaled(add_scaled(c, p[0], e), p[1], f)
            x = add_scaled(x, ws[SIZES + box, k] + 0.5 * p[2], out)
            d = sub(x, skip)
            if dot(d, d) >= distance2:
                add_contact(a, b, int(ws[POINT + i, 3]), is_swapped, x, normal, p[2], contacts_io)
    return lowest


@kernel
def edge_contact(pair, ws):
    """Step 3, in axes of box 0: (point, normal, feature, whether the nearest points are on the edges)."""
    i, j = pair // 3, pair % 3
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
    n1, n2, m1, m2 = -ws[i2, j], ws[i1, j], ws[i, j2], -ws[i, j1]
    square = n1 * n1 + n2 * n2
    turn = 1.0 if ws[AWAY, i1] * n1 + ws[AWAY, i2] * n2 <= 0.0 else -1.0
    n1, n2, m1, m2 = turn * n1, turn * n2, turn * m1, turn * m2
    g1 = ws[SIZES, 3 + j1] if m1 >= 0.0 else -ws[SIZES, 3 + j1]
    g2 = ws[SIZES, 3 + j2] if m2 >= 0.0 else -ws[SIZES, 3 + j2]
    for k in range(3):
        ws[CORNER, k] = 0.0
        ws[CORNER + 1, k] = 0.0
        ws[CORNER + 2, k] = ws[AWAY, k] + g1 * ws[k, j1] + g2 * ws[k, j2]
    length = math.sqrt(square)
    ws[CORNER, i1], ws[CORNER, i2] = n1 / length, n2 / length
    ws[CORNER + 1, i1] = -ws[SIZES, i1] if n1 >= 0.0 else ws[SIZES, i1]
    ws[CORNER + 1, i2] = -ws[SIZES, i2] if n2 >= 0.0 else ws[SIZES, i2]
    x, y = load3(ws, CORNER + 1, FIRST), load3(ws, CORNER + 2, FIRST)
    d = sub(y, x)
    along = (ws[0, j], ws[1, j], ws[2, j])
    di, dj, c = y[0] if i == 0 else y[1] if i == 1 else y[2], dot(d, along), ws[i, j]
    w1, w2 = (di - c * dj) / square, (c * di - dj) / square
    h, g = ws[SIZES, i], ws[SIZES, 3 + j]
    is_within = abs(w1) <= h and abs(w2) <= g
    ws[CORNER + 1, i] = clamp(w1, h)
    x, y = load3(ws, CORNER + 1, FIRST), add_scaled(y, clamp(w2, g), along)
    first = 4 * i + (2 if n1 >= 0.0 else 0) + (1 if n2 >= 0.0 else 0)
    second = 4 * j + (2 if m1 >= 0.0 else 0) + (1 if m2 >= 0.0 else 0)
    return scale(0.5, add(x, y)), load3(ws, CORNER, FIRST), EDGE_PAIRS + 12 * first + second, is_within


@kernel
def nearest_points(ws):
    """Step 4: (own box, nearest point of the other box, nearest point of the own), in axes of the own."""
    best, nearest = math.inf, 0
    x = y = (0.0, 0.0, 0.0)
    for own in range(2):
        h, d = load3(ws, SIZES + own, FIRST), load3(ws, AWAY + own, FIRST)
        row, sizes = TURN + 3 * own, SIZES + 1 - own
        for edge in range(12):
            j, corner = edge % 3, edge // 3
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            g1 = ws[sizes, j1] if corner % 2 else -ws[sizes, j1]
            g2 = ws[sizes, j2] if corner >= 2 else -ws[sizes, j2]
            v = scale(ws[sizes, j], (ws[row, j], ws[row + 1, j], ws[row + 2, j]))
            p = add_scaled(d, g1, (ws[row, j1], ws[row + 1, j1], ws[row + 2, j1]))
            p = add_scaled(p, g2, (ws[row, j2], ws[row + 1, j2], ws[row + 2, j2]))
            p = add_scaled(p, segment_box(p, v, h), v)
            q = (clamp(p[0], h[0]), clamp(p[1], h[1]), clamp(p[2], h[2]))
            e = sub(p, q)
            square = dot(e, e)
            if square < best:
                best, nearest, x, y = square, own, p, q
    return nearest, x, y


@kernel
def add_nearest(a, b, is_swapped, placed, s, t, n, margin, ws, contacts_io):
    """Step 4: one contact at the nearest points; n is its normal where these coincide."""
    own, x, y = nearest_points(ws)
    shape = t if own else s
    R, c = load9(placed, shape, PLACED_AXES), load3(placed, shape, PLACED_CENTRE)
    d = sub(x, y)
    distance = math.sqrt(dot(d, d))
    if distance >= margin:
        return
    if distance > GRAZING * total_size(ws):
        n = mat_vec(R, scale((1.0 if own else -1.0) / distance, d))
    point = add(c, mat_vec(R, scale(0.5, add(x, y))))
    add_contact(a, b, NEAREST, is_swapped, point, n, distance, contacts_io)


@kernel
def box_box(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io):
    """Contacts of boxes s and t; (a, b) is the same pair in stored order; ws (64, 6)."""
    relate(colliders.size, placed, s, t, ws)
    slack = TIE * total_size(ws)
    face, best, most = best_face(margin, slack, ws)
    if face == BEYOND:
        return
    pair, best, cosine, most = best_edge(margin, slack, face, best, most, ws)
    if pair == BEYOND:
        return
    x, n = (0.0, 0.0, 0.0), face_normal(placed, s, t, face, ws)
    feature, is_within, apart, floor = EDGE_PAIRS, False, 0.0, -math.inf
    if pair >= 0:
        x, n, feature, is_within = edge_contact(pair, ws)
        R = load9(placed, s, PLACED_AXES)
        x, n = add(load3(placed, s, PLACED_CENTRE), mat_vec(R, x)), mat_vec(R, n)
        apart, floor = NEARBY * total_size(ws), best
    lowest = math.inf
    if pair < 0 or cosine > NEAR_FACE:
        count = overlap_of_faces(face, ws)
        lowest = add_face_points(
            a, b, is_swapped, placed, s, t, face, count, x, apart * apart, floor, margin, ws, contacts_io
        )
    if pair >= 0 and (is_within or most <= 0.0):
        add_contact(a, b, feature, is_swapped, x, n, best, contacts_io)
    elif pair >= 0 or lowest > max(most, 0.0) * (1.0 + LOOSE) + slack:
        add_nearest(a, b, is_swapped, placed, s, t, n, margin, ws, contacts_io)
