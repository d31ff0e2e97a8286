"""Scenarios of impacts, rolling, falling and closed loops: each passes its check, and each check can fail."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np
import pytest

import taction as ta
from scenario_battery import (
    assert_certified,
    assert_described,
    assert_sees_certificate,
    assert_sees_metric,
    run_short,
)
from taction.scenarios import Outcome, get_scenario
from taction.scenarios.falling_rod import exact_rate, moment, slip_angle
from taction.scenarios.four_bar import bar_angles, bar_rates, reduced_acceleration
from taction.scenarios.newtons_cradle import impact_law, outcome
from taction.scenarios.rolling_disk import steady_motion
from taction.steppers.schemes.dispatch import SCHEMES

# Options under which every answer is visible, short enough for every change.
SHORT = {
    "bouncing-ball": {"duration": 2.0, "dt": 1e-3},
    "newtons-cradle": {"duration": 0.3},
    "rolling-disk": {"duration": 0.3, "dt": 2e-4},
    "falling-rod": {"duration": 0.6, "dt": 2e-4},
    "dominoes": {"duration": 0.35, "parameters": {"count": 4}},
    "four-bar": {"duration": 0.3, "dt": 1e-4},
    "pendulum-impact": {"duration": 2.0},
}

scenarios = pytest.mark.parametrize("name", SHORT)


run = partial(run_short, SHORT)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in SHORT}


# ----- Every scenario ------------------------------------------------------------------------------------


@scenarios
def test_passes_its_check(name, outcomes):
    o = outcomes[name]
    assert_certified(o)
    assert o.contact == "exact"


@scenarios
@pytest.mark.parametrize("stepper", SCHEMES)
def test_passes_its_check_with_every_stepper(name, stepper):
    assert run(name, stepper=stepper).violations == []


@scenarios
def test_one_step_is_enough_to_check(name):
    scenario = get_scenario(name)
    assert scenario.run(duration=scenario.dt).violations == []


@scenarios
def test_describes_itself(name):
    assert_described(name)
    assert get_scenario(name).stepper in SCHEMES


@scenarios
def test_an_integrator_is_refused(name):
    with pytest.raises(ta.BadInput, match="it has a stepper, not an integrator"):
        run(name, integrator="rk4")


@scenarios
def test_check_sees_a_bad_certificate(name, outcomes):
    assert_sees_certificate(outcomes[name], "contact laws", residual=1e-7)
    assert_sees_certificate(outcomes[name], "unconverged", unconverged_steps=1)


@pytest.mark.parametrize(
    ("name", "parameters", "metric"),
    [
        ("bouncing-ball", {}, "drift_error"),
        ("bouncing-ball", {}, "apex_excess"),
        ("bouncing-ball", {}, "rest_time_error"),
        ("bouncing-ball", {"restitution": 1}, "energy_error"),
        ("newtons-cradle", {}, "momentum_error"),
        ("newtons-cradle", {}, "energy_error"),
        ("newtons-cradle", {}, "energy_rise"),
        ("newtons-cradle", {}, "outcome_error"),
        ("newtons-cradle", {}, "lift_error"),
        ("rolling-disk", {}, "speed_error"),
        ("rolling-disk", {}, "circle_error"),
        ("rolling-disk", {}, "place_error"),
        ("rolling-disk", {}, "lean_error"),
        ("rolling-disk", {"lean": 0}, "line_error"),
        ("falling-rod", {}, "speed_error"),
        ("falling-rod", {}, "energy_error"),
        ("falling-rod", {}, "centre_error"),
        ("falling-rod", {"friction": 0.3}, "slip_angle_error"),
        ("dominoes", {}, "energy_rise"),
        ("four-bar", {}, "angle_error"),
        ("four-bar", {}, "rate_error"),
        ("four-bar", {}, "energy_error"),
        ("four-bar", {}, "joint_gap"),
        ("pendulum-impact", {}, "speed_error"),
        ("pendulum-impact", {}, "restitution_error"),
        ("pendulum-impact", {}, "energy_error"),
        ("pendulum-impact", {"restitution": 0}, "rest_error"),
        ("pendulum-impact", {"restitution": 0}, "angle_error"),
    ],
)
def test_check_sees_a_bad_metric(name, parameters, metric, outcomes):
    assert_sees_metric(run(name, parameters) if parameters else outcomes[name], metric, 0.5, math.nan)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("newtons-cradle", {"moving": 5}, "moving must be less than count = 5, got 5"),
        ("newtons-cradle", {"gap": 1e-4}, "gap 0.0001 m is closed within two steps"),
        ("rolling-disk", {"lean": 0.01}, r"lean must be 0 or above 0.04996 rad, got 0.01"),
        ("rolling-disk", {"friction": 0.1}, r"this circle needs a friction of 0.1709, got 0.1"),
        ("dominoes", {"spacing": 0.2}, r"spacing must lie between 0.0075 and 0.0525 m, got 0.2"),
        ("dominoes", {"spacing": 0.012}, "the first one would touch the second"),
        ("four-bar", {"coupler": 0.1, "rocker": 0.1}, "the bars do not reach each other at an angle"),
        ("pendulum-impact", {"stop": "joint"}, "a joint's stop has no restitution; set restitution=0"),
        ("pendulum-impact", {"angle": 1.2}, r"it never reaches 1.2 rad from a release at -1 rad"),
    ],
)  # fmt: skip
def test_impossible_parameters(name, parameters, message):
    with pytest.raises(ta.BadInput, match=f"{name}: {message}"):
        run(name, parameters)


# ----- Bouncing ball -------------------------------------------------------------------------------------


def test_an_elastic_ball_keeps_its_energy():
    o = run("bouncing-ball", {"restitution": 1.0}, duration=10.0)
    assert o.violations == [] and o.metrics["bounces"] == 11
    assert o.metrics["energy_error"] < 1e-12


@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.8, 0.9])
@pytest.mark.parametrize("stepper", ["moreau", "stewart-trinkle", "half-flight"])
def test_ratio_of_heights(restitution, stepper):
    o = run("bouncing-ball", {"restitution": restitution, "height": 0.4, "speed": 0.7}, stepper=stepper)
    assert o.violations == []


def test_heights_and_times_are_of_order_one():
    """Ten times shorter steps: errors about ten times smaller, and within a millimetre and 5 ms."""
    coarse, fine = (run("bouncing-ball", dt=dt).metrics for dt in (1e-3, 1e-4))
    assert fine["apex_error"] < min(1e-3, 0.3 * coarse["apex_error"])
    assert fine["rest_time_error"] < min(5e-3, 0.3 * coarse["rest_time_error"])


# ----- Newton's cradle -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "moving", "e"), [(5, 1, 1.0), (5, 2, 1.0), (3, 1, 0.5), (7, 4, 0.0)])
def test_touching_balls_meet_like_two_lumps(count, moving, e):
    """V₂ − V₁ = e v and k V₁ + (n − k) V₂ = k v, against the enumeration and against the simulation."""
    v1 = (moving - e * (count - moving)) / count
    expected = np.where(np.arange(count) < moving, v1, v1 + e)
    before = np.where(np.arange(count) < moving, 1.0, 0.0)
    assert np.abs(impact_law(before, np.arange(count - 1), e) - expected).max() < 1e-14
    o = run("newtons-cradle", {"count": count, "moving": moving, "restitution": e})
    assert o.violations == []
    measured = [o.metrics[f"velocity{i}"] for i in range(count)]
    assert np.abs(np.array(measured) - expected).max() < 1e-8


@pytest.mark.parametrize("moving", [1, 2])
@pytest.mark.parametrize("stepper", SCHEMES)
def test_balls_apart_give_the_textbook_outcome(moving, stepper):
    o = run("newtons-cradle", {"gap": 0.005, "moving": moving}, stepper=stepper)
    assert o.violations == []
    measured = np.array([o.metrics[f"velocity{i}"] for i in range(5)])
    # a contact alone is solved exactly; with joints among its rows a problem is, to the solver's tolerance
    limit = 1e-9 if o.coordinates == "absolute" else 1e-12
    assert np.abs(measured - (np.arange(5) >= 5 - moving)).max() < limit


def test_energy_of_successive_impacts():
    """e = 0.8: the last ball leaves with (0.9)⁴ v."""
    o = run("newtons-cradle", {"gap": 0.01, "restitution": 0.8})
    assert o.violations == [] and o.metrics["is_resolved"] is True
    assert o.metrics["velocity4"] == pytest.approx(0.9**4, abs=1e-12)


def test_energy_lost_in_a_simultaneous_impact():
    """T⁺ − T⁻ = −½ (1 − e)/(1 + e) |v⁺ − v⁻|²."""
    before, e = np.array([1.0, 0.3, 0.0, -0.2]), 0.6
    after = impact_law(before, np.arange(3), e)
    lost = 0.5 * (before @ before - after @ after)
    assert lost == pytest.approx(0.5 * (1 - e) / (1 + e) * ((after - before) ** 2).sum(), rel=1e-12)
    assert after.sum() == pytest.approx(before.sum(), rel=1e-12)


def test_inelastic_collapse_is_not_called_resolved():
    o = run("newtons-cradle", {"gap": 0.01, "restitution": 0.2}, duration=0.5)
    assert o.metrics["is_resolved"] is False and o.violations == []


def test_nothing_happens_before_the_first_impact():
    p = get_scenario("newtons-cradle").settings({"lead": 0.2})
    assert outcome(p, 0.1)[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


# ----- Rolling disk --------------------------------------------------------------------------------------


def test_a_thin_disk_has_the_textbook_circle():
    """(C + m r²) ω₃ Ω sin θ = A Ω² sin θ cos θ − m g r cos θ for b → 0, per mass with A = r²/4, C = r²/2."""
    p = get_scenario("rolling-disk").settings({"thickness": 1e-5, "lean": 0.4})
    Omega, spin = steady_motion(p)
    r, s, c = p["radius"], math.cos(0.4), math.sin(0.4)
    left = 1.5 * r * r * spin * Omega * s
    right = 0.25 * r * r * Omega**2 * s * c - 9.81 * r * c
    assert left == pytest.approx(right, rel=1e-3)


def test_straight_rolling_keeps_its_speed():
    o = run("rolling-disk", {"lean": 0.0})
    assert o.violations == [] and o.metrics["speed_error"] < 1e-12


@pytest.mark.parametrize(
    "parameters", [{"lean": 0.8, "speed": 1.5}, {"thickness": 0.04}, {"mass": 3.0, "radius": 0.3}]
)
def test_circles(parameters):
    assert run("rolling-disk", parameters).violations == []


def test_the_circle_is_of_order_two():
    errors = [run("rolling-disk", dt=dt).metrics for dt in (2e-4, 1e-4)]
    for name in ("speed_error", "circle_error", "lean_error"):
        assert math.log2(errors[0][name] / errors[1][name]) == pytest.approx(2.0, abs=0.2)


# ----- Falling rod ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [0.1, 0.2, 0.36, 0.5, 1.0])
def test_the_tip_slips_where_the_closed_form_says(friction):
    o = run("falling-rod", {"friction": friction, "tilt": 0.2}, duration=0.8)
    assert o.violations == [] and "slip_angle" in o.metrics


def test_a_thick_rod_rolls_on_its_cap():
    o = run("falling-rod", {"friction": 0.8, "radius": 0.1, "tilt": 0.3}, duration=0.7)
    assert o.violations == [] and o.metrics["angle"] > 1.0


def test_rates_are_of_order_two():
    errors = [run("falling-rod", dt=dt).metrics["speed_error"] for dt in (4e-4, 2e-4)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_closed_forms_of_a_thin_rod():
    """I = m l²/12; about the tip θ̇² = 3 g (cos θ₀ − cos θ) / l; it slips before it lifts off at acos ⅓."""
    p = get_scenario("falling-rod").settings({"radius": 1e-4, "friction": 10.0, "tilt": 1e-3})
    assert moment(p) == pytest.approx(1 / 12, rel=1e-3)
    theta = np.array([0.5, 1.0])
    assert exact_rate(theta, p) == pytest.approx(np.sqrt(3 * 9.81 * (1 - np.cos(theta))), rel=1e-3)
    assert 0.9 < slip_angle(p) < math.acos(1 / 3)


# ----- Dominoes ------------------------------------------------------------------------------------------


def test_all_dominoes_fall_in_turn():
    o = run("dominoes", {"count": 6, "spacing": 0.02}, duration=0.6)
    assert o.violations == [] and o.metrics["fallen"] == 6 and o.metrics["in_turn"] is True
    assert 0.3 < o.metrics["wave_speed"] < 2.0
    assert o.run.energy.final < o.run.energy.initial and o.run.energy.impact < 0 and o.run.energy.friction < 0


def test_check_sees_a_domino_that_stands(outcomes):
    o = outcomes["dominoes"]
    still = dataclasses.replace(o.run, kinetic=np.append(o.run.kinetic[:-1], 0.0))
    assert get_scenario("dominoes").check({**o.metrics, "fallen": 3.0}, still) == [
        "only 3 of 4 dominoes fell"
    ]
    assert get_scenario("dominoes").check({**o.metrics, "in_turn": False}, o.run) == [
        "the dominoes did not fall in turn"
    ]


# ----- Four-bar ------------------------------------------------------------------------------------------


def test_the_loop_stays_closed_to_ten_nanometres():
    """At the default step, through the fastest part of the swing."""
    o = get_scenario("four-bar").run()
    assert o.violations == []
    assert o.metrics["joint_gap"] < 1e-8 and o.metrics["angle_error"] < 1e-4 and o.metrics["swing"] > 3.0


@pytest.mark.parametrize("loop", ["point", "hinge"])
def test_another_linkage(loop):
    given = {"loop": loop, "side": -1.0, "angle": -1.0, "rate": 2.0, "rocker": 0.6}
    assert run("four-bar", given).violations == []


def test_the_angle_is_of_order_one_and_the_gap_of_order_two():
    coarse, fine = (run("four-bar", dt=dt, duration=0.9).metrics for dt in (2e-4, 1e-4))
    assert math.log2(coarse["angle_error"] / fine["angle_error"]) == pytest.approx(1.0, abs=0.2)
    assert math.log2(coarse["joint_gap"] / fine["joint_gap"]) == pytest.approx(2.0, abs=0.2)


def test_reduced_equation_against_constrained_dynamics():
    """The reduced acceleration solves M q̈ + bias = Jᵀ λ with the loop closed, by the model's matrices."""
    scenario = get_scenario("four-bar")
    p = scenario.settings({"rate": 3.0})
    world = scenario.world(p)
    start = scenario.start(p, world)
    q, v = start["q"], start["v"]

    def gap(theta: float, phi: float, psi: float) -> np.ndarray:
        e = p["crank"] * np.exp(1j * theta) + p["coupler"] * np.exp(1j * phi) - p["rocker"] * np.exp(1j * psi)
        return np.array([e.real - p["base"], e.imag])

    phi, psi = bar_angles(p["angle"], p)
    dphi, dpsi = bar_rates(p["angle"], phi, psi, p)
    assert np.abs(gap(p["angle"], phi, psi)).max() < 1e-14
    # virtual displacement along the mechanism: q̇ = t θ̇; tᵀ (M q̈ + bias) = 0 with q̈ = t θ̈ + (∂t/∂θ) θ̇²
    eps = 1e-5
    tangents = []
    for theta in (p["angle"] - eps, p["angle"] + eps):
        f, s = bar_angles(theta, p)
        df, ds = bar_rates(theta, f, s, p)
        tangents.append(np.array([1.0, df - 1.0, ds]))
    t, slope = np.array([1.0, dphi - 1.0, dpsi]), (tangents[1] - tangents[0]) / (2 * eps)
    assert [j.name for j in world.model.joints] == ["left", "elbow", "right"]
    M, bias = ta.mass_matrix(world.model, q), ta.bias_forces(world.model, q, v)
    theta2 = -(t @ (M @ slope * p["rate"] ** 2 + bias)) / (t @ M @ t)
    assert reduced_acceleration(p["angle"], p["rate"], p) == pytest.approx(theta2, rel=1e-7)


# ----- Pendulum ------------------------------------------------------------------------------------------


def test_elastic_pendulum_keeps_its_energy_for_long():
    o = run("pendulum-impact", duration=30.0)
    assert o.violations == [] and o.metrics["hits"] > 30 and o.metrics["energy_error"] < 1e-5
    assert o.metrics["restitution_error"] < 1e-14


@pytest.mark.parametrize("angle", [-0.3, 0.0, 0.4])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_speeds_at_a_wall(angle, restitution):
    assert run("pendulum-impact", {"angle": angle, "restitution": restitution}).violations == []


@pytest.mark.parametrize("angle", [-0.5, 0.0])
@pytest.mark.parametrize("stepper", ["moreau", "stewart-trinkle", "half-flight"])
def test_a_joint_stop_stops_dead(angle, stepper):
    o = run("pendulum-impact", {"restitution": 0, "stop": "joint", "angle": angle}, stepper=stepper)
    assert o.violations == [] and o.metrics["rest_error"] < 1e-8 and o.metrics["angle_error"] < 1e-8
