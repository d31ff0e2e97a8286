"""Second stage of a step: contacts where the scheme looks, each with what it had in the step before.

References: [Ericson2005] for broad and narrow phase.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, kernel
from taction.geometry.all_pairs import listed_pairs
from taction.geometry.broad_phase import ALL_PAIRS
from taction.geometry.detect import heed_impacts, narrow_phase, place_and_bound
from taction.geometry.match import match_contacts
from taction.steppers.phases import (
    BEGIN,
    DONE,
    FIND_PAIRS,
    GENERAL_PAIRS,
    MORE_CONTACTS,
    MORE_PAIRS,
    NARROW,
)
from taction.steppers.scene import GENERAL_ENTRY, PAIRS_ENTRY


@kernel
def find_contacts(colliders, filter, root, options, phase, links, state, ws):
    """Detect contacts, from the phase it stopped in, and match them; returns what is missing."""
    contacts = ws.contacts
    if phase == BEGIN:
        contacts.count[0] = ws.pair_count[0] = 0
        if colliders.kind.shape[0] == 0:
            return DONE
        place_and_bound(colliders, root, links, options.reach_h, ws.travel, ws.reach, ws.placed, ws.boxes)
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
