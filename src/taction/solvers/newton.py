"""Nonsmooth Newton on the equations of Alart and Curnier, inside a proximal-point iteration.

What it solves: F(Λ) = 0 with the equations of `taction.solvers.alart_curnier`, whose zeros obey the laws.

F is piecewise smooth: open contacts give Λ = 0, sticking ones u = 0, sliding ones u_N = 0 with Λ_T on the
rim.

Method, on the scaled blocks of one connected component at a time:
1. proximal point: with centre c = Λ and weight α, solve F = 0 for u + α (Λ − c) in place of u. A redundant
   (singular) W becomes positive definite; the fixed point is a solution of the problem itself.
2. Newton: block by block A δγ + B δΛ = −F; with δγ = (W + α) δΛ one sparse system (A (W + α) + B) δΛ = −F,
   factored by `taction.solvers.block_lu`.
3. line search: halve the step until ‖F‖ decreases; take the best of the tried points.
4. α shrinks tenfold per round while 2 converges. Once it did not, α grows, then shrinks more gently, rounds
   are solved more accurately, and each centre lies beyond Λ by 0.7 of the last round's step: redundant
   piles drift a long way along almost flat directions, and this over-relaxation takes most of it (measured:
   a rock pile of 463 contacts in 600 Newton steps instead of 6000).

Converges in a handful of Newton steps where contacts are well posed; with redundant contacts the proximal
loop takes a few rounds. It may stall where the law has no solution or where sliding directions turn by large
angles; the result then says so. Cost per step: one sparse factorisation.

Departures: per-component α and line search. The modification of [Hueber2008] for global convergence is left
out: with the proximal term and the line search it cost steps (benchmark notes).

References: [AlartCurnier1991] for the equations; [AcaryBremondHuber2018] for the proximal-point
variant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import BlockRows, Blocks, scale_block
from taction.contact.laws.dispatch import is_rowwise, natural_map_block, proximal_weights
from taction.solvers.alart_curnier import linearise
from taction.solvers.base import Iterations, Solver, Status, reference
from taction.solvers.block_lu import factor_blocks, solve_lower, solve_upper
from taction.solvers.body_space import factor_bodies, has_bodies, solve_bodies
from taction.solvers.elimination_order import analyse
from taction.solvers.newton_memory import (
    BLOCKS,
    CENTRE,
    COMPONENTS,
    IMPULSE,
    PREVIOUS,
    PREVIOUS_U,
    RECORDED,
    RESIDUAL,
    RESPONSE,
    STEP,
    TOTAL,
    TRIAL,
    TRIAL_U,
    VELOCITY,
    Work,
    make_work,
)

PIECE = 32  # blocks that are assembled and factored together
LINE_SEARCH_STEPS = 4
SUFFICIENT = 1e-4  # decrease of ‖F‖ per step length that a line search accepts
INNER_STEPS = 15
PATIENCE, PROGRESS = 4, 0.7  # a proximal step is given up if ‖F‖ does not fall by this over so many steps
DECREASE_FIRST, DECREASE_LAST = 0.3, 0.1  # fraction of ‖F‖ to which a proximal step is solved
EXTRAPOLATION = 0.7
WEIGHT = 1e-4  # first α
ALPHA_LEAST, ALPHA_MOST = 1e-13, 1e6
SHRINK_FIRST, SHRINK_LAST, GROW = 0.1, 0.7, 30.0


@inline_kernel
def assemble_box(rows, i, alpha, at, target, jacobian, lu_out):
    """The same for a block of intervals, whose A and B are diagonal; ``at``: its diagonal block in lu_out."""
    a0, a1, a2 = jacobian[i, 0], jacobian[i, 4], jacobian[i, 8]
    for m in range(rows.start[i], rows.start[i + 1]):
        p = target[m]
        for c in range(3):
            lu_out[p, c] = a0 * rows.value[m, c]
            lu_out[p, 3 + c] = a1 * rows.value[m, 3 + c]
            lu_out[p, 6 + c] = a2 * rows.value[m, 6 + c]
    w0, w1, w2 = proximal_weights(rows.kind[i], rows.sets[i], alpha)
    lu_out[at, 0] += w0 * a0 + jacobian[i, 9]
    lu_out[at, 4] += w1 * a1 + jacobian[i, 13]
    lu_out[at, 8] += w2 * a2 + jacobian[i, 17]


@inline_kernel
def assemble(first, last, alpha, ws, lu_out):
    """Write A (W + α) + B of blocks first…last−1 into lu_out (p, 9); each with its own level of α."""
    rows, pattern, jacobian = ws.rows, ws.pattern, ws.jacobian
    if pattern.start[last] - pattern.start[first] > rows.start[last] - rows.start[first]:
        for m in range(pattern.start[first], pattern.start[last]):  # there is fill-in
            for c in range(9):
                lu_out[m, c] = 0.0
    for i in range(first, last):
        at = pattern.diagonal[i]
        if ws.is_identity[i]:
            for c in range(9):
                lu_out[at, c] = 1.0 if c % 4 == 0 else 0.0
            continue
        if is_rowwise(rows.kind[i]):
            assemble_box(rows, i, ws.level[i] * alpha, at, ws.target, jacobian, lu_out)
            continue
        for m in range(rows.start[i], rows.start[i + 1]):
            p = ws.target[m]
            for a in range(3):
                j0, j1, j2 = jacobian[i, 3 * a], jacobian[i, 3 * a + 1], jacobian[i, 3 * a + 2]
                for c in range(3):
                    lu_out[p, 3 * a + c] = (
                        j0 * rows.value[m, c] + j1 * rows.value[m, 3 + c] + j2 * rows.value[m, 6 + c]
                    )
        for c in range(9):
            lu_out[at, c] += ws.level[i] * alpha * jacobian[i, c] + jacobian[i, 9 + c]


@kernel
def solve_linear(first, last, alpha, ws, x_io):
    """Overwrite x_io (3k,) with (A (W + α) + B)⁻¹ x_io for blocks first…last−1; returns 0 if done.

    Piece by piece from the matrix to the factor and the forward solve, while it is in the cache; or in the
    space of the bodies.
    """
    for i in range(first, last):
        ws.held[i] = ws.is_identity[i]
    if has_bodies(ws.bodies):
        if factor_bodies(first, last, alpha, ws, ws.bodies):
            return 1
        solve_bodies(first, last, ws.held, ws.bodies, x_io)
        return 0
    pattern = ws.pattern
    for begin in range(first, last, PIECE):
        end = min(begin + PIECE, last)
        assemble(begin, end, alpha, ws, ws.lu)
        if factor_blocks(pattern, begin, end, ws.is_identity, ws.place, ws.lu, ws.inverse):
            return 1
        solve_lower(pattern, begin, end, ws.is_identity, ws.lu, x_io)
    solve_upper(pattern, first, last, ws.is_identity, ws.lu, ws.inverse, x_io)
    return 0


@inline_kernel
def apply(rows, first, last, x, y_out):
    """y_out = W x for blocks first…last−1."""
    for i in range(first, last):
        y0 = y1 = y2 = 0.0
        for m in range(rows.start[i], rows.start[i + 1]):
            d = 3 * rows.column[m]
            x0, x1, x2 = x[d], x[d + 1], x[d + 2]
            y0 += rows.value[m, 0] * x0 + rows.value[m, 1] * x1 + rows.value[m, 2] * x2
            y1 += rows.value[m, 3] * x0 + rows.value[m, 4] * x1 + rows.value[m, 5] * x2
            y2 += rows.value[m, 6] * x0 + rows.value[m, 7] * x1 + rows.value[m, 8] * x2
        y_out[3 * i], y_out[3 * i + 1], y_out[3 * i + 2] = y0, y1, y2


@kernel
def unscaled_residual(first, last, r, u, ws):
    """Natural-map residual of blocks first…last−1 in the units of the problem."""
    total = 0.0
    s = ws.scale
    for i in range(first, last):
        c = 3 * i
        r0, r1, r2 = s[c] * r[c], s[c + 1] * r[c + 1], s[c + 2] * r[c + 2]
        u0, u1, u2 = u[c] / s[c], u[c + 1] / s[c + 1], u[c + 2] / s[c + 2]
        e0, e1, e2 = natural_map_block(ws.rows.kind[i], ws.sets[i], r0, r1, r2, u0, u1, u2)
        total += e0 * e0 + e1 * e1 + e2 * e2
    return math.sqrt(total)


@inline_kernel
def line_search(first, last, alpha, merit, ws, r_io, u_io):
    """Step 3: move r_io, u_io along the step; leaves F, A and B of the new point; returns the new ‖F‖."""
    v = ws.vectors
    low, high = 3 * first, 3 * last
    t, least, chosen = 1.0, math.inf, 0.0
    value = math.inf
    for tries in range(LINE_SEARCH_STEPS + 1):
        if tries == LINE_SEARCH_STEPS:
            if chosen == 0.0:
                return math.inf
            t = chosen  # no step was good enough: the best one
        for c in range(low, high):
            v[TRIAL, c] = r_io[c] + t * v[STEP, c]
            v[TRIAL_U, c] = u_io[c] + t * v[RESPONSE, c]
        value = linearise(
            ws.rows,
            first,
            last,
            alpha,
            ws.level,
            v[CENTRE],
            v[TRIAL],
            v[TRIAL_U],
            ws.jacobian,
            ws.is_identity,
            v[RESIDUAL],
        )
        if value < least:
            least, chosen = value, t
        if value <= (1.0 - SUFFICIENT * t) * merit:
            break
        t *= 0.5
    for c in range(low, high):
        r_io[c] = v[TRIAL, c]
        u_io[c] = v[TRIAL_U, c]
    return value


@kernel
def newton_steps(first, last, alpha, goal, decrease, limit, ws, r_io, u_io, history_io):
    """Step 2 for one proximal subproblem around CENTRE, from its centre.

    Returns (steps, whether the subproblem was solved well enough, unscaled residual of the problem itself).
    """
    v = ws.vectors
    merit = linearise(
        ws.rows, first, last, alpha, ws.level, v[CENTRE], r_io, u_io, ws.jacobian, ws.is_identity, v[RESIDUAL]
    )
    inner_goal = decrease * merit
    error, mark = math.inf, math.inf
    for k in range(limit):
        if k % PATIENCE == 0:
            if merit > PROGRESS * mark:
                return k, False, error
            mark = merit
        for c in range(3 * first, 3 * last):
            v[STEP, c] = -v[RESIDUAL, c]
        if solve_linear(first, last, alpha, ws, v[STEP]):
            return k + 1, False, math.inf
        apply(ws.rows, first, last, v[STEP], v[RESPONSE])
        merit = line_search(first, last, alpha, merit, ws, r_io, u_io)
        if not merit < math.inf:
            return k + 1, False, math.inf
        error = unscaled_residual(first, last, r_io, u_io, ws)
        note(error, ws.record, history_io)
        if error <= goal or merit <= inner_goal:
            return k + 1, True, error
    return limit, False, error


@inline_kernel
def note(error, record_io, history_io):
    """Add a step to the history: residual of all components, where this one's is now ``error``."""
    k = int(record_io[RECORDED])
    if k < history_io.shape[0]:
        history_io[k] = math.sqrt(record_io[TOTAL] + error * error)
        record_io[RECORDED] += 1.0


@inline_kernel
def refresh(first, last, r, ws, u_out):
    """Velocities u_out = W r + b of blocks first…last−1 anew, without rounding of updates; their residual."""
    apply(ws.rows, first, last, r, u_out)
    for c in range(3 * first, 3 * last):
        u_out[c] += ws.rows.b[c]
    return unscaled_residual(first, last, r, u_out, ws)


@inline_kernel
def advance(is_extrapolated, low, high, ws, r_io, u_io):
    """Remember where this proximal step starts; its centre is there, or beyond along the step before."""
    v = ws.vectors
    for c in range(low, high):
        r, u = r_io[c], u_io[c]
        if is_extrapolated:
            r_io[c] += EXTRAPOLATION * (r - v[PREVIOUS, c])
            u_io[c] += EXTRAPOLATION * (u - v[PREVIOUS_U, c])
        v[CENTRE, c] = r_io[c]
        v[PREVIOUS, c], v[PREVIOUS_U, c] = r, u


@kernel
def proximal_newton(first, last, error, goal, alpha, limit, ws, r_io, u_io, history_io):
    """Steps 1 and 4 for one component: r_io (3k,) scaled impulses, u_io = W r + b, residual ``error``.

    goal: unscaled residual to reach; alpha: first weight; limit: Newton steps. Returns (steps, residual).
    """
    v = ws.vectors
    steps = 0
    shrink, decrease = SHRINK_FIRST, DECREASE_FIRST
    is_extrapolated = False
    while error > goal and steps < limit and alpha < ALPHA_MOST:
        advance(is_extrapolated, 3 * first, 3 * last, ws, r_io, u_io)
        used, solved, new = newton_steps(
            first, last, alpha, goal, decrease, min(INNER_STEPS, limit - steps), ws, r_io, u_io, history_io
        )
        steps += used
        if solved:
            alpha = max(shrink * alpha, ALPHA_LEAST)
            is_extrapolated = shrink > SHRINK_FIRST
        else:
            alpha *= GROW
            shrink, decrease = min(2.0 * shrink, SHRINK_LAST), DECREASE_LAST
            is_extrapolated = False
            if not new < 0.9 * error:
                for c in range(3 * first, 3 * last):
                    r_io[c] = v[PREVIOUS, c]
        error = new if solved and new > goal else refresh(first, last, r_io, ws, u_io)
    return steps, error


@inline_kernel
def scaled_rows(ws):
    """The scaled problem as rows of its own length."""
    rows, k = ws.rows, ws.count[BLOCKS]
    m = rows.start[k]
    return BlockRows(
        rows.start[: k + 1], rows.column[:m], rows.value[:m], rows.diagonal[:k], rows.b[: 3 * k],
        rows.kind[:k], rows.sets[:k],
    )  # fmt: skip


@kernel
def load_scaled(rows, r, ws):
    """Scale a problem into ws, in the order there, with impulses r (3k,) as the first guess."""
    out, order, place, k = ws.rows, ws.order, ws.place, ws.count[BLOCKS]
    for t in range(k):
        place[order[t]] = t
        i = order[t]
        scale_block(rows, i, t, ws.scale, out.sets)
        out.kind[t] = rows.kind[i]
        ws.level[t] = 1.0
        for c in range(3):
            out.b[3 * t + c] = ws.scale[3 * t + c] * rows.b[3 * i + c]
            ws.vectors[IMPULSE, 3 * t + c] = r[3 * i + c] / ws.scale[3 * t + c]
        for c in range(6):
            ws.sets[t, c] = rows.sets[i, c]
    at = 0
    for t in range(k):
        i = order[t]
        out.start[t] = at
        for m in range(rows.start[i], rows.start[i + 1]):
            s = place[rows.column[m]]
            for a in range(3):
                for c in range(3):
                    out.value[at, 3 * a + c] = (
                        ws.scale[3 * t + a] * rows.value[m, 3 * a + c] * ws.scale[3 * s + c]
                    )
            out.column[at] = s
            if s == t:
                out.diagonal[t] = at
            at += 1
    out.start[k] = at


@kernel
def load(rows, r, ws):
    """Scale a problem into ws, in elimination order, with impulses r (3k,) as the first guess."""
    load_scaled(rows, r, ws)
    out, pattern, k = ws.rows, ws.pattern, ws.count[BLOCKS]
    for t in range(k):
        for m in range(out.start[t], out.start[t + 1]):
            p, s = pattern.start[t], out.column[m]
            if pattern.start[t + 1] - p == k:  # all are there
                p += s
            while pattern.column[p] != s:
                p += 1
            ws.target[m] = p


@inline_kernel
def unload(ws, r_out):
    """Impulses r_out (3k,) as the problem has them: in its own order, not scaled."""
    order, r = ws.order, ws.vectors[IMPULSE]
    for t in range(ws.count[BLOCKS]):
        for c in range(3):
            r_out[3 * order[t] + c] = ws.scale[3 * t + c] * r[3 * t + c]


@kernel
def solve_components(goal, alpha, limit, ws, r_out, history_io):
    """Solve what `load` put in, one component after the other; r_out (3k,) as the problem has them.

    goal: residual of the whole; alpha: first weight; limit: Newton steps per component. Returns (steps,
    residual of the whole).
    """
    v, component, k = ws.vectors, ws.component, ws.count[BLOCKS]
    r, u = v[IMPULSE], v[VELOCITY]
    error = refresh(0, k, r, ws, u)
    ws.record[RECORDED] = 0.0
    total, reached, steps = error * error, 0.0, 0
    for n in range(ws.count[COMPONENTS]):
        first, last = component[n], component[n + 1]
        before = unscaled_residual(first, last, r, u, ws)
        ws.record[TOTAL] = max(total - before * before, 0.0)
        share = goal * math.sqrt((last - first) / k)
        used, after = proximal_newton(first, last, before, share, alpha, limit, ws, r, u, history_io)
        total = ws.record[TOTAL] + after * after
        reached += after * after
        steps += used
    unload(ws, r_out)
    return steps, math.sqrt(reached)


def order_newton(rows: BlockRows, order: IntArray | None = None) -> Work:
    """Memory ordered for the pattern of these rows, by an order (k,) of elimination if one is given."""
    start, column = rows.start.copy(), rows.column.copy()
    analysis = analyse(start, column, order)
    size = (len(rows.kind), len(column), len(analysis.pattern.column), len(analysis.component) - 1)
    work = make_work(*size, made_for=(start, column))
    work.count[BLOCKS], work.count[COMPONENTS] = size[0], size[3]
    work.order[:], work.component[:] = analysis.order, analysis.component
    for name, values in analysis.pattern._asdict().items():
        getattr(work.pattern, name)[:] = values
    return work


@dataclass(frozen=True, kw_only=True)
class Newton(Solver):
    """Nonsmooth Newton (Alart–Curnier) with proximal regularisation and line search.

    Attributes:
        max_iterations: Newton steps per connected component.
        weight: α of the first proximal round, in units of the scaled W (mean diagonal 1). Smaller is faster
        where
            contacts are well posed; larger keeps redundant impulses small.
    """

    max_iterations: int = 2000
    weight: float = WEIGHT

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "nonsmooth Newton (Alart–Curnier) with proximal regularisation and line search"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not ALPHA_LEAST <= self.weight < ALPHA_MOST:
            raise BadInput(f"weight: {self.weight!r} must lie between {ALPHA_LEAST:g} and {ALPHA_MOST:g}")

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Newton steps on every connected component."""
        rows = blocks.rows
        goal = self.tol * reference(rows.b)
        work = order_newton(rows)
        history = np.empty(self.max_iterations)
        load(rows, r_io, work)
        steps, error = solve_components(goal, self.weight, self.max_iterations, work, r_io, history)
        if error <= goal:
            status = Status.CONVERGED
        else:
            status = Status.ITERATION_LIMIT if steps >= self.max_iterations else Status.STALLED
        return Iterations(status, steps, history[: int(work.record[RECORDED])] / reference(rows.b))
