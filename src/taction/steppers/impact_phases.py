"""The problems of an impact, each posed in the place of the step's own, and what comes of them.

What they solve, in which order, and why: `taction.steppers.restitution`. Here the blocks of a step get other
sets, offsets and free velocities for each phase; what they had is kept in `Impact`, and put back at the end.

References: [GlockerPfeiffer1995] for both phases.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    BOUNCE,
    COMPLIANCE,
    GIVES_BACK,
    OFFSET,
    SOURCE,
    VELOCITY,
    impulse_response,
    row_velocity,
)
from taction.contact.laws.dispatch import contact_set, is_rowwise, returned_set
from taction.steppers.columns import RESIDUAL, UNCONVERGED
from taction.steppers.judge import fall, judge_contacts, norm, pronounce
from taction.steppers.scene import BEFORE, FREE, NEW

# Of Impact.stage; the last two of the phases are those without friction
NOTHING_STRUCK, BLOW, COMPRESSION, EXPANSION, SMOOTH_BLOW, SMOOTH_EXPANSION, OVER = range(7)
# Of Impact.number: ‖b‖ of the compression; what the blow took [J]; κ, and what the expansion gave with it
# [J]; the largest coefficient; energy that the tolerance hides [J]; what the expansion gives for κ and for κ²
# [J]; what it may give [J]
SIZE, LOSS, KEPT, GAIN, LARGEST, SLACK, LINEAR, SQUARE, ALLOWED = range(9)


@kernel
def put_velocity(v, blocks_io):
    """Free velocities b of the blocks: J v plus their offsets; v (nv,)."""
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, v)
        for c in range(3):
            blocks_io.rows.b[3 * k + c] = u[c] + blocks_io.number[k, OFFSET + c]


@kernel
def put_own(is_whole, impact, blocks_io):
    """Kinds, sets and offsets that the step had; bounces only if it is whole."""
    for k in range(blocks_io.count[0]):
        blocks_io.rows.kind[k] = impact.kind[k]
        for c in range(6):
            blocks_io.rows.sets[k, c] = impact.sets[k, c]
        for c in range(3):
            blocks_io.number[k, OFFSET + c] = impact.offset[3 * k + c]
        if blocks_io.index[k, SOURCE] >= 0 and not is_whole:
            blocks_io.number[k, OFFSET] -= blocks_io.number[k, BOUNCE]


@inline_kernel
def without_forces(options, k, blocks_io):
    """Block k while no force acts: what is bounded carries nothing, stops and equations stay."""
    sets = blocks_io.rows.sets
    if not is_rowwise(blocks_io.rows.kind[k]):
        # a force holds on: no adhesion in a blow
        blocks_io.rows.kind[k] = returned_set(options.cone, 0.0, sets[k])
        return
    for c in range(3):
        if sets[k, 2 * c] > -math.inf or blocks_io.number[k, COMPLIANCE + c] != 0.0:
            sets[k, 2 * c] = 0.0
        if sets[k, 2 * c + 1] < math.inf or blocks_io.number[k, COMPLIANCE + c] != 0.0:
            sets[k, 2 * c + 1] = 0.0


@kernel
def pose_blow(options, motion, blocks_io, impact_io):
    """Phase 1 as the problem at hand; keeps what the step had."""
    for k in range(blocks_io.count[0]):
        impact_io.kind[k] = blocks_io.rows.kind[k]
        for c in range(6):
            impact_io.sets[k, c] = blocks_io.rows.sets[k, c]
        for c in range(3):
            impact_io.offset[3 * k + c] = blocks_io.number[k, OFFSET + c]
            impact_io.first[3 * k + c] = blocks_io.r[3 * k + c]
            blocks_io.r[3 * k + c] = 0.0
    put_own(False, impact_io, blocks_io)
    for k in range(blocks_io.count[0]):
        without_forces(options, k, blocks_io)
    put_velocity(motion.dof[BEFORE], blocks_io)
    impact_io.stage[0], impact_io.count[0] = BLOW, 0


@kernel
def end_phase(scene, options, phase, start, shape, ws, blocks_io, impact_io):
    """Velocities at the end of a phase from those at its start (nv,), and its verdict; into the blocks, too.

    ws: scratch of the dynamics; shape (c, 2): of the contacts.
    """
    end, change = impact_io.velocity[1], ws.dof[NEW]
    impulse_response(scene.tree, ws.L, blocks_io, blocks_io.r, change)
    for d in range(end.shape[0]):
        end[d] = start[d] + change[d]
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, end)
        for c in range(3):
            blocks_io.number[k, VELOCITY + c] = u[c]
    speed = fall(scene.tree, options.h)
    judge_contacts(options.tolerance, speed, shape, end, blocks_io, impact_io.verdict[phase - BLOW])


@kernel
def pose_compression(motion, blocks_io, impact_io):
    """Phase 2 as the problem at hand; keeps what comes back, and what the blow took."""
    loss, largest = 0.0, 0.0
    for k in range(blocks_io.count[0]):
        number = blocks_io.number[k]
        u = row_velocity(blocks_io, k, motion.dof[BEFORE])
        for c in range(3):
            loss -= 0.5 * blocks_io.r[3 * k + c] * (u[c] + number[VELOCITY + c])
            impact_io.given[3 * k + c] = 0.0
        if blocks_io.index[k, SOURCE] < 0:
            for c in range(3):
                blocks_io.r[3 * k + c] = impact_io.first[3 * k + c]
        elif blocks_io.r[3 * k] > 0.0 and number[GIVES_BACK] > 0.0:
            impact_io.given[3 * k] = number[GIVES_BACK] * blocks_io.r[3 * k]
            largest = max(largest, number[GIVES_BACK])
    put_own(False, impact_io, blocks_io)
    put_velocity(motion.dof[FREE], blocks_io)
    impact_io.number[LOSS], impact_io.number[LARGEST] = max(loss, 0.0), largest
    impact_io.number[SIZE] = norm(blocks_io.rows.b, 3 * blocks_io.count[0])
    impact_io.stage[0] = COMPRESSION


@inline_kernel
def count_from(options, k, given, blocks_io):
    """The set of block k for what acts beside ``given`` and the impulses of the compression, which it has."""
    kind, sets = blocks_io.rows.kind, blocks_io.rows.sets
    if not is_rowwise(kind[k]):
        kind[k] = returned_set(options.cone, given, sets[k])
        return
    if blocks_io.index[k, SOURCE] >= 0:
        sets[k, 0] = 0.0
        return
    for c in range(3):
        sets[k, 2 * c] -= blocks_io.r[3 * k + c]
        sets[k, 2 * c + 1] -= blocks_io.r[3 * k + c]
        blocks_io.number[k, OFFSET + c] += blocks_io.number[k, COMPLIANCE + c] * blocks_io.r[3 * k + c]


@kernel
def pose_expansion(scene, options, ws, blocks_io, impact_io):
    """Phase 3 as the problem at hand, from where phase 2 ended."""
    start, change = impact_io.velocity[0], ws.dof[NEW]
    impulse_response(scene.tree, ws.L, blocks_io, impact_io.given, change)
    for d in range(start.shape[0]):
        start[d] = impact_io.velocity[1, d]
        change[d] += start[d]
    for k in range(blocks_io.count[0]):
        count_from(options, k, impact_io.given[3 * k], blocks_io)
        for c in range(3):
            impact_io.first[3 * k + c] = blocks_io.r[3 * k + c]
            blocks_io.r[3 * k + c] = 0.0
    put_velocity(change, blocks_io)
    for d in range(start.shape[0]):
        impact_io.velocity[1, d] = change[d]
    impact_io.stage[0] = EXPANSION


@kernel
def weigh_expansion(options, blocks, impact_io):
    """What the expansion gives: κ Λ_E·u_1 + ½ κ² Λ_E·(u − u_1); all of Λ_E into what comes back.

    It may give e² of what the blow took. Nothing comes back where it was not solved.
    """
    number, verdict = impact_io.number, impact_io.verdict[EXPANSION - BLOW]
    size = norm(blocks.rows.b, 3 * blocks.count[0])
    # the expansion as exact as the compression: where little comes back its own velocities are rounding
    if size < number[SIZE]:
        pronounce(options.tolerance, verdict[RESIDUAL] * size / number[SIZE], verdict)
    number[SLACK] = options.tolerance * number[SIZE] * norm(impact_io.given, 3 * blocks.count[0])
    linear = square = 0.0
    for k in range(blocks.count[0]):
        u = row_velocity(blocks, k, impact_io.velocity[0])
        for c in range(3):
            if verdict[UNCONVERGED] > 0.0:
                impact_io.given[3 * k + c] = 0.0
                continue
            impact_io.given[3 * k + c] += blocks.r[3 * k + c]
            r = impact_io.given[3 * k + c]
            linear += r * u[c]
            square += 0.5 * r * (blocks.number[k, VELOCITY + c] - u[c])
    number[LINEAR], number[SQUARE] = linear, square
    number[ALLOWED] = number[LARGEST] * number[LARGEST] * number[LOSS]


@kernel
def is_rubbed(blocks, impact):
    """Whether friction acted, and there is more than one contact: without it they might return less."""
    contacts, has_friction = 0, False
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] >= 0:
            contacts += 1
            for c in range(3 * k + 1, 3 * k + 3):
                has_friction = has_friction or impact.first[c] != 0.0 or impact.given[c] != 0.0
    return contacts > 1 and has_friction


@kernel
def pose_smooth_blow(options, motion, blocks_io, impact_io):
    """Phase 1 without friction as the problem at hand."""
    put_own(False, impact_io, blocks_io)
    for k in range(blocks_io.count[0]):
        without_forces(options, k, blocks_io)
        if blocks_io.index[k, SOURCE] >= 0:
            blocks_io.rows.kind[k] = contact_set(options.cone, 0.0, 0.0, 0.0, 0.0, blocks_io.rows.sets[k])
        for c in range(3):
            blocks_io.r[3 * k + c] = 0.0
    put_velocity(motion.dof[BEFORE], blocks_io)
    impact_io.stage[0] = SMOOTH_BLOW


@kernel
def pose_smooth_expansion(scene, ws, blocks_io, impact_io):
    """Phase 3 without friction as the problem at hand; keeps by how much more the blow with it took."""
    start, loss = impact_io.velocity[0], 0.0
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, ws.dof[BEFORE])
        for c in range(3):
            loss -= 0.5 * blocks_io.r[3 * k + c] * (u[c] + blocks_io.number[k, VELOCITY + c])
            impact_io.smooth[3 * k + c] = 0.0
        if blocks_io.index[k, SOURCE] >= 0:
            impact_io.smooth[3 * k] = blocks_io.number[k, GIVES_BACK] * blocks_io.r[3 * k]
        for c in range(3):
            blocks_io.r[3 * k + c] = 0.0
    change = ws.dof[NEW]
    impulse_response(scene.tree, ws.L, blocks_io, impact_io.smooth, change)
    for d in range(start.shape[0]):
        start[d] = impact_io.velocity[1, d]
        impact_io.velocity[1, d] += change[d]
    put_velocity(impact_io.velocity[1], blocks_io)
    impact_io.number[KEPT] = impact_io.number[LOSS] - loss
    impact_io.stage[0] = SMOOTH_EXPANSION


@kernel
def allow_smooth(blocks, impact_io):
    """No more than what ends with the energy of the impact without friction."""
    number, gain = impact_io.number, 0.0
    for k in range(blocks.count[0]):
        u = row_velocity(blocks, k, impact_io.velocity[0])
        for c in range(3):
            r = impact_io.smooth[3 * k + c] + blocks.r[3 * k + c]
            gain += 0.5 * r * (u[c] + blocks.number[k, VELOCITY + c])
    number[ALLOWED] = min(number[ALLOWED], max(number[KEPT] + gain, 0.0))


@kernel
def end_impact(motion, blocks_io, impact_io):
    """Phase 4: impulses of all phases together, and the step's own problem back in place."""
    number, share = impact_io.number, 1.0
    linear, square, allowed = number[LINEAR], number[SQUARE], number[ALLOWED]
    if not linear + square <= allowed + number[SLACK]:
        root = math.sqrt(max(linear * linear + 4.0 * square * allowed, 0.0))
        share = min(max((root - linear) / (2.0 * square), 0.0), 1.0) if square > 0.0 else 0.0
    for c in range(3 * blocks_io.count[0]):
        blocks_io.r[c] = impact_io.first[c]
        if share > 0.0:
            blocks_io.r[c] += share * impact_io.given[c]
    number[KEPT], number[GAIN] = share, share * (linear + share * square)
    put_own(True, impact_io, blocks_io)
    put_velocity(motion.dof[FREE], blocks_io)
    impact_io.stage[0] = OVER
