"""The prox fixed point ("Modified Newton") of the snake robot: all contacts at once, products only.

What it solves: the exact law, written as two projections per contact,
    Λ_N = prox_{≥0}(Λ_N − r_N γ_N),     Λ_T = prox_{Λ_N D}(Λ_T − r_T γ_T),
and intervals as Λ = prox_{[lo,hi]}(Λ − r_N γ), by repeating them.

Notation: scaled problem of `taction.contact.blocks`, primes left out; γ = u = W Λ + b here (the normal law
and the disc whose radius follows the normal impulse need no change of variable); D section of the cone; F
the bilateral rows.

Method
1. u = W Λ + b.
2. BilateralRows rows are not iterated on but solved for: Λ_F ← Λ_F − W_FF⁺ u_F, and u changes by W_:F times
   that. W_FF⁺ is the pseudo-inverse, so redundant joints do no harm. (A matrix-free W has no W_FF; these
   rows are then iterated like the others.)
3. All contacts: Λ_N first, then Λ_T on the disc of radius μ times the new Λ_N. Half-ellipses by the nearest
   point of the scaled section.
4. Step lengths: with q = r ‖Δu‖ / ‖ΔΛ‖ of the last iteration, both r shrink by `SHRINK`/q if q > 1, and
   grow by `GROW` if q < `LAZY`. If the residual exceeds `DIVERGED` times the best, the run returns to the
   best iterate with r halved. Given values of r_N or r_T are kept.

A fixed point is a solution whatever r is. Convergence is likely for r below 2 / λ_max(W), without a proof
in general; it is linear, and slow where W is ill-conditioned. A warm start saves much of the work.

Cost: one product with W per iteration.

Departures from the paper: scaling, step 4 (the paper has constants, r_N = 2, r_T = 0.5 in kg), stop on the
natural map and not on the change of Λ, which any small r would meet.

References: [Transeth2006, Eqs. (46), (59)–(70)]; [AlartCurnier1991] for the projections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import kernel
from taction.contact.blocks import Blocks
from taction.contact.laws.dispatch import intervals, is_rowwise, project_in_turn
from taction.contact.problem import ContactProblem
from taction.solvers.admm import dense
from taction.solvers.base import Iterations, Solution, Solver
from taction.solvers.products import (
    Progress,
    Scaled,
    ScaledBlocks,
    is_matrix_free,
    largest_eigenvalue,
    scaled_blocks,
    solve_matrix_free,
)

POWER_STEPS = 10
FIRST = 1.0  # r times the estimate of λ_max at the start
SHRINK, GROW, LAZY = 0.8, 1.2, 0.6
DIVERGED = 1e3
RANK = 1e-12  # relative size of eigenvalues of W_FF that count as zero
WINDOW = 5000  # iterations without progress after which the run counts as stalled


@kernel
def prox_all(kind, sets, u, r_N, r_T, free, x_io):
    """Step 3 on impulses x_io (3k,) at velocities u (3k,); rows with free (3k,) ≠ 0 are left alone."""
    for i in range(kind.shape[0]):
        c = 3 * i
        r = r_N if is_rowwise(kind[i]) else r_T
        y0, y1, y2 = project_in_turn(
            kind[i],
            sets[i],
            x_io[c] - r_N * u[c],
            x_io[c + 1] - r * u[c + 1],
            x_io[c + 2] - r * u[c + 2],
        )
        x_io[c] = y0 if free[c] == 0.0 else x_io[c]
        x_io[c + 1] = y1 if free[c + 1] == 0.0 else x_io[c + 1]
        x_io[c + 2] = y2 if free[c + 2] == 0.0 else x_io[c + 2]


class BilateralRows:
    """Step 2: bilateral rows solved for, given the others."""

    def __init__(self, scaled: Scaled) -> None:
        low, high = intervals(scaled.kind, scaled.sets)
        self.free = np.zeros(len(scaled.b))
        self.rows = np.flatnonzero(np.isinf(low) & np.isinf(high))
        if isinstance(scaled, ScaledBlocks) and len(self.rows):
            self.free[self.rows] = 1.0
            W = dense(scaled.rows, scaled.rows.value)
            self.columns = np.ascontiguousarray(W[:, self.rows])
            self.inverse = np.linalg.pinv(W[np.ix_(self.rows, self.rows)], rcond=RANK)
        else:
            self.rows = self.rows[:0]

    def solve(self, x: Array, u: Array) -> None:
        """Change x and u (3k,) so that the bilateral rows do not move."""
        if len(self.rows):
            change = -self.inverse @ u[self.rows]
            x[self.rows] += change
            u += self.columns @ change


@dataclass(frozen=True, kw_only=True)
class Prox(Solver):
    """Prox fixed point over all contacts at once.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit.
        r_N: step of normal rows and intervals, in units of the inverse mean diagonal of W of that contact
            (so that 1 is about the mass it feels); None adapts it. Above 2 / λ_max of the scaled W it
            diverges.
        r_T: the same for tangential rows.
    """

    max_iterations: int = 20000
    r_N: float | None = None
    r_T: float | None = None

    name: ClassVar[str] = "prox"
    summary: ClassVar[str] = (
        "exact law; the snake paper's fixed point; products with W only, also matrix-free"
    )
    laws: ClassVar[tuple[str, ...]] = ("exact", "frictionless")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("r_N", "r_T")

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem, from a guess of the impulses (n,) or from zero; never forms a matrix-free W."""
        if not is_matrix_free(problem):
            return super().solve(problem, guess)
        self.check(problem, guess)
        return solve_matrix_free(self, self.striving().run, problem, guess)

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """See `Solver.iterate`."""
        scaled = scaled_blocks(blocks)
        progress = self.run(scaled, r_io / scaled.scale)
        if progress.iterate is not None:
            r_io[:] = scaled.scale * progress.iterate
        return progress.end()

    def run(self, scaled: Scaled, x: Array) -> Progress:
        """Steps 1–4 from the scaled impulses x (3k,)."""
        with np.errstate(all="ignore"):
            return self._run(scaled, x)

    def _run(self, scaled: Scaled, x: Array) -> Progress:
        progress = Progress(self.tol, self.max_iterations, WINDOW)
        bilateral = BilateralRows(scaled)
        u, x_old, u_old = np.empty_like(x), np.empty_like(x), np.empty_like(x)
        r = FIRST / (largest_eigenvalue(scaled, POWER_STEPS) or 1.0)
        adaptive = self.r_N is None or self.r_T is None
        first = True
        while True:
            scaled.velocity(x, u)  # step 1
            bilateral.solve(x, u)  # step 2
            residual = scaled.residual(x, u)
            if adaptive and not residual <= DIVERGED * progress.best and progress.iterate is not None:
                residual, r, first = progress.best, 0.5 * r, True
                x[:] = progress.iterate
                scaled.velocity(x, u)
            if progress.record(residual, x):
                return progress
            if adaptive and not first:
                r = self.adapted(r, x - x_old, u - u_old)
            x_old[:], u_old[:], first = x, u, False
            prox_all(scaled.kind, scaled.sets, u, self.r_N or r, self.r_T or r, bilateral.free, x)  # step 3

    @staticmethod
    def adapted(r: float, dx: Array, du: Array) -> float:
        """Step 4: the next step length from the last change of impulses and velocities."""
        moved = float(np.linalg.norm(dx))
        if not moved > 0.0:
            return r
        q = r * float(np.linalg.norm(du)) / moved
        if q > 1.0:
            return r * SHRINK / q
        return r * GROW if q < LAZY else r
