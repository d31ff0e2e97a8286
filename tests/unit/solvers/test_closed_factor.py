"""The factor of closed contacts, against NumPy on the whole matrix, before and after contacts change."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import heap
from taction.contact.blocks import make_blocks
from taction.solvers.closed_factor import (
    CHANGED,
    CHANGES,
    CLOSED,
    NEEDED,
    change_closed,
    factor_changes,
    factor_closed,
    order_closed,
    solve_closed,
)
from taction.solvers.state_flow import make_flow, start_flow

ALPHA = 0.03


def made(seed, contacts=60, room=None):
    """A flow whose contacts have equations of their own, some open; and W in full."""
    rng = np.random.default_rng(seed)
    rows, k = make_blocks(heap(15, contacts, seed)).rows, contacts
    flow = make_flow(k, len(rows.column), k * k if room is None else room)
    start_flow(rows, 1.0, np.zeros_like(rows.b), flow)
    work = flow.work
    work.jacobian[:] = 0.3 * rng.normal(size=work.jacobian.shape)
    work.jacobian[:, [0, 4, 8]] += 1.0
    work.is_identity[:] = rng.uniform(size=k) < 0.3
    rows, W = work.rows, np.zeros((3 * k, 3 * k))
    for i in range(k):
        for m in range(rows.start[i], rows.start[i + 1]):
            j = rows.column[m]
            W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = rows.value[m].reshape(3, 3)
    return rng, flow, W


def whole(work, W):
    """K of all contacts, rows of the identity where they are open."""
    K = np.zeros_like(W)
    for i in range(len(W) // 3):
        at = slice(3 * i, 3 * i + 3)
        K[at] = work.jacobian[i, :9].reshape(3, 3) @ (W[at] + ALPHA * np.eye(len(W))[at])
        K[at, at] += work.jacobian[i, 9:].reshape(3, 3)
        if work.is_identity[i]:
            K[at] = np.eye(len(W))[at]
    return K


def solved(rng, flow):
    """A random right-hand side, zero for open contacts, and the solution that the factor gives."""
    closed, work = flow.closed, flow.work
    n, k = int(closed.count[CLOSED]), len(work.is_identity)
    y, x = np.zeros((k, 3)), np.zeros((k, 3))
    y[~work.is_identity] = rng.normal(size=(int((~work.is_identity).sum()), 3))
    closed.x[: 3 * n] = y[closed.contact[:n]].ravel()
    solve_closed(ALPHA, work, closed)
    x[closed.contact[:n]] = closed.x[: 3 * n].reshape(n, 3)
    return y.ravel(), x.ravel()


@pytest.mark.parametrize("seed", range(5))
def test_systems_and_signs_are_those_of_the_whole_matrix(seed):
    rng, flow, W = made(seed)
    assert order_closed(flow.work, flow.closed)
    is_positive = factor_closed(ALPHA, flow.work, flow.closed)
    K = whole(flow.work, W)
    if flow.closed.count[1] == 1:
        assert is_positive == (np.linalg.slogdet(K)[0] > 0)
    y, x = solved(rng, flow)
    assert np.abs(K @ x - y).max() <= 1e-11 * np.linalg.cond(K)


@pytest.mark.parametrize("seed", range(5))
def test_changes_keep_the_factor(seed):
    """Other equations, contacts that open, and open again: each of them against the whole matrix."""
    rng, flow, W = made(seed)
    work, closed = flow.work, flow.closed
    order_closed(work, closed)
    first = np.linalg.slogdet(whole(work, W))[0]
    factor_closed(ALPHA, work, closed)
    for i in rng.choice(closed.contact[: closed.count[CLOSED]], CHANGES, replace=False):
        assert change_closed(i, work, closed) and change_closed(i, work, closed)  # twice is once
        work.jacobian[i] += rng.normal(size=18)
        work.is_identity[i] = rng.uniform() < 0.3
        K = whole(work, W)
        assert factor_changes(ALPHA, work, closed) == (np.linalg.slogdet(K)[0] * first > 0)
        y, x = solved(rng, flow)
        assert np.abs(K @ x - y).max() <= 1e-10 * np.linalg.cond(K)
    assert closed.count[CHANGED] == CHANGES


def test_what_cannot_be_kept_is_said():
    _, flow, _ = made(0)
    work, closed = flow.work, flow.closed
    order_closed(work, closed)
    factor_closed(ALPHA, work, closed)
    assert not change_closed(np.flatnonzero(work.is_identity)[0], work, closed)  # has no row
    there = closed.contact[: closed.count[CLOSED]]
    for i in there[:CHANGES]:
        assert change_closed(i, work, closed)
    assert not change_closed(there[CHANGES], work, closed)  # no room
    work.is_identity[there[0]] = True
    factor_closed(ALPHA, work, closed)
    assert closed.count[CHANGED] == 0 and not change_closed(there[0], work, closed)  # has no column


def test_room_that_is_missing_is_counted():
    _, flow, _ = made(0, room=10)
    assert not order_closed(flow.work, flow.closed)
    needed = int(flow.closed.count[NEEDED])
    _, flow, _ = made(0, room=needed)
    assert order_closed(flow.work, flow.closed) and flow.closed.count[NEEDED] == needed
