"""The automatic choice: cheap first, stronger where the residual stalls, honest at the end.

No single method wins everywhere: Gauss–Seidel is unbeaten where contacts hardly influence each other, and
hopeless on redundant stacks; Newton's method solves those in a few steps, and can wander where contacts
slide in many directions.

Method
1. *Gauss–Seidel* (`taction.solvers.nsgs`) as long as its rate promises the goal within a few sweeps.
2. *Newton* (`taction.solvers.newton`) on every connected component that is not there yet, scaled, from where
   Gauss–Seidel left it.
3. *Rescue*, only where 2 stalled: the methods of `RESCUE` in turn. First the convex relaxation by an interior
   point: its solution costs a dozen factorisations, and Newton's method from there is often done at once.
   Then the interior point itself, and Newton's method from zero. The best impulses found are kept.
4. *Verdict*: look for a proof that there is no solution (`taction.contact.feasibility`). Without one, the
   `LAST_RESORT`: more of the same, for longer. If that fails too, STALLED, with the residual reached.
5. *Choice*, where impulses are not unique and blocks not too many: the solution that a vanishing compliance
   selects (`taction.solvers.selection`), whichever of the above was found. Timed loops leave it out.

Pyramid: Lemke's method.

Steps 1 and 2 are one kernel for problems of a few contacts, so that a simulation can call it every step with
memory made once. Deterministic: the same problem and guess give the same bits.

References: [AcaryBremondHuber2018] for how methods complement each other.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import kernel
from taction.contact.blocks import BlockRows, Blocks, make_blocks, multiply, rounding
from taction.contact.feasibility import self_stress
from taction.contact.laws.dispatch import natural_map, relaxation
from taction.contact.problem import ContactProblem
from taction.contact.redundancy import NOTHING, not_unique
from taction.solvers.active_freedoms import no_freedoms
from taction.solvers.active_path import follow_path
from taction.solvers.active_system import scratch
from taction.solvers.base import Iterations, Solution, Solver, Status, reference, relative_residual
from taction.solvers.elimination_order import DENSE, factor_cost
from taction.solvers.interior_point import InteriorPoint
from taction.solvers.newton import WEIGHT, Newton, load, order_newton, solve_components
from taction.solvers.newton_memory import RECORDED
from taction.solvers.nsgs import SOLVED, gauss_seidel
from taction.solvers.selection import ENOUGH, select_components

LEAST_SWEEPS, SWEEPS = 15, 60  # of Gauss–Seidel
NEAR, FEW_SWEEPS = 1e4, 8  # so near to the goal (times it) a Newton step or two cost less than more sweeps
REDUNDANT = 1.0  # first weight of Newton's method where Gauss–Seidel fails
LEAST_STEPS, BUDGET = 30, 1e9  # Newton steps of step 2: at least so many, and within so many operations
HISTORY = 10_000  # longest record of Newton steps
REPEATS = 200  # solves per timed loop
CHOOSING = 48  # blocks up to which a choice is made: larger piles would pay for it dearly
ROBOT = 2  # times as many where freedoms are fewer than those: systems are of their size
STRIVE = 0.03  # a solver's own goal in units of the tolerance: Newton's method gets there almost for free


class Attempt(NamedTuple):
    """A method of step 3, for the own law or its convex relaxation; from zero, best or last impulses.

    Limits of Newton's method are in units of the steps that step 2 was allowed.
    """

    method: Solver
    relaxed: bool
    start: str


RESCUE = (
    Attempt(InteriorPoint(max_iterations=60), True, "zero"),
    Attempt(Newton(max_iterations=2, weight=1.0), False, "last"),
    Attempt(InteriorPoint(max_iterations=60), False, "zero"),
    Attempt(Newton(max_iterations=1, weight=1.0), False, "zero"),
)
LAST_RESORT = (
    Attempt(Newton(max_iterations=5), False, "best"),
    Attempt(Newton(max_iterations=15, weight=1.0), True, "zero"),
    Attempt(Newton(max_iterations=40, weight=1.0), False, "last"),
    Attempt(InteriorPoint(max_iterations=300), False, "best"),
    Attempt(Newton(max_iterations=40, weight=10.0), False, "zero"),
)


@kernel
def cheap(rows, goal, is_dear, ws, r_io, history_out):
    """Step 1 on r_io (3k,), scratch ws (2, 3k): how it ended, sweeps, residual, weight for step 2.

    is_dear: a Newton step costs as much as many sweeps.

    A guess that solves the problem, or almost, stays as it is unless a sweep betters it: a sweep may lead
    away from it, where a contact by itself could stick as well as slide. The dearer a Newton step, the more
    it gains from a good start, unless the guess is one. Where the sweeps lead nowhere contacts are redundant:
    back to the guess, and more weight to keep impulses small.
    """
    blocks = rows.kind.shape[0]
    for c in range(3 * blocks):
        ws[1, c] = r_io[c]
    multiply(rows, r_io, ws[0])
    first = natural_map(rows.kind, rows.sets, r_io, ws[0])
    end, done, error = gauss_seidel(rows, goal, 1, 2, 0.0, 1.0, ws[0], r_io, history_out)
    if first <= NEAR * goal and not error < first:
        for c in range(3 * blocks):
            r_io[c] = ws[1, c]
        return SOLVED if first <= goal else end, done, first, WEIGHT
    if end == SOLVED:
        return end, done, error, WEIGHT
    is_near = error <= NEAR * goal
    least = LEAST_SWEEPS if is_dear and not is_near else 3
    patience = float(FEW_SWEEPS) if is_near or (blocks > DENSE and not is_dear) else 2.0 + blocks
    end, done, error = gauss_seidel(
        rows, goal, SWEEPS - 1, least - 1, patience, 1.0, ws[0], r_io, history_out[1:]
    )
    done += 1
    if end == SOLVED or error < 0.5 * first or is_near:
        return end, done, error, WEIGHT
    for c in range(3 * blocks):
        r_io[c] = ws[1, c]
    return end, done, first, REDUNDANT


@kernel
def cheap_then_strong(rows, goal, steps, ws, r_io, history_out):
    """Steps 1 and 2 on r_io (3k,); returns (sweeps done, Newton steps done, residual)."""
    end, done, error, weight = cheap(rows, goal, False, ws.vectors, r_io, history_out)
    if end == SOLVED:
        ws.record[RECORDED] = 0.0
        return done, 0, error
    load(rows, r_io, ws)
    used, error = solve_components(goal, weight, steps, ws, r_io, history_out[done:])
    return done, used, error


@kernel
def repeat(rows, guess, goal, steps, count, ws, r_out, history_out):
    """`cheap_then_strong` from the same guess ``count`` times, for timing; returns the last residual."""
    error = math.inf
    for _ in range(count):
        for c in range(guess.shape[0]):
            r_out[c] = guess[c]
        _, _, error = cheap_then_strong(rows, goal, steps, ws, r_out, history_out)
    return error


def choose(rows: BlockRows, goal: float, limit: int, r_io: Array) -> int:
    """Step 5 on a solution r_io (3k,), which stays where the choice fails; returns Newton steps."""
    u, memory = np.empty_like(r_io), np.empty(scratch(len(rows.kind)))
    multiply(rows, r_io, u)
    slack, goal = goal, STRIVE * goal
    if not_unique(rows, r_io, u, slack, memory) == NOTHING:
        return 0
    is_selected, _ = follow_path(rows, *no_freedoms(), goal, slack, memory, np.empty_like(r_io), u, r_io)
    if is_selected:
        return 0
    work = order_newton(rows)
    load(rows, r_io, work)
    steps, _, _ = select_components(goal, ENOUGH * slack, limit, work, r_io, np.empty(HISTORY))
    return int(steps)


@dataclass(frozen=True, kw_only=True)
class Auto(Solver):
    """Cheap first, stronger when the residual stalls.

    Attributes:
        max_iterations: Newton steps per connected component before other methods get their turn; fewer where
            a factorisation is expensive.
        choice: whether step 5 is taken; without it impulses that are not unique depend on the guess.
    """

    max_iterations: int = 1000
    choice: bool = True

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "cheap first, stronger when the residual stalls, honest at the end"
    laws: ClassVar[tuple[str, ...]] = ("exact", "convex", "pyramid", "frictionless")

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem, from a guess of the impulses (n,) or from zero."""
        self.check(problem, guess)
        if problem.law == "pyramid":
            from taction.solvers.lemke import Lemke

            return Lemke(tol=self.tol).solve(problem, guess)
        return super().solve(problem, guess)

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Steps 1 to 5."""
        rows = blocks.rows
        scale = reference(rows.b)
        goal = self.tol * scale
        history = np.empty(SWEEPS + HISTORY)
        if not len(rows.kind):
            return Iterations(Status.CONVERGED, 0, history[:0])
        sweeps, steps, error, recorded, limit = self._cheap_then_strong(blocks, goal, r_io, history)
        path, count = ("newton" if steps else "nsgs"), sweeps + steps
        error = max(error, rounding(rows, r_io)) if error < math.inf else math.inf
        for attempts in (RESCUE, LAST_RESORT):
            if error <= goal:
                break
            if attempts is LAST_RESORT and self_stress(blocks.problem) is not None:
                return Iterations(Status.INFEASIBLE, count, history[:recorded] / scale, path)
            error, extra, path = self._try(attempts, blocks, goal, limit, error, path, r_io)
            count += extra
        if self.choice and error <= goal and len(rows.kind) <= CHOOSING:
            count += choose(rows, goal, self.max_iterations, r_io)
        history = np.append(history[:recorded], error) / scale
        return Iterations(Status.CONVERGED if error <= goal else Status.STALLED, count, history, path)

    def _cheap_then_strong(
        self, blocks: Blocks, goal: float, r_io: Array, history: Array
    ) -> tuple[int, int, float, int, int]:
        """Steps 1 and 2; returns sweeps, Newton steps, residual, length of the history, limit of steps."""
        rows = blocks.rows
        if len(rows.kind) <= DENSE:
            work = order_newton(rows)
            sweeps, steps, error = cheap_then_strong(rows, goal, self.max_iterations, work, r_io, history)
            return sweeps, steps, error, sweeps + int(work.record[RECORDED]), self.max_iterations
        end, sweeps, error, weight = cheap(rows, goal, True, np.empty((2, len(r_io))), r_io, history)
        if end == SOLVED:
            return sweeps, 0, error, sweeps, self.max_iterations
        work = order_newton(rows)  # ordering is worth it only now
        load(rows, r_io, work)
        limit = min(self.max_iterations, max(LEAST_STEPS, int(BUDGET / factor_cost(work.pattern))))
        steps, error = solve_components(goal, weight, limit, work, r_io, history[sweeps:])
        return sweeps, steps, error, sweeps + int(work.record[RECORDED]), limit

    def time_kernel(
        self, problem: ContactProblem, guess: ArrayLike | None = None, *, rounds: int = 5
    ) -> float:
        """Seconds per solve without Python around it: best of ``rounds`` compiled loops, memory made once.

        The choice among impulses is left out: it is asked of no other solver.

        Problems of more than a few blocks are ordered anew each time and are timed whole, as
        `Solution.seconds`.
        """
        blocks = make_blocks(problem)
        rows, packed = blocks.rows, blocks.pack(guess)
        if len(rows.kind) > DENSE:
            bare = replace(self, choice=False)
            return min(bare.solve(problem, guess).seconds for _ in range(rounds))
        goal = self.striving().tol * reference(rows.b)
        work, out, history = order_newton(rows), np.empty_like(packed), np.empty(SWEEPS + HISTORY)
        best = math.inf
        for count in [1] + [REPEATS] * rounds:
            begin = time.perf_counter()
            repeat(rows, packed, goal, self.max_iterations, count, work, out, history)
            best = min(best, (time.perf_counter() - begin) / count)
        return best

    def _try(
        self,
        attempts: tuple[Attempt, ...],
        blocks: Blocks,
        goal: float,
        limit: int,
        least: float,
        path: str,
        r_io: Array,
    ) -> tuple[float, int, str]:
        """Improve r_io by other methods until the goal; returns residual, iterations, and who found it."""
        native, blocks = blocks, blocks.at_origin()
        scale = reference(blocks.rows.b)
        kind, moved = blocks.rows.kind, blocks.moved - native.moved
        relaxed = replace(blocks, rows=blocks.rows._replace(kind=relaxation(kind)))
        best, spent = r_io + moved, 0
        last = best
        for method, is_relaxed, start in attempts:
            if is_relaxed and (relaxed.rows.kind == kind).all():
                continue
            if isinstance(method, Newton):
                method = replace(method, max_iterations=method.max_iterations * limit)
            last = np.zeros_like(best) if start == "zero" else (best if start == "best" else last).copy()
            spent += replace(method, tol=goal / scale).iterate(relaxed if is_relaxed else blocks, last).count
            error = max(relative_residual(blocks, last) * scale, rounding(blocks.rows, last))
            if error < least or not least < math.inf:
                best, least, path = last.copy(), error, method.name
            if least <= goal:
                break
        r_io[:] = best - moved
        return least, spent, path
