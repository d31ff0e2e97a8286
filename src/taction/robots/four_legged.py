"""Four-legged robot on a planar base: a torso that slides along x and z, on four legs of three joints.

Source: [BhargavaReport, Section 2.1 and Figure 2], a robot of 12 revolute joints with motors and 2
prismatic ones at the root without, moved by normal and friction forces: 14 degrees of freedom. The document
gives neither sizes nor masses, nor the axes of the three joints of a leg.

Geometry: the torso slides along x, then z, and keeps its attitude. All leg joints turn about y, the only
axis about which legs can carry a torso that moves in the xz-plane. The robot faces +x, left is +y.

Choices, ours: a robot of 30 kg that stands 0.65 m high, with solid boxes for torso and segments, and legs
flush with the torso's corners. Each leg touches with a small sphere inside the end of its foot. In the
neutral stance thighs are turned back by ``bend``, ankles are below the hips, feet are vertical with their
tips on the ground.
"""

from __future__ import annotations

import numpy as np

from taction.model.builder import ModelBuilder
from taction.model.model import Model
from taction.model.shapes import Material
from taction.model.spec import WORLD
from taction.robots._parts import (
    GRAVITY,
    LEGS,
    BoxLink,
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

# length, width, height [m], mass [kg]; the torso lies (length along x), leg segments hang
TORSO = BoxLink(0.8, 0.4, 0.12, 18.0)
THIGH = BoxLink(0.25, 0.05, 0.08, 1.6)
SHANK = BoxLink(0.22, 0.04, 0.06, 1.0)
FOOT = BoxLink(0.12, 0.04, 0.04, 0.4)


def four_legged(
    *,
    torso: BoxLink = TORSO,
    thigh: BoxLink = THIGH,
    shank: BoxLink = SHANK,
    foot: BoxLink = FOOT,
    tip_radius: float = 0.02,
    friction: float = 0.8,
    joint_viscous: float = 0.0,
    bend: float = 0.5,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Four-legged robot in the xz-plane, of 14 degrees of freedom and 12 motors.

    Bodies are ``slider`` (massless), ``torso`` and ``<leg>_thigh``, ``_shank``, ``_foot``. Joints are
    ``base_x``, ``base_z`` and, each with a motor of the same name, ``<leg>_hip``, ``_knee`` and ``_ankle``.

    Args:
        torso: length, width, height [m] and mass [kg] of the torso.
        thigh: the same, of each thigh.
        shank: the same, of each shank.
        foot: the same, of each foot.
        tip_radius: radius of the contact spheres [m].
        friction: Coulomb coefficient of the tips.
        joint_viscous: viscous friction of the leg joints [N m s/rad].
        bend: angle of the thighs in the neutral stance [rad].
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_links(torso=torso, thigh=thigh, shank=shank, foot=foot)
    require_positive(tip_radius=tip_radius)
    require_not_negative(joint_viscous=joint_viscous)
    tip = Material((friction, friction))
    angles, hip_height = leg_stance(thigh, shank, foot, bend)

    b = ModelBuilder("four_legged", gravity=gravity)
    b.body("slider")
    b.body("torso", *lying_box(torso, collides=False))
    b.prismatic("base_x", parent=WORLD, child="slider", axis=(1.0, 0.0, 0.0), effort=0.0)
    height = np.array([0.5 * torso.height + hip_height])
    b.prismatic("base_z", parent="slider", child="torso", axis=(0.0, 0.0, 1.0), initial=height, effort=0.0)
    for leg, fore, left in LEGS:
        bodies = upper, middle, lower = [f"{leg}_{part}" for part in ("thigh", "shank", "foot")]
        for body, segment in zip(bodies, (thigh, shank, foot), strict=True):
            b.body(body, *hanging_box(segment, collides=False))
        b.spec.body(lower).shapes.append(tip_sphere(foot, tip_radius, tip, f"{leg}_tip"))
        joints = (
            ("hip", "torso", upper, leg_root(torso, thigh, fore, left)),
            ("knee", upper, middle, (0.0, 0.0, -thigh.length)),
            ("ankle", middle, lower, (0.0, 0.0, -shank.length)),
        )
        for (name, parent, child, at), angle in zip(joints, angles, strict=True):
            motor_joint(
                b, f"{leg}_{name}", parent=parent, child=child, at=at, angle=angle, viscous=joint_viscous
            )
    return b.build()
