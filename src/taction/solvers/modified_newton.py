"""The Modified Newton algorithm of the snake robot's document, as it is printed.

What it solves: the exact law, written as projections,
    Λ_N = prox_{≥0}(Λ_N − r_N γ_N),     Λ_T = prox_{Λ_N D}(Λ_T − r_T γ_T),
intervals as Λ = prox_{[lo,hi]}(Λ − r_N γ), and bilateral rows, γ_J = 0, which are not iterated on.

Notation: γ = u = W Λ + b; J the bilateral rows, C all others; D the section of the friction cone, two
half-ellipses; S = W_CC − W_CJ W_JJ⁻¹ W_JC what the contacts see of W once the joints hold.

Method, with the document's numbers; in iteration k
1. Joints (64), (65): Λ_J = −W_JJ⁻¹ (b_J + W_JC Λ_C), written as the correction Λ_J ← Λ_J − W_JJ⁻¹ u_J. W_JJ
   is factored once, by Cholesky's method or as sparse LU; where it is singular, as for redundant joints,
   the solution of least squares is taken.
2. Velocities (66), (69): u = W Λ + b.
3. Contacts (67), then (68) with the new Λ_N; intervals row by row.
4. Stop when the natural map relative to ‖b‖ is at most ``tol``: converged, as for every solver. Stop also on
   (70), when ‖ΔΛ_N‖ + ‖ΔΛ_T‖ ≤ ``epsilon``: if the natural map is above ``tol`` then, the method has stalled.
   (Any change becomes small with r, so (70) alone says little; intervals count as normal rows.)

Parameters. γ is a velocity and Λ an impulse, so r is a mass. The document's r_N = 2 and r_T = 0.5 are kg and
fit links of 7 kg. Numbers given here are kg, too: ``ModifiedNewton(r_N=2.0, r_T=0.5)`` is the document's
choice. By default r is taken from the problem, r_i = 1/(λ W_ii) per contact, with W_ii the largest diagonal
entry of its rows N or T, and λ the largest eigenvalue of S so scaled, by the power method. It then does not
depend on units.

Convergence: without friction, the iteration is a projected gradient and converges for r_i = ω/(λ W_ii),
0 < ω < 2; with friction there is no general result, as the document says. It is linear, at the rate of the
smallest eigenvalue of S that matters, often slow. Too large r diverge, or cycle: the run stops with STALLED
once the residual is `DIVERGED` times the best, or nothing has improved for `WINDOW` iterations, and hands
out the best impulses it has seen.

Cost: two products with W and a solve with the factor of W_JJ per iteration.

Difference to `taction.solvers.prox`: that one changes the unknowns' scale and adapts r on the way; here the
problem is as given, and r constant.

Departures: (64) is printed with an inverse too many and without τ_C; see the page on deviations. The default
of r. The first stopping rule.

References: [Transeth2006, Eqs. (59)–(70)]; [AlartCurnier1991] for the projections.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import kernel
from taction.contact.blocks import BlockRows, Blocks, multiply
from taction.contact.laws.dispatch import intervals, is_rowwise, natural_map, project_in_turn, rowwise
from taction.solvers.admm import dense, sparse
from taction.solvers.base import Iterations, Solver, Status, reference
from taction.solvers.products import Progress

POWER_STEPS = 30
SAFETY = 1.1  # on the eigenvalue, which the power method approaches from below
DIVERGED = 1e6
WINDOW = 3000  # iterations without progress after which the run counts as stalled
DENSE = 400  # bilateral rows up to which W_JJ is factored as a dense matrix
SINGULAR = 1e-10  # pivot of W_JJ, scaled to a unit diagonal, below which least squares are used
RANK = 1e-12  # relative size of eigenvalues that count as zero there


@kernel
def prox_step(kind, sets, u, r, bilateral, x_io):
    """Step 3: impulses x_io (3k,) at velocities u with parameters r (3k,). Returns ‖ΔΛ_N‖, ‖ΔΛ_T‖.

    Rows with bilateral (3k,) ≠ 0 are left alone. The tangential parameter is that of t₁.
    """
    normal, tangential = 0.0, 0.0
    for i in range(kind.shape[0]):
        c = 3 * i
        is_row = is_rowwise(kind[i])
        lateral = r[c + 2] if is_row else r[c + 1]
        y0, y1, y2 = project_in_turn(
            kind[i],
            sets[i],
            x_io[c] - r[c] * u[c],
            x_io[c + 1] - r[c + 1] * u[c + 1],
            x_io[c + 2] - lateral * u[c + 2],
        )
        y0 = y0 if bilateral[c] == 0 else x_io[c]
        y1 = y1 if bilateral[c + 1] == 0 else x_io[c + 1]
        y2 = y2 if bilateral[c + 2] == 0 else x_io[c + 2]
        normal += (y0 - x_io[c]) ** 2
        change = (y1 - x_io[c + 1]) ** 2 + (y2 - x_io[c + 2]) ** 2
        normal += change if is_row else 0.0
        tangential += 0.0 if is_row else change
        x_io[c], x_io[c + 1], x_io[c + 2] = y0, y1, y2
    return math.sqrt(normal), math.sqrt(tangential)


def bilateral_rows(rows: BlockRows) -> IntArray:
    """Which of the 3k rows are bilateral, ascending."""
    low, high = intervals(rows.kind, rows.sets)
    return np.flatnonzero(np.isinf(low) & np.isinf(high))


def joint_solver(rows: BlockRows, joints: IntArray) -> Callable[[Array], Array]:
    """A function that solves with W_JJ, by least squares if it is singular."""
    if not len(joints):
        return lambda x: x
    if len(joints) > DENSE:
        solve = _sparse_solver(rows, joints)
        if solve is not None:
            return solve
    W = dense(rows, rows.value)[np.ix_(joints, joints)]
    W = 0.5 * (W + W.T)
    d = 1.0 / np.sqrt(np.where(np.diag(W) > 0.0, np.diag(W), 1.0))
    W = d[:, None] * W * d
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, info = dpotrf(W, lower=True)
    if info == 0 and np.diag(factor).min() ** 2 > SINGULAR:
        return lambda x: d * dpotrs(factor, d * x, lower=True)[0]
    inverse = np.linalg.pinv(W, rcond=RANK, hermitian=True)
    return lambda x: d * (inverse @ (d * x))


def _sparse_solver(rows: BlockRows, joints: IntArray) -> Callable[[Array], Array] | None:
    """The same by sparse LU; None if a pivot is too small."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    W = sparse(rows, rows.value)[:, joints][joints]
    diagonal = W.diagonal()
    d = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scale = diags_array(d)
    try:
        lu = splu((scale @ W @ scale).tocsc(), "MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return None
    if np.abs(lu.U.diagonal()).min() <= SINGULAR:
        return None
    return lambda x: d * lu.solve(d * x)


@dataclass(frozen=True, kw_only=True)
class ModifiedNewton(Solver):
    """The snake document's iteration: joints solved for, contacts by projections with constant r.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit.
        r_N: parameter of normal rows and intervals [kg]; the document has 2. None takes it from the problem,
            see the module text. Too large diverges, too small is slow.
        r_T: the same for tangential rows; the document has 0.5.
        epsilon: the method also ends when impulses change by no more than this (70) [N s].
    """

    max_iterations: int = 20_000
    r_N: float | None = None
    r_T: float | None = None
    epsilon: float = 0.0

    name: ClassVar[str] = "modified-newton"
    summary: ClassVar[str] = (
        "exact law; the snake paper's iteration as printed: joints eliminated, constant r"
    )
    laws: ClassVar[tuple[str, ...]] = ("exact", "frictionless")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("r_N", "r_T")
        if not 0.0 <= self.epsilon < math.inf:
            raise BadInput(f"epsilon: {self.epsilon!r} must be at least 0 and finite")

    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """See `Solver.iterate`."""
        with np.errstate(all="ignore"):
            return self._run(blocks.rows, r_io)

    def _run(self, rows: BlockRows, x_io: Array) -> Iterations:
        joints = bilateral_rows(rows)
        solve = joint_solver(rows, joints)
        bilateral = np.zeros(len(rows.b), dtype=np.int64)
        bilateral[joints] = 1
        r = self.parameters(rows, joints, solve)
        size = reference(rows.b)
        progress = Progress(self.tol, self.max_iterations, WINDOW)
        x, u = x_io.copy(), np.empty_like(x_io)
        change, message = math.inf, None
        while True:
            multiply(rows, x, u)
            if len(joints):  # steps 1 and 2
                x[joints] -= solve(u[joints])
                multiply(rows, x, u)
            residual = float(natural_map(rows.kind, rows.sets, x, u)) / size
            if progress.record(residual, x):
                break
            if residual > DIVERGED * progress.best:
                progress.status, message = Status.STALLED, self._diverges()
                break
            if change <= self.epsilon:
                progress.status = Status.STALLED
                message = (
                    f"the impulses change by {change:.1e} N s, which (70) calls the end, above the tolerance"
                )
                break
            change = sum(prox_step(rows.kind, rows.sets, u, r, bilateral, x))  # step 3
        if progress.status is Status.STALLED and message is None:
            message = self._diverges() if not math.isfinite(residual) else None
        if progress.iterate is not None:
            x_io[:] = progress.iterate
        return progress.end(message=message)

    def _diverges(self) -> str:
        given = [f"{name} = {getattr(self, name):g} kg" for name in ("r_N", "r_T") if getattr(self, name)]
        hint = f"; {' and '.join(given)} may be too large" if given else ""
        return f"the iteration diverges{hint}; the impulses are the best that were seen"

    def parameters(self, rows: BlockRows, joints: IntArray, solve: Callable[[Array], Array]) -> Array:
        """Parameters r of every row, (3k,) [kg]."""
        diagonal = rows.value[rows.diagonal][:, [0, 4, 8]]
        cone = ~rowwise(rows.kind)
        diagonal[cone, 1:] = diagonal[cone, 1:].max(axis=1)[:, None]
        diagonal = diagonal.ravel()
        if self.r_N is None or self.r_T is None:
            weight = np.where(diagonal > 0.0, 1.0 / diagonal, 0.0)
            weight[joints] = 0.0
            r = weight / largest_eigenvalue(rows, joints, solve, np.sqrt(weight))
        else:
            r = np.empty_like(diagonal)
        tangential = np.repeat(cone, 3)
        tangential[0::3] = False
        if self.r_N is not None:
            r[~tangential] = self.r_N
        if self.r_T is not None:
            r[tangential] = self.r_T
        return r


def largest_eigenvalue(rows: BlockRows, joints: IntArray, solve: Callable[[Array], Array], s: Array) -> float:
    """λ_max of s S s, times `SAFETY`; s (3k,) is zero on bilateral rows. 1 if it vanishes."""
    homogeneous = rows._replace(b=np.zeros_like(rows.b))
    x = s * (1.0 + 0.1 * np.cos(np.arange(len(s), dtype=float)))  # generic and the same in every run
    y = np.empty_like(x)
    value = 0.0
    for _ in range(POWER_STEPS):
        norm = math.sqrt(x @ x)
        if not 0.0 < norm < math.inf:
            break
        x /= norm
        full = s * x
        multiply(homogeneous, full, y)
        if len(joints):
            full[joints] = -solve(y[joints])
            multiply(homogeneous, full, y)
        y *= s
        value = max(value, float(x @ y))
        x[:] = y
    return SAFETY * value if 0.0 < value < math.inf else 1.0
