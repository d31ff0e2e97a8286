"""A tyre under load: how far it gives way, and how far it rolls per turn.

A wheel of radius R, an ellipsoid across, carries a load on hard ground. Exact answers, with k the stiffness
of its one point of contact:

    deflection       δ = m g / k                                                                        (1)
    rolling radius   way per radian R − δ: the contact plane is the ground, which is rigid              (2)

A tyre that rolls freely at constant speed stretches nothing, so its tangential spring stays empty. In (2) the
softer of two bodies deforms, and the average tangent plane lies at the surface of the harder one
[DuindamStramigioli2003, Section 5]; of two alike it would lie halfway, and the radius be R − δ/2.

Source: [DuindamStramigioli2003], for what it is meant for.

References: [DuindamStramigioli2003].
"""

from __future__ import annotations

import math

import numpy as np

from taction.contact.forces.parameters import Compliant, SoftContact
from taction.kinematics.configuration import difference
from taction.model.builder import free_body
from taction.model.shapes import Ellipsoid, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
WIDTH = 0.3  # of the tyre, over its radius
ROUNDING = 1e-9


class Tyre(ContactScenario):
    """See the module text."""

    name = "tyre"
    summary = "a loaded tyre: deflection m g/k, and a rolling radius that is smaller by it"
    source = "Hooke's law; the average tangent plane of Duindam and Stramigioli"
    duration, dt = 2.0, 1e-3
    contact, stepper = "compliant", "midpoint"
    parameters = (
        Parameter("load", 300.0, "kg", "on the tyre, its own mass included", minimum=1e-3),
        Parameter("stiffness", 2e5, "N/m", "along the normal", minimum=1.0),
        Parameter("radius", 0.3, "m", "without load", minimum=1e-2),
        Parameter("speed", 10.0, "m/s", "at which it rolls", minimum=0.0),
        Parameter("mu", 0.9, "", "coefficient of friction", minimum=0.0),
    )
    units = by_unit(
        {
            "m": "deflection deflection_exact rolling_radius rolling_radius_exact",
            "J": "stored_energy stored_energy_exact",
            "": "deflection_error rolling_radius_error",
        }
    )

    def law(self, parameters: Values) -> SoftContact:
        """A spring of this stiffness, with the default damper."""
        return Compliant(stiffness=parameters["stiffness"])

    def world(self, parameters: Values) -> World:
        """A wheel on the ground, as deep in it as its load presses it."""
        R, mu = parameters["radius"], parameters["mu"]
        shape, height = Ellipsoid((R, WIDTH * R, R)), R - deflection(parameters)
        wheel = free_body(
            "tyre", shape, mass=parameters["load"], position=(0.0, 0.0, height), material=Material((mu, mu))
        )
        return World(wheel, ground=Plane(friction=mu))

    def start(self, parameters: Values, world: World) -> dict[str, object]:
        """Rolling."""
        speed = parameters["speed"]
        return {"v": [speed, 0.0, 0.0, 0.0, speed / (parameters["radius"] - deflection(parameters)), 0.0]}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Deflection and rolling radius [m], and the largest energy in the tangential spring over all."""
        R, delta = parameters["radius"], deflection(parameters)
        steps = [difference(run.model, a, b)[4] for a, b in zip(run.q[:-1], run.q[1:], strict=True)]
        turned, way = float(np.sum(steps)), float(run.q[-1, 0] - run.q[0, 0])
        sunk = float(R - run.q[-1, 2])
        radius = way / turned if turned else R - delta
        return {
            "deflection": sunk,
            "deflection_exact": delta,
            "deflection_error": abs(sunk - delta) / delta,
            "rolling_radius": radius,
            "rolling_radius_exact": R - delta,
            "rolling_radius_error": abs(radius - (R - delta)) / (R - delta),
            "stored_energy": float(run.energy.stored or 0.0),
            "stored_energy_exact": 0.5 * parameters["stiffness"] * delta**2,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2); nothing stored along the ground."""
        charged = abs(metrics["stored_energy"] - metrics["stored_energy_exact"])
        return [
            *above("the relative error of the deflection", metrics["deflection_error"], ROUNDING),
            *above("the relative error of the rolling radius", metrics["rolling_radius_error"], ROUNDING),
            *above(
                "the energy stored along the ground", charged, ROUNDING * metrics["stored_energy_exact"], "J"
            ),
        ]


def deflection(parameters: Values) -> float:
    """Equation (1) [m]; at most half the radius counts."""
    return min(GRAVITY * parameters["load"] / parameters["stiffness"], 0.5 * math.fabs(parameters["radius"]))
