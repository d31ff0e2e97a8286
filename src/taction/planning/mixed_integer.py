"""The best plan by branch and bound: binaries say which contacts act, bounds of theirs switch them.

What it solves: the program of `taction.planning.program` as the mixed-integer program of
`taction.planning.mixed_program`, with the bounds of `taction.planning.big_m`.

Method
1. Bounds M of all contact variables and slacks, by linear programs, once per system. A start outside X has
   bounds of its own for the first step.
2. A plan by consensus (`taction.planning.consensus`), and one nearby if there is one, are tried with their
   own modes and with these one step on: the best of them is a first plan.
3. Branch and bound, by DAQP (`taction.planning.mixed_integer_daqp`) or SCIP
   (`taction.planning.mixed_integer_scip`), to a relative gap.
4. The modes it ends with are solved once more without M, so that no binary that is nearly whole and no
   tolerance of theirs is in the plan: λ and η of a pair are complementary to rounding.

The bound of a plan is that of branch and bound, less what the least impulses of the program cost. It is
proved up to the tolerances of the solver.

An M that was given is believed. If a λ or η of the plan reaches it, the plan is `Outcome.ON_BOUND`. A plan
that stays below is the best of those below M: others may have been cut off, which no answer can show. So the
computed bounds are better where X and U allow them.

>>> import numpy as np
>>> from taction.planning.mixed_integer import MixedInteger
>>> from taction.planning.problem import Cost, PlanningProblem, Polytope
>>> from taction.planning.system import ContactSystem
>>> one = np.eye(1)
>>> slide = ContactSystem(one, one, one, [0.0], one, one, one, [0.0], 0.1)  # x⁺ = max(x + u, 0)
>>> box = Polytope.box([-2.0], [2.0])
>>> plan = MixedInteger(PlanningProblem(slide, 2, Cost(one, one), box, box)).solve([1.0], target=[-1.0])
>>> plan.outcome.value, round(plan.objective, 6), plan.u.ravel().round(6).tolist()
('optimal', 7.0, [-1.0, 0.0])

Departures: none from the method.

Cost: milliseconds with DAQP for 20 binaries of two pushers over 10 steps; seconds with SCIP.

References: [BemporadMorari1999]; [MarcucciTedrake2021] for such programs in control.
"""

from __future__ import annotations

import math
import time
from itertools import product
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction._core.names import instead
from taction.planning import mixed_integer_daqp, mixed_integer_scip
from taction.planning.big_m import Bounds, compute_bounds, given_bounds, pair_name
from taction.planning.consensus import Consensus
from taction.planning.mixed_program import Branched, Ending, Modes, as_modes, as_point, mixed_program
from taction.planning.planner import Planner
from taction.planning.problem import Motion, Outcome, Plan, PlanningProblem
from taction.planning.program import Condenser, ModeAnswer, Program, solve_mode
from taction.planning.system import ContactSystem

DAQP, SCIP = "daqp", "scip"
BRANCH = {DAQP: mixed_integer_daqp.branch, SCIP: mixed_integer_scip.branch}
REACHED = 1e-6  # relative: a bound that is reached
ACCURACY = 1e-6  # relative: to which solvers know values
WEAK = 1e-4  # a contact variable, slack or gap that may be zero [N s, m/s or m]


class MixedInteger(Planner):
    """Branch and bound.

    Args:
        problem: what is asked.
        solver: "daqp" or "scip".
        big_m: bound of all contact variables, slacks and free gaps; computed by default.
        gap: how far the plan may be from the best, relative to its cost,
        absolute: or as a cost. Near a target costs vanish, and many modes cost next to nothing.
        time_limit: after which the best plan so far is given [s]; without a limit by default.

    Raises:
        BadInput: bounds cannot be computed, since X or U are not bounded; the message names the contact.
    """

    name: ClassVar[str] = "miqp"

    def __init__(
        self,
        problem: PlanningProblem,
        *,
        solver: str = DAQP,
        big_m: float | None = None,
        gap: float = 1e-6,
        absolute: float = 1e-7,
        time_limit: float = math.inf,
    ) -> None:
        super().__init__(problem, time_limit=time_limit)
        self.solver = instance(solver, str, "solver")
        if solver not in BRANCH:
            raise BadInput(f"solver: {instead(solver, BRANCH)}")
        self.gap = number(gap, "gap")
        if not 0.0 <= self.gap < math.inf:
            raise BadInput(f"gap: must be finite and not negative, got {gap}")
        self.absolute = number(absolute, "absolute")
        if not 0.0 <= self.absolute < math.inf:
            raise BadInput(f"absolute: must be finite and not negative, got {absolute}")
        self.big_m = None if big_m is None else number(big_m, "big_m")
        if self.big_m is not None and not 0.0 < self.big_m < math.inf:
            raise BadInput(f"big_m: must be positive and finite, got {big_m}")
        self.condenser, self._quick = Condenser(problem), Consensus(problem)
        known: dict[int, Bounds] = {}
        for system in self._systems():
            if id(system) not in known:
                known[id(system)] = self._bounds(system)
        self.bounds = [known[id(system)] for system in self._systems()]

    def _systems(self) -> list[ContactSystem]:
        return [self.problem.system(k) for k in range(self.problem.horizon)]

    def _bounds(self, system: ContactSystem, x0: Array | None = None) -> Bounds:
        if self.big_m is not None:
            return given_bounds(system, self.big_m)
        assert self.problem.states is not None and self.problem.inputs is not None
        return compute_bounds(system, self.problem.states, self.problem.inputs, x0)

    def _all_bounds(self, x0: Array) -> Bounds:
        """Bounds of the horizon, one after the other."""
        X, each = self.problem.states, list(self.bounds)
        assert X is not None
        if self.big_m is None and (X.A @ x0 > X.b).any():
            each[0] = self._bounds(self.problem.system(0), x0)
        parts = zip(*(vars(one).values() for one in each), strict=True)
        return Bounds(*(np.concatenate(part) for part in parts))

    def _find(self, x0: Array, target: Array, rest: Array, warm: Plan | None) -> Plan:
        begin = time.perf_counter()
        program = self.condenser.program(x0, target, rest)
        quick = self._quick.solve(x0, target, rest) if self.big_m is None else None  # which knows no M
        near = [plan.motion for plan in (warm, quick) if plan is not None and plan.motion is not None]
        tries = [one for motion in near if (one := self._first(program, motion)) is not None]
        first = min(tries, key=lambda one: one[0].value, default=None)
        start = None if first is None else as_point(first[0].w, first[1])
        mixed = mixed_program(program, self._all_bounds(x0))
        left = max(self.time_limit - (time.perf_counter() - begin), 1e-6)
        found = BRANCH[self.solver](mixed, self.gap, self.absolute, left, start)
        best = first
        if found.point is not None:
            exact = _exact(program, found.point)
            if exact is not None and (best is None or exact[0].value < best[0].value):
                best = exact
        if best is None:
            return self._nothing(found)
        return self._something(x0, target, rest, found, *best)

    def _first(self, program: Program, motion: Motion) -> tuple[ModeAnswer, Modes] | None:
        """The better plan with the modes of a motion, or with these one step on; None if there is neither."""
        sizes = [s.sizes[2] for s in self._systems()]
        if [len(z) for z in motion.contact] != sizes:
            raise BadInput(
                f"warm: a plan over {len(sizes)} steps with the contacts of this problem is needed"
            )
        steps = [_modes_of(s, motion, k) for k, s in enumerate(self._systems())]
        tries = [steps]
        if isinstance(self.problem.systems, ContactSystem):
            tries.append([*steps[1:], steps[-1]])
        best = None
        for each in tries:
            modes = Modes(*(np.concatenate(part) for part in zip(*each, strict=True)))
            answer = solve_mode(program, *modes)
            if answer.is_found and (best is None or answer.value < best[0].value):
                best = answer, modes
        return best

    def _nothing(self, found: Branched) -> Plan:
        outcome, message = Outcome.FAILED, found.message or "the modes that were found have no plan"
        if found.ending is Ending.LIMIT:
            outcome, message = Outcome.TIME_LIMIT, "no plan was found in time"
        elif found.ending is Ending.INFEASIBLE and self.big_m is not None:
            message = f"no plan stays below big_m = {self.big_m:g}; that may be the reason"
        elif found.ending is Ending.INFEASIBLE:
            outcome, message = Outcome.INFEASIBLE, "no modes have a plan"
        return Plan(outcome, self.name, 0.0, effort=found.nodes, message=message)

    def _something(self, x0: Array, target: Array, rest: Array, found: Branched, answer: ModeAnswer,
                   modes: Modes) -> Plan:  # fmt: skip
        motion = self.condenser.motion(x0, answer.w)
        value = self.problem.objective(motion.x, motion.u, target, rest)
        bound = float(min(found.bound - (answer.value - value), value))
        outcome, message = Outcome.FEASIBLE, found.message or "the time limit was reached"
        if found.ending is Ending.DONE:
            near = self.gap + ACCURACY
            is_near = answer.value - found.bound <= near * abs(answer.value) + 2.0 * self.absolute + 1e-18
            message = "" if is_near else "without big_m the modes cost more than branch and bound said"
            outcome = Outcome.OPTIMAL if is_near else outcome
        elif found.ending is Ending.INFEASIBLE:
            message = "branch and bound found no plan, the modes of the plan nearby have one"
        reached = "" if self.big_m is None else self._reached(motion, modes)
        if reached:
            outcome, message, bound = Outcome.ON_BOUND, reached, -np.inf
        elif self.big_m is not None and outcome is Outcome.OPTIMAL:
            message = f"the best of all plans below big_m = {self.big_m:g}"
        return Plan(outcome, self.name, 0.0, motion, value, bound, found.nodes, message)

    def _reached(self, motion: Motion, modes: Modes) -> str:
        """What reaches the bound that was given, in words; empty if nothing does."""
        assert self.big_m is not None
        top, at, guard = self.big_m * (1.0 - REACHED), 0, 0
        for k, system in enumerate(self._systems()):
            is_open = modes.is_open[at : at + len(motion.contact[k])]
            at += len(is_open)
            values = [np.where(is_open, motion.slack[k], motion.contact[k])]
            names = [pair_name(system, i) for i in range(len(is_open))]
            if system.guard is not None:
                y = system.guard
                is_away = modes.is_away[guard : guard + len(y.g)]
                guard += len(y.g)
                both = (y.contact >= 0) & is_away[y.contact]
                values[0] = np.where(both, np.abs(motion.slack[k]), values[0])
                values.append(np.abs(y.G @ motion.x[k] + y.H @ motion.u[k] + y.g))
                names += [f"the free gap of contact {i}" for i in range(len(y.g))]
            for name, value in zip(names, np.concatenate(values), strict=True):
                if value >= top:
                    return f"{name} in step {k} is at {value:.6g}, the bound big_m = {self.big_m:g}: raise it"
        return ""


def _exact(program: Program, point: Array) -> tuple[ModeAnswer, Modes] | None:
    """The best unknowns in the modes of a point; None if there are none.

    Where both of a pair vanish, or a free gap does, the mode is a matter of rounding, and may have no other
    point than the one that rounding misses: the modes next to it are tried then.
    """
    n = len(program.g)
    modes, w = as_modes(program, point[n:]), point[:n]
    answer = solve_mode(program, *modes)
    if answer.is_found:
        return answer, modes
    is_weak = np.maximum(w[program.pairs], program.S @ w + program.s) <= WEAK
    is_flat = np.abs(program.G @ w + program.gamma) <= WEAK
    best = None
    for opens, away in product((True, False), repeat=2):
        other = Modes(np.where(is_weak, opens, modes.is_open), np.where(is_flat, away, modes.is_away))
        answer = solve_mode(program, *other)
        if answer.is_found and (best is None or answer.value < best[0].value):
            best = answer, other
    return best


def _modes_of(system: ContactSystem, motion: Motion, k: int) -> Modes:
    """Modes of step k of a motion."""
    is_away = np.zeros(0, dtype=bool)
    if system.guard is not None:
        y = system.guard
        is_away = y.G @ motion.x[k] + y.H @ motion.u[k] + y.g > 0.0
    return Modes(motion.contact[k] <= motion.slack[k], is_away)
