"""Anitescu and Potra's scheme with the active-set switch: velocity level at q.

Those contacts take part that the free motion would close within the step, g + h u_f ≤ s, with o = e u⁻. Order
1.

References: [AnitescuPotra1997].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers.schemes.base import PRESSED, SLOP, Pass, Scheme

ANITESCU_POTRA = 2


@inline_kernel
def offset(gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity; see `contact_offset`."""
    closed = PRESSED if is_pressed else SLOP
    return gap + h * free <= closed, restitution * min(before, 0.0)


SCHEME = Scheme(
    "anitescu-potra",
    "velocity level, contacts switched by the free motion",
    (Pass(ANITESCU_POTRA, asks_free_motion=True),),
)
