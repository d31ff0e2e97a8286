"""A half-space: level or sloping ground, a wall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.errors import ModelError
from taction._core.expect import number
from taction._core.kinds import ShapeKind
from taction.model.shapes.base import Collider, Geometry
from taction.model.shapes.material import Material


@dataclass(frozen=True)
class Plane(Geometry):
    """Half-space below z = 0 of its frame, without bounds.

    Attributes:
        friction: shorthand for a `Material` where a plane alone is given as the ground of a world; None for
            the default material.
        restitution: likewise.
    """

    is_convex: ClassVar[bool] = False

    friction: float | None = None
    restitution: float = 0.0

    def __post_init__(self) -> None:
        if self.friction is not None:
            number(self.friction, "friction of a plane", ModelError)
        number(self.restitution, "restitution of a plane", ModelError)

    @property
    def material(self) -> Material:
        """The surface that the shorthand describes."""
        friction = 1.0 if self.friction is None else self.friction
        return Material(friction=(friction, friction), restitution=self.restitution)

    def collider(self) -> Collider:
        """No size and no bound."""
        return Collider(ShapeKind.PLANE, (0.0, 0.0, 0.0), np.inf)
