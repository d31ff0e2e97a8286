"""The systems of `taction.solvers.active_system` in the space of the freedoms: redundant rows cost nothing.

What it solves: S z = x for n directions e_j that bring about f_j, with compliances c_j,

    S = Eᵀ W F + diag(c),     W = Z D⁻¹ Zᵀ (+ what rows give way),                                (1)

Z = J L⁻¹ the half-solved rows and M = Lᵀ D L the factor of the mass matrix (`taction.contact.assembly`). A
robot on two feet with servos has four times as many rows as freedoms; with p_j = Zᵀ f_j and q_j = Zᵀ e_j

    H y = Σ p_j x_j / c_j,   H = D + Σ p_j q_jᵀ / c_j,     z_j = (x_j − q_jᵀ y) / c_j              (2)

is the same as a matrix of the size of the freedoms (Woodbury's identity). What a row gives way by itself is
part of its c_j. No c_j may vanish: equations of joints are not for this file.

Method: tips first, as L is. Where all sticks H is symmetric and positive definite: Cholesky's factor by rows,
each from its first entry on, for limbs that do not touch each other know nothing of each other. Else
`taction.solvers.dense_lu`.

z_j is a difference of numbers larger by 1/c_j: callers solve again for what is left.

Cost: for d freedoms d³/6 products at most, d³/3 where one slides, and 3 per pair of freedoms of each block.

References: [GolubVanLoan2013, Sections 2.1.4 and 4.3]; [CastroPermenterHan2023] for contact as a problem in
velocities.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import COMPLIANCE, INDEX_WIDTH, LENGTH, NUMBER_WIDTH, Assembly, Rows
from taction.contact.redundancy import WIDTH
from taction.solvers.dense_lu import factor_dense, solve_dense


@inline_kernel
def clear_matrix(column, L, is_sliding, first_out, matrix_out):
    """H = D: rows of all freedoms where one slides, else packed lower ones."""
    d = column.shape[0]
    for m in range(d * d if is_sliding else d * (d + 1) // 2):
        matrix_out[m] = 0.0
    for a in range(d):
        at = d - 1 - a
        matrix_out[d * a + a if is_sliding else a * (a + 1) // 2 + a] = L[at, column[at]]
        first_out[a] = a


@inline_kernel
def add_block(blocks, i, d, is_sliding, gain, first_io, matrix_io):
    """Add Zᵀ G Z of block i, G the nine numbers of ``gain`` by rows, to H."""
    g0, g1, g2, g3, g4, g5, g6, g7, g8 = gain
    length, dof, Z, least = blocks.index[i, LENGTH], blocks.dof[i], blocks.Z[i], d
    for a in range(length):
        least = min(least, d - 1 - dof[a])
    for a in range(length):
        row, z0, z1, z2 = d - 1 - dof[a], Z[a, 0], Z[a, 1], Z[a, 2]
        first_io[row] = min(first_io[row], least)
        if z0 == 0.0 and z1 == 0.0 and z2 == 0.0:
            continue
        x0, x1, x2 = z0 * g0 + z1 * g3 + z2 * g6, z0 * g1 + z1 * g4 + z2 * g7, z0 * g2 + z1 * g5 + z2 * g8
        if is_sliding:
            for b in range(length):
                matrix_io[d * row + d - 1 - dof[b]] += x0 * Z[b, 0] + x1 * Z[b, 1] + x2 * Z[b, 2]
            continue
        at = row * (row + 1) // 2
        for b in range(a + 1):
            c, value = d - 1 - dof[b], x0 * Z[b, 0] + x1 * Z[b, 1] + x2 * Z[b, 2]
            if c <= row:
                matrix_io[at + c] += value
            else:
                matrix_io[c * (c + 1) // 2 + row] += value


@kernel
def write_freedoms(
    blocks, column, L, n, is_sliding, direction, weight, drag, inverse_out, first_out, matrix_out
):
    """H; inverse_out (n,): 1 / c_j; first_out (d,): first entry of each row of freedoms."""
    d, j = column.shape[0], 0
    clear_matrix(column, L, is_sliding, first_out, matrix_out)
    while j < n:
        i = int(direction[WIDTH * j])
        g0 = g1 = g2 = g3 = g4 = g5 = g6 = g7 = g8 = 0.0
        soft = blocks.number[i, COMPLIANCE : COMPLIANCE + 3]
        while j < n and int(direction[WIDTH * j]) == i:
            e0, e1, e2 = direction[WIDTH * j + 1], direction[WIDTH * j + 2], direction[WIDTH * j + 3]
            f1, f2 = e1 + drag[2 * j], e2 + drag[2 * j + 1]
            s = 1.0 / (weight[j] + soft[0] * e0 * e0 + soft[1] * e1 * e1 + soft[2] * e2 * e2)
            inverse_out[j] = s
            g0, g1, g2 = g0 + s * e0 * e0, g1 + s * e0 * e1, g2 + s * e0 * e2
            g3, g4, g5 = g3 + s * f1 * e0, g4 + s * f1 * e1, g5 + s * f1 * e2
            g6, g7, g8 = g6 + s * f2 * e0, g7 + s * f2 * e1, g8 + s * f2 * e2
            j += 1
        add_block(blocks, i, d, is_sliding, (g0, g1, g2, g3, g4, g5, g6, g7, g8), first_out, matrix_out)


@kernel
def factor_rows(d, first, matrix_io):
    """Cholesky's factor of packed rows, each from its first entry on, 1 over the diagonal; whether it is one.

    Two entries at a time: each load serves both, and neither waits for the other's sum.
    """
    for j in range(d):
        at, start = j * (j + 1) // 2, int(first[j])
        q, pivot = start, matrix_io[at + j]
        while q < j:
            one, is_pair = q * (q + 1) // 2, q + 1 < j
            other = one + q + 1 if is_pair else one
            a, b = matrix_io[at + q], matrix_io[at + q + 1]
            for p in range(max(start, min(int(first[q]), int(first[q + 1]) if is_pair else q)), q):
                value = matrix_io[at + p]
                a -= value * matrix_io[one + p]
                b -= value * matrix_io[other + p]
            a *= matrix_io[one + q]
            matrix_io[at + q] = a
            pivot -= a * a
            if is_pair:
                b = (b - a * matrix_io[other + q]) * matrix_io[other + q + 1]
                matrix_io[at + q + 1] = b
                pivot -= b * b
            q += 2
        if not pivot > 0.0:
            return False
        matrix_io[at + j] = 1.0 / math.sqrt(pivot)
    return True


@inline_kernel
def solve_rows(d, first, matrix, y_io):
    """Overwrite y_io (d,) with H⁻¹ y_io."""
    for j in range(d):
        at, value = j * (j + 1) // 2, y_io[j]
        for q in range(int(first[j]), j):
            value -= matrix[at + q] * y_io[q]
        y_io[j] = value * matrix[at + j]
    for j in range(d - 1, -1, -1):
        at = j * (j + 1) // 2
        value = y_io[j] * matrix[at + j]
        y_io[j] = value
        for q in range(int(first[j]), j):
            y_io[q] -= matrix[at + q] * value


@kernel
def factor_freedoms(blocks, column, L, n, is_sliding, direction, weight, drag, ws, order_out):
    """Factor H into ws: 2 d² numbers for it, d first entries, two vectors of d, 1 / c_j; is it regular?

    L (nv, ·) from `factor_ltdl`, column its columns; order_out (d,): of `factor_dense`.
    """
    d = column.shape[0]
    first, inverse = ws[2 * d * d :], ws[2 * d * d + 3 * d :]
    write_freedoms(blocks, column, L, n, is_sliding, direction, weight, drag, inverse, first, ws)
    if is_sliding:
        return factor_dense(d, ws, ws[d * d :], order_out)
    return factor_rows(d, first, ws)


@inline_kernel
def push(blocks, i, d, f0, f1, f2, y_io):
    """Add Zᵀ f of block i to y_io (d,)."""
    for a in range(blocks.index[i, LENGTH]):
        z = blocks.Z[i, a]
        y_io[d - 1 - blocks.dof[i, a]] += f0 * z[0] + f1 * z[1] + f2 * z[2]


@inline_kernel
def seen(blocks, i, d, y):
    """Z y of block i."""
    u0 = u1 = u2 = 0.0
    for a in range(blocks.index[i, LENGTH]):
        z, value = blocks.Z[i, a], y[d - 1 - blocks.dof[i, a]]
        u0 += z[0] * value
        u1 += z[1] * value
        u2 += z[2] * value
    return u0, u1, u2


@kernel
def solve_freedoms(blocks, d, n, is_sliding, direction, drag, order, x, ws, z_out):
    """z_out (n,) = S⁻¹ x (n,), by what `factor_freedoms` left in ws, of d freedoms."""
    at = 2 * d * d
    first, y, right, inverse = ws[at:], ws[at + d :], ws[at + 2 * d :], ws[at + 3 * d :]
    for a in range(d):
        right[a] = 0.0
    j = 0
    while j < n:
        i, f0, f1, f2 = int(direction[WIDTH * j]), 0.0, 0.0, 0.0
        while j < n and int(direction[WIDTH * j]) == i:
            s, e = x[j] * inverse[j], WIDTH * j
            f0 += s * direction[e + 1]
            f1 += s * (direction[e + 2] + drag[2 * j])
            f2 += s * (direction[e + 3] + drag[2 * j + 1])
            j += 1
        push(blocks, i, d, f0, f1, f2, right)
    if is_sliding:
        solve_dense(d, ws, ws[d * d :], order, right, y)
    else:
        for a in range(d):
            y[a] = right[a]
        solve_rows(d, first, ws, y)
    j = 0
    while j < n:
        i = int(direction[WIDTH * j])
        u0, u1, u2 = seen(blocks, i, d, y)
        while j < n and int(direction[WIDTH * j]) == i:
            e = WIDTH * j
            z_out[j] = inverse[j] * (
                x[j] - direction[e + 1] * u0 - direction[e + 2] * u1 - direction[e + 3] * u2
            )
            j += 1


def no_freedoms() -> tuple[Assembly, IntArray, Array]:
    """Blocks, columns and factor for a problem of which W alone is known."""
    widths = {"INDEX_WIDTH": INDEX_WIDTH, "NUMBER_WIDTH": NUMBER_WIDTH}
    blocks = Assembly.allocate(_given={"rows": Rows.allocate(k=1, m=1)}, k=1, d=1, nv=1, n=1, **widths)
    blocks.count[0] = 0
    return blocks, np.zeros(1, dtype=np.int64), np.ones((1, 1))
