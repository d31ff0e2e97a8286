"""A half-space against any convex shape: which points of the shape are near or below the plane.

What it solves: the plane is the xy plane of its frame and the solid lies below it (z < 0). A point x of the
other shape has the height n·(x − p), with n the z axis of the plane and p its origin; every point listed is a
contact with that height as its gap, the plane's normal, and a place half the gap below x. For a half-space
this is exact, apart or overlapping: nothing is approximated but the choice of the points.

Which points: the corners of the part that faces the plane (`set_part` of the shape: a face, a rim, a line),
as far as they are within the margin; and the lowest point, if none of them is as low, or if the shape has no
such parts. Shapes that bring contacts with a half-space of their own (`on_plane`) are not met here.

Features: 0 for the lowest point alone, 1 and up for corners by their numbers.

Cost: one support point, and one dot product per corner.

References: [Ericson2005, Section 5.2].
"""

from __future__ import annotations

import numpy as np

from taction._core.jit import kernel
from taction.geometry.colliders import LONE, PLACED_AXES, PLACED_CENTRE, add_on_plane
from taction.geometry.scratch import AT, BUFFER, FIRST, NUMBER
from taction.geometry.shapes.dispatch import core_radius, has_parts, set_part, support
from taction.geometry.support import facing_part
from taction.math.vector import add, add_scaled, column_z, dot, load3, load9, mat_t_vec, mat_vec, scale, sub

SAME = 1e-12  # difference of heights that counts as none, relative to the size of the shape


@kernel
def plane_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io):
    """Contacts of convex shape s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    R, c = load9(placed, s, PLACED_AXES), load3(placed, s, PLACED_CENTRE)
    d = scale(-1.0, mat_t_vec(R, n))
    kind = colliders.kind[s]
    radius = core_radius(kind, colliders, s)
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - radius
    x, y, z, _ = support(kind, colliders, s, d)
    lowest = middle - dot(d, (x, y, z))
    if lowest >= margin:
        return
    count, least = np.int64(0), lowest + SAME * colliders.bound[s]
    is_missing = True
    if has_parts(kind):
        face, _, _ = facing_part(kind, colliders, s, d)
        count = set_part(kind, colliders, s, face, d, FIRST, BUFFER, ws)
    for k in range(BUFFER, BUFFER + count):
        p = load3(ws, k, AT)
        height = middle - dot(d, p)
        is_missing = is_missing and height > least
        if height < margin:
            p = add_scaled(add(c, mat_vec(R, p)), -radius, n)
            add_on_plane(a, b, 1 + int(ws[k, NUMBER]), is_swapped, p, n, height, contacts_io)
    if is_missing:
        p = add_scaled(add(c, mat_vec(R, (x, y, z))), -radius, n)
        add_on_plane(a, b, LONE, is_swapped, p, n, lowest, contacts_io)
