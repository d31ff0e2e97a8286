"""SimBenchmark's 666 test: a cube of 6 × 6 × 6 heavy balls falls apart, without friction and without bounce.

Balls of 10 kg and radius 0.1 m stand in a cubic grid of 0.21 m, the lowest layer about a millimetre above the
ground, each shifted by random numbers between 0 and 1 mm along all three axes so that the cube collapses.

Exact answers
1. Rigid balls do not overlap. The Stewart–Trinkle rule asks for g + h ∇g·u ≥ 0 at the end of each step. The
   distance of two points is a convex function of their difference, the height of a ball a linear one, so that
   the gap at the end of the step is at least that: *no* overlap comes from linearising, only what the solver
   leaves.
2. Forces between balls cancel and the ground pushes straight up: the horizontal momentum stays zero.
3. Nothing gives energy: contacts only take it.

Metric, as in the benchmark: `penetration_error` is the mean over the steps of the sum over all pairs of
balls, and of balls with the ground, of the overlap squared [m²]; it comes from positions alone. `deepest` is
the largest overlap of all [m].

Departures: the random numbers are those of NumPy's default generator, the seed is the benchmark's.

References: [KangHwangbo2018], 666 test; [StewartTrinkle1996].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.model.builder import free_body
from taction.model.shapes import Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import ROUNDING, SAFETY
from taction.sim.run import Run
from taction.sim.simulation import TOLERANCE
from taction.sim.world import World
from taction.steppers.columns import COLUMNS, CONTACTS, ITERATIONS
from taction.steppers.schemes.base import SLOP

RADIUS, MASS, GRID, PERTURBATION = 0.1, 10.0, 0.21, 1e-3  # [m], [kg]
BLOCK = 16  # times at once when overlaps are measured: bounds the memory


def cube_parameters(height: float) -> tuple[Parameter, ...]:
    """What can be set of a cube of balls, its lowest centres at a height [m] by default."""
    return (
        Parameter("per_side", 6, "", "balls along each edge of the cube", minimum=1, maximum=10),
        Parameter("height", height, "m", "of the lowest centres", minimum=RADIUS),
        Parameter("seed", 42, "", "of the random shifts", minimum=0),
    )


EFFORT_UNITS = by_unit(
    {
        "1/s": "steps_per_second",
        "": "most_contacts mean_contacts most_iterations mean_iterations",
    }
)


class Simbench666(ContactScenario):
    """See the module text."""

    name = "simbench-666"
    summary = "a cube of 216 balls falls apart without friction: overlaps"
    source = "SimBenchmark, 666 test; rigidity"
    # Of first order: balls that move straight stay on their sides of planes between them, to rounding
    duration, dt, stepper = 10.0, 1e-3, "stewart-trinkle"
    parameters = cube_parameters(height=0.101)
    units = EFFORT_UNITS | by_unit(
        {
            "m²": "penetration_error",
            "m": "deepest",
            "N s": "momentum_error",
            "J": "energy_gain",
            "": "energy_left",
        }
    )

    def world(self, parameters: Values) -> World:
        """The cube over the ground, without friction or bounce."""
        return cube_of_balls(parameters, restitution=0.0)

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Overlaps, horizontal momentum and energies."""
        squared, deepest = overlaps(run)
        energy = run.kinetic + run.potential
        return {
            "penetration_error": squared,
            "deepest": deepest,
            "momentum_error": horizontal_momentum(run),
            "energy_gain": float(max(np.diff(energy).max(initial=0.0), 0.0)),
            "energy_left": float(energy[-1] / energy[0]),
            **effort(run),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """No overlap beyond the tolerance of the solver, no horizontal push, no energy from contacts."""
        depth = overlap_limit(run)
        contacts = float(metrics["most_contacts"])
        energy = run.kinetic + run.potential
        return [
            *above("the deepest overlap", metrics["deepest"], depth, "m"),
            *above("the mean squared overlap", metrics["penetration_error"], contacts * depth**2, "m²"),
            *above("the horizontal momentum", metrics["momentum_error"], momentum_limit(run), "N s"),
            *above("the energy gained in a step", metrics["energy_gain"], SAFETY * ROUNDING * energy[0], "J"),
        ]


def cube_of_balls(parameters: Values, *, restitution: float) -> World:
    """Balls in a cubic grid with small random shifts, without friction; `cube_parameters`."""
    count = parameters["per_side"]
    shift = np.random.default_rng(parameters["seed"]).random((count, count, count, 3))
    surface = Material((0.0, 0.0), restitution=restitution)
    balls = []
    for i, j, k in np.ndindex(count, count, count):
        place = GRID * np.array([i, j, k]) + PERTURBATION * shift[i, j, k] + [0, 0, parameters["height"]]
        balls.append(
            free_body(
                "ball", Sphere(RADIUS), mass=MASS, position=(place[0], place[1], place[2]), material=surface
            )
        )
    return World(*balls, ground=Plane(friction=0.0, restitution=restitution))


def places(run: Run) -> Array:
    """Centres of the balls at each time, shape (n + 1, balls, 3) [m]."""
    return run.q.reshape(len(run.t), -1, 7)[:, :, :3]


def overlaps(run: Run) -> tuple[float, float]:
    """Mean over the times of the sum of squared overlaps [m²], and the largest overlap [m]."""
    centre, total, deepest = places(run), 0.0, 0.0
    first, second = np.triu_indices(centre.shape[1], 1)
    for at in range(0, len(centre), BLOCK):
        block = centre[at : at + BLOCK]
        into_ground = np.maximum(RADIUS - block[:, :, 2], 0.0)
        total += float((into_ground**2).sum())
        deepest = max(deepest, float(into_ground.max()))
        # distances along x first: few pairs are near each other
        near = np.abs(block[:, first, 0] - block[:, second, 0]) < 2 * RADIUS
        when, pair = np.nonzero(near)
        apart = block[when, first[pair]] - block[when, second[pair]]
        depth = np.maximum(2 * RADIUS - np.sqrt((apart**2).sum(1)), 0.0)
        total += float((depth**2).sum())
        deepest = max(deepest, float(depth.max(initial=0.0)))
    return total / len(centre), deepest


def overlap_limit(run: Run) -> float:
    """Overlap that is left alone, and what a solved step may add at the fastest speed [m]."""
    fastest = float(np.abs(run.v).max()) + 9.81 * run.dt
    return SLOP + TOLERANCE * fastest * run.dt


def horizontal_momentum(run: Run) -> float:
    """Largest horizontal momentum of all balls together [N s]."""
    velocity = run.v.reshape(len(run.t), -1, 6)[:, :, :2]
    return float(np.linalg.norm(MASS * velocity.sum(1), axis=1).max())


def momentum_limit(run: Run) -> float:
    """Rounding of the impulses that cancel: each step may lose a rounding unit of all of them [N s]."""
    weight = MASS * len(run.model.joints) * 9.81 * run.dt
    speed = MASS * float(np.abs(run.v.reshape(len(run.t), -1, 6)[:, :, :2]).sum((1, 2)).max())
    return SAFETY * ROUNDING * run.steps * (weight + speed)


def effort(run: Run) -> dict[str, Any]:
    """How hard the steps were: contacts, iterations of the solver, speed."""
    records = run.records if run.records is not None else np.zeros((0, COLUMNS))
    return {
        "most_contacts": float(records[:, CONTACTS].max(initial=0.0)),
        "mean_contacts": float(records[:, CONTACTS].mean()),
        "most_iterations": float(records[:, ITERATIONS].max(initial=0.0)),
        "mean_iterations": float(records[:, ITERATIONS].mean()),
        "steps_per_second": run.steps / run.wall_s,
    }
