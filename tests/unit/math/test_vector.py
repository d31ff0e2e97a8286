"""Tuples of scalars against NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, assert_close, random_rotation
from taction.math import vector as vec

UPPER = np.triu_indices(3)


def tup(x) -> tuple[float, ...]:
    """Any array as a flat tuple of floats."""
    return tuple(np.asarray(x, dtype=float).ravel().tolist())


def mat(x) -> np.ndarray:
    """Full matrix of a 9-tuple or of a symmetric 6-tuple."""
    if len(x) == 9:
        return np.reshape(x, (3, 3))
    out = np.zeros((3, 3))
    out[UPPER] = x
    return out + np.triu(out, 1).T


def sym(S) -> tuple[float, ...]:
    """Symmetric matrix as a 6-tuple."""
    return tup(np.asarray(S)[UPPER])


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_vectors(rng):
    a, b = rng.normal(size=(2, 3))
    assert vec.add(tup(a), tup(b)) == tup(a + b)
    assert vec.sub(tup(a), tup(b)) == tup(a - b)
    assert vec.scale(3.0, tup(a)) == tup(3 * a)
    assert_close(vec.add_scaled(tup(a), 3.0, tup(b)), a + 3 * b, 4 * EPS)
    assert_close(vec.dot(tup(a), tup(b)), a @ b, 8 * EPS)
    assert_close(vec.cross(tup(a), tup(b)), np.cross(a, b), 8 * EPS)


def test_matrices(rng):
    A, B = rng.normal(size=(2, 3, 3))
    b, S = rng.normal(size=3), A + A.T
    assert_close(vec.mat_vec(tup(A), tup(b)), A @ b, 8 * EPS)
    assert_close(vec.mat_t_vec(tup(A), tup(b)), A.T @ b, 8 * EPS)
    assert_close(mat(vec.mat_mul(tup(A), tup(B))), A @ B, 8 * EPS)
    assert vec.column_z(tup(A)) == tup(A[:, 2])
    assert_close(vec.sym_vec(sym(S), tup(b)), S @ b, 8 * EPS)
    assert_close(mat(vec.sym_add(sym(S), sym(B + B.T))), S + B + B.T, EPS)


def test_rows_and_segments(rng):
    rows, flat = rng.normal(size=(4, 20)), rng.normal(size=9)
    assert vec.load3(rows, 2, 5) == tup(rows[2, 5:8])
    assert vec.load6(rows, 1, 3) == tup(rows[1, 3:9])
    assert vec.load9(rows, 3, 11) == tup(rows[3, 11:])
    assert vec.segment3(flat, 4) == tup(flat[4:7])


@pytest.mark.parametrize(("store", "width"), [(vec.store3, 3), (vec.store6, 6), (vec.store9, 9)])
def test_stores_write_their_columns_only(rng, store, width):
    rows, x = np.full((3, 12), np.nan), tup(rng.normal(size=width))
    store(x, 1, 2, rows)
    assert tup(rows[1, 2 : 2 + width]) == x
    assert np.isnan(np.delete(rows.ravel(), np.arange(14, 14 + width))).all()


def test_accumulate_and_put(rng):
    rows, flat, x = np.ones((3, 5)), np.zeros(6), rng.normal(size=3)
    vec.accumulate3(tup(x), 1, 2, rows)
    assert np.array_equal(rows[1, 2:], 1 + x)
    assert rows.sum() - rows[1, 2:].sum() == pytest.approx(12)
    vec.put3(tup(x), 2, flat)
    assert np.array_equal(flat, np.r_[0, 0, x, 0])


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_rotated_and_factored_symmetric_matrices(seed):
    rng = np.random.default_rng(seed)
    R, A = random_rotation(rng), rng.normal(size=(3, 3))
    S = A @ A.T + 0.1 * np.eye(3)
    assert_close(mat(vec.sym_rotated(tup(R), sym(S))), R @ S @ R.T, 16 * EPS)
    x = np.array(vec.sym_solve(vec.sym_factor(sym(S)), tup(A[0])))
    # backward stable: the residual does not know the condition number
    assert_close(S @ x, A[0], 16 * EPS, np.abs(S).max() * np.abs(x).max())
