"""Block Gauss–Seidel with exact local solves (NSGS): one contact at a time, all others held.

What it solves: the whole problem, by repeatedly solving the problem of a single block
    u = W_ii Λ_i + q_i,     q_i = b_i + Σ_{j≠i} W_ij Λ_j,
for its own law, in the order of the blocks, always with the latest impulses of the others. How one block
is solved alone is a part of its law (`taction.contact.laws`): exactly for Coulomb's, to rounding for the
convex one, row by row for intervals.

Converges linearly; fast where contacts are few per body and masses similar, slow on stacks, not at all for
some problems. Depends on the order of the blocks. Cost per sweep: one product with W and one local solve per
block.

References: [JourdanAlartJean1998] for the method; [AcaryBremondHuber2018] for local solvers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.jit import kernel
from taction.contact.blocks import Blocks, multiply
from taction.contact.laws.dispatch import natural_map, natural_map_block, solve_block
from taction.solvers.base import Iterations, Solver, Status, reference

EXPLODED = 1e6


@kernel
def sweep(rows, relaxation, r_io):
    """One pass over all blocks; r_io (3k,). Returns the squared natural map met on the way, an estimate."""
    total = 0.0
    for i in range(rows.kind.shape[0]):
        c = 3 * i
        q0, q1, q2 = rows.b[c], rows.b[c + 1], rows.b[c + 2]
        at = rows.diagonal[i]
        for m in range(rows.start[i], rows.start[i + 1]):
            if m == at:
                continue
            d = 3 * rows.column[m]
            x0, x1, x2 = r_io[d], r_io[d + 1], r_io[d + 2]
            q0 += rows.value[m, 0] * x0 + rows.value[m, 1] * x1 + rows.value[m, 2] * x2
            q1 += rows.value[m, 3] * x0 + rows.value[m, 4] * x1 + rows.value[m, 5] * x2
            q2 += rows.value[m, 6] * x0 + rows.value[m, 7] * x1 + rows.value[m, 8] * x2
        w, set_, kind = rows.value[at], rows.sets[i], rows.kind[i]
        r0, r1, r2 = r_io[c], r_io[c + 1], r_io[c + 2]
        u0 = q0 + w[0] * r0 + w[1] * r1 + w[2] * r2
        u1 = q1 + w[3] * r0 + w[4] * r1 + w[5] * r2
        u2 = q2 + w[6] * r0 + w[7] * r1 + w[8] * r2
        e0, e1, e2 = natural_map_block(kind, set_, r0, r1, r2, u0, u1, u2)
        total += e0 * e0 + e1 * e1 + e2 * e2
        y0, y1, y2 = solve_block(kind, set_, w, r0, r1, r2, q0, q1, q2)
        r_io[c] = r0 + relaxation * (y0 - r0)
        r_io[c + 1] = r1 + relaxation * (y1 - r1)
        r_io[c + 2] = r2 + relaxation * (y2 - r2)
    return total


# what `gauss_seidel` returns
SOLVED, STOPPED, SLOW, DIVERGED = 0, 1, 2, 3


@kernel
def gauss_seidel(rows, goal, limit, least, patience, relaxation, ws, r_io, history_out):
    """Sweep until the natural map is below goal; returns (how it ended, sweeps done, residual).

    After ``least`` sweeps (two or more) gives up as SLOW where their rate lets the goal lie more than
    ``patience`` sweeps ahead, and as DIVERGED where the residual has grown by `EXPLODED`.
    history_out (limit,): residual met during each sweep.
    """
    before = math.inf
    estimate = math.inf
    for k in range(limit):
        estimate = math.sqrt(sweep(rows, relaxation, r_io))
        history_out[k] = estimate
        if not estimate <= EXPLODED * history_out[0]:
            return DIVERGED, k + 1, estimate
        # one sweep after the residual was met it is smaller: look early
        if estimate <= goal or k == 0 or estimate * min(estimate / before, 1.0) <= goal:
            multiply(rows, r_io, ws)
            exact = natural_map(rows.kind, rows.sets, r_io, ws)
            if exact <= goal:
                history_out[k] = exact
                return SOLVED, k + 1, exact
        if k + 1 >= least and estimate > goal:
            rate = estimate / before
            if rate >= 1.0 or math.log(goal / estimate) < patience * math.log(rate):
                return SLOW, k + 1, estimate
        before = estimate
    return STOPPED, limit, estimate


@dataclass(frozen=True, kw_only=True)
class NSGS(Solver):
    """Block Gauss–Seidel with exact local solves.

    Attributes:
        max_iterations: sweeps.
        relaxation: 1 takes the local solution; below 1 damps, above 1 (below 2) over-relaxes.
    """

    max_iterations: int = 10_000
    relaxation: float = 1.0

    name: ClassVar[str] = "nsgs"
    summary: ClassVar[str] = "block Gauss–Seidel with exact local solves"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.relaxation < 2.0:
            raise BadInput(f"relaxation: {self.relaxation!r} must lie between 0 and 2")

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Sweep until converged or the limit."""
        rows = blocks.rows
        goal, limit, guess = self.tol * reference(rows.b), self.max_iterations, r_io.copy()
        history = np.empty(limit)
        end, count, _ = gauss_seidel(
            rows, goal, limit, limit + 1, math.inf, self.relaxation, np.empty_like(r_io), r_io, history
        )
        history = history[:count] / reference(rows.b)
        if end == DIVERGED:
            r_io[:] = guess
            return Iterations(
                Status.STALLED, count, history, message="the sweeps diverge; the impulses are the guess"
            )
        return Iterations(Status.CONVERGED if end == SOLVED else Status.ITERATION_LIMIT, count, history)
