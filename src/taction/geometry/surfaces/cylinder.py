"""The side of a cylinder about z, endless: F = (x² + y² − r²)/2r; curvatures 1/r around and 0 along.

f(u) = (r cos u_1, r sin u_1, u_2), an angle [rad] and a height [m]. Its normals make a circle. Two cylinders
that cross touch in a point; parallel ones in a line, and there the conditions of the kinematics break.

References: [DoCarmo1976, Section 3-2].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.geometry.surfaces.base import ConvexSurface, as_parameters, as_point, positive
from taction.geometry.surfaces.implicit import ImplicitSurface

AROUND = np.linspace(0.0, 2.0 * math.pi, 64, endpoint=False)
CIRCLE = np.stack([np.cos(AROUND), np.sin(AROUND), np.zeros_like(AROUND)], axis=1)


@dataclass(frozen=True)
class Cylinder(ImplicitSurface, ConvexSurface):
    """Side of a cylinder of a radius [m] about the z axis, without ends."""

    radius: float

    image = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive(self.radius, "cylinder radius"))

    @property
    def size(self) -> float:
        """It has none: infinite."""
        return float("inf")

    def point(self, u: ArrayLike) -> Array:
        """(r cos u_1, r sin u_1, u_2)."""
        angle, z = as_parameters(u)
        return np.array([self.radius * math.cos(angle), self.radius * math.sin(angle), z])

    def tangents(self, u: ArrayLike) -> Array:
        """Around and along."""
        angle, _ = as_parameters(u)
        around = [-self.radius * math.sin(angle), self.radius * math.cos(angle), 0.0]
        return np.array([around, [0.0, 0.0, 1.0]]).T

    def second(self, u: ArrayLike) -> Array:
        """Towards the axis, for the angle twice."""
        out = np.zeros((3, 2, 2))
        out[:, 0, 0] = -self.point(u) * (1.0, 1.0, 0.0)
        return out

    def parameters(self, p: ArrayLike) -> Array:
        """Angle [rad] and height [m]."""
        x, y, z = as_point(p).tolist()
        return np.array([math.atan2(y, x), z])

    def onto(self, x: ArrayLike) -> Array:
        """Straight away from the axis, or towards it."""
        x = as_point(x)
        return self._at(x, x[2])

    def support(self, d: Array, near: Array) -> Array:
        """The point of the line with the normal d that is as high as ``near``."""
        return self._at(d, near[2])

    def directions(self) -> Array:
        """All around."""
        return CIRCLE

    def gradient(self, p: Array) -> Array:
        """(x, y, 0)/r."""
        return p * (1.0, 1.0, 0.0) / self.radius

    def hessian(self, p: Array) -> Array:
        """1/r across the axis."""
        return np.diag([1.0, 1.0, 0.0]) / self.radius

    def _at(self, d: Array, z: float) -> Array:
        """The point at a height in the direction d from the axis."""
        rho = math.hypot(d[0], d[1])
        if rho == 0.0:
            raise BadInput(f"{self.label}: there is no direction from the axis to the surface")
        return np.array([self.radius * d[0] / rho, self.radius * d[1] / rho, z])
