"""Whether a problem can have a solution at all: a certificate of the contrary.

What it solves: find y, with a row for every normal, limit and bilateral direction (none tangential), with
    Wᵀ y = 0,   y ≥ 0 on unilateral rows,   bᵀ y < 0.
Then for every impulse Λ the velocity u = W Λ + b has yᵀu = bᵀy < 0, while the laws demand u_N ≥ 0 on
unilateral rows and u = 0 on bilateral ones, hence yᵀu ≥ 0: no solution exists, whatever the friction.
Mechanically y is a self-stress: impulses that move nothing but would have to do work, as in a wedge that is
driven into a gap that cannot open.

Method: a linear programme, min bᵀy with −1 ≤ y ≤ 1, by HiGHS; its answer is checked against the definition
before it counts. With compliance or viscosity W is changed as in `taction.contact.blocks`; a compliant row
never takes part.

If there is no such y, a frictionless solution exists; with friction existence is not decided here.

References: [CottlePangStone1992, Section 3.1] for feasibility of complementarity problems;
[AcaryBremondHuber2018] for existence with friction.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.contact.blocks import effective
from taction.contact.elements import Bilateral, JointFriction
from taction.contact.problem import ContactProblem

LEAST_WORK = 1e-7  # of ‖b‖: how far bᵀy must be below zero
SELF_STRESS = 1e-10  # of the largest entry of W: how far Wᵀy may be from zero


def self_stress(problem: ContactProblem) -> Array | None:
    """Rows y (n,) that prove that no impulses satisfy the laws, or None if there is no such proof."""
    from scipy.optimize import linprog

    rows: list[int] = []
    is_free: list[bool] = []
    for first, element in zip(problem.first_row, problem.elements, strict=True):
        if isinstance(element, JointFriction):
            continue
        free = isinstance(element, Bilateral)
        count = element.rows if free else 1
        rows += range(first, first + count)
        is_free += [free] * count
    if not rows:
        return None
    W, b = effective(problem)
    columns = (W if isinstance(W, np.ndarray) else W.toarray()).T[:, rows]
    size, length = float(np.abs(columns).max()) or 1.0, float(np.linalg.norm(b)) or 1.0
    bounds = [(-1.0 if free else 0.0, 1.0) for free in is_free]
    answer = linprog(
        b[rows] / length, A_eq=columns / size, b_eq=np.zeros(len(columns)), bounds=bounds, method="highs"
    )
    if answer.x is None:
        return None
    y = np.zeros(problem.size)
    y[rows] = answer.x
    is_proof = b @ y < -LEAST_WORK * length and np.abs(columns @ answer.x).max() <= SELF_STRESS * size
    return y if is_proof else None
