"""Where to look at a motion from: chosen by what moves, so that a picture tells the truth at a glance.

What lies low on the ground and moves over it both ways is seen from above; what stays in a vertical plane is
seen from the side, across that plane; anything else from a corner, somewhat above. What goes far is followed;
where there is no ground, also what falls far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.drawing.description import Frames, Part, Triangles, View
from taction.drawing.motion import rotate
from taction.drawing.parts import corners
from taction.model.model import Model

# Named views: azimuth and elevation of the camera [degree].
VIEWS = {
    "corner": (-60.0, 22.0),
    "side": (-90.0, 7.0),
    "front": (0.0, 7.0),
    "back": (180.0, 7.0),
    "other-side": (90.0, 7.0),
    "above": (-90.0, 89.0),
    "slanted": (-90.0, 55.0),
}
# A motion is flat if its third extent is at most this share of the second one.
FLAT = 0.2
# What moves is low if it is no higher than this share of its own longest side and of where it has been.
LOW = 0.5
# What moves is followed where its centre of mass goes farther than so many times its size; one body alone,
# whose way says more than its looks, only where it would hardly be seen.
FAR, FAR_ALONE = 1.5, 15.0
# Of motions beside each other one may take so many times as much room as the first.
APART = 4.0
# Numbers of the place of a body that nothing holds: a point and a quaternion.
FREE = 7
# Frames that are looked at.
LOOKED_AT = 40


def choose_view(frames: Frames, parts: list[Part], meshes: list[Triangles]) -> View:
    """The view that the motion asks for."""
    picked = np.unique(np.linspace(0, frames.count - 1, LOOKED_AT).round().astype(int))
    boxes = list(corners(parts, meshes))
    moving = [
        frames.position[picked, body][:, None] + rotate(frames.quaternion[picked, body][:, None], points)
        for body, points in boxes
        if body >= 0
    ]
    fixed = [points for body, points in boxes if body < 0]
    if not moving:
        every = np.concatenate([*fixed, frames.com[picked]])
        return _at("corner", every)
    every = np.concatenate(moving, axis=1)  # (n, k, 3)
    com = frames.com[picked]
    tall, spread, path = np.ptp(every[0], axis=0), np.ptp(every, axis=(0, 1)), np.ptp(com, axis=0)
    moved = np.ptp(frames.position[picked], axis=0).max(axis=0)
    has_ground = any(part.body < 0 for part in parts)
    way = float(np.linalg.norm(path[:2] if has_ground else path))
    is_far = way > (FAR if len(frames.position[0]) > 1 else FAR_ALONE) * float(np.linalg.norm(tall))
    across, ways = min(spread[0], spread[1]), min(moved[0], moved[1])
    sideways = path[int(spread[1] < spread[0])]  # of the centre of mass, along the narrower side
    is_low = tall[2] <= LOW * min(max(tall[0], tall[1]), across) and tall[2] < ways
    name = "corner"
    if has_ground and is_low and moved[2] < FLAT * ways:
        name = "slanted" if is_far else "above"
    elif across <= FLAT * float(spread.max()) and sideways <= FLAT * max(path.max(), 1e-9):
        name = "side" if spread[0] >= spread[1] else "front"
    if is_far:
        return _about(name, com[0], (every - com[:, None]).reshape(-1, 3))
    return _at(name, every.reshape(-1, 3))


def common_view(views: Sequence[View]) -> View:
    """One view for motions beside each other: as the first is seen, with room for the others.

    A motion that takes far more room than the first, as where one blew up, does not count.
    """
    first = views[0]
    near = [v for v in views if v.follow == first.follow and v.radius <= APART * first.radius]
    if first.follow:
        return replace(first, half=np.max([view.half for view in near], axis=0))
    sides = np.concatenate([[view.target - view.half, view.target + view.half] for view in near])
    low, high = sides.min(axis=0), sides.max(axis=0)
    return replace(first, target=0.5 * (low + high), half=0.5 * (high - low))


def goes_free(model: Model) -> bool:
    """Whether a model is one robot or thing that nothing holds, which a camera does well to follow."""
    roots = [joint for joint in model.spec.joints if joint.parent == "world"]
    return len(roots) == 1 and len(roots[0].kind.motion.positions) == FREE


def named_view(view: View, camera: str) -> View:
    """A view with another camera: a name of `VIEWS`, or ``azimuth,elevation`` or ``…,radius`` as numbers.

    Raises:
        BadInput: an unknown name, or not two or three numbers.
    """
    half = view.half
    if camera in VIEWS:
        azimuth, elevation = VIEWS[camera]
        return View(camera, azimuth, elevation, view.target, half, view.follow)
    try:
        numbers = [float(word) for word in camera.split(",")]
    except ValueError:
        numbers = []
    if (
        len(numbers) not in (2, 3)
        or not np.isfinite(numbers).all()
        or (len(numbers) == 3 and numbers[2] <= 0)
    ):
        raise BadInput(
            f"camera {camera!r}: choose {', '.join(VIEWS)}, or give azimuth,elevation in degrees and, as a "
            "third number, the radius in metres that is seen"
        )
    azimuth, elevation = numbers[0], float(np.clip(numbers[1], -89.0, 89.0))
    if len(numbers) == 3:
        half = np.full(3, numbers[2] / np.sqrt(3.0))
    return View(camera, azimuth, elevation, view.target, half, view.follow)


def _at(name: str, points: Array) -> View:
    """A named view of points (k, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    return View(name, *VIEWS[name], 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-3))


def _about(name: str, com: Array, arms: Array) -> View:
    """A named view that follows the centre of mass (3,), of points at arms (k, 3) from it."""
    return View(name, *VIEWS[name], com, np.maximum(np.abs(arms).max(axis=0), 1e-3), follow=True)
