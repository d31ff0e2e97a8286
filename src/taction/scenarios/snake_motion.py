"""What the scenarios of the snake robot share: parameters, a start without overlap, measures of its motion.

Notation: link i has its centre at r_i and its axis e_i, from the head to the tail, in the world; the snake
starts along +x with its head, link 1, at the origin, so that head first is −x. g is the centre of gravity.

Measures, all from placements of bodies, so that they do not depend on the coordinates of a simulation:
1. travel: (g_end − g_start) along −x, *distance*, and to the left of it, −y, *lateral_drift* [m];
2. heading: direction of −Σ e_i, the line from tail to head, averaged over the last period of the gait, since
   within a period it swings; *heading_drift* is its angle from −x [rad];
3. *cost_of_transport* = W / (m g d): work W of the controller, from the energy ledger, for a way d of the
   weight m g. W is net work: what a joint gives back while it brakes counts as regained. Over whole periods
   of a steady gait on level ground it is what friction and impacts take.

A start that overlaps with the ground is refused: a body that is inside the ground would be moved out by the
correction of positions, which is not what was asked for.

References: [Transeth2006, Section VII].
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.control.tracking import Tracking
from taction.control.waves import MotionPattern, follow
from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.robots.snake import SNAKE_GAINS
from taction.scenarios.base import ContactScenario, Metrics, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers.columns import CORRECTION

GRAVITY = 9.81  # [m/s²]
RADIUS, LENGTH = 0.0795, 0.269  # of a link [m]
SAMPLES = 2000  # placements of a run that are looked at, at most

LINKS = Parameter("links", 11, "", "number of links", minimum=2, maximum=200)
MU_LONG = Parameter("mu_long", 0.01, "", "coefficient of friction along the links", minimum=0.0)
MU_TRANS = Parameter("mu_trans", 0.05, "", "coefficient across the links", minimum=0.0)
GAIT = (
    Parameter("amplitude", 30.0, "deg", "of the horizontal wave"),
    Parameter("frequency", 135.0, "deg/s", "of the wave"),
    Parameter("phase", -50.0, "deg", "from joint to joint; negative: the wave runs to the tail"),
)
TURN = Parameter("turn", 0.0, "deg", "offset of all horizontal angles: the path becomes an arc")
RAMP = Parameter("ramp", 1.0, "s", "time in which the wave grows from nothing", minimum=0.0)


class SnakeScenario(ContactScenario):
    """A scenario of the snake robot."""

    @abstractmethod
    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Arguments of `Simulation.run`."""

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, str]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation asked for, after a look at its start."""
        simulation, start = super().make(parameters, dt, integrator, contact)
        require_clear(self.name, simulation, start)
        return simulation, start


class Places(NamedTuple):
    """Where the links of a snake are, over time."""

    t: Array  # (k,) [s]
    centre: Array  # (k, n, 3) centres of gravity [m]
    axis: Array  # (k, n, 3) unit vectors from head to tail

    @property
    def gravity_centre(self) -> Array:
        """g, shape (k, 3) [m]: links are equal."""
        return np.asarray(self.centre.mean(axis=1))

    def ends(self, k: int, length: float) -> Array:
        """Joints and ends of the snake at time k, links of a length [m], shape (n + 1, 3) [m]."""
        half = 0.5 * length * self.axis[k]
        return np.vstack([self.centre[k, :1] - half[:1], self.centre[k] + half])

    @property
    def largest_rate(self) -> float:
        """Fastest turning of a link's axis between two times [rad/s]."""
        turned = np.linalg.norm(np.diff(self.axis, axis=0), axis=2).max(axis=1, initial=0.0)
        return float((turned / np.diff(self.t)).max(initial=0.0))

    def gaps(self, sphere_distance: float, radius: float) -> Array:
        """Heights of the two spheres of each link above z = 0, rear then front, shape (k, n, 2) [m]."""
        arm = sphere_distance * self.axis[:, :, 2]
        return np.stack([self.centre[:, :, 2] - arm, self.centre[:, :, 2] + arm], axis=-1) - radius


def link_places(run: Run, *, most: int | None = SAMPLES) -> Places:
    """Placements of ``link1``, ``link2``, … of a run, at all times or at no more than so many."""
    model = run.model
    bodies = [b for b, name in enumerate(model.body_names) if name.startswith("link")]
    rows = np.arange(len(run.t))
    if most is not None and len(rows) > most:
        rows = np.unique(np.linspace(0, len(rows) - 1, most).round().astype(np.int64))
    centre, axis = np.empty((2, len(rows), len(bodies), 3))
    for k, row in enumerate(rows):
        poses = forward_kinematics(model, run.q[row])
        centre[k], axis[k] = poses.position[bodies], poses.rotation[bodies][:, :, 2]
    return Places(run.t[rows], centre, axis)


TRAVEL_UNITS = by_unit(
    {
        "m": "distance lateral_drift",
        "rad": "heading_drift",
        "m/s": "speed",
        "J": "work",
        "": "cost_of_transport",
    }
)


def travel(run: Run, period: float, places: Places | None = None) -> Metrics:
    """Measures 1 to 3 of the module text, and the speed over the last period of a gait [m/s]."""
    at = link_places(run) if places is None else places
    g, span = at.gravity_centre, float(at.t[-1] - at.t[0])
    way = g[-1] - g[0]
    last = at.t >= at.t[-1] - min(period, span) * (1.0 + 1e-9)
    last[-2:] = True  # a period may be shorter than the time between two samples
    line = -at.axis[last].mean(axis=(0, 1))
    out: Metrics = {
        "distance": float(-way[0]),
        "lateral_drift": float(-way[1]),
        "heading_drift": math.atan2(-line[1], -line[0]),
        "speed": float(g[last][0, 0] - g[-1, 0]) / float(at.t[-1] - at.t[last][0]),
        "work": run.energy.actuation,
    }
    weight, moved = float(run.model.total_mass) * GRAVITY, math.hypot(way[0], way[1])
    if moved > 0.0:
        out["cost_of_transport"] = run.energy.actuation / (weight * moved)
    return out


def snake_control(model: Model, pattern: MotionPattern, *, lift_gain: float = 1.0) -> Tracking:
    """A controller with the document's gains; those of the vertical angles times a factor."""
    sideways, upwards = SNAKE_GAINS["horizontal"], SNAKE_GAINS["vertical"]
    return follow(
        model, pattern, kp=(sideways.kp, lift_gain * upwards.kp), kd=(sideways.kd, lift_gain * upwards.kd)
    )


def uncorrected_energy(run: Run) -> Array:
    """Energy of every state without what corrections of positions added [J], shape (n + 1,)."""
    energy: Array = run.kinetic + run.potential
    if run.records is not None:
        energy[1:] -= np.cumsum(run.records[:, CORRECTION])
    return energy


def correction_work(run: Run) -> float:
    """Energy that corrections of positions added in the course of a run [J]."""
    return 0.0 if run.records is None else float(np.maximum(run.records[:, CORRECTION], 0.0).sum())


def run_like(run: Run, world: World, start: dict[str, Any]) -> Run:
    """Another world over the same time, with the law, scheme, solver, coordinates and step of a run."""
    simulation = Simulation(
        world,
        dt=run.dt,
        contact=run.contact,
        stepper=run.integrator,
        solver=run.solver or "auto",
        coordinates=run.coordinates,
    )
    return simulation.run(float(run.t[-1] - run.t[0]), **start)


def require_clear(name: str, simulation: Simulation, start: dict[str, Any]) -> None:
    """Refuse a start in which shapes overlap.

    Raises:
        BadInput: two shapes overlap; the deepest are named.
    """
    found = simulation.overlaps(simulation.state(start.get("q"), start.get("v")))
    if found:
        one, two, depth = found[0].shape, found[0].other, found[0].depth
        raise BadInput(f"{name}: {two} starts {depth:.3g} m inside {one}; start higher or elsewhere")


def in_radians(parameters: Values, *names: str) -> dict[str, float]:
    """Parameters given in degrees, in radians."""
    return {name: math.radians(parameters[name]) for name in names}
