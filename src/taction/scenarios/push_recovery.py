"""Push recovery: a humanoid steps in place, is pushed, and steps where it would fall.

As `taction.scenarios.humanoid_3d_walk`, stepping in place at first, with a push by default. What ankles can
do is little: beyond a few centimetres of error the foot in the air lands elsewhere
(`taction.control.walking.whole_body_walk`). ``adapts=false`` leaves the footsteps as planned.

Exact answers
1. The certificate, and the round trip, as of `humanoid-3d-walk`.
2. *Capture*: a push J on a mass m changes the point ξ = c + ċ/ω by J/(m ω), `push_error`, which grows by
   e^{ωT} until a foot lands T later. Whoever stays on a foot of length l without stepping can stop errors of
   less than l/2 at most.
3. The push is what it says: the momentum of the robot changes by it, whatever the feet do besides.

Metrics: see `taction.scenarios.whole_body_scenario`; `push_error` [m]; `velocity_change`, J/m [m/s].

References: [Englsberger2015]; [Herzog2016].
"""

from __future__ import annotations

from math import sqrt

from taction.dynamics.energy import totals
from taction.scenarios.base import Metrics, Values
from taction.scenarios.humanoid_3d_walk import ROBOT, two_legged
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.whole_body_scenario import Robot, WholeBodyScenario, whole_body_parameters
from taction.sim.run import Run

GIVEN = {"push": 8.0, "push_direction": 180.0}


class PushRecovery(WholeBodyScenario):
    """See the module text."""

    name = "push-recovery"
    summary = "a humanoid is pushed and steps where it would fall: which pushes it takes"
    duration = 8.0
    parameters = (
        ROBOT,
        *(
            Parameter(p.name, GIVEN.get(p.name, p.default), p.unit, p.help, p.choices, p.minimum, p.maximum)
            for p in whole_body_parameters(speed=0.0)
        ),
    )
    units = by_unit(
        {
            "m/s": "velocity_change",
            "m": "push_error",
        }
    )

    def robot(self, parameters: Values) -> Robot:
        """A humanoid; read once."""
        return two_legged(parameters)

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """The shared ones, and what the push does to the pendulum."""
        out, size = super().metrics(run, parameters), parameters["push"]
        height = float(totals(run.model, run.q[0]).com[2])
        out["velocity_change"] = size / run.model.total_mass
        out["push_error"] = out["velocity_change"] / sqrt(9.81 / height)
        return out
