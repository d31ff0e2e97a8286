"""Newton's method with sweeps: redundant contacts of random bodies, judged by the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from taction.contact.blocks import make_blocks
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.solvers.damped_newton import damped_newton
from taction.solvers.newton import load, order_newton
from taction.solvers.newton_memory import IMPULSE


def stack(boxes, seed):
    """Boxes on each other, four corners between two of them: 12 rows for 6 freedoms, W singular."""
    rng = np.random.default_rng(seed)
    J = np.zeros((12 * boxes, 6 * boxes))
    for n in range(boxes):
        for corner in range(4):
            x, y = (0.5 if corner % 2 else -0.5), (0.5 if corner // 2 else -0.5)
            for body, z, sign in ((n, -0.5, 1.0), (n - 1, 0.5, -1.0)):
                if body < 0:
                    continue
                lever = np.array([x, y, z])
                for row, axis in enumerate(np.eye(3)[[2, 0, 1]]):
                    at = 12 * n + 3 * corner + row
                    J[at, 6 * body : 6 * body + 3] = sign * axis
                    J[at, 6 * body + 3 : 6 * body + 6] = sign * np.cross(lever, axis)
    mass = np.tile([1.0, 1.0, 1.0, 1 / 6, 1 / 6, 1 / 6], boxes) * np.repeat(rng.uniform(0.5, 2.0, boxes), 6)
    v = 0.01 * rng.normal(size=6 * boxes)
    v[2::6] -= 0.05
    W = J @ (J / mass).T
    return ContactProblem(0.5 * (W + W.T), J @ v, [Contact(0.5)] * (4 * boxes), name="stack")


@pytest.mark.parametrize("boxes", [4, 8])
@pytest.mark.parametrize("seed", range(6))
def test_redundant_stacks(boxes, seed):
    problem = stack(boxes, seed)
    blocks = make_blocks(problem)
    work, history = order_newton(blocks.rows), np.empty(60)
    load(blocks.rows, np.zeros_like(blocks.rows.b), work)
    goal = 1e-9 * float(np.linalg.norm(problem.b))
    steps, error = damped_newton(goal, 1e-2, 60, 30, work, history)
    assert error <= goal and steps < 60
    packed = np.empty_like(blocks.rows.b).reshape(-1, 3)
    packed[work.order] = (work.scale * work.vectors[IMPULSE]).reshape(-1, 3)
    assert certify(problem, blocks.unpack(packed.ravel())).residual <= 1e-8


def test_the_best_point_is_kept():
    problem = stack(8, 0)
    blocks = make_blocks(problem)
    work, history = order_newton(blocks.rows), np.empty(3)
    load(blocks.rows, np.zeros_like(blocks.rows.b), work)
    _, error = damped_newton(0.0, 1e-6, 3, 0, work, history)
    packed = np.empty_like(blocks.rows.b).reshape(-1, 3)
    packed[work.order] = (work.scale * work.vectors[IMPULSE]).reshape(-1, 3)
    size = float(np.linalg.norm(problem.b))
    assert certify(problem, blocks.unpack(packed.ravel())).residual * size == pytest.approx(error, rel=1e-6)
    assert error <= np.nanmin(history) + 1e-15
