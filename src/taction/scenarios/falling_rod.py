"""Falling rod: a capsule that stands nearly upright on its end and falls, on ice or on a rough floor.

Notation: mass m, moment I across the axis about the centre, a half the length between the centres of the
caps, R their radius, θ the angle from the vertical, θ₀ the angle of release.

Exact answers, from the energy, since no force at the tip does work:

    ice     the centre falls on a vertical line, its height is R + a cos θ:
            θ̇² = 2 m g a (cos θ₀ − cos θ) / (I + m a² sin² θ)                                       (1)
    rough   the cap rolls on the floor without slipping (a point for R → 0: the rod turns about its tip):
            θ̇² = 2 m g a (cos θ₀ − cos θ) / (I + m (a² + R² + 2 a R cos θ))                         (2)

(2) holds until the tip slips: with the centre at height z and place x, ẋ = θ̇ (R + a cos θ), when

    |ẍ| = μ (g + z̈),                                                                              (3)

first backwards if μ is small, forwards if it is large. θ̈ in (3) is half the derivative of (2) by θ.

Error of the scheme: order 1. Rates are compared at the angle that was reached, not at the time, so that the
exponential growth of a small angle does not enter; the bound is n (ω h)², relative to the largest rate,
with n steps and ω the largest of θ̇ and √(g / a), and h θ̈ more, because a rate belongs to its angle to
within a step. The angle of slipping is read from one step and its forces, which are means over that step;
it is compared to the change of θ in ten steps.

References: [StewartTrinkle1996] for a rod that falls on a rough floor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from taction._core.arrays import Array
from taction.model.builder import free_body
from taction.model.inertia import Inertia
from taction.model.shapes import Capsule, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import SAFETY
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
UNTIL = 1.4  # angle up to which the closed forms are compared [rad]: the rod lies at 1.57
SLIPS = 1e-8  # relative to √(g a): a sticking tip moves less, by the tolerance of the solver


BoolArray = npt.NDArray[np.bool_]


class FallingRod(ContactScenario):
    """See the module text."""

    name = "falling-rod"
    summary = "a rod falling over on ice or on a rough floor: angular velocity by angle, angle of slipping"
    source = "classical mechanics: the falling rod"
    duration, dt = 1.0, 1e-4
    parameters = (
        Parameter("friction", 0.0, "", "coefficient of the floor; 0 is ice", minimum=0.0),
        Parameter("tilt", 0.1, "rad", "from upright at the start", minimum=1e-3, maximum=1.2),
        Parameter("length", 1.0, "m", "between the centres of the caps", minimum=1e-2),
        Parameter("radius", 0.01, "m", "of the rod", minimum=1e-4),
        Parameter("mass", 1.0, "kg", "of the rod", minimum=1e-6),
    )
    units = by_unit(
        {
            "rad": "slip_angle slip_angle_exact slip_angle_error angle",
            "rad/s": "slip_rate rate rate_exact",
            "m": "centre_error",
            "": "compared_steps reading speed_error energy_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A rod on a plane, tilted towards x."""
        p = parameters
        s, c = math.sin(p["tilt"]), math.cos(p["tilt"])
        rod = free_body(
            "rod", Capsule(p["radius"], p["length"]), mass=p["mass"],
            position=(0.0, 0.0, p["radius"] + 0.5 * p["length"] * c),
            rotation=np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]),
            material=Material((p["friction"], p["friction"])),
        )  # fmt: skip
        return World(rod, ground=Plane(friction=p["friction"]), gravity=(0.0, 0.0, -GRAVITY))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest."""
        return {}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Error of the rate by angle, of the energy, and of the closed forms' other statements."""
        p = parameters
        theta = 2.0 * np.arctan2(run.q[:, 5], run.q[:, 3])
        last = first_index(theta > UNTIL, len(theta))
        slip = slip_angle(p)
        out: Metrics = {}
        if p["friction"] > 0.0:
            slips = slip_step(run, SLIPS * math.sqrt(0.5 * GRAVITY * p["length"]))
            if slips < last:
                out["slip_angle"] = float(theta[slips])
                out["slip_angle_exact"] = slip
                out["slip_angle_error"] = abs(out["slip_angle"] - slip)
                out["slip_rate"] = float(abs(run.v[slips, 4]))
            elif slip < UNTIL and theta[last - 1] > slip:
                out["slip_angle_error"] = float(theta[last - 1] - slip)
                out["slip_rate"] = float(abs(run.v[last - 1, 4]))
            last = max(min(last, slips), 1)
        rate, exact = run.v[:last, 4], exact_rate(theta[:last], p)
        energy = run.kinetic[:last] + run.potential[:last]
        top = max(float(exact.max(initial=0.0)), math.sqrt(GRAVITY / p["length"]) * p["tilt"])
        drop = p["mass"] * GRAVITY * 0.5 * p["length"]
        out |= {
            "angle": float(theta[last - 1]),
            "compared_steps": float(last - 1),
            "reading": 0.5 * run.dt * float(np.abs(rate_and_slope(theta[:last], p)[1]).max()) / top,
            "rate": float(rate[-1]),
            "rate_exact": float(exact[-1]),
            "speed_error": float(np.abs(rate - exact).max()) / top,
            "energy_error": float(np.abs(energy - energy[0]).max()) / drop,
        }
        if p["friction"] == 0.0:
            out["centre_error"] = float(np.abs(run.q[:, 0]).max())
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Rates, energy and the line of the centre; where it slips."""
        phase = max(metrics["rate_exact"], math.sqrt(2.0 * GRAVITY / rod_length(run))) * run.dt
        limit = phase * phase * (metrics["compared_steps"] + 1.0)
        found = [
            *above(
                "the relative error of the rate at an angle",
                metrics["speed_error"],
                limit + metrics["reading"],
            ),
            *above("the relative energy error", metrics["energy_error"], limit),
        ]
        if "centre_error" in metrics:
            found += above(
                "the distance of the centre from a vertical line", metrics["centre_error"], 1e-9, "m"
            )
        if "slip_angle_error" in metrics:
            reading = SAFETY * run.dt * metrics["slip_rate"]
            found += above("the error of the angle of slipping", metrics["slip_angle_error"], reading, "rad")
        return found


def rod_length(run: Run) -> float:
    """Length between the centres of the caps [m]."""
    geometry = run.model.spec.bodies[0].shapes[0].geometry
    return float(geometry.length) if isinstance(geometry, Capsule) else math.nan


def first_index(where: BoolArray, otherwise: int) -> int:
    """The first index at which a condition holds."""
    found = np.flatnonzero(where)
    return int(found[0]) if len(found) else otherwise


def moment(p: Values) -> float:
    """I of the homogeneous capsule [kg m²]."""
    solid = Inertia.solid(Capsule(p["radius"], p["length"]), mass=p["mass"])
    return float(solid.matrix[0, 0])


def rate_and_slope(theta: Array, p: Values) -> tuple[Array, Array]:
    """θ̇² of equation (1) or (2) and its derivative by θ, for angles (n,)."""
    m, a, R, I = p["mass"], 0.5 * p["length"], p["radius"], moment(p)
    s, c = np.sin(theta), np.cos(theta)
    drop = 2.0 * m * GRAVITY * a * (math.cos(p["tilt"]) - c)
    if p["friction"] == 0.0:
        D, slope = I + m * a * a * s * s, 2.0 * m * a * a * s * c
    else:
        D, slope = I + m * (a * a + R * R + 2.0 * a * R * c), -2.0 * m * a * R * s
    return drop / D, (2.0 * m * GRAVITY * a * s * D - drop * slope) / D**2


def exact_rate(theta: Array, p: Values) -> Array:
    """θ̇ by the energy [rad/s], for angles (n,)."""
    return np.sqrt(np.maximum(rate_and_slope(theta, p)[0], 0.0))


def slip_angle(p: Values) -> float:
    """The angle of equation (3) [rad]; inf if the tip sticks up to the end of the comparison."""
    if p["friction"] == 0.0:
        return p["tilt"]
    theta = np.linspace(p["tilt"], UNTIL, 200_001)
    square, slope = rate_and_slope(theta, p)
    a, R, s, c = 0.5 * p["length"], p["radius"], np.sin(theta), np.cos(theta)
    x = 0.5 * slope * (R + a * c) - square * a * s
    z = -a * (0.5 * slope * s + square * c)
    k = first_index(np.abs(x) > p["friction"] * (GRAVITY + z), -1)
    return float(theta[k]) if k >= 0 else math.inf


def slip_step(run: Run, speed: float) -> int:
    """The step in which the tip first slides faster than a speed [m/s]; beyond the last if it never does."""
    assert run.contacts is not None
    sliding = np.hypot(run.contacts.velocity[:, 1], run.contacts.velocity[:, 2]) > speed
    pressed = run.contacts.impulse[:, 0] > 0.0
    k = first_index(sliding & pressed, -1)
    return int(run.contacts.step[k]) if k >= 0 else len(run.t)
