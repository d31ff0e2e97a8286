"""When a contact takes part in a step and which normal velocity it must reach: one rule per scheme.

A rule sees, for one contact, the gap g where the scheme looks, the normal velocities u⁻ at the start of the
step and u_f after the step without impulses, and the coefficient of restitution e. It answers whether the
contact takes part, and an offset o of Signorini's law

    0 ≤ u⁺ + o  ⊥  Λ ≥ 0.

| rule | looks at | takes part | offset |
|---|---|---|---|
| Moreau | q + ½ h v | g ≤ s, pressed contacts to g ≤ 2 s | e u⁻; where g > s: (g − s) / h |
| Stewart–Trinkle | q | always | g / h where g > s; where e > 0 and g + h u_f < 0: e u⁻ |
| Anitescu–Potra | q | g + h u_f ≤ s | e u⁻ |
| collision | q | g ≤ 0 | e u⁻ |
| acceleration | q | g ≤ 0 and u⁻ ≤ 0, both to rounding | −u⁻ + h a |

A gap up to s is closed. For most contacts s is a nanometre, which is rounding. For a *pressed* one, which
carried load in the step before, it is half a micrometre: positions move on arcs, and gaps with them to third
order in h. A resting contact that drifted open by a nanometre and took no part would fall by g h², be caught,
and rattle for ever; and where contacts are redundant, those nanometres would decide who carries the load.
Beyond s it may approach as fast as closes the rest, (g − s) / h.

The last two are the halves of the scheme on the level of accelerations
(`taction.steppers.acceleration_level`): a is the part of the normal acceleration that velocities cause, so
that u⁺ − u⁻ + h a ≥ 0 says that the gap must not accelerate shut.

Only approach bounces: u⁻ counts as zero where it leads apart. A gap that is already negative counts as zero
in an offset: pushing out is the matter of the position correction, which adds no kinetic energy
(`taction.steppers.impulse_step`). Joint limits follow the same rules with e = 0.

References: [Moreau1988]; [StewartTrinkle1996]; [AnitescuPotra1997]; [CorrectionsNote] and [Ayit2015, Section
4.2] for the split into collision and contact.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel

MOREAU, STEWART_TRINKLE, ANITESCU_POTRA, COLLISION, ACCELERATION = 0, 1, 2, 3, 4
# A gap this small is closed, and a violation this small is left alone [m or rad]: rounding must not open a
# contact at rest, nor the correction of its depth.
SLOP = 1e-9
PRESSED = 5e-7  # up to this a gap of a contact that carried load is closed [m]
RESTING = 1e-6  # normal velocity up to which a closed contact rests [m/s]


@inline_kernel
def contact_offset(rule, gap, h, restitution, before, free, turning, is_pressed):
    """(whether the contact takes part, offset of its normal velocity [m/s]).

    before and free: normal velocities at the start and without impulses; turning: normal acceleration that
    velocities cause [m/s²]; is_pressed: whether the contact carried load in the step before.
    """
    bounce = restitution * min(before, 0.0)
    closed = PRESSED if is_pressed else SLOP
    if rule == MOREAU:
        if gap > closed:
            return is_pressed and gap <= 2.0 * closed, (gap - closed) / h
        return True, bounce
    if rule == COLLISION:
        return gap <= SLOP, bounce
    if rule == ANITESCU_POTRA:
        return gap + h * free <= closed, bounce
    if rule == ACCELERATION:
        return gap <= SLOP and before <= RESTING, h * turning - before
    if bounce < 0.0 and gap + h * free < 0.0:
        return True, bounce
    if is_pressed:
        return True, max(gap - closed, 0.0) / h
    return True, gap / h if gap > SLOP else 0.0


@inline_kernel
def end_gap(rule, gap, h, u):
    """Gap at the end of a step of h in which the normal velocity became u, to first order."""
    return gap + (0.5 * h if rule == MOREAU else h) * u
