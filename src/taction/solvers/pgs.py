"""Projected Gauss–Seidel on normal and tangential impulses, as published for legged robots.

What it solves: contact problems with Coulomb friction (``exact``) or without (``frictionless``), any interval
rows beside them.

Notation: block i has impulses F = (F_n, F_t), velocity V = Σ_j W_ij F_j + b_i, diagonal block W_ii; λ_n =
(W_ii)_nn; λ_t the average eigenvalue (half the trace) of the tangential 2×2 block; ω relaxation.

Method, with the numbers of the steps in [Ayit2015, Section 4.4]
    5.  V from the newest impulses of all contacts, the old ones of contact i included;
    6.  F_n ← F_n − ω V_n / λ_n                                              (4.41)
    7, 8.  if F_n ≤ 0: F_n = 0, F_t = 0, next contact;
    9.  F_t ← F_t − ω V_t / λ_t                                              (4.42)
    10, 11.  if ‖F_t‖ > μ F_n: F_t ← μ F_n F_t / ‖F_t‖                       (4.43)
    12–14.  next contact; after the last one, stop if ‖F_new − F_old‖ ≤ ε ‖F_new‖    (4.39)
V is computed once per contact, so step 9 does not yet see the F_n of step 6. ω = 1 is the method as written;
with other ω the step is stretched before it is projected. Impulses replace force times step throughout.

Interval rows are taken one at a time: F ← clamp(F − ω V / W_ii, low, high), V fresh for each row.

Elliptic sections. Scaling F_t back along its own direction obeys maximum dissipation on a disc only: at a
fixed point V_t is parallel to F_t, while an ellipse asks for V_t along its normal. So steps 9 to 11 are done
in the frame F' = F_t / a (per axis), V' = a V_t, in which the section is a disc of radius F_n: F_k ← F_k − ω
a_k² V_k / λ', with λ' the average eigenvalue of the scaled block, and F_t ← F_t F_n / ‖F'‖. For a₁ = a₂ = μ
this is (4.42), (4.43) again. With different coefficients forward and backward the sign of F_1 (of −V_1 where
F_1 = 0) chooses a₁.

Fixed points are exactly the solutions: F_n = max(0, F_n − V_n/λ_n) is Signorini's law, and F_t = P(F_t −
V_t/λ_t), with P the projection on a disc, is Coulomb's.

Convergence: without friction, for symmetric positive definite W and 0 < ω < 2; with friction there is no
proof, and strong coupling of normal and tangential directions, large mass ratios or redundant contacts make
it slow or let it circle. Within a contact, step 9 contracts for ω < 2 λ_t / λ_max, and λ_max may be as large
as 2 λ_t: ω ≤ 1 is always safe there, ω > 1 only where the tangential block is nearly round. So the kernel
also computes the natural map, every ``check_every`` sweeps, and stops when that is small. A step below (4.39)
with a residual above the tolerance is reported as stalled.

Departures: the misprints listed in the page on deviations (5b, step 8, (4.43)); viscous friction is
eliminated beforehand (`taction.contact.blocks`) and not added to the bound during the iteration, which has
the same fixed points; (4.39) is written without the division, which is 0/0 when all impulses vanish; ε =
10⁻²⁰ of the document, unreachable in double precision, is not the default.

Cost: one block row product per contact and sweep.

References: [Ayit2015, Eqs. (4.39)–(4.43), Section 4.4]; [JourdanAlartJean1998] for block Gauss–Seidel at
large.
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
from taction.contact.laws.dispatch import apex_of, is_rowwise, natural_map
from taction.solvers.base import Iterations, Solver, Status, reference

CONVERGED, LIMIT, SMALL_STEP, OVERFLOW = 0, 1, 2, 3


@inline_kernel
def block_velocity(rows, i, r):
    """Step 5: V of block i, three numbers, from impulses r (3k,)."""
    c = 3 * i
    v0, v1, v2 = rows.b[c], rows.b[c + 1], rows.b[c + 2]
    for m in range(rows.start[i], rows.start[i + 1]):
        d = 3 * rows.column[m]
        x0, x1, x2 = r[d], r[d + 1], r[d + 2]
        w = rows.value[m]
        v0 += w[0] * x0 + w[1] * x1 + w[2] * x2
        v1 += w[3] * x0 + w[4] * x1 + w[5] * x2
        v2 += w[6] * x0 + w[7] * x1 + w[8] * x2
    return v0, v1, v2


@inline_kernel
def interval_step(r, v, w, low, high, relaxation):
    """New impulse of one interval row; without inertia (w = 0) the end that v points away from, if finite."""
    if w > 0.0:
        return min(max(r - relaxation * v / w, low), high)
    if v > 0.0 and low > -math.inf:
        return low
    if v < 0.0 and high < math.inf:
        return high
    return min(max(r, low), high)


@inline_kernel
def sweep_intervals(rows, i, relaxation, r_io):
    """Three interval rows of block i, one after the other; returns the squared change."""
    c = 3 * i
    w = rows.value[rows.diagonal[i]]
    v0, v1, v2 = block_velocity(rows, i, r_io)
    change = 0.0
    for k in range(3):
        v = v0 if k == 0 else (v1 if k == 1 else v2)
        low, high = rows.sets[i, 2 * k], rows.sets[i, 2 * k + 1]
        step = interval_step(r_io[c + k], v, w[4 * k], low, high, relaxation) - r_io[c + k]
        r_io[c + k] += step
        v1 += w[3 + k] * step
        v2 += w[6 + k] * step
        change += step * step
    return change


@inline_kernel
def scaled(x, a):
    """The ratio x / a, and 0 for a zero axis, which carries nothing."""
    return x / a if a > 0.0 else 0.0


@inline_kernel
def tangential_step(plus, minus, lateral, w, n, x1, x2, v1, v2, relaxation):
    """Steps 9 to 11: new F_t for the normal impulse n; w (9,) is the diagonal block."""
    a1 = plus if x1 > 0.0 or (x1 == 0.0 and v1 <= 0.0) else minus
    mean = 0.5 * (a1 * a1 * w[4] + lateral * lateral * w[8])
    if mean > 0.0:
        x1 -= relaxation * a1 * a1 * v1 / mean
        x2 -= relaxation * lateral * lateral * v2 / mean
    a1 = plus if x1 >= 0.0 else minus
    length = math.hypot(scaled(x1, a1), scaled(x2, lateral))
    factor = n / length if length > n else 1.0
    return (factor * x1 if a1 > 0.0 else 0.0), (factor * x2 if lateral > 0.0 else 0.0)


@inline_kernel
def sweep_contact(rows, i, relaxation, r_io):
    """Steps 5 to 11 for contact i; returns the squared change."""
    c = 3 * i
    w = rows.value[rows.diagonal[i]]
    v0, v1, v2 = block_velocity(rows, i, r_io)
    apex = apex_of(rows.kind[i], rows.sets[i])
    y0 = interval_step(r_io[c], v0, w[0], 0.0 - apex, math.inf, relaxation)
    y1, y2 = 0.0, 0.0
    if y0 + apex > 0.0:
        y1, y2 = tangential_step(
            rows.sets[i, 0],
            rows.sets[i, 1],
            rows.sets[i, 2],
            w,
            y0 + apex,
            r_io[c + 1],
            r_io[c + 2],
            v1,
            v2,
            relaxation,
        )
    e0, e1, e2 = y0 - r_io[c], y1 - r_io[c + 1], y2 - r_io[c + 2]
    r_io[c], r_io[c + 1], r_io[c + 2] = y0, y1, y2
    return e0 * e0 + e1 * e1 + e2 * e2


@kernel
def gauss_seidel(rows, relaxation, r_io):
    """One sweep over all blocks; returns the norm of the change of r_io (3k,)."""
    change = 0.0
    for i in range(rows.kind.shape[0]):
        if is_rowwise(rows.kind[i]):
            change += sweep_intervals(rows, i, relaxation, r_io)
        else:
            change += sweep_contact(rows, i, relaxation, r_io)
    return math.sqrt(change)


@kernel
def projected_gauss_seidel(rows, relaxation, step_tol, tol, limit, every, ws, r_io, history_out):
    """Sweep until a rule stops it; ws (3k,) scratch, r_io (3k,), history_out (limit // every + 2,) residuals.

    ``tol`` is absolute. Returns status, sweeps, residuals recorded.
    """
    count = 0
    for k in range(limit):
        change = gauss_seidel(rows, relaxation, r_io)
        size = 0.0
        for i in range(r_io.shape[0]):
            size += r_io[i] * r_io[i]
        size = math.sqrt(size)
        is_small = change <= step_tol * size  # (4.39)
        is_last = k + 1 == limit or is_small or not math.isfinite(size)
        if is_last or k % every == 0:
            multiply(rows, r_io, ws)
            residual = natural_map(rows.kind, rows.sets, r_io, ws)
            history_out[count] = residual
            count += 1
            if residual <= tol:
                return CONVERGED, k + 1, count
            if not math.isfinite(residual):
                return OVERFLOW, k + 1, count
            if is_small:
                return SMALL_STEP, k + 1, count
    return LIMIT, limit, count


_STATUS = {
    CONVERGED: Status.CONVERGED,
    LIMIT: Status.ITERATION_LIMIT,
    SMALL_STEP: Status.STALLED,
    OVERFLOW: Status.BAD_INPUT,
}


@dataclass(frozen=True, kw_only=True)
class PGS(Solver):
    """Projected Gauss–Seidel of the legged-robot thesis.

    Attributes:
        step_tol: ε of (4.39), change of the impulses per sweep, relative; 0 leaves only exact standstill. The
            document has 1e-20.
        relaxation: ω, between 0 and 2; 1 is the method as written, above 1 is sometimes faster and often
            circles.
        check_every: sweeps between two computations of the natural-map residual, from 1; each costs one
            sweep.
    """

    step_tol: float = 1e-14
    relaxation: float = 1.0
    check_every: int = 10

    name: ClassVar[str] = "pgs"
    summary: ClassVar[str] = "projected Gauss–Seidel, normal then tangential, as in the legged-robot thesis"
    laws: ClassVar[tuple[str, ...]] = ("exact", "frictionless")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.step_tol < 1.0:
            raise BadInput(f"step_tol: {self.step_tol!r} must be at least 0 and below 1")
        if not 0.0 < self.relaxation < 2.0:
            raise BadInput(f"relaxation: {self.relaxation!r} must lie between 0 and 2")
        if self.check_every < 1:
            raise BadInput(f"check_every: {self.check_every!r} must be at least 1")

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Sweep over the blocks until a rule stops it; history: residual at every check, relative to ‖b‖."""
        size = reference(blocks.rows.b)
        history = np.empty(self.max_iterations // self.check_every + 2)
        code, sweeps, checks = projected_gauss_seidel(
            blocks.rows,
            self.relaxation,
            self.step_tol,
            self.tol * size,
            self.max_iterations,
            self.check_every,
            np.empty_like(r_io),
            r_io,
            history,
        )
        message = "the impulses no longer change, above the tolerance" if code == SMALL_STEP else None
        return Iterations(_STATUS[code], int(sweeps), history[:checks] / size, message=message)
