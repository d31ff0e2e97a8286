"""Converged means certified: one place decides, from the impulses alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from contact_problems import random_scene, stack, wedged
from solver_cases import Products
from taction._core.arrays import Array
from taction.contact.certificate import certify
from taction.contact.elements import Unilateral
from taction.contact.laws import dispatch
from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
from taction.contact.problem import ContactProblem
from taction.solvers import solve
from taction.solvers.base import Iterations, Solver, Status
from taction.solvers.lemke import solve_lcp


@dataclass(frozen=True, kw_only=True)
class Says(Solver):
    """Puts given impulses down and calls itself converged."""

    packed: Array = field(default_factory=lambda: np.zeros(0))

    name = "says"
    summary = "believes itself"

    def iterate(self, blocks, r_io):
        r_io[:] = self.packed
        return Iterations(Status.CONVERGED, 1, np.zeros(1))


@pytest.mark.parametrize("law", ["exact", "convex", "frictionless"])
def test_a_content_method_is_overruled(law):
    problem = random_scene(np.random.default_rng(2), 3, 3, law=law).problem
    found = solve(problem, Says(packed=np.full(problem.size, 0.1)))
    assert found.status is Status.NOT_CERTIFIED and not found.converged
    assert found.residual == certify(problem, found.impulse).proven
    assert "certificate finds" in found.message


@pytest.mark.parametrize("size", [1e9, 2.0**54, 1e16, 1e200])
def test_impulses_that_cancel_prove_nothing(size):
    """Two walls press with huge, equal impulses: W Λ cancels to the last bit, whatever its order of
    summation.

    ε |W| |Λ| ≥ 2.2e-16 · 2 · 10⁹ is above the tolerance of 1e-8 for all of these.
    """
    problem = wedged().with_law("frictionless")
    packed = np.zeros(problem.size)
    packed[[0, 3]] = size
    found = solve(problem, Says(packed=packed))
    assert found.status is Status.NOT_CERTIFIED and found.residual > 1e-8
    assert "rounding" in found.message
    # with a b that such impulses happen to meet, the residual alone would pass
    lucky = ContactProblem(problem.W, 0.0 * problem.b + 1e-300, problem.elements, law="frictionless")
    found = solve(lucky, Says(packed=packed))
    assert certify(lucky, found.impulse).rounding > 1.0 and found.status is Status.NOT_CERTIFIED


def test_rounding_of_a_matrix_that_only_multiplies():
    """The estimate by a changed last bit, against the bound from the numbers: of one size, never nothing."""
    problem = stack([1.0, 2.0], push=0.2).problem
    impulse = solve(problem).impulse
    free = ContactProblem(Products(problem.W), problem.b, problem.elements)
    bound, estimate = (certify(p, impulse).rounding for p in (problem, free))
    assert 0.01 * bound <= estimate <= 2.0 * bound
    assert certify(free, 1e16 * np.abs(impulse)).rounding > 1e-3


def test_ordinary_answers_stay_converged():
    for solver in ("auto", "newton", "nsgs", "admm", "interior-point"):
        problem = random_scene(np.random.default_rng(5), 4, 4).problem
        found = solve(problem, solver, tol=1e-9)
        assert found.converged and found.residual == certify(problem, found.impulse).proven <= 1e-9


def test_a_broken_projection_is_noticed(monkeypatch):
    """A solver whose friction coefficient is wrong by a thousandth is content; the judge is not.

    What it steps with and what it stops on share the fault, as they would if a kernel of the laws were wrong.
    """

    def wrong(kind, sets_, x, y_out):
        spoilt = sets_.copy()
        spoilt[kind != dispatch.BOX, :3] *= 1.001
        dispatch.project(kind, spoilt, x, y_out)

    class Gradient(Solver):
        """Projected gradient steps of the convex law."""

        name, summary = "gradient", "projected gradient"
        project = staticmethod(dispatch.project)

        def iterate(self, blocks, r_io):
            from taction.contact.blocks import multiply

            u, y = np.empty_like(r_io), np.empty_like(r_io)
            step = 1.0 / np.linalg.norm(blocks.rows.value, axis=1).sum()
            for k in range(20_000):
                multiply(blocks.rows, r_io, u)
                self.project(blocks.rows.kind, blocks.rows.sets, r_io - step * u, y)
                change = float(np.abs(y - r_io).max())
                r_io[:] = y
                if change <= 1e-3 * step * self.tol * np.linalg.norm(blocks.rows.b):
                    return Iterations(Status.CONVERGED, k, np.zeros(0))
            return Iterations(Status.ITERATION_LIMIT, 20_000, np.zeros(0))

    problem = random_scene(np.random.default_rng(0), 1, 1, law="convex").problem
    sliding = ContactProblem.from_friction(problem.W, [-1.0, 8.0, 5.0], [0.5], law="convex")
    right = solve(sliding, Gradient(tol=1e-8))
    assert right.converged and np.hypot(*right.impulse[1:]) == pytest.approx(0.5 * right.impulse[0])
    monkeypatch.setattr(Gradient, "project", staticmethod(wrong))
    assert solve(sliding, Gradient(tol=1e-8)).status is Status.NOT_CERTIFIED


def test_lcp_answers_are_certified_too():
    """Rows that contradict each other but for rounding: 0 ≤ z₁ − z₂ − 1 and 0 ≤ z₂ − z₁ − 1 at huge z."""
    lcp = LinearComplementarityProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -0.5])
    judged = certify_lcp(lcp, [1e17, 1e17])
    assert judged.rounding > 1.0 and judged.proven >= judged.rounding
    for method in ("auto", "lemke", "enumeration"):
        assert solve_lcp(lcp, method).status is not Status.CONVERGED
    fine = LinearComplementarityProblem(np.eye(2), [-1.0, 2.0])
    for method in ("auto", "lemke", "enumeration"):
        found = solve_lcp(fine, method)
        assert found.status is Status.CONVERGED and certify_lcp(fine, found.z).proven <= 1e-10


def test_statuses_other_than_converged_are_left_alone():
    problem = ContactProblem(np.eye(1), [-1.0], [Unilateral()])

    @dataclass(frozen=True, kw_only=True)
    class Modest(Solver):
        name, summary = "modest", "gives up on what it has"

        def iterate(self, blocks, r_io):
            r_io[0] = 1.0
            return Iterations(Status.ITERATION_LIMIT, 7, np.zeros(0), message="enough")

    found = solve(problem, Modest())
    assert found.status is Status.ITERATION_LIMIT and found.message == "enough" and found.residual <= 1e-15
