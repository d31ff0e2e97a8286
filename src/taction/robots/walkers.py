"""Quadrupeds ready to be walked with: the document's, and real ones from the files of example-robot-data.

A `Walker` is a model with what its file does not say: the stance from which it walks, the gains of its joint
controllers, and which bodies are its feet.

Gains of real robots. Their makers' controllers are not in the files. Here every leg joint has

    k_p = 6 m g l,    k_d = 0.02 s · k_p,    k_i = 0                                                   (1)

with the weight m g and the height l of the hips above the feet: a leg that carries half of the weight at a
lever of l/6 is held to within 0.014 rad. Forces end at the efforts of the file.

Stance of a robot whose files name no pose: every last joint of a leg is bent by `BEND`, or as far as its
stops allow, to the side on which it can be bent further, and the joint before it is turned so that the foot
is below that joint's axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.control.joint_path import JointPath
from taction.control.pid import PID
from taction.control.walking.legs import Leg, find_legs, in_order
from taction.io.urdf import load_urdf
from taction.model.model import Model
from taction.robots.files import robot_files
from taction.robots.quadruped import QUADRUPED_GAINS, Knees, quadruped

STIFFNESS, RELAXATION = 6.0, 0.02  # of (1); the second in seconds
BEND = 1.2  # [rad]
UPDATE = 0.05  # of the integral, against time constants of 50 s and more [s]

# Files of example-robot-data below its folder of robots: URDF, SRDF
FILES = {
    "go1": ("go1_description/urdf/go1.urdf", "go1_description/srdf/go1.srdf"),
    "go2": ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf"),
    "a1": ("a1_description/urdf/a1.urdf", "a1_description/srdf/a1.srdf"),
    "b1": ("b1_description/urdf/b1.urdf", "b1_description/srdf/b1.srdf"),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", "hyq_description/srdf/hyq.srdf"),
    "solo12": ("solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf"),
    "anymal": (
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/srdf/anymal.srdf",
    ),
    "anymal_c": (
        "anymal_c_simple_description/urdf/anymal.urdf",
        "anymal_c_simple_description/srdf/anymal.srdf",
    ),
}
DOCUMENT = "document"


class Walker(NamedTuple):
    """A quadruped, its stance and the gains of its joint controllers."""

    model: Model
    stance: Array  # (nq,)
    legs: tuple[Leg, ...]  # right back, left back, right front, left front
    kp: Array  # (m,) of the joints of the legs, leg by leg [N m/rad]
    kd: Array  # (m,) [N m s/rad]
    ki: Array  # (m,) [N m/(rad s)]
    limit: str | None = None  # of the forces

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints of the legs, leg by leg."""
        return tuple(name for leg in self.legs for name in leg.joints)

    @property
    def feet(self) -> tuple[tuple[str, ...], ...]:
        """Names of the bodies that are one with each foot."""
        model = self.model
        links = [model.body_link[model.body(leg.name)] for leg in self.legs]
        return tuple(
            tuple(name for b, name in enumerate(model.body_names) if model.body_link[b] == link)
            for link in links
        )

    def controller(self, model: Model, path: JointPath | None = None) -> PID:
        """Joint controllers that follow a path, or hold the stance, in a world with that model."""
        path = path or JointPath(self.joints, np.concatenate([leg.stance for leg in self.legs])[None])
        kp, kd, ki = (_sorted(path, self.joints, gains) for gains in (self.kp, self.kd, self.ki))
        return PID(model, path, kp=kp, kd=kd, ki=ki, interval=UPDATE, limit=self.limit)


def walker(
    name: str = DOCUMENT, *, friction: float = 0.3, body_contacts: bool = True, knees: Knees = "alike"
) -> Walker:
    """A quadruped by name, or from a URDF file.

    Args:
        name: ``"document"``; one of `FILES`, where example-robot-data is installed; or the path of a URDF
            file, whose stance is the pose ``standing`` or the first one of the SRDF file beside it, or else
            with bent knees.
        friction: Coulomb coefficient of the document's leg tips; real robots leave it to the ground.
        body_contacts: whether the document's robot touches the ground with more than its leg tips.
        knees: of the document's robot, see `quadruped`.

    Raises:
        BadInput: no such robot, or one that is no quadruped.
    """
    if name == DOCUMENT:
        model = quadruped(ground_coulomb=friction, body_contacts=body_contacts, knees=knees)
        legs = in_order(model, find_legs(model))
        gains = [QUADRUPED_GAINS[_part(joint)] for leg in legs for joint in leg.joints]
        kp, kd, ki = (np.array([getattr(gain, key) for gain in gains]) for key in ("kp", "kd", "ki"))
        return Walker(model, model.q0, legs, kp, kd, ki)
    urdf, srdf = robot_files(name, FILES, (DOCUMENT,))
    model = load_urdf(urdf, floating_base=True, srdf=srdf)
    poses = model.spec.keyframes
    if poses:
        kept = poses.get("standing") or next(iter(poses.values()))
        stance = model.check_q(kept.q, f"pose of {srdf}")
    else:
        stance = bent_stance(model)
    legs = in_order(model, find_legs(model, stance))
    stiffness, damping = leg_gains(model, legs)
    kp, kd = (np.full(sum(len(leg.joints) for leg in legs), gain) for gain in (stiffness, damping))
    return Walker(model, stance, legs, kp, kd, 0.0 * kp, limit="model")


def leg_gains(model: Model, legs: tuple[Leg, ...]) -> tuple[float, float]:
    """Gains k_p [N m/rad] and k_d [N m s/rad] of every leg joint by (1)."""
    height = -float(np.mean([leg.home[2] for leg in legs]))
    weight = model.total_mass * float(np.linalg.norm(model.tree.gravity))
    return STIFFNESS * weight * height, RELAXATION * STIFFNESS * weight * height


def bent_stance(model: Model) -> Array:
    """A stance (nq,) with bent knees, the feet below the hips; see the module text."""
    q = model.q0.copy()
    for leg in find_legs(model):
        hip, knee = leg.coordinates[-2], leg.coordinates[-1]
        low, high = model.lower[leg.dofs], model.upper[leg.dofs]
        side = 1.0 if high[-1] > -low[-1] else -1.0
        bend = min(max(side * BEND, low[-1]), high[-1])
        turns = np.linspace(max(low[-2], -np.pi / 2), min(high[-2], np.pi / 2), 721)
        angles = np.tile(leg.stance, (len(turns), 1))
        angles[:, -2], angles[:, -1] = turns, bend
        foot, _, _, hinges = leg.place(angles)
        reach = foot - hinges[:, -2]
        ahead = np.where(reach[:, 2] < 0.0, np.abs(reach[:, 0]), np.inf)
        q[hip], q[knee] = turns[int(np.argmin(ahead))], bend
    return q


def _part(joint: str) -> str:
    """What comes after the leg in the name of a joint of the document's robot."""
    return next(part for part in QUADRUPED_GAINS if joint.endswith(f"_{part}"))


def _sorted(path: JointPath, joints: tuple[str, ...], values: Array) -> Array:
    """Values of joints in the order of a path."""
    by_name = dict(zip(joints, values, strict=True))
    return np.array([by_name[name] for name in path.joints])
