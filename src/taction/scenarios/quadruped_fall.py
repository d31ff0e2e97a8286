"""Quadruped fall: dropped from a height onto its legs, whose joints hold the stance.

The document's heights are 0.1, 0.5 and 1.5 m; with 0 the robot stands.

Exact answers
1. Until the feet touch, the base falls as everything does: the impact is at √(2 h/g), `impact_time_error`,
   within a step.
2. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
3. What falls comes to rest: joints rub, and impacts only take. After `SETTLED` the kinetic energy is below
   `STILL`.

With ``body_contacts=false`` the document's robot touches with its leg tips alone, and sinks through the
ground where it tips over, as it does there.

Metrics: see `taction.scenarios.quadruped_motion`; `impact_time` [s]; of a tilted start `curved_path` [m].

References: [Ayit2015, Sections 5.4.2 to 5.4.4].
"""

from __future__ import annotations

import math
from typing import Any

from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.quadruped_motion import BODY, KNEES, MU, ROBOT, QuadrupedScenario, curved_path
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
SETTLED = 8.0  # time after which it must be at rest [s]
STILL = 1e-6  # [J]


class QuadrupedFall(QuadrupedScenario):
    """See the module text."""

    name = "quadruped-fall"
    summary = "a quadruped falls on its legs from 0.1, 0.5 or 1.5 m: forces, bounce, rest"
    parameters = (
        ROBOT,
        Parameter("height", 0.1, "m", "of the feet above ground at the start", minimum=0.0, maximum=100.0),
        Parameter("tilt", 0.0, "deg", "of the base at the start, nose down", minimum=-180.0, maximum=180.0),
        MU,
        KNEES,
        BODY,
    )  # fmt: skip
    units = by_unit(
        {
            "s": "impact_time impact_time_error",
            "m": "curved_path",
        }
    )

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest above the ground, joints held."""
        robot, half = self.walker(parameters), math.radians(parameters["tilt"]) / 2.0
        q = robot.stance.copy()
        if half != 0.0:
            q[3:7] = math.cos(half), 0.0, math.sin(half), 0.0
        q = world.place_on_ground(q)
        q[2] += parameters["height"]
        return {"q": q, "controller": robot.controller(world.model)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """The shared ones, and when it hit the ground."""
        out = super().metrics(run, parameters)
        assert run.contacts is not None
        pressed = run.contacts.step[run.contacts.impulse[:, 0] > 0.0]
        out["impact_time"] = float(run.t[pressed[0]]) if len(pressed) else -1.0
        due = math.sqrt(2.0 * parameters["height"] / GRAVITY)
        if parameters["tilt"] != 0.0:
            out["curved_path"] = curved_path(run, self.walker(parameters))
        elif run.t[-1] > due + 2.0 * run.dt:
            out["impact_time_error"] = abs(out["impact_time"] - due)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Rigid contact behaves, the fall is free, and rest comes."""
        found = super().violations(metrics, run)
        found += above(
            "the error of the time of impact", metrics.get("impact_time_error", 0.0), 2.0 * run.dt, "s"
        )
        if run.t[-1] - run.t[0] >= SETTLED:
            found += above("the kinetic energy at the end", metrics["end_energy"], STILL, "J")
        return found
