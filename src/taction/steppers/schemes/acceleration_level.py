"""The scheme of the legged-robot thesis: collisions as impulses, then contact forces from accelerations.

What it solves in each step of h, two problems over the contacts that are closed at q:

1. *collision*: v' = v + M⁻¹ Jᵀ P with 0 ≤ u'_N + e u_N ⊥ P_N ≥ 0 and friction impulses in the cone. No force
   acts and nothing moves meanwhile. Where nothing approaches, P = 0.
2. *contact*: those contacts that rest after 1 carry forces F with 0 ≤ a_N ⊥ F_N ≥ 0,
       a_N = n·(J v̇ + J̇ v'),      M v̇ = τ − C v' − g + Jᵀ F,
   friction in the cone against the sliding velocity at the end of the step. With Λ = h F and u⁺ = u' + h J v̇
   this is a velocity problem with the offset o = h n·J̇v' − u'_N: the gap must not accelerate shut.
3. v⁺ = v' + h v̇,  q⁺ = q ⊕ h v⁺, positions corrected as in the other schemes.

Departures: the exact cone and the project's solvers in place of the pyramid (which `contact="lcp"` gives),
friction against the velocity at the end of the step in place of its start, so that a sliding point that stops
does stop; J̇v is that of the material points that touch. Contacts closer than a nanometre are closed, and
rest below 1 µm/s.

Cost: twice that of the other schemes. Order 1.

References: [Ayit2015, Sections 4.2 to 4.4]; [Mirtich1996]. Misprints: the page on deviations.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers.schemes.base import SLOP, Pass, Scheme

COLLISION, ACCELERATION = 3, 4
RESTING = 1e-6  # normal velocity up to which a closed contact rests [m/s]


@inline_kernel
def collision_offset(gap, h, restitution, before, free, turning, is_pressed):
    """The same of the first problem; see `contact_offset`."""
    return gap <= SLOP, restitution * min(before, 0.0)


@inline_kernel
def offset(gap, h, restitution, before, free, turning, is_pressed):
    """Whether a contact takes part, and the offset of its normal velocity; see `contact_offset`."""
    return gap <= SLOP and before <= RESTING, h * turning - before


SCHEME = Scheme(
    "acceleration-level",
    "impulses at collisions, then contact forces",
    (Pass(COLLISION, has_forces=False, has_motion=False), Pass(ACCELERATION, needs_turning=True)),
    coordinates=("reduced",),
)
