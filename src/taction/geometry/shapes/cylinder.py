"""Cylinder along z. Size: radius, half length.

Its faces are the caps, discs within their rims; straight lines lie on its side, parallel to the axis. The
curvature of the support function is the radius over ‖d_xy‖ across the axis, and nothing along it.

Half-space: on each rim the lowest point, at the direction e = −(n − k u)/‖n − k u‖ from its centre, for n the
normal of the plane, u the axis and k = n·u, and on the lower rim also the points a quarter, a half and three
quarters of a turn further. Lying on its side it thus rolls on two points that stay below the axis, a coin on
its rim rolls on one, and a standing cylinder has four. Where it stands so straight (‖n − k u‖ ≤ `FLAT`) that
e would be made of rounding errors, the x axis of the plane takes its place, so that the points of a cylinder
at rest do not wander. Directions are computed in axes of the cylinder, where they stay across its axis
however small the tilt.

The four points are fixed in the plane's frame, not in the cylinder's: contacts of a cylinder do not depend on
its rotation about its own axis, and a disc that spins on the spot has the same contacts in every step. Four
points span a square, inside the disc that supports in truth; but as soon as the cylinder starts to tip over a
side of the square, its tilt exceeds `FLAT` and the lowest point moves to where it tips. What is missed is a
sinking of (1 − 1/√2) r `FLAT`, 0.3 µm for a radius of 1 m. Features: 0–3 for the −z rim and 4–7 for the +z
rim, counted from the lowest point.

Terrain: eight sharp probes on each rim.

References: [Ericson2005, Section 3.9] for the support mapping.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import LOWER, PLACED_AXES, PLACED_CENTRE, UPPER, add_on_plane
from taction.geometry.rim import LOWER_CAP, UPPER_CAP, set_line_ends, set_rim
from taction.geometry.scratch import TINY
from taction.geometry.terrain import sharp_probe, to_field
from taction.math.vector import add, column_z, dot, load3, load9, mat_t_vec, mat_vec, sub

KIND = int(ShapeKind.CYLINDER)

FLAT = 1e-6  # below this sine of the tilt, a cylinder stands straight on a plane
RIM = 8  # probes against terrain on each rim


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """L |R_k2| + r √(R_k0² + R_k1²) along axis k."""
    r, l = colliders.size[i, 0], colliders.size[i, 1]
    for k in range(3):
        x, y, z = load3(placed, i, PLACED_AXES + 3 * k)
        half = l * abs(z) + r * math.sqrt(x * x + y * y)
        boxes_out[i, LOWER + k], boxes_out[i, UPPER + k] = -half, half


@inline_kernel
def support(colliders, i, d):
    """A point of a rim; id: 0 (−z) or 1 (+z)."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    s = r / rho if rho > TINY else 0.0
    return s * d[0], s * d[1], h if d[2] >= 0.0 else -h, 1.0 if d[2] >= 0.0 else 0.0


@inline_kernel
def curvature(colliders, i, d, p, q):
    """Radii of curvature: across the axis only."""
    dd = d[0] * d[0] + d[1] * d[1]
    s = colliders.size[i, 0] / (dd * math.sqrt(dd)) if dd > TINY else 0.0
    u, v = d[0] * p[1] - d[1] * p[0], d[0] * q[1] - d[1] * q[0]
    return s * u * u, s * u * v, s * v * v


@inline_kernel
def side_line(colliders, i, d):
    """Line of the side that faces d: lower end, direction, length, radius of curvature at both ends."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    s = r / rho if rho > TINY else 0.0
    return (s * d[0], s * d[1], -h), (0.0, 0.0, 1.0), 2.0 * h, r, r


@inline_kernel
def facing(colliders, i, d):
    """The cap nearest to d: (number, outward normal, cosine for unit d)."""
    up = math.copysign(1.0, d[2])
    return UPPER_CAP if up > 0.0 else LOWER_CAP, (0.0, 0.0, up), abs(d[2])


@inline_kernel
def is_over_face(colliders, i, face, p, slack):
    """Whether p is within the radius, up to slack."""
    r = colliders.size[i, 0]
    return p[0] * p[0] + p[1] * p[1] <= (r + slack) * (r + slack)


@inline_kernel
def set_part(colliders, i, face, d, side, row, ws):
    """Points of the rim of a cap; of the line on its side that faces d where face is below 0."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    if face < 0:
        angle = math.atan2(d[1], d[0])
        x, y = r * math.cos(angle), r * math.sin(angle)
        return set_line_ends((x, y, -h), (x, y, h), side, row, ws)
    return set_rim(r, h, face, d, side, row, ws)


@kernel
def rim_direction(n, x):
    """Direction (cosine, sine) of the lowest point of a rim about z, given the plane's normal and x axis."""
    tilt = math.sqrt(n[0] * n[0] + n[1] * n[1])
    if tilt > FLAT:
        return -n[0] / tilt, -n[1] / tilt
    length = math.sqrt(x[0] * x[0] + x[1] * x[1])
    return x[0] / length, x[1] / length


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
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
                add_on_plane(a, b, 4 * rim + quarter, is_swapped, p, n, height, contacts_io)
            x, y = -y, x


@inline_kernel
def on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with the two rims of cylinder t."""
    radius, half = colliders.size[t, 0], colliders.size[t, 1]
    for end in range(2):
        for k in range(RIM):
            angle = 2.0 * math.pi * k / RIM
            x = (radius * math.cos(angle), radius * math.sin(angle), half * (2.0 * end - 1.0))
            p = to_field(placed, s, t, x)
            feature = np.int64(end * RIM + k)
            sharp_probe(colliders, placed, a, b, s, is_swapped, p, feature, margin, contacts_io)
