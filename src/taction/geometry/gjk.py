"""Distance of two convex cores by the algorithm of Gilbert, Johnson and Keerthi.

What it solves: the point v of the Minkowski difference M = A − B that is nearest to the origin. Its length is
the distance of the cores, v/‖v‖ the direction from B to A. (Notation of `support`.)

Method, from any first guess of v:
1. w = the point of M farthest along −v. The plane through w across v has M behind it, so v·w/‖v‖ never
   exceeds the distance, while ‖v‖, being the length of a point of M, is never below it.
2. Stop if the two meet, if the lower one exceeds the distance of interest, or if w is a point again that the
   simplex has already: then v is exact, and that happens after finitely many steps if both have corners.
3. Add w to the simplex (up to four points), find the point v of the simplex nearest to the origin, and drop
   the points it does not need.
4. Four points needed, or ‖v‖ = 0: the origin is inside, the cores overlap.

Step 3 goes through the faces of the simplex on whose far side the origin lies, by signed areas and volumes;
a flat tetrahedron or triangle is taken as its faces. For a triangle v is laid along its normal, so that the
direction stays exact when the distance goes to zero.

Departures: areas are those of the triangle as seen along its own normal, not of its largest projection; the
state is handed out and in again, so that `convex` can stop early and try for the exact solution: on smooth
shapes step 3 gains only a factor of about 0.6 in the gap between the bounds.

Cost: two support points and some 100 to 300 operations per step; 3 to 6 steps for polyhedra.

References: [GilbertJohnsonKeerthi1988] for the method, [Bergen2003, Section 4.3] for the bounds of steps 1
and 2, [Montanari2017] for step 3.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.geometry.scratch import POINTS, SCRATCH_COLUMNS, WEIGHT, W
from taction.geometry.support import set_point
from taction.math.vector import add_scaled, cross, dot, load3, scale, sub

FLAT = 1e-24  # squared sine below which a triangle or a corner of a tetrahedron has no inside

# How the iteration ended
CONVERGED = np.int64(0)
APART = np.int64(1)  # farther apart than wanted
OVERLAP = np.int64(2)
RUNNING = np.int64(3)


@kernel
def segment_weights(p, q):
    """Weights of the point of the segment pq nearest to the origin, and its squared distance."""
    e = sub(q, p)
    ee, t = dot(e, e), -dot(p, e)
    if t <= 0.0:
        return 1.0, 0.0, dot(p, p)
    if t >= ee:
        return 0.0, 1.0, dot(q, q)
    t = t / ee
    v = add_scaled(p, t, e)
    return 1.0 - t, t, dot(v, v)


@kernel
def triangle_weights(p, q, r):
    """Weights of the point of the triangle pqr nearest to the origin, and its squared distance."""
    e, g = sub(q, p), sub(r, p)
    n = cross(e, g)
    nn = dot(n, n)
    x = y = z = -1.0
    if nn > FLAT * dot(e, e) * dot(g, g):
        height = dot(n, p) / nn
        o = scale(height, n)
        p0, q0, r0 = sub(p, o), sub(q, o), sub(r, o)
        x, y, z = dot(n, cross(q0, r0)), dot(n, cross(r0, p0)), dot(n, cross(p0, q0))
        if x >= 0.0 and y >= 0.0 and z >= 0.0:
            s = 1.0 / (x + y + z)
            return s * x, s * y, s * z, height * height * nn
    best = math.inf
    a = b = c = 0.0
    if x < 0.0:
        b, c, best = segment_weights(q, r)
    if y < 0.0:
        u, v, square = segment_weights(p, r)
        if square < best:
            a, b, c, best = u, 0.0, v, square
    if z < 0.0:
        u, v, square = segment_weights(p, q)
        if square < best:
            a, b, c, best = u, v, 0.0, square
    return a, b, c, best


@kernel
def weigh_tetrahedron(ws):
    """Weigh the four points of the simplex; all count if the origin is inside."""
    p, q = load3(ws, POINTS, W), load3(ws, POINTS + 1, W)
    r, s = load3(ws, POINTS + 2, W), load3(ws, POINTS + 3, W)
    best = math.inf
    for k in range(4):  # the faces without p, then q, r, s
        e, g, h = sub(r, q), sub(s, q), sub(p, q)
        n = cross(e, g)
        height = dot(n, h)
        is_flat = not height * height > FLAT * dot(n, n) * dot(h, h)
        if is_flat or dot(n, q) * height > 0.0:
            x, y, z, square = triangle_weights(q, r, s)
            if square < best:
                best = square
                ws[POINTS + k, WEIGHT] = 0.0
                ws[POINTS + (k + 1) % 4, WEIGHT] = x
                ws[POINTS + (k + 2) % 4, WEIGHT] = y
                ws[POINTS + (k + 3) % 4, WEIGHT] = z
        p, q, r, s = q, r, s, p
    if best == math.inf:
        for k in range(4):
            ws[POINTS + k, WEIGHT] = 1.0


@kernel
def keep_weighted(count, ws):
    """Drop the points of the simplex without weight; returns how many stay and their weighted sum."""
    kept = np.int64(0)
    v = 0.0, 0.0, 0.0
    for k in range(count):
        x = ws[POINTS + k, WEIGHT]
        if x > 0.0:
            v = add_scaled(v, x, load3(ws, POINTS + k, W))
            if kept != k:
                for c in range(SCRATCH_COLUMNS):
                    ws[POINTS + kept, c] = ws[POINTS + k, c]
            kept += 1
    return kept, v


@kernel
def reduce_simplex(count, ws):
    """Smallest set of the points that holds the point v nearest to the origin; returns (count, v)."""
    p = load3(ws, POINTS, W)
    x, y, z = 1.0, 0.0, 0.0
    if count == 4:
        weigh_tetrahedron(ws)
    else:
        if count == 2:
            x, y, _ = segment_weights(p, load3(ws, POINTS + 1, W))
        elif count == 3:
            x, y, z, _ = triangle_weights(p, load3(ws, POINTS + 1, W), load3(ws, POINTS + 2, W))
        ws[POINTS, WEIGHT] = x
        ws[POINTS + 1, WEIGHT] = y
        ws[POINTS + 2, WEIGHT] = z
    count, v = keep_weighted(count, ws)
    if count == 4:
        v = 0.0, 0.0, 0.0
    elif count == 3:  # along the normal of the triangle: no cancellation near the origin
        p = load3(ws, POINTS, W)
        n = cross(sub(load3(ws, POINTS + 1, W), p), sub(load3(ws, POINTS + 2, W), p))
        v = scale(dot(n, p) / dot(n, n), n)
    return count, v


@kernel
def is_known(first, row, ws):
    """Whether the point in a row is one of those in the rows from first on."""
    for i in range(first, row):
        if ws[i, 0] == ws[row, 0] and ws[i, 1] == ws[row, 1] and ws[i, 2] == ws[row, 2]:
            return True
    return False


@kernel
def gjk(colliders, count, v, lower, limit, tolerance, touch, steps, ws):
    """Steps from a simplex of count points with nearest point v: (how it ended, count, v, lower bound).

    Without points v is any first guess. limit: distance of interest; tolerance: on the bounds, relative;
    touch: distance that counts as zero [m].
    """
    for _ in range(steps):
        vv = dot(v, v)
        length = math.sqrt(vv)
        if not length > touch:
            return OVERLAP, count, v, lower
        lower = max(lower, set_point(colliders, v, POINTS + count, ws) / length)
        if lower >= limit:
            return APART, count, v, lower
        if count > 0 and (length - lower <= tolerance * length or is_known(POINTS, POINTS + count, ws)):
            return CONVERGED, count, v, lower
        is_first = count == 0
        count, v = reduce_simplex(count + 1, ws)
        if count == 4:
            return OVERLAP, count, v, lower
        if not is_first and not dot(v, v) < vv:
            return CONVERGED, count, v, lower
    return RUNNING, count, v, lower
