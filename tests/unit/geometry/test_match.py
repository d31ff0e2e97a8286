"""Contacts from step to step: partners found by key, impulses carried over, order established."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY
from taction.geometry.colliders import make_contacts
from taction.geometry.match import match_contacts, sort_contacts

POINT, NORMAL = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])


def contacts_with(keys, capacity=None):
    """Contacts with these keys; point, normal and gap say where each was in the list given."""
    n = len(keys)
    contacts = make_contacts(n if capacity is None else capacity)
    contacts.count[0] = n
    m = min(n, len(contacts.gap))
    keys = np.array(keys, dtype=np.int64).reshape(-1, 3)
    contacts.shape[:m], contacts.feature[:m] = keys[:m, :2], keys[:m, 2]
    contacts.gap[:m] = np.arange(m)
    contacts.point[:m] = np.add.outer(np.arange(m), POINT)
    contacts.normal[:m] = np.add.outer(np.arange(m), NORMAL)
    return contacts


def matched(old, new, capacity=None, room=None):
    """Match sorted keys; impulses of old contact k are 3 k + (1, 2, 3). Returns the count, keys, impulses.

    Its memory is (3 k + 2, 3 k + 1), so that memories must match as impulses do.
    """
    contacts = contacts_with(new, capacity)
    old = np.array(old, dtype=np.int64).reshape(-1, 3)
    impulse = 1.0 + np.arange(3.0 * len(old)).reshape(-1, 3)
    room = max(len(new), 1) if room is None else room
    keys_out, impulse_out = np.full((room + 2, 3), -7), np.full((room + 2, 3), np.nan)
    memory, memory_out = np.ascontiguousarray(impulse[:, 1::-1]), np.full((room + 2, 2), np.nan)
    count = match_contacts(
        len(old), old, impulse, memory, contacts, keys_out[:room], impulse_out[:room], memory_out[:room]
    )
    assert np.all(keys_out[room:] == -7) and np.isnan(impulse_out[room:]).all()
    assert np.array_equal(memory_out, impulse_out[:, 1::-1], equal_nan=True)
    return count, keys_out[:room], impulse_out[:room]


def test_contacts_stay_come_and_go():
    old = [(0, 1, 0), (0, 1, 3), (0, 2, 5), (1, 2, 0), (4, 5, 1)]
    new = [(0, 1, 3), (0, 1, 4), (0, 3, 5), (1, 2, 0), (1, 2, 2), (4, 5, 1), (4, 5, 2)]
    count, keys, impulse = matched(old, new)
    assert count == 3 and keys.tolist() == [list(k) for k in new]
    zero = [0.0] * 3
    assert impulse.tolist() == [[4, 5, 6], zero, zero, [10, 11, 12], zero, [13, 14, 15], zero]


def test_nothing_old_nothing_new():
    assert matched([], [(0, 1, 0)])[0] == 0
    assert matched([], [(0, 1, 0)])[2].tolist() == [[0.0] * 3]
    assert matched([(0, 1, 0)], [])[0] == 0


def test_full_buffers():
    """Contacts that did not fit, here or in the caller's arrays, are left out: nothing is written beyond."""
    keys = [(0, 1, f) for f in range(6)]
    count, out, impulse = matched(keys, keys, capacity=4, room=6)
    assert count == 4 and out[:4].tolist() == [list(k) for k in keys[:4]] and np.isnan(impulse[4:]).all()
    assert matched(keys, keys, room=3)[0] == 3


def test_repeated_keys_are_used_once():
    count, _, impulse = matched([(0, 1, 0), (0, 1, 0)], [(0, 1, 0)] * 3)
    assert count == 2 and impulse.tolist() == [[1, 2, 3], [4, 5, 6], [0, 0, 0]]


KEYS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-2, 2**62)), max_size=30)


@PROPERTY
@given(KEYS, KEYS, st.randoms(use_true_random=False))
def test_against_a_dictionary(old, new, random):
    old = sorted(set(old) | set(random.sample(new, len(new) // 2)))
    new = sorted(set(new))
    count, keys, impulse = matched(old, new)
    held = {key: [3 * k + 1, 3 * k + 2, 3 * k + 3] for k, key in enumerate(old)}
    assert count == len(held.keys() & set(new))
    assert keys[: len(new)].tolist() == [list(k) for k in new]
    assert impulse[: len(new)].tolist() == [held.get(k, [0.0] * 3) for k in new]


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 3)), max_size=25))
def test_sort_moves_whole_contacts(keys):
    contacts = contacts_with(keys)
    order = sorted(range(len(keys)), key=lambda k: keys[k])  # stable
    inversions = sum(a > b for k, a in enumerate(keys) for b in keys[k + 1 :])
    assert sort_contacts(contacts) == inversions
    assert contacts.gap.tolist() == order
    assert np.column_stack([contacts.shape, contacts.feature]).tolist() == [list(k) for k in sorted(keys)]
    assert np.array_equal(contacts.point, np.add.outer(np.array(order, dtype=float), POINT))
    assert np.array_equal(contacts.normal, np.add.outer(np.array(order, dtype=float), NORMAL))
    assert sort_contacts(contacts) == 0


def test_sort_of_a_full_buffer():
    contacts = contacts_with([(0, 2, 0), (0, 1, 0), (0, 0, 0)], capacity=2)
    assert sort_contacts(contacts) == 1 and contacts.shape.tolist() == [[0, 1], [0, 2]]
