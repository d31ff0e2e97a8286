"""The judge: zero for solutions, and every measure reacts to the fault that it is there for."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import box_on_ground, random_scene, stack, wedged
from taction._core.errors import BadInput
from taction.contact.blocks import make_blocks
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, JointFriction, Unilateral
from taction.contact.indeterminacy import choose_impulse
from taction.contact.problem import ContactProblem
from taction.solvers import solve
from taction.solvers.base import relative_residual


@pytest.fixture
def sliding():
    """A box that slides along x, and its solution."""
    problem = box_on_ground([1.0, 0.0, -0.1, 0.0, 0.0, 0.0], 0.5, size=(1.0, 1.0, 0.0)).problem
    return problem, choose_impulse(problem, solve(problem, tol=1e-13).impulse)  # the corners share the load


def measures(problem, impulse):
    c = certify(problem, impulse)
    return {
        k: getattr(c, k) for k in ("residual", "primal", "dual", "complementarity", "cone", "dissipation")
    }


def test_a_solution_has_nothing_to_report(sliding):
    assert max(measures(*sliding).values()) < 1e-12


@pytest.mark.parametrize(
    ("fault", "reacting"),
    [
        ("too weak", {"primal", "complementarity", "residual"}),
        ("too strong", {"complementarity", "residual"}),
        ("pulls", {"dual", "cone", "primal", "residual"}),
        ("friction beyond the cone", {"cone", "residual"}),
        ("friction too weak", {"dissipation", "residual"}),
        ("friction sideways", {"dissipation", "residual"}),
    ],
)
def test_each_measure_reacts_to_its_fault(sliding, fault, reacting):
    problem, impulse = sliding
    wrong = impulse.reshape(-1, 3).copy()
    assert wrong[:, 0] == pytest.approx(0.05)
    if fault == "too weak":
        wrong *= 0.9
    elif fault == "too strong":
        wrong *= 1.1
    elif fault == "pulls":
        wrong *= -1.0
    elif fault == "friction beyond the cone":
        wrong[:, 1] *= 1.2
    elif fault == "friction too weak":
        wrong[:, 1] *= 0.8
    else:
        wrong[:, 2], wrong[:, 1] = wrong[:, 1].copy(), 0.0
    found = measures(problem, wrong.ravel())
    assert {k for k, v in found.items() if v > 1e-4} >= reacting
    quiet = {"primal", "dual", "cone", "dissipation"} - reacting
    if fault != "pulls":
        assert all(found[k] < 1e-12 for k in quiet), found


def test_perturbations_are_never_missed():
    rng = np.random.default_rng(0)
    for law in ("exact", "convex", "frictionless"):
        problem = random_scene(rng, 4, 3, law=law).problem
        impulse = solve(problem, tol=1e-12).impulse
        for _ in range(30):
            k = int(rng.integers(problem.size))
            wrong = impulse.copy()
            wrong[k] += 1e-4 * rng.choice([-1.0, 1.0])
            assert certify(problem, wrong).residual > 1e-7


def test_impulses_beyond_all_bounds_do_not_pass():
    """Where Λ is so large that Λ − γ rounds γ off, the law is still violated by γ."""
    for problem in (wedged(), ContactProblem(np.zeros((1, 1)), [-1.0], [Unilateral()])):
        for size in (1e8, 1e16, 1e30, 1e200):
            impulse = np.zeros(problem.size)
            impulse[::3] = size
            assert certify(problem, impulse).residual > 0.1


def test_worst_element_is_named():
    problem = stack([1.0, 2.0]).problem
    impulse = solve(problem, tol=1e-12).impulse
    impulse[3 * 5] += 10.0
    certificate = certify(problem, impulse)
    assert certificate.worst == int(np.argmax(certificate.natural_map))
    assert f"element {certificate.worst} (Contact)" in str(certificate)


def test_other_elements():
    problem = ContactProblem(np.eye(3), [1.0, -1.0, 2.0], [Bilateral(1), Unilateral(), JointFriction(0.5)])
    right = np.array([-1.0, 1.0, -0.5])
    assert certify(problem, right).residual == 0.0
    for row, name in ((0, "bilateral"), (1, "primal"), (2, "dissipation")):
        wrong = right.copy()
        wrong[row] *= 0.5
        assert getattr(certify(problem, wrong), name) > 0.1
    assert certify(problem, [-1.0, 1.0, -0.8]).cone == pytest.approx(0.3)


@pytest.mark.parametrize("law", ["exact", "convex", "frictionless"])
def test_the_judge_and_the_solvers_measure_agree(law):
    """Computed by different code from the same definition."""
    rng = np.random.default_rng(1)
    for sections in (1, 2, 3):
        problem = random_scene(rng, 6, 2, law=law, sections=sections).problem
        blocks = make_blocks(problem)
        for _ in range(5):
            x = rng.normal(size=problem.size)
            assert certify(problem, x).residual == pytest.approx(
                relative_residual(blocks, blocks.pack(x)), rel=1e-12
            )


def test_wrong_shapes_are_refused(sliding):
    problem, impulse = sliding
    for bad in (impulse[:-1], np.full_like(impulse, np.nan)):
        with pytest.raises(BadInput):
            certify(problem, bad)
