"""Travelling waves and moving targets: equations (52) and (53), rates, ramps, and that joints follow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taction as ta
from taction.control.tracking import Tracking
from taction.control.waves import MotionPattern, Wave, follow, inchworm, lateral_undulation, sidewinding

GAINS = {"kp": (400.0, 200.0), "kd": (20.0, 10.0)}


def test_the_equations_of_the_document():
    pattern = MotionPattern(Wave(0.5, 2.0, -0.8, 0.1), Wave(0.3, 1.5, 0.4, -0.2, 0.7))
    angle, _ = pattern.at(1.3, 4)
    for i in range(1, 5):
        h = 0.5 * math.sin(2.0 * 1.3 + (i - 1) * -0.8) + 0.1
        v = 0.3 * math.sin(1.5 * 1.3 + (i - 1) * 0.4 + 0.7) - 0.2
        np.testing.assert_allclose(angle[i - 1], [h, v], rtol=1e-14)


def test_the_wave_runs_from_head_to_tail():
    """What joint 1 did, joint 2 does |δ/ω| later."""
    wave = lateral_undulation()
    late = wave.at(1.0 + 50.0 / 135.0, 2)[0]
    assert late[1, 0] == pytest.approx(wave.at(1.0, 2)[0][0, 0])


@pytest.mark.parametrize("ramp", [0.0, 2.0])
def test_rates_are_derivatives(ramp):
    """Central differences of step d err by d²/6 times the third derivative, below 100 here."""
    pattern = MotionPattern(Wave(0.5, 2.0, -0.8, 0.1), Wave(0.3, 3.0, 0.4, -0.2, 0.7), ramp)
    t, d = np.linspace(0.1, 3.0, 30), 1e-5
    difference = (pattern.at(t + d, 3)[0] - pattern.at(t - d, 3)[0]) / (2 * d)
    np.testing.assert_allclose(pattern.at(t, 3)[1], difference, atol=100 * d**2 / 6 + 1e-10)


def test_the_ramp_starts_from_nothing_and_ends_with_the_wave():
    with_ramp, without = lateral_undulation(turn=0.1, ramp=0.7), lateral_undulation(turn=0.1)
    angle, rate = with_ramp.at(0.0, 5)
    assert not angle.any() and not rate.any()
    for t in (0.7, 2.0):
        for a, b in zip(with_ramp.at(t, 5), without.at(t, 5), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


def test_named_patterns():
    """Defaults of lateral undulation are the document's; each pattern has the waves that it should."""
    wave = lateral_undulation().horizontal
    assert np.degrees([wave.amplitude, wave.frequency, wave.phase]).tolist() == pytest.approx([30, 135, -50])
    assert lateral_undulation(turn=0.2).horizontal.offset == 0.2
    assert lateral_undulation().vertical == Wave() == inchworm().horizontal
    side = sidewinding(lift=0.2, lead=-1.0)
    assert side.vertical.lead == -1.0 and side.vertical.frequency == side.horizontal.frequency
    assert lateral_undulation().period == pytest.approx(2 * math.pi / math.radians(135))
    assert MotionPattern().period == math.inf


def test_a_wave_to_the_tail_arrives_later_at_higher_joints():
    pattern = lateral_undulation()
    late = -pattern.horizontal.phase / pattern.horizontal.frequency
    np.testing.assert_allclose(pattern.at(0.4, 5)[0][:-1], pattern.at(0.4 + late, 5)[0][1:], atol=1e-14)


def test_joints_follow_with_an_error_of_first_order():
    """In free fall with stiff gains only the lag of one step is left: |α − ρ| ≤ h |α̇|, and halves with h."""
    model = ta.robots.snake(links=3, gravity=(0.0, 0.0, 0.0))
    pattern = lateral_undulation(ramp=0.5)
    worst = []
    for dt in (2e-3, 1e-3):
        control = follow(model, pattern, kp=(1e7, 1e7), kd=(1e5, 1e5))
        run = ta.Simulation(model, dt=dt).run(1.0, controller=control)
        angle = pattern.at(run.t, 2)[0].reshape(len(run.t), -1)
        late = run.q[1:, 7:] - angle[:-1]
        assert np.abs(late).max() < 0.1 * np.abs(run.q[1:, 7:] - angle[1:]).max()
        worst.append(np.abs(run.q[:, 7:] - angle).max())
    assert worst[1] == pytest.approx(0.5 * worst[0], rel=0.1)
    assert worst[1] <= 1.1e-3 * np.abs(pattern.at(np.linspace(0.0, 1.0, 1001), 2)[1]).max()


def test_force_is_that_of_the_loops():
    """Gains and drive together are k_p (ρ − q) + k_d (σ − v)."""
    model = ta.robots.snake(links=3)
    pattern = sidewinding()
    control = follow(model, pattern, **GAINS)
    rng = np.random.default_rng(3)
    q, v = np.array(model.q0), rng.normal(size=model.nv)
    q[7:] = rng.normal(size=4)
    law = control.joint_law(model)
    drive = control.drive(model, control.schedule(np.array([0.8])))[0]
    force = drive[6:] - law.K[6:] * q[7:] - law.D[6:] * v[6:]
    angle, rate = (x.ravel() for x in pattern.at(0.8, 2))
    kp, kd = np.tile([400.0, 200.0], 2), np.tile([20.0, 10.0], 2)
    np.testing.assert_allclose(force, kp * (angle - q[7:]) + kd * (rate - v[6:]), rtol=1e-12)
    assert not drive[:6].any() and not law.K[:6].any() and not law.b.any()


def test_a_batch_gives_the_bits_of_a_run():
    world = ta.World(ta.robots.snake(links=3), ground=ta.Plane(friction=1.0))
    sim = ta.Simulation(world, dt=2e-3)
    control = follow(world.model, lateral_undulation(ramp=0.1), **GAINS)
    run = sim.run(0.1, controller=control)
    start = np.concatenate([world.model.q0, np.zeros(world.model.nv)])[None]
    by_schedule = sim.rollout(start, steps=50, controller=control)
    commands = control.schedule(2e-3 * np.arange(50))
    by_command = sim.rollout(start, commands, controller=control)
    for batch in (by_schedule, by_command):
        assert batch.q[0].tobytes() == run.q.tobytes() and batch.v[0].tobytes() == run.v.tobytes()


def test_bad_input():
    model = ta.robots.snake(links=3, joint_limit=0.6)
    with pytest.raises(ta.BadInput, match=r"horizontal wave reaches 0\.7 rad, but joint1 turns from -0\.6"):
        follow(model, lateral_undulation(amplitude=0.5, turn=0.2), **GAINS)
    with pytest.raises(ta.BadInput, match=r"vertical wave reaches -1\.6 rad"):
        follow(ta.robots.snake(links=2), inchworm(amplitude=1.6), **GAINS)
    with pytest.raises(ta.BadInput, match="no universal joint"):
        follow(ta.robots.snake(links=1), lateral_undulation(), **GAINS)
    with pytest.raises(ta.BadInput, match="'root' has no two axes"):
        follow(model, lateral_undulation(amplitude=0.1), **GAINS, joints=["root"])
    with pytest.raises(ta.BadInput, match="amplitude must be a finite number, got nan"):
        Wave(math.nan)
    with pytest.raises(ta.BadInput, match="ramp must be finite and at least 0"):
        MotionPattern(ramp=-1.0)
    with pytest.raises(ta.BadInput, match="reference positions"):
        Tracking(model, lambda t: (np.zeros(3), np.zeros(4)), kp=1.0)
    with pytest.raises(ta.BadInput, match="reference must be a function"):
        Tracking(model, 3.0, kp=1.0)
    with pytest.raises(ta.BadInput, match="stiffness and damping must not be negative"):
        follow(model, lateral_undulation(amplitude=0.1), kp=(-1.0, 1.0), kd=(0.0, 0.0))
    control = follow(model, lateral_undulation(amplitude=0.1), **GAINS)
    with pytest.raises(ta.BadInput, match="belongs to snake, not to chain"):
        control.joint_law(ta.robots.chain(2))
