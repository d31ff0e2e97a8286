"""Broad phase: one entrance to the three methods, and the choice between them.

What it finds: all pairs of shapes that may collide (`taction.geometry.filters`) and whose boxes meet
(`taction.geometry.bounds`); the narrow phase looks at these. All methods give the same list, bit for bit,
so the choice changes the time and nothing else. A list too short for the pairs is not filled, and the count
returned says how long it must be.

Method: the choice follows from the number of shapes and of allowed pairs alone:
1. all pairs, where these are listed: at most `LIST_PER_SHAPE` allowed pairs per shape, so any scene of up
   to 25 shapes and most robots;
2. sweep, for fewer than `GRID_FROM` shapes;
3. grid.

Time per call [µs], in a compiled loop over steps in which shapes move by 2/1000 of their size, with all
pairs allowed and the ground as one of the shapes (numba 0.68, one core of a Xeon at 2.5 GHz). All pairs are
listed up to 20 shapes and not above; in a heap as wide as high the axis of the sweep may change at any step:

    scene                                  shapes   pairs   all pairs   sweep    grid
    heap: cubes, nearly touching                5       9        0.11    0.40    0.76
                                               20      38        0.85    1.4     2.6
                                              216     608          88   39–50      41
                                             2000    6272        7200    1090     450
    flat: one layer of the heap               216     500          86      24      34
                                             2000    4876        7200     450     290
    row: one line of the heap                 216     320          85     9.3      25
                                             2000    2969        7100     104     350
    loose: cubes in 8 times their volume      216     103          85      18      21
                                             2000     949        7200     540     290
    mixed: the same, sizes 1/50 to 2 times    216      32          83      11      16
                                             2000     272        7200     285     178

Sweep overtakes the list of all pairs at about 30 shapes, which is 15 pairs per shape. Grid overtakes sweep
between 216 and 400 shapes in the heap, the layer and the loose scene, and never in a row.

References: [Ericson2005, Chapter 7] and [Ayit2015] for the comparison of broad phases.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.geometry.all_pairs import all_pairs
from taction.geometry.filters import Filter
from taction.geometry.grid import grid
from taction.geometry.sweep import sweep

ALL_PAIRS, SWEEP, GRID = 0, 1, 2
GRID_FROM = 400  # shapes from which the grid is chosen


@kernel
def find_pairs(method, filter, boxes, ws, pairs_io):
    """Allowed pairs i < j whose boxes (n, 6) meet, in order, into pairs_io (capacity, 2); the count.

    Boxes: lower xyz at or below upper xyz [m]. Where the count exceeds the capacity, pairs_io holds nothing
    of use: make it longer and call again. SCRATCH_TOO_SMALL: ws was made for fewer shapes.
    """
    if method == ALL_PAIRS:
        return all_pairs(filter, boxes, ws, pairs_io)
    if method == SWEEP:
        return sweep(filter, boxes, ws, pairs_io)
    return grid(filter, boxes, ws, pairs_io)


def choose_broad_phase(filter: Filter) -> int:
    """The method that is fastest for so many shapes and allowed pairs: ALL_PAIRS, SWEEP or GRID."""
    if filter.is_listed:
        return ALL_PAIRS
    return SWEEP if filter.n_shapes < GRID_FROM else GRID
