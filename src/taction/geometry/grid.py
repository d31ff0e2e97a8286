"""Broad phase by a hashed uniform grid: test only boxes in neighbouring cells.

What it finds: all pairs of shapes that may collide and whose boxes meet, in order.

Method:
1. The cell length is the smallest power of two that is longer than the boxes of all shapes but the largest:
   n / `BIG_PART` + `BIG_COUNT` shapes may be larger. A histogram of binary exponents gives it.
2. A shape belongs to the cell of the lower corner of its box. It is *small* if its box ends there or in the next
   cell, on each axis; otherwise, as planes and terrain are, it is *big*.
3. Hash the cells of the small shapes into a table of at least 2 n buckets, and put the shapes in order of
   bucket and number (counting sort).
4. If the boxes of two small shapes meet, their cells differ by at most one on each axis. So each small shape
   is tested against the later ones in its own cell and those in 13 of the 26 cells around, one of each
   opposite two. A cell ahead on some axis is skipped where the box does not reach into it.
5. Each big shape is tested against all others.
6. Sort the pairs.
Because the cell length is a power of two, cells follow from the sides without rounding, and step 4 is exact.
Cell numbers are kept to `CELL_BITS` bits per axis. Cells further apart than that may coincide, which costs
tests but no pairs and repeats none.

Departures from [Teschner2003]: a shape is in one cell, not in all that it touches, so that no pair is found
twice and the table has one entry per shape; the buckets are ranges of one array.

Cost: O(n) for shapes of one size, some 80 ns per shape, and n tests for each big one. Slow where sizes vary by
orders of magnitude throughout: cells made for the large hold many of the small.

References: [Teschner2003] for the hash function and the choice of the cell; [Ericson2005, Section 7.1] for one
cell per object and half of the neighbours; [Ayit2015].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.pair_list import (
    LEAST_BUCKETS,
    SCRATCH_TOO_SMALL,
    append_pair,
    boxes_meet,
    sort_pairs,
)

BIG_PART, BIG_COUNT = 64, 4
LOWEST, HIGHEST = -30, 30  # binary exponents of cell lengths [m]
LEAST, MOST = 2.0**LOWEST, 2.0**HIGHEST
CELL_BITS = 20
AXIS_MASK = 2**CELL_BITS - 1
CELL_MASK = 2 ** (3 * CELL_BITS) - 1
FURTHEST = 2.0**40  # cells from the origin, on each axis, up to which shapes can be small
BIG = -1  # instead of a cell


@kernel
def cell_length(boxes, ws):
    """Step 1; counts exponents in ws.table."""
    n, bins = boxes.shape[0], HIGHEST - LOWEST + 2
    for b in range(bins):
        ws.table[b] = 0
    for i in range(n):
        length = max(boxes[i, 3] - boxes[i, 0], boxes[i, 4] - boxes[i, 1], boxes[i, 5] - boxes[i, 2])
        exponent = HIGHEST + 1
        if length <= LEAST:
            exponent = LOWEST
        elif length < MOST:
            exponent = math.frexp(length)[1]
        ws.table[exponent - LOWEST] += 1
    larger, b = 0, bins - 1
    while b > 0 and larger + ws.table[b] <= n // BIG_PART + BIG_COUNT:
        larger += ws.table[b]
        b -= 1
    return math.ldexp(1.0, b + LOWEST)


@inline_kernel
def find_cell(boxes, i, inverse):
    """Step 2: BIG, or the cell of box i and, above its bits, one for each axis on which it ends in the next."""
    cell, ahead = 0, 0
    for k in range(3):
        low, high = np.floor(boxes[i, k] * inverse), np.floor(boxes[i, k + 3] * inverse)
        if not (abs(low) < FURTHEST and high - low <= 1.0):
            return BIG
        cell |= (int(low) & AXIS_MASK) << (k * CELL_BITS)
        ahead |= int(high - low) << k
    return cell | (ahead << (3 * CELL_BITS))


@inline_kernel
def bucket_of(x, y, z, size):
    """Bucket of cell (x, y, z) in a table of a size that is a power of two."""
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & (size - 1)


@inline_kernel
def axis_of(cell, k):
    """Cell number on axis k."""
    return (cell >> (k * CELL_BITS)) & AXIS_MASK


@kernel
def fill_table(boxes, size, ws):
    """Steps 2 and 3: cells into ws.cell, small shapes in order of their buckets into ws.spare.

    Bucket h is then ws.spare[ws.table[h]:ws.table[h + 1]].
    """
    n = boxes.shape[0]
    inverse = 1.0 / cell_length(boxes, ws)
    for h in range(size + 1):
        ws.table[h] = 0
    for i in range(n):
        cell = find_cell(boxes, i, inverse)
        ws.cell[i] = cell
        if cell != BIG:
            ws.table[bucket_of(axis_of(cell, 0), axis_of(cell, 1), axis_of(cell, 2), size)] += 1
    for h in range(size):
        ws.table[h + 1] += ws.table[h]
    for i in range(n - 1, -1, -1):
        cell = ws.cell[i]
        if cell != BIG:
            h = bucket_of(axis_of(cell, 0), axis_of(cell, 1), axis_of(cell, 2), size)
            ws.table[h] -= 1
            ws.spare[ws.table[h]] = i


@kernel
def visit_neighbours(filter, boxes, i, size, count, ws, pairs_io):
    """Step 4 for small shape i; returns the new count."""
    cell = ws.cell[i]
    ahead = cell >> (3 * CELL_BITS)
    for dz in range(1 + (ahead >> 2)):
        z = (axis_of(cell, 2) + dz) & AXIS_MASK
        for dy in range(-dz, 1 + ((ahead >> 1) & 1)):
            y = (axis_of(cell, 1) + dy) & AXIS_MASK
            first = 0 if dz == 0 and dy == 0 else -1
            for dx in range(first, 1 + (ahead & 1)):
                x = (axis_of(cell, 0) + dx) & AXIS_MASK
                near = x | (y << CELL_BITS) | (z << (2 * CELL_BITS))
                after = i if dz == 0 and dy == 0 and dx == 0 else -1
                h = bucket_of(x, y, z, size)
                for m in range(ws.table[h], ws.table[h + 1]):
                    j = ws.spare[m]
                    if j > after and (ws.cell[j] & CELL_MASK) == near and boxes_meet(boxes, i, j):
                        count = append_pair(filter, i, j, count, pairs_io)
    return count


@kernel
def grid(filter, boxes, ws, pairs_io):
    """Allowed pairs whose boxes (n, 6) meet, i < j in order, into pairs_io (capacity, 2); returns how many."""
    n = boxes.shape[0]
    if ws.order.shape[0] < n:
        return SCRATCH_TOO_SMALL
    size = LEAST_BUCKETS
    while size < 2 * n:
        size *= 2
    fill_table(boxes, size, ws)
    count = 0
    for i in range(n):
        if ws.cell[i] != BIG:
            count = visit_neighbours(filter, boxes, i, size, count, ws, pairs_io)
            continue
        for j in range(n):
            if j != i and (j > i or ws.cell[j] != BIG) and boxes_meet(boxes, i, j):
                count = append_pair(filter, i, j, count, pairs_io)
    sort_pairs(n, count, ws, pairs_io)
    return count
