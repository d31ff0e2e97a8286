"""Snake between pegs: the snake robot moves by pushing against obstacles, on friction without direction.

Gates of two pegs stand along the line that the body of the snake takes at the start, and that it would keep
if every link followed the one before it, at the inflections of the wave. The wave presses the flanks of the
body against the pegs; the normal of a flank has a part along the path.

Track: with the joint angles of the wave at t = 0, A sin((i − 1) δ), link i makes with the path the angle

    φ_i = −A cos((i − 3/2) δ) / (2 sin ½δ),                                                            (1)

for links ahead of the head too (i < 1): (1) is the sum of the angles, less its mean. It is where link 1
starts.

Exact answers
1. Ground with the same friction in all directions resists; only pegs can push. Over the run the force of the
   pegs along the path is forward, that of the ground backward (`push` > 0 > `drag`, mean forces [N]), once
   the snake travels.
2. Without pegs the same wave does not get ahead (`free_distance`, see `snake-undulation`): the snake between
   pegs gets farther.
Both need two periods of the gait. How far it gets is measured, not known; each link would advance by its own
length in the time in which the wave passes a joint, `ideal_speed`, if nothing slipped.

Departures: pegs meet the links' skin, capsules from joint to joint, not the contact spheres
(`taction.robots.snake`).

References: [Transeth2006, Section VIII], which names this as the next step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.control.waves import MotionPattern, lateral_undulation
from taction.robots.snake import place_snake, snake
from taction.robots.terrain import Terrain, flat, pegs, pegs_along
from taction.scenarios.base import Metrics, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.snake_motion import (
    GAIT,
    LENGTH,
    LINKS,
    RADIUS,
    TRAVEL_UNITS,
    SnakeScenario,
    in_radians,
    run_like,
    snake_control,
    travel,
)
from taction.sim.run import Run
from taction.sim.world import World

PERIODS = 2.0  # that a check of the way needs


class SnakeObstacles(SnakeScenario):
    """See the module text."""

    name = "snake-obstacles"
    summary = "a snake robot pushes itself along between pegs; friction has no direction"
    source = "Transeth et al. 2006, Section VIII; statics"
    duration, dt = 8.0, 2e-3
    parameters = (
        LINKS,
        Parameter("friction", 0.1, "", "coefficient of the ground, in all directions", minimum=0.0),
        Parameter(
            "peg_friction",
            0.0,
            "",
            "coefficient of the pegs; a tenth already jams the body in the gates",
            minimum=0.0,
        ),
        Parameter("peg_radius", 0.05, "m", "of a peg", minimum=1e-3),
        Parameter("clearance", 0.01, "m", "between the body and each peg of a gate"),
        Parameter("gates", 12, "", "pairs of pegs, from the tail on; 0 for none", minimum=0, maximum=200),
        Parameter("amplitude", 40.0, "deg", "of the horizontal wave"),
        *GAIT[1:],
    )
    units = TRAVEL_UNITS | by_unit(
        {
            "m/s": "ideal_speed",
            "N": "push drag",
            "m": "free_distance",
            "": "periods pegs",
        }
    )

    def world(self, parameters: Values) -> World:
        """The snake on level ground between pegs."""
        p = parameters
        mu = p["friction"]
        robot = snake(links=p["links"], friction=(mu, mu), skin=p["peg_friction"])
        return World(robot, ground=terrain_of(p).shapes)

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest, in the shape of the wave at t = 0, heading for −x."""
        pattern = pattern_of(parameters)
        angles, _ = pattern.at(0.0, parameters["links"] - 1)
        q = place_snake(
            world.model,
            position=(0.0, 0.0, RADIUS),
            yaw=float(track_angles(parameters, 1)[0]),
            angles=angles,
        )
        return {"q": q, "controller": snake_control(world.model, pattern)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Travel, forces along the path, and travel without pegs."""
        p, pattern = parameters, pattern_of(parameters)
        out = travel(run, pattern.period)
        out["periods"] = float(run.t[-1] - run.t[0]) / pattern.period
        advance = LENGTH * float(np.mean(np.cos(track_angles(p, round(2 * math.pi * 60)))))
        if p["phase"] != 0.0:
            out["ideal_speed"] = advance * abs(p["frequency"] / p["phase"])
        forces = run.contact_forces(by="shape")
        for name, found in (("push", "peg"), ("drag", "ground")):
            along = [f[:, 0].mean() for shape, f in forces.items() if shape.startswith(found)]
            out[name] = float(sum(along))  # on the obstacle along +x: on the snake along −x, forward
        world = self.world({**p, "gates": 0})
        twin = run_like(run, world, self.start(p, world))
        out["free_distance"] = travel(twin, pattern.period)["distance"]
        out["pegs"] = float(2 * p["gates"])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Pegs push and the ground does not; farther than without."""
        if metrics["periods"] < PERIODS or metrics["pegs"] == 0.0:
            return []
        way, free = float(metrics["distance"]), float(metrics["free_distance"])
        found = [] if way > free else [f"pegs are no help: {way:.3g} m with them, {free:.3g} m without"]
        if way > 0.0 and not metrics["push"] > 0.0:
            found.append(f"the pegs do not push: their force along the path is {metrics['push']:.3g} N")
        if way > LENGTH and not metrics["drag"] < 0.0:
            found.append(f"the ground pushes, by {metrics['drag']:.3g} N, and has no direction to do so")
        return found


def pattern_of(parameters: Values) -> MotionPattern:
    """The motion pattern of a scenario's parameters."""
    return lateral_undulation(**in_radians(parameters, "amplitude", "frequency", "phase"))


def track_angles(parameters: Values, first: int, last: int | None = None) -> Array:
    """Angles (1) of links first … last with the path [rad]; of links 1 … first if no last is given."""
    a = in_radians(parameters, "amplitude", "phase")
    i = np.arange(1, first + 1) if last is None else np.arange(first, last + 1)
    half = math.sin(0.5 * a["phase"])
    if half == 0.0:
        return np.zeros(len(i))
    return -a["amplitude"] * np.cos((i - 1.5) * a["phase"]) / (2.0 * half)


def terrain_of(parameters: Values) -> Terrain:
    """Level ground with gates along the track, counted from the tail."""
    p = parameters
    if p["gates"] == 0 or p["amplitude"] == 0.0 or p["phase"] == 0.0:
        return flat()
    wave = 360.0 / abs(p["phase"])  # links
    ahead = math.ceil(0.5 * wave * (p["gates"] + 2))
    angle = track_angles(p, 1 - ahead, p["links"])
    step = LENGTH * np.column_stack([np.cos(angle), np.sin(angle)])
    # centres: half of this link and half of the next one apart; link 1 at the origin
    line = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * (step[1:] + step[:-1]), axis=0)])
    line -= line[ahead]
    away = RADIUS + p["peg_radius"] + p["clearance"]
    places = [pegs_along(line, side * away)[-p["gates"] :] for side in (1.0, -1.0)]
    standing = pegs(np.concatenate(places), radius=p["peg_radius"], friction=p["peg_friction"])
    return Terrain([*flat().shapes, *standing.shapes[1:]], standing.height)
