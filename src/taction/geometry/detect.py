"""Contact detection of one world: place, bound, find pairs, and ask the code of each pair.

Method
1. place every shape; box it, enlarged by its reach;
2. broad phase: pairs whose boxes overlap and that may touch (`taction.geometry.broad_phase`);
3. narrow phase: by the kinds of the two shapes, the closed form where there is one (`collide`); pairs of
   other convex shapes and of terrain are *general* and have code of their own (`taction.geometry.general`),
   and so have half-spaces and shapes that bring no contacts with them;
4. contacts in the order of (pair, feature).

The reach of a shape is the distance that its fastest point covers in one and a half steps, and a tenth of a
millimetre: a contact that closes within a step is seen before, however fast. Velocities are those at the
start of the step or those that forces alone lead to, whichever carry it farther. Boxes are enlarged by it.
Contacts nearer than the sum of both reaches are kept, since an impact may stop one of two shapes that move
together. Where robots are near nothing but themselves, the motion of their first link counts for nothing: one
that falls freely would have all its links near each other.

General pairs and the broad phases for many shapes are kernels of their own, called by a step once they are
compiled (`taction.steppers.late_search`): most robots need neither, and would wait for that.

Cost: that of the broad phase, and tens to hundreds of nanoseconds per pair that is near.

References: [Ayit2015] for the two phases; [Ericson2005] for the closed forms.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.bounds import shape_bounds
from taction.geometry.box import box_box
from taction.geometry.box_capsule import box_capsule
from taction.geometry.colliders import place_shapes
from taction.geometry.round import (
    box_sphere,
    capsule_capsule,
    capsule_sphere,
    cylinder_sphere,
    sphere_sphere,
)
from taction.geometry.shapes.dispatch import meets_planes, on_plane
from taction.math.vector import add, add_scaled, cross, dot, load3, load9, mat_vec, scale, store3
from taction.model.workspace import AXES, OMEGA, SPEED

LEAST_REACH = 1e-4  # [m]
STEPS_AHEAD = 1.5

# Columns of how far a shape travels within a step
WAY = np.int64(0)  # 3: of its centre beside the first link of its robot [m]
BEYOND = np.int64(3)  # how much farther other points come, and `LEAST_REACH` [m]
TRAVEL_WIDTH = 4


@inline_kernel
def shape_reach(colliders, root, links, h, margin, is_more, travel_io, reach_io):
    """Distance that each shape can cover in a step of h into reach_io (n,) [m]; needs link velocities.

    root (m,): first link of the robot of each link, 0 for the world. travel_io (n, TRAVEL_WIDTH): the way of
    its centre beside that link, and how much farther the other points come [m]. margin: added to each [m].
    is_more: only where it is farther than what is there.
    """
    for i in range(colliders.kind.shape[0]):
        link = colliders.link[i]
        u, beside, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        if link != 0:
            w = load3(links, link, OMEGA)
            arm = mat_vec(load9(links, link, AXES), load3(colliders.centre, i, 0))
            u = scale(STEPS_AHEAD * h, add(load3(links, link, SPEED), cross(w, arm)))
            beside = add_scaled(u, -STEPS_AHEAD * h, load3(links, root[link], SPEED))
            turning = STEPS_AHEAD * h * math.sqrt(dot(w, w)) * colliders.bound[i]
        beyond = LEAST_REACH + turning + margin
        reach = beyond + math.sqrt(dot(u, u))
        if not is_more or reach > reach_io[i]:
            store3(beside, i, WAY, travel_io)
            travel_io[i, BEYOND], reach_io[i] = beyond, reach


@inline_kernel
def approach(travel, a, b):
    """How near shapes a and b must be to touch within the step [m]."""
    u, v = load3(travel, a, WAY), load3(travel, b, WAY)
    return travel[a, BEYOND] + travel[b, BEYOND] + math.sqrt(dot(u, u)) + math.sqrt(dot(v, v))


@kernel
def heed_impacts(link, root, pairs, count, reach, travel_io):
    """Take all that shapes move as towards each other, if one of the first count pairs is of two robots.

    link (n,): of each shape; root (m,): first link of the robot of each link, 0 for the world.
    """
    for k in range(count):
        if root[link[pairs[k, 0]]] != root[link[pairs[k, 1]]]:
            for i in range(link.shape[0]):
                store3((0.0, 0.0, 0.0), i, WAY, travel_io)
                travel_io[i, BEYOND] = reach[i]
            return


@kernel
def place_and_bound(colliders, links, reach, placed_out, boxes_out):
    """Step 1 for links placed."""
    place_shapes(colliders, links, placed_out)
    shape_bounds(colliders, placed_out, reach, boxes_out)


@inline_kernel
def is_general(one, two):
    """Whether a pair of kinds one ≥ two has no closed form here."""
    if two == ShapeKind.PLANE:
        return one != ShapeKind.PLANE and not meets_planes(one)
    if one <= ShapeKind.BOX:
        return False
    return not (one == ShapeKind.CYLINDER and two == ShapeKind.SPHERE)


@kernel
def collide(colliders, placed, a, b, margin, ws, contacts_io):
    """Append contacts of shapes a < b nearer than margin; returns 1, adding none, for a general pair."""
    is_swapped = colliders.kind[a] < colliders.kind[b]
    s, t = (b, a) if is_swapped else (a, b)
    one, two = colliders.kind[s], colliders.kind[t]
    if is_general(one, two):
        return 1
    if two == ShapeKind.PLANE:
        on_plane(one, colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif one == ShapeKind.SPHERE:
        sphere_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif one == ShapeKind.CYLINDER:
        cylinder_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif one == ShapeKind.CAPSULE and two == ShapeKind.SPHERE:
        capsule_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif one == ShapeKind.CAPSULE:
        capsule_capsule(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif two == ShapeKind.SPHERE:
        box_sphere(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif two == ShapeKind.CAPSULE:
        box_capsule(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    else:
        box_box(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io)
    return 0


@kernel
def narrow_phase(colliders, placed, travel, pairs, count, ws, contacts_io):
    """Contacts of the first count pairs that have a closed form; returns how many pairs have none."""
    contacts_io.count[0] = 0
    general = 0
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        general += collide(colliders, placed, a, b, approach(travel, a, b), ws, contacts_io)
    return general
