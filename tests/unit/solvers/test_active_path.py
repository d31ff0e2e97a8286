"""Systems in the space of the freedoms, and the path on which states change one by one."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.contact.assembly import INDEX_WIDTH, LENGTH, NUMBER_WIDTH, Assembly, Rows
from taction.contact.blocks import make_blocks, multiply
from taction.contact.laws.dispatch import natural_map
from taction.solvers.active_freedoms import no_freedoms
from taction.solvers.active_path import SYSTEMS, follow_path
from taction.solvers.active_set import read_states, select_active
from taction.solvers.active_system import (
    EPSILON,
    STATE,
    STEP,
    compliances,
    factor_system,
    scratch,
    solve_system,
)
from taction.solvers.newton import load, order_newton
from taction.solvers.selection import select_components

MASS = np.array([12.0, 12.0, 12.0, 1.25, 1.25, 2.0])


def rows_at(x, y, z):
    return [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]]


def foot(corners, friction):
    """Rows of a foot's corners, and of dry friction against its six freedoms."""
    rng = np.random.default_rng(corners)
    J = np.vstack([rows_at(*rng.uniform(-0.5, 0.5, 2), -0.25) for _ in range(corners)])
    return np.vstack([J, np.eye(6)]) if friction else J


def problem(J, corners, push, limits):
    elements = [ta.Contact(0.5)] * corners + [ta.JointFriction(b) for b in limits]
    return ta.ContactProblem((J / MASS) @ J.T, J @ push, elements)


def assembly(J, order=range(5, -1, -1)):
    """What a step knows of rows J of bodies like this; order: in which each block has its freedoms."""
    k, d, order = len(J) // 3, J.shape[1], list(order)
    widths = {"INDEX_WIDTH": INDEX_WIDTH, "NUMBER_WIDTH": NUMBER_WIDTH}
    blocks = Assembly.allocate(_given={"rows": Rows.allocate(k=1, m=1)}, k=k, d=d, nv=d, n=1, **widths)
    blocks.count[0], blocks.index[:, LENGTH], blocks.number[:] = k, d, 0.0
    blocks.dof[:] = order
    blocks.Z[:] = J.reshape(k, 3, d)[:, :, order].transpose(0, 2, 1)
    return blocks, np.zeros(d, dtype=np.int64), np.tile(MASS, d // 6)[:, None].copy()


def step_of_states(rows, known, r):
    """The step that the states of impulses r (3k,) lead to; directions, freedoms, whether one slides."""
    most = len(r)
    ws, u, trial = np.zeros(scratch(most // 3)), np.empty(most), r.copy()
    compliances(rows, ws[EPSILON * most :])
    read_states(rows, trial, ws[STATE * most :])
    multiply(rows, trial, u)
    n, freedoms, is_sliding, is_regular, _ = factor_system(rows, *known, 1.0, 1.0, trial, u, ws)
    assert is_regular
    solve_system(rows, known[0], n, freedoms, is_sliding, False, trial, u, ws)
    return ws[STEP * most : STEP * most + n].copy(), n, freedoms, is_sliding


@pytest.mark.parametrize("sliding", [0, 2])
def test_both_spaces_give_the_same_step(sliding):
    """12 directions of four corners or more, 6 freedoms, to what is lost by dividing by ε = 1e-6."""
    J = foot(6, True)
    p = problem(J, 6, np.array([0.1, 0.05, -0.3, 0.1, 0.0, 0.2]), np.full(6, 1e-2))
    rows = make_blocks(p).rows
    most = 3 * len(rows.kind)
    r = np.zeros(most)
    r[:18:3] = 0.2
    for i in range(sliding):
        r[3 * i + 1] = 0.1  # on the rim
    one, n, none, _ = step_of_states(rows, no_freedoms(), r)
    other, same, freedoms, is_sliding = step_of_states(rows, assembly(J), r)
    assert n == same == 24 - sliding and none == 0 and freedoms == 6 and is_sliding == (sliding > 0)
    assert np.abs(one - other).max() <= 1e-8 * np.abs(one).max()


@pytest.mark.parametrize("sliding", [0, 2])
@pytest.mark.parametrize("order", [range(11, -1, -1), [*range(5, -1, -1), *range(11, 5, -1)], range(12)])
def test_bodies_on_each_other_in_any_order(order, sliding):
    """One box on the ground, one on it, six corners each; a block may name its bodies in either order."""
    lower, upper = foot(6, False), foot(6, False)
    J = np.block([[lower, np.zeros((18, 6))], [-upper, upper]])
    mass = np.tile(MASS, 2)
    push = np.array([0.1, 0.05, -0.3, 0.1, 0.0, 0.2, 0.0, 0.1, -0.3, 0.0, 0.1, 0.1])
    rows = make_blocks(ta.ContactProblem((J / mass) @ J.T, J @ push, [ta.Contact(0.5)] * 12)).rows
    r = np.zeros(36)
    r[::3] = 0.2
    r[1 : 3 * sliding : 3] = 0.1  # on the rim
    one, *_ = step_of_states(rows, no_freedoms(), r)
    other, _, freedoms, is_sliding = step_of_states(rows, assembly(J, order), r)
    assert freedoms == 12 and is_sliding == (sliding > 0)
    assert np.abs(one - other).max() <= 1e-8 * np.abs(one).max()


def test_no_freedoms_are_used_where_a_row_is_an_equation():
    J = np.vstack([foot(4, False), np.eye(6)[5]])
    p = ta.ContactProblem((J / MASS) @ J.T, J @ np.ones(6), [ta.Contact(0.5)] * 4 + [ta.Bilateral(1)])
    rows = make_blocks(p).rows
    most = 3 * len(rows.kind)
    ws, r, u = np.zeros(scratch(most // 3)), np.ones(most), np.empty(most)
    compliances(rows, ws[EPSILON * most :])
    read_states(rows, r, ws[STATE * most :])
    multiply(rows, r, u)
    padded = np.vstack([J, np.zeros((2, 6))])
    assert factor_system(rows, *assembly(padded), 1.0, 1.0, r, u, ws)[1] == 0


@pytest.mark.parametrize("corners, friction", [(4, True), (8, True), (8, False)])
def test_the_path_leads_to_what_newtons_method_selects(corners, friction):
    """From impulses of another push: judged by the natural map, and compared with the other method.

    Exact friction may leave several that a vanishing compliance selects; then this one is no larger.
    """
    J, rng = foot(corners, friction), np.random.default_rng(7)
    led = compared = alike = 0
    for _ in range(60):
        before, push = rng.normal(size=(2, 6)) * [0.2, 0.2, 0.1, 0.3, 0.3, 0.3] - [0, 0, 0.4, 0, 0, 0]
        limits = rng.uniform(0.0, 0.05, 6) if friction else []
        guess = ta.solve(problem(J, corners, before, limits), tol=1e-10).impulse
        p = problem(J, corners, push, limits)
        blocks = make_blocks(p)
        rows, r = blocks.rows, blocks.pack(guess)
        u, known = np.empty_like(r), assembly(J)
        scale = np.linalg.norm(p.b)
        memory = np.full(scratch(len(rows.kind)), np.nan)
        is_found, systems = follow_path(
            rows, *known, 3e-11 * scale, 1e-9 * scale, memory, np.empty_like(r), u, r
        )
        assert systems <= SYSTEMS
        led += is_found
        if not is_found:
            assert np.array_equal(r, blocks.pack(guess))
            continue
        multiply(rows, r, u)
        assert natural_map(rows.kind, rows.sets, r, u) <= 1e-9 * scale
        other, work = r.copy(), order_newton(rows)
        load(rows, other, work)
        if select_components(1e-12, 1e-12, 100, work, other, np.empty(500))[2]:
            compared += 1
            alike += np.abs(r - other).max() <= 1e-4 * np.abs(other).max()
            assert np.linalg.norm(r) <= (1.0 + 1e-6) * np.linalg.norm(other)
    assert led >= 42 and compared >= 42 and alike >= 0.85 * compared


def test_it_ends_where_states_all_at_once_go_round():
    """A cube on eight corners that all rub, pushed from rest: three quarters of those that cycle are led."""
    J, rng, cycled, led = foot(8, True), np.random.default_rng(3), 0, 0
    for _ in range(150):
        p = problem(J, 8, rng.normal(size=6) * 0.3 - [0, 0, 0.4, 0, 0, 0], rng.uniform(0.0, 0.1, 6))
        rows = make_blocks(p).rows
        scale, known, memory = np.linalg.norm(p.b), assembly(J), np.empty(scratch(len(rows.kind)))
        r, trial = np.zeros(3 * len(rows.kind)), np.empty(3 * len(rows.kind))
        u = rows.b.copy()
        if select_active(rows, *known, 3e-11 * scale, 1e-9 * scale, memory, trial, u, r)[0]:
            continue
        cycled, r[:] = cycled + 1, 0.0
        led += follow_path(rows, *known, 3e-11 * scale, 1e-9 * scale, memory, trial, u, r)[0]
    assert cycled >= 20 and led >= 0.75 * cycled
