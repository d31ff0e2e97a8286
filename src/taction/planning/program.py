"""A planning problem as a quadratic program with complementarity: states eliminated, unknowns u and λ.

What it makes: with w = (u₀, λ₀, u₁, λ₁, …) all states are affine in w, x = Φ x₀ + Γ w + ξ, and the problem is

    min ½ wᵀ H w + gᵀ w + const
    with  0 ≤ λ = w_Λ  ⊥  η = S w + s ≥ 0,      A w ≤ b,                                                (1)

and, on the level of velocities, free gaps φ = G w + γ: where φ_i > 0 all λ of that contact in that step
vanish and their η count for nothing, elsewhere φ_i ≤ 0.

H, S, A and G do not depend on where the plan starts or leads to, so that `Condenser` makes them once.

Departures: impulses that cost nothing, such as those of two fingers that press harder, make H singular. They
cost `LEAST` of the mean diagonal of H: of equal plans the one with the least impulses is meant. Objectives
that are reported are those of the problem, without this.

Cost: O(N² n (m + l)) once; a product with a matrix per start.

References: [Frison2016] for condensing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction.planning.problem import Motion, PlanningProblem
from taction.solvers.quadratic_program import DEPENDENT, ProgramScratch, Status, solve_program
from taction.solvers.quadratic_program import Program as QuadraticProgram

LEAST = 1e-8  # what impulses cost, of the mean diagonal of H
BLANK = 1e-13  # relative: a row whose entries are below has no unknowns


class Program(NamedTuple):
    """Program (1)."""

    H: Array  # (n, n)
    g: Array  # (n,)
    constant: float
    pairs: IntArray  # (p,) where the λ are among the unknowns
    S: Array  # (p, n)
    s: Array  # (p,)
    A: Array  # (r, n)
    b: Array  # (r,)
    G: Array  # (k, n)
    gamma: Array  # (k,)
    guard: IntArray  # (p,) free gap that decides on each pair, −1 where none does
    step: IntArray  # (p,) of each pair

    def value(self, w: Array) -> float:
        """What unknowns (n,) cost, least impulses included."""
        return float(0.5 * w @ self.H @ w + self.g @ w) + self.constant


class ModeAnswer(NamedTuple):
    """The best unknowns of a mode."""

    w: Array  # (n,)
    value: float
    multipliers: Array  # of the pairs' equations (p,): above zero, leaving λ (or η) = 0 would cost
    status: Status

    @property
    def is_found(self) -> bool:
        """Whether there is an answer."""
        return self.status is Status.SOLVED


class Condenser:
    """Programs of one planning problem.

    Args:
        problem: what is asked.
    """

    def __init__(self, problem: PlanningProblem) -> None:
        self.problem = problem
        n, m, _ = problem.system(0).sizes
        N = problem.horizon
        widths = [m + problem.system(k).sizes[2] for k in range(N)]
        self.first = np.concatenate([[0], np.cumsum(widths)]).astype(int)
        size = int(self.first[-1])
        self.gamma = np.zeros((N + 1, n, size))  # states on unknowns
        self.phi, self.xi = np.zeros((N + 1, n, n)), np.zeros((N + 1, n))
        self.phi[0] = np.eye(n)
        self.inputs = np.concatenate([self.first[k] + np.arange(m) for k in range(N)])
        for k in range(N):
            s = problem.system(k)
            u, z = self.first[k] + np.arange(m), np.arange(self.first[k] + m, self.first[k + 1])
            self.gamma[k + 1] = s.A @ self.gamma[k]
            self.gamma[k + 1][:, u] += s.B
            self.gamma[k + 1][:, z] += s.C
            self.phi[k + 1], self.xi[k + 1] = s.A @ self.phi[k], s.A @ self.xi[k] + s.d
        self._pairs()
        self._constraints()
        self._cost()

    def _pairs(self) -> None:
        """S, G and what their constants are made of; which unknowns are paired."""
        S, Sx, s0, pairs, guards, step = [], [], [], [], [], []
        G, Gx, g0 = [], [], []
        count = 0
        for k in range(self.problem.horizon):
            y = self.problem.system(k)
            _, m, l = y.sizes
            u, z = self.first[k] + np.arange(m), np.arange(self.first[k] + m, self.first[k + 1])
            rows = y.D @ self.gamma[k]
            rows[:, u] += y.E
            rows[:, z] += y.F
            S.append(rows)
            Sx.append(y.D @ self.phi[k])
            s0.append(y.D @ self.xi[k] + y.c)
            pairs.append(z)
            step.append(np.full(l, k))
            if y.guard is None:
                guards.append(np.full(l, -1))
                continue
            rows = y.guard.G @ self.gamma[k]
            rows[:, u] += y.guard.H
            G.append(rows)
            Gx.append(y.guard.G @ self.phi[k])
            g0.append(y.guard.G @ self.xi[k] + y.guard.g)
            guards.append(np.where(y.guard.contact < 0, -1, count + y.guard.contact))
            count += len(y.guard.g)
        n, size = self.phi.shape[1], int(self.first[-1])
        self.S, self._Sx, self._s0 = np.vstack(S), np.vstack(Sx), np.concatenate(s0)
        self.G = np.vstack([np.zeros((0, size)), *G])
        self._Gx, self._g0 = np.vstack([np.zeros((0, n)), *Gx]), np.concatenate([np.zeros(0), *g0])
        self.pairs, self.step = np.concatenate(pairs).astype(np.int64), np.concatenate(step).astype(np.int64)
        self.guard = np.concatenate(guards).astype(np.int64)

    def _constraints(self) -> None:
        """A and what b is made of."""
        N, X, U = self.problem.horizon, self.problem.states, self.problem.inputs
        assert X is not None and U is not None
        inputs = np.zeros((N * len(U.b), int(self.first[-1])))
        m = self.problem.system(0).sizes[1]
        for k in range(N):
            inputs[k * len(U.b) : (k + 1) * len(U.b), self.first[k] : self.first[k] + m] = U.A
        self.A = np.vstack([inputs, *(X.A @ self.gamma[k + 1] for k in range(N))])
        self._Ax = np.vstack(
            [np.zeros((len(inputs), self.phi.shape[1])), *(X.A @ self.phi[k + 1] for k in range(N))]
        )
        self._b0 = np.concatenate([np.tile(U.b, N), *(X.b - X.A @ self.xi[k + 1] for k in range(N))])

    def _cost(self) -> None:
        """H."""
        cost, N = self.problem.cost, self.problem.horizon
        assert cost.final is not None
        self._Q = np.array([cost.states] * N + [cost.final])
        H = 2.0 * np.einsum("kiw,kij,kjz->wz", self.gamma, self._Q, self.gamma, optimize=True)
        m = len(cost.inputs)
        for k in range(N):
            at = slice(self.first[k], self.first[k] + m)
            H[at, at] += 2.0 * cost.inputs
        H = 0.5 * (H + H.T)
        H[self.pairs, self.pairs] += LEAST * float(np.diag(H).mean())
        self.H = H

    def program(self, x0: ArrayLike, target: Array, rest: Array) -> Program:
        """The program from a state (n,) to targets x̄ (N + 1, n) with inputs about ū (N, m)."""
        x0 = as_float(x0, (self.phi.shape[1],), "x0")
        miss = self.phi @ x0 + self.xi - target
        pull = np.einsum("kij,kj->ki", self._Q, miss)
        g = 2.0 * np.einsum("kiw,ki->w", self.gamma, pull)
        push = rest @ self.problem.cost.inputs
        g[self.inputs] -= 2.0 * push.ravel()
        return Program(
            H=self.H, g=g, constant=float((miss * pull).sum() + (rest * push).sum()), pairs=self.pairs,
            S=self.S, s=self._Sx @ x0 + self._s0, A=self.A, b=self._b0 - self._Ax @ x0,
            G=self.G, gamma=self._Gx @ x0 + self._g0, guard=self.guard, step=self.step,
        )  # fmt: skip

    def motion(self, x0: Array, w: Array) -> Motion:
        """The motion of unknowns (n,) from a state (n,), step by step."""
        x, u, contact, slack = [np.asarray(x0, dtype=float)], [], [], []
        for k in range(self.problem.horizon):
            y = self.problem.system(k)
            m = y.sizes[1]
            part = w[self.first[k] : self.first[k + 1]]
            u.append(part[:m])
            contact.append(part[m:])
            slack.append(y.D @ x[-1] + y.E @ part[:m] + y.F @ part[m:] + y.c)
            x.append(y.A @ x[-1] + y.B @ part[:m] + y.C @ part[m:] + y.d)
        return Motion(np.array(x), np.array(u), tuple(contact), tuple(slack))


def solve_mode(
    program: Program,
    is_open: np.ndarray,
    is_away: np.ndarray | None = None,
    memory: dict[tuple[int, int], ProgramScratch] | None = None,
) -> ModeAnswer:
    """The best unknowns of a mode: λ = 0 ≤ η where a pair is open (p,), else λ ≥ 0 = η.

    is_away (k,): contacts whose free gap is not closed, λ = 0 whatever η; without guards there are none.
    memory: of quadratic programs by their sizes, for loops that solve many modes; one thread at a time.

    Contact variables that vanish are left out of the unknowns. Rows without unknowns are judged here.
    """
    counts, sign = np.ones(len(program.pairs), dtype=bool), np.zeros(0)
    if len(program.gamma):
        assert is_away is not None
        counts = (program.guard < 0) | ~is_away[program.guard]
        sign = np.where(is_away, 1.0, -1.0)
    shut = is_open | ~counts
    held = np.zeros(len(program.g), dtype=bool)
    held[program.pairs[shut]] = True
    acts, slips = np.flatnonzero(~shut), np.flatnonzero(shut & counts)
    e = len(acts)
    unit = np.zeros((e, len(program.g)))
    unit[np.arange(e), program.pairs[acts]] = 1.0
    rows = np.vstack([program.S[acts], program.S[slips], unit, -program.A, sign[:, None] * program.G])
    least = np.concatenate(
        [-program.s[acts], -program.s[slips], np.zeros(e), -program.b, -sign * program.gamma]
    )
    left = np.ascontiguousarray(rows[:, ~held])
    is_constant = np.abs(left).max(axis=1, initial=0.0) <= BLANK * np.abs(rows).max(axis=1, initial=0.0)
    missed = np.where(np.arange(len(least)) < e, np.abs(least), least)[is_constant]
    w, multipliers = np.zeros(len(program.g)), np.zeros(len(program.pairs))
    if (missed > DEPENDENT * (1.0 + np.abs(missed))).any():
        return ModeAnswer(w, np.inf, multipliers, Status.INFEASIBLE)
    kept = np.flatnonzero(~is_constant)
    one = QuadraticProgram(H=program.H[np.ix_(~held, ~held)], g=program.g[~held], A=left[kept], b=least[kept])
    size = len(one.g), len(kept)
    memory = {} if memory is None else memory
    if size not in memory:
        memory[size] = ProgramScratch.allocate(n=size[0], m=size[1])
    scratch = memory[size]
    code, active = solve_program(one, int((kept < e).sum()), scratch)
    w[~held] = scratch.x
    force = np.zeros(len(least))
    force[kept[scratch.active[:active]]] = scratch.u[:active]
    multipliers[acts] = force[:e]
    is_active = force != 0.0
    slope = program.H @ w + program.g - force[is_active] @ rows[is_active]
    multipliers[shut] = slope[program.pairs[shut]]
    return ModeAnswer(w, program.value(w), multipliers, Status(code))
