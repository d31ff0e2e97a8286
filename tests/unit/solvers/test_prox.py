"""The prox fixed point: closed forms, sections, bilateral rows, step lengths, matrix-free."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from solver_cases import Products, closed_forms, contacts, mixed, random_problem, residual, stack
from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, Contact
from taction.contact.friction_cone import project_section
from taction.contact.problem import ContactProblem
from taction.solvers.base import Status
from taction.solvers.prox import Prox

CASES = [case for case in closed_forms() if case[1].law in Prox.laws]


@pytest.mark.parametrize(("name", "problem", "impulse"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_closed_forms(name, problem, impulse):
    solution = Prox(tol=1e-12).solve(problem)
    assert solution.converged, name
    assert_close(solution.impulse, impulse, 1e-10)


def test_a_stack_carries_its_weight():
    problem, impulse = stack()
    assert_close(Prox(tol=1e-12).solve(problem).impulse, impulse, 1e-9)


@pytest.mark.parametrize("law", Prox.laws)
@pytest.mark.parametrize(("count", "freedoms"), [(6, 24), (10, 12), (20, 30)])
def test_random_problems_are_solved(law, count, freedoms):
    for seed in range(4):
        problem = random_problem(seed, freedoms, contacts(seed, count, high=0.5), law)
        solution = Prox().solve(problem)
        assert solution.converged and residual(problem, solution.impulse) <= 1e-8


@pytest.mark.parametrize("law", Prox.laws)
def test_mixed_elements(law):
    for seed in range(4):
        problem = mixed(seed, law)
        solution = Prox().solve(problem)
        assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_half_ellipses():
    problem = random_problem(3, 18, [Contact(0.2, lateral=0.4, backward=0.6) for _ in range(4)])
    solution = Prox().solve(problem)
    assert solution.converged and residual(problem, solution.impulse) <= 1e-8


def test_bilateral_rows_are_solved_at_once():
    problem = random_problem(0, 20, [Bilateral(8)])
    solution = Prox().solve(problem)
    assert solution.converged and solution.iterations == 0
    assert_close(solution.velocity, np.zeros(8), 1e-12, scale=np.abs(problem.b).max())


@pytest.mark.parametrize("seed", range(20))
def test_nearest_point_of_a_section(seed):
    """Against a fine search along the boundary."""
    rng = np.random.default_rng(seed)
    plus, minus, lateral, radius = rng.uniform(0.1, 2.0, 4)
    x = 4.0 * rng.normal(size=2)
    angle = np.linspace(-np.pi, np.pi, 200001)
    axis = np.where(np.cos(angle) >= 0.0, plus, minus)
    edge = radius * np.stack([axis * np.cos(angle), lateral * np.sin(angle)], axis=1)
    y = np.array(project_section(plus, minus, lateral, radius, *x))
    a = plus if x[0] >= 0.0 else minus
    if np.hypot(x[0] / a, x[1] / lateral) <= radius:
        assert (y == x).all()
    else:
        best = edge[np.argmin(((edge - x) ** 2).sum(axis=1))]
        assert_close(y, best, 1e-4)
        assert np.linalg.norm(y - x) <= np.linalg.norm(best - x) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("x", "y"), [((1.0, 2.0), (0.0, 0.5)), ((0.3, 0.2), (0.0, 0.2)), ((-1.0, -2.0), (-0.6, 0.0))]
)
def test_flat_sections(x, y):
    plus, minus, lateral = (0.0, 0.0, 0.5) if x[0] > 0.0 else (0.6, 0.6, 0.0)
    assert_close(np.array(project_section(plus, minus, lateral, 1.0, *x)), y, 1e-15)


def test_given_steps_are_used_and_too_large_ones_diverge_in_a_typed_way():
    problem = random_problem(1, 40, contacts(1, 6, high=0.3))
    assert Prox(r_N=0.2, r_T=0.2).solve(problem).converged
    wild = Prox(r_N=50.0, r_T=50.0).solve(problem)
    assert wild.status is Status.STALLED
    assert np.isfinite(wild.impulse).all() and np.isfinite(wild.history).all()


def test_a_matrix_free_problem_is_only_multiplied_with():
    explicit = random_problem(3, 40, [*contacts(3, 6, high=0.4), Bilateral(2)])
    products = Products(explicit.W)
    problem = ContactProblem(products, explicit.b, explicit.elements)
    solution = Prox().solve(problem)
    assert solution.converged and residual(explicit, solution.impulse) <= 1e-8
    assert "matrix" not in vars(problem)
    assert products.count < solution.iterations + 20


def test_iteration_limit_and_warm_start():
    problem = random_problem(2, 30, contacts(2, 8, high=0.4))
    cut = Prox(max_iterations=5).solve(problem)
    assert cut.status is Status.ITERATION_LIMIT and cut.iterations == 5
    cold = Prox().solve(problem)
    assert Prox().solve(problem, 1.0001 * cold.impulse).iterations < cold.iterations


@pytest.mark.parametrize("options", [{"r_N": 0.0}, {"r_T": -1.0}, {"r_N": np.inf}])
def test_options_are_checked(options):
    with pytest.raises(BadInput):
        Prox(**options)


def test_the_convex_law_is_refused():
    with pytest.raises(BadInput, match="does not know the law"):
        Prox().solve(random_problem(0, 6, contacts(0, 2), "convex"))
