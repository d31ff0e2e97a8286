"""When a contact takes part in a step and which normal velocity it must reach: one rule per scheme.

A rule sees, for one contact, the gap g where the scheme looks, the normal velocities u⁻ at the start of the
step and u_f after the step without impulses, and the coefficient of restitution e. It answers whether the
contact takes part, and an offset o of Signorini's law

    0 ≤ u⁺ + o  ⊥  Λ ≥ 0.

| rule | looks at | takes part | offset |
|---|---|---|---|
| Moreau | q + ½ h v | g ≤ 0 (to a nanometre) | e u⁻ |
| Stewart–Trinkle | q | always | g / h above a nanometre; where e > 0 and g + h u_f < 0: e u⁻ |
| Anitescu–Potra | q | g + h u_f ≤ 0 | e u⁻ |
| collision | q | g ≤ 0 | e u⁻ |
| acceleration | q | g ≤ 0 and u⁻ ≤ 0, both to rounding | −u⁻ + h a |

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
# A gap this small is closed, and a violation this small is left alone [m]: rounding must not open a contact
# at rest, nor the correction of its depth.
SLOP = 1e-9
RESTING = 1e-6  # normal velocity up to which a closed contact rests [m/s]


@inline_kernel
def contact_offset(rule, gap, h, restitution, before, free, turning):
    """(whether the contact takes part, offset of its normal velocity [m/s]).

    before and free: normal velocities at the start and without impulses; turning: normal acceleration that
    velocities cause [m/s²].
    """
    bounce = restitution * min(before, 0.0)
    if rule == MOREAU or rule == COLLISION:
        return gap <= SLOP, bounce
    if rule == ANITESCU_POTRA:
        return gap + h * free <= SLOP, bounce
    if rule == ACCELERATION:
        return gap <= SLOP and before <= RESTING, h * turning - before
    if bounce < 0.0 and gap + h * free < 0.0:
        return True, bounce
    return True, gap / h if gap > SLOP else 0.0


@inline_kernel
def end_gap(rule, gap, h, u):
    """Gap at the end of a step of h in which the normal velocity became u, to first order."""
    return gap + (0.5 * h if rule == MOREAU else h) * u
