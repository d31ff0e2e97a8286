"""Spinning top: a symmetric heavy top on a ball joint, started in steady precession.

Exact answer: with A the moment of inertia across the axis about the support, C the one about the axis, l the
height of the centre of mass along it, θ the tilt and ω_3 the component of the angular velocity along the
axis, the axis goes round the vertical at a constant rate Ω. The horizontal part of the angular momentum, (C
ω_3 − A Ω cos θ) sin θ, is carried round at Ω by the torque of the weight, m g l sin θ, so that

    A cos θ Ω² − C ω_3 Ω + m g l = 0,

which has roots if the top spins fast enough, C² ω_3² ≥ 4 A m g l cos θ. The slow root is the one that is
seen; written as 2 m g l / (C ω_3 + √(C² ω_3² − 4 A m g l cos θ)) it holds for every tilt and suffers no
cancellation. θ and ω_3 stay as they are, and so does the energy.

The angular velocity in body axes, with the body's z along the axis, tilted about y: (−Ω sin θ, 0, ω_3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Capsule, Cylinder, Shape
from taction.scenarios.base import Metrics, Scenario, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import energy_error, error_bound
from taction.sim.run import Run
from taction.sim.simulation import Simulation

GRAVITY = 9.81  # [m/s²]
THICKNESS = 0.02  # of the disc [m]
STEM = 0.004  # radius of the stem, which has no mass [m]


class SpinningTop(Scenario):
    """See the module text."""

    name = "spinning-top"
    summary = "a heavy symmetric top in steady precession: its rate against the closed form"
    source = "classical mechanics: Lagrange's top"
    duration, dt, integrator = 2.0, 2e-4, "rk4"
    parameters = (
        Parameter("spin", 150.0, "rad/s", "angular velocity along the axis", minimum=1e-3),
        Parameter("tilt", 0.5, "rad", "angle of the axis from the vertical", minimum=1e-3, maximum=3.0),
        Parameter("mass", 0.3, "kg", "of the disc", minimum=1e-6),
        Parameter("radius", 0.05, "m", "of the disc", minimum=1e-3),
        Parameter("height", 0.06, "m", "of the disc above the support, along the axis", minimum=0.0),
    )
    units = by_unit(
        {
            "rad/s": "precession_rate precession_exact",
            "rad": "nutation_error",
            "": "precession_error spin_error energy_error",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A top in steady precession."""
        p, half = parameters, 0.5 * parameters["tilt"]
        rate = precession_rate(p)
        start = {
            "q": np.array([math.cos(half), 0.0, math.sin(half), 0.0]),
            "v": np.array([-rate * math.sin(p["tilt"]), 0.0, p["spin"]]),
        }
        return Simulation(top(p), dt=dt, integrator=integrator), start

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Rates [rad/s], their relative error, and the largest changes of what is constant."""
        axis = body_axis(run.q)
        azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
        rate, exact = float(azimuth[-1] - azimuth[0]) / float(run.t[-1]), precession_rate(parameters)
        tilt = np.arccos(np.clip(axis[:, 2], -1.0, 1.0))
        return {
            "precession_rate": rate,
            "precession_exact": exact,
            "precession_error": abs(rate / exact - 1.0),
            "nutation_error": float(np.abs(tilt - parameters["tilt"]).max()),
            "spin_error": float(np.abs(run.v[:, 2] / parameters["spin"] - 1.0).max()),
            "energy_error": energy_error(run),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Precession against the closed form; tilt, spin and energy against their first values."""
        limit = error_bound(run, float(np.abs(run.v[0]).max()))
        # an error of the axis is larger by 1/sin θ in the azimuth, which turns by Ω T in all
        across = float(np.hypot(*body_axis(run.q[:1])[0, :2]))
        turn = metrics["precession_exact"] * float(run.t[-1])
        return [
            *above(
                "the relative error of the precession", metrics["precession_error"], limit / (across * turn)
            ),
            *above("the change of the tilt", metrics["nutation_error"], limit, "rad"),
            *above("the relative change of the spin", metrics["spin_error"], limit),
            *above("the relative energy error", metrics["energy_error"], limit),
        ]


def top(p: Values) -> Model:
    """A disc on a massless stem, on a ball joint at the origin."""
    disc, at = Cylinder(p["radius"], THICKNESS), Transform(translation=np.array([0.0, 0.0, p["height"]]))
    stem = Capsule(STEM, p["height"] + 2.0 * THICKNESS)
    middle = Transform(translation=np.array([0.0, 0.0, 0.5 * stem.length]))
    shapes = [Shape(disc, at, collides=False), Shape(stem, middle, collides=False)]
    b = ModelBuilder("top", gravity=(0.0, 0.0, -GRAVITY))
    b.body("top", Inertia.solid(disc, mass=p["mass"]).placed(at), shapes)
    b.spherical("support", parent="world", child="top")
    return b.build()


def precession_rate(p: Values) -> float:
    """Ω [rad/s] in closed form, by the moments of a solid disc.

    Raises:
        BadInput: the top is too slow to precess steadily.
    """
    m, r, l = p["mass"], p["radius"], p["height"]
    across = m * (3.0 * r * r + THICKNESS**2) / 12.0 + m * l * l
    moment, weight = 0.5 * m * r * r * p["spin"], m * GRAVITY * l
    root = moment * moment - 4.0 * across * weight * math.cos(p["tilt"])
    if root < 0.0:
        least = math.sqrt(4.0 * across * weight * math.cos(p["tilt"])) / (0.5 * m * r * r)
        raise BadInput(
            f"spinning-top: spin {p['spin']:g} rad/s is too slow to stay up; at least {least:.4g} is needed"
        )
    return 2.0 * weight / (moment + math.sqrt(root))


def body_axis(q: Array) -> Array:
    """The body's z axis in the world, shape (n, 3), from quaternions (n, 4)."""
    w, x, y, z = q.T
    return np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)
