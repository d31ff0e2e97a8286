"""The small dense LU against NumPy's, even and odd sizes, with exchanges and without a solution."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.jit import plain
from taction.solvers.dense_lu import factor_dense, solve_dense


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25])
def test_as_numpy_solves_it(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A[0, 0] = 0.0 if n > 1 else 1.0  # no pivot without an exchange
        lower, upper, order, x = A.ravel().copy(), np.empty(n * n), np.empty(n), np.empty(n)
        assert factor_dense(n, lower, upper, order)
        plain(solve_dense)(n, lower, upper, order, b, x)
        assert np.abs(A @ x - b).max() <= 1e-13 * np.linalg.cond(A) * max(np.abs(b).max(), 1.0)
        L = np.tril(lower.reshape(n, n), -1)
        assert np.abs(L).max() <= 1.0 + 1e-15 and sorted(order) == list(range(n))


def test_a_singular_matrix_is_refused():
    A = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]])
    assert not factor_dense(3, A.ravel().copy(), np.empty(9), np.empty(3))
