"""The scheme of the legged-robot thesis: collisions as impulses, then contact forces from accelerations.

What it solves in each step of h, two problems over the contacts that are closed at q:

1. *collision*: v' = v + M⁻¹ Jᵀ P with 0 ≤ u'_N + e u_N ⊥ P_N ≥ 0 and friction impulses in the cone. No force
   acts and nothing moves meanwhile. Where nothing approaches, P = 0.
2. *contact*: those contacts that rest after 1 carry forces F with 0 ≤ a_N ⊥ F_N ≥ 0,
       a_N = n·(J v̇ + J̇ v'),      M v̇ = τ − C v' − g + Jᵀ F,
   friction in the cone against the sliding velocity at the end of the step. With Λ = h F and u⁺ = u' + h J v̇
   this is a velocity problem with the offset h n·J̇v' − u'_N (rule ACCELERATION of `taction.steppers.rules`).
3. v⁺ = v' + h v̇,  q⁺ = q ⊕ h v⁺, positions corrected as in the other schemes.

Departures: the exact cone and the project's solvers in place of the pyramid (which `contact="lcp"` gives),
friction against the velocity at the end of the step in place of its start, so that a sliding point that stops
does stop; J̇v is that of the material points that touch. Contacts closer than a nanometre are closed, and
rest below 1 µm/s.

Cost: twice that of the other schemes.

References: [Ayit2015, Sections 4.2 to 4.4]; [Mirtich1996].
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.steppers import impulse_step as step
from taction.steppers.driver import ContactTable, Driver, Record, make_record
from taction.steppers.ledger import (
    CLOSURE,
    CONE,
    DISSIPATION,
    FRICTION,
    IMPACT,
    ITERATIONS,
    JOINT_FRICTION,
    KINETIC,
    MOTION,
    POTENTIAL,
    RESIDUAL,
    SIGNORINI,
    UNCONVERGED,
)
from taction.steppers.rules import ACCELERATION, COLLISION
from taction.steppers.scene import Scene, State

ADDED = (FRICTION, IMPACT, JOINT_FRICTION, CLOSURE, ITERATIONS)
WORST = (RESIDUAL, SIGNORINI, CONE, DISSIPATION, MOTION, UNCONVERGED)
FIRST = (KINETIC, POTENTIAL)


class AccelerationDriver(Driver):
    """A `Driver` whose steps have two halves."""

    def advance(
        self,
        scene: Scene,
        drive: Array,
        first: int,
        last: int,
        state: State,
        record: Record,
        table: ContactTable | None = None,
        phase: int = step.BEGIN,
    ) -> tuple[int, int, State, ContactTable | None]:
        """Steps first…last−1 of a world; see `Driver.advance`."""
        whole = self.options
        impact = make_record(self.model, 1)
        try:
            for n in range(first, last):
                self.options = whole._replace(rule=COLLISION, force_h=0.0, move_h=0.0)
                _, missing, state, _ = super().advance(scene, drive, 0, 1, state, impact)
                if missing == step.DONE:
                    self.options = whole._replace(rule=ACCELERATION)
                    _, missing, state, table = super().advance(scene, drive, n, n + 1, state, record, table)
                if missing != step.DONE:
                    return n, missing, state, table
                _merge(impact.step[0], record.step[n])
        finally:
            self.options = whole
        return last, step.DONE, state, table


def _merge(impact: Array, row: Array) -> None:
    """Merge the record of the collision into that of the step: works add up, residuals are the worse."""
    for c in ADDED:
        row[c] += impact[c]
    for c in WORST:
        row[c] = np.maximum(row[c], impact[c])
    for c in FIRST:
        row[c] = impact[c]
