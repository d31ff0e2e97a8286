"""Accelerated projected gradients: closed forms, agreement with other convex solvers, matrix-free."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from solver_cases import Products, closed_forms, contacts, mixed, random_problem, residual
from taction._core.errors import BadInput
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.solvers.admm import ADMM
from taction.solvers.apgd import APGD
from taction.solvers.base import Status

CONVEX = [case for case in closed_forms() if case[1].law in APGD.laws]


@pytest.mark.parametrize(
    ("name", "problem", "impulse"), CONVEX, ids=lambda v: v if isinstance(v, str) else ""
)
def test_closed_forms(name, problem, impulse):
    solution = APGD(tol=1e-12).solve(problem)
    assert solution.converged, name
    assert_close(solution.impulse, impulse, 1e-10)


def test_the_exact_law_is_refused():
    with pytest.raises(BadInput, match="does not know the law"):
        APGD().solve(random_problem(0, 6, contacts(0, 2)))


@pytest.mark.parametrize("law", APGD.laws)
@pytest.mark.parametrize(("count", "freedoms"), [(6, 24), (10, 12), (20, 30)])
def test_velocities_agree_with_admm(law, count, freedoms):
    for seed in range(4):
        problem = random_problem(seed, freedoms, contacts(seed, count), law)
        ours, theirs = APGD(tol=1e-10).solve(problem), ADMM(tol=1e-10).solve(problem)
        assert ours.converged and theirs.converged
        assert_close(ours.velocity, theirs.velocity, 1e-7, scale=np.abs(problem.b).max())


def test_mixed_elements():
    problem = mixed(0, "convex")
    solution = APGD().solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_a_matrix_free_problem_is_only_multiplied_with():
    explicit = random_problem(3, 40, contacts(3, 8), "convex", compliance=np.full(24, 1e-3))
    products = Products(explicit.W)
    problem = ContactProblem(
        products, explicit.b, explicit.elements, law="convex", compliance=explicit.compliance
    )
    solution = APGD(tol=1e-10).solve(problem)
    assert solution.converged
    assert "matrix" not in vars(problem)  # the cached dense form
    assert solution.iterations < products.count < 2 * solution.iterations + 20
    assert_close(
        solution.velocity, APGD(tol=1e-10).solve(explicit).velocity, 1e-7, scale=np.abs(explicit.b).max()
    )


def test_viscous_friction_needs_the_matrix():
    explicit = random_problem(3, 6, [Contact(0.5, viscous=0.1)], "convex")
    assert APGD().solve(explicit).converged
    with pytest.raises(BadInput, match="viscous"):
        APGD().solve(ContactProblem(Products(explicit.W), explicit.b, explicit.elements, law="convex"))


def test_history_is_that_of_the_best_and_stays_short():
    problem = random_problem(1, 30, contacts(1, 24), "convex")
    solution = APGD(tol=1e-15, max_iterations=2500).solve(problem)
    assert (np.diff(solution.history) <= 0.0).all()
    assert 100 < len(solution.history) <= 513
    assert_close(solution.residual, solution.history[-1], 1e-8, scale=1e-6)


def test_iteration_limit_and_warm_start():
    problem = random_problem(2, 30, contacts(2, 12), "convex")
    cut = APGD(max_iterations=5).solve(problem)
    assert cut.status is Status.ITERATION_LIMIT and cut.iterations == 5
    cold = APGD().solve(problem)
    assert APGD().solve(problem, 1.0001 * cold.impulse).iterations < cold.iterations
