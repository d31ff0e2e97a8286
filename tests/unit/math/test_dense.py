"""Small dense solves against NumPy, and the pivots they report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, assert_close
from taction.math.dense import cholesky, cholesky_solve, lu_solve

seeds, sizes = st.integers(0, 2**32 - 1), st.integers(0, 8)


@PROPERTY
@given(seeds, sizes)
def test_cholesky(seed, n):
    rng = np.random.default_rng(seed)
    X, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A = X @ X.T + 0.1 * np.eye(n)
    L, x = A.copy(), b.copy()
    L[np.triu_indices(n, 1)] = np.nan  # the upper triangle is not read
    assert cholesky(L) == 0
    assert_close(np.tril(L) @ np.tril(L).T, A, 8 * EPS * max(1, n))
    cholesky_solve(L, x)
    assert_close(A @ x, b, 100 * EPS, (np.abs(A) @ np.abs(x)).max(initial=0.0))


@PROPERTY
@given(seeds, sizes)
def test_lu(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    x = b.copy()
    assert lu_solve(A.copy(), x) == 0
    assert_close(A @ x, b, 1000 * EPS, (np.abs(A) @ np.abs(x)).max(initial=0.0))


def test_lu_pivots():
    """Zeros on the diagonal need the other row."""
    x = np.array([1.0, 2.0])
    assert lu_solve(np.array([[0.0, 1.0], [1.0, 0.0]]), x) == 0
    assert x.tolist() == [2.0, 1.0]
    small, y = np.array([[1e-20, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    assert lu_solve(small, y) == 0
    assert_close(y, [1.0, 1.0], EPS)


@pytest.mark.parametrize(
    ("A", "status"),
    [(np.diag([1.0, 0.0, 1.0]), 2), (np.diag([1.0, 1.0, -1.0]), 3), (np.full((3, 3), np.nan), 1)],
)
def test_cholesky_reports_the_first_bad_pivot(A, status):
    assert cholesky(A.copy()) == status


@pytest.mark.parametrize(
    ("A", "status"), [(np.zeros((3, 3)), 1), (np.ones((3, 3)), 2), (np.diag([1.0, 2.0, 0.0]), 3)]
)
def test_lu_reports_singular_matrices(A, status):
    assert lu_solve(A.copy(), np.ones(3)) == status
