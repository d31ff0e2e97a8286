"""Placements and velocities: bodies against links, and input checks. Identities are in tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close, random_case
from taction._core.errors import BadInput
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia

BALL = Inertia(1.0, np.zeros(3), np.eye(3))


@pytest.fixture(scope="module")
def planar_arm():
    """Two links of 1 m in the xz-plane, turning about −y, with a tool welded to the second."""
    b = ModelBuilder("arm")
    for name in ("upper", "fore", "tool", "table"):
        b.body(name, BALL)
    down, along = (0, -1, 0), Transform(translation=(1, 0, 0))
    b.revolute("shoulder", parent="world", child="upper", axis=down)
    b.revolute("elbow", parent="upper", child="fore", axis=down, pose=along)
    b.fixed("wrist", parent="fore", child="tool", pose=along)
    b.fixed("floor", parent="world", child="table", pose=Transform(translation=(0, 0, -1)))
    return b.build()


def test_planar_arm(planar_arm):
    """x = cos q₁ + cos(q₁+q₂), z = sin q₁ + sin(q₁+q₂), and their time derivatives."""
    q, v = np.array([0.3, 0.5]), np.array([0.7, -0.2])
    s, rate = q.sum(), v.sum()
    tool, table = planar_arm.body("tool"), planar_arm.body("table")
    poses, speeds = forward_kinematics(planar_arm, q), body_velocities(planar_arm, q, v)
    assert_close(poses.position[tool], [np.cos(0.3) + np.cos(s), 0, np.sin(0.3) + np.sin(s)], 1e-15)
    expected = [-0.7 * np.sin(0.3) - rate * np.sin(s), 0, 0.7 * np.cos(0.3) + rate * np.cos(s)]
    assert_close(speeds.linear[tool], expected, 1e-15)
    assert_close(speeds.angular[tool], [0, -rate, 0], 1e-15)
    assert_close(poses.rotation[tool][:, 0], [np.cos(s), 0, np.sin(s)], 1e-15)
    assert poses.position[table].tolist() == [0, 0, -1]
    assert not speeds.linear[table].any() and not speeds.angular[table].any()


def test_shapes():
    model, q, v, _ = random_case(0, 7)
    poses, speeds = forward_kinematics(model, q), body_velocities(model, q, v)
    assert poses.rotation.shape == (7, 3, 3) and poses.position.shape == (7, 3)
    assert speeds.angular.shape == speeds.linear.shape == (7, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: forward_kinematics(m, [0.0]), r"q: expected shape \(2,\), got \(1,\)"),
        (lambda m: forward_kinematics(m, [0.0, np.nan]), "q: contains NaN"),
        (lambda m: body_velocities(m, [0.0, 0.0], [0.0]), "v: expected shape"),
        (lambda m: body_velocities(m, [0.0, 0.0], [0.0, np.inf]), "v: contains NaN or infinity"),
    ],
)
def test_bad_input(planar_arm, call, message):
    with pytest.raises(BadInput, match=message):
        call(planar_arm)


@pytest.mark.parametrize("function", [forward_kinematics, body_velocities])
def test_batches_are_refused(planar_arm, function):
    batch = np.zeros((3, 2))
    with pytest.raises(BadInput):
        function(planar_arm, *[batch] * (2 if function is body_velocities else 1))
