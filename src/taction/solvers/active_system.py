"""The linear system of a guess of states: what sticks, slides or is free, in contacts' or freedoms' space.

What it solves: the step of `taction.solvers.active_set`, given what each contact and row does.

Notation
    state    of a contact: open, sticking, or sliding along a unit vector d; of a row with an interval: free,
             or held at one of its ends
    e, f     a row that a state makes an equation, eᵀ (u + ε (Λ − c)) = 0 with a centre c, zero or Λ, and what
             its unknown z brings about, f. Sticking: three unit vectors, f = e. Free rows likewise. Sliding:
             the normal, which brings friction with it, e = (1, 0), f = (1, −μ d); and across d, e = f =
             (0, t), for friction turns with the velocity: tᵀ u + κ z = 0 with κ = dᵀ u / (μ Λ_N)
    S        (eᵢᵀ W fⱼ) + diag(ε or κ), so that z = S⁻¹ (− eᵀ (u + ε (Λ − c))) corrects Λ

Method: where all sticks S is symmetric and positive definite: Cholesky. Else `taction.solvers.dense_lu`.
Where there are more directions than freedoms, `taction.solvers.active_freedoms`.

Departures: contacts that slide are those of round cones under the exact law.

Cost: m³/6 products for m directions that stick; m³/3 where one slides.

References: [AlartCurnier1991] for the states of contacts; [GolubVanLoan2013, Section 4.2].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.box import EQUATION
from taction.contact.laws.dispatch import apex_of, has_shift, is_rowwise
from taction.contact.redundancy import WIDTH, add_direction, eliminate_row, gram_row
from taction.solvers.active_freedoms import factor_freedoms, solve_freedoms
from taction.solvers.dense_lu import factor_dense, solve_dense
from taction.solvers.selection import RIGID, SELECT

FIRM, DISTINCT = 1e3, 1e-6  # a pivot beyond these, in units of its compliance and row, is that of a row alone
LOOSE = 1e30  # κ of a contact that slides and carries nothing yet
FREE, LOW, HIGH = 0.0, 1.0, 2.0  # of rows; LOW of a contact: open
# Parts of the scratch, of 3 k numbers each: after the directions their states (of a contact: FREE or LOW, d),
# ε or κ, what friction is brought along (two parts), right-hand sides, steps, exchanges of pivots, ε; of
# `taction.solvers.active_path` g, changes of Λ and g, velocities there, and what is let be; then S
STATE, WEIGHT, DRAG, RIGHT, STEP, ORDER, EPSILON = 4, 5, 6, 8, 9, 10, 11
VIRTUAL, CHANGE, DRIFT, AHEAD, IGNORED, CENTRE, MATRIX = 12, 13, 14, 15, 16, 17, 18


@inline_kernel
def is_coupling(w):
    """Whether a block of W couples anything: few blocks are stored with those of zeros."""
    for c in range(9):
        if w[c] != 0.0:
            return True
    return False


@kernel
def compliances(rows, epsilon_out):
    """ε of each block (k,), in units of the largest mean diagonal of W among contacts that are coupled."""
    k = rows.kind.shape[0]
    for i in range(k):
        w = rows.value[rows.diagonal[i]]
        epsilon_out[i] = 0.0
        if not is_rowwise(rows.kind[i]):
            epsilon_out[i] = SELECT * (w[0] + w[4] + w[8]) / 3.0
        elif rows.sets[i, 1] == math.inf and rows.sets[i, 0] > -math.inf:
            epsilon_out[i] = SELECT * w[0]
    has_changed = True
    while has_changed:
        has_changed = False
        for i in range(k):
            for m in range(rows.start[i], rows.start[i + 1]):
                other = epsilon_out[rows.column[m]]
                if other > epsilon_out[i] and is_coupling(rows.value[m]):
                    epsilon_out[i], has_changed = other, True
    for i in range(k):
        if epsilon_out[i] == 0.0:  # dry friction alone
            w = rows.value[rows.diagonal[i]]
            epsilon_out[i] = SELECT * max(w[0], w[4], w[8])


@inline_kernel
def weight_of(rows, i, c, epsilon):
    """Compliance of row c of block i: ε (k,) of its block, and almost none for an equation."""
    if is_rowwise(rows.kind[i]) and rows.sets[i, 2 * c] == -math.inf and rows.sets[i, 2 * c + 1] == math.inf:
        return RIGID * EQUATION * SELECT * rows.value[rows.diagonal[i], 4 * c]
    return epsilon[i]


@inline_kernel
def can_slide(kind, set_):
    """Whether a contact is of the kind whose sliding this file is made for."""
    is_round = set_[0] == set_[1] and set_[1] == set_[2] and apex_of(kind, set_) == 0.0
    return is_round and has_shift(kind, set_)


@kernel
def free_directions(rows, soft, steady, epsilon, r, u, ws):
    """Directions that the states leave free, with their compliances, ``soft`` times ε; what friction follows.

    steady: least κ, in units of ε. Returns (how many, whether one slides).
    """
    most = 3 * rows.kind.shape[0]
    state, weight, drag = ws[STATE * most :], ws[WEIGHT * most :], ws[DRAG * most :]
    n, is_sliding = 0, False
    for i in range(rows.kind.shape[0]):
        c, set_ = 3 * i, rows.sets[i]
        if is_rowwise(rows.kind[i]):
            for k in range(3):
                if state[c + k] == FREE:
                    weight[n], drag[2 * n], drag[2 * n + 1] = soft * weight_of(rows, i, k, epsilon), 0.0, 0.0
                    e0, e1 = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0
                    n = add_direction(i, e0, e1, 1.0 - e0 - e1, n, most, ws)
            continue
        if state[c] != FREE:
            continue
        d1, d2 = state[c + 1], state[c + 2]
        weight[n], drag[2 * n], drag[2 * n + 1] = soft * epsilon[i], -set_[0] * d1, -set_[0] * d2
        n = add_direction(i, 1.0, 0.0, 0.0, n, most, ws)
        for k in range(1, 3):
            if set_[2] == 0.0 if k == 2 else max(set_[0], set_[1]) == 0.0:
                continue
            weight[n], drag[2 * n], drag[2 * n + 1] = soft * epsilon[i], 0.0, 0.0
            if d1 == 0.0 and d2 == 0.0:
                n = add_direction(i, 0.0, 2.0 - k, k - 1.0, n, most, ws)
                continue
            is_sliding = True
            slip, rim = max(u[c + 1] * d1 + u[c + 2] * d2, 0.0), set_[0] * r[c]
            weight[n] = max(slip / rim, steady * epsilon[i]) if rim > 0.0 else LOOSE
            n = add_direction(i, 0.0, -d2, d1, n, most, ws)
            break
    return n, is_sliding


@kernel
def factor_sticking(rows, n, ws, matrix_io):
    """Cholesky factor of S, rows packed, 1 over the diagonal.

    Returns (whether there is one, whether no row depends on others but for its compliance).
    """
    weight, is_independent = ws[3 * WEIGHT * rows.kind.shape[0] :], True
    for j in range(n):
        gram_row(rows, ws, j, matrix_io)
        at = j * (j + 1) // 2
        size = matrix_io[at + j] + weight[j]
        pivot = eliminate_row(j, size, matrix_io)
        if not pivot > 0.0:
            return False, False
        is_independent = is_independent and pivot > max(FIRM * weight[j], DISTINCT * size)
        matrix_io[at + j] = 1.0 / math.sqrt(pivot)
    return True, is_independent


@inline_kernel
def solve_sticking(matrix, n, x_io):
    """Overwrite x_io (n,) with S⁻¹ x_io."""
    for j in range(n):
        at, value = j * (j + 1) // 2, x_io[j]
        for q in range(j):
            value -= matrix[at + q] * x_io[q]
        x_io[j] = value * matrix[at + j]
    for j in range(n - 1, -1, -1):
        value = x_io[j] * matrix[j * (j + 1) // 2 + j]
        x_io[j] = value
        at = j * (j + 1) // 2
        for q in range(j):
            x_io[q] -= matrix[at + q] * value


@kernel
def write_sliding(rows, n, direction, weight, drag, matrix_out):
    """S, rows of n, where contacts slide."""
    for j in range(n):
        i = int(direction[WIDTH * j])
        e0, e1, e2 = direction[WIDTH * j + 1], direction[WIDTH * j + 2], direction[WIDTH * j + 3]
        m, last = rows.start[i], rows.start[i + 1]
        for q in range(n):
            block = int(direction[WIDTH * q])
            while m < last and rows.column[m] < block:
                m += 1
            value = 0.0
            if m < last and rows.column[m] == block:
                w, f0 = rows.value[m], direction[WIDTH * q + 1]
                f1, f2 = direction[WIDTH * q + 2] + drag[2 * q], direction[WIDTH * q + 3] + drag[2 * q + 1]
                value = e0 * (w[0] * f0 + w[1] * f1 + w[2] * f2) + e1 * (w[3] * f0 + w[4] * f1 + w[5] * f2)
                value += e2 * (w[6] * f0 + w[7] * f1 + w[8] * f2)
            matrix_out[n * j + q] = value
        matrix_out[n * j + j] += weight[j]


@inline_kernel
def may_use_freedoms(rows, blocks):
    """Whether it is known how blocks move the freedoms, and no row is an equation."""
    for i in range(rows.kind.shape[0]):
        if is_rowwise(rows.kind[i]):
            for k in range(3):
                if rows.sets[i, 2 * k] == -math.inf and rows.sets[i, 2 * k + 1] == math.inf:
                    return False
    return blocks.count[0] > 0


@kernel
def factor_system(rows, blocks, column, L, soft, steady, r, u, ws):
    """Factor S of the states in ws at impulses r and velocities u (3k,), ε being ``soft`` times what it is.

    steady: least κ, in units of ε. blocks: of the step, with the factor L (nv, ·) of its mass matrix and the
    columns of that; none where its count is zero. Returns (directions, freedoms or 0 for a system of the
    directions, whether one slides, whether S is regular, whether directions are independent for sure).
    """
    most = 3 * rows.kind.shape[0]
    weight, drag, order, matrix = (
        ws[WEIGHT * most :],
        ws[DRAG * most :],
        ws[ORDER * most :],
        ws[MATRIX * most :],
    )
    n, is_sliding = free_directions(rows, soft, steady, ws[EPSILON * most :], r, u, ws)
    if n > column.shape[0] and may_use_freedoms(rows, blocks):
        is_regular = factor_freedoms(blocks, column, L, n, is_sliding, ws, weight, drag, matrix, order)
        return n, column.shape[0], is_sliding, is_regular, False
    if is_sliding:
        write_sliding(rows, n, ws, weight, drag, matrix)
        return n, 0, True, factor_dense(n, matrix, matrix[n * n :], order), False
    is_regular, is_independent = factor_sticking(rows, n, ws, matrix)
    return n, 0, False, is_regular, is_independent


@kernel
def solve_system(rows, blocks, n, freedoms, is_sliding, is_centred, r, u, ws):
    """Step z of all directions, into ws, from impulses r (3k,) of velocities u (3k,).

    What `factor_system` returned, and is_centred: c = Λ, else zero.
    """
    most = 3 * rows.kind.shape[0]
    state, weight, drag, x = ws[STATE * most :], ws[WEIGHT * most :], ws[DRAG * most :], ws[RIGHT * most :]
    step, order, matrix = ws[STEP * most :], ws[ORDER * most :], ws[MATRIX * most :]
    for j in range(n):
        at = WIDTH * j
        i = int(ws[at])
        c, e0, e1, e2 = 3 * i, ws[at + 1], ws[at + 2], ws[at + 3]
        d1, d2 = state[c + 1], state[c + 2]
        if not is_rowwise(rows.kind[i]) and e0 == 0.0 and (d1 != 0.0 or d2 != 0.0):
            x[j] = d2 * u[c + 1] - d1 * u[c + 2]  # across the direction of slip that is now
        else:
            x[j] = -(e0 * u[c] + e1 * u[c + 1] + e2 * u[c + 2])
            if not is_centred:
                x[j] -= weight[j] * (e0 * r[c] + e1 * r[c + 1] + e2 * r[c + 2])
        step[j] = x[j]
    if freedoms > 0:
        solve_freedoms(blocks, freedoms, n, is_sliding, ws, drag, order, x, matrix, step)
    elif is_sliding:
        solve_dense(n, matrix, matrix[n * n :], order, x, step)
    else:
        solve_sticking(matrix, n, step)


def scratch(blocks: int) -> int:
    """Numbers that the choice of so many blocks takes."""
    return 18 * blocks * blocks + 3 * MATRIX * blocks
