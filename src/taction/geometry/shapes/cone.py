"""Cone about z, its apex up. Size: radius r of the base, half height h.

The support point is the apex where 2h d_z > r ‖d_xy‖, and a point of the rim elsewhere; where both are equal
the whole line between them supports. Normals of the side make the angle β with the base, tan β = r/2h, and
the radius of curvature across a line falls from r/cos β at the rim to 0 at the apex. Half-space and terrain:
by the general way, with the rim of the base or a line of the side.

References: [Ericson2005, Section 3.9] for the support mapping.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import LOWER, PLACED_AXES, UPPER
from taction.geometry.rim import LOWER_CAP, set_line_ends, set_rim
from taction.geometry.scratch import TINY
from taction.math.vector import load3

KIND = int(ShapeKind.CONE)


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """Along axis k the farther of the apex, h R_k2, and the rim, −h R_k2 ± r √(R_k0² + R_k1²)."""
    for k in range(3):
        x, y, z = load3(placed, i, PLACED_AXES + 3 * k)
        apex, rim = colliders.size[i, 1] * z, colliders.size[i, 0] * math.sqrt(x * x + y * y)
        boxes_out[i, LOWER + k] = min(apex, -apex - rim)
        boxes_out[i, UPPER + k] = max(apex, -apex + rim)


@inline_kernel
def support(colliders, i, d):
    """A point of the rim, id 0, or the apex, id 1."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    if 2.0 * h * d[2] > r * rho:
        return 0.0, 0.0, h, 1.0
    s = r / rho if rho > TINY else 0.0
    return s * d[0], s * d[1], -h, 0.0


@inline_kernel
def curvature(colliders, i, d, p, q):
    """Radii of curvature: those of the rim; none at the apex."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    dd = d[0] * d[0] + d[1] * d[1]
    rho = math.sqrt(dd)
    s = r / (dd * rho) if dd > TINY and 2.0 * h * d[2] <= r * rho else 0.0
    u, v = d[0] * p[1] - d[1] * p[0], d[0] * q[1] - d[1] * q[0]
    return s * u * u, s * u * v, s * v * v


@inline_kernel
def side_line(colliders, i, d):
    """Line of the side that faces d: lower end, direction, length, radius of curvature at both ends."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = (r * d[0] / rho, r * d[1] / rho) if rho > TINY else (r, 0.0)
    length = math.sqrt(r * r + 4.0 * h * h)
    along = -x / length, -y / length, 2.0 * h / length
    return (x, y, -h), along, length, 0.5 * r * length / h, 0.0


@inline_kernel
def facing(colliders, i, d):
    """The base: (number, outward normal, cosine for unit d)."""
    return LOWER_CAP, (0.0, 0.0, -1.0), -d[2]


@inline_kernel
def is_over_face(colliders, i, face, p, slack):
    """Whether p is within the radius, up to slack."""
    r = colliders.size[i, 0]
    return p[0] * p[0] + p[1] * p[1] <= (r + slack) * (r + slack)


@inline_kernel
def set_part(colliders, i, face, d, side, row, ws):
    """Points of the rim; of the line on its side that faces d, rim first, where face is below 0."""
    r, h = colliders.size[i, 0], colliders.size[i, 1]
    if face < 0:
        lower = side_line(colliders, i, d)[0]
        return set_line_ends(lower, (0.0, 0.0, h), side, row, ws)
    return set_rim(r, h, face, d, side, row, ws)
