"""What a run through contact amounts to: certificate and energy ledger from the records of its steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array
from taction.contact.redundancy import IMPULSES, NO_CHOICE, VELOCITIES
from taction.kinematics.state_distance import centres_and_radii
from taction.model.model import BODY_MASS, Model
from taction.sim.motion_errors import StepErrors
from taction.sim.run import Certificate, EnergyLedger, of_today, quaternion_error, stored_energy
from taction.steppers import columns as column

OPEN = 1e-3  # gap of a loop or joint [m or rad] that the first steps may close, and no step may leave
# Gap of a loop that no step of a strict run may leave, relative to what it connects. A step that closes the
# loop on the level of velocities leaves the curvature of the arcs on which its points move, ½ h² ω² ℓ, at the
# rate ω and the length ℓ of a link: half the square of what a link turns in a step, which is 0.045 rad here
CURVED = 1e-3
# Corrections that move something this many times as far as the gaps they close, and by more than `LEFT_MOST`
FAR = 100.0
LOST = 0.5  # residual of the equation of motion: no rounding, but forces that were left out
# Energy that nothing accounts for, over all that a motion has and does, that a strict run lets be; and how
# far its bodies fall with what is let be of a motion that hardly moves [m]
DRIFTED, FALLEN = 0.01, 1e-3
LEFT_MOST = (
    1e-6  # overlap [m], or way beyond a stop [m or rad], that a step of a strict run may leave to the next
)
WORKS = {
    "actuation": column.ACTUATION,
    "joint_friction": column.JOINT_FRICTION,
    "friction": column.FRICTION,
    "impact": column.IMPACT,
    "pressing": column.PRESSING,
    "joints": column.JOINTS,
    "correction": column.CORRECTION,
}


# What accounts for a change of energy
ACCOUNTED = (
    column.ACTUATION, column.JOINT_FRICTION, column.FRICTION, column.IMPACT, column.CORRECTION,
)  # fmt: skip


def make_certificate(
    model: Model, t: Array, q: Array, rows: Array, names: Sequence[str], errors: StepErrors | None = None
) -> Certificate:
    """Worst residuals over the steps, and where they were met.

    Args:
        model: what the steps moved.
        t: times [s], shape (n + 1,).
        q: its configurations, shape (n + 1, nq).
        rows: records of the steps, columns of `taction.steppers.columns`, shape (n, ·).
        names: of the collision shapes.
        errors: of its steps, if they are estimated.
    """
    if not len(rows):
        return Certificate(motion=0.0, motion_time=float(t[0]), quaternion=0.0)
    rows = of_today(rows)

    def worst(c: int) -> float:
        return float(rows[:, c].max())

    k = int(rows[:, column.RESIDUAL].argmax())
    drift, scale = unaccounted(rows)
    n = int(np.abs(drift).argmax())
    return Certificate(
        motion=worst(column.MOTION),
        motion_time=float(t[int(rows[:, column.MOTION].argmax())]),
        quaternion=quaternion_error(model, q),
        joint_gap=worst(column.JOINT_GAP),
        gap_share=worst(column.GAP_SHARE),
        gap_time=float(t[int(rows[:, column.JOINT_GAP].argmax())]),
        spared=worst(column.SPARED),
        steps_spared=int((rows[:, column.SPARED] > 0).sum()),
        steps_far=int(is_far(rows, reach(model)).sum()),
        lifted=lifted(rows),
        drift=float(drift[n]),
        drift_share=abs(float(drift[n])) / max(scale[n] + weight_energy(model), 1e-300),
        drift_time=float(t[n]),
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
        **({} if errors is None else _worst_errors(errors, t)),
        steps_inaccurate=int((rows[:, column.INACCURATE] > 0).sum()),
        steps_at_bound=int((rows[:, column.AT_BOUND] > 0).sum()),
        steps_at_rounding=int((rows[:, column.AT_ROUNDING] > 0).sum()),
        impulses_not_unique=int((rows[:, column.NOT_UNIQUE] >= IMPULSES).sum()),
        velocities_not_unique=int((rows[:, column.NOT_UNIQUE] >= VELOCITIES).sum()),
        made=float(rows[:, column.MADE].sum()),
        approach=worst(column.APPROACH),
        steps_held_back=int((rows[:, column.HELD_BACK] > 0).sum()),
        no_choice=int((rows[:, column.NOT_UNIQUE] >= NO_CHOICE).sum()),
    )


def _worst_errors(errors: StepErrors, t: Array) -> dict[str, float]:
    """What a certificate says of the errors of steps."""
    return {
        "position_error": float(errors.position.max()),
        "velocity_error": float(errors.velocity.max()),
        "error_time": float(t[int(errors.position.argmax())]),
        "error_sum": float(errors.position.sum()),
        "error_share": float(errors.share[-1]),
    }


def reach(model: Model) -> float:
    """The largest radius of gyration of a link about its centre of mass [m]."""
    return float(centres_and_radii(model)[1].max(initial=0.0))


def is_far(rows: Array, size: float) -> NDArray[np.bool_]:
    """Steps in which the correction of positions moved far more than the gaps it closed.

    By a hundred times: points of contact, or the mass of a link of that size [m] that it turned; and by more
    than a micrometre.
    """
    way = np.maximum(rows[:, column.PUSHED], rows[:, column.TURNED] * size)
    return np.asarray((way > LEFT_MOST) & (way > FAR * rows[:, column.ASKED]))


def lifted(rows: Array) -> float:
    """What the corrections of positions did in all over what the motion has to move with.

    Sum of the sizes of their works, over the largest kinetic energy and the range of the potential energy.
    What is lifted once is in that range: above one something is lifted and falls again and again. Steps that
    move nothing by a micrometre are left out.
    """
    is_moved = rows[:, column.PUSHED] > LEFT_MOST
    work = float(np.abs(rows[is_moved, column.CORRECTION]).sum())
    energy = float(rows[:, column.KINETIC].max() + np.ptp(rows[:, column.POTENTIAL]))
    return work / energy if work > 0.0 and energy > 0.0 else 0.0


def unaccounted(rows: Array) -> tuple[Array, Array]:
    """Energy that nothing accounts for, at the start of every step since that of the first, and its scale.

    What the energy changed by, less the works of actuation, friction and impacts, and of the correction of
    positions. Contacts that only press on, loops, and joints between bodies do no work in exact time, so
    theirs counts, like all that time steps add and take. The scale is what the motion has had and done until
    then: the largest kinetic energy, the range of the potential energy, and the sizes of all works [J], (n,)
    each.
    """
    energy = rows[:, column.KINETIC] + rows[:, column.POTENTIAL] + rows[:, column.STORED]
    booked = sum(rows[:, c] for c in ACCOUNTED)
    size = sum(np.abs(rows[:, c]) for c in ACCOUNTED)
    before = np.concatenate([[0.0], np.cumsum(booked)[:-1]])
    done = np.concatenate([[0.0], np.cumsum(size)[:-1]])
    height = rows[:, column.POTENTIAL]
    swing = np.maximum.accumulate(height) - np.minimum.accumulate(height)
    scale = np.maximum.accumulate(rows[:, column.KINETIC]) + swing + done
    return energy - energy[0] - before, scale


def weight_energy(model: Model) -> float:
    """What everything that moves gains by a fall of `FALLEN` [J]."""
    mass = float(model.tree.constant[:, BODY_MASS].sum())
    return mass * float(np.linalg.norm(model.tree.gravity)) * FALLEN


def first_drifted(rows: Array, floor: float) -> tuple[int, str] | None:
    """The first step of a run at whose start more energy had come or gone than a strict run lets be, and why.

    Args:
        rows: records of the steps since the start of the run, shape (n, ·).
        floor: an energy that is next to nothing, of `weight_energy` [J].
    """
    if not len(rows):
        return None
    drift, scale = unaccounted(rows)
    bad = np.flatnonzero(~(np.abs(drift) <= DRIFTED * (scale + floor) + floor))
    if not len(bad):
        return None
    k = int(bad[0])
    word = "came" if drift[k] > 0.0 else "went"
    return k, (
        f"{abs(drift[k]):.3g} J {word} by time steps alone, {abs(drift[k]) / (scale[k] + floor):.2g} of all "
        'that the motion had and did; reduce the time step, or leave the stepper at "half-flight"'
    )


def worst_pair(row: Array, names: Sequence[str]) -> str:
    """The two shapes with the worst residual of a step, by its record; empty if it was a joint's."""
    shapes = [int(row[c]) for c in (column.WORST_A, column.WORST_B)]
    return " and ".join(names[i] for i in shapes if i >= 0)


def first_unsolved(
    rows: Array,
    limit: float,
    tolerance: float,
    names: Sequence[str],
    *,
    is_start: bool = False,
    size: float = 0.0,
) -> tuple[int, str] | None:
    """The first step that a strict run refuses, and why: not solved, or an overlap or open loop is left.

    Also where Coriolis forces ran away, as by gimbal lock, and were left out.

    Args:
        rows: records of the steps, shape (n, ·).
        limit: largest residual.
        tolerance: that the steps were solved to.
        names: of the collision shapes.
        is_start: the first of them is the first step of a motion, in which loops may be open that it closes.
        size: of links, see `is_far` [m].
    """
    is_above = ~(rows[:, column.RESIDUAL] <= limit) & ~(rows[:, column.AT_ROUNDING] > 0)
    is_unsolved = is_above | (rows[:, column.UNCONVERGED] > 0)
    is_open = rows[:, column.JOINT_GAP] > OPEN
    is_lost = rows[:, column.MOTION] > LOST
    is_left = rows[:, column.LEFT] > LEFT_MOST
    is_beyond = rows[:, column.BEYOND_LEFT] > LEFT_MOST
    is_curved = rows[:, column.GAP_SHARE] > CURVED
    if is_start:
        is_open[:1] = is_curved[:1] = False
    is_moved = is_far(rows, size)
    bad = np.flatnonzero(is_lost | is_unsolved | is_open | is_curved | is_left | is_beyond | is_moved)
    if not len(bad):
        return None
    k = int(bad[0])
    if is_lost[k]:
        return k, "the equation of motion is not solved: Coriolis forces run away; reduce the time step"
    if not is_unsolved[k] and is_open[k]:
        return k, (
            f"a loop, coupling or joint is open by {rows[k, column.JOINT_GAP]:.3g} m or rad: reduce the time "
            "step, or see whether stops and contacts let it close"
        )
    if not is_unsolved[k] and is_curved[k]:
        share = rows[k, column.GAP_SHARE]
        return k, (
            f"a loop is open by {rows[k, column.JOINT_GAP]:.3g} m or rad, {share:.2g} of what it connects: "
            f"a step leaves half the square of what links turn in it, some {np.sqrt(2.0 * share):.2g} rad "
            "here; reduce the time step"
        )
    if not is_unsolved[k] and is_moved[k]:
        return k, (
            f"the correction of positions moved points by {rows[k, column.PUSHED]:.3g} m and turned links by "
            f"{rows[k, column.TURNED]:.3g} rad to close gaps of {rows[k, column.ASKED]:.3g} m or rad"
        )
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
    rows = of_today(rows)
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
