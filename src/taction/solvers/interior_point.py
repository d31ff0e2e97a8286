"""Interior point: Newton's method along the central path, a few dozen factorisations for any problem.

What it solves: all laws with circular and elliptic cones, bounds, free and empty rows; half-ellipses side by
side (step 7).

Notation: Λ = T x with T diagonal such that every friction cone becomes L = {x : x_N ≥ ‖x_T‖} (the scale of
`taction.contact.blocks` times the friction coefficients on tangential rows; zero on rows that carry
nothing, which thereby drop out), A = T W T, c = T b. z ∈ L is the dual slack of a cone; p, q > 0 are the
multipliers of the bounds lo ≤ x ≤ hi of a row, its slack is z = p − q. φ(z) = z − ‖z_T‖ e_N for the exact
law, because De Saxcé's γ_T = u_T and so u = γ − ‖γ_T‖ e_N; φ(z) = z for the others. Then
    A x + c = φ(z),   x ∈ L,  z ∈ L,  x ∘ z = 0,   and alike for the bounds.

Method
1. Residual F = A x + c − φ(z); gap μ = mean of xᵀz over cones and bounds.
2. Complementarity is linearised as it stands, z ∘ dx + x ∘ dz = t with x ∘ z = (xᵀz, x_N z_T + z_N x_T) and
   t = σμ e − x ∘ z − (dx ∘ dz of the predictor). So dz = g − H dx with H = x⁻¹ ∘ z ∘ and g = x⁻¹ ∘ t;
   for the lower bound of a row H = p / (x − lo).
3. Newton system, D = φ′(z):   (A + D H) dx = −F + D g,  then dz = D⁻¹ (F + A dx).
   D ≠ 1 carries De Saxcé's shift to first order, so the exact law needs no outer loop.
4. Predictor with σ = 0, longest step a; corrector with σ = (1 − a)³ and the second-order term, same factor
   [Mehrotra1992]. After a short step the next one only centres: σ = 1 and no second-order term.
5. Step of one length for all, to `FRACTION` of the way to the boundary, shortened until the smallest
   eigenvalue of x ∘ z is at least `CENTRAL` of the mean gap.
6. Where the exact law stalls, once more from a start that lies deeper inside, and once from one closer to the
   boundary (`MARGINS`).
7. Two half-ellipses (friction that differs forward and backward) make no self-dual cone. Each contact takes
   the full ellipse of one side; where Λ_1 ends up on the other side, it changes sides, and the problem is
   solved again. A solution with all signs right is one of the problem itself: on its side the section is that
   ellipse.
Free rows get the term δ dx on the diagonal (a proximal term: it shortens steps and moves no solution), so
that redundant joints do no harm.

Why not Nesterov–Todd scaling, which makes H symmetric: its iterates are central in scaled coordinates only.
Impulse and velocity of a sliding contact then differ from opposite by an angle of the order √μ, and the
iteration ends near 1e-7. In step 2 they become opposite to the order μ.

For convex laws with a solution it takes 5–25 iterations, whatever the conditioning. For the exact law
there is no proof; it may stall where the contact problem is close to losing its solution (large friction,
much sliding). A solution is approached from the inside, so impulses of open contacts are small and not
zero. A guess is pulled into the interior and saves little.

No solution: let d be impulses in C, without tangential part at contacts of the exact law, with W d = 0 and
bᵀd < 0. Then dᵀu = bᵀd < 0 for all Λ, but laws make dᵀu ≥ 0. When the method fails, the part of the last
iterate that W does not see, ε (W + ε)⁻¹ Λ, is tried as d. Status INFEASIBLE is given only when this shows, in
scaled numbers, that no solution is smaller than `PROOF` times ‖b‖.

Cost: one LU factorisation of the size of W per iteration, sparse for large sparse problems.

References: [AlizadehGoldfarb2003] for cones, directions and scaling; [Mehrotra1992] for predictor and
corrector; [AcaryArmand2024] for interior points on contact problems, there with Nesterov–Todd scaling.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array
from taction.contact.blocks import BlockRows, Blocks, multiply
from taction.contact.laws.dispatch import project, rowwise
from taction.contact.laws.dispatch import shifted as shifted_law
from taction.solvers.admm import factor, shifted
from taction.solvers.base import Iterations, Solver, Status
from taction.solvers.interior_cone import (
    centrality,
    keep_inside,
    linearise,
    longest_step,
    recover,
    right_side,
    start,
    targets,
)
from taction.solvers.products import Progress, ScaledBlocks, scaled_blocks

FRACTION = 0.99  # of the way to the boundary
SIDES = 10  # most solves of step 7
UNSEEN = 1e-10  # eigenvalues of the scaled W below this count as zero
CENTRAL = 1e-2  # smallest eigenvalue of x ∘ z relative to the mean gap
SHORTEN, SHORTENINGS = 0.7, 20  # factor and largest number of shortenings for that
SHORT = 0.3  # a step below this is followed by one that centres
NO_STEP = 1e-12  # a step below this ends the run
PROXIMAL = 1e-8  # δ: relative to the unit diagonal of the scaled W
REFINEMENTS = 2  # of each linear solve
EMPTY = 1e-14  # width of an interval, relative to the free velocity, that counts as none
MARGINS = (1.0, 10.0, 0.1)  # of the start, relative to the free velocity
WINDOW = 40  # iterations without progress after which the run counts as stalled
PROOF = 1e6  # see the module text


@dataclass(frozen=True, kw_only=True)
class InteriorPoint(Solver):
    """Primal-dual interior point, with the shift of the exact law inside Newton's system.

    Friction that differs forward and backward: step 7 of the module text.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit; 100 is plenty for convex laws.
    """

    max_iterations: int = 200

    name: ClassVar[str] = "interior-point"
    summary: ClassVar[str] = "few iterations, each a factorisation; high accuracy"
    is_at_origin: ClassVar[bool] = True

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """See `Solver.iterate`."""
        rows = blocks.rows
        uneven = ~rowwise(rows.kind) & (rows.sets[:, 0] != rows.sets[:, 1])
        is_plus = r_io[1::3] >= 0.0
        count, history = 0, np.empty(0)
        for _ in range(SIDES if uneven.any() else 1):
            sets = rows.sets.copy()
            sets[uneven, :2] = np.where(is_plus, rows.sets[:, 0], rows.sets[:, 1])[uneven, None]
            scaled = scaled_blocks(replace(blocks, rows=rows._replace(sets=sets)))
            with np.errstate(all="ignore"):
                progress = _Run(scaled, r_io, self.tol, self.max_iterations).run()
            if progress.iterate is not None:
                r_io[:] = scaled.scale * progress.iterate
            end = progress.end()
            count, history = count + end.count, np.append(history, end.history)
            wrong = uneven & ((r_io[1::3] >= 0.0) != is_plus) & (r_io[1::3] != 0.0)
            if end.status is not Status.CONVERGED or not wrong.any():
                break
            is_plus ^= wrong
        return Iterations(end.status, count, history, message=end.message)


def standard_form(scaled: ScaledBlocks) -> tuple[BlockRows, Array]:
    """Rows with A = T W T, c = T b and cones L, and the factors t (3k,) of the scaled impulses Λ' = t x."""
    rows = scaled.rows
    cone = ~rowwise(rows.kind)
    size = float(np.abs(rows.b).max(initial=0.0))
    t, sets = np.ones((len(cone), 3)), rows.sets.copy()
    t[cone, 1:] = sets[cone][:, [0, 2]]
    width = sets[:, 1::2] - sets[:, 0::2]
    empty = ~cone[:, None] & (width <= EMPTY * size)
    t[empty] = 0.0
    sets[:, 0::2][empty] = sets[:, 1::2][empty] = 0.0
    row = np.repeat(np.arange(len(cone)), np.diff(rows.start))
    value = rows.value.reshape(-1, 3, 3) * t[row][:, :, None] * t[rows.column][:, None, :]
    return rows._replace(value=value.reshape(-1, 9), b=t.ravel() * rows.b, sets=sets), t.ravel()


class _Run:
    """One solve: the point (x, z, p, q) and its step (dx, dz, dp, dq), arrays (3k,)."""

    def __init__(self, scaled: ScaledBlocks, r: Array, tol: float, limit: int) -> None:
        self.scaled = scaled
        self.rows, self.t = standard_form(scaled)
        self.progress = Progress(tol, limit, WINDOW)
        n = len(scaled.b)
        self.x = np.divide(r / scaled.scale, self.t, out=np.zeros(n), where=self.t > 0.0)
        self.u, self.right, self.true_u = np.empty(n), np.empty(n), np.empty(n)
        self.z, self.p, self.q, self.dx, self.dz, self.dp, self.dq, self.g, self.gp, self.gq = np.zeros(
            (10, n)
        )
        self.short = False
        self.DH = np.empty((len(scaled.kind), 9))

    def measure(self) -> bool:
        """Velocity of the point, the residual there, whether to stop."""
        multiply(self.rows, self.x, self.u)
        r = self.t * self.x
        self.scaled.velocity(r, self.true_u)
        return self.progress.record(self.scaled.residual(r, self.true_u), r)

    def run(self) -> Progress:
        """Steps 1–6 until the residual, or the limit, is reached."""
        if self.measure():
            return self.progress
        rows = self.rows
        size = float(np.abs(rows.b).max(initial=0.0)) or 1.0
        warm = min(1.0, math.sqrt(self.progress.best)) if self.x.any() else 1.0
        for factor_ in MARGINS if shifted_law(rows.kind).any() else MARGINS[:1]:
            self.progress.renew()
            start(rows.kind, rows.sets, self.u, size * warm * factor_, self.z, self.p, self.q, self.x)
            while not self.measure() and self.step():
                pass
            if self.progress.status in (Status.CONVERGED, Status.ITERATION_LIMIT):
                break
            if self.refuted():
                self.progress.status = Status.INFEASIBLE
                break
            self.x[:], self.u[:], warm = 0.0, rows.b, 1.0  # step 6
        return self.progress

    def refuted(self) -> bool:
        """Whether the point leads to a proof that there is no solution; see the module text."""
        scaled, rows = self.scaled, self.scaled.rows
        cone, low, high = ~rowwise(rows.kind), rows.sets[:, 0::2], rows.sets[:, 1::2]
        d = self.t * self.x
        solve = factor(rows, shifted(rows, UNSEEN))
        if solve is None or not np.isfinite(d).all():
            return False
        d = UNSEEN * solve(d).reshape(-1, 3)  # what W maps to less than this share of itself
        d[shifted_law(rows.kind), 1:] = 0.0
        d = np.where(cone[:, None] | np.isinf(low), d, np.maximum(d, 0.0))
        d = np.where(cone[:, None] | np.isinf(high), d, np.minimum(d, 0.0))
        inside = np.empty(d.size)
        sets = np.where(cone[:, None], rows.sets, np.tile([-math.inf, math.inf], 3))
        project(rows.kind, sets, d.ravel(), inside)
        moved = np.empty_like(inside)
        multiply(rows._replace(b=np.zeros_like(inside)), inside, moved)
        size = float(np.linalg.norm(scaled.b)) * float(np.linalg.norm(moved))
        return float(scaled.b @ inside) < -PROOF * size

    def step(self) -> bool:
        """One predictor and corrector; False if the matrix is singular or no step is left."""
        rows = self.rows
        point = (self.x, self.z, self.p, self.q)
        change = (self.dx, self.dz, self.dp, self.dq)
        linearise(rows.kind, rows.sets, *point, PROXIMAL, self.DH)
        values = rows.value.copy()
        values[rows.diagonal] += self.DH
        solve = factor(rows, values)
        if solve is None:
            return False
        mu, _ = centrality(rows.kind, rows.sets, *point)
        for d in change:
            d[:] = 0.0
        self.solve(solve, values, 0.0)
        a = min(1.0, longest_step(rows.kind, rows.sets, *point, *change))
        share = (1.0 - a) ** 3
        if self.short:
            for d in change:
                d[:] = 0.0
            share = 1.0
        self.solve(solve, values, share * mu)
        a = min(1.0, FRACTION * longest_step(rows.kind, rows.sets, *point, *change))
        for _ in range(SHORTENINGS):
            trial = [here + a * d for here, d in zip(point, change, strict=True)]
            if centrality(rows.kind, rows.sets, *trial)[1] >= CENTRAL:
                break
            a *= SHORTEN
        for here, d in zip(point, change, strict=True):
            here += a * d
        self.short = a < SHORT
        keep_inside(rows.kind, self.x, self.z)
        return a > NO_STEP

    def solve(self, solve: Callable[[Array], Array], values: Array, target: float) -> None:
        """Steps 3 and 4: the step for a target gap, with the second-order term of the step stored before."""
        rows = self.rows
        point = (self.x, self.z, self.p, self.q)
        targets(
            rows.kind, rows.sets, *point, self.dx, self.dz, self.dp, self.dq, target, self.g, self.gp, self.gq
        )
        right_side(rows.kind, self.u, self.z, self.g, self.right)
        matrix = rows._replace(value=values, b=-self.right)
        self.dx[:] = solve(self.right)
        for _ in range(REFINEMENTS):
            error = np.empty_like(self.dx)
            multiply(matrix, self.dx, error)
            self.dx -= solve(error)
        multiply(rows._replace(b=np.zeros_like(self.dx)), self.dx, self.dz)
        recover(
            rows.kind, rows.sets, self.x, self.u, self.z, self.p, self.q, self.gp, self.gq, self.dx,
            self.dz, self.dp, self.dq,
        )  # fmt: skip
