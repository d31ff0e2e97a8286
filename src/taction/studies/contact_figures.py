"""What the contacts of a run say about the claims of rigid contact, as numbers.

What it measures: overlap, lift, creep and direction of friction, from the rows of the run's contact table;
and energy that nothing paid for, from its records. Nothing here knows which model made the run.

Notation: h step, Λ = (Λ_N, Λ_T) impulse of a contact, u its velocity at the end of the step, μ coefficient.

Method
1. A contact *should stick* if it presses with ‖Λ_T‖ below `HOLDS` of what its cone allows: by Coulomb's law
   it then does not slide. Its sliding speed is *slip*; the mean velocity of a pair of shapes in such contacts
   over the end of the run is *creep*: what swings to and fro does not count.
2. A contact *slides* if it presses, its friction is all that the cone allows, or all that the pyramid in it
   does, and it is faster than `SLIDES` of the fastest. There friction should take out most power: with
   coefficients μ₁, μ₂ along the axes, Λ_T points against (μ₁² u₁, μ₂² u₂), which is straight against the
   motion where both are the same. The *direction error* is the angle to that, the *strength* the power over
   the most there can be, −Λ_T·u_T / (Λ_N ‖(μ₁ u₁, μ₂ u₂)‖), both as means weighted by Λ_N; *obliquity* is the
   angle of u_T to the nearer axis of the contact's frame.
3. *Lift* is the mean gap under contacts that slide, where it is positive; the convex law predicts h μ ‖u_T‖.
   *Parting* is the largest velocity at which one of them opens.
4. *Depth at the end* is the mean overlap of contacts that press; springs predict mean load over stiffness.
5. *Energy rise*: the largest increase of kinetic, potential and stored energy, less the work of actuation.

The end of a run is its last tenth.

References: [Anitescu2006] for the lift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.contact.forces.parameters import SoftContact
from taction.drawing.friction_use import FrictionUse, friction_use
from taction.sim.blow_up import least_energy
from taction.sim.run import Run
from taction.sim.softness import make_springs, spring_of
from taction.steppers.columns import ACTUATION

HOLDS = 0.999  # share of the cone below which a contact should stick; likewise of the pyramid in it
SLIDES = 1e-2  # of the fastest contact of the run; what is slower says little about directions
SLOWEST = 1e-6  # [m/s]: nothing slides below this
END = 0.1  # share of a run that counts as its end


@dataclass(frozen=True)
class ContactFigures:
    """Figures of one run; None where no contact tells.

    Attributes:
        penetration: deepest overlap [m].
        depth_at_end: mean overlap of contacts that press at the end [m].
        depth_expected: what load and stiffness say about it, for linear springs [m].
        slip: largest sliding speed of a contact that should stick [m/s].
        creep: largest mean velocity of contacts that should stick, at the end [m/s].
        lift: mean gap under contacts that slide [m].
        lift_expected: what the convex law predicts for the same contacts [m].
        parting: largest velocity at which one of them opens [m/s].
        direction_error: mean angle between friction and the direction of most dissipation [deg].
        obliquity: mean angle of sliding to the nearer axis of the contact frame [deg].
        strength: mean power of friction over the most there can be; over μ Λ_N ‖u_T‖ where μ is one number.
        energy_rise: largest increase of energy that no actuation paid for [J].
        energy_scale: what that is to be compared with [J].
    """

    penetration: float
    depth_at_end: float | None
    depth_expected: float | None
    slip: float | None
    creep: float | None
    lift: float | None
    lift_expected: float | None
    parting: float | None
    direction_error: float | None
    obliquity: float | None
    strength: float | None
    energy_rise: float
    energy_scale: float


def contact_figures(run: Run, soft: SoftContact | None = None) -> ContactFigures:
    """Measure a run through contact; ``soft`` is contact as a force, if it was one."""
    use = friction_use(run)
    slip = slip_speeds(run)
    energy = run.total_energy - _paid(run)
    return ContactFigures(
        run.certificate.penetration or 0.0,
        *_depth(run, soft),
        float(np.nanmax(slip)) if np.isfinite(slip).any() else None,
        _creep(run, use),
        *_lift(run, use),
        *_direction(run, use),
        float((energy - np.minimum.accumulate(energy)).max()),
        float(run.kinetic.max() + np.ptp(run.potential)) + least_energy(run.model, run.dt),
    )


def slip_speeds(run: Run) -> Array:
    """Largest sliding speed among contacts that should stick, in each step [m/s], NaN without any; (n,)."""
    out = np.full(run.steps, np.nan)
    rows = _stuck(friction_use(run))
    if run.contacts is not None and len(rows):
        np.fmax.at(out, run.contacts.step[rows], np.linalg.norm(run.contacts.velocity[rows, 1:], axis=1))
    return out


def _paid(run: Run) -> Array:
    assert run.records is not None
    return np.append(0.0, np.cumsum(run.records[:, ACTUATION]))


def _stuck(use: FrictionUse) -> IntArray:
    """Rows of contacts that should stick."""
    return use.rows[use.share < HOLDS]


def _at_end(run: Run, rows: IntArray) -> IntArray:
    """Those of the rows that belong to the end of a run."""
    assert run.contacts is not None
    return rows[run.contacts.step[rows] >= (1.0 - END) * run.steps]


def _creep(run: Run, use: FrictionUse) -> float | None:
    """Method 1, by pairs of shapes."""
    table, rows = run.contacts, _at_end(run, _stuck(use))
    if table is None or not len(rows):
        return None
    u, frame = table.velocity[rows], table.frame[rows].reshape(-1, 3, 3)
    sliding = frame[:, :, 1] * u[:, 1:2] + frame[:, :, 2] * u[:, 2:3]
    pair = np.unique(table.key[rows, :2], axis=0, return_inverse=True)[1].ravel()
    means = [np.linalg.norm(sliding[pair == k].mean(axis=0)) for k in range(pair.max() + 1)]
    return float(max(means))


def _sliding(run: Run, use: FrictionUse) -> IntArray:
    """Which of the contacts in use slide, by their place among them."""
    assert run.contacts is not None
    normal, t1, t2 = np.abs(run.contacts.impulse[use.rows]).T
    of_pyramid = (t1 / use.along + t2 / use.lateral) / normal
    is_limit = (use.share >= HOLDS) | (np.abs(of_pyramid - 1.0) <= 1.0 - HOLDS)
    speed = np.linalg.norm(run.contacts.velocity[use.rows, 1:], axis=1)
    is_fast = speed > max(SLIDES * float(speed.max(initial=0.0)), SLOWEST)
    return np.flatnonzero(is_fast & is_limit).astype(np.int64)


def _lift(run: Run, use: FrictionUse) -> tuple[float | None, float | None, float | None]:
    """Method 3: measured, predicted, and the speed of parting."""
    table, k = run.contacts, _sliding(run, use)
    if table is None or not len(k):
        return None, None, None
    rows = use.rows[k]
    u = table.velocity[rows]
    expected = run.dt * np.hypot(use.along[k] * u[:, 1], use.lateral[k] * u[:, 2])
    return float(np.maximum(table.gap[rows], 0.0).mean()), float(expected.mean()), float(u[:, 0].max())


def _direction(run: Run, use: FrictionUse) -> tuple[float | None, float | None, float | None]:
    """Method 2: direction error [deg], obliquity [deg], strength."""
    table, k = run.contacts, _sliding(run, use)
    if table is None or not len(k):
        return None, None, None
    rows = use.rows[k]
    normal, friction, u = table.impulse[rows, 0], -table.impulse[rows, 1:], table.velocity[rows, 1:]
    scaled = u * np.column_stack([use.along[k], use.lateral[k]])
    best = scaled * np.column_stack([use.along[k], use.lateral[k]])
    cross = np.abs(friction[:, 0] * best[:, 1] - friction[:, 1] * best[:, 0])
    angle = np.degrees(np.arctan2(cross, (friction * best).sum(axis=1)))
    strength = (friction * u).sum(axis=1) / (normal * np.linalg.norm(scaled, axis=1))
    oblique = np.degrees(np.arctan2(np.abs(u).min(axis=1), np.abs(u).max(axis=1)))
    return _mean(angle, normal), _mean(oblique, normal), _mean(strength, normal)


def _mean(values: Array, weights: Array) -> float:
    return float(np.average(values, weights=weights))


def _depth(run: Run, soft: SoftContact | None) -> tuple[float | None, float | None]:
    """Method 4: measured and, of linear springs, predicted."""
    table, world = run.contacts, run.world
    if table is None or world is None or not len(table.gap):
        return None, None
    normal = table.impulse[:, 0]
    rows = _at_end(run, np.flatnonzero(normal > 1e-9 * float(normal.max())).astype(np.int64))
    if not len(rows):
        return None, None
    depth = float(np.maximum(-table.gap[rows], 0.0).mean())
    if soft is None:
        return depth, None
    springs, _ = make_springs(world, soft)
    pairs, which = np.unique(table.key[rows, :2], axis=0, return_inverse=True)
    law = np.array([spring_of(springs, int(a), int(b))[:2] for a, b in pairs])
    stiffness, power = law[which.ravel()].T
    if not (power == 1.0).all():
        return depth, None
    expected = float((normal[rows] / run.dt / stiffness).mean())
    return depth, expected if math.isfinite(expected) else None
