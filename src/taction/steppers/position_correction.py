"""The correction of positions: a displacement that repairs violated gaps and changes no velocity.

What it solves: a step may end with a violated gap or an open loop, by linearisation errors of second order in
h, with Moreau's rule by the depth reached before a contact was seen, and where bodies start one inside
another. Where one does not open by itself,

    q⁺ = q ⊕ … ⊕ h w,   w = M⁻¹ Jᵀ π,   0 ≤ π ⊥ g/h + J w ≥ 0   (equations g/h + J w = 0 for loops)

with g the gap that the step would end with and no friction: the displacement that is least in the metric of
the mass matrix. It moves positions only, so no kinetic energy is made; the ledger books the potential energy.

Bounds: what is deeper than a step may repair counts as that deep, and is pushed out over several steps, at a
bounded speed; what moves out by itself is pushed by what is missing to that speed. Where the displacement
then still moves or turns something too far the step asks for one that does not
(`taction.steppers.push_bounds`). What is left over is in the step's record.

Method: the blocks of the step with other sets and velocities, so W is the same. A few Gauss–Seidel sweeps,
and Newton's method where they do not close loops; in absolute coordinates, where joints are among the rows,
Newton's method alone. With a slight compliance, for what stops and loops ask may contradict each other
(`taction.solvers.soft_newton`). Joints between bodies stay closed, and their motors resist as they do in the
step.

References: [Moreau1988] for velocities as unknowns; [AcaryBremondHuber2018] for the frictionless problem.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, kernel
from taction.contact.assembly import SOURCE, row_velocity
from taction.steppers.columns import ASKED, AT_BOUND, BEYOND, BEYOND_LEFT, LEFT, PUSHED, SPARED, TURNED
from taction.steppers.phases import BOUND_PUSH, DONE
from taction.steppers.push_bounds import clear, push_size, rooms, scale_trees
from taction.steppers.push_easing import is_far, spared
from taction.steppers.push_problem import (
    beyond_stops,
    is_stop,
    largest_target,
    position_targets,
    solve_push,
    violation,
)
from taction.steppers.scene import BOUND_ENTRY, PUSH, RIGID
from taction.steppers.schemes.base import SLOP


@kernel
def what_is_left(options, blocks, v, w):
    """(deepest overlap, farthest beyond a stop) that positions end with, to first order, with h w (nv,)."""
    worst = farthest = 0.0
    for k in range(blocks.count[0]):
        for c in range(3):
            if is_stop(blocks, k, c):
                gap, _ = violation(options, blocks, k, c, v)
                u = row_velocity(blocks, k, w)
                farthest = max(
                    farthest, -(gap + options.h * (u[0] if c == 0 else (u[1] if c == 1 else u[2])))
                )
        if blocks.index[k, SOURCE] >= 0 and options.soft == RIGID:
            gap, _ = violation(options, blocks, k, 0, v)
            u, _, _ = row_velocity(blocks, k, w)
            worst = max(worst, -(gap + options.h * u))
    return worst, farthest


@kernel
def correct_positions(scene, options, is_bounded, stops, v, ws, record_out):
    """The displacement per time that repairs violated gaps into row PUSH of ws.motion.dof.

    is_bounded: it is there, by `taction.steppers.push_bounds.bound_push`. stops: where impulses of stops
    start among those of joints; v (nv,): velocities at the start of the step. How far it goes and what it
    leaves is written into record_out. Returns what is missing, and whether there is one.
    """
    blocks, push, motion = ws.blocks, ws.push, ws.motion
    if not is_bounded:
        push.is_eased[0] = push.is_held[0] = False
    has_push, is_at_bound, deepest, farthest = position_targets(options, blocks, v, push)
    record_out[PUSHED] = record_out[TURNED] = record_out[SPARED] = 0.0
    record_out[ASKED] = options.h * largest_target(blocks, push) if has_push else 0.0
    if has_push:
        if not is_bounded:
            clear(blocks.count[0], push)
            missing = solve_push(scene, options, ws)
            if missing != DONE:
                return missing, True
            rooms(scene, options, stops, blocks, motion, push)
            if is_far(scene, options, ws):
                push.is_eased[0] = True
            elif scale_trees(scene, options, v, blocks, motion, push) < 1.0:
                push.is_held[0] = True
            if push.is_eased[0] or push.is_held[0]:
                if motion.entry[BOUND_ENTRY] == 0:
                    return BOUND_PUSH, True
                missing = call_kernel(motion.entry[BOUND_ENTRY], (scene, options, v, ws))
                if missing != DONE:
                    return missing, True
        record_out[PUSHED], record_out[TURNED] = push_size(scene, options.h, blocks, motion)
        if push.is_eased[0]:
            record_out[SPARED] = spared(options, blocks, v, motion.dof[PUSH], push)
        deepest, farthest = what_is_left(options, blocks, v, motion.dof[PUSH])
    record_out[LEFT] = deepest if deepest > SLOP else 0.0
    record_out[BEYOND] = beyond_stops(blocks)
    record_out[BEYOND_LEFT] = farthest if farthest > SLOP else 0.0
    record_out[AT_BOUND] = 1.0 if has_push and (is_at_bound or push.is_held[0]) else 0.0
    return DONE, has_push
