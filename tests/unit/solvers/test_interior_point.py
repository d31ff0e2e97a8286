"""Interior point: closed forms, all laws, hyperstatic and mixed problems, proofs of infeasibility."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from solver_cases import closed_forms, contacts, mixed, random_problem, residual, stack
from taction.contact.certificate import certify
from taction.contact.elements import Contact, JointFriction, Unilateral
from taction.contact.problem import ContactProblem
from taction.solvers.base import Status
from taction.solvers.interior_cone import to_boundary
from taction.solvers.interior_point import InteriorPoint

LAWS = ("exact", "convex", "frictionless")


@pytest.mark.parametrize(
    ("name", "problem", "impulse"), list(closed_forms()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_closed_forms(name, problem, impulse):
    solution = InteriorPoint(tol=1e-11).solve(problem)
    assert solution.converged and solution.iterations < 30, name
    assert_close(solution.impulse, impulse, 1e-9)


def test_a_stack_carries_its_weight():
    problem, impulse = stack()
    assert_close(InteriorPoint(tol=1e-11).solve(problem).impulse, impulse, 1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("count", "freedoms"), [(6, 24), (10, 12), (30, 40)])
def test_random_problems_take_few_iterations(law, count, freedoms):
    for seed in range(5):
        problem = random_problem(seed, freedoms, contacts(seed, count), law)
        solution = InteriorPoint().solve(problem)
        assert solution.converged and solution.iterations < 60
        assert residual(problem, solution.impulse) <= 1e-8


@pytest.mark.parametrize("law", LAWS)
def test_mixed_elements(law):
    for seed in range(5):
        problem = mixed(seed, law)
        solution = InteriorPoint().solve(problem)
        assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_orthotropic_and_flat_cones():
    elements = [Contact(0.5, lateral=0.05), Contact(0.3, lateral=0.0), Contact(0.0, 0.4, 0.0), Contact(0.2)]
    problem = random_problem(4, 12, elements)
    solution = InteriorPoint().solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_joint_friction_saturates():
    problem = ContactProblem(np.eye(2), np.array([1.0, -0.01]), [JointFriction(0.1), JointFriction(0.1)])
    assert_close(InteriorPoint(tol=1e-11).solve(problem).impulse, [-0.1, 0.01], 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_half_ellipses_side_by_side(seed):
    problem = random_problem(seed, 6, [Contact(0.2, backward=0.4), Contact(0.6, 0.3, 0.1)])
    solution = InteriorPoint().solve(problem)
    assert solution.converged
    assert certify(problem, solution.impulse).residual <= 1e-8


@pytest.mark.parametrize("law", LAWS)
def test_no_solution_is_proved(law):
    """A contact that nothing can move apart closes at 1 m/s."""
    problem = ContactProblem.from_friction(np.diag([0.0, 1.0, 1.0]), [-1.0, 0.2, 0.0], [0.5], law=law)
    assert InteriorPoint().solve(problem).status is Status.INFEASIBLE


def test_two_limits_against_each_other_have_no_solution():
    problem = ContactProblem(np.array([[1.0, -1.0], [-1.0, 1.0]]), [-1.0, -0.5], [Unilateral(), Unilateral()])
    assert InteriorPoint().solve(problem).status is Status.INFEASIBLE


def test_close_to_infeasible_is_not_called_infeasible():
    problem = ContactProblem.from_friction(np.diag([1e-3, 1.0, 1.0]), [-1.0, 0.2, 0.0], [0.5])
    assert InteriorPoint().solve(problem).converged


def test_iteration_limit_returns_a_finite_iterate():
    problem = random_problem(5, 20, contacts(5, 10))
    solution = InteriorPoint(max_iterations=2).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT and solution.iterations == 2
    assert np.isfinite(solution.impulse).all()


def test_a_good_guess_does_no_harm():
    problem = random_problem(2, 30, contacts(2, 12))
    cold = InteriorPoint().solve(problem)
    assert InteriorPoint().solve(problem, cold.impulse).iterations == 0
    assert InteriorPoint().solve(problem, 1.0001 * cold.impulse).iterations <= cold.iterations


@pytest.mark.parametrize(
    ("x", "d", "length"),
    [
        ((2.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 2.0),
        ((2.0, 0.0, 0.0), (0.0, 1.0, 0.0), 2.0),
        ((2.0, 1.0, 0.0), (1.0, 1.0, 0.0), np.inf),
        ((2.0, 1.0, 0.0), (0.0, -1.0, 0.0), 3.0),
        ((2.0, 0.0, 0.0), (1.0, 2.0, 0.0), 2.0),
        ((2.0, 0.0, 0.0), (-2.0, 1.0, 0.0), 2.0 / 3.0),
    ],
)
def test_way_to_the_boundary(x, d, length):
    assert to_boundary(*x, *d) == pytest.approx(length)
