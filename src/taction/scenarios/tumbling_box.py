"""Tumbling box: a free body spun about its middle axis turns over and over, with the period of Euler's body.

Notation: principal moments I₁ < I₂ < I₃, angular velocity ω in body axes, T = ½ ω·Iω, L = Iω.

Exact answers
1. T and the moment of momentum in the world, R L, stay as they are.
2. ω₂ is periodic, a Jacobian elliptic sine, of the period

       P = 4 K(k²) / λ,   λ² = (I₃ − I₂)(L² − 2 T I₁) / (I₁ I₂ I₃),
       k² = (I₂ − I₁)(2 T I₃ − L²) / ((I₃ − I₂)(L² − 2 T I₁))      where L² ≥ 2 T I₂,

   and with 1 and 3 exchanged where it is less; K the complete elliptic integral. The body flips twice in it.

Error of the scheme: T and R L to rounding, which n steps add up. The midpoint rule turns ω by a phase that is
wrong by less than (ω h)²/12 of itself, and P by as much, times a safety factor; crossings of zero are found
between states, up to the curvature of ω₂ there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ellipk

from taction._core.arrays import Array
from taction.math.transform import rotation_from_quaternion
from taction.model.builder import free_body
from taction.model.shapes import Box
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import ROUNDING, SAFETY
from taction.sim.run import Run
from taction.sim.world import World


class TumblingBox(ContactScenario):
    """See the module text."""

    name = "tumbling-box"
    summary = "a free box spun about its middle axis: energy, momentum, and how often it flips"
    source = "classical mechanics: Euler's free body"
    duration, dt, stepper = 10.0, 1e-3, "midpoint"
    parameters = (
        Parameter("spin", 20.0, "rad/s", "about the middle axis", minimum=1e-2),
        Parameter("aside", 1e-2, "", "spin about the two other axes, of that", minimum=1e-6, maximum=10.0),
        Parameter("length", 0.3, "m", "of the box", minimum=1e-3),
        Parameter("width", 0.2, "m", "of the box", minimum=1e-3),
        Parameter("height", 0.05, "m", "of the box", minimum=1e-3),
        Parameter("mass", 1.0, "kg", "of the box", minimum=1e-6),
    )
    units = by_unit(
        {
            "s": "period_exact",
            "": "energy_error momentum_error flips period_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A box without weight."""
        p = parameters
        box = free_body("box", Box((p["length"], p["width"], p["height"])), mass=p["mass"])
        return World(box, gravity=(0.0, 0.0, 0.0))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Spinning about the middle axis, and a little about the others."""
        moments = _moments(world)
        w = np.full(3, parameters["aside"] * parameters["spin"])
        w[np.argsort(moments)[1]] = parameters["spin"]
        return {"v": np.concatenate([np.zeros(3), w])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Relative errors of energy, momentum and period."""
        moments = _moments(run.world)
        w = run.v[:, 3:]
        R = np.array([rotation_from_quaternion(q) for q in run.q[:, 3:]])
        L = np.einsum("nij,nj->ni", R, w * moments)
        exact = flip_period(moments, w[0])
        middle = w[:, np.argsort(moments)[1]]
        at = np.flatnonzero(np.diff(np.sign(middle)) != 0)
        crossing = run.t[at] + run.dt * middle[at] / (middle[at] - middle[at + 1])
        out: Metrics = {
            "energy_error": float(np.abs(run.kinetic / run.kinetic[0] - 1.0).max()),
            "momentum_error": float(np.abs(L - L[0]).max() / np.linalg.norm(L[0])),
            "period_exact": exact,
            "flips": float(len(at)),
        }
        if len(at) > 1:
            out["period_error"] = float(abs(2.0 * (crossing[-1] - crossing[0]) / (len(at) - 1) / exact - 1.0))
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy and momentum to rounding, the period to second order."""
        rounding = SAFETY * ROUNDING * run.steps
        phase = float(np.abs(run.v[:, 3:]).max()) * run.dt
        found = [
            *above("the relative change of the energy", metrics["energy_error"], rounding),
            *above("the relative change of the moment of momentum", metrics["momentum_error"], rounding),
        ]
        if "period_error" in metrics:
            found += above("the relative error of the period", metrics["period_error"], SAFETY * phase**2)
        return found


def flip_period(moments: Array, w: Array) -> float:
    """P [s] of a body with these moments (3,) that starts with the angular velocity w (3,)."""
    a, b, c = np.sort(moments)
    energy, square = float(moments @ w**2), float((moments * w) @ (moments * w))  # 2 T and L²
    if square < energy * b:
        a, c = c, a
    rate = (c - b) * (square - energy * a) / (a * b * c)
    modulus = (b - a) * (energy * c - square) / ((c - b) * (square - energy * a))
    return float(4.0 * ellipk(modulus) / np.sqrt(rate))


def _moments(world: World | None) -> Array:
    """Principal moments of the box, along its axes."""
    assert world is not None
    return np.diag(world.model.spec.bodies[0].inertia.matrix).copy()
