"""The stages of a step, one by one, for the clock.

A step is too short to time its parts from Python, and a clock inside it would be in the way. So a stage of a
step that was just taken is repeated many times in one compiled call, on the state the step started from and
in the memory it left: every stage reads what is there and writes the same again. Three things need care:

1. *solve* starts from the impulses of the step before, which gathering writes; it is timed together with
   gathering, and that is subtracted.
2. *free motion* contains kinematics, bias and mass matrix; what is timed is the whole, and the stage is what
   those leave: energies, joint laws, the factor and its solution.
3. *integration* writes the state; callers restore it before the next stage.

`STAGES` is the list, in the order of the step; `prepare` and `conclude` say what each is made of, with the
calls of `taction.steppers.impulse_step`.

`repeat_step` takes the whole step as often, for comparison.

Cost: compiled when first used, as long as the step itself takes.

References: [Moreau1988] for the step whose stages these are.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.crba import tree_mass_matrix
from taction.steppers.contact_search import find_contacts
from taction.steppers.contact_solve import solve_contacts
from taction.steppers.coordinates.dispatch import bias, look, move
from taction.steppers.finish import account, correct, keep_contacts, new_velocity
from taction.steppers.free_motion import free_motion
from taction.steppers.gather import assemble, gather_elements
from taction.steppers.impulse_step import step
from taction.steppers.phases import BEGIN, DONE

KINEMATICS, BIAS, MASS_MATRIX, FREE_MOTION, DETECTION, GATHERING, ASSEMBLY, GATHER_AND_SOLVE = range(8)
VELOCITY, ACCOUNT, CORRECTION, INTEGRATION, KEEPING = range(8, 13)
# What is timed for each stage, and what is subtracted
STAGES = {
    "kinematics": (KINEMATICS, ()),
    "bias": (BIAS, ()),
    "mass matrix": (MASS_MATRIX, ()),
    "free motion": (FREE_MOTION, (KINEMATICS, BIAS, MASS_MATRIX)),
    "detection": (DETECTION, ()),
    "gathering": (GATHERING, ()),
    "assembly": (ASSEMBLY, ()),
    "solve": (GATHER_AND_SOLVE, (GATHERING,)),
    "velocity": (VELOCITY, ()),
    "works and certificate": (ACCOUNT, ()),
    "correction": (CORRECTION, ()),
    "integration": (INTEGRATION, ()),
    "keeping": (KEEPING, ()),
}


@kernel
def prepare(stage, scene, options, drive, state, ws, weight_io, record_out):
    """A stage up to the impulses."""
    motion, blocks = ws.motion, ws.blocks
    if stage == KINEMATICS:
        look(scene, options, state, motion)
    elif stage == BIAS:
        bias(scene.tree, scene.chains, options, motion)
    elif stage == MASS_MATRIX:
        tree_mass_matrix(scene.tree, motion.links, motion.M)
    elif stage == FREE_MOTION:
        free_motion(scene, options, drive, state, motion, record_out)
    elif stage == DETECTION:
        find_contacts(scene, options, BEGIN, motion, state, ws.sight)
    elif stage == ASSEMBLY:
        assemble(scene.tree, options, motion, blocks)
    else:
        gather_elements(scene, options, drive, state, ws.sight, motion, blocks)
        if stage == GATHER_AND_SOLVE:
            before = state.not_unique[0]
            solve_contacts(options, BEGIN, scene.tree, motion.L, before, ws, weight_io, blocks.r)


@kernel
def conclude(stage, scene, options, drive, ws, state_io, record_out):
    """A stage from the impulses to the new state."""
    motion, blocks = ws.motion, ws.blocks
    if stage == VELOCITY:
        new_velocity(scene.tree, motion, blocks)
    elif stage == ACCOUNT:
        account(scene, options, drive, state_io, ws, record_out)
    elif stage == CORRECTION:
        correct(scene, options, False, state_io, ws, record_out)
    elif stage == INTEGRATION:
        move(scene, options, False, motion, state_io)
    else:
        keep_contacts(ws.sight, blocks, state_io)


@kernel
def repeat_stage(count, stage, scene, options, drive, ws, state_io, weight_io, record_out):
    """A stage so many times, on the state that a step started from and in the memory that it left."""
    for _ in range(count):
        if stage < VELOCITY:
            prepare(stage, scene, options, drive, state_io, ws, weight_io, record_out)
        else:
            conclude(stage, scene, options, drive, ws, state_io, record_out)


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
    state_io.count[0], state_io.not_unique[0] = kept.count[0], kept.not_unique[0]
    for t in range(kept.angle.shape[0]):
        for c in range(3):
            state_io.angle[t, c] = kept.angle[t, c]


@kernel
def repeat_step(count, scene, options, drive, kept, ws, state_io, weight_io, record_out):
    """The whole step so many times, each from the state kept; returns 0, or what was missing."""
    for _ in range(count):
        restore(kept, state_io)
        missing = step(scene, options, BEGIN, drive, -1, ws, state_io, weight_io, record_out)
        if missing != DONE:
            return missing
    return DONE
