"""Springs and dampers: the force they give, how they add, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import EPS, assert_close
from taction._core.errors import BadInput
from taction.dynamics.joint_law import JointLaw, joint_law, joint_law_force, passive_law
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia

BALL = Inertia(1.0, np.zeros(3), np.eye(3))


@pytest.fixture(scope="module")
def model():
    """A floating base with a hinge and a ball joint; the hinge has a spring and a damper of its own."""
    b = ModelBuilder()
    for name in ("base", "arm", "hand"):
        b.body(name, BALL)
    b.floating("free", child="base", damping=0.1)
    b.revolute(
        "hinge", parent="base", child="arm", stiffness=3.0, rest=0.5, damping=0.2, initial=np.array([0.4])
    )
    b.spherical("ball", parent="arm", child="hand", damping=(1.0, 2.0, 3.0))
    return b.build()


def force(law: JointLaw, q, v, tau=None, lookahead=0.0):
    v = np.asarray(v, dtype=float)
    out = np.full(len(v), np.nan)
    joint_law_force(
        law, np.asarray(q, dtype=float), v, np.zeros(len(v)) if tau is None else tau, lookahead, out
    )
    return out


def test_the_model_s_own_springs_and_dampers(model):
    q, v = model.q0.copy(), np.arange(1.0, 11.0)
    q[7] = 1.5
    expected = np.r_[-0.1 * v[:6], -3.0 * (1.5 - 0.5) - 0.2 * v[6], -np.array([1.0, 2.0, 3.0]) * v[7:]]
    assert_close(force(passive_law(model), q, v), expected, 4 * EPS)


def test_proportional_derivative(model):
    """k_p (ρ − q) + k_d (σ − v), on top of what is there; springs of quaternion joints are left out."""
    v, tau = np.linspace(-1, 1, 10), np.ones(10)
    q_rest = model.q0.copy()
    q_rest[7] = 0.9
    law = joint_law(model, 20.0, 2.0, q_rest, 0.3)
    expected = tau + 2.0 * (0.3 - v)
    expected[6] += 20.0 * (0.9 - model.q0[7])
    assert_close(force(law, model.q0, v, tau), expected, 8 * EPS)
    assert law.K.tolist() == [0.0] * 6 + [20.0] + [0.0] * 3


def test_lookahead_is_the_end_of_the_step(model):
    law, v = joint_law(model, 20.0), np.ones(10)
    assert_close(force(law, model.q0, v, lookahead=0.01)[6], -20.0 * 0.01, 100 * EPS)


def test_rest_is_the_neutral_configuration_by_default(model):
    assert_close(force(joint_law(model, 20.0, 1.0), model.q0, np.zeros(10)), np.zeros(10), 1.0, 20 * EPS)


def test_laws_add(model):
    q, v = model.q0 + 0.1, np.ones(10)
    a, b = passive_law(model), joint_law(model, 5.0, 1.0)
    assert_close(force(a + b, q, v), force(a, q, v) + force(b, q, v), 8 * EPS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stiffness": -1.0}, "must not be negative"),
        ({"damping": np.full(10, -1.0)}, "must not be negative"),
        ({"stiffness": np.ones(3)}, "stiffness: expected one number or 10"),
        ({"damping": np.nan}, "damping: contains NaN or infinity"),
        ({"stiffness": np.inf}, "stiffness: contains NaN or infinity"),
        ({"v_rest": np.ones(3)}, "v_rest: expected one number or 10"),
        ({"q_rest": np.ones(3)}, "q: expected shape"),
        ({"stiffness": np.ones(10)}, "stiffness is for joints with scalar coordinates only"),
    ],
)
def test_bad_input(model, arguments, message):
    with pytest.raises(BadInput, match=message):
        joint_law(model, **arguments)
