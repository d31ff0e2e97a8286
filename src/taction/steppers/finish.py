"""Last stage of a step: velocities from the impulses, works and certificate, new positions, what is kept.

References: [Moreau1988] for velocities before positions.
"""

from __future__ import annotations

import math

from taction._core.jit import call_kernel, inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    FRAME,
    ROW_SIGN,
    SLOT,
    SOURCE,
    STRIKES,
    VELOCITY,
    impulse_response,
    row_velocity,
)
from taction.steppers.change_laws import remember_sliding
from taction.steppers.columns import (
    ASKED,
    AT_BOUND,
    BEYOND,
    BEYOND_LEFT,
    CORRECTION,
    JOINT_GAP,
    LEFT,
    MADE,
    MOTION,
    NOT_UNIQUE,
    PENETRATION,
    PUSHED,
    SPARED,
    TURNED,
)
from taction.steppers.contact_path import remember_paths
from taction.steppers.coordinates.dispatch import close, first_stop, limit_servos, move
from taction.steppers.joint_elements import dry_part
from taction.steppers.judge import fall, judge_contacts, judge_motion
from taction.steppers.ledger import book_works, correction_work, spring_work
from taction.steppers.phases import DONE, NOT_FINITE, SERVO_LIMIT
from taction.steppers.position_correction import correct_positions
from taction.steppers.restitution import report_bounce
from taction.steppers.scene import (
    BEFORE,
    DAMPER,
    DRY_ENTRY,
    FREE,
    HELD,
    NEW,
    PUSH,
    RIGID,
    SLOPE,
    SPRINGS_ENTRY,
    ZERO,
)


@kernel
def new_velocity(tree, ws, blocks_io):
    """Velocities after the impulses: v⁺ into row NEW of ws.dof, u⁺ = J v⁺ into the blocks."""
    impulse_response(tree, ws.L, blocks_io, blocks_io.r, ws.dof[NEW])
    for d in range(ws.dof.shape[1]):
        ws.dof[NEW, d] += ws.dof[FREE, d]
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, ws.dof[NEW])
        for c in range(3):
            blocks_io.number[k, VELOCITY + c] = u[c]


@inline_kernel
def deepest_overlap(contacts):
    """Of all contacts found [m]."""
    deepest = 0.0
    for j in range(contacts.count[0]):
        deepest = max(deepest, -contacts.gap[j])
    return deepest


@kernel
def account(scene, options, drive, state, ws, record_out):
    """Works and certificate of the step into record_out (COLUMNS,); needs the new velocities."""
    h, motion = options.force_h, ws.motion
    held = motion.dof[HELD]
    book_works(
        scene.tree, scene.own, h, held, drive, state.q, motion.dof[BEFORE], ws.blocks, motion, record_out
    )
    if motion.entry[DRY_ENTRY] != 0:
        call_kernel(motion.entry[DRY_ENTRY], (scene, options, drive, motion, record_out))
    if options.soft == RIGID:
        judge_contacts(
            options.tolerance,
            fall(scene.tree, options.h),
            ws.sight.contacts.shape,
            motion.dof[NEW],
            ws.blocks,
            record_out,
        )
    else:
        call_kernel(motion.entry[SPRINGS_ENTRY], (scene, options, ws, record_out))
    report_bounce(options, record_out[MADE], ws.blocks, ws.impact, record_out)
    if options.is_measured and options.soft == RIGID:
        # Overlap in the states that users see: halfway there bodies have flown on without forces
        record_out[PENETRATION] = deepest_overlap(ws.back.contacts)
    judge_motion(motion.law, h, held, state.q, ws.blocks, motion, record_out)


@inline_kernel
def is_finite(v, record):
    """Whether velocities (nv,), and the energies, works and residuals of a record (COLUMNS,), are numbers."""
    for d in range(v.shape[0]):
        if not abs(v[d]) < math.inf:
            return False
    for c in range(JOINT_GAP + 1):
        if not abs(record[c]) < math.inf:
            return False
    return True


@kernel
def correct(scene, options, is_bounded, state, ws, record_out):
    """The correction of positions into row PUSH; its work into record_out.

    is_bounded: it is there already. Returns what is missing, and whether there is one.
    """
    motion = ws.motion
    record_out[CORRECTION] = record_out[PUSHED] = record_out[TURNED] = record_out[LEFT] = 0.0
    record_out[BEYOND] = record_out[BEYOND_LEFT] = record_out[AT_BOUND] = record_out[SPARED] = 0.0
    record_out[ASKED] = 0.0
    if options.move_h == 0.0:
        return DONE, False
    stops = first_stop(scene.ties, scene.motors, options, state.joint_impulse.shape[0])
    missing, has_push = correct_positions(scene, options, is_bounded, stops, state.v, ws, record_out)
    if missing == DONE and has_push:
        work = correction_work(
            scene.tree, scene.own, motion.q, motion.dof[PUSH], options.h, motion.dof[ZERO], motion.links,
            motion.dof[SLOPE],
        )  # fmt: skip
        record_out[CORRECTION] = work + spring_work(scene.motors, options.h, motion.dof[PUSH], ws.blocks)
    return missing, has_push


@kernel
def finish_step(scene, options, is_bounded, drive, ws, state_io, record_out):
    """From impulses to the new state and the record of the step (COLUMNS,); returns what is missing.

    is_bounded: the correction of positions is there, after `BOUND_PUSH`.
    """
    motion, blocks = ws.motion, ws.blocks
    new = motion.dof[NEW]
    new_velocity(scene.tree, motion, blocks)
    if limit_servos(scene, options, drive, state_io.q, new, blocks, motion) > 0:
        return SERVO_LIMIT
    account(scene, options, drive, state_io, ws, record_out)
    missing, has_push = correct(scene, options, is_bounded, state_io, ws, record_out)
    if missing != DONE:
        return missing
    if not is_finite(new, record_out):
        return NOT_FINITE
    if move(scene, options, has_push, motion, state_io):
        record_out[MOTION] = 1.0
    if options.is_measured and options.soft == RIGID:
        remember_sliding(options.h, blocks, ws.sight.memory)
    elif options.is_split and options.soft == RIGID:
        remember_paths(ws.sight.contacts, blocks, ws.sight.memory)
    if options.soft == RIGID:
        remember_strikes(options.memory - 1, blocks, ws.sight.memory)
    keep_contacts(ws.sight, blocks, state_io)
    state_io.not_unique[0] = int(record_out[NOT_UNIQUE])
    close(scene, options, motion, state_io, record_out)
    return DONE


@inline_kernel
def keep_friction(k, freedoms, blocks, joint_impulse_io):
    """Move what is dry friction in the rows of closed stops of block k to where friction is kept."""
    for c in range(3):
        low, slot = blocks.rows.sets[k, 2 * c], blocks.index[k, SLOT + c]
        if low < 0.0 and blocks.rows.sets[k, 2 * c + 1] == math.inf and 0 <= slot < 2 * freedoms:
            part = dry_part(low, math.inf, blocks.r[3 * k + c])
            joint_impulse_io[slot] -= part
            joint_impulse_io[2 * freedoms + slot % freedoms] += blocks.number[k, ROW_SIGN + c] * part


@inline_kernel
def remember_strikes(column, blocks, memory_io):
    """Which contacts struck anew in this step, into a column of memory_io (c, m)."""
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] >= 0:
            memory_io[blocks.index[k, SOURCE], column] = 1.0 if blocks.index[k, STRIKES] == 2 else 0.0


@kernel
def keep_contacts(sight, blocks, state_io):
    """Identities, impulses and memories of this step's elements into the state, for the next step."""
    n, contacts = 0, sight.contacts
    for j in range(state_io.joint_impulse.shape[0]):
        state_io.joint_impulse[j] = 0.0
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            for c in range(3):
                if blocks.index[k, SLOT + c] >= 0:
                    state_io.joint_impulse[blocks.index[k, SLOT + c]] = blocks.r[3 * k + c]
            keep_friction(k, state_io.v.shape[0], blocks, state_io.joint_impulse)
            continue
        state_io.key[n, 0] = contacts.shape[i, 0]
        state_io.key[n, 1] = contacts.shape[i, 1]
        state_io.key[n, 2] = contacts.feature[i]
        for c in range(3):
            state_io.impulse[n, c] = blocks.r[3 * k + c]
        for c in range(state_io.memory.shape[1]):
            state_io.memory[n, c] = sight.memory[i, c]
        n += 1
    state_io.count[0] = n


@kernel
def record_contacts(step, contacts, blocks, table_io):
    """Append this step's contacts to the table of a run, which has room for them."""
    n = table_io.count[0]
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            continue
        table_io.step[n] = step
        table_io.key[n, 0], table_io.key[n, 1] = contacts.shape[i, 0], contacts.shape[i, 1]
        table_io.key[n, 2] = contacts.feature[i]
        table_io.gap[n] = contacts.gap[i]
        for c in range(3):
            table_io.point[n, c] = contacts.point[i, c]
            table_io.impulse[n, c] = blocks.r[3 * k + c]
            if k + 1 < blocks.count[0] and blocks.index[k + 1, SOURCE] == DAMPER:
                table_io.impulse[n, c] += blocks.r[3 * (k + 1) + c]
            # Where the laws hold: with what free flight still changes
            table_io.velocity[n, c] = blocks.number[k, VELOCITY + c] + blocks.number[k, AHEAD + c]
        for c in range(9):
            table_io.frame[n, c] = blocks.number[k, FRAME + c]
        n += 1
    table_io.count[0] = n
