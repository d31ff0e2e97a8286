"""Two half flights with all forces between them, and laws that hold where the step ends, by measurement.

What it solves, with F the flight of all links without forces (`taction.dynamics.free_flight`,
`taction.dynamics.tree_flight`):

    (q_M, v_M) = F_{h/2}(q, v)
    M (v_M' − v_M) = h f + Jᵀ Λ                  all at q_M
    (q⁺, v⁺) = F_{h/2}(q_M, v_M')

Impulses act along J(q_M), laws are those of velocities u⁺ = J(q_M) v_M', and what they hold is wanted half a
step later, where J has turned. How much J v changes over half a flight is known: the first half has just
shown it. With u⁻ = J(q_M) v_M and u_n = J(q) v, *measured* where the step starts, contact by contact,

    J(q⁺) v⁺ = u⁺ + (u⁻ − u_n) + O(h²),      so      o = u⁻ − u_n,     −(u⁺ + o) ∈ N(Λ).

What is left at q⁺ is measured as the next u_n and taken out there, so that nothing piles up. W stays
symmetric, and impulses work next to nothing where nothing slides: ½ Λᵀ(u⁻ + u⁺) = ½ Λᵀ(u_n + u⁺ + o).

1. *Persistent* contacts, closed where the step starts and where it looks, under one identity, not bouncing
   and not arriving, follow that rule. A contact that slid in the step before has its sliding velocity u_n,T
   added to o: Coulomb's force opposes the mean of both velocities.
2. Every other contact follows Stewart and Trinkle's rule at q_M, the exact law of impacts. Where it closes
   ever faster, because joints turn links off straight ways, and does not bounce, the first rule is added to
   its normal row: o_N = g/h + min(u⁻, 0) − min(u_n, 0), so that a gap g is met in time and not by as much as
   half the step's acceleration of it too late.
3. Stops, dry friction and couplings follow the first rule; loops with o = u⁻ − κ u_n, κ = `DAMPED`: pure
   reflection, κ = 0, does no work at all, but a wrong velocity would never die; κ = 1 takes the energy of all
   that u_n holds in every step. Rows without a lever, and loops that are struck, have o = 0. Joints between
   bodies in absolute coordinates need no rule: flight keeps them (`taction.steppers.coordinates.absolute`).
4. Where the answer shows that a step is none of a persistent kind the problem is solved once more
   (`taction.steppers.change_laws`): if a contact that was not persistent struck, all that hangs together with
   it follows the second rule; if sliding ends or turns round, the velocity before is taken out, so that the
   contact may stick; if contacts would work on what moves, all follow the second rule.

Symmetric in time while contacts stay; order 2 in rolling, sliding, spinning, chains and loops; exact laws
where contacts change. Joint springs, dampers and servos act at the end of the step, of order 1.

References: [Moreau1988] for the midpoint; [StewartTrinkle1996] for the gaps;
[RyckaertCiccottiBerendsen1977] for the order of what happens.
"""

from __future__ import annotations

from taction.steppers.schemes.base import Pass, Scheme
from taction.steppers.schemes.stewart_trinkle import STEWART_TRINKLE

DAMPED = 0.1  # share of a loop's velocity across its own directions that each step takes out
SLIDES, KEPT_SLIDING = 0, 1  # memory of a contact: whether it slid at the end of the step

SCHEME = Scheme(
    "half-flight",
    "order 2 while contacts stay, exact laws where they change: flight, all forces at once, flight",
    (Pass(STEWART_TRINKLE),),
    ahead=0.5,
    is_split=True,
    is_measured=True,
    memory=KEPT_SLIDING + 1,
)
