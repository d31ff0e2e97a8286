"""Walks of the planar robots: inverse dynamics and back, controllers, model errors, pushes, and falls."""

from __future__ import annotations

import numpy as np
import pytest

from scenario_battery import (
    assert_certified,
    assert_described,
    assert_sees_certificate,
    assert_sees_metric,
    run_short,
)
from taction.model.shapes import Plane
from taction.robots import walker
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.walking_motion import (
    cone_margin,
    fall_time,
    motor_dofs,
    round_trip_error,
    walking_metrics,
)
from taction.sim.simulation import Simulation
from taction.sim.world import World

SHORT = {
    "humanoid-walk": {"duration": 2.5, "parameters": {"recorded": 2.5}},
    "four-legged-walk": {"duration": 2.0, "parameters": {"recorded": 2.0}},
}
CLOSED = ("computed-torque", "replay-feedback")
PUSH = {"humanoid-walk": 19.0, "four-legged-walk": 9.0}  # [N s]

walks = pytest.mark.parametrize("name", SHORT)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run_short(SHORT, name) for name in SHORT}


@walks
def test_a_walk_by_inverse_dynamics_passes_every_check(name, outcomes):
    assert_described(name)
    o = outcomes[name]
    assert_certified(o)
    m, run = o.metrics, o.run
    assert m["falls"] == 0.0 and m["round_trip_error"] <= 1e-10 and 0.0 < m["cone_margin"] <= 1.0
    assert m["distance"] == pytest.approx(m["planned_distance"], abs=1e-3)
    assert run.certificate.penetration == 0.0
    height = run.q[:, 1]
    assert np.ptp(height) < 1e-5  # of the torso
    assert m["peak_force"] < 1.3 * 9.81 * run.model.total_mass  # no impacts


@walks
def test_the_forces_of_the_ground_are_newtons(name, outcomes):
    """Their mean over whole periods of the steady walk is the weight, and nothing ahead."""
    run, p = outcomes[name].run, outcomes[name].parameters
    n = round(p["period"] / run.dt)
    total = -run.contact_forces()["world"][-n - 100 : -100]
    weight = 9.81 * run.model.total_mass
    assert total[:, 2].mean() == pytest.approx(weight, rel=1e-3)
    assert abs(total[:, 0].mean()) < 2e-3 * weight


@walks
def test_checks_see_what_is_wrong(name, outcomes):
    o = outcomes[name]
    assert_sees_certificate(o, "residual", residual=1e-6)
    assert_sees_certificate(o, "overlap", penetration=1e-5)
    assert_sees_metric(o, "round_trip_error", 1e-9)
    assert_sees_metric(o, "least_force", -1.0)
    assert_sees_metric(o, "contact_work", 1.0)
    fallen = {**o.metrics, "falls": 1.0, "fall_time": 1.0}
    assert len(get_scenario(name).check(fallen, o.run)) == 1


@walks
def test_a_round_trip_sees_forces_that_are_off(name, outcomes):
    """A torque that is off by a millionth is seen."""
    from dataclasses import replace

    run = outcomes[name].run
    wrong = replace(run, tau=run.tau * (1.0 + 1e-6))
    assert round_trip_error(wrong, samples=50) > 1e-9


@pytest.mark.long
@walks
@pytest.mark.parametrize("controller", CLOSED)
def test_closed_loops_walk_with_wrong_masses_and_pushes(name, controller):
    o = run_short(SHORT, name, {"controller": controller, "model_error": 0.01})
    assert o.violations == [] and o.metrics["falls"] == 0.0
    o = run_short(SHORT, name, {"controller": controller, "push": PUSH[name], "push_time": 0.8})
    assert o.violations == [] and o.metrics["falls"] == 0.0
    assert o.metrics["distance"] == pytest.approx(o.metrics["planned_distance"], abs=0.1)


@pytest.mark.long
@walks
def test_open_loops_fall_under_the_same(name):
    for change in ({"model_error": 0.01}, {"push": PUSH[name], "push_time": 0.8}):
        o = run_short(SHORT, name, {"controller": "replay", **change})
        assert o.violations == [] and o.metrics["falls"] == 1.0
        assert o.run.t[-1] == o.metrics["fall_time"] < 2.0  # a run ends there
        assert o.run.q[-1, 1] < 0.5 * o.run.q[0, 1] <= o.run.q[-2, 1]


def test_margins_of_friction_are_those_of_the_walk():
    """The same walk on other ground needs the same friction: μ (1 − margin) is the ratio it uses."""
    used = []
    for mu in (0.8, 0.4):
        o = run_short(SHORT, "humanoid-walk", {"mu": mu}, duration=1.5)
        used.append(mu * (1.0 - o.metrics["cone_margin"]))
        assert cone_margin(o.run, 2.0 * mu) == pytest.approx(1.0 - used[-1] / (2.0 * mu))
    assert used[0] == pytest.approx(used[1], rel=1e-3)


def test_too_little_friction_slides():
    o = run_short(SHORT, "humanoid-walk", {"mu": 0.05})
    assert o.metrics["cone_margin"] == pytest.approx(0.0, abs=1e-9) and o.metrics["contact_work"] < -1e-3
    assert o.violations == []
    assert abs(o.metrics["distance"] - o.metrics["planned_distance"]) > 1e-3


def test_motors_have_limits():
    o = run_short(SHORT, "humanoid-walk", {"torque_limit": 150.0})
    assert o.metrics["peak_torque"] == pytest.approx(150.0) and o.violations == []


@pytest.mark.long
@walks
@pytest.mark.parametrize("contact", ["convex", "lcp"])
def test_other_laws_walk_as_well(name, contact):
    o = run_short(SHORT, name, contact=contact, duration=0.6)
    assert o.violations == [] and o.metrics["falls"] == 0.0


def test_other_schemes_and_springs_walk_as_well():
    """Schemes that remember more than a run records are not asked for the round trip."""
    o = run_short(SHORT, "humanoid-walk", stepper="midpoint", duration=0.6)
    assert o.violations == [] and o.metrics["falls"] == 0.0 and "round_trip_error" not in o.metrics
    o = run_short(SHORT, "humanoid-walk", contact="penalty", duration=0.3, dt=2e-4)
    assert o.violations == [] and o.metrics["falls"] == 0.0


def test_a_floating_robot_is_measured_alike():
    """The document's quadruped stands under joint controllers, and is dropped on its side."""
    robot = walker()
    world = World(robot.model, ground=Plane(friction=0.5))
    q = world.place_on_ground(robot.stance)
    run = Simulation(world, dt=1e-3).run(0.1, q=q, controller=robot.controller(world.model))
    m = walking_metrics(run, 0.5)
    assert m["falls"] == 0.0 and abs(m["distance"]) < 0.01 and 0.0 < m["cone_margin"] <= 1.0
    assert m["peak_force"] == pytest.approx(9.81 * run.model.total_mass / 4.0, rel=0.5)
    assert m["peak_torque"] == pytest.approx(np.abs(run.tau[:-1, 6:]).max())
    q[3:7] = [np.cos(0.6), np.sin(0.6), 0.0, 0.0]  # leans by 1.2 rad
    q[2] += 1.0
    assert fall_time(Simulation(world, dt=1e-3).run(0.01, q=q)) == 0.0
    held = Simulation(world, dt=1e-3).run(
        0.05, q=world.place_on_ground(robot.stance), controller=lambda t, q, v: np.zeros(22)
    )
    assert round_trip_error(held) <= 1e-10


@walks
def test_what_drives_a_robot(name, outcomes):
    model = outcomes[name].run.model
    np.testing.assert_array_equal(motor_dofs(model), np.arange(2, model.nv))
