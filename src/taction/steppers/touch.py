"""Where two shapes will touch: on each one's own surface; for balls that bounce, at the instant they do.

A contact is found before its gap is closed, up to a step away. Forces act on each body's own surface, half
the gap to either side of the point midway. The normal of two balls that fly past each other turns meanwhile,
and an impact along the normal of too early would be wrong to first order in h. So where they bounce and
would touch within the step, the instant τ is that of

    ‖d + τ w‖ = r₁ + r₂,     d, w relative position and velocity of the centres,

the normal is that of d + τ w, and impulses act at −r₁ n and r₂ n. The gap that a scheme's rule sees is
−τ n·w, which closes at τ by the velocity at the impact.

Schemes that measure what flight changes look where bodies have flown on, and may overlap by the way of half a
step. Of two bodies that both move forces then act on one point, midway: on points apart they would have a
moment, and change the moment of momentum.

Limits: other shapes bounce along the normal at which they were found.

References: [Ericson2005, Section 5.5.5] for the instant at which moving balls touch.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.geometry.colliders import PLACED_CENTRE
from taction.geometry.shapes.dispatch import core_radius
from taction.math.vector import add_scaled, dot, load3, scale, sub
from taction.steppers.contact_path import point_velocity
from taction.steppers.schemes.base import SLOP


@inline_kernel
def ball_radius(colliders, i):
    """Radius of shape i if it is a ball: round as far as it reaches; else zero."""
    r = core_radius(colliders.kind[i], colliders, i)
    return r if r == colliders.bound[i] else 0.0


@inline_kernel
def own_points(contacts, i, is_shared):
    """Normal (3) of contact i, its points on the first and on the second surface (3 each), and its gap.

    is_shared: both points are the one midway.
    """
    x, n, gap = load3(contacts.point, i, 0), load3(contacts.normal, i, 0), contacts.gap[i]
    if is_shared:
        return n, x, x, gap
    return n, add_scaled(x, 0.5 * gap, n), add_scaled(x, -0.5 * gap, n), gap


@kernel
def touch_points(colliders, placed, h, restitution, contacts, i, is_shared, ws):
    """The same of contact i, at the instant of touch for balls that bounce; velocities of the links in ws."""
    a, b = contacts.shape[i, 0], contacts.shape[i, 1]
    if restitution == 0.0 or contacts.gap[i] <= SLOP:
        return own_points(contacts, i, is_shared)
    r1, r2 = ball_radius(colliders, a), ball_radius(colliders, b)
    if r1 == 0.0 or r2 == 0.0:
        return own_points(contacts, i, is_shared)
    c1, c2 = load3(placed, a, PLACED_CENTRE), load3(placed, b, PLACED_CENTRE)
    d = sub(c1, c2)
    w = sub(point_velocity(colliders.link[a], c1, ws), point_velocity(colliders.link[b], c2, ws))
    closing, speed, beyond = -dot(d, w), dot(w, w), dot(d, d) - (r1 + r2) * (r1 + r2)
    root = closing * closing - speed * beyond
    if closing <= 0.0 or root < 0.0:
        return own_points(contacts, i, is_shared)
    t = beyond / (closing + math.sqrt(root))
    if t > h:
        return own_points(contacts, i, is_shared)
    d = add_scaled(d, t, w)
    n = scale(1.0 / math.sqrt(dot(d, d)), d)
    return n, add_scaled(c1, -r1, n), add_scaled(c2, r2, n), -t * dot(n, w)
