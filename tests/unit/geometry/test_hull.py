"""Hulls with flat faces: the same, number for number, as a slow reference that takes one face at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import taction as ta
from helpers import EPS, ROBOTS
from taction.bench.dynamics import robot_data
from taction.geometry import hull, hull_faces
from taction.geometry.hull import COPLANAR, convex_hull
from taction.geometry.hull_graph import FEW
from taction.geometry.hull_ways import STARTS
from taction.io.meshes import read_mesh

# ----- A slow reference -----------------------------------------------------------------------------------


def slow_faces(corners, triangles, neighbours, slack):
    """Normal and rim of each face, in order, as the module text of `hull_faces` says, face by face."""
    p, q, r = (corners[triangles[:, k]] for k in range(3))
    area = np.cross(q - p, r - p)
    size = np.linalg.norm(area, axis=1)
    taken, faces = np.zeros(len(triangles), dtype=bool), {}
    for seed in np.argsort(-size, kind="stable"):
        if taken[seed]:
            continue
        members, taken[seed] = [seed], True
        normal = area[seed] / max(size[seed], np.finfo(float).tiny)
        for member in members:
            for other in neighbours[member]:
                offset = (corners[triangles[other]] - p[seed]) @ normal
                if not taken[other] and np.abs(offset).max() <= slack and area[other] @ normal >= 0.0:
                    taken[other] = True
                    members.append(other)
        faces[min(members)] = slow_rim(triangles[members])
    rims = [slow_straightened(faces[first], corners, slack) for first in sorted(faces)]
    return [(slow_normal(corners[rim]), rim) for rim in rims if len(rim) >= 3]


def slow_rim(triangles):
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    following = {i: j for i, j in edges if (j, i) not in edges}
    cycle = [min(following)]
    while following[cycle[-1]] != cycle[0] and len(cycle) <= len(following):
        cycle.append(following[cycle[-1]])
    return cycle


def slow_straightened(rim, corners, slack):
    kept, k = list(rim), 0
    while k < len(kept) and len(kept) >= 3:
        before, at, after = (corners[kept[(k + i) % len(kept)]] for i in (-1, 0, 1))
        along = after - before
        length = np.linalg.norm(along)
        if length > slack and np.linalg.norm(np.cross(at - before, along)) <= slack * length:
            del kept[k]
        else:
            k += 1
    return kept


def slow_normal(rim):
    arms = rim - rim[0]
    area = np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)
    return area / np.linalg.norm(area)


def check(points):
    """Compare the hull of points with the reference, and its ways with all edges and all corners."""
    hull = convex_hull(points)
    low, high = points.min(axis=0), points.max(axis=0)
    found = ConvexHull(points - 0.5 * (low + high))
    triangles = found.simplices.copy()
    p, q, r = (found.points[triangles[:, k]] for k in range(3))
    turned = np.einsum("ij,ij->i", np.cross(q - p, r - p), found.equations[:, :3]) < 0.0
    triangles[turned] = triangles[turned][:, ::-1]
    slack = COPLANAR * float(np.linalg.norm(high - low))
    wanted = slow_faces(found.points, triangles, found.neighbors, slack)
    used = np.unique(np.concatenate([rim for _, rim in wanted]))
    assert np.array_equal(hull.vertices, found.points[used])
    assert hull.face_start.tolist() == np.cumsum([0, *(len(rim) for _, rim in wanted)]).tolist()
    rims = np.split(used[hull.face_vertex], hull.face_start[1:-1])
    assert [list(rim) for rim in rims] == [list(rim) for _, rim in wanted]
    assert np.array_equal(hull.face_normal, [normal for normal, _ in wanted])
    check_ways(hull)
    return hull


def check_ways(hull):
    corner, near_first, near, face_first, face = hull.ways
    m = len(hull.vertices)
    assert len(near_first) == len(face_first) == m + 1
    if m <= FEW:
        assert len(corner) == len(near) == len(face) == 0
        return
    edges = {(int(a), int(b)) for t in ConvexHull(hull.vertices).simplices for a in t for b in t if a != b}
    assert {(i, int(j)) for i in range(m) for j in near[near_first[i] : near_first[i + 1]]} == edges
    assert np.all(np.diff(near)[np.diff(np.repeat(np.arange(m), np.diff(near_first))) == 0] > 0)
    rims = np.split(hull.face_vertex, hull.face_start[1:-1])
    for i in range(0, m, max(1, m // 50)):
        there = [f for f, rim in enumerate(rims) if i in rim]
        assert face[face_first[i] : face_first[i + 1]].tolist() == there
    assert len(corner) == STARTS and len(face) == len(hull.face_vertex)


# ----- Bodies ---------------------------------------------------------------------------------------------

RNG = np.random.default_rng(11)


def grid_box(n):
    """A box whose sides are finely divided, turned, in single precision as meshes are stored."""
    x = np.linspace(-1.0, 1.0, n)
    grid = np.array(np.meshgrid(x, x, x)).reshape(3, -1).T
    turn = ta.Transform.from_rpy((0, 0, 0), (0.3, 0.5, -0.2)).rotation
    grid = grid[np.abs(grid).max(axis=1) == 1.0] * (0.3, 0.2, 0.1) @ turn
    return grid.astype(np.float32).astype(float)


def prism(n, height=0.2):
    angle = 2 * np.pi * np.arange(n) / n
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([0.1 * rim, np.full(n, z)]) for z in (0.0, height)])


def needles():
    """A box with a cloud of points just above one side: slivers next to large faces."""
    box = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    above = np.column_stack([RNG.uniform(-1, 1, (300, 2)), 1.0 + RNG.uniform(0.0, 5e-7, 300)])
    return np.vstack([box, above])


def ball(n):
    x = RNG.normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def capsule_like(n):
    """Flat sides and round ends: faces of many and of three corners side by side."""
    return np.vstack([prism(24) - (0.0, 0.0, 0.1), 0.1 * ball(n)])


BODIES = {
    "box": np.array(np.meshgrid(*[(-0.1, 0.1)] * 3)).reshape(3, -1).T,
    "fine box": grid_box(9),
    "cloud": RNG.normal(size=(400, 3)),
    "ball": ball(500),
    "slab far off": (RNG.normal(size=(300, 3)) * (0.1, 0.1, 1e-4) + 5.0).astype(np.float32).astype(float),
    "prism": prism(60),
    "many corners": prism(200),
    "needles": needles(),
    "capsule": capsule_like(300),
    "repeated": np.tile(RNG.normal(size=(40, 3)), (5, 1)),
    "tetrahedron": np.vstack([np.zeros(3), np.eye(3)]),
}


@pytest.mark.parametrize("name", BODIES)
def test_faces_are_those_of_the_slow_reference(name):
    check(BODIES[name])


def test_flat_sides_are_single_faces():
    hull = convex_hull(BODIES["fine box"])
    assert len(hull.face_normal) == 6 and len(hull.vertices) == 8
    assert len(convex_hull(BODIES["many corners"]).face_vertex) == 2 * 200 + 4 * 200


@pytest.mark.parametrize("name", ["go2", "panda"])
def test_meshes_of_robots(name):
    folder = robot_data()
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    files = sorted((folder / ROBOTS[name]).parents[1].rglob("*.stl"))
    for path in files[:2]:
        check(read_mesh(path).vertices)


def test_normals_are_units_and_point_out():
    for points in BODIES.values():
        hull = convex_hull(points)
        assert np.abs(np.linalg.norm(hull.face_normal, axis=1) - 1.0).max() <= 4 * EPS
        first = hull.vertices[hull.face_vertex[hull.face_start[:-1]]]
        depth = np.einsum("fi,fi->f", hull.face_normal, first)
        slack = 2 * COPLANAR * np.linalg.norm(np.ptp(points, axis=0))
        assert (hull.vertices @ hull.face_normal.T <= depth + slack).all()


def test_a_square_of_many_corners_has_four():
    """Corners on the straight sides of a flat face go, wherever the rim begins."""
    x = np.linspace(0.0, 1.0, 1000, endpoint=False)
    zero = np.zeros_like(x)
    sides = (x, zero), (1 + zero, x), (1 - x, 1 + zero), (zero, 1 - x)
    corners = np.column_stack([np.vstack([np.column_stack(side) for side in sides]), np.zeros(4000)])
    for shift in (0, 1, 500, 3999):
        kept = hull_faces._straightened(np.roll(np.arange(4000), -shift), corners, 1e-7)
        assert sorted(kept) == [0, 1000, 2000, 3000]


@pytest.mark.parametrize("n", [700, 1500])
def test_hulls_of_many_points_are_those_of_points_moved_by_nothing_that_counts(monkeypatch, n):
    """Above a number of points, with a wide face and without, against the hull of points as they are."""
    points = np.vstack([prism(n), prism(n)[:50]])
    wanted = convex_hull(points)
    monkeypatch.setattr(hull, "MANY", 1000)
    found = convex_hull(points)
    moved = hull.MOVED * np.linalg.norm(np.ptp(points, axis=0))
    sizes = [np.sort(np.diff(one.face_start)) for one in (found, wanted)]
    corners = [np.sort(one.vertices, axis=0) for one in (found, wanted)]
    assert np.array_equal(*sizes)
    assert np.abs(corners[0] - corners[1]).max() <= moved
    assert np.array_equal(found.vertices, wanted.vertices) == (n <= hull.WIDE)


def test_a_wide_disc_is_not_joined_by_quickhull(monkeypatch):
    """Work, not time: quickhull is never asked for points in one plane where these are many."""
    asked = []

    def quickhull(points, what, is_moved=False, found=hull._quickhull):
        asked.append(is_moved)
        return found(points, what, is_moved)

    monkeypatch.setattr(hull, "_quickhull", quickhull)
    assert len(convex_hull(prism(6000)).face_start) > 1000
    assert asked == [True]
