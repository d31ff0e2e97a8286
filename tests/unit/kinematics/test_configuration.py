"""Configuration arithmetic: conventions per joint, edges, input checks. Identities: tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import EPS, assert_close, random_case
from taction._core.errors import BadInput
from taction.kinematics.configuration import (
    difference,
    integrate,
    integrate_configuration,
    normalize_configuration,
    random_state,
)
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.math.transform import rotation_about, rotation_from_quaternion
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import Model

BALL = Inertia(1.0, np.zeros(3), np.eye(3))


def single(kind: str) -> Model:
    b = ModelBuilder()
    b.body("a", BALL)
    b.joint("j", kind, parent="world", child="a")
    return b.build()


@pytest.fixture(scope="module")
def free():
    return single("floating")


def test_floating_velocity_is_linear_in_the_world_and_angular_in_the_body(free):
    """A body turned a quarter about z that spins about its own x spins about the world's y."""
    q = np.r_[1.0, 2.0, 3.0, np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)]
    v = np.array([0.1, 0.2, 0.3, 2.0, 0, 0])
    speeds = body_velocities(free, q, v)
    assert_close(speeds.linear[0], [0.1, 0.2, 0.3], EPS)
    assert_close(speeds.angular[0], [0, 2.0, 0], 4 * EPS)
    moved = integrate(free, q, v, 0.5)
    assert_close(moved[:3], [1.05, 2.1, 3.15], 4 * EPS)
    turned = rotation_about([0, 1, 0], 1.0) @ rotation_about([0, 0, 1], np.pi / 2)
    assert_close(rotation_from_quaternion(moved[3:]), turned, 8 * EPS)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "planar"])
def test_scalar_coordinates_add(kind):
    model = single(kind)
    q, v = np.arange(1.0, model.nq + 1), np.full(model.nv, 100.0)
    assert np.array_equal(integrate(model, q, v, 0.5), q + 50.0)
    assert np.array_equal(difference(model, q, q + 50.0), np.full(model.nv, 50.0))


def test_a_whole_turn_comes_back_with_the_other_sign(free):
    q = free.q0
    turned = integrate(free, q, [0, 0, 0, 0, 0, 2 * np.pi])
    assert_close(turned[3:], [-1, 0, 0, 0], 4 * EPS)
    assert_close(difference(free, q, turned), np.zeros(6), 1.0, 4 * EPS)


def test_difference_is_the_shortest_turn(free):
    turned = integrate(free, free.q0, [0, 0, 0, 0, 0, 4.0])
    assert_close(difference(free, free.q0, turned)[3:], [0, 0, 4.0 - 2 * np.pi], 8 * EPS)


def test_zero_velocity_changes_nothing_but_the_length_of_quaternions(free):
    q = np.array([1.0, 2, 3, 2, 0, 0, 0])
    assert np.array_equal(integrate(free, q, np.zeros(6)), [1, 2, 3, 1, 0, 0, 0])


def test_integration_in_place_and_apart_agree():
    model, q, v, _ = random_case(3, 6)
    out = np.full(model.nq, np.nan)
    integrate_configuration(model.tree, q, v, 0.1, out)
    integrate_configuration(model.tree, q, v, 0.1, q)
    assert np.array_equal(out, q)


def test_inputs_are_left_alone():
    model, q, v, _ = random_case(4, 5)
    before = q.copy(), v.copy()
    integrate(model, q, v)
    difference(model, q, q)
    assert np.array_equal(q, before[0]) and np.array_equal(v, before[1])


def test_normalisation():
    model, q, _, _ = random_case(5, 8, kinds=(JointKind.SPHERICAL, JointKind.FLOATING, JointKind.REVOLUTE))
    scaled = q.copy()
    for joint in model.joints:
        if joint.kind.nq > joint.kind.nv:
            scaled[joint.q_slice][-4:] *= 3.0
    poses = forward_kinematics(model, scaled)  # placements do not care
    assert_close(poses.position, forward_kinematics(model, q).position, 1e-14)
    normalize_configuration(model.tree, scaled)
    assert_close(scaled, q, 4 * EPS)


def test_random_states_repeat_and_are_valid():
    model = random_case(6, 8).model
    q, v = random_state(model, np.random.default_rng(1), spread=0.5)
    again, _ = random_state(model, np.random.default_rng(1), spread=0.5)
    assert np.array_equal(q, again)
    assert np.abs(v).max() <= 0.5
    for joint in model.joints:
        if joint.kind.nq > joint.kind.nv:
            assert_close(np.linalg.norm(q[joint.q_slice][-4:]), 1.0, 4 * EPS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, q, v: integrate(m, q[:-1], v), "q: expected shape"),
        (lambda m, q, v: integrate(m, q, v[:-1]), "v: expected shape"),
        (lambda m, q, v: integrate(m, q * np.nan, v), "q: contains NaN"),
        (lambda m, q, v: integrate(m, q, v * np.inf), "v: contains NaN or infinity"),
        (lambda m, q, v: difference(m, q, q[:-1]), "q1: expected shape"),
    ],
)
def test_bad_input(free, call, message):
    with pytest.raises(BadInput, match=message):
        call(free, np.ones(7), np.ones(6))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: integrate(m, m.q0, np.ones(6), np.nan),
        lambda m: integrate(m, np.ones((2, 7)), np.ones((2, 6))),
        lambda m: difference(m, np.ones((2, 7)), np.ones((2, 7))),
    ],
)
def test_more_bad_input(free, call):
    """One state per call, and a finite time: anything else should be said so, not left to Numba."""
    with pytest.raises(BadInput):
        call(free)
