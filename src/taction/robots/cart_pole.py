"""A cart with a pole on it, and a ball at the end of the pole that may touch walls.

References: [AydinogluWeiHuangPosa2024] for the example with walls.
"""

from __future__ import annotations

import numpy as np

from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Box, Capsule, Material, Plane, Shape, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import GRAVITY, require_positive

CART = (0.2, 0.1, 0.08)  # size of its box [m]
ROD = 0.01  # radius of the pole as it is drawn [m]


def cart_pole(
    *,
    cart_mass: float = 1.0,
    pole_mass: float = 0.3,
    length: float = 0.6,
    radius: float = 0.03,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Bodies ``cart`` and ``pole``, joints ``slide`` along x and ``hinge``; upright at zero, +x with +hinge.

    Args:
        cart_mass: of the cart [kg].
        pole_mass: all of it in the ball at the end [kg].
        length: from the hinge to the middle of the ball [m].
        radius: of the ball [m].
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_positive(cart_mass=cart_mass, pole_mass=pole_mass, length=length, radius=radius)
    b = ModelBuilder("cart_pole", gravity=gravity)
    b.body("cart", Inertia(cart_mass, np.zeros(3), 1e-3 * np.eye(3)), [Shape(Box(CART), collides=False)])
    b.prismatic("slide", parent=WORLD, child="cart", axis=(1.0, 0.0, 0.0))
    end = Transform.from_rpy((0.0, 0.0, length))
    rod = Shape(Capsule(ROD, length), pose=Transform.from_rpy((0.0, 0.0, 0.5 * length)), collides=False)
    ball = Shape(Sphere(radius), pose=end, material=Material(friction=(0.0, 0.0)))
    turning = 0.4 * pole_mass * radius**2 * np.eye(3)
    b.body("pole", Inertia(pole_mass, np.array([0.0, 0.0, length]), turning), [rod, ball])
    b.revolute("hinge", parent="cart", child="pole", axis=(0.0, 1.0, 0.0), effort=0.0)
    return b.build()


def walls(distance: float) -> list[Shape]:
    """Two smooth walls without end, at −distance and distance along x [m]."""
    require_positive(distance=distance)
    return [
        Shape(
            Plane(),
            pose=Transform.from_rpy((side * distance, 0.0, 0.0), (0.0, -0.5 * side * np.pi, 0.0)),
            material=Material(friction=(0.0, 0.0)),
        )
        for side in (-1.0, 1.0)
    ]
