"""Parts of contact detection that most robots never need, called from the step by their addresses.

Broad phases for many shapes, and the narrow phase of convex shapes in general and of terrain: compiled where
a world first needs them (`taction.steppers.driver`), and called from `taction.steppers.contact_search`
without leaving the step from then on.

References: [Ericson2005] for broad and narrow phase.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.geometry.broad_phase import find_pairs
from taction.geometry.general import general_pairs


@kernel
def search_pairs(options, filter, sight_io):
    """Pairs of shapes whose boxes meet; returns how many, also where there is no room for them."""
    count = find_pairs(options.broad, filter, sight_io.boxes, sight_io.broad, sight_io.pairs)
    sight_io.pair_count[0] = count
    return count


@kernel
def search_general(colliders, sight_io):
    """Contacts of the pairs without a closed form, added to the others; returns how many there are then."""
    general_pairs(
        colliders,
        sight_io.placed,
        sight_io.reach,
        sight_io.pairs,
        sight_io.pair_count[0],
        sight_io.narrow,
        sight_io.contacts,
    )
    return sight_io.contacts.count[0]
