"""Snake on other ground: lateral undulation up a slope, over steps, waves and hills.

The snake starts straight, head first towards −x, above the ground by as little as is sure not to overlap, and
falls on it; the wave grows meanwhile.

Exact answers
1. Momentum along the normal of a plane, flat or inclined: Σ Λ_n = m g T cos θ + m Δu_n over the time T of the
   run, whatever the gait. `load_error` is the difference relative to m g T. The scheme is of order 1: forces
   belong to placements of the start of a step, so that ω h is allowed, with ω the largest rate of a link.
2. A snake that climbs a height H does at least the work m g H: `climb_work` ≤ `work`, up to the same ω h of
   the energies that are exchanged, and the work of the correction of positions.
3. It never falls through: the deepest overlap of the certificate stays below a hundredth of the radius.

How far it gets is measured. With friction across the links of many times that along them the wave moves it
ahead on all of these grounds; uphill this is checked, after three periods, where the slope is less than a
half of the friction across the links.

Metrics: see `taction.scenarios.snake_motion`; `climb` [m].

References: [Transeth2006, Section VIII], which names other ground shapes as the next step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.control.waves import MotionPattern, lateral_undulation
from taction.dynamics.energy import totals
from taction.robots.snake import place_snake, snake
from taction.robots.terrain import Terrain, flat, inclined, rough, sinusoidal, steps
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.snake_motion import (
    GAIT,
    GRAVITY,
    LENGTH,
    LINKS,
    RADIUS,
    RAMP,
    TRAVEL_UNITS,
    SnakeScenario,
    correction_work,
    in_radians,
    link_places,
    snake_control,
    travel,
)
from taction.sim.run import Run
from taction.sim.world import World

PERIODS = 3.0  # that a check of the way needs
DEEPEST = 0.01 * RADIUS  # overlap [m]
START_GAP = 1e-3  # of the snake above the highest ground below it [m]
GROUNDS = ("flat", "inclined", "steps", "sinus", "field")


class SnakeTerrain(SnakeScenario):
    """See the module text."""

    name = "snake-terrain"
    summary = "a snake robot on a slope, over steps, waves or hills: way, climb, load and overlap"
    source = "Transeth et al. 2006, Section VIII; statics"
    duration, dt = 8.0, 2e-3
    parameters = (
        LINKS,
        Parameter("ground", "inclined", "", "which ground", choices=GROUNDS),
        Parameter("mu_long", 0.05, "", "coefficient of friction along the links", minimum=0.0),
        Parameter("mu_trans", 0.5, "", "coefficient across the links", minimum=0.0),
        Parameter("angle", 3.0, "deg", "of the slope", minimum=-60.0, maximum=60.0),
        Parameter("rise", 0.02, "m", "of a step, of the waves and of the hills", minimum=1e-3, maximum=0.2),
        Parameter("seed", 1, "", "of the hills", minimum=0),
        *GAIT,
        RAMP,
    )
    units = TRAVEL_UNITS | by_unit(
        {
            "m": "climb deepest",
            "J": "climb_work free_climb_allowed",
            "rad": "phase_error",
            "": "periods slope grip is_directed load_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """The snake on the ground asked for."""
        p = parameters
        robot = snake(links=p["links"], friction=(p["mu_long"], p["mu_trans"]))
        return World(robot, ground=terrain_of(p).shapes)

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest, straight, above the ground by what is sure to be clear."""
        p = parameters
        control = snake_control(world.model, pattern_of(p))
        if p["ground"] in ("flat", "inclined"):
            a = math.radians(p["angle"]) if p["ground"] == "inclined" else 0.0
            place = (RADIUS * math.sin(a), 0.0, RADIUS * math.cos(a))
            q = place_snake(world.model, position=place, incline=-a)
        else:
            q = place_snake(world.model, position=(0.0, 0.0, clear_height(terrain_of(p), p["links"])))
        return {"q": q, "controller": control}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Travel, climb, load and work."""
        p, period = parameters, pattern_of(parameters).period
        places = link_places(run, most=None)
        g, phase = places.gravity_centre, places.largest_rate * run.dt
        out = travel(run, period, places)
        mass = float(run.model.total_mass)
        out |= {
            "periods": float(run.t[-1] - run.t[0]) / period,
            "climb": float(g[-1, 2] - g[0, 2]),
            "climb_work": mass * GRAVITY * float(g[-1, 2] - g[0, 2]),
            "free_climb_allowed": phase * exchanged(run) + correction_work(run),
            "phase_error": phase,
            "deepest": run.certificate.penetration or 0.0,
            "slope": math.tan(math.radians(p["angle"])) if p["ground"] == "inclined" else 0.0,
            "grip": float(p["mu_trans"]),
            "is_directed": p["mu_trans"] >= 5.0 * p["mu_long"] and p["phase"] * p["frequency"] < 0.0,
        }
        if p["ground"] in ("flat", "inclined"):
            a = math.radians(p["angle"]) if p["ground"] == "inclined" else 0.0
            out["load_error"] = load_error(run, a)
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """1 to 3, and that it gets ahead where it should."""
        found = above("the deepest overlap", metrics["deepest"], DEEPEST, "m")
        free = float(metrics["climb_work"]) - float(metrics["work"])
        found += above("the work of climbing that no joint did", free, metrics["free_climb_allowed"], "J")
        if "load_error" in metrics:
            found += above("the relative error of the load", metrics["load_error"], metrics["phase_error"])
        is_easy = metrics["is_directed"] and abs(float(metrics["slope"])) < 0.5 * float(metrics["grip"])
        if metrics["periods"] >= PERIODS and is_easy and not metrics["distance"] > 0.0:
            found.append(f"the snake did not get ahead: its way is {metrics['distance']:.3g} m")
        return found


def pattern_of(parameters: Values) -> MotionPattern:
    """The motion pattern of a scenario's parameters."""
    return lateral_undulation(
        **in_radians(parameters, "amplitude", "frequency", "phase"), ramp=parameters["ramp"]
    )


def terrain_of(parameters: Values) -> Terrain:
    """The ground asked for; fields reach from two lengths of the snake behind it to four ahead."""
    p = parameters
    size = p["links"] * LENGTH
    extent: dict[str, Any] = {"x": (-4.0 * size, 2.0 * size), "y": (-1.5 * size, 1.5 * size)}
    if p["ground"] == "inclined":
        return inclined(math.radians(p["angle"]))
    if p["ground"] == "steps":
        return steps(rise=p["rise"], width=6.0 * size)
    if p["ground"] == "sinus":
        return sinusoidal(amplitude=p["rise"], **extent)
    if p["ground"] == "field":
        return rough(amplitude=p["rise"], seed=p["seed"], **extent)
    return flat()


def clear_height(terrain: Terrain, links: int) -> float:
    """A height of the centres at which a straight snake along x is sure not to touch the ground [m]."""
    x, y = np.meshgrid(
        np.arange(-0.5 * LENGTH - RADIUS, (links - 0.5) * LENGTH + RADIUS, 0.25 * RADIUS),
        np.linspace(-RADIUS, RADIUS, 9),
    )
    return float(terrain.height(x, y).max()) + RADIUS + START_GAP


def load_error(run: Run, angle: float) -> float:
    """Momentum along the normal of a slope of an angle [rad]: impulses against weight, relative to m g T."""
    table, model = run.contacts, run.model
    assert table is not None
    n = np.array([math.sin(angle), 0.0, math.cos(angle)])
    impulse: Array = np.einsum("cij,cj->ci", table.frame.reshape(-1, 3, 3), table.impulse).sum(0)
    first, last = (totals(model, run.q[k], run.v[k]).linear_momentum for k in (0, -1))
    weight = float(model.total_mass) * GRAVITY * float(run.t[-1] - run.t[0])
    # impulses are on the first shape, the ground
    return abs(float(-impulse @ n - (last - first) @ n) / weight - math.cos(angle))


def exchanged(run: Run) -> float:
    """Energy that forces moved about during a run [J]: the works' sizes, and the changes of height."""
    e = run.energy
    works = (e.actuation, e.friction or 0.0, e.impact or 0.0, e.pressing or 0.0, float(np.ptp(run.potential)))
    return float(sum(abs(w) for w in works)) + float(run.kinetic.max())
