"""Bounds of contact variables and slacks, for programs in which binaries switch them.

What it finds: for each pair of a `ContactSystem` the largest λ_i and η_i of any step inside the sets X and U,

    max λ_i  or  η_i    with    x ∈ X,  u ∈ U,  λ ≥ 0,  η = D x + E u + F λ + c ≥ 0,
                                A x + B u + C λ + d ∈ X,                                                 (1)

and on the level of velocities the bounds of free gaps φ on both sides, and of η on both sides for contacts
that are away.

Method: linear programs. Which of each pair vanishes is left open, so that the bounds hold for all plans,
though not tightly. Two things need more than (1).

1. *Rays.* A contact variable may grow by itself without moving anything, such as the speed that a friction
   pyramid slides with where no force presses. Let r ≥ 0 with C r = 0 and F r ≥ 0 be such a direction and
   J the entries of r and F r above zero. From any step one may go back along r until an entry of J vanishes:
   no other changes, and pairs stay complementary. So some entry of J may be taken to be zero, and the bound
   is the largest of those with one of them at zero. These are the plans of least impulses, which are meant.
2. *Guards.* A contact that is away has λ = 0 and any η; others may be away or not, so their η is left free.

Where (1) has no bound even so, X or U leave the states or inputs unbounded: an error names the contact.

Departures: none. Bounds are widened by `WIDER`, more than linear programs are solved to.

Cost: two linear programs per pair, some more with friction; once per system.

References: [BemporadMorari1999] for binaries with bounds; [HuangfuHall2018] for the linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.problem import Polytope
from taction.planning.system import ContactSystem

WIDER = 1e-6  # relative, and absolute
NONZERO = 1e-9  # entries of a ray of length one that are more than rounding
INFEASIBLE, UNBOUNDED = 2, 3  # what SciPy says of linear programs
DEEPEST = 8  # rays that are taken one after the other


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of one step.

    Attributes:
        contact: of λ, shape (l,).
        slack: of η where the contact is near or has no guard, shape (l,).
        away_low: −η is below this where the contact is away, shape (l,).
        away_high: η likewise, shape (l,).
        gap_low: −φ is below this, shape (k,).
        gap_high: φ likewise, shape (k,).
    """

    contact: Array
    slack: Array
    away_low: Array
    away_high: Array
    gap_low: Array
    gap_high: Array


def given_bounds(system: ContactSystem, size: float) -> Bounds:
    """One number for all."""
    l = system.sizes[2]
    k = 0 if system.guard is None else len(system.guard.g)
    pair, gap = np.full(l, size), np.full(k, size)
    return Bounds(pair, pair, pair, pair, gap, gap)


def pair_name(system: ContactSystem, i: int) -> str:
    """Pair i in words, with its contact where that is known."""
    owner = -1
    if system.guard is not None:
        owner = int(system.guard.contact[i])
    elif len(system.contacts) == system.sizes[2]:
        owner = i
    return f"pair {i}" + (f" ({system.contacts[owner]})" if 0 <= owner < len(system.contacts) else "")


def compute_bounds(
    system: ContactSystem, states: Polytope, inputs: Polytope, x0: Array | None = None
) -> Bounds:
    """Bounds of a step from any state of X, or from one that is given (n,).

    Raises:
        BadInput: one of them is infinite.
    """
    region = _Region(system, states, inputs, x0)
    l = system.sizes[2]
    k = 0 if system.guard is None else len(system.guard.g)
    contact, slack, low, high = np.zeros(l), np.zeros(l), np.zeros(l), np.zeros(l)
    for i in range(l):
        near = region.near(i)
        contact[i] = region.largest(
            region.impulse[i], near, f"the contact variable of {pair_name(system, i)}"
        )
        slack[i] = region.largest(region.slack[i], near, f"the slack of {pair_name(system, i)}")
        if system.guard is not None and system.guard.contact[i] >= 0:
            away, name = region.away(i), f"the slack of {pair_name(system, i)} while away"
            low[i] = region.largest(-region.slack[i], away, name)
            high[i] = region.largest(region.slack[i], away, name)
    gaps = np.zeros((2, k))
    for i in range(k):
        for side, sign in enumerate((-1.0, 1.0)):
            name = f"the free gap of {system.contacts[i] if i < len(system.contacts) else f'contact {i}'}"
            gaps[side, i] = region.largest(sign * region.gap[i], region.any(), name)
    wide = [value * (1.0 + WIDER) + WIDER for value in (contact, slack, low, high, gaps[0], gaps[1])]
    return Bounds(*wide)


class _Region:
    """Steps (1) as y = (1, x, u, λ): every row is affine, its first entry the constant."""

    def __init__(self, y: ContactSystem, X: Polytope, U: Polytope, x0: Array | None) -> None:
        n, m, l = y.sizes
        self.system, self.size = y, 1 + n + m + l
        one, x = np.zeros((1, self.size)), np.zeros((n, self.size))
        one[0, 0] = 1.0
        x[:, 1 : 1 + n] = np.eye(n)
        after = np.hstack([y.d[:, None], y.A, y.B, y.C])
        u = np.zeros((m, self.size))
        u[:, 1 + n : 1 + n + m] = np.eye(m)
        self.impulse = np.zeros((l, self.size))
        self.impulse[:, 1 + n + m :] = np.eye(l)
        self.slack = np.hstack([y.c[:, None], y.D, y.E, y.F])
        self.gap = np.zeros((0, self.size))
        if y.guard is not None:
            self.gap = np.hstack([y.guard.g[:, None], y.guard.G, y.guard.H, np.zeros((len(y.guard.g), l))])
        self.owner = np.full(l, -1) if y.guard is None else y.guard.contact
        self.base = [X.b[:, None] * one - X.A @ after, U.b[:, None] * one - U.A @ u, self.impulse]
        self.fixed = np.zeros((0, self.size))
        if x0 is None:
            self.base.append(X.b[:, None] * one - X.A @ x)
        else:
            self.fixed = x - x0[:, None] * one
        self.after = after

    def any(self) -> tuple[Array, Array]:
        """Rows that are not negative, and rows that vanish, whatever contacts with guards do."""
        return np.vstack([*self.base, self.slack[self.owner < 0]]), self.fixed

    def near(self, i: int) -> tuple[Array, Array]:
        """The same where the contact of pair i is near."""
        least, zero = self.any()
        if self.owner[i] < 0:
            return least, zero
        return np.vstack([least, self.slack[self.owner == self.owner[i]], -self.gap[[self.owner[i]]]]), zero

    def away(self, i: int) -> tuple[Array, Array]:
        """The same where it is away."""
        least, zero = self.any()
        return (
            np.vstack([least, self.gap[[self.owner[i]]]]),
            np.vstack([zero, self.impulse[self.owner == self.owner[i]]]),
        )

    def largest(self, goal: Array, rows: tuple[Array, Array], what: str, depth: int = 0) -> float:
        """The largest goal · y, at least zero."""
        least, zero = rows
        value, status, _ = _solve(goal, least, zero)
        if status == INFEASIBLE:
            return 0.0
        if status != UNBOUNDED:
            return max(value, 0.0)
        ray = self._ray(goal, least, zero) if depth < DEEPEST else None
        if ray is None:
            raise BadInput(f"{what} has no bound: give bounds of states or inputs, or a big_m of your own")
        moved = [row for row in np.vstack([self.impulse, self.slack]) if row[1:] @ ray[1:] > NONZERO]
        return max(self.largest(goal, (least, np.vstack([zero, row])), what, depth + 1) for row in moved)

    def _ray(self, goal: Array, least: Array, zero: Array) -> Array | None:
        """A direction of λ alone that raises the goal, moves no state and lowers no λ and no η; or None."""
        still = np.vstack([zero, self.after, np.eye(self.size)[: self.size - self.system.sizes[2]]])
        still[:, 0] = 0.0
        grow = np.vstack([least, self.impulse, self.slack])
        grow[:, 0] = 0.0
        top = np.zeros((1, self.size))  # of length one: 1 − Σ λ ≥ 0
        top[0, 0], top[0, self.size - self.system.sizes[2] :] = 1.0, -1.0
        rise = np.append(0.0, goal[1:])
        value, status, ray = _solve(rise, np.vstack([grow, top]), still[still.any(axis=1)])
        return ray if status == 0 and value > NONZERO else None


def _solve(goal: Array, least: Array, zero: Array) -> tuple[float, int, Array]:
    """The largest goal · y with least · y ≥ 0 and zero · y = 0, y = (1, …); its value, SciPy's status and y.

    HiGHS may leave it open whether a program is infeasible or unbounded: it is then asked for any point.
    """
    from scipy.optimize import linprog

    for cost in (-goal[1:], 0.0 * goal[1:]):
        found = linprog(
            cost, A_ub=-least[:, 1:], b_ub=least[:, 0], bounds=(None, None), method="highs",
            A_eq=zero[:, 1:] if len(zero) else None, b_eq=-zero[:, 0] if len(zero) else None,
        )  # fmt: skip
        if found.status == INFEASIBLE or not cost.any():
            return np.inf, INFEASIBLE if found.status == INFEASIBLE else UNBOUNDED, goal
        if found.status == UNBOUNDED:
            return np.inf, UNBOUNDED, goal
        if found.status == 0:
            return float(goal[0] - found.fun), 0, np.concatenate([[1.0], found.x])
    return np.inf, UNBOUNDED, goal
