"""Ends of planners: no contacts at all, modes without a plan, rows that follow from others."""

from __future__ import annotations

import numpy as np
import pytest

from planning_cases import bouncer_problem
from taction.planning.consensus import Consensus
from taction.planning.enumeration import Enumeration
from taction.planning.mixed_integer import MixedInteger
from taction.planning.problem import Cost, Outcome, PlanningProblem, Polytope
from taction.planning.system import ContactSystem
from taction.scenarios.pushers import random_start
from taction.studies.mpc_cases import pushers_task


def test_without_contacts_it_is_a_quadratic_program():
    none, h = np.zeros((0, 2)), 0.1
    slide = ContactSystem(
        [[1.0, h], [0.0, 1.0]],
        [[h * h], [h]],
        none.T,
        [0.0, 0.0],
        none,
        np.zeros((0, 1)),
        np.zeros((0, 0)),
        [],
        h,
    )
    box = Polytope.box([-3.0], [3.0])
    problem = PlanningProblem(slide, 4, Cost(np.eye(2), 0.1 * np.eye(1)), inputs=box)
    plan, best = (kind(problem).solve([1.0, 0.5]) for kind in (Consensus, Enumeration))
    assert plan.outcome is Outcome.FEASIBLE and plan.objective == pytest.approx(best.objective, rel=1e-9)


def test_inputs_at_rest_are_followed_where_all_else_fails():
    """Far from both walls: no contact acts whatever consensus says, so that there is a plan."""
    problem, target = bouncer_problem(4), np.array([0.9, 5.0])
    for x0 in ([0.0, 0.0], [-0.5, 1.0], [0.5, -2.0]):
        plan, best = (kind(problem).solve(x0, target) for kind in (Consensus, Enumeration))
        assert plan.outcome is Outcome.FEASIBLE and plan.objective >= best.objective * (1.0 - 1e-9)


def test_branch_and_bound_does_not_cycle_on_the_level_of_velocities():
    """Short plans of two pushers: rows of a contact that is away follow from others."""
    for horizon, seeds in ((2, (3, 5, 15, 23, 27, 39)), (3, (0, 17, 54))):
        task = pushers_task("velocity", horizon, 0)
        exact, planner = Enumeration(task.problem), MixedInteger(task.problem)
        for seed in seeds:
            x0 = task.problem.system(0).state(*random_start(seed))
            plan, best = (each.solve(x0, task.target) for each in (planner, exact))
            assert plan.outcome is Outcome.OPTIMAL, plan.message
            assert plan.objective == pytest.approx(best.objective, rel=1e-6)
