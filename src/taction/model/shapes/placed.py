"""A geometry with a place, a surface and a say in what it collides with."""

from __future__ import annotations

from dataclasses import dataclass, field

from taction._core.errors import ModelError
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.math.transform import Transform
from taction.model.shapes.base import Geometry
from taction.model.shapes.material import Material


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

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.geometry, Geometry, "geometry of a shape", ModelError, "a Box, a Sphere or the like")
        instance(self.pose, Transform, "pose of a shape", ModelError)
        instance(self.material, Material, "material of a shape", ModelError)
