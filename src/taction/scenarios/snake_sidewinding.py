"""Snake sidewinding: the snake robot moves sideways by lifting parts of itself; friction has no direction.

A horizontal and a vertical wave of one frequency and phase, a quarter of a period apart: the parts of the
body that are down stick, those that are up are carried over.

Exact answers
1. Mirror images: the pattern with δ₀ → −δ₀ moves to the other side. To which side is a matter of signs: with
   δ₀ = +90° and a wave to the tail it is the right of the head, seen along −x: towards −y.
2. Without the vertical wave, the same horizontal wave on the same ground has no reason to go sideways: the
   twin's way sideways, `flat_sideways`, is small against the snake's.
Both need two periods of the gait; they are checked where the vertical wave leads by 30° to 150° either way.

The vertical gains of the document, 200 N m/rad, give way by 0.3 rad under three links' weight; sidewinding
takes ten times as much (`lift_gain`). Gains act at the end of the step, so that this costs nothing.

Metrics: `sideways` is the way to the side that δ₀ asks for [m]; others as in
`taction.scenarios.snake_motion`.

References: [Transeth2006, Section V-B] for the waves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.control.waves import MotionPattern, sidewinding
from taction.model.shapes import Plane
from taction.robots.snake import snake
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.snake_motion import (
    GAIT,
    LINKS,
    RADIUS,
    RAMP,
    TRAVEL_UNITS,
    SnakeScenario,
    in_radians,
    link_places,
    run_like,
    snake_control,
    travel,
)
from taction.sim.run import Run
from taction.sim.world import World

PERIODS = 2.0  # that a check of the way needs
FLAT = 0.2  # how far the twin without lift may go sideways, as a part of the way


class SnakeSidewinding(SnakeScenario):
    """See the module text."""

    name = "snake-sidewinding"
    summary = "a snake robot moves sideways by a horizontal and a vertical wave; friction has no direction"
    source = "Transeth et al. 2006, Eqs. (52) and (53); mirror symmetry"
    duration, dt = 8.0, 2e-3
    parameters = (
        LINKS,
        Parameter("friction", 0.3, "", "coefficient, the same in all directions", minimum=0.0),
        *GAIT,
        Parameter("lift", 10.0, "deg", "amplitude of the vertical wave"),
        Parameter("lead", 90.0, "deg", "of the vertical wave; its sign decides on the side", minimum=-180.0),
        Parameter("lift_gain", 10.0, "", "vertical gains, in units of the document's", minimum=0.0),
        RAMP,
    )
    units = TRAVEL_UNITS | by_unit(
        {
            "m": "sideways highest_link flat_sideways",
            "": "periods is_out_of_phase",
        }
    )

    def world(self, parameters: Values) -> World:
        """The snake on level ground."""
        mu = parameters["friction"]
        return World(snake(links=parameters["links"], friction=(mu, mu)), ground=Plane(friction=1.0))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest, straight, under control."""
        gain = parameters["lift_gain"]
        return {"controller": snake_control(world.model, pattern_of(parameters), lift_gain=gain)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Travel, and that of the twin without the vertical wave."""
        p, period = parameters, pattern_of(parameters).period
        places = link_places(run)
        side = side_of(p)
        out = travel(run, period, places)
        out["sideways"] = side * float(out["lateral_drift"])
        out["highest_link"] = float(places.centre[:, :, 2].max()) - RADIUS
        out["periods"] = float(run.t[-1] - run.t[0]) / period
        world = self.world(p)
        twin = run_like(run, world, self.start({**p, "lift": 0.0}, world))
        out["flat_sideways"] = side * float(travel(twin, period)["lateral_drift"])
        out["is_out_of_phase"] = bool(abs(math.sin(math.radians(p["lead"]))) > 0.49 and p["lift"] != 0.0)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """To the right side, and only because of the lift."""
        if metrics["periods"] < PERIODS or not metrics["is_out_of_phase"]:
            return []
        way = float(metrics["sideways"])
        found = [] if way > 0.0 else [f"the snake went to the wrong side, by {-way:.3g} m"]
        flat = abs(float(metrics["flat_sideways"]))
        return found + above("the way sideways without lift", flat, FLAT * abs(way), "m")


def side_of(parameters: Values) -> float:
    """+1 where the pattern goes to −y, −1 where it goes to +y."""
    p = parameters
    wave = np.sign(p["phase"] * p["frequency"]) * np.sign(p["amplitude"] * p["lift"])
    return float(-wave * np.sign(math.sin(math.radians(p["lead"]))))


def pattern_of(parameters: Values) -> MotionPattern:
    """The motion pattern of a scenario's parameters."""
    angles = in_radians(parameters, "amplitude", "lift", "frequency", "phase", "lead")
    return sidewinding(**angles, ramp=parameters["ramp"])
