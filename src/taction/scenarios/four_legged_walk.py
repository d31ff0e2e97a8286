"""Four-legged walk: the planar four-legged robot trots along x, by inverse dynamics with contact.

The reference is made by `taction.control.walking.planar_walk`: feet upright, one diagonal carries while the
other swings. Controllers, model errors and pushes: `taction.scenarios.walking_scenario`.

Exact answers: those of `taction.scenarios.humanoid_walk`. The loads of the two legs of a diagonal are open,
since the torso cannot turn; a vanishing compliance shares them evenly.

References: [BhargavaReport, Section 5 and Figure 2].
"""

from __future__ import annotations

from taction.control.walking.planar_walk import TROT
from taction.model.model import Model
from taction.robots.four_legged import four_legged
from taction.scenarios.base import Values
from taction.scenarios.parameter import Parameter
from taction.scenarios.walking_scenario import WalkingScenario, walking_parameters


class FourLeggedWalk(WalkingScenario):
    """See the module text."""

    name = "four-legged-walk"
    summary = "a planar four-legged robot trots: inverse dynamics with contact, its forces replayed, pushes"
    duration = 18.0
    gait = TROT
    parameters = (
        *walking_parameters(speed=0.6, period=0.6, step_height=0.05, recorded=duration),
        Parameter("bend", 0.5, "rad", "of the thighs in the stance", minimum=0.05, maximum=1.0),
    )

    def robot(self, parameters: Values) -> Model:
        """The four-legged robot on its tips."""
        return four_legged(friction=parameters["mu"], bend=parameters["bend"])
