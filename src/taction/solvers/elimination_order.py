"""In which order to eliminate the blocks of a sparse matrix, and what its factor looks like.

What it solves: for a symmetric pattern of blocks (those of W that share a body) an order of elimination with
little fill-in, and the filled pattern of the factor in that order. Once per pattern; every Newton step and
every time step with that pattern reuses it.

Method
1. *Order*: as given (bodies in a tree, leaves first, fill in nothing), or by minimum degree: eliminate the
   block with the fewest neighbours, connect its neighbours, repeat. Neighbours are sets of bits, so joining
   two of them is a few machine words.
2. *Elimination tree*: the parent of a block is the next one that its elimination touches.
3. *Postorder*: the same eliminations in an order in which what belongs together follows each other: the fill
   is the same, but the factor walks through memory in sequence, and every connected component is a range of
   blocks (a tree of the forest).
4. *Pattern*: row t holds the blocks s < t on the ways up the tree from its own neighbours, itself, and the
   blocks whose rows hold it.

Cost: 2 to 4 in proportion to the fill. Minimum degree takes k² / 62 words for k blocks, so it is for hundreds
or a few thousand of them.

References: [Davis2006, Chapters 4 and 7] for elimination trees, postorder and minimum degree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, ints

BITS = 62  # bits used of a 64-bit word, so that no shift meets the sign
DENSE = 12  # up to so many blocks the factor is taken as full


class Pattern(NamedTuple):
    """Filled pattern in elimination order, for k blocks.

    start (k+1,), column (m,): compressed rows, columns ascending; diagonal (k,): where the diagonal blocks
    are.
    """

    start: IntArray
    column: IntArray
    diagonal: IntArray


class FactorPattern(Layout):
    """A `Pattern` in the memory of a solver."""

    start: IntArray = ints("c + 1", "where each row of blocks starts")
    column: IntArray = ints("p", "columns")
    diagonal: IntArray = ints("c", "where the diagonal blocks are")


class Analysis(NamedTuple):
    """What is known of a pattern of k blocks before its values.

    order (k,): block eliminated at each turn; component (c+1,): first turn of each connected component,
    ending with k; pattern: of the factor.
    """

    order: IntArray
    component: IntArray
    pattern: Pattern


@kernel
def gather_bits(start, column, bits_out, degree_out):
    """Neighbours of each block as bits: bits_out (k, words), degree_out (k,) their number."""
    for i in range(degree_out.shape[0]):
        for w in range(bits_out.shape[1]):
            bits_out[i, w] = 0
        degree_out[i] = 0
        for m in range(start[i], start[i + 1]):
            j = column[m]
            if j != i:
                bits_out[i, j // BITS] |= 1 << (j % BITS)
                degree_out[i] += 1


@inline_kernel
def count_bits(word):
    """Number of bits set in a word that is not negative."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@kernel
def eliminate(bits_io, degree_io, order_out):
    """Step 1: order_out (k,) by minimum degree; bits_io (k, words) keeps the neighbours left at each turn."""
    k, words = bits_io.shape
    for turn in range(k):
        p = -1
        for i in range(k):
            if degree_io[i] >= 0 and (p < 0 or degree_io[i] < degree_io[p]):
                p = i
        order_out[turn] = p
        for w in range(words):
            word = bits_io[p, w]
            if word == 0:
                continue
            for bit in range(BITS):
                if not (word >> bit) & 1:
                    continue
                j = w * BITS + bit
                total = 0
                for v in range(words):
                    bits_io[j, v] |= bits_io[p, v]
                bits_io[j, w] &= ~(1 << bit)
                bits_io[j, p // BITS] &= ~(1 << (p % BITS))
                for v in range(words):
                    total += count_bits(bits_io[j, v])
                degree_io[j] = total
        degree_io[p] = -1 - degree_io[p]


@kernel
def elimination_tree(start, column, order, place, ancestor_io, parent_out):
    """Step 2: parent_out (k,) of each turn, −1 for a root; place (k,) inverts order (k,)."""
    for t in range(order.shape[0]):
        parent_out[t] = ancestor_io[t] = -1
        i = order[t]
        for m in range(start[i], start[i + 1]):
            s = place[column[m]]
            while 0 <= s < t:
                up = ancestor_io[s]
                ancestor_io[s] = t
                if up < 0:
                    parent_out[s] = t
                s = up


@kernel
def postorder(parent, head_io, next_io, turn_out, component_out):
    """Step 3: turn_out (k,) the old turns in postorder; ends of the trees in component_out; their number."""
    k = parent.shape[0]
    for t in range(k):
        head_io[t] = -1
    for t in range(k - 1, -1, -1):
        if parent[t] >= 0:
            next_io[t] = head_io[parent[t]]
            head_io[parent[t]] = t
    done = count = component_out[0] = 0
    for root in range(k):
        if parent[root] >= 0:
            continue
        t = root
        while t >= 0:
            child = head_io[t]
            if child >= 0:
                head_io[t] = next_io[child]  # take it off the list, and go down
                t = child
                continue
            turn_out[done] = t
            done += 1
            t = -1 if t == root else parent[t]
        count += 1
        component_out[count] = done
    return count


@kernel
def row_ways(start, column, order, place, parent, t, mark_io, way_out):
    """Step 4 for row t: blocks s < t that it holds into way_out, not sorted; returns their number."""
    n, i = 0, order[t]
    mark_io[t] = t
    for m in range(start[i], start[i + 1]):
        s = place[column[m]]
        while s < t and mark_io[s] != t:
            mark_io[s] = t
            way_out[n] = s
            n += 1
            s = parent[s]
    return n


@kernel
def count_pattern(start, column, order, place, parent, mark_io, way_io, start_out, diagonal_out):
    """Step 4: where rows start and have their diagonal, (k + 1,) and (k,)."""
    k = order.shape[0]
    for t in range(k):
        mark_io[t] = -1
        start_out[t + 1] = diagonal_out[t] = 0
    for t in range(k):
        n = row_ways(start, column, order, place, parent, t, mark_io, way_io)
        diagonal_out[t] = n  # for now: entries below the diagonal
        start_out[t + 1] += n + 1
        for m in range(n):
            start_out[way_io[m] + 1] += 1
    start_out[0] = 0
    for t in range(k):
        start_out[t + 1] += start_out[t]
        diagonal_out[t] += start_out[t]


@kernel
def fill_pattern(start, column, order, place, parent, mark_io, way_io, pattern_out):
    """Step 4: the columns; needs `count_pattern`."""
    k, diagonal, columns = order.shape[0], pattern_out.diagonal, pattern_out.column
    for t in range(k):
        mark_io[t] = -1
        columns[diagonal[t]] = diagonal[t] + 1  # for now: where the next column above the diagonal goes
    for t in range(k):
        n = row_ways(start, column, order, place, parent, t, mark_io, way_io)
        for m in range(n):
            at = diagonal[way_io[m]]
            columns[columns[at]] = t
            columns[at] += 1
    for t in range(k):
        mark_io[t] = pattern_out.start[t]  # where the next column below the diagonal goes
        columns[diagonal[t]] = t
    for t in range(k):
        for m in range(diagonal[t] + 1, pattern_out.start[t + 1]):
            s = columns[m]
            columns[mark_io[s]] = t
            mark_io[s] += 1


def minimum_degree(start: IntArray, column: IntArray) -> IntArray:
    """Order (k,) of a symmetric pattern by minimum degree."""
    k = len(start) - 1
    degree, order = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    bits = np.empty((k, k // BITS + 1), dtype=np.int64)
    gather_bits(start, column, bits, degree)
    eliminate(bits, degree, order)
    return order


def analyse(start: IntArray, column: IntArray, order: IntArray | None = None) -> Analysis:
    """Order a symmetric pattern for elimination, components apart: row starts (k+1,), columns.

    order (k,): a good one, where it is known; else by minimum degree. A handful of blocks stay as they are,
    in one component with a full pattern: ordering would cost more than it saves.
    """
    k = len(start) - 1
    if k <= DENSE:
        rows = np.arange(k, dtype=np.int64)
        full = Pattern(np.arange(k + 1) * k, np.tile(rows, k), rows * (k + 1))
        return Analysis(rows, np.array([0, k]), full)
    order = minimum_degree(start, column) if order is None else order
    parent, a, b, turn = (np.empty(k, dtype=np.int64) for _ in range(4))
    component = np.empty(k + 1, dtype=np.int64)
    elimination_tree(start, column, order, np.argsort(order), a, parent)
    count = postorder(parent, a, b, turn, component)
    order = order[turn]
    place = np.argsort(order)
    elimination_tree(start, column, order, place, a, parent)
    starts, diagonal = np.empty(k + 1, dtype=np.int64), np.empty(k, dtype=np.int64)
    count_pattern(start, column, order, place, parent, a, b, starts, diagonal)
    pattern = Pattern(starts, np.empty(starts[k], dtype=np.int64), diagonal)
    fill_pattern(start, column, order, place, parent, a, b, pattern)
    return Analysis(order, component[: count + 1].copy(), pattern)


def factor_cost(pattern: Pattern | FactorPattern) -> float:
    """Floating-point operations of one factorisation: 54 per block product of step 3."""
    above = pattern.start[1:] - pattern.diagonal - 1
    return 54.0 * float(np.sum(above * (above + 1))) + 1.0
