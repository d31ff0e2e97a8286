"""Enumeration against a brute force that shares nothing with it, and against the system's own steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from planning_cases import (
    block,
    block_problem,
    bouncer,
    bouncer_problem,
    brute_force,
    pushers,
    pushers_problem,
    pushers_start,
)
from taction import BadInput
from taction.planning import enumeration
from taction.planning.enumeration import Enumeration, count_modes, step_modes
from taction.planning.problem import Outcome


@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_pushers_as_by_brute_force(horizon):
    problem, rng = pushers_problem(horizon), np.random.default_rng(horizon)
    for _ in range(2 if horizon == 3 else 6):
        x0 = pushers_start(rng)
        x0[1:3] += rng.uniform(0.0, 0.02, 2) * (rng.random(2) < 0.5)
        plan = Enumeration(problem).solve(x0)
        assert plan.outcome is Outcome.OPTIMAL and plan.gap == 0.0
        assert plan.objective == pytest.approx(brute_force(problem, x0, np.zeros(6)), rel=1e-6)


@pytest.mark.parametrize("x0", [[0.0, 0.0, 1.0, 0.0], [0.3, 0.02, 0.0, -1.0], [-0.2, 0.0, 0.0, 0.0]])
def test_a_block_with_friction_as_by_brute_force(x0):
    problem = block_problem(2)
    plan = Enumeration(problem).solve(x0)
    assert plan.outcome is Outcome.OPTIMAL
    assert plan.objective == pytest.approx(brute_force(problem, x0, np.zeros(4)), rel=1e-6)


@pytest.mark.parametrize("x0", [[-0.9, -3.0], [0.95, 2.0], [0.0, 0.0], [0.99, 0.5]])
def test_walls_with_guards_as_by_brute_force(x0):
    problem, target = bouncer_problem(2), np.array([0.5, 2.0])
    plan = Enumeration(problem).solve(x0, target)
    assert plan.outcome is Outcome.OPTIMAL
    assert plan.objective == pytest.approx(brute_force(problem, x0, target), rel=1e-6)


@pytest.mark.parametrize("name", ["pushers", pytest.param("block", marks=pytest.mark.long)])
def test_its_inputs_lead_where_it_says(name):
    rng = np.random.default_rng(3)
    for _ in range(4 if name == "pushers" else 2):
        if name == "pushers":
            problem, x0 = pushers_problem(5), pushers_start(rng)
        else:
            problem, x0 = block_problem(3), np.array([*rng.uniform(0.0, 0.05, 2), *rng.uniform(-1.0, 1.0, 2)])
        plan = Enumeration(problem).solve(x0)
        x, _ = problem.system(0).roll_out(x0, plan.u)
        assert np.abs(x - plan.x).max() < 1e-9
        assert plan.motion.complementarity < 1e-9


def test_it_touches_where_that_pays():
    """A puck between pushers at rest: to bring it to 0 a pusher has to act, as brute force agrees above."""
    plan = Enumeration(pushers_problem(6)).solve([0.3, 0.58, 1.0, 0.5, 0.0, 0.0])
    assert sum(float(z.max()) for z in plan.motion.contact) > 0.1


def test_modes_are_counted_without_making_them():
    several = replace(block(), guard=bouncer().guard._replace(
        G=np.zeros((2, 4)), H=np.zeros((2, 2)), contact=np.array([0, -1, 1, 1])))  # fmt: skip
    for system, number in ((pushers(), 4), (block(), 16), (bouncer(), 9), (several, 2 * 3 * 5)):
        modes = step_modes(system)
        assert len(modes) == count_modes(system) == number
        assert len({(*mode.is_open, *mode.is_away) for mode in modes}) == number
    assert Enumeration(pushers_problem(11))
    with pytest.raises(BadInput, match=r"16777216 modes, more than 4194304"):
        Enumeration(pushers_problem(12))


def test_steps_may_have_systems_of_their_own():
    systems = [pushers(), pushers(0.02), pushers(0.1)]
    x0 = pushers_start(np.random.default_rng(0))
    plan = Enumeration(pushers_problem(3, systems)).solve(x0)
    x = x0
    for k, system in enumerate(systems):
        x, _ = system.step(x, plan.u[k])
        assert np.abs(x - plan.x[k + 1]).max() < 1e-9


def test_where_no_mode_has_a_plan():
    """The puck leaves |q| ≤ 2 before a pusher reaches it."""
    plan = Enumeration(pushers_problem(3)).solve([1.9, -1.9, 0.0, 4.0, 0.0, 0.0])
    assert plan.outcome is Outcome.INFEASIBLE and plan.motion is None and plan.effort > 0


def test_a_time_limit_gives_what_there_is(monkeypatch):
    problem, x0 = pushers_problem(4), pushers_start(np.random.default_rng(0))
    best = Enumeration(problem).solve(x0)
    seen = set()
    for limit in (1, 10, 20, 1000):
        clock = count()
        monkeypatch.setattr(enumeration, "time", SimpleNamespace(perf_counter=lambda at=clock: next(at)))
        plan = Enumeration(problem, time_limit=limit).solve(x0)
        seen.add(plan.outcome)
        if plan.outcome is Outcome.FEASIBLE:
            assert plan.objective >= best.objective * (1.0 - 1e-12) and plan.bound == -np.inf
    assert seen == {Outcome.TIME_LIMIT, Outcome.FEASIBLE, Outcome.OPTIMAL}
