"""The flow from state to state, against the certificate, and its orientation against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taction.contact.blocks import make_blocks
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.solvers.active_system import FREE
from taction.solvers.newton import load, order_newton, unload
from taction.solvers.newton_memory import IMPULSE, VELOCITY
from taction.solvers.nsgs import sweep
from taction.solvers.state_flow import STATE, VIRTUAL, factor_flow, has_sliding_cones, start_flow, state_flow


def heap(bodies, contacts, seed, mu=0.5):
    """Free bodies that press on each other at random points, in random directions: W singular, coupled."""
    rng = np.random.default_rng(seed)
    J = np.zeros((3 * contacts, 6 * bodies))
    for n in range(contacts):
        frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        first, second = rng.choice(bodies, 2, replace=False)
        for body, sign in ((first, 1.0), (second, -1.0)):
            if n % 3 == 0 and sign < 0.0:
                continue  # the floor
            lever = 0.5 * rng.normal(size=3)
            for row in range(3):
                J[3 * n + row, 6 * body : 6 * body + 3] = sign * frame[row]
                J[3 * n + row, 6 * body + 3 : 6 * body + 6] = sign * np.cross(lever, frame[row])
    mass = np.tile([1.0, 1.0, 1.0, 0.1, 0.1, 0.1], bodies)
    W = J @ (J / mass).T
    b = J @ rng.normal(size=6 * bodies)
    return ContactProblem(0.5 * (W + W.T), b, [Contact(mu)] * contacts, name="heap")


def loaded(problem, sweeps):
    """Rows, memory with the impulses of so many sweeps, and these."""
    rows = make_blocks(problem).rows
    r = np.zeros_like(rows.b)
    for _ in range(sweeps):
        sweep(rows, 1.0, r)
    work = order_newton(rows)
    load(rows, r, work)
    return rows, work, r


@pytest.mark.parametrize("seed", range(8))
def test_heaps_are_solved(seed):
    problem = heap(12, 40, seed)
    rows, work, r = loaded(problem, 10)
    assert has_sliding_cones(work)
    size = float(np.linalg.norm(rows.b))
    systems, error = state_flow(1e-10 * size, 400, work)
    assert error <= 1e-10 * size and systems < 400
    unload(work, r)
    assert certify(problem, r).residual <= 1e-9


def test_a_solution_is_left_alone():
    problem = heap(12, 40, 0)
    rows, work, _ = loaded(problem, 10)
    size = float(np.linalg.norm(rows.b))
    state_flow(1e-12 * size, 400, work)
    kept = work.vectors[IMPULSE].copy()
    systems, error = state_flow(1e-10 * size, 400, work)
    assert systems == 0 and error <= 1e-10 * size and (work.vectors[IMPULSE] == kept).all()


def test_the_best_point_is_kept():
    problem = heap(20, 80, 3)
    rows, work, r = loaded(problem, 2)
    start = certify(problem, r).residual
    _, error = state_flow(0.0, 5, work)
    unload(work, r)
    assert certify(problem, r).residual <= start * (1.0 + 1e-14 * len(rows.b))  # scaled and back
    assert certify(problem, r).residual == pytest.approx(error / float(np.linalg.norm(rows.b)), rel=1e-9)


def test_velocities_obey_the_laws_in_the_states_that_are_read():
    problem = heap(20, 80, 1)
    _, work, _ = loaded(problem, 3)
    start_flow(work)
    v, mu = work.vectors, 0.5
    r, g, state = (v[row].reshape(-1, 3) for row in (IMPULSE, VIRTUAL, STATE))
    for lam, slip, (is_open, *d) in zip(r, g, state, strict=True):
        rim = mu * lam[0] - np.hypot(lam[1], lam[2])
        assert lam[0] >= 0.0 and rim >= -1e-15 * lam[0]
        if is_open != FREE:
            assert (lam == 0.0).all() and slip[0] >= 0.0
        elif any(d):
            assert abs(rim) <= 1e-15 * lam[0] and slip[0] == 0.0
            assert lam[1:] @ slip[1:] == pytest.approx(-np.linalg.norm(lam[1:]) * np.linalg.norm(slip[1:]))
        else:
            assert (slip == 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_determinant_says_whether_the_step_is_oriented(seed):
    """Against the determinant of the whole matrix: for heavy weights it is positive, else what NumPy says."""
    problem = heap(20, 80, seed, mu=1.5)
    _, work, _ = loaded(problem, 5)
    start_flow(work)
    k, rows, signs = len(problem.elements), work.rows, set()
    W = np.zeros((3 * k, 3 * k))
    for i in range(k):
        for m in range(rows.start[i], rows.start[i + 1]):
            j = rows.column[m]
            W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = rows.value[m].reshape(3, 3)
    for alpha in 10.0 ** np.arange(-6.0, 3.0):
        is_oriented = factor_flow(alpha, work)
        A, B = np.zeros_like(W), np.zeros_like(W)
        for i in range(k):
            at = slice(3 * i, 3 * i + 3)
            A[at, at], B[at, at] = work.jacobian[i, :9].reshape(3, 3), work.jacobian[i, 9:].reshape(3, 3)
            if work.is_identity[i]:
                A[at, at], B[at, at] = 0.0, np.eye(3)
        signs.add(np.linalg.slogdet(A @ (W + alpha * np.eye(3 * k)) + B)[0] > 0)
        if work.count[1] == 1:
            assert is_oriented == (np.linalg.slogdet(A @ (W + alpha * np.eye(3 * k)) + B)[0] > 0)
    assert True in signs and np.isfinite(work.vectors[VELOCITY]).all()


def test_other_laws_are_left_alone():
    problem = heap(12, 40, 0)
    convex = ContactProblem(problem.W, problem.b, problem.elements, law="convex")
    assert not has_sliding_cones(loaded(convex, 1)[1])
    assert not has_sliding_cones(loaded(heap(12, 40, 0, mu=0.0), 1)[1])
