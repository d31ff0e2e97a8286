"""`Model`: look-ups and checks of vectors."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction import robots
from taction._core.errors import BadInput
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.spec import Mimic
from taction.model.workspace import AXES, WIDTH, make_workspace

BALL = Inertia(1.0, np.zeros(3), np.eye(3))


@pytest.fixture(scope="module")
def model():
    b = ModelBuilder("robot")
    for name in ("base", "arm"):
        b.body(name, BALL)
    b.floating("free", child="base")
    b.revolute("hinge", parent="base", child="arm")
    return b.build()


def test_look_ups(model):
    assert model.joint("hinge").q_slice == slice(7, 8) and model.joint("hinge").v_slice == slice(6, 7)
    assert model.body("arm") == 1
    assert (model.n_links, model.total_mass) == (3, 2.0)
    with pytest.raises(BadInput, match="robot: no moving joint 'ghost'; there are free, hinge"):
        model.joint("ghost")
    with pytest.raises(BadInput, match="robot: no body 'ghost'"):
        model.body("ghost")


def test_vectors_that_pass(model):
    for q in (np.ones(8), [1] * 8, np.ones(8, np.float32), np.ones(16)[::2]):
        out = model.check_q(q)
        assert out.shape == (8,) and out.dtype == np.float64 and out.flags.c_contiguous


def test_batches(model):
    for q in (np.ones((3, 8)), np.ones((0, 8)), np.ones((8, 3)).T, [[1] * 8]):
        (rows, v), lead = model.check_batch(q, v=np.ones((len(q), 7)))
        assert rows.shape == (len(q), 8) and v.shape == (len(q), 7) and lead == (len(q),)
        assert rows.dtype == np.float64 and rows.flags.c_contiguous
    (rows, v), lead = model.check_batch(np.ones(8), v=np.ones(7))
    assert rows.shape == (1, 8) and v.shape == (1, 7) and lead == ()
    for q, v in (
        (np.ones(8), np.ones((1, 7))),
        (np.ones((2, 8)), np.ones(7)),
        (np.ones((2, 8)), np.ones((3, 7))),
    ):
        with pytest.raises(BadInput, match="v: expected shape"):
            model.check_batch(q, v=v)
    with pytest.raises(BadInput, match=r"q: expected shape \(n, 8\), got \(3, 7\)"):
        model.check_batch(np.ones((3, 7)))


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.ones(7), r"q: expected shape \(8,\), got \(7,\)"),
        (np.ones((3, 8)), r"q: expected shape \(8,\), got \(3, 8\)"),
        (np.ones((1, 1, 8)), "q: expected shape"),
        (1.0, r"q: expected shape \(8,\), got \(\)"),
        (np.full(8, np.nan), "q: contains NaN or infinity"),
        (np.r_[np.ones(7), np.inf], "q: contains NaN or infinity"),
        (["a"] * 8, "q: not a numeric array"),
    ],
)
def test_vectors_that_do_not(model, q, message):
    with pytest.raises(BadInput, match=message):
        model.check_q(q)


def test_messages_name_the_vector(model):
    with pytest.raises(BadInput, match=r"tau: expected shape \(7,\)"):
        model.check_v(np.ones(8), "tau")


def test_workspace(model):
    ws = make_workspace(model)
    assert ws.shape == (3, WIDTH)
    assert np.array_equal(ws[0, AXES : AXES + 9].reshape(3, 3), np.eye(3))


def test_zero_quaternions_are_refused():
    free = robots.snake(links=1)
    with pytest.raises(BadInput, match="q: the quaternion of joint 'root' is zero"):
        free.check_q(np.zeros(7))
    with pytest.raises(BadInput, match="is zero"):
        free.check_batch(np.array([[0, 0, 0, 1.0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0, 0]]))
    assert free.check_q([0, 0, 0, 3.0, 0, 0, 0])[3] == 3.0


# ----- Poses by name --------------------------------------------------------------------------------------


def test_pose_sets_joints_by_name():
    robot = ta.robots.quadruped()
    q = robot.pose(left_front_knee=-0.7, right_back_hip_lateral=0.2)
    wanted = robot.q0.copy()
    wanted[robot.joint("left_front_knee").iq], wanted[robot.joint("right_back_hip_lateral").iq] = -0.7, 0.2
    assert np.array_equal(q, wanted) and np.array_equal(robot.pose(), robot.q0)
    q[0] = 1.0
    assert robot.q0[0] == 0.0, "a pose is the caller's own"


def test_pose_of_joints_with_several_coordinates():
    robot = ta.robots.quadruped()
    q = robot.pose(root=[0, 0, 1, 2, 0, 0, 0])
    assert np.array_equal(q[:7], [0, 0, 1, 1, 0, 0, 0])
    for value, message in (
        (0.5, r"expected shape \(7,\), got \(\)"),
        ([1, 2], r"expected shape \(7,\)"),
        ([0, 0, 0, 0, 0, 0, 0], "quaternion of joint 'root' is zero"),
        ([0, 0, np.nan, 1, 0, 0, 0], "NaN"),
    ):
        with pytest.raises(ta.BadInput, match=message):
            robot.pose(root=value)


def test_pose_moves_followers():
    b = ta.ModelBuilder("gripper")
    for name in ("left", "right"):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
        mimic = {"mimic": Mimic("left finger", -2.0, 0.1)} if name == "right" else {}
        b.revolute(f"{name} finger", parent="world", child=name, **mimic)
    gripper = b.build()
    assert np.array_equal(gripper.pose(**{"left finger": 0.3}), [0.3, -0.5])
    with pytest.raises(ta.BadInput, match="'right finger' follows another"):
        gripper.pose(**{"right finger": 0.3})


def test_unknown_names_come_with_those_that_are_like_them():
    robot = ta.robots.quadruped()
    with pytest.raises(ta.BadInput, match="no moving joint 'left_front_nee'; did you mean 'left_front_knee'"):
        robot.pose(left_front_nee=0.1)
    with pytest.raises(ta.BadInput, match=r"there are root, right_back_hip_lateral, .* and 5 more"):
        robot.pose(zzz=0.1)
    with pytest.raises(ta.BadInput, match="no body"):
        robot.body("zzz")


def test_batches_of_a_model_that_does_not_move() -> None:
    b = ta.ModelBuilder("rock")
    b.body("rock", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.fixed("lies", parent="world", child="rock")
    none = np.zeros((3, 0))
    assert ta.rnea(b.build(), none, none, none).shape == (3, 0)
    assert ta.Simulation(b.build(), dt=1e-3).run(2e-3).certificate.motion == 0.0
