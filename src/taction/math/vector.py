"""3-vectors and 3×3 matrices as tuples of scalars, for kernels.

Tuples live in registers: a kernel reads rows from arrays, works on tuples, and writes rows back.

Notation: vector (x, y, z); matrix, row by row, as a 9-tuple; symmetric matrix as the 6-tuple
(xx, xy, xz, yy, yz, zz).
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel


@kernel
def load3(array, i, c):
    """Vector at columns c… of row i of a 2-D array."""
    return array[i, c], array[i, c + 1], array[i, c + 2]


@kernel
def store3(a, i, c, array_out):
    """Write a vector to columns c… of row i of a 2-D array."""
    array_out[i, c] = a[0]
    array_out[i, c + 1] = a[1]
    array_out[i, c + 2] = a[2]


@kernel
def accumulate3(a, i, c, array_io):
    """Add a vector to columns c… of row i of a 2-D array."""
    array_io[i, c] += a[0]
    array_io[i, c + 1] += a[1]
    array_io[i, c + 2] += a[2]


@kernel
def segment3(array, k):
    """Entries k, k+1, k+2 of a flat array."""
    return array[k], array[k + 1], array[k + 2]


@kernel
def put3(a, k, array_out):
    """Write a vector to entries k, k+1, k+2 of a flat array."""
    array_out[k] = a[0]
    array_out[k + 1] = a[1]
    array_out[k + 2] = a[2]


@kernel
def add(a, b):
    """Sum a + b of two 3-vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    """Difference a − b of two 3-vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(s, a):
    """Multiple s·a of a 3-vector."""
    return s * a[0], s * a[1], s * a[2]


@kernel
def add_scaled(a, s, b):
    """Sum a + s·b of 3-vectors."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def dot(a, b):
    """Scalar product of two 3-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """Vector product a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def load9(array, i, c):
    """Matrix at columns c… of row i of a 2-D array."""
    return (
        array[i, c], array[i, c + 1], array[i, c + 2],
        array[i, c + 3], array[i, c + 4], array[i, c + 5],
        array[i, c + 6], array[i, c + 7], array[i, c + 8],
    )  # fmt: skip


@kernel
def store9(A, i, c, array_out):
    """Write a matrix to columns c… of row i of a 2-D array."""
    for k in range(9):
        array_out[i, c + k] = A[k]


@kernel
def mat_vec(A, b):
    """Product A b of a matrix and a vector."""
    return (
        A[0] * b[0] + A[1] * b[1] + A[2] * b[2],
        A[3] * b[0] + A[4] * b[1] + A[5] * b[2],
        A[6] * b[0] + A[7] * b[1] + A[8] * b[2],
    )


@kernel
def mat_t_vec(A, b):
    """Product Aᵀ b of a transposed matrix and a vector."""
    return (
        A[0] * b[0] + A[3] * b[1] + A[6] * b[2],
        A[1] * b[0] + A[4] * b[1] + A[7] * b[2],
        A[2] * b[0] + A[5] * b[1] + A[8] * b[2],
    )


@kernel
def mat_mul(A, B):
    """Product A B of two matrices."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@kernel
def column_z(A):
    """Third column of a matrix: the z-axis of a rotated frame."""
    return A[2], A[5], A[8]


@kernel
def load6(array, i, c):
    """Symmetric matrix at columns c… of row i of a 2-D array."""
    return array[i, c], array[i, c + 1], array[i, c + 2], array[i, c + 3], array[i, c + 4], array[i, c + 5]


@kernel
def store6(S, i, c, array_out):
    """Write a symmetric matrix to columns c… of row i of a 2-D array."""
    for k in range(6):
        array_out[i, c + k] = S[k]


@kernel
def sym_vec(S, b):
    """Product S b of a symmetric matrix and a vector."""
    return (
        S[0] * b[0] + S[1] * b[1] + S[2] * b[2],
        S[1] * b[0] + S[3] * b[1] + S[4] * b[2],
        S[2] * b[0] + S[4] * b[1] + S[5] * b[2],
    )


@kernel
def sym_add(S, T):
    """Sum of two symmetric matrices."""
    return S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5]


@kernel
def sym_rotated(R, S):
    """R S Rᵀ for symmetric S, itself symmetric."""
    a0 = R[0] * S[0] + R[1] * S[1] + R[2] * S[2]
    a1 = R[0] * S[1] + R[1] * S[3] + R[2] * S[4]
    a2 = R[0] * S[2] + R[1] * S[4] + R[2] * S[5]
    b0 = R[3] * S[0] + R[4] * S[1] + R[5] * S[2]
    b1 = R[3] * S[1] + R[4] * S[3] + R[5] * S[4]
    b2 = R[3] * S[2] + R[4] * S[4] + R[5] * S[5]
    c0 = R[6] * S[0] + R[7] * S[1] + R[8] * S[2]
    c1 = R[6] * S[1] + R[7] * S[3] + R[8] * S[4]
    c2 = R[6] * S[2] + R[7] * S[4] + R[8] * S[5]
    return (
        a0 * R[0] + a1 * R[1] + a2 * R[2],
        a0 * R[3] + a1 * R[4] + a2 * R[5],
        a0 * R[6] + a1 * R[7] + a2 * R[8],
        b0 * R[3] + b1 * R[4] + b2 * R[5],
        b0 * R[6] + b1 * R[7] + b2 * R[8],
        c0 * R[6] + c1 * R[7] + c2 * R[8],
    )


@kernel
def sym_factor(S):
    """L D Lᵀ of a symmetric positive definite matrix, as (1/d₁, l₂₁, l₃₁, 1/d₂, l₃₂, 1/d₃)."""
    d1 = 1.0 / S[0]
    l21 = S[1] * d1
    l31 = S[2] * d1
    s32 = S[4] - l31 * S[1]
    d2 = 1.0 / (S[3] - l21 * S[1])
    l32 = s32 * d2
    return d1, l21, l31, d2, l32, 1.0 / (S[5] - l31 * S[2] - l32 * s32)


@kernel
def sym_solve(F, b):
    """S⁻¹ b, given the factor F of S."""
    y2 = b[1] - F[1] * b[0]
    y3 = b[2] - F[2] * b[0] - F[4] * y2
    x3 = y3 * F[5]
    x2 = y2 * F[3] - F[4] * x3
    return b[0] * F[0] - F[1] * x2 - F[2] * x3, x2, x3


TINY = 1e-300


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
