"""The best plan by all combinations of contacts: the reference that other methods are judged by.

What it solves: the program of `taction.planning.program`,

    min ½ wᵀ H w + gᵀ w    with    0 ≤ λ ⊥ η = S w + s ≥ 0,   A w ≤ b.

Notation: a *mode* of a step says of each pair whether it is open (λ = 0 ≤ η) or closed (λ ≥ 0 = η), and on
the level of velocities of each contact whether it is away (φ ≥ 0, all its λ = 0, its η free) or near (φ ≤ 0,
its pairs open or closed). A mode of the horizon is one of every step.

Method: depth first over the steps. In a mode of the horizon the program is a convex quadratic program, solved
exactly (`solve_mode`); the least of them all is the answer. After each step the modes so far are tried with
all rows that know no later step: if no inputs and impulses obey them, none of the modes that begin so has a
plan, and they are left out. Nothing is left out for what it costs, so that no bound can be wrong.

Departures: none. φ = 0 counts as away and as near, since the two meet there.

Cost: a program per mode, and one per beginning that is tried; up to 2^(N l) of them for l pairs. More than
`LARGEST` modes are refused.

References: [BemporadMorari1999] for such programs; [CottlePangStone1992] for complementary pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.planner import Planner
from taction.planning.problem import Outcome, Plan, PlanningProblem
from taction.planning.program import Condenser, ModeAnswer, Program, solve_mode
from taction.planning.system import ContactSystem
from taction.solvers.quadratic_program import ProgramScratch, Status

LARGEST = 2**22  # modes of a horizon


class StepMode(NamedTuple):
    """A mode of one step."""

    is_open: np.ndarray  # (l,) pairs
    is_away: np.ndarray  # (k,) contacts with a guard


def count_modes(system: ContactSystem) -> int:
    """How many modes a step has."""
    if system.guard is None:
        return 2 ** system.sizes[2]
    owner = system.guard.contact
    total = 2 ** int((owner < 0).sum())
    for i in range(len(system.guard.g)):
        total *= 1 + 2 ** int((owner == i).sum())
    return total


def step_modes(system: ContactSystem) -> list[StepMode]:
    """All modes of a step."""
    l = system.sizes[2]
    owner = np.full(l, -1) if system.guard is None else system.guard.contact
    k = 0 if system.guard is None else len(system.guard.g)
    out = []
    for away in product((True, False), repeat=k):
        is_away = np.array(away, dtype=bool)
        decides = (owner < 0) | ~is_away[owner] if k else np.ones(l, dtype=bool)
        for choice in product((True, False), repeat=int(decides.sum())):
            is_open = np.ones(l, dtype=bool)
            is_open[decides] = choice
            out.append(StepMode(is_open, is_away))
    return out


class Enumeration(Planner):
    """All modes, one by one.

    Args:
        problem: what is asked.
        time_limit: after which the best plan so far is given [s]; without a limit by default.

    Raises:
        BadInput: more than `LARGEST` modes.
    """

    name: ClassVar[str] = "enumeration"

    def __init__(self, problem: PlanningProblem, *, time_limit: float = math.inf) -> None:
        super().__init__(problem, time_limit=time_limit)
        steps = [problem.system(k) for k in range(problem.horizon)]
        total = math.prod(count_modes(s) for s in steps)
        if total > LARGEST:
            raise BadInput(f"enumeration: {total} modes, more than {LARGEST}; a shorter horizon has fewer")
        self.condenser = Condenser(problem)
        self.modes = [step_modes(s) for s in steps]
        self.guards = np.cumsum([0] + [0 if s.guard is None else len(s.guard.g) for s in steps])

    def _find(self, x0: Array, target: Array, rest: Array, warm: Plan | None) -> Plan:
        search = _Search(self, self.condenser.program(x0, target, rest))
        is_whole = search.run(time.perf_counter() + self.time_limit)
        if search.best is None:
            if not is_whole:
                return Plan(Outcome.TIME_LIMIT, self.name, 0.0, effort=search.count,
                            message="no mode with a plan was found in time")  # fmt: skip
            if search.unclear:
                return Plan(Outcome.FAILED, self.name, 0.0, effort=search.count, message=search.doubt())
            return Plan(Outcome.INFEASIBLE, self.name, 0.0, effort=search.count,
                        message="no mode has a plan")  # fmt: skip
        motion = self.condenser.motion(x0, search.best.w)
        value = self.problem.objective(motion.x, motion.u, target, rest)
        is_best = is_whole and not search.unclear
        return Plan(
            Outcome.OPTIMAL if is_best else Outcome.FEASIBLE, self.name, 0.0, motion, value,
            value if is_best else -np.inf, search.count,
            "" if is_best else search.doubt() if search.unclear else "the time limit was reached",
        )  # fmt: skip


class _Search:
    """One pass over all modes."""

    def __init__(self, planner: Enumeration, program: Program) -> None:
        self.program, self.modes = program, planner.modes
        self.beginnings = [
            _beginning(program, int(planner.condenser.first[k + 1]), k, int(planner.guards[k + 1]))
            for k in range(len(planner.modes) - 1)
        ]
        self.best: ModeAnswer | None = None
        self.count, self.unclear = 0, 0
        self.memory: dict[tuple[int, int], ProgramScratch] = {}

    def run(self, end: float) -> bool:
        """Visit all modes; returns whether it was done in time."""
        for is_open, is_away in self._whole(0, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)):
            if is_open is not None:
                self._leaf(is_open, is_away)
            if time.perf_counter() > end:
                return False
        return True

    def _whole(self, k: int, is_open: np.ndarray, is_away: np.ndarray) -> Iterator[tuple]:
        """Modes of the horizon that begin so; (None, None) now and then, to look at the clock."""
        for mode in self.modes[k]:
            opens, aways = np.append(is_open, mode.is_open), np.append(is_away, mode.is_away)
            if k == len(self.modes) - 1:
                yield opens, aways
                continue
            yield None, None
            self.count += 1
            if solve_mode(self.beginnings[k], opens, aways, self.memory).status is not Status.INFEASIBLE:
                yield from self._whole(k + 1, opens, aways)

    def _leaf(self, is_open: np.ndarray, is_away: np.ndarray) -> None:
        self.count += 1
        answer = solve_mode(self.program, is_open, is_away, self.memory)
        if not answer.is_found:
            self.unclear += answer.status is not Status.INFEASIBLE
        elif self.best is None or answer.value < self.best.value:
            self.best = answer

    def doubt(self) -> str:
        """What is not known."""
        return f"{self.unclear} modes could not be decided"


def _beginning(program: Program, size: int, k: int, guards: int) -> Program:
    """What steps 0 … k have to obey by themselves: the point next to zero is asked for."""
    pairs = program.step <= k
    rows = ~program.A[:, size:].any(axis=1)
    return Program(
        H=np.eye(size), g=np.zeros(size), constant=0.0, pairs=program.pairs[pairs],
        S=program.S[pairs, :size], s=program.s[pairs], A=program.A[rows, :size], b=program.b[rows],
        G=program.G[:guards, :size], gamma=program.gamma[:guards],
        guard=program.guard[pairs], step=program.step[pairs],
    )  # fmt: skip
