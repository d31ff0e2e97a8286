"""Broad phase by looking at every pair.

What it finds: all pairs of shapes that may collide and whose boxes meet, in order.

Method: where the allowed pairs are listed, test the boxes of each of them. Otherwise test the boxes of all
n (n − 1) / 2 pairs, and of those that meet ask the filter. Both come out in order by themselves.

Cost: 4 ns per pair listed, or per pair of shapes. Nothing is set up, so nothing is faster for few pairs;
`taction.geometry.broad_phase` compares.

References: [Ayit2015] for the method among others.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.geometry.filters import may_collide
from taction.geometry.pair_list import FOUND, SCRATCH_TOO_SMALL, ZERO, boxes_meet


@kernel
def listed_pairs(pairs, boxes, pairs_io):
    """Those of the pairs (p, 2) whose boxes (n, 6) meet, into pairs_io (capacity, 2); returns how many."""
    count, capacity = ZERO, pairs_io.shape[0]
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        if boxes_meet(boxes, i, j) != 0:
            if count < capacity:
                pairs_io[count, 0] = i
                pairs_io[count, 1] = j
            count += 1
    return count


@kernel
def all_pairs(filter, boxes, ws, pairs_io):
    """Allowed pairs i < j whose boxes (n, 6) meet, in order, into pairs_io (capacity, 2); the count."""
    n, count, capacity = boxes.shape[0], ZERO, pairs_io.shape[0]
    if filter.is_listed != 0:
        return listed_pairs(filter.pairs, boxes, pairs_io)
    if ws.number.shape[1] < n:
        return SCRATCH_TOO_SMALL
    for i in range(n):
        found = ZERO
        for j in range(i + 1, n):
            ws.number[FOUND, found] = j
            found += boxes_meet(boxes, i, j)
        for m in range(found):
            j = ws.number[FOUND, m]
            if may_collide(filter, i, j):
                if count < capacity:
                    pairs_io[count, 0] = i
                    pairs_io[count, 1] = j
                count += 1
    return count
