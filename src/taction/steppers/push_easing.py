"""Loops that are nearly redundant: what of their gaps the correction of positions closes, and what not.

What it solves: a hinge that a file closes by two points on its axis has more rows than freedoms, and the
digits of the file leave them nearly redundant: a gap of 1e-8 m in a direction whose lever is 1e-8 m turns a
joint by a radian, step after step, if it is closed. Here the equations of loops give way by

    ε_r = ς² W_rr max(1, 1/q_r²),   q_r = max over freedoms of lever / size, or of the entry itself

with the size of what the loop connects and ς = `SHARE`: as if no lever were shorter than a thousandth of
that. Of the gap in a direction in which impulses cause the velocity σ² a share s = σ²/(σ² + ε) is closed.

Bound: π = −(W + E)⁻¹ g/h causes w with wᵀ M w ≤ ¼ (g/h)ᵀ E⁻¹ (g/h), for σ²/(σ² + ε)² ≤ 1/(4 ε); and freedom i
moves by no more than w_i² ≤ (M⁻¹)_ii wᵀ M w. So a joint turns by no more than the gap over twice a thousandth
of the size, whatever the rows say.

Method
1. *When*: the exact correction stands where it keeps a tenth of that bound, h² wᵀ M w ≤ 0.0025 Σ g_r²/ε_r
   over the loops of a mechanism, with the slop for smaller gaps; contacts and stops may take what they do,
   h² π u, besides. A loop that is not nearly redundant needs g²/W where 2500 g²/W is allowed.
2. *What*: the eased problem, `ROUNDS` times in all, each for the part of the gaps that the one before closed:
   the share becomes s^ROUNDS, which keeps what has a lever and drops what has none. The first round alone
   would let a joint creep all the way in many steps. A part within the slop is none.

What is left stays open, is no cause to move, and is in the step's record.

References: [NakamuraHanafusa1986] for damped least squares; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import LENGTH, SIZE, TREE, TURNING, row_velocity
from taction.contact.chains import is_linear_freedom
from taction.solvers.newton import load
from taction.solvers.soft_newton import solve_softly
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.ledger import mass_times
from taction.steppers.phases import DONE, ORDER_PUSH
from taction.steppers.push_problem import STEPS, is_ready, move_by, position_targets, push_rows, strong_work
from taction.steppers.scene import PUSH, SLOPE
from taction.steppers.schemes.base import SLOP

SHARE = 1e-3  # ς: a lever shorter than this, of the size of what a loop connects, is none
ROUNDS = 4
NEARLY = 0.0025  # of g²/ε: where levers of a hundredth of the size are none, the exact correction stands
LEAST = 10.0  # contacts and stops may take so many times what opening the gap alone would take
GIVING = 1e-4  # compliance of other rows, relative: what stops ask against loops gives way before loops do


@inline_kernel
def is_loop_row(blocks, push, k, c):
    """Whether row c of block k is an equation of a loop."""
    return blocks.number[k, SIZE] > 0.0 and push.sets[k, 2 * c] == -math.inf


@kernel
def easing(scene, blocks, k, c):
    """ε of row c of block k, an equation of a loop; one where nothing moves along it."""
    size, largest = blocks.number[k, SIZE] if blocks.index[k, TURNING + c] == 0 else 1.0, 0.0
    for n in range(blocks.index[k, LENGTH]):
        is_linear = is_linear_freedom(scene.tree, scene.chains, blocks.dof[k, n])
        largest = max(largest, abs(blocks.J[k, n, c]) / (1.0 if is_linear else size))
    own = blocks.rows.value[blocks.rows.diagonal[k], 4 * c]
    if not (largest > 0.0 and own > 0.0):
        return 1.0
    return SHARE * SHARE * own * max(1.0, 1.0 / (largest * largest))


@inline_kernel
def touches(blocks, k, i):
    """Whether blocks k and i move bodies of one kinematic tree."""
    for s in range(3):
        for o in range(3):
            if blocks.index[k, TREE + s] != 0 and blocks.index[k, TREE + s] == blocks.index[i, TREE + o]:
                return True
    return False


@kernel
def allowed(scene, h, blocks, push, w, k):
    """What of h² wᵀ M w is worth the gaps of block k, by impulses in push that cause w (nv,)."""
    most = 0.0
    u = row_velocity(blocks, k, w)
    for c in range(3):
        rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
        gap, own = h * push.target[3 * k + c], blocks.rows.value[blocks.rows.diagonal[k], 4 * c]
        if is_loop_row(blocks, push, k, c):
            gap = max(abs(gap), SLOP)
            most += NEARLY * gap * gap / easing(scene, blocks, k, c)
        elif push.sets[k, 2 * c] == 0.0 and push.sets[k, 2 * c + 1] == math.inf and gap < 0.0 and own > 0.0:
            most += max(LEAST * gap * gap / own, h * h * abs(push.impulse[3 * k + c] * rate))
    return most


@kernel
def is_far(scene, options, ws):
    """Step 1: whether loops move more than their gaps are worth, by impulses in ws.push and what they cause.

    Row SLOPE of ws.motion.dof = M w is used up.
    """
    blocks, push, w, momentum = ws.blocks, ws.push, ws.motion.dof[PUSH], ws.motion.dof[SLOPE]
    n, h, root, is_tied = blocks.count[0], options.h, scene.chains.root, has_joint_rows(options)
    is_known = False
    for k in range(n):
        if not blocks.number[k, SIZE] > 0.0:
            continue
        if not is_known:
            mass_times(scene.tree, ws.motion.M, w, momentum)
            is_known = True
        way = most = 0.0
        for d in range(w.shape[0]):
            tree = root[scene.chains.dof_link[d]]
            if is_tied or tree == blocks.index[k, TREE] or tree == blocks.index[k, TREE + 1]:
                way += h * h * w[d] * momentum[d]
        for i in range(n):
            if is_tied or touches(blocks, k, i):
                most += allowed(scene, h, blocks, push, w, i)
        if not way <= most:
            return True
        if is_tied:
            return False
    return False


@kernel
def keep_closed_part(h, blocks, w, push_io):
    """Targets of loops become what of them w (nv,) closes in a time h; none where that is within the slop."""
    for k in range(blocks.count[0]):
        if blocks.number[k, SIZE] > 0.0:
            u = row_velocity(blocks, k, w)
            for c in range(3):
                if is_loop_row(blocks, push_io, k, c):
                    rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
                    push_io.target[3 * k + c] = -rate if h * abs(rate) > SLOP else 0.0


@kernel
def solve_eased(scene, options, ws):
    """Step 2 into row PUSH of ws.motion.dof, and the velocities of links under it; returns what is missing.

    From the targets and sets in ws.push; its targets of loops are used up.
    """
    blocks, push, is_plain = ws.blocks, ws.push, not has_joint_rows(options)
    gaps = push_rows(blocks, push)
    if not is_ready(gaps, is_plain, ws):
        return ORDER_PUSH
    work = strong_work(gaps, is_plain, ws.large, ws.dense)
    for _ in range(ROUNDS):
        # impulses of an exact solution would be far from all others
        for c in range(3 * blocks.count[0]):
            push.impulse[c] = 0.0
        load(gaps, push.impulse, work)
        for t in range(blocks.count[0]):
            k = work.order[t]
            for c in range(3):
                if is_loop_row(blocks, push, k, c):
                    s = work.scale[3 * t + c]
                    at = work.rows.diagonal[t]
                    work.rows.value[at, 4 * c] += s * s * easing(scene, blocks, k, c)
        solve_softly(0.1 * SLOP / options.h, GIVING, STEPS, work, push.impulse, ws.history)
        move_by(scene, ws)
        keep_closed_part(options.h, blocks, ws.motion.dof[PUSH], push)
    return DONE


@kernel
def spared(options, blocks, v, w, push_out):
    """Largest gap of a loop that positions end with [m or rad], to first order, with h w (nv,).

    v (nv,) at the start of the step. Leaves targets and sets of the whole problem in push_out.
    """
    worst = 0.0
    _ = position_targets(options, blocks, v, push_out)
    for k in range(blocks.count[0]):
        if blocks.number[k, SIZE] > 0.0:
            u = row_velocity(blocks, k, w)
            for c in range(3):
                if is_loop_row(blocks, push_out, k, c):
                    rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
                    worst = max(worst, options.h * abs(push_out.target[3 * k + c] + rate))
    return worst
