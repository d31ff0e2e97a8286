"""Stewart and Trinkle's scheme: gaps enter linearised, g + h u⁺ ≥ 0, for every contact in reach.

Looks at q. Every contact takes part, with o = g / h where g > s; where it bounces, e > 0 and g + h u_f < 0,
with o = e u⁻. Bodies come to rest at the surface, not in it, and no contact is missed because another one
pushed it shut. The default. Order 1.

References: [StewartTrinkle1996].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers.schemes.base import PRESSED, SLOP, Pass, Scheme

STEWART_TRINKLE = 1


@inline_kernel
def offset(gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity; see `contact_offset`."""
    bounce = restitution * min(before, 0.0)
    if bounce < 0.0 and gap + h * free < 0.0:
        return True, bounce
    if is_pressed:
        return True, max(gap - PRESSED, 0.0) / h
    return True, gap / h if gap > SLOP else 0.0


SCHEME = Scheme(
    "stewart-trinkle", "linearised gaps: bodies come to rest at the surface", (Pass(STEWART_TRINKLE),)
)
