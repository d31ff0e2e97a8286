"""Scenarios of soft contact, and soft contact in the others."""

from __future__ import annotations

import json

import pytest

from scenario_battery import assert_described, assert_passed, assert_sees_metric
from taction.cli.main import main
from taction.scenarios import SCENARIOS, get_scenario
from taction.scenarios.base import ContactScenario, Outcome
from taction.scenarios.ellipsoids import LABELS

SHORT = {
    "ellipsoids": {},
    "compliant-ball": {},
    "tyre": {"duration": 0.3},
    "spinning-egg": {},
}
HEAVY = ("snake", "simbench", "dominoes")  # the same physics, longer


def run(name: str, **options) -> Outcome:
    parameters = options.pop("parameters", {})
    return get_scenario(name).run(**{**SHORT.get(name, {}), **options}, parameters=parameters)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in SHORT}


@pytest.mark.parametrize("name", SHORT)
def test_passes_its_check(name, outcomes):
    assert_described(name)
    assert_passed(outcomes[name])
    assert outcomes[name].contact == "compliant" and outcomes[name].run.energy.closure <= 1e-9


@pytest.mark.parametrize(
    ("name", "metric", "value"),
    [
        ("ellipsoids", "energy_rise", 0.1),
        ("ellipsoids", "t_c", 1.4),
        ("compliant-ball", "depth_error", 1e-2),
        ("compliant-ball", "restitution_error", 1e-2),
        ("compliant-ball", "contact_time", 0.04),
        ("tyre", "deflection_error", 1e-6),
        ("tyre", "rolling_radius_error", 1e-6),
        ("tyre", "stored_energy", 22.0),
        ("spinning-egg", "lean_least", 40.0),
        ("spinning-egg", "energy_rise", 1e-3),
    ],
)
def test_the_check_sees_a_wrong_answer(name, metric, value, outcomes):
    assert_sees_metric(outcomes[name], metric, value)


def test_the_instants_of_the_document_come_in_its_order(outcomes):
    metrics = outcomes["ellipsoids"].metrics
    times = [metrics[f"t_{label}"] for label in LABELS]
    assert times == sorted(times) and len(set(times)) == 6 and times[-1] > 1.0
    assert 0.01 < metrics["max_penetration"] < 0.05


@pytest.mark.parametrize(("damper", "damping"), [("kelvin-voigt", 30.0), ("hunt-crossley", 0.4)])
def test_a_damped_ball_returns_as_its_closed_form_says(damper, damping):
    outcome = run("compliant-ball", parameters={"damper": damper, "damping": damping})
    assert_passed(outcome)
    assert 0.5 < outcome.metrics["restitution_exact"] < 0.9
    assert outcome.metrics["restitution_error"] < 1e-3


def test_a_ball_on_its_way_is_not_judged():
    outcome = run("compliant-ball", duration=0.02)
    assert outcome.violations == [] and outcome.metrics["returned"] is False


def test_an_egg_that_spins_slowly_stays_down():
    outcome = run("spinning-egg", parameters={"spin": 60.0}, duration=1.0)
    assert_passed(outcome)
    assert outcome.metrics["lean_least"] > 80.0


@pytest.mark.filterwarnings("ignore::taction.StabilityWarning")
@pytest.mark.parametrize("contact", ["penalty", "compliant"])
@pytest.mark.parametrize(
    "name", [n for n, s in SCENARIOS.items() if isinstance(s, ContactScenario) and not n.startswith(HEAVY)]
)
def test_every_scenario_runs_with_soft_contact(name, contact):
    scenario = SCENARIOS[name]
    outcome = scenario.run(contact=contact, duration=20 * scenario.dt)
    assert outcome.contact == contact
    if not outcome.metrics["blew_up"]:
        assert outcome.run is not None and outcome.run.energy.closure <= 1e-9
        if name not in SHORT:
            assert outcome.violations == []


def test_numbers_of_the_springs_on_the_command_line(capsys):
    words = ["run", "block-slope", "--contact", "penalty", "--stiffness", "1e4", "--damping", "50"]
    assert main([*words, "--duration", "0.5", "--dt", "2e-4", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    # the block's weight along the normal on four springs
    assert result["certificate"]["penetration"] == pytest.approx(9.81 * 0.9397 / 4e4, rel=0.6)
    assert result["energy"]["stored"] > 0.0 and result["metrics"]["blew_up"] is False


@pytest.mark.filterwarnings("default::taction.StabilityWarning")
def test_a_blow_up_is_exit_code_one_and_said(capsys):
    words = ["run", "block-slope", "--contact", "penalty", "--stiffness", "1e8", "--damping", "1"]
    assert main([*words, "--duration", "0.5", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["metrics"]["blew_up"] is True
    assert "blew up at t" in err and "longer than the spring and damper of slope and block allow" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--contact", "penalty", "--stiffness", "-1"], "stiffness: must be positive and finite, got -1"),
        (["--contact", "exact", "--stiffness", "1e4"], "--stiffness: of contact as a force"),
        (["--contact", "penalty", "--stepper", "acceleration-level"], "takes impacts apart"),
        (["--contact", "spongy"], "contact 'spongy': choose from exact, convex, lcp, penalty, compliant"),
        (
            ["--contact", "penalty", "--integration", "rk4"],
            "integration 'rk4': choose from explicit, implicit",
        ),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_two(words, says, capsys):
    assert main(["run", "block-slope", *words]) == 2
    assert says in capsys.readouterr().err
