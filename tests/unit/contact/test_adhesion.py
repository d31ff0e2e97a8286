"""Contacts that can be pulled: closed forms of one mass, for every solver and law, and who refuses them."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import PAIRS, random_scene, require
from taction._core.errors import BadInput, ModelError
from taction.contact.blocks import make_blocks
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, Unilateral
from taction.contact.indeterminacy import choose_impulse, indeterminacy
from taction.contact.laws import dispatch as law
from taction.contact.laws.dispatch import ADHESIVE, BOX, CONVEX, EXACT
from taction.contact.problem import ContactProblem
from taction.contact.restitution import with_newton_restitution
from taction.io.problem_file import load_problem, save_problem
from taction.model.shapes import Material
from taction.solvers import solve
from taction.solvers.poisson import solve_poisson

MASS, MU, HOLD = 2.0, 0.5, 1.2
TOL = 1e-9


def mass(free, law="exact", mu=MU, hold=HOLD):
    """A point mass with the given free velocity (3,) at a contact that holds on with 1.2 N s."""
    return ContactProblem(np.eye(3) / MASS, free, [Contact(mu, adhesion=hold)], law=law)


# free velocity, impulse, velocity; the last two lines slide along t₁, which is a corner of the pyramid
CASES = {
    "pressed": ([-0.3, 0.0, 0.0], [0.6, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "held": ([0.5, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "lets go": ([0.7, 0.4, 0.0], [-1.2, 0.0, 0.0], [0.1, 0.4, 0.0]),
    "held and sticks": ([0.5, 0.04, 0.0], [-1.0, -0.08, 0.0], [0.0, 0.0, 0.0]),
    "held and slides": ([0.5, 0.3, 0.0], [-1.0, -0.1, 0.0], [0.0, 0.25, 0.0]),
    "pressed and slides": ([-0.4, 2.0, 0.0], [0.8, -1.0, 0.0], [0.0, 1.5, 0.0]),
}


@pytest.mark.parametrize(("solver", "law"), PAIRS)
@pytest.mark.parametrize("case", CASES)
def test_closed_forms(case, solver, law):
    """Λ_N = −m b_N down to −a; Λ_T = −m b_T up to μ (Λ_N + a). A residual r bounds errors of Λ by m r |b|."""
    require(law)
    free, impulse, velocity = (np.array(x) for x in CASES[case])
    if law == "frictionless":
        impulse[1:], velocity[1:] = 0.0, free[1:]
    found = solve(mass(free, law), solver, tol=TOL)
    assert found.converged, found.message
    assert certify(mass(free, law), found.impulse).residual <= TOL
    if law == "convex" and velocity[1:].any():
        return  # the convex law lifts what slides, and lets it go late
    assert found.impulse == pytest.approx(impulse, abs=10 * MASS * TOL)
    assert found.velocity == pytest.approx(velocity, abs=10 * TOL)


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_the_moved_unknown_is_an_ordinary_problem(solver, law):
    """Λ + a e_N solves the problem with b − W a e_N and no adhesion: velocities are the same."""
    require(law)
    count = 2 if solver == "enumeration" else 3
    scene = random_scene(np.random.default_rng(3), count, count, law=law).problem
    elements = [Contact(e.friction, adhesion=0.3 * (k + 1)) for k, e in enumerate(scene.elements)]
    problem = ContactProblem(scene.W, scene.b, elements, law=law)
    moved = problem.without_adhesion()
    assert not moved.adhesion.any() and problem.adhesion.any()
    first, second = (solve(p, solver, tol=TOL) for p in (problem, moved))
    assert first.converged == second.converged
    if first.converged:
        # a residual r bounds errors of impulses by r |b| over the least eigenvalue of W, here above 0.05
        size = max(np.linalg.norm(problem.b), np.linalg.norm(moved.b)) / 0.05
        assert np.abs(first.velocity - second.velocity).max() <= 100 * TOL * size
        judged = certify(problem, second.impulse - problem.adhesion)
        assert judged.residual <= TOL * np.linalg.norm(moved.b) / np.linalg.norm(problem.b) * (1 + 1e-6)


def test_directed_friction_and_other_elements():
    rng = np.random.default_rng(4)
    J = rng.normal(size=(9, 8))
    elements = [
        Contact(0.5, 0.2, 0.8, adhesion=0.4),
        Unilateral(0.3),
        Bilateral(1),
        JointFriction(0.2),
        Contact(0.4),
    ]
    problem = ContactProblem(J @ J.T, J @ rng.normal(size=8), elements)
    impulses = [solve(problem, s, tol=1e-10) for s in ("auto", "newton", "nsgs", "admm", "interior-point")]
    assert all(s.converged for s in impulses)
    for s in impulses[1:]:
        assert s.velocity == pytest.approx(impulses[0].velocity, abs=1e-7)


@pytest.mark.parametrize("below", [EXACT, CONVEX])
def test_every_part_is_that_of_the_law_below_moved(below):
    """Λ + a e_N obeys the other law: projections, equations, local solves and judgement, to rounding."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        a, mu = rng.uniform(0.1, 2.0), rng.uniform(0.1, 1.0, 3)
        moved, base = np.array([*mu, a, below, 0.0]), np.array([*mu, 0.0, 0.0, 0.0])
        r, u = rng.normal(size=3), rng.normal(size=3)
        A = rng.normal(size=(3, 3))
        W = A @ A.T + np.eye(3)
        e = np.array([a, 0.0, 0.0])
        near = {"abs": 1e-14 * (1.0 + a)}
        assert law.project_block(ADHESIVE, moved, *r) == pytest.approx(
            law.project_block(below, base, *(r + e)) - e, **near
        )
        assert law.project_in_turn(ADHESIVE, moved, *r) == pytest.approx(
            law.project_in_turn(below, base, *(r + e)) - e, **near
        )
        assert law.correction(ADHESIVE, moved, *u[1:]) == law.correction(below, base, *u[1:])
        assert law.apex_of(ADHESIVE, moved) == a and law.origin_of(ADHESIVE, moved) == below
        own = law.solve_block(ADHESIVE, moved, W.ravel(), *r, *u)
        other = law.solve_block(below, base, W.ravel(), *(r + e), *(u - W @ e))
        assert own == pytest.approx(other - e, abs=1e-12)
        assert law.judge_block(ADHESIVE, moved, *r, *u) == pytest.approx(
            law.judge_block(below, base, *(r + e), *u), rel=1e-12, abs=1e-13
        )
        jacobian, F = np.zeros((2, 1, 18)), np.zeros((2, 3))
        is_open = [
            law.block_equations(k, s, W.ravel(), 0.01, *x, *u, 0, jacobian[i], F[i])
            for i, (k, s, x) in enumerate(((ADHESIVE, moved, r), (below, base, r + e)))
        ]
        assert is_open[0] == is_open[1] and np.array_equal(F[0], F[1])
        assert is_open[0] or np.array_equal(jacobian[0], jacobian[1])
        scale, sets = np.zeros((2, 3)), np.zeros((2, 1, 6))
        for i, (k, s) in enumerate(((ADHESIVE, moved), (below, base))):
            law.scale_set(k, s, W.ravel(), 0, scale[i], sets[i])
        assert np.array_equal(scale[0], scale[1]) and np.array_equal(sets[0, 0, :3], sets[1, 0, :3])
        assert sets[0, 0, 3] == a / scale[0, 0] and sets[0, 0, 4] == below


def test_kinds():
    """Adhesion is its own law with friction and an interval without; none at all leaves the law as it was."""
    cases = (("exact", MU), ("convex", MU), ("frictionless", MU), ("exact", 0.0))
    kinds = [make_blocks(mass([0.0] * 3, law, mu)).rows.kind[0] for law, mu in cases]
    assert kinds == [ADHESIVE, ADHESIVE, BOX, BOX]
    free = [-0.3, 0.4, 0.1]
    plain = ContactProblem.from_friction(np.eye(3) / MASS, free, [MU])
    assert np.array_equal(solve(mass(free, hold=0.0)).impulse, solve(plain).impulse)


def test_the_judge_counts_from_the_adhesion():
    problem = mass([0.7, 0.0, 0.0])
    assert certify(problem, [-1.2, 0.0, 0.0]).dual == 0.0
    too_much = certify(problem, [-1.4, 0.0, 0.0])
    assert too_much.dual == pytest.approx(0.2) and too_much.residual > 0.1
    assert certify(problem, [-1.2, 0.3, 0.0]).cone > 0.1  # no friction is left where it lets go


def test_restitution():
    """Newton's law with adhesion: an impact bounces, since the adhesion over a step is small against it."""
    before = np.array([-2.0, 0.0, 0.0])
    problem = mass(before)
    after = problem.velocity(solve(with_newton_restitution(problem, 0.5, before), tol=TOL).impulse)
    assert after[0] == pytest.approx(1.0, abs=10 * TOL)
    with pytest.raises(BadInput, match="adhesion"):
        solve_poisson(problem, 0.5)


def test_uniqueness_is_that_of_the_moved_problem():
    problem = mass([0.5, 0.04, 0.0])
    impulse = solve(problem, tol=1e-12).impulse
    report = indeterminacy(problem, impulse)
    assert report.state == ("sticking",) and report.is_unique.all()
    assert choose_impulse(problem, impulse) == pytest.approx(impulse, abs=1e-12)


def test_files(tmp_path):
    problem = ContactProblem(np.eye(4), np.ones(4), [Contact(0.5, adhesion=0.3), Unilateral(0.2)], name="pad")
    same = load_problem(save_problem(problem, tmp_path / "pad.npz"))
    assert same.elements == problem.elements
    plain = ContactProblem(np.eye(4), np.ones(4), [Contact(0.5), Unilateral()])
    with np.load(save_problem(plain, tmp_path / "plain.npz")) as file:
        assert file["parameter"].shape == (2, 4)  # as before adhesion: older readers understand it
    with pytest.raises(BadInput, match="FCLib has no adhesion"):
        save_problem(problem, tmp_path / "pad.hdf5")


def test_bad_numbers_are_refused():
    for bad in (-1.0, np.nan, np.inf, "glue"):
        with pytest.raises(BadInput, match=r"Contact\.adhesion"):
            Contact(0.5, adhesion=bad)
    with pytest.raises(ModelError, match="adhesion"):
        Material(adhesion=-1.0)
