"""The one place that knows all schemes: their names for users, their rules for kernels.

A new scheme is a file beside this one, a name in `SCHEMES` and a line in `contact_offset`. Kinds are integers
because only integers reach a cached kernel.

References: [Moreau1988] for velocities as unknowns.
"""

from __future__ import annotations

from taction._core.errors import BadInput
from taction._core.jit import inline_kernel
from taction._core.names import choose
from taction.contact.assembly import AHEAD, GAP, OFFSET, VELOCITY
from taction.steppers.schemes import (
    acceleration_level,
    anitescu_potra,
    half_flight,
    midpoint,
    moreau,
    stewart_trinkle,
)
from taction.steppers.schemes.acceleration_level import ACCELERATION, COLLISION
from taction.steppers.schemes.anitescu_potra import ANITESCU_POTRA
from taction.steppers.schemes.base import Scheme
from taction.steppers.schemes.moreau import MOREAU

SCHEMES = {
    scheme.name: scheme
    for scheme in (
        stewart_trinkle.SCHEME,
        half_flight.SCHEME,
        midpoint.SCHEME,
        moreau.PLAIN,
        moreau.CARRIED,
        moreau.PROJECTED,
        anitescu_potra.SCHEME,
        acceleration_level.SCHEME,
    )
}
DEFAULT = half_flight.SCHEME.name


def get_scheme(name: str) -> Scheme:
    """The scheme of that name."""
    if name not in SCHEMES:
        raise BadInput(f"stepper {name!r}: {choose(name, SCHEMES)}")
    return SCHEMES[name]


@inline_kernel
def contact_offset(rule, gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity [m/s].

    before and free: normal velocities at the start and without impulses; turning: normal acceleration that
    velocities cause [m/s²]; is_pressed: whether the contact carried load in the step before.
    """
    if rule == MOREAU:
        return moreau.offset(gap, h, restitution, before, free, turning, is_pressed)
    if rule == COLLISION:
        return acceleration_level.collision_offset(gap, h, restitution, before, free, turning, is_pressed)
    if rule == ANITESCU_POTRA:
        return anitescu_potra.offset(gap, h, restitution, before, free, turning, is_pressed)
    if rule == ACCELERATION:
        return acceleration_level.offset(gap, h, restitution, before, free, turning, is_pressed)
    return stewart_trinkle.offset(gap, h, restitution, before, free, turning, is_pressed)


@inline_kernel
def end_gap(options, blocks, k, c, is_one_sided):
    """Gap of row c of block k at the end of the step, to first order, and the velocity that leads there.

    Where flight is split they are those of the next midpoint, as laws ask for them; the law of a half-line
    asks for what an open gap has left. Where it is measured, velocities change halfway by what it changed.
    """
    gap, u = blocks.number[k, GAP + c], blocks.number[k, VELOCITY + c]
    if options.is_measured:
        change = blocks.number[k, AHEAD + c]
        return gap + (1.0 - options.ahead) * options.h * (u + 0.5 * change), u + change
    if options.is_split:
        u += blocks.number[k, OFFSET + c]
        return (min(gap, 0.0) if is_one_sided else gap) + options.h * u, u
    return gap + (1.0 - options.ahead) * options.h * u, u
