"""Block Gauss–Seidel with exact local solves (NSGS): one contact at a time, all others held.

What it solves: the whole problem, by repeatedly solving the problem of a single block
    u = W_ii Λ_i + q_i,     q_i = b_i + Σ_{j≠i} W_ij Λ_j,
for its own law, in the order of the blocks, always with the latest impulses of the others.

The local problem of the exact law:
1. open: q_N ≥ 0 leaves Λ = 0;
2. stick: Λ = −W⁻¹ q, if it lies in the cone;
3. slide: u_N = 0, u_T = −λ Λ_T with λ > 0 and Λ_T on the rim. Eliminating Λ_N leaves
       (W̃ + λ) Λ_T = −q̃,   W̃ = W_TT − W_TN W_NT / W_NN,   q̃ = q_T − W_TN q_N / W_NN,
   and one equation φ(λ) = a Λ_N / ‖Λ_T‖ − 1 = 0, negative at λ = 0 and nearly linear for large λ: Newton's
   method inside a bracket. An ellipse becomes a disc by scaling the tangents; of two half-ellipses that one
   is right on whose side the solution lies.
Convex law: projected gradient steps on the 3×3 problem until they stand still. Intervals: row by row,
clamped.

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
from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import Blocks, multiply
from taction.contact.sets import BOX, EXACT, natural_map, natural_map_block, project_cone
from taction.solvers.base import Iterations, Solver, Status, reference

ROOT_STEPS = 60
ROOT_ACCURACY = 1e-15
LOCAL_STEPS = 200
TINY = 1e-300
EXPLODED = 1e6


@inline_kernel
def solve3(w0, w1, w2, w3, w4, w5, w6, w7, w8, f0, f1, f2):
    """X with W x = f for a 3×3 matrix by rows, and its determinant."""
    c0 = w4 * w8 - w5 * w7
    c1 = w5 * w6 - w3 * w8
    c2 = w3 * w7 - w4 * w6
    det = w0 * c0 + w1 * c1 + w2 * c2
    s = 1.0 / det if abs(det) > TINY else 0.0
    x0 = s * (c0 * f0 + (w2 * w7 - w1 * w8) * f1 + (w1 * w5 - w2 * w4) * f2)
    x1 = s * (c1 * f0 + (w0 * w8 - w2 * w6) * f1 + (w2 * w3 - w0 * w5) * f2)
    x2 = s * (c2 * f0 + (w1 * w6 - w0 * w7) * f1 + (w0 * w4 - w1 * w3) * f2)
    return x0, x1, x2, det


@kernel
def slide(a, w0, n1, n2, m1, m2, t11, t12, t21, t22, q0, q1, q2):
    """Step 3 for a disc of radius a: normal row (w0, n1, n2), column (m1, m2), tangential block t, q."""
    i0 = 1.0 / w0
    s11, s12, s21, s22 = t11 - m1 * n1 * i0, t12 - m1 * n2 * i0, t21 - m2 * n1 * i0, t22 - m2 * n2 * i0
    g1, g2 = q1 - m1 * q0 * i0, q2 - m2 * q0 * i0
    low, high, x = 0.0, math.inf, 0.0
    r0 = r1 = r2 = 0.0
    for _ in range(ROOT_STEPS):
        a11, a22 = s11 + x, s22 + x
        det = a11 * a22 - s12 * s21
        if abs(det) <= TINY:
            x = 1e-12 * (abs(s11) + abs(s22)) + TINY if x == 0.0 else 2.0 * x
            continue
        r1, r2 = -(a22 * g1 - s12 * g2) / det, -(a11 * g2 - s21 * g1) / det
        r0 = -(q0 + n1 * r1 + n2 * r2) * i0
        length = math.sqrt(r1 * r1 + r2 * r2)
        if length <= TINY:
            break
        value = a * r0 / length - 1.0
        if abs(value) <= ROOT_ACCURACY:
            break
        if value < 0.0:
            low = x
        else:
            high = x
        d1, d2 = -(a22 * r1 - s12 * r2) / det, -(a11 * r2 - s21 * r1) / det
        slope = -a * (
            (n1 * d1 + n2 * d2) * i0 / length + r0 * (r1 * d1 + r2 * d2) / (length * length * length)
        )
        trial = x - value / slope if slope > 0.0 else math.inf
        if not low < trial < high:
            trial = 0.5 * (low + high) if high < math.inf else 2.0 * low + abs(s11) + abs(s22)
        if abs(trial - x) <= ROOT_ACCURACY * trial:
            break
        x = trial
    r0 = max(r0, 0.0)
    length = math.sqrt(r1 * r1 + r2 * r2)
    s = a * r0 / length if length > TINY else 0.0  # exactly on the rim
    return r0, s * r1, s * r2


@inline_kernel
def slide_side(a1, a2, w, q0, q1, q2):
    """Step 3 with the ellipse (a1, a2): tangents scaled so that it is a disc."""
    a = max(a1, a2)
    s1, s2 = a1 / a, a2 / a
    r0, r1, r2 = slide(
        a,
        w[0],
        w[1] * s1,
        w[2] * s2,
        w[3] * s1,
        w[6] * s2,
        w[4] * s1 * s1,
        w[5] * s1 * s2,
        w[7] * s1 * s2,
        w[8] * s2 * s2,
        q0,
        q1 * s1,
        q2 * s2,
    )
    return r0, s1 * r1, s2 * r2


@kernel
def local_exact(set_, w, q0, q1, q2):
    """Λ of one contact with the exact law: w (9,) its block of W, q its velocity without own impulse."""
    if q0 >= 0.0 or w[0] <= 0.0:
        return 0.0, 0.0, 0.0
    r0, r1, r2, det = solve3(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], -q0, -q1, -q2)
    a1, a2 = set_[0] if r1 >= 0.0 else set_[1], set_[2]
    if abs(det) > TINY and r0 >= 0.0 and math.hypot(a2 * r1, a1 * r2) <= a1 * a2 * r0:
        return r0, r1, r2
    r0, r1, r2 = slide_side(set_[0], a2, w, q0, q1, q2)
    if set_[0] != set_[1] and r1 < 0.0:
        r0, r1, r2 = slide_side(set_[1], a2, w, q0, q1, q2)
    return r0, r1, r2


@kernel
def local_convex(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact with the convex law, by projected gradient steps from (r0, r1, r2)."""
    rho = w[0] + w[4] + w[8]
    if rho <= 0.0:
        return r0, r1, r2
    rho = 1.0 / rho
    for _ in range(LOCAL_STEPS):
        u0 = w[0] * r0 + w[1] * r1 + w[2] * r2 + q0
        u1 = w[3] * r0 + w[4] * r1 + w[5] * r2 + q1
        u2 = w[6] * r0 + w[7] * r1 + w[8] * r2 + q2
        y0, y1, y2 = project_cone(set_[0], set_[1], set_[2], r0 - rho * u0, r1 - rho * u1, r2 - rho * u2)
        change = abs(y0 - r0) + abs(y1 - r1) + abs(y2 - r2)
        r0, r1, r2 = y0, y1, y2
        if change <= ROOT_ACCURACY * (abs(r0) + abs(r1) + abs(r2)):
            break
    return r0, r1, r2


@inline_kernel
def clamp(value, slope, low, high):
    """The impulse in [low, high] of one row with u = slope Λ + value."""
    if slope > 0.0:
        return min(max(-value / slope, low), high)
    if low == high:
        return low
    return min(max(0.0, low), high)


@inline_kernel
def local_box(set_, w, r0, r1, r2, q0, q1, q2):
    """Impulses of three interval rows, one after the other."""
    r0 = clamp(q0 + w[1] * r1 + w[2] * r2, w[0], set_[0], set_[1])
    r1 = clamp(q1 + w[3] * r0 + w[5] * r2, w[4], set_[2], set_[3])
    r2 = clamp(q2 + w[6] * r0 + w[7] * r1, w[8], set_[4], set_[5])
    return r0, r1, r2


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
        if kind == EXACT:
            y0, y1, y2 = local_exact(set_, w, q0, q1, q2)
        elif kind == BOX:
            y0, y1, y2 = local_box(set_, w, r0, r1, r2, q0, q1, q2)
        else:
            y0, y1, y2 = local_convex(set_, w, r0, r1, r2, q0, q1, q2)
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
