"""Quadruped walk: a quadruped trots or walks by a pendulum plan and whole-body control.

As `taction.scenarios.humanoid_3d_walk`, with four feet that are points. Beside `quadruped-trot`, where joints
follow angles and nothing looks at the body, the body is controlled here: it stays level, goes where it is
planned, and takes pushes.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
2. Inverse dynamics inverts forward dynamics at states of the walk, to 10⁻⁹.
3. The plan goes speed · (time − start − ramp/2) far, `planned_distance`; the robot follows it.
4. It does not fall, unless it is pushed.

Metrics: see `taction.scenarios.whole_body_scenario`.

References: [Kajita2003]; [Akbas2012]; [Herzog2016].
"""

from __future__ import annotations

from functools import lru_cache

from taction.control.walking.gaits import GAITS, get_gait
from taction.robots.walkers import DOCUMENT, Walker, walker
from taction.scenarios.base import Values
from taction.scenarios.parameter import Parameter
from taction.scenarios.quadruped_motion import base_height
from taction.scenarios.whole_body_scenario import Robot, WholeBodyScenario, shaped, whole_body_parameters

RISE = 0.12  # of the feet, as a part of the base's height


class QuadrupedWalk(WholeBodyScenario):
    """See the module text."""

    name = "quadruped-walk"
    summary = "a quadruped trots or walks: pendulum plan, whole-body control; takes pushes"
    duration = 12.0
    parameters = (
        Parameter("robot", DOCUMENT, "", "the document's, go2, anymal, solo12, … or a URDF file"),
        Parameter("gait", "trot", "", "which legs lift together", choices=tuple(GAITS)),
        *whole_body_parameters(speed=0.3),
    )

    def robot(self, parameters: Values) -> Robot:
        """A quadruped; read once."""
        found = _walker(str(parameters["robot"]), float(parameters["mu"]))
        gait = shaped(get_gait(str(parameters["gait"])), parameters)
        height = parameters["step_height"] or RISE * base_height(found)
        return Robot(found.model, found.stance, tuple(leg.name for leg in found.legs), gait, height)


@lru_cache(maxsize=4)
def _walker(name: str, mu: float) -> Walker:
    return walker(name, friction=mu)
