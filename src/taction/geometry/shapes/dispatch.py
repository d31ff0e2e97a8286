"""The one place that knows all convex shapes: for each of their parts an if-chain over the kind.

Kinds are integers and not functions or classes, because only integers reach a cached kernel: see the
table of measurements in the documentation on adding a law. A new shape is a file beside this one, its place
in `SHAPES`, and a line in the chain of each part that it brings; what it leaves out has the answer at the end
of the chain. A test checks that every chain asks those that have the part, and no others.

References: [Bergen2003, Section 4.3] for shapes as support mappings.
"""

from __future__ import annotations

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.shapes import box, capsule, cone, cylinder, ellipsoid, hull, sphere
from taction.geometry.shapes.box import KIND as BOX
from taction.geometry.shapes.capsule import KIND as CAPSULE
from taction.geometry.shapes.cone import KIND as CONE
from taction.geometry.shapes.cylinder import KIND as CYLINDER
from taction.geometry.shapes.ellipsoid import KIND as ELLIPSOID
from taction.geometry.shapes.hull import KIND as HULL
from taction.geometry.shapes.sphere import KIND as SPHERE

SHAPES = (sphere, capsule, box, cylinder, ellipsoid, hull, cone)


def kinds_with(part: str) -> int:
    """Kinds of the shapes that bring a part, one bit each."""
    return sum(1 << shape.KIND for shape in SHAPES if hasattr(shape, part))


SMOOTH, ROUND, PARTED = kinds_with("curvature"), kinds_with("side_line"), kinds_with("set_part")
ON_PLANE, ON_FIELD, HEIGHT = kinds_with("on_plane"), kinds_with("on_field"), kinds_with("height_over")

# ----- what a shape brings --------------------------------------------------------------------------------


@inline_kernel
def is_smooth(kind):
    """Whether support points move smoothly with the direction, somewhere at least."""
    return (SMOOTH >> kind) & 1 == 1


@inline_kernel
def is_round(kind):
    """Whether flat faces are discs, about z, and the side between them has straight lines."""
    return (ROUND >> kind) & 1 == 1


@inline_kernel
def has_parts(kind):
    """Whether anything on the shape is flat or straight; otherwise it touches in one point."""
    return (PARTED >> kind) & 1 == 1


@inline_kernel
def meets_planes(kind):
    """Whether the shape has contacts with a half-space of its own."""
    return (ON_PLANE >> kind) & 1 == 1


@inline_kernel
def meets_fields(kind):
    """Whether the shape has probes against terrain of its own."""
    return (ON_FIELD >> kind) & 1 == 1


@inline_kernel
def feels_peaks(kind):
    """Whether the height of a point over the surface is known."""
    return (HEIGHT >> kind) & 1 == 1


# ----- parts of the shapes --------------------------------------------------------------------------------


@inline_kernel
def box_around(kind, colliders, placed, i, boxes_out):
    """Row i of boxes_out: the box around shape i along the world's axes, about its centre."""
    if kind == SPHERE:
        sphere.box_around(colliders, placed, i, boxes_out)
    elif kind == CAPSULE:
        capsule.box_around(colliders, placed, i, boxes_out)
    elif kind == BOX:
        box.box_around(colliders, placed, i, boxes_out)
    elif kind == CYLINDER:
        cylinder.box_around(colliders, placed, i, boxes_out)
    elif kind == ELLIPSOID:
        ellipsoid.box_around(colliders, placed, i, boxes_out)
    elif kind == HULL:
        hull.box_around(colliders, placed, i, boxes_out)
    elif kind == CONE:
        cone.box_around(colliders, placed, i, boxes_out)


@inline_kernel
def core_radius(kind, colliders, i):
    """Radius around the core of shape i [m]."""
    if kind == SPHERE:
        return sphere.core_radius(colliders, i)
    if kind == CAPSULE:
        return capsule.core_radius(colliders, i)
    return 0.0


@kernel
def support(kind, colliders, i, d):
    """Farthest point of the core of shape i along d, in its own axes, and its id: (x, y, z, id)."""
    if kind == HULL:
        return hull.support(colliders, i, d)
    if kind == BOX:
        return box.support(colliders, i, d)
    if kind == CYLINDER:
        return cylinder.support(colliders, i, d)
    if kind == ELLIPSOID:
        return ellipsoid.support(colliders, i, d)
    if kind == CAPSULE:
        return capsule.support(colliders, i, d)
    if kind == CONE:
        return cone.support(colliders, i, d)
    return sphere.support(colliders, i, d)


@kernel
def curvature(kind, colliders, i, d, p, q):
    """(pᵀ H p, pᵀ H q, qᵀ H q) of shape i in its own axes, for unit d and tangents p, q: radii [m]."""
    if kind == ELLIPSOID:
        return ellipsoid.curvature(colliders, i, d, p, q)
    if kind == CYLINDER:
        return cylinder.curvature(colliders, i, d, p, q)
    if kind == CONE:
        return cone.curvature(colliders, i, d, p, q)
    return 0.0, 0.0, 0.0


@inline_kernel
def side_line(kind, colliders, i, d):
    """Line of a round side that faces d: lower end, direction, length, radius of curvature at both ends."""
    if kind == CONE:
        return cone.side_line(colliders, i, d)
    return cylinder.side_line(colliders, i, d)


@kernel
def facing(kind, colliders, i, d):
    """Flat face of shape i that faces d most: (face, outward normal, cosine for unit d); −1 if none."""
    if kind == BOX:
        return box.facing(colliders, i, d)
    if kind == CYLINDER:
        return cylinder.facing(colliders, i, d)
    if kind == HULL:
        return hull.facing(colliders, i, d)
    if kind == CONE:
        return cone.facing(colliders, i, d)
    return np.int64(-1), (0.0, 0.0, 0.0), -2.0


@kernel
def is_over_face(kind, colliders, i, face, p, slack):
    """Whether a point lies within the prism over a face of shape i, in its own axes, up to slack [m]."""
    if kind == BOX:
        return box.is_over_face(colliders, i, face, p, slack)
    if kind == CYLINDER:
        return cylinder.is_over_face(colliders, i, face, p, slack)
    if kind == CONE:
        return cone.is_over_face(colliders, i, face, p, slack)
    return hull.is_over_face(colliders, i, face, p, slack)


@kernel
def set_part(kind, colliders, i, face, d, side, row, ws):
    """Corners of the part of shape i that faces d, counter-clockwise from outside; their number.

    face: as `facing` gives it, −1 for a line. Corners are written from a row of ws on, in the axes of the
    first shape of the pair.
    """
    if kind == BOX:
        return box.set_part(colliders, i, face, d, side, row, ws)
    if kind == HULL:
        return hull.set_part(colliders, i, face, d, side, row, ws)
    if kind == CYLINDER:
        return cylinder.set_part(colliders, i, face, d, side, row, ws)
    if kind == CONE:
        return cone.set_part(colliders, i, face, d, side, row, ws)
    return capsule.set_part(colliders, i, face, d, side, row, ws)


@kernel
def on_plane(kind, colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of shape s with the half-space t, if it has its own way."""
    if kind == SPHERE:
        sphere.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == CAPSULE:
        capsule.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == BOX:
        box.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == CYLINDER:
        cylinder.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == ELLIPSOID:
        ellipsoid.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == HULL:
        hull.on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)


@kernel
def on_field(kind, colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with shape t, if it has its own way."""
    if kind == SPHERE:
        sphere.on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == CAPSULE:
        capsule.on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == CYLINDER:
        cylinder.on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == BOX:
        box.on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)
    elif kind == HULL:
        hull.on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io)


@kernel
def height_over(kind, colliders, i, x):
    """Height of x (3) over the surface of shape i, in its axes, and the normal there."""
    if kind == BOX:
        return box.height_over(colliders, i, x)
    return hull.height_over(colliders, i, x)
