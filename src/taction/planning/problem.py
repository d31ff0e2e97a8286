"""`PlanningProblem`: what a plan through contact shall be, whatever method finds it; `Plan`: what was found.

What it asks, over a horizon of N steps of a `ContactSystem` from x₀:

    min  Σ_{k<N} |x_k − x̄_k|²_Q + |u_k − ū_k|²_R  +  |x_N − x̄_N|²_{Q_N}
    with x_{k+1}, λ_k, η_k by the system,   x_{k+1} ∈ X,   u_k ∈ U.

>>> import numpy as np
>>> from taction.planning.problem import Cost, Polytope
>>> Polytope.box([-1.0, -2.0], [1.0, 2.0]).A.shape
(4, 2)
>>> Cost(np.eye(2), 0.1 * np.eye(1)).final.tolist()
[[1.0, 0.0], [0.0, 1.0]]

References: [PosaCantuTedrake2014] for plans with contact variables among the unknowns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput, PlanningError
from taction._core.expect import instance, sequence
from taction.planning.system import ContactSystem

DEFINITE = 1e-12  # least eigenvalue of a weight, relative to the largest: below is rounding


@dataclass(frozen=True, eq=False)
class Polytope:
    """Points z with A z ≤ b.

    Attributes:
        A: rows, shape (r, n).
        b: what they may reach, shape (r,).
    """

    A: Array
    b: Array

    def __post_init__(self) -> None:
        A = as_float(self.A, (None, None), "A of a polytope")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", as_float(self.b, (len(A),), "b of a polytope"))

    @classmethod
    def box(cls, low: ArrayLike, high: ArrayLike) -> Polytope:
        """Points between two (n,), of which entries may be infinite."""
        low, high = np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
        if low.shape != high.shape or low.ndim != 1 or not (low <= high).all():
            raise BadInput(f"box: low must not exceed high, entry by entry, got {low} and {high}")
        unit = np.eye(len(low))
        A, b = np.vstack([unit, -unit]), np.concatenate([high, -low])
        return cls(A[np.isfinite(b)], b[np.isfinite(b)])


@dataclass(frozen=True, eq=False)
class Cost:
    """Weights of a plan.

    Attributes:
        states: Q, symmetric and semidefinite, shape (n, n).
        inputs: R, symmetric and positive definite, shape (m, m).
        final: Q_N, like Q; the same by default.
    """

    states: Array
    inputs: Array
    final: Array | None = None

    def __post_init__(self) -> None:
        for name, least in (("states", -DEFINITE), ("inputs", DEFINITE), ("final", -DEFINITE)):
            value = self.states if name == "final" and self.final is None else getattr(self, name)
            value = as_float(value, (None, None), f"cost of {name}")
            if value.shape[0] != value.shape[1] or not np.allclose(value, value.T, rtol=1e-12, atol=0.0):
                raise BadInput(f"cost of {name}: must be symmetric")
            found = np.linalg.eigvalsh(value)
            if len(found) and found[0] < least * max(abs(found[-1]), 1e-300):
                must = "positive definite" if least > 0.0 else "positive semidefinite"
                raise BadInput(f"cost of {name}: must be {must}, least eigenvalue {found[0]:.3g}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """A plan that is asked for.

    Attributes:
        systems: what moves in each step: one `ContactSystem` for all, or one per step.
        horizon: number of steps N.
        cost: weights.
        states: X, of all states but the first.
        inputs: U.
    """

    systems: ContactSystem | Sequence[ContactSystem]
    horizon: int
    cost: Cost
    states: Polytope | None = None
    inputs: Polytope | None = None

    def __post_init__(self) -> None:
        if isinstance(self.horizon, bool) or not isinstance(self.horizon, int) or self.horizon < 1:
            raise BadInput(f"horizon: must be a whole number of steps, got {self.horizon!r}")
        if not isinstance(self.systems, ContactSystem):
            given = sequence(self.systems, "systems")
            for one in given:
                instance(one, ContactSystem, "each of the systems")
            if len(given) != self.horizon or len({one.sizes[:2] for one in given}) != 1:
                raise BadInput(f"systems: one, or one per step of the horizon {self.horizon} and of one size")
            object.__setattr__(self, "systems", tuple(given))
        n, m, _ = self.system(0).sizes
        instance(self.cost, Cost, "cost")
        for name, size in (("states", n), ("inputs", m)):
            if getattr(self.cost, name).shape != (size, size):
                raise BadInput(f"cost of {name}: expected shape ({size}, {size})")
            region = getattr(self, name)
            if region is None:
                object.__setattr__(self, name, Polytope(np.zeros((0, size)), np.zeros(0)))
            elif instance(region, Polytope, name).A.shape[1] != size:
                raise BadInput(f"{name}: a polytope in {region.A.shape[1]} dimensions, not {size}")
        if self.cost.final is None or self.cost.final.shape != (n, n):
            raise BadInput(f"cost of final: expected shape ({n}, {n})")

    def system(self, k: int) -> ContactSystem:
        """The system of step k."""
        return self.systems if isinstance(self.systems, ContactSystem) else self.systems[k]

    def targets(self, states: ArrayLike | None, inputs: ArrayLike | None) -> tuple[Array, Array]:
        """x̄ (N + 1, n) and ū (N, m): given so, as one row for all steps, or zero."""
        n, m, _ = self.system(0).sizes
        out = []
        for value, count, size, what in (
            (states, self.horizon + 1, n, "target"),
            (inputs, self.horizon, m, "input target"),
        ):
            rows = np.zeros(size) if value is None else np.asarray(value, dtype=float)
            out.append(as_float(np.broadcast_to(rows, (count, size)) if rows.ndim == 1 and len(rows) == size
                                else rows, (count, size), what))  # fmt: skip
        return out[0], out[1]

    def objective(self, x: Array, u: Array, target: Array, rest: Array) -> float:
        """What states (N + 1, n) and inputs (N, m) cost against x̄ and ū."""
        e, f = x - target, u - rest
        assert self.cost.final is not None
        return float(
            np.einsum("ki,ij,kj->", e[:-1], self.cost.states, e[:-1])
            + np.einsum("ki,ij,kj->", f, self.cost.inputs, f)
            + e[-1] @ self.cost.final @ e[-1]
        )


class Outcome(Enum):
    """How planning ended."""

    OPTIMAL = "optimal"  # no better plan exists, up to the gap
    FEASIBLE = "feasible"  # a plan that obeys everything; others may be better
    ON_BOUND = "on bound"  # a plan that a bound of the mixed-integer program may have cut off
    INFEASIBLE = "infeasible"  # no plan obeys everything
    TIME_LIMIT = "time limit"  # none was found in time
    FAILED = "failed"  # none was found; there may be some


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion over the horizon.

    Attributes:
        x: states, shape (N + 1, n).
        u: inputs, shape (N, m).
        contact: contact variables λ of each step, shape (l,) each.
        slack: η of each step, likewise.
    """

    x: Array
    u: Array
    contact: tuple[Array, ...]
    slack: tuple[Array, ...]

    @property
    def complementarity(self) -> float:
        """The largest of −λ, −η and min(λ, η)."""
        pairs = [np.maximum(np.maximum(-a, -b), np.minimum(a, b)) for a, b in zip(self.contact, self.slack,
                                                                                  strict=True)]  # fmt: skip
        return max((float(p.max(initial=0.0)) for p in pairs), default=0.0)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a method found.

    Attributes:
        outcome: how it ended.
        method: which.
        seconds: time spent.
        motion: the plan; None if there is none.
        objective: its cost, infinite if there is none.
        bound: no plan costs less, as far as the method knows; −∞ if it does not say.
        effort: nodes, iterations or programs, whatever the method counts.
        message: one sentence where there is something to say.
    """

    outcome: Outcome
    method: str
    seconds: float
    motion: Motion | None = None
    objective: float = np.inf
    bound: float = -np.inf
    effort: int = 0
    message: str = ""

    @property
    def gap(self) -> float:
        """How far the plan may be from the best, relative to its objective; infinite if nothing is known."""
        if self.motion is None or self.bound == -np.inf:
            return float("inf")
        return max(self.objective - self.bound, 0.0) / max(abs(self.objective), 1e-12)

    def _found(self) -> Motion:
        if self.motion is None:
            raise PlanningError(f"{self.method}: there is no plan ({self.outcome.value}); {self.message}")
        return self.motion

    @property
    def x(self) -> Array:
        """States, shape (N + 1, n)."""
        return self._found().x

    @property
    def u(self) -> Array:
        """Inputs, shape (N, m)."""
        return self._found().u
