"""Broad phase by sweep and prune: sort the boxes along one axis, test only those that overlap on it.

What it finds: all pairs of shapes that may collide and whose boxes meet, in order.

Method:
1. The axis is that on which the centres of the boxes have the greatest variance; boxes without bounds do
   not count.
2. Sort the shapes by the lower sides of their boxes on that axis. The order of the last call is where the
   sort starts: shapes move little in a step, so insertion sort has little to do. Where it has more than
   `MOVES_PER_SHAPE` moves per shape, merge sort takes over; and where the scratch holds no permutation of
   the shapes, their numbers are the start.
3. For each shape look at those that follow, up to the first whose lower side is beyond this one's upper
   side; test the other two axes, then the filter.
4. Sort the pairs.
Which of two equal lower sides comes first does not matter, because boxes that touch count as meeting; so
the pairs depend on the boxes alone and not on the order the scratch held.

Departures from [Cohen1995]: one axis is sorted, not three, and the pairs that overlap are found anew each
time. A set of them carried from step to step would be state, to be saved and restored with the rest. A box
with a side that is not a number meets nothing.

Cost: the sort is O(n) from step to step and O(n log n) at worst; then 3 ns per pair that overlaps on the
axis, of which there are O(n) in a row of shapes and O(n^(5/3)) in a heap. `taction.geometry.broad_phase`
compares.

References: [Cohen1995] for sweep and prune with a coherent insertion sort; [Ericson2005, Section 7.5] for
one array and the axis of greatest variance; [Knuth1998, Section 5.2.4] for merge sort; [Ayit2015] for the
method among others.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.geometry.pair_list import (
    ENTRY,
    FOUND,
    KEY,
    ORDER,
    SCRATCH_TOO_SMALL,
    ZERO,
    append_pair,
    sort_pairs,
)

UNBOUNDED = 1e100  # beyond this, the side of a box says nothing about its place [m]
MOVES_PER_SHAPE = 8


@kernel
def widest_axis(boxes):
    """Axis 0, 1 or 2 on which the centres of the boxes (n, 6) have the greatest variance."""
    best, axis = -1.0, 0
    for k in range(3):
        total, squares, origin, m = 0.0, 0.0, 0.0, 0
        for i in range(boxes.shape[0]):
            if boxes[i, k] > -UNBOUNDED and boxes[i, k + 3] < UNBOUNDED:
                middle = 0.5 * (boxes[i, k] + boxes[i, k + 3])
                origin = middle if m == 0 else origin
                total += middle - origin
                squares += (middle - origin) * (middle - origin)
                m += 1
        spread = squares - total * total / m if m > 0 else 0.0
        if spread > best:
            best, axis = spread, k
    return axis


@kernel
def sort_order(n, ws):
    """Sort row ORDER of ws.number, a permutation of n shapes, by their keys in ws.box."""
    moves = 0
    for k in range(1, n):
        i, m = ws.number[ORDER, k], k
        while m > 0 and ws.box[ws.number[ORDER, m - 1], KEY] > ws.box[i, KEY]:
            ws.number[ORDER, m] = ws.number[ORDER, m - 1]
            m -= 1
        ws.number[ORDER, m] = i
        moves += k - m
        if moves > MOVES_PER_SHAPE * n:
            break
    width = 1 if moves > MOVES_PER_SHAPE * n else n
    while width < n:
        for start in range(0, n, 2 * width):
            a, b = start, start + width
            middle, end = b, b + width if b + width < n else n
            for k in range(start, end):
                is_first = b >= end
                if a < middle and b < end:
                    is_first = ws.box[ws.number[ORDER, a], KEY] <= ws.box[ws.number[ORDER, b], KEY]
                ws.number[ENTRY, k] = ws.number[ORDER, a if is_first else b]
                a += 1 if is_first else 0
                b += 0 if is_first else 1
        for k in range(n):
            ws.number[ORDER, k] = ws.number[ENTRY, k]
        width *= 2


@kernel
def sort_shapes(boxes, axis, ws):
    """Step 2: shapes by lower side into row ORDER, their boxes into ws.box, sides paired, the axis first."""
    n, repeats = boxes.shape[0], 0
    for i in range(n):
        ws.box[i, KEY] = boxes[i, axis] if boxes[i, axis] <= boxes[i, axis + 3] else math.inf
        ws.table[i] = 0
    for k in range(n):
        i = ws.number[ORDER, k]
        if i < 0 or i >= n:
            repeats += 1
        else:
            repeats += ws.table[i]
            ws.table[i] = 1
    if repeats != 0:
        for k in range(n):
            ws.number[ORDER, k] = k
    sort_order(n, ws)
    for k in range(n):
        i = ws.number[ORDER, k]
        for c in range(3):
            side = (axis + c) % 3
            ws.box[k, 2 * c] = boxes[i, side]
            ws.box[k, 2 * c + 1] = boxes[i, side + 3]
        if ws.box[i, KEY] == math.inf:
            ws.box[k, 0] = math.nan


@kernel
def sweep(filter, boxes, ws, pairs_io):
    """Allowed pairs i < j whose boxes (n, 6) meet, in order, into pairs_io (capacity, 2); the count."""
    n, count = boxes.shape[0], ZERO
    if ws.number.shape[1] < n:
        return SCRATCH_TOO_SMALL
    sort_shapes(boxes, widest_axis(boxes), ws)
    for k in range(n):
        end, found = ws.box[k, 1], ZERO
        b0, b1, c0, c1 = ws.box[k, 2], ws.box[k, 3], ws.box[k, 4], ws.box[k, 5]
        for m in range(k + 1, n):
            if not ws.box[m, 0] <= end:
                break
            holds = int(b0 <= ws.box[m, 3]) + int(ws.box[m, 2] <= b1)
            holds += int(c0 <= ws.box[m, 5]) + int(ws.box[m, 4] <= c1)
            ws.number[FOUND, found] = ws.number[ORDER, m]
            found += int(holds == 4)
        for m in range(found):
            count = append_pair(filter, ws.number[ORDER, k], ws.number[FOUND, m], count, pairs_io)
    sort_pairs(n, count, ws, pairs_io)
    return count
