"""Elimination orders: filled patterns against elimination of a full table, and trees without fill-in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from taction.solvers.elimination_order import DENSE, analyse, factor_cost, make_order, minimum_fill


def pattern_of(table):
    """Compressed rows of a symmetric table of booleans with a full diagonal."""
    start = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return start.astype(np.int64), np.nonzero(table)[1].astype(np.int64)


def random_table(k, links, seed):
    rng = np.random.default_rng(seed)
    table = np.eye(k, dtype=bool)
    i, j = rng.integers(0, k, (2, links))
    table[i, j] = table[j, i] = True
    return table


def filled(table, order):
    """The pattern after elimination in this order, the plain way."""
    out = table[np.ix_(order, order)].copy()
    for t in range(len(out)):
        later = t + 1 + np.flatnonzero(out[t, t + 1 :])
        out[np.ix_(later, later)] = True
    return out


def as_table(pattern):
    k = len(pattern.diagonal)
    out = np.zeros((k, k), dtype=bool)
    for t in range(k):
        columns = pattern.column[pattern.start[t] : pattern.start[t + 1]]
        assert (np.diff(columns) > 0).all()
        assert pattern.column[pattern.diagonal[t]] == t
        out[t, columns] = True
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "links"), [(13, 10), (40, 60), (70, 300)])
def test_pattern_is_that_of_elimination(k, links, seed):
    table = random_table(k, links, seed)
    analysis = analyse(*pattern_of(table))
    assert (np.sort(analysis.order) == np.arange(k)).all()
    assert (as_table(analysis.pattern) == filled(table, analysis.order)).all()


@pytest.mark.parametrize("seed", range(4))
def test_components_are_ranges_that_do_not_touch(seed):
    table = random_table(60, 40, seed)
    analysis = analyse(*pattern_of(table))
    shuffled = table[np.ix_(analysis.order, analysis.order)]
    ends = analysis.component
    assert ends[0] == 0 and ends[-1] == 60 and (np.diff(ends) > 0).all()
    for a, b in pairwise(ends):
        assert not shuffled[a:b, :a].any() and not shuffled[a:b, b:].any()
        reach = np.linalg.matrix_power(shuffled[a:b, a:b].astype(float), b - a) > 0
        assert reach.all()  # connected


@pytest.mark.parametrize("given", [False, True])
def test_a_tree_fills_in_nothing(given):
    """A tree eliminated leaves first: the order that is given, and what minimum fill finds."""
    k, rng = 200, np.random.default_rng(1)
    table = np.eye(k, dtype=bool)
    for child in range(1, k):
        parent = rng.integers(0, child)
        table[child, parent] = table[parent, child] = True
    order = np.arange(k)[::-1].copy() if given else None
    analysis = analyse(*pattern_of(table), order)
    assert len(analysis.pattern.column) == table.sum()
    # one block above the diagonal in each row but the root's: 54 operations times two
    assert factor_cost(analysis.pattern) == 54.0 * 2 * (k - 1) + 1.0


def test_a_handful_stays_as_it_is():
    table = random_table(DENSE, 5, 0)
    analysis = analyse(*pattern_of(table))
    assert (analysis.order == np.arange(DENSE)).all() and as_table(analysis.pattern).all()


@pytest.mark.parametrize("seed", range(6))
def test_each_block_is_the_cheapest_to_eliminate(seed):
    """Against counts made anew at every turn: no block that is left would connect fewer others."""
    table = random_table(40, 70, seed)
    start, column = pattern_of(table)
    memory = make_order(40)
    minimum_fill(40, start, column, memory)
    links, left = table & ~np.eye(40, dtype=bool), list(range(40))

    def connects(block):
        near = np.flatnonzero(links[block])
        return len(near) * (len(near) - 1) // 2 - int(links[np.ix_(near, near)].sum()) // 2

    for block in memory.order:
        assert connects(block) == min(connects(other) for other in left)
        near = np.flatnonzero(links[block])
        links[np.ix_(near, near)] = ~np.eye(len(near), dtype=bool)
        links[block] = links[:, block] = False
        left.remove(block)
