"""What the scenarios of the quadruped share: robots, contact, measures of the motion, curves of the figures.

Notation: the base, or torso, is at (x, y, z) in the world, with roll, pitch and yaw of R_z R_y R_x; legs in
the order of the document's figures: right back, left back, right front, left front.

Measures
1. *distance_x*, *drift_y*: way of the base along x and y [m]; *yaw*: its heading at the end [rad];
2. *peak_height*: of the base [m]; *peak_force*: largest normal force on one foot, mean over a step [N]. Where
   rigid feet hit the ground that is an impulse over a step: half the step, twice the force;
   *peak_impulse* is that impulse [N s];
3. *fell*: the base leant by more than 60°, or was below half of its height in the stance above the feet;
4. *end_energy*: kinetic energy at the end [J]; *rest_time*: when it was last above `REST` of its peak [s];
5. *real_time_factor*: simulated time over the time that the steps took;
6. *contact_work*: work of normal and friction forces [J], none of which is positive in truth.

Rigid contact is asked besides for what the document claims of it: no overlap of more than a micrometre, no
contact that pulls, and none that adds energy. On a height field feet with corners may be found in the next
triangle one step late; there the overlap counts that a step leaves to the next. A robot that tumbles may
overlap, for a step, by what its path is curved within that step. The convex law lifts what slides, and the
work of that is its own.

Contact as a force has one set of springs for all scenarios (`SPRINGS`), chosen for the trot: half of the
weight, on one of two feet, presses it in by a millimetre, and the damper is about critical, 2 √(k m) of the
2 kg that move at a foot.

References: [Ayit2015, Section 5.4].
"""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np

from taction._core.arrays import Array
from taction.contact.forces.parameters import Penalty
from taction.model.shapes import HeightField, Plane, Shape
from taction.robots.quadruped import Knees
from taction.robots.walkers import DOCUMENT, Walker, walker
from taction.scenarios.base import ContactScenario, Metrics, Values, above, is_rigid
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

DEEPEST = 1e-6  # overlap [m]
LEANING = np.radians(60.0)
REST = 1e-6  # of the largest kinetic energy
MADE = 1e-5  # of the energy at the start, by which the works that are booked may be wrong: they have order 1
SPRINGS = Penalty(stiffness=5e5, damping=2e3)
LEG_NAMES = ("right back", "left back", "right front", "left front")

ROBOT = Parameter("robot", DOCUMENT, "", "the document's, go2, anymal, solo12, … or a URDF file")
MU = Parameter("mu", 0.3, "", "coefficient of friction of feet and ground", minimum=0.0)
KNEES = Parameter(
    "knees", "alike", "", "of the document's robot: how back legs bend", choices=get_args(Knees)
)
BODY = Parameter(
    "body_contacts", True, "", "the document's robot touches with its body, too, not its tips alone"
)


class QuadrupedScenario(ContactScenario):
    """A scenario of a quadruped under joint controllers."""

    duration, dt, springs = 10.6, 5e-4, (SPRINGS,)
    source = "legged-robot thesis, Section 5.4"
    units = by_unit(
        {
            "m": "distance_x drift_y peak_height",
            "rad": "yaw largest_lean",
            "N": "peak_force least_force",
            "N s": "peak_impulse",
            "J": "end_energy contact_work",
            "s": "rest_time",
            "": "fell real_time_factor",
        }
    )

    def walker(self, parameters: Values) -> Walker:
        """The robot, its stance and gains; read once."""
        return _walker(*(parameters[name] for name in ("robot", "mu", "body_contacts", "knees")))

    def ground(self, parameters: Values) -> Plane | list[Shape]:
        """What it moves on."""
        return Plane(friction=parameters["mu"])

    def world(self, parameters: Values) -> World:
        """The robot on its ground."""
        return World(self.walker(parameters).model, ground=self.ground(parameters))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Measures 1 to 6 of the module text."""
        return measures(run, self.walker(parameters))

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """What rigid contact never does."""
        return rigid_violations(metrics, run)

    def curves(self, run: Run, parameters: Values) -> dict[str, Array]:
        """What the document's figures show."""
        return curves(run, self.walker(parameters))


@lru_cache(maxsize=8)
def _walker(robot: str, mu: float, body_contacts: bool, knees: Knees) -> Walker:
    return walker(robot, friction=mu, body_contacts=body_contacts, knees=knees)


def base_height(robot: Walker) -> float:
    """Height of the base above the feet's lowest points in the stance [m]."""
    return float(np.mean([leg.radius - leg.home[2] for leg in robot.legs]))


def measures(run: Run, robot: Walker) -> Metrics:
    """Measures 1 to 6 of the module text."""
    angles, q = roll_pitch_yaw(run.q[:, 3:7]), run.q
    forces, way = leg_forces(run, robot), q[-1, :3] - q[0, :3]
    upright = np.cos(angles[:, 0]) * np.cos(angles[:, 1])
    low = q[:, 2] - _ground_below(run) < 0.5 * base_height(robot)
    moving = np.flatnonzero(run.kinetic > REST * run.kinetic.max())
    peak = float(forces[:, :, 2].max(initial=0.0))
    energy = run.energy
    return {
        "distance_x": float(way[0]),
        "drift_y": float(way[1]),
        "yaw": float(np.unwrap(angles[:, 2])[-1]),
        "peak_height": float(q[:, 2].max()),
        "peak_force": peak,
        "peak_impulse": peak * run.dt,
        "fell": bool((upright < np.cos(LEANING)).any() or low.any()),
        "largest_lean": float(np.arccos(np.clip(upright.min(), -1.0, 1.0))),
        "end_energy": float(run.kinetic[-1]),
        "rest_time": float(run.t[moving[-1]]) if len(moving) else 0.0,
        "real_time_factor": float((run.t[-1] - run.t[0]) / run.wall_s),
        "contact_work": float((energy.friction or 0.0) + (energy.impact or 0.0) + (energy.pressing or 0.0)),
        "least_force": _least_normal(run),
    }


def rigid_violations(metrics: Metrics, run: Run) -> list[str]:
    """No overlap, no pull, no energy from contact, where contact is rigid."""
    if not is_rigid(run.contact or "exact"):
        return []
    c = run.certificate
    found = above("the overlap that a step left", c.left or 0.0, DEEPEST, "m")
    if not _is_uneven(run):
        found = above("the overlap", c.penetration or 0.0, metrics.get("curved_path", DEEPEST), "m")
    found += above("the pull of a contact", -metrics["least_force"], 1e-6, "N")
    if run.contact == "convex":
        return found
    least = MADE * max(abs(run.energy.initial), 1.0)
    return found + above("the work of contact", metrics["contact_work"], least, "J")


def roll_pitch_yaw(quaternion: Array) -> Array:
    """Angles (n, 3) [rad] of quaternions (n, 4), scalar first."""
    w, x, y, z = quaternion.T
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return np.stack([roll, pitch, yaw], axis=1)


def leg_forces(run: Run, robot: Walker) -> Array:
    """Contact force on each foot, mean over every step, world axes [N], shape (n, 4, 3)."""
    by_body = run.contact_forces()
    zero = np.zeros((run.steps, 3))
    return np.stack([sum((by_body.get(name, zero) for name in foot), zero) for foot in robot.feet], axis=1)


def curves(run: Run, robot: Walker) -> dict[str, Array]:
    """What the document's figures show, and torques, by name; states (n + 1, ·), forces (n, ·).

    Positions [m], angles [rad], velocities [m/s], forces [N], torques [N m], power [W].
    """
    dofs = np.concatenate([leg.dofs for leg in robot.legs])
    coordinates = np.concatenate([leg.coordinates for leg in robot.legs])
    forces = leg_forces(run, robot)
    torque = run.tau[:-1, dofs]
    return {
        "t": run.t,
        "position": run.q[:, :3],
        "roll_pitch_yaw": roll_pitch_yaw(run.q[:, 3:7]),
        "velocity": run.v[:, :6],
        **{f"force_{name.replace(' ', '_')}": forces[:, k] for k, name in enumerate(LEG_NAMES)},
        "joint_position": run.q[:, coordinates],
        "joint_torque": torque,
        "power": (torque * run.v[1:, dofs]).sum(axis=1),
    }


def curved_path(run: Run, robot: Walker) -> float:
    """By how much a foot may miss the straight path of a step, ½ (ω h)² l [m], and a micrometre.

    Rates ω of base and leg joints together, and l the height of the base.
    """
    base = np.linalg.norm(run.v[:, 3:6], axis=1)
    joints = [np.abs(run.v[:, leg.dofs]).sum(axis=1) for leg in robot.legs]
    rate = float((base + np.max(joints, axis=0)).max())
    return DEEPEST + 0.5 * (rate * run.dt) ** 2 * base_height(robot)


def _least_normal(run: Run) -> float:
    """Smallest normal force of a contact, mean over a step [N]; 0 if nothing touched."""
    assert run.contacts is not None
    return float(run.contacts.impulse[:, 0].min(initial=0.0)) / run.dt


def _is_uneven(run: Run) -> bool:
    """Whether the ground is a height field."""
    assert run.world is not None
    return any(isinstance(shape.geometry, HeightField) for shape in run.world.model.spec.ground)


def _ground_below(run: Run) -> float:
    """Lowest height of the ground [m]: of a plane 0, of random ground its bound below."""
    assert run.contacts is not None
    points = run.contacts.point[:, 2]
    return min(float(points.min(initial=0.0)), 0.0)
