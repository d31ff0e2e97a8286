"""A box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.expect import numbers
from taction._core.kinds import ShapeKind
from taction.model.inertia import Inertia
from taction.model.shapes.base import Collider, Geometry, check_positive, diagonal


@dataclass(frozen=True)
class Box(Geometry):
    """Box with full edge lengths (x, y, z) [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", numbers(self.size, 3, "box size (x, y, z)", ModelError))
        for s in self.size:
            check_positive(s, "box size")

    def unit_inertia(self) -> Inertia:
        """Inertia at 1 kg/m³."""
        a, b, c = self.size
        m = a * b * c
        return diagonal(m, m / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]))

    def outline(self) -> Array:
        """The corners."""
        corners = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1).T
        return corners * np.asarray(self.size)

    def collider(self) -> Collider:
        """Size: half extents."""
        a, b, c = self.size
        bound = 0.5 * float(np.sqrt(a * a + b * b + c * c))
        return Collider(ShapeKind.BOX, (0.5 * a, 0.5 * b, 0.5 * c), bound)
