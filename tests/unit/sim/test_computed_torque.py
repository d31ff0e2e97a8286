"""Computed torque with contact: exact in the nominal world, errors that die out, a world that differs."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.scenarios.walking_motion import heavier
from taction.sim.inverse_dynamics import Answer

H = 1e-3


def arm():
    """Two links that swing freely, and a path for them."""
    sim = ta.Simulation(ta.World(ta.robots.chain(2)), dt=H)
    t = 1e-2 * np.arange(101)
    samples = np.stack([0.4 * np.sin(3.0 * t) ** 2, -0.2 * np.sin(2.0 * t) ** 2], axis=1)
    return sim, ta.JointPath(tuple(j.name for j in sim.model.joints), samples)


@pytest.fixture(scope="module")
def walker():
    world = ta.World(ta.robots.planar_humanoid(bend=0.6), ground=ta.Plane(friction=0.8))
    sim = ta.Simulation(world, dt=H, stepper="stewart-trinkle")
    return sim, ta.planar_walk(sim.model, speed=0.6, period=1.0, start=0.05, ramp=0.5).path


def test_in_the_nominal_world_it_is_inverse_dynamics(walker):
    """Motion and forces are those of drives along the path, through contact."""
    sim, path = walker
    control = ta.ComputedTorque(sim, path)
    run, driven = sim.run(0.4, controller=control), sim.run(0.4, controller=ta.PathDrives(sim.model, path, H))
    assert control.answers == {Answer.SOLVED: 400}
    assert np.abs(run.q[:, 2:] - path.at(run.t)[0]).max() < 1e-10
    # heel and toe share the load in many ways: which is selected is rounding times its condition
    np.testing.assert_allclose(run.tau, driven.tau, atol=1e-4 * np.abs(driven.tau).max())


def test_errors_obey_their_differential_equation():
    """ë + k_d ė + k_p e = 0 with critical gains: e = (1 + ω t) e^{−ω t} e₀, to first order in the step."""
    sim, path = arm()
    start = path(0.0)[0] + [0.1, -0.05]
    run = sim.run(0.5, q=start, controller=ta.ComputedTorque(sim, path, kp=100.0))
    error = run.q - path.at(run.t)[0]
    exact = (1.0 + 10.0 * run.t) * np.exp(-10.0 * run.t)
    np.testing.assert_allclose(error, exact[:, None] * [0.1, -0.05], atol=0.01 * 0.1)


def test_a_heavier_robot_follows_with_an_error_of_the_model(walker):
    """What is missing of the force is what the masses are off: 1 % leads to 1 % of the error of 2 %."""
    sim, path = walker
    errors = []
    for off in (0.01, 0.02):
        real = ta.Simulation(ta.World(heavier(sim.model, off)), dt=H, stepper=sim.stepper)
        run = real.run(0.3, controller=ta.ComputedTorque(sim, path))
        errors.append(np.abs(run.q[:, 2:] - path.at(run.t)[0]).max())
    assert 1e-5 < errors[0] < 1e-2
    assert errors[1] / errors[0] == pytest.approx(2.0, rel=0.1)


def test_limits_are_kept_and_counted(walker):
    sim, path = walker
    control = ta.ComputedTorque(sim, path, limit=20.0)
    run = sim.run(0.2, controller=control)
    assert np.abs(run.tau).max() <= 20.0 * (1.0 + 1e-9)
    assert control.answers[Answer.LIMITED] > 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s, p: ta.ComputedTorque(s.world, p), "must be a Simulation"),
        (lambda s, p: ta.ComputedTorque(s, None), "path must be"),
        (lambda s, p: ta.ComputedTorque(s, p, kp=-1.0), "kp must be finite and not negative"),
        (lambda s, p: ta.ComputedTorque(s, p, kd=[1.0, 2.0, 3.0]), "one number or 2"),
        (lambda s, p: ta.ComputedTorque(s, p, limit=-1.0), "negative"),
        (lambda s, p: ta.ComputedTorque(ta.Simulation(s.model, integrator="rk4"), p), "integrator"),
        (lambda s, p: ta.InverseDynamics(s).after(), "nothing was solved"),
    ],
)
def test_wrong_input_is_one_clear_line(call, text):
    with pytest.raises(ta.BadInput, match=text) as found:
        call(*arm())
    assert "\n" not in str(found.value)
