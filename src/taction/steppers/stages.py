"""The stages of a step, one by one, for the clock.

A step is too short to time its parts from Python, and a clock inside it would be in the way. So a stage of a
step that was just taken is repeated many times in one compiled call, on the state the step started from and
in the memory it left: every stage reads what is there and writes the same again. Three things need care:

1. *solve* starts from the impulses of the step before, which gathering writes; it is timed together with
   gathering, and that is subtracted.
2. *free motion* contains kinematics, bias and mass matrix; what is timed is the whole, and the rest is what
   those leave: energies, joint laws, the factor and its solution.
3. *integration* writes the state; callers restore it before the next stage.

`STAGES` is the list, in the order of the step; `run_stage` says what each is made of, with the calls of
`taction.steppers.impulse_step`.

`repeat_step` takes the whole step as often, for comparison.

Cost: compiled when first used, as long as the step itself takes.

References: [Moreau1988] for the step whose stages these are.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.crba import tree_mass_matrix
from taction.steppers.elements import gather_contacts, gather_joints
from taction.steppers.impulse_step import (
    BEGIN,
    DONE,
    assemble,
    begin_step,
    bias_and_mass,
    find_contacts,
    finish_step,
    free_motion,
    keep_impulses,
    move,
    new_velocity,
    place,
    solve_contacts,
)
from taction.steppers.judge import judge_contacts, judge_motion
from taction.steppers.ledger import book_works
from taction.steppers.position_correction import correct_positions
from taction.steppers.scene import NEW, PUSH
from taction.steppers.ties import gather_followers, gather_ties

KINEMATICS, MASS_MATRIX, BIAS_AND_MASS, FREE_MOTION, DETECTION, GATHERING, ASSEMBLY = 0, 1, 2, 3, 4, 5, 6
GATHER_AND_SOLVE, VELOCITY, WORKS, CERTIFICATE, CORRECTION, INTEGRATION, KEEPING = 7, 8, 9, 10, 11, 12, 13
# What is timed for each stage, and what is subtracted
STAGES = {
    "kinematics": (KINEMATICS, ()),
    "bias": (BIAS_AND_MASS, (MASS_MATRIX,)),
    "mass matrix": (MASS_MATRIX, ()),
    "free motion": (FREE_MOTION, (KINEMATICS, BIAS_AND_MASS)),
    "detection": (DETECTION, ()),
    "gathering": (GATHERING, ()),
    "assembly": (ASSEMBLY, ()),
    "solve": (GATHER_AND_SOLVE, (GATHERING,)),
    "velocity": (VELOCITY, ()),
    "works": (WORKS, ()),
    "certificate": (CERTIFICATE, ()),
    "correction": (CORRECTION, ()),
    "integration": (INTEGRATION, ()),
    "keeping": (KEEPING, ()),
}


@kernel
def gather(scene, options, drive, state, ws):
    """All elements of a step into the blocks."""
    motion, sight, blocks = ws.motion, ws.sight, ws.blocks
    blocks.count[0] = 0
    gather_contacts(
        scene.tree, scene.chains, scene.surfaces, options, sight.contacts, sight.placed, sight.warm, state.v,
        motion, blocks,
    )  # fmt: skip
    gather_joints(
        scene.tree, scene.chains, scene.joints, scene.law.iq, options, motion.q, state.v, state.joint_impulse,
        motion, blocks,
    )  # fmt: skip
    if scene.ties.kind.shape[0] > 0:
        slot = state.joint_impulse.shape[0] - scene.ties.follow.shape[0]
        gather_followers(scene.tree, scene.chains, scene.ties, state.joint_impulse, slot, motion, blocks)
        slot -= 6 * scene.ties.kind.shape[0] + 3 * scene.motors.shape[0]
        gather_ties(
            scene.tree, scene.chains, scene.ties, scene.motors, options, drive, state.v, state.joint_impulse,
            slot, motion, blocks,
        )  # fmt: skip


@kernel
def prepare(stage, scene, options, tau, drive, state, ws, weight_io, record_out):
    """A stage of steps 1 and 2: up to the impulses."""
    motion, blocks = ws.motion, ws.blocks
    if stage == KINEMATICS:
        place(scene.tree, scene.ties, options, state.q, state.v, state.last, motion)
    elif stage == MASS_MATRIX:
        tree_mass_matrix(scene.tree, motion.links, motion.M)
    elif stage == BIAS_AND_MASS:
        is_discrete = options.is_momentum and not options.is_direct
        bias_and_mass(scene.tree, is_discrete, options.h, state.v, motion)
    elif stage == FREE_MOTION:
        free_motion(
            scene.tree, scene.ties, scene.law, scene.own, options, tau, state.q, state.v, state.last, motion,
            record_out,
        )  # fmt: skip
    elif stage == DETECTION:
        find_contacts(scene.colliders, scene.filter, options, BEGIN, motion.links, state, ws.sight)
    elif stage == ASSEMBLY:
        assemble(scene.tree, motion, blocks)
    else:
        gather(scene, options, drive, state, ws)
        if stage == GATHER_AND_SOLVE:
            solve_contacts(
                options, BEGIN, blocks, ws.dense, ws.large, ws.push.sweeps, ws.history, weight_io, blocks.r
            )


@kernel
def conclude(stage, scene, options, tau, drive, ws, state_io, record_out):
    """A stage of step 3: from the impulses to the new state."""
    tree, motion, blocks = scene.tree, ws.motion, ws.blocks
    if stage == VELOCITY:
        new_velocity(tree, motion, blocks)
    elif stage == WORKS:
        book_works(
            tree, scene.law, scene.own, scene.motors, options.force_h, tau, drive, state_io.q, state_io.v,
            blocks, motion, record_out,
        )  # fmt: skip
    elif stage == CERTIFICATE:
        judge_contacts(ws.sight.contacts.shape, blocks, record_out)
        judge_motion(scene.law, options.force_h, tau, state_io.q, blocks, motion, record_out)
    elif stage == CORRECTION:
        correct_positions(
            tree, options, blocks, motion.L, ws.push, ws.dense, ws.large, ws.history, motion.dof[PUSH]
        )
    elif stage == INTEGRATION:
        move(tree, scene.ties, options, False, motion.dof[NEW], motion, state_io.q)
    else:
        keep_impulses(ws.sight.contacts, blocks, state_io)


@kernel
def repeat_stage(count, stage, scene, options, tau, drive, ws, state_io, weight_io, record_out):
    """A stage so many times, on the state that a step started from and in the memory that it left."""
    for _ in range(count):
        if stage < VELOCITY:
            prepare(stage, scene, options, tau, drive, state_io, ws, weight_io, record_out)
        else:
            conclude(stage, scene, options, tau, drive, ws, state_io, record_out)


@kernel
def restore(kept, state_io):
    """A state again as it was; both have room for the same contacts."""
    for k in range(kept.q.shape[0]):
        state_io.q[k] = kept.q[k]
        state_io.last[k] = kept.last[k]
    for d in range(kept.v.shape[0]):
        state_io.v[d] = kept.v[d]
    for j in range(kept.joint_impulse.shape[0]):
        state_io.joint_impulse[j] = kept.joint_impulse[j]
    for i in range(kept.count[0]):
        for c in range(3):
            state_io.key[i, c] = kept.key[i, c]
            state_io.impulse[i, c] = kept.impulse[i, c]
    state_io.count[0] = kept.count[0]


@kernel
def repeat_step(count, scene, options, tau, drive, kept, ws, state_io, weight_io, record_out):
    """The whole step so many times, each from the state kept; returns 0, or what was missing."""
    motion, sight, blocks = ws.motion, ws.sight, ws.blocks
    for _ in range(count):
        restore(kept, state_io)
        missing = begin_step(scene, options, BEGIN, tau, drive, state_io, motion, sight, blocks, record_out)
        if missing != DONE:
            return missing
        missing, _, _ = solve_contacts(
            options, BEGIN, blocks, ws.dense, ws.large, ws.push.sweeps, ws.history, weight_io, blocks.r
        )
        if missing != DONE:
            return missing
        missing = finish_step(scene, options, tau, drive, ws, state_io, record_out)
        if missing != DONE:
            return missing
    return DONE
