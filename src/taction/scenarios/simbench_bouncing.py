"""SimBenchmark's bouncing test: 49 balls dropped on the ground, perfectly elastic.

Balls of 10 kg and radius 0.1 m in a square grid of 2 m start at rest with their centres at H = 5 m and bounce
without friction and without loss for 20 s.

Exact answers: the energy E = n m g H of the balls stays what it is, all balls move alike, and straight up and
down. Moreau's midpoint rule keeps these exactly: in flight q⁺ − q = ½ h (v + v⁺) and v⁺ − v = h g make
½ (v⁺² − v²) = g (q⁺ − q), and in the step of an impact v⁺ = −v leaves both heights and speeds as they were.
What the rule does not know is when in a step an impact happened: the time of each bounce is off by up to h,
and balls reach up to ½ h |v| below the surface. `height_error` is how far the highest point after the first
bounce misses H: a step need not fall on the very top, so it may be up to ⅛ g h².

Metric, as in the benchmark: `energy_error` is the mean over the steps of (E(t) − n m g H)² [J²], E of all
balls. `relative_energy_error` is the largest |E(t) − E(0)| / E(0).

Departures: none known. The benchmark's step is 10 ms.

References: [KangHwangbo2018], bouncing test; [Moreau1988].
"""

from __future__ import annotations

import numpy as np

from taction.model.builder import free_body
from taction.model.shapes import Material, Plane, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import ROUNDING, SAFETY
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
SPACING, PER_SIDE, RADIUS = 2.0, 7, 0.1


class SimbenchBouncing(ContactScenario):
    """See the module text."""

    name = "simbench-bouncing"
    summary = "49 elastic balls bouncing for 20 s: energy"
    source = "SimBenchmark, bouncing test; conservation of energy"
    duration, dt, stepper = 20.0, 1e-2, "moreau"
    parameters = (
        Parameter("height", 5.0, "m", "of the centres at the start", minimum=RADIUS),
        Parameter("mass", 10.0, "kg", "of each ball", minimum=1e-6),
    )
    units = by_unit(
        {
            "J²": "energy_error",
            "m": "spread sideways height_error",
            "": "relative_energy_error bounces",
        }
    )

    def world(self, parameters: Values) -> World:
        """Balls over the ground."""
        surface = Material((0.0, 0.0), restitution=1.0)
        balls = [
            free_body(
                "ball",
                Sphere(RADIUS),
                mass=parameters["mass"],
                position=(SPACING * i, SPACING * j, parameters["height"]),
                material=surface,
            )
            for i in range(PER_SIDE)
            for j in range(PER_SIDE)
        ]
        return World(*balls, ground=Plane(friction=0.0, restitution=1.0))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the energy, and how alike and how straight the balls move."""
        exact = PER_SIDE**2 * parameters["mass"] * GRAVITY * parameters["height"]
        error = run.kinetic + run.potential - exact
        place = run.q.reshape(len(run.t), -1, 7)[:, :, :3]
        heights = place[:, :, 2]
        landed = np.flatnonzero(np.diff(np.sign(run.v[:, 2])) > 0)
        later = heights[landed[0] + 1 :, 0] if len(landed) else heights[:, 0]
        return {
            "energy_error": float((error**2).mean()),
            "relative_energy_error": float(np.abs(error).max() / exact),
            "spread": float(np.ptp(heights, axis=1).max()),
            "sideways": float(np.abs(place[:, :, :2] - place[0, :, :2]).max()),
            "bounces": float(len(landed)),
            "height_error": float(abs(later.max() - parameters["height"])) if len(landed) > 1 else 0.0,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy to rounding, with errors of n steps added up; balls alike and straight."""
        return [
            *above(
                "the relative energy error", metrics["relative_energy_error"], SAFETY * run.steps * ROUNDING
            ),
            *above("the spread of the balls' heights", metrics["spread"], 0.0, "m"),
            *above("the balls' way sideways", metrics["sideways"], 0.0, "m"),
        ]
