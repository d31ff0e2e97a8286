"""Newton's cradle: a row of equal balls on a frictionless plane; the first ones arrive with speed v.

Exact answers. All impacts of one instant are one problem of Moreau's impact law: with u⁻, u⁺ the rates of the
gaps before and after, W their inverse inertia and e Newton's coefficient,

    0 ≤ u⁺ + e u⁻  ⊥  Λ ≥ 0,      u⁺ = u⁻ + W Λ,                                                  (1)

which the scenario solves by enumeration of the 2ᶜ sets of contacts that push.

1. *Balls that touch* (``gap=0``). W is tridiagonal with non-negative inverse, so every contact pushes and
   u⁺ = −e u⁻: the k arriving balls and the n − k others meet like two rigid lumps. For n = 5, k = 1, e = 1
   the first ball returns with 3/5 v and the other four leave together with 2/5 v. The textbook outcome, in
   which the last ball leaves alone, has the same momentum and energy, but it is not what (1) gives: it
   needs a law for the order in which the shock passes, and the touching row has none.
2. *Balls a gap apart* (``gap>0``). Impacts follow each other, each by (1) with one contact. For e = 1 equal
   balls exchange velocities and the textbook outcome follows. The scenario computes it for every e, impact
   by impact.

In both cases momentum is kept, and the energy follows from (1) with the same e everywhere:

    T⁺ − T⁻ = −½ (1 − e) / (1 + e) (v⁺ − v⁻)ᵀ M (v⁺ − v⁻),    constant for e = 1.                    (2)

The time stepping solves (1) in the step in which a midpoint gap is closed, so velocities are exact to
rounding and to the solver's tolerance; only instants of impacts are read to a step. Gaps must be longer
than the balls move in two steps, or two impacts fall into one step. For small e > 0 the balls collide ever
faster until they move together (inelastic collapse); where the exact impacts are closer than two steps,
only momentum and the decrease of the energy are judged.

References: [Moreau1988]; [GlockerPfeiffer1995].
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.model.builder import free_body
from taction.model.shapes import Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import ContactPair, World

GRAVITY = 9.81  # [m/s²]
# Velocities come from contact problems solved to 1e-9 of their free velocities, a few in a row.
SOLVED = 1e-8
MOST_IMPACTS = 10_000


class NewtonsCradle(ContactScenario):
    """See the module text."""

    name = "newtons-cradle"
    summary = "a row of balls hit by the first: Moreau's outcome if they touch, the textbook's if they do not"
    source = "classical mechanics: simultaneous and successive impacts"
    duration, dt, stepper = 0.5, 1e-3, "moreau"
    parameters = (
        Parameter("count", 5, "", "number of balls", minimum=2, maximum=12),
        Parameter("moving", 1, "", "number of balls that arrive", minimum=1, maximum=11),
        Parameter("gap", 0.0, "m", "between the balls at rest, and between those that arrive", minimum=0.0),
        Parameter("restitution", 1.0, "", "Newton's coefficient between balls", minimum=0.0, maximum=1.0),
        Parameter("speed", 1.0, "m/s", "of the balls that arrive", minimum=1e-3),
        Parameter("lead", 0.05, "m", "their distance from the row at the start", minimum=1e-3),
        Parameter("radius", 0.05, "m", "of each ball", minimum=1e-3),
        Parameter("mass", 0.2, "kg", "of each ball", minimum=1e-6),
    )
    units = by_unit(
        {
            "m": "lift_error",
            "m/s": "velocity#",
            "": "momentum_error energy_error outcome_error is_resolved energy_rise",
        }
    )

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, str]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation; gaps that a step cannot separate are refused."""
        p = parameters
        if p["moving"] >= p["count"]:
            raise BadInput(f"{self.name}: moving must be less than count = {p['count']}, got {p['moving']}")
        if 0.0 < p["gap"] < 2.0 * p["speed"] * dt:
            raise BadInput(
                f"{self.name}: gap {p['gap']:g} m is closed within two steps of {dt:g} s; choose 0, at least "
                f"{2.0 * p['speed'] * dt:g}, or a smaller dt"
            )
        return super().make(parameters, dt, integrator, contact)

    def world(self, parameters: Values) -> World:
        """Balls in a row on a plane, none of them with friction."""
        p = parameters
        surface = Material((0.0, 0.0), p["restitution"])
        balls = [
            free_body(
                f"ball{i}",
                Sphere(p["radius"]),
                mass=p["mass"],
                position=(x, 0.0, p["radius"]),
                material=surface,
            )
            for i, x in enumerate(places(p))
        ]
        names = [f"ball{i}" for i in range(p["count"])]
        floor = [ContactPair(name, "world", friction=0.0, restitution=0.0) for name in names]
        return World(*balls, ground=Plane(friction=0.0), pairs=floor, gravity=(0.0, 0.0, -GRAVITY))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """The first balls move."""
        v = np.zeros((parameters["count"], 6))
        v[: parameters["moving"], 0] = parameters["speed"]
        return {"v": v.ravel()}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Velocities at the end, and errors relative to the momentum, energy and speed of the start."""
        p = parameters
        v = run.v.reshape(len(run.t), p["count"], 6)[:, :, 0]
        # the instants of impacts are read to a step each: at an end among impacts, either side is right
        slack = 2.0 * run.dt * p["count"]
        instants = (run.t[-1] - slack, run.t[-1], run.t[-1] + slack)
        candidates = [outcome(p, max(t, 0.0))[0] for t in instants]
        errors = [float(np.abs(v[-1] - c).max()) / p["speed"] for c in candidates]
        exact = candidates[int(np.argmin(errors))]
        momentum, energy = v.sum(axis=1), (v**2).sum(axis=1)
        out: Metrics = {
            "momentum_error": float(np.abs(momentum / momentum[0] - 1.0).max()),
            "energy_error": float(abs(energy[-1] - (exact**2).sum()) / energy[0]),
            "outcome_error": min(errors),
            "is_resolved": outcome(p, instants[2])[1] >= 2.0 * run.dt,
            "energy_rise": float(np.diff(energy).max()) / float(energy[0]),
            "lift_error": float(np.abs(run.q.reshape(len(run.t), -1, 7)[:, :, 2] - p["radius"]).max()),
        }
        if p["restitution"] == 1.0:
            out["energy_error"] = float(np.abs(energy / energy[0] - 1.0).max())
        return out | {f"velocity{i}": float(x) for i, x in enumerate(v[-1])}

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Momentum, energy and every velocity; the last two where steps tell the impacts apart."""
        found = [
            *above("the relative error of the momentum", metrics["momentum_error"], SOLVED),
            *above("the relative rise of the energy in a step", metrics["energy_rise"], 2.0 * SOLVED),
            *above("the height that balls left the plane by", metrics["lift_error"], 1e-8, "m"),
        ]
        if metrics["is_resolved"]:
            found += above("the relative error of the energy", metrics["energy_error"], 2.0 * SOLVED)
            found += above(
                "the error of the outcome, by the speed of arrival,", metrics["outcome_error"], SOLVED
            )
        return found


def places(p: Values) -> Array:
    """Centres along x at the start [m], shape (count,): the arriving balls, the lead, the row."""
    pitch = 2.0 * p["radius"] + p["gap"]
    x = pitch * np.arange(p["count"])
    x[: p["moving"]] -= p["lead"] - p["gap"]
    return x


def impact_law(v: Array, closed: IntArray, e: float) -> Array:
    """Velocities (n,) of equal balls after the impact law (1) on the closed contacts, by enumeration.

    Args:
        v: velocities before [m/s], shape (n,).
        closed: indices i of contacts between balls i and i + 1 that are closed.
        e: Newton's coefficient.
    """
    G = np.zeros((len(closed), len(v)))
    for row, i in enumerate(closed):
        G[row, i], G[row, i + 1] = -1.0, 1.0
    # masses cancel: impulses are per mass
    W, b = G @ G.T, (1.0 + e) * (G @ v)
    scale = max(float(np.abs(v).max()), 1e-300)
    for pushing in product((True, False), repeat=len(closed)):
        on = np.array(pushing, dtype=bool)
        impulse = np.zeros(len(closed))
        if on.any():
            impulse[on] = np.linalg.solve(W[np.ix_(on, on)], -b[on])
        if (impulse >= -1e-12 * scale).all() and (W @ impulse + b >= -1e-12 * scale).all():
            return v + G.T @ impulse
    raise AssertionError("W is positive definite: the problem has exactly one solution")


def outcome(p: Values, until: float) -> tuple[Array, float]:
    """Velocities at a time [m/s], shape (count,), from impact to impact; shortest time between two [s]."""
    x, v, t = places(p), np.zeros(p["count"]), 0.0
    shortest, is_first = math.inf, True
    v[: p["moving"]] = p["speed"]
    size, tiny = 2.0 * p["radius"], 1e-12 * p["speed"]
    for _ in range(MOST_IMPACTS):
        gap, rate = np.maximum(np.diff(x) - size, 0.0), np.diff(v)
        gap[gap < 1e-12] = 0.0
        approach = np.flatnonzero(rate < -tiny)
        if len(approach) == 0:
            break
        wait = float((gap[approach] / -rate[approach]).min())
        if t + wait > until:
            break
        t += wait
        if not is_first:
            shortest = min(shortest, wait)
        is_first = False
        x = x + wait * v
        closed = np.flatnonzero(np.diff(x) - size < 1e-12).astype(np.int64)
        v = impact_law(v, closed, p["restitution"])
    return v, shortest
