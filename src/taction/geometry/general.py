"""The narrow phase of pairs without a closed form: convex shapes in general, and ground.

A kernel of its own, compiled when the first such pair comes near: see `taction.geometry.detect`.

References: [GilbertJohnsonKeerthi1988] for the method behind `taction.geometry.convex`.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction._core.kinds import ShapeKind
from taction.geometry.convex import convex_convex
from taction.geometry.detect import approach, is_general
from taction.geometry.height_field import height_field_convex
from taction.geometry.match import sort_contacts
from taction.geometry.plane import plane_convex


@kernel
def general_pairs(colliders, placed, travel, pairs, count, ws, contacts_io):
    """Append the contacts of the general ones among the first count pairs, and put all in order."""
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        is_swapped = colliders.kind[a] < colliders.kind[b]
        s, t = (b, a) if is_swapped else (a, b)
        one, two = colliders.kind[s], colliders.kind[t]
        is_field, is_ground = one == ShapeKind.HEIGHT_FIELD, two == ShapeKind.PLANE
        if not is_general(one, two) or (is_field and (is_ground or two == ShapeKind.HEIGHT_FIELD)):
            continue  # ground does not touch ground
        margin = approach(travel, a, b)
        if is_field:
            height_field_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io)
        elif is_ground:
            plane_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io)
        else:
            convex_convex(colliders, placed, a, b, s, t, is_swapped, margin, ws, contacts_io)
    if contacts_io.count[0] <= contacts_io.gap.shape[0]:
        sort_contacts(contacts_io)
