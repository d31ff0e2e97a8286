"""A ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import Collider, Geometry, ball, check_positive, diagonal


@dataclass(frozen=True)
class Sphere(Geometry):
    """Ball of the given radius [m]."""

    radius: float

    def __post_init__(self) -> None:
        check_positive(self.radius, "sphere radius")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        r = self.radius
        m = 4 / 3 * np.pi * r**3
        return diagonal(m, [0.4 * m * r * r] * 3)

    def outline(self) -> Array:
        """Rings of equal latitude."""
        return self.radius * ball()

    def collider(self) -> Collider:
        """Size: radius."""
        return Collider(ShapeKind.SPHERE, (self.radius, 0.0, 0.0), self.radius)
