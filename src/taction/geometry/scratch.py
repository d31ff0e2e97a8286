"""Scratch of a pair of convex shapes: the rows and columns through which the kernels of a pair talk.

Kernels of a pair hand each other one float array `ws` (SCRATCH_ROWS, SCRATCH_COLUMNS) instead of dozens of
words. Its first rows say which shapes the pair is of and how they lie, the next hold points of A − B, the
rest polytopes and polygons; integers are stored as floats. (Notation of `support`.)

References: none; the algorithms are in the files that use it.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.math.vector import add, dot, load3, load9, mat_vec, store3

# Rows of the scratch array
FIRST = np.int64(0)
SECOND = np.int64(1)
PLACE = np.int64(2)  # the second shape in the axes of the first
POINTS = np.int64(3)  # up to four points of A − B: the simplex
SPARE = np.int64(7)  # one more point
BUFFER = np.int64(8)  # polytopes of `epa` and polygons of `manifold`, from here on
SCRATCH_ROWS = 384
SCRATCH_COLUMNS = 12

# Columns of a shape
KIND = np.int64(0)
SHAPE = np.int64(1)  # its row in `Colliders`

# Columns of the placement
TURN = np.int64(0)  # 9: R row by row
OFFSET = np.int64(9)  # 3: c [m]

# Columns of a corner of a polygon
AT = np.int64(0)  # 3: A's axes [m]
NUMBER = np.int64(3)  # of the corner in its shape, −1 where an edge was cut
BEFORE = np.int64(4)  # edge that ends here: k of the polygon itself, −1 − k of the reference polygon
AFTER = np.int64(5)  # edge that starts here
UNCUT = np.int64(6)  # number of the corner that was in this row before all cuts

# Columns of a point of A − B
W = np.int64(0)  # 3: a − b [m]
ON_FIRST = np.int64(3)  # 3: a [m]
ID_FIRST = np.int64(6)
ID_SECOND = np.int64(7)
WEIGHT = np.int64(8)

MOST_CORNERS = 48  # of the part of a shape that `set_part` writes
TINY = 1e-300  # lengths below this are zero [m]


@kernel
def unit(a):
    """The vector at length one; unchanged if zero."""
    length = math.sqrt(dot(a, a))
    s = 1.0 / length if length > 0.0 else 1.0
    return s * a[0], s * a[1], s * a[2]


@kernel
def set_corner(p, number, k, side, row, ws):
    """Write corner k of the polygon that starts at a row; p in the axes of the shape."""
    if side == SECOND:
        p = add(mat_vec(load9(ws, PLACE, TURN), p), load3(ws, PLACE, OFFSET))
    store3(p, row + k, AT, ws)
    ws[row + k, NUMBER] = number
    ws[row + k, UNCUT] = number
    ws[row + k, AFTER] = k
    ws[row + k, BEFORE] = k - 1
