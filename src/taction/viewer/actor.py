"""One simulation of a live view, piece by piece, and the spring by which a page drags a body of it.

A piece continues where the last one ended, bit for bit as one whole run would: it has as many steps as there
are between two questions to a controller, or a multiple, so that a controller is asked when it would be. Only
the time that it is told may differ in its last digit, since times are counted from the start of a run.

A dragged body is pulled towards the pointer by a spring and a damper, F = k (x* − x) − d ẋ at the point that
was grasped; k = M ω², d = 1.4 M ω with the mass M of everything that moves and ω = 9 rad/s. Its work is
booked as that of actuators.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from taction._core.arrays import Array
from taction._core.expect import number
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.sim.run import Run
from taction.sim.state import SimState
from taction.viewer.sources import QUIET, Play

STIFF = 9.0  # ω of the spring that drags [rad/s]
NO_WRENCH = np.zeros((0, 6))


@dataclass(eq=False)
class Actor:
    """One simulation on its way.

    Attributes:
        play: what it simulates.
        state: where it is; None before its first step.
        run: the latest piece.
        is_over: whether it ended by itself, before the time asked for.
    """

    play: Play
    state: SimState | None = None
    run: Run | None = None
    is_over: bool = False

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return 0.0 if self.state is None else self.state.t

    @property
    def smallest(self) -> float:
        """The shortest piece [s]: a step, or as long as a controller's forces are held."""
        dt, held = self.play.simulation.dt, self.play.start.get("control_dt")
        held = dt if held is None else number(held, "control_dt")
        return max(round(held / dt), 1) * dt if np.isfinite(held) else dt

    def advance(self, seconds: float, wrench: Array | None = None) -> Run:
        """Simulate about that much, without warnings: what they say is in the drawing and the state.

        Args:
            seconds: simulated time [s], rounded to whole pieces.
            wrench: held on the links meanwhile, besides what the start holds; as `SimState.wrench`.
        """
        arguments = dict(self.play.start)
        own = arguments["state"].wrench if "state" in arguments else NO_WRENCH
        if self.state is not None:
            arguments = {key: value for key, value in arguments.items() if key not in ("q", "v")}
            held = own if wrench is None else wrench + own if len(own) else wrench
            arguments["state"] = replace(self.state, wrench=held)
        dt = self.play.simulation.dt
        steps = max(round(seconds / self.smallest), 1) * round(self.smallest / dt)
        with QUIET, warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.run = self.play.simulation.run(steps * dt, **arguments)
        self.state, self.is_over = self.run.state, self.run.steps < steps
        return self.run


@dataclass(frozen=True)
class Drag:
    """A spring between a point of a body, in its own frame [m], and a target in the world [m]."""

    actor: int
    body: int
    point: tuple[float, float, float]
    target: tuple[float, float, float]

    def wrench(self, actor: Actor) -> tuple[Array | None, float]:
        """Wrenches (links, 6) of the spring on an actor as it is, and the force [N].

        None in smooth motion, whose steps know no forces from outside.
        """
        simulation, run = actor.play.simulation, actor.run
        if run is None or actor.state is None or simulation.world is None:
            return None, 0.0
        model = simulation.model
        poses, speeds = forward_kinematics(model, run.q[-1]), body_velocities(model, run.q[-1], run.v[-1])
        arm = poses.rotation[self.body] @ np.array(self.point)
        x = poses.position[self.body] + arm
        v = speeds.linear[self.body] + np.cross(speeds.angular[self.body], arm)
        mass = sum(body.inertia.mass for body in model.spec.bodies)
        force = mass * STIFF * (STIFF * (np.array(self.target) - x) - 1.4 * v)
        engine = simulation.engine
        out = np.zeros((engine.world.model.n_links, 6))
        link, row = engine.wrench(actor.state.q, model.body_names[self.body], force, np.zeros(3), x)
        out[link] = row
        return out, float(np.linalg.norm(force))


def grasp(actor: Actor, which: int, body: int, point: Array, target: tuple[float, float, float]) -> Drag:
    """A drag of a body by a point in the world (3,) [m] where it is now."""
    assert actor.run is not None
    poses = forward_kinematics(actor.play.simulation.model, actor.run.q[-1])
    x, y, z = (float(c) for c in poses.rotation[body].T @ (point - poses.position[body]))
    return Drag(which, body, (x, y, z), target)
