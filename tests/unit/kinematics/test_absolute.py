"""Joint coordinates to absolute ones and back, for every kind of joint."""

import numpy as np
import pytest

import taction as ta
from taction._core.errors import ModelError
from taction.contact.chains import make_chains
from taction.kinematics.absolute import tie_angles, to_bodies, to_joints
from taction.kinematics.configuration import random_state
from taction.kinematics.forward import body_velocities, forward_kinematics, place_links
from taction.kinematics.joint_state import body_state, joint_state
from taction.math.transform import Transform
from taction.model.absolute import in_absolute_coordinates
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import narrow
from taction.model.workspace import make_workspace
from taction.robots import quadruped, snake
from taction.steppers.scene import Robot


def every_joint():
    """A floating tree with one joint of every kind, in general position."""
    rng = np.random.default_rng(0)

    def pose():
        return Transform.from_rpy(0.3 * rng.normal(size=3), rng.normal(size=3))

    b = ta.ModelBuilder("every joint")
    b.body("root", Inertia(1.0 + rng.random(), 0.1 * rng.normal(size=3), np.diag([0.1, 0.12, 0.15])))
    b.floating("free", child="root")
    parent = "root"
    for kind in JointKind:
        child = b.body(kind.value, Inertia(1.0, 0.1 * rng.normal(size=3), np.diag([0.1, 0.12, 0.15])))
        axes = {"axis": (0.1, 1.0, 0.2), "axis2": (1.0, 0.3, 0.0)}
        b.joint(
            f"{kind.value} joint", kind, parent=parent, child=child, pose=pose(), child_pose=pose(), **axes
        )
        parent = child
    b.body("side", Inertia(1.5, 0.1 * rng.normal(size=3), np.diag([0.1, 0.12, 0.15])))
    b.revolute("branch", parent="root", child="side", pose=pose(), child_pose=pose())
    return b.build()


@pytest.mark.parametrize("make", [every_joint, lambda: snake(links=4), quadruped])
def test_there_and_back(make):
    model = make()
    absolute = in_absolute_coordinates(model)
    rng = np.random.default_rng(1)
    # a body without mass between two hinges is not one of the free bodies
    same = [model.body(name) for name in absolute.bodies.body_names]
    for _ in range(5):
        q, v = random_state(model, rng)
        Q, V = to_bodies(absolute, q, v)
        here, there = forward_kinematics(model, q), forward_kinematics(absolute.bodies, Q)
        assert np.allclose(here.position[same], there.position, atol=1e-13)
        assert np.allclose(here.rotation[same], there.rotation, atol=1e-13)
        moving = body_velocities(absolute.bodies, Q, V)
        assert np.allclose(body_velocities(model, q, v).linear[same], moving.linear, atol=1e-13)
        angle = tie_angles(absolute, q)
        (back,), (rate,) = to_joints(absolute, Q[None], V[None], angle[None])
        assert np.allclose(rate, v, atol=1e-12)
        # angles come back between −π and π and quaternions with either sign: compare what they place
        assert np.allclose(forward_kinematics(model, back).position, here.position, atol=1e-12)


def test_masses_and_centres_are_those_of_the_robot():
    model = every_joint()
    absolute = in_absolute_coordinates(model)
    assert absolute.bodies.total_mass == pytest.approx(model.total_mass, rel=1e-15)
    n = len(JointKind) + 1  # a fixed one makes none; the root and the branch
    assert absolute.bodies.nv == 6 * n
    M = ta.mass_matrix(absolute.bodies, absolute.bodies.q0)
    for k in range(n):
        block = M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        assert np.allclose(block[:3, 3:], 0.0, atol=1e-15)  # the origin is the centre of mass
        assert np.allclose(block[:3, :3], block[0, 0] * np.eye(3), atol=1e-15)
        M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = 0.0
    assert not M.any()


def test_what_cannot_be_bodies_is_refused():
    b = ta.ModelBuilder("m")
    b.body("a", Inertia(1.0, np.zeros(3), np.eye(3)))
    b.body("cross", Inertia())
    b.body("c", Inertia(1.0, np.zeros(3), np.eye(3)))
    b.floating("f", child="a")
    b.revolute("r1", parent="a", child="cross", axis=(1, 0, 0))
    b.revolute("r2", parent="cross", child="c", axis=(0, 1, 0), pose=Transform.from_rpy((0.1, 0, 0)))
    with pytest.raises(
        ModelError,
        match=r"'r1' moves body .*, which has no mass of its own: that exists in reduced coordinates only",
    ):
        in_absolute_coordinates(b.build())


def robot_of(absolute):
    tree = absolute.robot.tree
    return Robot(narrow(tree), make_chains(tree), absolute.link, absolute.centre)


@pytest.mark.parametrize("make", [every_joint, lambda: snake(links=4), quadruped])
def test_kernels_lead_where_formulas_lead(make):
    """Against `taction.kinematics.absolute`, of states with closed joints; and back to the same bodies."""
    model = make()
    absolute = in_absolute_coordinates(model)
    bodies, rng = absolute.bodies, np.random.default_rng(3)
    robot, here, there = robot_of(absolute), make_workspace(bodies), make_workspace(model)
    for _ in range(5):
        q, v = random_state(model, rng)
        Q, V = to_bodies(absolute, q, v)
        _, (rates,) = to_joints(absolute, Q[None], V[None], tie_angles(absolute, q)[None])
        got, rate = np.zeros(model.nq), np.zeros(model.nv)
        place_links(bodies.tree, Q, here)
        joint_state(bodies.tree, absolute.ties, V, here, got, rate)
        np.testing.assert_allclose(rate, rates, atol=1e-12)
        back, speed = Q.copy(), np.zeros(bodies.nv)
        body_state(bodies.tree, robot, got, rate, there, back, speed)
        same = np.abs((back.reshape(-1, 7)[:, 3:] * Q.reshape(-1, 7)[:, 3:]).sum(axis=1))
        np.testing.assert_allclose(same, 1.0, atol=1e-14)
        np.testing.assert_allclose(back.reshape(-1, 7)[:, :3], Q.reshape(-1, 7)[:, :3], atol=1e-12)
        np.testing.assert_allclose(speed, V, atol=1e-12)


def test_quaternions_keep_the_nearer_sign():
    model = quadruped()
    absolute = in_absolute_coordinates(model)
    robot, ws = robot_of(absolute), make_workspace(model)
    Q, V = to_bodies(absolute, model.q0, np.zeros(model.nv))
    for sign in (1.0, -1.0):
        back, speed = Q.copy().reshape(-1, 7), V.copy()
        back[:, 3:] *= sign
        must, flat = back.copy(), back.ravel()
        body_state(absolute.bodies.tree, robot, model.q0, np.zeros(model.nv), ws, flat, speed)
        np.testing.assert_allclose(flat, must.ravel(), atol=1e-14)
