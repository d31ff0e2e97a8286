"""Pairs of collision shapes for tests: colliders from a few numbers, poses, and the contacts of a pair."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from helpers import random_rotation
from taction._core.arrays import Array
from taction._core.kinds import ShapeKind
from taction.geometry.box import box_box
from taction.geometry.colliders import PLACED_WIDTH, Colliders, Contacts, make_contacts
from taction.geometry.hull_graph import no_graph

CAPACITY = 64


class Shape(NamedTuple):
    """A shape in its own axes: kind, size as in `Colliders`, corners (m, 3) of a hull."""

    kind: ShapeKind
    size: tuple[float, ...] = ()
    vertices: Any = ()


class Pose(NamedTuple):
    """Axes (3, 3) and centre (3,) in the world [m]."""

    axes: Array
    centre: Array


class Touch(NamedTuple):
    """The contacts found, without the unused part of the buffers."""

    shape: Array
    feature: Array
    point: Array
    normal: Array
    gap: Array


def plane() -> Shape:
    return Shape(ShapeKind.PLANE)


def sphere(radius: float) -> Shape:
    return Shape(ShapeKind.SPHERE, (radius,))


def capsule(radius: float, half: float) -> Shape:
    return Shape(ShapeKind.CAPSULE, (radius, half))


def box(*half: float) -> Shape:
    return Shape(ShapeKind.BOX, half)


def cylinder(radius: float, half: float) -> Shape:
    return Shape(ShapeKind.CYLINDER, (radius, half))


def ellipsoid(*semi: float) -> Shape:
    return Shape(ShapeKind.ELLIPSOID, semi)


def hull(vertices: Any) -> Shape:
    return Shape(ShapeKind.HULL, (), vertices)


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, axes: Any = None) -> Pose:
    """A pose, axes along the world's by default."""
    return Pose(np.eye(3) if axes is None else np.array(axes, dtype=float), np.array([x, y, z], dtype=float))


def turn(axis: str, angle: float) -> Array:
    """Rotation matrix about a coordinate axis; exact zeros where there are zeros."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def moved(pose: Pose, R: Array, r: Array) -> Pose:
    """The pose after a rigid motion of the world."""
    return Pose(R @ pose.axes, R @ pose.centre + r)


def make_colliders(shapes: list[Shape]) -> Colliders:
    """Read-only colliders, as kernels see those of a model; every shape fixed to the world."""
    n = len(shapes)
    size, bound = np.zeros((n, 3)), np.full(n, np.inf)
    corners = [np.reshape(np.array(s.vertices, dtype=float), (-1, 3)) for s in shapes]
    count = np.array([len(c) for c in corners], dtype=np.int64)
    for i, s in enumerate(shapes):
        size[i, : len(s.size)] = s.size
        if s.kind == ShapeKind.HULL:
            bound[i] = np.linalg.norm(corners[i], axis=1).max()
    colliders = Colliders(
        kind=np.array([s.kind for s in shapes], dtype=np.int64),
        link=np.zeros(n, dtype=np.int64),
        axes=np.tile(np.eye(3).ravel(), (n, 1)),
        centre=np.zeros((n, 3)),
        size=size,
        bound=bound,
        first=np.cumsum(count) - count,
        count=count,
        vertices=np.vstack(corners),
        face_first=np.zeros(n, dtype=np.int64),
        face_count=np.zeros(n, dtype=np.int64),
        face_normal=np.zeros((0, 3)),
        face_start=np.zeros(1, dtype=np.int64),
        face_vertex=np.zeros(0, dtype=np.int64),
        height=np.zeros(0),
        graph=no_graph(n, int(count.sum())),
    )
    for array in colliders._asdict().values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return colliders


def placed_at(poses: list[Pose]) -> Array:
    """Placements (n, PLACED_WIDTH) of shapes."""
    placed = np.zeros((len(poses), PLACED_WIDTH))
    for row, pose in zip(placed, poses, strict=True):
        row[:9], row[9:] = pose.axes.ravel(), pose.centre
    return placed


def touch(
    function: Any,
    first: tuple[Shape, Pose],
    second: tuple[Shape, Pose],
    margin: float = 0.01,
    *,
    is_swapped: bool = False,
    scratch: float = np.nan,
) -> Touch:
    """Contacts of a pair, its shapes in the order of the function's name.

    Args:
        function: kernel of the pair.
        first, second: the shapes and where they are.
        margin: contacts with smaller gaps are found [m].
        is_swapped: store the second shape before the first.
        scratch: what the scratch of functions that take one is filled with; results must not depend on it.
    """
    pair = [second, first] if is_swapped else [first, second]
    colliders, placed = make_colliders([p[0] for p in pair]), placed_at([p[1] for p in pair])
    contacts: Contacts = make_contacts(CAPACITY)
    s, t = (1, 0) if is_swapped else (0, 1)
    arguments: tuple[Any, ...] = (colliders, placed, 0, 1, s, t, is_swapped, float(margin))
    if function is box_box:
        arguments += (np.full((64, 6), scratch),)
    function(*arguments, contacts)
    n = int(contacts.count[0])
    assert n <= CAPACITY
    found = contacts._asdict()
    return Touch(*(found[name][:n].copy() for name in Touch._fields))


def check_contacts(found: Touch, margin: float) -> None:
    """What holds for the contacts of any pair: unit normals, gaps in the margin, features that ascend."""
    assert (found.gap < margin).all()
    assert (np.diff(found.feature) > 0).all()
    assert np.isfinite(found.point).all()
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, rtol=0, atol=1e-14)
    assert (found.shape == [0, 1]).all()


def check_swap(function: Any, first: tuple[Shape, Pose], second: tuple[Shape, Pose], margin: float) -> None:
    """Stored the other way round, a pair has the same contacts with opposite normals, bit for bit."""
    one = touch(function, first, second, margin)
    other = touch(function, first, second, margin, is_swapped=True)
    np.testing.assert_array_equal(other.normal, -one.normal)
    for field in ("feature", "point", "gap"):
        np.testing.assert_array_equal(getattr(other, field), getattr(one, field))


def check_motion(
    function: Any,
    first: tuple[Shape, Pose],
    second: tuple[Shape, Pose],
    margin: float,
    rng: np.random.Generator,
    tolerance: float = 1e-12,
) -> None:
    """A rigid motion of both shapes moves their contacts; a pair with ties may fall out anew."""
    R, r = random_rotation(rng), rng.normal(size=3)
    one = touch(function, first, second, margin)
    two = touch(function, (first[0], moved(first[1], R, r)), (second[0], moved(second[1], R, r)), margin)
    np.testing.assert_array_equal(two.feature, one.feature)
    np.testing.assert_allclose(two.gap, one.gap, rtol=0, atol=tolerance)
    np.testing.assert_allclose(two.point, one.point @ R.T + r, rtol=0, atol=tolerance)
    np.testing.assert_allclose(two.normal, one.normal @ R.T, rtol=0, atol=tolerance)


def signed_distance(shape: Shape, pose: Pose, x: Array) -> float:
    """Signed distance of a point to a plane, sphere, capsule, box or cylinder."""
    y = pose.axes.T @ (x - pose.centre)
    size = shape.size
    if shape.kind == ShapeKind.PLANE:
        return float(y[2])
    if shape.kind == ShapeKind.SPHERE:
        return float(np.linalg.norm(y)) - size[0]
    if shape.kind == ShapeKind.CAPSULE:
        return float(np.linalg.norm(y - [0, 0, np.clip(y[2], -size[1], size[1])])) - size[0]
    if shape.kind == ShapeKind.CYLINDER:
        e = np.array([np.hypot(y[0], y[1]) - size[0], abs(y[2]) - size[1]])
    else:
        e = np.abs(y) - size
    return float(np.linalg.norm(np.maximum(e, 0.0)) + min(e.max(), 0.0))


def check_surfaces(
    found: Touch, first: tuple[Shape, Pose], second: tuple[Shape, Pose], tolerance: float
) -> None:
    """Half a gap from each point along the normal lies the surface of the first shape, and of the second."""
    for x, n, g in zip(found.point, found.normal, found.gap, strict=True):
        assert abs(signed_distance(*first, x + 0.5 * g * n)) <= tolerance
        assert abs(signed_distance(*second, x - 0.5 * g * n)) <= tolerance
