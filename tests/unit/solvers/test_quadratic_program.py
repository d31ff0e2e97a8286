"""Quadratic programs: optimality by its conditions, infeasibility by a linear program, degenerate rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import taction as ta
from taction.solvers.quadratic_program import Status


def random_program(rng, is_feasible):
    """H, g, A, b, e of a program that may have repeated rows and, unless feasible, no point at all."""
    n, m = int(rng.integers(1, 12)), int(rng.integers(0, 25))
    e = int(rng.integers(0, min(n, m) + 1))
    B = rng.normal(size=(n, n))
    H, g, A = B @ B.T + 10.0 ** rng.uniform(-4, 0) * np.eye(n), rng.normal(size=n), rng.normal(size=(m, n))
    if m > 3 and rng.random() < 0.3:
        A[-1] = A[-2]
    if e > 1 and rng.random() < 0.3:
        A[e - 1] = A[0]
    if is_feasible:
        room = np.abs(rng.normal(size=m)) * (np.arange(m) >= e) * (rng.random(m) < 0.8)
        return H, g, A, A @ rng.normal(size=n) - room, e
    return H, g, A, rng.normal(size=m), e


def optimality(H, g, A, b, e, answer):
    """Largest violation of the conditions of Karush, Kuhn and Tucker, in plain NumPy."""
    x, u = answer.x, answer.multipliers
    rest = A @ x - b
    size = np.abs(g).max() + np.abs(A.T * u).max(initial=0.0) + 1.0
    return max(
        np.abs(H @ x + g - A.T @ u).max() / size,
        np.abs(rest[:e]).max(initial=0.0) / (1.0 + np.abs(b).max(initial=0.0)),
        -rest[e:].min(initial=0.0) / (1.0 + np.abs(b).max(initial=0.0)),
        -u[e:].min(initial=0.0) / size,
        np.minimum(np.abs(rest[e:]), np.abs(u[e:]) / size).max(initial=0.0),
    )


def test_programs_that_have_an_answer_are_solved():
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(300):
        *program, e = random_program(rng, is_feasible=True)
        answer = ta.solve_quadratic_program(*program, equations=e)
        assert answer.status is Status.SOLVED
        worst = max(worst, optimality(*program, e, answer), answer.residual)
    assert worst < 1e-8  # conditions of H up to 1e6


def test_programs_without_one_are_told_from_others_by_a_linear_program():
    rng, seen = np.random.default_rng(2), {Status.SOLVED: 0, Status.INFEASIBLE: 0}
    for _ in range(200):
        H, g, A, b, e = random_program(rng, is_feasible=False)
        answer = ta.solve_quadratic_program(H, g, A, b, equations=e)
        possible = linprog(
            np.zeros(len(g)), A_ub=-A[e:] if e < len(A) else None, b_ub=-b[e:] if e < len(A) else None,
            A_eq=A[:e] if e else None, b_eq=b[:e] if e else None, bounds=(None, None),
        ).status == 0  # fmt: skip
        assert answer.status is (Status.SOLVED if possible else Status.INFEASIBLE)
        seen[answer.status] += 1
    assert min(seen.values()) > 20


def test_a_point_on_an_edge():
    """Nearest point of the quadrant x ≥ 1, y ≥ 2 with x + y = 4 to the origin: (2, 2)."""
    answer = ta.solve_quadratic_program(
        np.eye(2), [0.0, 0.0], [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [4.0, 1.0, 2.0], equations=1
    )
    np.testing.assert_allclose(answer.x, [2.0, 2.0], atol=1e-14)
    np.testing.assert_allclose(answer.multipliers, [2.0, 0.0, 0.0], atol=1e-14)


def test_a_saddle_is_not_convex():
    assert ta.solve_quadratic_program(np.diag([1.0, -1.0]), [0.0, 0.0]).status is Status.NOT_CONVEX


def test_the_residual_sees_a_wrong_answer():
    from taction.solvers.quadratic_program import Program, ProgramScratch, kkt_residual, solve_program

    program = Program(H=np.eye(2), g=np.zeros(2), A=np.array([[1.0, 1.0]]), b=np.array([2.0]))
    ws = ProgramScratch.allocate(n=2, m=1)
    _, k = solve_program(program, 0, ws)
    assert kkt_residual(program, 0, k, ws) < 1e-15
    ws.x[0] += 1e-3
    assert kkt_residual(program, 0, k, ws) > 1e-4


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((np.eye(3), [0.0, 0.0]), {}, "H: expected"),
        ((np.eye(2), [0.0, 0.0], [[1.0]], [1.0]), {}, "A: expected"),
        ((np.eye(2), [0.0, 0.0], [[1.0, 0.0]], [1.0]), {"equations": 2}, "2 equations of 1 rows"),
    ],
)
def test_shapes_that_do_not_fit(arguments, options, text):
    with pytest.raises(ta.BadInput, match=text):
        ta.solve_quadratic_program(*arguments, **options)
