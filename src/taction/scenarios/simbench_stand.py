"""SimBenchmark's stand test of an articulated robot: a quadruped stands under PD control; speed is measured.

The robot starts in its neutral stance with its feet on the ground, at rest, and sinks into its servos.

Exact answers: at rest the forces of the ground carry the weight, nothing moves, and the height stays. With
Coulomb's law feet that stick do not creep, so that the second half of the run leaves the torso where it is.
Servos act at the end of each step, so that any gain is stable; one that is softer or less damped takes longer
to come to rest, and the answers hold after that.

Metrics: `steps_per_second` is the benchmark's own. `height_drift` is how far the torso moved up and down in
the second half of the run, `sideways_drift` how far along x or y [m], and `weight_error` how much the
ground's force at the end differs from the weight, relative.

Departures: the benchmark's ANYmal (gains 40 N m/rad and 1 N m s/rad) is the quadruped of `taction.robots`,
three times as heavy, with the position gains of its tables, up to 70 000 N m/rad, and a velocity gain that
damps. The benchmark's step is 5 ms.

References: [KangHwangbo2018], ANYmal PD test; [Ayit2015, Tables 5.1 to 5.3].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.control.pd import PD
from taction.model.shapes import Plane
from taction.robots.quadruped import QUADRUPED_GAINS, quadruped
from taction.scenarios.base import RESIDUAL_LIMIT, ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import SAFETY
from taction.sim.run import Run
from taction.sim.world import World

FRICTION = 0.8
# Half a run must be this many times the longest time of decay before an answer at rest is asked for
SETTLED = 30.0


class SimbenchStand(ContactScenario):
    """See the module text."""

    name = "simbench-stand"
    summary = "a quadruped stands under PD control: speed, and that it stands still"
    source = "SimBenchmark, ANYmal PD test; statics"
    duration, dt = 50.0, 5e-3
    parameters = (
        Parameter("damping", 200.0, "N m s/rad", "velocity gain of all motors", minimum=1e-3),
        Parameter("friction", FRICTION, "", "coefficient of the feet", minimum=0.0),
    )
    units = by_unit(
        {
            "1/s": "steps_per_second",
            "m": "height_drift sideways_drift height",
            "s": "slowest_decay",
            "": "weight_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """The robot on the ground."""
        friction = parameters["friction"]
        robot = quadruped(ground_coulomb=friction, ground_viscous=0.0, joint_coulomb=0.0)
        return World(robot, ground=Plane(friction=friction))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """The motors hold the neutral stance."""
        joints = [j.name for j in world.model.joints if j.kind.nq == 1]
        kp = [QUADRUPED_GAINS[name.split("_", 2)[-1]].kp for name in joints]
        return {"controller": PD(kp=kp, kd=parameters["damping"], joints=joints)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Speed, and what moved in the second half."""
        half = run.steps // 2
        weight = run.model.total_mass * -run.model.spec.gravity[2]
        lift = -run.contact_forces()["world"][-1, 2]
        return {
            "steps_per_second": run.steps / run.wall_s,
            "height_drift": float(np.ptp(run.q[half:, 2])),
            "sideways_drift": float(np.ptp(run.q[half:, :2], axis=0).max()),
            "weight_error": float(abs(lift / weight - 1.0)),
            "height": float(run.q[-1, 2]),
            "slowest_decay": slowest_decay(run, parameters),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """At rest, once there was time to come to rest."""
        if 0.5 * run.t[-1] < SETTLED * float(metrics["slowest_decay"]):
            return []
        # what residuals move in half a run: each relative to the velocity that gravity adds in a step
        limit = RESIDUAL_LIMIT * 9.81 * run.dt**2 * run.steps
        return [
            *above("the drift of the torso's height", metrics["height_drift"], limit, "m"),
            *above("the drift of the torso sideways", metrics["sideways_drift"], limit, "m"),
            *above(
                "the ground's force against the weight, relative,",
                metrics["weight_error"],
                SAFETY * RESIDUAL_LIMIT,
            ),
        ]


def slowest_decay(run: Run, parameters: Values) -> float:
    """Longest time in which a deflection of a servo decays [s]: c / k for a damper, 2 m / c for a mass."""
    softest = min(gain.kp for gain in QUADRUPED_GAINS.values())
    # inertia of the robot about a joint: all of its mass at the length of a leg
    inertia = float(run.model.total_mass) * 0.77**2
    overdamped = parameters["damping"] / softest
    return max(overdamped, 2 * inertia / parameters["damping"], math.sqrt(inertia / softest))
