"""Redundant, ill-conditioned, mixed, impossible problems: solved and certified, or an honest status."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import PAIRS, box_on_ground, random_scene, require, stack, wedged
from taction.bench.robot_problems import robot_problem
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.solvers import SOLVERS, Status, solve

CONES = ("exact", "convex", "frictionless")


def certified(problem, tol=1e-10, solver="auto"):
    solution = solve(problem, solver, tol=tol)
    assert solution.converged, f"{problem.name}: {solution.message} at {solution.residual:.1e}"
    assert certify(problem, solution.impulse).residual <= tol
    return solution


def mixed_problem():
    """All kinds of element on one mechanism."""
    rng = np.random.default_rng(5)
    J = rng.normal(size=(13, 10))
    elements = [
        Contact(0.5),
        Unilateral(),
        Contact(0.2, 0.9, 0.4),
        JointFriction(0.3),
        JointLimit(),
        Bilateral(4),
    ]
    return ContactProblem(J @ J.T, J @ rng.normal(size=10), elements, name="mixed")


def hard_problems():
    """Name and problem."""
    yield "hyperstatic", stack([1.0] * 4).problem
    yield "sliding", stack([1.0, 2.0], mu=0.2, push=2.0).problem
    yield "spinning", box_on_ground([0.3, -0.2, -0.1, 0.0, 0.0, 4.0], 0.4).problem
    yield "light below heavy", stack([1e-2, 1e2], push=0.1).problem
    yield "heavy below light", stack([1e2, 1e-2], push=0.1).problem
    yield "mixed", mixed_problem()
    yield "all open", random_scene(np.random.default_rng(1), 4, 2).problem.with_law("exact")
    yield "at rest", ContactProblem.from_friction(np.eye(6), np.zeros(6), [0.5, 0.5])
    yield "no friction", stack([1.0, 1.0], mu=0.0).problem
    yield "more friction than needed", stack([1.0, 1.0], mu=1e4).problem
    yield "a contact that cannot move", ContactProblem.from_friction(np.zeros((3, 3)), [1.0, 0.2, 0.0], [0.5])


@pytest.mark.parametrize("law", CONES)
@pytest.mark.parametrize(
    ("name", "problem"), list(hard_problems()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_auto_solves_hard_problems(name, problem, law):
    certified(problem.with_law(law))


@pytest.mark.parametrize(
    ("solver", "law"),
    [
        pytest.param(*pair, marks=pytest.mark.long if pair == ("enumeration", "exact") else ())
        for pair in PAIRS
    ],
)
def test_every_solver_is_honest_about_hard_problems(solver, law):
    """Converged means certified; anything else is a status; nothing is NaN and nothing is raised."""
    require(law)
    for name, problem in hard_problems():
        if solver == "enumeration" and 2 < problem.contacts <= 6:
            continue  # within its limits, but half a minute each
        problem = problem.with_law(law)
        solution = solve(problem, solver, tol=1e-8, max_iterations=300)
        assert isinstance(solution.status, Status) and np.isfinite(solution.impulse).all(), name
        assert np.isfinite(solution.residual) or not solution.converged
        if solution.converged:
            assert certify(problem, solution.impulse).residual <= 1.1e-8, name


def impossible_problems():
    yield "wedged", wedged()
    yield "rigid row that must move", ContactProblem(np.zeros((1, 1)), [-1.0], [Unilateral()])
    yield (
        "contradicting bilaterals",
        ContactProblem(np.ones((2, 2)), [1.0, 2.0], [Bilateral(1), Bilateral(1)]),
    )
    yield (
        "limits against each other",
        ContactProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -0.5], [JointLimit(), JointLimit()]),
    )


@pytest.mark.parametrize(
    ("name", "problem"), list(impossible_problems()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_the_impossible_is_called_so(name, problem):
    for law in CONES:
        solution = solve(problem.with_law(law))
        assert solution.status is Status.INFEASIBLE and np.isfinite(solution.impulse).all()
        assert "no impulses" in solution.message


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_every_solver_survives_the_impossible(solver, law):
    require(law)
    for name, problem in impossible_problems():
        solution = solve(problem.with_law(law), solver, max_iterations=200)
        assert not solution.converged, name
        assert isinstance(solution.status, Status) and np.isfinite(solution.impulse).all(), name


@pytest.mark.parametrize("contacts", [1, 2, 5, 12, 30, 60, 100])
@pytest.mark.parametrize("law", CONES)
def test_auto_reaches_ten_digits_up_to_a_hundred_contacts(contacts, law):
    for seed in range(3):
        rng = np.random.default_rng([contacts, seed])
        bodies = max(1, contacts // (1 + seed))  # from determinate to hyperstatic
        certified(random_scene(rng, contacts, bodies, law=law, sections=1 + seed).problem)


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_auto_copes_with_mass_ratios(ratio):
    for seed in range(3):
        certified(random_scene(np.random.default_rng(seed), 12, 6, ratio=ratio).problem, 1e-9)
    for masses in ([1.0, ratio], [ratio, 1.0]):
        certified(stack(masses, push=0.1).problem, 1e-8)


@pytest.mark.parametrize("law", CONES)
def test_auto_on_robots(law):
    for index in range(12):
        certified(robot_problem(np.random.default_rng([1, index]), 1 + 4 * index).with_law(law), 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solution_is_its_own_guess(solver):
    law = SOLVERS[solver].laws[0]
    require(law)
    problem = random_scene(np.random.default_rng(8), 3, 3, law=law).problem
    first = solve(problem, solver, tol=1e-7)
    again = solve(problem, solver, guess=first.impulse, tol=1e-7)
    assert not first.converged or again.converged
    assert again.velocity == pytest.approx(first.velocity, abs=1e-4)


@pytest.mark.long
def test_solvers_agree_on_velocities():
    problem = random_scene(np.random.default_rng(9), 4, 4).problem
    reference = certified(problem, 1e-12).velocity
    for name in SOLVERS:
        if "exact" in SOLVERS[name].laws:
            solution = solve(problem, name, tol=1e-8)
            assert not solution.converged or solution.velocity == pytest.approx(reference, abs=1e-6)
