"""The problem as a document: bad input is refused with one line, slight asymmetry is taken as it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from contact_problems import random_scene
from taction._core.errors import BadInput
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, Unilateral
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.solvers import SOLVERS, make_solver, solve
from taction.solvers.lemke import solve_lcp
from taction.solvers.nsgs import NSGS

W, B = np.eye(6), np.arange(6.0)


def with_nan(array):
    out = np.array(array, dtype=float)
    out.flat[1] = np.nan
    return out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"W": with_nan(W)}, "W: contains NaN"),
        ({"W": csr_array(with_nan(W))}, "W: contains NaN"),
        ({"b": with_nan(B)}, "b: contains NaN"),
        ({"b": [1.0, np.inf, 0.0, 0.0, 0.0, 0.0]}, "b: contains NaN or infinity"),
        ({"mu": [0.5, np.nan]}, r"mu\[1\].*finite"),
        ({"mu": [0.5, np.inf]}, r"mu\[1\].*finite"),
        ({"mu": [0.5, -0.1]}, r"mu\[1\].*not negative"),
        ({"mu": [[0.5, 0.1], [0.5, -0.1]]}, r"mu\[1\].*not negative"),
        ({"mu": [0.5]}, "b: 6 rows, but the elements have 3"),
        ({"mu": 0.5}, "mu: expected shape"),
        ({"mu": np.ones((2, 4))}, "mu: expected shape"),
        ({"mu": ["rough", "smooth"]}, "mu: not a numeric array"),
        ({"b": B[:5]}, "b: 5 rows, but the elements have 6"),
        ({"b": B[None]}, r"b: expected shape \(n,\)"),
        ({"W": np.ones((6, 5))}, "W: must be square"),
        ({"W": np.eye(5)}, "W: 5 rows, but b has 6"),
        ({"W": np.ones(6)}, "W: must be square"),
        ({"W": "six by six"}, "W: must be square"),
        ({"W": W + 0.02 * np.eye(6, k=1)}, "W: not symmetric, entries differ by 2.0%"),
        ({"W": csr_array(W + 0.02 * np.eye(6, k=1))}, "W: not symmetric"),
        ({"law": "sticky"}, "unknown law 'sticky'"),
        ({"sides": 5}, "sides: 5 must be an even number"),
        ({"compliance": -np.ones(6)}, "compliance: must not be negative"),
        ({"compliance": np.ones(5)}, "compliance: expected shape"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, message):
    arguments = {"W": W, "b": B, "mu": [0.5, 0.5]} | change
    with pytest.raises(BadInput, match=message) as caught:
        ContactProblem.from_friction(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Contact(-0.1),
        lambda: Contact(np.nan),
        lambda: Contact(0.1, viscous=-1.0),
        lambda: JointFriction(-1.0),
        lambda: Bilateral(0),
        lambda: ContactProblem(np.eye(1), [1.0], ["a foot"]),
    ],
)
def test_bad_elements_are_refused(make):
    with pytest.raises(BadInput):
        make()


@pytest.mark.parametrize("solver", SOLVERS)
def test_bad_options_and_guesses_are_refused(solver):
    for options in ({"tol": 0.0}, {"tol": np.nan}, {"max_iterations": 0}, {"no_such_option": 1}):
        with pytest.raises(BadInput):
            make_solver(solver, **options)
    law = SOLVERS[solver].laws[0]
    problem = ContactProblem.from_friction(W, B, [0.5, 0.5], law=law)
    for guess in (np.zeros(5), np.full(6, np.nan)):
        with pytest.raises(BadInput):
            solve(problem, solver, guess=guess)


def test_half_a_percent_of_asymmetry_is_solved_and_judged_as_it_is():
    p = random_scene(np.random.default_rng(0), 4, 3).problem
    skew = np.random.default_rng(1).normal(size=p.W.shape)
    skew = skew - skew.T
    uneven = ContactProblem(p.W + 0.0025 * np.abs(p.W).max() * skew / np.abs(skew).max(), p.b, p.elements)
    solution = solve(uneven, tol=1e-10)
    assert solution.converged and certify(uneven, solution.impulse).residual <= 1e-10
    # judged with the matrix that was given, not with its symmetric part
    assert solution.velocity == pytest.approx(uneven.W @ solution.impulse + uneven.b, abs=1e-14)
    assert certify(p, solution.impulse).residual > 1e-6


@pytest.mark.parametrize("wrap", [np.asarray, csr_array, aslinearoperator, lambda W: W.tolist()])
def test_dense_sparse_and_matrix_free_are_the_same_problem(wrap):
    p = random_scene(np.random.default_rng(2), 5, 3).problem
    other = ContactProblem(wrap(p.W), p.b, p.elements)
    assert solve(other).velocity == pytest.approx(solve(p).velocity, abs=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_empty_problem_has_the_empty_solution(solver):
    solution = solve(ContactProblem(np.zeros((0, 0)), [], [], law=SOLVERS[solver].laws[0]), solver)
    assert solution.converged and solution.impulse.shape == (0,)


def test_sizes_and_rows():
    p = ContactProblem(np.eye(7), np.zeros(7), [Unilateral(), Contact(0.5), JointFriction(1.0), Bilateral(2)])
    assert p.first_row == (0, 1, 4, 5) and p.size == 7 and p.contacts == 1


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda p: solve(p, NSGS(), tol=1e-3), "would be lost"),
        (lambda p: solve(p, max_iterations=1.5), "whole number"),
        (lambda p: solve(p, tol="1e-3"), "must be a number"),
        (lambda p: solve(p, "nsgs", relaxation=5.0), "between 0 and 2"),
        (lambda p: solve(p, "newton", weight=0.0), "weight"),
        (lambda p: solve(LinearComplementarityProblem(np.eye(2), [1.0, 1.0])), "expected a ContactProblem"),
        (lambda p: certify(LinearComplementarityProblem(np.eye(2), [1.0, 1.0]), [0.0, 0.0]), "certify_lcp"),
        (solve_lcp, "expected a LinearComplementarityProblem"),
        (lambda p: ContactProblem(p.W, p.b, Contact(0.5)), "list of elements"),
        (lambda p: ContactProblem.from_friction(p.W, p.b, [0.5, 0.5], restitution=0.5), "no such attribute"),
    ],
)
def test_mistakes_are_one_clear_line(call, why):
    problem = ContactProblem.from_friction(W, B, [0.5, 0.5])
    with pytest.raises(BadInput, match=why) as caught:
        call(problem)
    assert "\n" not in str(caught.value)


def test_an_empty_problem_of_contacts():
    assert ContactProblem.from_friction(np.zeros((0, 0)), [], []).size == 0


def test_a_status_prints_in_words():
    assert f"{solve(ContactProblem.from_friction(W, B, [0.5, 0.5])).status}" == "converged"
