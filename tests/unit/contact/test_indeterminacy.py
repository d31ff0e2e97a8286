"""Which impulses are unique, counted by hand where possible, and the choice among the rest."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import box_on_ground, make_scene, point_rows, random_scene, stack
from taction._core.errors import BadInput
from taction.bench.robot_problems import robot_problem
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, Unilateral
from taction.contact.indeterminacy import choose_impulse, indeterminacy
from taction.contact.problem import ContactProblem
from taction.solvers import solve

REST = [0.0, 0.0, -0.1, 0.0, 0.0, 0.0]


def test_three_points_without_friction_are_determined_and_four_are_not():
    corners = [np.array([x, y, 0.0]) for x, y in ((0.5, 0.0), (-0.3, 0.4), (-0.3, -0.4), (0.1, 0.6))]
    for count, free in ((3, 0), (4, 1)):
        J = np.vstack([point_rows(c) for c in corners[:count]])
        p = make_scene(J, np.eye(6), np.array(REST), [Contact(0.0)] * count).problem
        found = indeterminacy(p, solve(p, tol=1e-12).impulse)
        assert found.dimension == free and found.directions == count
        assert set(found.state) == {"closed"}
        assert found.is_unique.all() == (free == 0)
    assert "4 of 4 elements" in str(found) and "1 free" in str(found)


def test_a_sticking_box():
    """12 rows of impulse, 6 freedoms: 6 free directions; no single impulse is unique."""
    p = box_on_ground(REST, 0.5).problem
    found = indeterminacy(p, solve(p, tol=1e-12).impulse)
    assert (found.directions, found.dimension) == (12, 6) and set(found.state) == {"sticking"}
    assert not found.is_unique.any() and found.basis.shape == (12, 6)
    assert np.abs(p.W @ found.basis).max() < 1e-12
    assert found.basis.T @ found.basis == pytest.approx(np.eye(6), abs=1e-12)


def test_a_sliding_box_has_one_direction_per_corner():
    p = box_on_ground([2.0, 0.3, -0.1, 0.0, 0.0, 0.0], 0.2, size=(1.0, 0.6, 0.02)).problem
    found = indeterminacy(p, solve(p, tol=1e-12).impulse)
    assert set(found.state) == {"sliding"} and (found.directions, found.dimension) == (4, 1)


def test_an_open_contact_is_unique_and_others_are_not():
    p = stack([1.0]).problem
    W, b = np.zeros((15, 15)), np.append(p.b, [1.0, 0.0, 0.0])
    W[:12, :12], W[12:, 12:] = p.W, np.eye(3)
    q = ContactProblem(W, b, [*p.elements, Contact(0.5)])
    found = indeterminacy(q, solve(q, tol=1e-12).impulse)
    assert found.state[-1] == "open" and found.is_unique.tolist() == [False] * 4 + [True]


def test_joint_friction_and_doubled_bilateral_rows():
    W = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    p = ContactProblem(
        W, [1.0, 1.0, 0.2, 3.0], [Bilateral(1), Bilateral(1), JointFriction(0.5), JointFriction(0.5)]
    )
    found = indeterminacy(p, solve(p, tol=1e-12).impulse)
    assert found.state == ("free", "free", "sticking", "at bound") and found.dimension == 1
    assert found.is_unique.tolist() == [False, False, True, True]
    assert choose_impulse(p, [-3.0, 2.0, -0.2, -0.5]) == pytest.approx([-0.5, -0.5, -0.2, -0.5])
    assert choose_impulse(p, [-0.5, -0.5, -0.2, -0.5], nearest_to=[2.0, 0.0, 9.0, 9.0]) == pytest.approx(
        [0.5, -1.5, -0.2, -0.5]
    )


def test_a_grazing_contact_makes_the_dimension_a_bound():
    W = np.array([[1.0, 1.0], [1.0, 1.0]])
    p = ContactProblem(W, [-1.0, -1.0], [Unilateral(), Unilateral()])
    inside, rim = indeterminacy(p, [0.4, 0.6]), indeterminacy(p, [1.0, 0.0])
    assert inside.is_exact and not rim.is_exact and "at most" in str(rim)


@pytest.mark.parametrize("law", ["exact", "convex", "frictionless"])
def test_the_choice_does_not_depend_on_where_it_starts(law):
    p = stack([1.0, 3.0, 2.0], push=0.02).problem.with_law(law)
    first = solve(p, tol=1e-13)
    other = solve(p, "newton", guess=first.impulse + np.random.default_rng(0).random(p.size), tol=1e-13)
    assert np.abs(first.impulse - other.impulse).max() > 1e-3  # not unique indeed
    chosen = [choose_impulse(p, s.impulse) for s in (first, other)]
    assert chosen[0] == pytest.approx(chosen[1], abs=1e-7)
    for s, r in zip((first, other), chosen, strict=True):
        assert np.linalg.norm(r) <= (1.0 + 1e-12) * np.linalg.norm(s.impulse)
        assert certify(p, r).residual <= 1e-9
        assert p.velocity(r) == pytest.approx(s.velocity, abs=1e-9)


def test_four_legs_share_evenly_and_the_nearest_to_a_solution_is_itself():
    p = box_on_ground(REST, 0.5).problem
    uneven = solve(p, guess=np.tile([0.3, 0.1, 0.0], 4) * np.repeat([1, 0, 0, 1], 3), tol=1e-13).impulse
    even = choose_impulse(p, uneven)
    assert even == pytest.approx(np.tile([2.0 * 0.1 / 4, 0.0, 0.0], 4), abs=1e-10)
    assert choose_impulse(p, even, nearest_to=uneven) == pytest.approx(uneven, abs=1e-9)


@pytest.mark.parametrize("index", [3, 8, 9, 11, 14, 16])
def test_on_robots(index):
    p = robot_problem(np.random.default_rng([0, index]), 24)
    solution = solve(p, tol=1e-11)
    assert solution.converged
    found, chosen = indeterminacy(p, solution.impulse), choose_impulse(p, solution.impulse)
    assert np.abs(p.W @ found.basis).max(initial=0.0) <= 1e-9 * np.abs(p.W).max()
    assert certify(p, chosen).residual <= 1e-9
    assert p.velocity(chosen) == pytest.approx(solution.velocity, abs=1e-8)
    assert np.linalg.norm(chosen) <= np.linalg.norm(solution.impulse) * (1.0 + 1e-9)
    for k in np.flatnonzero(found.is_unique):
        rows = slice(p.first_row[k], p.first_row[k] + p.elements[k].rows)
        assert chosen[rows] == pytest.approx(solution.impulse[rows], abs=1e-6)


def test_viscous_and_compliant_contacts():
    p = box_on_ground([0.3, 0.0, -0.1, 0.0, 0.0, 0.0], 0.1, size=(1.0, 1.0, 0.0)).problem
    viscous = ContactProblem(p.W, p.b, [Contact(0.1, viscous=0.05)] * 4)
    solution = solve(viscous, tol=1e-13)
    assert indeterminacy(viscous, solution.impulse).dimension == 1
    assert certify(viscous, choose_impulse(viscous, solution.impulse)).residual <= 1e-9
    soft = ContactProblem(p.W, p.b, p.elements, compliance=np.full(12, 1e-3))
    assert indeterminacy(soft, solve(soft, tol=1e-13).impulse).dimension == 0


def test_what_is_not_covered_is_refused():
    p = random_scene(np.random.default_rng(0), 2, 2).problem
    for bad in (p.with_law("pyramid"),):
        with pytest.raises(BadInput, match="pyramid"):
            indeterminacy(bad, np.zeros(6))
    with pytest.raises(BadInput, match="tol"):
        indeterminacy(p, np.zeros(6), tol=0.0)
    with pytest.raises(BadInput, match="nearest_to"):
        choose_impulse(p, np.zeros(6), nearest_to=np.zeros(5))
