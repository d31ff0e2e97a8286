"""A sphere: F = (‖p‖² − r²)/2r, so that ‖∇F‖ = 1 on it; curvature 1/r in all directions.

f(u) = r d(u), by longitude and latitude [rad]. A point is brought onto it along its radius, which is also the
way to the nearest point.

References: [DoCarmo1976, Section 3-2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.geometry.surfaces.base import ConvexSurface, as_parameters, as_point, positive
from taction.geometry.surfaces.implicit import ImplicitSurface
from taction.geometry.surfaces.longitude_latitude import angles, direction


@dataclass(frozen=True)
class Sphere(ImplicitSurface, ConvexSurface):
    """Sphere of a radius [m] about the origin."""

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "sphere radius"))

    @property
    def size(self) -> float:
        """Its diameter [m]."""
        return 2.0 * self.radius

    def point(self, u: ArrayLike) -> Array:
        """The point r d(u)."""
        return self.radius * direction(*as_parameters(u)).value

    def tangents(self, u: ArrayLike) -> Array:
        """First derivatives of r d(u)."""
        return self.radius * direction(*as_parameters(u)).first

    def second(self, u: ArrayLike) -> Array:
        """Second derivatives of r d(u)."""
        return self.radius * direction(*as_parameters(u)).second

    def parameters(self, p: ArrayLike) -> Array:
        """Longitude and latitude."""
        return angles(as_point(p))

    def onto(self, x: ArrayLike) -> Array:
        """Along the radius."""
        x = as_point(x)
        length = float(np.linalg.norm(x))
        if length == 0.0:
            raise BadInput(f"{self.label}: the centre has no nearest point")
        return x * (self.radius / length)

    def support(self, d: Array, near: Array) -> Array:
        """The point r d."""
        return self.radius * d

    def gradient(self, p: Array) -> Array:
        """p/r."""
        return p / self.radius

    def hessian(self, p: Array) -> Array:
        """1/r."""
        return np.eye(3) / self.radius
