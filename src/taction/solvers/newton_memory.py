"""Memory of Newton's method: a scaled problem in elimination order, the pattern of its factor, and scratch.

Made for one pattern of W (`taction.solvers.newton.order_newton`), for a few blocks that are all coupled, in
their own order (`dense_work`), or for systems in the space of the bodies (`taction.solvers.body_space`).

References: [GolubVanLoan2013] for storage by blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, flags, floats, ints, nested
from taction.solvers.body_memory import BodyMemory, no_bodies
from taction.solvers.elimination_order import DENSE, FactorPattern

# rows of Work.vectors
RESIDUAL, STEP, RESPONSE, TRIAL, TRIAL_U = 0, 1, 2, 3, 4
CENTRE, PREVIOUS, PREVIOUS_U, IMPULSE, VELOCITY, VECTORS = 5, 6, 7, 8, 9, 10
# entries of Work.record: Newton steps recorded so far, sum of squared residuals of all components
RECORDED, TOTAL = 0, 1
FULL_MOST = 64  # blocks up to which there may be memory for all of them coupled, in their own order
# entries of Work.count
BLOCKS, COMPONENTS = 0, 1


class ScaledRows(Layout, scratch=True):
    """`taction.contact.blocks.BlockRows` of a scaled problem."""

    start: IntArray = ints("k + 1", "where each row of blocks starts")
    column: IntArray = ints("m", "columns of the blocks")
    value: Array = floats("m, 9", "blocks of W, by rows")
    diagonal: IntArray = ints("k", "where the diagonal blocks are")
    b: Array = floats("3*k", "velocities without impulses")
    kind: IntArray = ints("k", "of `taction.contact.laws.dispatch`")
    sets: Array = floats("k, 6", "likewise")


class Work(Layout, scratch=True):
    """A scaled problem in elimination order, and what a solve needs; arrays may be longer than the problem.

    k blocks, m entries of W, p of the factor, q components.
    """

    count: IntArray = ints("2", "blocks and components in use")
    start: IntArray = ints("s", "pattern of W it was ordered for: where each row of blocks starts, the end")
    column: IntArray = ints("w", "pattern of W it was ordered for: columns")
    rows: ScaledRows = nested(ScaledRows, "scaled blocks, in elimination order")
    sets: Array = floats("k, 6", "their sets, not scaled")
    scale: Array = floats("3*k", "of impulses [N s]")
    order: IntArray = ints("k", "block eliminated at each turn")
    component: IntArray = ints("q + 1", "first turn of each connected component, and the end of all")
    pattern: FactorPattern = nested(FactorPattern, "of the factor")
    target: IntArray = ints("m", "where each block of W goes in it")
    vectors: Array = floats("VECTORS, 3*k", "at the rows above")
    jacobian: Array = floats("k, 18", "A and B of each block")
    is_identity: NDArray[np.bool_] = flags("k", "rows that are those of the identity")
    held: NDArray[np.bool_] = flags("k", "likewise in the factor that is there")
    place: IntArray = ints("k", "turn of each block; scratch of the factor")
    lu: Array = floats("p, 9", "the factor")
    inverse: Array = floats("k, 9", "inverse diagonal blocks")
    level: Array = floats("k", "proximal weight of each block in units of α")
    record: Array = floats("2", "at the entries above")
    bodies: BodyMemory = nested(BodyMemory, "where systems are solved in their space, else empty")


def make_work(
    k: int, m: int, p: int, q: int, made_for: tuple[IntArray, IntArray] | None = None, **given: Any
) -> Work:
    """Memory for so many blocks, entries of W, entries of the factor and components.

    Args:
        k: blocks.
        m: entries of W.
        p: entries of the factor.
        q: components.
        made_for: row starts and columns of the pattern of W that it is ordered for.
        **given: fields that are there already.
    """
    none = np.zeros(0, dtype=np.int64)
    start, column = (none, none) if made_for is None else made_for
    given = {
        "start": start,
        "column": column,
        "rows": ScaledRows.allocate(k=k, m=m),
        "pattern": FactorPattern.allocate(c=k, p=p),
        "bodies": no_bodies(),
        **given,
    }
    return Work.allocate(_given=given, k=k, m=m, p=p, q=q, VECTORS=VECTORS)


@kernel
def dense_work(k, work_out):
    """Order k blocks that are all coupled as they are."""
    pattern = work_out.pattern
    for i in range(k):
        work_out.order[i] = i
        pattern.start[i] = i * k
        pattern.diagonal[i] = i * (k + 1)
        for j in range(k):
            pattern.column[i * k + j] = j
    pattern.start[k] = k * k
    work_out.component[0], work_out.component[1] = 0, k
    work_out.count[BLOCKS], work_out.count[COMPONENTS] = k, 1


@inline_kernel
def is_coupled(k, entries):
    """Whether most of k blocks are coupled, as those of one robot are, and few enough for it to matter."""
    return k <= FULL_MOST and 2 * entries >= k * k


@inline_kernel
def is_dense(rows, is_plain, dense):
    """Whether blocks are taken as all coupled: a few, or those of one robot, if there is room.

    is_plain: none of them is an equation that asks for another order.
    """
    k = rows.kind.shape[0]
    return k <= DENSE or (is_plain and k <= dense.order.shape[0] and is_coupled(k, rows.column.shape[0]))


@kernel
def strong_work(rows, is_plain, large, dense_io):
    """Working memory of Newton's method: dense, or in the order made for the pattern of the blocks.

    Minimum degree leaves blocks that are all coupled in their own order: both give the same numbers.
    """
    if not is_dense(rows, is_plain, dense_io):
        return large
    dense_work(rows.kind.shape[0], dense_io)
    return dense_io
