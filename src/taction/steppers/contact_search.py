"""Second stage of a step: contacts where the scheme looks, each with what it had in the step before.

References: [Ericson2005] for broad and narrow phase.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, kernel
from taction.geometry.all_pairs import listed_pairs
from taction.geometry.broad_phase import ALL_PAIRS
from taction.geometry.detect import heed_impacts, narrow_phase, place_and_bound, shape_reach
from taction.geometry.match import match_contacts
from taction.kinematics.forward import link_velocities
from taction.steppers.coordinates.dispatch import ABSOLUTE
from taction.steppers.phases import (
    BEGIN,
    DONE,
    FIND_PAIRS,
    GENERAL_PAIRS,
    MORE_CONTACTS,
    MORE_PAIRS,
    NARROW,
)
from taction.steppers.scene import BEFORE, FREE, GENERAL_ENTRY, PAIRS_ENTRY


@kernel
def reach_of_shapes(tree, colliders, root, options, motion, ws):
    """How far shapes come within the step, by velocities before and after forces act, into ws."""
    h, margin, links = options.reach_h, options.margin, motion.links
    shape_reach(colliders, root, links, h, margin, False, ws.travel, ws.reach)
    knows_free = options.is_split or options.is_momentum or options.needs_turning
    if h == 0.0 or knows_free or options.coordinates == ABSOLUTE:
        return
    link_velocities(tree, motion.dof[FREE], links)
    shape_reach(colliders, root, links, h, margin, True, ws.travel, ws.reach)
    link_velocities(tree, motion.dof[BEFORE], links)


@kernel
def find_contacts(scene, options, phase, motion, state, ws):
    """Detect contacts, from the phase it stopped in, and match them; returns what is missing."""
    contacts, colliders, filter, root = ws.contacts, scene.colliders, scene.filter, scene.chains.root
    if phase == BEGIN:
        contacts.count[0] = ws.pair_count[0] = 0
        if colliders.kind.shape[0] == 0:
            return DONE
        reach_of_shapes(scene.tree, colliders, root, options, motion, ws)
        place_and_bound(colliders, motion.links, ws.reach, ws.placed, ws.boxes)
        if options.broad == ALL_PAIRS and filter.is_listed != 0:
            ws.pair_count[0] = listed_pairs(filter.pairs, ws.boxes, ws.pairs)
        elif ws.entry[PAIRS_ENTRY] == 0:
            return FIND_PAIRS
        else:
            call_kernel(ws.entry[PAIRS_ENTRY], (options, filter, ws))
    if ws.pair_count[0] > ws.pairs.shape[0]:
        return MORE_PAIRS
    if phase <= NARROW:
        heed_impacts(colliders.link, root, ws.pairs, ws.pair_count[0], ws.reach, ws.travel)
        general = narrow_phase(
            colliders, ws.placed, ws.travel, ws.pairs, ws.pair_count[0], ws.narrow, contacts
        )
        if general > 0:
            if ws.entry[GENERAL_ENTRY] == 0:
                return GENERAL_PAIRS
            call_kernel(ws.entry[GENERAL_ENTRY], (colliders, ws))
    if contacts.count[0] > contacts.gap.shape[0]:
        return MORE_CONTACTS
    match_contacts(
        state.count[0], state.key, state.impulse, state.memory, contacts, ws.key, ws.warm, ws.memory
    )
    return DONE
