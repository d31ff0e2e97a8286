"""Spheres and capsules against each other, and a sphere against a box or a cylinder.

What it solves: pairs in which at least one shape is a thin set (a centre, an axis) thickened by a radius. The
gap is the distance of what is left without the radii, minus the radii; the normal is the direction of that
distance. Both are exact, apart or overlapping: the difference of two thin sets has no inside, and inside a
box or a cylinder the nearest face is the shortest way out.

Notation: s first shape, t second; n from t to s.

Method
1. Two centres: n = (c_s − c_t)/‖c_s − c_t‖. Where they coincide, a fixed direction is taken: the world's z
   axis for two spheres, the x axis of the capsule or of the cylinder, the common perpendicular of crossing
   capsules.
2. A capsule and a sphere: the nearest point of the axis is a centre.
3. Two capsules: the nearest points of the axes are two centres. If the axes are nearly parallel (within
   `NEAR_PARALLEL`, or within what they can turn while one end closes the margin) and run side by side, one
   point cannot hold them: the two ends of the common part, each with its foot on the other axis, become
   contacts instead. The nearest points themselves are then added only where they are nearer than both ends,
   i.e. where nearly parallel axes cross.
4. A sphere and a box or cylinder: the signed distance of its centre.

Features: 0 and 1 the lower and upper end of the common part of two capsules along the first, 2 their nearest
points; 0 for all others.

Cost: one square root per contact; two capsules at most nine point-segment distances.

References: [Ericson2005, Sections 5.1.2, 5.1.3 and 5.1.9].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.closest import box_distance, clamp, cylinder_distance, segment_segment
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import (
    add_scaled,
    column_z,
    cross,
    dot,
    load3,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    sub,
)

NEAR_PARALLEL = 0.1  # sine of the angle below which two capsules may have two contacts
CROSSING = 0.5  # sine beyond which they have one, however fast they turn
COINCIDE = 1e-12  # centres nearer than this part of the radii have no direction of their own
CLOSER = 1e-12  # part of the sizes by which crossing axes must be nearer than the ends of the common part
FIRST = np.int64(0)  # first column of sizes
LONE = np.int64(0)  # feature of the only contact of a pair
LOW_END, HIGH_END = np.int64(0), np.int64(1)  # features of the ends of the common part of two capsules
NEAREST = np.int64(2)  # feature of the nearest points of two capsules


@inline_kernel
def add_spheres(a, b, feature, is_swapped, x, rx, y, ry, spare, margin, contacts_io):
    """Contact of a sphere at x with one at y, if within the margin; the normal is `spare` if x = y."""
    d = sub(x, y)
    distance = math.sqrt(dot(d, d))
    gap = distance - (rx + ry)
    if gap < margin:
        n = spare
        if distance > COINCIDE * (rx + ry):
            n = (d[0] / distance, d[1] / distance, d[2] / distance)
        add_contact(a, b, feature, is_swapped, add_scaled(y, ry + 0.5 * gap, n), n, gap, contacts_io)


@kernel
def sphere_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of spheres s and t; (a, b) is the same pair in stored order."""
    x, y = load3(placed, s, PLACED_CENTRE), load3(placed, t, PLACED_CENTRE)
    rx, ry = colliders.size[s, 0], colliders.size[t, 0]
    add_spheres(a, b, LONE, is_swapped, x, rx, y, ry, (0.0, 0.0, 1.0), margin, contacts_io)


@kernel
def capsule_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of capsule s with sphere t; (a, b) is the same pair in stored order."""
    c, y = load3(placed, s, PLACED_CENTRE), load3(placed, t, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    u = column_z(R)
    x = add_scaled(c, clamp(dot(sub(y, c), u), colliders.size[s, 1]), u)
    rx, ry = colliders.size[s, 0], colliders.size[t, 0]
    add_spheres(a, b, LONE, is_swapped, x, rx, y, ry, (R[0], R[3], R[6]), margin, contacts_io)


@inline_kernel
def perpendicular(R1, u1, u2, d):
    """Unit vector across axes u1 and u2, on the side of d; the x axis of frame R1 if they are parallel."""
    n = cross(u1, u2)
    length = math.sqrt(dot(n, n))
    if length <= COINCIDE:
        return R1[0], R1[3], R1[6]
    return scale((1.0 if dot(n, d) >= 0.0 else -1.0) / length, n)


@inline_kernel
def end_pair(side, is_first, c1, u1, h1, c2, u2, h2):
    """Points of both axes at one end (side −1 or 1 along u1) of their common part, where one of them ends."""
    if is_first:
        x = add_scaled(c1, side * h1, u1)
        return x, add_scaled(c2, clamp(dot(sub(x, c2), u2), h2), u2)
    y = add_scaled(c2, side * h2 if dot(u1, u2) >= 0.0 else -side * h2, u2)
    return add_scaled(c1, clamp(dot(sub(y, c1), u1), h1), u1), y


@kernel
def capsule_capsule(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of capsules s and t; (a, b) is the same pair in stored order."""
    c1, c2 = load3(placed, s, PLACED_CENTRE), load3(placed, t, PLACED_CENTRE)
    R1 = load9(placed, s, PLACED_AXES)
    u1, u2 = column_z(R1), column_z(load9(placed, t, PLACED_AXES))
    r1, h1, r2, h2 = colliders.size[s, 0], colliders.size[s, 1], colliders.size[t, 0], colliders.size[t, 1]
    d = sub(c1, c2)
    w1, w2 = segment_segment(c1, u1, h1, c2, u2, h2)
    x, y = add_scaled(c1, w1, u1), add_scaled(c2, w2, u2)
    e = sub(x, y)
    nearest = math.sqrt(dot(e, e))
    if nearest - (r1 + r2) >= margin:
        return
    spare = perpendicular(R1, u1, u2, d)
    across = cross(u1, u2)
    middle, reach = -dot(d, u1), h2 * abs(dot(u1, u2))
    low, high = max(-h1, middle - reach), min(h1, middle + reach)
    sine = math.sqrt(dot(across, across))
    swing = margin if margin < h1 + h2 else 0.0  # what is looked at from farther away turns right round
    may_align = (sine - NEAR_PARALLEL) * (h1 + h2) < swing and sine < CROSSING
    if (may_align or sine < NEAR_PARALLEL) and low < high:
        x0, y0 = end_pair(-1.0, low == -h1, c1, u1, h1, c2, u2, h2)
        x1, y1 = end_pair(1.0, high == h1, c1, u1, h1, c2, u2, h2)
        add_spheres(a, b, LOW_END, is_swapped, x0, r1, y0, r2, spare, margin, contacts_io)
        add_spheres(a, b, HIGH_END, is_swapped, x1, r1, y1, r2, spare, margin, contacts_io)
        e0, e1 = sub(x0, y0), sub(x1, y1)
        ends = math.sqrt(min(dot(e0, e0), dot(e1, e1)))
        if nearest >= ends - CLOSER * (r1 + h1 + r2 + h2):
            return
    add_spheres(a, b, NEAREST, is_swapped, x, r1, y, r2, spare, margin, contacts_io)


@kernel
def box_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of box s with sphere t; (a, b) is the same pair in stored order."""
    R = load9(placed, s, PLACED_AXES)
    y = load3(placed, t, PLACED_CENTRE)
    radius = colliders.size[t, 0]
    x = mat_t_vec(R, sub(y, load3(placed, s, PLACED_CENTRE)))
    distance, out = box_distance(x, load3(colliders.size, s, FIRST))
    add_sphere(a, b, is_swapped, R, y, radius, distance, out, margin, contacts_io)


@kernel
def cylinder_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of cylinder s with sphere t; (a, b) is the same pair in stored order."""
    R = load9(placed, s, PLACED_AXES)
    y = load3(placed, t, PLACED_CENTRE)
    radius = colliders.size[t, 0]
    x = mat_t_vec(R, sub(y, load3(placed, s, PLACED_CENTRE)))
    distance, out = cylinder_distance(x, colliders.size[s, 0], colliders.size[s, 1])
    add_sphere(a, b, is_swapped, R, y, radius, distance, out, margin, contacts_io)


@inline_kernel
def add_sphere(a, b, is_swapped, R, y, radius, distance, out, margin, contacts_io):
    """Contact of a sphere at y whose centre is at a distance of a shape with axes R, in direction out."""
    gap = distance - radius
    if gap < margin:
        n = scale(-1.0, mat_vec(R, out))
        add_contact(a, b, LONE, is_swapped, add_scaled(y, radius + 0.5 * gap, n), n, gap, contacts_io)
