"""Broad phase by sweep and prune: sort the boxes along one axis, test only those that overlap on it.

What it finds: all pairs of shapes that may collide and whose boxes meet, in order.

Method:
1. The axis is that on which the centres of the boxes have the greatest variance; boxes without bounds do not
   count.
2. Sort the shapes by the lower sides of their boxes on that axis. The order of the last call is where the sort
   starts: shapes move little in a step, so insertion sort has little to do. Where it has more than
   `MOVES_PER_SHAPE` moves per shape, merge sort takes over; and where the scratch holds no permutation of the
   shapes, their numbers are the start.
3. For each shape look at those that follow, up to the first whose lower side is beyond this one's upper
   side; test the other two axes, then the filter.
4. Sort the pairs.
Which of two equal lower sides comes first does not matter, because boxes that touch count as meeting; so the
pairs depend on the boxes alone and not on the order the scratch held.

Departures from [Cohen1995]: one axis is sorted, not three, and no set of overlapping pairs is kept from step to
step: with pairs that come and go such a set is one more thing to save and to restore. A box with a side that is
not a number meets nothing.

Cost: O(n log n) at worst and O(n) between steps for the sort, then 1.5 ns per pair that overlaps on the axis:
few in a row of shapes, n^{5/3} in a heap.

References: [Cohen1995]; [Baraff1992, Section 2.4] for the coherent insertion sort; [Ericson2005, Section 7.5]
for the axis of greatest variance; [Ayit2015].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.geometry.pair_list import SCRATCH_TOO_SMALL, append_pair, sort_pairs

UNBOUNDED = 1e100  # a box wider than this has no centre to speak of [m]
MOVES_PER_SHAPE = 8


@kernel
def widest_axis(boxes):
    """Axis 0, 1 or 2 on which the centres of the boxes (n, 6) have the greatest variance."""
    best, axis = -1.0, 0
    for k in range(3):
        total, squares, origin, m = 0.0, 0.0, 0.0, 0
        for i in range(boxes.shape[0]):
            if boxes[i, k + 3] - boxes[i, k] < UNBOUNDED:
                middle = 0.5 * (boxes[i, k] + boxes[i, k + 3])
                origin = middle if m == 0 else origin
                total += middle - origin
                squares += (middle - origin) * (middle - origin)
                m += 1
        spread = squares - total * total / max(m, 1)
        if spread > best:
            best, axis = spread, k
    return axis


@inline_kernel
def is_number(boxes, i):
    """Whether box i has a lower side at or below its upper side on each axis."""
    return boxes[i, 0] <= boxes[i, 3] and boxes[i, 1] <= boxes[i, 4] and boxes[i, 2] <= boxes[i, 5]


@kernel
def start_order(n, ws):
    """Make ws.order a permutation of n shapes, unless it is one already."""
    for i in range(n):
        ws.table[i] = 0
    missing = 0
    for k in range(n):
        i = ws.order[k]
        if i < 0 or i >= n or ws.table[i] != 0:
            missing = 1
            break
        ws.table[i] = 1
    if missing != 0:
        for k in range(n):
            ws.order[k] = k


@kernel
def insertion_sort(n, limit, ws):
    """Sort ws.order and its keys in column 0 of ws.box; returns whether it took at most limit moves."""
    moves = 0
    for k in range(1, n):
        key, i, m = ws.box[k, 0], ws.order[k], k
        while m > 0 and ws.box[m - 1, 0] > key:
            ws.box[m, 0] = ws.box[m - 1, 0]
            ws.order[m] = ws.order[m - 1]
            m -= 1
        ws.box[m, 0] = key
        ws.order[m] = i
        moves += k - m
        if moves > limit:
            return False
    return True


@kernel
def merge_sort(n, ws):
    """Sort ws.order by the keys in column 1 of ws.box, which belong to shapes, from the bottom up."""
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            a, b = start, middle
            for k in range(start, end):
                if a < middle and (b >= end or ws.box[ws.order[a], 1] <= ws.box[ws.order[b], 1]):
                    ws.spare[k] = ws.order[a]
                    a += 1
                else:
                    ws.spare[k] = ws.order[b]
                    b += 1
        for k in range(n):
            ws.order[k] = ws.spare[k]
        width *= 2


@kernel
def sort_shapes(boxes, axis, ws):
    """Step 2: ws.order by lower side, then ws.box: the boxes in that order, sides paired, the axis first."""
    n = boxes.shape[0]
    start_order(n, ws)
    for k in range(n):
        i = ws.order[k]
        ws.box[k, 0] = boxes[i, axis] if is_number(boxes, i) else math.inf
    if not insertion_sort(n, MOVES_PER_SHAPE * n, ws):
        for i in range(n):
            ws.box[i, 1] = boxes[i, axis] if is_number(boxes, i) else math.inf
        merge_sort(n, ws)
    for k in range(n):
        i = ws.order[k]
        if is_number(boxes, i):
            for c in range(3):
                side = (axis + c) % 3
                ws.box[k, 2 * c] = boxes[i, side]
                ws.box[k, 2 * c + 1] = boxes[i, side + 3]
        else:
            for c in range(3):
                ws.box[k, 2 * c] = math.inf
                ws.box[k, 2 * c + 1] = -math.inf


@kernel
def sweep(filter, boxes, ws, pairs_io):
    """Allowed pairs whose boxes (n, 6) meet, i < j in order, into pairs_io (capacity, 2); returns how many."""
    n = boxes.shape[0]
    if ws.order.shape[0] < n:
        return SCRATCH_TOO_SMALL
    sort_shapes(boxes, widest_axis(boxes), ws)
    count = 0
    for k in range(n):
        i, end = ws.order[k], ws.box[k, 1]
        b0, b1, c0, c1 = ws.box[k, 2], ws.box[k, 3], ws.box[k, 4], ws.box[k, 5]
        for m in range(k + 1, n):
            if ws.box[m, 0] > end:
                break
            meets = (
                (b0 <= ws.box[m, 3]) & (ws.box[m, 2] <= b1) & (c0 <= ws.box[m, 5]) & (ws.box[m, 4] <= c1)
            )
            if meets:
                count = append_pair(filter, i, ws.order[m], count, pairs_io)
    sort_pairs(n, count, ws, pairs_io)
    return count
