"""A planar hopper: a trunk on one leg that turns at the hip and gets longer and shorter.

Coordinates: place ``x`` and height ``z`` of the hip, ``pitch`` of the trunk, angle ``hip`` of the leg from
the trunk, and ``leg``, by which the leg is longer than at rest. With ψ = pitch + hip the foot, a ball of
radius r at the end of a leg of length l, is above level ground by

    z − (l − r + leg) cos ψ − r.

The motor of the leg has a rotor, whose inertia a light foot feels.

References: [Raibert1986] for the machine.
"""

from __future__ import annotations

import numpy as np

from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Box, Capsule, Shape, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import GRAVITY, require_positive

TRUNK = (0.3, 0.2, 0.12)  # size of its box as it is drawn [m]
THIGH = 0.03  # radius of the upper leg as it is drawn [m]


def hopper(
    *,
    trunk_mass: float = 5.0,
    thigh_mass: float = 0.3,
    foot_mass: float = 0.2,
    length: float = 0.5,
    radius: float = 0.03,
    rotor: float = 0.5,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Bodies ``trunk``, ``thigh``, ``foot``; joints ``x``, ``z``, ``pitch``, ``hip``, ``leg``.

    Only the foot touches.

    Args:
        trunk_mass: of the trunk, its centre of mass in the hip [kg].
        thigh_mass: of the upper leg [kg].
        foot_mass: of the foot, all of it in the ball [kg].
        length: from the hip to the ground, the leg at rest [m].
        radius: of the foot [m].
        rotor: inertia of the leg's motor, seen at the leg [kg].
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_positive(
        trunk_mass=trunk_mass, thigh_mass=thigh_mass, foot_mass=foot_mass, radius=radius, rotor=rotor,
        leg=length - 2.0 * radius,
    )  # fmt: skip
    b = ModelBuilder("hopper", gravity=gravity)
    none = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    b.body("rail", none)
    b.prismatic("x", parent=WORLD, child="rail", axis=(1.0, 0.0, 0.0), effort=0.0)
    b.body("lift", none)
    b.prismatic(
        "z", parent="rail", child="lift", axis=(0.0, 0.0, 1.0), initial=np.array([length]), effort=0.0
    )
    turning = trunk_mass * 0.03 * np.eye(3)  # a radius of gyration of 17 cm
    b.body("trunk", Inertia(trunk_mass, np.zeros(3), turning), [Shape(Box(TRUNK), collides=False)])
    b.revolute("pitch", parent="lift", child="trunk", axis=(0.0, 1.0, 0.0), effort=0.0)
    half = 0.25 * length
    middle = Transform.from_rpy((0.0, 0.0, -half))
    rod = Shape(Capsule(THIGH, 2.0 * half), pose=middle, collides=False)
    own = thigh_mass * (half**2 / 3.0 + 0.25 * THIGH**2) * np.eye(3)
    b.body("thigh", Inertia(thigh_mass, np.array([0.0, 0.0, -half]), own), [rod])
    b.revolute("hip", parent="trunk", child="thigh", axis=(0.0, 1.0, 0.0))
    end = np.array([0.0, 0.0, radius - length])
    ball = Shape(Sphere(radius), pose=Transform.from_rpy(tuple(end)))
    b.body("foot", Inertia(foot_mass, end, 0.4 * foot_mass * radius**2 * np.eye(3)), [ball])
    b.prismatic("leg", parent="thigh", child="foot", axis=(0.0, 0.0, -1.0), armature=rotor)
    return b.build()
