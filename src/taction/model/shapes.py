"""Shapes and materials as data.

Sizes are full extents or radii in metres, about the shape's own centre. The axis of a capsule or cylinder
and the normal of a plane are z. Inertias of solids are in `taction.model.inertia`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction.math.transform import Transform


def _positive(value: float, what: str) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{what} must be positive and finite, got {value}")


@dataclass(frozen=True)
class Sphere:
    """Ball of the given radius [m]."""

    radius: float

    def __post_init__(self) -> None:
        _positive(self.radius, "sphere radius")


@dataclass(frozen=True)
class Capsule:
    """Cylinder of the given length [m] along z, capped by half spheres of the given radius [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive(self.radius, "capsule radius")
        _positive(self.length, "capsule length")


@dataclass(frozen=True)
class Cylinder:
    """Cylinder of the given length [m] along z and radius [m]."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive(self.radius, "cylinder radius")
        _positive(self.length, "cylinder length")


@dataclass(frozen=True)
class Box:
    """Box with full edge lengths (x, y, z) [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        for s in self.size:
            _positive(s, "box size")


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoid with semi-axes (x, y, z) [m]."""

    radii: tuple[float, float, float]

    def __post_init__(self) -> None:
        for r in self.radii:
            _positive(r, "ellipsoid radius")


@dataclass(frozen=True)
class Plane:
    """Half-space below z = 0 of its frame, without bounds.

    Attributes:
        friction: shorthand for a `Material` where a plane alone is given as the ground of a world; None for
            the default material.
        restitution: likewise.
    """

    friction: float | None = None
    restitution: float = 0.0

    @property
    def material(self) -> Material:
        """The surface that the shorthand describes."""
        friction = 1.0 if self.friction is None else self.friction
        return Material(friction=(friction, friction), restitution=self.restitution)


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground given by heights over a rectangular grid, centred on its frame; solid below.

    Attributes:
        heights: shape (rows along y, columns along x) [m], at least 2 by 2.
        cell: distance between neighbouring columns and rows (x, y) [m].
        depth: how far the solid reaches below the lowest height [m].
    """

    heights: Array
    cell: tuple[float, float]
    depth: float = 1.0

    def __post_init__(self) -> None:
        heights = as_float(self.heights, (None, None), "heights")
        if min(heights.shape) < 2:
            raise ModelError(f"a height field needs at least 2 by 2 heights, got {heights.shape}")
        object.__setattr__(self, "heights", heights)
        for value in (*self.cell, self.depth):
            _positive(value, "height field cell and depth")


@dataclass(frozen=True, eq=False)
class Union:
    """Convex parts that make one shape: how a body that is not convex touches.

    Attributes:
        parts: geometries with their placements in the shape's frame; not planes or height fields.
    """

    parts: tuple[tuple[Geometry, Transform], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple((g, t) for g, t in self.parts))
        if not self.parts:
            raise ModelError("a union needs at least one part")
        for geometry, _ in self.parts:
            if isinstance(geometry, (Plane, HeightField, Union)):
                raise ModelError(f"a union is made of convex parts, not of {type(geometry).__name__}")


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangle mesh.

    Attributes:
        vertices: shape (nv, 3) [m], scale already applied; empty if the file was not read.
        faces: vertex indices, shape (nf, 3).
        path: the file it came from, if any.
    """

    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    path: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", as_float(self.vertices, (None, 3), "mesh vertices"))
        faces = np.asarray(self.faces, dtype=np.int64).reshape(-1, 3)
        if faces.size and (faces.min() < 0 or faces.max() >= len(self.vertices)):
            raise ModelError(f"mesh {self.path or ''}: face index out of range")
        object.__setattr__(self, "faces", faces)


Geometry = Sphere | Capsule | Cylinder | Box | Ellipsoid | Plane | Mesh | HeightField | Union


@dataclass(frozen=True)
class Material:
    """Surface parameters of a shape.

    Attributes:
        friction: Coulomb coefficients along the shape's x and y axes, each ≥ 0; one number for both.
        restitution: Newton's coefficient, 0 to 1.
        viscous: viscous contact friction [N s/m], ≥ 0.
        backward: coefficient while the shape slides against its x-axis; that of the x-axis by default.
        adhesion: force with which the shape holds on to what it touches [N], ≥ 0. Of two shapes the larger
            counts, for the pair of them: its contact points share it evenly.
        combine: how its friction combines with a partner's: ``"smaller"``, ``"larger"`` or ``"mean"``
            (geometric); "" where it does not say. Of two that differ ``"larger"`` wins over ``"smaller"``,
            and both over ``"mean"``.
        priority: of two shapes the one with the higher number gives its friction, whatever the other has.
        slick: without friction against other slick shapes; against any other its friction counts.
    """

    friction: tuple[float, float] = (1.0, 1.0)
    restitution: float = 0.0
    viscous: float = 0.0
    backward: float | None = None
    adhesion: float = 0.0
    combine: str = ""
    priority: int = 0
    slick: bool = False

    def __post_init__(self) -> None:
        if self.combine not in ("", "smaller", "larger", "mean"):
            raise ModelError(f"combine {self.combine!r}: choose from smaller, larger, mean")
        if isinstance(self.friction, (int, float)):
            object.__setattr__(self, "friction", (float(self.friction), float(self.friction)))
        if self.backward is not None and not (np.isfinite(self.backward) and self.backward >= 0):
            raise ModelError(f"backward friction must be non-negative, got {self.backward}")
        if not all(np.isfinite(f) and f >= 0 for f in self.friction):
            raise ModelError(f"friction must be non-negative, got {self.friction}")
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(f"restitution must lie in [0, 1], got {self.restitution}")
        if not (np.isfinite(self.viscous) and self.viscous >= 0):
            raise ModelError(f"viscous friction must be non-negative, got {self.viscous}")
        if not (np.isfinite(self.adhesion) and self.adhesion >= 0):
            raise ModelError(f"adhesion must be non-negative, got {self.adhesion}")


@dataclass(frozen=True)
class Shape:
    """A geometry placed on a body.

    Attributes:
        geometry: the shape itself.
        pose: placement in the body frame.
        material: surface parameters.
        name: optional name.
        collides: False for shapes that are only seen or only give mass.
        group: bits of the groups this shape belongs to.
        mask: bits of the groups it collides with; a pair is tested if either mask meets the other's group.
        key: by which `taction.model.spec.PairSpec` names it; "" if none does.
    """

    geometry: Geometry
    pose: Transform = field(default_factory=Transform)
    material: Material = field(default_factory=Material)
    name: str = ""
    collides: bool = True
    group: int = 1
    mask: int = 1
    key: str = ""
