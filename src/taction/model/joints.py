"""The one place that knows all joints a user can write: what each allows, in both coordinates.

A joint is a row of `MOTIONS`. It says

* its *coordinates*, positions and velocities, with names and units: columns of run files and pictures;
* the *links* it becomes in the compiled tree, parents first, each turning about or sliding along one axis:
  the joint's own ``axis`` or ``axis2``, or a fixed axis of its frame; a ball or a free body needs none;
* which *rows* it leaves free between two bodies in absolute coordinates, in the order of its velocities: 0,
  1, 2 of position along x, y, z, and 3, 4, 5 of orientation. z is along the axis of the first link that
  turns, or of the last one that slides if none does. All other rows are locked;
* how its rows of orientation are taken, a `TurnKind`.

============  =========================================  =============================================
kind          position q                                 velocity v
============  =========================================  =============================================
revolute      angle [rad]                                rate [rad/s]
continuous    the same; URDF's word for "no limits"      rate [rad/s]
prismatic     displacement [m]                           rate [m/s]
universal     angle about axis, then about axis2         their rates
cylindrical   displacement along axis, angle about it    their rates
planar        x, y, angle in the joint's xy-plane        their rates
spherical     unit quaternion (w, x, y, z)               angular velocity in child axes [rad/s]
floating      position (x, y, z), quaternion (w,x,y,z)   linear velocity in joint axes [m/s], then
                                                         angular velocity in child axes [rad/s]
============  =========================================  =============================================

A new joint is a line of `JointKind`, a row here and a method of the builder; kernels only where it turns as
none of these does (`taction.kinematics.ties`).

References: [Featherstone2008, Section 4.4] for joints of several freedoms as chains of single ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from taction._core.kinds import LinkKind, TurnKind

Axis = str | tuple[float, float, float] | None


class Coordinate(NamedTuple):
    """A coordinate of a joint: its name, empty if the joint's own will do, and its SI unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class Motion:
    """What a kind of joint allows; see the module text.

    Attributes:
        positions: coordinates of position.
        links: kind and axis of its links: a field of `JointSpec`, a direction in its frame, or none.
        rows: free rows in absolute coordinates, ascending.
        turn: how its rows of orientation are taken.
        rates: coordinates of velocity, if they are not the rates of those of position; units without "/s".
    """

    positions: tuple[Coordinate, ...]
    links: tuple[tuple[LinkKind, Axis], ...]
    rows: tuple[int, ...]
    turn: TurnKind
    rates: tuple[Coordinate, ...] | None = None

    @property
    def velocities(self) -> tuple[Coordinate, ...]:
        """Coordinates of velocity, units without "/s"."""
        return self.positions if self.rates is None else self.rates

    @property
    def axes(self) -> tuple[str, ...]:
        """Fields of `JointSpec` that give its axes."""
        return tuple(dict.fromkeys(axis for _, axis in self.links if isinstance(axis, str)))


class JointKind(Enum):
    """Joints a user can write."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    UNIVERSAL = "universal"
    CYLINDRICAL = "cylindrical"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FLOATING = "floating"

    @cached_property
    def motion(self) -> Motion:
        """What it allows."""
        return MOTIONS[self]

    @cached_property
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(MOTIONS[self].positions)

    @cached_property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom)."""
        return len(MOTIONS[self].velocities)

    @cached_property
    def is_single(self) -> bool:
        """Whether it has one degree of freedom, so that it can be driven or follow another."""
        return self.nv == 1

    @cached_property
    def has_quaternion(self) -> bool:
        """Whether its last four positions are a unit quaternion."""
        return self.nq != self.nv


def _coordinates(names: str, unit: str) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(name, unit) for name in names.split())


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ANGLE, LENGTH = (Coordinate("", "rad"),), (Coordinate("", "m"),)
PLACE, SPIN = _coordinates("x y z", "m"), _coordinates("wx wy wz", "rad")
QUATERNION = _coordinates("qw qx qy qz", "1")

MOTIONS = {
    JointKind.FIXED: Motion((), (), (), TurnKind.LOCKED),
    JointKind.REVOLUTE: Motion(ANGLE, ((LinkKind.REVOLUTE, "axis"),), (5,), TurnKind.HINGE),
    JointKind.CONTINUOUS: Motion(ANGLE, ((LinkKind.REVOLUTE, "axis"),), (5,), TurnKind.HINGE),
    JointKind.PRISMATIC: Motion(LENGTH, ((LinkKind.PRISMATIC, "axis"),), (2,), TurnKind.LOCKED),
    JointKind.UNIVERSAL: Motion(
        _coordinates("1 2", "rad"),
        ((LinkKind.REVOLUTE, "axis"), (LinkKind.REVOLUTE, "axis2")),
        (4, 5),
        TurnKind.CARDAN,
    ),
    JointKind.CYLINDRICAL: Motion(
        (Coordinate("slide", "m"), Coordinate("angle", "rad")),
        ((LinkKind.PRISMATIC, "axis"), (LinkKind.REVOLUTE, "axis")),
        (2, 5),
        TurnKind.HINGE,
    ),
    JointKind.SPHERICAL: Motion(
        QUATERNION, ((LinkKind.SPHERICAL, None),), (3, 4, 5), TurnKind.FREE, rates=SPIN
    ),
    JointKind.PLANAR: Motion(
        (*_coordinates("x y", "m"), Coordinate("angle", "rad")),
        ((LinkKind.PRISMATIC, X), (LinkKind.PRISMATIC, Y), (LinkKind.REVOLUTE, Z)),
        (0, 1, 5),
        TurnKind.HINGE,
    ),
    JointKind.FLOATING: Motion(
        PLACE + QUATERNION,
        ((LinkKind.FLOATING, None),),
        (0, 1, 2, 3, 4, 5),
        TurnKind.FREE,
        rates=PLACE + SPIN,
    ),
}
