"""The quadruped: trot, fall and jump, rigid and as a force, on flat and bumpy ground, and real robots."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scenario_battery import (
    assert_certified,
    assert_described,
    assert_sees_certificate,
    assert_sees_metric,
    run_short,
)
from taction.cli.main import main
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome

pytestmark = [
    pytest.mark.filterwarnings("ignore::taction.UnsupportedFeatureWarning"),
    pytest.mark.filterwarnings("ignore::taction.OverlapWarning"),
]

SHORT = {
    "quadruped-trot": {"duration": 3.0},
    "quadruped-fall": {"duration": 1.5, "parameters": {"height": 0.5}},
    "quadruped-jump": {"duration": 3.0},
}
ROBOTS = ("go2", "anymal", "solo12")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run_short(SHORT, name) for name in SHORT}


@pytest.mark.parametrize("name", SHORT)
def test_exact_contact_passes_every_check(name, outcomes):
    assert_described(name)
    assert_certified(outcomes[name])
    run, metrics = outcomes[name].run, outcomes[name].metrics
    assert run.certificate.penetration <= metrics.get("curved_path", 1e-6) and metrics["least_force"] >= 0.0
    assert metrics["contact_work"] < 0.0 and metrics["fell"] is False


@pytest.mark.parametrize("name", SHORT)
def test_checks_see_what_is_wrong(name, outcomes):
    assert_sees_certificate(outcomes[name], "residual", residual=1e-6)
    deepest = outcomes[name].metrics.get("curved_path", 1e-6)
    assert_sees_certificate(outcomes[name], "overlap", penetration=1.1 * deepest)
    assert_sees_metric(outcomes[name], "contact_work", 1.0)
    assert_sees_metric(outcomes[name], "least_force", -1.0)
    metric, value = {
        "quadruped-trot": ("fell", True),
        "quadruped-fall": ("impact_time_error", 0.01),
        "quadruped-jump": ("flight_error", 0.05),
    }[name]
    assert_sees_metric(outcomes[name], metric, value)


def test_a_fall_that_does_not_come_to_rest_is_seen():
    outcome = run_short(SHORT, "quadruped-fall", duration=8.0, parameters={"height": 1.5})
    assert_certified(outcome)
    assert outcome.metrics["end_energy"] < 1e-9
    assert_sees_metric(outcome, "end_energy", 1e-3)


def test_forces_of_the_legs_carry_the_weight():
    """Standing: Σ F_z = m g; and what the curves say is what the run says."""
    outcome = run_short(SHORT, "quadruped-fall", parameters={"height": 0.0})
    run = outcome.run
    curves = get_scenario("quadruped-fall").curves(run, outcome.parameters)
    legs = [name for name in curves if name.startswith("force_")]
    assert legs == [f"force_{leg}" for leg in ("right_back", "left_back", "right_front", "left_front")]
    total = sum(curves[name][-1] for name in legs)
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * run.model.total_mass], atol=1e-3)
    np.testing.assert_array_equal(curves["position"], run.q[:, :3])
    assert curves["joint_torque"].shape == (run.steps, 16) and curves["power"].shape == (run.steps,)
    assert np.abs(curves["roll_pitch_yaw"]).max() < 1e-2


def test_roll_pitch_yaw_are_those_of_the_rotation():
    from taction.math.transform import quaternion_from_rotation, rotation_from_rpy
    from taction.scenarios.quadruped_motion import roll_pitch_yaw

    angles = np.random.default_rng(1).uniform(-1.4, 1.4, (20, 3))
    quaternions = np.array([quaternion_from_rotation(rotation_from_rpy(a)) for a in angles])
    np.testing.assert_allclose(roll_pitch_yaw(quaternions), angles, atol=1e-12)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("contact", ["penalty", "convex"])
def test_other_contact_finishes(name, contact):
    outcome = run_short(SHORT, name, contact=contact, duration=1.5)
    assert outcome.metrics["blew_up"] is False and outcome.violations == []
    if contact == "penalty":
        assert "stiffness 500000" in outcome.run.springs and outcome.run.certificate.penetration > 1e-5


def test_the_pyramid_is_solved_where_nothing_touches_and_joints_hardly_rub():
    """In the air, at rest against each other: b is rounding, and impulses are far below their bounds."""
    outcome = run_short(SHORT, "quadruped-fall", contact="lcp", duration=0.03, parameters={"height": 0.001})
    assert_certified(outcome)


@pytest.mark.filterwarnings("ignore::taction.StabilityWarning")
@pytest.mark.parametrize("contact", ["exact", "penalty"])
def test_a_penalty_that_is_too_stiff_blows_up_and_says_so(contact):
    import taction as ta

    law = ta.Penalty(stiffness=1e9, damping=0.0) if contact == "penalty" else contact
    outcome = run_short(SHORT, "quadruped-fall", contact=law, duration=1.0)
    assert outcome.metrics["blew_up"] is (contact == "penalty")


def test_tips_alone_let_a_robot_that_tips_over_sink():
    fallen = {"height": 0.5, "tilt": 90.0}
    tips, whole = (
        run_short(SHORT, "quadruped-fall", duration=2.0, parameters={**fallen, "body_contacts": body})
        for body in (False, True)
    )
    assert tips.run.q[:, 2].min() < -0.2 and whole.run.q[:, 2].min() > 0.0
    assert tips.metrics["fell"] and whole.metrics["fell"]


def test_bumpy_ground_is_the_same_for_a_seed_and_another_for_another():
    runs = [
        run_short(SHORT, "quadruped-trot", duration=2.0, parameters={"ground": "bumpy", "seed": seed})
        for seed in (1, 1, 2)
    ]
    assert runs[0].violations == [] and runs[0].metrics["fell"] is False
    assert runs[0].run.hashes == runs[1].run.hashes and runs[0].run.hashes != runs[2].run.hashes
    assert runs[0].run.certificate.left <= 1e-6


@pytest.mark.parametrize("gait", ["walk", "pace", "bound"])
def test_other_gaits_get_ahead_where_friction_is_enough(gait):
    outcome = run_short(SHORT, "quadruped-trot", duration=5.0, parameters={"gait": gait, "mu": 1.0})
    assert outcome.violations == [] and outcome.metrics["distance_x"] > 0.1


@pytest.mark.long
@pytest.mark.parametrize("robot", ROBOTS)
def test_real_robots_stand_fall_and_trot(robot):
    stand = run_short(SHORT, "quadruped-fall", parameters={"robot": robot, "height": 0.0})
    fall = run_short(SHORT, "quadruped-fall", parameters={"robot": robot, "height": 0.3})
    trot = run_short(SHORT, "quadruped-trot", parameters={"robot": robot})
    for outcome in (stand, fall, trot):
        assert_certified(outcome)
        assert outcome.metrics["fell"] is False
    assert abs(stand.metrics["distance_x"]) < 0.02 and trot.metrics["distance_x"] > 0.02
    effort = trot.run.model.effort
    assert (np.abs(trot.run.tau) <= effort * (1.0 + 1e-9)).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["quadruped-trot", "--set", "robot=spot"], "robot 'spot': choose from document"),
        (["quadruped-trot", "--set", "speed=5"], "its foot cannot reach"),
        (["quadruped-fall", "--set", "height=-1"], "height: must be between 0 and 100"),
        (["quadruped-jump", "--set", "takeoff=0"], "takeoff: must be between 0.1 and 50"),
        (["quadruped-trot", "--set", "gait=gallop"], "gait: choose from trot, pace, bound, walk"),
    ],
)
def test_wrong_input_is_one_line(arguments, text, capsys):
    assert main(["run", *arguments]) == 2
    out = capsys.readouterr()
    assert text in out.err and out.err.count("\n") == 1 and out.out == ""


def test_the_command_line_saves_the_curves(tmp_path, capsys):
    code = main(["run", "quadruped-fall", "--duration", "0.05", "--out", str(tmp_path), "--json"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["fell"] is False
    with np.load(tmp_path / "curves.npz") as curves:
        assert curves["force_left_front"].shape == (100, 3) and curves["t"].shape == (101,)
