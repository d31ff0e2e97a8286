"""SimBenchmark's rolling test: a box pushed over the ground, with 25 balls rolling on its top.

A box of mass M and 20 m × 20 m × 1 m slides under a horizontal force F through its centre; n balls of mass m
and radius r lie on it in a square grid of 2 m and roll. Ground and box have the coefficient μ₁, box and balls
μ₂. Directions of the force: x, y, and the benchmark's diagonal, 60° from x, which a friction pyramid along x
and y answers wrongly.

Exact answers: the weights press on the ground with (M + n m) g, so that sliding friction takes
f₁ = μ₁ (M + n m) g off the force. A ball of inertia ⅖ m r², driven at its lowest point by a force f₂, has the
acceleration a₂ = f₂ / m and turns at 5/2 · f₂ / (m r), so that rolling without slip, a₁ = a₂ + 5/2 a₂, makes

    f₂ = (F − f₁) / (7/2 · M / m + n),      a₁ = 7/2 · f₂ / m,      a₂ = f₂ / m.                          (1)

All velocities grow linearly from zero. Every time-stepping scheme follows a constant acceleration without
error, so that only the solver's tolerance remains. (1) holds if F > f₁ and f₂ ≤ μ₂ m g, which is checked, and
while the balls are on the box: their lag is 5/4 · a₂ t².

Metric, as in the benchmark: `velocity_error` is the mean over the steps of |v_box − a₁ t|² + |v_ball − a₂ t|²
for the first ball [m²/s²]. `worst_velocity_error` is the largest error of all bodies and times [m/s].

Departures: the benchmark starts with overlaps of 2e-5 m, which engines without correction need; here bodies
just touch. The 20 m wide box stays level under the balls: the forces at its corners stay positive.

References: [KangHwangbo2018], rolling test.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
SIDE, THICK, RADIUS, SPACING, PER_SIDE = 20.0, 1.0, 0.5, 2.0, 5
DIRECTIONS = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "diagonal": (0.5, math.sqrt(0.75), 0.0),
}
HELD_STEPS = 1000  # how long a constant force is held: the function that returns it is asked rarely


class SimbenchRolling(ContactScenario):
    """See the module text."""

    name = "simbench-rolling"
    summary = "a box pushed over the ground with 25 balls rolling on it: friction cone against closed form"
    source = "SimBenchmark, rolling test; Newton's laws"
    duration, dt = 4.0, 1e-3
    parameters = (
        Parameter(
            "direction", "diagonal", "", "of the force; diagonal: 60° from x", choices=tuple(DIRECTIONS)
        ),
        Parameter("force", 150.0, "N", "that pushes the box", minimum=0.0),
        Parameter("box_mass", 10.0, "kg", "mass of the box", minimum=1e-3),
        Parameter("ball_mass", 1.0, "kg", "mass of each ball", minimum=1e-3),
        Parameter("ground_friction", 0.4, "", "coefficient of ground and box", minimum=0.0),
        Parameter("ball_friction", 0.8, "", "coefficient of box and balls", minimum=0.0),
    )
    units = by_unit(
        {
            "(m/s)²": "velocity_error",
            "m/s": "worst_velocity_error box_speed",
            "m/s²": "box_acceleration",
            "m": "lag",
        }
    )

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, str]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation, with the force held over many steps."""
        simulation, start = super().make(parameters, dt, integrator, contact)
        return simulation, {**start, "control_dt": HELD_STEPS * simulation.dt}

    def world(self, parameters: Values) -> World:
        """The box on the ground, and the balls on the box."""
        p = parameters
        box_acceleration(p)
        surface = Material((p["ball_friction"], p["ball_friction"]))
        box = free_body(
            "box", Box((SIDE, SIDE, THICK)), mass=p["box_mass"], position=(0, 0, THICK / 2), material=surface
        )
        middle = 0.5 * SPACING * (PER_SIDE - 1)
        balls = [
            free_body(
                "ball",
                Sphere(RADIUS),
                mass=p["ball_mass"],
                position=(SPACING * i - middle, SPACING * j - middle, THICK + RADIUS),
                material=surface,
            )
            for i in range(PER_SIDE)
            for j in range(PER_SIDE)
        ]
        return World(box, *balls, ground=Plane(friction=min(p["ground_friction"], p["ball_friction"])))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest, with the force on the box."""
        push = np.zeros(world.model.nv)
        push[:3] = parameters["force"] * np.array(DIRECTIONS[parameters["direction"]])
        return {"controller": lambda t, q, v: push}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Velocities against Eq. (1)."""
        errors = velocity_errors(run, parameters)
        squared = (errors**2).sum(2)
        return {
            "velocity_error": float((squared[:, 0] + squared[:, 1]).mean()),
            "worst_velocity_error": float(np.sqrt(squared.max())),
            "box_acceleration": box_acceleration(parameters),
            "box_speed": float(np.linalg.norm(run.v[-1, :3])),
            "lag": float(np.linalg.norm(run.q[-1, 7:9] - run.q[0, 7:9] - run.q[-1, :2] + run.q[0, :2])),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Velocities to the tolerance of the solver."""
        limit = velocity_limit(run)
        return [
            *above("the mean squared velocity error", metrics["velocity_error"], limit**2, "m²/s²"),
            *above("the largest velocity error", metrics["worst_velocity_error"], limit, "m/s"),
        ]


def box_acceleration(parameters: Values) -> float:
    """Acceleration a₁ of the box [m/s²], Eq. (1).

    Raises:
        BadInput: the force is too small to move the box, or too large for balls that roll without slip.
    """
    p, count = parameters, PER_SIDE**2
    lost = min(p["ground_friction"], p["ball_friction"]) * (p["box_mass"] + count * p["ball_mass"]) * GRAVITY
    drive = (p["force"] - lost) / (3.5 * p["box_mass"] / p["ball_mass"] + count)
    largest = p["ball_friction"] * p["ball_mass"] * GRAVITY
    if not 0.0 < drive <= largest:
        raise BadInput(
            f"simbench-rolling: the closed form needs a sliding box and rolling balls: a drive of each ball "
            f"between 0 and {largest:.4g} N, got {drive:.4g}"
        )
    return 3.5 * drive / p["ball_mass"]


def velocity_errors(run: Run, parameters: Values) -> Array:
    """Error of the velocity of each body at each time [m/s], shape (n + 1, 1 + balls, 3): box first."""
    along = np.array(DIRECTIONS[parameters["direction"]])
    a = box_acceleration(parameters)
    rates = np.full(1 + PER_SIDE**2, a / 3.5)
    rates[0] = a
    velocity = run.v.reshape(len(run.t), -1, 6)[:, :, :3]
    return velocity - run.t[:, None, None] * rates[:, None] * along


def velocity_limit(run: Run) -> float:
    """What residuals within the solver's tolerance may add up to over the steps [m/s].

    They are relative to the velocities of all contacts that a step without contact forces would make: at most
    (g + F/M) h for each of the balls and of the box's four corners.
    """
    mass = run.model.spec.body("box").inertia.mass
    free = (GRAVITY + float(np.linalg.norm(run.tau[0, :3])) / mass) * run.dt
    return TOLERANCE * free * math.sqrt(PER_SIDE**2 + 4) * run.steps
