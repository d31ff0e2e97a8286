"""What is asked of every geometry, and what answers share.

A geometry knows its sizes and checks them, its mass properties, the points that it is drawn by, and what
collision needs of it in numbers: a kind, three sizes, a bounding radius. What follows from the kind, its
support mapping and the like, is for kernels and stands in `taction.geometry.shapes`.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.expect import number
from taction._core.kinds import ShapeKind
from taction.math.transform import Transform
from taction.model.inertia import Inertia

AROUND = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
CIRCLE = np.stack([np.cos(AROUND), np.sin(AROUND), np.zeros_like(AROUND)], axis=1)


class Collider(NamedTuple):
    """A geometry in the numbers of `Colliders`, in its own axes."""

    kind: ShapeKind
    size: tuple[float, float, float]  # lengths by kind [m]
    bound: float  # radius of a sphere around the origin that holds the shape [m]
    points: Array | None = (
        None  # whose convex hull collides, (n, 3) [m]; brings a centre and bound of its own
    )
    heights: Array | None = None  # of terrain, (rows along y, columns along x) [m]


class Geometry:
    """A shape without a place: the base of all shapes."""

    is_convex: ClassVar[bool] = True  # whether it can be a part of a union

    def unit_inertia(self) -> Inertia:
        """Inertia as a homogeneous solid of 1 kg/m³ in the shape's own frame."""
        raise ModelError(f"{self.label} has no volume, so no inertia can be derived from it")

    def outline(self) -> Array:
        """Points whose convex hull is the shape or close to it, shape (k, 3) [m]; none if it is not drawn."""
        return np.zeros((0, 3))

    def collider(self) -> Collider:
        """What collision is given."""
        raise ModelError(f"{type(self).__name__} cannot collide")

    def pieces(self) -> list[tuple[Geometry, Transform]]:
        """The shapes that collision knows, with their placements: this one, or the parts it is made of."""
        return [(self, Transform())]

    @property
    def label(self) -> str:
        """What messages call it."""
        return type(self).__name__.lower()


def check_positive(value: float, what: str) -> None:
    """Raise `ModelError` unless a size is positive and finite."""
    value = number(value, what, ModelError)
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{what} must be positive and finite, got {value}")


def diagonal(mass: float, moments: ArrayLike) -> Inertia:
    """Inertia of a body with its centre of mass in the origin and principal axes along the frame's."""
    return Inertia(mass, np.zeros(3), np.diag(np.asarray(moments, dtype=float)))


def ball() -> Array:
    """Points on the unit sphere: rings of equal latitude, shape (k, 3)."""
    latitudes = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 9)
    return np.concatenate([CIRCLE * math.cos(a) + (0.0, 0.0, math.sin(a)) for a in latitudes])
