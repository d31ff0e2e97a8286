"""What the first-order methods see of a problem: products u' = W' Λ' + b' in scaled unknowns, and a judge.

Scaling is that of `taction.contact.blocks`: Λ = s Λ', W' = s W s, b' = s b. With W given as numbers, s
makes the mean diagonal of each contact one. A matrix-free W is only ever multiplied with, its diagonal is
unknown and s = 1.

`Progress` keeps what every loop has to keep: the best finite iterate so far, a history that stays short,
and the decision whether to stop. So no method can hand out an iterate that is not finite, or worse than one
it has seen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction.contact.blocks import BlockRows, Blocks, layout, multiply, scaled
from taction.contact.laws.dispatch import natural_map
from taction.contact.problem import ContactProblem
from taction.solvers.base import Iterations, Solution, Solver, Status, reference

KEPT = 512  # entries of the history after which every other one is dropped
GAIN = 0.99  # the best residual must fall below this share within a window, or the method has stalled
TINY = 1e-300


class Scaled(Protocol):
    """A problem in scaled unknowns, with k blocks.

    Attributes:
        kind: of each block, (k,).
        sets: scaled sets, (k, 6).
        scale: s, (3k,).
        b: scaled free velocity, (3k,).
    """

    @property
    def kind(self) -> IntArray: ...  # noqa: D102

    @property
    def sets(self) -> Array: ...  # noqa: D102

    @property
    def scale(self) -> Array: ...  # noqa: D102

    @property
    def b(self) -> Array: ...  # noqa: D102

    def velocity(self, x: Array, u_out: Array) -> None:
        """u_out = W' x + b', (3k,)."""

    def residual(self, x: Array, u: Array) -> float:
        """Natural map of the unscaled problem at scaled impulses x and velocities u, relative to ‖b‖."""


@dataclass(frozen=True, eq=False)
class ScaledBlocks:
    """W' as block rows."""

    original: BlockRows
    rows: BlockRows
    scale: Array

    @property
    def kind(self) -> IntArray:
        """Of each block, (k,)."""
        return self.rows.kind

    @property
    def sets(self) -> Array:
        """Scaled sets, (k, 6)."""
        return self.rows.sets

    @property
    def b(self) -> Array:
        """Scaled free velocity, (3k,)."""
        return self.rows.b

    def velocity(self, x: Array, u_out: Array) -> None:
        """u_out = W' x + b', (3k,)."""
        multiply(self.rows, x, u_out)

    def residual(self, x: Array, u: Array) -> float:
        """See `Scaled.residual`."""
        kind, sets, b = self.original.kind, self.original.sets, self.original.b
        return float(natural_map(kind, sets, self.scale * x, u / self.scale)) / reference(b)


@dataclass(frozen=True, eq=False)
class MatrixFree:
    """W as something to multiply with; s = 1."""

    problem: ContactProblem
    slot: IntArray
    kind: IntArray
    sets: Array
    scale: Array
    b: Array

    def velocity(self, x: Array, u_out: Array) -> None:
        """u_out = (W + R) x + b, (3k,)."""
        u_out[:] = 0.0
        u_out[self.slot] = self.problem.law_velocity(x[self.slot])

    def residual(self, x: Array, u: Array) -> float:
        """See `Scaled.residual`."""
        return float(natural_map(self.kind, self.sets, x, u)) / reference(self.b)


def scaled_blocks(blocks: Blocks) -> ScaledBlocks:
    """The scaled form of a problem in blocks."""
    return ScaledBlocks(blocks.rows, *scaled(blocks.rows))


def is_matrix_free(problem: ContactProblem) -> bool:
    """Whether W can only be multiplied with."""
    return not isinstance(problem.W, np.ndarray) and not hasattr(problem.W, "tocsr")


def matrix_free(problem: ContactProblem) -> MatrixFree:
    """A problem whose W is only multiplied with.

    Raises:
        BadInput: viscous friction, which is eliminated with a part of W itself.
    """
    if problem.viscosity.any():
        raise BadInput(
            "viscous friction needs the numbers of W, and this problem only offers products with it"
        )
    slot, kind, sets = layout(problem)
    b = np.zeros(3 * len(kind))
    b[slot] = problem.b
    return MatrixFree(problem, slot, kind, sets, np.ones_like(b), b)


def largest_eigenvalue(problem: Scaled, steps: int) -> float:
    """λ_max of W' by so many steps of the power method: a lower bound, usually within a few per cent."""
    n = len(problem.b)
    x = 1.0 + 0.1 * np.cos(np.arange(n, dtype=float))  # generic and the same in every run
    x /= max(float(np.linalg.norm(x)), TINY)
    y = np.empty(n)
    value = 0.0
    for _ in range(steps):
        problem.velocity(x, y)
        y -= problem.b
        value = float(np.linalg.norm(y))
        if not 0.0 < value < math.inf:
            break
        x[:] = y / value
    return value


class Progress:
    """Best iterate, history and the decision to stop, for one run of an iterative method.

    Args:
        tol: residual at which to stop.
        limit: iterations at which to stop.
        window: iterations without progress after which the method counts as stalled.
    """

    def __init__(self, tol: float, limit: int, window: int) -> None:
        self.tol, self.limit, self.window = tol, limit, window
        self.best = math.inf
        self.iterate: Array | None = None
        self.status: Status | None = None
        self.count = 0
        self._history: list[float] = []
        self._stride = 1
        self._mark, self._marked_at = math.inf, 0

    def record(self, residual: float, x: Array) -> bool:
        """Note the residual of iterate x after one more iteration; whether to stop."""
        if not math.isfinite(residual):
            self.status = Status.BAD_INPUT if self.iterate is None else Status.STALLED
            return True
        if self.count % self._stride == 0:
            self._history.append(residual)
            if len(self._history) >= KEPT:
                self._history = self._history[::2]
                self._stride *= 2
        if residual < self.best:
            self.best = residual
            self.iterate = x.copy()
        if residual < GAIN * self._mark:
            self._mark, self._marked_at = residual, self.count
        if self.best <= self.tol:
            self.status = Status.CONVERGED
        elif self.count >= self.limit:
            self.status = Status.ITERATION_LIMIT
        elif self.count - self._marked_at >= self.window:
            self.status = Status.STALLED
        self.count += 1
        return self.status is not None

    def renew(self) -> None:
        """Begin again from another point: what was found stays, the window starts."""
        self.status = None
        self._mark, self._marked_at = math.inf, self.count

    def end(self, **more: Any) -> Iterations:
        """What the method reports; iterations are counted without the starting point."""
        history = self._history if self._history[-1:] == [self.best] else [*self._history, self.best]
        status = self.status if self.status is not None else Status.STALLED
        kept = np.array([value for value in history if math.isfinite(value)])
        return Iterations(status, max(self.count - 1, 0), kept, **more)


def solve_matrix_free(
    solver: Solver, run: Callable[[Scaled, Array], Progress], problem: ContactProblem, guess: ArrayLike | None
) -> Solution:
    """`Solver.solve` for a method `run` that only multiplies with W."""
    scaled = matrix_free(problem)
    x = np.zeros_like(scaled.b)
    if guess is not None:
        x[scaled.slot] = as_float(guess, (problem.size,), "guess")
    begin = time.perf_counter()
    progress = run(scaled, x)
    seconds = time.perf_counter() - begin
    best = np.zeros_like(x) if progress.iterate is None else progress.iterate
    return solver.conclude(problem, best[scaled.slot], progress.end(), seconds)
