"""Lemke's method: complementary pivoting for linear complementarity problems, without cycling.

What it solves: 0 ≤ w = M z + q ⊥ z ≥ 0; with it, contact problems without friction or with a friction
pyramid.

Notation: d > 0 covering vector; z₀ artificial variable; w − M z − d z₀ = q; B the matrix of the basic columns
of [I, −M, −d]; T = B⁻¹ [q, I] the condensed tableau, (n, n+1): first column the basic values, the rest B⁻¹.

Method
1. Scale rows and columns of M by powers of two until their largest entries are near 1, and q to a largest
   entry of 1. Signs, complementarity and the path of pivots stay; only the covering vector means something
   else in old units.
2. If q ≥ 0: z = 0. Otherwise z₀ enters, and the row with lexicographically least T_i / d_i leaves: all rows
   of T are now lexicographically positive (their first non-zero entry is positive).
3. The complement of what left enters (z_i for w_i and back). Its column is p = B⁻¹ a.
4. Ratio test: among rows with p_i > 0 the lexicographic minimum of T_i / p_i leaves. If z₀ ties in the first
   column, z₀ leaves and the basis is complementary: solved. If no p_i is positive: a secondary ray.
5. Pivot T, and go to 3. After every max(50, n) pivots T is computed anew from the basis, so errors do not
   build up.
6. At the end z is computed once more from the scaled M by LU on the basis, with one step of refinement, and
   judged by `certify_lcp` in old units.

With lexicographic positivity every basis on the path has one way in and one way out, so none comes twice:
cycling is impossible in exact arithmetic, without perturbing q. In floating point two ratios count as equal
when they differ by less than `TIE` of the column (`CLOSE_TIE` on a second attempt); a limit on pivots is
there too.

When it succeeds: for M copositive with qᵀz ≥ 0 on all solutions z of the homogeneous problem, in particular
for positive semidefinite M with a feasible q, for P-matrices, and for the friction pyramid with consistent b.
Elsewhere a ray proves nothing. `solve_lcp` then decides as far as it can:
    (a) a vector y ≥ 0 with Mᵀy ≤ 0 and qᵀy < 0 (Farkas, by a linear program) proves that M z + q ≥ 0 has no z
        ≥ 0: INFEASIBLE;
    (b) other covering vectors lead along other paths, some of them to a solution;
    (c) up to `ENUMERATED` rows all complementary bases are gone through (`taction.solvers.enumeration`), by
        at most `DECIDING` linear programs: a solution, or a proof that there is none: INFEASIBLE;
    (d) otherwise UNBOUNDED: ended on a ray, undecided.

Cost: 2n² multiplications per pivot, typically n to 3n pivots; exponentially many in contrived cases.

Departures: the textbook form pivots on the full tableau; here B⁻¹ alone is kept, and columns come from M
itself.

References: [Lemke1965]; [CottlePangStone1992, Chapter 4]; [AnitescuPotra1997] for friction; [Ayit2015,
Section 4.3.1].
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel, kernel
from taction._core.show import brief_repr
from taction.contact.blocks import Blocks
from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
from taction.contact.problem import ContactProblem
from taction.contact.pyramid import pyramid_lcp
from taction.solvers.base import Iterations, Solution, Solver, Status, certified
from taction.solvers.enumeration import ENUMERATED, INCONSISTENT, enumerate_lcp

SOLVED, RAY, LIMIT, OVERFLOW = 0, 1, 2, 3

TIE = 1e-12  # ratios whose rows differ by less than this, relative to the column, are equal
CLOSE_TIE = 1e-14  # the same, on the second attempt: rows of very different size want less slack
PIVOT = 1e-11  # entries of the entering column below this, relative to the largest, are zero
REFRESH = 50  # pivots between two fresh inverses, at least
DECIDING = 2000  # linear programs of case (c); tens are usual
OTHER_COVERS = 4  # random covering vectors tried on a ray
EQUILIBRATIONS = 5
PROOF = 1e-9  # how far Mᵀy may exceed 0, relative to −qᵀy, in scaled units, for a proof that there is no z
METHODS = ("auto", "lemke", "enumeration")


@kernel
def entering_column(M, cover, T, entering, p_out):
    """p_out (n,) = B⁻¹ a for the entering variable: 0 … n−1 are w, n … 2n−1 are z, 2n is z₀; T (n, n+1)."""
    n = M.shape[0]
    for i in range(n):
        s = 0.0
        if entering < n:
            s = T[i, 1 + entering]
        elif entering < 2 * n:
            for j in range(n):
                s -= T[i, 1 + j] * M[j, entering - n]
        else:
            for j in range(n):
                s -= T[i, 1 + j] * cover[j]
        p_out[i] = s


@kernel
def leaving_row(T, p, basis, tie, pivot, candidate_out):
    """Step 4: row that leaves for the column p (n,), −1 on a ray; candidate_out (n,) marks tied rows."""
    n = p.shape[0]
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(p[i]))
    count = 0
    for i in range(n):
        candidate_out[i] = 1 if p[i] > pivot * largest else 0
        count += candidate_out[i]
    row = -1
    if count == 0:
        return row
    for c in range(n + 1):
        size, best, row = 0.0, math.inf, -1
        for i in range(n):
            size = max(size, abs(T[i, c]))
            if candidate_out[i] == 1 and (row < 0 or T[i, c] / p[i] < best):
                best, row = T[i, c] / p[i], i
        for i in range(n):
            if candidate_out[i] == 1 and i != row:
                if T[i, c] - best * p[i] > tie * size:
                    candidate_out[i] = 0
                    count -= 1
                elif c == 0 and basis[i] == 2 * n:
                    return i  # z₀ ties: the solution is reached
        if count == 1:
            return row
    return row


@inline_kernel
def exchange(p, row, T_io):
    """Step 5: make column p (n,) the unit vector of ``row`` in T_io (n, n+1)."""
    n = p.shape[0]
    for c in range(n + 1):
        T_io[row, c] /= p[row]
    for i in range(n):
        if i != row and p[i] != 0.0:
            for c in range(n + 1):
                T_io[i, c] -= p[i] * T_io[row, c]


@kernel
def pivot_path(M, cover, limit, tie, pivot, entering, candidate_io, p_io, basis_io, T_io):
    """Steps 3 to 5 for at most ``limit`` pivots.

    M (n, n), cover (n,); candidate_io, p_io (n,) scratch; basis_io (n,) variable of each row; T_io (n, n+1).
    Returns the status, the number of pivots, and the variable that enters next.
    """
    n = M.shape[0]
    for k in range(limit):
        entering_column(M, cover, T_io, entering, p_io)
        row = leaving_row(T_io, p_io, basis_io, tie, pivot, candidate_io)
        if row < 0:
            return RAY, k, entering
        leaving = basis_io[row]
        exchange(p_io, row, T_io)
        basis_io[row] = entering
        if not math.isfinite(T_io[row, 0]):
            return OVERFLOW, k + 1, entering
        if leaving == 2 * n:
            return SOLVED, k + 1, entering
        entering = leaving + n if leaving < n else leaving - n
    return LIMIT, limit, entering


@dataclass(frozen=True, eq=False)
class LcpSolution:
    """What `solve_lcp` found.

    Attributes:
        z: the unknowns, (n,); the best vector seen where the status is not CONVERGED.
        w: M z + q, (n,).
        status: how it ended.
        pivots: pivots made, over all attempts; nodes for the enumeration.
        message: one sentence.
        seconds: time spent.
    """

    z: Array
    w: Array
    status: Status
    pivots: int
    message: str
    seconds: float

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Step 1: M' = R M C, q' = R q / s, so that z = s C z'."""

    M: Array
    q: Array
    columns: Array  # s C


def _scale(lcp: LinearComplementarityProblem) -> _Scaled:
    """Powers of two that bring the largest entry of each row and column of M near 1."""
    M = np.array(lcp.M)
    rows, columns = np.ones(lcp.size), np.ones(lcp.size)
    for _ in range(EQUILIBRATIONS):
        for axis, total in ((1, rows), (0, columns)):
            largest = np.abs(M).max(axis=axis)
            safe = np.where(largest > 0.0, largest, 1.0)
            step = np.exp2(-np.round(0.5 * np.log2(safe)))
            total *= step
            M *= step[:, None] if axis == 1 else step
    q = rows * lcp.q
    size = float(np.abs(q).max()) or 1.0
    return _Scaled(M, q / size, size * columns)


def _basis_matrix(M: Array, cover: Array, basis: IntArray) -> Array:
    """Columns of [I, −M, −d] that are basic, (n, n)."""
    n = len(cover)
    return np.column_stack([np.eye(n), -M, -cover])[:, basis]


def _run(M: Array, q: Array, cover: Array, tie: float, limit: int) -> tuple[int, int, IntArray, Array]:
    """Steps 2 to 5 on scaled data: status, pivots, basis and its values."""
    n = len(q)
    basis = np.arange(n, dtype=np.int64)
    T = np.ascontiguousarray(np.column_stack([q, np.eye(n)]))
    if q.min() >= 0.0:
        return SOLVED, 0, basis, T[:, 0]
    candidate, p = np.empty(n, dtype=np.int64), np.empty(n)
    ratio = q / cover
    # step 2: the last of the tied rows is the one that keeps all others lexicographically positive
    row = int(np.flatnonzero(ratio <= ratio.min() + tie)[-1])
    p[:] = -cover
    exchange(p, row, T)
    basis[row], entering = 2 * n, n + row
    pivots, status = 1, LIMIT
    while status == LIMIT and pivots < limit:
        batch = min(max(REFRESH, n), limit - pivots)
        status, made, entering = pivot_path(M, cover, batch, tie, PIVOT, entering, candidate, p, basis, T)
        pivots += made
        if status == LIMIT:
            try:
                inverse = np.linalg.inv(_basis_matrix(M, cover, basis))
            except np.linalg.LinAlgError:
                continue
            T[:, 0], T[:, 1:] = inverse @ q, inverse
    return status, pivots, basis, T[:, 0]


def _polish(scaled: _Scaled, basis: IntArray, values: Array) -> Array:
    """Step 6: z' on a complementary basis, by LU and one refinement, or from the tableau if LU fails."""
    n = len(scaled.q)
    z = np.zeros(n)
    inside = np.sort(basis[(basis >= n) & (basis < 2 * n)]) - n
    z[basis[basis >= n] - n] = values[basis >= n]
    if len(inside):
        A, q = scaled.M[np.ix_(inside, inside)], scaled.q[inside]
        try:
            x = -np.linalg.solve(A, q)
            x -= np.linalg.solve(A, A @ x + q)
        except np.linalg.LinAlgError:
            x = z[inside]
        if np.isfinite(x).all():
            z[inside] = x
    return np.maximum(z, 0.0)


def _covers(n: int) -> Iterator[tuple[Array, float]]:
    """Covering vectors and tie tolerances, in the order they are tried; random ones repeat run by run."""
    yield np.ones(n), TIE
    yield np.ones(n), CLOSE_TIE
    rng = np.random.default_rng(0)
    for _ in range(OTHER_COVERS):
        yield np.exp2(rng.uniform(-3.0, 3.0, n)), TIE


def _has_no_feasible_point(scaled: _Scaled) -> bool:
    """Case (a): whether some y ≥ 0 with Mᵀy ≤ 0 and qᵀy < 0 proves that M z + q ≥ 0 has no z ≥ 0."""
    from scipy.optimize import linprog

    M, q = scaled.M, scaled.q
    found = linprog(q, A_ub=M.T, b_ub=np.zeros(len(q)), bounds=(0.0, 1.0), method="highs")
    if found.x is None:
        return False
    y = np.maximum(found.x, 0.0)
    gain = -float(q @ y)
    return gain > PROOF and float((y @ M).max()) <= PROOF * gain


def solve_lcp(
    lcp: LinearComplementarityProblem, method: str = "auto", tol: float = 1e-10, max_pivots: int | None = None
) -> LcpSolution:
    """Solve a linear complementarity problem.

    Args:
        lcp: the problem.
        method: ``lemke``: one path, and what came of it; ``enumeration``: all complementary bases; ``auto``:
            Lemke's path, and on a ray the cases (a) to (d) of the module text.
        tol: on the residual of `certify_lcp`.
        max_pivots: limit per path; 5000 + 50 n if None.
    """
    if not isinstance(lcp, LinearComplementarityProblem):
        raise BadInput(f"expected a LinearComplementarityProblem, got {type(lcp).__name__}; see solve")
    if method not in METHODS:
        raise BadInput(f"unknown method {method!r}; choose from {', '.join(METHODS)}")
    if not 0.0 < tol < 1.0:
        raise BadInput(f"tol: {tol!r} must lie between 0 and 1")
    begin = time.perf_counter()
    if not lcp.size or lcp.q.min() >= 0.0:
        z, status, pivots, message = np.zeros(lcp.size), Status.CONVERGED, 0, Status.CONVERGED.message
    elif method == "enumeration":
        found = enumerate_lcp(lcp, tol)
        z, status, pivots, message = found.z, found.status, found.nodes, found.message
    else:
        limit = 5000 + 50 * lcp.size if max_pivots is None else max_pivots
        with np.errstate(all="ignore"):
            z, status, pivots, message = _by_pivoting(lcp, method == "auto", tol, limit)
    seconds, judged = time.perf_counter() - begin, certify_lcp(lcp, z)
    status, message = certified(status, message, judged.residual, judged.rounding, tol)
    with np.errstate(all="ignore"):
        w = lcp.slack(z)
    return LcpSolution(z, w, status, pivots, message, seconds)


def _by_pivoting(
    lcp: LinearComplementarityProblem, decide: bool, tol: float, limit: int
) -> tuple[Array, Status, int, str]:
    """Lemke's method, and what follows a ray: z, status, pivots, message."""
    scaled = _scale(lcp)
    if not (np.isfinite(scaled.M).all() and np.isfinite(scaled.q).all()):
        return np.zeros(lcp.size), Status.BAD_INPUT, 0, Status.BAD_INPUT.message
    best, least, total, ended = np.zeros(lcp.size), math.inf, 0, Status.STALLED
    for attempt, (cover, tie) in enumerate(_covers(lcp.size)):
        code, pivots, basis, values = _run(scaled.M, scaled.q, cover, tie, limit)
        total += pivots
        if code == SOLVED:
            z = scaled.columns * _polish(scaled, basis, values)
            residual = certify_lcp(lcp, z).residual if np.isfinite(z).all() else math.inf
            if residual <= tol:
                return z, Status.CONVERGED, total, Status.CONVERGED.message
            if residual < least:
                best, least = z, residual
        if attempt == 0:
            ended = _STATUS[code]
            if not decide:
                break
            if code == RAY and _has_no_feasible_point(scaled):
                return best, Status.INFEASIBLE, total, "no z ≥ 0 has M z + q ≥ 0, proved by a linear program"
    if decide and lcp.size <= ENUMERATED:
        found = enumerate_lcp(lcp, tol, DECIDING)
        if found.status in (Status.CONVERGED, Status.INFEASIBLE):
            return found.z, found.status, total, found.message
    return best, ended, total, ended.message


_STATUS = {
    SOLVED: Status.STALLED,  # a complementary basis, but not to the tolerance
    RAY: Status.UNBOUNDED,
    LIMIT: Status.ITERATION_LIMIT,
    OVERFLOW: Status.BAD_INPUT,
}


@dataclass(frozen=True, kw_only=True)
class Lemke(Solver):
    """Lemke's method on the friction pyramid, or on contact without friction.

    Attributes:
        tol: tolerance on the residual of the linear complementarity problem.
        max_iterations: limit on pivots per path.
    """

    tol: float = 1e-10
    max_iterations: int = 20000

    name: ClassVar[str] = "lemke"
    summary: ClassVar[str] = "complementary pivoting with a lexicographic rule; finite, exact, for pyramids"
    laws: ClassVar[tuple[str, ...]] = ("pyramid", "frictionless")

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem; pivoting has no use for a guess."""
        self.check(problem, guess)
        pyramid = pyramid_lcp(problem)
        found = solve_lcp(pyramid.lcp, tol=self.tol, max_pivots=self.max_iterations)
        status, message = found.status, found.message
        if pyramid.inconsistency > INCONSISTENT:
            status, message = Status.INFEASIBLE, "no impulse can bring the bilateral rows to rest"
        residual = certify_lcp(pyramid.lcp, found.z).residual
        end = Iterations(status, found.pivots, np.array([residual]), message=message)
        return self.conclude(problem, pyramid.impulse(found.z), end, found.seconds)

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Solve a frictionless problem given in block form; the result does not depend on r_io."""
        solution = self.solve(blocks.problem)
        r_io[:] = blocks.pack(solution.impulse)
        return Iterations(solution.status, solution.iterations, solution.history, message=solution.message)
