"""After a step: bodies that turned into each other are parted before the next one begins.

What it solves: gaps enter a step linearised. Convex bodies that move straight stay on their own sides of the
plane between them, so that nothing overlaps in the end, however far they move. What turns does not: points
move on arcs, and parts come down for which no contact was found, the far end of a capsule, the next stretch
of a rim. At 15 rad/s and 2 ms that is a millimetre where capsules or cylinders fall on each other.

Method: where a loose body has turned, contacts are looked for at the end of the step. Where one overlaps by
more than `ENOUGH`, of any body, the correction of positions follows at once
(`taction.steppers.position_correction`), of the gaps there and with the mass matrix there, until none does,
at most `ROUNDS` times. Velocities stay as they are: the next step, which sees those contacts, is where they
change. The displacement and its work count as the step's own correction, within the same bounds.

Schemes that look ahead are parted by the rule of Stewart and Trinkle, which looks where a step starts.
Nothing is done where the step itself left an overlap for later, as where bodies start one inside another:
they are pushed out at a bounded speed. Robots alone, absolute coordinates, and schemes that do not close
gaps within a step are left to the correction of the next step.

Cost: kinematics and detection once more, in steps in which a loose body turns that is not a ball.

References: [Moreau1988] for velocities as unknowns; [StewartTrinkle1996] for linearised gaps.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import VELOCITY
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_velocities, place_links
from taction.model.model import BODY_FIRST
from taction.steppers.columns import ASKED, AT_BOUND, COLUMNS, CORRECTION, LEFT, PUSHED, TURNED
from taction.steppers.contact_search import find_contacts
from taction.steppers.finish import correct
from taction.steppers.free_motion import free_motion
from taction.steppers.phases import BEGIN, DONE
from taction.steppers.push_bounds import loose_spin
from taction.steppers.scene import PUSH, Options
from taction.steppers.touch import ball_radius

ENOUGH = 5e-7  # overlap that is left alone [m]
ROUNDS = 20
TURN = 5e-4  # what a body must have turned in a step [rad]: less makes a tenth of a micrometre


def at_start(options: Options) -> Options:
    """Options that look where a step starts, by the rule of Stewart and Trinkle."""
    return options._replace(ahead=0.0, is_split=False, is_measured=False)


@inline_kernel
def is_centred_ball(tree, colliders, i):
    """Whether shape i is a ball around the centre of mass of its link: no turning shows."""
    link = colliders.link[i]
    offset = 0.0
    for c in range(3):
        offset += abs(colliders.centre[i, c]) + abs(tree.constant[link, BODY_FIRST + c])
    return offset == 0.0 and ball_radius(colliders, i) > 0.0


@inline_kernel
def has_turned(scene, h, v):
    """Whether a loose body that is no ball turns by more than `TURN` in a time h [s] with velocities v."""
    tree, colliders = scene.tree, scene.colliders
    for i in range(colliders.kind.shape[0]):
        turned = h * h * loose_spin(scene, colliders.link[i], v)
        if turned > TURN * TURN and not is_centred_ball(tree, colliders, i):
            return True
    return False


@inline_kernel
def is_overlapping(contacts):
    """Whether a contact overlaps by more than `ENOUGH`."""
    for i in range(contacts.count[0]):
        if contacts.gap[i] < -ENOUGH:
            return True
    return False


@kernel
def must_part(scene, options, drive, record, state, ws):
    """Whether bodies overlap where a step ended, whose record (COLUMNS,) this is, or that is not known yet.

    Overwrites free motion and contacts, not the blocks.
    """
    if record[LEFT] > ENOUGH or not has_turned(scene, options.h, state.v):
        return False
    missing = DONE
    if options.is_measured:
        # Where users see the step end, not where the next one will look
        place_links(scene.tree, state.q, ws.motion.links)
        link_velocities(scene.tree, state.v, ws.motion.links)
    else:
        missing = free_motion(scene, options, drive, state, ws.motion, ws.history[:COLUMNS])
    if missing == DONE:
        missing = find_contacts(scene, options, BEGIN, ws.motion, state, ws.sight)
    return missing != DONE or is_overlapping(ws.sight.contacts)


@kernel
def part_bodies(scene, options, is_bounded, ws, state_io, record_io):
    """One round on the problem posed at the end of a step; q moves, and record_io (COLUMNS,) says how far.

    Returns what is missing, and whether anything moved.
    """
    blocks, row = ws.blocks, ws.history[:COLUMNS]
    if not is_overlapping(ws.sight.contacts):
        return DONE, False
    for k in range(blocks.count[0]):
        for c in range(3):
            blocks.number[k, VELOCITY + c] = 0.0
    missing, has_push = correct(scene, options, is_bounded, state_io, ws, row)
    if missing != DONE or not has_push:
        return missing, False
    integrate_configuration(scene.tree, state_io.q, ws.motion.dof[PUSH], options.h, state_io.q)
    record_io[CORRECTION] += row[CORRECTION]
    record_io[PUSHED] = max(record_io[PUSHED], row[PUSHED])
    record_io[ASKED] = max(record_io[ASKED], row[ASKED])
    record_io[TURNED] = max(record_io[TURNED], row[TURNED])
    record_io[LEFT] = row[LEFT]
    record_io[AT_BOUND] = max(record_io[AT_BOUND], row[AT_BOUND])
    return DONE, True
