"""The page on predictive control, a short version, and the studies behind it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taction.planning.dispatch import make_planner
from taction.planning.problem import Outcome
from taction.scenarios.cartpole_walls import CartpoleWalls
from taction.studies.mpc_cases import (
    LimitedPushers,
    Loop,
    close_loop,
    differences,
    document_system,
    limited,
    moving_task,
    moving_time,
    predicted_forces,
    pushers_system,
    pushers_task,
    realise,
    realised_forces,
    study_bounds,
    study_plans,
)
from taction.studies.mpc_loop_parts import CASES
from taction.studies.mpc_page import PARTS, plan_failures, write_mpc_page

# ----- Systems and plans ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_the_world_gives_the_matrices_of_the_document(level):
    masses = (0.7, 2.0, 1.3)
    made, written = pushers_system(level, 0.03, masses), document_system(level, 0.03, masses)
    found = differences(made, written)
    assert len(found) == (8 if level == "position" else 11) and max(found.values()) < 1e-13
    wrong = differences(made, document_system(level, 0.031, masses))
    assert wrong["A"] == pytest.approx(1e-3) and wrong["B"] > 1e-5
    assert differences(made, document_system(level, 0.03))["C"] > 0.1  # other masses


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_steps_of_both_systems_agree(level):
    """In units of their own: the same states, and impulses by the matrix of loads."""
    made, written = pushers_system(level, 0.05), document_system(level, 0.05)
    rng, pressed = np.random.default_rng(0), 0
    for _ in range(30):
        gaps = rng.uniform(0.0, 0.1, 2)
        x = np.array([0.1, 0.8 - gaps[0], 1.0 - gaps[1], *rng.uniform(-2.0, 2.0, 3)])
        u = rng.uniform(-10.0, 10.0, 2)
        (a, z), (b, c) = made.step(x, u), written.step(x, u)
        assert np.abs(a - b).max() < 1e-12 and np.abs(made.load @ z - c).max() < 1e-12
        pressed += c.any()
    assert pressed > 5


def test_plans_on_positions_are_what_the_simulator_does():
    task = pushers_task("position", 10, 0)
    found = realise(task, make_planner("miqp", task.problem).solve(task.x0, task.target))
    assert found.error < 1e-9 and found.edge == math.inf
    assert found.impulses.sum() > 1.0 and np.abs(0.05 * found.forces - found.impulses).max() < 1e-9


def test_a_plan_that_is_changed_is_not_what_the_simulator_does():
    task = pushers_task("position", 10, 0)
    plan = make_planner("miqp", task.problem).solve(task.x0, task.target)
    plan.motion.u[5] -= 1.0
    assert realise(task, plan).error > 1e-3


def test_bounds_that_are_too_small_are_never_called_optimal():
    best, trials = study_bounds(moving_task("position", 5), (0.1, 0.6, 0.99, 1.01))
    assert [t.plan.outcome for t in trials[:3]] == [Outcome.FAILED, Outcome.ON_BOUND, Outcome.ON_BOUND]
    assert trials[3].plan.outcome is Outcome.OPTIMAL
    assert trials[3].plan.objective == pytest.approx(best.objective, rel=1e-9)


def test_what_contradicts_the_reference_is_said():
    trials = study_plans({2: (0, 1)}, levels=("position",))
    assert len(trials) == 2 * 5 and plan_failures(trials) == []
    exact = next(t for t in trials if t.way.key == "daqp")
    assert "costs less" in plan_failures([exact._replace(best=2.0 * exact.best)])[0]
    assert "called optimal" in plan_failures([exact._replace(best=0.5 * exact.best)])[0]


# ----- Loops ----------------------------------------------------------------------------------------------


def test_predicted_forces_are_those_that_come_where_steps_are_as_long():
    scenario = limited(LimitedPushers())
    loop = Loop(scenario.run(dt=0.05, duration=1.5), scenario.control, "")
    assert loop.outcome.violations == []
    planned, t = predicted_forces(loop)
    real, begin = realised_forces(loop.run, 1)
    assert np.abs(t - begin).max() < 1e-9 and planned.max() > 1.0
    assert np.abs(planned - real).max() < 1e-8
    assert moving_time(loop.run) == pytest.approx(t[np.argmax(planned > 0.0)] + 0.05)


def test_options_reach_the_method():
    loop = close_loop(limited(LimitedPushers(), solver="scip", gap=0.1), "", 0.05, method="miqp", horizon=3)
    assert loop.control.planner.solver == "scip" and loop.control.planner.gap == 0.1


def test_the_cart_pole_needs_no_walls_to_plan():
    assert close_loop(CartpoleWalls(), "", 0.1, walls=False, push=1.0).outcome.violations == []


# ----- The page -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    said, folder = [], tmp_path_factory.mktemp("page") / "new"
    path, figures = write_mpc_page(
        folder, horizon=2, starts=1, duration=0.3, pushes=(2.0,), solves=2, progress=said.append
    )
    return path.read_text(encoding="utf-8"), figures, said


@pytest.mark.long
def test_page_stands_alone_and_has_all_parts(written):
    text, figures, said = written
    assert "://" not in text.replace("http://www.w3.org", "") and len(text) < 3e6
    for words in (
        "What the document says",
        "made and written down",
        "A plan in time: velocity level, (8) to (10)",
        "big number that is too small",
        "Two pushers in the loop",
        "Cart-pole between walls",
        *(f"Scenario {name}" for name in CASES),
        "Speed",
        "all checks passed",
    ):
        assert words in text, words
    # two per level, four per plan, two per set of loops, two of the pushers, three of the cart-pole
    assert text.count("<svg") == 2 * 2 + 2 * 4 + 2 * 2 + 2 + 3 + 7
    # loops, disturbed loops, pushes by four controllers, every scenario
    assert text.count('<div class="replay"') == 3 + len(CASES)
    assert text.count('class="drawing"') == 3 + 3 + 4 + len(CASES)
    assert len(PARTS) == 8 and len(said) == 4 + 6 + 1 + 1 + len(CASES) + 1
    assert figures["violations"] == []


@pytest.mark.long
def test_the_page_says_what_the_runs_say(written):
    text, figures, _ = written
    assert figures["matrices_difference"] < 1e-14 and figures["realised_position"] < 1e-9
    assert figures["plans_excess_daqp"] < 1e-6 and figures["plans_missing_daqp"] == 0
    assert set(figures["bounds_said"]) == {"failed", "on bound", "optimal"}
    assert f"admm {figures['loop_admm_objective']:.4g}" in text
    assert "raise it" in text and "that may be the reason" in text
