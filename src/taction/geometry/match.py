"""Identities of contacts from step to step: the impulses of the last step start the next.

What it does: finds for each contact of this step the same contact of the last, and gives it that one's
impulse and memory; contacts that are new start at zero.

Notation: the key of a contact is (shape a, shape b, feature) with a < b; see `taction.geometry.colliders`.
Keys are ordered by a, then b, then feature. An impulse (n, t1, t2) is in the contact frame [N s].

Method:
1. `sort_contacts` puts the contacts in the order of their keys. They come in this order (the broad phase
   sorts the pairs, the narrow phase numbers the features), so normally it only looks; insertion sort does
   the rest.
2. `match_contacts` runs through the old and the new keys side by side, as a merge does: the smaller one has
   no partner, equal ones are partners. A key that occurs twice is matched as often as it occurs in both.

Only equal keys match: where a box rolls from one corner to the next, the new corner starts at zero. The
tangents of a contact frame follow from its normal, so an impulse carried over turns with the frame; it is a
guess to start from and not a quantity of the physics.

Cost: O(old + new), 8 ns per contact, and 2 ns to see that they are in order.

References: [Knuth1998, Section 5.2.4] for merging.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel


@inline_kernel
def compare_keys(a, b, feature, keys, k):
    """−1, 0 or 1 as key (a, b, feature) comes before, is, or comes after row k of keys (·, 3)."""
    if a != keys[k, 0]:
        return -1 if a < keys[k, 0] else 1
    if b != keys[k, 1]:
        return -1 if b < keys[k, 1] else 1
    if feature != keys[k, 2]:
        return -1 if feature < keys[k, 2] else 1
    return 0


@kernel
def match_contacts(old_count, old_keys, old_impulse, old_memory, contacts, keys_out, impulse_out, memory_out):
    """Keys (capacity, 3), first impulses (capacity, 3) and memories (capacity, m) of the contacts.

    Returns how many persist. old_keys, old_impulse and old_memory hold old_count rows in order and are other
    arrays than those written. The contacts are in order; those beyond the capacity of any array are left out.
    """
    count = contacts.count[0]
    for capacity in (contacts.gap.shape[0], keys_out.shape[0], impulse_out.shape[0]):
        count = capacity if capacity < count else count
    k, matched = 0, 0
    for m in range(count):
        a, b, feature = contacts.shape[m, 0], contacts.shape[m, 1], contacts.feature[m]
        while k < old_count and compare_keys(a, b, feature, old_keys, k) > 0:
            k += 1
        is_old = k < old_count and compare_keys(a, b, feature, old_keys, k) == 0
        keys_out[m, 0] = a
        keys_out[m, 1] = b
        keys_out[m, 2] = feature
        for c in range(3):
            impulse_out[m, c] = old_impulse[k, c] if is_old else 0.0
        for c in range(memory_out.shape[1]):
            memory_out[m, c] = old_memory[k, c] if is_old else 0.0
        if is_old:
            k += 1
            matched += 1
    return matched


@inline_kernel
def is_after(contacts, i, j):
    """Whether contact i has a larger key than contact j."""
    if contacts.shape[i, 0] != contacts.shape[j, 0]:
        return contacts.shape[i, 0] > contacts.shape[j, 0]
    if contacts.shape[i, 1] != contacts.shape[j, 1]:
        return contacts.shape[i, 1] > contacts.shape[j, 1]
    return contacts.feature[i] > contacts.feature[j]


@kernel
def swap_contacts(i, j, contacts_io):
    """Exchange two contacts."""
    x = contacts_io
    x.feature[i], x.feature[j] = x.feature[j], x.feature[i]
    x.gap[i], x.gap[j] = x.gap[j], x.gap[i]
    for c in range(2):
        x.shape[i, c], x.shape[j, c] = x.shape[j, c], x.shape[i, c]
    for c in range(3):
        x.point[i, c], x.point[j, c] = x.point[j, c], x.point[i, c]
        x.normal[i, c], x.normal[j, c] = x.normal[j, c], x.normal[i, c]


@kernel
def sort_contacts(contacts_io):
    """Put contacts in the order of their keys, equal ones as they came; returns how many swaps that took."""
    count, swaps = contacts_io.count[0], 0
    if count > contacts_io.gap.shape[0]:
        count = contacts_io.gap.shape[0]
    for k in range(1, count):
        m = k
        while m > 0 and is_after(contacts_io, m - 1, m):
            swap_contacts(m - 1, m, contacts_io)
            m -= 1
            swaps += 1
    return swaps
