"""The snake: frames, joints and friction as its document has them."""

from __future__ import annotations

import numpy as np
import pytest

from robot_cases import contact_spheres, random_state, sphere_centres
from taction import robots
from taction.dynamics.aba import aba
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import rotation_about
from taction.model.shapes import Cylinder

# ---------------------------------------------------------------------------------------------------------
# snake


def test_straight_snake():
    """G_i at (i−1) L along x at height L_SC; e_z of each link along x, e_y up; spheres at ±L_GS."""
    L, r, d = 0.269, 0.0795, 0.1016
    model = robots.snake()
    poses = forward_kinematics(model, model.q0)
    x = L * np.arange(11)
    np.testing.assert_allclose(poses.position, np.column_stack([x, 0 * x, 0 * x + r]), atol=1e-14)
    np.testing.assert_allclose(poses.rotation @ [0, 0, 1], np.tile([1.0, 0, 0], (11, 1)), atol=1e-15)
    np.testing.assert_allclose(poses.rotation @ [0, 1, 0], np.tile([0, 0, 1.0], (11, 1)), atol=1e-15)
    centres = sphere_centres(model, model.q0).reshape(11, 2, 3)
    np.testing.assert_allclose(centres[:, 0], poses.position + np.array([d, 0, 0]), atol=1e-14)
    np.testing.assert_allclose(centres[:, 1], poses.position - np.array([d, 0, 0]), atol=1e-14)
    assert [s.geometry.radius for _, s in contact_spheres(model)] == [r] * 22


def test_snake_links():
    model = robots.snake()
    for body in model.spec.bodies:
        assert body.inertia.mass == 7.0
        np.testing.assert_array_equal(body.inertia.com, np.zeros(3))
        np.testing.assert_array_equal(body.inertia.matrix, np.diag([0.045, 0.045, 0.0055]))
        seen = [s for s in body.shapes if not s.collides]
        assert [s.geometry for s in seen] == [Cylinder(0.0795, 0.269)]
    assert robots.SNAKE_GAINS["horizontal"] == (400.0, 20.0, 0.0)
    assert robots.SNAKE_GAINS["vertical"] == (200.0, 10.0, 0.0)


def test_snake_friction_axes():
    """The first coefficient, 0.01, counts along the link; the second, 0.05, across it on the ground."""
    model = robots.snake()
    poses = forward_kinematics(model, model.q0)
    for i, s in contact_spheres(model):
        assert s.material.friction == (0.01, 0.05)
        axes = poses.rotation[i] @ s.pose.rotation
        np.testing.assert_allclose(axes[:, 0], [1, 0, 0], atol=1e-15)
        np.testing.assert_allclose(np.abs(axes[:, 1]), [0, 1, 0], atol=1e-15)


def test_snake_joint_is_the_cardan_joint_of_the_document():
    """R = R_y(α_h) R_x(α_v), axes at right angles, ends that meet, and the angles of Section V."""
    model = robots.snake(links=4)
    q, _ = random_state(model, np.random.default_rng(5))
    poses, L = forward_kinematics(model, q), 0.269
    for i in range(3):
        h, v = q[model.joint(f"joint{i + 1}").q_slice]
        R = poses.rotation[i].T @ poses.rotation[i + 1]
        np.testing.assert_allclose(R, rotation_about([0, 1, 0], h) @ rotation_about([1, 0, 0], v), atol=1e-14)
        assert poses.rotation[i][:, 1] @ poses.rotation[i + 1][:, 0] == pytest.approx(0.0, abs=1e-14)
        ahead = poses.position[i] + 0.5 * L * poses.rotation[i][:, 2]
        behind = poses.position[i + 1] - 0.5 * L * poses.rotation[i + 1][:, 2]
        np.testing.assert_allclose(ahead, behind, atol=1e-14)
        assert np.arctan(R[2, 1] / R[2, 2]) == pytest.approx(v, abs=1e-13)
        assert -np.arcsin(R[2, 0]) == pytest.approx(h, abs=1e-13)


def test_snake_bends_to_the_left_and_down():
    model = robots.snake(links=2)
    along = []
    for k in (0, 1):
        q = model.q0.copy()
        q[7 + k] = 0.3
        along.append(forward_kinematics(model, q).rotation[1][:, 2])
    np.testing.assert_allclose(along[0], [np.cos(0.3), np.sin(0.3), 0.0], atol=1e-15)
    np.testing.assert_allclose(along[1], [np.cos(0.3), 0.0, -np.sin(0.3)], atol=1e-15)


def test_snake_in_free_fall_does_not_turn():
    model = robots.snake()
    q, _ = random_state(model, np.random.default_rng(6))
    a = aba(model, q, np.zeros(model.nv), np.zeros(model.nv))
    np.testing.assert_allclose(a[:3], [0, 0, -9.81], atol=1e-10)
    np.testing.assert_allclose(a[3:], 0.0, atol=1e-9)
