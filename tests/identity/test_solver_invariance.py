"""What may not change a solution: units, order of contacts, choice of tangents; every solver, every law.

Impulses may be non-unique, so velocities and residuals are compared.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from contact_problems import PAIRS, random_scene, require
from taction._core.arrays import Array
from taction.contact.certificate import certify
from taction.contact.problem import ContactProblem
from taction.solvers import SOLVERS, Status, solve

TOL = 1e-8
# How every solver ends on these problems under every law it knows. One that does worse fails; one that is
# meant to do worse has its own line here, with the reason.
EXPECTED = dict.fromkeys(PAIRS, Status.CONVERGED)
SOLVE = [(name, law) for name, law in PAIRS if law != "pyramid"]


def solved(problem: ContactProblem, solver: str, tol: float = TOL) -> Array:
    """Velocities, after the certificate has confirmed them."""
    solution = solve(problem, solver, tol=tol)
    assert solution.status is EXPECTED[solver, problem.law], solution.message
    assert certify(problem, solution.impulse).residual <= tol
    return solution.velocity


def bound(problem: ContactProblem) -> float:
    """How far two velocities [m/s] with residuals of `TOL` may differ, see `test_units`; in quadrature."""
    return math.sqrt(2.0) * TOL * float(np.linalg.norm(problem.b)) * float(np.linalg.cond(problem.W))


def random_problem(solver: str, law: str, sections: int = 1) -> ContactProblem:
    """Three contacts; two for enumeration, which takes seconds for more."""
    contacts = 2 if solver == "enumeration" else 3
    return random_scene(np.random.default_rng(3), contacts, contacts, law=law, sections=sections).problem


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_units(solver, law):
    require(law)
    p = random_problem(solver, law)
    u = solved(p, solver)
    for c, d in ((1e-3, 1.0), (1e4, 1.0), (1.0, 1e-3), (20.0, 50.0)):  # units of mass, of velocity, of both
        changed = ContactProblem(c * p.W, d * p.b, p.elements, law=law)
        # a residual r bounds errors of impulses by r |b| over the least eigenvalue of c W, and errors of
        # velocities by c ‖W‖ times that, so by r |b| cond(W) for all c
        error = np.abs(solved(changed, solver, TOL / max(c, 1.0)) / d - u).max()
        assert error <= bound(p), (c, d)


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_order_of_the_contacts(solver, law):
    require(law)
    p = random_problem(solver, law, sections=3)
    order = np.roll(np.arange(p.contacts), 1)
    rows = np.concatenate([np.arange(3 * k, 3 * k + 3) for k in order])
    changed = ContactProblem(p.W[np.ix_(rows, rows)], p.b[rows], [p.elements[k] for k in order], law=law)
    u = solved(p, solver)
    assert np.abs(solved(changed, solver) - u[rows]).max() <= bound(p)


@pytest.mark.parametrize(("solver", "law"), SOLVE)
def test_choice_of_tangents(solver, law):
    p = random_problem(solver, law)
    turn = np.eye(p.size)
    for k, angle in enumerate((0.3, -2.0, 1.4)[: p.contacts]):
        c, s = np.cos(angle), np.sin(angle)
        turn[3 * k + 1 : 3 * k + 3, 3 * k + 1 : 3 * k + 3] = [[c, s], [-s, c]]
    changed = ContactProblem(turn @ p.W @ turn.T, turn @ p.b, p.elements, law=law)
    u = solved(p, solver)
    assert np.abs(turn.T @ solved(changed, solver) - u).max() <= bound(p)


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_equal_coefficients_are_isotropic_bit_for_bit(solver, law):
    require(law)
    p = random_problem(solver, law)
    mu = np.array([0.3, 0.7, 1.1])[: p.contacts]
    iso = solve(ContactProblem.from_friction(p.W, p.b, mu, law=law), solver, tol=TOL)
    for columns in (2, 3):
        ortho = solve(
            ContactProblem.from_friction(p.W, p.b, np.column_stack([mu] * columns), law=law), solver, tol=TOL
        )
        assert np.array_equal(iso.impulse, ortho.impulse) and iso.residual == ortho.residual


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_repeats_bit_for_bit(solver, law):
    require(law)
    p = random_problem(solver, law, sections=2)
    first, second = (solve(p, solver, tol=TOL) for _ in range(2))
    assert np.array_equal(first.impulse, second.impulse) and first.iterations == second.iterations


@pytest.mark.parametrize(("solver", "law"), SOLVE)
def test_turning_by_half_a_circle_swaps_forward_and_backward(solver, law):
    p = random_problem(solver, law, sections=3)
    turn = np.diag([1.0, -1.0, -1.0] * p.contacts)
    swapped = [(e.backward, e.lateral, e.friction) for e in p.elements]
    changed = ContactProblem.from_friction(turn @ p.W @ turn, turn @ p.b, swapped, law=law)
    u = solved(p, solver)
    assert np.abs(turn @ solved(changed, solver) - u).max() <= bound(p)


def test_the_registry_is_covered():
    assert set(SOLVERS) == {name for name, _ in PAIRS}
