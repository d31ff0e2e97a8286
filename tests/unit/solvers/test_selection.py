"""The selected solution: independent of the guess, of least norm where contacts stick."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.contact.blocks import make_blocks, multiply
from taction.contact.redundancy import IMPULSES, NOTHING, ROWS, VELOCITIES, not_unique
from taction.solvers.active_freedoms import no_freedoms
from taction.solvers.active_path import SYSTEMS, follow_path
from taction.solvers.active_set import TURNS, select_active
from taction.solvers.active_system import scratch
from taction.solvers.newton import load, order_newton
from taction.solvers.selection import select_components

m, h = 12.0, 0.01
M = np.diag([m, m, m, m * 1.25 / 12, m * 1.25 / 12, m * 2 / 12])


def corner(x, y, z):
    return [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]


J = np.vstack([corner(x, y, -0.25) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
W = J @ np.linalg.solve(M, J.T)
METHODS = {"at once": select_active, "one by one": follow_path}
LIMIT = {"at once": TURNS, "one by one": SYSTEMS}
MOTIONS = {
    "rest": [0, 0, -9.81 * h, 0, 0, 0],
    "slide": [1.0, 0.3, -9.81 * h, 0, 0, 0.5],
    "turn": [0.05, 0.03, -9.81 * h, 0, 0, 0.5],
}


def box(motion, law="exact"):
    return ta.ContactProblem.from_friction(W, J @ MOTIONS[motion], [0.5] * 4, law=law)


@pytest.mark.parametrize("motion", MOTIONS)
def test_the_guess_does_not_matter(motion):
    problem, rng = box(motion), np.random.default_rng(0)
    first = ta.solve(problem, tol=1e-10)
    assert first.converged
    for _ in range(10):
        other = ta.solve(problem, tol=1e-10, guess=rng.normal(size=12))
        assert other.converged
        assert np.abs(other.impulse - first.impulse).max() <= 1e-7 * np.abs(first.impulse).max()


def test_without_the_choice_the_guess_matters():
    problem, rng = box("turn"), np.random.default_rng(0)
    ends = [ta.solve(problem, "auto", choice=False, guess=rng.uniform(0.0, 10.0, 12)) for _ in range(2)]
    assert all(end.converged for end in ends)
    assert np.abs(ends[0].impulse - ends[1].impulse).max() > 1e-3 * np.abs(ends[0].impulse).max()


def test_sticking_impulses_are_those_of_least_norm():
    problem = box("rest")
    least = -np.linalg.pinv(W) @ problem.b
    assert np.abs(ta.solve(problem).impulse - least).max() <= 1e-8 * np.abs(least).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("motion", ["rest", "slide"])
def test_all_methods_select_alike(motion, method):
    """From impulses that are not the selected ones, found without a choice."""
    problem = box(motion)
    blocks = make_blocks(problem)
    other = ta.solve(problem, "auto", tol=1e-11, choice=False, guess=[1.0, 0.0, 0.0] + [0.0] * 9)
    rows, start = blocks.rows, blocks.pack(other.impulse)
    work, a, b, u = order_newton(rows), start.copy(), start.copy(), W @ start + problem.b
    load(rows, a, work)
    assert select_components(1e-12, 1e-12, 100, work, a, np.empty(500))[2]
    is_found, _ = METHODS[method](
        rows, *no_freedoms(), 1e-12, 1e-9, np.empty(scratch(4)), np.empty(12), u, b
    )[:2]
    assert is_found
    assert np.abs(a - start).max() > 1e-2 * np.abs(a).max()
    assert np.abs(a - b).max() <= 1e-6 * np.abs(a).max()  # as far as the compliance makes it differ


@pytest.mark.parametrize("method", METHODS)
def test_contacts_that_slide_are_followed_from_the_step_before(method):
    """Impulses of another push, all of them sliding elsewhere: a few systems, friction against the slip."""
    before, problem = box("slide"), box("turn")
    rows, guess = make_blocks(problem).rows, ta.solve(before, tol=1e-11).impulse
    r, u = guess.copy(), W @ guess + problem.b
    memory = np.empty(scratch(4))
    is_found, systems = METHODS[method](rows, *no_freedoms(), 1e-12, 1e-9, memory, np.empty(12), u, r)[:2]
    assert is_found and systems <= LIMIT[method]
    assert np.abs(u - (W @ r + problem.b)).max() <= 1e-12
    slip, friction = u.reshape(4, 3)[:, 1:], r.reshape(4, 3)[:, 1:]
    size = np.linalg.norm(slip, axis=1)
    assert size.min() > 1e-3
    assert np.abs(friction + 0.5 * r[::3, None] * slip / size[:, None]).max() <= 1e-10
    other = ta.solve(problem, tol=1e-11).impulse
    assert np.abs(r - other).max() <= 1e-6 * np.abs(other).max()


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_hold_dry_friction_alike(method):
    """A box on four corners whose joints rub: least norm would ask for more than they have."""
    rows = np.vstack([J, np.eye(6)[:2], np.eye(6)[3:5]])
    V, push = rows @ np.linalg.solve(M, rows.T), np.array([0.03, 0.02, -9.81 * h, 0.1, -0.05, 0.0])
    elements = [ta.Contact(0.5)] * 4 + [ta.JointFriction(b) for b in (1e-2, 1.0, 1e-3, 1e-3)]
    problem = ta.ContactProblem(V, rows @ push, elements)
    blocks = make_blocks(problem)
    other = ta.solve(problem, "auto", tol=1e-11, choice=False, guess=[1.0] + [0.0] * 15)
    packed, start = blocks.rows, blocks.pack(other.impulse)
    work, a, b, u = order_newton(packed), start.copy(), start.copy(), np.empty_like(start)
    load(packed, a, work)
    assert select_components(1e-12, 1e-12, 100, work, a, np.empty(500))[2]
    multiply(packed, start, u)
    memory = np.empty(scratch(len(packed.kind)))
    is_found, _ = METHODS[method](packed, *no_freedoms(), 1e-12, 1e-9, memory, np.empty_like(start), u, b)[:2]
    assert is_found
    assert np.abs(a - start).max() > 1e-2 * np.abs(a).max()
    assert np.abs(a - b).max() <= 1e-6 * np.abs(a).max()
    at_end = np.abs(np.abs(blocks.unpack(b)[12:]) - [1e-2, 1.0, 1e-3, 1e-3]) <= 1e-9
    assert at_end.sum() == 3  # some of them hold all they can, one does not


def found(problem):
    rows, impulse = make_blocks(problem).rows, ta.solve(problem).impulse
    return not_unique(rows, impulse, problem.velocity(impulse), 1e-9, np.empty(400))


def test_what_is_not_unique():
    assert found(box("rest")) == VELOCITIES
    assert found(box("rest", "convex")) == found(box("rest", "frictionless")) == IMPULSES
    one = ta.ContactProblem.from_friction(W[:3, :3], [-1.0, 0.0, 0.0], [0.5])
    assert found(one) == NOTHING


def test_joints_that_share_a_force_leave_contacts_alone():
    """A contact, and one joint held twice: what it carries is unique. A contact held twice is not."""
    rows = np.vstack([J[:3], np.eye(6)[5], np.eye(6)[5]])
    V = rows @ np.linalg.solve(M, rows.T)
    elements = [ta.Contact(0.5), ta.Bilateral(1), ta.JointFriction(1.0)]
    assert found(ta.ContactProblem(V, rows @ MOTIONS["rest"], elements)) == ROWS
    twice = np.vstack([J[:3], J[:3], np.eye(6)[5]])
    V = twice @ np.linalg.solve(M, twice.T)
    elements = [ta.Contact(0.5), ta.Contact(0.5), ta.Bilateral(1)]
    assert found(ta.ContactProblem(V, twice @ MOTIONS["rest"], elements)) == VELOCITIES
