"""Plans in milliseconds: consensus between cost and contacts, then the best plan of nearby contact modes.

What it looks for: a good plan of a planning problem, for use in a loop; nothing is proved about others.

Method
1. Consensus (`taction.solvers.consensus`) gives unknowns that nearly obey the contacts, and with them a
   *mode*: which λ and which η of each pair is zero, and which free gaps are open.
2. The best plan of that mode is a quadratic program (`taction.planning.modes`). If it has none, the inputs
   are followed through the system step by step, and the mode is what happens. The same from the mode of the
   plan before, moved on, and from what happens under the inputs ū; the cheapest wins.
3. Modes nearby are tried while they are cheaper (`taction.solvers.mode_search`).

Departures: the papers take the inputs of step 1, which obey the contacts only in the limit. Here every plan
is exact.

Cost: for ten steps of the pushers see the benchmark notes.

References: [AydinogluWeiHuangPosa2024]; [BuiPosa2025].
"""

from __future__ import annotations

import math
import time

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput, IntegrationError
from taction.planning.modes import best_of_mode
from taction.planning.planner import Planner
from taction.planning.problem import Motion, Outcome, Plan, PlanningProblem
from taction.planning.program import Condenser, Program
from taction.solvers.consensus import ConsensusProgram, ConsensusScratch, seek_consensus
from taction.solvers.mode_program import ModeProgram
from taction.solvers.mode_search import descend, make_search, search_modes

LEVELS = 5
GROWTH = 5.0
FIRST = 1e-3  # penalty of the first level, relative to what the cost has
TRIES = 60  # programs that step 3 may take, at most
AT_ONCE = 10  # of these, between two looks at the clock


class Consensus(Planner):
    """Planning by consensus, for real-time use.

    Args:
        problem: what is asked.
        time_limit: no further modes are tried after it [s].
        penalty: of the first level, relative to the curvature of the cost.
        levels: how often it is raised.
        tries: programs that step 3 may take.
    """

    name = "admm"

    def __init__(
        self,
        problem: PlanningProblem,
        *,
        time_limit: float = math.inf,
        penalty: float = FIRST,
        levels: int = LEVELS,
        tries: int = TRIES,
    ) -> None:
        super().__init__(problem, time_limit=time_limit)
        if not (penalty > 0.0 and math.isfinite(penalty)):
            raise BadInput(f"penalty: must be positive and finite, got {penalty}")
        if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
            raise BadInput(f"levels: must be a whole number of at least 1, got {levels!r}")
        if isinstance(tries, bool) or not isinstance(tries, int) or tries < 0:
            raise BadInput(f"tries: must be a whole number, not negative, got {tries!r}")
        self.tries = tries
        self.condenser = c = Condenser(problem)
        p, n = len(c.pairs), len(c.H)
        unit = np.zeros((p, n))
        unit[np.arange(p), c.pairs] = 1.0
        self.K = np.vstack([unit, c.S, c.G, c.A])
        own = np.abs(c.S[np.arange(p), c.pairs])
        size = np.where(own > 0.0, own, 1.0)  # of η per λ
        length = np.linalg.norm(np.vstack([c.G, c.A]), axis=1)
        rest = 1.0 / np.where(length > 0.0, length, 1.0) ** 2
        self.weight = np.concatenate([size, 1.0 / size, rest])
        square = self.K.T @ (self.weight[:, None] * self.K)
        scale = float(np.trace(c.H)) / max(float(np.trace(square)), 1e-300)
        self.penalties: Array = penalty * scale * GROWTH ** np.arange(levels, dtype=np.float64)
        self.P = np.array([np.linalg.inv(c.H + rho * square) for rho in self.penalties])
        self.ws = ConsensusScratch.allocate(n=n, t=len(self.K), c=len(c.G))
        self.search = make_search(n, p, len(c.G), len(c.A), len(c.inputs))
        counts = set(np.bincount(c.step, minlength=problem.horizon).tolist())
        self.width = counts.pop() if len(counts) == 1 else 0  # pairs of each step, if all have as many

    def _find(self, x0: Array, target: Array, rest: Array, warm: Plan | None) -> Plan:
        begin = time.perf_counter()
        program = self.condenser.program(x0, target, rest)
        search = _Search(self, program, begin + self.time_limit)
        w = self._consensus(program)
        if not search.try_mode(*self._mode(program)):
            search.try_mode(*self._followed(program, x0, w))
        if warm is not None and warm.motion is not None:
            mode = self._mode_of(program, warm.motion)
            if len(mode[0]) != len(program.pairs) or not search.try_mode(*mode):
                search.try_mode(*self._followed(program, x0, self._inputs(warm.motion.u)))
        if rest.any() or search.best is None:
            search.try_mode(*self._followed(program, x0, self._inputs(rest)))
        search.improve(self.tries)
        if search.best is None:
            return Plan(Outcome.FAILED, self.name, 0.0, effort=search.programs, message="no mode obeys all")
        motion = self.condenser.motion(x0, search.best)
        cost = self.problem.objective(motion.x, motion.u, target, rest)
        return Plan(Outcome.FEASIBLE, self.name, 0.0, motion, cost, effort=search.programs)

    def _consensus(self, program: Program) -> Array:
        """Step 1; unknowns (n,)."""
        ws = self.ws
        given = ConsensusProgram(
            g=program.g, P=self.P, penalty=self.penalties, K=self.K,
            k=np.concatenate([np.zeros(len(program.pairs)), program.s, program.gamma, -program.b]),
            weight=self.weight, guard=program.guard,
        )  # fmt: skip
        ws.y[:], ws.z[:] = 0.0, 0.0
        seek_consensus(given, ws)
        return ws.w.copy()

    def _mode(self, program: Program) -> tuple[np.ndarray, np.ndarray]:
        """Which pairs (p,) and contacts (c,) are open where consensus ended."""
        p, c, ws = len(program.pairs), len(program.gamma), self.ws
        return ws.t[:p] <= ws.t[p : 2 * p], ws.share[c:] < ws.share[:c]

    def _mode_of(self, program: Program, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """The mode of a motion nearby."""
        is_open = np.concatenate([a <= b for a, b in zip(motion.contact, motion.slack, strict=True)])
        away = [
            y.guard.G @ motion.x[k] + y.guard.H @ motion.u[k] + y.guard.g > 0.0
            for k in range(self.problem.horizon)
            if (y := self.problem.system(k)).guard is not None
        ]
        return is_open, np.concatenate([np.zeros(0, bool), *away])

    def _inputs(self, u: Array) -> Array:
        """Unknowns (n,) with these inputs (N, m)."""
        w = np.zeros(len(self.condenser.H))
        w[self.condenser.inputs] = u.ravel()
        return w

    def _followed(self, program: Program, x0: Array, w: Array) -> tuple[np.ndarray, np.ndarray]:
        """The mode of what happens under the inputs of w (n,)."""
        problem, x, is_open, is_away = self.problem, x0, [], []
        u = w[self.condenser.inputs].reshape(problem.horizon, -1)
        for k in range(problem.horizon):
            y = problem.system(k)
            try:
                after, z = y.step(x, u[k])
            except IntegrationError:
                return np.ones(len(program.pairs), bool), np.ones(len(program.gamma), bool)
            is_open.append(z <= y.D @ x + y.E @ u[k] + y.F @ z + y.c)
            if y.guard is not None:
                is_away.append(y.guard.G @ x + y.guard.H @ u[k] + y.guard.g > 0.0)
            x = after
        return np.concatenate(is_open), np.concatenate([np.zeros(0, bool), *is_away])


class _Search:
    """Steps 2 and 3 of one plan: modes that are tried, the best kept in the planner's memory."""

    def __init__(self, planner: Consensus, program: Program, end: float) -> None:
        self.program, self.end, self.programs = program, end, 0
        self.ws, self.width = planner.search, planner.width
        self.inputs = planner.condenser.inputs
        self.given = ModeProgram(
            H=program.H, g=program.g, S=program.S, s=program.s, A=program.A, b=program.b, G=program.G,
            gamma=program.gamma, pairs=program.pairs, inputs=self.inputs, guard=program.guard,
        )  # fmt: skip
        self.ws.value[0] = math.inf
        self.ws.place[:] = 0

    @property
    def best(self) -> Array | None:
        """The best unknowns so far (n,)."""
        return self.ws.w.copy() if self.ws.value[0] < math.inf else None

    def try_mode(self, is_open: np.ndarray, is_away: np.ndarray) -> bool:
        """The best plan near a mode; returns whether there is one."""
        ws, before = self.ws, self.programs
        ws.mode.is_open[:], ws.mode.is_away[:] = is_open, is_away
        solved, is_better = descend(self.given, math.inf, ws)
        self.programs += int(solved)
        if is_better or solved > 1:
            return True
        return self._whole(is_open, is_away) if self.programs == before + 1 else False

    def _whole(self, is_open: np.ndarray, is_away: np.ndarray) -> bool:
        """The same where λ of closed pairs are not unique, which the kernels leave."""
        self.programs += 1
        answer, ws = best_of_mode(self.program, self.inputs, is_open, is_away), self.ws
        value = answer.value - self.program.constant
        if answer.is_found and value < ws.value[0]:
            ws.w[:], ws.value[0] = answer.w, value
            ws.is_open[:], ws.is_away[:] = is_open, is_away
        return answer.is_found

    def improve(self, tries: int) -> None:
        """Step 3, with so many programs at most."""
        is_done = self.best is None
        while not is_done and tries > 0 and time.perf_counter() < self.end:
            solved, is_done = search_modes(self.given, self.width, min(tries, AT_ONCE), self.ws)
            self.programs += int(solved)
            tries -= int(solved)
