"""Humanoid walk in space: a robot from its URDF file walks by a pendulum plan and whole-body control.

The plan is that of the linear inverted pendulum with the zero-moment point below the foot that stands, by
preview control (`taction.control.walking.plan`); torques come from a quadratic program at every control
interval (`taction.control.whole_body`), within the limits of the file. Model errors and pushes:
`taction.scenarios.whole_body_scenario`.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
2. Inverse dynamics inverts forward dynamics at states of the walk, to 10⁻⁹.
3. The plan goes speed · (time − start − ramp/2) far, `planned_distance`; the robot follows it, since feet
   that do not slip stay where they land.
4. It does not fall, unless it is pushed.

Metrics: see `taction.scenarios.whole_body_scenario`.

References: [Kajita2003]; [Herzog2016]; [BhargavaReport, Section 6].
"""

from __future__ import annotations

from functools import lru_cache

from taction.control.walking.gaits import STRIDE
from taction.robots.bipeds import Biped, biped
from taction.scenarios.base import Values
from taction.scenarios.parameter import Parameter
from taction.scenarios.whole_body_scenario import Robot, WholeBodyScenario, shaped, whole_body_parameters

RISE = 0.05  # of the feet [m]
ROBOT = Parameter("robot", "g1", "", "g1, talos, … or a URDF file")


class Humanoid3DWalk(WholeBodyScenario):
    """See the module text."""

    name = "humanoid-3d-walk"
    summary = "a humanoid from its URDF file walks: pendulum plan, whole-body control, torque limits"
    duration = 18.0
    parameters = (ROBOT, *whole_body_parameters(speed=0.3))

    def robot(self, parameters: Values) -> Robot:
        """A humanoid; read once."""
        return two_legged(parameters)


def two_legged(parameters: Values) -> Robot:
    """The humanoid that the parameters name, with its gait."""
    found = _biped(str(parameters["robot"]))
    gait, height = shaped(STRIDE, parameters), parameters["step_height"] or RISE
    return Robot(found.model, found.stance, found.feet, gait, height)


@lru_cache(maxsize=4)
def _biped(name: str) -> Biped:
    return biped(name)
