"""Memory of Newton's systems in the space of the bodies (`taction.solvers.body_space`).

References: [GolubVanLoan2013] for storage by blocks.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from taction._core import layout
from taction._core.arrays import Array, IntArray
from taction.solvers.elimination_order import FactorPattern


class BodyMemory(layout.Layout, scratch=True):
    """Pattern of H for the trees of a world, and room for the rows of its blocks; none where c is zero."""

    pattern: FactorPattern = layout.nested(FactorPattern, "of H")
    component: IntArray = layout.ints("c", "component of each chunk")
    first: IntArray = layout.ints("q + 1", "first chunk of each component, and the end of all")
    chunk_of: IntArray = layout.ints("nv", "chunk of each degree of freedom")
    lane: IntArray = layout.ints("nv", "its place there")
    root: Array = layout.floats("nv", "1/√D")
    lu: Array = layout.floats("p, 9", "H, then its factor")
    inverse: Array = layout.floats("c, 9", "inverse diagonal blocks")
    place: IntArray = layout.ints("c", "scratch of the factor")
    none: NDArray[np.bool_] = layout.flags("c", "no row is an identity")
    y: Array = layout.floats("3*c", "δy")
    made_for: IntArray = layout.ints("1", "blocks that the order was made for")
    trees: IntArray = layout.ints("k, 3", "trees that they touch")
    count: IntArray = layout.ints("k", "chunks of each block")
    chunk: IntArray = layout.ints("k, w", "which")
    target: IntArray = layout.ints("k, w*w", "where their products go in H")
    Z: Array = layout.floats("k, 9*w", "rows Ẑ of each block by chunk, lane by lane")
    T: Array = layout.floats("k, 9", "of (2)")
    G: Array = layout.floats("k, 9", "of (2)")


@cache
def no_bodies() -> BodyMemory:
    """Memory that says: in the space of contacts; there is one, since nobody writes to it."""
    return make_bodies(c=0, p=0, q=0, nv=0, k=0, w=0)


def make_bodies(*, c: int, p: int, **sizes: int) -> BodyMemory:
    """Memory for c chunks with p entries of H; the other sizes as declared."""
    pattern = FactorPattern.allocate(c=c, p=p)
    return BodyMemory.allocate(_given={"pattern": pattern}, c=c, p=p, **sizes)
