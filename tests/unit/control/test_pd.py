"""Proportional–derivative control: the law it becomes, what it accepts, and what it does to a motion."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

FLOATING = 6  # degrees of freedom of the quadruped's base


def law_of(controller: ta.PD, model: ta.Model):
    return controller.joint_law(model)


def test_one_gain_for_all_scalar_joints_and_none_for_the_base():
    model = ta.robots.quadruped()
    law = law_of(ta.PD(kp=100.0, kd=2.0), model)
    assert (law.K[:FLOATING] == 0).all() and (law.D[:FLOATING] == 0).all() and (law.b[:FLOATING] == 0).all()
    assert (law.K[FLOATING:] == 100).all() and (law.D[FLOATING:] == 2).all()
    np.testing.assert_array_equal(law.b[FLOATING:], 100 * model.q0[7:])


def test_gains_and_targets_by_joint():
    model = ta.robots.double_pendulum()
    law = law_of(ta.PD(kp=[3.0], kd=[0.5], target=[0.7], joints=["elbow"], target_velocity=[2.0]), model)
    np.testing.assert_array_equal(law.K, [0.0, 3.0])
    np.testing.assert_array_equal(law.D, [0.0, 0.5])
    np.testing.assert_allclose(law.b, [0.0, 3.0 * 0.7 + 0.5 * 2.0])


def test_joints_may_come_in_any_order():
    model = ta.robots.double_pendulum()
    law = law_of(ta.PD(kp=[1.0, 2.0], target=[0.1, 0.2], joints=["elbow", "shoulder"]), model)
    np.testing.assert_array_equal(law.K, [2.0, 1.0])
    np.testing.assert_allclose(law.b, [0.4, 0.1])


def test_target_as_a_whole_configuration():
    model = ta.robots.quadruped()
    whole = np.array(model.q0)
    whole[7:] += np.linspace(0.1, 0.2, 16)
    a, b = law_of(ta.PD(kp=10.0, target=whole), model), law_of(ta.PD(kp=10.0, target=whole[7:]), model)
    np.testing.assert_array_equal(a.b, b.b)


def test_universal_joints_have_two_loops_each():
    model = ta.robots.snake(links=3)
    law = law_of(ta.PD(kp=[1.0, 2.0], joints=[model.joints[1].name]), model)
    np.testing.assert_array_equal(law.K[6:8], [1.0, 2.0])
    assert (law.K[8:] == 0).all()


def test_the_law_is_the_force_that_explicit_euler_applies():
    """Sampled at the start of the step, a law and the same formula as a function give the same motion."""
    model, target = ta.robots.double_pendulum(), np.array([0.3, -0.2])

    def feedback(t, q, v):
        return 40.0 * (target - q) + 3.0 * (0.5 - v)

    sim = ta.Simulation(model, dt=1e-3, integrator="explicit-euler")
    law = ta.PD(kp=40.0, kd=3.0, target=target, target_velocity=0.5)
    a, b = sim.run(0.5, q=[1.0, 0.0], controller=law), sim.run(0.5, q=[1.0, 0.0], controller=feedback)
    np.testing.assert_allclose(a.q, b.q, atol=1e-12)
    np.testing.assert_allclose(a.tau[:-1], b.tau[:-1], atol=1e-10)


def test_a_held_pose_sags_by_the_weight_over_the_gain():
    """At rest k_p (target − q) = g(q)."""
    model = ta.robots.double_pendulum()
    law = ta.PD(kp=500.0, kd=60.0, target=[0.8, 0.4])
    run = ta.Simulation(model, dt=1e-3).run(10.0, q=[0.8, 0.4], controller=law)
    assert np.abs(run.v[-1]).max() < 1e-9
    np.testing.assert_allclose(
        500.0 * (np.array([0.8, 0.4]) - run.q[-1]), ta.gravity_forces(model, run.q[-1]), atol=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kp": [1.0, 2.0, 3.0]}, r"kp needs one number or 2, got shape \(3,\)"),
        ({"kp": 1.0, "kd": [[1.0]]}, r"kd needs one number or 2"),
        ({"kp": 1.0, "target": [1.0, 2.0, 3.0]}, r"target needs one number or 2"),
        ({"kp": 1.0, "target_velocity": [1.0]}, r"target_velocity needs one number or 2"),
        ({"kp": -1.0}, "must not be negative"),
        ({"kp": 1.0, "kd": -0.1}, "must not be negative"),
        ({"kp": np.nan}, "NaN or infinity"),
        ({"kp": np.inf}, "NaN or infinity"),
        ({"kp": 1.0, "target": [np.nan, 0.0]}, "NaN or infinity"),
        ({"kp": 1.0, "joints": ["knee"]}, "no moving joint 'knee'; there are shoulder, elbow"),
    ],
)
def test_bad_gains(options, message):
    with pytest.raises(ta.BadInput, match=message):
        law_of(ta.PD(**options), ta.robots.double_pendulum())


def test_quaternion_joints_cannot_be_chosen():
    with pytest.raises(ta.BadInput, match="only joints with scalar coordinates"):
        law_of(ta.PD(kp=1.0, joints=["root"]), ta.robots.quadruped())
