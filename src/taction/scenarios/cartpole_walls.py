"""Cart-pole between walls: a pole on a cart stays up, and takes pushes by leaning on the walls.

A cart with a limited force balances a pole whose end is a ball between two smooth walls. A push turns the
pole; where the cart's force does not suffice, the ball meets a wall, and the plan counts on that. The system
is linearised once, upright, with both walls in reach.

With ``controller=lqr`` the same weights give the linear-quadratic regulator, which knows of no contact; with
``walls=false`` there are none.

Exact answers
1. The certificate: every step obeys Signorini's law; the ball does not enter a wall.
2. Plans are complementary.
3. The pole stays up and comes back to the middle (`final_error`).

Metrics: `final_error`, the larger of the cart's way from the middle [m] and the pole's angle [rad] at the
end; `largest_angle` [rad]; `wall_impulse`, of both walls on the ball [N s]; see
`taction.scenarios.predictive_scenario` for the others.

References: [AydinogluWeiHuangPosa2024] for the example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.planning.linearise import Lineariser
from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.robots.cart_pole import cart_pole, walls
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup, predictive_parameters
from taction.sim.run import Run
from taction.sim.world import World

WALL = 0.35  # distance of the walls from the middle [m]
FORCE = 10.0  # of the cart [N]
FALLEN = 1.4  # angle beyond which the pole is down [rad]
FINAL, SETTLED = 0.05, 3.0  # [m or rad], [s]
BOX = np.array([1.0, 1.2, 6.0, 12.0])  # largest coordinates and velocities of a plan


class CartpoleWalls(PredictiveScenario):
    """See the module text."""

    name = "cartpole-walls"
    summary = "a pole on a cart is pushed and comes back by the walls, which the plan counts on"
    duration = 4.0
    dt = 0.005
    parameters = (
        *predictive_parameters(horizon=15, plan_dt=0.02),
        Parameter("controller", "mpc", "", "what controls", choices=("mpc", "lqr")),
        Parameter("walls", True, "", "whether there are walls"),
        Parameter("push", 5.0, "rad/s", "velocity of the pole after the push", minimum=-20.0, maximum=20.0),
        Parameter("angle", 0.0, "rad", "of the pole at the start", minimum=-0.5, maximum=0.5),
    )
    units = by_unit(
        {
            "rad": "largest_angle",
            "N s": "wall_impulse",
            "m or rad": "final_error",
            "": "must_stand is_settled",
        }
    )

    def make_world(self, parameters: Values, error: float) -> World:
        """Cart and pole, with walls if asked for."""
        model = cart_pole(cart_mass=1.0 + error, pole_mass=0.3 * (1.0 + error))
        return World(model, ground=walls(WALL) if parameters["walls"] else None)

    def setup(self, parameters: Values, world: World) -> Setup:
        """Upright in the middle."""
        p = parameters
        system = Lineariser(world, p["plan_dt"], inputs=("slide",), has_friction=False, reach=2.0).at(
            np.zeros(2)
        )
        cost, _ = regulator(system.A, system.B)
        problem = PlanningProblem(
            system, p["horizon"], cost, Polytope.box(-BOX, BOX), Polytope.box([-FORCE], [FORCE])
        )
        return Setup(problem, None, np.array([0.0, p["angle"]]), np.array([0.0, p["push"]]))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Upright, with the velocity of the push."""
        start = super().start(parameters, world)
        if parameters["controller"] == "lqr":
            assert self.control is not None
            system = self.control.problem.system(0)
            _, gain = regulator(system.A, system.B)

            def feedback(t: float, q: Array, v: Array) -> Array:
                return np.array([float(np.clip(-gain @ np.concatenate([q, v]), -FORCE, FORCE)[0]), 0.0])

            start["controller"] = feedback
        return start

    def fell(self, q: Array, parameters: Values) -> bool:
        """Whether the pole is down."""
        return bool(abs(q[1]) > FALLEN)

    def error(self, run: Run, parameters: Values) -> float:
        """Of cart and pole."""
        return float(np.abs(run.q[-1]).max())

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        out = super().metrics(run, parameters)
        out["largest_angle"] = float(np.abs(run.q[:, 1]).max())
        force = run.contact_forces().get("pole")
        out["wall_impulse"] = 0.0 if force is None else float(np.abs(force[:, 0]).sum() * run.dt)
        out["must_stand"] = parameters["controller"] == "mpc" and parameters["walls"]
        out["is_settled"] = bool(run.t[-1] >= SETTLED - 1e-9)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """See the exact answers."""
        found = super().violations(metrics, run)
        if metrics["must_stand"] and metrics["fell"]:
            found.append(f"the pole fell at {run.t[-1]:.3g} s")
        elif metrics["must_stand"] and metrics["is_settled"]:
            found += above("the distance from upright in the middle", float(metrics["final_error"]), FINAL)
        return found


def regulator(A: Array, B: Array) -> tuple[Cost, Array]:
    """Weights, the last ones from Riccati's equation, and the gain (1, 4) of the regulator."""
    from scipy.linalg import solve_discrete_are

    Q, R = np.diag([10.0, 100.0, 1.0, 1.0]), np.array([[0.1]])
    S = solve_discrete_are(A, B, Q, R)
    return Cost(Q, R, 0.5 * (S + S.T)), np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
