"""Pushed block: it holds up to μ m g and slides beyond, along the pull, whatever its direction.

A block of 1 kg, 0.4 × 0.4 × 0.1 m, on level ground with μ = 0.5 by default is pulled at its centre of mass by
the constant horizontal force ratio · μ m g, in a direction counted from x. (The pull is a horizontal part of
gravity, which is the same force. The block is too flat to tip.)

Exact answers, with p the pull in units of μ m g, of size ρ (the ratio) and direction φ, and S the section of
the friction cone in the same units; P projects onto S:

    a = μ g (p − P(p))                                                                      (1)

since a block that starts to move has friction P(p) against a velocity normal to S. For the disc, Coulomb's
law:

    ρ ≤ 1:   it never moves;      ρ > 1:   a = (ρ − 1) μ g along the pull                   (2)

For ``lcp``, a pyramid of four sides with corners on ±x and ±y, S is the square |p₁| + |p₂| ≤ 1, which holds
only

    ρ_p = 1 / (|cos φ| + |sin φ|)                                                           (3)

0.714 at 37°, √½ at worst; the block then slides at 45°, normal to a side, until friction is in a corner. This
is shown beside every run: `pyramid_threshold`, where the block starts to slide under ``lcp``, by bisection;
and `pyramid_direction_error`, the angle [deg] between its velocity and the pull at a ratio of 1.5.

Departures: the convex law lifts a sliding block, as on a slope (`taction.scenarios.block_slope`). Source:
Coulomb's law.

References: [StewartTrinkle1996] for the pyramid; [Moreau1988]; [DeSaxceFeng1998] for the cone.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.block_slope import lost_to_lift
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
SIZE = (0.4, 0.4, 0.1)  # of the block [m]
FAST = 1.5  # ratio at which the pyramid's direction is taken
BISECTIONS = 20  # of the ratios from 0 to 2
LEAST = 1e-7  # acceleration in units of μ g that counts as sliding: at most √2 as much above the threshold
TRIAL_STEPS = 3  # of one run of the bisection


class BlockPush(ContactScenario):
    """See the module text."""

    name = "block-push"
    summary = "a block pulled with almost, or just more than, its friction, in any direction"
    source = "Coulomb's law"
    duration, dt = 2.0, 1e-3
    parameters = (
        Parameter("ratio", 0.9999, "", "pull over greatest friction", minimum=0.0, maximum=100.0),
        Parameter("direction", 37.0, "deg", "of the pull, from x towards y"),
        Parameter("mu", 0.5, "", "coefficient of friction", minimum=1e-3, maximum=2.0),
    )
    units = by_unit(
        {
            "m": "displacement displacement_exact",
            "m/s²": "acceleration_error acceleration_exact free_acceleration",
            "deg": "direction_error pyramid_direction_error pyramid_direction_exact",
            "": "sliding pyramid_threshold pyramid_threshold_exact",
        }
    )

    def world(self, parameters: Values) -> World:
        """A block at rest on level ground, gravity inclined by the pull."""
        return pulled_block(parameters["ratio"], parameters["direction"], parameters["mu"])

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Way [m], acceleration [m/s²], direction [deg]; and what the pyramid makes of it."""
        ratio, direction, mu = (parameters[k] for k in ("ratio", "direction", "mu"))
        T, exact = float(run.t[-1] - run.t[0]), exact_acceleration(ratio, direction, mu, run.contact == "lcp")
        way, v = run.q[-1, :3] - run.q[0, :3], run.v[-1, :2]
        sliding = float(np.linalg.norm(v)) > creep_speed(run, free_acceleration(ratio, mu))
        threshold, turned = pyramid(direction, mu, run.dt, run.integrator)
        return {
            "displacement": float(np.linalg.norm(way)),
            "displacement_exact": 0.5 * float(np.linalg.norm(exact)) * T**2,
            "sliding": sliding,
            "acceleration_error": float(np.linalg.norm(v / T - exact)),
            "direction_error": angle_between(v, heading(direction)) if sliding else 0.0,
            "acceleration_exact": float(np.linalg.norm(exact)),
            "free_acceleration": free_acceleration(ratio, mu),
            "pyramid_threshold": threshold,
            "pyramid_threshold_exact": 1.0 / float(np.abs(heading(direction)).sum()),
            "pyramid_direction_error": turned,
            "pyramid_direction_exact": angle_between(
                exact_acceleration(FAST, direction, mu, True), heading(direction)
            ),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (3)."""
        T, exact = float(run.t[-1] - run.t[0]), metrics["acceleration_exact"]
        creep = creep_speed(run, metrics["free_acceleration"])
        noise = creep / (run.dt if exact > 0.0 else T) + lost_to_lift(run, exact) / T
        off = abs(metrics["displacement"] - metrics["displacement_exact"])
        allowed = noise * T**2 if exact > 0.0 else creep * T
        if run.integrator != "moreau":
            allowed += 0.5 * exact * T * run.dt
        corner = abs(metrics["pyramid_threshold"] - metrics["pyramid_threshold_exact"])
        turned = abs(metrics["pyramid_direction_error"] - metrics["pyramid_direction_exact"])
        return [
            *above("the error of the acceleration", metrics["acceleration_error"], noise, "m/s²"),
            *above("the error of the displacement", off, allowed * (1.0 + 1e-9), "m"),
            *above("the error of the pyramid's threshold", corner, 2.0 * 2.0**-BISECTIONS + 2.0 * LEAST),
            *above("the error of the pyramid's direction", turned, 1e-6, "deg"),
        ]


def heading(direction: float) -> Array:
    """Unit vector (2,) in a direction [deg]; exact along the axes."""
    a = math.radians(direction)
    out = np.array([math.cos(a), math.sin(a)])
    return np.where(np.abs(out) < 1e-15, 0.0, out)


def exact_acceleration(ratio: float, direction: float, mu: float, is_square: bool) -> Array:
    """Equation (1) [m/s²], shape (2,): the section is a square with corners on the axes, or a disc."""
    p = ratio * heading(direction)
    size = np.abs(p)
    if not is_square:
        return mu * GRAVITY * max(0.0, 1.0 - 1.0 / max(ratio, 1e-300)) * p
    if size.sum() <= 1.0:
        return np.zeros(2)
    # to a side both parts lose the same; to a corner the smaller one is lost altogether
    lost = 0.5 * (size.sum() - 1.0)
    left = np.full(2, lost) if size.min() >= lost else np.where(size == size.max(), size - 1.0, size)
    return mu * GRAVITY * np.sign(p) * left


def free_acceleration(ratio: float, mu: float) -> float:
    """Acceleration of the block without ground [m/s²]."""
    return GRAVITY * math.hypot(1.0, ratio * mu)


def pulled_block(ratio: float, direction: float, mu: float) -> World:
    """A block on level ground under a pull of ratio · μ m g in a direction [deg]."""
    x, y = (ratio * mu * GRAVITY * heading(direction)).tolist()
    surface = Material((mu, mu))
    block = free_body("block", Box(SIZE), mass=1.0, position=(0.0, 0.0, 0.5 * SIZE[2]), material=surface)
    return World(block, ground=Plane(friction=mu), gravity=(x, y, -GRAVITY))


def angle_between(a: Array, b: Array) -> float:
    """Angle between two plane vectors (2,) [deg]."""
    return abs(math.degrees(math.atan2(a[0] * b[1] - a[1] * b[0], a @ b)))


def pyramid(direction: float, mu: float, dt: float, stepper: str) -> tuple[float, float]:
    """Ratio at which the block starts to slide under the law ``lcp``, and its angle to the pull [deg]."""

    def velocity(ratio: float) -> Array:
        simulation = Simulation(pulled_block(ratio, direction, mu), dt=dt, contact="lcp", stepper=stepper)
        return simulation.run(TRIAL_STEPS * dt).v[-1, :2]

    least = LEAST * TRIAL_STEPS * dt * mu * GRAVITY
    low, high = 0.0, 2.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.linalg.norm(velocity(middle)) > least else (middle, high)
    return high, angle_between(velocity(FAST), heading(direction))
