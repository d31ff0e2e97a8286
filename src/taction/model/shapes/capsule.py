"""A cylinder with half balls on its ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import Collider, Geometry, ball, check_positive, diagonal


@dataclass(frozen=True)
class Capsule(Geometry):
    """Cylinder of the given length [m] along z, capped by half spheres of the given radius [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        check_positive(self.radius, "capsule radius")
        check_positive(self.length, "capsule length")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        r, h = self.radius, self.length
        cylinder, balls = np.pi * r * r * h, 4 / 3 * np.pi * r**3
        # half balls: 0.4 m r² about their flat face's centre, centroid 3r/8 from it
        side = cylinder * (3 * r * r + h * h) / 12 + balls * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
        return diagonal(cylinder + balls, [side, side, cylinder * r * r / 2 + 0.4 * balls * r * r])

    def outline(self) -> Array:
        """The balls at both ends."""
        ends = -0.5 * self.length, 0.5 * self.length
        return np.concatenate([self.radius * ball() + (0.0, 0.0, z) for z in ends])

    def collider(self) -> Collider:
        """Size: radius, half length."""
        half = 0.5 * self.length
        return Collider(ShapeKind.CAPSULE, (self.radius, half, 0.0), self.radius + half)
