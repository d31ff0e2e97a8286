"""Pieces the robots share: checks of parameters, links that are solid boxes, legs of three segments.

Contact groups: the documents know contact with the ground only. Shapes of these robots are in group 2 and
look for group 1, where the ground and everything else is by default, so a robot never touches itself.
(Neighbouring contact spheres of the snake overlap by construction.)

Obstacles (`taction.robots.terrain`) are in group 4 and look for nobody: only shapes that look for group 4
meet them, and these are not met by anything else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taction._core.errors import ModelError
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.shapes import Box, Geometry, Material, Shape, Sphere

GRAVITY = (0.0, 0.0, -9.81)  # [m/s²]

GROUND_GROUP = GROUND_MASK = 1
ROBOT_GROUP = 2
OBSTACLE_GROUP = 4
SKIN_GROUP = 8

# legs of a quadruped: name, side along x (front is +1), side along y (left is +1)
LEGS = (("right_back", -1, -1), ("left_back", -1, 1), ("right_front", 1, -1), ("left_front", 1, 1))


class PIDGain(NamedTuple):
    """Gains of a joint controller."""

    kp: float  # [N m/rad]
    kd: float  # [N m s/rad]
    ki: float = 0.0  # [N m/(rad s)]


class BoxLink(NamedTuple):
    """A homogeneous box: length, width, height [m] and mass [kg].

    A torso lies: length along x, width along y, height along z. A leg segment hangs: its length points down,
    its width sideways (y), its height fore and aft (x).
    """

    length: float
    width: float
    height: float
    mass: float


def require_positive(**values: float) -> None:
    """Raise `ModelError`, naming the parameter, unless every value is positive and finite."""
    for what, value in values.items():
        if not (_is_number(value) and value > 0.0):
            raise ModelError(f"{what} must be positive and finite, got {value!r}")


def require_not_negative(**values: float) -> None:
    """Raise `ModelError`, naming the parameter, unless every value is finite and at least 0."""
    for what, value in values.items():
        if not (_is_number(value) and value >= 0.0):
            raise ModelError(f"{what} must be finite and at least 0, got {value!r}")


def require_finite(**values: float) -> None:
    """Raise `ModelError`, naming the parameter, unless every value is a finite number."""
    for what, value in values.items():
        if not _is_number(value):
            raise ModelError(f"{what} must be a finite number, got {value!r}")


def require_count(**values: int) -> None:
    """Raise `ModelError`, naming the parameter, unless every value is an integer of at least 1."""
    for what, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ModelError(f"{what} must be an integer of at least 1, got {value!r}")


def require_links(**links: BoxLink) -> None:
    """Raise `ModelError`, naming link and field, unless sizes and masses are positive."""
    for what, link in links.items():
        if len(link) != len(BoxLink._fields):
            raise ModelError(f"{what} needs length, width, height and mass, got {link!r}")
        require_positive(**{f"{what} {field}": v for field, v in zip(BoxLink._fields, link, strict=True)})


def robot_shape(
    geometry: Geometry,
    at: tuple[float, float, float] | Transform = (0.0, 0.0, 0.0),
    *,
    material: Material | None = None,
    name: str = "",
    collides: bool = True,
) -> Shape:
    """A shape of a robot that meets the ground but not the robot; ``at`` is its centre [m] or placement."""
    pose = at if isinstance(at, Transform) else Transform.from_rpy(at)
    return Shape(geometry, pose, material or Material(), name, collides, ROBOT_GROUP, GROUND_MASK)


def lying_box(
    link: BoxLink, material: Material | None = None, *, collides: bool
) -> tuple[Inertia, list[Shape]]:
    """Inertia and shape of a torso; the body frame is its centre."""
    box = Box((link.length, link.width, link.height))
    return Inertia.solid(box, mass=link.mass), [robot_shape(box, material=material, collides=collides)]


def hanging_box(
    link: BoxLink, material: Material | None = None, *, collides: bool
) -> tuple[Inertia, list[Shape]]:
    """Inertia and shape of a leg segment; the body frame is its upper end, the segment points along −z."""
    box = Box((link.height, link.width, link.length))
    down = Transform.from_rpy((0.0, 0.0, -0.5 * link.length))
    return Inertia.solid(box, mass=link.mass).placed(down), [
        robot_shape(box, down, material=material, collides=collides)
    ]


def tip_sphere(link: BoxLink, radius: float, material: Material, name: str) -> Shape:
    """Contact sphere in the end of a hanging segment: its lowest point is the end of the segment."""
    return robot_shape(Sphere(radius), (0.0, 0.0, radius - link.length), material=material, name=name)


def leg_root(torso: BoxLink, thigh: BoxLink, fore: int, left: int) -> tuple[float, float, float]:
    """Where a leg starts on the torso's lower face so that it is flush with the corner [m]."""
    return (
        fore * 0.5 * (torso.length - thigh.height),
        left * 0.5 * (torso.width - thigh.width),
        -0.5 * torso.height,
    )


def leg_stance(thigh: BoxLink, shank: BoxLink, foot: BoxLink, bend: float) -> tuple[list[float], float]:
    """Joint angles about y of a standing leg, and the height of its hip.

    The thigh is turned back by ``bend``, the shank forward so that the ankle is straight below the hip; the
    foot hangs vertically.

    Returns:
        Angles of hip, knee and ankle [rad]; height of the hip above the end of the foot [m].
    """
    require_finite(bend=bend)
    sine = thigh.length / shank.length * math.sin(bend)
    if abs(bend) >= 0.5 * math.pi or abs(sine) >= 1.0:
        raise ModelError(f"bend: at {bend:g} rad the shank cannot bring the ankle below the hip")
    forward = math.asin(sine)
    height = thigh.length * math.cos(bend) + shank.length * math.cos(forward) + foot.length
    return [bend, -bend - forward, forward], height


def motor_joint(
    b: ModelBuilder,
    name: str,
    *,
    parent: str,
    child: str,
    at: tuple[float, float, float],
    angle: float,
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0),
    viscous: float = 0.0,
    coulomb: float = 0.0,
) -> None:
    """Add a revolute joint at a point of the parent, a neutral angle [rad] and a motor of the same name."""
    b.revolute(
        name,
        parent=parent,
        child=child,
        pose=Transform.from_rpy(at),
        axis=axis,
        damping=viscous,
        friction=coulomb,
        initial=np.array([angle]),
    )
    b.actuator(name, name)


def _is_number(value: float) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False
