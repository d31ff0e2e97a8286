"""Outlines of mechanisms in a plane: what a body looks like from the side.

What it solves: for a body in a placement and a viewing plane, the polygons of its shapes' silhouette; for a
body without shapes, the lines between its joints; for the ground, its level planes and the silhouette of
everything bounded.

Method: points on each shape (its `outline`: corners of a box, rings of a cylinder, vertices of a mesh) are
placed in the world and projected; the silhouette of a convex shape is the convex hull of its points, found by
one sweep over the points in order of x. Meshes are drawn as their convex hulls; of one with many points those
are kept that reach farthest in one of `DIRECTIONS` directions, which is exact to 1/200 of its size.
`silhouette` gives polygons to the same accuracy, many times as fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.kinematics.forward import BodyPoses
from taction.model.model import Model
from taction.model.shapes import Plane

DIRECTIONS, CORNERS = 300, 72


class Outline(NamedTuple):
    """What there is to draw of one body, in its own frame."""

    clouds: list[Array]  # points of each shape, (k, 3) [m]
    lines: list[Array]  # segments between joints, (2, 3) [m]
    tip: Array  # end of the body that is farthest from its joint, (3,) [m]


class Wall(NamedTuple):
    """A plane in the world."""

    point: Array  # on it, (3,) [m]
    normal: Array  # to the free side, (3,)

    @property
    def is_level(self) -> bool:
        """Whether it is a floor."""
        return bool(self.normal[2] > 1.0 - 1e-9)


def outline_bodies(model: Model) -> list[Outline]:
    """Outlines of all bodies in the order of ``model.body_names``."""
    own = {joint.child: joint.child_pose.translation for joint in model.spec.joints}
    out = []
    for body in model.spec.bodies:
        clouds = [s.pose.apply(_extreme(points)) for s in body.shapes if len(points := s.geometry.outline())]
        ends = [joint.pose.translation for joint in model.spec.joints if joint.parent == body.name]
        if body.inertia.mass > 0.0:
            ends.append(body.inertia.com)
        lines = [] if clouds else [np.array([own[body.name], end]) for end in ends]
        out.append(Outline(clouds, lines, _tip(own[body.name], [*clouds, *lines])))
    return out


def outline_ground(model: Model) -> list[Array]:
    """Points of each bounded shape that is fixed to the world, in the world, shape (k, 3) [m] each."""
    shapes = [(s.pose, s.geometry.outline()) for s in model.spec.ground]
    return [pose.apply(points) for pose, points in shapes if len(points)]


def planes(model: Model) -> list[Wall]:
    """The planes that are fixed to the world."""
    poses = [s.pose for s in model.spec.ground if isinstance(s.geometry, Plane)]
    return [Wall(pose.translation, pose.rotation[:, 2]) for pose in poses]


def _extreme(points: Array) -> Array:
    """Of many points (k, 3) those that reach farthest in some direction."""
    if len(points) <= DIRECTIONS:
        return points
    k = np.arange(DIRECTIONS) + 0.5  # a spiral over the sphere
    height, turn = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - height**2)
    directions = np.array([ring * np.cos(turn), ring * np.sin(turn), height], dtype=np.float32)
    return points[np.unique((directions.T @ points.T.astype(np.float32)).argmax(axis=1))]


def silhouette(points: Array) -> Array:
    """Corners of the convex hull of points (k, 2) that reach farthest in one of `CORNERS` directions."""
    turn = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    far = (points @ np.array([np.cos(turn), np.sin(turn)])).argmax(axis=0)
    return points[far[np.append(True, far[1:] != far[:-1])]]


def _tip(joint: Array, parts: list[Array]) -> Array:
    """The point that reaches farthest from a body's joint, on the line through the middle of the body."""
    points = np.concatenate([*parts, joint[None]])
    middle = points.mean(axis=0) - joint
    size = float(np.linalg.norm(middle))
    if size < 1e-12:
        return joint
    return joint + middle / size * float(((points - joint) @ middle).max() / size)


def project(points: Array, poses: BodyPoses, body: int, plane: tuple[int, int]) -> Array:
    """Points of a body (k, 3) as seen along the axis across a plane, shape (k, 2) [m]."""
    return (points @ poses.rotation[body].T + poses.position[body])[:, plane]


def convex_hull(points: Array) -> Array:
    """Corners of the convex hull of points (k, 2), counter-clockwise, shape (m, 2)."""
    ordered = [tuple(p) for p in points[np.lexsort((points[:, 1], points[:, 0]))].tolist()]

    def half(sequence: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    """Twice the signed area of a triangle: positive if a, b, c turn left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
