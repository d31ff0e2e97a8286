"""After a step: what turned into each other is parted before the next one begins.

What it solves: gaps enter a step linearised. Convex bodies that move straight stay on their own sides of the
plane between them, so that nothing overlaps in the end, however far they move. What turns does not: points
move on arcs, and parts come down for which no contact was found, the far end of a capsule, the next stretch
of a rim. At 15 rad/s and 2 ms that is a millimetre where capsules or cylinders fall on each other.

Method: where a loose body has turned, contacts are looked for at the end of the step. Where one overlaps by
more than `ENOUGH`, of any body, the correction of positions follows at once
(`taction.steppers.position_correction`), of the gaps there and with the mass matrix there, until none does,
at most `ROUNDS` times. Velocities stay as they are, those of joints as far as the momenta of links let them:
the next step, which sees those contacts, is where they change. The displacement and its work count as the
step's own correction, within the same bounds.

Joined links are parted where a scheme measures what flight changes and something struck, or joints whip: an
impact changes the ways of all that hangs together, by a h²/4 with an acceleration a = ω² r that no look ahead
has seen.

Schemes that look ahead are parted by the rule of Stewart and Trinkle, which looks where a step starts.
Nothing is done where the step itself left an overlap for later, as where bodies start one inside another:
they are pushed out at a bounded speed. Under other schemes robots alone and absolute coordinates, and schemes
that do not close gaps within a step, are left to the correction of the next step.

Cost: kinematics and detection once more, in steps in which something strikes or a loose body turns that is
not a ball.

References: [Moreau1988] for velocities as unknowns; [StewartTrinkle1996] for linearised gaps.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import SOURCE, VELOCITY
from taction.kinematics.forward import link_velocities, place_links
from taction.model.model import BODY_FIRST
from taction.steppers.columns import (
    ASKED,
    AT_BOUND,
    COLUMNS,
    CORRECTION,
    LEFT,
    PENETRATION,
    PUSHED,
    TURNED,
)
from taction.steppers.contact_search import find_contacts
from taction.steppers.coordinates.dispatch import close, move
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.finish import correct
from taction.steppers.free_motion import free_motion
from taction.steppers.phases import BEGIN, DONE
from taction.steppers.push_bounds import loose_spin
from taction.steppers.scene import NEW, PERSISTS, Options
from taction.steppers.touch import ball_radius

ENOUGH = 5e-7  # overlap that is left alone [m]
ROUNDS = 20
TURN = 5e-4  # what a body must have turned in a step [rad]: less makes a tenth of a micrometre
WHIP = 0.05  # what a joint must move in a step [rad or m] for forces that grow in it to show


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


def landing(options: Options) -> Options:
    """Options with which `move` only displaces: flights are over."""
    return options._replace(ahead=1.0)


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
def has_bent(options, state, ws):
    """Whether ways may have changed in a step whose scheme measures: by a blow, or forces on what whips."""
    sight, blocks, has_struck, has_contact, fastest = ws.sight, ws.blocks, False, False, 0.0
    if options.is_measured:
        for k in range(blocks.count[0]):
            i = blocks.index[k, SOURCE]
            if i >= 0 and blocks.r[3 * k] > 0.0:
                has_contact = True
                has_struck = has_struck or sight.start[i, PERSISTS] == 0.0
    if has_contact:
        for d in range(state.v.shape[0]):
            fastest = max(fastest, abs(state.v[d]))
    return options.h * fastest > (TURN if has_struck else WHIP)


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
    # What overlapped before is pushed out at a bounded speed; else what is left is of the step's own making
    if record[LEFT] > ENOUGH and not (options.is_measured and record[PENETRATION] <= ENOUGH):
        return False
    is_loose = options.coordinates == REDUCED and has_turned(scene, options.h, state.v)
    if not is_loose and not has_bent(options, state, ws):
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
def part_bodies(scene, options, landing, is_bounded, ws, state_io, record_io):
    """One round on the problem posed at the end of a step: it moves, and record_io (COLUMNS,) says how far.

    options: `at_start`; landing: of the function of that name. Returns what is missing, and whether it moved.
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
    for d in range(state_io.v.shape[0]):
        ws.motion.dof[NEW, d] = state_io.v[d]
    move(scene, landing, True, ws.motion, state_io)
    close(scene, landing, ws.motion, state_io, record_io)
    record_io[CORRECTION] += row[CORRECTION]
    record_io[PUSHED] = max(record_io[PUSHED], row[PUSHED])
    record_io[ASKED] = max(record_io[ASKED], row[ASKED])
    record_io[TURNED] = max(record_io[TURNED], row[TURNED])
    record_io[LEFT] = row[LEFT]
    record_io[AT_BOUND] = max(record_io[AT_BOUND], row[AT_BOUND])
    return DONE, True
