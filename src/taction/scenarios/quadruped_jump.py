"""Quadruped jump: crouch, extend, fly, land, by joint controllers alone.

The reference is made by `taction.control.walking.jump`. The document prints that its robot crouches, extends
its legs and reaches 2.2 m; speed, depth and times are ours. The speed of 7.7 m/s was chosen so that the robot
comes about as high as there; it is not derived from anything else. Knees are mirrored, so that it goes
straight up; alike, it pitches in the air and lands on its back.

Exact answers
1. In the air the centre of mass moves on a parabola: from the top down it is at z_top − ½ g t² until a foot
   touches, `flight_error`, up to g h per unit of time with schemes of order 1.
   From the ground to the top it loses `takeoff_loss` of its speed at take-off, none in truth: with schemes of
   order 1 legs that are stopped within a few steps make an error in the momentum, 2 % with steps of 0.5 ms.
2. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by no more than a path on an
   arc departs from a straight one in a step, `curved_path`, never pull, and add no energy.

Metrics: see `taction.scenarios.quadruped_motion`; `centre_peak` of the centre of mass [m], `flight_time` [s],
`takeoff_time` [s], `curved_path` [m].

References: [Ayit2015, Section 5.4.5].
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from taction.control.walking.jump import jump
from taction.dynamics.energy import totals
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.quadruped_motion import (
    BODY,
    KNEES,
    MU,
    ROBOT,
    QuadrupedScenario,
    base_height,
    curved_path,
)
from taction.sim.run import Run
from taction.sim.world import World

SHORTEST = 0.05  # time without a foot on the ground that is a flight [s]
GRAVITY = 9.81  # [m/s²]


class QuadrupedJump(QuadrupedScenario):
    """See the module text."""

    name = "quadruped-jump"
    summary = "a quadruped crouches and jumps: peak, flight, landing"
    parameters = (
        ROBOT,
        Parameter("takeoff", 7.7, "m/s", "speed of the legs as they extend", minimum=0.1, maximum=50.0),
        Parameter("depth", 0.0, "m", "of the crouch; 0: a third of the base's height", minimum=0.0),
        MU,
        replace(KNEES, default="mirrored"),
        BODY,
    )  # fmt: skip
    units = by_unit(
        {
            "s": "flight_time takeoff_time",
            "m/s": "takeoff_speed",
            "m": "centre_peak flight_error curved_path",
            "": "takeoff_loss",
        }
    )

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """In the stance on the ground, under control."""
        p, robot = parameters, self.walker(parameters)
        height = base_height(robot)
        reference = jump(
            world.model,
            speed=p["takeoff"],
            depth=p["depth"] or height / 3.0,
            rise=height / 15.0,
            q=robot.stance,
        )
        return {
            "q": world.place_on_ground(robot.stance),
            "controller": robot.controller(world.model, reference.path),
        }

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """The shared ones, and the flight against a parabola."""
        out = super().metrics(run, parameters)
        out["curved_path"] = curved_path(run, self.walker(parameters))
        first, last = flight(run)
        out["flight_time"] = float(run.t[last] - run.t[first])
        if out["flight_time"] < SHORTEST:
            return out
        rows = np.arange(first, last + 1)
        centre = np.array([totals(run.model, run.q[k]).com[2] for k in rows])
        moving = totals(run.model, run.q[first], run.v[first])
        top = int(np.argmax(centre))
        since = run.t[rows[top:]] - run.t[rows[top]]
        out["takeoff_time"] = float(run.t[first])
        out["takeoff_speed"] = speed = float(moving.linear_momentum[2] / moving.mass)
        out["takeoff_loss"] = 1.0 - GRAVITY * float(run.t[rows[top]] - run.t[first]) / speed
        out["centre_peak"] = float(centre[top])
        out["flight_error"] = float(np.abs(centre[top:] - centre[top] + 0.5 * GRAVITY * since**2).max())
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Rigid contact behaves, and a flight is a parabola."""
        found = super().violations(metrics, run)
        if "flight_error" in metrics:
            slack = GRAVITY * run.dt * metrics["flight_time"]  # of order 1
            found += above("the distance of the flight from a parabola", metrics["flight_error"], slack, "m")
        return found


def flight(run: Run) -> tuple[int, int]:
    """First and last state of the longest time in which nothing presses on anything."""
    assert run.contacts is not None
    pressed = run.contacts.step[run.contacts.impulse[:, 0] > 0.0]
    ends = np.concatenate([[-1], np.unique(pressed), [run.steps]])
    longest = int(np.argmax(np.diff(ends)))
    return int(ends[longest] + 1), int(ends[longest + 1])
