"""Bouncing ball: a sphere dropped on a plane, with Newton's coefficient of restitution e.

Exact answers, with H the drop of the lowest point, v₀ = √(2 g H) the speed of the first hit at t₀ = v₀ / g:

    apex after n hits         H_n = e²ⁿ H                                                          (1)
    all bounces are over at   t∞ = t₀ (1 + e) / (1 − e)          (geometric series, e < 1)          (2)
    energy at e = 1           constant                                                             (3)

What Moreau's rule makes of them, step h. Free flight is exact. A hit is noticed in the step whose midpoint
is closed, so at a height z with |z| ≤ ½ h v + ⅛ g h², v the speed there, and the step ends at z − ½ h (1 −
e) v with speed e v upwards. Hence

    |H_{n+1} − e² H_n|  ≤  ½ h v (1 − e)(2 + e) + g h²                                             (4)

and for e = 1 the state is (z, −v) → (z, v): (3) holds to rounding. Speeds of successive hits obey |v' − e
v| ≤ c g h with c = (2 − e) / e, flights last h + (e v + v') / g, so that each bounce adds at most h (1 + (1
+ e) c / (1 − e)) to the error of (2), and the last ones, slower than k g h with k = 2 (1 + c) / (1 − e), at
most 2 k h / (1 − e).

Other schemes fly with the semi-implicit Euler method, wrong in energy by ½ m g h v at most in each flight
and each hit: (1) and (3) then hold to 2 h v per bounce.

References: [Moreau1988].
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.model.builder import free_body
from taction.model.shapes import Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
ROUNDING = 4.0 * float(np.finfo(float).eps)  # relative, per step


class BouncingBall(ContactScenario):
    """See the module text."""

    name = "bouncing-ball"
    summary = "a ball bouncing on a plane: energy, heights of the bounces, time until it rests"
    source = "classical mechanics: Newton's law of restitution"
    duration, dt, stepper = 3.0, 1e-4, "moreau"
    parameters = (
        Parameter("restitution", 0.5, "", "Newton's coefficient", minimum=0.0, maximum=1.0),
        Parameter("height", 1.0, "m", "of the lowest point at the start", minimum=1e-3),
        Parameter("radius", 0.1, "m", "of the ball", minimum=1e-3),
        Parameter("mass", 1.0, "kg", "of the ball", minimum=1e-6),
        Parameter("speed", 0.0, "m/s", "along the floor, which has no friction"),
    )
    units = by_unit(
        {
            "m": "drift_error apex_error apex_excess",
            "s": "rest_time rest_time_exact rest_time_error rest_time_limit",
            "": "restitution bounces energy_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A ball above a plane."""
        p = parameters
        ball = free_body(
            "ball", Sphere(p["radius"]), mass=p["mass"], position=(0.0, 0.0, p["radius"] + p["height"]),
            material=Material((0.0, 0.0), p["restitution"]),
        )  # fmt: skip
        return World(ball, ground=Plane(friction=0.0), gravity=(0.0, 0.0, -GRAVITY))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Dropped, perhaps while moving along."""
        return {"v": np.array([parameters["speed"], 0.0, 0.0, 0.0, 0.0, 0.0])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the energy (relative), of apex heights [m] and of the time until rest [s]."""
        p, e = parameters, parameters["restitution"]
        hits, speeds = hit_steps(run)
        z, t0 = run.q[:, 2] - p["radius"], math.sqrt(2.0 * p["height"] / GRAVITY)
        # energy of the fall alone: gravity and speed along z
        energy = 0.5 * run.v[:, 2] ** 2 + GRAVITY * z
        apexes = apex_heights(z, run.v[:, 2], run.dt, hits)
        out: Metrics = {
            "restitution": e,
            "bounces": float(len(hits)),
            "drift_error": float(np.abs(run.q[:, 0] - p["speed"] * run.t).max()),
        }
        if e == 1.0:
            out["energy_error"] = float(np.abs(energy / energy[0] - 1.0).max())
        before = np.concatenate([[p["height"]], apexes])
        slack = apex_slack(run, e, speeds[: len(apexes)])
        if len(apexes):
            misses = np.abs(before[1:] - e * e * before[:-1])
            out["apex_error"] = float(misses.max())
            out["apex_excess"] = float((misses - slack).max())
        if e < 1.0:
            slow, limit = rest_slack(e, t0, run.dt)
            moving = np.flatnonzero(np.abs(run.v[:, 2]) > slow)
            exact = t0 * (1.0 + e) / (1.0 - e)
            if slow < GRAVITY * t0 and run.t[-1] > exact + limit and len(moving):
                out["rest_time"] = float(run.t[moving[-1]])
                out["rest_time_exact"] = exact
                out["rest_time_error"] = abs(out["rest_time"] - exact)
                out["rest_time_limit"] = limit
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy at e = 1, ratio of heights, and the sum of the geometric series."""
        rounding = ROUNDING * run.steps
        found = above("the error along the floor", metrics["drift_error"], rounding * abs(run.q[-1, 0]), "m")
        if "energy_error" in metrics:
            limit = rounding if run.integrator == "moreau" else euler_slack(run, metrics["bounces"])
            found += above("the relative energy error", metrics["energy_error"], limit)
        if "apex_excess" in metrics:
            found += above(
                "the error of an apex, beyond what the step allows,", metrics["apex_excess"], 0.0, "m"
            )
        if "rest_time_error" in metrics:
            found += above(
                "the error of the time until rest",
                metrics["rest_time_error"],
                metrics["rest_time_limit"],
                "s",
            )
        return found


def hit_steps(run: Run) -> tuple[IntArray, Array]:
    """Steps in which the ball turned from falling to rising, by more than weight can, and speeds before."""
    v = run.v[:, 2]
    k = np.flatnonzero((v[:-1] < 0.0) & (v[1:] > 0.0) & (v[1:] - v[:-1] > 2.0 * GRAVITY * run.dt))
    return k.astype(np.int64), -v[k]


def apex_heights(z: Array, v: Array, h: float, hits: IntArray) -> Array:
    """Height of the parabola after each hit that is followed by another one [m], from its highest point.

    A hit whose rise is not longer than ten steps is left out, and all that follow it.
    """
    out = []
    for first, last in pairwise(hits):
        rise = v[first + 1]
        if rise < 10.0 * GRAVITY * h:
            break
        k = first + 1 + int(np.argmax(z[first + 1 : last + 1]))
        out.append(z[k] + 0.5 * v[k] ** 2 / GRAVITY)
    return np.array(out)


def apex_slack(run: Run, e: float, speeds: Array) -> Array:
    """Equation (4) for hits of these speeds [m], or its counterpart for the Euler flight."""
    h = run.dt
    rounding = ROUNDING * run.steps * float(run.q[0, 2]) + GRAVITY * h * h
    if run.integrator == "moreau":
        return 0.5 * h * speeds * (1.0 - e) * (2.0 + e) + rounding
    return 2.0 * h * speeds + rounding


def euler_slack(run: Run, bounces: float) -> float:
    """Relative energy error of the semi-implicit Euler flight after so many bounces."""
    height = float(run.q[0, 2] - run.q[:, 2].min())
    return 2.0 * run.dt * math.sqrt(2.0 * GRAVITY / height) * (bounces + 1.0)


def rest_slack(e: float, t0: float, h: float) -> tuple[float, float]:
    """Speed [m/s] below which bounces are not resolved, and the error of t∞ [s] that the step allows."""
    c = (2.0 - e) / e if e > 0.0 else 1.0
    k = 2.0 * (1.0 + c) / (1.0 - e)
    count = 1.0
    if 0.0 < e and k * h < t0:
        count += math.log(k * h / t0) / math.log(e)
    return k * GRAVITY * h, h * (count * (1.0 + (1.0 + e) * c / (1.0 - e)) + 2.0 * k / (1.0 - e))
