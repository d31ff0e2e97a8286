"""The one place that knows both coordinate systems: names for users, an if-chain per part for kernels.

References: [Featherstone2008, Chapter 6] and [Transeth2006, Section II] for the two.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, inline_kernel
from taction.steppers import servo_rows
from taction.steppers.coordinates import absolute, reduced
from taction.steppers.coordinates.absolute import ABSOLUTE
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.scene import (
    BEFORE,
    CLOSE_ENTRY,
    DRIVES_ENTRY,
    END_ENTRY,
    FREE,
    LOOK_ENTRY,
    LOST_FLIGHT,
    NEW,
    SERVOS_ENTRY,
    TIES_ENTRY,
)

COORDINATES = {
    "reduced": "joint coordinates: Featherstone's algorithms, joints never open",
    "absolute": "every link a free body, joints as equations of the step, eliminated by one factorisation",
}
NUMBERS = {"reduced": REDUCED, "absolute": ABSOLUTE}


@inline_kernel
def look(scene, options, state, ws):
    """Put the links where the scheme looks, q into ws.q, velocities on arrival into row BEFORE of ws.dof."""
    for d in range(state.v.shape[0]):
        ws.dof[BEFORE, d] = state.v[d]
    if options.coordinates == ABSOLUTE:
        call_kernel(ws.entry[LOOK_ENTRY], (scene, options, state, ws))
    else:
        reduced.look(scene.tree, scene.chains, options, state.q, state.v, state.last, ws)


@inline_kernel
def bias(tree, chains, options, ws):
    """Row BIAS of ws.dof: weights of the placed links, and forces that velocities cause.

    So far as these do not change velocities in row BEFORE at once, as free flight does. Needs the mass matrix
    and its factor. Returns whether these forces ran away and were left out.
    """
    if options.coordinates == ABSOLUTE:
        absolute.bias(tree, options, ws)
        return ws.said[LOST_FLIGHT] > 0
    return reduced.bias(tree, chains, options, ws)


@inline_kernel
def foresee(tree, chains, options, ws):
    """Row FLIGHT of ws.dof: how velocities in row FREE will change in the flight that is left, if split."""
    if options.is_split:
        reduced.foresee(tree, chains, options, ws)


@inline_kernel
def hold_forces(options, drive, held_out):
    """Forces held_out (nv,) on the coordinates: those on the joints (nr + m,), none where joints are rows."""
    for d in range(held_out.shape[0]):
        held_out[d] = 0.0 if options.coordinates == ABSOLUTE else drive[d]


@inline_kernel
def gather_own(scene, options, drive, state, ws, blocks_io):
    """Add the rows that these coordinates alone have."""
    if options.coordinates == ABSOLUTE:
        call_kernel(ws.entry[TIES_ENTRY], (scene, options, drive, state, ws, blocks_io))
    elif scene.servos.low.shape[0] > 0:
        call_kernel(ws.entry[SERVOS_ENTRY], (scene, options, drive, state, ws, blocks_io))


@inline_kernel
def limit_free(scene, options, drive, q, ws):
    """As `limit_servos`, with the free velocities; joints that are rows have none yet."""
    if options.force_h == 0.0 or options.coordinates == ABSOLUTE:
        return 0
    return servo_rows.limit_servos(scene.servos, scene.law.iq, options.force_h, drive, q, ws.dof[FREE], ws)


@inline_kernel
def limit_servos(scene, options, drive, q, v, blocks, ws):
    """Make rows of linear servos and held drives beyond their limits at velocities v (nv,); returns how many.

    drive (nr + m,): joint forces, then inputs of the servos; q (nq,) at the start of the step.
    """
    if options.force_h == 0.0:
        return 0
    if options.coordinates == ABSOLUTE:
        return servo_rows.limit_tied(scene.servos, options.force_h, drive, blocks, ws)
    found = servo_rows.limit_servos(scene.servos, scene.law.iq, options.force_h, drive, q, v, ws)
    if ws.entry[DRIVES_ENTRY] != 0:
        found += call_kernel(ws.entry[DRIVES_ENTRY], (scene, options, blocks, ws))
    return found


@inline_kernel
def has_joint_rows(options):
    """Whether joints are equations of the problem: then it is solved by factorisations only."""
    return options.coordinates == ABSOLUTE


@inline_kernel
def first_stop(ties, motors, options, count):
    """Where the impulses of stops start among the ``count`` impulses of joints that a state keeps."""
    if options.coordinates == ABSOLUTE:
        return count - ties.follow.shape[0] - 3 * motors.shape[0]
    return 0


@inline_kernel
def move(scene, options, has_push, ws, state_io):
    """Positions and velocities at the end of the step into the state, from velocities in row NEW of ws.dof.

    With the correction in row PUSH if there is one. Returns whether forces of velocities were left out.
    """
    for d in range(state_io.v.shape[0]):
        state_io.v[d] = ws.dof[NEW, d]
    for k in range(state_io.last.shape[0]):
        state_io.last[k] = ws.q[k]
    if options.coordinates == ABSOLUTE:
        call_kernel(ws.entry[END_ENTRY], (scene, options, has_push, ws, state_io))
        return ws.said[LOST_FLIGHT] > 0
    return reduced.move(scene.tree, scene.chains, options, has_push, ws, state_io.q, state_io.v)


@inline_kernel
def close(scene, options, ws, state_io, record_out):
    """What these coordinates alone keep in the state, and book, at the end of a step."""
    if options.coordinates == ABSOLUTE:
        call_kernel(ws.entry[CLOSE_ENTRY], (scene, options, ws, state_io, record_out))
