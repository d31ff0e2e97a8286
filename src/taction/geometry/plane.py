"""A half-space against every convex shape: which points of the shape are near or below the plane.

What it solves: the plane is the xy plane of its frame and the solid lies below it (z < 0). A point x of the
other shape has the height n·(x − p), with n the z axis of the plane and p its origin; every point listed here
is a contact with that height as its gap, the plane's normal, and a place half the gap below x. For a
half-space this is exact, apart or overlapping: nothing is approximated but the choice of the points.

Notation: c centre of the shape, u its z axis, h half length, r radius, k = n·u.

Which points
1. Sphere: the lowest point. Capsule: the lowest points of both half spheres. Box and hull: every corner.
   Those within the margin become contacts.
2. Ellipsoid with semi-axes D = diag(d): the support point c − R D² Rᵀ n / ‖D Rᵀ n‖, at the height
   n·(c − p) − ‖D Rᵀ n‖.
3. Cylinder: on each rim the lowest point, at the direction e = −(n − k u)/‖n − k u‖ from its centre, and on
   the lower rim also the points a quarter, a half and three quarters of a turn further. Lying on its side it
   thus rolls on two points that stay below the axis, a coin on its rim rolls on one, and a standing cylinder
   has four. Where it stands so straight (‖n − k u‖ ≤ `FLAT`) that e would be made of rounding errors, the x
   axis of the plane takes its place, so that the points of a cylinder at rest do not wander. Directions are
   computed in axes of the cylinder, where they stay across its axis however small the tilt.

The four points are fixed in the plane's frame, not in the cylinder's: contacts of a cylinder do not depend on
its rotation about its own axis, and a disc that spins on the spot has the same contacts in every step. Four
points span a square, inside the disc that supports in truth; but as soon as the cylinder starts to tip over a
side of the square, its tilt exceeds `FLAT` and the lowest point moves to where it tips. What is missed is a
sinking of (1 − 1/√2) r `FLAT`, 0.3 µm for a radius of 1 m.

Features: 0 for a sphere or ellipsoid; the end 0 (−z) or 1 (+z) of a capsule; a corner of a box, with bit i
set on the side of +i; 0–3 for the −z rim and 4–7 for the +z rim of a cylinder, counted from the lowest point;
the row of a hull's corner, counted from its first.

Cost: one dot product per point.

References: [Ericson2005, Section 5.2] for spheres and boxes.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import (
    add,
    add_scaled,
    column_z,
    dot,
    load3,
    load9,
    mat_t_vec,
    mat_vec,
    sub,
)

FLAT = 1e-6  # below this sine of the tilt, a cylinder stands straight
FIRST = np.int64(0)  # first column of sizes and corners
LONE = np.int64(0)  # feature of the only contact of a pair


@inline_kernel
def add_point(a, b, feature, is_swapped, x, n, height, contacts_io):
    """Contact of the point x at the given height above a plane with normal n."""
    add_contact(a, b, feature, is_swapped, add_scaled(x, -0.5 * height, n), n, height, contacts_io)


@kernel
def sphere_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of sphere s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    radius = colliders.size[s, 0]
    height = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - radius
    if height < margin:
        add_point(a, b, LONE, is_swapped, add_scaled(c, -radius, n), n, height, contacts_io)


@kernel
def capsule_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of both ends of capsule s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    u = column_z(load9(placed, s, PLACED_AXES))
    radius, half = colliders.size[s, 0], colliders.size[s, 1]
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - radius
    rise = half * dot(n, u)
    for end in range(2):
        w = 2.0 * end - 1.0
        height = middle + w * rise
        if height < margin:
            x = add_scaled(add_scaled(c, w * half, u), -radius, n)
            add_point(a, b, end, is_swapped, x, n, height, contacts_io)


@kernel
def box_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of the corners of box s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    h = load3(colliders.size, s, FIRST)
    e = mat_t_vec(R, n)
    rise = (h[0] * e[0], h[1] * e[1], h[2] * e[2])
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE)))
    if middle - abs(rise[0]) - abs(rise[1]) - abs(rise[2]) >= margin:
        return
    for corner in range(8):
        w0 = 1.0 if corner & 1 else -1.0
        w1 = 1.0 if corner & 2 else -1.0
        w2 = 1.0 if corner & 4 else -1.0
        height = middle + w0 * rise[0] + w1 * rise[1] + w2 * rise[2]
        if height < margin:
            x = add(c, mat_vec(R, (w0 * h[0], w1 * h[1], w2 * h[2])))
            add_point(a, b, corner, is_swapped, x, n, height, contacts_io)


@kernel
def rim_direction(n, x):
    """Direction (cosine, sine) of the lowest point of a rim about z, given the plane's normal and x axis."""
    tilt = math.sqrt(n[0] * n[0] + n[1] * n[1])
    if tilt > FLAT:
        return -n[0] / tilt, -n[1] / tilt
    length = math.sqrt(x[0] * x[0] + x[1] * x[1])
    return x[0] / length, x[1] / length


@kernel
def cylinder_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of the rims of cylinder s with half-space t; (a, b) is the same pair in stored order."""
    P = load9(placed, t, PLACED_AXES)
    n = column_z(P)
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    m = mat_t_vec(R, n)
    radius, half = colliders.size[s, 0], colliders.size[s, 1]
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE)))
    rise = half * m[2]
    if middle - abs(rise) - radius >= margin:
        return
    cosine, sine = rim_direction(m, mat_t_vec(R, (P[0], P[3], P[6])))
    lower = 0 if rise >= 0.0 else 1
    for rim in range(2):
        w = 2.0 * rim - 1.0
        x, y = radius * cosine, radius * sine
        for quarter in range(4 if rim == lower else 1):
            height = middle + w * rise + x * m[0] + y * m[1]
            if height < margin:
                p = add(c, mat_vec(R, (x, y, w * half)))
                add_point(a, b, 4 * rim + quarter, is_swapped, p, n, height, contacts_io)
            x, y = -y, x


@kernel
def ellipsoid_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of ellipsoid s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    d = load3(colliders.size, s, FIRST)
    e = mat_t_vec(R, n)
    e = (d[0] * e[0], d[1] * e[1], d[2] * e[2])
    reach = math.sqrt(dot(e, e))
    height = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - reach
    if height < margin:
        lowest = mat_vec(R, (d[0] * e[0] / reach, d[1] * e[1] / reach, d[2] * e[2] / reach))
        add_point(a, b, LONE, is_swapped, sub(c, lowest), n, height, contacts_io)


@kernel
def hull_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of the corners of hull s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    e = mat_t_vec(R, n)
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE)))
    if middle - colliders.bound[s] >= margin:
        return
    first = colliders.first[s]
    for i in range(colliders.count[s]):
        v = load3(colliders.vertices, first + i, FIRST)
        height = middle + dot(e, v)
        if height < margin:
            add_point(a, b, i, is_swapped, add(c, mat_vec(R, v)), n, height, contacts_io)
