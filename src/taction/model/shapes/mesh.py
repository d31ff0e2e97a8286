"""Triangle meshes, which collide as their convex hulls."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction._core.kinds import ShapeKind
from taction._core.show import brief_repr
from taction.model.inertia import Inertia
from taction.model.shapes.base import Collider, Geometry


@dataclass(frozen=True, eq=False)
class Mesh(Geometry):
    """Triangle mesh.

    Attributes:
        vertices: shape (nv, 3) [m], scale already applied; empty if the file was not read.
        faces: vertex indices, shape (nf, 3).
        path: the file it came from, if any.
    """

    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    path: Path | None = None

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", as_float(self.vertices, (None, 3), "mesh vertices"))
        try:
            faces = np.asarray(self.faces, dtype=np.int64).reshape(-1, 3)
        except (TypeError, ValueError):
            raise ModelError(f"{self.label}: faces must be vertex indices, shape (nf, 3)") from None
        if faces.size and (faces.min() < 0 or faces.max() >= len(self.vertices)):
            wrong = (faces < 0) | (faces >= len(self.vertices))
            face = int(np.flatnonzero(wrong.any(axis=1))[0])
            where = f"{self.label}: " if self.path else ""
            raise ModelError(
                f"{where}face {face} uses vertex {faces[wrong][0]}, but vertices are numbered 0 to "
                f"{len(self.vertices) - 1}"
            )
        object.__setattr__(self, "faces", faces)

    def unit_inertia(self) -> Inertia:
        """Exact volume integrals of a closed mesh as a signed sum over tetrahedra with apex at the origin."""
        if not len(self.faces):
            raise ModelError(f"{self.label} has no faces, so no inertia can be derived from it")
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        m = volume.sum()
        if m <= 0:
            raise ModelError(f"{self.label} is open or inside out (volume {m:.3g} m³)")
        s = a + b + c
        com = (volume[:, None] * s).sum(0) / (4 * m)
        # ∫ x xᵀ over a tetrahedron (0, a, b, c) = V/20 (aaᵀ + bbᵀ + ccᵀ + ssᵀ)
        second = sum(np.einsum("i,ij,ik->jk", volume / 20, u, u) for u in (a, b, c, s))
        about_origin = np.trace(second) * np.eye(3) - second
        return Inertia(m, com, about_origin - m * (com @ com * np.eye(3) - np.outer(com, com)))

    def outline(self) -> Array:
        """All vertices."""
        return self.vertices

    def collider(self) -> Collider:
        """The convex hull of the vertices."""
        if not len(self.vertices):
            raise ModelError(f"the {self.label} was not read, so nothing can touch it")
        return Collider(ShapeKind.HULL, (0.0, 0.0, 0.0), 0.0, points=self.vertices)

    @property
    def label(self) -> str:
        """With the file it came from."""
        return f"mesh {self.path or ''}".strip()
