"""Moreau's midpoint scheme: velocity level, contacts by their gap at the midpoint.

M, J and gaps are taken at q ⊕ ½ h v. A contact counts while its gap there is closed, g ≤ s, with Newton's law
on velocities, o = e u⁻; a pressed one up to g ≤ 2 s, with o = (g − s) / h. Free flight under constant gravity
is exact, and e = 1 reverses a velocity exactly. Three variants:

* **moreau**: as it stands.
* **moreau-momentum**: links keep their momenta from midpoint to midpoint, as free bodies do whose joints are
  closed by impulses (`taction.dynamics.discrete_bias`). In absolute coordinates Moreau's scheme is this one,
  that of [Transeth2006]; both coordinates give the same motion. A joint's impulse takes away what the
  velocity has along the path's new normal: energy is lost, to first order in the step, never gained.
* **moreau-projected**: the scheme of [Transeth2006, Section VI] as they wrote it, for absolute coordinates
  only. Bodies move straight, which opens their joints to second order in the step; then, from the root to the
  leaves, every body is put back on its joint. The root keeps its place, so the centre of gravity moves.

Order 1 through contact, 2 without it (moreau).

References: [Moreau1988]; [Transeth2006, Section VI].
"""

from __future__ import annotations

from dataclasses import replace

from taction._core.jit import inline_kernel
from taction.steppers.schemes.base import PRESSED, SLOP, Pass, Scheme

MOREAU = 0


@inline_kernel
def offset(gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity; see `contact_offset`."""
    closed = PRESSED if is_pressed else SLOP
    if gap > closed:
        return is_pressed and gap <= 2.0 * closed, (gap - closed) / h
    return True, restitution * min(before, 0.0)


PLAIN = Scheme(
    "moreau",
    "midpoint rule, velocity level: exact free flight and elastic impacts",
    (Pass(MOREAU),),
    ahead=0.5,
    is_far_sighted=False,
)
CARRIED = replace(
    PLAIN,
    name="moreau-momentum",
    summary="the same, momenta carried between midpoints: equal motion in both coordinates",
    is_momentum=True,
)
PROJECTED = replace(
    CARRIED,
    name="moreau-projected",
    summary="bodies move straight, joints closed by projection afterwards; absolute coordinates only",
    coordinates=("absolute",),
    is_projected=True,
)
