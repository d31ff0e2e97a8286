"""Pushers: two pushers bring a puck to a target and stop it there, by plans through contact.

The example of the notes: three coordinates, two gaps (`taction.robots.pushers`), no friction. Nothing holds
the puck, so that one pusher must set it off and the other catch it. Impacts are inelastic.

Exact answers
1. The system is linear, so that a plan is the motion: with steps as long as those of the plan, dt = plan_dt,
   without an error of the model and without a push, the simulator comes to where the plan said, to 10⁻⁹
   (`prediction_error`); by the direct method, whose gaps are closed to that, to 10⁻⁸.
2. Plans are complementary: to rounding, or to 10⁻⁸ for the direct method.
3. The puck comes to rest at the target (`final_error`), whatever the start; after the default duration to
   10⁻³ m.

Metrics: `final_error`, of the puck from its target at the end [m]; `final_speed` [m/s]; see
`taction.scenarios.predictive_scenario` for the others. seed = 0: the puck at rest at −0.4 m, pushers at the
ends; others: a random start, with velocities up to 1 m/s.

References: [CorrectionsNote].
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.planning.linearise import Lineariser
from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.robots.pushers import pushers
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup, predictive_parameters
from taction.sim.run import Run
from taction.sim.world import World

RADIUS = 0.05
LOW, HIGH = -1.0, 1.0  # d_min, d_max [m]
PLACE, SPEED, FORCE = 2.0, 5.0, 10.0  # largest coordinates [m], velocities [m/s], forces [N]
LASTING = 0.05  # of a push [s]
SETTLED = 3.0  # time after which the puck must be there [s]
FINAL = 1e-3
EXACT = {"miqp": 1e-9, "admm": 1e-9, "enumeration": 1e-9, "direct": 1e-8}


class Pushers(PredictiveScenario):
    """See the module text."""

    name = "pushers"
    summary = "two pushers bring a puck to a target and stop it, by plans through contact"
    duration = 4.0
    dt, stepper = 0.01, "stewart-trinkle"  # the equations that plans are made of
    parameters = (
        *predictive_parameters(horizon=10, plan_dt=0.05),
        Parameter("target", 0.2, "m", "where the puck shall be", minimum=-0.6, maximum=0.6),
        Parameter("seed", 0, "", "of a random start; 0: the standard one", minimum=0),
        Parameter("push", 0.0, "N s", "impulse on the puck", minimum=-5.0, maximum=5.0),
        Parameter("push_time", 1.5, "s", "when the push begins", minimum=0.0),
    )
    units = by_unit(
        {
            "m": "final_error",
            "m/s": "final_speed",
            "SI": "prediction_limit",
            "": "is_settled",
        }
    )

    def make_world(self, parameters: Values, error: float) -> World:
        """Three balls on a line."""
        return World(pushers(masses=(1.0 + error,) * 3, radius=RADIUS, d_min=LOW, d_max=HIGH))

    def setup(self, parameters: Values, world: World) -> Setup:
        """Puck to the target at rest, pushers near it."""
        p = parameters
        system = Lineariser(
            world, p["plan_dt"], inputs=("right", "left"), has_friction=False, reach=HIGH - LOW + PLACE
        ).at(np.zeros(3))
        goal = np.array([p["target"], HIGH - 2.0 * RADIUS - p["target"], p["target"] - LOW - 2.0 * RADIUS])
        problem = PlanningProblem(
            system, p["horizon"], pushers_cost(),
            Polytope.box([-PLACE] * 3 + [-SPEED] * 3, [PLACE] * 3 + [SPEED] * 3),
            Polytope.box([-FORCE] * 2, [FORCE] * 2),
        )  # fmt: skip
        q, v = random_start(p["seed"])
        return Setup(problem, system.state(goal), q, v)

    def disturbance(self, parameters: Values, t: float) -> Array | float:
        """A push on the puck."""
        begin = parameters["push_time"]
        acts = begin <= t < begin + LASTING - 1e-9
        return np.array([parameters["push"] / LASTING, 0.0, 0.0]) if acts else 0.0

    def error(self, run: Run, parameters: Values) -> float:
        """Of the puck [m]."""
        return float(abs(run.q[-1, 0] - parameters["target"]))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        p, out = parameters, super().metrics(run, parameters)
        out["final_speed"] = float(abs(run.v[-1, 0]))
        is_exact = abs(p["plan_dt"] - run.dt) < 1e-12 and not p["model_error"] and not p["push"]
        out["prediction_limit"] = EXACT[p["method"]] if is_exact else float("inf")
        out["is_settled"] = bool(run.t[-1] >= SETTLED - 1e-9)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """See the exact answers."""
        found = super().violations(metrics, run)
        limit = float(metrics["prediction_limit"])
        found += above("the error of the prediction", float(metrics["prediction_error"]), limit)
        if metrics["is_settled"]:
            found += above(
                "the distance of the puck from its target", float(metrics["final_error"]), FINAL, "m"
            )
        return found


def pushers_cost() -> Cost:
    """Weights: the puck's place, gaps, velocities; forces."""
    Q = np.diag([10.0, 0.0, 0.0, 1.0, 0.1, 0.1])
    for gap in ([-1.0, -1.0, 0.0], [1.0, 0.0, -1.0]):
        Q[:3, :3] += np.outer(gap, gap)
    return Cost(Q, 1e-3 * np.eye(2), 10.0 * Q)


def random_start(seed: int) -> tuple[Array, Array]:
    """Configuration and velocities (3,) each, nothing overlapping; 0 for the standard start."""
    if seed == 0:
        return np.array([-0.4, 0.1, 0.1]), np.zeros(3)
    rng = np.random.default_rng(seed)
    puck = rng.uniform(-0.6, 0.6)
    right = rng.uniform(0.0, HIGH - 2.0 * RADIUS - puck)
    left = rng.uniform(0.0, puck - LOW - 2.0 * RADIUS)
    return np.array([puck, right, left]), rng.uniform(-1.0, 1.0, 3)
