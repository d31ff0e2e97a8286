"""Walks over hulls: they end at the farthest corner, whatever the direction, and know the faces there."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import EPS
from taction.geometry.compile import compile_colliders
from taction.geometry.hull_graph import FEW, NOWHERE
from taction.geometry.shapes.hull import box_around, facing, support
from taction.math.transform import Transform
from taction.model.shapes import Mesh

DIRECTIONS = 3000


def rounded_box(rng):
    """Flat sides, straight edges with many corners on them, and corners in between."""
    x = np.linspace(-1.0, 1.0, 9)
    grid = np.array(np.meshgrid(x, x, x)).reshape(3, -1).T
    return grid[np.abs(grid).max(axis=1) == 1.0] * (0.3, 0.2, 0.1)


def rod(rng):
    """A prism of 60 sides: two faces of 60 corners."""
    angle = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    rim = 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([rim, np.full(60, z)]) for z in (-0.4, 0.4)])


def ball(rng):
    x = rng.normal(size=(800, 3))
    return 0.2 * x / np.linalg.norm(x, axis=1, keepdims=True)


def cube(rng):
    return np.array(np.meshgrid(*[(-0.1, 0.1)] * 3)).reshape(3, -1).T


def single_precision(rng):
    """A cloud flattened, in float32 as meshes are stored, far off its own origin."""
    return (rng.normal(size=(500, 3)) * (0.1, 0.1, 1e-3) + 5.0).astype(np.float32).astype(float)


def make(points):
    """Two hulls, so that the second's corners and faces do not start at zero."""
    clouds = ball(np.random.default_rng(5)), points
    shapes = [(1, Transform(), Mesh(vertices=cloud)) for cloud in clouds]
    return compile_colliders(shapes)


@pytest.mark.parametrize("cloud", [ball, rod, rounded_box, single_precision, cube])
def test_walks_end_at_the_farthest_corner(cloud):
    rng = np.random.default_rng(3)
    colliders = make(cloud(rng))
    first, count = colliders.first[1], colliders.count[1]
    assert (colliders.graph.start[1] == NOWHERE) == (count <= FEW)
    corners = colliders.vertices[first : first + count]
    axes = np.vstack([np.eye(3), -np.eye(3)])
    directions = np.vstack([rng.normal(size=(DIRECTIONS, 3)), axes, colliders.face_normal[-50:]])
    extent = np.abs(corners).max()
    for d in directions:
        x, y, z, id_ = support(colliders, 1, tuple(d))
        assert np.array_equal((x, y, z), corners[int(id_)])
        slack = 8 * EPS * extent * np.abs(d).sum()
        assert (corners @ d).max() - d @ (x, y, z) <= slack


def test_faces_at_the_farthest_corner():
    """The face nearest to a direction, among those that have the farthest corner."""
    rng = np.random.default_rng(4)
    colliders = make(rod(rng))
    start, corner = colliders.face_start, colliders.face_vertex
    faces = range(colliders.face_first[1], colliders.face_first[1] + colliders.face_count[1])
    for d in rng.normal(size=(300, 3)):
        d /= np.linalg.norm(d)
        face, m, cosine = facing(colliders, 1, tuple(d))
        at = colliders.first[1] + int(support(colliders, 1, tuple(d))[3])
        there = [f for f in faces if at in corner[start[f] : start[f + 1]]]
        assert face in there and np.array_equal(m, colliders.face_normal[face])
        assert abs(cosine - (colliders.face_normal[there] @ d).max()) <= 8 * EPS


def test_box_of_a_hull_with_many_corners_holds_it():
    rng = np.random.default_rng(6)
    colliders = make(ball(rng))
    corners = colliders.vertices[colliders.first[1] :]
    placed, boxes = np.zeros((2, 12)), np.zeros((2, 6))
    for _ in range(20):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        placed[1, :9] = R.ravel()
        box_around(colliders, placed, 1, boxes)
        reach = np.abs(R) @ np.abs(corners).max(axis=0)
        assert np.allclose(boxes[1], np.r_[-reach, reach], rtol=0.0, atol=8 * EPS)
        assert np.all(corners @ R.T <= boxes[1, 3:] + 4 * EPS)
