"""Linear complementarity: the judge, Lemke's method, what follows a ray, the friction pyramid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY, assert_close
from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
from taction.contact.problem import ContactProblem
from taction.contact.pyramid import corners, pyramid_lcp
from taction.solvers.base import Status
from taction.solvers.lemke import Lemke, solve_lcp


def lcp(M, q):
    return LinearComplementarityProblem(np.array(M, dtype=float), np.array(q, dtype=float))


def solved(problem, **options):
    """z of a problem that must be solved to 1e-10."""
    found = solve_lcp(problem, **options)
    assert found.status is Status.CONVERGED, found.message
    assert certify_lcp(problem, found.z).residual <= 1e-10
    return found.z


# ----- The judge ------------------------------------------------------------------------------------------


def test_certificate_of_a_known_solution():
    problem = lcp([[2, 1], [1, 2]], [-5, -6])
    assert certify_lcp(problem, [4 / 3, 7 / 3]).residual < 1e-15
    wrong = certify_lcp(problem, [0.0, 3.0])
    assert (wrong.min_w, wrong.min_z, wrong.product, wrong.worst) == (-2.0, 0.0, 0.0, 0)
    assert wrong.residual == pytest.approx(2 / np.hypot(5, 6))
    assert certify_lcp(problem, [-1.0, 0.0]).min_z == -1.0
    assert certify_lcp(problem, [5.0, 5.0]).product == pytest.approx(5 * 10 + 5 * 9)


def test_certificate_where_q_vanishes_or_numbers_overflow():
    assert certify_lcp(lcp(np.eye(2), [0, 0]), [0.0, 0.0]).residual == 0.0
    assert certify_lcp(lcp(np.eye(2), [0, 0]), [1e-12, 0.0]).residual > 1.0
    assert certify_lcp(lcp([[1e300, -1e300], [0, 1]], [-1, -1]), [1e300, 1e300]).residual == np.inf
    assert certify_lcp(lcp(np.zeros((0, 0)), []), []).residual == 0.0


@pytest.mark.parametrize(
    ("M", "q", "match"),
    [
        ([[1, 2]], [1], "M: expected shape"),
        (np.eye(2), [1, 2, 3], "M: expected shape"),
        ([[np.nan]], [1], "M: contains NaN"),
        ([[1]], [np.inf], "q: contains NaN"),
    ],
)
def test_bad_problems(M, q, match):
    with pytest.raises(BadInput, match=match):
        LinearComplementarityProblem(M, q)


def test_bad_options():
    with pytest.raises(BadInput, match="unknown method"):
        solve_lcp(lcp([[1]], [1]), method="simplex")
    with pytest.raises(BadInput, match="tol"):
        solve_lcp(lcp([[1]], [1]), tol=0.0)
    with pytest.raises(BadInput, match="z: expected shape"):
        certify_lcp(lcp([[1]], [1]), [1, 2])


# ----- Lemke's method -------------------------------------------------------------------------------------


def test_nothing_to_do():
    assert solve_lcp(lcp([[-1]], [0.5])).pivots == 0
    assert len(solved(lcp(np.zeros((0, 0)), []))) == 0


def murty(n):
    """The triangular P-matrix with 2 below the diagonal, on which pivoting visits all 2ⁿ bases."""
    return lcp(np.tril(np.full((n, n), 2.0), -1) + np.eye(n), -np.ones(n))


@pytest.mark.parametrize("n", [3, 6, 10])
def test_murtys_example_takes_exponentially_many_pivots(n):
    assert_close(solved(murty(n)), np.eye(n)[0], 1e-14)
    assert solve_lcp(murty(n)).pivots == 2**n


def test_pivot_limit_is_a_status():
    found = solve_lcp(murty(10), method="lemke", max_pivots=100)
    assert found.status is Status.ITERATION_LIMIT
    assert found.pivots == 100


def test_cyclic_p_matrix():
    """Least-index and Bard-type rules cycle on this one; all ratios tie at the start."""
    assert_close(solved(lcp([[1, 2, 0], [0, 1, 2], [2, 0, 1]], -np.ones(3))), np.full(3, 1 / 3), 1e-14)


def test_beales_cycling_linear_program():
    """min cᵀx, A x ≤ b, x ≥ 0 on which the plain simplex method cycles; optimum −5/4 at x₁ = x₃ = 1."""
    c = np.array([-0.75, 20, -0.5, 6])
    A = np.array([[0.25, -8, -1, 9], [0.5, -12, -0.5, 3], [0, 0, 1, 0]])
    M = np.block([[np.zeros((4, 4)), A.T], [-A, np.zeros((3, 3))]])
    z = solved(lcp(M, [*c, 0, 0, 1]))
    assert_close(z[:4], [1, 0, 1, 0], 1e-12)
    assert c @ z[:4] == pytest.approx(-1.25)


@pytest.mark.parametrize("seed", range(20))
def test_degenerate_integers_end(seed):
    """Small integers make ties in nearly every ratio test; semidefinite and feasible, so solvable."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, (4, 12))
    K = np.triu(rng.integers(-1, 2, (12, 12)), 1)
    M = A.T @ A + K - K.T
    z = rng.integers(0, 2, 12)
    problem = lcp(M, rng.integers(0, 2, 12) * (1 - z) - M @ z)
    solved(problem)
    assert solve_lcp(problem, method="lemke").pivots < 200


def test_scales_of_rows_and_columns_do_not_matter():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(8, 8))
    M, q = A @ A.T + np.eye(8), rng.normal(size=8)
    z = solved(lcp(M, q))
    rows, columns = 10.0 ** rng.uniform(-6, 6, 8), 10.0 ** rng.uniform(-6, 6, 8)
    found = solve_lcp(lcp(rows[:, None] * M * columns, rows * q))
    assert found.status is Status.CONVERGED
    assert_close(found.z * columns, z, 1e-9)


def test_overflow_is_a_status():
    found = solve_lcp(lcp([[1e-300, 0], [0, 1e-300]], [-1e300, -1.0]), method="lemke")
    assert found.status is Status.BAD_INPUT


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
@PROPERTY
def test_p_matrices_against_enumeration(seed, n):
    """Positive definite but not symmetric: a P-matrix, exactly one solution."""
    rng = np.random.default_rng(seed)
    A, K = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    problem = lcp(A @ A.T + 0.1 * np.eye(n) + K - K.T, rng.normal(size=n))
    assert_close(solved(problem, method="lemke"), solved(problem, method="enumeration"), 1e-8, scale=1e-8)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 6))
@PROPERTY
def test_semidefinite_against_enumeration(seed, n):
    """Rank about n/2, any q: both decide alike whether there is a solution, and w is unique."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (n, (n + 1) // 2)).astype(float)
    problem = lcp(A @ A.T, rng.integers(-3, 4, n))
    one, other = solve_lcp(problem), solve_lcp(problem, method="enumeration")
    assert one.status is other.status
    assert one.status in (Status.CONVERGED, Status.INFEASIBLE)
    if one.status is Status.CONVERGED:
        assert certify_lcp(problem, one.z).residual <= 1e-10
        assert_close(one.w, other.w, 1e-8, scale=1.0)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 6))
@PROPERTY
def test_strictly_copositive_is_always_solved(seed, n):
    rng = np.random.default_rng(seed)
    solved(lcp(rng.uniform(0, 1, (n, n)) + 0.1 * np.eye(n), rng.normal(size=n)), method="lemke")


@given(seed=st.integers(0, 10**6), n=st.integers(2, 5))
@PROPERTY
def test_any_matrix_is_decided_as_enumeration_decides(seed, n):
    """Small integers, no structure: with or without solution; every answer is a solution or a proof."""
    rng = np.random.default_rng(seed)
    problem = lcp(rng.integers(-2, 3, (n, n)), rng.integers(-2, 3, n))
    one, other = solve_lcp(problem), solve_lcp(problem, method="enumeration")
    assert one.status is other.status
    if one.status is Status.CONVERGED:
        assert certify_lcp(problem, one.z).residual <= 1e-10
        assert certify_lcp(problem, other.z).residual <= 1e-10
    else:
        assert one.status is Status.INFEASIBLE


def test_no_feasible_point():
    found = solve_lcp(lcp([[-1, 0], [0, 1]], [-1, -1]))
    assert found.status is Status.INFEASIBLE
    assert "linear program" in found.message


def test_feasible_but_not_complementary():
    """z = (2, 0) has w = (6, 0) ≥ 0, yet none of the four complementary bases has a solution."""
    problem = lcp([[2, 1], [1, -1]], [2, -2])
    assert problem.slack([2.0, 0.0]).tolist() == [6.0, 0.0]
    assert solve_lcp(problem, method="lemke").status is Status.UNBOUNDED
    found = solve_lcp(problem)
    assert found.status is Status.INFEASIBLE
    assert "enumeration" in found.message


def test_a_large_problem_on_a_ray_stays_undecided():
    """Thirteen copies of the problem above: too many rows to enumerate, so no claim is made."""
    problem = lcp(np.kron(np.eye(13), [[2, 1], [1, -1]]), np.tile([2, -2], 13))
    found = solve_lcp(problem)
    assert found.status is Status.UNBOUNDED
    assert "neither" in found.message


# ----- Painlevé's rod -------------------------------------------------------------------------------------


def rod(mu, angle, length=2.0, mass=1.0):
    """W in (normal, t₁, t₂) of the lower tip of a thin rod at ``angle`` from the ground."""
    inertia = mass * length**2 / 12
    x, z = -0.5 * length * np.cos(angle), -0.5 * length * np.sin(angle)  # tip from the centre
    J = np.array([[0, 1, x], [1, 0, -z], [0, 0, 0]], dtype=float)  # rows n, t₁, t₂ of (ẋ, ż, ω)
    W = J @ np.diag([1 / mass, 1 / mass, 1 / inertia]) @ J.T
    W[2, 2] = 1 / mass
    return W, W[0, 0] - mu * W[0, 1], W[0, 0] + mu * W[0, 1]


def test_painleve_accelerations_have_no_solution_or_two():
    """Sliding at given direction: a_N = (W_nn ∓ μ W_nt) f + a; with a negative coefficient none or two."""
    _, one, other = rod(mu=2.0, angle=np.radians(60))
    coefficient = min(one, other)
    assert coefficient < 0
    pressed = solve_lcp(lcp([[coefficient]], [-9.81]))
    assert pressed.status is Status.INFEASIBLE
    assert solve_lcp(lcp([[coefficient]], [-9.81]), method="lemke").status is Status.UNBOUNDED
    lifting = lcp([[coefficient]], [1.0])
    for f in (0.0, -1.0 / coefficient):
        assert certify_lcp(lifting, [f]).residual < 1e-15


@pytest.mark.parametrize("slide", [-1.0, 1.0])
def test_painleve_impulses_always_have_a_solution(slide):
    """The same rod over a step: an impulse stops it, whatever the friction."""
    W, _, _ = rod(mu=2.0, angle=np.radians(60))
    problem = ContactProblem.from_friction(W, [-0.01, slide, 0.0], [2.0], law="pyramid")
    found = Lemke().solve(problem)
    assert found.converged
    assert found.impulse[0] > 0
    assert found.velocity[0] == pytest.approx(0.0, abs=1e-12)


# ----- The friction pyramid -------------------------------------------------------------------------------

BLOCK = np.diag([1.0, 1.0, 1.0])  # a point of 1 kg


def pyramid(b, elements, W=None, sides=4, **options):
    b = np.asarray(b, dtype=float)
    W = np.eye(len(b)) if W is None else W
    return ContactProblem(W, b, elements, law="pyramid", sides=sides, **options)


def test_corners_lie_on_the_section():
    contact = Contact(0.5, lateral=0.3, backward=0.8)
    for sides in (4, 6, 8, 12):
        d = corners(contact, sides)
        assert d.shape == (sides, 2)
        assert d[0].tolist() == [0.8, 0.0]  # first on +t₁, where the impulse is positive: sliding backward
        a = np.where(d[:, 0] >= 0, 0.8, 0.5)
        assert_close((d[:, 0] / a) ** 2 + (d[:, 1] / 0.3) ** 2, np.ones(sides), 1e-14)
        assert d[:, 0].min() == pytest.approx(-0.5)


def test_block_on_a_slope_sticks_and_slides():
    """Gravity h g along the slope: sticks below tan⁻¹ μ, slides with the impulse μ N above."""
    h_g = 9.81e-3
    for angle, mu in ((20, 0.5), (35, 0.5), (35, 0.0)):
        push, press = h_g * np.sin(np.radians(angle)), h_g * np.cos(np.radians(angle))
        found = Lemke().solve(pyramid([-press, push, 0.0], [Contact(mu)], BLOCK))
        assert found.converged
        expected = -min(push, mu * press)
        assert_close(found.impulse, [press, expected, 0.0], 1e-12)
        assert_close(found.velocity, [0.0, push + expected, 0.0], 1e-12, scale=push)


def test_a_contact_that_opens():
    found = Lemke().solve(pyramid([0.1, 1.0, 2.0], [Contact(0.7)]))
    assert found.converged
    assert not found.impulse.any()


def test_direction_error_shrinks_with_sides():
    """A sliding block on a round cone, against the exact impulse −μ N u/‖u‖."""
    angle = np.radians(20.0)
    direction = np.array([np.cos(angle), np.sin(angle)])
    exact = -0.5 * direction
    errors = []
    for sides in (4, 8, 16, 64, 256):
        found = Lemke().solve(pyramid([-1.0, *(3.0 * direction)], [Contact(0.5)], sides=sides))
        assert found.converged
        impulse = found.impulse[1:]
        assert np.hypot(*impulse) <= 0.5 + 1e-12  # inscribed: never more than the cone allows
        errors.append(np.hypot(*(impulse - exact)) / 0.5)
        assert errors[-1] <= 2 * np.sin(np.pi / (2 * sides)) * 1.001 + 1e-12  # half the angle between corners
    assert errors[-1] < 0.05 * errors[0]


def test_forward_and_backward_coefficients():
    contact = Contact(0.2, lateral=0.4, backward=0.6)
    for slide, expected in ((1.0, -0.2), (-1.0, 0.6)):
        found = Lemke().solve(pyramid([-1.0, 3 * slide, 0.0], [contact]))
        assert_close(found.impulse, [1.0, expected, 0.0], 1e-12)
    found = Lemke().solve(pyramid([-1.0, 0.0, 3.0], [contact]))
    assert_close(found.impulse, [1.0, 0.0, -0.4], 1e-12)


@pytest.mark.parametrize(("b", "expected"), [(1.0, -0.3), (0.2, -0.2), (-5.0, 0.3)])
def test_joint_friction(b, expected):
    found = Lemke().solve(pyramid([b], [JointFriction(0.3)]))
    assert found.converged
    assert_close(found.impulse, [expected], 1e-12)
    assert Lemke().solve(pyramid([b], [JointFriction(0.0)])).velocity == [b]


def test_unilateral_limit_and_bilateral_together():
    """Against the hand-made complementarity problem, and the velocities that the laws demand."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(6, 6))
    W = A @ A.T + 0.1 * np.eye(6)
    b = np.array([-1.0, -2.0, 0.5, 0.3, -0.4, 0.2])
    problem = pyramid(b, [Unilateral(), Bilateral(2), JointLimit(), JointFriction(0.1), Unilateral()], W)
    found = Lemke().solve(problem)
    assert found.converged
    u, r = found.velocity, found.impulse
    assert_close(u[1:3], np.zeros(2), 1e-11, scale=1.0)
    for i in (0, 3, 5):
        assert abs(min(u[i], r[i])) < 1e-11
    assert r[4] == pytest.approx(np.clip(r[4] - u[4], -0.1, 0.1), abs=1e-11)


def test_redundant_bilateral_rows():
    """The same joint twice: least impulses share the load; contradictory joints have no solution."""
    W = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    found = Lemke().solve(pyramid([1.0, 1.0, -1.0], [Bilateral(2), Unilateral()], W))
    assert found.converged
    assert_close(found.velocity, np.zeros(3), 1e-12, scale=1.0)
    assert found.impulse[0] == pytest.approx(found.impulse[1])
    wrong = Lemke().solve(pyramid([1.0, -1.0, -1.0], [Bilateral(2), Unilateral()], W))
    assert wrong.status is Status.INFEASIBLE
    assert "bilateral" in wrong.message


def test_compliance_and_viscous_friction():
    """Λ_N = −b/(W + R); Λ_T = −μ Λ_N − ν u_T while sliding."""
    found = Lemke().solve(pyramid([-1.0, 0.0, 0.0], [Contact(0.5)], compliance=np.array([0.25, 0.0, 0.0])))
    assert_close(found.impulse, [0.8, 0.0, 0.0], 1e-12)
    found = Lemke().solve(pyramid([-1.0, 3.0, 0.0], [Contact(0.5, viscous=0.25)]))
    assert_close(found.velocity, [0.0, 2.0, 0.0], 1e-12)  # u = 3 − 0.5 − 0.25 u
    assert_close(found.impulse, [1.0, -1.0, 0.0], 1e-12)


def test_units_and_masses_do_not_change_the_pivots():
    rng = np.random.default_rng(8)
    A = rng.normal(size=(9, 7))
    W, b = A @ A.T, A @ rng.normal(size=7)
    one = Lemke().solve(pyramid(b, [Contact(0.6)] * 3, W))
    other = Lemke().solve(pyramid(1e3 * b, [Contact(0.6)] * 3, 1e-6 * W))
    assert one.converged and other.converged
    assert one.iterations == other.iterations
    assert_close(other.impulse, 1e9 * one.impulse, 1e-10)


@given(seed=st.integers(0, 10**6), contacts=st.integers(1, 4), sides=st.sampled_from([4, 6, 8]))
@PROPERTY
def test_consistent_problems_are_always_solved(seed, contacts, sides):
    """b = J v: the homogeneous solutions are harmless, and Lemke's first path must end with a solution."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, 5))
    problem = ContactProblem.from_friction(
        J @ J.T, J @ rng.normal(size=5), rng.uniform(0, 1.5, contacts), law="pyramid", sides=sides
    )
    found = solve_lcp(pyramid_lcp(problem).lcp, method="lemke")
    assert found.status is Status.CONVERGED


def test_frictionless_and_block_form():
    W = np.array([[2.0, 1.0], [1.0, 2.0]])
    problem = ContactProblem(W, [-5.0, -6.0], [Unilateral(), Unilateral()], law="frictionless")
    assert_close(Lemke().solve(problem).impulse, [4 / 3, 7 / 3], 1e-13)
    contact = ContactProblem(np.eye(3), [-1.0, 2.0, 3.0], [Contact(0.5, viscous=1.0)], law="frictionless")
    assert_close(Lemke().solve(contact).impulse, [1.0, 0.0, 0.0], 1e-13)


def test_impossible_contact_is_infeasible():
    found = Lemke().solve(ContactProblem([[0.0]], [-1.0], [Unilateral()], law="frictionless"))
    assert found.status is Status.INFEASIBLE


def test_other_laws_are_refused():
    problem = ContactProblem.from_friction(np.eye(3), [-1.0, 0, 0], [0.5])
    with pytest.raises(BadInput, match="exact"):
        Lemke().solve(problem)
