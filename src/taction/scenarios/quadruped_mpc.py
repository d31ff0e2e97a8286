"""Quadruped by predictive control: it stands, then trots, by plans of a body on feet through contact.

At each plan the robot becomes a body on four feet (`taction.planning.centroidal`): heights and forces of the
feet are complementary unknowns, so that the plan, and no schedule, says which feet carry. A gait enters as a
wish for the heights of the feet. The whole body follows each plan until the next
(`taction.planning.centroidal_walk`), in the exact simulator. The planner knows the *nominal* robot; the one
that moves has all masses larger by ``model_error``. Weights are the same for all robots, in units of their
weight, their height and the time of their pendulum.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
2. Plans are complementary.
3. The target goes speed · (time − start − ramp/2) far, `planned_distance`; the robot follows it.
4. It does not fall, unless it is pushed.

Metrics: those of `taction.scenarios.whole_body_scenario` but the round trip, and of the plans as
`taction.scenarios.predictive_scenario` has them; `final_error`, of the distance [m].

References: [DiCarlo2018]; [AydinogluWeiHuangPosa2024]; [Herzog2016].
"""

from __future__ import annotations

from typing import Any

from taction._core.arrays import Array
from taction.control.walking.base import base_of
from taction.control.walking.soles import sole
from taction.control.whole_body import Weights, WholeBody
from taction.planning.centroidal_walk import CentroidalWalk, Course
from taction.scenarios.base import Metrics, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.predictive_scenario import (
    PLAN_UNITS,
    complementary_violations,
    plan_metrics,
    plan_time,
    predictive_parameters,
)
from taction.scenarios.quadruped_walk import QuadrupedWalk
from taction.scenarios.whole_body_scenario import RAMP, START, USED, Robot
from taction.sim.run import Run

LEGS = 0.05  # weight of the joints of legs: feet that land must not turn the ankles
RISE = 0.5  # of the feet, of what they rise in `quadruped-walk`
PATIENCE = 1.0  # time for a plan by branch and bound [s]


class QuadrupedMpc(QuadrupedWalk):
    """See the module text."""

    name = "quadruped-mpc"
    summary = (
        "a quadruped stands and trots by plans through contact, followed by the whole body; takes pushes"
    )
    source = "notes on predictive control through contact"
    duration = 8.0
    parameters = (
        *(p for p in QuadrupedWalk.parameters if p.name not in ("adapts", "model_error")),
        *predictive_parameters(horizon=10, plan_dt=0.03),
    )
    is_inverted = False
    control: CentroidalWalk | None = None
    units = PLAN_UNITS | by_unit(
        {
            "m": "final_error",
            "": "fell",
        }
    )

    def robot(self, parameters: Values) -> Robot:
        """A quadruped; its feet rise less."""
        found = super().robot(parameters)
        return found if parameters["step_height"] else found._replace(step_height=RISE * found.step_height)

    def walk(self, parameters: Values, stance: Array) -> Any:
        """The controller, for the nominal robot."""
        p, robot = parameters, self.robot(parameters)
        feet = {name: sole(robot.model, name, stance) for name in robot.feet}
        body = WholeBody(
            robot.model, feet, frames=(base_of(robot.model).body,), friction=USED * p["mu"],
            weights=Weights(legs=LEGS),
        )  # fmt: skip
        self.control = CentroidalWalk(
            body, stance, Course(robot.gait, p["speed"], robot.step_height, START, RAMP),
            friction=USED * p["mu"], method=p["method"], horizon=p["horizon"], plan_dt=p["plan_dt"],
            time_limit=plan_time(p, PATIENCE),
        )  # fmt: skip
        return self.control

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        assert self.control is not None
        out = super().metrics(run, parameters) | plan_metrics(self.control.record)
        out["final_error"] = abs(float(out["distance"]) - float(out["planned_distance"]))
        out["fell"] = bool(out["falls"])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Those of the walk, and of the plans."""
        return super().violations(metrics, run) + complementary_violations(metrics)
