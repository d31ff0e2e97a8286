"""An ellipsoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.expect import numbers
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import Collider, Geometry, ball, check_positive, diagonal


@dataclass(frozen=True)
class Ellipsoid(Geometry):
    """Ellipsoid with semi-axes (x, y, z) [m]."""

    radii: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "radii", numbers(self.radii, 3, "ellipsoid radii (x, y, z)", ModelError))
        for r in self.radii:
            check_positive(r, "ellipsoid radius")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        a, b, c = self.radii
        m = 4 / 3 * np.pi * a * b * c
        return diagonal(m, m / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]))

    def outline(self) -> Array:
        """A ball, stretched."""
        return ball() * np.asarray(self.radii)

    def collider(self) -> Collider:
        """Size: semi-axes."""
        a, b, c = self.radii
        return Collider(ShapeKind.ELLIPSOID, (a, b, c), max(a, b, c))
