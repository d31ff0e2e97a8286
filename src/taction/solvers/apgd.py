"""Accelerated projected gradient descent: the convex laws with nothing but products.

What it solves: min f(Λ) = ½ ΛᵀW Λ + bᵀΛ over the product C of friction cones and intervals, whose
optimality condition is the convex law (cone complementarity). Frictionless problems are of the same form.

Notation: scaled problem of `taction.contact.blocks`, primes left out; y the extrapolated point, L the
current estimate of the largest curvature, t = 1/L the step.

Method
1. g = W y + b,  x⁺ = P_C(y − g/L).
2. While dᵀW d > L dᵀd with d = x⁺ − y: L ← 2 L and step 1 again (backtracking).
3. θ⁺ from θ⁺² = (1 − θ⁺) θ²,  β = θ (1 − θ) / (θ² + θ⁺),  y⁺ = x⁺ + β (x⁺ − x).
4. If g·(x⁺ − x) > 0 the momentum points uphill: y⁺ = x⁺, θ⁺ = 1 (adaptive restart).
5. L ← 0.9 L, so that steps can grow again.
W y⁺ follows from W x⁺ and W x, so an iteration costs one product (and one for each backtracking).

It reports the best iterate by the natural map, and its history is that of the best so far. f − f* falls at
least like 1/k²; with restarts linearly once the set of sliding, sticking and open contacts is found, at a
rate 1 − √(λ_min/λ_max) of the non-zero eigenvalues. A hyperstatic W is no difficulty. Ill conditioning is:
prefer ``admm`` or ``interior-point`` there.

A matrix-free W is never formed, and then is not scaled either.

References: [MazharHeynNegrutTasora2015] for the method; [BeckTeboulle2009] for backtracking and the rate;
[ODonoghueCandes2015] for the restart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction.contact.blocks import Blocks
from taction.contact.laws.dispatch import project
from taction.contact.problem import ContactProblem
from taction.solvers.base import Iterations, Solution, Solver
from taction.solvers.products import (
    TINY,
    Progress,
    Scaled,
    is_matrix_free,
    largest_eigenvalue,
    scaled_blocks,
    solve_matrix_free,
)

POWER_STEPS = 5  # for the first estimate of L
GROW, RELAX = 2.0, 0.9  # steps 2 and 5
DOUBLINGS = 60
WINDOW = 5000  # iterations without progress after which the run counts as stalled


@dataclass(frozen=True, kw_only=True)
class APGD(Solver):
    """Accelerated projected gradient descent for the convex laws.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit.
    """

    max_iterations: int = 20000

    name: ClassVar[str] = "apgd"
    summary: ClassVar[str] = "convex laws; products with W only, also matrix-free; slow when ill-conditioned"
    laws: ClassVar[tuple[str, ...]] = ("convex", "frictionless")

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem, from a guess of the impulses (n,) or from zero; never forms a matrix-free W."""
        if not is_matrix_free(problem):
            return super().solve(problem, guess)
        self.check(problem, guess)
        solution = solve_matrix_free(self, self.striving().descend, problem, guess)
        return replace(solution, history=np.minimum.accumulate(solution.history))

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """See `Solver.iterate`."""
        scaled = scaled_blocks(blocks)
        progress = self.descend(scaled, r_io / scaled.scale)
        if progress.iterate is not None:
            r_io[:] = scaled.scale * progress.iterate
        end = progress.end()
        return replace(end, history=np.minimum.accumulate(end.history))

    def descend(self, scaled: Scaled, x: Array) -> Progress:
        """Steps 1–5 from the scaled impulses x (3k,)."""
        with np.errstate(all="ignore"):
            return self._descend(scaled, x)

    def _descend(self, scaled: Scaled, x: Array) -> Progress:
        progress = Progress(self.tol, self.max_iterations, WINDOW)
        u, g, u_new, x_new = (np.empty_like(x) for _ in range(4))
        scaled.velocity(x, u)
        if progress.record(scaled.residual(x, u), x):
            return progress
        L, theta = largest_eigenvalue(scaled, POWER_STEPS) or 1.0, 1.0
        y = x.copy()
        g[:] = u
        while True:
            for _ in range(DOUBLINGS):
                project(scaled.kind, scaled.sets, y - g / L, x_new)  # step 1
                scaled.velocity(x_new, u_new)
                d = x_new - y
                if not float(d @ (u_new - g)) > L * float(d @ d) + TINY:
                    break
                L *= GROW  # step 2
            if progress.record(scaled.residual(x_new, u_new), x_new):
                return progress
            ahead = 0.5 * theta * (math.sqrt(theta * theta + 4.0) - theta)
            beta = theta * (1.0 - theta) / (theta * theta + ahead)
            if float(g @ (x_new - x)) > 0.0:  # step 4
                beta, ahead = 0.0, 1.0
            y = x_new + beta * (x_new - x)  # step 3
            g[:] = u_new + beta * (u_new - u)
            x[:], u[:], theta = x_new, u_new, ahead
            L *= RELAX  # step 5
