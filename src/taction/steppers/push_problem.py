"""The problem behind the correction of positions: gaps as targets, and impulses that close them.

References: [Moreau1988] for velocities as unknowns; [AcaryBremondHuber2018] for the frictionless problem.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    GAP,
    ROW_DOF,
    SOURCE,
    TURNING,
    impulse_response,
    problem_rows,
    row_velocity,
)
from taction.contact.blocks import BlockRows
from taction.contact.laws.dispatch import BOX
from taction.kinematics.forward import link_velocities
from taction.solvers.newton import load
from taction.solvers.newton_memory import is_dense, strong_work
from taction.solvers.nsgs import sweep
from taction.solvers.soft_newton import solve_softly
from taction.steppers.contact_solve import is_ordered
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.phases import DONE, ORDER_PUSH
from taction.steppers.scene import DAMPER, PUSH, RIGID, SERVO, SPRING, TIE
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.dispatch import end_gap

SWEEPS, STEPS = 30, 60  # of Gauss–Seidel, of Newton's method
PATIENCE, PROGRESS = 3, 0.2  # so many sweeps must gain this, or Newton's method takes over
SOFT = 1e-8  # compliance of rows, relative: loops and stops may contradict each other, and then share the gap


@inline_kernel
def most_in_step(options, blocks, k, c, v, gap):
    """How far row c of block k may be moved in a step [m or rad], its violation being ``gap``.

    v (nv,) at the start of the step: what the step violated, it may repair.
    """
    is_angle = blocks.index[k, SOURCE] < 0 and blocks.index[k, TURNING + c] == 1
    most = options.turn if is_angle else options.push
    if abs(gap) < most:
        return most
    u = row_velocity(blocks, k, v)
    return max(most, options.h * abs(u[0] if c == 0 else (u[1] if c == 1 else u[2])))


@inline_kernel
def violation(options, blocks, k, c, v):
    """(gap that half-line c of block k would end with, the part of it that a step may repair).

    Zero where it opens by itself, soon enough; what is deep and moves out is pushed by what is missing.
    """
    gap, u = end_gap(options, blocks, k, c, True)
    most = most_in_step(options, blocks, k, c, v, gap)
    if u * options.h > SLOP:
        if gap > -min(most, options.push):
            gap = max(gap, 0.0)
        most = max(most - options.h * u, 0.0)
    return gap, max(gap, -most)


@kernel
def position_targets(options, blocks, v, push_out):
    """Gaps that positions would end with, as the correction's problem; v (nv,) at the start of the step.

    Returns whether any is violated, whether more than a step may repair, the deepest overlap of a contact,
    and the farthest that a joint ends beyond a stop.
    """
    is_needed, is_clipped, deepest, farthest = False, False, 0.0, 0.0
    rows, h = blocks.rows, options.h
    for k in range(blocks.count[0]):
        push_out.kind[k] = BOX
        source = blocks.index[k, SOURCE]
        for c in range(3):
            low, high = rows.sets[k, 2 * c], rows.sets[k, 2 * c + 1]
            if source >= 0:
                low, high = 0.0, math.inf if c == 0 and options.soft == RIGID else 0.0
            elif source in (SERVO, DAMPER, SPRING) or (low > -math.inf and high < math.inf):
                low = high = 0.0  # dry friction, held forces and servos hold no position
            elif low > -math.inf:
                low = 0.0  # nor does the friction of a joint at its stop
            gap, _ = end_gap(options, blocks, k, c, low == 0.0 and high == math.inf)
            if source == TIE and not (options.is_measured and blocks.index[k, ROW_DOF + c] < 0):
                gap = 0.0  # bodies move along their joints, against their motors
            elif low == -math.inf:
                most = most_in_step(options, blocks, k, c, v, gap)
                is_clipped = is_clipped or abs(gap) > most
                gap = min(max(gap, -most), most)
                is_needed = is_needed or abs(gap) > SLOP
            elif high == math.inf:
                whole, gap = violation(options, blocks, k, c, v)
                if source >= 0:
                    deepest = max(deepest, -whole)
                else:
                    farthest = max(farthest, -whole)
                is_needed = is_needed or gap < -SLOP
                is_clipped = is_clipped or whole < gap - SLOP
            push_out.sets[k, 2 * c], push_out.sets[k, 2 * c + 1] = low, high
            push_out.target[3 * k + c] = (gap if low == -math.inf else gap + 0.5 * SLOP) / h
    return is_needed, is_clipped, deepest, farthest


@kernel
def largest_target(blocks, push):
    """Largest of the gaps per time that a step is to close [m/s or rad/s], after `position_targets`."""
    worst = 0.0
    for k in range(blocks.count[0]):
        for c in range(3):
            low, high, target = push.sets[k, 2 * c], push.sets[k, 2 * c + 1], push.target[3 * k + c]
            if high == math.inf and not (blocks.index[k, SOURCE] == TIE and low == -math.inf):
                worst = max(worst, abs(target) if low == -math.inf else -target)
    return worst


@inline_kernel
def is_stop(blocks, k, c):
    """Whether row c of block k is the stop of a joint, or a limit of a tendon."""
    return (
        blocks.index[k, SOURCE] == -1
        and blocks.rows.sets[k, 2 * c + 1] == math.inf
        and (blocks.rows.sets[k, 2 * c] > -math.inf)
    )


@inline_kernel
def beyond_stops(blocks):
    """Farthest that a joint or tendon is beyond its stop where the scheme looked [m or rad]."""
    worst = 0.0
    for k in range(blocks.count[0]):
        for c in range(3):
            if is_stop(blocks, k, c):
                worst = max(worst, -blocks.number[k, GAP + c])
    return worst


@inline_kernel
def has_equations(count, push):
    """Whether any of so many blocks must be closed: a loop, a coupling, a joint between bodies."""
    for k in range(count):
        for c in range(3):
            if push.sets[k, 2 * c] == -math.inf:
                return True
    return False


@inline_kernel
def push_rows(blocks, push):
    """The correction's problem, its arrays cut to the blocks there are."""
    k, rows = blocks.count[0], problem_rows(blocks)
    return BlockRows(
        rows.start, rows.column, rows.value, rows.diagonal, push.target[: 3 * k], push.kind[:k], push.sets[:k]
    )


@inline_kernel
def is_ready(rows, is_plain, ws):
    """Whether Newton's method has memory in an order for these rows."""
    return is_dense(rows, is_plain, ws.dense) or is_ordered(rows, ws.large.start, ws.large.column)


@inline_kernel
def move_by(scene, ws):
    """What the impulses in ws.push move: row PUSH of ws.motion.dof, and the velocities of links under it."""
    impulse_response(scene.tree, ws.motion.L, ws.blocks, ws.push.impulse, ws.motion.dof[PUSH])
    link_velocities(scene.tree, ws.motion.dof[PUSH], ws.motion.links)


@kernel
def solve_push(scene, options, ws):
    """The displacement per time into row PUSH of ws.motion.dof, and the velocities of links under it.

    From the impulses in ws.push, by sweeps; with joints in the problem, or where sweeps do not close loops,
    as where stops pull at them through light links, by Newton's method. Returns what is missing.
    """
    push, k = ws.push, ws.blocks.count[0]
    gaps = push_rows(ws.blocks, push)
    goal, is_plain, is_solved = 0.1 * SLOP / options.h, not has_joint_rows(options), False
    is_closed = not has_equations(k, push)
    if is_plain:
        mark = math.inf
        for n in range(SWEEPS):
            error = math.sqrt(sweep(gaps, 1.0, push.impulse))
            is_solved = error <= goal
            if is_solved or (not is_closed and n % PATIENCE == PATIENCE - 1 and error > PROGRESS * mark):
                break
            if n % PATIENCE == 0:
                mark = error
    if not is_solved and not (is_plain and is_closed):
        if not is_ready(gaps, is_plain, ws):
            return ORDER_PUSH
        work = strong_work(gaps, is_plain, ws.large, ws.dense)
        load(gaps, push.impulse, work)
        solve_softly(goal, SOFT, STEPS, work, push.impulse, ws.history)
    move_by(scene, ws)
    return DONE
