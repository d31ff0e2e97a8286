"""Box: size holds its half extents.

Corners have bit i of their number set on the side of +i; faces are numbered −x, +x, −y, +y, −z, +z.
Half-space: every corner. Terrain: every corner is a sharp probe, and peaks are met by the faces.

References: [Ericson2005, Sections 4.4.2 and 5.2].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import COLUMN, LOWER, PLACED_AXES, PLACED_CENTRE, UPPER, add_on_plane
from taction.geometry.scratch import set_corner
from taction.geometry.terrain import sharp_probe, to_field
from taction.math.vector import add, column_z, dot, load3, load9, mat_t_vec, mat_vec, sub

KIND = int(ShapeKind.BOX)


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """Σ_j |R_kj| s_j along axis k."""
    s = load3(colliders.size, i, COLUMN)
    for k in range(3):
        x, y, z = load3(placed, i, PLACED_AXES + 3 * k)
        half = s[0] * abs(x) + s[1] * abs(y) + s[2] * abs(z)
        boxes_out[i, LOWER + k], boxes_out[i, UPPER + k] = -half, half


@inline_kernel
def support(colliders, i, d):
    """A corner; id: its number."""
    x, y, z = load3(colliders.size, i, COLUMN)
    is_x, is_y, is_z = d[0] >= 0.0, d[1] >= 0.0, d[2] >= 0.0
    id_ = (1.0 if is_x else 0.0) + (2.0 if is_y else 0.0) + (4.0 if is_z else 0.0)
    return x if is_x else -x, y if is_y else -y, z if is_z else -z, id_


@inline_kernel
def facing(colliders, i, d):
    """The face nearest to d: (number, outward normal, cosine for unit d)."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if x > y and x > z:
        at, best, m = np.int64(0), x, (math.copysign(1.0, d[0]), 0.0, 0.0)
    elif y > z:
        at, best, m = np.int64(2), y, (0.0, math.copysign(1.0, d[1]), 0.0)
    else:
        at, best, m = np.int64(4), z, (0.0, 0.0, math.copysign(1.0, d[2]))
    if m[0] + m[1] + m[2] > 0.0:
        at += 1
    return at, m, best


@inline_kernel
def is_over_face(colliders, i, face, p, slack):
    """Whether p is within the four sides around the face, up to slack."""
    x, y, z = load3(colliders.size, i, COLUMN)
    is_x, is_y, is_z = abs(p[0]) <= x + slack, abs(p[1]) <= y + slack, abs(p[2]) <= z + slack
    return (is_x or face < 2) and (is_y or face == 2 or face == 3) and (is_z or face > 3)


@inline_kernel
def set_part(colliders, i, face, d, side, row, ws):
    """Corners of a face."""
    x, y, z = load3(colliders.size, i, COLUMN)
    out = 1.0 if face % 2 == 1 else -1.0
    for k in range(4):
        u = 1.0 if k == 1 or k == 2 else -1.0
        v = out if k >= 2 else -out
        e, f, g = out, u, v
        if face >= 4:
            e, f, g = u, v, out
        elif face >= 2:
            e, f, g = v, out, u
        number = (1.0 if e > 0.0 else 0.0) + (2.0 if f > 0.0 else 0.0) + (4.0 if g > 0.0 else 0.0)
        set_corner((e * x, f * y, g * z), number, k, side, row, ws)
    return np.int64(4)


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of the corners of box s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    h = load3(colliders.size, s, COLUMN)
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
            add_on_plane(a, b, corner, is_swapped, x, n, height, contacts_io)


@inline_kernel
def on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with the corners of box t."""
    h = load3(colliders.size, t, COLUMN)
    for k in range(8):
        x = (h[0] * (2.0 * (k & 1) - 1.0), h[1] * (1.0 * (k & 2) - 1.0), h[2] * (0.5 * (k & 4) - 1.0))
        p = to_field(placed, s, t, x)
        sharp_probe(colliders, placed, a, b, s, is_swapped, p, np.int64(k), margin, contacts_io)


@inline_kernel
def height_over(colliders, i, x):
    """Largest height of x (3) over the faces, and the normal of that face."""
    most, normal = -math.inf, (0.0, 0.0, 1.0)
    for k in range(6):
        side = 1.0 - 2.0 * (k % 2)
        axis = k // 2
        n = (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)
        height = dot(n, x) - colliders.size[i, axis]
        if height > most:
            most, normal = height, n
    return most, normal
