"""Projected Gauss–Seidel: closed forms, fixed points, stop rules, over-relaxation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY, assert_close
from taction._core.errors import BadInput
from taction.contact.blocks import make_blocks
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.solvers.base import Status, relative_residual
from taction.solvers.pgs import PGS, gauss_seidel

TIGHT = PGS(tol=1e-12, max_iterations=20000)


def definite(rng, n, softness=0.5):
    A = rng.normal(size=(n, n)) / np.sqrt(n)
    return A @ A.T + softness * np.eye(n)


def solved(problem, solver=TIGHT):
    found = solver.solve(problem)
    assert found.converged, found.message
    assert relative_residual(make_blocks(problem), make_blocks(problem).pack(found.impulse)) <= 2 * solver.tol
    return found


@pytest.mark.parametrize(("angle", "mu"), [(20, 0.5), (35, 0.5), (35, 0.0)])
def test_block_on_a_slope(angle, mu):
    push, press = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    across = np.array([np.cos(0.7), np.sin(0.7)])  # not along a tangent
    found = solved(ContactProblem.from_friction(np.eye(3), [-press, *(push * across)], [mu]))
    assert_close(found.impulse, [press, *(-min(push, mu * press) * across)], 1e-11)


def test_one_sweep_by_hand():
    """Steps 5 to 11 with ω = 1 on one contact: V once, half the trace, scaled back to μ F_n."""
    W = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    problem = ContactProblem.from_friction(W, [-1.0, 0.4, -0.6], [0.3])
    rows = make_blocks(problem).rows
    r = np.zeros(3)
    change = gauss_seidel(rows, 1.0, r)
    t = np.array([-0.4, 0.6]) / 2.0  # λ_t = (1 + 3)/2
    expected = np.array([0.5, *(0.3 * 0.5 * t / np.linalg.norm(t))])
    assert_close(r, expected, 1e-14)
    assert change == pytest.approx(np.linalg.norm(expected))


def test_intervals_and_bilateral_rows():
    rng = np.random.default_rng(1)
    elements = [Unilateral(), Bilateral(2), JointLimit(), JointFriction(0.1), Unilateral()]
    problem = ContactProblem(definite(rng, 6), rng.normal(size=6), elements)
    found = solved(problem)
    assert_close(found.velocity[1:3], np.zeros(2), 1e-11, scale=1.0)
    for i in (0, 3, 5):
        assert abs(min(found.velocity[i], found.impulse[i])) < 1e-11


@pytest.mark.parametrize(("v", "expected"), [(1.0, -0.2), (-1.0, 0.2), (0.0, 0.0)])
def test_a_row_without_inertia_goes_to_its_end(v, expected):
    found = PGS().solve(ContactProblem([[0.0]], [v], [JointFriction(0.2)]))
    assert found.converged
    assert found.impulse == [expected]


def test_elliptic_section_dissipates_most():
    """Free sliding of a point: the impulse is −N (a₁² u₁, a₂² u₂)/σ(u), not against u."""
    problem = ContactProblem(np.eye(3), [-1.0, 2.0, 3.0], [Contact(0.5, lateral=0.2)])
    found = solved(problem)
    u = found.velocity[1:]
    expected = -np.array([0.25, 0.04]) * u / np.hypot(0.5 * u[0], 0.2 * u[1])
    assert_close(found.impulse[1:], expected, 1e-10)


@pytest.mark.parametrize(("slide", "expected"), [(2.0, -0.2), (-2.0, 0.6)])
def test_forward_and_backward(slide, expected):
    problem = ContactProblem(np.eye(3), [-1.0, slide, 0.0], [Contact(0.2, lateral=0.4, backward=0.6)])
    assert_close(solved(problem).impulse, [1.0, expected, 0.0], 1e-11)


def test_a_zero_axis_carries_nothing():
    problem = ContactProblem(np.eye(3), [-1.0, 2.0, 3.0], [Contact(0.5, lateral=0.0)])
    assert_close(PGS(tol=1e-12).solve(problem, guess=[1.0, 0.0, 0.3]).impulse, [1.0, -0.5, 0.0], 1e-11)


@given(seed=st.integers(0, 10**6), contacts=st.integers(1, 5))
@PROPERTY
def test_fixed_points_satisfy_the_natural_map(seed, contacts):
    """Where the sweep stands still, the laws hold: sections of all shapes, moderate coupling."""
    rng = np.random.default_rng(seed)
    problem = ContactProblem.from_friction(
        definite(rng, 3 * contacts, 2.0), rng.normal(size=3 * contacts), rng.uniform(0.1, 0.8, (contacts, 3))
    )
    blocks = make_blocks(problem)
    r = blocks.pack(None)
    for _ in range(2000):
        change = gauss_seidel(blocks.rows, 1.0, r)
    assert change <= 1e-13
    assert relative_residual(blocks, r) <= 1e-12


@given(seed=st.integers(0, 10**6), relaxation=st.floats(0.3, 1.4))
@PROPERTY
def test_over_relaxed_equals_plain_in_the_limit(seed, relaxation):
    rng = np.random.default_rng(seed)
    problem = ContactProblem.from_friction(
        definite(rng, 9, 2.0), rng.normal(size=9), rng.uniform(0.1, 0.6, 3)
    )
    plain = solved(problem)
    other = solved(problem, PGS(tol=1e-12, max_iterations=20000, relaxation=relaxation))
    assert_close(other.impulse, plain.impulse, 1e-9, scale=1e-3)


def test_over_relaxation_can_be_faster():
    """A chain of unilateral contacts, weakly damped: the classical case for ω > 1."""
    n = 30
    W = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = ContactProblem(W, -np.ones(n), [Unilateral()] * n, law="frictionless")
    plain = solved(problem, PGS(tol=1e-8, max_iterations=20000))
    faster = solved(problem, PGS(tol=1e-8, max_iterations=20000, relaxation=1.8))
    assert faster.iterations < plain.iterations / 5


def test_history_and_iteration_limit():
    n = 30
    W = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = ContactProblem(W, -np.ones(n), [Unilateral()] * n, law="frictionless")
    found = PGS(max_iterations=95, check_every=10).solve(problem)
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == 95
    assert len(found.history) == 11  # sweeps 1, 11, …, 91 and the last
    assert (np.diff(found.history) < 0).all()
    assert found.history[-1] == pytest.approx(found.residual)


def test_a_small_step_with_a_large_residual_is_stalled():
    n = 30
    W = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = ContactProblem(W, -np.ones(n), [Unilateral()] * n, law="frictionless")
    found = PGS(step_tol=1e-3, tol=1e-9, max_iterations=5000).solve(problem)
    assert found.status is Status.STALLED
    assert found.residual > 1e-6
    assert "no longer change" in found.message


def test_no_impulses_at_all():
    """The rule of the document is 0/0 here."""
    found = PGS().solve(ContactProblem.from_friction(np.eye(3), [1.0, 0.0, 0.0], [0.5]))
    assert found.converged
    assert found.iterations == 1
    assert not found.impulse.any()


def test_nothing_can_stop_it():
    """No inertia at all along the normal: no impulse changes the velocity, and the status says so."""
    found = PGS().solve(ContactProblem([[0.0]], [-1.0], [Unilateral()], law="frictionless"))
    assert found.status is Status.STALLED


def test_divergence_is_a_status():
    """Not semidefinite, so not a contact: impulses grow until they overflow."""
    W = np.array([[1.0, -3.0], [-3.0, 1.0]])
    found = PGS(max_iterations=10000).solve(
        ContactProblem(W, [-1.0, -1.0], [Unilateral()] * 2, law="frictionless")
    )
    assert found.status is Status.BAD_INPUT


def test_guess_is_used():
    rng = np.random.default_rng(4)
    problem = ContactProblem.from_friction(definite(rng, 9), rng.normal(size=9), [0.5, 0.4, 0.3])
    found = solved(problem)
    assert TIGHT.solve(problem, found.impulse).iterations < found.iterations


def test_viscous_friction_in_the_limit():
    found = solved(ContactProblem(np.eye(3), [-1.0, 3.0, 0.0], [Contact(0.5, viscous=0.25)]))
    assert_close(found.impulse, [1.0, -1.0, 0.0], 1e-11)


@pytest.mark.parametrize(
    "options",
    [{"relaxation": 0.0}, {"relaxation": 2.0}, {"step_tol": -1.0}, {"check_every": 0}, {"tol": 0.0}],
)
def test_bad_options(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        PGS(**options)


def test_other_laws_are_refused():
    with pytest.raises(BadInput, match="convex"):
        PGS().solve(ContactProblem.from_friction(np.eye(3), [-1.0, 0, 0], [0.5], law="convex"))
