"""Loose triangles to a mesh: equal corners become one vertex.

Method: corners are sorted by x, y and z. Instead of three numbers each, whose comparison is slow, they are
given one: the rank of x and the rank of y side by side in 64 bits, then the rank of that pair and that of z.
Ranks only have to keep the order: numbers of single precision, as most files have, carry theirs in their
bits, others are sorted once.

Cost: two sorts of integers, and three of numbers in double precision.

References: none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray

HALF = np.uint64(32)  # bits of a rank
SIGN = np.uint32(1 << 31)


def weld(corners: NDArray[Any]) -> tuple[Array, IntArray]:
    """Vertices and triangles of loose corners (3·nf, 3): equal ones are merged, flat triangles dropped.

    Vertices are in the order of x, then y, then z; NaN equals nothing.
    """
    corners = corners + corners.dtype.type(0.0)  # turns −0 into 0, which differ bitwise
    x, y, z = (_rank(np.ascontiguousarray(corners[:, k])) for k in range(3))
    _, pair = _distinct(x << HALF | y)
    first, number = _distinct(pair << HALF | z)
    faces = number.astype(np.int64).reshape(-1, 3)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return corners[first].astype(np.float64), faces[whole]


def _rank(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Numbers below 2³² in the same order as values (n,), equal where these are."""
    if values.dtype != np.float32:
        return _distinct(values)[1]
    bits = values.view(np.uint32)
    return np.where(bits < SIGN, bits | SIGN, ~bits).astype(np.uint64)


def _distinct(values: NDArray[Any]) -> tuple[IntArray, NDArray[np.uint64]]:
    """Where each distinct value stands, ascending, and the place of each value (n,) among those."""
    order = np.argsort(values)
    ascending = values[order]
    is_new = np.ones(len(values), dtype=bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    place = np.empty(len(values), dtype=np.uint64)
    place[order] = np.cumsum(is_new, dtype=np.uint64) - np.uint64(1)
    return order[is_new], place
