"""A superellipsoid: from boxes with round edges over ellipsoids to rounded double pyramids.

What it solves: with semi-axes (a, b, c), exponents ε_1 (north to south) and ε_2 (around), k = 2/ε_1 and
m = 2/ε_2, X = |x|/a and so on, two norms nested in each other,
    ρ = (X^m + Y^m)^(1/m),    G = (ρ^k + Z^k)^(1/k),
and the surface is G = 1. G is homogeneous of degree one, convex for k, m ≥ 1, and hence for ε in (0, 2).

Method:
1. A norm N of two numbers x, y ≥ 0 with exponent k has the derivatives
       N_x = (x/N)^(k−1),   N_xx = (k−1)/N ((x/N)^(k−2) − (x/N)^(2k−2)),   N_xy = −(k−1)/N (x y/N²)^(k−1);
   the chain rule makes ∇G and ∇²G of them. In the powers stand ratios up to 1, which do not overflow.
2. Normal and curvature as of any implicit surface. A point is brought onto it by x/G(x).
3. f(u) = d(u)/G(d(u)), by longitude and latitude: smooth where G is, with derivatives from those of G.
   The usual parameterisation by powers of sines has infinite derivatives in the coordinate planes.
4. The point with the normal d is the gradient of the dual norm at (a d_x, b d_y, c d_z): the same two norms
   with exponents k/(k−1) and m/(m−1).

Where curvature is not what kinematics wants:
- exponent ε < 1: it vanishes. ε_2 < 1: around, where x = 0 or y = 0; ε_1 < 1: north to south, where z = 0,
  and in all directions at the poles x = y = 0. At the ends of the axes all of it may vanish.
- exponent ε > 1: it is infinite at these same places, and `gauss_derivative` says so.
- ε_1 = 1 with ε_2 ≠ 1: at the poles it depends on the direction one comes from, and is refused as well.
For ε = 1 it is an ellipsoid.

Departures: Barr's parameters are angles whose sines are raised to powers; those here are those of the point.

Cost: some 20 powers per question.

References: [Barr1981]; [BoydVandenberghe2004, Appendix A.1.6] for dual norms.
"""

from __future__ import annotations

import math
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
class Superquadric(ImplicitSurface, ConvexSurface):
    """Superellipsoid with semi-axes (x, y, z) [m] and exponents (north to south, around) in (0, 2)."""

    radii: tuple[float, float, float]
    exponents: tuple[float, float]

    def __post_init__(self) -> None:
        radii = numbers(self.radii, 3, "superquadric radii (x, y, z)")
        object.__setattr__(self, "radii", tuple(positive(r, "superquadric radius") for r in radii))
        object.__setattr__(self, "exponents", numbers(self.exponents, 2, "superquadric exponents"))
        for e in self.exponents:
            if not 0.0 < e < 2.0:
                raise BadInput(f"superquadric exponents must be between 0 and 2, got {e}")

    @property
    def size(self) -> float:
        """The longest of its axes [m]."""
        return 2.0 * max(self.radii)

    def point(self, u: ArrayLike) -> Array:
        """d(u)/G."""
        d = direction(*as_parameters(u)).value
        return d / self._gauge(d)

    def tangents(self, u: ArrayLike) -> Array:
        """(d_i − f G_i)/G."""
        d = direction(*as_parameters(u))
        G, slope = self._gauge(d.value), self.gradient(d.value)
        return (d.first - np.outer(d.value / G, slope @ d.first)) / G

    def second(self, u: ArrayLike) -> Array:
        """(d_ij − f_i G_j − f_j G_i − f G_ij)/G."""
        d = direction(*as_parameters(u))
        G, slope = self._gauge(d.value), self.gradient(d.value)
        G_i = slope @ d.first
        f, f_i = d.value / G, (d.first - np.outer(d.value / G, G_i)) / G
        hessian = self.hessian(d.value)
        if not np.isfinite(hessian).all():
            raise BadInput(f"{self.label}: curvature is not finite at the point {f.tolist()}")
        G_ij = d.first.T @ hessian @ d.first + np.einsum("k,kij->ij", slope, d.second)
        both = np.einsum("ki,j->kij", f_i, G_i)
        return (d.second - both - both.transpose(0, 2, 1) - np.einsum("k,ij->kij", f, G_ij)) / G

    def parameters(self, p: ArrayLike) -> Array:
        """Longitude and latitude of the point [rad]."""
        return angles(as_point(p))

    def onto(self, x: ArrayLike) -> Array:
        """Along the radius."""
        x = as_point(x)
        G = self._gauge(x)
        if G == 0.0:
            raise BadInput(f"{self.label}: the centre is no place to go from to the surface")
        return x / G

    def support(self, d: Array, near: Array) -> Array:
        """Gradient of the dual norm."""
        k, m = self._powers
        X, Y, Z = np.abs(np.array(self.radii) * d).tolist()
        s, (s_x, s_y), _ = norm(X, Y, m / (m - 1.0))
        _, (h_s, h_z), _ = norm(s, Z, k / (k - 1.0))
        return np.copysign(self.radii, d) * (h_s * s_x, h_s * s_y, h_z)

    def gradient(self, p: Array) -> Array:
        """∇G."""
        k, m = self._powers
        X, Y, Z = np.abs(p / self.radii).tolist()
        rho, (r_x, r_y), _ = norm(X, Y, m)
        _, (G_r, G_z), _ = norm(rho, Z, k)
        return np.copysign(1.0, p) * (G_r * r_x, G_r * r_y, G_z) / self.radii

    def hessian(self, p: Array) -> Array:
        """∇²G; not a number where there is none."""
        k, m = self._powers
        X, Y, Z = np.abs(p / self.radii).tolist()
        rho, (r_x, r_y), (r_xx, r_xy, r_yy) = norm(X, Y, m)
        G, _, (G_rr, G_rz, G_zz) = norm(rho, Z, k)
        bend = power(rho / G, k - 2.0)  # G G_ρ/ρ; second derivatives of ρ come times ρ, those of G times G
        out = np.empty((3, 3))
        out[0, 0] = G_rr * r_x * r_x + bend * r_xx
        out[0, 1] = out[1, 0] = G_rr * r_x * r_y + bend * r_xy
        out[1, 1] = G_rr * r_y * r_y + bend * r_yy
        out[0, 2] = out[2, 0] = G_rz * r_x
        out[1, 2] = out[2, 1] = G_rz * r_y
        out[2, 2] = G_zz
        if rho == 0.0 and k == 2.0 and m != 2.0:
            out[:2, :2] = math.nan
        if not np.isfinite(out).all():
            return np.full((3, 3), math.nan)
        signs = np.copysign(1.0, p) / self.radii
        return out * np.outer(signs, signs) / G

    @property
    def _powers(self) -> tuple[float, float]:
        """The powers k and m."""
        return 2.0 / self.exponents[0], 2.0 / self.exponents[1]

    def _gauge(self, p: Array) -> float:
        """G."""
        k, m = self._powers
        X, Y, Z = np.abs(p / self.radii).tolist()
        return norm(norm(X, Y, m)[0], Z, k)[0]


def norm(x: float, y: float, k: float) -> tuple[float, tuple[float, float], tuple[float, float, float]]:
    """N = (x^k + y^k)^(1/k) of x, y ≥ 0, its derivatives, and N times its second ones (xx, xy, yy).

    Of the zero vector: the limits along x.
    """
    longest = max(x, y)
    if longest == 0.0:
        N, x = 0.0, 1.0
    else:
        x, y = x / longest, y / longest
        N = (x**k + y**k) ** (1.0 / k)
        x, y, N = x / N, y / N, longest * N
    first = power(x, k - 1.0), power(y, k - 1.0)
    xx = (k - 1.0) * (power(x, k - 2.0) - first[0] * first[0])
    yy = (k - 1.0) * (power(y, k - 2.0) - first[1] * first[1])
    return N, first, (xx, -(k - 1.0) * first[0] * first[1], yy)


def power(x: float, e: float) -> float:
    """x^e of x ≥ 0, infinite where it is so."""
    return math.inf if x == 0.0 and e < 0.0 else x**e
