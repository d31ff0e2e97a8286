"""The scenes of SimBenchmark: each passes its check and reaches its figures, and each check can fail."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import taction as ta
from scenario_battery import assert_passed, assert_sees_certificate, assert_sees_metric
from taction.cli.output import to_json
from taction.scenarios import SCENARIOS, Outcome, get_scenario
from taction.scenarios.simbench_666 import overlaps
from taction.scenarios.simbench_rolling import DIRECTIONS, box_acceleration
from taction.steppers.columns import CONTACTS

# Duration [s] and parameters: as short and small as still shows the answers.
SHORT = {
    "simbench-rolling": (0.2, {}),
    "simbench-bouncing": (2.5, {}),
    "simbench-666": (0.3, {"per_side": 3}),
    "simbench-elastic-666": (0.8, {"per_side": 3}),
    "simbench-stand": (40.0, {}),
    "simbench-energy": (0.2, {}),
    "simbench-momentum": (1.2, {}),
}
scenes = pytest.mark.parametrize("name", SHORT)


def run(name: str, **options) -> Outcome:
    duration, parameters = SHORT[name]
    return get_scenario(name).run(**{"duration": duration, "parameters": parameters, **options})


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in SHORT}


def test_every_scene_is_here():
    assert {name for name in SCENARIOS if name.startswith("simbench-")} == set(SHORT)


@scenes
def test_passes_its_check(name, outcomes):
    assert_passed(outcomes[name])
    assert json.loads(to_json(outcomes[name].summary()))["metrics"]["blew_up"] is False


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("simbench-rolling", "velocity_error"),
        ("simbench-rolling", "worst_velocity_error"),
        ("simbench-bouncing", "relative_energy_error"),
        ("simbench-bouncing", "spread"),
        ("simbench-bouncing", "sideways"),
        ("simbench-666", "penetration_error"),
        ("simbench-666", "deepest"),
        ("simbench-666", "momentum_error"),
        ("simbench-666", "energy_gain"),
        ("simbench-elastic-666", "relative_energy_error"),
        ("simbench-elastic-666", "unbooked"),
        ("simbench-elastic-666", "momentum_error"),
        ("simbench-stand", "height_drift"),
        ("simbench-stand", "sideways_drift"),
        ("simbench-stand", "weight_error"),
        ("simbench-energy", "relative_energy_error"),
        ("simbench-momentum", "relative_momentum_error"),
    ],
)
def test_check_sees_a_bad_metric(name, metric, outcomes):
    assert_sees_metric(outcomes[name], metric, 0.9, math.nan)


@pytest.mark.parametrize("name", [n for n in SHORT if n != "simbench-energy"])
def test_check_sees_a_bad_certificate(name, outcomes):
    assert_sees_certificate(outcomes[name], "contact laws", residual=1e-6)


# ----- Rolling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rolling_follows_the_closed_form(direction):
    outcome = run("simbench-rolling", duration=0.05, parameters={"direction": direction})
    assert outcome.violations == [] and outcome.metrics["velocity_error"] < 1e-12


def test_rolling_acceleration_balances_forces():
    """a₁ from Newton's laws written out: box, ball, and no slip between them."""
    p = get_scenario("simbench-rolling").settings({})
    a1 = box_acceleration(p)
    a2 = a1 / 3.5
    spin = a1 - a2  # r α
    drive = p["ball_mass"] * a2
    assert 0.4 * p["ball_mass"] * spin == pytest.approx(drive, rel=1e-14)  # (2/5) m r² α = f r
    weight = 9.81 * (p["box_mass"] + 25 * p["ball_mass"])
    assert p["box_mass"] * a1 == pytest.approx(p["force"] - 0.4 * weight - 25 * drive, rel=1e-12)


@pytest.mark.parametrize("force", [137.0, 1000.0])
def test_rolling_refuses_what_has_no_closed_form(force):
    with pytest.raises(ta.BadInput, match="a sliding box and rolling balls"):
        run("simbench-rolling", parameters={"force": force})


# ----- Balls ---------------------------------------------------------------------------------------------


def test_bouncing_keeps_its_energy(outcomes):
    metrics = outcomes["simbench-bouncing"].metrics
    assert metrics["bounces"] == 1.0 and metrics["energy_error"] < 1e-6


def test_bouncing_returns_to_its_height():
    """The highest step after a bounce is within ⅛ g h² of the top of the parabola."""
    outcome = run("simbench-bouncing", duration=4.0)
    assert outcome.metrics["bounces"] == 2.0 and outcome.metrics["height_error"] <= 9.81 * 0.01**2 / 8


def test_bouncing_by_another_rule_loses_energy():
    outcome = run("simbench-bouncing", stepper="stewart-trinkle", duration=1.5)
    assert any("energy" in text for text in outcome.violations)


def test_666_touches_and_does_not_overlap(outcomes):
    outcome = outcomes["simbench-666"]
    assert outcome.run.records[:, CONTACTS].max() >= 27
    assert outcome.metrics["penetration_error"] < 1e-6 and outcome.metrics["energy_left"] < 0.99


def test_overlaps_by_hand():
    """Two balls 30 mm into each other, one 20 mm in the ground, at one of two times."""
    scenario = get_scenario("simbench-666")
    outcome = scenario.run(duration=1e-3, parameters={"per_side": 2})
    q = np.array(outcome.run.q)
    place = q.reshape(2, 8, 7)
    place[:, :, :3] = np.arange(8)[:, None] * [1.0, 0.0, 0.0] + [0.0, 0.0, 1.0]
    place[1, 1, :3] = place[1, 0, :3] + [0.0, 0.17, 0.0]
    place[1, 2, 2] = 0.08
    squared, deepest = overlaps(dataclasses.replace(outcome.run, q=q))
    assert squared == pytest.approx((0.03**2 + 0.02**2) / 2, rel=1e-12)
    assert deepest == pytest.approx(0.03, rel=1e-12)


def test_elastic_666_bounces_without_loss(outcomes):
    outcome = outcomes["simbench-elastic-666"]
    assert outcome.run.records[:, CONTACTS].max() >= 9
    assert outcome.metrics["energy_error"] < 1e-6


# ----- Robots --------------------------------------------------------------------------------------------


def test_stand_asks_nothing_before_there_was_time_to_rest():
    outcome = run("simbench-stand", duration=0.05)
    assert outcome.violations == [] and outcome.metrics["height_drift"] > 0.0


def test_energy_sees_a_worse_method():
    outcome = run("simbench-energy", integrator="explicit-euler")
    forged = dataclasses.replace(outcome.run, integrator="RungeKutta4")
    assert outcome.violations == []
    assert get_scenario("simbench-energy").check(outcome.metrics, forged)


def test_momentum_is_of_order_one():
    """Half the step, half the error: the ball has hit in both, and the robot turns."""
    errors = [
        run("simbench-momentum", dt=dt, stepper="stewart-trinkle").metrics["relative_momentum_error"]
        for dt in (1e-3, 5e-4)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)


def test_momentum_comes_from_the_ball(outcomes):
    """The ball and the robot it hits share its momentum."""
    metrics = outcomes["simbench-momentum"].metrics
    assert 0.0 < metrics["ball_speed"] < 5.0 and metrics["impulse"] > 10.0
