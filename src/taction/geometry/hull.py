"""The convex hull of a mesh, with flat polygons for faces.

What it solves: given points, the corners, faces and outward normals of the smallest convex body that holds
them, in the arrays that `Colliders` keeps for hulls. Every process after the first reads them from the disk
(`taction.geometry.kept_hull`).

Method:
1. Quickhull gives triangles, each with its neighbours.
2. Triangles within `COPLANAR` times the extent of one plane become one face (`taction.geometry.hull_faces`).
   Meshes are often stored in single precision, whose rounding, 6e-8 of the coordinates, would otherwise split
   every flat side into slivers and make the contacts of a resting body jump between them.
3. Edges and the faces at each corner, for walks over the hull: `taction.geometry.hull_ways`.

Quickhull joins triangles in exactly one plane to polygons as it goes, which takes time with more than the
square of their corners: two minutes for a disc of 16 000. So of more than `MANY` points the hull is found
with each of them moved, by `MOVED` times the extent at most, which leaves nothing in one plane; where no face
turns out to be that wide, it is found again with points as they are. Of more than `MOST` the first counts.

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
from taction.geometry.hull_faces import Faces, join_faces
from taction.geometry.hull_ways import Ways, find_ways

COPLANAR = 1e-7  # distance from the plane of a face, relative to the extent of the mesh
MANY, MOST = 10_000, 100_000  # points from which hulls are found another way; see above
WIDE = 1000  # corners of a face that are too many
MOVED = 1e-11  # of points that are moved, relative to the extent of the mesh
SEED = 20
FEW = 16  # points that show that most meshes are not flat
FLAT = 1e-9  # volume below which a mesh is no body, relative to the cube of its extent
MOST_CORNERS = 200_000  # that may be on a hull: it takes seconds, and every contact on it longer
LARGEST = 1e30  # farther from the origin than this there are no points: products would overflow [m]


class Hull(NamedTuple):
    """A convex polyhedron; corners in the axes of the mesh, relative to `centre`."""

    centre: Array  # (3,) middle of the bounding box, in the axes of the mesh [m]
    vertices: Array  # (m, 3) corners relative to centre [m]
    face_normal: Array  # (f, 3) outward unit normals
    face_start: IntArray  # (f + 1,) ranges of face_vertex
    face_vertex: IntArray  # (e,) corners of each face, counter-clockwise seen from outside
    ways: Ways  # over its corners
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
    centre, extent, found = _quickhull(points, what, is_moved=len(points) > MANY)
    corners, triangles, faces = _surface(found, COPLANAR * extent)
    if MANY < len(points) <= MOST and np.diff(faces.start).max() <= WIDE:
        centre, extent, found = _quickhull(points, what)
        corners, triangles, faces = _surface(found, COPLANAR * extent)
    kept, number = _used(faces.vertex, len(corners))
    vertices, around = np.ascontiguousarray(corners[kept]), number[faces.vertex]
    # flat sides can be cut into triangles in several ways: that of the corners alone is the one that counts
    is_unique = len(kept) == len(corners) and not _has_flat_sides(found)
    return Hull(
        centre=centre,
        vertices=vertices,
        face_normal=faces.normal,
        face_start=faces.start,
        face_vertex=around,
        ways=find_ways(vertices, triangles if is_unique else None, faces.start, around),
        bound=float(np.linalg.norm(vertices, axis=1).max()),
        volume=float(found.volume),
    )


def _surface(found: Any, slack: float) -> tuple[Array, IntArray, Faces]:
    """Corners that quickhull found, its triangles of them, seen from outside, and faces of these."""
    used, number = _used(found.simplices, len(found.points))
    corners = found.points[used]
    triangles = _outward(corners, number[found.simplices], found.equations[:, :3])
    return corners, triangles, join_faces(corners, triangles, found.neighbors, slack)


def hull_triangles(points: Array, what: str = "mesh") -> tuple[Array, IntArray]:
    """The convex hull of points (n, 3) [m] as triangles: the points, and corners seen from outside (f, 3).

    Raises:
        ModelError: fewer than four points, or points in one plane.
    """
    centre, _, found = _quickhull(points, what)
    return found.points + centre, _outward(found.points, found.simplices, found.equations[:, :3])


def is_flat(points: Array) -> bool:
    """Whether points (n, 3), one or more, lie in one plane to rounding, so that their hull has no volume."""
    if len(points) > 2 * FEW and not is_flat(points[:: len(points) // FEW]):
        return False  # as most are
    low, high = points.min(axis=0), points.max(axis=0)
    with np.errstate(over="ignore"):
        extent = (high - low).max()
    if not 0.0 < extent < np.inf:
        return extent == 0.0
    about = (points - low) / extent
    about -= about.mean(axis=0)
    normal = np.linalg.eigh(about.T @ about)[1][:, 0]
    return bool(np.abs(about @ normal).max() <= FLAT)


def _quickhull(points: Array, what: str, is_moved: bool = False) -> tuple[Array, float, Any]:
    """Middle of the bounding box (3,), extent [m], and the hull of the points, moved or not, about it."""
    from scipy.spatial import ConvexHull, QhullError

    points = as_float(points, (None, 3), what)
    if len(points) < 4:
        raise ModelError(f"{what}: a convex hull needs at least four points, got {len(points)}")
    if len(points) > MOST_CORNERS:
        points = _outer(points)
        if len(points) > MOST_CORNERS:
            raise ModelError(
                f"{what}: more than {MOST_CORNERS} corners may be on its hull; simplify the mesh"
            )
    low, high = points.min(axis=0), points.max(axis=0)
    if max(np.abs(low).max(), np.abs(high).max()) > LARGEST:
        raise ModelError(f"{what}: has points more than {LARGEST:g} m from its origin")
    extent = float(np.linalg.norm(high - low))
    centre = 0.5 * (low + high)
    about = points - centre
    if is_moved:
        about = np.unique(about, axis=0)  # what is moved apart does not find together again
        about += MOVED * extent * np.random.default_rng(SEED).uniform(-1.0, 1.0, about.shape)
    try:
        found = ConvexHull(about)
    except QhullError:
        found = None
    if found is None or not found.volume > FLAT * extent**3:
        raise ModelError(f"{what}: its {len(points)} points lie in one plane, so it has no volume")
    return centre, extent, found


def _outer(points: Array) -> Array:
    """Points (n, 3) without those that lie inside a polytope of the outermost ones."""
    from scipy.spatial import ConvexHull, QhullError

    ways = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    try:  # one way at a time: all together take 27 numbers a point
        inner = ConvexHull(points[np.unique([(points @ way).argmax() for way in ways])])
    except (QhullError, ValueError):  # flat: the whole hull says so
        return points
    normals, offsets = inner.equations[:, :3], inner.equations[:, 3]
    slack = MOVED * float(np.ptp(points, axis=0).max())
    is_outer = np.zeros(len(points), dtype=bool)
    for normal, offset in zip(normals, offsets, strict=True):
        is_outer |= points @ normal + offset > -slack
    return points[is_outer]


def _used(entries: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Which of so many points entries use, ascending, and the place of each point among those (count,)."""
    is_used = np.zeros(count, dtype=bool)
    is_used[entries] = True
    return np.flatnonzero(is_used), np.cumsum(is_used) - 1


def _has_flat_sides(found: Any) -> bool:
    """Whether there are polygons that quickhull cut into triangles: these have the plane in common."""
    planes = found.equations
    return any(bool((planes[beside] == planes).all(axis=1).any()) for beside in found.neighbors.T)


def _outward(corners: Array, triangles: IntArray, normals: Array) -> IntArray:
    """The triangles with their corners counter-clockwise seen from outside."""
    p, q, r = (corners[triangles[:, k]] for k in range(3))
    is_clockwise = np.einsum("ij,ij->i", np.cross(q - p, r - p), normals) < 0.0
    out = triangles.astype(np.int64)
    out[is_clockwise] = out[is_clockwise][:, ::-1]
    return out
