"""The one place that knows both coordinate systems: names for users, an if-chain per part for kernels.

References: [Featherstone2008, Chapter 6] and [Transeth2006, Section II] for the two.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.steppers.coordinates import absolute, reduced
from taction.steppers.coordinates.absolute import ABSOLUTE
from taction.steppers.coordinates.reduced import REDUCED

COORDINATES = {
    "reduced": "joint coordinates: Featherstone's algorithms, joints never open",
    "absolute": "every link a free body, joints as equations of the step, eliminated by one factorisation",
}
NUMBERS = {"reduced": REDUCED, "absolute": ABSOLUTE}


@inline_kernel
def look(tree, ties, options, q, v, last, ws):
    """Put the links where the scheme looks, q into ws.q; last (nq,): where it looked in the step before."""
    if options.coordinates == ABSOLUTE:
        absolute.look(tree, ties, options, q, v, last, ws)
    else:
        reduced.look(tree, options, q, v, last, ws)


@inline_kernel
def bias(tree, options, v, ws):
    """Row BIAS of ws.dof: forces that velocities v (nv,) and gravity cause on the placed links."""
    if options.coordinates == ABSOLUTE:
        absolute.bias(tree, v, ws)
    else:
        reduced.bias(tree, options, v, ws)


@inline_kernel
def hold_forces(options, drive, held_out):
    """Forces held_out (nv,) on the coordinates: those on the joints (·,), or none where joints are rows."""
    for d in range(held_out.shape[0]):
        held_out[d] = 0.0 if options.coordinates == ABSOLUTE else drive[d]


@inline_kernel
def gather_own(scene, options, drive, state, ws, blocks_io):
    """Add the rows that these coordinates alone have."""
    if options.coordinates == ABSOLUTE:
        absolute.gather(scene, options, drive, state, ws, blocks_io)


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
def move(tree, ties, options, has_push, v, ws, q_out):
    """Positions at the end of the step into q_out (nq,), with the correction in row PUSH if there is one."""
    if options.coordinates == ABSOLUTE:
        absolute.move(tree, ties, options, has_push, v, ws, q_out)
    else:
        reduced.move(tree, options, has_push, v, ws, q_out)


@inline_kernel
def close(tree, ties, options, ws, state_io, record_out):
    """What these coordinates alone keep in the state, and book, at the end of a step."""
    if options.coordinates == ABSOLUTE:
        absolute.close(tree, ties, ws, state_io, record_out)
