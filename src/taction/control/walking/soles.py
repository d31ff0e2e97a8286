"""Soles: the points with which a foot stands on flat ground.

What it solves: a foot is a link with shapes. In a stance with the feet on flat ground its lowest points
carry it: below every sphere that reaches down, if there are spheres, or else the corners of its shapes. Of
many corners those four are kept that lie furthest along the diagonals of the foot, since forces anywhere
between them are sums of forces there. A foot that is smaller than `SMALL` stands on one point, its lowest:
it is round, not flat.

Departures: a sole that is neither a polygon of four corners nor a set of points is stood on inside its four
corners only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.model.shapes import Sphere

FLAT = 3e-3  # above its lowest point, what still carries [m]
SMALL = 0.05  # [m]


def sole(model: Model, body: str, q: ArrayLike | None = None) -> Array:
    """Points of a foot that touch flat ground in a stance, body axes [m], shape (k, 3), k from 1 to 4.

    Args:
        model: the robot.
        body: name of the foot; shapes of bodies that are fixed to it count.
        q: the stance, shape (nq,); the neutral configuration by default.

    Raises:
        BadInput: no such body, or one without shapes.
    """
    foot = model.body(body)
    poses = forward_kinematics(model, model.q0 if q is None else model.check_q(q, "stance"))
    spheres, others = [], []
    for other in np.flatnonzero(model.body_link == model.body_link[foot]):
        R, p = poses.rotation[other], poses.position[other]
        for shape in model.spec.body(model.body_names[other]).shapes:
            if not shape.collides:
                continue
            if isinstance(shape.geometry, Sphere):
                centre = R @ shape.pose.translation + p
                spheres.append(centre[None] - [[0.0, 0.0, shape.geometry.radius]])
            else:
                outline = shape.geometry.outline()
                others.append((outline @ shape.pose.rotation.T + shape.pose.translation) @ R.T + p)
    points = np.concatenate([np.empty((0, 3)), *(spheres or others)])
    if not len(points):
        raise BadInput(f"{model.name}: {body} has no shape to stand on")
    low = points[points[:, 2] < points[:, 2].min() + FLAT]
    if np.ptp(low[:, :2], axis=0).max() < SMALL:
        low = low[np.argmin(low[:, 2])][None]
    return (_corners(low) - poses.position[foot]) @ poses.rotation[foot]


def _corners(points: Array) -> Array:
    """Those of points (k, 3) that are furthest along the diagonals, from above, each once, (1 to 4, 3)."""
    if len(points) <= 4:
        return points
    middle = points.mean(axis=0)
    size = np.maximum(np.ptp(points[:, :2], axis=0), 1e-9)
    scaled = (points[:, :2] - middle[:2]) / size
    kept = {int(np.argmax(scaled @ way)) for way in ([1, 1], [1, -1], [-1, 1], [-1, -1])}
    return points[sorted(kept)]
