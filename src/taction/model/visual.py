"""What bodies look like, for whoever draws them: it touches nothing and weighs nothing.

A robot's file often has two shapes for a body: a coarse one that collides (`Shape`) and a fine one that is
seen (`Visual`). Fine meshes are large, so a description only names their files (`MeshFile`); they are read
when somebody draws them, by `taction.io.visual_meshes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from taction._core.errors import ModelError
from taction._core.expect import as_path, instance, numbers
from taction._core.show import brief_repr
from taction.math.transform import Transform
from taction.model.shapes.base import Geometry
from taction.model.shapes.height_field import HeightField
from taction.model.shapes.mesh import Mesh
from taction.model.shapes.placed import Shape
from taction.model.shapes.plane import Plane

Colour = tuple[float, float, float, float]  # red, green, blue and opacity, 0 to 1


@dataclass(frozen=True)
class MeshFile:
    """A mesh by the name of its file, which need not exist; a point p there is scale · Rᵀ (p − origin) here.

    Attributes:
        path: the file.
        scale: factors for x, y and z.
        origin: the point of the file that is the mesh's origin, before the scale.
        turn: quaternion (w, x, y, z) of R, the mesh's axes in those of the file.
        has_colours: whether colours in the file count.
    """

    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    has_colours: bool = True

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_path(self.path, "the path of a mesh file"))
        for name, count in (("scale", 3), ("origin", 3), ("turn", 4)):
            given = numbers(getattr(self, name), count, f"{name} of a mesh file", ModelError)
            if not np.isfinite(given).all():
                raise ModelError(f"{name} of a mesh file must be finite, got {given}")
            object.__setattr__(self, name, given)


@dataclass(frozen=True)
class Visual:
    """What a body looks like at one place.

    Attributes:
        geometry: a shape, or a mesh by its file.
        pose: placement in the body frame.
        colour: red, green, blue and opacity, 0 to 1; None if the description does not say. Colours in a mesh
            file go before it.
        name: optional name.
    """

    geometry: Geometry | MeshFile
    pose: Transform = field(default_factory=Transform)
    colour: Colour | None = None
    name: str = ""

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        wanted = "a Box, a Sphere or the like, or a MeshFile"
        instance(self.geometry, (Geometry, MeshFile), "geometry of a visual", ModelError, wanted)
        instance(self.pose, Transform, "pose of a visual", ModelError)
        if self.colour is not None:
            colour = numbers(self.colour, 4, "colour of a visual", ModelError)
            if not all(0.0 <= part <= 1.0 for part in colour):
                raise ModelError(f"colour of a visual must be four numbers from 0 to 1, got {colour}")
            object.__setattr__(self, "colour", colour)


def looks(shapes: Sequence[Shape], visuals: Sequence[Visual]) -> list[Visual]:
    """What to draw of a body, or of the ground: its visuals; where it has none, its shapes, without colours.

    Planes and height fields are left out: whoever draws takes them from the ground's shapes in any case.
    """
    if visuals:
        return list(visuals)
    return [Visual(s.geometry, s.pose, None, s.name) for s in shapes if _has_surface(s.geometry)]


def _has_surface(geometry: Geometry) -> bool:
    if isinstance(geometry, Mesh):
        return len(geometry.faces) > 0
    return not isinstance(geometry, (Plane, HeightField))
