"""SimBenchmark's momentum test of an articulated robot: a ball flies into a floating quadruped.

No gravity. A ball of 10 kg and radius 0.2 m comes from y = −5 m at 5 m/s and hits the side of the torso of a
quadruped at rest with limp, frictionless joints; neither friction nor bounce. Ball and torso stay
together for seconds while the legs swing.

Exact answer: all forces are inner ones, so that the linear momentum stays m v₀ along y. Impulses of contact
are equal and opposite at one point, so they keep it to rounding. Between them time stepping in joint
coordinates does not: M v⁺ = M v − h C v keeps M v for frozen M, while the momentum changes with M(q). For a
motion with rates of ω the defect is (ω h)² / 2 of the moving limbs' momentum per step, ½ h² Σ ω² over the
steps of a run: order 1.

Metric, as in the benchmark: `momentum_error` is the mean over the steps of |p(t) − p(0)|² [kg² m²/s²].
`relative_momentum_error` is the largest |p(t) − p(0)| / |p(0)|.

Departures: the benchmark's ANYmal is the quadruped of `taction.robots`, three times as heavy, in its neutral
stance, with its torso and leg segments as boxes that touch. The benchmark's step is 5 ms.

References: [KangHwangbo2018], ANYmal momentum test; [Ayit2015, Tables 5.1 and 5.2].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.dynamics.energy import totals
from taction.model.builder import free_body
from taction.model.shapes import Material, Sphere
from taction.robots.quadruped import quadruped
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import ROUNDING, SAFETY
from taction.sim.run import Run
from taction.sim.world import World

BALL_RADIUS, BALL_MASS, FAR, HEIGHT = 0.2, 10.0, 5.0, 2.0  # [m], [kg], [m], [m]
NO_GRAVITY = (0.0, 0.0, 0.0)


class SimbenchMomentum(ContactScenario):
    """See the module text."""

    name = "simbench-momentum"
    summary = "a ball flies into a floating quadruped: linear momentum"
    source = "SimBenchmark, ANYmal momentum test; conservation of momentum"
    duration, dt = 10.0, 1e-3
    parameters = (Parameter("speed", 5.0, "m/s", "of the ball", minimum=1e-3),)
    units = by_unit(
        {
            "(N s)²": "momentum_error",
            "m/s": "ball_speed",
            "N s": "impulse",
            "1/s": "steps_per_second",
            "": "relative_momentum_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """Robot and ball, without gravity."""
        robot = quadruped(
            joint_viscous=0.0,
            joint_coulomb=0.0,
            ground_coulomb=0.0,
            ground_viscous=0.0,
            body_contacts=True,
        )
        ball = free_body(
            "ball",
            Sphere(BALL_RADIUS),
            mass=BALL_MASS,
            position=(0.0, -FAR, HEIGHT),
            material=Material((0.0, 0.0)),
        )
        return World(robot, ball, gravity=NO_GRAVITY)

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """The robot at rest, the ball on its way."""
        model = world.model
        root, ball = model.joint("quadruped/root"), model.joint("ball/ball free")
        q, v = np.array(model.q0), np.zeros(model.nv)
        q[root.iq + 2] = HEIGHT
        v[ball.iv + 1] = parameters["speed"]
        return {"q": q, "v": v}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the momentum, and what became of the ball."""
        momentum = np.array(
            [totals(run.model, q, v).linear_momentum for q, v in zip(run.q, run.v, strict=True)]
        )
        error = np.linalg.norm(momentum - [0.0, BALL_MASS * parameters["speed"], 0.0], axis=1)
        ball = run.model.joint("ball/ball free").iv
        table = run.contacts
        return {
            "momentum_error": float((error**2).mean()),
            "relative_momentum_error": float(error.max() / (BALL_MASS * parameters["speed"])),
            "ball_speed": float(np.linalg.norm(run.v[-1, ball : ball + 3])),
            "impulse": float(table.impulse[: table.count[0], 0].sum()) if table is not None else 0.0,
            "steps_per_second": run.steps / run.wall_s,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Momentum to order 1."""
        return above("the relative momentum error", metrics["relative_momentum_error"], momentum_bound(run))


def momentum_bound(run: Run) -> float:
    """Largest relative error of the momentum that a method of order 1 allows."""
    root = run.model.joint("quadruped/root").iv
    ball = run.model.joint("ball/ball free").iv
    angular = np.delete(run.v, [*range(root, root + 3), *range(ball, ball + 6)], axis=1)
    phases = run.dt * np.abs(angular).max(1)
    return min(1.0, SAFETY * float(0.5 * (phases**2).sum() + ROUNDING * run.steps))
