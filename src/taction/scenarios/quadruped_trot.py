"""Quadruped trot: joint controllers follow a trot planned by the zero-moment-point method.

The reference is made by `taction.control.walking.walk`: footsteps, preview control of the centre of mass,
inverse kinematics. Nothing but the joints is controlled: the body may lean, turn and slip. Other gaits come
from the same generator. The document's ground is flat; ``ground=bumpy`` has a random height at every point of
a grid.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws; feet overlap by less than a micrometre,
   never pull, and add no energy.
2. A robot whose feet do not slip comes speed · (time − start − ramp/2) far, `planned_distance`.
   How far it really comes is measured: feet slip where the gait asks for more than friction gives.
3. It does not fall: the reference keeps the zero-moment point between the feet that carry. Pace and bound
   need μ > d/z, feet d to the side of, or before, a centre of mass z high: more than the document's 0.3.

Metrics: see `taction.scenarios.quadruped_motion`; `planned_distance`, `speed` over the last half [m/s].

References: [Ayit2015, Section 5.4.1]; [Akbas2012].
"""

from __future__ import annotations

from typing import Any

from taction.control.walking.gaits import GAITS
from taction.control.walking.walk import Walk, walk
from taction.model.model import Model
from taction.model.shapes import Plane, Shape
from taction.robots.terrain import bumpy
from taction.scenarios.base import Metrics, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.quadruped_motion import BODY, KNEES, MU, ROBOT, QuadrupedScenario, base_height
from taction.sim.run import Run
from taction.sim.world import World

START, RAMP = 1.5, 1.0  # how long it stands, and gets faster [s]
RISE = 0.12  # of the feet, where nothing else is asked for, as a part of the base's height


class QuadrupedTrot(QuadrupedScenario):
    """See the module text."""

    name = "quadruped-trot"
    summary = "a quadruped trots by joint controllers alone: way, drift, forces; flat or bumpy ground"
    parameters = (
        ROBOT,
        Parameter("gait", "trot", "", "which legs lift together", choices=tuple(GAITS)),
        Parameter("speed", 0.1, "m/s", "planned, ahead"),
        Parameter("step_height", 0.0, "m", "of the feet; 0: 0.12 of the base's height", minimum=0.0),
        Parameter("period", 0.0, "s", "of the gait; 0: the gait's own", minimum=0.0),
        Parameter("duty", 0.0, "", "part of it that feet stand; 0: the gait's own", minimum=0.0, maximum=1.0),
        MU,
        Parameter("ground", "flat", "", "what it trots on", choices=("flat", "bumpy")),
        Parameter("bumps", 0.02, "m", "bound on its heights, up and down", minimum=1e-6, maximum=1.0),
        Parameter("seed", 1, "", "of bumpy ground", minimum=0),
        KNEES,
        BODY,
    )  # fmt: skip
    units = by_unit(
        {
            "m": "planned_distance",
            "m/s": "speed",
        }
    )

    def ground(self, parameters: Values) -> Plane | list[Shape]:
        """A plane, or a random height field."""
        if parameters["ground"] == "flat":
            return super().ground(parameters)
        return bumpy(amplitude=parameters["bumps"], seed=parameters["seed"], friction=parameters["mu"]).shapes

    def reference(self, parameters: Values, model: Model) -> Walk:
        """What the joints follow."""
        p, robot = parameters, self.walker(parameters)
        return walk(
            model, str(p["gait"]), speed=p["speed"], start=START, ramp=RAMP, q=robot.stance,
            step_height=p["step_height"] or RISE * base_height(robot),
            period=p["period"] or None, duty=p["duty"] or None,
        )  # fmt: skip

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """In the stance on the ground, under control."""
        robot, path = self.walker(parameters), self.reference(parameters, world.model).path
        return {"q": world.place_on_ground(robot.stance), "controller": robot.controller(world.model, path)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """The shared ones, how far it should have come, and how fast it was in the end."""
        out, span = super().metrics(run, parameters), float(run.t[-1] - run.t[0])
        half = len(run.t) // 2
        out["planned_distance"] = parameters["speed"] * max(span - START - 0.5 * RAMP, 0.0)
        out["speed"] = float(run.q[-1, 0] - run.q[half, 0]) / float(run.t[-1] - run.t[half])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Rigid contact behaves, and the robot stays on its legs."""
        found = super().violations(metrics, run)
        return [*found, "the robot fell"] if metrics["fell"] else found
