"""Outlines: silhouettes of shapes, tips of bodies, convex hulls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taction as ta
from helpers import PROPERTY
from taction.drawing.outline import (
    convex_hull,
    outline_bodies,
    outline_ground,
    planes,
    project,
)


def area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


@pytest.mark.parametrize(
    ("geometry", "extents"),
    [
        (ta.Box((1.0, 2.0, 3.0)), (1.0, 2.0, 3.0)),
        (ta.Sphere(0.5), (1.0, 1.0, 1.0)),
        (ta.Ellipsoid((0.5, 1.0, 1.5)), (1.0, 2.0, 3.0)),
        (ta.Cylinder(0.5, 2.0), (1.0, 1.0, 2.0)),
        (ta.Capsule(0.5, 2.0), (1.0, 1.0, 3.0)),
        (ta.Cone(0.5, 2.0), (1.0, 1.0, 2.0)),
        (ta.Mesh(vertices=np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]])), (1.0, 2.0, 3.0)),
    ],
)
def test_points_span_the_shape(geometry, extents):
    np.testing.assert_allclose(np.ptp(geometry.outline(), axis=0), extents, atol=1e-12)


def test_a_plane_has_no_outline():
    assert ta.Plane().outline().shape == (0, 3)


def test_hull_of_a_square_with_points_inside_and_on_its_sides():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    points = np.concatenate([corners, [[1.0, 1.0], [1.0, 0.0], [0.5, 1.5]], corners])
    hull = convex_hull(points)
    assert len(hull) == 4 and area(hull) == pytest.approx(4.0)


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.integers(3, 40))
def test_hull_is_convex_and_holds_every_point(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    hull = convex_hull(points)
    sides = np.roll(hull, -1, axis=0) - hull
    for corner, side in zip(hull, sides, strict=True):
        to_points = points - corner
        assert (side[0] * to_points[:, 1] - side[1] * to_points[:, 0]).min() > -1e-12


def test_hull_of_points_on_a_line():
    hull = convex_hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    assert np.ptp(hull, axis=0) == pytest.approx([2.0, 2.0])


def test_silhouette_turns_with_the_body():
    model = ta.robots.chain(1, length=1.0, radius=0.1)
    outline = outline_bodies(model)[0]
    for angle, extents in ((0.0, (0.2, 1.0)), (math.pi / 2, (1.0, 0.2))):
        pose = ta.forward_kinematics(model, [angle])
        assert np.ptp(project(outline.clouds[0], pose, 0, (0, 2)), axis=0) == pytest.approx(extents)


def test_tip_is_the_far_end():
    np.testing.assert_allclose(outline_bodies(ta.robots.chain(2))[-1].tip, [0.0, 0.0, -0.3], atol=1e-12)


def test_bodies_without_shapes_are_lines_between_joints():
    b = ta.ModelBuilder("bare")
    for name in ("upper", "lower"):
        b.body(name, ta.Inertia(1.0, np.array([0.0, 0.0, -0.5]), 0.1 * np.eye(3)))
    b.revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0))
    below = ta.Transform(translation=np.array([0.0, 0.0, -1.0]))
    b.revolute("elbow", parent="upper", child="lower", axis=(0, 1, 0), pose=below)
    upper, lower = outline_bodies(b.build())
    assert not upper.clouds and len(upper.lines) == 2 and len(lower.lines) == 1
    np.testing.assert_allclose(upper.lines[0], [[0, 0, 0], [0, 0, -1.0]])
    np.testing.assert_allclose(lower.tip, [0, 0, -0.5])


def test_the_ground_is_its_level_planes_and_what_is_bounded():
    at = ta.Transform(translation=np.array([1.0, 0.0, 0.3]))
    tilted = ta.Transform.from_rpy((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))
    ground = [
        ta.Plane(),
        ta.Shape(ta.Plane(), at),
        ta.Shape(ta.Plane(), tilted),
        ta.Shape(ta.Sphere(0.1), at),
    ]
    model = ta.World(ta.free_body("ball", ta.Sphere(0.1), mass=1.0), ground=ground).model
    assert [float(wall.point[2]) for wall in planes(model) if wall.is_level] == [0.0, 0.3]
    (peg,) = outline_ground(model)
    np.testing.assert_allclose([peg.min(0), peg.max(0)], [[0.9, -0.1, 0.2], [1.1, 0.1, 0.4]], atol=2e-3)
