"""A plane: the surface z = 0 of the half-space below it; F = z, no curvature anywhere.

f(u) = (u_1, u_2, 0) [m]. It has one normal, so the only contact it can have with a second body is where that
body's normal is the opposite one: any second surface must be absolutely convex there.

References: [DuindamStramigioli2003, Section 3].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction.geometry.surfaces.base import ConvexSurface, as_parameters, as_point
from taction.geometry.surfaces.implicit import ImplicitSurface


@dataclass(frozen=True)
class Plane(ImplicitSurface, ConvexSurface):
    """The plane z = 0 with the normal +z."""

    image = 0

    @property
    def size(self) -> float:
        """It has none: infinite."""
        return float("inf")

    def point(self, u: ArrayLike) -> Array:
        """(u_1, u_2, 0)."""
        return np.array([*as_parameters(u), 0.0])

    def tangents(self, u: ArrayLike) -> Array:
        """The axes x and y."""
        return np.eye(3)[:, :2]

    def second(self, u: ArrayLike) -> Array:
        """Zero."""
        return np.zeros((3, 2, 2))

    def parameters(self, p: ArrayLike) -> Array:
        """Coordinates x and y [m]."""
        return as_point(p)[:2].copy()

    def onto(self, x: ArrayLike) -> Array:
        """Straight down or up."""
        return as_point(x) * (1.0, 1.0, 0.0)

    def support(self, d: Array, near: Array) -> Array:
        """The point below or above ``near``."""
        return self.onto(near)

    def directions(self) -> Array:
        """The normal."""
        return np.array([[0.0, 0.0, 1.0]])

    def gradient(self, p: Array) -> Array:
        """The axis z."""
        return np.array([0.0, 0.0, 1.0])

    def hessian(self, p: Array) -> Array:
        """Zero."""
        return np.zeros((3, 3))
