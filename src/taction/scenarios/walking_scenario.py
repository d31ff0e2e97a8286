"""`WalkingScenario`: a planar walker under one of four controllers, on a world that may not be as they think.

Controllers
* ``inverse``: its joints are driven along the reference by whatever forces that takes: inverse dynamics with
  contact of the robot that moves (`taction.control.path_drives`);
* ``computed-torque``: forces by inverse dynamics of the *nominal* robot at the measured state, with feedback
  of the errors (`taction.sim.computed_torque`);
* ``replay``: forces recorded from the nominal robot under ``inverse``, open loop (`taction.control.replay`);
* ``replay-feedback``: the same and proportional–derivative feedback about the recorded motion.

The robot that moves has all masses larger by ``model_error``, the nominal one has not. A push acts on the
torso, `PUSHING` long. A run ends where the robot falls. Forces are recorded over ``recorded`` seconds; after
that a replay has none.

References: [BhargavaReport, Sections 4 to 6].
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from taction._core.arrays import Array
from taction.control.path_drives import PathDrives
from taction.control.push import Push, with_push
from taction.control.replay import Replay
from taction.control.walking.base import base_of
from taction.control.walking.gaits import Gait
from taction.control.walking.planar_walk import PlanarWalk, planar_walk
from taction.model.model import Model
from taction.model.shapes import Plane
from taction.robots.walkers import leg_gains
from taction.scenarios.base import ContactScenario, Metrics, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.walking_motion import (
    EXACT_PATHS,
    WALKING_UNITS,
    has_fallen,
    heavier,
    walking_metrics,
    walking_violations,
)
from taction.sim.computed_torque import ComputedTorque
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

CONTROLLERS = ("inverse", "computed-torque", "replay", "replay-feedback")
START, RAMP = 0.2, 1.0  # how long it stands, and gets faster [s]
PUSHING = 0.1  # how long a push lasts [s]


class WalkingScenario(ContactScenario):
    """A planar walker that walks along x.

    Attributes:
        gait: when its legs lift, with the period and the duty by default.
    """

    dt, stepper = 1e-3, EXACT_PATHS
    source = "report on contact and friction, Sections 4 to 6"
    gait: ClassVar[Gait]
    units = WALKING_UNITS | by_unit(
        {
            "m": "planned_distance torque_per_weight",
            "": "may_fall",
        }
    )

    @abstractmethod
    def robot(self, parameters: Values) -> Model:
        """The nominal robot, in its stance."""

    def world(self, parameters: Values) -> World:
        """The robot that moves, on level ground."""
        model = heavier(self.robot(parameters), parameters["model_error"])
        return World(model, ground=Plane(friction=parameters["mu"]))

    def reference(self, parameters: Values, model: Model) -> PlanarWalk:
        """What the joints follow."""
        p = parameters
        return planar_walk(
            model, speed=p["speed"], step_height=p["step_height"], period=p["period"], duty=p["duty"],
            start=START, ramp=RAMP, gait=self.gait,
        )  # fmt: skip

    def nominal(self, parameters: Values, dt: float, contact: dict[str, Any] | None = None) -> Simulation:
        """A simulation of the nominal robot, by the same choice of contact."""
        return super().make({**parameters, "model_error": 0.0}, dt, None, contact or {})[0]

    def record(self, parameters: Values, nominal: Simulation, duration: float) -> Run:
        """The nominal robot's walk by inverse dynamics: motion and forces over so long [s]."""
        path, limit = self.reference(parameters, nominal.model).path, parameters["torque_limit"] or None
        return nominal.run(duration, controller=PathDrives(nominal.model, path, nominal.dt, limit))

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, Any]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation, and the controller with the nominal robot that it knows."""
        simulation, start = super().make(parameters, dt, integrator, contact)
        nominal = self.nominal(parameters, dt, contact)
        controller = self.controller(parameters, simulation, nominal)
        if parameters["push"]:
            push = Push((parameters["push"], 0.0, 0.0), parameters["push_time"], PUSHING)
            controller = with_push(controller, simulation.model, push)
        base, neutral = base_of(simulation.model), simulation.model.q0

        def stop(t: float, q: Array, v: Array) -> bool:
            return bool(has_fallen(base, neutral, q[None])[0])

        return simulation, {**start, "controller": controller, "stop": stop}

    def controller(self, parameters: Values, simulation: Simulation, nominal: Simulation) -> Any:
        """One of `CONTROLLERS`, for a simulation of the robot that moves and of the nominal one."""
        kind, limit = parameters["controller"], parameters["torque_limit"] or None
        walk = self.reference(parameters, nominal.model)
        if kind == "inverse":
            return PathDrives(simulation.model, walk.path, simulation.dt, limit)
        if kind == "computed-torque":
            return ComputedTorque(nominal, walk.path, limit=limit)
        recorded = self.record(parameters, nominal, parameters["recorded"])
        kp, kd = leg_gains(nominal.model, walk.legs) if kind == "replay-feedback" else (0.0, 0.0)
        return Replay(simulation.model, recorded, kp, kd, limit=limit)

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Those of `taction.scenarios.walking_motion`; how far it should have come; whether it may fall."""
        p = parameters
        out = walking_metrics(run, p["mu"], is_inverse=p["controller"] == "inverse")
        span = float(run.t[-1] - run.t[0])
        out["planned_distance"] = p["speed"] * max(span - START - 0.5 * RAMP, 0.0)
        out["torque_per_weight"] = out["peak_torque"] / (run.model.total_mass * 9.81)
        out["may_fall"] = p["controller"] == "replay" or bool(p["push"] or p["torque_limit"])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Those of `taction.scenarios.walking_motion`."""
        return walking_violations(metrics, run)

    def curves(self, run: Run, parameters: Values) -> dict[str, Array]:
        """Forces of the motors over each step [N m], by joint; and of the ground on each foot [N]."""
        names = [j.name for j in run.model.joints[2:]]
        torque = {f"torque_{name}": run.tau[:-1, run.model.joint(name).iv] for name in names}
        force = {f"force_{name}": f for name, f in run.contact_forces().items() if np.any(f)}
        return torque | force


def walking_parameters(
    speed: float, period: float, step_height: float, recorded: float
) -> tuple[Parameter, ...]:
    """What can be set of every walker, with defaults."""
    return (
        Parameter("controller", "inverse", "", "what moves the joints", choices=CONTROLLERS),
        Parameter("speed", speed, "m/s", "planned, ahead"),
        Parameter("period", period, "s", "of the gait", minimum=0.05),
        Parameter("duty", 0.5, "", "part of it that feet stand", minimum=0.5, maximum=0.95),
        Parameter("step_height", step_height, "m", "by which feet rise", minimum=0.0),
        Parameter("mu", 0.8, "", "coefficient of friction of feet and ground", minimum=1e-3),
        Parameter("model_error", 0.0, "", "relative error of all masses", minimum=-0.9, maximum=9.0),
        Parameter("push", 0.0, "N s", "impulse on the torso along x"),
        Parameter("push_time", 2.0, "s", "when the push begins", minimum=0.0),
        Parameter("torque_limit", 0.0, "N m", "of every motor; 0: none", minimum=0.0),
        Parameter("recorded", recorded, "s", "how long forces are recorded for a replay", minimum=0.1),
    )
