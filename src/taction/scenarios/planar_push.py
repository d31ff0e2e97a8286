"""Planar push: a pusher slides a block along a path, by plans through contact and friction.

A block on three feet lies on a table; behind it a pusher with two tips, which can push and turn but not pull
(`taction.robots.block_and_pusher`). The path is a wave, y = a sin(2π x / l), followed at a speed. The world
is linearised at every state that is seen, with pyramids at all five contacts: whether feet stick or slide and
which tip pushes is up to the plan. The simulator has the round cone.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws.
2. Plans are complementary.
3. The middle of the block stays near the path (`path_error`), within 5 mm.

Metrics: `path_error`, the largest distance of the block's middle from the path [m]; `final_error`, of the
block from where it should be at the end [m]; `mean_push`, force of the tips on the block along its path after
the first second [N], beside `sliding_force` μ m g, of which the tips may carry a part by friction; see
`taction.scenarios.predictive_scenario` for the others.

References: [BuiPosa2025] for pushing by consensus; [LynchMason1996] for pushes that do not lose contact.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction.model.shapes import Plane
from taction.planning.linearise import Lineariser
from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.planning.system import ContactSystem
from taction.robots.block_and_pusher import REST, behind, block_and_pusher
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup, predictive_parameters
from taction.sim.run import Run
from taction.sim.world import World

BLOCK, GRAVITY = 1.0, 9.81  # mass of the block [kg], [m/s²]
INPUTS = ("push_x", "push_y", "push_turn")
FORCE, TORQUE = 20.0, 2.0  # of the pusher [N], [N m]
REACH = 0.015  # distance up to which tips and feet are in a plan [m]
SPACE, FAST = 10.0, 20.0  # largest coordinates [m or rad] and velocities [m/s or rad/s] of a plan
AHEAD = 1e-4  # of differences in time [s]
ON_PATH = 5e-3
PATIENCE = 0.2  # of one plan by branch and bound [s]


class PlanarPush(PredictiveScenario):
    """See the module text."""

    name = "planar-push"
    summary = "a pusher slides a block along a path, by plans through contact and friction"
    duration = 6.0
    dt = 0.005
    parameters = (
        *predictive_parameters(horizon=6, plan_dt=0.05),
        Parameter("speed", 0.1, "m/s", "along x", minimum=0.01, maximum=0.5),
        Parameter("amplitude", 0.03, "m", "of the path", minimum=0.0, maximum=0.2),
        Parameter("wavelength", 0.6, "m", "of the path", minimum=0.1),
        Parameter("mu", 0.4, "", "coefficient of friction of the table", minimum=0.05, maximum=2.0),
        Parameter("push", 0.0, "N s", "impulse on the block, across", minimum=-1.0, maximum=1.0),
        Parameter("push_time", 2.0, "s", "when the push begins", minimum=0.0),
    )
    units = by_unit(
        {
            "m": "final_error path_error",
            "N": "mean_push sliding_force",
        }
    )

    def make_world(self, parameters: Values, error: float) -> World:
        """Block, pusher and table."""
        mu = parameters["mu"]
        model = block_and_pusher(block_mass=BLOCK * (1.0 + error), pusher_mass=0.5 * (1.0 + error), table=mu)
        return World(model, ground=Plane(friction=mu), exclude=[("world", "pusher")])

    def setup(self, parameters: Values, world: World) -> Setup:
        """Along the path, the pusher behind the block."""
        p, model = parameters, world.model
        n, h, N = model.nv, p["plan_dt"], p["horizon"]
        lineariser = Lineariser(world, h, inputs=INPUTS, reach=REACH)
        q = self.configuration(p, world, 0.0, apart=5e-4)
        weights = np.zeros(2 * n)  # place and heading of the block, place and turn of the pusher; velocities
        weights[[0, 1, 5, 6, 7, 8]] = 1e5, 1e5, 10.0, 20.0, 20.0, 0.1
        weights[n : 2 * n] = 0.01
        weights[n + 6 : n + 8] = 0.1
        Q = np.diag(weights)
        box = np.array([SPACE] * n + [FAST] * n)
        problem = PlanningProblem(
            lineariser.at(q), N, Cost(Q, np.diag([1e-2, 1e-2, 1.0]), 5.0 * Q), Polytope.box(-box, box),
            Polytope.box([-FORCE, -FORCE, -TORQUE], [FORCE, FORCE, TORQUE]),
        )  # fmt: skip

        def target(t: float, system: ContactSystem) -> Array:
            rows = []
            for k in range(N + 1):
                now, next_ = (self.configuration(p, world, t + k * h + s) for s in (0.0, AHEAD))
                x, y = system.state(now), system.state(next_)
                rows.append(np.concatenate([x[:n], (y[:n] - x[:n]) / AHEAD]))
            return np.array(rows)

        def rest(t: float, system: ContactSystem) -> Array:
            heading = path(p, t)[2]
            force = p["mu"] * BLOCK * GRAVITY
            return np.array([force * math.cos(heading), force * math.sin(heading), 0.0])

        return Setup(problem, target, q, np.zeros(n), rest, lineariser, {"time_limit": PATIENCE})

    def configuration(self, parameters: Values, world: World, t: float, apart: float = 0.0) -> Array:
        """Block on the path and pusher behind it at a time [s], (nq,)."""
        return behind(world.model, *path(parameters, t), apart)

    def disturbance(self, parameters: Values, t: float) -> Array | float:
        """A push on the block, along y, as long as a plan holds."""
        begin, lasting = parameters["push_time"], parameters["plan_dt"]
        if not (parameters["push"] and begin <= t < begin + lasting - 1e-9):
            return 0.0
        force = np.zeros(9)
        force[1] = parameters["push"] / lasting
        return force

    def fell(self, q: Array, parameters: Values) -> bool:
        """Whether the block does not lie flat on its feet."""
        return bool(abs(q[2] - REST) > 0.01)

    def error(self, run: Run, parameters: Values) -> float:
        """Of the block's place [m]."""
        return float(np.linalg.norm(run.q[-1, :2] - path(parameters, float(run.t[-1]))[:2]))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        p, out = parameters, super().metrics(run, parameters)
        span = float(run.t[-1])
        course = np.array(
            [path(p, t)[:2] for t in np.linspace(-0.5, span + 0.5, 20 * round(20 * (span + 1)))]
        )
        away = [float(np.hypot(*(course - at).T).min()) for at in run.q[:, :2]]
        out["path_error"] = max(away)
        force = run.contact_forces().get("pusher")
        if force is not None and span > 1.0:
            along = np.array([path(p, t)[2] for t in run.t[1:]])
            push = -(force[:, 0] * np.cos(along) + force[:, 1] * np.sin(along))
            out["mean_push"] = float(push[run.t[1:] > 1.0].mean())
            out["sliding_force"] = p["mu"] * BLOCK * (1.0 + p["model_error"]) * GRAVITY
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """See the exact answers."""
        found = super().violations(metrics, run)
        found += above("the distance of the block from the path", float(metrics["path_error"]), ON_PATH, "m")
        if metrics["fell"]:
            found.append("the block left the table")
        return found


def path(parameters: Values, t: float) -> tuple[float, float, float]:
    """Where the block shall be at a time [s]: x, y [m], heading [rad]."""
    x, k = parameters["speed"] * t, 2.0 * math.pi / parameters["wavelength"]
    a = parameters["amplitude"]
    return x, a * math.sin(k * x), math.atan(a * k * math.cos(k * x))
