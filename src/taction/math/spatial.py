"""Articulated inertias in kernels: symmetric 6×6 matrices in blocks, angular first.

    [t; f] = [A B; Bᵀ D] [α; a]      A, D symmetric (6-tuples), B full (9-tuple)

Notation: t moment [N m], f force [N], α angular and a linear acceleration; r̃ the matrix of the cross product.
References: [Featherstone2008, Sections 2.13 and 7.1].
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.math.vector import (
    add,
    dot,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    store6,
    store9,
    sub,
    sym_factor,
    sym_solve,
    sym_vec,
)


@kernel
def load_inertia(array, i, c):
    """Blocks A, B, D at columns c, c + 6, c + 15 of row i of a 2-D array."""
    return load6(array, i, c), load9(array, i, c + 6), load6(array, i, c + 15)


@kernel
def store_rigid(m, h, I, i, c, array_out):
    """Write a rigid body's inertia to columns c… of row i: A = I, B = h̃, D = m 1."""
    store6(I, i, c, array_out)
    store9((0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0), i, c + 6, array_out)
    store6((m, 0.0, 0.0, m, 0.0, m), i, c + 15, array_out)


@kernel
def accumulate_inertia(A, B, D, i, c, array_io):
    """Add an inertia to columns c… of row i of a 2-D array."""
    for k in range(6):
        array_io[i, c + k] += A[k]
        array_io[i, c + 15 + k] += D[k]
    for k in range(9):
        array_io[i, c + 6 + k] += B[k]


@kernel
def inertia_times(A, B, D, alpha, a):
    """Wrench (t, f) of the acceleration (alpha, a)."""
    return add(sym_vec(A, alpha), mat_vec(B, a)), add(mat_t_vec(B, alpha), sym_vec(D, a))


@kernel
def inertia_without_axis(A, B, D, U_w, U_a, d):
    """Inertia left when one axis with U = (U_w, U_a) is free: subtract U Uᵀ d."""
    x, y, z = d * U_w[0], d * U_w[1], d * U_w[2]
    k, l, m = d * U_a[0], d * U_a[1], d * U_a[2]
    A = (
        A[0] - x * U_w[0], A[1] - x * U_w[1], A[2] - x * U_w[2],
        A[3] - y * U_w[1], A[4] - y * U_w[2], A[5] - z * U_w[2],
    )  # fmt: skip
    B = (
        B[0] - x * U_a[0], B[1] - x * U_a[1], B[2] - x * U_a[2],
        B[3] - y * U_a[0], B[4] - y * U_a[1], B[5] - y * U_a[2],
        B[6] - z * U_a[0], B[7] - z * U_a[1], B[8] - z * U_a[2],
    )  # fmt: skip
    D = (
        D[0] - k * U_a[0], D[1] - k * U_a[1], D[2] - k * U_a[2],
        D[3] - l * U_a[1], D[4] - l * U_a[2], D[5] - m * U_a[2],
    )  # fmt: skip
    return A, B, D


@kernel
def sym_mul(S, B):
    """Full product S B of a symmetric 6-tuple and a 9-tuple."""
    return (
        S[0] * B[0] + S[1] * B[3] + S[2] * B[6],
        S[0] * B[1] + S[1] * B[4] + S[2] * B[7],
        S[0] * B[2] + S[1] * B[5] + S[2] * B[8],
        S[1] * B[0] + S[3] * B[3] + S[4] * B[6],
        S[1] * B[1] + S[3] * B[4] + S[4] * B[7],
        S[1] * B[2] + S[3] * B[5] + S[4] * B[8],
        S[2] * B[0] + S[4] * B[3] + S[5] * B[6],
        S[2] * B[1] + S[4] * B[4] + S[5] * B[7],
        S[2] * B[2] + S[4] * B[5] + S[5] * B[8],
    )


@kernel
def sym_minus_btkb(D, B, KB):
    """Symmetric D − Bᵀ (K B), given KB = K B."""
    return (
        D[0] - (B[0] * KB[0] + B[3] * KB[3] + B[6] * KB[6]),
        D[1] - (B[0] * KB[1] + B[3] * KB[4] + B[6] * KB[7]),
        D[2] - (B[0] * KB[2] + B[3] * KB[5] + B[6] * KB[8]),
        D[3] - (B[1] * KB[1] + B[4] * KB[4] + B[7] * KB[7]),
        D[4] - (B[1] * KB[2] + B[4] * KB[5] + B[7] * KB[8]),
        D[5] - (B[2] * KB[2] + B[5] * KB[5] + B[8] * KB[8]),
    )


@kernel
def sym_solve_mat(F, B):
    """S⁻¹ B for a 9-tuple B, given the factor F of S."""
    x = sym_solve(F, (B[0], B[3], B[6]))
    y = sym_solve(F, (B[1], B[4], B[7]))
    z = sym_solve(F, (B[2], B[5], B[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@kernel
def inertia_without_rotation(A, B, D, F, rotor):
    """Inertia left when all rotations are free against rotors, given the factor F of K = A + rotor.

    A − A K⁻¹ A = rotor K⁻¹ A and B − A K⁻¹ B = rotor K⁻¹ B: exact zeros without rotors.
    """
    KA = sym_solve_mat(F, (A[0], A[1], A[2], A[1], A[3], A[4], A[2], A[4], A[5]))
    KB = sym_solve_mat(F, B)
    rest = sym_mul(rotor, KA)
    return (
        (rest[0], rest[1], rest[2], rest[4], rest[5], rest[8]),
        sym_mul(rotor, KB),
        sym_minus_btkb(D, B, KB),
    )


@kernel
def shift_inertia(A, B, D, r):
    """Blocks A and B about a point −r away: B' = B + r̃ D, A' = A + r̃ Bᵀ − B' r̃."""
    x, y, z = r
    H = (
        B[0] + y * D[2] - z * D[1], B[1] + y * D[4] - z * D[3], B[2] + y * D[5] - z * D[4],
        B[3] + z * D[0] - x * D[2], B[4] + z * D[1] - x * D[4], B[5] + z * D[2] - x * D[5],
        B[6] + x * D[1] - y * D[0], B[7] + x * D[3] - y * D[1], B[8] + x * D[4] - y * D[2],
    )  # fmt: skip
    A = (
        A[0] + y * (B[2] + H[2]) - z * (B[1] + H[1]),
        A[1] + y * B[5] - z * B[4] + z * H[0] - x * H[2],
        A[2] + y * B[8] - z * B[7] + x * H[1] - y * H[0],
        A[3] + z * (B[3] + H[3]) - x * (B[5] + H[5]),
        A[4] + z * B[6] - x * B[8] + x * H[4] - y * H[3],
        A[5] + x * (B[7] + H[7]) - y * (B[6] + H[6]),
    )
    return A, H


@kernel
def solve_inertia(A, B, D, t, f):
    """Acceleration (alpha, a) of a free articulated body under the wrench (t, f), by eliminating a."""
    F = sym_factor(D)
    # rows of B and their solutions D⁻¹ Bᵀ, column by column
    b0, b1, b2 = (B[0], B[1], B[2]), (B[3], B[4], B[5]), (B[6], B[7], B[8])
    x0, x1, x2 = sym_solve(F, b0), sym_solve(F, b1), sym_solve(F, b2)
    schur = (
        A[0] - dot(b0, x0), A[1] - dot(b0, x1), A[2] - dot(b0, x2),
        A[3] - dot(b1, x1), A[4] - dot(b1, x2), A[5] - dot(b2, x2),
    )  # fmt: skip
    a_fixed = sym_solve(F, f)
    alpha = sym_solve(sym_factor(schur), sub(t, mat_vec(B, a_fixed)))
    return alpha, sub(a_fixed, sym_solve(F, mat_t_vec(B, alpha)))
