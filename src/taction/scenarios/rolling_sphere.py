"""Sphere on a slope: it rolls where friction can hold its lowest point, and slides while it turns where not.

Exact answers, for a homogeneous sphere of radius R, inertia 2/5 m R², on a slope of angle θ:

    tan θ ≤ 7/2 μ:   rolls,   a = 5/7 g sin θ,             ω̇ = a / R                        (1)
    tan θ > 7/2 μ:   slides,  a = g (sin θ − μ cos θ),     ω̇ = 5/2 μ g cos θ / R            (2)

In rolling, friction does no work, though it is there: 2/7 m g sin θ. The velocities of every scheme are
exact; positions too where they move by mean velocities, with others they are ahead by ½ a h t.

Departures: the convex law lifts a sliding contact; the check allows for that with `stewart-trinkle`, and
says so with the others, where the sphere hops. Source: Newton and Euler.

References: [Moreau1988]; [Anitescu2006] for what the convex law does to sliding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from taction.model.builder import free_body
from taction.model.shapes import Material, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.block_slope import GRAVITY, lost_to_lift, slope, slope_axes
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.world import World

MASS = 1.0  # [kg]


class RollingSphere(ContactScenario):
    """See the module text."""

    name = "rolling-sphere"
    summary = "a sphere on a slope: rolls with 5/7 g sin θ, or slides"
    source = "Newton and Euler, Coulomb's law"
    duration, dt = 2.0, 1e-3
    parameters = (
        Parameter("angle", 20.0, "deg", "of the slope", minimum=0.0, maximum=89.0),
        Parameter("mu", 0.5, "", "coefficient of friction", minimum=0.0),
        Parameter("radius", 0.1, "m", "of the sphere", minimum=1e-3),
    )
    units = by_unit(
        {
            "m": "displacement displacement_exact",
            "m/s²": "acceleration acceleration_exact turning_exact",
            "m/s": "slip_speed",
            "J": "friction_work",
            "": "rolls acceleration_error spin_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A sphere at rest on a tilted plane."""
        angle, mu, radius = (parameters[k] for k in ("angle", "mu", "radius"))
        x, y, z = (radius * slope_axes(angle)[:, 2]).tolist()
        ball = free_body("sphere", Sphere(radius), mass=MASS, position=(x, y, z), material=Material((mu, mu)))
        return World(ball, ground=slope(angle, mu))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Way [m], accelerations, slip [m/s] and the work of friction [J]."""
        radius, exact = parameters["radius"], exact_motion(**parameters)
        downhill, T = slope_axes(parameters["angle"])[:, 0], float(run.t[-1] - run.t[0])
        speed, spin = float(run.v[-1, :3] @ downhill), float(run.v[-1, 4])
        a, turn = speed / T, spin * radius / T
        size = exact.acceleration or GRAVITY
        return {
            "displacement": float((run.q[-1, :3] - run.q[0, :3]) @ downhill),
            "displacement_exact": 0.5 * exact.acceleration * T**2,
            "rolls": exact.rolls,
            "acceleration": a,
            "acceleration_exact": exact.acceleration,
            "acceleration_error": abs(a - exact.acceleration) / size,
            "spin_error": abs(turn - exact.turning) / (exact.turning or GRAVITY),
            "turning_exact": exact.turning,
            "slip_speed": speed - radius * spin,
            "friction_work": float(run.energy.friction or 0.0),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2); no work of friction in rolling."""
        T, rolls = float(run.t[-1] - run.t[0]), bool(metrics["rolls"])
        exact, turning = metrics["acceleration_exact"], metrics["turning_exact"]
        creep = creep_speed(run, GRAVITY)
        noise = creep / run.dt + (0.0 if rolls else lost_to_lift(run, exact - turning) / T)
        allowed = noise * T**2 + (0.0 if run.integrator == "moreau" else 0.5 * exact * T * run.dt)
        off = abs(metrics["displacement"] - metrics["displacement_exact"])
        found = [
            *above(
                "the relative error of the acceleration",
                metrics["acceleration_error"],
                noise / (exact or GRAVITY),
            ),
            *above(
                "the relative error of the spin", metrics["spin_error"], 2.5 * noise / (turning or GRAVITY)
            ),
            *above("the error of the displacement", off, allowed * (1.0 + 1e-9), "m"),
        ]
        if rolls:
            # friction of at most the weight, along what the lowest point creeps
            work = abs(metrics["friction_work"])
            found += above("the slip of the rolling sphere", abs(metrics["slip_speed"]), creep, "m/s")
            found += above("the work of friction in rolling", work, MASS * GRAVITY * creep * T, "J")
        return found


class ExactMotion(NamedTuple):
    """Equations (1) and (2)."""

    rolls: bool
    acceleration: float  # of the centre, downhill [m/s²]
    turning: float  # R ω̇ [m/s²]


def exact_motion(angle: float, mu: float, radius: float) -> ExactMotion:
    """How a sphere moves on a slope of an angle [deg]."""
    a = math.radians(angle)
    if math.sin(a) <= 3.5 * mu * math.cos(a):
        rate = 5.0 / 7.0 * GRAVITY * math.sin(a)
        return ExactMotion(True, rate, rate)
    return ExactMotion(False, GRAVITY * (math.sin(a) - mu * math.cos(a)), 2.5 * mu * GRAVITY * math.cos(a))
