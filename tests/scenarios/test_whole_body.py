"""Robots that walk by whole-body control: on their feet, where they should be, pushed, with other masses."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from scenario_battery import assert_described, assert_passed, assert_sees_metric
from taction.scenarios import get_scenario
from taction.scenarios.whole_body_scenario import ROUND_TRIP

pytestmark = pytest.mark.filterwarnings("ignore::taction.UnsupportedFeatureWarning")


@pytest.fixture(scope="module")
def g1():
    return get_scenario("humanoid-3d-walk").run(duration=4.0)


@pytest.mark.parametrize("name", ["humanoid-3d-walk", "quadruped-walk", "push-recovery"])
def test_describes_itself(name):
    assert_described(name)


def test_a_humanoid_walks(g1):
    assert_passed(g1)
    m = g1.metrics
    assert m["falls"] == 0 and m["steps"] == 4  # one in 0.7 s, after a second
    assert m["distance"] == pytest.approx(m["planned_distance"], abs=0.05)
    assert m["cone_margin"] > -1e-6 and m["round_trip_error"] <= ROUND_TRIP
    assert 0.0 < m["peak_torque"] <= 139.0  # the strongest motor of the file


def test_torques_keep_the_limits_of_the_file(g1):
    run = g1.run
    assert (np.abs(run.tau[:, 6:]) <= run.model.effort[6:] * (1.0 + 1e-9)).all()
    assert not run.tau[:, :6].any()


def test_the_check_sees_falls_and_round_trips(g1):
    assert_sees_metric(g1, "round_trip_error", 1e-6)
    forged = {**g1.metrics, "falls": 1.0, "fall_time": 1.0, "curved_path": 1e-6}
    assert any("fell" in text for text in get_scenario("humanoid-3d-walk").check(forged, g1.run))


def test_a_quadruped_trots_and_takes_another_mass():
    outcome = get_scenario("quadruped-walk").run(duration=3.5, parameters={"model_error": 0.05})
    assert_passed(outcome)
    m = outcome.metrics
    assert m["distance"] == pytest.approx(m["planned_distance"], abs=0.1)


@pytest.mark.long
def test_steps_go_where_the_robot_would_fall():
    """A push that planned footsteps do not survive, and adapted ones do."""
    scenario, push = get_scenario("push-recovery"), {"push": 14.0, "push_direction": 180.0}
    adapted = scenario.run(duration=5.5, parameters=push)
    planned = scenario.run(duration=5.5, parameters={**push, "adapts": False})
    assert adapted.metrics["falls"] == 0 and planned.metrics["falls"] == 1
    assert adapted.violations == []


def test_a_push_is_what_it_says():
    """Momentum over the push in the air, where nothing else but gravity acts: the impulse."""
    robot = ta.robots.walker()
    push = ta.Push((1.0, -2.0, 0.5), at=0.01, lasting=0.05)
    controller = ta.with_push(lambda t, q, v: np.zeros(robot.model.nv), robot.model, push)
    q = robot.stance.copy()
    q[2] += 5.0
    run = ta.Simulation(ta.World(robot.model, ground=ta.Plane()), dt=1e-3).run(
        0.08, q=q, controller=controller
    )
    change = ta.totals(robot.model, run.q[-1], run.v[-1]).linear_momentum
    gravity = robot.model.total_mass * 9.81 * 0.08
    np.testing.assert_allclose(change, [1.0, -2.0, 0.5 - gravity], atol=1e-2)  # order 1 of the step
