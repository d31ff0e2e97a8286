"""A sparse factor of the contacts that are closed, kept while some of them change.

What it solves: K x = y, block by block, for contacts that are closed; x = 0 where they are open,

    K_i· = A_i (W_i· + α) + B_i,

with equations A, B that say what contact i does (`taction.solvers.state_flow`).

Method
1. *Order*: of the closed contacts alone (`taction.solvers.elimination_order`). In a pile two of three are
   closed, and the factor takes a fourth to a fourteenth of the products that all of them would: open ones
   connect what is not connected.
2. *Factor*: by `taction.solvers.block_lu`, of the equations that there are then.
3. *Changes*: other equations in a contact are other rows of K. With E their unit vectors, Z = K₀⁻¹ E and K'
   the new rows,
       x = x₀ − Z C⁻¹ (K' x₀ − y'),     x₀ = K₀⁻¹ y,     C = K' Z,
   C of three rows per change (`taction.solvers.dense_lu`); det K = det K₀ det C. A contact that opens is
   such a change, too; one that closes is none, its column being missing, unless it was closed before.

Cost, for 400 closed of 550 contacts of a pile: an order 0.7 ms, a factor 0.8 to 1.4 ms (up to 2 million
products), a change 0.15 ms, a solve 0.1 ms.

References: [GolubVanLoan2013, Section 2.1.4] for the changes; [GillMurraySaundersWright1990] for a factor
that is kept while an active set changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, flags, floats, ints, nested
from taction.solvers.block_lu import factor_blocks, solve_lower, solve_upper
from taction.solvers.dense_lu import factor_dense, solve_dense
from taction.solvers.elimination_order import (
    FactorPattern,
    OrderMemory,
    count_pattern,
    fill_pattern,
    make_order,
    minimum_fill,
)
from taction.solvers.newton import PIECE
from taction.solvers.newton_memory import BLOCKS

CHANGES = 8  # contacts that may change before a new factor
CLOSED, COMPONENTS, CHANGED, NEEDED, COUNTS = 0, 1, 2, 3, 4  # entries of ClosedMemory.count


class ClosedMemory(Layout, scratch=True):
    """The factor of the closed ones of k contacts, m entries of W, p of the factor, and what has changed."""

    count: IntArray = ints("COUNTS", "at the entries above: blocks, components, changes, entries needed")
    order: OrderMemory = nested(OrderMemory, "of the closed contacts")
    start: IntArray = ints("k + 1", "which of them are coupled: where each row starts")
    column: IntArray = ints("m", "columns")
    contact: IntArray = ints("k", "contact eliminated at each turn")
    turn: IntArray = ints("k", "turn of each contact, −1 for none")
    pattern: FactorPattern = nested(FactorPattern, "of the factor")
    lu: Array = floats("p, 9", "the factor")
    inverse: Array = floats("k, 9", "inverse diagonal blocks")
    was_open: NDArray[np.bool_] = flags("k", "turns whose contacts were open when it was made")
    place: IntArray = ints("k", "scratch of the factor")
    x: Array = floats("3*k", "right-hand side, then solution, by turns")
    changed: IntArray = ints("c", "contacts that have changed since")
    columns: Array = floats("3*c, 3*k", "Z, by turns")
    seen: Array = floats("3*c, 3*c", "W Z of contacts that have changed, column by column")
    lower: Array = floats("9*c*c", "C, then its factor")
    upper: Array = floats("9*c*c", "likewise")
    pivot: IntArray = ints("3*c", "rows of C in that order")
    rest: Array = floats("2, 3*c", "K' x₀ − y', and C⁻¹ of that")


def make_closed(k: int, m: int, p: int) -> ClosedMemory:
    """Memory for k contacts, m entries of W and p of the factor."""
    given = {"order": make_order(k), "pattern": FactorPattern.allocate(c=k, p=p)}
    return ClosedMemory.allocate(_given=given, k=k, m=m, p=p, c=CHANGES, COUNTS=COUNTS)


@kernel
def order_closed(ws, closed_io):
    """Step 1 for the contacts that are no identity in ws (`Work`); whether there is room for the factor."""
    rows, turn, contact, n, at = ws.rows, closed_io.turn, closed_io.place, 0, 0
    for i in range(ws.count[BLOCKS]):
        turn[i] = -1
        if not ws.is_identity[i]:
            turn[i], contact[n] = n, i
            n += 1
    for t in range(n):
        closed_io.start[t], i = at, contact[t]
        for m in range(rows.start[i], rows.start[i + 1]):
            if turn[rows.column[m]] >= 0:
                closed_io.column[at] = turn[rows.column[m]]
                at += 1
    closed_io.start[n] = at
    pattern, order = closed_io.pattern, closed_io.order
    minimum_fill(n, closed_io.start, closed_io.column, order)
    closed_io.count[COMPONENTS] = count_pattern(
        n, closed_io.start, closed_io.column, order, pattern.start, pattern.diagonal
    )
    closed_io.count[CLOSED], closed_io.count[NEEDED] = n, pattern.start[n]
    if pattern.start[n] > pattern.column.shape[0]:
        return False
    fill_pattern(n, closed_io.start, closed_io.column, order, pattern)
    for t in range(n):
        closed_io.contact[t] = contact[order.order[t]]
    for t in range(n):
        turn[closed_io.contact[t]] = t
    return True


@kernel
def assemble_closed(first, last, alpha, ws, closed_io):
    """K of turns first…last−1 into the factor's memory."""
    rows, A, pattern = ws.rows, ws.jacobian, closed_io.pattern
    turn, place, lu = closed_io.turn, closed_io.place, closed_io.lu
    for t in range(first, last):
        at, i = pattern.diagonal[t], closed_io.contact[t]
        for m in range(pattern.start[t], pattern.start[t + 1]):
            place[pattern.column[m]] = m
            for c in range(9):
                lu[m, c] = 0.0
        if closed_io.was_open[t]:
            lu[at, 0] = lu[at, 4] = lu[at, 8] = 1.0
            continue
        for m in range(rows.start[i], rows.start[i + 1]):
            s = turn[rows.column[m]]
            if s < 0 or closed_io.was_open[s]:
                continue
            for a in range(0, 9, 3):
                for c in range(3):
                    lu[place[s], a + c] = (
                        A[i, a] * rows.value[m, c]
                        + A[i, a + 1] * rows.value[m, 3 + c]
                        + A[i, a + 2] * rows.value[m, 6 + c]
                    )
        for c in range(9):
            lu[at, c] += alpha * A[i, c] + A[i, 9 + c]


@kernel
def is_positive(closed):
    """Whether the determinant of K₀ is positive in each component."""
    for n in range(closed.count[COMPONENTS]):
        is_even = True
        for t in range(closed.order.component[n], closed.order.component[n + 1]):
            a = closed.inverse[t]
            det = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
            det += a[2] * (a[3] * a[7] - a[4] * a[6])
            is_even = is_even == (det > 0.0)
        if not is_even:
            return False
    return True


@kernel
def factor_closed(alpha, ws, closed_io):
    """Step 2 for the equations in ws; whether there is a factor, with a positive determinant."""
    n = closed_io.count[CLOSED]
    closed_io.count[CHANGED] = 0
    for t in range(n):
        closed_io.was_open[t] = ws.is_identity[closed_io.contact[t]]
    for begin in range(0, n, PIECE):
        end = min(begin + PIECE, n)
        assemble_closed(begin, end, alpha, ws, closed_io)
        lu, inverse = closed_io.lu, closed_io.inverse
        if factor_blocks(closed_io.pattern, begin, end, closed_io.was_open, closed_io.place, lu, inverse):
            return False
    return is_positive(closed_io)


@kernel
def unit_column(t, row, closed, x_out):
    """x_out (3n,) = K₀⁻¹ of the unit vector of a row of turn t; forward up its branch of the tree only."""
    pattern, lu, n = closed.pattern, closed.lu, closed.count[CLOSED]
    for c in range(3 * n):
        x_out[c] = 0.0
    x_out[3 * t + row] = 1.0
    s = closed.order.parent[t]
    while s >= 0:
        solve_lower(pattern, s, s + 1, closed.was_open, lu, x_out)
        s = closed.order.parent[s]
    solve_upper(pattern, 0, n, closed.was_open, lu, closed.inverse, x_out)


@inline_kernel
def seen_by(i, x, closed, ws):
    """W_i x of contact i, x by turns."""
    rows, turn = ws.rows, closed.turn
    y0 = y1 = y2 = 0.0
    for m in range(rows.start[i], rows.start[i + 1]):
        d = 3 * turn[rows.column[m]]
        if d < 0:
            continue
        x0, x1, x2 = x[d], x[d + 1], x[d + 2]
        y0 += rows.value[m, 0] * x0 + rows.value[m, 1] * x1 + rows.value[m, 2] * x2
        y1 += rows.value[m, 3] * x0 + rows.value[m, 4] * x1 + rows.value[m, 5] * x2
        y2 += rows.value[m, 6] * x0 + rows.value[m, 7] * x1 + rows.value[m, 8] * x2
    return y0, y1, y2


@kernel
def change_closed(i, ws, closed_io):
    """Step 3: contact i has other equations; whether the factor can be kept."""
    n, t, changed = closed_io.count[CHANGED], closed_io.turn[i], closed_io.changed
    for a in range(n):
        if changed[a] == i:
            return True
    if n == changed.shape[0] or t < 0 or closed_io.was_open[t]:
        return False
    changed[n] = i
    for b in range(3 * n + 3):
        if b >= 3 * n:
            unit_column(t, b - 3 * n, closed_io, closed_io.columns[b])
        for a in range(0 if b >= 3 * n else n, n + 1):
            y0, y1, y2 = seen_by(changed[a], closed_io.columns[b], closed_io, ws)
            closed_io.seen[b, 3 * a], closed_io.seen[b, 3 * a + 1], closed_io.seen[b, 3 * a + 2] = y0, y1, y2
    closed_io.count[CHANGED] = n + 1
    return True


@inline_kernel
def times_equations(i, alpha, x0, x1, x2, y0, y1, y2, ws):
    """K_i x of contact i, of its own x and W_i x = y."""
    A = ws.jacobian
    if ws.is_identity[i]:
        return x0, x1, x2
    y0, y1, y2 = y0 + alpha * x0, y1 + alpha * x1, y2 + alpha * x2
    z0 = A[i, 0] * y0 + A[i, 1] * y1 + A[i, 2] * y2 + A[i, 9] * x0 + A[i, 10] * x1 + A[i, 11] * x2
    z1 = A[i, 3] * y0 + A[i, 4] * y1 + A[i, 5] * y2 + A[i, 12] * x0 + A[i, 13] * x1 + A[i, 14] * x2
    z2 = A[i, 6] * y0 + A[i, 7] * y1 + A[i, 8] * y2 + A[i, 15] * x0 + A[i, 16] * x1 + A[i, 17] * x2
    return z0, z1, z2


@kernel
def factor_changes(alpha, ws, closed_io):
    """Step 3: the factor of C; whether there is one, with a positive determinant."""
    n, C, seen, pivot = 3 * closed_io.count[CHANGED], closed_io.lower, closed_io.seen, closed_io.pivot
    for a in range(0, n, 3):
        i = closed_io.changed[a // 3]
        d = 3 * closed_io.turn[i]
        for b in range(n):
            z = closed_io.columns[b]
            y0, y1, y2 = times_equations(
                i, alpha, z[d], z[d + 1], z[d + 2], seen[b, a], seen[b, a + 1], seen[b, a + 2], ws
            )
            C[n * a + b], C[n * a + n + b], C[n * a + 2 * n + b] = y0, y1, y2
    if not factor_dense(n, C, closed_io.upper, pivot):
        return False
    is_even = True
    for k in range(n):
        is_even = is_even == (closed_io.upper[n * k + k] > 0.0)
        for q in range(k):
            is_even = is_even == (pivot[q] < pivot[k])
    return is_even


@kernel
def solve_closed(alpha, ws, closed_io):
    """Overwrite x of closed_io with K⁻¹ x; needs `factor_changes` where contacts have changed."""
    n, q, x, rest = closed_io.count[CLOSED], 3 * closed_io.count[CHANGED], closed_io.x, closed_io.rest
    for a in range(q):
        rest[0, a] = x[3 * closed_io.turn[closed_io.changed[a // 3]] + a % 3]
    solve_lower(closed_io.pattern, 0, n, closed_io.was_open, closed_io.lu, x)
    solve_upper(closed_io.pattern, 0, n, closed_io.was_open, closed_io.lu, closed_io.inverse, x)
    if q == 0:
        return
    for a in range(0, q, 3):
        i = closed_io.changed[a // 3]
        d = 3 * closed_io.turn[i]
        y0, y1, y2 = seen_by(i, x, closed_io, ws)
        y0, y1, y2 = times_equations(i, alpha, x[d], x[d + 1], x[d + 2], y0, y1, y2, ws)
        rest[0, a], rest[0, a + 1], rest[0, a + 2] = y0 - rest[0, a], y1 - rest[0, a + 1], y2 - rest[0, a + 2]
    solve_dense(q, closed_io.lower, closed_io.upper, closed_io.pivot, rest[0], rest[1])
    for b in range(q):
        share, z = rest[1, b], closed_io.columns[b]
        for c in range(3 * n):
            x[c] -= share * z[c]
