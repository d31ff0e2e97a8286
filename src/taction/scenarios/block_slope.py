"""Block on a slope: it sticks for ever below the angle of friction and slides above it.

Exact answers, for a block on a plane of angle θ with the coefficient μ:

    tan θ ≤ μ:   it never moves                                                             (1)
    tan θ > μ:   a = g (sin θ − μ cos θ),  s = ½ a t²                                       (2)

The load moves downhill by μ (or tan θ) times the height of the centre of mass, so the block, four times as
wide as high, does not tip for μ < 4. Under constant forces every scheme has the exact velocities. Positions
are exact with Moreau's rule, whose step moves by the mean velocity, and s (1 + h/t) with the others, which
move by the new one.

`threshold_error` is the sharpness of the decision: short runs at atan μ ± δ, δ = 0.1°, 0.01°, …, from the
parameter's own μ; it is the smallest δ [deg] from which upwards every run decides correctly: slides with at
least half of (2) above, with less below. The solvers' tolerance alone allows about 10⁻⁶ degrees.

Departures: the convex law lifts a sliding contact, here by h μ v, which costs the block the velocity μ² h a
once; the check allows for that. With the other two schemes, which do not see open contacts, it hops, and the
check says so. Source: Coulomb's law.

References: [Moreau1988]; [StewartTrinkle1996]; [Anitescu2006] for what the convex law does to sliding.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction.math.transform import Transform, rotation_about
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane, Shape
from taction.scenarios.base import ContactScenario, Metrics, Values, above, is_rigid
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
SIZE = (0.4, 0.4, 0.1)  # of the block [m]
OFFSETS = [10.0**-k for k in range(1, 9)]  # from the angle of friction [deg]
GRID_STEPS = 20  # of each run of the grid
THRESHOLD_LIMIT = 1e-5  # [deg]: the first of OFFSETS above what the solvers' tolerance blurs
NEVER = 90.0  # threshold_error of a law that decides wrongly everywhere [deg]


class BlockSlope(ContactScenario):
    """See the module text."""

    name = "block-slope"
    summary = "a block on a slope: sticks below the angle of friction, slides above it"
    source = "Coulomb's law"
    duration, dt = 10.0, 1e-3
    parameters = (
        Parameter("angle", 20.0, "deg", "of the slope", minimum=0.0, maximum=89.0),
        Parameter("mu", 0.5, "", "coefficient of friction", minimum=0.0, maximum=3.9),
    )
    units = by_unit(
        {
            "m": "displacement displacement_exact",
            "m/s²": "acceleration acceleration_exact",
            "deg": "threshold_error",
            "": "acceleration_error slides",
        }
    )

    def world(self, parameters: Values) -> World:
        """A block at rest on a tilted plane."""
        return block_on_slope(parameters["angle"], parameters["mu"])

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Way [m] and acceleration [m/s²] along the slope; of laws the sharpness of the threshold [deg]."""
        angle, mu = parameters["angle"], parameters["mu"]
        downhill = slope_axes(angle)[:, 0]
        T, exact = float(run.t[-1] - run.t[0]), sliding_acceleration(angle, mu)
        way = run.q[-1, :3] - run.q[0, :3]
        acceleration = float(run.v[-1, :3] @ downhill) / T
        slides = abs(acceleration) * T > creep_speed(run, GRAVITY)
        error = abs(acceleration - exact) / exact if exact > 0.0 else abs(acceleration) * slides / GRAVITY
        return {
            "displacement": float(np.linalg.norm(way)) * (-1.0 if way @ downhill < 0.0 else 1.0),
            "displacement_exact": 0.5 * exact * T**2,
            "acceleration": acceleration,
            "acceleration_exact": exact,
            "acceleration_error": error,
            "slides": slides,
        } | ({"threshold_error": threshold_error(run, mu)} if is_rigid(run.contact or "exact") else {})

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2), and the threshold."""
        T, exact = float(run.t[-1] - run.t[0]), metrics["acceleration_exact"]
        creep = creep_speed(run, GRAVITY)
        noise = creep / (run.dt if exact > 0.0 else T)
        lift = lost_to_lift(run, float(exact)) / T
        wrong = abs(metrics["acceleration"] - exact)
        off = abs(metrics["displacement"] - metrics["displacement_exact"])
        allowed = (noise + lift) * T**2 if exact > 0.0 else creep * T
        if run.integrator != "moreau":
            allowed += 0.5 * exact * T * run.dt
        sharp = metrics.get("threshold_error", 0.0)
        return [
            *above("the error of the acceleration", wrong, noise + lift, "m/s²"),
            *above("the error of the displacement", off, allowed * (1.0 + 1e-9), "m"),
            *above("the error of the angle of friction", sharp, THRESHOLD_LIMIT, "deg"),
        ]


def slope_axes(angle: float) -> Array:
    """Axes of a slope of an angle [deg] about y, in columns: downhill, along y, normal."""
    return rotation_about([0.0, 1.0, 0.0], math.radians(angle))


def slope(angle: float, mu: float) -> Shape:
    """A plane through the origin that falls along x by an angle [deg]."""
    return Shape(Plane(), Transform(slope_axes(angle)), Material((mu, mu)), "slope")


def block_on_slope(angle: float, mu: float) -> World:
    """A block of 1 kg that lies on a slope of an angle [deg]."""
    R = slope_axes(angle)
    x, y, z = (0.5 * SIZE[2] * R[:, 2]).tolist()
    surface = Material((mu, mu))
    block = free_body("block", Box(SIZE), mass=1.0, position=(x, y, z), rotation=R, material=surface)
    return World(block, ground=slope(angle, mu))


def sliding_acceleration(angle: float, mu: float) -> float:
    """Equations (1) and (2): exact acceleration downhill [m/s²]; angle [deg]."""
    a = math.radians(angle)
    return max(0.0, GRAVITY * (math.sin(a) - mu * math.cos(a)))


def lost_to_lift(run: Run, acceleration: float) -> float:
    """Velocity [m/s] that the convex law takes from a block that slides with an acceleration [m/s²]."""
    if run.contact != "convex" or run.world is None:
        return 0.0
    mu = float(run.world.surface[:, 0].min())
    return 2.0 * mu**2 * run.dt * acceleration


def threshold_error(run: Run, mu: float) -> float:
    """Smallest offset from the angle of friction [deg] from which on stick and slip are told apart.

    Runs the same law, scheme, solver and step as ``run`` on the grid `OFFSETS`, both sides.
    """
    limit, sharp = math.degrees(math.atan(mu)), NEVER
    for offset in OFFSETS:
        middle = 0.5 * sliding_acceleration(limit + offset, mu)
        above_it = measured_acceleration(run, limit + offset, mu)
        below_it = measured_acceleration(run, limit - offset, mu)
        if not below_it < middle < above_it:
            break
        sharp = offset
    return sharp


def measured_acceleration(like: Run, angle: float, mu: float) -> float:
    """Acceleration downhill [m/s²] over a few steps of a block on a slope of an angle [deg]."""
    simulation = Simulation(
        block_on_slope(angle, mu),
        dt=like.dt,
        contact=like.contact,
        stepper=like.integrator,
        solver=like.solver or "auto",
    )
    run = simulation.run(GRID_STEPS * like.dt)
    return float(run.v[-1, :3] @ slope_axes(angle)[:, 0] / run.t[-1])
