"""Placements for descriptions: rotations in all their forms, and the group they make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, assert_close, random_direction, random_pose, random_rotation
from taction._core.errors import BadInput
from taction.math.transform import (
    Transform,
    quaternion_from_rotation,
    rotation_about,
    rotation_aligning_z,
    rotation_from_quaternion,
    rotation_from_rpy,
    skew,
)

seeds = st.integers(0, 2**32 - 1)
CLOSE = 16 * EPS


def test_skew_is_the_cross_product():
    a, b = np.random.default_rng(0).normal(size=(2, 3))
    assert_close(skew(a) @ b, np.cross(a, b), CLOSE)


def test_quarter_turns():
    assert_close(rotation_about([0, 0, 1], np.pi / 2) @ [1, 0, 0], [0, 1, 0], CLOSE)
    assert_close(rotation_about([1, 0, 0], np.pi / 2) @ [0, 1, 0], [0, 0, 1], CLOSE)
    assert_close(rotation_about([0, 1, 0], np.pi / 2) @ [0, 0, 1], [1, 0, 0], CLOSE)


def test_rpy_turns_about_fixed_axes_roll_first():
    """URDF: roll about x, then pitch about y, then yaw about z, all of the parent."""
    R = rotation_from_rpy([np.pi / 2, 0, np.pi / 2])
    assert_close(R @ [0, 1, 0], [0, 0, 1], CLOSE)  # y goes to z by roll, and yaw leaves it there
    assert_close(R @ [1, 0, 0], [0, 1, 0], CLOSE)


@PROPERTY
@given(seeds)
def test_quaternion_round_trip(seed):
    q = np.random.default_rng(seed).normal(size=4)
    back = quaternion_from_rotation(rotation_from_quaternion(q))
    q = q / np.linalg.norm(q)
    assert back[0] >= 0
    assert_close(back, -q if q[0] < 0 else q, CLOSE)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi])
@pytest.mark.parametrize("axis", [*np.eye(3).tolist(), [0.6, 0.0, 0.8], [-0.6, 0.64, 0.48]])
def test_quaternion_of_a_turn(axis, angle):
    q = quaternion_from_rotation(rotation_about(axis, angle))
    expected = np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.array(axis)]
    if abs(expected[0]) < CLOSE and q @ expected < 0:  # half a turn has two unit quaternions with w = 0
        expected = -expected
    assert_close(q, expected, CLOSE)


@PROPERTY
@given(seeds)
def test_aligning_z(seed):
    axis = random_direction(np.random.default_rng(seed))
    R = rotation_aligning_z(axis)
    assert_close(R[:, 2], axis, EPS)
    assert_close(R @ R.T, np.eye(3), CLOSE)
    assert np.linalg.det(R) > 0


@pytest.mark.parametrize("axis", [*np.eye(3).tolist(), *(-np.eye(3)).tolist()])
def test_aligning_z_with_the_axes(axis):
    R = rotation_aligning_z(axis)
    assert np.array_equal(R[:, 2], axis)
    assert_close(R @ R.T, np.eye(3), 0.0)
    if axis == [0, 0, 1]:
        assert np.array_equal(R, np.eye(3))


def tilted(tilt: float, direction: tuple[float, float]) -> np.ndarray:
    """Unit vector that leans from z by an angle."""
    return np.array([*(np.sin(tilt) * np.array(direction)), np.cos(tilt)])


@pytest.mark.parametrize("tilt", [1e-15, 1e-9, 1e-8, 4e-8])
@pytest.mark.parametrize("direction", [(1, 0), (0, 1), (-0.6, 0.8)])
def test_aligning_z_with_an_axis_very_near_z(tilt, direction):
    """The axis itself, not z: a joint axis that is 1e-8 rad off must stay so."""
    axis = tilted(tilt, direction)
    assert_close(rotation_aligning_z(axis)[:, 2], axis, 1e-3 * tilt)


@pytest.mark.parametrize("tilt", [1e-7, 1e-3])
@pytest.mark.parametrize("direction", [(0, 1), (-0.6, 0.8)])
def test_aligning_z_is_smooth_near_z(tilt, direction):
    """A planar joint's x and y follow this frame: a normal that is almost z must not turn them."""
    assert_close(rotation_aligning_z(tilted(tilt, direction)), np.eye(3), 2 * tilt)


@PROPERTY
@given(seeds)
def test_transforms_are_a_group(seed):
    rng = np.random.default_rng(seed)
    X, Y, Z = (random_pose(rng, 2.0) for _ in range(3))
    points = rng.normal(size=(4, 3))
    assert_close((X @ Y).matrix, X.matrix @ Y.matrix, CLOSE)
    assert_close(((X @ Y) @ Z).matrix, (X @ (Y @ Z)).matrix, CLOSE)
    assert_close((X @ X.inverse()).matrix, np.eye(4), CLOSE)
    assert_close(X.apply(Y.apply(points)), (X @ Y).apply(points), CLOSE)
    assert_close(X.apply(points[0]), X.rotation @ points[0] + X.translation, CLOSE)


def test_constructors():
    assert np.array_equal(Transform().matrix, np.eye(4))
    xyz, rpy = (1.0, 2.0, 3.0), (0.1, -0.2, 0.3)
    X = Transform.from_rpy(xyz, rpy)
    assert np.array_equal(X.translation, xyz)
    assert np.array_equal(X.rotation, rotation_from_rpy(rpy))
    Y = Transform.from_quaternion(xyz, -3.0 * X.quaternion)
    assert_close(Y.matrix, X.matrix, CLOSE)
    assert_close(np.linalg.norm(Y.quaternion), 1.0, CLOSE)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Transform(np.eye(2)), r"rotation: expected shape \(3, 3\), got \(2, 2\)"),
        (lambda: Transform(2 * np.eye(3)), "rotation: not a proper rotation matrix"),
        (lambda: Transform(-np.eye(3)), "rotation: not a proper rotation matrix"),
        (lambda: Transform(np.full((3, 3), np.nan)), "rotation: contains NaN"),
        (lambda: Transform(translation=[1, 2]), r"translation: expected shape \(3,\), got \(2,\)"),
        (lambda: Transform(translation=[1, 2, np.inf]), "translation: contains NaN or infinity"),
        (lambda: Transform.from_rpy((0, 0, 0), (0, np.nan, 0)), "rpy: contains NaN"),
        (lambda: Transform.from_rpy((0, 0), (0, 0, 0)), "xyz: expected shape"),
        (lambda: Transform.from_quaternion((0, 0, 0), (0, 0, 0, 0)), "quaternion: has zero length"),
        (lambda: rotation_from_quaternion([1, 0, 0]), "quaternion: expected shape"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def test_transforms_do_not_alias_each_other():
    assert Transform().translation is not Transform().translation
    R = random_rotation(np.random.default_rng(0))
    assert_close(Transform(R).inverse().rotation, R.T, 0.0)
