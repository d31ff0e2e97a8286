"""Sphere: a point with a radius around it. Size: radius.

Half-space: the lowest point. Terrain: one round probe. Nothing on it is flat or straight.

References: [Ericson2005, Section 5.2].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import LONE, LOWER, PLACED_AXES, PLACED_CENTRE, UPPER, add_on_plane
from taction.geometry.terrain import round_probe, to_field
from taction.math.vector import add_scaled, column_z, dot, load3, load9, sub

KIND = int(ShapeKind.SPHERE)


@inline_kernel
def box_around(colliders, placed, i, boxes_out):
    """The radius along every axis."""
    for k in range(3):
        half = colliders.size[i, 0]
        boxes_out[i, LOWER + k], boxes_out[i, UPPER + k] = -half, half


@inline_kernel
def core_radius(colliders, i):
    """Its radius."""
    return colliders.size[i, 0]


@inline_kernel
def support(colliders, i, d):
    """The centre, whatever d."""
    return 0.0, 0.0, 0.0, 0.0


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contact of sphere s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    radius = colliders.size[s, 0]
    height = dot(n, sub(c, load3(placed, t, PLACED_CENTRE))) - radius
    if height < margin:
        add_on_plane(a, b, LONE, is_swapped, add_scaled(c, -radius, n), n, height, contacts_io)


@inline_kernel
def on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with sphere t."""
    p = to_field(placed, s, t, (0.0, 0.0, 0.0))
    round_probe(colliders, placed, a, b, s, is_swapped, p, colliders.size[t, 0], LONE, margin, contacts_io)
