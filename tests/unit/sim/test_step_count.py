"""Runs that no memory holds are refused before they begin, and not by whatever fails first."""

import math

import pytest

import taction as ta
from taction.sim.step_count import require_room, whole_steps


@pytest.fixture(scope="module")
def ball():
    return ta.World(ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 1)), ground=ta.Plane())


@pytest.mark.parametrize(("dt", "duration"), [(1e-12, 1.0), (1e-300, 1.0), (1e-3, 1e9), (1e-3, 1e300)])
def test_runs_beyond_memory_are_refused(ball, dt, duration):
    sim = ta.Simulation(ball, dt=dt)
    with pytest.raises(ta.BadInput, match=r"^\S+ steps of \S+ s need .* GiB, this machine has .*; choose a"):
        sim.run(duration)


@pytest.mark.parametrize("duration", [-1.0, math.inf, math.nan])
def test_durations_are_finite(ball, duration):
    with pytest.raises(ta.BadInput, match="duration must be finite and not negative"):
        ta.Simulation(ball, dt=1e-3).run(duration)


def test_a_robot_without_contact_is_asked_too():
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-9)
    with pytest.raises(ta.BadInput, match="GiB, this machine has"):
        sim.run(1e6)


def test_rollouts_beyond_memory_are_refused(ball):
    sim = ta.Simulation(ball, dt=1e-3)
    with pytest.raises(ta.BadInput, match=r"^1 worlds of 1e\+13 steps need .* GiB, this machine has"):
        sim.rollout([sim.state()], steps=10**13)


def test_steps_are_rounded():
    assert whole_steps(0.3, 0.1, 10) == 3
    assert whole_steps(0.0, 0.1, 10) == 0
    require_room(10**6, "x", "y")
