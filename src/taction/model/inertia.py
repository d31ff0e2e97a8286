"""Rigid-body inertia: mass, centre of mass, and the inertia matrix about the centre of mass.

Notation: m mass [kg]; c centre of mass in the body frame [m]; I_c inertia about c, body axes [kg m²].
About the body origin: I_o = I_c + m (cᵀc 1 − c cᵀ). A rigid body needs I_c positive semi-definite with
principal moments that obey the triangle inequality (each at most the sum of the other two).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction._core.expect import given, number
from taction._core.show import brief_repr
from taction.math.transform import Transform

# Relative slack for inertias printed with few digits (URDF files round to 4–6 digits).
TRIANGLE_SLACK = 1e-3
# Squared radius of gyration [m²] below which a negative moment is rounding, not a statement: (1 µm)².
SMALLEST_GYRATION = 1e-12


class Solid(Protocol):
    """What has an inertia of its own: the shapes of `taction.model.shapes`."""

    def unit_inertia(self) -> Inertia:
        """Inertia as a homogeneous solid of 1 kg/m³ in its own frame."""


def _passes(check: Callable[[str], object]) -> bool:
    """Whether a check of an inertia raises nothing."""
    try:
        check("inertia")
    except ModelError:
        return False
    return True


def are_possible(inertias: Sequence[Inertia]) -> bool:
    """Whether rigid bodies can have all these inertias, and so any sum of them; all checked at once."""
    mass = np.array([inertia.mass for inertia in inertias])
    matrix = np.array([inertia.matrix for inertia in inertias]).reshape(-1, 3, 3)
    scale = np.abs(matrix).max(axis=(1, 2))
    if not np.isfinite(scale).all():
        return False
    skew = np.abs(matrix - matrix.transpose(0, 2, 1)).max(axis=(1, 2))
    a, b, c = np.linalg.eigvalsh(matrix).T
    room = SMALLEST_GYRATION * mass
    fits = (c <= (a + b) * (1.0 + TRIANGLE_SLACK) + room) & (a >= -1e-12 * scale - room)
    return bool((((mass == 0.0) & (scale == 0.0)) | ((mass > 0.0) & fits & (skew <= 1e-9 * scale))).all())


@dataclass(frozen=True, eq=False)
class Inertia:
    """Inertia of a rigid body in its body frame.

    Attributes:
        mass: m [kg], ≥ 0.
        com: c [m], shape (3,).
        matrix: I_c [kg m²], shape (3, 3).
    """

    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    matrix: Array = field(default_factory=lambda: np.zeros((3, 3)))

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", float(as_float(self.mass, (), "mass")))
        object.__setattr__(self, "com", as_float(self.com, (3,), "centre of mass"))
        object.__setattr__(self, "matrix", as_float(self.matrix, (3, 3), "inertia matrix"))

    def check(self, what: str) -> None:
        """Raise `ModelError` unless this is the inertia of a possible rigid body (or exactly zero)."""
        if self.mass == 0.0 and not self.matrix.any():
            return
        if self.mass <= 0.0:
            raise ModelError(f"{what}: mass must be positive, got {self.mass:g} kg")
        a, b, c = self._moments(what)
        if c > (a + b) * (1.0 + TRIANGLE_SLACK) + SMALLEST_GYRATION * self.mass:
            raise ModelError(
                f"{what}: principal moments {a:.4g}, {b:.4g}, {c:.4g} kg m² violate the triangle inequality; "
                "no rigid body has this inertia (ModelSpec.check_inertia=False keeps it)"
            )

    def _moments(self, what: str) -> Array:
        """Principal moments (3,) [kg m²], ascending; raises `ModelError` where one is negative."""
        scale = np.abs(self.matrix).max()
        if scale > 0 and np.abs(self.matrix - self.matrix.T).max() > 1e-9 * scale:
            raise ModelError(f"{what}: inertia matrix is not symmetric")
        moments = np.asarray(np.linalg.eigvalsh(self.matrix), dtype=np.float64)
        if moments[0] < -1e-12 * scale - SMALLEST_GYRATION * self.mass:
            eigenvalues = ", ".join(f"{moment:.3g}" for moment in moments)
            raise ModelError(f"{what}: inertia matrix is not positive semi-definite: {eigenvalues}")
        return moments

    @property
    def is_regular(self) -> bool:
        """Whether no motion has a negative energy, so that equations can be solved, for a body or not."""
        return self.mass >= 0.0 and _passes(self._moments)

    @property
    def is_possible(self) -> bool:
        """Whether a rigid body can have this inertia."""
        return _passes(self.check)

    @property
    def about_origin(self) -> Array:
        """I_o, inertia about the body origin [kg m²], shape (3, 3)."""
        c = self.com
        return self.matrix + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def placed(self, pose: Transform) -> Inertia:
        """The same body expressed in an outer frame in which its own frame has placement ``pose``."""
        R = pose.rotation
        return Inertia(self.mass, pose.apply(self.com), R @ self.matrix @ R.T)

    def scaled(self, mass: float) -> Inertia:
        """The same mass distribution with another total mass [kg]."""
        if self.mass <= 0.0:
            raise ModelError("a body without mass cannot be scaled to one with mass")
        return Inertia(mass, self.com, self.matrix * (mass / self.mass))

    @classmethod
    def sum(cls, parts: Iterable[Inertia]) -> Inertia:
        """Inertia of bodies rigidly joined, all expressed in one frame."""
        parts = list(parts)
        m = sum(p.mass for p in parts)
        c = sum((p.mass * p.com for p in parts), np.zeros(3)) / (m or 1.0)
        about_c = np.zeros((3, 3))
        for p in parts:
            d = p.com - c
            about_c += p.matrix + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return cls(m, c, about_c)

    @classmethod
    def solid(cls, geometry: Solid, *, mass: float | None = None, density: float = 1000.0) -> Inertia:
        """Inertia of a homogeneous solid, from its mass [kg] or else its density [kg/m³]."""
        if not hasattr(geometry, "unit_inertia"):
            raise ModelError(f"a solid must be a shape, got {given(geometry)}")
        unit = geometry.unit_inertia()
        if mass is None:
            mass = number(density, "density", ModelError) * unit.mass
        return unit.scaled(number(mass, "mass", ModelError))
