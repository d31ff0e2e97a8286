"""Scenarios of predictive control: what they promise, in short runs; and that their checks can fail."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.scenarios import get_scenario


@pytest.mark.parametrize("method", ["admm", "miqp", "direct", "enumeration"])
def test_pushers_do_what_the_plan_says(method):
    """The simulator in the steps of the plan: its states are those of the plan."""
    outcome = get_scenario("pushers").run(
        duration=0.5, dt=0.05, parameters={"method": method, "horizon": 4, "seed": 3}
    )
    assert outcome.violations == []
    assert outcome.metrics["prediction_error"] < (1e-8 if method == "direct" else 1e-9)
    assert outcome.metrics["infeasible_solves"] == 0


@pytest.mark.parametrize("seed", [0, 7, 21, 33])
def test_the_puck_comes_to_rest_at_its_target(seed):
    outcome = get_scenario("pushers").run(parameters={"seed": seed})
    assert outcome.violations == []
    assert outcome.metrics["final_error"] < 1e-3
    assert outcome.metrics["final_speed"] < 1e-2


def test_the_puck_comes_back_after_a_push_and_with_other_masses():
    parameters = {"push": 1.0, "push_time": 1.0, "model_error": 0.1}
    outcome = get_scenario("pushers").run(parameters=parameters)
    assert outcome.metrics["final_error"] < 1e-3
    assert outcome.run.v[:, 0].max() > 0.3


def test_walls_save_what_a_regulator_loses():
    scenario = get_scenario("cartpole-walls")
    saved = scenario.run(duration=3.0, parameters={"push": 6.0})
    lost = scenario.run(duration=3.0, parameters={"push": 6.0, "controller": "lqr", "walls": False})
    alone = scenario.run(duration=3.0, parameters={"push": 6.0, "walls": False})
    assert saved.violations == [] and not saved.metrics["fell"]
    assert saved.metrics["wall_impulse"] > 0.5
    assert lost.metrics["fell"] and alone.metrics["fell"]


@pytest.mark.long
def test_a_hanging_pole_swings_up_by_a_wall():
    outcome = get_scenario("cartpole-swing").run(duration=1.5)
    assert outcome.violations == []
    assert outcome.metrics["time_up"] < 1.4 and outcome.metrics["wall_impulse"] > 1.0
    assert outcome.run.certificate.residual <= 1e-8


@pytest.mark.long
def test_a_block_follows_its_path():
    outcome = get_scenario("planar-push").run(duration=0.4)
    assert outcome.violations == []
    assert outcome.metrics["path_error"] < 5e-3
    moved = outcome.run.q[-1, :2] - outcome.run.q[0, :2]
    assert np.linalg.norm(moved) == pytest.approx(0.04, rel=0.2)


@pytest.mark.long
def test_a_block_that_is_too_slow_is_off_its_path():
    """The check can fail: half a metre per second is too fast at once."""
    outcome = get_scenario("planar-push").run(duration=0.3, parameters={"speed": 0.5, "amplitude": 0.1})
    assert outcome.metrics["path_error"] > 5e-3
    assert any("from the path" in line for line in outcome.violations)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("pushers", {"method": "magic"}, "method: choose from miqp, admm, direct, enumeration"),
        ("pushers", {"horizon": 0}, "horizon: must be"),
        ("pushers", {"plan_dt": 0.033}, "must be a whole multiple of dt"),
        ("planar-push", {"method": "enumeration"}, "modes"),
    ],
)
def test_wrong_parameters_are_one_line(name, parameters, message):
    with pytest.raises(ta.BadInput, match=message):
        get_scenario(name).run(duration=0.1, parameters=parameters)
