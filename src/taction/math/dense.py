"""Small dense solves for kernels: Cholesky for symmetric positive definite, LU with pivoting for the rest.

In place, row-major, without allocation; sizes are those of one robot. References: [GolubVanLoan2013,
Algorithms 4.2.1 and 3.4.1].
"""

from __future__ import annotations

import math

from taction._core.jit import kernel


@kernel
def cholesky(A_io):
    """Overwrite the lower triangle of A_io (n, n) with L, A = L Lᵀ; returns 0, or k + 1 if pivot k ≤ 0."""
    for k in range(A_io.shape[0]):
        pivot = A_io[k, k]
        for j in range(k):
            pivot -= A_io[k, j] * A_io[k, j]
        if not pivot > 0.0:
            return k + 1
        pivot = math.sqrt(pivot)
        A_io[k, k] = pivot
        for i in range(k + 1, A_io.shape[0]):
            s = A_io[i, k]
            for j in range(k):
                s -= A_io[i, j] * A_io[k, j]
            A_io[i, k] = s / pivot
    return 0


@kernel
def cholesky_solve(L, x_io):
    """Overwrite x_io (n,) with A⁻¹ x_io, given the factor L (n, n)."""
    n = x_io.shape[0]
    for i in range(n):
        s = x_io[i]
        for j in range(i):
            s -= L[i, j] * x_io[j]
        x_io[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        s = x_io[i]
        for j in range(i + 1, n):
            s -= L[j, i] * x_io[j]
        x_io[i] = s / L[i, i]


@kernel
def lu_solve(A_io, x_io):
    """Overwrite x_io (n,) with A⁻¹ x_io, destroying A_io (n, n); returns 0, or k + 1 without a pivot k."""
    n = x_io.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A_io[i, k]) > abs(A_io[p, k]):
                p = i
        if not abs(A_io[p, k]) > 0.0:
            return k + 1
        if p != k:
            for j in range(k, n):
                A_io[k, j], A_io[p, j] = A_io[p, j], A_io[k, j]
            x_io[k], x_io[p] = x_io[p], x_io[k]
        for i in range(k + 1, n):
            s = A_io[i, k] / A_io[k, k]
            for j in range(k + 1, n):
                A_io[i, j] -= s * A_io[k, j]
            x_io[i] -= s * x_io[k]
    for k in range(n - 1, -1, -1):
        s = x_io[k]
        for j in range(k + 1, n):
            s -= A_io[k, j] * x_io[j]
        x_io[k] = s / A_io[k, k]
    return 0
