"""Articulated inertias in blocks against dense 6×6 matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, assert_close
from taction.math import spatial
from taction.math.transform import skew
from taction.math.vector import sym_factor

UPPER = np.triu_indices(3)
CLOSE = 32 * EPS


class Blocks(NamedTuple):
    A: tuple[float, ...]
    B: tuple[float, ...]
    D: tuple[float, ...]


def tup(x) -> tuple[float, ...]:
    return tuple(np.asarray(x, dtype=float).ravel().tolist())


def sym(S) -> tuple[float, ...]:
    return tup(np.asarray(S)[UPPER])


def blocks(I) -> Blocks:
    return Blocks(sym(I[:3, :3]), tup(I[:3, 3:]), sym(I[3:, 3:]))


def full(S) -> np.ndarray:
    out = np.zeros((3, 3))
    out[UPPER] = S
    return out + np.triu(out, 1).T


def dense(A, B, D) -> np.ndarray:
    B = np.reshape(B, (3, 3))
    return np.block([[full(A), B], [B.T, full(D)]])


def random_spd(rng, n=6) -> np.ndarray:
    X = rng.normal(size=(n, n))
    return X @ X.T + 0.1 * np.eye(n)


seeds = st.integers(0, 2**32 - 1)


@PROPERTY
@given(seeds)
def test_inertia_times(seed):
    rng = np.random.default_rng(seed)
    I, x = random_spd(rng), rng.normal(size=6)
    t, f = spatial.inertia_times(*blocks(I), tup(x[:3]), tup(x[3:]))
    assert_close(np.r_[t, f], I @ x, CLOSE, np.abs(I).max())


@PROPERTY
@given(seeds)
def test_shift_is_a_congruence(seed):
    """Moving the reference point by −r: I' = X I Xᵀ with X = [1 r̃; 0 1]."""
    rng = np.random.default_rng(seed)
    I, r = random_spd(rng), rng.normal(size=3)
    b = blocks(I)
    A, B = spatial.shift_inertia(*b, tup(r))
    X = np.eye(6)
    X[:3, 3:] = skew(r)
    assert_close(dense(A, B, b.D), X @ I @ X.T, CLOSE)


@PROPERTY
@given(seeds)
def test_solve_is_the_dense_solve(seed):
    rng = np.random.default_rng(seed)
    I, x = random_spd(rng), rng.normal(size=6)
    wrench = I @ x
    alpha, a = spatial.solve_inertia(*blocks(I), tup(wrench[:3]), tup(wrench[3:]))
    assert_close(np.r_[alpha, a], x, CLOSE * np.linalg.cond(I))


@PROPERTY
@given(seeds)
def test_solve_of_a_rigid_body_far_from_its_centre_of_mass(seed):
    """A = I_c − m c̃ c̃, B = m c̃, D = m about a point c away; the solution needs I_c = A + m c̃ c̃ back."""
    rng = np.random.default_rng(seed)
    m, c, I_c = 2.0, rng.normal(size=3) * 10, random_spd(rng, 3)
    I = np.block([[I_c - m * skew(c) @ skew(c), m * skew(c)], [-m * skew(c), m * np.eye(3)]])
    x = rng.normal(size=6)
    wrench = I @ x
    alpha, a = spatial.solve_inertia(*blocks(I), tup(wrench[:3]), tup(wrench[3:]))
    assert_close(np.r_[alpha, a], x, CLOSE * np.linalg.cond(I))


@PROPERTY
@given(seeds, st.booleans(), st.floats(0, 1))
def test_freeing_one_axis(seed, is_linear, rotor):
    """I − U Uᵀ / (sᵀ I s + rotor), with U = I s; without a rotor nothing resists along s any more."""
    rng = np.random.default_rng(seed)
    I, z = random_spd(rng), rng.normal(size=3)
    s = np.r_[np.zeros(3), z] if is_linear else np.r_[z, np.zeros(3)]
    U = I @ s
    d = 1.0 / (s @ U + rotor)
    left = dense(*spatial.inertia_without_axis(*blocks(I), tup(U[:3]), tup(U[3:]), d))
    assert_close(left, I - np.outer(U, U) * d, CLOSE, np.abs(I).max())
    if rotor == 0:
        assert_close(left @ s, np.zeros(6), CLOSE, np.abs(I).max() * np.abs(s).max())


@PROPERTY
@given(seeds, st.booleans())
def test_freeing_all_rotations(seed, has_rotors):
    """Schur complement of A + rotor: [A; Bᵀ] − [A; Bᵀ] K A and so on."""
    rng = np.random.default_rng(seed)
    I = random_spd(rng)
    rotor = random_spd(rng, 3) if has_rotors else np.zeros((3, 3))
    K = np.linalg.inv(I[:3, :3] + rotor)
    A, B, D = spatial.inertia_without_rotation(*blocks(I), sym_factor(sym(I[:3, :3] + rotor)), sym(rotor))
    U = I[:, :3]
    assert_close(dense(A, B, D), I - U @ K @ U.T, CLOSE * np.linalg.cond(I[:3, :3] + rotor), np.abs(I).max())
    if not has_rotors:
        assert not np.any(A)
        assert not np.any(B)


@PROPERTY
@given(seeds)
def test_products_of_symmetric_blocks(seed):
    rng = np.random.default_rng(seed)
    S, D, B, K = random_spd(rng, 3), random_spd(rng, 3), rng.normal(size=(3, 3)), random_spd(rng, 3)
    assert_close(np.reshape(spatial.sym_mul(sym(S), tup(B)), (3, 3)), S @ B, CLOSE)
    left = full(spatial.sym_minus_btkb(sym(D), tup(B), tup(K @ B)))
    assert_close(left, D - B.T @ K @ B, CLOSE, np.abs(B.T @ K @ B).max())


def test_rows_of_the_block_array():
    rng = np.random.default_rng(0)
    I, rows = random_spd(rng), rng.normal(size=(3, 23))
    before = rows.copy()
    b = blocks(I)
    spatial.accumulate_inertia(*b, 1, 2, rows)
    assert_close(rows[1, 2:], before[1, 2:] + np.r_[b.A, b.B, b.D], EPS)
    assert np.array_equal(rows[[0, 2]], before[[0, 2]]) and np.array_equal(rows[1, :2], before[1, :2])
    assert_close(np.concatenate(spatial.load_inertia(rows, 1, 2)), rows[1, 2:], 0.0)


def test_blocks_of_a_rigid_body():
    """[t; f] = [I h̃; −h̃ m] [α; a] about the origin, h = m c."""
    rng = np.random.default_rng(0)
    m, h, I, rows = 2.0, rng.normal(size=3), random_spd(rng, 3), np.full((2, 22), np.nan)
    spatial.store_rigid(m, tup(h), sym(I), 1, 0, rows)
    expected = np.block([[I, skew(h)], [-skew(h), m * np.eye(3)]])
    assert_close(dense(*spatial.load_inertia(rows, 1, 0)), expected, 0.0)
    assert np.isnan(rows[0]).all() and np.isnan(rows[1, 21])
