"""Terrain against convex shapes: probes of the shape against triangles, and peaks of the terrain against it.

What it solves: contacts of a height field with a sphere, capsule, box, cylinder, ellipsoid or hull. Each cell
of the grid is two triangles; the ground is solid below, so a normal never points down.

Notation, in the axes of the field: heights z(x, y); a *probe* is a point p of the shape with a radius r (a
sphere is one probe, a corner one with r = 0); d distance of a probe's centre from the surface, positive
above.

Method
1. *Round probes* (sphere; points along the axis of a capsule, no farther apart than half a cell): among the
   triangles within reach, one contact per face whose nearest point is inside it (a ball in a valley touches
   two), or one with the nearest edge or corner if that is nearer (a ball on a ridge). Nearest points on edges
   between coplanar triangles have the normal of the faces: a flat field feels like a plane.
2. *Sharp probes* (corners of boxes and hulls, eight points of each rim of a cylinder, the lowest point of an
   ellipsoid): height along the normal of the triangle below.
3. *Peaks*: a grid point that stands out above the line through its neighbours, in x or y, against the faces
   of a box or hull, along the normal of the face it is nearest to.

Departures: edges of a shape against ridges of the terrain are not met by 2 and 3; cells should be small
against the shape, or the shape small against the cells. Cylinders and ellipsoids do not feel peaks. Beyond
the border there is no ground.

Cost: two triangles per cell within reach for round probes, one per sharp probe, one test per grid point below
a box or hull.

References: [Ericson2005, Section 5.1.5] for the nearest point of a triangle.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
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

MOST_PROBES = 16  # along a capsule
RIM = 8  # probes on each rim of a cylinder
INSIDE = 1e-9  # barycentric distance from the border at which a nearest point counts as inside
PEAK = 1e-9  # how far a grid point must stand out, relative to the cell
PROBE_FEATURES = np.int64(1 << 40)  # features of round probes: probe, then triangle
PEAK_FEATURE = np.int64(1 << 52)  # features of peaks


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
def round_probe(colliders, placed, a, b, s, is_swapped, p, radius, number, margin, contacts_io):
    """Step 1 for a probe at p (3), field axes; number distinguishes the probes of a shape."""
    columns, rows, reach = colliders.count[s], colliders.face_count[s], radius + margin
    lx, ly = colliders.size[s, 0], colliders.size[s, 1]
    low_i, high_i = cell_of(p[0] - reach, lx, columns), cell_of(p[0] + reach, lx, columns)
    low_j, high_j = cell_of(p[1] - reach, ly, rows), cell_of(p[1] + reach, ly, rows)
    least, edge, edge_feature = math.inf, (0.0, 0.0, 1.0), np.int64(0)
    inner = math.inf
    for j in range(low_j, high_j + 1):
        for i in range(low_i, high_i + 1):
            for upper in range(2):
                c0, c1, c2 = triangle(colliders, s, i, j, upper)
                x, is_inside = nearest_on_triangle(c0, c1, c2, p)
                n = upward(c0, c1, c2)
                e = sub(p, x)
                length = math.sqrt(dot(e, e))
                above = dot(n, sub(p, c0))
                feature = number * PROBE_FEATURES + 2 * (j * columns + i) + upper
                if is_inside:
                    inner = min(inner, abs(above))
                    if above - radius < margin and above > -reach:
                        put_contact(placed, a, b, s, is_swapped, p, n, radius, above, feature, contacts_io)
                elif length < least:
                    least, edge_feature = length, feature
                    edge = scale(1.0 / length, e) if length > 0.0 and above > 0.0 else n
                    least = length if above > 0.0 else -length
                    if above <= 0.0:
                        least = math.inf  # below the surface the face above decides
    if least < inner - INSIDE * lx and least - radius < margin:
        put_contact(placed, a, b, s, is_swapped, p, edge, radius, least, edge_feature, contacts_io)


@kernel
def sharp_probe(colliders, placed, a, b, s, is_swapped, p, feature, margin, contacts_io):
    """Step 2 for a corner at p (3), field axes."""
    if not is_over(colliders, s, p):
        return
    i = cell_of(p[0], colliders.size[s, 0], colliders.count[s])
    j = cell_of(p[1], colliders.size[s, 1], colliders.face_count[s])
    corner = grid_point(colliders, s, i, j)
    steep = (p[1] - corner[1]) * colliders.size[s, 0] > (p[0] - corner[0]) * colliders.size[s, 1]
    c0, c1, c2 = triangle(colliders, s, i, j, 1 if steep else 0)
    n = upward(c0, c1, c2)
    above = dot(n, sub(p, c0))
    if above < margin and above > -colliders.size[s, 2]:
        put_contact(placed, a, b, s, is_swapped, p, n, 0.0, above, feature, contacts_io)


@inline_kernel
def to_field(placed, s, t, x):
    """Point x (3) of shape t in the axes of field s."""
    world = add(load3(placed, t, PLACED_CENTRE), mat_vec(load9(placed, t, PLACED_AXES), x))
    return mat_t_vec(load9(placed, s, PLACED_AXES), sub(world, load3(placed, s, PLACED_CENTRE)))


@kernel
def rim_probes(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Step 2 for the two rims of a cylinder."""
    radius, half = colliders.size[t, 0], colliders.size[t, 1]
    for end in range(2):
        for k in range(RIM):
            angle = 2.0 * math.pi * k / RIM
            x = (radius * math.cos(angle), radius * math.sin(angle), half * (2.0 * end - 1.0))
            p = to_field(placed, s, t, x)
            sharp_probe(colliders, placed, a, b, s, is_swapped, p, end * RIM + k, margin, contacts_io)


@kernel
def ellipsoid_probe(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Step 2 for the point of an ellipsoid that is lowest along the normal of the ground below its centre."""
    R = load9(placed, t, PLACED_AXES)
    F = load9(placed, s, PLACED_AXES)
    p = to_field(placed, s, t, (0.0, 0.0, 0.0))
    for _ in range(3):
        i = cell_of(p[0], colliders.size[s, 0], colliders.count[s])
        j = cell_of(p[1], colliders.size[s, 1], colliders.face_count[s])
        corner = grid_point(colliders, s, i, j)
        steep = (p[1] - corner[1]) * colliders.size[s, 0] > (p[0] - corner[0]) * colliders.size[s, 1]
        c0, c1, c2 = triangle(colliders, s, i, j, 1 if steep else 0)
        d = mat_t_vec(R, mat_vec(F, scale(-1.0, upward(c0, c1, c2))))
        e = (colliders.size[t, 0] * d[0], colliders.size[t, 1] * d[1], colliders.size[t, 2] * d[2])
        f = 1.0 / math.sqrt(dot(e, e))
        x = (
            f * colliders.size[t, 0] * e[0],
            f * colliders.size[t, 1] * e[1],
            f * colliders.size[t, 2] * e[2],
        )
        p = to_field(placed, s, t, x)
    sharp_probe(colliders, placed, a, b, s, is_swapped, p, 0, margin, contacts_io)


@inline_kernel
def is_peak(colliders, s, i, j):
    """Whether grid point (i, j) stands out above the line through its neighbours in x or in y."""
    z = grid_point(colliders, s, i, j)[2]
    i0, i1 = max(i - 1, 0), min(i + 1, colliders.count[s] - 1)
    j0, j1 = max(j - 1, 0), min(j + 1, colliders.face_count[s] - 1)
    mean_x = 0.5 * (grid_point(colliders, s, i0, j)[2] + grid_point(colliders, s, i1, j)[2])
    mean_y = 0.5 * (grid_point(colliders, s, i, j0)[2] + grid_point(colliders, s, i, j1)[2])
    return z > mean_x + PEAK * colliders.size[s, 0] or z > mean_y + PEAK * colliders.size[s, 1]


@kernel
def polyhedron_distance(colliders, t, x):
    """Largest height of x (3) over the faces of box or hull t, in its axes, and the normal of that face."""
    most, normal = -math.inf, (0.0, 0.0, 1.0)
    if colliders.kind[t] == ShapeKind.BOX:
        for k in range(6):
            side = 1.0 - 2.0 * (k % 2)
            axis = k // 2
            n = (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)
            height = dot(n, x) - colliders.size[t, axis]
            if height > most:
                most, normal = height, n
        return most, normal
    for f in range(colliders.face_first[t], colliders.face_first[t] + colliders.face_count[t]):
        n = load3(colliders.face_normal, f, 0)
        corner = load3(colliders.vertices, colliders.face_vertex[colliders.face_start[f]], 0)
        height = dot(n, sub(x, corner))
        if height > most:
            most, normal = height, n
    return most, normal


@kernel
def add_peaks(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Step 3 for a box or hull t."""
    columns, rows, reach = colliders.count[s], colliders.face_count[s], colliders.bound[t] + margin
    p = to_field(placed, s, t, (0.0, 0.0, 0.0))
    lx, ly = colliders.size[s, 0], colliders.size[s, 1]
    R, F = load9(placed, t, PLACED_AXES), load9(placed, s, PLACED_AXES)
    for j in range(cell_of(p[1] - reach, ly, rows), cell_of(p[1] + reach, ly, rows) + 2):
        for i in range(cell_of(p[0] - reach, lx, columns), cell_of(p[0] + reach, lx, columns) + 2):
            if not is_peak(colliders, s, i, j):
                continue
            world = add(load3(placed, s, PLACED_CENTRE), mat_vec(F, grid_point(colliders, s, i, j)))
            x = mat_t_vec(R, sub(world, load3(placed, t, PLACED_CENTRE)))
            gap, n = polyhedron_distance(colliders, t, x)
            outward = mat_vec(R, n)
            up = (F[2], F[5], F[8])
            if gap < margin and gap > -0.5 * colliders.bound[t] and dot(outward, up) < 0.0:
                point = add_scaled(world, -0.5 * gap, outward)
                feature = PEAK_FEATURE + j * columns + i
                add_contact(a, b, feature, is_swapped, point, outward, gap, contacts_io)


@kernel
def height_field_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io):
    """Contacts of height field s with the convex shape t nearer than margin."""
    kind = colliders.kind[t]
    radius, half = colliders.size[t, 0], colliders.size[t, 1]
    if kind == ShapeKind.SPHERE:
        p = to_field(placed, s, t, (0.0, 0.0, 0.0))
        round_probe(colliders, placed, a, b, s, is_swapped, p, radius, 0, margin, contacts_io)
    elif kind == ShapeKind.CAPSULE:
        spacing = 0.5 * min(colliders.size[s, 0], colliders.size[s, 1])
        count = min(max(math.ceil(2.0 * half / spacing), 1), MOST_PROBES - 1)
        for k in range(count + 1):
            p = to_field(placed, s, t, (0.0, 0.0, half * (2.0 * k / count - 1.0)))
            round_probe(colliders, placed, a, b, s, is_swapped, p, radius, k, margin, contacts_io)
    elif kind == ShapeKind.CYLINDER:
        rim_probes(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == ShapeKind.ELLIPSOID:
        ellipsoid_probe(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    else:
        corners = 8 if kind == ShapeKind.BOX else colliders.count[t]
        for k in range(corners):
            if kind == ShapeKind.BOX:
                x = (
                    colliders.size[t, 0] * (2.0 * (k & 1) - 1.0),
                    colliders.size[t, 1] * (1.0 * (k & 2) - 1.0),
                    colliders.size[t, 2] * (0.5 * (k & 4) - 1.0),
                )
            else:
                x = load3(colliders.vertices, colliders.first[t] + k, 0)
            p = to_field(placed, s, t, x)
            sharp_probe(colliders, placed, a, b, s, is_swapped, p, k, margin, contacts_io)
        add_peaks(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
