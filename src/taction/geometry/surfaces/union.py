"""A union of placed surfaces: a body that is not convex, made of parts that are.

What it solves: closest points of a body that is not convex jump. Of a union they do so in one way only, from
one member to another: between two jumps they are those of two members, which move smoothly. The signed
distance of unions is the least one of their members; `taction.geometry.contact_kinematics.closest_points`
takes it and reports the members.

Members may overlap. Points inside one of them are not on the surface of the union; for closest points that
makes no difference as long as bodies are apart.

References: [DuindamStramigioli2003, Section 7], where this is future work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taction._core.errors import BadInput
from taction._core.expect import instance, sequence
from taction._core.show import brief_repr
from taction.geometry.surfaces.base import Surface
from taction.math.transform import Transform


@dataclass(frozen=True, eq=False)
class Union:
    """Surfaces with their placements in the frame of the body."""

    members: Sequence[tuple[Surface, Transform]]

    def __post_init__(self) -> None:
        members = [tuple(sequence(m, "a member of a union")) for m in sequence(self.members, "members")]
        if not members:
            raise BadInput("a union must have a member")
        for k, member in enumerate(members):
            if len(member) != 2:
                raise BadInput(f"member {k} of a union must be a surface and a Transform")
            instance(member[0], Surface, f"surface of member {k} of a union")
            instance(member[1], Transform, f"placement of member {k} of a union")
        object.__setattr__(self, "members", tuple(members))

    __repr__ = brief_repr
