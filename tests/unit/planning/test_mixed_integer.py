"""Plans by branch and bound against enumeration, for both solvers; what they say if there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from planning_cases import (
    block_problem,
    bouncer_problem,
    pushers,
    pushers_problem,
    pushers_start,
)
from taction import BadInput
from taction.planning import mixed_integer_daqp, mixed_integer_scip
from taction.planning.enumeration import Enumeration
from taction.planning.mixed_integer import MixedInteger
from taction.planning.mixed_program import Ending, Modes, as_modes, as_point, mixed_program
from taction.planning.problem import Cost, Outcome, PlanningProblem, Polytope
from taction.planning.program import solve_mode

pytest.importorskip("daqp")
pytest.importorskip("pyscipopt")
SOLVERS = ["daqp", "scip"]
LEAVING = [1.9, -1.9, 0.0, 4.0, 0.0, 0.0]  # the puck leaves |q| ≤ 2 before a pusher reaches it


def agrees(plan, reference):
    """The same cost, a bound below it that is near, and pairs complementary."""
    assert plan.outcome is reference.outcome is Outcome.OPTIMAL
    assert plan.objective == pytest.approx(reference.objective, rel=1e-6)
    assert plan.bound <= reference.objective * (1.0 + 1e-9) and plan.gap <= 2e-6
    return True


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("solver", SOLVERS)
def test_pushers_as_by_enumeration(solver, horizon):
    problem, rng = pushers_problem(horizon), np.random.default_rng(10 + horizon)
    planner, reference = MixedInteger(problem, solver=solver), Enumeration(problem)
    for _ in range(10 if solver == "daqp" else 2):
        x0 = pushers_start(rng)
        plan = planner.solve(x0)
        assert agrees(plan, reference.solve(x0))
        assert plan.motion.complementarity < 1e-9
        x, _ = problem.system(0).roll_out(x0, plan.u)
        assert np.abs(x - plan.x).max() < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_friction_as_by_enumeration(solver):
    problem, rng = block_problem(2), np.random.default_rng(1)
    planner, reference = MixedInteger(problem, solver=solver), Enumeration(problem)
    for _ in range(6 if solver == "daqp" else 2):
        x0 = np.array([*rng.uniform(0.0, 0.05, 2), *rng.uniform(-1.0, 1.0, 2)])
        assert agrees(planner.solve(x0), reference.solve(x0))


@pytest.mark.parametrize("solver", SOLVERS)
def test_guards_as_by_enumeration(solver):
    problem, rng, modes = bouncer_problem(4), np.random.default_rng(1), set()
    planner, reference = MixedInteger(problem, solver=solver), Enumeration(problem)
    for _ in range(12 if solver == "daqp" else 4):
        x0, target = [rng.choice([-1.0, 1.0]) * rng.uniform(0.7, 1.0), rng.uniform(-5.0, 5.0)], [0.5, 2.0]
        plan = planner.solve(x0, target)
        assert agrees(plan, reference.solve(x0, target))
        modes.add(bool(np.max(plan.motion.contact) > 0.1))
    assert modes == {True, False}  # walls are hit in some plans and not in others


@pytest.mark.parametrize("start", [[-1.0, 0.0], [1.0, 0.0], [1.0, -5.0026], [0.95, -4.14104], [-1.02, 0.0]])
@pytest.mark.parametrize("goal", [-2.0, 2.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_at_rest_on_a_wall_and_other_starts_where_modes_meet(solver, start, goal):
    """Where a puck rests on a wall, and shall go into it, the best plan is the only point of its modes."""
    problem, target = bouncer_problem(3), [goal, -0.65]
    assert agrees(MixedInteger(problem, solver=solver).solve(start, target),
                  Enumeration(problem).solve(start, target))  # fmt: skip


@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_with_systems_of_their_own_and_a_start_outside_the_states(solver):
    problem = pushers_problem(3, [pushers(), pushers(0.02), pushers(0.1)])
    x0 = pushers_start(np.random.default_rng(0))
    x0[4] = 5.3  # above 5, and may be below after a step
    plan = MixedInteger(problem, solver=solver).solve(x0)
    assert agrees(plan, Enumeration(problem).solve(x0))


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e9])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_size_of_costs_does_not_matter(solver, scale):
    """With friction: one of its variables costs next to nothing, which a search has to bear."""
    problem, x0 = block_problem(2), [0.03, 0.01, 0.5, -0.3]
    cost = Cost(scale * problem.cost.states, scale * problem.cost.inputs)
    scaled = PlanningProblem(problem.systems, 2, cost, problem.states, problem.inputs)
    plan = MixedInteger(scaled, solver=solver).solve(x0)
    assert plan.outcome is Outcome.OPTIMAL
    assert plan.objective == pytest.approx(scale * Enumeration(problem).solve(x0).objective, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_plan_to_stay_costs_nothing(solver):
    plan = MixedInteger(pushers_problem(3), solver=solver).solve(np.zeros(6))
    assert plan.outcome is Outcome.OPTIMAL and 0.0 <= plan.objective < 1e-12
    assert np.abs(plan.u).max() < 1e-6 and plan.bound <= plan.objective


def test_targets_and_inputs_at_rest_are_obeyed():
    problem, x0 = pushers_problem(4), pushers_start(np.random.default_rng(5))
    target, rest = np.array([0.2, 0.0, 0.1, 0.5, 0.0, 0.0]), np.array([1.0, -2.0])
    plan = MixedInteger(problem).solve(x0, target, rest)
    assert agrees(plan, Enumeration(problem).solve(x0, target, rest))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bound_that_is_too_small_is_noticed(solver):
    """The right pusher is run into: 0.5 N s and more. Its gap shrinks from below 0.1."""
    problem, x0 = pushers_problem(3), [0.0, 0.88, 0.85, 2.0, 0.0, 0.0]
    best = MixedInteger(problem, solver=solver).solve(x0)
    most = max(float(z.max()) for z in best.motion.contact)
    assert most > 0.5 > max(float(s.max()) for s in best.motion.slack)
    plan = MixedInteger(problem, solver=solver, big_m=0.9 * most).solve(x0)
    assert plan.outcome is Outcome.ON_BOUND and plan.motion is not None and plan.gap == np.inf
    assert "pair 0 (right) in step" in plan.message and f"big_m = {0.9 * most:g}" in plan.message
    enough = MixedInteger(problem, solver=solver, big_m=2.0 * most).solve(x0)
    assert enough.outcome is Outcome.OPTIMAL and "below big_m" in enough.message
    assert enough.objective == pytest.approx(best.objective, rel=1e-6)


def test_a_bound_that_leaves_no_plan_is_named_as_the_reason():
    plan = MixedInteger(pushers_problem(3), big_m=1e-3).solve([0.0, 0.5, 0.5, 2.0, 0.0, 0.0])
    assert plan.outcome is Outcome.FAILED and "big_m = 0.001; that may be the reason" in plan.message


@pytest.mark.parametrize("solver", SOLVERS)
def test_where_there_is_no_plan(solver):
    plan = MixedInteger(pushers_problem(3), solver=solver).solve(LEAVING)
    assert plan.outcome is Outcome.INFEASIBLE and plan.motion is None and plan.objective == np.inf


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_plan_nearby_is_where_it_starts(solver):
    """With no time left a plan nearby is still one; with time it changes nothing but the effort, of DAQP."""
    problem = pushers_problem(10 if solver == "daqp" else 5)
    x0 = pushers_start(np.random.default_rng(1))
    first = MixedInteger(problem).solve(x0)
    later = first.x[1]
    hurried = MixedInteger(problem, solver=solver, time_limit=1e-6)
    plan = hurried.solve(later, warm=first)
    assert plan.outcome is Outcome.FEASIBLE and plan.motion.complementarity < 1e-9
    cold, warm = (MixedInteger(problem, solver=solver).solve(later, warm=w) for w in (None, first))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert warm.outcome is cold.outcome is Outcome.OPTIMAL
    assert solver == "scip" or warm.effort <= cold.effort
    assert plan.objective >= warm.objective * (1.0 - 1e-6)
    with pytest.raises(BadInput, match="warm: a plan over 2 steps"):
        MixedInteger(pushers_problem(2)).solve(later, warm=first)


@pytest.mark.parametrize("search", [mixed_integer_daqp.branch, mixed_integer_scip.branch])
def test_searches_keep_a_first_point(search):
    """With hardly any time the modes they end with are those they were given, which are not the best."""
    planner, x0 = MixedInteger(pushers_problem(10)), pushers_start(np.random.default_rng(22))
    program = planner.condenser.program(x0, *planner.problem.targets(None, None))
    mixed = mixed_program(program, planner._all_bounds(x0))
    best = mixed_integer_daqp.branch(mixed, 1e-6, 0.0, 20.0, None)
    away = Modes(np.ones(20, dtype=bool), np.zeros(0, dtype=bool))
    answer = solve_mode(program, *away)
    assert answer.is_found and not as_modes(program, best.point[len(program.g) :]).is_open.all()
    found = search(mixed, 1e-6, 0.0, 1e-6, as_point(answer.w, away))
    assert found.ending is Ending.LIMIT and as_modes(program, found.point[len(program.g) :]).is_open.all()


def test_without_time_there_may_be_no_plan():
    x0 = pushers_start(np.random.default_rng(22))
    assert MixedInteger(pushers_problem(6), solver="scip", time_limit=1e-6).solve(x0).outcome in (
        Outcome.TIME_LIMIT,
        Outcome.FEASIBLE,
    )
    plan = MixedInteger(pushers_problem(10), time_limit=1e-6).solve(x0)
    assert plan.outcome in (Outcome.TIME_LIMIT, Outcome.FEASIBLE) and plan.gap == np.inf


def test_a_wide_gap_is_kept_and_is_told():
    problem, rng = pushers_problem(6), np.random.default_rng(2)
    for _ in range(5):
        x0 = pushers_start(rng)
        best = Enumeration(problem).solve(x0).objective
        plan = MixedInteger(problem, gap=0.2).solve(x0)
        assert plan.outcome is Outcome.OPTIMAL and plan.bound <= best <= plan.objective * (1.0 + 1e-9)
        assert plan.gap <= 0.2 + 1e-6


def test_without_bounds_of_states_one_has_to_be_given():
    inputs = Polytope.box([-10.0] * 2, [10.0] * 2)
    free = PlanningProblem(pushers(), 3, Cost(np.eye(6), np.eye(2)), None, inputs)
    with pytest.raises(BadInput, match=r"pair 0 \(right\) has no bound"):
        MixedInteger(free)
    x0 = pushers_start(np.random.default_rng(3))
    plan = MixedInteger(free, big_m=20.0).solve(x0)
    assert plan.objective == pytest.approx(Enumeration(free).solve(x0).objective, rel=1e-6)


@pytest.mark.parametrize(("solver", "module"), [("daqp", "daqp"), ("scip", "pyscipopt")])
def test_a_library_that_is_missing_is_named(monkeypatch, solver, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput, match=r"needs \w+: pip install 'taction\[planning\]'"):
        MixedInteger(pushers_problem(2), solver=solver).solve(np.zeros(6))


def test_wrong_settings_are_refused():
    problem = pushers_problem(2)
    for settings, words in (
        ({"solver": "scipp"}, "did you mean 'scip'"),
        ({"gap": -1.0}, "gap: must be finite and not negative"),
        ({"big_m": 0.0}, "big_m: must be positive and finite"),
        ({"time_limit": 0.0}, "time_limit: must be positive"),
    ):
        with pytest.raises(BadInput, match=words):
            MixedInteger(problem, **settings)
