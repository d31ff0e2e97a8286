"""Humanoid walk: the planar humanoid walks along x, by inverse dynamics with contact or what comes of it.

The reference is made by `taction.control.walking.planar_walk`: flat soles, one foot carries while the other
swings. Controllers, model errors and pushes: `taction.scenarios.walking_scenario`.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
2. Inverse dynamics inverts forward dynamics: the recorded forces of a step lead from its state to its
   velocities once more, to 10⁻¹⁰.
3. Feet that do not slip carry it speed · (time − start − ramp/2) far, `planned_distance`.
4. It does not fall, unless it is pushed, its motors are limited, or nothing looks at its state.

Metrics: see `taction.scenarios.walking_motion`; `planned_distance`; `torque_per_weight`, the largest torque
over the weight [m].

References: [BhargavaReport, Section 5 and Figures 1 and 5].
"""

from __future__ import annotations

from taction.control.walking.planar_walk import STEPS
from taction.model.model import Model
from taction.robots.humanoid import planar_humanoid
from taction.scenarios.base import Values
from taction.scenarios.parameter import Parameter
from taction.scenarios.walking_scenario import WalkingScenario, walking_parameters


class HumanoidWalk(WalkingScenario):
    """See the module text."""

    name = "humanoid-walk"
    summary = "a planar humanoid walks: inverse dynamics with contact, its forces replayed, errors, pushes"
    duration = 18.0
    gait = STEPS
    parameters = (
        *walking_parameters(speed=0.6, period=1.0, step_height=0.05, recorded=duration),
        Parameter("bend", 0.6, "rad", "of the knees in the stance", minimum=0.05, maximum=2.0),
    )

    def robot(self, parameters: Values) -> Model:
        """The planar humanoid with bent knees."""
        return planar_humanoid(friction=parameters["mu"], bend=parameters["bend"])
