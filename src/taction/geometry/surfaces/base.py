"""A smooth surface: where its points are, how its normal turns.

What it solves: the kinematics of two bodies that touch needs of each surface its points p, its outward unit
normal g(p), and the derivative of that normal along the surface. This file says what every surface has to
answer, and derives the rest from a parameterisation alone.

Notation: u (2,) parameters; f(u) (3,) a point of the surface in its own frame [m]; f_i and f_ij its first and
second derivatives; f_* (3, 2) the matrix of columns f_i; n the outward unit normal; g the Gauss map, from a
point to its normal; g_* (3, 3) the derivative of g, from tangent vectors [m/s] to rates of the normal [1/s].

Method, from f alone:
1. n = f_1 × f_2 / ‖f_1 × f_2‖. The order of the parameters makes it point outwards.
2. From n·f_j = 0 everywhere, n_i·f_j = −n·f_ij: these four numbers make a symmetric matrix L (2, 2).
3. g_* has no normal part and is symmetric, so g_* = (f_*⁺)ᵀ L f_*⁺, with the pseudo-inverse f_*⁺ (2, 3).
4. Its eigenvalues on the tangent plane are the principal curvatures, its eigenvectors their directions.

Signs: curvature is positive where the body bulges. A ball of radius r has g_* = (1 − n nᵀ)/r. A point is
absolutely convex where both curvatures are positive.

Two descriptions stand side by side. Functions of u (`normal`, `shape_operator`) come from the
parameterisation and fail where that is singular, as at the poles of a sphere. Functions of the point
(`gauss_map`, `gauss_derivative`) are the coordinate-free ones and all that contact kinematics asks for; where
a surface has an implicit form they come from that, see `implicit`, and know no poles. A test compares them.

Off the surface both are extended smoothly, so that an integrator may leave it by its own error.

Cost: a handful of products of small matrices, 0.2 ms for g_* from a parameterisation.

References: [DuindamStramigioli2003, Section 2.2]; [DoCarmo1976, Sections 3-2 and 3-3].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import number
from taction._core.show import brief
from taction.math.transform import rotation_aligning_z

DEPENDENT = 1e-12  # ‖f_1 × f_2‖ over the square of the longer one, below which tangents are dependent
FLAT = 1e-12  # a curvature this small against the other one is zero up to rounding


class PrincipalCurvatures(NamedTuple):
    """Curvatures of a surface at a point.

    Attributes:
        values: the larger one first, positive where the body bulges, shape (2,) [1/m].
        directions: unit tangent vectors in which they are taken, as columns, shape (3, 2).
    """

    values: Array
    directions: Array


class Samples(NamedTuple):
    """Points spread over a surface with their outward normals, each of shape (k, 3)."""

    points: Array
    normals: Array


class Surface(ABC):
    """A smooth, oriented surface in its own frame; sizes in metres."""

    is_convex: ClassVar[bool] = False  # whether it bounds a convex body: see `ConvexSurface`

    @property
    def label(self) -> str:
        """What messages call it."""
        return repr(self)

    @property
    @abstractmethod
    def size(self) -> float:
        """A length by which errors on the surface are measured: of its largest extent [m]."""

    @abstractmethod
    def point(self, u: ArrayLike) -> Array:
        """f(u), shape (3,) [m]."""

    @abstractmethod
    def tangents(self, u: ArrayLike) -> Array:
        """f_*, the columns ∂f/∂u_i, shape (3, 2)."""

    @abstractmethod
    def second(self, u: ArrayLike) -> Array:
        """∂²f/∂u_i∂u_j, shape (3, 2, 2)."""

    @abstractmethod
    def parameters(self, p: ArrayLike) -> Array:
        """Parameters (2,) of a point (3,) on the surface; of ``onto(p)`` for one that is near it."""

    @abstractmethod
    def onto(self, x: ArrayLike) -> Array:
        """The point of the surface that a nearby point x (3,) is brought to, exact where x is on it."""

    def normal(self, u: ArrayLike) -> Array:
        """The outward unit normal at f(u), shape (3,), from the parameterisation."""
        return self._unit_normal(self.tangents(u), u)

    def shape_operator(self, u: ArrayLike) -> Array:
        """g_* at f(u) as a matrix that acts on tangent vectors, shape (3, 3) [1/m]."""
        F = self.tangents(u)
        n = self._unit_normal(F, u)
        L = -np.einsum("k,kij->ij", n, self.second(u))
        onto_u = np.linalg.solve(F.T @ F, F.T)
        return onto_u.T @ L @ onto_u

    def principal_curvatures(self, u: ArrayLike) -> PrincipalCurvatures:
        """Curvatures and their directions at f(u)."""
        return principal(self.normal(u), self.shape_operator(u))

    def is_absolutely_convex_at(self, u: ArrayLike) -> bool:
        """Whether ⟨ζ, g_* ζ⟩ > 0 for every tangent vector ζ at f(u)."""
        larger, smaller = self.principal_curvatures(u).values
        return bool(smaller > FLAT * abs(larger))

    def gauss_map(self, p: ArrayLike) -> Array:
        """g(p), the outward unit normal at a point (3,) of the surface, shape (3,)."""
        return self.normal(self.parameters(p))

    def gauss_derivative(self, p: ArrayLike) -> Array:
        """g_*(p), from tangent vectors to rates of the normal, shape (3, 3) [1/m]."""
        return self.shape_operator(self.parameters(p))

    def samples(self) -> Samples:
        """Points from which searches start; convex surfaces are searched by `ConvexSurface.support`."""
        raise BadInput(f"{self.label} has no samples")

    def _unit_normal(self, F: Array, u: ArrayLike) -> Array:
        across = np.cross(F[:, 0], F[:, 1])
        length = float(np.linalg.norm(across))
        longest = float((F * F).sum(axis=0).max())
        if not (np.isfinite(length) and length > DEPENDENT * longest):
            raise BadInput(
                f"{self.label}: tangents are dependent at u = {brief(np.asarray(u, dtype=float))}, "
                f"point {brief(self.point(u))}: there is no normal"
            )
        return across / length


class ConvexSurface(Surface):
    """The surface of a convex body: its Gauss map can be turned round."""

    is_convex = True
    image: ClassVar[int] = 2  # dimension of the set of its normals: sphere 2, circle 1, single one 0

    @abstractmethod
    def support(self, d: Array, near: Array) -> Array:
        """The point whose outward normal is d (3,), a unit vector, or as close to d as there is one.

        Where several points have it, the one closest to ``near`` (3,).
        """

    def directions(self) -> Array:
        """Normals spread over all that it has, shape (k, 3)."""
        return SPHERE_OF_DIRECTIONS


def principal(n: Array, g_star: Array) -> PrincipalCurvatures:
    """Eigenvalues of g_* (3, 3) on the plane across the unit vector n, and their directions."""
    E = tangent_basis(n)
    values, turned = np.linalg.eigh(E.T @ g_star @ E)
    return PrincipalCurvatures(values[::-1].copy(), E @ turned[:, ::-1])


def tangent_basis(n: Array) -> Array:
    """Two unit vectors across the unit vector n, as columns, shape (3, 2); right-handed with n."""
    return rotation_aligning_z(n)[:, :2]


def positive(value: float, what: str) -> float:
    """A size that is positive and finite, or `BadInput`."""
    value = number(value, what)
    if not (np.isfinite(value) and value > 0.0):
        raise BadInput(f"{what} must be positive and finite, got {value}")
    return value


def as_parameters(u: ArrayLike) -> tuple[float, float]:
    """Two finite numbers."""
    first, second = as_float(u, (2,), "parameters u").tolist()
    return first, second


def as_point(p: ArrayLike) -> Array:
    """Three finite numbers, shape (3,)."""
    return as_float(p, (3,), "point")


def spiral_of_directions(count: int) -> Array:
    """Unit vectors spread evenly over the sphere, on a spiral that turns by the golden angle, (count, 3)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    rho = np.sqrt(1.0 - z * z)
    return np.stack([rho * np.cos(angle), rho * np.sin(angle), z], axis=1)


SPHERE_OF_DIRECTIONS = spiral_of_directions(160)  # 16 degrees apart
