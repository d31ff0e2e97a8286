"""The snake document's Modified Newton algorithm: closed forms, joints eliminated, parameters, its ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from contact_problems import random_scene
from helpers import assert_close
from solver_cases import closed_forms, contacts, mixed, random_problem, residual, stack
from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, Contact, Unilateral
from taction.contact.problem import ContactProblem
from taction.reference.transeth_data import SnakeState
from taction.reference.transeth_snake import TransethSnake
from taction.solvers import solve
from taction.solvers.base import Status
from taction.solvers.modified_newton import DENSE, ModifiedNewton

CASES = [case for case in closed_forms() if case[1].law in ModifiedNewton.laws]
DOCUMENT = ModifiedNewton(r_N=2.0, r_T=0.5, tol=1e-11)


def reduced(problem):
    """S of a problem of contacts followed by bilateral rows."""
    C = 3 * problem.contacts
    W = problem.W
    return W[:C, :C] - W[:C, C:] @ np.linalg.solve(W[C:, C:], W[C:, :C])


def snake_step(depth=1e-3):
    """A step of the lying snake with 22 contacts and velocities of all kinds."""
    d = TransethSnake()
    q = d.drop_state(0.0, d.parameters.radius - depth).q
    u = 0.05 * np.random.default_rng(0).normal(size=(d.n, 6))
    problem, active = d.contact_problem(SnakeState(q, u, np.zeros((2 * d.n, 3))))
    assert len(active) == 22
    return problem


@pytest.mark.parametrize(("name", "problem", "impulse"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_closed_forms(name, problem, impulse):
    solution = ModifiedNewton(tol=1e-12).solve(problem)
    assert solution.converged, name
    assert_close(solution.impulse, impulse, 1e-10)


def test_a_stack_carries_its_weight():
    problem, impulse = stack()
    assert_close(ModifiedNewton(tol=1e-12).solve(problem).impulse, impulse, 1e-9)


@pytest.mark.parametrize("law", ModifiedNewton.laws)
def test_mixed_elements_and_redundant_joints(law):
    for seed in range(4):
        problem = mixed(seed, law)
        solution = ModifiedNewton().solve(problem)
        assert solution.converged and residual(problem, solution.impulse) <= 1e-8


@pytest.mark.parametrize("law", ModifiedNewton.laws)
@pytest.mark.parametrize(("count", "freedoms"), [(6, 24), (20, 30)])
def test_random_problems_are_solved(law, count, freedoms):
    for seed in range(3):
        problem = random_problem(seed, freedoms, contacts(seed, count, high=0.5), law)
        assert ModifiedNewton().solve(problem).converged


def test_half_ellipses():
    problem = random_problem(3, 18, [Contact(0.2, lateral=0.4, backward=0.6) for _ in range(4)])
    solution = ModifiedNewton(tol=1e-11).solve(problem)
    assert solution.converged
    assert_close(solution.impulse, solve(problem, tol=1e-12).impulse, 1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_unique_impulses_are_those_of_the_default_solver(seed):
    """As many contacts as bodies: W has full rank, and its condition bounds the error by the residual."""
    problem = random_scene(np.random.default_rng(seed), 4, 4, sections=3).problem
    eigenvalues = np.linalg.eigvalsh(problem.W)
    assert eigenvalues[0] > 1e-3 * eigenvalues[-1]
    expected = solve(problem, tol=1e-13).impulse
    solution = ModifiedNewton(tol=1e-12).solve(problem)
    assert solution.converged
    assert_close(solution.impulse, expected, 1e-8, scale=max(np.abs(expected).max(), 1e-3))


@pytest.mark.parametrize("step", [226, 260, 400])
def test_the_falling_snake_gets_the_impulses_of_the_default_solver(step):
    """One or two spheres touch: forces are unique, and joints and contacts agree."""
    d = TransethSnake()
    state = d.drop_state()
    for _ in range(step):
        state = d.step(state).state
    problem, active = d.contact_problem(state)
    assert len(active) in (1, 2) and np.linalg.eigvalsh(reduced(problem))[0] > 1e-3
    expected = solve(problem, tol=1e-12).impulse
    for solver in (DOCUMENT, ModifiedNewton(tol=1e-11)):
        solution = solver.solve(problem)
        assert solution.converged
        assert_close(solution.impulse, expected, 1e-8)


def test_joints_hold_in_every_iteration():
    problem = snake_step()
    cut = ModifiedNewton(max_iterations=3).solve(problem)
    assert cut.status is Status.ITERATION_LIMIT and cut.iterations == 3
    C = 3 * problem.contacts
    assert np.abs(cut.velocity[C:]).max() <= 1e-12
    assert np.abs(cut.velocity[:C]).max() > 1e-3


def test_joints_alone_take_no_iteration():
    problem = random_problem(0, 20, [Bilateral(8)])
    solution = ModifiedNewton().solve(problem)
    assert solution.converged and solution.iterations == 0
    assert_close(solution.velocity, np.zeros(8), 1e-12, scale=np.abs(problem.b).max())


@pytest.mark.parametrize("redundant", [False, True])
def test_many_joints_are_factored_as_a_sparse_matrix(redundant):
    """A long chain of masses tied to each other; redundant: its last tie is there twice."""
    m = DENSE + 50
    J = np.eye(m, m + 1) - np.eye(m, m + 1, k=1)
    if redundant:
        J = np.vstack([J, J[-1]])
    J = np.vstack([np.eye(1, m + 1), J])
    b = np.concatenate([[-1.0], np.random.default_rng(0).normal(size=m), np.zeros(len(J) - m - 1)])
    b[-1] = b[m]
    W = csr_matrix(J @ J.T)
    problem = ContactProblem(W, b, [Unilateral(), Bilateral(len(J) - 1)])
    solution = ModifiedNewton(tol=1e-10).solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-10


def test_the_range_of_r_is_that_of_a_projected_gradient():
    """Without friction: below 2/λ_max(S_NN) it converges, above it does not."""
    problem = snake_step().with_law("frictionless")
    limit = 2.0 / np.linalg.eigvalsh(reduced(problem)[::3, ::3])[-1]
    assert limit == pytest.approx(4.4, abs=0.1)  # [kg], so that the document's 2 is within
    inside = ModifiedNewton(r_N=0.98 * limit).solve(problem)
    outside = ModifiedNewton(r_N=1.1 * limit).solve(problem)
    assert inside.converged and outside.status is Status.STALLED
    assert np.isfinite(outside.impulse).all() and np.isfinite(outside.history).all()


def test_divergence_is_said():
    problem = random_problem(1, 40, contacts(1, 6, high=0.3))
    wild = ModifiedNewton(r_N=1e3, r_T=1e3).solve(problem)
    assert wild.status is Status.STALLED and "diverges; r_N = 1000 kg" in wild.message
    assert np.isfinite(wild.impulse).all()


def test_a_small_change_is_an_end_but_no_success():
    problem = random_problem(2, 30, contacts(2, 8, high=0.4))
    lazy = ModifiedNewton(r_N=1e-6, r_T=1e-6, epsilon=1e-4).solve(problem)
    assert lazy.status is Status.STALLED and lazy.iterations == 1 and "(70)" in lazy.message
    assert (
        ModifiedNewton(epsilon=1e-3, tol=1e-12).solve(problem).iterations
        < ModifiedNewton(tol=1e-12).solve(problem).iterations
    )


def test_a_warm_start_saves_iterations():
    problem = snake_step()
    cold = DOCUMENT.solve(problem)
    assert DOCUMENT.solve(problem, 1.0001 * cold.impulse).iterations < cold.iterations


@pytest.mark.parametrize("options", [{"r_N": 0.0}, {"r_T": -1.0}, {"r_N": np.inf}, {"epsilon": -1.0}])
def test_options_are_checked(options):
    with pytest.raises(BadInput):
        ModifiedNewton(**options)
