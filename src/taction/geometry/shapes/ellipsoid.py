"""Ellipsoid: size holds its semi-axes S.

The support function is h(d) = ‖S d‖, its point S² d/h, and its curvature (S² − y yᵀ/h²)/h with y = S² d.
Nothing on it is flat or straight. Half-space: the support point c − R S² Rᵀ n / ‖S Rᵀ n‖, at the height
n·(c − p) − ‖S Rᵀ n‖ over a plane through p. Terrain: the lowest point, by the general way.

References: [Ericson2005, Section 3.9].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import COLUMN, LONE, LOWER, PLACED_AXES, PLACED_CENTRE, UPPER, add_on_plane
from taction.geometry.scratch import TINY
from taction.math.vector import column_z, dot, load3, load9, mat_t_vec, mat_vec, sub

KIND = int(ShapeKind.ELLIPSOID)


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """√(Σ_j (R_kj s_j)²) along axis k."""
    s = load3(colliders.size, i, COLUMN)
    for k in range(3):
        x, y, z = load3(placed, i, PLACED_AXES + 3 * k)
        x, y, z = s[0] * x, s[1] * y, s[2] * z
        half = math.sqrt(x * x + y * y + z * z)
        boxes_out[i, LOWER + k], boxes_out[i, UPPER + k] = -half, half


@inline_kernel
def support(colliders, i, d):
    """S² d/h; id: 0."""
    x, y, z = load3(colliders.size, i, COLUMN)
    a, b, c = x * d[0], y * d[1], z * d[2]
    h = math.sqrt(a * a + b * b + c * c)
    s = 1.0 / h if h > TINY else 0.0
    return s * x * a, s * y * b, s * z * c, 0.0


@inline_kernel
def curvature(colliders, i, d, p, q):
    """Radii of curvature (pᵀ H p, pᵀ H q, qᵀ H q)."""
    x, y, z = load3(colliders.size, i, COLUMN)
    d = x * d[0], y * d[1], z * d[2]
    p = x * p[0], y * p[1], z * p[2]
    q = x * q[0], y * q[1], z * q[2]
    dd, u, v = dot(d, d), dot(d, p), dot(d, q)
    s = 1.0 / math.sqrt(dd)
    return s * (dot(p, p) - u * u / dd), s * (dot(p, q) - u * v / dd), s * (dot(q, q) - v * v / dd)


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of ellipsoid s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    d = load3(colliders.size, s, COLUMN)
    e = mat_t_vec(R, n)
    e = (d[0] * e[0], d[1] * e[1], d[2] * e[2])
    reach = math.sqrt(dot(e, e))
    height = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - reach
    if height < margin:
        lowest = mat_vec(R, (d[0] * e[0] / reach, d[1] * e[1] / reach, d[2] * e[2] / reach))
        add_on_plane(a, b, LONE, is_swapped, sub(c, lowest), n, height, contacts_io)
