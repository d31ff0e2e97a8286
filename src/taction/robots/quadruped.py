"""Quadruped with four joints per leg, on a floating base or on six virtual joints.

Source: [Ayit2015, Section 5.2] for the arrangement and Tables 5.1–5.3 for the numbers; Section 3.3 for the
two treatments of the base. A torso and four legs of four revolute joints: two at the hip, one knee, one
ankle. With the base, 22 degrees of freedom. Order of the legs as in the document's figures: right back,
left back, right front, left front; the robot faces +x, left is +y.

The base, Section 3.3
* ``"floating"``: one joint with six freedoms; coordinates are position and quaternion.
* ``"virtual"``: sliders along x, y, z, then hinges about z (yaw), y (pitch) and x (roll), each on a
  massless body, so that the torso has R_z(yaw) R_y(pitch) R_x(roll), which is `rotation_from_rpy`, in the
  world. The document gives no order of the three angles. The same mechanism with other coordinates, except
  at pitch = ±90°, where yaw and roll turn about one axis and the mass matrix is singular.

Choices, where the document is silent
* Table 5.1 gives boxes, L × W × H. A leg segment hangs along its length, with its width sideways. The legs
  are flush with the corners of the torso and start at its lower face.
* "Hip (lateral plane)" is taken as the axis along x, which moves the leg sideways; "hip (ventral plane)" as
  the axis along y, which swings it; knee and ankle turn about y. Nothing is said of a body between the two
  hip axes: it is massless.
* In the neutral stance the thigh is turned back by ``bend``, the shank forward so that the ankle is below
  the hip, and the foot is vertical with its tip on the ground. ``knees="mirrored"`` turns the back legs the
  other way, so that front and back are mirror images.
* Restitution ε is not in the tables: 0.

Departures
* Table 5.1 prints a foot 0.5 m high. All other segments have 0.1 m; 0.1 m is used.
* Table 5.2 prints viscous friction in N s/m²: N m s/rad in the joints and N s/m at the ground. Joint
  Coulomb friction, printed without a unit, is in N m.
* The contact at a leg tip is a point in the document. Here it is a small sphere inside the end of the foot,
  whose lowest point is that tip when the foot is vertical.
* Table 5.3 prints no units; N m/rad, N m s/rad and N m/(rad s).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from taction._core.errors import ModelError
from taction.model.builder import ModelBuilder
from taction.model.model import Model
from taction.model.shapes import Material
from taction.model.spec import WORLD
from taction.robots._parts import (
    GRAVITY,
    LEGS,
    BoxLink,
    PIDGain,
    hanging_box,
    leg_root,
    leg_stance,
    lying_box,
    motor_joint,
    require_links,
    require_not_negative,
    require_positive,
    tip_sphere,
)

Knees = Literal["alike", "mirrored"]

# Table 5.1: L, W, H [m], mass [kg]
TORSO = BoxLink(1.2, 0.6, 0.15, 50.0)
THIGH = BoxLink(0.28, 0.05, 0.1, 4.4)
SHANK = BoxLink(0.27, 0.05, 0.1, 3.65)
FOOT = BoxLink(0.22, 0.05, 0.1, 3.65)

# Table 5.3, by the second part of the joint names
QUADRUPED_GAINS = {
    "hip_lateral": PIDGain(kp=6000.0, kd=1.0, ki=120.0),
    "hip_ventral": PIDGain(kp=20000.0, kd=1.0, ki=120.0),
    "knee": PIDGain(kp=70000.0, kd=1.0, ki=120.0),
    "ankle": PIDGain(kp=30000.0, kd=1.0, ki=120.0),
}

# Section 3.3: kind, name, axis, in order from the world
VIRTUAL_JOINTS = (
    ("prismatic", "base_x", (1.0, 0.0, 0.0)),
    ("prismatic", "base_y", (0.0, 1.0, 0.0)),
    ("prismatic", "base_z", (0.0, 0.0, 1.0)),
    ("revolute", "base_yaw", (0.0, 0.0, 1.0)),
    ("revolute", "base_pitch", (0.0, 1.0, 0.0)),
    ("revolute", "base_roll", (1.0, 0.0, 0.0)),
)


def quadruped(
    *,
    base: Literal["floating", "virtual"] = "floating",
    torso: BoxLink = TORSO,
    thigh: BoxLink = THIGH,
    shank: BoxLink = SHANK,
    foot: BoxLink = FOOT,
    joint_viscous: float = 0.3,
    joint_coulomb: float = 0.55,
    ground_coulomb: float = 0.3,
    ground_viscous: float = 0.4,
    restitution: float = 0.0,
    tip_radius: float = 0.02,
    bend: float = 0.5,
    knees: Knees = "alike",
    body_contacts: bool = False,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Quadruped of 22 degrees of freedom and 16 motors.

    Bodies are ``torso`` and ``<leg>_hip`` (massless), ``_thigh``, ``_shank``, ``_foot``. Joints are ``root``
    (floating) or ``base_x`` … ``base_roll`` (virtual), then, each with a motor of the same name,
    ``<leg>_hip_lateral``, ``_hip_ventral``, ``_knee`` and ``_ankle``.

    Args:
        base: ``"floating"`` or ``"virtual"``.
        torso: length, width, height [m] and mass [kg].
        thigh: the same, of each thigh.
        shank: the same, of each shank.
        foot: the same, of each foot.
        joint_viscous: viscous friction of the leg joints [N m s/rad].
        joint_coulomb: Coulomb friction of the leg joints [N m].
        ground_coulomb: Coulomb coefficient of the leg tips.
        ground_viscous: viscous friction of the leg tips [N s/m].
        restitution: of the leg tips, 0 to 1.
        tip_radius: of the contact spheres [m].
        bend: angle of the thighs in the neutral stance [rad].
        knees: whether all legs bend alike, or the back legs as mirror images of the front legs.
        body_contacts: let torso, thighs and shanks touch the ground too; the document has the tips only.
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_links(torso=torso, thigh=thigh, shank=shank, foot=foot)
    require_not_negative(joint_viscous=joint_viscous, joint_coulomb=joint_coulomb)
    require_positive(tip_radius=tip_radius)
    tip = Material((ground_coulomb, ground_coulomb), restitution, ground_viscous)
    angles, hip_height = leg_stance(thigh, shank, foot, bend)
    if knees not in get_args(Knees):
        raise ModelError(f"knees must be 'alike' or 'mirrored', got {knees!r}")

    b = ModelBuilder("quadruped", gravity=gravity)
    b.body("torso", *lying_box(torso, tip, collides=body_contacts))
    _add_base(b, base, height=0.5 * torso.height + hip_height)
    for leg, fore, left in LEGS:
        way = -1.0 if knees == "mirrored" and fore < 0 else 1.0
        bodies = hip, upper, middle, lower = [f"{leg}_{part}" for part in ("hip", "thigh", "shank", "foot")]
        b.body(hip)
        for body, segment in zip(bodies[1:], (thigh, shank, foot), strict=True):
            b.body(body, *hanging_box(segment, tip, collides=body_contacts and body != lower))
        b.spec.body(lower).shapes.append(tip_sphere(foot, tip_radius, tip, f"{leg}_tip"))
        joints = (
            ("hip_lateral", "torso", hip, leg_root(torso, thigh, fore, left), (1.0, 0.0, 0.0), 0.0),
            ("hip_ventral", hip, upper, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), way * angles[0]),
            ("knee", upper, middle, (0.0, 0.0, -thigh.length), (0.0, 1.0, 0.0), way * angles[1]),
            ("ankle", middle, lower, (0.0, 0.0, -shank.length), (0.0, 1.0, 0.0), way * angles[2]),
        )
        for name, parent, child, at, axis, angle in joints:
            motor_joint(
                b,
                f"{leg}_{name}",
                parent=parent,
                child=child,
                at=at,
                axis=axis,
                angle=angle,
                viscous=joint_viscous,
                coulomb=joint_coulomb,
            )
    return b.build()


def _add_base(b: ModelBuilder, base: str, height: float) -> None:
    """Join the torso to the world, its centre at the given height [m] in the neutral stance."""
    if base == "floating":
        b.floating("root", child="torso", initial=np.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]))
    elif base == "virtual":
        parent = WORLD
        for kind, name, axis in VIRTUAL_JOINTS:
            child = "torso" if name == "base_roll" else b.body(f"{name}_carrier")
            at = np.array([height if name == "base_z" else 0.0])
            b.joint(name, kind, parent=parent, child=child, axis=axis, initial=at, effort=0.0)
            parent = child
    else:
        raise ModelError(f"base must be 'floating' or 'virtual', got {base!r}")
