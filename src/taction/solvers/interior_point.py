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
from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import BlockRows, Blocks, multiply
from taction.contact.laws.dispatch import is_rowwise, is_shifted, project, rowwise
from taction.contact.laws.dispatch import shifted as shifted_law
from taction.solvers.admm import factor, shifted
from taction.solvers.base import Iterations, Solver, Status
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
EDGE = 1e-14  # smallest relative distance from the boundary of a cone
EMPTY = 1e-14  # width of an interval, relative to the free velocity, that counts as none
MARGINS = (1.0, 10.0, 0.1)  # of the start, relative to the free velocity
WINDOW = 40  # iterations without progress after which the run counts as stalled
PROOF = 1e6  # see the module text


@inline_kernel
def to_boundary(x0, x1, x2, d0, d1, d2):
    """Largest a with x + a d in the cone, for x inside; infinity if none."""
    # (x0 + a d0)² = ‖x_T + a d_T‖²:  q2 a² + 2 q1 a + q0 = 0 with q0 > 0
    t = math.sqrt(x1 * x1 + x2 * x2)
    q0 = (x0 - t) * (x0 + t)
    q1 = x0 * d0 - x1 * d1 - x2 * d2
    q2 = d0 * d0 - d1 * d1 - d2 * d2
    best = math.inf
    if d0 < 0.0:
        best = -x0 / d0
    disc = q1 * q1 - q2 * q0
    if q2 < 0.0:
        root = math.sqrt(max(disc, 0.0))
        # one positive root
        a = q0 / (root - q1) if q1 <= 0.0 else (q1 + root) / (-q2)
        best = min(best, a)
    elif disc >= 0.0 and q1 < 0.0:
        best = min(best, q0 / (-q1 + math.sqrt(disc)))
    return best


@inline_kernel
def jordan(x0, x1, x2, z0, z1, z2):
    """The product x ∘ z = (xᵀz, x₀ z_T + z₀ x_T)."""
    return x0 * z0 + x1 * z1 + x2 * z2, x0 * z1 + z0 * x1, x0 * z2 + z0 * x2


@inline_kernel
def divide(x0, x1, x2, t0, t1, t2):
    """The y with x ∘ y = t, for x inside the cone."""
    t = math.sqrt(x1 * x1 + x2 * x2)
    y = (x0 * t0 - x1 * t1 - x2 * t2) / (x0 - t) / (x0 + t)
    return y, (t1 - y * x1) / x0, (t2 - y * x2) / x0


@inline_kernel
def direction(kind, z1, z2):
    """z_T / ‖z_T‖ for the exact law, else zero: minus the tangential part of the first row of D."""
    t = math.sqrt(z1 * z1 + z2 * z2)
    if not is_shifted(kind) or t == 0.0:
        return 0.0, 0.0
    return z1 / t, z2 / t


@kernel
def linearise(kind, sets, x, z, p, q, delta, DH_out):
    """Blocks of D H, (k, 9), at the point x, z, p, q (3k,); delta for free rows, 1 for rows held at zero."""
    for i in range(kind.shape[0]):
        c = 3 * i
        H = DH_out[i]
        if is_rowwise(kind[i]):
            for j in range(9):
                H[j] = 0.0
            for j in range(3):
                lo, hi, at = sets[i, 2 * j], sets[i, 2 * j + 1], x[c + j]
                if lo == hi:
                    H[4 * j] = 1.0
                elif lo == -math.inf and hi == math.inf:
                    H[4 * j] = delta
                else:
                    H[4 * j] = p[c + j] / (at - lo) + q[c + j] / (hi - at)
            continue
        x0, x1, x2, z0, z1, z2 = x[c], x[c + 1], x[c + 2], z[c], z[c + 1], z[c + 2]
        H[0], H[3], H[6] = divide(x0, x1, x2, z0, z1, z2)
        H[1], H[4], H[7] = divide(x0, x1, x2, z1, z0, 0.0)
        H[2], H[5], H[8] = divide(x0, x1, x2, z2, 0.0, z0)
        d1, d2 = direction(kind[i], z1, z2)
        for j in range(3):
            H[j] -= d1 * H[3 + j] + d2 * H[6 + j]


@kernel
def bound_target(distance, multiplier, target, product):
    """(target − product) / distance − multiplier for a bound; 0 where it is infinitely far."""
    if distance == math.inf or distance == 0.0:
        return 0.0
    return (target - product) / distance - multiplier


@kernel
def targets(kind, sets, x, z, p, q, dx, dz, dp, dq, target, g_out, gp_out, gq_out):
    """Step 2: g (3k,) of cones, gp and gq (3k,) of bounds; dx, dz, dp, dq (3k,) are the predictor's."""
    for i in range(kind.shape[0]):
        c = 3 * i
        if is_rowwise(kind[i]):
            for j in range(3):
                m = c + j
                low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
                gp_out[m] = bound_target(low, p[m], target, dx[m] * dp[m])
                gq_out[m] = bound_target(high, q[m], target, -dx[m] * dq[m])
                g_out[m] = gp_out[m] - gq_out[m]
            continue
        x0, x1, x2, z0, z1, z2 = x[c], x[c + 1], x[c + 2], z[c], z[c + 1], z[c + 2]
        a0, a1, a2 = jordan(dx[c], dx[c + 1], dx[c + 2], dz[c], dz[c + 1], dz[c + 2])
        y0, y1, y2 = divide(x0, x1, x2, target - a0, -a1, -a2)
        g_out[c], g_out[c + 1], g_out[c + 2] = y0 - z0, y1 - z1, y2 - z2


@kernel
def right_side(kind, u, z, g, right_out):
    """Step 3: −F + D g, (3k,), with F = u − φ(z)."""
    for i in range(kind.shape[0]):
        c = 3 * i
        d1, d2 = direction(kind[i], z[c + 1], z[c + 2])
        f0 = u[c] - (z[c] - d1 * z[c + 1] - d2 * z[c + 2])
        f1, f2 = u[c + 1] - z[c + 1], u[c + 2] - z[c + 2]
        right_out[c] = g[c] - d1 * g[c + 1] - d2 * g[c + 2] - f0
        right_out[c + 1], right_out[c + 2] = g[c + 1] - f1, g[c + 2] - f2


@kernel
def recover(kind, sets, x, u, z, p, q, gp, gq, dx, dz_io, dp_out, dq_out):
    """Steps dz of cones and dp, dq of bounds (then dz = dp − dq) from dx, all (3k,); dz_io holds A dx before.

    For cones dz = D⁻¹ (F + A dx), which keeps the equation of motion where g − H dx would lose digits.
    """
    for i in range(kind.shape[0]):
        c = 3 * i
        if is_rowwise(kind[i]):
            for j in range(3):
                m = c + j
                low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
                dp_out[m] = gp[m] - (p[m] / low * dx[m] if low > 0.0 else 0.0)
                dq_out[m] = gq[m] + (q[m] / high * dx[m] if high > 0.0 else 0.0)
                dz_io[m] = dp_out[m] - dq_out[m]
            continue
        d1, d2 = direction(kind[i], z[c + 1], z[c + 2])
        dz_io[c + 1] += u[c + 1] - z[c + 1]
        dz_io[c + 2] += u[c + 2] - z[c + 2]
        dz_io[c] += u[c] - z[c] + d1 * (z[c + 1] + dz_io[c + 1]) + d2 * (z[c + 2] + dz_io[c + 2])


@kernel
def longest_step(kind, sets, x, z, p, q, dx, dz, dp, dq):
    """Largest step for which all cones and bounds still hold, at most 1e30; arrays (3k,)."""
    best = 1e30
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            a = to_boundary(x[c], x[c + 1], x[c + 2], dx[c], dx[c + 1], dx[c + 2])
            b = to_boundary(z[c], z[c + 1], z[c + 2], dz[c], dz[c + 1], dz[c + 2])
            best = min(best, a, b)
            continue
        for j in range(3):
            m = c + j
            if sets[i, 2 * j] == sets[i, 2 * j + 1]:
                continue
            if dx[m] < 0.0:
                best = min(best, (sets[i, 2 * j] - x[m]) / dx[m])
            if dx[m] > 0.0:
                best = min(best, (sets[i, 2 * j + 1] - x[m]) / dx[m])
            if dp[m] < 0.0:
                best = min(best, -p[m] / dp[m])
            if dq[m] < 0.0:
                best = min(best, -q[m] / dq[m])
    return best


@kernel
def centrality(kind, sets, x, z, p, q):
    """Mean gap, and smallest eigenvalue of x ∘ z over cones and bounds relative to it; arrays (3k,)."""
    least, total, count = math.inf, 0.0, 0
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            tx, tz = math.hypot(x[c + 1], x[c + 2]), math.hypot(z[c + 1], z[c + 2])
            if not (x[c] > tx and z[c] > tz):
                return 0.0, 0.0
            product = x[c] * z[c] + x[c + 1] * z[c + 1] + x[c + 2] * z[c + 2]
            det = (x[c] - tx) * (x[c] + tx) * (z[c] - tz) * (z[c] + tz)
            least = min(least, det / (product + math.sqrt(max(product * product - det, 0.0))))
            total += product
            count += 1
            continue
        for j in range(3):
            m = c + j
            low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
            if 0.0 < low < math.inf:
                least = min(least, low * p[m])
                total += low * p[m]
                count += 1
            if 0.0 < high < math.inf:
                least = min(least, high * q[m])
                total += high * q[m]
                count += 1
    if not total > 0.0:
        return 0.0, 1.0
    return total / count, least * count / total


@kernel
def keep_inside(kind, x_io, z_io):
    """Undo rounding that put x_io or z_io (3k,) on the boundary of a cone."""
    for i in range(kind.shape[0]):
        if not is_rowwise(kind[i]):
            c = 3 * i
            x_io[c] = max(x_io[c], (1.0 + EDGE) * math.sqrt(x_io[c + 1] ** 2 + x_io[c + 2] ** 2))
            z_io[c] = max(z_io[c], (1.0 + EDGE) * math.sqrt(z_io[c + 1] ** 2 + z_io[c + 2] ** 2))


@kernel
def start(kind, sets, u, margin, z_out, p_out, q_out, x_io):
    """Pull x_io (3k,) and the slacks of velocities u (3k,) into the interior by margin."""
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            t = math.hypot(x_io[c + 1], x_io[c + 2])
            x_io[c] = max(x_io[c], t) + margin
            t = math.hypot(u[c + 1], u[c + 2])
            shift = t if is_shifted(kind[i]) else 0.0
            z_out[c], z_out[c + 1], z_out[c + 2] = max(u[c] + shift, t) + margin, u[c + 1], u[c + 2]
            continue
        for j in range(3):
            m = c + j
            lo, hi = sets[i, 2 * j], sets[i, 2 * j + 1]
            inset = min(margin, 0.25 * (hi - lo))
            x_io[m] = min(max(x_io[m], lo + inset), hi - inset)
            p_out[m] = max(u[m], 0.0) + margin if math.isfinite(lo) and lo < hi else 0.0
            q_out[m] = max(-u[m], 0.0) + margin if math.isfinite(hi) and lo < hi else 0.0
            z_out[m] = p_out[m] - q_out[m]


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
