"""The correction of positions: a displacement that repairs violated gaps and changes no velocity.

What it solves: a step may end with a violated gap or an open loop, by linearisation errors of second order in
h, and with Moreau's rule by the depth reached before a contact was seen. Where one does not open by itself,

    q⁺ = q ⊕ … ⊕ h w,   w = M⁻¹ Jᵀ π,   0 ≤ π ⊥ g/h + J w ≥ 0   (equations g/h + J w = 0 for loops)

with g the gap that the step would end with and no friction: the displacement that is least in the metric of
the mass matrix. It moves positions only, so no kinetic energy is made; the ledger books the potential energy.

Method: the blocks of the step with other sets and velocities, so W is the same. A few Gauss–Seidel sweeps; in
absolute coordinates, where joints are among the rows, Newton's method in the order that the step has made.
Joints between bodies stay closed, and their motors resist as they do in the step.

References: [Moreau1988] for velocities as unknowns; [AcaryBremondHuber2018] for the frictionless problem.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.contact.assembly import GAP, SOURCE, VELOCITY, impulse_response, problem_rows
from taction.contact.blocks import BlockRows
from taction.contact.laws.dispatch import BOX
from taction.solvers.newton import WEIGHT, load, solve_components
from taction.solvers.newton_work import strong_work
from taction.solvers.nsgs import sweep
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.scene import TIE
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.dispatch import end_gap

SWEEPS, STEPS = 30, 60  # of Gauss–Seidel, of Newton's method


@kernel
def position_targets(options, blocks, push_out):
    """Gaps that positions would end with, as the correction's problem; returns whether any is violated."""
    is_needed = False
    rows, h = blocks.rows, options.h
    for k in range(blocks.count[0]):
        push_out.kind[k] = BOX
        for c in range(3):
            u = blocks.number[k, VELOCITY + c]
            low, high = rows.sets[k, 2 * c], rows.sets[k, 2 * c + 1]
            if blocks.index[k, SOURCE] >= 0:
                low, high = 0.0, math.inf if c == 0 else 0.0
            elif low > -math.inf and high < math.inf:
                low = high = 0.0  # dry friction and held forces hold no position
            gap = end_gap(options, blocks.number[k, GAP + c], u)
            if blocks.index[k, SOURCE] == TIE:
                gap = 0.0  # bodies move along their joints, against their motors
            elif low == -math.inf:
                is_needed = is_needed or abs(gap) > SLOP
            elif high == math.inf:
                if u * h > SLOP:
                    gap = max(gap, 0.0)  # it opens by itself
                is_needed = is_needed or gap < -SLOP
            push_out.sets[k, 2 * c], push_out.sets[k, 2 * c + 1] = low, high
            push_out.target[3 * k + c] = (gap if low == -math.inf else gap + 0.5 * SLOP) / h
    return is_needed


@kernel
def correct_positions(tree, options, blocks, L, ws, dense_io, large_io, history_io, w_out):
    """The displacement per time that repairs violated gaps into w_out (nv,); returns whether there is one.

    With joints in the problem by Newton's method, else by sweeps.
    """
    if not position_targets(options, blocks, ws):
        return False
    k = blocks.count[0]
    rows = problem_rows(blocks)
    gaps = BlockRows(
        rows.start, rows.column, rows.value, rows.diagonal, ws.target[: 3 * k], ws.kind[:k], ws.sets[:k]
    )
    for c in range(3 * k):
        ws.impulse[c] = 0.0
    if has_joint_rows(options):
        work = strong_work(k, dense_io, large_io)
        load(gaps, ws.impulse, work)
        solve_components(0.1 * SLOP / options.h, WEIGHT, STEPS, work, ws.impulse, history_io)
    else:
        for _ in range(SWEEPS):
            if math.sqrt(sweep(gaps, 1.0, ws.impulse)) * options.h <= 0.1 * SLOP:
                break
    impulse_response(tree, L, blocks, ws.impulse, w_out)
    return True
