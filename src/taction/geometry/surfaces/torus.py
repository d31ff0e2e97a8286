"""A torus about z: a tube of radius r around a ring of radius R > r.

F = ((ρ − R)² + z² − r²)/2r with ρ = √(x² + y²), so that ‖∇F‖ = 1 on it. With the unit vector e from the axis
and t around it, and c = (ρ − R)/r,
    ∇F = c e + (z/r) ẑ,    ∇²F = (e eᵀ + ẑ ẑᵀ)/r + (c/ρ) t tᵀ.
f(u) = (R + r cos u_2) e(u_1) + r sin u_2 ẑ, the angles around the axis and around the tube [rad]; no poles.

Curvatures: 1/r around the tube, cos u_2/(R + r cos u_2) around the axis: positive outside, zero on the two
circles z = ±r, negative inside. It is not convex, and one normal belongs to two points. A thin one is the
rim of a coin.

References: [DoCarmo1976, Section 3-3, Example 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.geometry.surfaces.base import Samples, as_parameters, as_point, positive
from taction.geometry.surfaces.implicit import ImplicitSurface

AROUND_AXIS, AROUND_TUBE = 32, 16  # samples


@dataclass(frozen=True)
class Torus(ImplicitSurface):
    """Tube of radius ``tube`` [m] around a ring of radius ``ring`` [m] about the z axis."""

    ring: float
    tube: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "ring", positive(self.ring, "torus ring radius"))
        object.__setattr__(self, "tube", positive(self.tube, "torus tube radius"))
        if self.tube >= self.ring:
            raise BadInput(f"torus tube radius must be smaller than its ring's {self.ring}, got {self.tube}")

    @property
    def size(self) -> float:
        """Its largest diameter [m]."""
        return 2.0 * (self.ring + self.tube)

    def point(self, u: ArrayLike) -> Array:
        """f(u)."""
        a, b = as_parameters(u)
        rho = self.ring + self.tube * math.cos(b)
        return np.array([rho * math.cos(a), rho * math.sin(a), self.tube * math.sin(b)])

    def tangents(self, u: ArrayLike) -> Array:
        """Around the axis, around the tube."""
        a, b = as_parameters(u)
        e, t = np.array([math.cos(a), math.sin(a), 0.0]), np.array([-math.sin(a), math.cos(a), 0.0])
        rho = self.ring + self.tube * math.cos(b)
        around_tube = self.tube * (np.array([0.0, 0.0, math.cos(b)]) - math.sin(b) * e)
        return np.stack([rho * t, around_tube], axis=1)

    def second(self, u: ArrayLike) -> Array:
        """Derivatives of these."""
        a, b = as_parameters(u)
        e, t = np.array([math.cos(a), math.sin(a), 0.0]), np.array([-math.sin(a), math.cos(a), 0.0])
        out = np.empty((3, 2, 2))
        out[:, 0, 0] = -(self.ring + self.tube * math.cos(b)) * e
        out[:, 0, 1] = out[:, 1, 0] = -self.tube * math.sin(b) * t
        out[:, 1, 1] = -self.tube * (math.cos(b) * e + np.array([0.0, 0.0, math.sin(b)]))
        return out

    def parameters(self, p: ArrayLike) -> Array:
        """The two angles [rad]."""
        x, y, z = as_point(p).tolist()
        return np.array([math.atan2(y, x), math.atan2(z, math.hypot(x, y) - self.ring)])

    def onto(self, x: ArrayLike) -> Array:
        """The nearest point: straight away from the middle of the tube, or towards it."""
        x = as_point(x)
        rho = math.hypot(x[0], x[1])
        if rho == 0.0 or (rho == self.ring and x[2] == 0.0):
            raise BadInput(f"{self.label}: points of the axis and of the ring have no nearest point")
        return self.point(self.parameters(x))

    def samples(self) -> Samples:
        """A grid of both angles."""
        a = np.arange(AROUND_AXIS) * (2.0 * math.pi / AROUND_AXIS)
        b = np.arange(AROUND_TUBE) * (2.0 * math.pi / AROUND_TUBE)
        points = np.array([self.point((s, t)) for s in a for t in b])
        return Samples(points, np.array([self.gauss_map(p) for p in points]))

    def gradient(self, p: Array) -> Array:
        """The vector c e + (z/r) ẑ."""
        e, _, rho = self._frame(p)
        return ((rho - self.ring) * e + np.array([0.0, 0.0, p[2]])) / self.tube

    def hessian(self, p: Array) -> Array:
        """(e eᵀ + ẑ ẑᵀ)/r + (c/ρ) t tᵀ."""
        e, t, rho = self._frame(p)
        across = np.outer(e, e) + np.diag([0.0, 0.0, 1.0])
        return (across + (1.0 - self.ring / rho) * np.outer(t, t)) / self.tube

    def _frame(self, p: Array) -> tuple[Array, Array, float]:
        """e, t and ρ."""
        rho = math.hypot(p[0], p[1])
        if rho == 0.0:
            raise BadInput(f"{self.label}: there is no normal on the axis")
        c, s = p[0] / rho, p[1] / rho
        return np.array([c, s, 0.0]), np.array([-s, c, 0.0]), rho
