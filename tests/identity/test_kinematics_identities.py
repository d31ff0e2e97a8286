"""Jacobians and configurations against finite differences, on random trees of all joint kinds."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from helpers import (
    EPS,
    PROPERTY,
    assert_close,
    cases,
)
from identities import DERIVATIVE, ROUNDING, body_of, derivative
from taction._core.arrays import Array
from taction.kinematics.configuration import configuration_rate, difference, integrate, random_state
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.model.joints import JointKind
from taction.model.model import Model

# ----- Jacobians ------------------------------------------------------------------------------------------


@PROPERTY
@given(cases())
def test_jacobian_maps_to_body_velocities(case):
    model, q, v, _ = case
    speeds = body_velocities(model, q, v)
    for b, name in enumerate(model.body_names):
        expected = np.r_[speeds.angular[b], speeds.linear[b]]
        assert_close(jacobian(model, q, name) @ v, expected, 1e-12, 1.0, name)


@PROPERTY
@given(cases())
def test_jacobian_is_the_derivative_of_forward_kinematics(case):
    model, q, _, rng = case
    name, point = body_of(case), rng.uniform(-1, 1, 3)
    b = model.body(name)
    R = forward_kinematics(model, q).rotation[b]

    def placed(unit: Array, h: float) -> Array:
        poses = forward_kinematics(model, integrate(model, q, unit, h))
        turn = poses.rotation[b] @ R.T  # its skew part is the rotation vector, to first order
        angle = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
        return np.r_[angle, poses.position[b] + poses.rotation[b] @ point]

    columns = [derivative(lambda h, unit=unit: placed(unit, h)) for unit in np.eye(model.nv)]
    assert_close(jacobian(model, q, name, point), np.transpose(columns), DERIVATIVE, 1.0)


@PROPERTY
@given(cases())
def test_jacobian_rate_times_velocity(case):
    model, q, v, rng = case
    name, point = body_of(case), rng.uniform(-1, 1, 3)
    rate = derivative(lambda h: jacobian(model, integrate(model, q, v, h), name, point) @ v)
    assert_close(jacobian_dot_v(model, q, v, name, point), rate, DERIVATIVE, 1.0)


# ----- Configurations -------------------------------------------------------------------------------------


def orientations(model: Model, q: Array) -> Array:
    """Quaternions in a configuration, shape (k, 4)."""
    ends = [j.q_slice.stop for j in model.joints if j.kind.nq > j.kind.nv]
    return np.array([q[end - 4 : end] for end in ends]).reshape(-1, 4)


@PROPERTY
@given(cases())
def test_difference_inverts_integration(case):
    """For turns below π: v is drawn from [−2, 2], so up to 2√3 rad; half a second keeps them short."""
    model, q, v, _ = case
    assert_close(difference(model, q, integrate(model, q, v, 0.5)), 0.5 * v, ROUNDING, 1.0)


@PROPERTY
@given(cases())
def test_integration_inverts_difference(case):
    model, q, _, rng = case
    r, _ = random_state(model, rng, 3.0)
    reached = integrate(model, q, difference(model, q, r))
    norms = np.linalg.norm(orientations(model, reached), axis=1)
    assert_close(norms, np.ones_like(norms), 4 * EPS)
    for joint in model.joints:
        a, b = reached[joint.q_slice], r[joint.q_slice]
        if joint.kind.nq > joint.kind.nv and a[-4:] @ b[-4:] < 0:
            a[-4:] *= -1
        assert_close(a, b, ROUNDING, 1.0)


@PROPERTY
@given(cases())
def test_integration_follows_the_rate(case):
    model, q, v, _ = case
    qdot = np.empty(model.nq)
    configuration_rate(model.tree, q, v, qdot)
    assert_close(derivative(lambda h: integrate(model, q, v, h)), qdot, DERIVATIVE, 1.0)


@PROPERTY
@given(cases(max_bodies=4, kinds=(JointKind.SPHERICAL, JointKind.FLOATING)))
def test_orientations_stay_unit_over_many_steps(case):
    model, q, v, _ = case
    for _ in range(300):
        q = integrate(model, q, v, 0.01)
    norms = np.linalg.norm(orientations(model, q), axis=1)
    assert_close(norms, np.ones_like(norms), 4 * EPS)
