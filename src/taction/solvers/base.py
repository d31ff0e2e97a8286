"""What every contact solver offers: options in, a typed result out.

A solver is a frozen dataclass of options. `Solver.solve` is the same for all of them: it checks the law,
brings the problem into block form, calls the method's own ``iterate``, and turns what comes back into a
`Solution`. Not having converged is a result, never a log line, and never an exception.

The residual that solvers stop on is the natural map relative to ‖b‖,
    ‖Λ − P_C(Λ − γ)‖ / ‖b‖,     γ = u + σ(−u_T) e_N,
unscaled, as in FCLib. What a method believes is not what the user is told: *converged means certified*.
Whatever ends a solve goes through `certified`, which asks the judge (`taction.contact.certificate`) about
the impulses alone. Where a method stopped content on impulses that the judge refuses, or on ones so large
that rounding hides whether they are right, the status is NOT_CERTIFIED.

References: [AcaryBremondHuber2018] for the measure and a comparison of methods.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.show import brief_repr
from taction.contact.blocks import Blocks, make_blocks, multiply
from taction.contact.certificate import certify, length
from taction.contact.laws.dispatch import natural_map
from taction.contact.problem import ContactProblem

MARGIN = 0.9  # of the tolerance, to stop at: so that the judge, who rounds differently, agrees

S = TypeVar("S", bound="Solver")


class Status(IntEnum):
    """How a solve ended."""

    CONVERGED = 0
    ITERATION_LIMIT = 1
    STALLED = 2
    INFEASIBLE = 3
    UNBOUNDED = 4
    BAD_INPUT = 5
    NOT_CERTIFIED = 6

    @property
    def label(self) -> str:
        """The status in words for tables and JSON."""
        return self.name.lower().replace("_", " ")

    @property
    def message(self) -> str:
        """One sentence for the user."""
        return _MESSAGES[self]

    def __str__(self) -> str:
        return self.label


_MESSAGES = {
    Status.CONVERGED: "the certified residual is below the tolerance",
    Status.ITERATION_LIMIT: "the iteration limit was reached before the tolerance",
    Status.STALLED: "the iteration stopped making progress above the tolerance",
    Status.INFEASIBLE: "no impulses satisfy the laws: the problem has no solution",
    Status.UNBOUNDED: "the method ended on a ray: it found neither a solution nor a proof that there is none",
    Status.BAD_INPUT: "the numbers of the problem are not finite or overflow",
    Status.NOT_CERTIFIED: "the method stopped content, but the certificate does not agree",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    Attributes:
        impulse: Λ, (n,).
        velocity: u = W Λ + b, (n,).
        status: how it ended; `Status.message` is a sentence.
        iterations: of the method, in its own unit.
        residual: what the certificate proves, `taction.contact.certificate.Certificate.proven`.
        history: the method's own residual over the iterations, as far as it recorded it.
        solver: name of the method (of the one that finished, for ``auto``).
        seconds: time in the method, without checks and conversion; the first call in a process may compile.
        message: one sentence.
    """

    impulse: Array
    velocity: Array
    status: Status
    iterations: int
    residual: float
    history: Array
    solver: str
    seconds: float
    message: str

    __repr__ = brief_repr

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached, by the certificate."""
        return self.status is Status.CONVERGED


@dataclass(frozen=True)
class Iterations:
    """What a method reports about its own run: status, count, and its residual over time."""

    status: Status
    count: int
    history: Array
    solver: str | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class Solver(ABC):
    """A method for contact problems; subclasses are frozen dataclasses of their options.

    Attributes:
        tol: tolerance on the relative natural-map residual.
        max_iterations: limit, in the method's own unit.
    """

    tol: float = 1e-8
    max_iterations: int = 1000

    name: ClassVar[str]
    summary: ClassVar[str]
    laws: ClassVar[tuple[str, ...]] = ("exact", "convex", "frictionless")
    is_at_origin: ClassVar[bool] = False  # has equations of its own, for cones that begin at the origin
    is_reference: ClassVar[bool] = False  # slow on purpose: left out of benchmarks unless asked for

    def __post_init__(self) -> None:
        if not isinstance(self.tol, (int, float)) or not 0.0 < self.tol < 1.0:
            raise BadInput(f"tol: {self.tol!r} must be a number between 0 and 1")
        limit = self.max_iterations
        if isinstance(limit, bool) or not isinstance(limit, (int, np.integer)) or limit < 1:
            raise BadInput(f"max_iterations: {limit!r} must be a whole number, at least 1")

    def require_positive(self, *names: str) -> None:
        """Refuse options of these names that are neither None nor positive numbers."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise BadInput(f"{name}: {value!r} must be above 0 and finite, or None")

    def solve(self, problem: ContactProblem, guess: ArrayLike | None = None) -> Solution:
        """Solve the problem, from a guess of the impulses (n,) or from zero."""
        self.check(problem, guess)
        blocks = make_blocks(problem)
        size = reference(blocks.rows.b)
        if self.is_at_origin:
            blocks = blocks.at_origin()
        packed = blocks.pack(guess)
        begin = time.perf_counter()
        end = self.striving(size / reference(blocks.rows.b)).iterate(blocks, packed)
        seconds = time.perf_counter() - begin
        return self.conclude(problem, blocks.unpack(packed), end, seconds)

    def striving(self: S, share: float = 1.0) -> S:
        """The same method with a little less than the tolerance to reach, or than a share of it below 1."""
        return replace(self, tol=MARGIN * min(share, 1.0) * self.tol)

    def check(self, problem: ContactProblem, guess: ArrayLike | None) -> None:
        """Refuse what is no problem, a law that the method does not know, a guess that is not n numbers."""
        if not isinstance(problem, ContactProblem):
            what = type(problem).__name__
            raise BadInput(f"expected a ContactProblem, got {what}; LCPs are solved by solve_lcp")
        if problem.law not in self.laws:
            known = ", ".join(self.laws)
            raise BadInput(f"solver {self.name!r} does not know the law {problem.law!r}; it knows {known}")
        if guess is not None:
            as_float(guess, (problem.size,), "guess")

    @abstractmethod
    def iterate(self, blocks: Blocks, r_io: Array) -> Iterations:
        """Improve the packed impulses r_io (3k,) in place."""

    def conclude(self, problem: ContactProblem, impulse: Array, end: Iterations, seconds: float) -> Solution:
        """A `Solution` from what a method left behind, converged only if the judge agrees."""
        certificate = certify(problem, impulse)
        status, message = certified(
            end.status, end.message, certificate.residual, certificate.rounding, self.tol
        )
        return Solution(
            impulse=impulse,
            velocity=problem.velocity(impulse),
            status=status,
            iterations=end.count,
            residual=certificate.proven,
            history=end.history,
            solver=end.solver or self.name,
            seconds=seconds,
            message=message,
        )


def certified(
    status: Status, message: str | None, residual: float, rounding: float, tol: float
) -> tuple[Status, str]:
    """Status and message of an end that a method reports, given what the judge says of it."""
    if status is not Status.CONVERGED:
        return status, message or status.message
    if not rounding <= tol:
        return (
            Status.NOT_CERTIFIED,
            f"the impulses are so large that rounding, {rounding:.1e}, hides whether they are right",
        )
    if not residual <= tol:
        return Status.NOT_CERTIFIED, f"the method stopped content, but the certificate finds {residual:.2e}"
    return status, message or status.message


def relative_residual(blocks: Blocks, r: Array) -> float:
    """Natural-map residual of packed impulses r (3k,), relative to ‖b‖."""
    rows = blocks.rows
    u = np.empty_like(r)
    multiply(rows, r, u)
    return float(natural_map(rows.kind, rows.sets, r, u) / reference(rows.b))


def reference(b: Array) -> float:
    """‖b‖, or 1 where b vanishes: what residuals are relative to."""
    return length(b) or 1.0
