"""Third stage of a step: its force elements as blocks, and the contact problem over them.

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, inline_kernel, kernel
from taction.contact.assembly import AHEAD, OFFSET, couple, half_solve, lay_out, row_velocity
from taction.contact.laws.dispatch import are_held
from taction.steppers.coordinates.dispatch import gather_own
from taction.steppers.elements import gather_contacts
from taction.steppers.joint_elements import gather_joints
from taction.steppers.phases import DONE, MORE_ENTRIES
from taction.steppers.scene import EXPLICIT, FLIGHT, FREE, RIGID, SOFT_ENTRY, TENDONS_ENTRY


@kernel
def gather_elements(scene, options, drive, state, sight, ws, blocks_io):
    """All force elements of the step into blocks: of contacts, joints, tendons and servos."""
    blocks_io.count[0] = 0
    if options.soft != RIGID:
        call_kernel(ws.entry[SOFT_ENTRY], (scene, options, sight, ws, blocks_io))
    else:
        gather_contacts(
            scene.tree, scene.chains, scene.surfaces, options, scene.colliders, sight, ws, blocks_io
        )
    gather_joints(
        scene.tree, scene.chains, scene.joints, scene.law.iq, options, state.joint_impulse, ws, blocks_io
    )
    if scene.transmissions.lower.shape[0] > 0:
        call_kernel(ws.entry[TENDONS_ENTRY], (scene, options, state, ws, blocks_io))
    gather_own(scene, options, drive, state, ws, blocks_io)
    if options.is_split and not options.is_measured:
        add_flight(ws.dof[FLIGHT], blocks_io)


@kernel
def add_flight(change, blocks_io):
    """Add to all offsets what free flight after the midpoint makes of velocities: change (nv,)."""
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, change)
        for c in range(3):
            blocks_io.number[k, OFFSET + c] += u[c]
            blocks_io.number[k, AHEAD + c] += u[c]


@inline_kernel
def leave_out(blocks_io):
    """No entry of W."""
    for k in range(blocks_io.count[0] + 1):
        blocks_io.rows.start[k] = 0


@kernel
def assemble(tree, options, motion, blocks_io):
    """W and b of the elements gathered; returns what is missing. Nobody asks for W where all is given."""
    is_given = options.soft == EXPLICIT and are_held(blocks_io.count[0], blocks_io.rows)
    if is_given:
        leave_out(blocks_io)
    elif lay_out(blocks_io.rows.column.shape[0], blocks_io) > blocks_io.rows.column.shape[0]:
        return MORE_ENTRIES
    for k in range(blocks_io.count[0]):
        half_solve(tree, motion.L, k, blocks_io)
        u0, u1, u2 = row_velocity(blocks_io, k, motion.dof[FREE])
        blocks_io.rows.b[3 * k] = u0 + blocks_io.number[k, OFFSET]
        blocks_io.rows.b[3 * k + 1] = u1 + blocks_io.number[k, OFFSET + 1]
        blocks_io.rows.b[3 * k + 2] = u2 + blocks_io.number[k, OFFSET + 2]
    if not is_given:
        couple(tree.column, motion.L, blocks_io)
    return DONE
