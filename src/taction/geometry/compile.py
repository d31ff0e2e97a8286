"""Shapes as the user wrote them, compiled into the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array, frozen
from taction._core.errors import ModelError
from taction.geometry.colliders import Colliders
from taction.geometry.hull import Hull
from taction.geometry.hull_ways import join_ways
from taction.geometry.kept_hull import kept_hull
from taction.math.transform import Transform
from taction.model.shapes import Geometry


def compile_colliders(shapes: Sequence[tuple[int, Transform, Geometry]], what: str = "shape") -> Colliders:
    """Arrays over collision shapes.

    Args:
        shapes: link, placement in the link, and geometry of each; unions already taken apart.
        what: name for messages.

    Raises:
        ModelError: a shape that cannot collide, a mesh without volume or without points.
    """
    n = len(shapes)
    kind, link = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    axes, centre, size, bound = np.zeros((n, 9)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    first, count, face_first, face_count = np.zeros((4, n), dtype=np.int64)
    hulls: list[Hull] = []
    bodies: dict[int, Hull] = {}
    heights: list[Array] = []
    corners = faces = edges = cells = 0
    for i, (carrier, pose, geometry) in enumerate(shapes):
        link[i], axes[i], centre[i] = carrier, pose.rotation.ravel(), pose.translation
        try:
            collider = geometry.collider()
        except ModelError as error:
            raise ModelError(f"{what} {i}: {error}") from None
        kind[i], size[i], bound[i] = collider.kind, collider.size, collider.bound
        if collider.points is not None:
            hull = kept_hull(collider.points, geometry.label)
            centre[i], bound[i] = pose.apply(hull.centre), hull.bound
            size[i] = np.abs(hull.vertices).max(axis=0)
            first[i], count[i] = corners, len(hull.vertices)
            face_first[i], face_count[i] = faces, len(hull.face_normal)
            bodies[i] = hull
            hulls.append(
                hull._replace(face_start=hull.face_start[:-1] + edges, face_vertex=hull.face_vertex + corners)
            )
            corners, faces, edges = (
                corners + len(hull.vertices),
                faces + len(hull.face_normal),
                edges + len(hull.face_vertex),
            )
        elif collider.heights is not None:
            face_count[i], count[i] = collider.heights.shape
            first[i] = cells
            h = collider.heights
            heights.append(np.concatenate([h.ravel(), [h.min(), h.max()]]))
            cells += h.size + 2
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
        graph=join_ways([(i, hull.ways, len(hull.face_normal)) for i, hull in bodies.items()], n),
    )
