"""Contacts of two convex shapes of any kind: hulls, cylinders, ellipsoids against each other and the rest.

What it solves: for shapes s and t, the contacts with a gap below the margin; normal, gap and points as in
`colliders`. (Notation of `support`: A is s, B is t; cores and radii; f(n) the separation along n.)

Method:
1. Spheres around both shapes farther apart than the margin: no contact.
2. `gjk` on the cores. It stops at once when the distance is known to exceed margin and radii. With corners on
   both sides its result is exact after a few steps; on smooth shapes it is stopped early, after 8 steps or
   when the bounds agree to 1 %.
3. `refine` turns its normal into the exact one and proves it; if it cannot, gjk goes on from where it was, to
   100 times and more the accuracy, and refine tries again.
4. If the cores overlap: `epa` for the depth, exact for corners, to COARSE of the smaller shape for smooth
   ones, then refine in the same way.
5. `manifold` makes contact points of the flat and straight parts that meet; the deepest point of the pair is
   always among the contacts: it is added where cutting has lost it, and alone where a point touches.
6. Of more than eight points, eight stay: the deepest, and the farthest in eight directions.

The depth of smooth shapes is a local minimum, exact to rounding, that exceeds the least one by less than
COARSE times the smaller shape. Contacts with a depth below SHALLOW of it are not passed through epa at all:
the error can be no larger than the depth.

Features: 0 is the deepest point without a name; others as in `manifold`. They ascend within the pair.

Degenerate input: coincident centres and shapes in exact contact are ordinary here; if A − B has no volume
(only pieces of height fields can make that so) and holds the origin, the normal is −x of A.

Cost: about 0.1 µs for step 1, 1 to 3 µs for boxes and small hulls that touch, 2 to 5 µs for smooth shapes.

References: [GilbertJohnsonKeerthi1988], [Bergen2001], [Gregorius2013]; details in the files named.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.geometry.epa import HEIGHT, NORMAL, begin, epa, take_face
from taction.geometry.gjk import APART, OVERLAP, gjk
from taction.geometry.manifold import AT, FEATURE, FOUND, SEPARATION, find_points
from taction.geometry.refine import refine
from taction.geometry.scratch import FIRST, OFFSET, PLACE, SECOND, unit
from taction.geometry.shapes.dispatch import core_radius, is_smooth
from taction.geometry.support import set_place, set_shape, shape_of
from taction.math.vector import add, add_scaled, cross, dot, load3, load9, mat_vec, scale, store3, sub

ROUNDS = 5  # of gjk or epa and refine
EXACT = 1e-15  # tolerance where both shapes have corners: rounding
FIRST_TOLERANCE = 1e-2  # of gjk on smooth shapes before refine is tried
TIGHTER = 1e-2, 1e-4  # factors on the tolerances of epa and gjk from round to round
FIRST_STEPS = np.int64(8)  # of gjk on smooth shapes before refine is tried
MORE_STEPS = np.int64(12)  # in later rounds
MOST_STEPS = np.int64(64)  # where both shapes have corners
TOUCH = 1e-12  # distance at which the nearest points say nothing of the normal, relative to the size
COARSE = 1e-5  # of epa on smooth shapes before refine is tried, relative to the smaller shape
SHALLOW = 1e-5  # depth at which epa is not asked, relative to the smaller shape
SAME = 1e-11  # difference of separations that counts as none, relative to the size
MOST_POINTS = 8
TURN_STEP = 0.25 * math.pi
TURN_FIRST = 0.1  # off the axes of symmetry, so that no two corners are equally far [rad]


@kernel
def deep(colliders, count, tolerance, size, ws):
    """Step 4, from the simplex of count points: (n, f, a)."""
    n, f, a = (-1.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    n_points = begin(colliders, count, size, ws)
    if n_points < 4:
        return n, f, a
    n_faces, f = np.int64(4), -math.inf
    for _ in range(ROUNDS):
        is_done, n_points, n_faces, face = epa(colliders, n_points, n_faces, tolerance, size, ws)
        m, upper = scale(-1.0, load3(ws, face, NORMAL)), -ws[face, HEIGHT]
        count = take_face(face, n_faces, size, ws)
        is_proved, m, g, b = refine(colliders, m, count, upper, size, ws)
        if g > f:
            n, f, a = m, g, b
        if is_proved or not is_done:
            break
        tolerance = TIGHTER[0] * tolerance
    return n, f, a


@kernel
def separation(colliders, limit, small, size, ws):
    """Steps 2 to 4 for the pair in ws: (whether the cores are nearer than limit, n, f, a), A's axes.

    small: radius of the smaller shape; size: of the pair [m].
    """
    v = scale(-1.0, load3(ws, PLACE, OFFSET))
    if not dot(v, v) > 0.0:
        v = -1.0, 0.0, 0.0
    is_curved = is_smooth(shape_of(FIRST, ws)[0]) or is_smooth(shape_of(SECOND, ws)[0])
    steps, tolerance, end = MOST_STEPS, EXACT, OVERLAP
    if is_curved:
        steps, tolerance = FIRST_STEPS, FIRST_TOLERANCE
    count, lower = np.int64(0), -math.inf
    n, f, a = v, -math.inf, v
    for _ in range(ROUNDS):
        end, count, v, lower = gjk(colliders, count, v, lower, limit, tolerance, TOUCH * size, steps, ws)
        if end == APART:
            return False, n, lower, a
        if end == OVERLAP:
            break
        length = math.sqrt(dot(v, v))
        is_proved, n, f, a = refine(colliders, scale(1.0 / length, v), count, length, size, ws)
        if is_proved and f >= -SHALLOW * small:
            return f < limit, n, f, a
        steps, tolerance = MORE_STEPS, TIGHTER[1] * tolerance
    if end == OVERLAP or f < 0.0:
        n, f, a = deep(colliders, count, COARSE * small if is_curved else EXACT * size, size, ws)
    return f < limit, n, f, a


@kernel
def swap_points(i, j, ws):
    """Exchange two contact points."""
    for c in range(SEPARATION + 1):
        ws[i, c], ws[j, c] = ws[j, c], ws[i, c]


@kernel
def choose_points(found, n, ws):
    """Step 6: move the points that stay to the front; returns their number."""
    axis = (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0)
    u = unit(add_scaled(axis, -dot(axis, n), n))
    v = cross(n, u)
    kept = np.int64(0)
    for k in range(MOST_POINTS + 1):
        angle = TURN_STEP * k + TURN_FIRST
        x, y = math.cos(angle), math.sin(angle)
        best, at = -math.inf, kept
        for i in range(found):
            p = load3(ws, FOUND + i, AT)
            value = x * dot(u, p) + y * dot(v, p) if k > 0 else -ws[FOUND + i, SEPARATION]
            if value > best:
                best, at = value, i
        if at >= kept and kept < MOST_POINTS:
            swap_points(FOUND + at, FOUND + kept, ws)
            kept += 1
    return kept


@kernel
def gather(found, n, f, a, size, ws):
    """Add the deepest point a with separation f if it is missing; choose, sort, and return how many."""
    least = math.inf
    for row in range(FOUND, FOUND + found):
        least = min(least, ws[row, SEPARATION])
    if least > f + SAME * size:
        store3(a, FOUND + found, AT, ws)
        ws[FOUND + found, FEATURE] = 0.0
        ws[FOUND + found, SEPARATION] = f
        found += 1
    if found > MOST_POINTS:
        found = choose_points(found, n, ws)
    for i in range(FOUND + 1, FOUND + found):
        j = i
        while j > FOUND and ws[j, FEATURE] < ws[j - 1, FEATURE]:
            swap_points(j, j - 1, ws)
            j -= 1
    return found


@kernel
def convex_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io):
    """Append the contacts of shapes s (first) and t, stored as the pair a < b, with a gap below margin.

    is_swapped: s is b; ws (SCRATCH_ROWS, SCRATCH_COLUMNS).
    """
    reach = colliders.bound[s] + colliders.bound[t]
    o = load3(placed, s, PLACED_CENTRE)
    apart = sub(load3(placed, t, PLACED_CENTRE), o)
    distance = math.sqrt(dot(apart, apart))
    if distance >= reach + margin:
        return
    set_shape(colliders, s, FIRST, ws)
    set_shape(colliders, t, SECOND, ws)
    set_place(placed, s, t, ws)
    r, q = core_radius(colliders.kind[s], colliders, s), core_radius(colliders.kind[t], colliders, t)
    limit, size = margin + r + q, reach + distance
    is_near, n, f, x = separation(colliders, limit, min(colliders.bound[s], colliders.bound[t]), size, ws)
    if not is_near:
        return
    found = find_points(colliders, n, limit, size, ws)
    found = gather(found, n, f, x, size, ws)
    R = load9(placed, s, PLACED_AXES)
    normal = mat_vec(R, n)
    for row in range(FOUND, FOUND + found):
        f = ws[row, SEPARATION]
        p = add(o, mat_vec(R, add_scaled(load3(ws, row, AT), -0.5 * (f + r - q), n)))
        add_contact(a, b, int(ws[row, FEATURE]), is_swapped, p, normal, f - r - q, contacts_io)
