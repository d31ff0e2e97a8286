"""Whether a solution is the only one: are the equations that the laws state there independent?

What it answers, cheaply enough to be asked in every step, for impulses Λ that solve a problem and their
velocities u. The active rows are those in which the laws state an equation there: all three of a sticking
contact, the normal one of a sliding contact, a closed unilateral row, a dry friction that holds, an equation.
Touching counts as active even without a load: whether it carries some may be open. With E the active rows as
unit columns

    the equations are independent  ⇔  Eᵀ W E is regular.                                          (1)

Where it is singular the laws leave a family of solutions: impulses are *not unique* (if all loads lie
strictly inside their sets; else possibly not). Velocities are *possibly not unique* if moreover one of the
contacts that touch has friction under the exact law: how loads are shared then decides what friction can do.
Under the convex law, without friction, and in frictionless rows velocities are unique. Neither flag set is
no proof that there is no other, distant solution: the exact law can have several (sticking and sliding, say)
even with a regular W.

Often only *rows of joints* depend on each other: loops, the dry friction of a joint and of its tendon. Then
one force on the same freedoms is told apart in many ways, but contacts carry what they carry and all moves in
one way. With C the active directions of contacts and stops and R those of joints that is so if

    rank [R C] = rank R + number of C.                                                            (2)

Method: Cholesky's factorisation of Eᵀ W E, row by row; a pivot below `RANK` of its diagonal entry means that
the row depends on those before it, and it is left out. Contacts come first: once they depend on each other no
more is asked.

Cost: m³/6 products for m independent directions, and again those of joints where some depend on each other.

References: [GolubVanLoan2013, Section 4.2] for the factorisation; [AcaryBremondHuber2018] for what is unique.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.dispatch import has_shift, is_rowwise, touch_cone

RANK = 1e-10  # a pivot below this share of its diagonal entry counts as zero
# What is not unique: ROWS are impulses of joints alone
ROWS, NOTHING, IMPULSES, VELOCITIES, NO_CHOICE = -1, 0, 1, 2, 3
WIDTH = 4  # numbers per direction: its block, and three coefficients


@inline_kernel
def add_direction(i, e0, e1, e2, n, most, direction_out):
    """Write direction n, (e0, e1, e2) of block i, if there is room; returns the next number."""
    if n < most:
        direction_out[WIDTH * n], direction_out[WIDTH * n + 1] = float(i), e0
        direction_out[WIDTH * n + 2], direction_out[WIDTH * n + 3] = e1, e2
    return n + 1


@inline_kernel
def row_is_active(low, high, r, u, slack):
    """Whether a row of an interval may change its impulse at this velocity."""
    if low == high:
        return False
    if low == -math.inf and high == math.inf:
        return True
    return abs(u) <= slack


@kernel
def active_directions(rows, r, u, slack, most, has_contacts, direction_out):
    """Active directions at impulses r and velocities u (3k,); velocities up to ``slack`` count as zero.

    has_contacts: or those of joints alone, not of half-lines. direction_out: WIDTH numbers each, room for
    ``most``. Returns (how many there are, whether a contact with friction under the exact law is among them).
    """
    n, has_friction = 0, False
    for i in range(rows.kind.shape[0]):
        c, kind, set_ = 3 * i, rows.kind[i], rows.sets[i]
        if is_rowwise(kind):
            for k in range(3):
                low, high = set_[2 * k], set_[2 * k + 1]
                takes_part = has_contacts or low == -math.inf or high < math.inf
                if takes_part and row_is_active(low, high, r[c + k], u[c + k], slack):
                    e0, e1 = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0
                    n = add_direction(i, e0, e1, 1.0 - e0 - e1, n, most, direction_out)
            continue
        if not has_contacts:
            continue
        is_touching = touch_cone(kind, set_, r[c], u[c], u[c + 1], u[c + 2], slack)
        if not is_touching:
            continue
        has_friction = has_friction or has_shift(kind, set_)
        n = add_direction(i, 1.0, 0.0, 0.0, n, most, direction_out)
        if math.sqrt(u[c + 1] * u[c + 1] + u[c + 2] * u[c + 2]) > slack:
            continue
        if max(set_[0], set_[1]) > 0.0:
            n = add_direction(i, 0.0, 1.0, 0.0, n, most, direction_out)
        if set_[2] > 0.0:
            n = add_direction(i, 0.0, 0.0, 1.0, n, most, direction_out)
    return n, has_friction


@inline_kernel
def gram_row(rows, direction, j, matrix_io):
    """Row j of EᵀWE, up to the diagonal, into matrix_io."""
    i = int(direction[WIDTH * j])
    e0, e1, e2 = direction[WIDTH * j + 1], direction[WIDTH * j + 2], direction[WIDTH * j + 3]
    m, last, at = rows.start[i], rows.start[i + 1], j * (j + 1) // 2
    for q in range(j + 1):
        block = int(direction[WIDTH * q])
        while m < last and rows.column[m] < block:
            m += 1
        value = 0.0
        if m < last and rows.column[m] == block:
            w = rows.value[m]
            f0, f1, f2 = direction[WIDTH * q + 1], direction[WIDTH * q + 2], direction[WIDTH * q + 3]
            value = e0 * (w[0] * f0 + w[1] * f1 + w[2] * f2) + e1 * (w[3] * f0 + w[4] * f1 + w[5] * f2)
            value += e2 * (w[6] * f0 + w[7] * f1 + w[8] * f2)
        matrix_io[at + q] = value


@inline_kernel
def eliminate_row(j, pivot, matrix_io):
    """Row j of Cholesky's factor left of its diagonal, rows packed, 1 over the diagonal; returns the pivot.

    pivot: the diagonal entry itself. Two entries at a time: each load serves both, and neither waits for the
    other's sum.
    """
    at, q = j * (j + 1) // 2, 0
    while q < j:
        one = q * (q + 1) // 2
        other = one + q + 1 if q + 1 < j else one
        a, b = matrix_io[at + q], matrix_io[at + q + 1]
        for p in range(q):
            value = matrix_io[at + p]
            a -= value * matrix_io[one + p]
            b -= value * matrix_io[other + p]
        a *= matrix_io[one + q]
        matrix_io[at + q] = a
        pivot -= a * a
        if other > one:
            b = (b - a * matrix_io[other + q]) * matrix_io[other + q + 1]
            matrix_io[at + q + 1] = b
            pivot -= b * b
        q += 2
    return pivot


@kernel
def rank(rows, n, stops_early, direction_io, matrix_io):
    """How many of n directions are independent in the metric of W; these are moved to the front.

    stops_early: −1 at the first direction of a contact that depends on those of contacts before it. matrix_io
    (n (n + 1) / 2,): scratch.
    """
    m, is_of_contacts = 0, True
    for j in range(n):
        for c in range(WIDTH):
            direction_io[WIDTH * m + c] = direction_io[WIDTH * j + c]
        is_of_contacts = is_of_contacts and not is_rowwise(rows.kind[int(direction_io[WIDTH * m])])
        gram_row(rows, direction_io, m, matrix_io)
        at = m * (m + 1) // 2
        size = matrix_io[at + m]
        pivot = eliminate_row(m, size, matrix_io)
        if pivot > RANK * size:
            matrix_io[at + m] = 1.0 / math.sqrt(pivot)
            m += 1
        elif stops_early and is_of_contacts:
            return -1
    return m


@kernel
def not_unique(rows, r, u, slack, ws):
    """What is not unique about a solution: NOTHING, ROWS, IMPULSES, or VELOCITIES as well (possibly).

    ws: scratch, at least 5 k² + 14 k numbers for k blocks.
    """
    most = 3 * rows.kind.shape[0]
    matrix = ws[WIDTH * most :]
    n, has_friction = active_directions(rows, r, u, slack, most, True, ws)
    independent = rank(rows, n, True, ws, matrix)
    if independent == n:
        return NOTHING
    of_rows, _ = active_directions(rows, r, u, slack, most, False, ws)
    if independent >= 0 and independent == rank(rows, of_rows, False, ws, matrix) + n - of_rows:
        return ROWS
    return VELOCITIES if has_friction else IMPULSES
