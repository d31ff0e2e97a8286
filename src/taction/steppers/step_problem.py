"""A step's blocks as a document: the `ContactProblem` that leaves the kernel, for solvers and files.

References: [AcaryBremondHuber2018] for the problem.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.contact.blocks import BlockRows
from taction.contact.elements import Bilateral, Contact, Element, JointFriction, JointLimit, Unilateral
from taction.contact.laws.dispatch import apexes, intervals, rowwise
from taction.contact.problem import ContactProblem


def slots(rows: BlockRows) -> IntArray:
    """Rows of the blocks that carry something: those of the problem."""
    low, high = intervals(rows.kind, rows.sets)
    return np.flatnonzero(low != high)  # the rows of cones among them: NaN


def given(rows: BlockRows) -> Array:
    """Impulses (3k,) about which those of the problem are counted.

    Zero; that of a force held on a joint; the middle of an interval, for a servo that pushes more than it
    pulls.
    """
    low, high = intervals(rows.kind, rows.sets)
    is_finite = np.isfinite(low) & np.isfinite(high)
    return np.where(is_finite, 0.5 * (np.where(is_finite, low, 0.0) + np.where(is_finite, high, 0.0)), 0.0)


def problem_from_rows(rows: BlockRows, source: IntArray, law: str, name: str = "") -> ContactProblem:
    """A step's blocks as a document: `ContactProblem` with one element per contact and joint row.

    Rows with a given impulse are no elements; what they cause is part of b. The viscous friction of a contact
    is an equation with a compliance, which is part of W.

    Args:
        rows: the problem as kernels have it.
        source: contact behind each block, −1 for joint rows, shape (k,).
        law: of the contacts.
        name: of the problem.
    """
    from scipy.sparse import csr_array

    elements: list[Element] = []
    hold = apexes(rows.kind, rows.sets)
    for k, is_row in enumerate(rowwise(rows.kind)):
        sets = rows.sets[k]
        if not is_row:
            elements.append(Contact(sets[1], sets[2], sets[0], adhesion=hold[k]))
            continue
        for c in range(3):
            low, high = float(sets[2 * c]), float(sets[2 * c + 1])
            if low == -math.inf:
                elements.append(Bilateral(1))
            elif high == math.inf:
                is_stop = source[k] < 0 and low == 0.0
                elements.append(JointLimit() if is_stop else Unilateral(0.0 - low))
            elif high > low:
                elements.append(JointFriction(0.5 * (high - low)))
    n = 3 * len(rows.kind)
    counts = np.diff(rows.start)
    block_row = np.repeat(np.arange(len(counts)), counts)
    i = (3 * block_row[:, None] + np.repeat(np.arange(3), 3)).ravel()
    j = (3 * rows.column[:, None] + np.tile(np.arange(3), 3)).ravel()
    slot = slots(rows)
    whole = csr_array((rows.value.ravel(), (i, j)), shape=(n, n))
    b = rows.b + whole @ given(rows)
    W = whole[slot][:, slot]
    dense = W.toarray() if len(slot) <= 300 else W
    return ContactProblem(dense, b[slot], elements, law=law, name=name)
