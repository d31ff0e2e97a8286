"""The surface of a height field, and probes against it: what shapes are given to meet terrain with.

What it solves: each cell of the grid is two triangles; the ground is solid below, so a normal never points
down. A *probe* is a point p of a shape with a radius r (a sphere is one probe, a corner one with r = 0); d is
the distance of its centre from the surface, positive above. All in the axes of the field.

Method
1. *Round probes*: among the triangles within reach, one contact per face whose nearest point is inside it (a
   ball in a valley touches two), and one per edge or corner that is nearer than all of the surface around it
   (a ball on a ridge, or beside one). Nearest points on edges between coplanar triangles have the normal of
   the faces: a flat field feels like a plane.
2. *Sharp probes*: height along the normal of the triangle below.

Which probes a shape has is said in its file (`taction.geometry.shapes`); `height_field` asks.

Cost: two triangles per cell within reach for a round probe, one for a sharp one.

References: [Ericson2005, Section 5.1.5] for the nearest point of a triangle.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    sub,
)

INSIDE = 1e-9  # barycentric distance from the border at which a nearest point counts as inside
PROBE_FEATURES = np.int64(1 << 40)  # features of round probes: probe, then triangle


@inline_kernel
def grid_point(colliders, s, i, j):
    """Point (3) of column i and row j of field s, in its axes."""
    columns, rows = colliders.count[s], colliders.face_count[s]
    x = (i - 0.5 * (columns - 1)) * colliders.size[s, 0]
    y = (j - 0.5 * (rows - 1)) * colliders.size[s, 1]
    return x, y, colliders.height[colliders.first[s] + j * columns + i]


@inline_kernel
def triangle(colliders, s, i, j, upper):
    """Corners (3 × 3) of a triangle of cell (i, j): below or above the diagonal from (i, j) to (i+1, j+1)."""
    a, c = grid_point(colliders, s, i, j), grid_point(colliders, s, i + 1, j + 1)
    if upper == 0:
        return a, grid_point(colliders, s, i + 1, j), c
    return a, c, grid_point(colliders, s, i, j + 1)


@inline_kernel
def upward(a, b, c):
    """Unit normal of a triangle, upward."""
    n = cross(sub(b, a), sub(c, a))
    n = scale(1.0 / math.sqrt(dot(n, n)), n)
    return n if n[2] > 0.0 else scale(-1.0, n)


@inline_kernel
def cell_of(x, length, count):
    """Cell that holds coordinate x on an axis with count points; beyond the border the outermost one."""
    return min(max(math.floor(x / length + 0.5 * (count - 1)), 0), count - 2)


@inline_kernel
def is_over(colliders, s, p):
    """Whether p (3) lies above or below the field."""
    half_x = 0.5 * (colliders.count[s] - 1) * colliders.size[s, 0]
    half_y = 0.5 * (colliders.face_count[s] - 1) * colliders.size[s, 1]
    return abs(p[0]) <= half_x and abs(p[1]) <= half_y


@kernel
def nearest_on_triangle(a, b, c, p):
    """Nearest point (3) to p of a triangle, and whether it is inside, not on the border."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    aa, bb, m = dot(ab, ab), dot(ac, ac), dot(ab, ac)
    da, db = dot(ab, ap), dot(ac, ap)
    det = aa * bb - m * m
    u, v = (bb * da - m * db) / det, (aa * db - m * da) / det
    if u > INSIDE and v > INSIDE and u + v < 1.0 - INSIDE:
        return add_scaled(add_scaled(a, u, ab), v, ac), True
    best, least = a, math.inf
    for k in range(3):
        start = a if k == 0 else (b if k == 1 else c)
        along = sub(b if k == 0 else (c if k == 1 else a), start)
        t = min(max(dot(along, sub(p, start)) / dot(along, along), 0.0), 1.0)
        x = add_scaled(start, t, along)
        e = sub(p, x)
        if dot(e, e) < least:
            best, least = x, dot(e, e)
    return best, False


@inline_kernel
def put_contact(placed, a, b, s, is_swapped, p, n, radius, distance, feature, contacts_io):
    """Append the contact of a probe at p (3), distance above the surface with normal n, field axes."""
    R = load9(placed, s, PLACED_AXES)
    x = add_scaled(p, -(radius + 0.5 * (distance - radius)), n)
    x = add(load3(placed, s, PLACED_CENTRE), mat_vec(R, x))
    add_contact(a, b, feature, is_swapped, x, scale(-1.0, mat_vec(R, n)), distance - radius, contacts_io)


@kernel
def is_foot(colliders, s, p, x, length, i0, j0, feature):
    """Whether border point x (3) of a triangle of cell (i0, j0) is a point of the surface nearest to p (3).

    No triangle that it is a point of comes nearer than its distance, length; of those that come as near and
    are below p, the one of the least feature answers for all.
    """
    columns, rows = colliders.count[s], colliders.face_count[s]
    near = INSIDE * colliders.size[s, 0]
    for j in range(max(j0 - 1, 0), min(j0 + 2, rows - 1)):
        for i in range(max(i0 - 1, 0), min(i0 + 2, columns - 1)):
            for upper in range(2):
                c0, c1, c2 = triangle(colliders, s, i, j, upper)
                y, _ = nearest_on_triangle(c0, c1, c2, x)
                d = sub(y, x)
                if dot(d, d) > near * near:
                    continue
                y, _ = nearest_on_triangle(c0, c1, c2, p)
                e = sub(p, y)
                other = math.sqrt(dot(e, e))
                is_first = 2 * (j * columns + i) + upper < feature and other <= length + near
                if other < length - near or (is_first and dot(upward(c0, c1, c2), sub(p, c0)) > 0.0):
                    return False
    return True


@kernel
def round_probe(colliders, placed, a, b, s, is_swapped, p, radius, number, margin, contacts_io):
    """Step 1 for a probe at p (3), field axes; number distinguishes the probes of a shape."""
    columns, rows, reach = colliders.count[s], colliders.face_count[s], radius + margin
    lx, ly = colliders.size[s, 0], colliders.size[s, 1]
    low_i, high_i = cell_of(p[0] - reach, lx, columns), cell_of(p[0] + reach, lx, columns)
    low_j, high_j = cell_of(p[1] - reach, ly, rows), cell_of(p[1] + reach, ly, rows)
    for j in range(low_j, high_j + 1):
        for i in range(low_i, high_i + 1):
            for upper in range(2):
                c0, c1, c2 = triangle(colliders, s, i, j, upper)
                x, is_inside = nearest_on_triangle(c0, c1, c2, p)
                n = upward(c0, c1, c2)
                above = dot(n, sub(p, c0))
                feature = 2 * (j * columns + i) + upper
                distance = above
                if not is_inside:
                    e = sub(p, x)
                    distance = math.sqrt(dot(e, e))
                    # below the surface the face above decides
                    if above <= 0.0 or distance >= reach:
                        continue
                    if not is_foot(colliders, s, p, x, distance, i, j, feature):
                        continue
                    n = scale(1.0 / distance, e)
                if distance < reach and distance > -reach:
                    key = number * PROBE_FEATURES + feature
                    put_contact(placed, a, b, s, is_swapped, p, n, radius, distance, key, contacts_io)


@inline_kernel
def triangle_below(colliders, s, p):
    """Corners (3 × 3) of the triangle below p (3), field axes; beyond the border of the outermost one."""
    i = cell_of(p[0], colliders.size[s, 0], colliders.count[s])
    j = cell_of(p[1], colliders.size[s, 1], colliders.face_count[s])
    corner = grid_point(colliders, s, i, j)
    steep = (p[1] - corner[1]) * colliders.size[s, 0] > (p[0] - corner[0]) * colliders.size[s, 1]
    return triangle(colliders, s, i, j, 1 if steep else 0)


@kernel
def sharp_probe(colliders, placed, a, b, s, is_swapped, p, feature, margin, contacts_io):
    """Step 2 for a corner at p (3), field axes."""
    if not is_over(colliders, s, p):
        return
    c0, c1, c2 = triangle_below(colliders, s, p)
    n = upward(c0, c1, c2)
    above = dot(n, sub(p, c0))
    if above < margin and above > -colliders.size[s, 2]:
        put_contact(placed, a, b, s, is_swapped, p, n, 0.0, above, feature, contacts_io)


@inline_kernel
def to_field(placed, s, t, x):
    """Point x (3) of shape t in the axes of field s."""
    world = add(load3(placed, t, PLACED_CENTRE), mat_vec(load9(placed, t, PLACED_AXES), x))
    return mat_t_vec(load9(placed, s, PLACED_AXES), sub(world, load3(placed, s, PLACED_CENTRE)))
