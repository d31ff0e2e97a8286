"""Convex hulls from the disk, or found and then kept there (`taction._core.kept`).

The key is a digest of the points: whoever makes the same points, from whatever file, finds the same hull.

References: none.
"""

from __future__ import annotations

import numpy as np
import scipy

from taction._core.arrays import Array, IntArray
from taction._core.kept import Arrays, kept, key_of
from taction.geometry.hull import Hull, convex_hull
from taction.geometry.hull_ways import STARTS, Ways

MANY = 64  # points from which a hull is worth a file
SOURCES = tuple(
    f"geometry/{name}.py" for name in ("kept_hull", "hull", "hull_faces", "hull_ways", "hull_graph")
)


def kept_hull(points: Array, what: str = "mesh") -> Hull:
    """The convex hull of points (n, 3) [m], as `convex_hull` finds it.

    Raises:
        ModelError: fewer than four points, or points in one plane.
    """
    if len(points) < MANY:
        return convex_hull(points, what)
    key = key_of("hull", SOURCES, (scipy.__version__,), points)
    return _hull(kept(key, lambda: _arrays(convex_hull(points, what)), _fits))


def _arrays(hull: Hull) -> Arrays:
    """What is kept of a hull."""
    corners = hull.centre, hull.vertices, np.array([hull.bound, hull.volume]), hull.face_normal
    rest = hull.face_start, hull.face_vertex, *hull.ways
    return [*corners, *(array.astype(np.int32) for array in rest)]


def _hull(arrays: Arrays) -> Hull:
    """The hull that was kept as these arrays."""
    centre, vertices, (bound, volume), normal = arrays[:4]
    start, vertex, *ways = (array.astype(np.int64) for array in arrays[4:])
    return Hull(centre, vertices, normal, start, vertex, Ways(*ways), float(bound), float(volume))


def _fits(arrays: Arrays) -> bool:
    """Whether arrays are those of some hull: kernels do not look where its indices lead."""
    if len(arrays) != 11 or [a.dtype.kind for a in arrays] != ["f"] * 4 + ["i"] * 7:
        return False
    centre, vertices, numbers, normal, start, vertex, corner, near_first, near, face_first, face = arrays
    m, f = len(vertices), len(normal)
    return (
        centre.shape == (3,)
        and numbers.shape == (2,)
        and vertices.shape == (m, 3)
        and normal.shape == (f, 3)
        and len(corner) in (0, STARTS)
        and all(np.isfinite(array).all() for array in arrays[:4])
        and _cuts(start, f, vertex, m)
        and _cuts(near_first, m, near, m)
        and _cuts(face_first, m, face, f)
        and _leads(corner, m)
    )


def _cuts(first: IntArray, count: int, entries: IntArray, end: int) -> bool:
    """Whether first (count + 1,) cuts entries into ranges, and these are numbers below end."""
    return (
        first.shape == (count + 1,)
        and first[0] == 0
        and first[-1] == len(entries)
        and bool((np.diff(first) >= 0).all())
        and _leads(entries, end)
    )


def _leads(entries: IntArray, end: int) -> bool:
    """Whether entries are a list of numbers from 0 up to end."""
    return entries.ndim == 1 and (not len(entries) or bool(entries.min() >= 0 and entries.max() < end))
