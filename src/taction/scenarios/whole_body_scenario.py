"""`WholeBodyScenario`: a robot that walks by whole-body control, on a world that may not be as it thinks.

Controller: a plan of the inverted pendulum, followed by torques of a quadratic program at every control
interval (`taction.control.walking.whole_body_walk`), made for the *nominal* robot; the one that moves has all
masses larger by ``model_error``. A push acts on its base, `PUSHING` long. A run ends where the robot falls.

A program that is not solved ends the run, too, and is a violation.

Metrics: those of `taction.scenarios.walking_motion`; `round_trip_error`: at states of the run, evenly
spread, the velocities that its joints have a step later are asked of inverse dynamics with contact
(`taction.sim.inverse_dynamics`), and its torques lead to velocities that differ from the wanted ones, and
those of the base from the found ones, by at most that, relative to the largest or to what gravity does to a
link of `SHORT` in a step (a step that is not solved to 1e-12 is tried with the next of `TOLERANCES`);
`steps`, how often a foot landed after more than `AIR` in the air; `planned_distance`;
`way_aside`, of the base along y [m].
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.control.push import Push, with_push
from taction.control.walking.base import base_of
from taction.control.walking.gaits import Gait
from taction.control.walking.soles import sole
from taction.control.walking.whole_body_walk import WholeBodyWalk
from taction.control.whole_body import WholeBody
from taction.model.model import Model
from taction.model.shapes import Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, is_rigid
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.walking_motion import (
    WALKING_UNITS,
    has_fallen,
    heavier,
    walking_metrics,
    walking_violations,
)
from taction.sim.inverse_dynamics import LINEAR, TOLERANCE, InverseDynamics
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

START, RAMP = 1.0, 1.0  # how long it stands, and gets faster [s]
PUSHING = 0.1  # how long a push lasts [s]
USED = 0.7  # part of the friction that forces are planned with
ROUND_TRIP = 1e-9  # steps solved to 1e-12, of links whose inertias differ by a thousand
TOLERANCES = (TOLERANCE, 1e-13, 1e-14)  # of its steps: the next where one is not solved, so near to rounding
SAMPLES = 100  # states at which inverse dynamics is tried
SHORT = 0.1  # links that gravity turns within a step [m]
AIR = 0.05  # shortest time in the air that counts as a step [s]


class Robot(NamedTuple):
    """What a scenario walks with."""

    model: Model
    stance: Array  # (nq,)
    feet: tuple[str, ...]
    gait: Gait
    step_height: float


class WholeBodyScenario(ContactScenario):
    """A robot under whole-body control.

    Attributes:
        is_inverted: whether inverse dynamics is tried at states of its runs.
    """

    is_inverted: ClassVar[bool] = True
    dt, stepper = 1e-3, LINEAR  # the scheme whose steps inverse dynamics inverts
    source = "report on contact and friction, Sections 4 to 6, and beyond"
    units = WALKING_UNITS | by_unit(
        {
            "m": "planned_distance way_aside",
            "": "steps may_fall",
        }
    )

    @abstractmethod
    def robot(self, parameters: Values) -> Robot:
        """The nominal robot."""

    def world(self, parameters: Values) -> World:
        """The robot that moves, on level ground."""
        return _world(self.robot(parameters).model, parameters["model_error"], parameters["mu"])

    def walk(self, parameters: Values, stance: Array) -> WholeBodyWalk:
        """The controller, for the nominal robot."""
        robot = self.robot(parameters)
        feet = {name: sole(robot.model, name, stance) for name in robot.feet}
        body = WholeBody(
            robot.model, feet, frames=(base_of(robot.model).body,), friction=USED * parameters["mu"]
        )  # fmt: skip
        return WholeBodyWalk(
            body, stance, gait=robot.gait, speed=parameters["speed"], step_height=robot.step_height,
            start=START, ramp=RAMP, is_adapting=parameters["adapts"],
        )  # fmt: skip

    def push(self, parameters: Values) -> Push | None:
        """What pushes the base, if anything does."""
        size, way = parameters["push"], math.radians(parameters["push_direction"])
        impulse = (size * math.cos(way), size * math.sin(way), 0.0)
        return Push(impulse, parameters["push_time"], PUSHING) if size else None

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """In the stance on the ground, under control."""
        model, q = world.model, world.place_on_ground(self.robot(parameters).stance)
        walk = self.walk(parameters, q)
        push, base = self.push(parameters), base_of(model)

        def stop(t: float, now: Array, v: Array) -> bool:
            return bool(has_fallen(base, q, now[None])[0])

        controller = with_push(walk, model, push) if push else walk
        return {"q": q, "controller": controller, "control_dt": parameters["control_dt"], "stop": stop}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        p, robot = parameters, self.robot(parameters)
        out = walking_metrics(run, p["mu"])
        if self.is_inverted and is_rigid(run.contact or "exact"):
            out["round_trip_error"] = inverse_round_trip(run)
        span = float(run.t[-1] - run.t[0])
        out["steps"] = float(sum(landings(run, name) for name in robot.feet))
        out["planned_distance"] = p["speed"] * max(span - START - 0.5 * RAMP, 0.0)
        place = base_of(run.model).place(run.q[[0, -1]])
        out["way_aside"] = float(place[1, 1] - place[0, 1])
        out["may_fall"] = bool(p["push"])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Those of `taction.scenarios.walking_motion`."""
        return walking_violations(metrics, run, ROUND_TRIP)


@lru_cache(maxsize=4)
def _world(model: Model, error: float, mu: float) -> World:
    """Kept, since hulls of meshes take seconds."""
    return World(heavier(model, error) if error else model, ground=Plane(friction=mu))


def inverse_round_trip(run: Run, samples: int = SAMPLES) -> float:
    """Largest relative error of inverse dynamics, then forward, at states of a run."""
    trips: list[RoundTrip] = []
    worst = 0.0
    for k in np.unique(np.linspace(0, run.steps - 1, min(run.steps, samples)).astype(int)):
        for n, tol in enumerate(TOLERANCES):
            if n == len(trips):
                trips.append(RoundTrip(run, tol))
            error, is_solved = trips[n].at(int(k))
            if is_solved:
                break
        worst = max(worst, error)
    return worst


class RoundTrip:
    """Inverse dynamics, then forward, from states of a run, with steps solved to a tolerance."""

    def __init__(self, run: Run, tol: float) -> None:
        assert run.world is not None
        self.run = run
        sim = Simulation(
            run.world, dt=run.dt, contact=run.contact, stepper=run.integrator, coordinates=run.coordinates,
            tol=tol,
        )  # fmt: skip
        self.inverse = InverseDynamics(sim)
        self.sim = self.inverse.sim  # of the steps whose forces are found
        self.forward = self.sim.begin(state=self.sim.state(run.q[0]))

    def at(self, k: int) -> tuple[float, bool]:
        """Relative error from state k, and whether the step is solved."""
        run, dofs = self.run, self.inverse.drives.dofs
        state = self.sim.state(run.q[k], run.v[k], float(run.t[k]))
        found = self.inverse.solve(state, velocity=run.v[k + 1, dofs])
        self.forward.reset(state)
        report = self.forward.step(found.tau)
        least = run.dt * float(np.linalg.norm(run.model.tree.gravity)) / SHORT
        error = max(
            float(np.abs(self.forward.v - found.velocity).max()),
            float(np.abs(self.forward.v[dofs] - run.v[k + 1, dofs]).max()),
        )
        return error / max(float(np.abs(found.velocity).max()), least), report.is_converged


def landings(run: Run, foot: str) -> int:
    """How often a foot came to stand after more than `AIR` in the air."""
    force = run.contact_forces()
    link = run.model.body_link[run.model.body(foot)]
    same = [name for b, name in enumerate(run.model.body_names) if run.model.body_link[b] == link]
    stands = np.sum([force[name][:, 2] for name in same if name in force], axis=0) > 0.0
    if np.ndim(stands) == 0:
        return 0
    lands = np.flatnonzero(stands[1:] & ~stands[:-1]) + 1
    air = round(AIR / run.dt)
    return int(sum(not stands[max(k - air, 0) : k].any() for k in lands))


def whole_body_parameters(speed: float) -> tuple[Parameter, ...]:
    """What can be set of every such scenario, with defaults."""
    return (
        Parameter("speed", speed, "m/s", "planned, ahead"),
        Parameter("period", 0.0, "s", "of the gait; 0: its own", minimum=0.0),
        Parameter("duty", 0.0, "", "part of it that feet stand; 0: the gait's own", minimum=0.0, maximum=1.0),
        Parameter("step_height", 0.0, "m", "by which feet rise; 0: by the robot's size", minimum=0.0),
        Parameter("mu", 0.7, "", "coefficient of friction of the ground", minimum=0.05),
        Parameter("model_error", 0.0, "", "relative error of all masses", minimum=-0.9, maximum=9.0),
        Parameter("push", 0.0, "N s", "impulse on the base", minimum=0.0),
        Parameter("push_direction", 0.0, "deg", "from x towards y"),
        Parameter("push_time", 3.0, "s", "when the push begins", minimum=0.0),
        Parameter("adapts", True, "", "whether footsteps change after a push"),
        Parameter("control_dt", 2e-3, "s", "between two programs", minimum=1e-4, maximum=0.02),
    )


def shaped(gait: Gait, parameters: Values) -> Gait:
    """A gait with the period and duty that are asked for."""
    period, duty = parameters["period"] or gait.period, parameters["duty"] or gait.duty
    return replace(gait, period=period, duty=duty)
