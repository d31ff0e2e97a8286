"""The flow from state to state, against the certificate, and its orientation against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import heap
from taction.contact.blocks import make_blocks
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.solvers.active_system import FREE
from taction.solvers.closed_factor import CHANGES, COMPONENTS
from taction.solvers.newton import unload
from taction.solvers.newton_memory import IMPULSE, VELOCITY
from taction.solvers.nsgs import sweep
from taction.solvers.state_flow import (
    ALPHA,
    FACTOR,
    STATE,
    VIRTUAL,
    factor_flow,
    has_sliding_cones,
    make_flow,
    start_flow,
    state_flow,
    with_room,
)


def loaded(problem, sweeps, room=None):
    """Rows of a problem, and a flow from the impulses of so many sweeps, with room for a full factor."""
    rows = make_blocks(problem).rows
    r, k = np.zeros_like(rows.b), len(rows.kind)
    for _ in range(sweeps):
        sweep(rows, 1.0, r)
    flow = make_flow(k, len(rows.column), k * k if room is None else room)
    start_flow(rows, float(np.linalg.norm(rows.b)), r, flow)
    return rows, flow, r


def heap_of(law, *size, **more):
    """A heap with another law."""
    problem = heap(*size, **more)
    return ContactProblem(problem.W, problem.b, problem.elements, law=law)


@pytest.mark.long
@pytest.mark.parametrize("law", ["exact", "convex"])
@pytest.mark.parametrize("seed", range(8))
def test_heaps_are_solved(seed, law):
    problem = heap_of(law, 12, 40, seed)
    rows, flow, r = loaded(problem, 10)
    assert has_sliding_cones(rows)
    size = float(np.linalg.norm(rows.b))
    has_room, systems, error = state_flow(1e-10 * size, 400, CHANGES, flow)
    assert has_room and error <= 1e-10 * size and systems < 400
    unload(flow.work, r)
    assert certify(problem, r).residual <= 1e-9


def test_a_solution_is_left_alone():
    problem = heap(12, 40, 0)
    rows, flow, r = loaded(problem, 10)
    size = float(np.linalg.norm(rows.b))
    state_flow(1e-12 * size, 400, CHANGES, flow)
    unload(flow.work, r)
    start_flow(rows, size, r, flow)
    _, systems, error = state_flow(1e-10 * size, 400, CHANGES, flow)
    solution = r.copy()
    unload(flow.work, r)
    assert systems == 0 and error <= 1e-10 * size and np.abs(r - solution).max() <= 1e-15 * np.abs(r).max()


def test_the_best_point_is_kept():
    problem = heap(20, 80, 3)
    rows, flow, r = loaded(problem, 2)
    start = certify(problem, r).residual
    _, _, error = state_flow(0.0, 5, CHANGES, flow)
    unload(flow.work, r)
    assert certify(problem, r).residual <= start * (1.0 + 1e-14 * len(rows.b))  # scaled and back
    assert certify(problem, r).residual == pytest.approx(error / float(np.linalg.norm(rows.b)), rel=1e-9)


@pytest.mark.parametrize("law", ["exact", "convex"])
def test_velocities_obey_the_laws_in_the_states_that_are_read(law):
    """What slides lifts off at μ times its slip with the convex law, which opens no earlier than at that."""
    problem = heap_of(law, 20, 80, 1)
    _, flow, _ = loaded(problem, 3)
    v, mu, lift = flow.work.vectors, 0.5, 0.5 if law == "convex" else 0.0
    r, g, state = (v[row].reshape(-1, 3) for row in (IMPULSE, VIRTUAL, STATE))
    for lam, slip, (is_open, *d) in zip(r, g, state, strict=True):
        rim = mu * lam[0] - np.hypot(lam[1], lam[2])
        assert lam[0] >= 0.0 and rim >= -1e-15 * lam[0]
        if is_open != FREE:
            assert (lam == 0.0).all() and slip[0] >= lift * np.hypot(slip[1], slip[2])
        elif any(d):
            assert abs(rim) <= 1e-15 * lam[0]
            assert slip[0] == pytest.approx(lift * np.hypot(slip[1], slip[2]), rel=1e-14)
            assert lam[1:] @ slip[1:] == pytest.approx(-np.linalg.norm(lam[1:]) * np.linalg.norm(slip[1:]))
        else:
            assert (slip == 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_determinant_says_whether_the_step_is_oriented(seed):
    """Against the determinant of the whole matrix: for heavy weights it is positive, else what NumPy says."""
    problem = heap(20, 80, seed, mu=1.5)
    _, flow, _ = loaded(problem, 5)
    work = flow.work
    k, rows, signs = len(problem.elements), work.rows, set()
    W = np.zeros((3 * k, 3 * k))
    for i in range(k):
        for m in range(rows.start[i], rows.start[i + 1]):
            j = rows.column[m]
            W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = rows.value[m].reshape(3, 3)
    for alpha in 10.0 ** np.arange(-6.0, 3.0):
        flow.record[ALPHA], flow.has[FACTOR] = alpha, False
        _, is_oriented = factor_flow(work, flow)
        A, B = np.zeros_like(W), np.zeros_like(W)
        for i in range(k):
            at = slice(3 * i, 3 * i + 3)
            A[at, at], B[at, at] = work.jacobian[i, :9].reshape(3, 3), work.jacobian[i, 9:].reshape(3, 3)
            if work.is_identity[i]:
                A[at, at], B[at, at] = 0.0, np.eye(3)
        signs.add(np.linalg.slogdet(A @ (W + alpha * np.eye(3 * k)) + B)[0] > 0)
        if flow.closed.count[COMPONENTS] == 1:
            assert is_oriented == (np.linalg.slogdet(A @ (W + alpha * np.eye(3 * k)) + B)[0] > 0)
    assert True in signs and np.isfinite(work.vectors[VELOCITY]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_convex_law_is_always_oriented(seed):
    """W + α is positive definite, and its law monotone: no determinant is negative, whatever the states."""
    problem = heap_of("convex", 20, 80, seed, mu=1.5)
    _, flow, _ = loaded(problem, 5)
    for alpha in 10.0 ** np.arange(-6.0, 3.0):
        flow.record[ALPHA], flow.has[FACTOR] = alpha, False
        assert factor_flow(flow.work, flow) == (True, True)


def test_other_blocks_are_left_alone():
    assert not has_sliding_cones(make_blocks(heap(12, 40, 0, mu=0.0)).rows)
    problem = heap(12, 40, 0)
    for other in (Contact(0.5, lateral=0.4), Contact(0.5, backward=0.3), Contact(0.5, adhesion=1.0)):
        elements = [*problem.elements[:-1], other]
        assert not has_sliding_cones(make_blocks(ContactProblem(problem.W, problem.b, elements)).rows)


def test_a_factor_that_has_no_room_gets_it():
    """The flow goes on where it stopped: the same impulses to the last bit."""
    problem = heap(20, 80, 3)
    rows, flow, _ = loaded(problem, 5)
    state_flow(0.0, 40, CHANGES, flow)
    expected = flow.work.vectors[IMPULSE].copy()
    _, flow, _ = loaded(problem, 5, room=1)
    turns = 0
    while not state_flow(0.0, 40, CHANGES, flow)[0]:
        flow, turns = with_room(flow, len(rows.kind), len(rows.column)), turns + 1
    assert turns > 0 and (flow.work.vectors[IMPULSE] == expected).all()
