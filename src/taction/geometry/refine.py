"""The exact contact normal of two convex cores, from one that is nearly right.

What it solves: the separation of the cores along a unit vector n (from B to A) is
    f(n) = min_{a∈A} n·a − max_{b∈B} n·b = min_{w∈A−B} n·w.
Its largest value over all n is the distance if the cores are apart, and minus the depth if they overlap.
Given n from `gjk` or `epa`, with the simplex of support points it came from, find that maximum to rounding.
(Notation of `support`.)

At the maximum, points a and b that support n lie opposite each other: a − b = f n. Which parts of the shapes
they lie on decides the equation, and the ids in the simplex tell which:
1. *Face.* If a flat face of one shape nearly faces the other, n is its normal. Right if the support point of
   the other lies over the face, or if f reaches the upper bound that gjk or epa gave.
2. *Two edges* that cross: n = e_A × e_B, again and again where an edge depends on n.
3. *Corners and smooth surfaces*: v(n) = a(n) − b(n) must be parallel to n. Newton's method on the sphere:
   with tangents t_i, the gradient of f is g_i = t_i·v and its Hessian −(H_A + H_B + f 1), H the curvatures of
   `support`; both shapes overlapping or apart, in one form.
4. *An edge* and one of these, or two parallel edges: the same along the circle n ⟂ e.
Edges are those of boxes, colliders and segments, and the lines on the side of a cylinder.

Each candidate is proved before it is believed: n supported by the very points used, ‖a − b − f n‖ zero to
rounding, points within their edges. For cores that are apart this proves the maximum, as the problem is
convex; for overlapping ones it proves a local one. A candidate with a smaller f than the given n's is turned
down. Where nothing is proved, the caller iterates further and tries again.

Departures: gjk alone gives a normal with the square root of the accuracy of the distance; this gives both to
rounding, in the same time.

Cost: 4 to 6 Newton steps of about 100 operations on smooth shapes; one or two support points otherwise.

References: [Bergen2003, Section 4.3] for the bounds on f; [AbsilMahonySepulchre2008, Section 6.2] for
Newton's method on a sphere.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.geometry.scratch import (
    FIRST,
    ID_FIRST,
    ID_SECOND,
    OFFSET,
    ON_FIRST,
    PLACE,
    POINTS,
    SECOND,
    SPARE,
    TURN,
    WEIGHT,
    W,
    unit,
)
from taction.geometry.shapes.dispatch import curvature, facing, is_over_face, is_round, is_smooth, side_line
from taction.geometry.support import core_support, set_point, shape_of, towards
from taction.math.vector import add, add_scaled, cross, dot, load3, load9, mat_t_vec, mat_vec, scale, sub

NEWTON_STEPS = 16
LONGEST_STEP = 0.5  # [rad]
LAST_STEP = 1e-8  # after a step as small as this the next changes nothing [rad]
LEVEL = 1e-14  # gradient that counts as zero, relative to f
PARALLEL = 1e-12  # squared sine below which two edges are parallel
NEAR_FACE = 0.9  # cosine of the angle to a face within which its normal is tried
NEAR_SIDE = 0.3  # sine of the angle to a round side within which it is tried
SLACK = 1e-13  # of points against the ends of edges and rims of faces, relative to the size of the pair


@kernel
def weighted_point(count, ws):
    """Point of A that the weights of the simplex give."""
    a = 0.0, 0.0, 0.0
    for row in range(POINTS, POINTS + count):
        a = add_scaled(a, ws[row, WEIGHT], load3(ws, row, ON_FIRST))
    return a


@kernel
def round_edge(colliders, side, n, ws):
    """Line of a round side that faces n: (lower end, edge, how it turns, radius, |sine| to n), in A's axes.

    Normals of a side with radii of curvature r at the lower and q at the upper end of a line of length l make
    a circle on the sphere of directions, of geodesic curvature (r − q)/l: that is how the edge turns with n.
    It does not on a cylinder, whose normals make a great circle.
    """
    kind, i = shape_of(side, ws)
    d = towards(side, n, ws)
    p, e, length, r, q = side_line(kind, colliders, i, d)
    sine = abs(dot(e, d))
    if side == SECOND:
        R = load9(ws, PLACE, TURN)
        p, e = add(mat_vec(R, p), load3(ws, PLACE, OFFSET)), mat_vec(R, e)
    return p, scale(length, e), (r - q) / length, r, sine


@kernel
def find_edge(colliders, side, n, count, on_side, ws):
    """Corners of a shape in the simplex: (their number up to 3, a corner, the edge from it, how it turns).

    In A's axes. on_side: a round shape whose side n meets nearly at right angles touches with a line of it
    in any case.
    """
    column = ID_FIRST if side == FIRST else ID_SECOND
    back = 0.0 if side == FIRST else -1.0
    p = add_scaled(load3(ws, POINTS, ON_FIRST), back, load3(ws, POINTS, W))
    number, other, edge, bend = 1, ws[POINTS, column], (0.0, 0.0, 0.0), 0.0
    for row in range(POINTS + 1, POINTS + count):
        id_ = ws[row, column]
        if id_ != ws[POINTS, column] and id_ != other:
            number += 1
            other = id_
            edge = sub(add_scaled(load3(ws, row, ON_FIRST), back, load3(ws, row, W)), p)
    if is_round(shape_of(side, ws)[0]):
        _, line, turning, _, sine = round_edge(colliders, side, n, ws)
        if number == 2 or (on_side and sine < NEAR_SIDE):
            number, edge, bend = 2, line, turning
    return number, p, edge, bend


@kernel
def surface_point(colliders, side, n, corner, is_edge, ws):
    """Point of a shape that supports n from its side, A's axes; on an edge of a round side, its lower end.

    Corners of other shapes stay where they are.
    """
    kind = shape_of(side, ws)[0]
    if not is_smooth(kind):
        return corner
    if is_edge and is_round(kind):
        return round_edge(colliders, side, n, ws)[0]
    x, y, z, _ = core_support(colliders, side, towards(side, n, ws), ws)
    if side == FIRST:
        return x, y, z
    return add(mat_vec(load9(ws, PLACE, TURN), (x, y, z)), load3(ws, PLACE, OFFSET))


@kernel
def tangents(n):
    """Two unit vectors that make a right-handed frame with the unit vector n."""
    s = math.copysign(1.0, n[2])
    a = -1.0 / (s + n[2])
    b = n[0] * n[1] * a
    return (1.0 + s * n[0] * n[0] * a, s * b, -s * n[0]), (b, s + n[1] * n[1] * a, -n[1])


@kernel
def newton(colliders, n, e, bend, corner_a, corner_b, is_edge_a, is_edge_b, ws):
    """Cases 3 and 4 from n, where n ⟂ e if there is an edge: (whether it converged to a maximum, n).

    bend: how e turns with n, see `round_edge`; e is the edge of A if it has one.
    """
    is_bound = is_edge_a or is_edge_b
    R = load9(ws, PLACE, TURN)
    (kind_a, i), (kind_b, j) = shape_of(FIRST, ws), shape_of(SECOND, ws)
    t2, radius = (0.0, 0.0, 0.0), 0.0
    for _ in range(NEWTON_STEPS):
        if is_bound:
            if bend != 0.0:
                _, e, bend, radius, _ = round_edge(colliders, FIRST if is_edge_a else SECOND, n, ws)
            n = unit(add_scaled(n, -dot(n, e) / dot(e, e), e))
            t1 = unit(cross(e, n))
        else:
            t1, t2 = tangents(n)
        a = surface_point(colliders, FIRST, n, corner_a, is_edge_a, ws)
        v = sub(a, surface_point(colliders, SECOND, n, corner_b, is_edge_b, ws))
        f, g1, g2 = dot(n, v), dot(t1, v), dot(t2, v)
        p, q, r = curvature(kind_a, colliders, i, scale(-1.0, n), t1, t2)
        x, y, z = curvature(kind_b, colliders, j, mat_t_vec(R, n), mat_t_vec(R, t1), mat_t_vec(R, t2))
        if bend != 0.0:  # the line is where the support point jumps from one end to the other
            p, x = (radius, x) if is_edge_a else (p, radius)
        p, q, r = p + x + f, q + y, r + z + f if not is_bound else 1.0
        if bend != 0.0:
            p += (bend if is_edge_a else -bend) * dot(unit(e), v)
        det = p * r - q * q
        if not (p > 0.0 and det > 0.0):
            return is_bound and abs(g1) <= LEVEL * abs(f), n  # level around the axis of a cylinder
        x, y = (r * g1 - q * g2) / det, (p * g2 - q * g1) / det
        length = math.sqrt(x * x + y * y)
        s = 1.0 if length <= LONGEST_STEP else LONGEST_STEP / length
        n = unit(add_scaled(add_scaled(n, s * x, t1), s * y, t2))
        if length <= LAST_STEP:
            return True, n
    return False, n


@kernel
def cross_edges(colliders, n, edge_a, edge_b, bend_a, bend_b, ws):
    """Case 2 from n: (whether it converged, n, both edges there); at once where no edge turns with n.

    The normal is across both edges, and turning it by a little does not change n·edge to first order but by
    the edge itself: taking the cross product again and again is Newton's method.
    """
    for _ in range(NEWTON_STEPS):
        m = cross(edge_a, edge_b)
        m = scale(math.copysign(1.0, dot(m, n)), unit(m))
        change = sub(m, n)
        n = m
        if bend_a != 0.0:
            edge_a = round_edge(colliders, FIRST, n, ws)[1]
        if bend_b != 0.0:
            edge_b = round_edge(colliders, SECOND, n, ws)[1]
        if (bend_a == 0.0 and bend_b == 0.0) or dot(change, change) <= LAST_STEP * LAST_STEP:
            return True, n, edge_a, edge_b
    return False, n, edge_a, edge_b


@kernel
def along_edges(v, edge_a, is_edge_a, edge_b, is_edge_b):
    """Fractions (x, y) along the edges for which v + x·edge_a − y·edge_b is shortest; below 0 if none."""
    aa, ab, bb = dot(edge_a, edge_a), dot(edge_a, edge_b), dot(edge_b, edge_b)
    p, q = -dot(edge_a, v), dot(edge_b, v)
    if not (is_edge_a and is_edge_b):
        return p / aa if is_edge_a else 0.0, q / bb if is_edge_b else 0.0
    det = aa * bb - ab * ab
    if det > PARALLEL * aa * bb:
        return (bb * p + ab * q) / det, (ab * p + aa * q) / det
    p, ratio = p / aa, ab / aa  # parallel: x = p + y·ratio, in the middle of what they share
    low, high = max(0.0, min(p, p + ratio)), min(1.0, max(p, p + ratio))
    x = 0.5 * (low + high)
    return x if low <= high else -1.0, (x - p) / ratio


@kernel
def try_features(colliders, n, count, on_side, size, ws):
    """Cases 2 to 4, with the corners of the simplex: (whether it is proved, n, f, a)."""
    number_a, corner_a, edge_a, bend_a = find_edge(colliders, FIRST, n, count, on_side, ws)
    number_b, corner_b, edge_b, bend_b = find_edge(colliders, SECOND, n, count, on_side, ws)
    is_edge_a, is_edge_b = number_a == 2, number_b == 2
    is_done = number_a < 3 and number_b < 3
    if is_done:
        m = cross(edge_a, edge_b)
        if dot(m, m) > PARALLEL * dot(edge_a, edge_a) * dot(edge_b, edge_b):
            is_done, n, edge_a, edge_b = cross_edges(colliders, n, edge_a, edge_b, bend_a, bend_b, ws)
        else:
            e, bend = (edge_a, bend_a) if is_edge_a else (edge_b, bend_b)
            is_done, n = newton(colliders, n, e, bend, corner_a, corner_b, is_edge_a, is_edge_b, ws)
            if bend_a != 0.0:
                edge_a = round_edge(colliders, FIRST, n, ws)[1]
            if bend_b != 0.0:
                edge_b = round_edge(colliders, SECOND, n, ws)[1]
    a = surface_point(colliders, FIRST, n, corner_a, is_edge_a, ws)
    b = surface_point(colliders, SECOND, n, corner_b, is_edge_b, ws)
    f = set_point(colliders, n, SPARE, ws)
    x, y = along_edges(sub(a, b), edge_a, is_edge_a, edge_b, is_edge_b)
    a = add_scaled(a, x, edge_a)
    rest = sub(sub(a, add_scaled(b, y, edge_b)), scale(f, n))
    is_inside = -SLACK <= x <= 1.0 + SLACK and -SLACK <= y <= 1.0 + SLACK
    if is_done and is_inside and dot(rest, rest) <= SLACK * SLACK * size * size:
        return True, n, f, a
    return False, n, f, weighted_point(count, ws)


@kernel
def try_face(colliders, side, n, count, upper, size, ws):
    """Case 1, a face of the shape on a side: (whether it is proved, n, f, a); f = −inf if none is near."""
    R = load9(ws, PLACE, TURN)
    is_first = side == FIRST
    kind, i = shape_of(side, ws)
    face, m, cosine = facing(kind, colliders, i, towards(side, n, ws))
    if cosine < NEAR_FACE:
        return False, n, -math.inf, n
    n = scale(-1.0, m) if is_first else mat_vec(R, m)
    f = set_point(colliders, n, SPARE, ws)
    a = load3(ws, SPARE, ON_FIRST)
    p = sub(a, load3(ws, SPARE, W)) if is_first else mat_t_vec(R, sub(a, load3(ws, PLACE, OFFSET)))
    slack = SLACK * size
    if is_over_face(kind, colliders, i, face, p, slack):
        return True, n, f, add_scaled(p, f, n) if is_first else a
    return f >= upper - slack, n, f, weighted_point(count, ws)


@kernel
def refine(colliders, n, count, upper, size, ws):
    """The maximum of f near n: (whether it is proved, n, f, a), the best found if it is not.

    count: points of the simplex; upper: a bound that f cannot exceed; size: of the pair [m].
    """
    f, a = set_point(colliders, n, SPARE, ws), weighted_point(count, ws)
    enough = f - SLACK * size
    best, best_f, best_a = n, f, a
    has_sides = is_round(shape_of(FIRST, ws)[0]) or is_round(shape_of(SECOND, ws)[0])
    for case in range(4 if has_sides else 3):
        if case < 2:
            is_proved, m, f, a = try_face(
                colliders, FIRST if case == 0 else SECOND, n, count, upper, size, ws
            )
        else:
            is_proved, m, f, a = try_features(colliders, n, count, case == 3, size, ws)
        if is_proved and f >= enough:
            return True, m, f, a
        if f > best_f:
            best, best_f, best_a = m, f, a
    return best_f >= upper - SLACK * size, best, best_f, best_a
