"""Contact systems that are written down, and a brute force that shares no code with the planners.

`pushers`: a puck between two pushers on a line, gaps on the level of positions. `block`: a block on the
ground, one contact with a friction pyramid. `bouncer`: a puck between two walls, on the level of velocities.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog, nnls

from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.planning.system import ContactSystem, Guard

STEP = 0.05  # [s]


def pushers(h=STEP):
    """q = (puck, right pusher from the right, left pusher), masses 1 kg, inputs are forces on the pushers."""
    J, offset = np.array([[-1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]), 0.1
    far, near = 1.0, -1.0
    force = h * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    A = np.block([[np.eye(3), h * np.eye(3)], [np.zeros((3, 3)), np.eye(3)]])
    return ContactSystem(
        A, np.vstack([h * force, force]), np.vstack([h * J.T, J.T]), np.zeros(6),
        np.hstack([J, h * J]), h * J @ force, h * J @ J.T, np.array([far - offset, -near - offset]), h,
        contacts=("right", "left"), inputs=("right", "left"),
    )  # fmt: skip


def pushers_problem(horizon, systems=None):
    return PlanningProblem(
        pushers() if systems is None else systems,
        horizon,
        Cost(np.diag([100.0, 0.1, 0.1, 10.0, 0.1, 0.1]), 1e-3 * np.eye(2)),
        Polytope.box([-2.0] * 3 + [-5.0] * 3, [2.0] * 3 + [5.0] * 3),
        Polytope.box([-10.0] * 2, [10.0] * 2),
    )


def pushers_start(rng):
    """Puck and pushers apart, all moving."""
    puck = rng.uniform(-0.5, 0.5)
    right, left = rng.uniform(0.01, 0.4, 2)
    return np.concatenate([[puck, 0.9 - puck - right, puck + 0.9 - left], rng.uniform(-1.0, 1.0, 3)])


def block(friction=0.5, h=STEP):
    """x = (along, up, their speeds), 1 kg, inputs are forces along and up; λ = (press, two pulls, speed)."""
    force = h * np.eye(2)
    weight = h * np.array([0.0, -9.81])
    J = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])  # press, pull, pull back
    C = np.hstack([J.T, np.zeros((2, 1))])
    A = np.block([[np.eye(2), h * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
    D, E, F, c = np.zeros((4, 4)), np.zeros((4, 2)), np.zeros((4, 4)), np.zeros(4)
    D[0, 1] = 1.0 / h
    D[:3, 2:], E[:3], F[:3], c[:3] = J, J @ force, J @ C, J @ weight
    F[1:3, 3] = 1.0
    F[3, :3] = friction, -1.0, -1.0
    return ContactSystem(
        A, np.vstack([h * force, force]), np.vstack([h * C, C]), np.concatenate([h * weight, weight]),
        D, E, F, c, h, contacts=("ground",),
    )  # fmt: skip


def block_problem(horizon):
    return PlanningProblem(
        block(),
        horizon,
        Cost(np.diag([50.0, 1.0, 1.0, 0.1]), 1e-3 * np.eye(2)),
        Polytope.box([-1.0, -0.1, -3.0, -3.0], [1.0, 1.0, 3.0, 3.0]),
        Polytope.box([-20.0, -5.0], [20.0, 15.0]),
    )


def bouncer(h=STEP):
    """x = (place, speed) of 1 kg between walls at ±1, one force; walls act if the free motion is in them."""
    J = np.array([[1.0], [-1.0]])  # left wall, right wall
    return ContactSystem(
        np.array([[1.0, h], [0.0, 1.0]]), np.array([[h * h], [h]]), np.vstack([h * J.T, J.T]), np.zeros(2),
        np.hstack([np.zeros((2, 1)), J]), h * J, J @ J.T, np.zeros(2), h, contacts=("left", "right"),
        guard=Guard(np.hstack([J, h * J]), h * h * J, np.ones(2), np.array([0, 1])),
    )  # fmt: skip


def bouncer_problem(horizon):
    return PlanningProblem(
        bouncer(),
        horizon,
        Cost(np.diag([10.0, 1.0]), 1e-2 * np.eye(1)),
        Polytope.box([-1.5, -6.0], [1.5, 6.0]),
        Polytope.box([-10.0], [10.0]),
    )


def brute_force(problem, x0, target):
    """The least cost over all modes: rows by unit unknowns, each mode a least-distance program by NNLS."""
    system, N = problem.system(0), problem.horizon
    n, m, l = system.sizes
    guard = system.guard

    def run(w):
        x, states, pairs, gaps = np.asarray(x0, float), [], [], []
        for part in w.reshape(N, m + l):
            u, z = part[:m], part[m:]
            pairs.append(system.D @ x + system.E @ u + system.F @ z + system.c)
            if guard is not None:
                gaps.append(guard.G @ x + guard.H @ u + guard.g)
            x = system.A @ x + system.B @ u + system.C @ z + system.d
            states.append(x)
        return tuple(np.array(part) for part in (states, pairs, gaps))

    size = N * (m + l)
    zero = run(np.zeros(size))
    maps = [run(e) for e in np.eye(size)]
    X, S, G = (
        (np.array([one[i] - zero[i] for one in maps]).reshape(size, -1).T, zero[i].ravel()) for i in range(3)
    )
    weights = np.linalg.cholesky(problem.cost.states + 1e-14 * np.eye(n)).T
    is_input = np.tile(np.arange(m + l) < m, N)
    big = np.kron(np.eye(N), weights)
    square = np.kron(np.eye(N), np.linalg.cholesky(problem.cost.inputs).T)
    small = 1e-5 * np.eye(size)[~is_input]
    residual = np.vstack([big @ X[0], square @ np.eye(size)[is_input], small])
    shift = np.concatenate([big @ (X[1] - np.tile(target, N)), np.zeros(N * m + len(small))])
    Q, R = np.linalg.qr(residual)
    A = np.vstack([-np.kron(np.eye(N), problem.states.A) @ X[0],
                   -np.kron(np.eye(N), problem.inputs.A) @ np.eye(size)[is_input]])  # fmt: skip
    b = -np.concatenate([np.tile(problem.states.b, N) - np.kron(np.eye(N), problem.states.A) @ X[1],
                         np.tile(problem.inputs.b, N)])  # fmt: skip
    unit = np.eye(size)[~is_input]
    best = np.inf
    for choice in product((0, 1, 2) if guard is not None else (0, 1), repeat=N * l):
        rows, least, equal, value = [A], [b], [], []
        for i, mode in enumerate(choice):  # open, closed, away
            equal.append(unit[i] if mode != 1 else S[0][i])
            value.append(0.0 if mode != 1 else -S[1][i])
            if mode < 2:
                rows.append((S[0] if mode == 0 else unit)[[i]])
                least.append(np.array([-S[1][i] if mode == 0 else 0.0]))
            if guard is not None:  # one guard per pair here
                sign = 1.0 if mode == 2 else -1.0
                rows.append(sign * G[0][[i]])
                least.append(np.array([-sign * G[1][i]]))
        rows, least, equal, value = np.vstack(rows), np.concatenate(least), np.array(equal), np.array(value)
        possible = linprog(
            np.zeros(size), A_ub=-rows, b_ub=-least, A_eq=equal, b_eq=value, bounds=(None, None)
        )
        if possible.status != 0:
            continue
        # w = w₀ + K p obeys the equations; least |R K p + …| with rows (K p ≥ …)
        w0 = np.linalg.lstsq(equal, value, rcond=None)[0]
        _, s, V = np.linalg.svd(equal)
        K = V[int((s > 1e-9 * s[0]).sum()) :].T
        q, r = np.linalg.qr(R @ K)
        centre = -q.T @ (R @ w0 + Q.T @ shift)
        p = least_distance(np.linalg.solve(r.T, (rows @ K).T).T, least - rows @ w0, centre)
        w = w0 + K @ np.linalg.solve(r, p)
        x, u = run(w)[0], w[is_input]
        e = x - target
        start = np.asarray(x0) - target
        cost = start @ problem.cost.states @ start + np.einsum("ki,ij,kj", e, problem.cost.states, e)
        best = min(best, cost + u @ np.kron(np.eye(N), problem.cost.inputs) @ u)
    return best


def least_distance(G, h, centre):
    """The point p with G p ≥ h nearest to a centre, by Lawson and Hanson's reduction to NNLS."""
    kept = np.abs(G).max(axis=1) > 1e-10  # the others follow from the equations
    G, h = G[kept], h[kept] - G[kept] @ centre
    E = np.vstack([G.T, h])
    f = np.zeros(len(E))
    f[-1] = 1.0
    y, _ = nnls(E, f, maxiter=100 * len(h))
    r = E @ y - f
    return centre - r[:-1] / r[-1]
