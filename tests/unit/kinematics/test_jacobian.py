"""Jacobians: a closed form, welded bodies, and input checks. Derivatives are in tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from taction._core.errors import BadInput
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia

BALL = Inertia(1.0, np.zeros(3), np.eye(3))


@pytest.fixture(scope="module")
def arm():
    """A turntable about z, a slide along x on it, and a table that does not move."""
    b = ModelBuilder("arm")
    for name in ("disc", "slider", "table"):
        b.body(name, BALL)
    b.revolute("turn", parent="world", child="disc")
    b.prismatic("slide", parent="disc", child="slider", axis=(1, 0, 0))
    b.fixed("floor", parent="world", child="table", pose=Transform(translation=(0, 0, -1)))
    return b.build()


def test_polar_coordinates(arm):
    """[ω; ẋ] = [z θ̇; r θ̇ e_θ + ṙ e_r], and ẍ − J v̇ = −r θ̇² e_r + 2 ṙ θ̇ e_θ."""
    angle, r, turning, sliding = 0.4, 2.0, 0.7, -0.3
    radial, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
    J = jacobian(arm, [angle, r], "slider")
    assert_close(J, np.array([np.r_[0, 0, 1, r * across], np.r_[0, 0, 0, radial]]).T, 1e-15)
    products = jacobian_dot_v(arm, [angle, r], [turning, sliding], "slider")
    expected = -r * turning**2 * radial + 2 * sliding * turning * across
    assert_close(products, np.r_[0, 0, 0, expected], 1e-15)


def test_a_point_of_the_body(arm):
    """A point y to the side of the slider adds −y θ̇ along the slide."""
    J = jacobian(arm, [0.0, 2.0], "slider", (0.0, 0.5, 0.0))
    assert_close(J[3:], [[-0.5, 1.0], [2.0, 0.0], [0.0, 0.0]], 1e-15)


def test_what_is_welded_to_the_world_does_not_move(arm):
    assert not jacobian(arm, [0.1, 0.2], "table").any()
    assert not jacobian_dot_v(arm, [0.1, 0.2], [1.0, 1.0], "table").any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: jacobian(m, [0.0], "disc"), "q: expected shape"),
        (lambda m: jacobian(m, [0.0, np.nan], "disc"), "q: contains NaN"),
        (lambda m: jacobian(m, [0.0, 0.0], "ghost"), "arm: no body 'ghost'"),
        (lambda m: jacobian(m, [0.0, 0.0], "disc", (0, 0)), "point: expected shape"),
        (lambda m: jacobian_dot_v(m, [0.0, 0.0], [0.0], "disc"), "v: expected shape"),
        (lambda m: jacobian_dot_v(m, [0.0, 0.0], [0.0, 0.0], "disc", (0, 0, np.inf)), "point: contains NaN"),
    ],
)
def test_bad_input(arm, call, message):
    with pytest.raises(BadInput, match=message):
        call(arm)


def test_batches_are_refused(arm):
    with pytest.raises(BadInput):
        jacobian(arm, np.zeros((3, 2)), "disc")
