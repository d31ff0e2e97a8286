"""When a contact takes part in a step, and which normal velocity it must reach: one rule per time-stepping scheme.

A rule sees, for one contact, the gap g where the scheme looks, the normal velocities u⁻ at the start of the
step and u_f after the step without impulses, and the coefficient of restitution e. It answers whether the
contact takes part, and an offset o of Signorini's law

    0 ≤ u⁺ + o  ⊥  Λ ≥ 0.

| rule | looks at | takes part | offset |
|---|---|---|---|
| Moreau | q + ½ h v | g ≤ 0 (to a nanometre) | e u⁻ |
| Stewart–Trinkle | q | always | g / h; where e > 0 and g + h u_f < 0: e u⁻ |
| Anitescu–Potra | q | g + h u_f ≤ 0 | e u⁻ |

Only approach bounces: u⁻ counts as zero where it leads apart. A gap that is already negative counts as zero in
an offset: pushing out is the matter of the position correction, which adds no kinetic energy
(`taction.steppers.impulse_step`). Joint limits follow the same rules with e = 0.

References: [Moreau1988]; [StewartTrinkle1996]; [AnitescuPotra1997]; [SunReport] for the switch of the last.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel

MOREAU, STEWART_TRINKLE, ANITESCU_POTRA = 0, 1, 2
# A gap this small is closed, and a violation this small is left alone [m]: rounding must not open a contact at
# rest, nor the correction of its depth.
SLOP = 1e-9


@inline_kernel
def contact_offset(rule, gap, h, restitution, before, free):
    """(whether the contact takes part, offset of its normal velocity [m/s])."""
    bounce = restitution * min(before, 0.0)
    if rule == MOREAU:
        return gap <= SLOP, bounce
    if rule == ANITESCU_POTRA:
        return gap + h * free <= SLOP, bounce
    if bounce < 0.0 and gap + h * free < 0.0:
        return True, bounce
    return True, max(gap, 0.0) / h


@inline_kernel
def end_gap(rule, gap, h, u):
    """Gap at the end of a step of h in which the normal velocity became u, to first order."""
    return gap + (0.5 * h if rule == MOREAU else h) * u
