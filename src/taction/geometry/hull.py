"""The convex hull of a mesh, with flat polygons for faces.

What it solves: given points, the corners, faces and outward normals of the smallest convex body that holds
them, in the arrays that `Colliders` keeps for hulls.

Method:
1. Quickhull gives triangles, each with its neighbours.
2. Triangles in one plane become one face: beginning with the largest triangle left, neighbours join while all
   their corners lie within `COPLANAR` times the extent of its plane. Meshes are often stored in single
   precision, whose rounding, 6e-8 of the coordinates, would otherwise split every flat side into slivers
   and make the contacts of a resting body jump between them.
3. The rim of a face is the cycle of those edges that only one of its triangles has; corners on a straight
   line between their neighbours are left out.
4. The normal of a face is that of its rim as a whole (the area vector), good to rounding for flat sides.

Departures: corners that step 2 leaves up to 1e-7 of the extent outside the plane of a face stay corners:
distances are those of the exact hull, only the shape of a contact patch is idealised.

Cost: O(n log n), once per mesh.

References: [BarberDobkinHuhdanpaa1996] for quickhull, [ORourke1998, Section 1.3.8] for the volume.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import ModelError

COPLANAR = 1e-7  # distance from the plane of a face, relative to the extent of the mesh
ALMOST = 1e-6  # relative: what is nearer to a bound is looked at again, one by one
FLAT = 1e-9  # volume below which a mesh is no body, relative to the cube of its extent
LARGEST = 1e30  # farther from the origin than this there are no points: products would overflow [m]


class Hull(NamedTuple):
    """A convex polyhedron; corners in the axes of the mesh, relative to `centre`."""

    centre: Array  # (3,) middle of the bounding box, in the axes of the mesh [m]
    vertices: Array  # (m, 3) corners relative to centre [m]
    face_normal: Array  # (f, 3) outward unit normals
    face_start: IntArray  # (f + 1,) ranges of face_vertex
    face_vertex: IntArray  # (e,) corners of each face, counter-clockwise seen from outside
    bound: float  # radius of a sphere around centre that holds the body [m]
    volume: float  # [m³]


def convex_hull(points: Array, what: str = "mesh") -> Hull:
    """Convex hull of points, shape (n, 3) [m].

    Args:
        points: the corners of a mesh, in any order, repeated or not.
        what: name used in the error message.

    Raises:
        ModelError: fewer than four points, or points in one plane.
    """
    centre, extent, found = _quickhull(points, what)
    corners = found.points
    triangles = _outward(corners, found.simplices, found.equations[:, :3])
    slack = COPLANAR * extent
    around = _rims(corners, triangles, found.neighbors, slack)
    three = np.array([rim for rim in around if len(rim) == 3], dtype=np.int64).reshape(-1, 3)
    is_bent = iter(_is_bent(three, corners, slack))  # most faces of a round body are triangles
    rims = [rim if len(rim) == 3 and next(is_bent) else _straightened(rim, corners, slack) for rim in around]
    rims = [rim for rim in rims if len(rim) >= 3]
    used = np.unique(np.concatenate(rims))
    number = np.full(len(corners), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    vertices = np.ascontiguousarray(corners[used])
    return Hull(
        centre=centre,
        vertices=vertices,
        face_normal=np.array([_unit_normal(corners[rim]) for rim in rims]),
        face_start=np.cumsum([0, *(len(rim) for rim in rims)], dtype=np.int64),
        face_vertex=number[np.concatenate(rims)],
        bound=float(np.linalg.norm(vertices, axis=1).max()),
        volume=float(found.volume),
    )


def hull_triangles(points: Array, what: str = "mesh") -> tuple[Array, IntArray]:
    """The convex hull of points (n, 3) [m] as triangles: the points, and corners seen from outside (f, 3).

    Raises:
        ModelError: fewer than four points, or points in one plane.
    """
    centre, _, found = _quickhull(points, what)
    return found.points + centre, _outward(found.points, found.simplices, found.equations[:, :3])


def _quickhull(points: Array, what: str) -> tuple[Array, float, Any]:
    """Middle of the bounding box (3,), extent [m], and the hull of the points about that middle."""
    from scipy.spatial import ConvexHull, QhullError

    points = as_float(points, (None, 3), what)
    if len(points) < 4:
        raise ModelError(f"{what}: a convex hull needs at least four points, got {len(points)}")
    low, high = points.min(axis=0), points.max(axis=0)
    if max(np.abs(low).max(), np.abs(high).max()) > LARGEST:
        raise ModelError(f"{what}: has points more than {LARGEST:g} m from its origin")
    extent = float(np.linalg.norm(high - low))
    centre = 0.5 * (low + high)
    try:
        found = ConvexHull(points - centre)
    except QhullError:
        found = None
    if found is None or not found.volume > FLAT * extent**3:
        raise ModelError(f"{what}: its {len(points)} points lie in one plane, so it has no volume")
    return centre, extent, found


def _outward(corners: Array, triangles: IntArray, normals: Array) -> IntArray:
    """The triangles with their corners counter-clockwise seen from outside."""
    p, q, r = (corners[triangles[:, k]] for k in range(3))
    is_clockwise = np.einsum("ij,ij->i", np.cross(q - p, r - p), normals) < 0.0
    out = triangles.astype(np.int64)
    out[is_clockwise] = out[is_clockwise][:, ::-1]
    return out


def _rims(corners: Array, triangles: IntArray, neighbours: IntArray, slack: float) -> list[IntArray]:
    """Steps 2 and 3: corners around each flat face, in the order of the faces' first triangles."""
    p, q, r = (corners[triangles[:, k]] for k in range(3))
    area = np.cross(q - p, r - p)
    size = np.linalg.norm(area, axis=1)
    face = np.full(len(triangles), -1, dtype=np.int64)
    rims: list[tuple[int, IntArray]] = []
    normals = area / np.maximum(size, np.finfo(float).tiny)[:, None]
    far = np.einsum("nkci,ni->nkc", corners[triangles[neighbours]] - p[:, None, None], normals)
    is_flat = (np.abs(far).max(axis=2) <= slack * (1.0 + ALMOST)) & (
        np.einsum("nki,ni->nk", area[neighbours], normals) >= -ALMOST * size[neighbours]
    )
    is_alone = ~is_flat.any(axis=1)
    single = np.take_along_axis(
        triangles, (triangles.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1
    )  # from their smallest corners
    for seed in np.argsort(-size, kind="stable"):
        if face[seed] >= 0:
            continue
        face[seed] = seed
        if is_alone[seed]:
            rims.append((int(seed), single[seed]))
            continue
        members = [int(seed)]
        normal = normals[seed]
        for member in members:
            for other in neighbours[member]:
                offset = (corners[triangles[other]] - p[seed]) @ normal
                if face[other] < 0 and np.abs(offset).max() <= slack and area[other] @ normal >= 0.0:
                    face[other] = seed
                    members.append(int(other))
        rims.append((min(members), _rim(triangles[members])))
    return [rim for _, rim in sorted(rims, key=lambda entry: entry[0])]


def _rim(triangles: IntArray) -> IntArray:
    """Cycle of the edges that only one of the triangles has, from its smallest corner."""
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    following = {i: j for i, j in edges if (j, i) not in edges}
    start = min(following)
    cycle, at = [start], following[start]
    while at != start and len(cycle) <= len(following):
        cycle.append(at)
        at = following[at]
    return np.array(cycle, dtype=np.int64)


def _is_bent(triangles: IntArray, corners: Array, slack: float) -> Array:
    """Whether no corner of triangles (n, 3) lies on the line between the others, by far; shape (n,)."""
    out = np.ones(len(triangles), dtype=bool)
    for k in range(3):
        before, at, after = (corners[triangles[:, (k + i) % 3]] for i in (-1, 0, 1))
        along = after - before
        length = np.linalg.norm(along, axis=1)
        height = np.linalg.norm(np.cross(at - before, along), axis=1)
        out &= (height > 2.0 * slack * length) & (length > 2.0 * slack)
    return out


def _straightened(rim: IntArray, corners: Array, slack: float) -> IntArray:
    """The rim without corners that lie on the line between their neighbours."""
    kept = list(rim)
    k = 0
    while k < len(kept) and len(kept) >= 3:
        before, at, after = (corners[kept[(k + i) % len(kept)]] for i in (-1, 0, 1))
        along = after - before
        length = float(np.linalg.norm(along))
        if length > slack and np.linalg.norm(np.cross(at - before, along)) <= slack * length:
            del kept[k]
        else:
            k += 1
    return np.array(kept, dtype=np.int64)


def _unit_normal(rim: Array) -> Array:
    """Direction of the area vector of a closed polygon, shape (m, 3)."""
    arms = rim - rim[0]
    area = np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)
    return area / np.linalg.norm(area)
