"""Quaternions and rotation matrices of kernels, against extended precision and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, assert_close, random_direction, random_rotation
from taction.math.rotation import (
    SMALL_SQUARED_ANGLE,
    quat_exp,
    quat_load,
    quat_log,
    quat_mul,
    quat_to_mat,
    rotate_z,
)
from taction.math.transform import rotation_about

EDGE = float(np.sqrt(SMALL_SQUARED_ANGLE))  # where the series take over [rad]
ANGLES = [0.0, 1e-300, 1e-20, 1e-9, 1e-4, EDGE / 2, 0.99 * EDGE, EDGE, 1.01 * EDGE, 0.1, 1.0, 2.0, 3.0]
NEAR_PI = [np.pi - 1e-3, np.pi - 1e-8, np.pi - 1e-15, np.pi]


def unit_quaternion(seed: int) -> tuple[float, ...]:
    q = np.random.default_rng(seed).normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def scaled(seed: int, angle: float) -> tuple[float, ...]:
    return tuple((angle * random_direction(np.random.default_rng(seed))).tolist())


@pytest.mark.parametrize("angle", [*ANGLES, *NEAR_PI, 5.0, 2 * np.pi, 100.0])
def test_exp_is_exact_to_rounding(angle):
    phi = scaled(1, angle)
    wide = np.array(phi, dtype=np.longdouble)
    theta = np.sqrt(wide @ wide)
    k = np.sin(theta / 2) / theta if theta > 0 else np.longdouble(0.5)
    expected = np.array([np.cos(theta / 2), *(k * wide)])
    # an angle of 100 rad is itself only known to 100 ε
    np.testing.assert_allclose(quat_exp(phi), expected.astype(float), rtol=4 * EPS, atol=4 * EPS * angle)


@pytest.mark.parametrize("angle", [a for a in ANGLES if a > 0])
def test_exp_keeps_the_digits_of_small_rotations(angle):
    """Component by component: sin(θ/2)/θ · φ has no cancellation."""
    phi = scaled(2, angle)
    theta = np.longdouble(np.linalg.norm(np.array(phi) / angle)) * angle
    expected = np.sin(theta / 2) / theta * np.array(phi, dtype=np.longdouble)
    np.testing.assert_allclose(quat_exp(phi)[1:], expected.astype(float), rtol=8 * EPS)


@pytest.mark.parametrize("angle", [*ANGLES, *NEAR_PI[:-1]])
def test_log_inverts_exp(angle):
    phi = scaled(3, angle)
    np.testing.assert_allclose(quat_log(quat_exp(phi)), phi, rtol=8 * EPS)


@pytest.mark.parametrize("angle", [*ANGLES[1:], *NEAR_PI[:-1]])
def test_log_takes_the_shorter_way_round(angle):
    """q and −q are one rotation; with w < 0 the logarithm is that of −q."""
    w, x, y, z = quat_exp(scaled(4, angle))
    np.testing.assert_allclose(quat_log((-w, -x, -y, -z)), quat_log((w, x, y, z)), rtol=8 * EPS)


def test_log_of_a_turn_beyond_pi_comes_back():
    axis = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(quat_log(quat_exp(tuple(4.0 * axis))), (4.0 - 2 * np.pi) * axis, rtol=8 * EPS)


@pytest.mark.parametrize("axis", np.eye(3).tolist())
def test_log_of_half_a_turn(axis):
    np.testing.assert_allclose(quat_log((0.0, *axis)), np.pi * np.array(axis), rtol=EPS)
    np.testing.assert_allclose(quat_log((-0.0, *axis)), np.pi * np.array(axis), rtol=EPS)


def test_log_of_no_turn_is_zero():
    assert quat_log((1.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(np.abs(quat_log((-1.0, 0.0, 0.0, 0.0))), 0.0)


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_matrix_of_a_quaternion_is_a_rotation(seed):
    R = np.reshape(quat_to_mat(unit_quaternion(seed)), (3, 3))
    assert_close(R @ R.T, np.eye(3), 8 * EPS)
    assert np.linalg.det(R) > 0


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.floats(0.0, np.pi))
def test_matrix_of_an_exponential_is_rodrigues(seed, angle):
    axis = random_direction(np.random.default_rng(seed))
    R = np.reshape(quat_to_mat(quat_exp(tuple((angle * axis).tolist()))), (3, 3))
    assert_close(R, rotation_about(axis, angle), 16 * EPS)


@PROPERTY
@given(st.integers(0, 2**31), st.integers(0, 2**31))
def test_products_of_quaternions_and_matrices_agree(seed1, seed2):
    a, b = unit_quaternion(seed1), unit_quaternion(seed2)
    A, B, AB = (np.reshape(quat_to_mat(q), (3, 3)) for q in (a, b, quat_mul(a, b)))
    assert_close(AB, A @ B, 16 * EPS)


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 7.0]))
def test_load_normalises(seed, length):
    q = np.array(unit_quaternion(seed))
    flat = np.r_[np.nan, length * q, np.nan]
    assert_close(quat_load(flat, 1), q, 4 * EPS)


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.floats(-10, 10))
def test_turn_about_z(seed, angle):
    R = random_rotation(np.random.default_rng(seed))
    turned = rotate_z(tuple(R.ravel().tolist()), np.cos(angle), np.sin(angle))
    assert_close(np.reshape(turned, (3, 3)), R @ rotation_about([0, 0, 1], angle), 8 * EPS)
