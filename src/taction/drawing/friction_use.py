"""What contacts use of their friction cones.

Of a contact that presses it is

    √((Λ₁/μ₁)² + (Λ₂/μ₂)²) / Λₙ                                                       (1)

with μ₁ that of the direction in which the force acts: 1 where it slides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import plain
from taction.sim.run import Run

# A contact presses whose normal impulse is above this share of the largest of its run.
PRESSES = 1e-9


class FrictionUse(NamedTuple):
    """What the contacts of a run that press and rub use of their friction cones, shape (k,) each."""

    rows: IntArray  # of the contact table
    along: Array  # coefficient along t₁ in the direction of the force
    lateral: Array  # coefficient along t₂
    share: Array  # of the cone, by (1)


def presses(normal: Array) -> Array:
    """Which of the contacts of a run press, by their normal impulses (k,)."""
    return np.asarray(normal > PRESSES * max(float(normal.max(initial=0.0)), 1e-300))


def friction_use(run: Run) -> FrictionUse:
    """Equation (1) for each contact of a run."""
    from taction.steppers.elements import pair_surface

    table, world = run.contacts, run.world
    if table is None or world is None or not len(table.gap):
        return FrictionUse(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0))
    surfaces = world.scene().surfaces
    count = len(world.shape_body)
    pairs, which = np.unique(table.key[:, 0] * count + table.key[:, 1], return_inverse=True)
    friction = np.array(
        [plain(pair_surface)(surfaces, world.combine, pair // count, pair % count)[:3] for pair in pairs]
    )
    forward, lateral, backward = friction[which].T
    normal, t1, t2 = table.impulse.T
    keep = presses(normal) & (forward > 0) & (lateral > 0) & (backward > 0)
    along = np.where(t1 > 0, backward, forward)[keep]
    lateral = lateral[keep]
    share = np.hypot(t1[keep] / along, t2[keep] / lateral) / normal[keep]
    return FrictionUse(np.flatnonzero(keep), along, lateral, share)
