"""Shapes as the user wrote them, compiled into the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array, frozen
from taction._core.errors import ModelError
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import Colliders
from taction.geometry.hull import Hull, convex_hull
from taction.math.transform import Transform
from taction.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Sphere,
    Union,
)


def convex_parts(geometry: Geometry) -> list[tuple[Geometry, Transform]]:
    """The shapes that collision knows: the parts of a union, or the geometry itself."""
    if isinstance(geometry, Union):
        return list(geometry.parts)
    return [(geometry, Transform())]


def compile_colliders(shapes: Sequence[tuple[int, Transform, Geometry]], what: str = "shape") -> Colliders:
    """Arrays over collision shapes.

    Args:
        shapes: link, placement in the link, and geometry of each; unions already taken apart.
        what: name for messages.

    Raises:
        ModelError: a mesh without volume or without points.
    """
    n = len(shapes)
    kind, link = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    axes, centre, size, bound = np.zeros((n, 9)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    first, count, face_first, face_count = np.zeros((4, n), dtype=np.int64)
    hulls: list[Hull] = []
    heights: list[Array] = []
    corners = faces = edges = cells = 0
    for i, (carrier, pose, geometry) in enumerate(shapes):
        link[i], axes[i], centre[i] = carrier, pose.rotation.ravel(), pose.translation
        kind[i], size[i], bound[i] = _measure(geometry)
        if isinstance(geometry, Mesh):
            if not len(geometry.vertices):
                raise ModelError(
                    f"{what} {i}: the mesh {geometry.path or ''} was not read, so nothing can touch it"
                )
            hull = convex_hull(geometry.vertices, f"mesh {geometry.path or ''}".strip())
            centre[i], bound[i] = pose.apply(hull.centre), hull.bound
            first[i], count[i] = corners, len(hull.vertices)
            face_first[i], face_count[i] = faces, len(hull.face_normal)
            hulls.append(
                hull._replace(face_start=hull.face_start[:-1] + edges, face_vertex=hull.face_vertex + corners)
            )
            corners, faces, edges = (
                corners + len(hull.vertices),
                faces + len(hull.face_normal),
                edges + len(hull.face_vertex),
            )
        elif isinstance(geometry, HeightField):
            first[i], count[i], face_count[i] = cells, geometry.heights.shape[1], geometry.heights.shape[0]
            heights.append(geometry.heights.ravel())
            cells += geometry.heights.size
    return Colliders(
        kind=frozen(kind, np.int64),
        link=frozen(link, np.int64),
        axes=frozen(axes),
        centre=frozen(centre),
        size=frozen(size),
        bound=frozen(bound),
        first=frozen(first, np.int64),
        count=frozen(count, np.int64),
        vertices=frozen(np.concatenate([np.zeros((0, 3)), *(h.vertices for h in hulls)])),
        face_first=frozen(face_first, np.int64),
        face_count=frozen(face_count, np.int64),
        face_normal=frozen(np.concatenate([np.zeros((0, 3)), *(h.face_normal for h in hulls)])),
        face_start=frozen(np.concatenate([*(h.face_start for h in hulls), [edges]]), np.int64),
        face_vertex=frozen(np.concatenate([np.zeros(0), *(h.face_vertex for h in hulls)]), np.int64),
        height=frozen(np.concatenate([np.zeros(0), *heights])),
    )


def _measure(geometry: Geometry) -> tuple[int, tuple[float, float, float], float]:
    """Kind, sizes and bounding radius of a geometry that is no mesh."""
    match geometry:
        case Plane():
            return ShapeKind.PLANE, (0.0, 0.0, 0.0), np.inf
        case Sphere(r):
            return ShapeKind.SPHERE, (r, 0.0, 0.0), r
        case Capsule(r, length):
            return ShapeKind.CAPSULE, (r, 0.5 * length, 0.0), r + 0.5 * length
        case Cylinder(r, length):
            return ShapeKind.CYLINDER, (r, 0.5 * length, 0.0), float(np.hypot(r, 0.5 * length))
        case Box((a, b, c)):
            return ShapeKind.BOX, (0.5 * a, 0.5 * b, 0.5 * c), 0.5 * float(np.sqrt(a * a + b * b + c * c))
        case Ellipsoid((a, b, c)):
            return ShapeKind.ELLIPSOID, (a, b, c), max(a, b, c)
        case HeightField():
            rows, columns = geometry.heights.shape
            half = (0.5 * (columns - 1) * geometry.cell[0], 0.5 * (rows - 1) * geometry.cell[1])
            deepest = float(np.abs(geometry.heights).max()) + geometry.depth
            return (
                ShapeKind.HEIGHT_FIELD,
                (*geometry.cell, geometry.depth),
                float(np.hypot(np.hypot(*half), deepest)),
            )
        case Mesh():
            return ShapeKind.HULL, (0.0, 0.0, 0.0), 0.0
    raise ModelError(f"{type(geometry).__name__} cannot collide")
