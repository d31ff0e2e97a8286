"""Enumeration: closed forms, agreement with other methods, and what it says when there is nothing to find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import PROPERTY, assert_close
from taction._core.errors import BadInput
from taction.contact.elements import Contact, JointFriction, Unilateral
from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
from taction.contact.problem import ContactProblem
from taction.solvers.base import Status
from taction.solvers.enumeration import Enumeration, enumerate_lcp
from taction.solvers.lemke import Lemke
from taction.solvers.pgs import PGS


def solved(problem):
    found = Enumeration().solve(problem)
    assert found.converged, found.message
    assert found.residual <= 1e-10
    return found


def lcp(M, q):
    return LinearComplementarityProblem(np.array(M, dtype=float), np.array(q, dtype=float))


@pytest.mark.parametrize(("angle", "mu"), [(20, 0.5), (35, 0.5), (35, 0.0)])
def test_block_on_a_slope(angle, mu):
    push, press = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    across = np.array([np.cos(0.7), np.sin(0.7)])
    found = solved(ContactProblem.from_friction(np.eye(3), [-press, *(push * across)], [mu]))
    assert_close(found.impulse, [press, *(-min(push, mu * press) * across)], 1e-9)


def test_a_contact_that_opens():
    assert not solved(ContactProblem.from_friction(np.eye(3), [0.1, 1.0, 2.0], [0.7])).impulse.any()


def test_elliptic_section_with_two_halves():
    problem = ContactProblem(np.eye(3), [-1.0, -2.0, 3.0], [Contact(0.1, lateral=0.2, backward=0.5)])
    found = solved(problem)
    u = found.velocity[1:]
    expected = -np.array([0.25, 0.04]) * u / np.hypot(0.5 * u[0], 0.2 * u[1])
    assert_close(found.impulse[1:], expected, 1e-9)


@given(seed=st.integers(0, 10**6), contacts=st.integers(1, 2))
@settings(PROPERTY, max_examples=10)
def test_against_gauss_seidel(seed, contacts):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * contacts, 3 * contacts))
    W = A @ A.T / (3 * contacts) + 2.0 * np.eye(3 * contacts)
    problem = ContactProblem.from_friction(
        W, rng.normal(size=3 * contacts), rng.uniform(0.1, 0.6, (contacts, 2))
    )
    other = PGS(tol=1e-12, max_iterations=20000).solve(problem)
    assert other.converged
    assert_close(solved(problem).impulse, other.impulse, 1e-8, scale=1e-2)


def test_redundant_contacts_under_a_block():
    """Four feet, rank six: impulses are not unique, the motion is."""
    feet = np.array([[x, y, -0.5] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    J = []
    for x, y, z in feet:  # rows n, t₁, t₂ of (v, ω): v + ω × r
        J += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]
    J = np.array(J, dtype=float)
    W = J @ np.diag([1, 1, 1, 2, 2, 2.0]) @ J.T
    problem = ContactProblem.from_friction(W, J @ [0.1, 0, -1, 0, 0, 0], [0.5] * 4)
    found = solved(problem)
    assert_close(found.velocity, np.zeros(12), 1e-9, scale=1.0)
    assert_close(J.T @ found.impulse, [-0.1, 0, 1, 0, 0, 0], 1e-9)


@pytest.mark.parametrize(("b", "expected"), [(1.0, -0.3), (0.2, -0.2), (-5.0, 0.3)])
def test_joint_friction_beside_a_contact(b, expected):
    problem = ContactProblem(np.eye(4), [-1.0, 0.1, 0.0, b], [Contact(0.5), JointFriction(0.3)])
    assert_close(solved(problem).impulse, [1.0, -0.1, 0.0, expected], 1e-10)


def test_pyramid_against_lemke():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(6, 6))
    problem = ContactProblem.from_friction(A @ A.T + np.eye(6), rng.normal(size=6), [0.5, 0.3], law="pyramid")
    assert_close(solved(problem).velocity, Lemke().solve(problem).velocity, 1e-9)


def test_frictionless():
    W = np.array([[2.0, 1.0], [1.0, 2.0]])
    problem = ContactProblem(W, [-5.0, -6.0], [Unilateral()] * 2, law="frictionless")
    assert_close(solved(problem).impulse, [4 / 3, 7 / 3], 1e-13)


def test_infeasible_is_proved_in_linear_cases():
    found = Enumeration().solve(ContactProblem([[0.0]], [-1.0], [Unilateral()], law="frictionless"))
    assert found.status is Status.INFEASIBLE
    assert "bases" in found.message or "basis" in found.message


def test_singular_bases_are_not_skipped():
    """The only solutions lie on bases with a singular matrix: z₁ + z₂ = 1 with w = 0."""
    problem = lcp([[1, 1, -1], [1, 1, -1], [0, 0, 1]], [-1, -1, 0])
    found = enumerate_lcp(problem)
    assert found.status is Status.CONVERGED
    assert certify_lcp(problem, found.z).residual <= 1e-10
    assert found.z[:2].sum() == pytest.approx(1.0)


def test_node_limit():
    M = [[11, 0, 10, -1], [0, 11, 10, -1], [10, 10, 21, -1], [1, 1, 1, 0]]
    problem = lcp(M, [50, 50, 23, -6])
    assert enumerate_lcp(problem).status is Status.CONVERGED
    assert enumerate_lcp(problem, max_nodes=3).status is Status.ITERATION_LIMIT


def test_nothing_found_is_no_proof_with_friction():
    found = Enumeration().solve(ContactProblem.from_friction(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]))
    assert found.status is Status.STALLED
    assert "not exhausted" in found.message


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (ContactProblem.from_friction(np.eye(21), -np.ones(21), [0.5] * 7), "at most 6 contacts"),
        (ContactProblem.from_friction(np.eye(21), -np.ones(21), [0.5] * 7, law="pyramid"), "at most 32 rows"),
        (ContactProblem(np.eye(3), [-1.0, 1.0, 0.0], [Contact(0.5, lateral=0.0)]), "above zero in all"),
    ],
    ids=["contacts", "rows", "axis"],
)
def test_limits_are_a_status(problem, why):
    found = Enumeration().solve(problem)
    assert found.status is Status.BAD_INPUT
    assert why in found.message


def test_an_unknown_law_is_bad_input():
    with pytest.raises(BadInput, match="convex"):
        Enumeration().solve(ContactProblem.from_friction(np.eye(3), [-1.0, 0, 0], [0.5], law="convex"))
