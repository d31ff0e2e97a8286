"""Memory of Newton's method: a scaled problem in elimination order, and scratch; carved from three arrays.

References: [GolubVanLoan2013] for storage by blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taction._core import layout
from taction._core.arrays import Array, IntArray
from taction.contact.blocks import BlockRows
from taction.solvers.body_memory import BodyMemory, no_bodies
from taction.solvers.elimination_order import Analysis

# rows of Work.vectors
RESIDUAL, STEP, RESPONSE, TRIAL, TRIAL_U = 0, 1, 2, 3, 4
CENTRE, PREVIOUS, PREVIOUS_U, IMPULSE, VELOCITY, VECTORS = 5, 6, 7, 8, 9, 10
# entries of Work.record: Newton steps recorded so far, sum of squared residuals of all components
RECORDED, TOTAL = 0, 1


class Work(NamedTuple):
    """A scaled problem of k blocks in elimination order, and the memory that a solve needs.

    rows: scaled blocks; sets (k, 6): unscaled; scale (3k,); analysis: order, components and pattern of the
    factor; target (m,): where each block of W goes in it; vectors (10, 3k), jacobian (k, 18), is_identity
    (k,), place (k,), lu (p, 9), inverse (k, 9), record (2,): scratch; level (k,): proximal weight of each
    block in units of α; held (k,): is_identity of the factor that is there; bodies: where
    systems are solved in their space, else empty.
    """

    rows: BlockRows
    sets: Array
    scale: Array
    analysis: Analysis
    target: IntArray
    vectors: Array
    jacobian: Array
    is_identity: NDArray[np.bool_]
    place: IntArray
    lu: Array
    inverse: Array
    record: Array
    level: Array
    held: NDArray[np.bool_]
    bodies: BodyMemory


def work_sizes(k: int, m: int, p: int, c: int) -> tuple[int, int, int]:
    """How many floats, integers and flags `taction.solvers.newton_work.carve_work` needs."""
    return 9 * m + (28 + 3 * VECTORS + 18) * k + 9 * p + 2, 2 * m + 7 * k + c + 3 + p, 2 * k


class NewtonMemory(layout.Layout):
    """The three arrays that a `Work` is carved from, and the pattern of W that it is ordered for."""

    size: IntArray = layout.ints("4", "blocks, entries of W, entries of the factor, components")
    floats: Array = layout.floats("f", "all numbers")
    ints: IntArray = layout.ints("i", "all indices")
    flags: NDArray[np.bool_] = layout.flags("b", "all truth values")
    start: IntArray = layout.ints("k", "pattern of W: where each row of blocks starts, and the end of all")
    column: IntArray = layout.ints("m", "pattern of W: columns of the blocks")
    bodies: BodyMemory = layout.nested(BodyMemory, "where systems are solved in their space, else empty")


def make_newton_memory(
    size: tuple[int, int, int, int], start: IntArray, column: IntArray, bodies: BodyMemory | None = None
) -> NewtonMemory:
    """Memory for so many blocks, entries of W, entries of the factor and components."""
    floats, ints, flags = work_sizes(*size)
    return NewtonMemory(
        np.array(size, dtype=np.int64),
        np.zeros(floats),
        np.zeros(ints, dtype=np.int64),
        np.zeros(flags, dtype=np.bool_),
        start,
        column,
        no_bodies() if bodies is None else bodies,
    )
