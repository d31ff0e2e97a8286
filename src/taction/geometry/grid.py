"""Broad phase by a hashed uniform grid: test only boxes in neighbouring cells.

What it finds: all pairs of shapes that may collide and whose boxes meet, in order.

Method:
1. The cells are just longer than the boxes of all shapes but the largest: n / `BIG_PART` + `BIG_COUNT` may
   be larger. A histogram of the lengths, in `PARTS` bins from each power of two to the next, tells.
2. A shape belongs to the cell of the lower corner of its box. It is *small* if its box ends there or in the
   next cell, on each axis; otherwise, as planes and terrain are, it is *big*.
3. Hash the cells of the small shapes into a table of at least 2 n buckets, such that a row of cells along x
   is a row of buckets, and put the shapes in the order of their buckets (counting sort).
4. If the boxes of two small shapes meet, their cells differ by at most one on each axis. So each small
   shape is tested against those after it in its own cell, and those in 13 of the 26 cells around, one of
   each opposite two: these lie in five rows, and each row is one range of the table. Rows and cells that
   the box does not reach into are left out.
5. Each big shape is tested against all others.
6. Sort the pairs.
Cells grow with coordinates even after rounding, so step 4 is exact. Cell numbers are kept to `CELL_BITS`
bits per axis: cells whole periods apart coincide, which costs tests but neither loses nor repeats pairs. A
box with a side that is not a number is big, and meets nothing.

Departures from [Teschner2003]: a shape is in one cell, not in all that it touches, so that no pair is found
twice and the table has one entry per shape; the hash adds where theirs takes the exclusive or, for the
rows.

Cost: O(n) for shapes of one size, 150 to 250 ns per shape, and n tests of 4 ns for each big one. Where
sizes vary throughout, cells made for the large hold many of the small. `taction.geometry.broad_phase`
compares.

References: [Teschner2003] for the hash and a cell of the size of the shapes; [Ericson2005, Section 7.1] for
one cell per object and half of the neighbours; [Ayit2015] for the method among others.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.pair_list import (
    CELL,
    ENTRY,
    FOUND,
    LEAST_BUCKETS,
    SCRATCH_TOO_SMALL,
    ZERO,
    append_pair,
    boxes_meet,
    sort_pairs,
)

BIG_PART, BIG_COUNT = 64, 4
LOWEST, HIGHEST, PARTS = -20, 20, 4  # binary exponents of cell lengths [m], and lengths between two of them
LEAST, MOST = 2.0**LOWEST, 2.0**HIGHEST
CELL_BITS = 20
AXIS_MASK = 2**CELL_BITS - 1
ROW_MASK = 2 ** (2 * CELL_BITS) - 1
ROW_Y, ROW_Z = 19349663, 83492791
FURTHEST = 2.0**40  # cells from the origin, on each axis, up to which shapes can be small
BIG = -1  # instead of a cell


@kernel
def cell_length(boxes, ws):
    """Step 1; counts lengths in ws.table."""
    n, bins = boxes.shape[0], (HIGHEST - LOWEST) * PARTS + 2
    for b in range(bins):
        ws.table[b] = 0
    for i in range(n):
        length = 0.0
        for k in range(3):
            side = boxes[i, k + 3] - boxes[i, k]
            length = length if side < length else side
        b = bins - 1
        if length < LEAST:
            b = 0
        elif length < MOST:
            part, exponent = math.frexp(length)
            b = (exponent - 1 - LOWEST) * PARTS + 1 + int((2.0 * part - 1.0) * PARTS)
        ws.table[b] += 1
    larger, b = 0, bins - 1
    while b > 0 and larger + ws.table[b] <= n // BIG_PART + BIG_COUNT:
        larger += ws.table[b]
        b -= 1
    return math.ldexp(1.0 + (b % PARTS) / PARTS, b // PARTS + LOWEST)


@inline_kernel
def find_cell(boxes, i, inverse):
    """Step 2: BIG, or the cell of box i and, above it, a bit for each axis on which it ends in the next."""
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
    """Bucket of cell (x, y, z) in a table whose size is a power of two."""
    return (x + y * ROW_Y + z * ROW_Z) & (size - 1)


@inline_kernel
def unpack(cell):
    """Cell number on each axis."""
    return cell & AXIS_MASK, (cell >> CELL_BITS) & AXIS_MASK, (cell >> (2 * CELL_BITS)) & AXIS_MASK


@kernel
def fill_table(boxes, size, ws):
    """Steps 2 and 3; returns the number of small shapes.

    Small shapes come in the order of their buckets: shapes in row ENTRY, cells in row CELL, boxes in ws.box;
    bucket h is at ws.table[h] up to ws.table[h + 1]. Big shapes follow in row ENTRY.
    """
    n = boxes.shape[0]
    inverse = 1.0 / cell_length(boxes, ws)
    for h in range(size + 1):
        ws.table[h] = 0
    for i in range(n):
        cell = find_cell(boxes, i, inverse)
        ws.number[FOUND, i] = cell
        if cell != BIG:
            x, y, z = unpack(cell)
            ws.table[bucket_of(x, y, z, size)] += 1
    for h in range(size):
        ws.table[h + 1] += ws.table[h]
    last = n
    for i in range(n - 1, -1, -1):
        cell = ws.number[FOUND, i]
        if cell == BIG:
            last -= 1
            ws.number[ENTRY, last] = i
            continue
        x, y, z = unpack(cell)
        h = bucket_of(x, y, z, size)
        k = ws.table[h] - 1
        ws.table[h] = k
        ws.number[ENTRY, k] = i
        ws.number[CELL, k] = cell
        for c in range(6):
            ws.box[k, c] = boxes[i, c]
    return last


@kernel
def visit_neighbours(k, size, ws):
    """Step 4 for small entry k: shapes it meets into row FOUND; returns how many."""
    cell, found = ws.number[CELL, k], ZERO
    ahead = cell >> (3 * CELL_BITS)
    x, own_y, own_z = unpack(cell)
    for dz in range(1 + (ahead >> 2)):
        z = (own_z + dz) & AXIS_MASK
        for dy in range(-dz, 1 + ((ahead >> 1) & 1)):
            y = (own_y + dy) & AXIS_MASK
            row = y | (z << CELL_BITS)
            is_own = dz == 0 and dy == 0
            h = bucket_of(x, y, z, size)
            last = h + (ahead & 1)
            h -= 0 if is_own else 1
            while h <= last:
                edge = h | (size - 1)
                edge = last if last < edge else edge
                start = k + 1 if is_own and h < size else ws.table[h & (size - 1)]
                for m in range(start, ws.table[(edge & (size - 1)) + 1]):
                    ws.number[FOUND, found] = ws.number[ENTRY, m]
                    is_near = int(((ws.number[CELL, m] >> CELL_BITS) & ROW_MASK) == row)
                    found += is_near * boxes_meet(ws.box, k, m)
                h = edge + 1
    return found


@kernel
def grid(filter, boxes, ws, pairs_io):
    """Allowed pairs i < j whose boxes (n, 6) meet, in order, into pairs_io (capacity, 2); the count."""
    n, size, count = boxes.shape[0], LEAST_BUCKETS, ZERO
    if ws.number.shape[1] < n:
        return SCRATCH_TOO_SMALL
    while size < 2 * n:
        size *= 2
    small = fill_table(boxes, size, ws)
    for k in range(n):
        i, found = ws.number[ENTRY, k], ZERO
        if k < small:
            found = visit_neighbours(k, size, ws)
        else:
            for m in range(k):
                j = ws.number[ENTRY, m]
                ws.number[FOUND, found] = j
                found += boxes_meet(boxes, i, j)
        for m in range(found):
            count = append_pair(filter, i, ws.number[FOUND, m], count, pairs_io)
    sort_pairs(n, count, ws, pairs_io)
    return count
