"""A foot on a ceiling: it holds up to its adhesion, and lets go beyond.

A pad of 0.1 kg, 40 × 40 × 10 mm, hangs from a ceiling by an adhesion of c = 10 N, shared by its four
corners. It is pulled down by its weight and a constant force, together load · c. (The pull is a part of
gravity, which is the same force at the centre of mass.)

Exact answers, with g = load c / m the acceleration of the pad without the ceiling:

    load ≤ 1:   it never moves, and the ceiling pulls with load · c                         (1)
    load > 1:   it lets go at once and falls,  z = −½ g t²                                  (2)

A step decides whether the pad holds, and what lets go pulls once more with all it has: c h of the first
step's momentum is missing. A scheme of first order adds half a step of the fall. So (2) is met up to

    (c/m + ½ g) h t                                                                         (3)

At a load so near to 1 that the pad does not leave the rounding of a gap (1 nm) in one step it lets go later.

Departures: rigid surfaces that hold with a force and no range. A real foot peels from an edge, and a
gecko's holds by shear. Source: [Fremond1988] for adhesion in unilateral contact, without damage.

References: [Fremond1988]; [Moreau1988] for the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taction.math.transform import Transform, rotation_about
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane, Shape
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run

if TYPE_CHECKING:
    from taction.sim.world import World

SIZE, MASS = (0.04, 0.04, 0.01), 0.1  # of the pad [m, kg]


class Gecko(ContactScenario):
    """See the module text."""

    name = "gecko"
    summary = "a foot on a ceiling: it holds up to its adhesion, and lets go beyond"
    source = "Frémond 1988"
    duration, dt = 0.2, 1e-3
    parameters = (
        Parameter("load", 0.99, "", "weight and pull over adhesion", minimum=0.0, maximum=100.0),
        Parameter("adhesion", 10.0, "N", "of the pad", minimum=1e-3, maximum=1e4),
        Parameter("mu", 0.5, "", "coefficient of friction", minimum=0.0, maximum=2.0),
    )
    units = by_unit(
        {
            "m": "displacement displacement_exact",
            "rad": "rotation",
            "N": "pull pull_exact adhesion",
            "m/s²": "free_acceleration",
            "": "holds",
        }
    )

    def world(self, parameters: Values) -> World:
        """A pad under a ceiling, gravity as strong as weight and pull."""
        from taction.sim.world import World

        mu, adhesion = parameters["mu"], parameters["adhesion"]
        ceiling = Shape(
            Plane(), Transform(rotation_about([1.0, 0.0, 0.0], np.pi)), Material((mu, mu)), "ceiling"
        )
        surface = Material((mu, mu), adhesion=adhesion)
        pad = free_body("pad", Box(SIZE), mass=MASS, position=(0.0, 0.0, -0.5 * SIZE[2]), material=surface)
        return World(pad, ground=ceiling, gravity=(0.0, 0.0, -parameters["load"] * adhesion / MASS))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Way [m], its exact value, whether it holds, the pull of the ceiling at the end [N]."""
        g = parameters["load"] * parameters["adhesion"] / MASS
        T, holds = float(run.t[-1] - run.t[0]), parameters["load"] <= 1.0
        forces = run.contact_forces()
        end = float(forces["pad"][-1, 2]) if "pad" in forces else 0.0
        return {
            "displacement": float(np.linalg.norm(run.q[-1, :3] - run.q[0, :3])),
            "displacement_exact": 0.0 if holds else 0.5 * g * T * T,
            "rotation": 2.0 * float(np.linalg.norm(run.q[-1, 4:7])),
            "pull": end,
            "pull_exact": parameters["load"] * parameters["adhesion"] if holds else 0.0,
            "holds": bool(abs(end) > 0.0),
            "free_acceleration": g,
            "adhesion": parameters["adhesion"],
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) to (3)."""
        T, g, c = float(run.t[-1] - run.t[0]), metrics["free_acceleration"], metrics["adhesion"]
        creep = creep_speed(run, g + c / MASS)
        off = abs(metrics["displacement"] - metrics["displacement_exact"])
        allowed = creep * T
        if metrics["pull_exact"] == 0.0:
            allowed += (c / MASS + 0.5 * g) * run.dt * T * (1.0 + 1e-9)
        wrong = abs(metrics["pull"] - metrics["pull_exact"])
        return [
            *above("the error of the displacement", off, allowed, "m"),
            *above("the error of the ceiling's pull", wrong, MASS * creep / run.dt, "N"),
            *above("the rotation", metrics["rotation"], creep * T / SIZE[0], "rad"),
        ]
