"""ADMM: closed forms, random problems under all laws, warm start, statuses."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from solver_cases import closed_forms, contacts, mixed, random_problem, residual, stack
from taction._core.errors import BadInput
from taction.contact.elements import Contact
from taction.solvers.admm import ADMM, balance
from taction.solvers.base import Status
from taction.solvers.interior_point import InteriorPoint

LAWS = ("exact", "convex", "frictionless")


@pytest.mark.parametrize(
    ("name", "problem", "impulse"), list(closed_forms()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_closed_forms(name, problem, impulse):
    solution = ADMM(tol=1e-12).solve(problem)
    assert solution.converged, name
    assert_close(solution.impulse, impulse, 1e-10)


def test_a_stack_carries_its_weight():
    problem, impulse = stack()
    assert_close(ADMM(tol=1e-12).solve(problem).impulse, impulse, 1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("count", "freedoms"), [(6, 24), (10, 12), (30, 40)])
def test_random_problems_are_solved(law, count, freedoms):
    for seed in range(5):
        problem = random_problem(seed, freedoms, contacts(seed, count), law)
        solution = ADMM().solve(problem)
        assert solution.converged
        assert residual(problem, solution.impulse) <= 1e-8
        assert_close(solution.velocity, problem.W @ solution.impulse + problem.b, 1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_mixed_elements(law):
    for seed in range(5):
        problem = mixed(seed, law)
        solution = ADMM().solve(problem)
        assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_half_ellipses():
    elements = [Contact(0.2, lateral=0.4, backward=0.7) for _ in range(6)]
    problem = random_problem(3, 18, elements)
    solution = ADMM().solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-8


@pytest.mark.parametrize("law", ("convex", "frictionless"))
def test_velocities_agree_with_the_interior_point(law):
    for seed in range(4):
        problem = random_problem(seed, 20, contacts(seed, 12), law)
        ours, theirs = (method(tol=1e-10).solve(problem) for method in (ADMM, InteriorPoint))
        assert ours.converged and theirs.converged
        assert_close(ours.velocity, theirs.velocity, 1e-7, scale=np.abs(problem.b).max())


def test_acceleration_pays_and_changes_no_solution():
    problem, impulse = stack(20)
    plain, fast = ADMM(memory=0).solve(problem), ADMM().solve(problem)
    assert plain.converged and fast.converged
    assert 2 * fast.iterations < plain.iterations
    assert_close(fast.impulse, impulse, 1e-5)


def test_a_warm_start_saves_iterations():
    problem = random_problem(2, 30, contacts(2, 12))
    cold = ADMM().solve(problem)
    assert ADMM().solve(problem, cold.impulse).iterations == 0
    assert ADMM().solve(problem, 1.0001 * cold.impulse).iterations < cold.iterations


def test_large_sparse_problems_use_the_sparse_factor():
    from scipy.sparse import block_diag, coo_array, csr_array

    parts = [random_problem(seed, 12, contacts(seed, 4)) for seed in range(30)]
    W = csr_array(block_diag([coo_array(part.W) for part in parts]))
    elements = [element for part in parts for element in part.elements]
    problem = type(parts[0])(W, np.concatenate([part.b for part in parts]), elements)
    solution = ADMM().solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_iteration_limit_returns_the_best_iterate():
    problem = random_problem(5, 20, contacts(5, 10))
    solution = ADMM(max_iterations=3).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT and solution.iterations == 3
    assert_close(solution.residual, solution.history.min(), 1e-9)


def test_balance_points_the_right_way():
    assert balance(1.0, 1.0, 1.0) == 1.0
    assert balance(1.0, 100.0, 1.0) == 10.0
    assert balance(1.0, 1.0, 100.0) == 0.1
    assert balance(1e8, 1e4, 1.0) == 1.0


@pytest.mark.parametrize("options", [{"penalty": 0.0}, {"relaxation": 2.0}, {"memory": -1}, {"tol": 0.0}])
def test_options_are_checked(options):
    with pytest.raises(BadInput):
        ADMM(**options)


def test_no_rows():
    problem = random_problem(0, 3, [])
    assert ADMM().solve(problem).converged
