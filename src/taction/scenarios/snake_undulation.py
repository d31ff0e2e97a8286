"""Snake undulation: the snake robot crosses a floor by lateral undulation, on friction that has a direction.

The document's experiment: A_h = 30°, ω_h = 135°/s, δ_h = −50°, μ = 0.01 along and 0.05 across the links,
from the straight snake or, with `after_drop`, from wherever the drop of `snake-drop` left it.

Exact answers
1. The certificate: every step obeys Coulomb's law with the elliptic cone in the frame of the document's (21).
2. Where friction across the links is several times that along them, a wave that runs to the tail moves the
   snake head first. With the same friction in all directions it does not get ahead. That is what the
   document says of its snake; it is run as a twin with the larger coefficient everywhere,
   `isotropic_distance`. The twin is not at rest: it slips, slowly, and mostly backwards, with the wave. So
   the claim is checked as: it gets ahead by less than a tenth of the way, or goes back by less than a
   fifth.
3. Mirror images: on level ground the pattern has no side, so that drift sideways comes from the start alone.

Checks 2 need three periods of the gait, and friction across at least three times that along.

Metrics: see `taction.scenarios.snake_motion`.

References: [Transeth2006, Sections V-B and VII-B, Fig. 7].
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from taction.control.waves import MotionPattern, lateral_undulation
from taction.model.shapes import Plane
from taction.robots.snake import snake
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.snake_drop import SnakeDrop
from taction.scenarios.snake_motion import (
    GAIT,
    LINKS,
    MU_LONG,
    MU_TRANS,
    RAMP,
    TRAVEL_UNITS,
    TURN,
    SnakeScenario,
    in_radians,
    run_like,
    snake_control,
    travel,
)
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

AHEAD, BACK = 0.1, 0.2  # how far the isotropic twin may get, as parts of the way
PERIODS = 3.0  # that a check of the way needs
DIRECTED = 3.0  # ratio of the coefficients from which on the way is checked
DROP = 2.0  # time that the drop takes [s]


class SnakeUndulation(SnakeScenario):
    """See the module text."""

    name = "snake-undulation"
    summary = "a snake robot moves by lateral undulation if friction has a direction, and only then"
    source = "Transeth et al. 2006, Section VII-B"
    duration, dt = 10.0, 2e-3
    parameters = (
        LINKS,
        MU_LONG,
        MU_TRANS,
        Parameter("backward", -1.0, "", "coefficient along the links tail first; negative: as head first"),
        *GAIT,
        TURN,
        RAMP,
        Parameter("after_drop", False, "", "start from where the drop ends"),
        Parameter("compare", True, "", "also run with the same friction in all directions"),
    )
    units = TRAVEL_UNITS | by_unit(
        {
            "m": "isotropic_distance",
            "m/s": "isotropic_speed",
            "": "periods isotropic_residual is_directed",
        }
    )

    def world(self, parameters: Values) -> World:
        """The snake on level ground."""
        p = parameters
        back = None if p["backward"] < 0.0 else p["backward"]
        robot = snake(links=p["links"], friction=(p["mu_long"], p["mu_trans"]), backward=back)
        return World(robot, ground=Plane(friction=1.0))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest, straight, under control."""
        return {"controller": snake_control(world.model, pattern_of(parameters))}

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, str]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation asked for; its start may be the end of a drop."""
        simulation, start = super().make(parameters, dt, integrator, contact)
        if parameters["after_drop"]:
            drop = SnakeDrop()
            assert simulation.world is not None
            limp = drop.start(drop.settings() | {"links": parameters["links"]}, simulation.world)
            end = simulation.run(DROP, **limp).state
            if end is not None:
                start = {**start, "state": replace(end, t=0.0)}
        return simulation, start

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Travel, and that of the twin."""
        p, period = parameters, pattern_of(parameters).period
        out = travel(run, period)
        out["periods"] = float(run.t[-1] - run.t[0]) / period
        if p["compare"]:
            mu = max(p["mu_long"], p["mu_trans"])
            world = self.world({**p, "mu_long": mu, "mu_trans": mu, "backward": -1.0})
            twin = run_like(run, world, self.start(p, world))
            moved = travel(twin, period)
            out["isotropic_distance"] = moved["distance"]
            out["isotropic_speed"] = moved["speed"]
            out["isotropic_residual"] = twin.certificate.residual or 0.0
        out["is_directed"] = p["mu_trans"] >= DIRECTED * p["mu_long"] and p["phase"] * p["frequency"] < 0.0
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Ahead with directed friction, hardly without."""
        if metrics["periods"] < PERIODS or not metrics["is_directed"]:
            return []
        way = float(metrics["distance"])
        found = [] if way > 0.0 else [f"the snake did not get ahead: its way is {way:.3g} m"]
        if "isotropic_distance" in metrics:
            other = float(metrics["isotropic_distance"])
            found += above("the way with isotropic friction", other, AHEAD * abs(way), "m")
            found += above("the way back with isotropic friction", -other, BACK * abs(way), "m")
        return found


def pattern_of(parameters: Values) -> MotionPattern:
    """The motion pattern of a scenario's parameters."""
    angles = in_radians(parameters, "amplitude", "frequency", "phase", "turn")
    return lateral_undulation(**angles, ramp=parameters["ramp"])
