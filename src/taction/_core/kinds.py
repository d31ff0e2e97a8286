"""Closed sets shared by Python and kernels, as integers (a kernel compares them with ``==``)."""

from __future__ import annotations

from enum import Enum, IntEnum


class JointKind(Enum):
    """Joints a user can write."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FLOATING = "floating"

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return _NQ[self]

    @property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom)."""
        return _NV[self]


_NQ = {
    JointKind.FIXED: 0,
    JointKind.REVOLUTE: 1,
    JointKind.CONTINUOUS: 1,
    JointKind.PRISMATIC: 1,
    JointKind.UNIVERSAL: 2,
    JointKind.SPHERICAL: 4,
    JointKind.PLANAR: 3,
    JointKind.FLOATING: 7,
}
_NV = {**_NQ, JointKind.SPHERICAL: 3, JointKind.FLOATING: 6}


class LinkKind(IntEnum):
    """How a link of the compiled tree moves against its parent.

    Every user joint becomes one or more of these: universal is two revolute links, planar is
    prismatic, prismatic, revolute; fixed joints disappear into their parent link.
    """

    WORLD = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SPHERICAL = 3
    FLOATING = 4


class TieKind(IntEnum):
    """How two bodies in absolute coordinates are joined; a floating joint leaves them free."""

    FLOATING = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SPHERICAL = 3
    UNIVERSAL = 4
    PLANAR = 5


class ShapeKind(IntEnum):
    """Collision shapes as kernels see them; of a pair the larger kind is the first shape.

    Ground is at both ends: half-spaces have the smallest number, terrain has the largest that one bit of a
    machine word each leaves room for.
    """

    PLANE = 0
    SPHERE = 1
    CAPSULE = 2
    BOX = 3
    CYLINDER = 4
    ELLIPSOID = 5
    HULL = 6
    CONE = 7
    HEIGHT_FIELD = 62
