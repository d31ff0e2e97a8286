"""The second-order scheme: free flight to the midpoint, forces and impulses there at once, free flight on.

What it solves, with F the free flight of all links (`taction.dynamics.free_flight`; Coriolis forces of a tree
likewise by a midpoint rule, `taction.steppers.coordinates.reduced`):

    (q_M, v_M) = F_{h/2}(q, v)
    M (v_M' − v_M) = h f + Jᵀ Λ                  all at q_M
    (q⁺, v⁺) = F_{h/2}(q_M, v_M')

Between one midpoint and the next velocities are those of q⁺, halfway. So the laws ask for velocities there,
u⁺ = J(q⁺) v⁺, and for gaps at the next midpoint, g(q_M) + h u⁺ ≥ 0, with Stewart and Trinkle's rule; impulses
act along J(q_M). How J v changes from q_M to q⁺ is known beforehand to first order, from the flight and from
the way the contact has taken over both surfaces since the step before (`taction.steppers.contact_path`), and
enters as an offset: W stays symmetric. A contact that slides is opposed to the mean of its velocities before
and after.

Symmetric in time while contacts stay; order 2 between impacts, in sliding and in rolling, where surfaces are
curved, too; order 1 through impacts. Free bodies keep energy and momentum at every spin. Joint springs,
dampers and servos act at the end of the step, of order 1.

It is [RyckaertCiccottiBerendsen1977]'s SHAKE, taken midway, with contact and friction for bilateral bonds.

References: [Moreau1988] for the midpoint; [StewartTrinkle1996] for the gaps;
[RyckaertCiccottiBerendsen1977] for the order of what happens.
"""

from __future__ import annotations

from taction.steppers.contact_path import KEPT
from taction.steppers.schemes.base import Pass, Scheme
from taction.steppers.schemes.stewart_trinkle import STEWART_TRINKLE

SCHEME = Scheme(
    "midpoint",
    "order 2 through sliding and rolling: free flight without loss, forces and contact at the midpoint",
    (Pass(STEWART_TRINKLE),),
    ahead=0.5,
    is_split=True,
    memory=KEPT + 1,
)
