"""The loop: plans are kept where new ones fail, what happened is recorded, wrong input is one line."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.planning.planner import Planner
from taction.planning.predictive import PredictiveControl, moved_on
from taction.planning.problem import Cost, Outcome, Plan, PlanningProblem, Polytope
from taction.planning.system import ContactSystem
from taction.scenarios.pushers import Pushers


class Forgetful(Planner):
    """Plans every third time only."""

    name = "forgetful"

    def __init__(self, problem, inner):
        super().__init__(problem)
        self.inner, self.calls = inner, 0

    def _find(self, x0, target, rest, warm):
        self.calls += 1
        if self.calls % 3 != 1:
            return Plan(Outcome.TIME_LIMIT, self.name, 0.0)
        return self.inner.solve(x0, target, rest)


def setup():
    scenario = Pushers()
    parameters = scenario.settings()
    return scenario.setup(parameters, scenario.make_world(parameters, 0.0))


def test_the_last_good_plan_goes_on_where_there_is_none():
    from taction.planning.consensus import Consensus

    made = setup()
    planner = Forgetful(made.problem, Consensus(made.problem))
    control = PredictiveControl(made.problem, planner, target=made.target)
    sim = ta.Simulation(made.problem.system(0).simulation.world, dt=0.05)
    sim.run(0.45, q=made.q, v=made.v, controller=control, control_dt=0.05)
    record = control.record
    assert len(record.t) == 9
    assert record.infeasible_solves == 6
    assert record.kept == [False, True, True] * 3
    for k in (0, 3, 6):
        for later in range(3):
            np.testing.assert_array_equal(record.inputs[k + later], record.plans[k].u[later])


def test_before_any_plan_inputs_rest():
    made = setup()

    class Never(Forgetful):
        def _find(self, x0, target, rest, warm):
            return Plan(Outcome.INFEASIBLE, self.name, 0.0)

    control = PredictiveControl(made.problem, Never(made.problem, None))
    np.testing.assert_array_equal(control(0.0, made.q, made.v), np.zeros(3))
    assert control.record.infeasible_solves == 1
    assert control.record.gap == float("inf")


def test_states_outside_their_set_are_recorded():
    made = setup()
    control = PredictiveControl(made.problem, "admm", target=made.target)
    control(0.0, np.array([0.0, 0.1, 0.1]), np.array([0.0, 6.5, 0.0]))
    assert control.record.violation == [pytest.approx(1.5)]


def test_a_motion_that_begins_again_begins_a_new_record():
    made = setup()
    control = PredictiveControl(made.problem, "admm", target=made.target)
    for t in (0.0, 0.05, 0.0):
        control(t, made.q, made.v)
    assert control.record.t == [0.0]


def test_plans_move_on_by_a_step():
    made = setup()
    from taction.planning.consensus import Consensus

    plan = Consensus(made.problem).solve(made.problem.system(0).state(made.q, made.v), made.target)
    later = moved_on(plan)
    np.testing.assert_array_equal(later.u[:-1], plan.u[1:])
    np.testing.assert_array_equal(later.x[0], plan.x[1])


def test_wrong_input_is_one_line():
    one = np.eye(1)
    own = ContactSystem(one, one, one, [0.0], one, one, one, [0.0], 0.1)
    with pytest.raises(ta.BadInput, match="the system was not made of a world"):
        PredictiveControl(PlanningProblem(own, 2, Cost(one, one)))
    with pytest.raises(ta.BadInput, match="its states are its own"):
        own.state([0.0])
    with pytest.raises(ta.BadInput, match="unknown planning method"):
        PredictiveControl(setup().problem, "magic")
    with pytest.raises(ta.BadInput, match="horizon: must be a whole number"):
        PlanningProblem(own, 0, Cost(one, one))
    with pytest.raises(ta.BadInput, match="cost of inputs: must be positive definite"):
        Cost(one, 0.0 * one)
    with pytest.raises(ta.BadInput, match="cost of states: must be positive semidefinite"):
        Cost(-one, one)
    with pytest.raises(ta.BadInput, match="states: a polytope in 2 dimensions, not 1"):
        PlanningProblem(own, 2, Cost(one, one), Polytope.box([0.0, 0.0], [1.0, 1.0]))
    with pytest.raises(ta.BadInput, match="low must not exceed high"):
        Polytope.box([1.0], [0.0])
    with pytest.raises(ta.BadInput, match="target: expected shape"):
        PlanningProblem(own, 2, Cost(one, one)).targets(np.zeros((5, 1)), None)
