"""Depth of two overlapping convex cores by the expanding polytope algorithm.

What it solves: the point of the surface of the Minkowski difference M = A − B that is nearest to the origin,
which lies inside; the shortest translation that separates the cores. (Notation of `support`.)

Method:
1. Begin with a tetrahedron of points of M: the simplex that `gjk` ended with, completed to one with volume by
   support points in directions off the point, line or plane it spans.
2. The face of the polytope nearest to the origin, at height δ, with outward normal m: no point of the
   surface of M is nearer than δ, as the polytope lies inside M.
3. w = the point of M farthest along m. The plane through it across m has M behind it, so the depth is at
   most m·w. Stop if that is δ up to the tolerance.
4. Otherwise w becomes a corner: the faces it sees go, and triangles from w to the rim of the hole close it.

The rim is the set of edges that only one of the faces removed has, so the surface stays closed whatever
rounding does; triangles without area stay as a seam, but are never the nearest face.

Step 2 takes heights with their sign: it does not matter if the origin lies a little outside, where the
cores just touch. Sets without volume (a segment against a segment) are reported, not solved.

Departures: faces are searched one by one instead of kept in a heap: they are few.

Cost: 4 to 10 steps for boxes and small hulls, with two support points and three to six new faces each. The
room is for MAX_POINTS corners; when it is used up, the face of step 2 is the answer, off by at most m·w − δ.

References: [Bergen2001] and [Bergen2003, Section 4.3.8].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.geometry.gjk import is_known, keep_weighted, triangle_weights
from taction.geometry.scratch import BUFFER, POINTS, SCRATCH_COLUMNS, SPARE, WEIGHT, W
from taction.geometry.support import set_point
from taction.math.vector import cross, dot, load3, scale, store3, sub

MAX_POINTS = 96
MAX_FACES = 200
MAX_EDGES = 72
FACES = BUFFER + MAX_POINTS  # rows of the faces
EDGES = FACES + MAX_FACES  # rows of the edges of the rim
NEAREST = EDGES + MAX_EDGES  # row that keeps the nearest face while it is taken apart

# Columns of a face; columns 0 to 2 are the rows of its corners, counter-clockwise from outside
NORMAL = np.int64(3)  # 3
HEIGHT = np.int64(6)  # of its plane over the origin [m]
DOUBT = np.int64(7)  # reciprocal of its least altitude: how much rounding turns its normal [1/m]

ROUNDING = 1e-15  # of the height of a face, relative to the size of the pair
BACKWARD = 1e-9  # loss of height that shows that rounding has spoilt the polytope, relative to the size
THIN = 1e-11  # thickness below which points span no volume, relative to the size of the pair
STOUT = 1e-2  # thickness with which a completed tetrahedron is good enough, relative to the same
SLIVER = 1e-20  # squared sine below which a triangle has no normal


@kernel
def copy_row(source, target, ws):
    """Copy one row of ws to another."""
    for c in range(SCRATCH_COLUMNS):
        ws[target, c] = ws[source, c]


@kernel
def set_face(i, j, k, row, ws):
    """Write the face with the corners in rows i, j, k; returns its height, infinite without area."""
    p = load3(ws, i, W)
    e, g = sub(load3(ws, j, W), p), sub(load3(ws, k, W), p)
    n, h = cross(e, g), sub(g, e)
    nn, ee, gg = dot(n, n), dot(e, e), dot(g, g)
    height, s = math.inf, 0.0
    if nn > SLIVER * ee * gg:
        s = 1.0 / math.sqrt(nn)
        height = s * dot(n, p)
    ws[row, 0] = i
    ws[row, 1] = j
    ws[row, 2] = k
    store3(scale(s, n), row, NORMAL, ws)
    ws[row, HEIGHT] = height
    ws[row, DOUBT] = s * math.sqrt(max(ee, gg, dot(h, h)))
    return height


@kernel
def off_span(count, k, row, ws):
    """Of the first count corners: a direction off the point, line or plane they span, and a distance.

    The direction is number k of six; the distance is that of the point in a row from the span.
    """
    s = 1.0 if k < 3 else -1.0
    k = k % 3
    d = s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0
    p = load3(ws, BUFFER, W)
    x = sub(load3(ws, row, W), p)
    far = math.sqrt(dot(x, x))
    if count > 1:
        e = sub(load3(ws, BUFFER + 1, W), p)
        n = cross(e, x)
        far = math.sqrt(dot(n, n) / dot(e, e))
        d = cross(e, d)
        if count > 2:
            d = cross(e, sub(load3(ws, BUFFER + 2, W), p))
            far = abs(dot(d, x)) / math.sqrt(dot(d, d))
            d = scale(s, d)
    return d, far


@kernel
def complete(colliders, count, size, ws):
    """Corners with volume from the simplex of count points; returns how many, below 4 if M has none."""
    copy_row(POINTS, BUFFER, ws)
    have, count = count, np.int64(1)
    for k in range(1, have):
        copy_row(POINTS + k, BUFFER + count, ws)
        if off_span(count, k, BUFFER + count, ws)[1] > THIN * size:
            count += 1
    for _ in range(count, 4):
        best = THIN * size
        for k in range(6):
            if best < STOUT * size:
                d, _ = off_span(count, k, BUFFER, ws)
                set_point(colliders, d, SPARE, ws)
                _, far = off_span(count, k, SPARE, ws)
                if far > best:
                    best = far
                    copy_row(SPARE, BUFFER + count, ws)
        if best == THIN * size:
            return count
        count += 1
    return count


@kernel
def begin(colliders, count, size, ws):
    """Step 1 from the simplex of count points; returns the number of corners, below 4 if M has no volume."""
    count = complete(colliders, count, size, ws)
    if count == 4:
        p = load3(ws, BUFFER, W)
        e, g = sub(load3(ws, BUFFER + 1, W), p), sub(load3(ws, BUFFER + 2, W), p)
        i, j = BUFFER + 1, BUFFER + 2
        if dot(cross(e, g), sub(load3(ws, BUFFER + 3, W), p)) > 0.0:
            i, j = j, i
        set_face(BUFFER, i, j, FACES, ws)
        set_face(BUFFER, BUFFER + 3, i, FACES + 1, ws)
        set_face(BUFFER, j, BUFFER + 3, FACES + 2, ws)
        set_face(i, BUFFER + 3, j, FACES + 3, ws)
    return count


@kernel
def add_edge(i, j, count, ws):
    """Add the edge ij of a removed face to the rim, or cancel it against ji; returns the number of edges."""
    last = EDGES + count - 1
    for row in range(EDGES, EDGES + count):
        if ws[row, 0] == j and ws[row, 1] == i:
            ws[row, 0] = ws[last, 0]
            ws[row, 1] = ws[last, 1]
            return count - 1
    ws[last + 1, 0] = i
    ws[last + 1, 1] = j
    return count + 1


@kernel
def expand(row, face, n_faces, size, ws):
    """Step 4 for the corner in a row, which sees the given face: (new number of faces, least new height).

    The number is 0 without room.
    """
    w = load3(ws, row, W)
    n_edges, f = np.int64(0), FACES
    end, least = FACES + n_faces, math.inf
    while f < end:
        slack = ROUNDING * size * (1.0 + size * ws[f, DOUBT])
        if f == face or dot(load3(ws, f, NORMAL), w) - ws[f, HEIGHT] > slack:
            if n_edges + 3 > MAX_EDGES:
                return np.int64(0), least
            for k in range(3):
                n_edges = add_edge(ws[f, k], ws[f, (k + 1) % 3], n_edges, ws)
            end -= 1
            copy_row(end, f, ws)
            face = f if face == end and face != f else -1 if face == f else face
        else:
            f += 1
    if end + n_edges > EDGES:
        return np.int64(0), least
    for k in range(n_edges):
        least = min(least, set_face(int(ws[EDGES + k, 0]), int(ws[EDGES + k, 1]), row, end + k, ws))
    return end + n_edges - FACES, least


@kernel
def epa(colliders, n_points, n_faces, tolerance, size, ws):
    """Steps 2 to 4 until the depth is known to a tolerance [m]: (is done, corners, faces, nearest face)."""
    while True:
        face, height = FACES, math.inf
        for f in range(FACES, FACES + n_faces):
            if ws[f, HEIGHT] < height:
                face, height = f, ws[f, HEIGHT]
        if n_points == MAX_POINTS:
            return False, n_points, n_faces, face
        row = BUFFER + n_points
        reach = -set_point(colliders, scale(-1.0, load3(ws, face, NORMAL)), row, ws)
        if not reach - height > max(tolerance, ROUNDING * size) or is_known(BUFFER, row, ws):
            return True, n_points, n_faces, face
        copy_row(face, NEAREST, ws)
        n_new, least = expand(row, face, n_faces, size, ws)
        if n_new == 0 or least < height - abs(height) - BACKWARD * size:
            return False, n_points, np.int64(0), NEAREST
        n_points, n_faces = n_points + 1, n_new


@kernel
def weigh_face(face, ws):
    """Make the corners of a face the simplex, weighed by its point nearest to the origin; its distance²."""
    for k in range(3):
        copy_row(int(ws[face, k]), POINTS + k, ws)
    x, y, z, square = triangle_weights(
        load3(ws, POINTS, W), load3(ws, POINTS + 1, W), load3(ws, POINTS + 2, W)
    )
    ws[POINTS, WEIGHT] = x
    ws[POINTS + 1, WEIGHT] = y
    ws[POINTS + 2, WEIGHT] = z
    return square


@kernel
def take_face(face, n_faces, size, ws):
    """Make the nearest face the simplex; of several in one plane, the one that holds the foot of the origin.

    Returns the number of points.
    """
    best, nearest = weigh_face(face, ws), face
    for f in range(FACES, FACES + n_faces):
        if f != face and ws[f, HEIGHT] <= ws[face, HEIGHT] + ROUNDING * size:
            square = weigh_face(f, ws)
            if square < best:
                best, nearest = square, f
    weigh_face(nearest, ws)
    count, _ = keep_weighted(np.int64(3), ws)
    return count
