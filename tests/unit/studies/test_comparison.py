"""Models of contact compared: what is known about each from paper comes out of the figures."""

import math
from dataclasses import replace

import numpy as np
import pytest

from taction._core.errors import BadInput
from taction.contact.forces.parameters import Penalty
from taction.dynamics.energy import totals
from taction.scenarios import get_scenario
from taction.steppers.columns import IMPACT
from taction.studies.comparison import compare_models
from taction.studies.comparison_page import write_comparison
from taction.studies.comparison_verdict import verdict
from taction.studies.contact_figures import contact_figures
from taction.studies.contender import blown_up
from taction.studies.step_study import places

STIFFNESS = 2e4  # [N/m]
MODELS = ["exact", "convex", "lcp", Penalty(stiffness=STIFFNESS)]


@pytest.fixture(scope="module")
def sliding():
    return compare_models("block-slope", MODELS, duration=0.2, parameters={"angle": 35.0})


@pytest.fixture(scope="module")
def sticking():
    return compare_models("block-slope", ["exact", Penalty(stiffness=STIFFNESS)], duration=0.4)


def figures(comparison, name):
    return next(model.figures for model in comparison.models if model.name == name)


@pytest.mark.long
def test_convex_law_lifts_what_slides_by_h_mu_v(sliding):
    found = figures(sliding, "convex")
    mean_speed = 0.5 * 9.81 * (math.sin(math.radians(35)) - 0.5 * math.cos(math.radians(35))) * 0.2
    assert found.lift == pytest.approx(1e-3 * 0.5 * mean_speed, rel=0.2)
    assert figures(sliding, "exact").lift < 1e-12
    assert any(text.startswith("convex lifts what slides") for text in verdict(sliding))


@pytest.mark.long
def test_pyramid_misses_the_direction_of_friction(sliding):
    probes = {model.name: model.probe for model in sliding.models}
    # in a corner; braking turns the block away from the axis, so a little more than at the start
    assert 15.0 < probes["lcp"].halfway.direction_error < 30.0
    assert probes["lcp"].between.strength == pytest.approx(math.cos(math.pi / 4), abs=0.02)
    assert figures(sliding, "lcp").direction_error < 1e-6 and figures(sliding, "lcp").obliquity < 1e-6
    for name in ("exact", "penalty"):
        assert probes[name].halfway.direction_error < 1e-6
        assert probes[name].between.strength == pytest.approx(1.0, abs=1e-6)
    named = [text for text in verdict(sliding) if "direction and size of friction" in text]
    assert len(named) == 1 and named[0].startswith("lcp")


@pytest.mark.long
def test_penalty_sinks_by_load_over_stiffness_and_exact_does_not_creep(sticking):
    found = figures(sticking, "penalty")
    expected = 9.81 * math.cos(math.radians(20)) / (4 * STIFFNESS)
    assert found.depth_at_end == pytest.approx(expected, rel=0.05)
    assert found.depth_expected == pytest.approx(expected, rel=0.05)
    exact = figures(sticking, "exact")
    assert exact.creep < 1e-9 and exact.slip < 1e-9 and exact.penetration < 1e-9
    told = verdict(sticking)
    assert any(text.startswith("penalty overlaps") for text in told)
    assert any(text.startswith("exact keeps every claim") for text in told)


@pytest.mark.long
def test_penalty_blows_up_near_the_predicted_step(sticking):
    exact, penalty = (model.study for model in sticking.models)
    assert exact.shortest_unstable is None and exact.predicted is None
    # four points share the block's mass, which one point alone has for itself in the prediction
    assert 0.5 < penalty.longest_stable / penalty.predicted < 2.0
    assert penalty.shortest_unstable < 1.2 * penalty.longest_stable
    finest = penalty.rows[0]
    assert finest.dt == 0.25e-3 and finest.end_difference == 0.0 and not finest.failure


@pytest.mark.long
def test_first_model_is_the_reference(sticking):
    first, second = sticking.models
    assert first.end_difference == 0.0 and 0.0 < second.end_difference < 1e-3
    told = sticking.summary()
    assert told["reference"] == "exact" and [m["contact"] for m in told["models"]] == ["exact", "penalty"]


def test_model_that_blows_up_is_a_finding(tmp_path):
    stiff = Penalty(stiffness=1e8)
    found = compare_models("block-slope", ["exact", stiff], duration=0.05)
    told = found.summary()["models"][1]
    assert told["blew_up"] and told["end_difference"] is None and told["metrics"]["blew_up"]
    assert any(text.startswith("penalty does not reach the end") for text in verdict(found))
    assert "blew up" in write_comparison(found, tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_laws_are_searched_for_energy_as_forces_are(sliding):
    run = sliding.reference.run
    assert blown_up(run) == ("", None)
    records = run.records.copy()
    records[-1, IMPACT] = 10.0 * run.kinetic[-1]  # what contact is then said to have done in the last step
    grown = replace(run, kinetic=10.0 * run.kinetic, records=records)  # records keep the other energies
    failure, time = blown_up(grown)
    assert failure and time == run.t[-1]


def test_answers_of_the_scenario_are_asked_of_forces_too():
    found = compare_models("bouncing-ball", ["exact", "penalty"], dt=1e-3, duration=1.2)
    exact, penalty = found.models
    assert exact.missed == [] and penalty.outcome.violations == []
    assert any("apex" in text for text in penalty.missed)
    # Moreau's scheme finds a hit within half a step: order 1 with scatter; a spring has order 0
    assert 0.5 < exact.study.overlap_order < 1.5 and abs(penalty.study.overlap_order) < 0.5


def test_turning_about_a_pivot_is_seen():
    found = compare_models("pendulum-impact", ["exact", "penalty"], duration=0.5)
    assert found.models[1].end_difference > 1e-2  # the body's own origin is its pivot, and never moves


def test_centres_of_mass_are_those_of_the_dynamics():
    run = get_scenario("snake-drop").run(duration=0.01).run
    masses = [body.inertia.mass for body in run.model.spec.bodies]
    centre = np.average(places(run, -1)[:, 0], axis=0, weights=masses)
    np.testing.assert_allclose(centre, totals(run.model, run.q[-1]).com, atol=1e-12)


def test_exact_law_with_two_coefficients_takes_out_most_power():
    run = get_scenario("snake-undulation").run(duration=0.1).run
    found = contact_figures(run)
    # friction is not straight against the motion there; rounding of an angle, and contacts that hardly slide
    assert found.direction_error < 1e-3 and found.strength == pytest.approx(1.0, abs=1e-6)


@pytest.mark.long
def test_page_stands_alone(sliding, tmp_path):
    text = write_comparison(sliding, tmp_path / "new" / "compare.html").read_text(encoding="utf-8")
    page = text.partition("<script>")[0]  # what follows is the client
    assert "://" not in page.replace("http://www.w3.org", "") and 'src="' not in page
    for heading in ("Verdict", "Side by side", "In numbers", "Energy", "Step size", "Metrics"):
        assert f"<h2>{heading}" in text
    assert page.count('class="drawing"') == len([model for model in sliding.models if model.run is not None])
    assert "prefers-color-scheme: dark" in text
    assert "threshold error" in text and "convex lifts what slides" in text


@pytest.mark.parametrize(
    ("scenario", "contacts", "words"),
    [
        ("double-pendulum", ["exact", "convex"], "no contact"),
        ("block-slope", ["exact"], "two models"),
        ("block-slope", ["exact", "convex", "exact"], "listed twice"),
        ("block-slope", ["exact", "soft"], "choose from"),
    ],
)
def test_bad_input(scenario, contacts, words):
    with pytest.raises(BadInput, match=words):
        compare_models(scenario, contacts)
