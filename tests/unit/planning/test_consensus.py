"""Plans by consensus against branch and bound; programs of modes against the general ones; typed failures."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from planning_cases import pushers_problem
from taction.planning.consensus import Consensus
from taction.planning.dispatch import METHODS, make_planner
from taction.planning.linearise import Lineariser
from taction.planning.modes import best_of_mode
from taction.planning.problem import Cost, Outcome, PlanningProblem, Polytope
from taction.planning.program import solve_mode
from taction.robots.pushers import pushers
from taction.scenarios.pushers import Pushers, random_start
from taction.solvers.mode_program import ModeProgram, make_mode_scratch, solve_mode_program


def setup(horizon):
    scenario = Pushers()
    parameters = scenario.settings({"horizon": horizon})
    return scenario.setup(parameters, scenario.make_world(parameters, 0.0))


@pytest.mark.parametrize("horizon", range(1, 9))
def test_plans_are_within_five_percent_of_the_best(horizon):
    made = setup(horizon)
    fast, best = Consensus(made.problem), make_planner("miqp", made.problem)
    for seed in range(100, 110):
        x0 = made.problem.system(0).state(*random_start(seed))
        one, other = fast.solve(x0, made.target), best.solve(x0, made.target)
        assert other.objective <= one.objective * (1.0 + 1e-6)
        assert one.objective <= 1.05 * other.objective
        assert one.outcome is Outcome.FEASIBLE
        assert one.motion.complementarity < 1e-9


def test_a_plan_is_what_happens_under_its_inputs():
    made = setup(10)
    system = made.problem.system(0)
    planner = Consensus(made.problem)
    for seed in range(1, 6):
        plan = planner.solve(system.state(*random_start(seed)), made.target)
        np.testing.assert_allclose(system.roll_out(plan.x[0], plan.u)[0], plan.x, atol=1e-9)


def test_compiled_programs_of_modes_equal_the_general_ones():
    """On random modes, feasible or not, with multipliers."""
    made = setup(4)
    planner, rng, found = Consensus(made.problem), np.random.default_rng(1), 0
    for seed in range(1, 9):
        x0 = made.problem.system(0).state(*random_start(seed))
        program = planner.condenser.program(x0, *made.problem.targets(made.target, None))
        inputs, p, n = planner.condenser.inputs, len(program.pairs), len(program.g)
        given = ModeProgram(
            H=program.H, g=program.g, S=program.S, s=program.s, A=program.A, b=program.b, G=program.G,
            gamma=program.gamma, pairs=program.pairs, inputs=inputs, guard=program.guard,
        )  # fmt: skip
        ws = make_mode_scratch(n, p, 0, len(program.b), len(inputs))
        for _ in range(20):
            is_open = rng.random(p) < 0.8
            ws.is_open[:] = is_open
            whole, reduced = solve_mode(program, is_open), best_of_mode(program, inputs, is_open)
            is_found = solve_mode_program(given, np.inf, ws)
            assert whole.is_found == reduced.is_found == is_found
            if not is_found:
                continue
            found += 1
            scale = np.abs(whole.multipliers).max()
            assert reduced.value == pytest.approx(whole.value, rel=1e-8)
            assert ws.value[0] + program.constant == pytest.approx(whole.value, rel=1e-8)
            np.testing.assert_allclose(reduced.multipliers, whole.multipliers, atol=1e-7 * scale)
            np.testing.assert_allclose(ws.multiplier, whole.multipliers, atol=1e-7 * scale)
            assert not solve_mode_program(given, ws.value[0] - 1e-6 * abs(ws.value[0]) - 1e-9, ws)
    assert found > 20


def test_loads_that_are_not_unique_are_planned_too():
    """A plank on two feet that a third one makes redundant: S_cc is singular."""
    b = ta.ModelBuilder("plank")
    b.body("rail")
    b.prismatic("x", parent="world", child="rail", axis=(1.0, 0.0, 0.0))
    feet = [ta.Shape(ta.Sphere(0.1), pose=ta.Transform.from_rpy((s, 0.0, 0.0))) for s in (-0.5, 0.0, 0.5)]
    b.body("plank", ta.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), feet)
    b.prismatic("z", parent="rail", child="plank", axis=(0.0, 0.0, 1.0))
    world = ta.World(b.build(), ground=ta.Plane(friction=0.5))
    system = Lineariser(world, 0.05, inputs=("x",), reach=0.05).at([0.0, 0.1])
    problem = PlanningProblem(
        system, 5, Cost(np.diag([1e3, 0.0, 1.0, 0.0]), 1e-3 * np.eye(1)),
        Polytope.box([-9.0] * 4, [9.0] * 4), Polytope.box([-20.0], [20.0]),
    )  # fmt: skip
    plan = Consensus(problem).solve(np.zeros(4), [0.1, 0.0, 0.0, 0.0], [5.0])
    assert plan.motion is not None
    assert plan.x[-1][0] == pytest.approx(0.1, abs=0.05)
    np.testing.assert_allclose(system.roll_out(plan.x[0], plan.u)[0], plan.x, atol=1e-8)


def test_systems_on_the_level_of_velocities_are_planned():
    world = ta.World(pushers())
    system = Lineariser(world, 0.05, inputs=("right", "left"), level="velocity", reach=4.0).at(np.zeros(3))
    made = setup(4)
    problem = PlanningProblem(system, 4, made.problem.cost, made.problem.states, made.problem.inputs)
    fast, best, within = Consensus(problem), make_planner("enumeration", problem), 0
    for seed in range(1, 9):
        x0 = system.state(*random_start(seed))
        one, other = fast.solve(x0, made.target), best.solve(x0, made.target)
        assert other.objective <= one.objective * (1.0 + 1e-6)
        within += one.objective <= 1.05 * other.objective
        for k in range(4):  # a contact acts where the free motion closes it, and only there
            gap = system.guard.G @ one.x[k] + system.guard.H @ one.u[k] + system.guard.g
            acts = gap[system.guard.contact] <= 1e-9
            assert (one.motion.contact[k][~acts] == 0.0).all()
            away = gap[system.guard.contact] >= -1e-9
            both = np.minimum(one.motion.contact[k], one.motion.slack[k])[~away]
            assert np.abs(both).max(initial=0.0) < 1e-9
    assert within >= 7


def test_no_plan_is_an_outcome():
    """Nothing stops a puck that leaves its set within a step."""
    problem = pushers_problem(2)
    x0 = np.zeros(6)
    x0[0], x0[3] = 0.0, 400.0
    plan = Consensus(problem).solve(x0)
    assert plan.outcome is Outcome.FAILED
    with pytest.raises(ta.PlanningError, match="there is no plan"):
        _ = plan.u


def test_methods_are_known_by_name():
    problem = setup(2).problem
    assert set(METHODS) == {"miqp", "admm", "direct", "enumeration"}
    for name in METHODS:
        assert make_planner(name, problem).name == name
    with pytest.raises(ta.BadInput, match="unknown planning method 'amdm'"):
        make_planner("amdm", problem)
    with pytest.raises(ta.BadInput, match="admm"):
        make_planner("admm", problem, speed=3)
    with pytest.raises(ta.BadInput, match="penalty: must be positive"):
        Consensus(problem, penalty=0.0)
    with pytest.raises(ta.BadInput, match="levels: must be a whole number"):
        Consensus(problem, levels=0)
    with pytest.raises(ta.BadInput, match="tries: must be a whole number"):
        Consensus(problem, tries=-1)
    with pytest.raises(ta.BadInput, match="time_limit: must be positive"):
        Consensus(problem, time_limit=0.0)
