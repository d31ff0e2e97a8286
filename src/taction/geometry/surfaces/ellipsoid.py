"""An ellipsoid: F = (‖S⁻¹ p‖² − 1)/2 with the semi-axes S; ∇F = S⁻² p and ∇²F = S⁻².

f(u) = S d(u), by longitude and latitude [rad] of the sphere that it is stretched from. The point with the
normal d is S² d/‖S d‖. A point is brought onto it along its radius, p/‖S⁻¹ p‖: that is not the nearest point,
but agrees with it to first order on the surface, which is all that Newton's method needs.

At the end of the axis a the curvatures are a/b² and a/c².

References: [DoCarmo1976, Section 3-3].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import numbers
from taction.geometry.surfaces.base import ConvexSurface, as_parameters, as_point, positive
from taction.geometry.surfaces.implicit import ImplicitSurface
from taction.geometry.surfaces.longitude_latitude import angles, direction


@dataclass(frozen=True)
class Ellipsoid(ImplicitSurface, ConvexSurface):
    """Ellipsoid with semi-axes (x, y, z) [m] about the origin."""

    radii: tuple[float, float, float]

    def __post_init__(self) -> None:
        radii = numbers(self.radii, 3, "ellipsoid radii (x, y, z)")
        object.__setattr__(self, "radii", tuple(positive(r, "ellipsoid radius") for r in radii))

    @property
    def size(self) -> float:
        """Its longest axis [m]."""
        return 2.0 * max(self.radii)

    def point(self, u: ArrayLike) -> Array:
        """S d(u)."""
        return np.array(self.radii) * direction(*as_parameters(u)).value

    def tangents(self, u: ArrayLike) -> Array:
        """First derivatives of S d(u)."""
        return np.array(self.radii)[:, None] * direction(*as_parameters(u)).first

    def second(self, u: ArrayLike) -> Array:
        """Second derivatives of S d(u)."""
        return np.array(self.radii)[:, None, None] * direction(*as_parameters(u)).second

    def parameters(self, p: ArrayLike) -> Array:
        """Longitude and latitude on the sphere."""
        return angles(as_point(p) / self.radii)

    def onto(self, x: ArrayLike) -> Array:
        """Along the radius."""
        x = as_point(x)
        length = float(np.linalg.norm(x / self.radii))
        if length == 0.0:
            raise BadInput(f"{self.label}: the centre is no place to go from to the surface")
        return x / length

    def support(self, d: Array, near: Array) -> Array:
        """S² d/‖S d‖."""
        S = np.array(self.radii)
        return S * S * d / np.linalg.norm(S * d)

    def gradient(self, p: Array) -> Array:
        """S⁻² p."""
        return p / np.square(self.radii)

    def hessian(self, p: Array) -> Array:
        """S⁻²."""
        return np.diag(1.0 / np.square(self.radii))
