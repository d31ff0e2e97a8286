"""Impulses of a step from a solver outside the kernels: the step as a `ContactProblem`, and back.

Joints between bodies that are rows are eliminated where that leaves a small problem. The solver is asked for
what the step is judged by: a residual relative to all rows of the step, given ones too.

References: [AcaryBremondHuber2018] for the problem.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import plain
from taction.contact.assembly import SOURCE, Assembly, problem_rows
from taction.contact.blocks import BlockRows, multiply
from taction.contact.certificate import Certificate, certify, length
from taction.contact.condense import condense
from taction.contact.laws.dispatch import intervals
from taction.contact.problem import ContactProblem
from taction.contact.redundancy import NO_CHOICE, NOTHING, ROWS, not_unique
from taction.solvers.auto import CHOOSING
from taction.solvers.base import Solver
from taction.steppers import judge
from taction.steppers.columns import CONE, DISSIPATION, SIGNORINI
from taction.steppers.scene import TIE
from taction.steppers.step_problem import given, problem_from_rows, slots

cut_rows, pronounce = plain(problem_rows), plain(judge.pronounce)
FASTEST = 1e12  # free velocities beyond are of a motion that has run away [m/s or rad/s]
FEW = 10  # iterations that a solver gets there: the last resorts of `auto` would take minutes for nothing
CONDENSED_MOST = 2000  # rows of contacts up to which a solver is spared the joints


class Answer(NamedTuple):
    """What a solver outside said."""

    converged: bool
    iterations: int
    not_unique: int  # of `taction.contact.redundancy`
    certificate: Certificate | None  # of a law that the compiled judge does not know


def solve_outside(blocks: Assembly, tolerance: float, solver: Solver, law: str) -> Answer:
    """Impulses of a step's blocks into ``blocks.r``, from those there."""
    rows = cut_rows(blocks)
    slot, held = slots(rows), given(rows)
    problem = problem_from_rows(rows, blocks.index[: len(rows.kind), SOURCE], law)
    guess, joints = blocks.r[slot] - held[slot], _joint_equations(blocks, rows, slot)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no certificate
        if len(joints) and len(slot) - len(joints) <= CONDENSED_MOST:
            whole = condense(problem, joints)
            solution = _asked(solver, whole.problem, rows).solve(whole.problem, guess[whole.kept])
            impulse = whole.restore(solution.impulse)
        else:
            solution = _asked(solver, problem, rows).solve(problem, guess)
            impulse = solution.impulse
    blocks.r[: 3 * len(rows.kind)] = held
    blocks.r[slot] += impulse
    certificate = certify(problem, impulse) if law == "pyramid" else None
    left_open = NO_CHOICE if law == "pyramid" else _left_open(blocks, rows, tolerance, solver)
    return Answer(solution.converged, solution.iterations, left_open, certificate)


def write_verdict(certificate: Certificate, blocks: Assembly, tolerance: float, row: Array) -> None:
    """The verdict on a law that the compiled judge does not know, into the record of its step (COLUMNS,)."""
    impulse = float(np.linalg.norm(blocks.r)) or 1.0
    scale = impulse * (float(np.linalg.norm(blocks.rows.b)) or 1.0)
    row[CONE], row[DISSIPATION] = certificate.cone / impulse, certificate.dissipation / scale
    row[SIGNORINI] = max(certificate.dual / impulse, certificate.complementarity / scale)
    pronounce(tolerance, certificate.proven, row)


def _left_open(blocks: Assembly, rows: BlockRows, tolerance: float, solver: Solver) -> int:
    """What is not unique about the impulses of a solver; `auto` alone chooses."""
    k = len(rows.kind)
    r = blocks.r[: 3 * k]
    if k > CHOOSING:
        return NO_CHOICE
    u = np.empty_like(r)
    multiply(rows, r, u)
    found = int(not_unique(rows, r, u, tolerance * length(rows.b), np.empty(5 * k * k + 20 * k)))
    return abs(found) if found in (NOTHING, ROWS) or solver.name == "auto" else NO_CHOICE


def _asked(solver: Solver, problem: ContactProblem, rows: BlockRows) -> Solver:
    """The solver, asked for a residual relative to all rows of the step, and for little where all is lost."""
    whole, asked = length(rows.b), length(problem.b)
    share = whole / asked if 0.0 < asked < math.inf else 1.0
    if not whole <= FASTEST:
        solver = replace(solver, max_iterations=min(solver.max_iterations, FEW))
    return replace(solver, tol=share * solver.tol) if share < 1.0 else solver


def _joint_equations(blocks: Assembly, rows: BlockRows, slot: IntArray) -> IntArray:
    """Rows of the problem that are equations of joints between bodies; such rows never repeat."""
    low, _ = intervals(rows.kind, rows.sets)
    is_tie = blocks.index[slot // 3, SOURCE] == TIE
    return np.flatnonzero(is_tie & (low[slot] == -math.inf))
