"""Views of the memory of Newton's method, cut for a problem: no array is made, none is copied.

References: [GolubVanLoan2013] for storage by blocks.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import BlockRows
from taction.solvers.elimination_order import DENSE, Analysis, Pattern
from taction.solvers.newton_memory import VECTORS, Work


@inline_kernel
def carve_work(k, m, p, c, memory):
    """A `Work` for k blocks with m entries of W, p of the factor and c components, cut from the memory.

    One array of each kind in place of twenty keeps what calls pass on, and their compile time, small.
    """
    floats, ints, flags = memory.floats, memory.ints, memory.flags
    x, v, s = 3 * k, VECTORS, 9 * m
    f0, f1 = s + x, s + x + 6 * k
    f2, f3 = f1 + 6 * k, f1 + 6 * k + x
    f4, f5 = f3 + v * x, f3 + v * x + 18 * k
    f6, f7 = f5 + 9 * p, f5 + 9 * p + 9 * k
    i0, i1, i2, i3, i4 = k + 1, k + 1 + m, 2 * k + 1 + m, 3 * k + 1 + m, 4 * k + 1 + m
    i5, i6 = i4 + c + 1, i4 + c + 1 + k + 1
    i7, i8, i9 = i6 + p, i6 + p + k, i6 + p + k + m
    rows = BlockRows(
        ints[:i0], ints[i0:i1], floats[:s].reshape(m, 9), ints[i1:i2], floats[s:f0], ints[i2:i3],
        floats[f0:f1].reshape(k, 6),
    )  # fmt: skip
    pattern = Pattern(ints[i5:i6], ints[i6:i7], ints[i7:i8])
    return Work(
        rows, floats[f1:f2].reshape(k, 6), floats[f2:f3], Analysis(ints[i3:i4], ints[i4:i5], pattern),
        ints[i8:i9], floats[f3:f4].reshape(v, x), floats[f4:f5].reshape(k, 18), flags[:k], ints[i9 : i9 + k],
        floats[f5:f6].reshape(p, 9), floats[f6:f7].reshape(k, 9), floats[f7 : f7 + 2],
        floats[f7 + 2 : f7 + 2 + k], flags[k : 2 * k], memory.bodies,
    )  # fmt: skip


@inline_kernel
def dense_work(k, ws):
    """The working memory of Newton's method for k blocks that are all coupled, in their own order."""
    work = carve_work(k, k * k, k * k, 1, ws)
    analysis, pattern = work.analysis, work.analysis.pattern
    for i in range(k):
        analysis.order[i] = i
        pattern.start[i] = i * k
        pattern.diagonal[i] = i * (k + 1)
        for j in range(k):
            pattern.column[i * k + j] = j
    pattern.start[k] = k * k
    analysis.component[0], analysis.component[1] = 0, k
    return work


@kernel
def strong_work(k, dense_io, large_io):
    """Working memory of Newton's method for k blocks: dense, or in the order made for their pattern."""
    if k <= DENSE:
        return dense_work(k, dense_io)
    size = large_io.size
    return carve_work(size[0], size[1], size[2], size[3], large_io)
