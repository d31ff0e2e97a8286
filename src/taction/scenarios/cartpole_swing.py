"""Cart-pole swing-up: a hanging pole comes up between walls, and stays up, by plans of the nonlinear world.

As `taction.scenarios.cartpole_walls`, with walls farther apart and the pole hanging at the start. Half a turn
is far from linear, so that plans are those of direct transcription (`taction.planning.direct`), made anew at
every step of the plan, each from the one before; they swing the ball against a wall and lean on it.

Exact answers
1. The certificate: every step obeys Signorini's law; the ball overlaps a wall by no more than the arc of a
   step leaves.
2. Plans are complementary, to 10⁻⁸.
3. The pole comes up and stays there (`final_error`), after three seconds to 0.1.

Metrics: `final_error`, the larger of the cart's way from the middle [m] and the pole's angle [rad] at the
end; `time_up`, after which the pole stays within 0.2 rad of upright [s]; `wall_impulse`, of both walls on the
ball [N s]; see `taction.scenarios.predictive_scenario` for the others.

References: [PosaCantuTedrake2014]; [AydinogluWeiHuangPosa2024] for the cart-pole with walls.
"""

from __future__ import annotations

import numpy as np

from taction.planning.linearise import Lineariser
from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.robots.cart_pole import cart_pole, walls
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup, predictive_parameters
from taction.sim.run import Run
from taction.sim.world import World

FORCE = 15.0  # of the cart [N]
UP = 0.2  # angle below which the pole counts as up [rad]
FINAL, SETTLED = 0.1, 3.0  # [m or rad], [s]


class CartpoleSwing(PredictiveScenario):
    """See the module text."""

    name = "cartpole-swing"
    summary = "a hanging pole on a cart swings up between walls and stays up, by nonlinear plans"
    duration = 3.0
    dt = 0.005
    parameters = (
        Parameter("method", "direct", "", "how it plans", choices=("direct",)),
        *predictive_parameters(horizon=30, plan_dt=0.05)[1:],
        Parameter("wall", 0.6, "m", "distance of the walls from the middle", minimum=0.2, maximum=5.0),
        Parameter("angle", np.pi, "rad", "of the pole at the start", minimum=-4.0, maximum=4.0),
    )
    units = by_unit(
        {
            "s": "time_up",
            "N s": "wall_impulse",
            "m or rad": "final_error",
            "": "is_settled",
        }
    )

    def make_world(self, parameters: Values, error: float) -> World:
        """Cart and pole between walls."""
        model = cart_pole(cart_mass=1.0 + error, pole_mass=0.3 * (1.0 + error))
        return World(model, ground=walls(parameters["wall"]))

    def setup(self, parameters: Values, world: World) -> Setup:
        """From where it hangs to upright in the middle."""
        p = parameters
        lineariser = Lineariser(world, p["plan_dt"], inputs=("slide",), has_friction=False, reach=10.0)
        cost = Cost(np.diag([0.1, 1.0, 0.01, 0.01]), np.array([[1e-3]]), np.diag([10.0, 1000.0, 10.0, 100.0]))
        problem = PlanningProblem(
            lineariser.at(np.zeros(2)), p["horizon"], cost, inputs=Polytope.box([-FORCE], [FORCE])
        )
        return Setup(problem, None, np.array([0.0, p["angle"]]), np.zeros(2))

    def error(self, run: Run, parameters: Values) -> float:
        """Of cart and pole."""
        return float(np.abs(run.q[-1]).max())

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        out = super().metrics(run, parameters)
        down = np.flatnonzero(np.abs(run.q[:, 1]) > UP)
        is_up = not len(down) or down[-1] < len(run.t) - 1
        out["time_up"] = float("inf") if not is_up else float(run.t[down[-1] + 1]) if len(down) else 0.0
        force = run.contact_forces().get("pole")
        out["wall_impulse"] = 0.0 if force is None else float(np.abs(force[:, 0]).sum() * run.dt)
        out["is_settled"] = bool(run.t[-1] >= SETTLED - 1e-9)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """See the exact answers."""
        found = super().violations(metrics, run)
        if metrics["is_settled"]:
            found += above("the distance from upright in the middle", float(metrics["final_error"]), FINAL)
        return found
