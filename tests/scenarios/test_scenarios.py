"""Every scenario runs and passes its own check; and every check can fail."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pkgutil

import numpy as np
import pytest

import taction as ta
import taction.scenarios
from scenario_battery import assert_described, assert_passed, assert_sees_certificate, assert_sees_metric
from taction.cli.output import plain, to_json
from taction.scenarios import SCENARIOS, Outcome, Parameter, Scenario, get_scenario
from taction.scenarios.double_pendulum import normal_mode
from taction.scenarios.spinning_top import precession_rate
from taction.scenarios.tolerance import error_bound, fastest_rate, method_of
from taction.steppers import INTEGRATORS

# Scenarios of smooth motion: long enough that every answer is visible, short enough for every change.
SHORT = {
    "double-pendulum": 1.0,
    "swinging-chain": 0.5,
    "spinning-top": 0.3,
    "quadruped-flight": 0.3,
    "stiff-servo": 0.5,
}

scenarios = pytest.mark.parametrize("name", SHORT)


def run(name: str, **options) -> Outcome:
    return get_scenario(name).run(**{"duration": SHORT[name], **options})


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in SHORT}


# ----- Every scenario ------------------------------------------------------------------------------------


@scenarios
def test_passes_its_check(name, outcomes):
    assert_passed(outcomes[name])


@scenarios
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_passes_its_check_with_every_integrator(name, integrator):
    """Tolerances follow the order of the method: one check for all."""
    outcome = run(name, integrator=integrator, duration=0.3 * SHORT[name])
    if (name, integrator) == ("stiff-servo", "explicit-euler"):
        assert outcome.metrics == {"blew_up": True}
    else:
        assert outcome.violations == []


@scenarios
def test_one_step_is_enough_to_check(name):
    scenario = get_scenario(name)
    assert scenario.run(duration=scenario.dt).violations == []


@scenarios
def test_describes_itself(name):
    assert_described(name)
    assert get_scenario(name).integrator in INTEGRATORS


@scenarios
def test_summary_is_json(name, outcomes):
    summary = json.loads(to_json(outcomes[name].summary()))
    assert {
        "scenario",
        "contact",
        "solver",
        "coordinates",
        "integrator",
        "dt",
        "steps",
        "wall_s",
    } <= summary.keys()
    assert {"first_call_s", "certificate", "energy", "metrics", "checks"} <= summary.keys()
    assert summary["contact"] is None and summary["coordinates"] == "reduced"
    assert {
        "signorini",
        "cone",
        "dissipation",
        "motion",
        "joint_gap",
        "penetration",
        "unconverged_steps",
    } <= summary["certificate"].keys()
    assert {"initial", "final", "actuation", "friction", "impact", "joint_friction", "remainder"} <= summary[
        "energy"
    ].keys()
    assert summary["metrics"] == plain(outcomes[name].metrics)


def test_every_file_is_registered():
    """A new scenario is one file and one line; nobody forgets the line."""
    shared = {
        "base",
        "metric_units",
        "parameter",
        "tolerance",
        "snake_motion",
        "quadruped_motion",
        "walking_motion",
        "walking_scenario",
        "predictive_scenario",
        "whole_body_scenario",
    }
    modules = {m.name for m in pkgutil.iter_modules(taction.scenarios.__path__)} - shared
    found = {type(s).__module__.rsplit(".", 1)[1] for s in SCENARIOS.values()}
    assert found == modules
    for module in modules:
        text = importlib.import_module(f"taction.scenarios.{module}").__doc__ or ""
        assert "xact answer" in text, f"{module} does not say what is exact"


# ----- Every check can fail ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in SHORT if n != "stiff-servo"])
def test_check_sees_a_worse_method(name):
    """A run by Euler's method, presented as one of order 4, is found out."""
    outcome = run(name, integrator="explicit-euler", duration=0.3 * SHORT[name])
    forged = dataclasses.replace(outcome.run, integrator="RungeKutta4")
    assert get_scenario(name).check(outcome.metrics, forged)


@scenarios
def test_check_sees_a_bad_certificate(name, outcomes):
    assert_sees_certificate(outcomes[name], "equation of motion", motion=1e-3)
    assert_sees_certificate(outcomes[name], "equation of motion", motion=math.nan)
    assert_sees_certificate(outcomes[name], "quaternion", quaternion=1e-3)
    assert_sees_certificate(outcomes[name], "unconverged", unconverged_steps=1)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("double-pendulum", "energy_error"),
        ("swinging-chain", "energy_error"),
        ("spinning-top", "precession_error"),
        ("spinning-top", "nutation_error"),
        ("spinning-top", "spin_error"),
        ("spinning-top", "energy_error"),
        ("quadruped-flight", "momentum_error"),
        ("quadruped-flight", "com_error"),
        ("quadruped-flight", "energy_error"),
    ],
)
def test_check_sees_a_bad_metric(name, metric, outcomes):
    assert_sees_metric(outcomes[name], metric, 0.5, math.nan)


@pytest.mark.parametrize("name", [n for n in SHORT if n != "stiff-servo"])
def test_check_is_not_a_formality(name, outcomes):
    """What the default method and step allow is small."""
    run, angular = outcomes[name].run, slice(3, None) if name == "quadruped-flight" else slice(None)
    assert error_bound(run, fastest_rate(run.v[:, angular], run.dt)) < 1e-4


# ----- Double pendulum -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("point_masses", [False, True])
def test_normal_mode_is_an_eigenvector_of_the_model(mode, point_masses):
    """The closed form against the model's own mass matrix and the slope of its weight."""
    scenario = get_scenario("double-pendulum")
    given = {"mode": mode, "point_masses": point_masses, "m1": 2.0, "m2": 0.7, "l1": 0.8, "l2": 1.3}
    values = scenario.settings(given)
    simulation, start = scenario.build(values, dt=1e-3, integrator="rk4")
    model, eps = simulation.model, 1e-6
    K = np.array([ta.gravity_forces(model, eps * e) / eps for e in np.eye(2)]).T
    omega, _ = normal_mode(values)
    residual = K @ start["q"] - omega**2 * ta.mass_matrix(model, np.zeros(2)) @ start["q"]
    assert np.abs(residual).max() < 1e-6 * np.abs(K @ start["q"]).max()


@pytest.mark.parametrize("mode", [1, 2])
def test_frequency_of_a_normal_mode(mode):
    outcome = run("double-pendulum", duration=6.0, parameters={"mode": mode})
    assert outcome.violations == [] and outcome.metrics["frequency_error"] < 1e-5


def test_frequency_needs_two_zeros():
    outcome = run("double-pendulum", duration=0.1, parameters={"mode": 1})
    assert outcome.violations == ["the run is too short to measure a frequency: q1 has fewer than two zeros"]
    assert json.loads(to_json(outcome.summary()))["metrics"]["frequency"] is None


def test_damped_pendulum_closes_its_ledger():
    outcome = run("double-pendulum", parameters={"damping": 0.5})
    assert outcome.violations == [] and outcome.run.energy.joint_friction < -1.0


# ----- Spinning top --------------------------------------------------------------------------------------


def test_precession_solves_its_equation():
    """A cos θ Ω² − C ω₃ Ω + m g l = 0."""
    p = get_scenario("spinning-top").settings({})
    m, r, l = p["mass"], p["radius"], p["height"]
    A, C = m * (3 * r**2 + 0.02**2) / 12 + m * l**2, m * r**2 / 2
    Omega = precession_rate(p)
    terms = np.array([A * math.cos(p["tilt"]) * Omega**2, -C * p["spin"] * Omega, m * 9.81 * l])
    assert abs(terms.sum()) < 1e-12 * np.abs(terms).max()


def test_a_hanging_top_precesses_the_same_way():
    """Beyond 90° there is always a steady precession, however slow the spin."""
    outcome = run("spinning-top", parameters={"tilt": 2.5, "spin": 20.0})
    assert outcome.violations == [] and outcome.metrics["precession_rate"] > 0


def test_a_slow_top_is_refused():
    with pytest.raises(ta.BadInput, match=r"spin 10 rad/s is too slow to stay up; at least 75\.04 is needed"):
        run("spinning-top", parameters={"spin": 10.0})


# ----- Quadruped -----------------------------------------------------------------------------------------


def test_held_legs_fly_the_same_parabola():
    limp, held = (run("quadruped-flight", parameters={"legs": legs}) for legs in ("limp", "held"))
    assert held.violations == []
    assert held.metrics["peak_height"] == pytest.approx(limp.metrics["peak_height"], abs=1e-6)
    assert held.run.energy.actuation != 0.0 and limp.run.energy.actuation == 0.0


def test_stiff_servo_leaves_what_its_modes_say():
    outcome = run("stiff-servo", parameters={"deflection": 1e-3}, duration=1.0)
    metrics = outcome.metrics
    assert metrics["stable"] is True
    assert metrics["energy_left"] == pytest.approx(metrics["energy_left_exact"], rel=0.1)
    assert metrics["fastest_mode"] == pytest.approx(1398, abs=1)


def test_stiff_servo_blows_up_when_explicit():
    outcome = run("stiff-servo", parameters={"implicit": False})
    assert outcome.run is None and outcome.integrator == "explicit-euler"
    assert outcome.metrics == {"blew_up": True}
    assert len(outcome.violations) == 1 and "finite" in outcome.violations[0]
    assert outcome.summary()["energy"]["final"] is None and outcome.summary()["steps"] is None


@pytest.mark.parametrize("steps", [30, 45, 48, 49])
def test_stiff_servo_is_caught_before_it_overflows(steps):
    """Energies of 10¹⁸⁴, accelerations that are infinite: a violation, never a crash or bad input."""
    outcome = run("stiff-servo", parameters={"implicit": False}, duration=steps * 5e-4)
    assert outcome.violations
    json.loads(to_json(outcome.summary()))


def test_stiff_servo_with_another_integrator():
    with pytest.raises(ta.BadInput, match="implicit=false means explicit Euler"):
        run("stiff-servo", parameters={"implicit": False}, integrator="rk4")


# ----- Parameters and sizes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q3": 1.0}, "double-pendulum: unknown parameter 'q3'; there are q1, q2, m1"),
        ({"q1": "one"}, "double-pendulum: q1: expected a number, got 'one'"),
        ({"q1": math.nan}, "double-pendulum: q1: must be finite, got nan"),
        ({"m1": 0.0}, "double-pendulum: m1: must be at least 1e-06, got 0.0"),
        ({"amplitude": 2.0}, "double-pendulum: amplitude: must be between 1e-09 and 0.5, got 2.0"),
        ({"mode": 1.5}, "double-pendulum: mode: expected a whole number, got '1.5'"),
        ({"mode": 3}, "double-pendulum: mode: choose from 0, 1, 2, got 3"),
        ({"point_masses": "maybe"}, "double-pendulum: point_masses: expected true or false, got 'maybe'"),
        ({"point_masses": 1}, "double-pendulum: point_masses: expected true or false, got '1'"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(ta.BadInput) as error:
        run("double-pendulum", parameters=given)
    assert str(error.value).startswith(message)


def test_parameters_are_read_from_text_and_from_python():
    scenario = get_scenario("swinging-chain")
    assert scenario.settings({"links": "3", "planar": "True", "angle": "1e-1"}) == scenario.settings(
        {"links": 3, "planar": True, "angle": 0.1}
    )
    assert Parameter("x", 1.0, "m", "one", maximum=2.0).read(" 1.5 ") == 1.5
    with pytest.raises(ta.BadInput, match="x: must be at most 2, got 3"):
        Parameter("x", 1.0, "m", "one", maximum=2.0).read(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 0.0}, "duration must be positive"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"duration": math.nan}, "duration must be positive"),
        ({"duration": 1e-9}, "shorter than one step"),
        ({"dt": 1e-12}, "GiB, this machine has .*; choose a larger dt"),
        ({"duration": 1e300}, "GiB, this machine has .*; choose a larger dt"),
        ({"dt": 0.0}, "dt must be positive"),
        ({"integrator": "euler"}, "unknown integrator 'euler'"),
    ],
)
def test_bad_run_options(options, message):
    with pytest.raises(ta.BadInput, match=message):
        run("double-pendulum", **options)


def test_unknown_scenario_lists_the_choices():
    with pytest.raises(
        ta.BadInput, match="unknown scenario 'pendulum'; choose from double-pendulum, swinging-chain"
    ):
        get_scenario("pendulum")


# ----- Tolerances ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [n for n in INTEGRATORS if n != "dormand-prince"])
def test_error_bound_has_the_order_of_the_method(integrator):
    bounds = []
    for dt in (4e-3, 2e-3):
        r = run("double-pendulum", integrator=integrator, dt=dt, duration=0.4).run
        assert method_of(r) is INTEGRATORS[integrator]
        bounds.append(error_bound(r, 2.0))
    assert math.log2(bounds[0] / bounds[1]) == pytest.approx(INTEGRATORS[integrator].order, abs=0.05)


def test_error_bound_is_never_above_one():
    assert error_bound(run("double-pendulum", duration=0.1).run, 1e9) == 1.0


def test_a_scenario_that_reports_nothing_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Scenario()
