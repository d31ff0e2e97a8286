"""What a run through contact amounts to: certificate and energy ledger from the records of its steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array
from taction.contact.redundancy import IMPULSES, NO_CHOICE, VELOCITIES
from taction.model.model import Model
from taction.sim.run import Certificate, EnergyLedger, quaternion_error, stored_energy
from taction.steppers import columns as column

OPEN = 1e-3  # gap of a loop or joint [m or rad] that the first steps may close, and no step may leave
LOST = 0.5  # residual of the equation of motion: no rounding, but forces that were left out
LEFT_MOST = (
    1e-6  # overlap [m], or way beyond a stop [m or rad], that a step of a strict run may leave to the next
)
WORKS = {
    "actuation": column.ACTUATION,
    "joint_friction": column.JOINT_FRICTION,
    "friction": column.FRICTION,
    "impact": column.IMPACT,
    "correction": column.CORRECTION,
}


def make_certificate(model: Model, t: Array, q: Array, rows: Array, names: Sequence[str]) -> Certificate:
    """Worst residuals over the steps, and where they were met.

    Args:
        model: what the steps moved.
        t: times [s], shape (n + 1,).
        q: its configurations, shape (n + 1, nq).
        rows: records of the steps, columns of `taction.steppers.columns`, shape (n, ·).
        names: of the collision shapes.
    """
    if not len(rows):
        return Certificate(motion=0.0, motion_time=float(t[0]), quaternion=0.0)

    def worst(c: int) -> float:
        return float(rows[:, c].max())

    k = int(rows[:, column.RESIDUAL].argmax())
    return Certificate(
        motion=worst(column.MOTION),
        motion_time=float(t[int(rows[:, column.MOTION].argmax())]),
        quaternion=quaternion_error(model, q),
        joint_gap=worst(column.JOINT_GAP),
        signorini=worst(column.SIGNORINI),
        cone=worst(column.CONE),
        dissipation=worst(column.DISSIPATION),
        penetration=worst(column.PENETRATION),
        unconverged_steps=int((rows[:, column.UNCONVERGED] > 0).sum()),
        residual=worst(column.RESIDUAL),
        residual_time=float(t[k]),
        residual_at=worst_pair(rows[k], names),
        pushed=worst(column.PUSHED),
        turned=worst(column.TURNED),
        left=worst(column.LEFT),
        beyond=worst(column.BEYOND),
        beyond_left=worst(column.BEYOND_LEFT),
        steps_at_bound=int((rows[:, column.AT_BOUND] > 0).sum()),
        steps_at_rounding=int((rows[:, column.AT_ROUNDING] > 0).sum()),
        impulses_not_unique=int((rows[:, column.NOT_UNIQUE] >= IMPULSES).sum()),
        velocities_not_unique=int((rows[:, column.NOT_UNIQUE] >= VELOCITIES).sum()),
        made=float(rows[:, column.MADE].sum()),
        approach=worst(column.APPROACH),
        steps_held_back=int((rows[:, column.HELD_BACK] > 0).sum()),
        no_choice=int((rows[:, column.NOT_UNIQUE] >= NO_CHOICE).sum()),
    )


def worst_pair(row: Array, names: Sequence[str]) -> str:
    """The two shapes with the worst residual of a step, by its record; empty if it was a joint's."""
    shapes = [int(row[c]) for c in (column.WORST_A, column.WORST_B)]
    return " and ".join(names[i] for i in shapes if i >= 0)


def first_unsolved(
    rows: Array, limit: float, tolerance: float, names: Sequence[str]
) -> tuple[int, str] | None:
    """The first step that a strict run refuses, and why: not solved, or an overlap or open loop is left.

    Also where Coriolis forces ran away, as by gimbal lock, and were left out.

    Args:
        rows: records of the steps, shape (n, ·).
        limit: largest residual.
        tolerance: that the steps were solved to.
        names: of the collision shapes.
    """
    is_above = ~(rows[:, column.RESIDUAL] <= limit) & ~(rows[:, column.AT_ROUNDING] > 0)
    is_unsolved = is_above | (rows[:, column.UNCONVERGED] > 0)
    is_open = rows[:, column.JOINT_GAP] > OPEN
    is_lost = rows[:, column.MOTION] > LOST
    is_left = rows[:, column.LEFT] > LEFT_MOST
    is_beyond = rows[:, column.BEYOND_LEFT] > LEFT_MOST
    bad = np.flatnonzero(is_lost | is_unsolved | is_open | is_left | is_beyond)
    if not len(bad):
        return None
    k = int(bad[0])
    if is_lost[k]:
        return k, "the equation of motion is not solved: Coriolis forces run away; reduce the time step"
    if not is_unsolved[k] and is_open[k]:
        return k, f"a loop, coupling or joint is open by {rows[k, column.JOINT_GAP]:.3g} m or rad"
    if not is_unsolved[k] and not is_left[k]:
        beyond = rows[k, column.BEYOND_LEFT]
        return k, (
            f"a joint or tendon is left {beyond:.3g} m or rad beyond its stop, more than the correction of a "
            "step repairs, or than loops and contacts let it"
        )
    if not is_unsolved[k]:
        left = rows[k, column.LEFT]
        return k, f"an overlap of {left:.3g} m is left, more than the correction of a step repairs"
    pair = worst_pair(rows[k], names)
    where = f"contact of {pair}" if pair else "a joint row"
    residual = rows[k, column.RESIDUAL]
    return k, f"the residual is {residual:.3g}, above {min(limit, tolerance):.3g}, worst at {where}"


def make_ledger(rows: Array, kinetic: Array, potential: Array, least: float) -> EnergyLedger:
    """Works summed over the steps; ``least`` energy scale [J] for runs in which nothing happens."""
    works = {name: rows[:, c] for name, c in WORKS.items()}
    stored = stored_energy(rows)
    energy = kinetic + potential + stored
    booked = float(sum(w.sum() for w in works.values()))
    scale = (
        float(kinetic.max() + np.ptp(potential) + stored.max() + sum(np.abs(w).sum() for w in works.values()))
        + least
    )
    return EnergyLedger(
        initial=float(energy[0]),
        final=float(energy[-1]),
        remainder=float(energy[-1] - energy[0]) - booked,
        stored=float(stored[-1]),
        closure=float(np.abs(rows[:, column.CLOSURE]).max() / max(scale, 1e-300)) if len(rows) else 0.0,
        **{name: float(w.sum()) for name, w in works.items()},
    )
