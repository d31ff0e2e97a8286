"""What the broad phases share: the test of two boxes, a list of pairs that never drops, its sort, scratch.

A pair i < j is one key, i in the upper half of the bits and j in the lower. While a broad phase runs, keys
are appended to column 0 of the list (capacity, 2); beyond the capacity they are only counted. In the end
the list is sorted and each key becomes a row (i, j), so that every broad phase gives the same list, bit for
bit.

Method of the sort: counting sort, by j and then by i, as a radix sort with shape numbers for digits. Column
1 of the list is the second buffer, so that no scratch depends on the number of pairs.

Cost of the sort: O(n + pairs), 7 ns per pair where there are more pairs than shapes.

References: [Knuth1998, Sections 5.2 and 5.2.5] for counting and radix sort.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints
from taction.geometry.filters import HALF, may_collide

LOWER_HALF = 2**HALF - 1
LEAST_BUCKETS = 256  # also room for the bins of the grid's histogram
SCRATCH_TOO_SMALL = -1  # instead of a count of pairs: the scratch was made for fewer shapes

# Rows of BroadScratch.number
ORDER = np.int64(0)  # shapes along the axis of the sweep, kept from call to call to start the next sort
ENTRY = np.int64(1)  # shapes in another order
CELL = np.int64(2)  # cells of entries
FOUND = np.int64(3)  # shapes that one shape meets
KEY = np.int64(6)  # column of BroadScratch.box: what shapes are sorted by
ZERO = np.int64(0)  # a count to start from: as a literal it would be a type of its own


class BroadScratch(Layout):
    """Scratch of the broad phases for up to n shapes. Results do not depend on what is in it."""

    number: IntArray = ints("4, n", "at the rows above")
    table: IntArray = ints("size + 1", "counters; size a power of two, at least 2 n")
    box: Array = floats("n, 8", "boxes in another order, and keys [m]")


def make_broad_scratch(n: int) -> BroadScratch:
    """Scratch for up to n shapes."""
    if n < 0:
        raise BadInput(f"number of shapes: {n} is negative")
    return BroadScratch(
        number=np.zeros((4, n), dtype=np.int64),
        table=np.zeros(max(LEAST_BUCKETS, 2 ** (2 * n - 1).bit_length()) + 1, dtype=np.int64),
        box=np.zeros((n, 8)),
    )


@inline_kernel
def boxes_meet(boxes, i, j):
    """1 if boxes i and j (lower xyz, upper xyz) have a point in common, else 0.

    Sums, because chains of ``and`` become branches that no processor can foresee.
    """
    holds = int(boxes[i, 0] <= boxes[j, 3]) + int(boxes[j, 0] <= boxes[i, 3])
    holds += int(boxes[i, 1] <= boxes[j, 4]) + int(boxes[j, 1] <= boxes[i, 4])
    holds += int(boxes[i, 2] <= boxes[j, 5]) + int(boxes[j, 2] <= boxes[i, 5])
    return int(holds == 6)


@inline_kernel
def append_pair(filter, i, j, count, pairs_io):
    """Append the key of shapes i ≠ j if they may collide; returns the new count."""
    if not may_collide(filter, i, j):
        return count
    if count < pairs_io.shape[0]:
        pairs_io[count, 0] = (i << HALF) | j if i < j else (j << HALF) | i
    return count + 1


@kernel
def sort_pairs(n, count, ws, pairs_io):
    """Turn the first count keys in column 0 into rows (i, j) in order; nothing where they did not fit."""
    if count > pairs_io.shape[0]:
        return
    for source in range(2):  # by j from column 0 to 1, then by i from 1 to 0
        digit = source * HALF
        for d in range(n + 1):
            ws.table[d] = 0
        for k in range(count):
            ws.table[((pairs_io[k, source] >> digit) & LOWER_HALF) + 1] += 1
        for d in range(n):
            ws.table[d + 1] += ws.table[d]
        for k in range(count):
            key = pairs_io[k, source]
            d = (key >> digit) & LOWER_HALF
            pairs_io[ws.table[d], 1 - source] = key
            ws.table[d] += 1
    for k in range(count):
        key = pairs_io[k, 0]
        pairs_io[k, 0] = key >> HALF
        pairs_io[k, 1] = key & LOWER_HALF
