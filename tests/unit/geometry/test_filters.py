"""Which pairs may collide: each rule by itself, and all of them against a plain reading on random worlds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY
from taction._core.errors import BadInput
from taction.geometry.filters import (
    LIST_ALWAYS,
    LIST_LIMIT,
    LIST_PER_SHAPE,
    candidate_pairs,
    joined_parents,
    make_filter,
    may_collide,
)

ARM = [0, 0, 1, 2]  # parents: world – 1 – 2 – 3


def allowed(link, parent, group=None, mask=None, **options):
    """Pairs that the kernel allows; also checked to be what `candidate_pairs` finds."""
    n = len(link)
    filter = make_filter(link, parent, group or [1] * n, mask or [1] * n, **options)
    pairs = [(i, j) for i, j in itertools.combinations(range(n), 2) if may_collide(filter, i, j)]
    assert pairs == [(i, j) for i, j in itertools.combinations(range(n), 2) if may_collide(filter, j, i)]
    assert np.array_equal(candidate_pairs(filter), np.array(pairs, dtype=np.int64).reshape(-1, 2))
    return pairs


def test_shapes_of_one_link_and_of_the_world():
    assert allowed([0, 0, 1, 1], ARM) == [(0, 2), (0, 3), (1, 2), (1, 3)]


def test_joined_links_except_to_the_world():
    """World–1 is allowed though a joint joins them; 1–2 and 2–3 are not; 1–3 and world–3 are."""
    assert allowed([0, 1, 2, 3], ARM) == [(0, 1), (0, 2), (0, 3), (1, 3)]


def test_links_that_only_carry_a_joint_are_passed_over():
    """World – 1 – (2) – (3) – 4 – (5) – 6, where links in brackets have neither mass nor shapes."""
    parent = [0, 0, 1, 2, 3, 4, 5]
    joined = joined_parents(parent, [True, True, False, False, True, False, True])
    assert joined.tolist() == [0, 0, 1, 1, 1, 4, 4]
    assert allowed([1, 4, 6], joined) == [(0, 2)]
    assert allowed([1, 4, 6], parent) == [(0, 1), (0, 2), (1, 2)]
    # a massless carriage on the world: what it carries hangs from the world
    assert joined_parents([0, 0, 1], [True, False, True]).tolist() == [0, 0, 0]


def test_groups_and_masks_meet_either_way():
    free = [0, 0, 0, 0]
    assert allowed([1, 2], free, [1, 2], [2, 0]) == [(0, 1)]
    assert allowed([1, 2], free, [1, 2], [0, 1]) == [(0, 1)]
    assert allowed([1, 2], free, [1, 2], [1, 2]) == []
    assert allowed([1, 2, 3], free, [0b0110, 0b1000, 0b0001], [0b1001, 0, 0]) == [(0, 1), (0, 2)]
    assert allowed([1, 2], free, [1 << 40, 1], [0, 1 << 40]) == [(0, 1)]


def test_excluded_bodies_not_links():
    """Bodies 5 and 6 are welded together into link 1; only 5 is excluded from 7 and from the world."""
    link, body = [0, 1, 1, 2], [-1, 5, 6, 7]
    free = [0, 0, 0]
    assert allowed(link, free, body=body) == [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]
    excluded = allowed(link, free, body=body, exclude=[(7, 5), (5, -1), (5, 5)])
    assert excluded == [(0, 2), (0, 3), (2, 3)]
    assert allowed([0, 1, 2], free, exclude=[(2, 1)]) == [(0, 1), (0, 2)]


def test_included_pairs_override():
    free = [0, 0, 0, 0]
    assert allowed([1, 2, 3], ARM, [0, 0, 0], exclude=[(1, 3)], include=[(2, 0), (1, 0)]) == [(0, 1), (0, 2)]
    assert allowed([1, 2], free, [2, 4], [2, 4], include=[(0, 1)]) == [(0, 1)]


@st.composite
def worlds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links, n = int(rng.integers(1, 8)), int(rng.integers(0, 25))
    parent = np.array([0, *(rng.integers(0, i) for i in range(1, links))])
    link = rng.integers(0, links, n)
    body = (
        10 * link + rng.integers(0, 2, n) - (link == 0)
    )  # up to two bodies a link; −1 is one of the world's
    pairs = [(int(a), int(b)) for a, b in rng.choice(np.append(body, -1), (int(rng.integers(0, 6)), 2))]
    include = [(i, j) for i, j in itertools.combinations(range(n), 2) if link[i] != link[j]]
    rng.shuffle(include)
    bits = rng.integers(0, 4, (2, n)) | rng.integers(0, 2, (2, n)) << 35
    return link, parent, bits[0], bits[1], body, pairs, include[: int(rng.integers(0, 4))]


@PROPERTY
@given(worlds())
def test_against_a_plain_reading(world):
    link, parent, group, mask, body, exclude, include = world

    def plain(i, j):
        if link[i] == link[j]:
            return False
        if (i, j) in include or (j, i) in include:
            return True
        a, b = link[i], link[j]
        if (a and b) and (parent[a] == b or parent[b] == a):
            return False
        if (body[i], body[j]) in exclude or (body[j], body[i]) in exclude:
            return False
        return bool(group[i] & mask[j]) or bool(group[j] & mask[i])

    found = allowed(link, parent, list(group), list(mask), body=body, exclude=exclude, include=include)
    assert found == [(i, j) for i, j in itertools.combinations(range(len(link)), 2) if plain(i, j)]


def test_what_is_listed():
    """All pairs of a few shapes, few pairs of many shapes; nothing that grows with the square otherwise."""
    few = make_filter(range(20), [0] * 20, [1] * 20, [1] * 20)
    assert few.is_listed == 1 and len(few.pairs) == 190 and few.n_shapes == 20
    many = max(2 * LIST_PER_SHAPE + 2, LIST_ALWAYS + 1)
    assert make_filter(range(many), [0] * many, [1] * many, [1] * many).is_listed == 0
    sparse = make_filter(range(many), [0] * many, [1] * many, [1] + [0] * (many - 1))
    assert sparse.is_listed == 1 and sparse.pairs.tolist() == [[0, j] for j in range(1, many)]
    n = LIST_LIMIT + 1
    large = make_filter(range(n), [0] * n, [1] * n, [0] * n)
    arrays = (large.rule, large.excluded, large.included)
    assert large.is_listed == 0 and large.pairs.shape == (0, 2)
    assert sum(a.nbytes for a in arrays) < 50 * n
    assert not any(a.flags.writeable for a in (few.rule, few.excluded, few.included, few.pairs))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link": [0, 3]}, "link: numbers must lie between 0 and 2"),
        ({"link": [0, -1]}, "link: numbers must lie"),
        ({"group": [1]}, "group: expected 2 integers"),
        ({"mask": [1.0, 1.0]}, "mask: expected 2 integers"),
        ({"body": [-2, 0]}, "body: numbers must be"),
        ({"exclude": [(-2, 1)]}, r"exclude: pair \(-2, 1\) is out of range"),
        ({"include": [(0, 2)]}, r"include: pair \(0, 2\) is out of range"),
        ({"include": [(1, 1)]}, "names one shape twice"),
        ({"link": [1, 1], "include": [(1, 0)]}, "shapes 0 and 1 are on the same link 1"),
    ],
)
def test_bad_input(change, message):
    good = {"link": [0, 1], "parent": [0, 0, 1], "group": [1, 1], "mask": [1, 1]}
    with pytest.raises(BadInput, match=message):
        make_filter(**{**good, **change})


def test_bad_trees():
    with pytest.raises(BadInput, match="after their parents"):
        joined_parents([0, 2, 1], [True] * 3)
    with pytest.raises(BadInput, match="is_solid: expected shape"):
        joined_parents([0, 0], [True])
