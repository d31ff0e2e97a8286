"""`ContactSystem`: a world near a point as a linear complementarity system.

What it is: states x, inputs u and contact variables λ of one step,

    x⁺ = A x + B u + C λ + d,        0 ≤ λ  ⊥  η = D x + E u + F λ + c ≥ 0,                              (1)

for gaps on the level of positions. On the level of velocities contacts take part that the free motion closes:

    φ = G x + H u + g  free gaps;      φ_i > 0:  λ = 0 for all λ of contact i,  else (1) for them.       (2)

The state is x = (q ⊖ q₀, v) with q₀ the configuration where the system was linearised, so that floating bases
have no special case; `ContactSystem.state` and `ContactSystem.place` lead there and back.

`taction.planning.linearise.linearise` makes one of any world. Others may be written down.

References: [Heemels2000] for the systems; [StewartTrinkle1996] and [AnitescuPotra1997] for the two levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, IntegrationError
from taction._core.show import rows
from taction.contact.lcp import LinearComplementarityProblem
from taction.kinematics.configuration import difference, integrate
from taction.model.model import Model
from taction.sim.simulation import Simulation
from taction.solvers.base import Status
from taction.solvers.lemke import solve_lcp


class Guard(NamedTuple):
    """Equation (2): free gaps of contacts, and the contact of each λ (m,), −1 for one without a guard."""

    G: Array
    H: Array
    g: Array
    contact: IntArray


class Reach(NamedTuple):
    """Which contacts of a world are in a system, as `taction.planning.linearise.Lineariser` has them."""

    has_friction: bool = True
    sides: int = 4
    reach: float = 1.0
    bodies: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ContactSystem:
    """A linear complementarity system (1), with (2) where it has a guard.

    Attributes:
        A: states on states, shape (n, n).
        B: inputs on states, (n, m).
        C: contact variables on states, (n, l).
        d: what happens without any, (n,).
        D: states on slacks, (l, n).
        E: inputs on slacks, (l, m).
        F: contact variables on slacks, (l, l).
        c: slacks without any, (l,).
        dt: length of its step [s].
        load: normal impulses of the contacts from λ [N s], (k, l).
        contacts: their names, k of them.
        inputs: names of the inputs, m of them.
        guard: of a system on the level of velocities.
        origin: q₀, (nq,); None for a system that was written down.
        simulation: of the world it comes from, likewise.
        seen: which of its contacts are in.
    """

    A: Array
    B: Array
    C: Array
    d: Array
    D: Array
    E: Array
    F: Array
    c: Array
    dt: float
    load: Array = field(default_factory=lambda: np.zeros((0, 0)))
    contacts: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    guard: Guard | None = None
    origin: Array | None = None
    simulation: Simulation | None = None
    seen: Reach = field(default_factory=Reach)

    def __post_init__(self) -> None:
        n, m, l = self.sizes
        shapes = {
            "A": (n, n), "B": (n, m), "C": (n, l), "d": (n,), "D": (l, n), "E": (l, m), "F": (l, l), "c": (l,)
        }  # fmt: skip
        for name, shape in shapes.items():
            object.__setattr__(self, name, as_float(getattr(self, name), shape, name))
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise BadInput(f"dt: must be positive and finite, got {self.dt}")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of states, inputs and contact variables."""
        return len(self.d), np.shape(self.B)[-1], len(self.c)

    def __repr__(self) -> str:
        n, m, l = self.sizes
        return rows(
            f"<ContactSystem: {n} states, {m} inputs, {l} contact variables, dt = {self.dt:g} s>",
            f"inputs: {', '.join(self.inputs)}" if self.inputs else "",
            f"contacts: {', '.join(self.contacts)}" if self.contacts else "",
        )

    def state(self, q: ArrayLike, v: ArrayLike | None = None) -> Array:
        """X of a configuration (nq,) and velocities (nv,), at rest by default, shape (n,)."""
        model, origin = self._place()
        q = model.check_q(q, "q")
        v = np.zeros(model.nv) if v is None else model.check_v(v, "v")
        return np.concatenate([difference(model, origin, q), v])

    def place(self, x: ArrayLike) -> tuple[Array, Array]:
        """Configuration (nq,) and velocities (nv,) of a state x (n,)."""
        model, origin = self._place()
        x = as_float(x, (2 * model.nv,), "x")
        return integrate(model, origin, x[: model.nv]), x[model.nv :].copy()

    def _place(self) -> tuple[Model, Array]:
        if self.simulation is None or self.origin is None:
            raise BadInput("this system was not made of a world: its states are its own")
        return self.simulation.model, self.origin

    def step(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """The state after a step (n,), and the contact variables λ (l,) in it.

        Raises:
            IntegrationError: no λ was found.
        """
        n, m, l = self.sizes
        x, u = as_float(x, (n,), "x"), as_float(u, (m,), "u")
        on = np.ones(l, dtype=bool)
        if self.guard is not None:
            is_open = self.guard.G @ x + self.guard.H @ u + self.guard.g > 0.0
            on = (self.guard.contact < 0) | ~is_open[self.guard.contact]
        z = np.zeros(l)
        if on.any():
            q = (self.D @ x + self.E @ u + self.c)[on]
            answer = solve_lcp(LinearComplementarityProblem(self.F[np.ix_(on, on)], q))
            if answer.status is not Status.CONVERGED:
                raise IntegrationError("contact system: no contact variables were found")
            z[on] = answer.z
        return self.A @ x + self.B @ u + self.C @ z + self.d, z

    def roll_out(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """States (N + 1, n) and contact variables (N, l) from x (n,) under inputs (N, m)."""
        x, u = as_float(x, (self.sizes[0],), "x"), np.asarray(u, dtype=float)
        states, impulses = [x], []
        for row in u:
            after, z = self.step(states[-1], row)
            states.append(after)
            impulses.append(z)
        return np.array(states), np.array(impulses).reshape(len(u), -1)
