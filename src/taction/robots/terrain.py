"""Grounds and obstacles for robots to move on and between: flat, inclined, steps, waves, rough, pegs.

A `Terrain` is a list of shapes fixed to the world, for `World(robot, ground=terrain.shapes)`, and the
height of its surface z(x, y), which says where a robot can be put down without overlap.

All of them rise towards −x, where the snake of `taction.robots` heads, from level ground through the origin;
sizes in metres, angles in radians. Friction is the larger partner by default (1.0), so that the robot's own
coefficients count, in all directions the same.

| terrain | surface |
|---|---|
| `flat` | z = 0 |
| `inclined` | z = −x tan θ, a plane |
| `steps` | boxes of height h and depth d: z = k h for the k-th, behind an edge at x = `start` |
| `sinusoidal` | z = a sin²(π (x − start)/λ) for x < start, level before: a height field |
| `rough` | sums of such waves of random direction, from a seed: a height field |
| `bumpy` | a random height at every point of a grid, from a seed: a height field |
| `pegs` | upright rods on level ground; only a robot's skin meets them (`taction.robots._parts`) |

Method of `pegs_along`: pegs for a body that sends a wave along itself. Where the body's midline makes the
angle θ with the path, an inflection of the wave, a peg beside it pushes along the normal of the body; on
the side to which the wave moves the body, that normal has a part along the path, sin θ per unit of force
[Transeth2006, Section VIII, names such obstacles as the next step].

References: [Transeth2006, Section VIII].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction.math.transform import Transform, rotation_about
from taction.model.shapes import Box, Capsule, HeightField, Material, Plane, Shape
from taction.robots._parts import OBSTACLE_GROUP, require_count, require_finite, require_positive


class Terrain(NamedTuple):
    """Ground and obstacles, and the height of the ground."""

    shapes: list[Shape]  # fixed to the world
    height: Callable[[Array, Array], Array]  # z of the surface at x, y (…,) [m]


def flat(*, friction: float = 1.0) -> Terrain:
    """Level ground."""
    return Terrain([_shape(Plane(), friction)], lambda x, y: np.zeros(np.broadcast_shapes(x.shape, y.shape)))


def inclined(angle: float, *, friction: float = 1.0) -> Terrain:
    """A plane through the origin that rises by an angle [rad] towards −x.

    Raises:
        ModelError: the angle is not between −π/2 and π/2.
    """
    require_finite(angle=angle)
    if abs(angle) >= 0.5 * math.pi:
        raise ModelError(f"inclined: the angle must lie between −π/2 and π/2, got {angle:g}")
    pose = Transform(rotation_about([0.0, 1.0, 0.0], angle))
    slope = math.tan(angle)
    return Terrain([_shape(Plane(), friction, pose)], lambda x, y: -slope * x + 0.0 * y)


def steps(
    *,
    count: int = 5,
    rise: float = 0.02,
    depth: float = 0.6,
    width: float = 20.0,
    start: float = -0.3,
    friction: float = 1.0,
) -> Terrain:
    """Level ground, then steps; the last one goes on as a platform.

    Args:
        count: number of steps.
        rise: of each [m].
        depth: of each [m], along x.
        width: of all [m], along y.
        start: x of the first edge [m].
        friction: coefficient.
    """
    require_count(count=count)
    require_positive(rise=rise, depth=depth, width=width)
    require_finite(start=start)
    shapes = [_shape(Plane(), friction)]
    for k in range(count):
        front, length = start - k * depth, depth if k + 1 < count else width
        top = (k + 1) * rise
        at = Transform.from_rpy((front - 0.5 * length, 0.0, 0.5 * top))
        shapes.append(_shape(Box((length, width, top)), friction, at, f"step{k + 1}"))

    def height(x: Array, y: Array) -> Array:
        done = np.clip(np.ceil((start - x) / depth), 0.0, count)
        return rise * done + 0.0 * y

    return Terrain(shapes, height)


def height_field(
    surface: Callable[[Array, Array], Array],
    *,
    x: tuple[float, float],
    y: tuple[float, float],
    cell: float = 0.1,
    friction: float = 1.0,
) -> Terrain:
    """A height field over a rectangle, from heights at its grid points; there is no ground outside.

    Args:
        surface: z at x, y (…,) [m].
        x: extent [m].
        y: extent [m].
        cell: distance between grid points [m], or a little less, so that cells fit.
        friction: coefficient.
    """
    require_positive(cell=cell, **{"extent in x": x[1] - x[0], "extent in y": y[1] - y[0]})
    nx, ny = (max(2, math.ceil((hi - lo) / cell) + 1) for lo, hi in (x, y))
    xs, ys = np.linspace(*x, nx), np.linspace(*y, ny)
    heights = as_float(surface(xs[None, :], ys[:, None]), (ny, nx), "heights of the surface")
    field = HeightField(heights, (xs[1] - xs[0], ys[1] - ys[0]))
    at = Transform.from_rpy((0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), 0.0))
    return Terrain([_shape(field, friction, at)], surface)


def sinusoidal(
    *,
    amplitude: float = 0.03,
    wavelength: float = 1.0,
    start: float = -0.5,
    x: tuple[float, float] = (-12.0, 6.0),
    y: tuple[float, float] = (-4.0, 4.0),
    cell: float = 0.1,
    friction: float = 1.0,
) -> Terrain:
    """Waves across the path, of an amplitude (crest above trough) and wavelength [m], behind x = start."""
    require_positive(amplitude=amplitude, wavelength=wavelength)

    def surface(x: Array, y: Array) -> Array:
        way = np.maximum(start - x, 0.0)
        return amplitude * np.sin(math.pi * way / wavelength) ** 2 + 0.0 * y

    return height_field(surface, x=x, y=y, cell=cell, friction=friction)


def rough(
    *,
    amplitude: float = 0.03,
    wavelength: float = 1.5,
    waves: int = 6,
    seed: int = 1,
    start: float = -0.3,
    x: tuple[float, float] = (-12.0, 6.0),
    y: tuple[float, float] = (-4.0, 4.0),
    cell: float = 0.1,
    friction: float = 1.0,
) -> Terrain:
    """Hills: waves of random direction and phase, no shorter than a wavelength, growing behind x = start.

    Args:
        amplitude: bound on the heights, up and down [m].
        wavelength: of the shortest wave [m]; the longest has twice that.
        waves: how many.
        seed: of the random numbers.
        start: x behind which the hills grow to their height, within one wavelength [m].
        x: extent [m].
        y: extent [m].
        cell: of the grid [m].
        friction: coefficient.
    """
    require_positive(amplitude=amplitude, wavelength=wavelength)
    require_count(waves=waves)
    rng = np.random.default_rng(seed)
    direction, phase = rng.uniform(0.0, 2.0 * math.pi, (2, waves))
    number = 2.0 * math.pi / (wavelength * rng.uniform(1.0, 2.0, waves))

    def surface(x: Array, y: Array) -> Array:
        way = np.clip((start - x) / wavelength, 0.0, 1.0)
        total = sum(
            np.sin(k * (math.cos(a) * x + math.sin(a) * y) + p)
            for k, a, p in zip(number, direction, phase, strict=True)
        )
        return amplitude / waves * way**2 * (3.0 - 2.0 * way) * total

    return height_field(surface, x=x, y=y, cell=cell, friction=friction)


def bumpy(
    *,
    amplitude: float = 0.02,
    seed: int = 1,
    x: tuple[float, float] = (-4.0, 16.0),
    y: tuple[float, float] = (-6.0, 6.0),
    cell: float = 0.2,
    friction: float = 1.0,
) -> Terrain:
    """Random ground: every point of a grid at a height of its own, and flat triangles in between.

    Its height, where a robot can be put down without overlap, is the bound.

    Args:
        amplitude: bound on the heights, up and down [m], all equally likely.
        seed: of the random numbers.
        x: extent [m].
        y: extent [m].
        cell: of the grid [m].
        friction: coefficient.
    """
    require_positive(amplitude=amplitude)
    rng = np.random.default_rng(seed)

    ground = height_field(
        lambda x, y: rng.uniform(-amplitude, amplitude, np.broadcast_shapes(x.shape, y.shape)),
        x=x, y=y, cell=cell, friction=friction,
    )  # fmt: skip
    return ground._replace(height=lambda x, y: np.full(np.broadcast_shapes(x.shape, y.shape), amplitude))


def pegs(points: ArrayLike, *, radius: float = 0.05, height: float = 0.4, friction: float = 1.0) -> Terrain:
    """Upright rods on level ground.

    Args:
        points: where they stand, shape (n, 2) [m].
        radius: of each [m].
        height: of each [m].
        friction: coefficient, of ground and pegs.
    """
    require_positive(radius=radius, height=height)
    places = as_float(points, (None, 2), "pegs")
    ground = flat(friction=friction)
    rod, surface = Capsule(radius, height), Material((friction, friction))
    for k, (x, y) in enumerate(places):
        at = Transform.from_rpy((x, y, 0.5 * height))
        ground.shapes.append(Shape(rod, at, surface, f"peg{k + 1}", True, OBSTACLE_GROUP, 0))
    return ground


def pegs_along(midline: ArrayLike, distance: float) -> Array:
    """Where pegs should stand beside a body that lies along a line: one at every inflection.

    Args:
        midline: points from the head to the tail, shape (n, 2) [m]; a wave runs along it to the tail.
        distance: of the pegs' centres from the line [m].

    Returns:
        Points (m, 2) [m].
    """
    line = as_float(midline, (None, 2), "midline")
    along = np.diff(line, axis=0)
    angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
    bend = np.diff(angle)
    path = math.atan2(*(line[-1] - line[0])[::-1])
    found = []
    for k in np.flatnonzero(np.sign(bend[:-1]) * np.sign(bend[1:]) < 0):
        at, slope = line[k + 1] if abs(bend[k]) < abs(bend[k + 1]) else line[k + 2], angle[k + 1]
        # the wave moves the body against its slope
        side = -math.copysign(1.0, math.sin(slope - path))
        found.append(at + side * distance * np.array([-math.sin(slope), math.cos(slope)]))
    return np.array(found).reshape(-1, 2)


def _shape(
    geometry: Plane | Box | HeightField, friction: float, pose: Transform | None = None, name: str = "ground"
) -> Shape:
    return Shape(geometry, pose or Transform(), Material((friction, friction)), name)
