"""Several convex shapes as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taction._core.errors import ModelError
from taction._core.expect import given, instance, sequence
from taction._core.show import brief_repr
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.shapes.base import Geometry


@dataclass(frozen=True, eq=False)
class Union(Geometry):
    """Convex parts that make one shape: how a body that is not convex touches.

    Attributes:
        parts: geometries with their placements in the shape's frame; not planes or height fields.
    """

    is_convex: ClassVar[bool] = False

    parts: tuple[tuple[Geometry, Transform], ...]

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        parts = sequence(self.parts, "the parts of a union", ModelError)
        for part in parts:
            if not (isinstance(part, (tuple, list)) and len(part) == 2):
                raise ModelError(f"each part of a union must be a pair (shape, Transform), got {given(part)}")
            instance(part[0], Geometry, "a part of a union", ModelError, "a Box, a Sphere or the like")
            instance(part[1], Transform, "the place of a part of a union", ModelError)
        object.__setattr__(self, "parts", tuple((g, t) for g, t in parts))
        if not self.parts:
            raise ModelError("a union needs at least one part")
        for geometry, _ in self.parts:
            if not geometry.is_convex:
                raise ModelError(f"a union is made of convex parts, not of {type(geometry).__name__}")

    def unit_inertia(self) -> Inertia:
        """The sum of the parts; where they overlap, mass counts twice."""
        return Inertia.sum(part.unit_inertia().placed(pose) for part, pose in self.parts)

    def pieces(self) -> list[tuple[Geometry, Transform]]:
        """The parts."""
        return list(self.parts)
