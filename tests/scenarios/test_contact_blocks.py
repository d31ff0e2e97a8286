"""Blocks, stacks, grasps and spheres: the scenarios with exact answers under constant loads."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import taction as ta
from scenario_battery import assert_passed, assert_sees_certificate, assert_sees_metric
from taction.cli.main import main
from taction.cli.output import to_json
from taction.scenarios import SCENARIOS, Outcome, get_scenario
from taction.scenarios.block_push import exact_acceleration
from taction.scenarios.box_stack import masses
from taction.scenarios.rolling_sphere import exact_motion

NAMES = [
    "block-slope", "block-push", "pinched-capsule", "gecko", "box-stack", "rolling-sphere",
    "sliding-to-rolling",
]  # fmt: skip
STEPPERS = ["half-flight", "stewart-trinkle", "moreau", "anitescu-potra"]
DIRECTIONS = [0.0, 37.0, 45.0, 90.0, 200.0]
# Velocities under constant loads are exact in every scheme; what is left is the solvers' tolerance, 10⁻⁹ of
# the free velocity in each step, times 10 for the step from residuals to velocities: accelerations to 10⁻⁸ g.
EXACT = 1e-8


def run(name: str, *, duration: float = 0.1, options: dict | None = None, **parameters) -> Outcome:
    return get_scenario(name).run(duration=duration, parameters=parameters, **(options or {}))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in NAMES}


# ----- All of them ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stepper", STEPPERS)
def test_passes_its_check_with_every_scheme(name, stepper):
    assert_passed(run(name, options={"stepper": stepper}))


@pytest.mark.parametrize("name", NAMES)
def test_one_step_is_enough_to_check(name):
    assert run(name, duration=SCENARIOS[name].dt).violations == []


@pytest.mark.parametrize("name", NAMES)
def test_passes_with_a_large_step(name):
    assert run(name, options={"dt": 1e-2}).violations == []


@pytest.mark.parametrize("name", NAMES)
def test_summary_is_json(name, outcomes):
    summary = json.loads(to_json(outcomes[name].summary()))
    assert summary["contact"] == "exact" and summary["integrator"] == "half-flight"
    assert summary["certificate"]["residual"] <= 1e-9 and summary["checks"] == []


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("block-slope", "acceleration"),
        ("block-slope", "displacement"),
        ("block-slope", "threshold_error"),
        ("block-push", "acceleration_error"),
        ("block-push", "displacement"),
        ("block-push", "pyramid_threshold"),
        ("block-push", "pyramid_direction_error"),
        ("pinched-capsule", "displacement"),
        ("pinched-capsule", "creep_rate"),
        ("pinched-capsule", "rotation"),
        ("pinched-capsule", "load_error"),
        ("gecko", "displacement"),
        ("gecko", "rotation"),
        ("gecko", "pull"),
        ("box-stack", "displacement"),
        ("box-stack", "tilt"),
        ("box-stack", "force_error"),
        ("box-stack", "load_error"),
        ("rolling-sphere", "acceleration_error"),
        ("rolling-sphere", "spin_error"),
        ("rolling-sphere", "displacement"),
        ("rolling-sphere", "slip_speed"),
        ("rolling-sphere", "friction_work"),
        ("sliding-to-rolling", "final_speed_error"),
        ("sliding-to-rolling", "momentum_error"),
        ("sliding-to-rolling", "rolling_time_error"),
        ("sliding-to-rolling", "friction_work_error"),
    ],
)
def test_check_sees_a_bad_metric(name, metric, outcomes):
    assert_sees_metric(outcomes[name], metric, 0.5, math.nan)


@pytest.mark.parametrize("name", NAMES)
def test_check_sees_a_bad_certificate(name, outcomes):
    assert_sees_certificate(outcomes[name], "contact laws", residual=1e-3)


def test_an_integrator_is_refused():
    with pytest.raises(ta.BadInput, match="it has a stepper, not an integrator"):
        run("block-slope", options={"integrator": "rk4"})


# ----- Block on a slope ----------------------------------------------------------------------------------


def test_block_holds_on_the_command_line(capsys):
    """Ten seconds at 20° with μ = 0.5: a nanometre would be too far."""
    assert main(["run", "block-slope", "--set", "angle=20", "--set", "mu=0.5", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["steps"] == 10_000
    assert abs(summary["metrics"]["displacement"]) <= 1e-9 and summary["metrics"]["slides"] is False


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("angle", [0.0, 5.0, 20.0, 30.0, 60.0, 85.0])
def test_block_sticks_or_slides(angle, mu):
    outcome = run("block-slope", angle=angle, mu=mu, duration=0.05)
    a = math.radians(angle)
    exact = max(0.0, 9.81 * (math.sin(a) - mu * math.cos(a)))
    assert outcome.violations == []
    assert outcome.metrics["acceleration"] == pytest.approx(exact, abs=EXACT * 9.81)
    assert outcome.metrics["slides"] is (exact > 0.0)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_displacement_has_the_order_of_its_scheme(stepper):
    """Where positions move by mean velocities they are exact; by new ones ½ a h t too far."""
    duration, dt = 0.2, 2e-3
    m = run("block-slope", angle=40.0, duration=duration, options={"stepper": stepper, "dt": dt}).metrics
    ahead = 0.0 if stepper in ("moreau", "half-flight") else 0.5 * m["acceleration_exact"] * duration * dt
    assert m["displacement"] - m["displacement_exact"] == pytest.approx(ahead, abs=EXACT * duration**2)


@pytest.mark.parametrize("offset", [1e-3, 1e-5])
def test_threshold_decides_the_run_itself(offset):
    limit = math.degrees(math.atan(0.5))
    below, over = (run("block-slope", angle=limit + s * offset, duration=0.2) for s in (-1.0, 1.0))
    assert below.violations == over.violations == []
    assert over.metrics["acceleration"] > 100.0 * abs(below.metrics["acceleration"])
    assert over.metrics["threshold_error"] <= 1e-6


def test_a_regularised_block_is_found_out(outcomes):
    """A creep of 50 µm/s, as regularised friction has, is far above what the check allows."""
    metrics = {**outcomes["block-slope"].metrics, "displacement": 50e-6 * 0.1}
    assert SCENARIOS["block-slope"].check(metrics, outcomes["block-slope"].run)


def test_convex_block_loses_what_it_lifts():
    options = {"contact": "convex", "stepper": "stewart-trinkle"}
    outcome = run("block-slope", angle=40.0, duration=0.5, options=options)
    m = outcome.metrics
    assert outcome.violations == []
    # μ² h a once, so μ² h / t of the acceleration
    assert m["acceleration_error"] == pytest.approx(0.25 * 1e-3 / 0.5, rel=0.05)


# ----- Pushed block --------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_push_holds_below_and_slides_above(direction):
    """Of the 0.0005 m/s² at 1.0001 nothing is lost in any direction."""
    held = run("block-push", ratio=0.9999, direction=direction)
    slid = run("block-push", ratio=1.0001, direction=direction)
    assert held.violations == slid.violations == []
    assert held.metrics["sliding"] is False and held.metrics["displacement"] <= 1e-11
    assert slid.metrics["sliding"] is True
    assert slid.metrics["acceleration_error"] <= EXACT * 9.81
    # an error of 10⁻⁷ m/s² across 5·10⁻⁴ m/s² turns it by no more than that
    assert slid.metrics["direction_error"] <= math.degrees(EXACT * 9.81 / (1e-4 * 0.5 * 9.81))


@pytest.mark.parametrize(
    ("direction", "threshold", "turned"),
    [
        (0.0, 1.0, 0.0),
        (37.0, 0.714056, 8.0),
        (45.0, math.sqrt(0.5), 0.0),
        (90.0, 1.0, 0.0),
        (10.0, 0.863218, 18.63),
    ],
)
def test_pyramid_beside(direction, threshold, turned):
    m = run("block-push", direction=direction, duration=0.01).metrics
    assert m["pyramid_threshold"] == pytest.approx(threshold, abs=3e-6)
    assert m["pyramid_direction_error"] == pytest.approx(turned, abs=0.01)


@pytest.mark.parametrize("direction", [0.0, 10.0, 37.0, 45.0, 100.0, 200.0, 315.0])
@pytest.mark.parametrize("ratio", [0.5, 0.9, 1.2, 3.0])
@pytest.mark.parametrize("is_square", [False, True])
def test_exact_push_is_a_projection(ratio, direction, is_square):
    """p − P(p) against the variational inequality, on a fine boundary of the section."""
    a = exact_acceleration(ratio, direction, 0.5, is_square) / (0.5 * 9.81)
    angle = math.radians(direction)
    friction = ratio * np.array([math.cos(angle), math.sin(angle)]) - a
    turns = np.linspace(0.0, 2.0 * np.pi, 721)
    edge = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    if is_square:
        edge /= np.abs(edge).sum(axis=1, keepdims=True)
        assert np.abs(friction).sum() <= 1.0 + 1e-12
    assert np.linalg.norm(friction) <= 1.0 + 1e-12
    assert (edge @ a).max() <= friction @ a + 1e-12


# ----- Pinched capsule -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", ["horizontal", "vertical"])
@pytest.mark.parametrize("force", [12.0, 30.0, 60.0])
def test_capsule_does_not_creep(force, axis):
    outcome = run("pinched-capsule", force=force, axis=axis, duration=10.0)
    assert outcome.violations == []
    assert outcome.metrics["displacement"] <= 1e-9 and outcome.metrics["creep_rate"] <= 1e-4
    assert outcome.metrics["load"] == pytest.approx(force, rel=EXACT)


def test_capsule_is_held_by_just_enough():
    """2 μ F = 1.001 m g; a vertical capsule is held however its ends share the load."""
    force = 1.001 * 0.045 * 9.81 / 1.4
    outcome = run("pinched-capsule", force=force, axis="vertical")
    assert outcome.violations == [] and outcome.metrics["margin"] == pytest.approx(1.001)


@pytest.mark.parametrize(
    ("given", "least"), [({"force": 0.3}, r"at least 0\.3153 N"), ({"mu": 0.0}, "at least friction")]
)
def test_capsule_that_cannot_be_held_is_refused(given, least):
    with pytest.raises(ta.BadInput, match=f"cannot hold the capsule; {least} is needed"):
        run("pinched-capsule", **given)


# ----- Stack ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("boxes", "ratio"), [(1, 1.0), (2, 1e4), (5, 1.0), (10, 1.0), (10, 1e3), (10, 1e-3)])
def test_stack_stands(boxes, ratio):
    outcome = run("box-stack", boxes=boxes, mass_ratio=ratio)
    assert outcome.violations == []
    assert outcome.metrics["load_error"] <= 1e-8 * boxes and outcome.metrics["displacement"] <= 1e-11


def test_masses_of_the_stack():
    assert masses(1, 50.0) == pytest.approx([1.0])
    assert masses(3, 100.0) == pytest.approx([1.0, 10.0, 100.0])


def test_stack_weighs_what_it_weighs():
    """The ground's load from the force on the world, not through the scenario's own sum."""
    r = run("box-stack", boxes=3, mass_ratio=100.0).run
    assert r.contact_forces()["world"][-1] == pytest.approx([0.0, 0.0, -111.0 * 9.81], abs=1e-5)


# ----- Spheres -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("angle", "mu", "rolls"),
    [
        (0.0, 0.5, True),
        (20.0, 0.5, True),
        (60.0, 0.5, True),
        (60.0, 0.4, False),
        (80.0, 0.3, False),
        (20.0, 0.0, False),
    ],
)
def test_sphere_rolls_or_slides(angle, mu, rolls):
    outcome = run("rolling-sphere", angle=angle, mu=mu, duration=0.3)
    m, a = outcome.metrics, math.radians(angle)
    exact = 5.0 / 7.0 * 9.81 * math.sin(a) if rolls else 9.81 * (math.sin(a) - mu * math.cos(a))
    assert outcome.violations == [] and m["rolls"] is rolls
    assert m["acceleration"] == pytest.approx(exact, abs=EXACT * 9.81)
    assert (abs(m["slip_speed"]) < 1e-9) is rolls
    assert (abs(m["friction_work"]) < 1e-9) is (rolls or mu == 0.0)


def test_both_answers_meet_where_rolling_ends():
    limit = math.degrees(math.atan(3.5 * 0.3))
    below, over = (exact_motion(limit + s * 1e-9, 0.3, 0.1) for s in (-1.0, 1.0))
    assert below.rolls and not over.rolls
    assert below[1:] == pytest.approx(over[1:], rel=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("spin", [0.0, -40.0, 60.0, 30.0, -75.0])
def test_thrown_sphere_ends_rolling(mu, spin):
    """v₀ = 3 m/s, R = 0.1 m: backspin, topspin, pure rolling, and backspin that stops it."""
    outcome = run("sliding-to-rolling", spin=spin, mu=mu, duration=3.2 if mu == 0.1 else 1.1)
    m = outcome.metrics
    assert outcome.violations == [] and m["rolls"] is True
    assert m["final_speed"] == pytest.approx((5.0 * 3.0 + 2.0 * 0.1 * spin) / 7.0, abs=1e-9)
    assert m["friction_work"] == pytest.approx(-((3.0 - 0.1 * spin) ** 2) / 7.0, abs=1e-8)


def test_final_speed_has_no_error_in_the_step():
    for dt in (1e-3, 1e-2, 5e-2):
        outcome = run("sliding-to-rolling", duration=1.0, options={"dt": dt})
        assert outcome.violations == [] and outcome.metrics["final_speed_error"] < 1e-9


def test_a_run_that_ends_while_sliding():
    outcome = run("sliding-to-rolling", duration=0.1)
    assert outcome.violations == [] and outcome.metrics["rolls"] is False
    assert outcome.metrics["final_speed"] == pytest.approx(3.0 - 0.3 * 9.81 * 0.1, abs=1e-9)


# ----- Gecko ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contact", ["exact", "convex", "lcp"])
@pytest.mark.parametrize("stepper", [*STEPPERS, "acceleration-level"])
def test_gecko_holds_and_lets_go(stepper, contact):
    """One per cent below its adhesion the foot does not move, one above it falls."""
    options = {"stepper": stepper, "contact": contact}
    held, gone = (run("gecko", load=load, options=options) for load in (0.99, 1.01))
    for outcome in (held, gone):
        assert outcome.violations == [] and outcome.run.certificate.unconverged_steps == 0
        assert outcome.run.certificate.residual <= 1e-8
    assert held.metrics["displacement"] <= 1e-9 and held.metrics["holds"]
    assert gone.metrics["displacement"] > 0.4 and not gone.metrics["holds"]


def test_gecko_on_the_command_line(capsys):
    for load, holds in (("0.99", True), ("1.01", False)):
        assert main(["run", "gecko", "--set", f"load={load}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["metrics"]["holds"] is holds
