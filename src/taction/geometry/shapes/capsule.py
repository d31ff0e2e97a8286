"""Capsule: a segment along z with a radius around it. Size: radius, half length of the segment.

Half-space: the lowest points of both half spheres. Terrain: round probes along the axis, no farther apart
than half a cell. Its straight part is the segment; the ids and numbers of the ends are those of `support` and
of lines on a cylinder.

Features with a half-space: the end 0 (−z) or 1 (+z).

References: [Bergen2003, Section 4.3] for cores.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import LOWER, PLACED_AXES, PLACED_CENTRE, UPPER, add_on_plane
from taction.geometry.rim import set_line_ends
from taction.geometry.terrain import round_probe, to_field
from taction.math.vector import add_scaled, column_z, dot, load3, load9, sub

KIND = int(ShapeKind.CAPSULE)

MOST_PROBES = 16  # against terrain


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """L |R_k2| + r along axis k."""
    for k in range(3):
        z = placed[i, PLACED_AXES + 3 * k + 2]
        half = colliders.size[i, 1] * abs(z) + colliders.size[i, 0]
        boxes_out[i, LOWER + k], boxes_out[i, UPPER + k] = -half, half


@inline_kernel
def core_radius(colliders, i):
    """Its radius."""
    return colliders.size[i, 0]


@inline_kernel
def support(colliders, i, d):
    """An end of the segment; id: 0 (−z) or 1 (+z)."""
    h = colliders.size[i, 1]
    return 0.0, 0.0, h if d[2] >= 0.0 else -h, 1.0 if d[2] >= 0.0 else 0.0


@inline_kernel
def set_part(colliders, i, face, d, side, row, ws):
    """The segment."""
    h = colliders.size[i, 1]
    return set_line_ends((0.0, 0.0, -h), (0.0, 0.0, h), side, row, ws)


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
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
            add_on_plane(a, b, end, is_swapped, x, n, height, contacts_io)


@inline_kernel
def on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with capsule t."""
    radius, half = colliders.size[t, 0], colliders.size[t, 1]
    spacing = 0.5 * min(colliders.size[s, 0], colliders.size[s, 1])
    count = min(max(math.ceil(2.0 * half / spacing), 1), MOST_PROBES - 1)
    for k in range(count + 1):
        p = to_field(placed, s, t, (0.0, 0.0, half * (2.0 * k / count - 1.0)))
        round_probe(colliders, placed, a, b, s, is_swapped, p, radius, np.int64(k), margin, contacts_io)
