"""Terrain against convex shapes: probes of the shape against triangles, and peaks of the terrain against it.

What it solves: contacts of a height field with any convex shape. (Notation and probes of `terrain`.)

Method
1. Shapes that bring probes of their own (`on_field`): a sphere, points along the axis of a capsule, corners
   of boxes and hulls, points of the rims of a cylinder.
2. Others: the lowest point along the normal of the ground below it, found by asking for the ground below and
   the lowest point in turn; and the corners of the part of the shape that faces that ground, as against a
   half-space.
3. *Peaks*: a grid point that stands out above the line through its neighbours, in x or y, against the faces
   of a box or hull (`height_over`), along the normal of the face it is nearest to.

Departures: edges of a shape against ridges of the terrain are not met by 1 to 3; cells should be small
against the shape, or the shape small against the cells. Round shapes do not feel peaks. Beyond the border
there is no ground.

Cost: that of the probes, and one test per grid point below a box or hull.

References: [Ericson2005, Section 5.1.5] for the nearest point of a triangle.
"""

from __future__ import annotations

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import LONE, PLACED_AXES, PLACED_CENTRE, add_contact
from taction.geometry.scratch import AT, BUFFER, FIRST, NUMBER
from taction.geometry.shapes.dispatch import (
    core_radius,
    feels_peaks,
    has_parts,
    height_over,
    meets_fields,
    on_field,
    set_part,
    support,
)
from taction.geometry.support import facing_part
from taction.geometry.terrain import (
    cell_of,
    grid_point,
    round_probe,
    sharp_probe,
    to_field,
    triangle_below,
    upward,
)
from taction.math.vector import add, add_scaled, dot, load3, load9, mat_t_vec, mat_vec, scale, sub

PEAK = 1e-9  # how far a grid point must stand out, relative to the cell
PEAK_FEATURE = np.int64(1 << 52)  # features of peaks
SAME = 1e-12  # difference of heights that counts as none, relative to the size of the shape
DESCENTS = 3  # times that the lowest point and the ground below it are asked for in turn


@kernel
def probe(colliders, placed, a, b, s, t, is_swapped, x, number, margin, contacts_io):
    """Meet field s with the point x (3) of the core of shape t, in its axes."""
    p, radius = to_field(placed, s, t, x), core_radius(colliders.kind[t], colliders, t)
    if radius > 0.0:
        round_probe(colliders, placed, a, b, s, is_swapped, p, radius, number, margin, contacts_io)
    else:
        sharp_probe(colliders, placed, a, b, s, is_swapped, p, number, margin, contacts_io)


@kernel
def probe_part(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io):
    """Step 2 for shape t."""
    R, F, kind = load9(placed, t, PLACED_AXES), load9(placed, s, PLACED_AXES), colliders.kind[t]
    d, x, y, z = (0.0, 0.0, -1.0), 0.0, 0.0, 0.0
    for _ in range(DESCENTS):
        c0, c1, c2 = triangle_below(colliders, s, to_field(placed, s, t, (x, y, z)))
        d = mat_t_vec(R, mat_vec(F, scale(-1.0, upward(c0, c1, c2))))
        x, y, z, _ = support(kind, colliders, t, d)
    count, most = np.int64(0), dot(d, (x, y, z)) - SAME * colliders.bound[t]
    if has_parts(kind):
        face, _, _ = facing_part(kind, colliders, t, d)
        count = set_part(kind, colliders, t, face, d, FIRST, BUFFER, ws)
    is_missing = True
    for k in range(BUFFER, BUFFER + count):
        corner, number = load3(ws, k, AT), 1 + int(ws[k, NUMBER])
        is_missing = is_missing and dot(d, corner) < most
        probe(colliders, placed, a, b, s, t, is_swapped, corner, number, margin, contacts_io)
    if is_missing:
        probe(colliders, placed, a, b, s, t, is_swapped, (x, y, z), LONE, margin, contacts_io)


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
def add_peaks(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Step 3 for shape t."""
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
            gap, n = height_over(colliders.kind[t], colliders, t, x)
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
    if meets_fields(kind):
        on_field(kind, colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    else:
        probe_part(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io)
    if feels_peaks(kind):
        add_peaks(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
