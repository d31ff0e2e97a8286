"""A body on feet against Newton's and Euler's equations, and plans of it against all combinations of feet."""

from __future__ import annotations

import numpy as np
import pytest

from taction.planning.centroidal import BODY, FOOT, PULL, PUSH, Body, centroidal_system, leg_forces, shares
from taction.planning.consensus import Consensus
from taction.planning.enumeration import Enumeration
from taction.planning.problem import Cost, Outcome, PlanningProblem

H = 0.04
ROBOT = Body(
    12.0, np.array([[0.2, 0.01, 0.0], [0.01, 0.5, 0.02], [0.0, 0.02, 0.6]]), ("a", "b", "c", "d"), 9.81
)
ARMS = np.array([[-0.2, -0.1, -0.3], [-0.2, 0.1, -0.3], [0.2, -0.1, -0.3], [0.2, 0.1, -0.3]])


def test_body_and_feet_move_as_newton_and_euler_say():
    rng = np.random.default_rng(1)
    system = centroidal_system(ROBOT, ARMS, H)
    x = rng.normal(size=20)
    x[BODY : BODY + 4] = [0.0, 0.3, 0.0, 0.2]
    x[BODY + 4 :] = [-0.5, 0.1, 0.2, -0.4]
    u = rng.normal(size=12) * np.tile([0.1, 0.1, 0.3], 4)
    u[2::3] = [0.3, -0.001, 0.4, -0.002]
    after, impulse = system.step(x, u)
    weight, force = ROBOT.mass * ROBOT.gravity, u.reshape(4, 3)
    velocity = x[6:9] + H * (force.sum(axis=0) * ROBOT.gravity - [0.0, 0.0, ROBOT.gravity])
    moment = weight * np.cross(ARMS, force).sum(axis=0)
    turning = x[9:12] + H * np.linalg.solve(ROBOT.inertia, moment)
    assert np.allclose(after[6:12], [*velocity, *turning], rtol=0.0, atol=1e-12)
    assert np.allclose(after[:6], x[:6] + H * after[6:12], rtol=0.0, atol=1e-12)
    # feet a and c stand and stay, b and d fly
    assert np.allclose(after[[12, 14]], 0.0, atol=1e-12) and (impulse[[0, 2]] > 0.0).all()
    assert impulse[1] == impulse[3] == 0.0 and (after[[13, 15]] > 0.0).all()
    pull = -H * (force[:, 2] / FOOT + 1.0) * ROBOT.gravity + H * ROBOT.gravity / FOOT * impulse
    assert np.allclose(after[16:], x[16:] + pull, rtol=0.0, atol=1e-11)
    total = system.load @ impulse
    assert total == pytest.approx(weight * H * impulse)


def test_a_robot_that_shares_its_weight_stands_for_ever():
    system = centroidal_system(ROBOT, ARMS, H)
    for on in ([1, 1, 1, 1], [1, 0, 0, 1]):
        u = np.tile(shares(ROBOT, np.array(on)), (20, 1))
        states, impulses = system.roll_out(np.zeros(20), u)
        assert np.allclose(states, 0.0, atol=1e-12)
        # the ground carries the body and its feet, by those that stand
        assert impulses[-1].sum() == pytest.approx(1.0 + 4.0 * FOOT, rel=1e-12)
        assert ((impulses[-1] > 0.0) == np.array(on, dtype=bool)).all()


def test_forces_of_legs_are_in_a_pyramid():
    rng, mu = np.random.default_rng(2), 0.6
    region = leg_forces(ROBOT, mu)
    pull = FOOT * (1.0 + PULL / ROBOT.gravity)
    inside = 0
    for _ in range(300):
        force = rng.uniform(-1.0, 1.0, (4, 3)) * [0.15, 0.15, 0.2] + [0.0, 0.0, 0.25]
        obeys = (
            (np.abs(force[:, :2]).max(axis=1) <= mu * (force[:, 2] + pull)).all()
            and (force[:, 2] >= -pull).all()
            and (force[:, 2] <= PUSH).all()
        )
        assert bool((region.A @ force.ravel() <= region.b).all()) == bool(obeys)
        inside += bool(obeys)
    assert 30 < inside < 270


def test_a_plan_lifts_the_feet_that_are_wished_up_and_is_near_the_best_of_all_modes():
    system = centroidal_system(ROBOT, ARMS, H)
    weights = np.concatenate([np.full(6, 100.0), np.ones(6), np.full(4, 1e3), np.full(4, 0.1)])
    problem = PlanningProblem(
        system, 2, Cost(np.diag(weights), 0.02 * np.eye(12)), None, leg_forces(ROBOT, 0.6)
    )
    target = np.zeros((3, 20))
    target[1:, [12, 15]] = [[0.01], [0.03]]
    rest = shares(ROBOT, target[:-1, 12:16] <= 0.0)
    best = Enumeration(problem).solve(np.zeros(20), target, rest)
    found = Consensus(problem).solve(np.zeros(20), target, rest)
    assert best.outcome is Outcome.OPTIMAL
    assert best.objective <= found.objective * (1.0 + 1e-9) and found.objective <= 1.05 * best.objective
    for plan in (best, found):
        assert plan.motion is not None and plan.motion.complementarity < 1e-10
        assert (plan.x[1:, [12, 15]] > 5e-3).all() and (np.array(plan.motion.contact)[:, [0, 3]] == 0.0).all()
        assert np.allclose(plan.x[1:, [13, 14]], 0.0, atol=1e-9)
        assert np.array(plan.motion.contact)[:, [1, 2]].min() > 0.3
