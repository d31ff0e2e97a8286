"""Stewart and Trinkle's scheme: gaps enter linearised, g + h u⁺ ≥ 0, for every contact in reach.

Looks at q. Every contact takes part, with o = g / h, or (g − s) / h if it is pressed, s = `PRESSED`; where it
bounces, e > 0 and g + h u_f < 0, with o = e u⁻. Bodies come to rest at the surface, not in it, and no contact
is missed because another one pushed it shut. The default. Order 1.

Small gaps are let be: o = 0 up to s + d if the contact is pressed, else up to 2 d, d = min(s, a h²) with a =
`UNHURRIED`. If pressed contacts closed what exceeds s in every step, all that drift would stand at s and ask
for closing speeds that are hardly more than rounding; and one that carries nothing for once would ask to be
closed in the next step. In a pile, where more rows stick than bodies have freedoms, no two such demands are
compatible, and impulses change a lot from step to step to obey them to the last digit.

References: [StewartTrinkle1996].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers.schemes.base import PRESSED, SLOP, Pass, Scheme

STEWART_TRINKLE = 1
UNHURRIED = 0.5  # what an acceleration below this closes in a step is let be for now [m/s²]


@inline_kernel
def closed_gap(h, is_pressed):
    """Gap up to which a contact is let be [m]; h step [s], is_pressed: whether it carried load before."""
    let_be = min(PRESSED, UNHURRIED * h * h)
    return PRESSED + let_be if is_pressed else max(SLOP, 2.0 * let_be)


@inline_kernel
def offset(gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity; see `contact_offset`."""
    bounce = restitution * min(before, 0.0)
    if bounce < 0.0 and gap + h * free < 0.0:
        return True, bounce
    if gap <= closed_gap(h, is_pressed):
        return True, 0.0
    return True, (gap - PRESSED) / h if is_pressed else gap / h


SCHEME = Scheme(
    "stewart-trinkle", "linearised gaps: bodies come to rest at the surface", (Pass(STEWART_TRINKLE),)
)
