"""Closed sets shared by Python and kernels, as integers (a kernel compares them with ``==``)."""

from __future__ import annotations

from enum import IntEnum


class LinkKind(IntEnum):
    """How a link of the compiled tree moves against its parent.

    Every user joint becomes one or more of these (`taction.model.joints`); fixed joints disappear into their
    parent link.
    """

    WORLD = 0
    REVOLUTE = 1
    PRISMATIC = 2
    SPHERICAL = 3
    FLOATING = 4


class TurnKind(IntEnum):
    """How a joint between two bodies in absolute coordinates lets them turn."""

    LOCKED = 0  # not at all
    HINGE = 1  # about one axis
    CARDAN = 2  # about an axis on each
    FREE = 3  # freely, as a quaternion


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
