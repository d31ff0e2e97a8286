"""Contact detection of one world: place, bound, find pairs, and ask the code of each pair.

Method
1. place every shape; box it, enlarged by its reach;
2. broad phase: pairs whose boxes overlap and that may touch (`taction.geometry.broad_phase`);
3. narrow phase: by the kinds of the two shapes, the closed form where there is one, the general convex method
   otherwise; contacts nearer than the sum of the reaches are kept;
4. contacts sorted by (pair, feature), which they are already unless a pair's code is careless.

The reach of a shape is the distance that its fastest point covers in one and a half steps, and a tenth of a
millimetre: a contact that closes within a step is seen before, however fast.

Cost: that of the broad phase, and tens to hundreds of nanoseconds per pair that is near.

References: [Ayit2015, Section 4.5] for the two phases.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction._core.kinds import ShapeKind
from taction.geometry.bounds import shape_bounds
from taction.geometry.broad_phase import find_pairs
from taction.geometry.colliders import place_shapes
from taction.geometry.plane import sphere_plane
from taction.math.vector import add, cross, dot, load3, load9, mat_vec
from taction.model.workspace import AXES, OMEGA, SPEED

FOUND, TOO_MANY_PAIRS, TOO_MANY_CONTACTS = 0, 1, 2
NARROW_SHAPE = (256, 8)  # scratch of the narrow phase
LEAST_REACH = 1e-4  # [m]
STEPS_AHEAD = 1.5


@kernel
def shape_reach(colliders, links, h, reach_out):
    """Distance that each shape can cover within a step of h into reach_out (n,) [m]; needs link velocities."""
    for i in range(colliders.kind.shape[0]):
        link = colliders.link[i]
        reach_out[i] = LEAST_REACH
        if link == 0:
            continue
        w = load3(links, link, OMEGA)
        arm = mat_vec(load9(links, link, AXES), load3(colliders.centre, i, 0))
        u = add(load3(links, link, SPEED), cross(w, arm))
        speed = math.sqrt(dot(u, u)) + math.sqrt(dot(w, w)) * colliders.bound[i]
        reach_out[i] += STEPS_AHEAD * h * speed


@kernel
def collide(colliders, placed, a, b, margin, ws, contacts_io):
    """Contacts of shapes a < b nearer than margin, appended to contacts_io."""
    is_swapped = colliders.kind[a] < colliders.kind[b]
    s, t = (b, a) if is_swapped else (a, b)
    one, two = colliders.kind[s], colliders.kind[t]
    if two == ShapeKind.PLANE:
        if one == ShapeKind.SPHERE:
            sphere_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)


@kernel
def detect_contacts(colliders, filter, method, reach, links, placed_out, boxes_out, pairs_io, broad_io, ws, contacts_io):
    """Steps 1 to 4 for links placed; returns FOUND, TOO_MANY_PAIRS or TOO_MANY_CONTACTS for the buffers."""
    place_shapes(colliders, links, placed_out)
    shape_bounds(colliders, placed_out, reach, boxes_out)
    count = find_pairs(method, filter, boxes_out, broad_io, pairs_io)
    contacts_io.count[0] = 0
    if count > pairs_io.shape[0]:
        contacts_io.count[0] = count
        return TOO_MANY_PAIRS
    for k in range(count):
        a, b = pairs_io[k, 0], pairs_io[k, 1]
        collide(colliders, placed_out, a, b, reach[a] + reach[b], ws, contacts_io)
    if contacts_io.count[0] > contacts_io.gap.shape[0]:
        return TOO_MANY_CONTACTS
    return FOUND
