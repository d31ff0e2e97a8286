"""A cylinder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import CIRCLE, Collider, Geometry, check_positive, diagonal


@dataclass(frozen=True)
class Cylinder(Geometry):
    """Cylinder of the given length [m] along z and radius [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        check_positive(self.radius, "cylinder radius")
        check_positive(self.length, "cylinder length")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        r, h = self.radius, self.length
        m = np.pi * r * r * h
        side = m * (3 * r * r + h * h) / 12
        return diagonal(m, [side, side, m * r * r / 2])

    def outline(self) -> Array:
        """Both rims."""
        ends = -0.5 * self.length, 0.5 * self.length
        return np.concatenate([self.radius * CIRCLE + (0.0, 0.0, z) for z in ends])

    def collider(self) -> Collider:
        """Size: radius, half length."""
        half = 0.5 * self.length
        return Collider(ShapeKind.CYLINDER, (self.radius, half, 0.0), float(np.hypot(self.radius, half)))
