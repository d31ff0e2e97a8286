"""Terrain: heights over a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction._core.expect import numbers
from taction._core.kinds import ShapeKind
from taction._core.show import brief_repr
from taction.model.shapes.base import Collider, Geometry, check_positive


@dataclass(frozen=True, eq=False)
class HeightField(Geometry):
    """Ground given by heights over a rectangular grid, centred on its frame; solid below.

    Attributes:
        heights: shape (rows along y, columns along x) [m], at least 2 by 2.
        cell: distance between neighbouring columns and rows (x, y) [m].
        depth: how far the solid reaches below the lowest height [m].
    """

    is_convex: ClassVar[bool] = False

    heights: Array
    cell: tuple[float, float]
    depth: float = 1.0

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        heights = as_float(self.heights, (None, None), "heights")
        if min(heights.shape) < 2:
            raise ModelError(f"a height field needs at least 2 by 2 heights, got {heights.shape}")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "cell", numbers(self.cell, 2, "height field cell (x, y)", ModelError))
        for value in (*self.cell, self.depth):
            check_positive(value, "height field cell and depth")

    def collider(self) -> Collider:
        """Size: cell lengths, depth."""
        rows, columns = self.heights.shape
        half = (0.5 * (columns - 1) * self.cell[0], 0.5 * (rows - 1) * self.cell[1])
        deepest = float(np.abs(self.heights).max()) + self.depth
        bound = float(np.hypot(np.hypot(*half), deepest))
        return Collider(ShapeKind.HEIGHT_FIELD, (*self.cell, self.depth), bound, heights=self.heights)
