"""ADMM: alternate between the equation of motion and the laws, with one factorisation for many iterations.

What it solves: every law, by the alternating direction method of multipliers on
    min ½ xᵀW x + (b + s)ᵀx + ι_C(z)   subject to   x = z,
where s = σ(−u_T) e_N is De Saxcé's shift, updated in every iteration (exact law) or zero (others).

Notation: scaled problem of `taction.contact.blocks`, primes left out; y = −γ the multiplier of x = z; ρ the
penalty; α = over-relaxation.

Method, with v = z + y/ρ as the only state
1. z = P_C(v),  y = ρ (v − z): then y ∈ N_C(z), so z and γ = −y obey the laws and what is left is the
   equation of motion.
2. s = σ(−u_T) with u_T = −y_T.
3. x = (W + ρ 1)⁻¹ (ρ z − y − b − s); the factor is kept while ρ is.
4. v ← v + α (x − z).
5. Acceleration: the iteration is a fixed point in v; its last `memory` steps are combined so that they
   cancel best (Anderson). A combined point whose own step is longer than `TRUST` times the shortest so far
   is taken back, and `REST` plain ones follow.
6. Penalty: ‖x − z‖ and ρ‖z⁺ − z‖, z⁺ the next z without acceleration, are compared as they are (W has a unit
   diagonal; relative to ‖x‖ and ‖b‖ they mislead when open contacts move fast). If the root of their ratio is
   beyond `BALANCE`, ρ is multiplied by it and W + ρ 1 is factored again; not more often than every `PATIENCE`
   iterations, which grow each time.

It stops on the natural map at z, which needs one product with W more.

Converges for every ρ under the convex laws when there is a solution. Under the exact law the shift makes
the map a non-monotone one and there is no proof. Where no solution exists the iterates grow without bound.

Cost: a factorisation per value of ρ, then two triangular solves and one product per iteration.

Departures: step 5, and the numbers of step 6.

References: [BoydParikhChu2011, Sections 3.3–3.4] for the method, residuals and relaxation;
[CarpentierLeLidecMontaut2024] for the shift updated in every iteration; [WalkerNi2011] for the acceleration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.jit import kernel
from taction.contact.blocks import BlockRows, Blocks
from taction.contact.laws.dispatch import correction, project, project_block
from taction.solvers.base import Iterations, Solver
from taction.solvers.products import TINY, Progress, ScaledBlocks, scaled_blocks

BALANCE = 3.0
PATIENCE = 10  # iterations with one ρ at least
GROWTH = 1.5  # of the patience after each new factorisation
TRUST = 2.0
REST = 10  # plain iterations after an accelerated one was taken back
DENSE = 200  # rows up to which W is factored as a dense matrix
FILLED = 0.3  # share of blocks above which it is, too
RIDGE = 1e-10  # relative regularisation of the least squares of step 5
WINDOW = 3000  # iterations without progress after which the run counts as stalled
PENALTY_RANGE = (1e-8, 1e8)


@kernel
def laws(kind, sets, b, v, rho, z_out, y_out, right_out):
    """Steps 1–3: z and y (3k,) of v (3k,), and the right side ρ z − y − b − s of the equation of motion."""
    for i in range(kind.shape[0]):
        c = 3 * i
        z_out[c], z_out[c + 1], z_out[c + 2] = project_block(kind[i], sets[i], v[c], v[c + 1], v[c + 2])
        for j in range(c, c + 3):
            y_out[j] = rho * (v[j] - z_out[j])
            right_out[j] = rho * z_out[j] - y_out[j] - b[j]
        right_out[c] -= correction(kind[i], sets[i], -y_out[c + 1], -y_out[c + 2])


@kernel
def opposite(kind, sets, u, y_out):
    """y_out = −γ, (3k,), from velocities u (3k,)."""
    for i in range(kind.shape[0]):
        c = 3 * i
        y_out[c] = -u[c] - correction(kind[i], sets[i], u[c + 1], u[c + 2])
        y_out[c + 1], y_out[c + 2] = -u[c + 1], -u[c + 2]


def sparse(rows: BlockRows, values: Array) -> Any:
    """Compressed columns of the matrix with the pattern of rows and the given blocks (m, 9)."""
    from scipy.sparse import bsr_matrix

    n = len(rows.b)
    return bsr_matrix((values.reshape(-1, 3, 3), rows.column, rows.start), shape=(n, n)).tocsc()


def dense(rows: BlockRows, values: Array) -> Array:
    """The matrix with the pattern of rows and the given blocks (m, 9), as an array."""
    k = len(rows.kind)
    out = np.zeros((k, k, 3, 3))
    out[np.repeat(np.arange(k), np.diff(rows.start)), rows.column] = values.reshape(-1, 3, 3)
    return out.transpose(0, 2, 1, 3).reshape(3 * k, 3 * k)


def factor(rows: BlockRows, values: Array) -> Callable[[Array], Array] | None:
    """A function that solves with the matrix of blocks `values` (m, 9); None if it is singular."""
    if len(rows.b) <= DENSE or len(rows.column) > FILLED * len(rows.kind) ** 2:
        from scipy.linalg.lapack import dgetrf, dgetrs

        lu, pivots, info = dgetrf(dense(rows, values), overwrite_a=True)
        return (lambda x: dgetrs(lu, pivots, x)[0]) if info == 0 else None
    from scipy.sparse.linalg import splu

    try:
        options = {"SymmetricMode": True}
        return splu(sparse(rows, values), "MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options=options).solve
    except RuntimeError:
        return None


def shifted(rows: BlockRows, rho: float) -> Array:
    """Blocks (m, 9) of W + ρ 1."""
    values = rows.value.copy()
    values[np.ix_(rows.diagonal, np.array([0, 4, 8]))] += rho
    return values


class Anderson:
    """Step 6: proposes the next point of a fixed-point iteration v ← g(v) from the last few."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Start over, as after a change of the map."""
        self.v: list[Array] = []
        self.g: list[Array] = []

    def propose(self, v: Array, g: Array) -> Array:
        """The combination of past images whose steps g − v cancel best, given v and its image g."""
        self.v.append(v.copy())
        self.g.append(g.copy())
        if len(self.v) > self.memory + 1:
            del self.v[0], self.g[0]
        if len(self.v) < 2:
            return g
        steps = np.array(self.g) - np.array(self.v)
        differences = np.diff(steps, axis=0)
        gram = differences @ differences.T
        gram[np.diag_indices_from(gram)] += RIDGE * np.trace(gram) + TINY
        weights = np.linalg.solve(gram, differences @ steps[-1])
        out = g - weights @ np.diff(np.array(self.g), axis=0)
        return out if np.isfinite(out).all() else g


def balance(rho: float, primal: float, dual: float) -> float:
    """Step 6: the factor for ρ, 1 to leave it."""
    ratio = math.sqrt(primal / dual) if primal > 0.0 and dual > 0.0 else 1.0
    if not math.isfinite(ratio) or 1.0 / BALANCE < ratio < BALANCE:
        return 1.0
    return min(max(rho * ratio, PENALTY_RANGE[0]), PENALTY_RANGE[1]) / rho


@dataclass(frozen=True, kw_only=True)
class ADMM(Solver):
    """Alternating direction method of multipliers.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit.
        penalty: ρ at the start, relative to the mean diagonal of W; balanced as it goes. 1e-6 to 1e3 make
            sense.
        relaxation: α, between 0 and 2 (excluded); 1 is plain, 1.5–1.8 usually a little faster.
        memory: past steps the acceleration combines; 0 is plain ADMM, 5–20 make sense.
    """

    max_iterations: int = 10000
    penalty: float = 0.1
    relaxation: float = 1.6
    memory: int = 5

    name: ClassVar[str] = "admm"
    summary: ClassVar[str] = "one factorisation, then cheap iterations; robust on hyperstatic problems"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.penalty < math.inf:
            raise BadInput(f"penalty: {self.penalty!r} must be above 0 and finite")
        if not 0.0 < self.relaxation < 2.0:
            raise BadInput(f"relaxation: {self.relaxation!r} must lie between 0 and 2")
        if self.memory < 0:
            raise BadInput(f"memory: {self.memory!r} must not be negative")

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """See `Solver.iterate`."""
        scaled = scaled_blocks(blocks)
        with np.errstate(all="ignore"):
            progress = self._run(scaled, r_io / scaled.scale)
        if progress.iterate is not None:
            r_io[:] = scaled.scale * progress.iterate
        return progress.end()

    def _run(self, scaled: ScaledBlocks, z: Array) -> Progress:
        rows = scaled.rows
        progress = Progress(self.tol, self.max_iterations, WINDOW)
        u, y, right, plain, ahead = (np.empty_like(z) for _ in range(5))
        scaled.velocity(z, u)
        if progress.record(scaled.residual(z, u), z):
            return progress
        opposite(rows.kind, rows.sets, u, y)
        rho = self.penalty
        v = z + y / rho
        fallback, shortest = v, math.inf
        anderson = Anderson(self.memory)
        solve, patience, since, rest = None, PATIENCE, 0, 0
        while True:
            if solve is None:
                solve = factor(rows, shifted(rows, rho))
                anderson.forget()
                fallback, shortest, since = v, math.inf, 0
                if solve is None:
                    return progress
            laws(rows.kind, rows.sets, rows.b, v, rho, z, y, right)
            scaled.velocity(z, u)
            if progress.record(scaled.residual(z, u), z):
                return progress
            x = solve(right)
            np.add(v, self.relaxation * (x - z), out=plain)
            step = float(np.linalg.norm(x - z))
            if self.memory and step > TRUST * shortest:
                v, shortest, rest = fallback, math.inf, REST
                anderson.forget()
                continue
            shortest = min(shortest, step)
            since += 1
            if since >= patience:
                since = 0
                project(rows.kind, rows.sets, plain, ahead)
                change = balance(rho, step, rho * float(np.linalg.norm(ahead - z)))
                if change != 1.0:  # keep z and y
                    rho, patience, solve = rho * change, int(GROWTH * patience), None
                    v = ahead + (plain - ahead) / change
                    continue
            fallback = plain.copy()
            rest -= 1
            v = anderson.propose(v, plain) if self.memory and rest < 0 else fallback
