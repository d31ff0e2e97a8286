"""Sphere thrown along the ground: it slides, friction turns it, and it rolls on with 5/7 of its speed.

Exact answers, for a homogeneous sphere of radius R launched at v₀ with the spin ω₀ (positive as in rolling),
with the slip s₀ = v₀ − R ω₀:

    v(t) = v₀ − sign(s₀) μ g t   until   t* = 2 |s₀| / (7 μ g),   then   v = (5 v₀ + 2 R ω₀) / 7     (1)
    work of friction  = −m s₀² / 7                                                                   (2)

Friction acts through the ground line, so the angular momentum about it, m R (v + 2/5 R ω), never changes: the
final speed knows neither μ nor how friction varied on the way. A time-stepping scheme keeps this sum to
rounding, even in the step in which sliding turns into rolling; so its final speed has no error in h. The time
t* is found to one step.

Departures: the convex law lifts the sphere by up to h μ s₀ while it slides, and friction acts on that much
longer a lever: the sum changes by that share of R, and only this is checked. Source: the game of billiards.

References: [Moreau1988]; [StewartTrinkle1996].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.model.builder import free_body
from taction.model.shapes import Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
MASS = 1.0  # [kg]


class SlidingToRolling(ContactScenario):
    """See the module text."""

    name = "sliding-to-rolling"
    summary = "a sphere thrown along the ground: it ends rolling with 5/7 of its speed"
    source = "billiards: angular momentum about the ground line"
    duration, dt = 1.0, 1e-3
    parameters = (
        Parameter("speed", 3.0, "m/s", "of the launch", minimum=0.0),
        Parameter("spin", 0.0, "rad/s", "of the launch, positive as in rolling"),
        Parameter("mu", 0.3, "", "coefficient of friction", minimum=1e-3),
        Parameter("radius", 0.1, "m", "of the sphere", minimum=1e-3),
    )
    units = by_unit(
        {
            "m/s": "final_speed final_speed_exact",
            "s": "rolling_time rolling_time_error",
            "J": "friction_work",
            "": "final_speed_error lift momentum_error rolls rolls_exact friction_work_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A sphere on level ground."""
        radius, mu = parameters["radius"], parameters["mu"]
        surface = Material((mu, mu))
        ball = free_body("sphere", Sphere(radius), mass=MASS, position=(0.0, 0.0, radius), material=surface)
        return World(ball, ground=Plane(friction=mu))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Launched along x."""
        return {"v": [parameters["speed"], 0.0, 0.0, 0.0, parameters["spin"], 0.0]}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Speeds [m/s], time at which it rolls [s], work of friction [J]; lift relative to the radius."""
        v0, radius, mu = (parameters[k] for k in ("speed", "radius", "mu"))
        slip = v0 - radius * parameters["spin"]
        T, until = float(run.t[-1] - run.t[0]), 2.0 * abs(slip) / (7.0 * mu * GRAVITY)
        exact = v0 - math.copysign(mu * GRAVITY * min(T, until), slip)
        sliding = np.abs(run.v[:, 0] - radius * run.v[:, 4]) > creep_speed(run, GRAVITY)
        rolls = not bool(sliding[-1])
        since = float(run.t[np.flatnonzero(sliding)[-1] + 1] - run.t[0]) if rolls and sliding.any() else 0.0
        size = max(abs(v0), radius * abs(parameters["spin"]), 1e-300)
        work = float(run.energy.friction or 0.0)
        lost = MASS * slip**2 / 7.0
        return {
            "final_speed": float(run.v[-1, 0]),
            "final_speed_exact": exact,
            "final_speed_error": abs(float(run.v[-1, 0]) - exact) / (abs(exact) or size),
            "lift": mu * abs(slip) * run.dt / radius if run.contact == "convex" else 0.0,
            "momentum_error": float(np.abs(np.ptp(run.v[:, 0] + 0.4 * radius * run.v[:, 4]))) / size,
            "rolls": rolls,
            "rolls_exact": T >= until,
            "rolling_time": since if rolls else T,
            "rolling_time_error": abs(since - until) if rolls else max(0.0, T - until),
            "friction_work": work,
            "friction_work_error": abs(work + lost) / (lost or 1.0) if rolls else 0.0,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2), and the angular momentum about the ground line."""
        T, exact = float(run.t[-1] - run.t[0]), abs(metrics["final_speed_exact"])
        # while it slides, errors of single steps add up; velocities of 1 m/s are rounded at each of them
        speed = creep_speed(run, GRAVITY) * run.steps
        size = float(np.abs(run.v[:, 0]).max())
        rounding = 1e-15 * run.steps
        found = above("the change of angular momentum", metrics["momentum_error"], rounding + metrics["lift"])
        if run.contact == "convex":
            return found
        late = max(metrics["rolling_time_error"] - run.dt, 0.0)
        return [
            *found,
            *above(
                "the relative error of the speed",
                metrics["final_speed_error"],
                (speed + rounding * size) / (exact or size or 1.0),
            ),
            *above("the error of the time at which it rolls, beyond a step,", late, 1e-9 * T, "s"),
            *above("the relative error of the work of friction", metrics["friction_work_error"], 1e-8),
        ]
