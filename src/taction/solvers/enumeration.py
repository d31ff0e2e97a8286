"""Enumeration: the slow reference that goes through all cases of a small problem.

What it solves: contact problems with a handful of contacts, and linear complementarity problems with a
handful of rows. Nothing here is shared with the methods it is meant to check.

Linear complementarity (laws ``pyramid`` and ``frictionless``). Each row has z_i = 0 or w_i = 0: 2ⁿ cases,
each of them a linear feasibility problem, regular or not.
1. A node fixes some rows. The linear program  min Σ(z + w),  z ≥ 0, w = M z + q ≥ 0, fixed rows at zero,
   bounds it.
2. No feasible point: no case below the node has a solution, and the branch is cut.
3. A point that happens to be complementary is computed again from its basis, and judged by `certify_lcp`.
4. Otherwise branch on the row with the largest min(z_i, w_i), both ways.
If every branch is cut there is no solution: INFEASIBLE, a proof up to the tolerance of the linear programs
(1e-10). If a point was found that fails the judge, or the limit on nodes is met, nothing is proved: STALLED,
ITERATION_LIMIT.

Coulomb's law (``exact``). Each contact is open, sticking or sliding, each interval row is at its low end,
free, or at its high end. A case is a set of equations in the impulses Λ and the sliding angles φ, and
inequalities:

    | state | equations | inequalities |
    |---|---|---|
    | open | Λ = 0 | u_N ≥ 0 |
    | stick | u = 0 | Λ in the cone |
    | slide | u_N = 0, Λ_T = Λ_N d(φ), u_T × n(φ) = 0 | Λ_N ≥ 0, u_T·n(φ) ≤ 0 |
    | low, high | Λ = end | u ≥ 0, u ≤ 0 |
    | free | u = 0 | low ≤ Λ ≤ high |

with d(φ) = (a₁ cos φ, a₂ sin φ) on the section and n(φ) ∝ (a₂ cos φ, a₁ sin φ) its outer normal.
1. Given φ the first equations are linear: least squares, shortest Λ.
2. If that is not yet a solution, nonlinear least squares on equations and violated inequalities together,
   from there: over φ alone with Λ from 1, or, where impulses are not unique, over Λ and φ, which moves along
   the null space too.
3. Accept what leaves a natural-map residual ≤ tol. Sliding cases start from several angles.
Cases are taken in order of the number of sliding contacts. Each sliding case is searched, not exhausted, so
finding nothing proves nothing: STALLED.

Limits: `CONTACTS` contacts and `INTERVALS` interval rows; beyond, BadInput. A section with a single zero axis
is a segment, which has no normal at its inner points: BadInput as well.

References: [CottlePangStone1992, Chapter 1] for complementary bases; `taction.contact.laws` for the laws.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction.contact.blocks import BlockRows, Blocks
from taction.contact.laws.dispatch import intervals, rowwise
from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
from taction.contact.problem import ContactProblem
from taction.contact.pyramid import pyramid_lcp
from taction.solvers.base import Iterations, Solution, Solver, Status, relative_residual

ENUMERATED = 24  # rows up to which Lemke's method hands over to enumeration: four contacts, pyramids of four
LONGEST = 32  # rows of a contact problem that is enumerated from the start
NODES = 20000
LP_INFEASIBLE = 2  # status of `scipy.optimize.linprog`
LP_TOLERANCE = 1e-10  # the smallest that HiGHS takes
INCONSISTENT = 1e-9  # share of b on bilateral rows that nothing balances, above which there is no solution

CONTACTS, INTERVALS = 6, 8
EVALUATIONS = 50  # of the equations of a case, per start
NEAR = 1e-3  # violations, relative to ‖b‖, below which the last digits are worth the work
STARTS = 6  # angles, or vectors of angles, from which a sliding case is tried


# ----- Linear complementarity -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Enumerated:
    """What went through all cases: z (n,), status, linear programs solved, one sentence."""

    z: Array
    status: Status
    nodes: int
    message: str


def enumerate_lcp(
    lcp: LinearComplementarityProblem, tol: float = 1e-10, max_nodes: int = NODES
) -> Enumerated:
    """Go through the complementary bases of a problem: a solution, or a proof that there is none.

    Args:
        lcp: the problem; the work can double with every row.
        tol: on the residual of `certify_lcp`.
        max_nodes: limit on linear programs.
    """
    if not lcp.size:
        return Enumerated(np.zeros(0), Status.CONVERGED, 0, Status.CONVERGED.message)
    open_nodes: list[dict[int, str]] = [{}]  # row -> which of "z", "w" is zero
    nodes, doubtful, best = 0, False, np.zeros(lcp.size)
    while open_nodes:
        if nodes == max_nodes:
            return Enumerated(best, Status.ITERATION_LIMIT, nodes, f"undecided after {nodes} linear programs")
        fixed = open_nodes.pop()
        nodes += 1
        z = _relaxation(lcp, fixed)
        if z is None:
            continue
        w = lcp.slack(z)
        if certify_lcp(lcp, exact := _from_basis(lcp, z, w)).residual <= tol:
            return Enumerated(exact, Status.CONVERGED, nodes, Status.CONVERGED.message)
        undecided = [i for i in range(lcp.size) if i not in fixed]
        if not undecided:
            doubtful, best = True, exact
            continue
        row = max(undecided, key=lambda i: min(z[i], w[i]))
        first, second = ("z", "w") if z[row] > w[row] else ("w", "z")  # the likelier case is popped first
        open_nodes += [{**fixed, row: first}, {**fixed, row: second}]
    if doubtful:
        return Enumerated(best, Status.STALLED, nodes, "some basis solves it nearly, none to the tolerance")
    return Enumerated(
        best, Status.INFEASIBLE, nodes, "no complementary basis has a solution, proved by enumeration"
    )


def _relaxation(lcp: LinearComplementarityProblem, fixed: dict[int, str]) -> Array | None:
    """Step 1: a vertex of {z ≥ 0, M z + q ≥ 0} with the fixed rows at zero; None if there is none."""
    from scipy.optimize import linprog

    size = np.abs(lcp.M).max(axis=1)  # rows scaled to 1, q to 1: the tolerances of the program are absolute
    size = np.where(size > 0.0, size, 1.0)
    M, q = lcp.M / size[:, None], lcp.q / size
    unit = float(np.abs(q).max()) or 1.0
    upper = [0.0 if fixed.get(i) == "z" else None for i in range(lcp.size)]
    equal = np.array([fixed.get(i) == "w" for i in range(lcp.size)])
    found = linprog(
        1.0 + M.sum(axis=0),
        A_ub=-M[~equal],
        b_ub=q[~equal] / unit,
        A_eq=M[equal],
        b_eq=-q[equal] / unit,
        bounds=[(0.0, limit) for limit in upper],
        method="highs",
        options={"primal_feasibility_tolerance": LP_TOLERANCE, "dual_feasibility_tolerance": LP_TOLERANCE},
    )
    if found.status == LP_INFEASIBLE:
        return None
    # a program that failed bounds nothing: any z will do to go on branching
    return np.zeros(lcp.size) if found.x is None else unit * np.maximum(found.x, 0.0)


def _from_basis(lcp: LinearComplementarityProblem, z: Array, w: Array) -> Array:
    """Step 3: z computed again with w_i = 0 wherever z_i > w_i, the shortest step away from z."""
    inside = np.flatnonzero(z > w)
    exact = np.zeros(lcp.size)
    if len(inside):
        A = lcp.M[np.ix_(inside, inside)]
        x = z[inside]
        for _ in range(2):
            x = x - np.linalg.lstsq(A, A @ x + lcp.q[inside], rcond=None)[0]
        exact[inside] = np.maximum(x, 0.0)
    return exact


# ----- Coulomb's law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Case:
    """One case: a state for every block, equations and inequalities in (Λ, φ)."""

    W: Array
    b: Array
    rows: BlockRows
    states: tuple[str, ...]  # of each contact, then of each interval row
    contacts: tuple[int, ...]  # their blocks
    intervals: tuple[int, ...]  # their rows

    @property
    def sliding(self) -> list[int]:
        """Blocks that slide, in order."""
        return [c for c, state in zip(self.contacts, self.states, strict=False) if state == "slide"]

    def section(self, block: int, angle: float) -> tuple[Array, Array]:
        """Point of the section at an angle, and outer unit normal there."""
        plus, minus, lateral = self.rows.sets[block, :3]
        a = plus if math.cos(angle) >= 0.0 else minus
        normal = np.array([lateral * math.cos(angle), a * math.sin(angle)])
        return np.array([a * math.cos(angle), lateral * math.sin(angle)]), normal / np.linalg.norm(normal)

    def linear(self, angles: Array) -> tuple[Array, Array]:
        """Equations A Λ = c, given the angles."""
        A, c = np.eye(len(self.b)), np.zeros(len(self.b))
        angle = iter(angles)

        def rest(rows: list[int]) -> None:
            A[rows], c[rows] = self.W[rows], -self.b[rows]

        for block, state in zip(self.contacts, self.states, strict=False):
            i = 3 * block
            if state == "stick":
                rest([i, i + 1, i + 2])
            elif state == "slide":
                rest([i])
                A[i + 1 : i + 3, i] = -self.section(block, next(angle))[0]
        for row, state in zip(self.intervals, self.states[len(self.contacts) :], strict=True):
            if state == "free":
                rest([row])
            else:
                c[row] = self.rows.sets[row // 3, 2 * (row % 3) + (state == "high")]
        return A, c

    def violations(self, x: Array) -> Array:
        """Equations and violated inequalities at x = (Λ, φ); zero at solutions of the case."""
        r, angles = x[: len(self.b)], x[len(self.b) :]
        u = self.W @ r + self.b
        A, c = self.linear(angles)
        out = list(A @ r - c)
        angle = iter(angles)
        for block, state in zip(self.contacts, self.states, strict=False):
            i = 3 * block
            if state == "open":
                out.append(min(u[i], 0.0))
            elif state == "stick":
                plus, minus, lateral = self.rows.sets[block, :3]
                a = plus if r[i + 1] >= 0.0 else minus
                out.append(min(r[i] - math.hypot(r[i + 1] / a, r[i + 2] / lateral), 0.0))
            else:
                _, n = self.section(block, next(angle))
                out.append(u[i + 1] * n[1] - u[i + 2] * n[0])
                out += [min(r[i], 0.0), max(u[i + 1] * n[0] + u[i + 2] * n[1], 0.0)]
        for row, state in zip(self.intervals, self.states[len(self.contacts) :], strict=True):
            low, high = self.rows.sets[row // 3, 2 * (row % 3) : 2 * (row % 3) + 2]
            if state == "free":
                out.append(min(r[row] - low, 0.0) + max(r[row] - high, 0.0))
            else:
                out.append(min(u[row], 0.0) if state == "low" else max(u[row], 0.0))
        return np.array(out)

    def impulses(self, angles: Array) -> tuple[Array, bool]:
        """Step 1: shortest Λ that meets the linear equations, and whether it is the only one."""
        A, c = self.linear(angles)
        r, _, rank, _ = np.linalg.lstsq(A, c, rcond=None)
        return np.asarray(r, dtype=np.float64), bool(rank == len(c))

    def angle_violations(self, angles: Array) -> Array:
        """`violations` with Λ from the linear equations."""
        return self.violations(np.concatenate([self.impulses(angles)[0], angles]))

    def starts(self) -> list[Array]:
        """Sliding angles to start from: against the free motion, then regular or random ones that repeat."""
        blocks = self.sliding
        if not blocks:
            return [np.zeros(0)]
        first = np.array([math.atan2(-self.b[3 * i + 2], -self.b[3 * i + 1]) for i in blocks])
        if len(blocks) == 1:
            return [first + 2.0 * math.pi * k / STARTS for k in range(STARTS)]
        rng = np.random.default_rng(0)
        return [first, *rng.uniform(-math.pi, math.pi, (STARTS - 1, len(blocks)))]


def _solve_case(case: _Case, blocks: Blocks, tol: float) -> Array | None:
    """Packed impulses (3k,) that solve a case, or None."""
    for angles in case.starts():
        r, regular = case.impulses(angles)
        if relative_residual(blocks, r) <= tol:
            return r
        if not regular:
            x = _least(case.violations, np.concatenate([r, angles]), np.linalg.norm(case.b))
            r = x[: len(r)]
        elif len(angles):
            angles = _least(case.angle_violations, angles, np.linalg.norm(case.b))
            r, _ = case.impulses(angles)
        else:
            return None  # the only candidate of this case
        if relative_residual(blocks, r) <= tol:
            return r
    return None


def _least(function: Callable[[Array], Array], x: Array, scale: Any) -> Array:
    """Step 2: least-squares solution of function(x) = 0 near x; last digits only where they are worth it."""
    from scipy.optimize import least_squares

    exact = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": EVALUATIONS}
    found = least_squares(function, x, **exact)
    if found.cost <= (NEAR * scale) ** 2:
        found = least_squares(function, found.x, jac="3-point", **exact)
    return found.x


def _dense(rows: BlockRows) -> Array:
    """W of block rows as a dense array, (3k, 3k)."""
    W = np.zeros((len(rows.b), len(rows.b)))
    for i in range(len(rows.kind)):
        for m in range(rows.start[i], rows.start[i + 1]):
            j = rows.column[m]
            W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = rows.value[m].reshape(3, 3)
    return W


@dataclass(frozen=True, kw_only=True)
class Enumeration(Solver):
    """Go through open, stick and slide of every contact; or through all complementary bases of a pyramid.

    Attributes:
        tol: tolerance on the residual.
        max_iterations: limit on cases, or on linear programs.
    """

    tol: float = 1e-10
    max_iterations: int = NODES

    name: ClassVar[str] = "enumeration"
    summary: ClassVar[str] = (
        "all cases of open, stick and slide one after the other; slow reference for small problems"
    )
    laws: ClassVar[tuple[str, ...]] = ("exact", "pyramid", "frictionless")
    is_reference: ClassVar[bool] = True
    is_at_origin: ClassVar[bool] = True

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem; a guess is of no use."""
        self.check(problem, guess)
        if problem.law not in ("pyramid", "frictionless"):
            return super().solve(problem)
        pyramid = pyramid_lcp(problem)
        if pyramid.lcp.size > LONGEST:
            message = f"enumeration is for at most {LONGEST} rows, this problem has {pyramid.lcp.size}"
            end = Iterations(Status.BAD_INPUT, 0, np.empty(0), message=message)
            return self.conclude(problem, np.zeros(problem.size), end, 0.0)
        begin = time.perf_counter()
        found = enumerate_lcp(pyramid.lcp, self.tol, self.max_iterations)
        seconds = time.perf_counter() - begin
        status, message = found.status, found.message
        if pyramid.inconsistency > INCONSISTENT:
            status, message = Status.INFEASIBLE, "no impulse can bring the bilateral rows to rest"
        residual = certify_lcp(pyramid.lcp, found.z).residual
        end = Iterations(status, found.nodes, np.array([residual]), message=message)
        return self.conclude(problem, pyramid.impulse(found.z), end, seconds)

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Try the cases of an exact problem in turn."""
        rows = blocks.rows
        contacts = tuple(int(i) for i in np.flatnonzero(~rowwise(rows.kind)))
        low, high = intervals(rows.kind, rows.sets)
        box = tuple(int(row) for row in np.flatnonzero(low < high))
        if len(contacts) > CONTACTS or len(box) > INTERVALS:
            message = (
                f"enumeration is for at most {CONTACTS} contacts and {INTERVALS} interval rows, "
                f"this problem has {len(contacts)} and {len(box)}"
            )
            return Iterations(Status.BAD_INPUT, 0, np.empty(0), message=message)
        if (rows.sets[list(contacts), :3] == 0.0).any():
            message = "enumeration needs friction coefficients above zero in all directions, or in none"
            return Iterations(Status.BAD_INPUT, 0, np.empty(0), message=message)
        choices: list[tuple[str, ...]] = [("stick", "open", "slide")] * len(contacts)
        for row in box:
            ends = ["low"] * bool(low[row] > -np.inf) + ["high"] * bool(high[row] < np.inf)
            choices.append(("free", *ends))
        W = _dense(rows)
        order = sorted(itertools.product(*choices), key=lambda states: states.count("slide"))
        for count, states in enumerate(order[: self.max_iterations], 1):
            r = _solve_case(_Case(W, rows.b, rows, states, contacts, box), blocks, self.tol)
            if r is not None:
                r_io[:] = r
                return Iterations(Status.CONVERGED, count, np.array([relative_residual(blocks, r)]))
        history = np.array([relative_residual(blocks, r_io)])
        if len(order) > self.max_iterations:
            return Iterations(Status.ITERATION_LIMIT, self.max_iterations, history)
        message = f"none of {len(order)} cases gave a solution; sliding cases are searched, not exhausted"
        return Iterations(Status.STALLED, len(order), history, message=message)
