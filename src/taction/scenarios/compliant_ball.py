"""A ball hits a wall that gives way: how deep, how long, how fast it comes back.

Without gravity, mass m, speed v, normal spring k, ω² = k/m, x the overlap. Exact answers:

    no damper            depth v/ω, duration π/ω, returns at v                                     (1)
    Kelvin and Voigt     x = (v/ω_d) e^(−ζωt) sin ω_d t,  ζ = d/(2√(km)),  ω_d = ω √(1 − ζ²);
                         ends where the force would pull, tan ω_d t = −2ζ √(1 − ζ²)/(1 − 2ζ²)      (2)
    Hunt and Crossley    v + v' = ln((1 + c v)/(1 − c v')) / c  for the speed v' of return         (3)

(3) is the integral of ẋ dẋ / (1 + c ẋ) = −ω² x dx from touch to release, with its sign of ẋ.

Tolerances: the scheme is of order 2 in the spring, and a damper acts with the velocity before the step, of
order 1. Touch and release happen within a step, which shifts the phase by at most ω h: errors of (ωh)² and,
with a damper, of ζωh or c v ωh. Source: [HuntCrossley1975].

References: [HuntCrossley1975].
"""

from __future__ import annotations

import math

import numpy as np

from taction.contact.forces.parameters import DAMPERS, Compliant, SoftContact
from taction.model.builder import free_body
from taction.model.shapes import Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

RADIUS, AWAY = 0.1, 0.01  # of the ball, and of its surface from the wall at the start [m]


class CompliantBall(ContactScenario):
    """See the module text."""

    name = "compliant-ball"
    summary = "a ball hits a wall that gives way: depth, duration and speed of return"
    source = "a mass on a spring and damper"
    duration, dt = 0.1, 1e-4
    contact, stepper = "compliant", "midpoint"
    parameters = (
        Parameter("speed", 1.0, "m/s", "at which it arrives", minimum=1e-3),
        Parameter("mass", 1.0, "kg", "of the ball", minimum=1e-3),
        Parameter("stiffness", 1e4, "N/m", "of ball and wall together", minimum=1e-3),
        Parameter("damping", 0.0, "N s/m or s/m", "of the same, by the kind of damper", minimum=0.0),
        Parameter("damper", "kelvin-voigt", "", "kind of damper", choices=DAMPERS),
    )
    units = by_unit(
        {
            "m": "depth depth_exact",
            "s": "contact_time contact_time_exact",
            "rad": "phase",
            "": "depth_error restitution restitution_exact restitution_error returned damping_share",
        }
    )

    def law(self, parameters: Values) -> SoftContact:
        """Springs of these numbers."""
        return Compliant(**{name: parameters[name] for name in ("stiffness", "damping", "damper")})

    def world(self, parameters: Values) -> World:
        """A ball above a wall, without gravity."""
        mass, height = parameters["mass"], RADIUS + AWAY
        ball = free_body("ball", Sphere(RADIUS), mass=mass, position=(0.0, 0.0, height))
        return World(ball, ground=Plane(), gravity=(0.0, 0.0, 0.0))

    def start(self, parameters: Values, world: World) -> dict[str, object]:
        """On its way."""
        return {"v": [0.0, 0.0, -parameters["speed"], 0.0, 0.0, 0.0]}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Depth [m], duration [s] and the speed of return over that of arrival, with the exact ones."""
        exact = exact_impact(**parameters)
        gap, speed = run.q[:, 2] - RADIUS, run.v[:, 2]
        inside = np.flatnonzero(gap < 0.0)
        lasted = run.dt * len(inside)
        omega = math.sqrt(parameters["stiffness"] / parameters["mass"])
        return {
            "depth": float(-gap.min()),
            "depth_exact": exact[0],
            "depth_error": abs(float(-gap.min()) - exact[0]) / exact[0],
            "contact_time": lasted,
            "contact_time_exact": exact[1],
            "restitution": float(speed[-1]) / parameters["speed"],
            "restitution_exact": exact[2],
            "restitution_error": abs(float(speed[-1]) / parameters["speed"] - exact[2]),
            "returned": bool(len(inside)) and bool(gap[-1] > 0.0),
            "phase": omega * run.dt,
            "damping_share": damping_share(**parameters),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) to (3), once it has come back."""
        if not metrics["returned"]:
            return []
        phase, share = metrics["phase"], metrics["damping_share"]
        most = phase**2 + 2.0 * share * phase
        off = abs(metrics["contact_time"] - metrics["contact_time_exact"])
        found = [
            *above("the relative error of the depth", metrics["depth_error"], most),
            *above("the error of the restitution", metrics["restitution_error"], most),
        ]
        if share == 0.0:
            found += above("the error of the contact time", off, 2.0 * run.dt, "s")
        return found


def damping_share(speed: float, mass: float, stiffness: float, damping: float, damper: str) -> float:
    """How much of the largest force is the damper's, about: ζ, or c v."""
    if damper == "kelvin-voigt":
        return damping / (2.0 * math.sqrt(stiffness * mass))
    return damping * speed


def exact_impact(
    speed: float, mass: float, stiffness: float, damping: float, damper: str
) -> tuple[float, float, float]:
    """(depth [m], duration [s], restitution) by (1) to (3); the duration of (3) is that of (1)."""
    omega = math.sqrt(stiffness / mass)
    if damping == 0.0:
        return speed / omega, math.pi / omega, 1.0
    if damper == "kelvin-voigt":
        return voigt_impact(speed, omega, damping_share(speed, mass, stiffness, damping, damper))
    return crossley_impact(speed, omega, damping)


def voigt_impact(speed: float, omega: float, zeta: float) -> tuple[float, float, float]:
    """Equation (2), for ζ < 1."""
    root = math.sqrt(max(1.0 - zeta * zeta, 1e-12))
    end = (math.pi - math.atan2(2.0 * zeta * root, 1.0 - 2.0 * zeta * zeta)) / (omega * root)
    turn = math.atan2(root, zeta) / (omega * root)  # where ẋ = 0
    depth = speed / (omega * root) * math.exp(-zeta * omega * turn) * math.sin(omega * root * turn)
    phase = omega * root * end
    back = -math.exp(-zeta * omega * end) * (math.cos(phase) - zeta / root * math.sin(phase))
    return depth, end, back


def crossley_impact(speed: float, omega: float, c: float) -> tuple[float, float, float]:
    """Equation (3) by bisection, and the depth from ẋ = 0."""
    low, high = 0.0, min(speed, (1.0 - 1e-15) / c)

    def left(back: float) -> float:
        return c * (speed + back) - math.log((1.0 + c * speed) / (1.0 - c * back))

    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle) > 0.0 else (low, middle)
    depth = math.sqrt(2.0 * (speed / c - math.log(1.0 + c * speed) / c**2)) / omega
    return depth, math.pi / omega, 0.5 * (low + high) / speed
