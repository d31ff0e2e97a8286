"""A cone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import CIRCLE, Collider, Geometry, check_positive


@dataclass(frozen=True)
class Cone(Geometry):
    """Cone about z with the given radius of its base [m] and height [m].

    The origin is at half its height: the base at z = −height/2, the apex at z = +height/2, and the centre of
    mass a quarter of the height above the base.
    """

    radius: float
    height: float

    def __post_init__(self) -> None:
        check_positive(self.radius, "cone radius")
        check_positive(self.height, "cone height")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        r, h = self.radius, self.height
        m = np.pi * r * r * h / 3
        side = 3 / 80 * m * (4 * r * r + h * h)
        return Inertia(m, np.array([0.0, 0.0, -h / 4]), np.diag([side, side, 0.3 * m * r * r]))

    def outline(self) -> Array:
        """The rim and the apex."""
        half = 0.5 * self.height
        return np.concatenate([self.radius * CIRCLE - (0.0, 0.0, half), [[0.0, 0.0, half]]])

    def collider(self) -> Collider:
        """Size: radius, half height."""
        half = 0.5 * self.height
        return Collider(ShapeKind.CONE, (self.radius, half, 0.0), float(np.hypot(self.radius, half)))
