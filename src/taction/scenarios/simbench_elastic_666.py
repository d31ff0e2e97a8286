"""SimBenchmark's elastic 666 test: the cube of balls falls from a metre and bounces, perfectly elastic.

The cube of ``simbench-666`` with its lowest centres at 1.101 m, without friction, with e = 1 between balls
and with the ground. Dozens of contacts at once, then a gas of balls.

Exact answers
1. Kinetic plus potential energy stays. In Moreau's midpoint rule flight keeps it (``simbench-bouncing``), and
   an impulse Λ does the work ½ Λ·(u⁻ + u⁺), which is nothing where u⁺ = −u⁻, however many contacts share the
   step.
2. That leaves one gap: a contact that moves apart, u⁻ > 0, and is pushed shut by others within the step stops
   at u⁺ = 0, with a work of ½ Λ u⁻ > 0. The ledger books it under impacts, so the energy changes by what is
   booked, and by nothing else. `impact_work` is all of it.
3. The horizontal momentum stays zero.

Metric, as in the benchmark: `energy_error` is the mean over the steps of (E(t) − E(0))² [J²], E of all balls.
`relative_energy_error` is the largest |E(t) − E(0)| / E(0).

Departures: those of ``simbench-666``. Balls overlap by up to h |u| before a contact is seen, and by more
where impacts of others throw them into each other; elastic contacts open by themselves and are not corrected.

References: [KangHwangbo2018], elastic 666 test; [Moreau1988].
"""

from __future__ import annotations

import numpy as np

from taction.scenarios.base import RESIDUAL_LIMIT, ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.simbench_666 import (
    EFFORT_UNITS,
    cube_of_balls,
    cube_parameters,
    effort,
    horizontal_momentum,
    momentum_limit,
    overlaps,
)
from taction.scenarios.tolerance import ROUNDING, SAFETY
from taction.sim.run import Run
from taction.sim.world import World


class SimbenchElastic666(ContactScenario):
    """See the module text."""

    name = "simbench-elastic-666"
    summary = "a cube of 216 elastic balls falls and scatters: energy through many impacts at once"
    source = "SimBenchmark, elastic 666 test; conservation of energy"
    duration, dt, stepper = 10.0, 1e-3, "moreau"
    parameters = cube_parameters(height=1.101)
    units = EFFORT_UNITS | by_unit(
        {
            "J²": "energy_error",
            "J": "impact_work",
            "N s": "momentum_error",
            "m": "deepest",
            "": "relative_energy_error unbooked",
        }
    )

    def world(self, parameters: Values) -> World:
        """The cube over the ground, elastic."""
        return cube_of_balls(parameters, restitution=1.0)

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the energy, and what the ledger says of them."""
        energy = run.kinetic + run.potential
        error = energy - energy[0]
        return {
            "energy_error": float((error**2).mean()),
            "relative_energy_error": float(np.abs(error).max() / energy[0]),
            "impact_work": float(run.energy.impact or 0.0),
            "unbooked": float(abs(run.energy.remainder) / energy[0]),
            "momentum_error": horizontal_momentum(run),
            "deepest": overlaps(run)[1],
            **effort(run),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy to what residuals and rounding allow; nothing unbooked; no horizontal push."""
        rounding = SAFETY * ROUNDING * run.steps
        return [
            # a residual is relative to the velocities that meet, so its work is relative to the energy
            *above("the relative energy error", metrics["relative_energy_error"], RESIDUAL_LIMIT + rounding),
            *above("the energy outside the ledger, relative", metrics["unbooked"], rounding),
            *above("the horizontal momentum", metrics["momentum_error"], momentum_limit(run), "N s"),
        ]
