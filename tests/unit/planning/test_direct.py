"""Direct transcription: against all modes, against the simulator step by step, and typed outcomes."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from contact_worlds import cart_pole, finger, pushers
from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.direct import Direct
from taction.planning.problem import Cost, Outcome, Plan, PlanningProblem, Polytope
from taction.planning.program import Condenser, solve_mode
from taction.planning.system import ContactSystem, Guard, Reach

pytest.importorskip("casadi")
COST = Cost(
    np.diag([0.0, 100.0, 0.0, 0.0, 1.0, 0.0]), 0.01 * np.eye(2), np.diag([0.0, 1e3, 0.0, 0.0, 10.0, 0.0])
)
START, GOAL = np.array([0.15, 0.0, -0.15, 0.2, 0.0, 0.0]), np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0])


def three_balls(world: ta.World | None = None, h: float = 0.05) -> ContactSystem:
    """The pushers by hand: m v⁺ = m v + h u + Jᵀ λ, q⁺ = q + h v⁺, 0 ≤ λ ⊥ g/h + J v⁺ ≥ 0."""
    eye, J = np.eye(3), np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    S = eye[:, [0, 2]]
    sim = None if world is None else ta.Simulation(world, dt=h, contact="lcp", stepper="stewart-trinkle")
    return ContactSystem(
        A=np.block([[eye, h * eye], [0.0 * eye, eye]]), B=np.vstack([h * h * S, h * S]),
        C=np.vstack([h * J.T, J.T]), d=np.zeros(6), D=np.hstack([J / h, J]), E=h * J @ S, F=J @ J.T,
        c=np.array([0.2, 0.2]) / h, dt=h, load=np.eye(2), contacts=("left - puck", "puck - right"),
        inputs=("left x", "right x"), simulation=sim, origin=None if world is None else world.model.q0,
    )  # fmt: skip


EVERYTHING = Reach()


def of_world(world: ta.World, h: float, inputs: tuple[str, ...], seen: Reach = EVERYTHING) -> ContactSystem:
    """A system of a world of which nothing but the world, its origin and its inputs counts."""
    sim = ta.Simulation(world, dt=h, contact="lcp", stepper="stewart-trinkle")
    n, m = 2 * world.model.nv, len(inputs)
    return ContactSystem(
        A=np.eye(n), B=np.zeros((n, m)), C=np.zeros((n, 0)), d=np.zeros(n), D=np.zeros((0, n)),
        E=np.zeros((0, m)), F=np.zeros((0, 0)), c=np.zeros(0), dt=h, inputs=inputs, origin=world.model.q0,
        simulation=sim, seen=seen,
    )  # fmt: skip


def brute_force(problem: PlanningProblem, x0: Array) -> float:
    """The best objective of all modes."""
    condenser, targets = Condenser(problem), problem.targets(GOAL, None)
    program, best = condenser.program(x0, *targets), np.inf
    for mode in itertools.product([True, False], repeat=len(program.pairs)):
        found = solve_mode(program, np.array(mode))
        if found.is_found:
            motion = condenser.motion(x0, found.w)
            best = min(best, problem.objective(motion.x, motion.u, *targets))
    return best


def missed(system: ContactSystem, plan: Plan, is_restarted: bool) -> float:
    """How far the simulator's states are from the planned ones; restarted: from each planned state."""
    sim = system.simulation
    assert sim is not None
    drives, worst = [sim.model.joint(name).iv for name in system.inputs], 0.0
    state = sim.state(*system.place(plan.x[0]))
    for k, u in enumerate(plan.u):
        tau = np.zeros(sim.model.nv)
        tau[drives] = u
        if is_restarted:
            state = sim.state(*system.place(plan.x[k]))
        state, _ = sim.step(state, tau)
        worst = max(worst, np.abs(system.state(state.q, state.v) - plan.x[k + 1]).max())
    return worst


@pytest.mark.parametrize("horizon", range(1, 9))
def test_pushers_obey_the_law_and_move_as_simulated(horizon: int) -> None:
    system = three_balls(pushers())
    plan = Direct(PlanningProblem(system, horizon, COST)).solve(START, GOAL)
    assert plan.outcome is Outcome.FEASIBLE
    assert plan.motion is not None and plan.motion.complementarity <= 1e-8
    assert missed(system, plan, is_restarted=False) < 1e-8
    hand = Direct(PlanningProblem(three_balls(), horizon, COST)).solve(START, GOAL)
    assert hand.objective == pytest.approx(plan.objective, rel=1e-6)
    states, _ = three_balls().roll_out(START, hand.u)
    np.testing.assert_allclose(states, hand.x, atol=1e-8)


@pytest.mark.parametrize("horizon", range(1, 5))
def test_never_better_than_all_modes_and_mostly_as_good(horizon: int) -> None:
    rng, problem = np.random.default_rng(horizon), PlanningProblem(three_balls(), horizon, COST)
    planner, best = Direct(problem), 0
    for _ in range(5):
        x0 = START + 0.1 * rng.uniform(-1.0, 1.0, 6) * [0.5, 0.2, 0.5, 5.0, 5.0, 5.0]
        plan, least = planner.solve(x0, GOAL), brute_force(problem, x0)
        assert plan.outcome is Outcome.FEASIBLE
        assert plan.objective >= least * (1.0 - 1e-6)
        best += plan.objective <= least * (1.0 + 1e-6)
    assert best >= 4


def test_no_inputs_nearby_are_better() -> None:
    """A local optimum of the problem itself: whatever contacts do under other inputs, nothing is gained."""
    system, rng = three_balls(), np.random.default_rng(0)
    problem = PlanningProblem(system, 6, COST)
    plan = Direct(problem).solve(START, GOAL)
    targets = problem.targets(GOAL, None)
    for _ in range(200):
        u = plan.u + 1e-3 * rng.standard_normal(plan.u.shape)
        x, _ = system.roll_out(START, u)
        assert problem.objective(x, u, *targets) >= plan.objective * (1.0 - 1e-9)


def test_a_pole_is_caught_with_the_help_of_a_wall() -> None:
    world = cart_pole(apart=0.35)
    system = of_world(world, 0.02, ("slide",))
    Q = np.diag([1.0, 100.0, 0.1, 1.0])
    push = Polytope.box([-10.0], [10.0])
    planner = Direct(PlanningProblem(system, 15, Cost(Q, 1e-3 * np.eye(1), 10.0 * Q), inputs=push))
    plan = planner.solve([0.0, 0.3, 0.0, 1.5])
    assert plan.outcome is Outcome.FEASIBLE and plan.motion is not None
    assert plan.motion.complementarity <= 1e-8
    assert np.abs(plan.u).max() <= 10.0 + 1e-8
    assert sum(contact[4] > 1e-3 for contact in plan.motion.contact) >= 3  # presses the wall on the right
    assert missed(system, plan, is_restarted=True) < 1e-6  # Coriolis forces are found to 1e-5 in a simulation
    again = planner.solve([0.0, 0.3, 0.0, 1.5], warm=plan)
    assert again.objective == pytest.approx(plan.objective, rel=1e-6)
    assert again.effort < plan.effort


@pytest.mark.long
def test_a_finger_pushes_a_box() -> None:
    world = finger()
    system = of_world(world, 0.05, ("finger x", "finger z"), seen=Reach(reach=0.07))
    Q = np.diag([100.0, 1.0, 1.0, 0.1, 0.1, 1.0, 1.0, 1.0, 0.1, 0.1])
    push = Polytope.box([-30.0, -30.0], [30.0, 30.0])
    problem = PlanningProblem(system, 10, Cost(Q, 1e-3 * np.eye(2), 10.0 * Q), inputs=push)
    plan = Direct(problem).solve(np.zeros(10), [0.1, *np.zeros(9)])
    assert plan.outcome is Outcome.FEASIBLE and plan.motion is not None
    assert plan.motion.complementarity <= 1e-8
    assert plan.x[-1, 0] > 0.05  # the box has moved, which nothing else can do
    assert missed(system, plan, is_restarted=False) < 1e-8


@pytest.mark.long
def test_a_pole_swings_up_between_walls() -> None:
    system = of_world(cart_pole(apart=0.6), 0.05, ("slide",))
    cost = Cost(np.diag([0.1, 1.0, 0.01, 0.01]), 1e-3 * np.eye(1), np.diag([10.0, 1000.0, 10.0, 100.0]))
    planner = Direct(PlanningProblem(system, 30, cost, inputs=Polytope.box([-15.0], [15.0])))
    plan = planner.solve([0.0, np.pi, 0.0, 0.0])
    assert plan.outcome is Outcome.FEASIBLE and plan.motion is not None
    assert plan.motion.complementarity <= 1e-8
    assert np.abs(plan.x[-1, 1:]).max() < 0.2  # upright and nearly at rest
    assert missed(system, plan, is_restarted=True) < 1e-5


def test_overlaps_of_long_steps_are_told() -> None:
    system = of_world(cart_pole(apart=0.6), 0.05, ("slide",))
    plan = Direct(PlanningProblem(system, 2, Cost(np.eye(4), np.eye(1)))).solve([-0.485, 3.278, 1.276, 7.024])
    assert plan.outcome is Outcome.FEASIBLE
    assert "states overlap by 0.003; take shorter steps" in plan.message


def test_no_plan_is_an_outcome() -> None:
    far = Polytope(np.array([[0.0, -1.0, 0.0, 0.0, 0.0, 0.0]]), np.array([-5.0]))  # the puck beyond 5 m
    weak = Polytope.box([-1.0, -1.0], [1.0, 1.0])
    plan = Direct(PlanningProblem(three_balls(), 3, COST, states=far, inputs=weak)).solve(START, GOAL)
    assert plan.outcome is Outcome.FAILED
    assert plan.motion is None and plan.objective == np.inf
    assert "infeasible" in plan.message


def test_time_is_limited() -> None:
    problem = PlanningProblem(three_balls(), 8, COST)
    plan = Direct(problem, time_limit=1e-9).solve(START, GOAL)
    assert plan.outcome is Outcome.TIME_LIMIT and plan.motion is None
    assert plan.effort <= 2  # iterations: the clock is looked at after each
    long = Direct(problem, time_limit=1e6).solve(START, GOAL)
    assert long.outcome is Outcome.FEASIBLE
    assert long.objective == pytest.approx(Direct(problem).solve(START, GOAL).objective, rel=1e-6)


def guarded(system: ContactSystem) -> ContactSystem:
    """The balls on the level of velocities: only contacts count that the free motion closes."""
    h = system.dt
    free = Guard(h * system.D, h * system.E, h * system.c, np.arange(2))
    still = system.D @ np.vstack([np.eye(3), np.zeros((3, 3))])
    D = system.D - np.hstack([still, np.zeros((2, 3))])
    return replace(system, D=D, c=np.zeros(2), guard=free)


@pytest.mark.parametrize("start", [[0.2, 0.0, 0.0, 0.5, 0.0, 0.0], [0.18, 0.0, -0.2, 1.0, 0.0, -0.5]])
@pytest.mark.parametrize("horizon", [1, 3, 5])
def test_systems_on_the_level_of_velocities(horizon: int, start: list[float]) -> None:
    system = guarded(three_balls())
    problem = PlanningProblem(system, horizon, COST)
    plan = Direct(problem).solve(start, GOAL)
    assert plan.outcome is Outcome.FEASIBLE and plan.motion is not None
    assert max(z[:2].max() for z in plan.motion.contact) > 1e-3
    assert plan.motion.complementarity <= 1e-8
    x = plan.x
    for k, u in enumerate(plan.u):  # λ of the system in each step
        z, y = plan.motion.contact[k][:2], system
        gap = y.guard.G @ x[k] + y.guard.H @ u + y.guard.g
        slack = y.D @ x[k] + y.E @ u + y.F @ z + y.c
        np.testing.assert_allclose(x[k + 1], y.A @ x[k] + y.B @ u + y.C @ z + y.d, atol=1e-8)
        for i in range(2):
            is_away, is_law = gap[i] > -1e-8 and z[i] <= 1e-8, min(z[i], slack[i]) > -1e-8
            assert is_away or (gap[i] < 1e-8 and is_law and min(z[i], slack[i]) < 1e-8)


def test_what_it_does_not_take_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    system = three_balls()
    with pytest.raises(BadInput, match="level of positions"):
        Direct(PlanningProblem(guarded(three_balls(pushers())), 2, COST))
    two = [three_balls(pushers()), three_balls(pushers())]
    with pytest.raises(BadInput, match="one world"):
        Direct(PlanningProblem(two, 2, COST))
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(BadInput, match=r"needs CasADi: pip install 'taction\[planning\]'"):
        Direct(PlanningProblem(system, 2, COST))
