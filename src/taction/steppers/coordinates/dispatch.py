"""The one place that knows both coordinate systems: names for users, an if-chain per part for kernels.

References: [Featherstone2008, Chapter 6] and [Transeth2006, Section II] for the two.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers import servo_rows
from taction.steppers.coordinates import absolute, reduced
from taction.steppers.coordinates.absolute import ABSOLUTE
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.scene import BEFORE, FREE, NEW

COORDINATES = {
    "reduced": "joint coordinates: Featherstone's algorithms, joints never open",
    "absolute": "every link a free body, joints as equations of the step, eliminated by one factorisation",
}
NUMBERS = {"reduced": REDUCED, "absolute": ABSOLUTE}


@inline_kernel
def look(tree, chains, ties, options, q, v, last, ws):
    """Put the links where the scheme looks, q into ws.q, velocities on arrival into row BEFORE of ws.dof.

    last (nq,): where it looked in the step before.
    """
    for d in range(v.shape[0]):
        ws.dof[BEFORE, d] = v[d]
    if options.coordinates == ABSOLUTE:
        absolute.look(tree, chains, ties, options, q, v, last, ws)
    else:
        reduced.look(tree, chains, options, q, v, last, ws)


@inline_kernel
def bias(tree, chains, options, ws):
    """Row BIAS of ws.dof: weights of the placed links, and forces that velocities cause.

    So far as these do not change velocities in row BEFORE at once, as free flight does. Needs the mass matrix
    and its factor.
    """
    if options.coordinates == ABSOLUTE:
        absolute.bias(tree, options, ws)
    else:
        reduced.bias(tree, chains, options, ws)


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
        absolute.gather(scene, options, drive, state, ws, blocks_io)
    else:
        servo_rows.gather_servos(
            scene.tree, scene.chains, scene.servos, scene.transmissions, scene.law.iq, options, drive,
            state.q, ws, blocks_io,
        )  # fmt: skip


@inline_kernel
def limit_free(scene, options, drive, q, ws):
    """As `limit_servos`, with the free velocities; joints that are rows have none yet."""
    if options.force_h == 0.0 or options.coordinates == ABSOLUTE:
        return 0
    return servo_rows.limit_servos(scene.servos, scene.law.iq, options.force_h, drive, q, ws.dof[FREE], ws)


@inline_kernel
def limit_servos(scene, options, drive, q, v, blocks, ws):
    """Make rows of linear servos that leave their limits with the new velocities v (nv,); returns how many.

    drive (nr + m,): joint forces, then inputs of the servos; q (nq,) at the start of the step.
    """
    if options.force_h == 0.0:
        return 0
    if options.coordinates == ABSOLUTE:
        return servo_rows.limit_tied(scene.servos, options.force_h, drive, blocks, ws)
    return servo_rows.limit_servos(scene.servos, scene.law.iq, options.force_h, drive, q, v, ws)


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

    With the correction in row PUSH if there is one.
    """
    tree, chains, ties = scene.tree, scene.chains, scene.ties
    for d in range(state_io.v.shape[0]):
        state_io.v[d] = ws.dof[NEW, d]
    for k in range(state_io.last.shape[0]):
        state_io.last[k] = ws.q[k]
    if options.coordinates == ABSOLUTE and options.is_split:
        absolute.fly_on(tree, chains, ties, options, has_push, ws, state_io.q, state_io.v, state_io.last)
    elif options.coordinates == ABSOLUTE:
        absolute.move(tree, ties, options, has_push, ws.dof[NEW], ws, state_io.q, state_io.v)
    else:
        reduced.move(tree, chains, options, has_push, ws, state_io.q, state_io.v)


@inline_kernel
def close(tree, ties, options, ws, state_io, record_out):
    """What these coordinates alone keep in the state, and book, at the end of a step."""
    if options.coordinates == ABSOLUTE:
        absolute.close(tree, ties, options, ws, state_io, record_out)
