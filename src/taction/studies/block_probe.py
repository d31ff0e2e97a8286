"""What a model of contact makes of a block that slides obliquely and of one that should stick: a probe.

A scenario need not show every claim of a model. So each one is probed with the same block of 1 kg:

1. *sliding* over a level plane at two angles to the axes of the contact frames, `HALFWAY` and `BETWEEN`. A
   circular cone brakes with μ N straight against the motion, whichever way it goes. A pyramid of k corners
   puts the force into a corner: at 180°/k to the axes it brakes with μ N cos(180°/k) only. The convex law
   asks a contact that slides to part at μ v: it throws the block up.
2. *sticking* on a slope with tan θ = μ/2: it should not move, and not sink in.

The contacts of these runs are measured by `taction.studies.contact_figures`.

References: [StewartTrinkle1996] for the pyramid; [Anitescu2006] for the lift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from taction.scenarios.base import ContactScenario, Metrics, Values
from taction.scenarios.block_slope import GRAVITY, block_on_slope
from taction.sim.run import Run
from taction.sim.world import World
from taction.studies.contact_figures import ContactFigures, contact_figures
from taction.studies.contender import Contender

SLIDING, STICKING = 50, 400  # steps
SETTLING = 1.0  # [s]: springs come to rest in this time
FRICTION = 0.5
HALFWAY, BETWEEN = 22.5, 45.0  # to the axes of the contact frames [deg]


@dataclass(frozen=True)
class ProbeFigures:
    """Figures of a model's probes: of the block sliding at two angles, and of the block that should stick."""

    halfway: ContactFigures
    between: ContactFigures
    sticking: ContactFigures


class ProbeBlock(ContactScenario):
    """A block on a slope of ``angle`` [deg], launched with ``speed`` [m/s] in a level ``direction`` [deg]."""

    name = "probe-block"
    summary = "a block on a plane, for the comparison of models of contact"
    source = "Coulomb's law"
    parameters = ()
    duration, dt = 0.05, 1e-3

    def world(self, parameters: Values) -> World:
        """A block on a plane."""
        return block_on_slope(parameters["angle"], FRICTION)

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Launched, or at rest."""
        a = math.radians(parameters["direction"])
        return {"v": parameters["speed"] * np.array([math.cos(a), math.sin(a), 0.0, 0.0, 0.0, 0.0])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """None: its contacts are measured."""
        return {}

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """None."""
        return []


def probe_block(like: Contender, dt: float) -> ProbeFigures | None:
    """Measure the model of a contender, with its numbers, at a step [s]; None if a probe blows up."""
    fast = 4.0 * FRICTION * GRAVITY * SLIDING * dt  # friction takes a quarter of it
    slope = math.degrees(math.atan(0.5 * FRICTION))
    long = STICKING if like.soft is None else max(STICKING, round(SETTLING / dt))
    found = []
    for steps, angle, speed, direction in (
        (SLIDING, 0.0, fast, HALFWAY),
        (SLIDING, 0.0, fast, BETWEEN),
        (long, slope, 0.0, 0.0),
    ):
        values = {"angle": angle, "speed": speed, "direction": direction}
        run, failure, _ = Contender(ProbeBlock(), values, like.contact, like.options).attempt(dt, steps * dt)
        if run is None or failure:
            return None
        found.append(contact_figures(run, like.soft))
    return ProbeFigures(*found)
