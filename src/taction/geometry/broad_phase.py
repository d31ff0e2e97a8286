"""Broad phase: one entrance to the three methods, and the choice between them.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.geometry.all_pairs import all_pairs
from taction.geometry.filters import Filter
from taction.geometry.grid import grid
from taction.geometry.sweep import sweep

ALL_PAIRS, SWEEP, GRID = 0, 1, 2
GRID_FROM = 400


@kernel
def find_pairs(method, filter, boxes, ws, pairs_io):
    """Allowed pairs whose boxes (n, 6) meet, i < j in order, into pairs_io (capacity, 2); returns how many."""
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
