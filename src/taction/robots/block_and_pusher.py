"""A block on three small feet, and a pusher with two tips behind it.

Three feet, because three points share a weight in one way only. The pusher moves in a plane above the table,
along x and y, and turns; its two tips touch a flat side of the block, so that the block follows where the
pusher turns.

Coordinates: pose of the block, then ``push_x``, ``push_y``, ``push_turn``.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Box, Material, Shape, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import GRAVITY, require_positive

SIZE, HEIGHT = 0.1, 0.04  # of the block [m]
FOOT, STANCE = 0.005, 0.04  # radius of its feet, and how far they are from its middle [m]
TIP, TIPS = 0.015, 0.06  # radius of the pusher's tips, and their distance [m]
TOUCHING = 0.5 * SIZE + TIP  # distance of the pusher from the block's middle where both tips touch [m]
REST = 0.5 * HEIGHT + FOOT  # height of the block's middle where it stands [m]
OTHERS = 2  # group of block and tips, which do not meet the table
# Friction that differs by direction fixes the axes of the friction pyramid to the block: a millionth does
ALIGNED = 1.0 - 1e-6


def block_and_pusher(
    *, block_mass: float = 1.0, pusher_mass: float = 0.5, table: float = 0.4, tip: float = 0.5
) -> Model:
    """Bodies ``block`` (floating) and ``pusher``.

    Args:
        block_mass: homogeneous [kg].
        pusher_mass: of the pusher [kg].
        table: friction of the feet.
        tip: friction of tips and block.

    Raises:
        ModelError: a number is out of range.
    """
    require_positive(block_mass=block_mass, pusher_mass=pusher_mass, table=table, tip=tip)
    b = ModelBuilder("block_and_pusher", gravity=GRAVITY)
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    under, side = Material(friction=(table, ALIGNED * table)), Material(friction=(tip, tip))
    feet = [
        Shape(
            Sphere(FOOT),
            pose=Transform.from_rpy((STANCE * np.cos(a), STANCE * np.sin(a), -0.5 * HEIGHT)),
            material=under,
        )
        for a in angles
    ]
    trunk = Shape(Box((SIZE, SIZE, HEIGHT)), material=side, group=OTHERS, mask=OTHERS)
    across = block_mass / 12.0 * (SIZE**2 + HEIGHT**2)
    turning = np.diag([across, across, block_mass / 6.0 * SIZE**2])
    b.body("block", Inertia(block_mass, np.zeros(3), turning), [trunk, *feet])
    b.floating("base", child="block")
    b.body("rail")
    b.prismatic(
        "push_x", parent=WORLD, child="rail", axis=(1.0, 0.0, 0.0), pose=Transform.from_rpy((0.0, 0.0, REST))
    )
    b.body("carriage")
    b.prismatic("push_y", parent="rail", child="carriage", axis=(0.0, 1.0, 0.0))
    tips = [
        Shape(
            Sphere(TIP),
            pose=Transform.from_rpy((0.0, 0.5 * s * TIPS, 0.0)),
            material=side,
            group=OTHERS,
            mask=OTHERS,
        )
        for s in (-1.0, 1.0)
    ]
    b.body("pusher", Inertia(pusher_mass, np.zeros(3), pusher_mass * TIPS**2 / 4.0 * np.eye(3)), tips)
    b.revolute("push_turn", parent="carriage", child="pusher", axis=(0.0, 0.0, 1.0))
    return b.build()


def behind(model: Model, x: float, y: float, yaw: float, apart: float = 0.0) -> Array:
    """The configuration (nq,) with the block at a place [m] and heading [rad], the pusher behind it.

    apart: of tips and block [m].
    """
    back = -(TOUCHING + apart)
    half = 0.5 * yaw
    return model.pose(
        base=[x, y, REST, np.cos(half), 0.0, 0.0, np.sin(half)],
        push_x=x + back * np.cos(yaw), push_y=y + back * np.sin(yaw), push_turn=yaw,
    )  # fmt: skip
