"""Planar-base humanoid: a torso that slides along x and z, on two legs of three joints.

Source: [BhargavaReport, Section 4], a humanoid of 6 revolute joints with motors and 2 prismatic ones
without, moved by contact forces alone: 8 degrees of freedom. The document gives neither sizes nor masses.

Geometry: the torso slides along x, then z, and keeps its attitude, there being no joint for it. Hip, knee
and ankle turn about y. The robot faces +x; a segment hangs along −z at q = 0, so a positive angle moves its
lower end back: the hip bends forward with q < 0, the knee bends with q > 0.

Choices, ours: a person of 63 kg and 1.46 m up to the shoulders, with the masses of arms and head in the
torso and segment masses near the usual fractions of the body (thigh 0.1, shank 0.05, foot 0.015). Torso and
segments are solid boxes. A foot is a lying box below the ankle and touches with two spheres, heel and toe,
in the plane of motion: with the torso held upright more could not be told apart. In the neutral stance the
knees are bent by ``bend``, the soles flat on the ground.
"""

from __future__ import annotations

import math

import numpy as np

from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Box, Material, Shape, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import (
    GRAVITY,
    BoxLink,
    hanging_box,
    lying_box,
    motor_joint,
    require_finite,
    require_links,
    require_not_negative,
    require_positive,
    robot_shape,
)

# length, width, height [m], mass [kg]; torso and foot lie (length along x), thigh and shank hang
TORSO = BoxLink(0.2, 0.3, 0.6, 40.0)
THIGH = BoxLink(0.4, 0.12, 0.12, 7.0)
SHANK = BoxLink(0.4, 0.09, 0.09, 3.5)
FOOT = BoxLink(0.24, 0.09, 0.06, 1.0)


def planar_humanoid(
    *,
    torso: BoxLink = TORSO,
    thigh: BoxLink = THIGH,
    shank: BoxLink = SHANK,
    foot: BoxLink = FOOT,
    hip_width: float = 0.18,
    heel: float = 0.06,
    sole_radius: float = 0.02,
    friction: float = 0.8,
    joint_viscous: float = 0.0,
    bend: float = 0.4,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Humanoid in the xz-plane, of 8 degrees of freedom and 6 motors.

    Bodies are ``slider`` (massless), ``torso`` and ``<side>_thigh``, ``_shank``, ``_foot``. Joints are
    ``base_x``, ``base_z`` and, each with a motor of the same name, ``<side>_hip``, ``_knee`` and ``_ankle``.

    Args:
        torso: length, width, height [m] and mass [kg] of the torso, which lies: height is up.
        thigh: the same, of each thigh, which hangs.
        shank: the same, of each shank, which hangs.
        foot: the same, of each foot, which lies.
        hip_width: distance between the legs [m].
        heel: distance from the ankle back to the heel's end [m], less than the foot's length.
        sole_radius: radius of the contact spheres at heel and toe [m].
        friction: Coulomb coefficient of the soles.
        joint_viscous: viscous friction of the leg joints [N m s/rad].
        bend: of the knees in the neutral stance [rad].
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_links(torso=torso, thigh=thigh, shank=shank, foot=foot)
    require_positive(hip_width=hip_width, heel=heel, sole_radius=sole_radius)
    require_positive(**{"foot length minus heel": foot.length - heel})
    require_not_negative(joint_viscous=joint_viscous)
    require_finite(bend=bend)
    # the knee in front of the line from hip to ankle, the ankle below the hip
    forward = math.atan2(shank.length * math.sin(bend), thigh.length + shank.length * math.cos(bend))
    reach = thigh.length * math.cos(forward) + shank.length * math.cos(bend - forward) + foot.height

    b = ModelBuilder("planar_humanoid", gravity=gravity)
    b.body("slider")
    b.body("torso", *lying_box(torso, collides=False))
    b.prismatic("base_x", parent=WORLD, child="slider", axis=(1.0, 0.0, 0.0), effort=0.0)
    height = np.array([0.5 * torso.height + reach])
    b.prismatic("base_z", parent="slider", child="torso", axis=(0.0, 0.0, 1.0), initial=height, effort=0.0)
    for side, left in (("right", -1.0), ("left", 1.0)):
        names = [f"{side}_{part}" for part in ("thigh", "shank", "foot")]
        b.body(names[0], *hanging_box(thigh, collides=False))
        b.body(names[1], *hanging_box(shank, collides=False))
        b.body(names[2], *_foot(foot, heel, sole_radius, Material((friction, friction)), side))
        hip = (0.0, 0.5 * left * hip_width, -0.5 * torso.height)
        joints = (
            ("hip", "torso", names[0], hip, -forward),
            ("knee", names[0], names[1], (0.0, 0.0, -thigh.length), bend),
            ("ankle", names[1], names[2], (0.0, 0.0, -shank.length), forward - bend),
        )
        for name, parent, child, at, angle in joints:
            motor_joint(
                b, f"{side}_{name}", parent=parent, child=child, at=at, angle=angle, viscous=joint_viscous
            )
    return b.build()


def _foot(
    foot: BoxLink, heel: float, radius: float, material: Material, side: str
) -> tuple[Inertia, list[Shape]]:
    """Inertia and shapes of a foot; the body frame is at the ankle, on the upper face."""
    box = Box((foot.length, foot.width, foot.height))
    middle = Transform.from_rpy((0.5 * foot.length - heel, 0.0, -0.5 * foot.height))
    ends = (("heel", radius - heel), ("toe", foot.length - heel - radius))
    shapes = [robot_shape(box, middle, collides=False)]
    for name, x in ends:
        shapes.append(
            robot_shape(
                Sphere(radius), (x, 0.0, radius - foot.height), material=material, name=f"{side}_{name}"
            )
        )
    return Inertia.solid(box, mass=foot.mass).placed(middle), shapes
