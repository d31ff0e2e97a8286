"""A half-space against spheres, capsules, boxes, cylinders, ellipsoids and hulls."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_direction, random_rotation
from shape_pairs import (
    Pose,
    Touch,
    at,
    box,
    capsule,
    check_contacts,
    check_motion,
    check_surfaces,
    check_swap,
    cylinder,
    ellipsoid,
    hull,
    plane,
    sphere,
    touch,
    turn,
)
from taction.geometry.shapes.box import on_plane as box_plane
from taction.geometry.shapes.capsule import on_plane as capsule_plane
from taction.geometry.shapes.cylinder import FLAT
from taction.geometry.shapes.cylinder import on_plane as cylinder_plane
from taction.geometry.shapes.ellipsoid import on_plane as ellipsoid_plane
from taction.geometry.shapes.hull import on_plane as hull_plane
from taction.geometry.shapes.sphere import on_plane as sphere_plane

GROUND = (plane(), at())
CORNERS = np.random.default_rng(5).normal(scale=0.3, size=(17, 3))
PAIRS = {
    "sphere": (sphere_plane, sphere(0.3)),
    "capsule": (capsule_plane, capsule(0.1, 0.4)),
    "box": (box_plane, box(0.1, 0.2, 0.5)),
    "cylinder": (cylinder_plane, cylinder(0.3, 0.2)),
    "ellipsoid": (ellipsoid_plane, ellipsoid(0.1, 0.2, 0.4)),
    "hull": (hull_plane, hull(CORNERS)),
}


def lowest(name, pose, n):
    """Height of the lowest point of a shape along n, from its support function."""
    m, size = pose.axes.T @ n, PAIRS[name][1].size
    reach = {
        "sphere": lambda: size[0],
        "capsule": lambda: size[0] + size[1] * abs(m[2]),
        "box": lambda: np.abs(m) @ size,
        "cylinder": lambda: size[0] * np.hypot(m[0], m[1]) + size[1] * abs(m[2]),
        "ellipsoid": lambda: np.linalg.norm(m * size),
        "hull": lambda: -(CORNERS @ m).min(),
    }[name]()
    return n @ pose.centre - reach


@pytest.mark.parametrize("name", PAIRS)
def test_the_lowest_point_is_found(name):
    function, shape = PAIRS[name]
    rng = np.random.default_rng(1)
    for _ in range(50):
        ground = Pose(random_rotation(rng), rng.normal(size=3))
        n = ground.axes[:, 2]
        pose = Pose(random_rotation(rng), ground.centre + 0.5 * random_direction(rng))
        height = lowest(name, pose, n) - n @ ground.centre
        found = touch(function, (shape, pose), (plane(), ground), 2.0)
        check_contacts(found, 2.0)
        # rounding of coordinates of a few metres over a few operations
        assert found.gap.min() == pytest.approx(height, abs=5e-15)
        np.testing.assert_array_equal(found.normal, np.tile(n, (len(found.gap), 1)))
        if name == "capsule":  # the lowest point of the higher end is inside the capsule
            found = Touch(*(array[[found.gap.argmin()]] for array in found))
        if name not in ("ellipsoid", "hull"):
            check_surfaces(found, (shape, pose), (plane(), ground), 1e-14)
        assert len(touch(function, (shape, pose), (plane(), ground), height - 1e-12).gap) == 0
        assert len(touch(function, (shape, pose), (plane(), ground), height + 1e-12).gap) >= 1


@pytest.mark.parametrize("name", PAIRS)
def test_order_and_place_do_not_matter(name):
    function, shape = PAIRS[name]
    rng = np.random.default_rng(2)
    pose = Pose(random_rotation(rng), 0.2 * random_direction(rng))
    check_swap(function, (shape, pose), GROUND, 0.1)
    check_motion(function, (shape, pose), GROUND, 0.1, rng)


@pytest.mark.parametrize("name", PAIRS)
def test_far_above_there_is_no_contact(name):
    function, shape = PAIRS[name]
    assert len(touch(function, (shape, at(z=5.0)), GROUND, 0.1).gap) == 0


def test_a_contact_needs_a_gap_below_the_margin():
    assert len(touch(sphere_plane, (sphere(0.5), at(z=0.75)), GROUND, 0.25).gap) == 0
    assert touch(sphere_plane, (sphere(0.5), at(z=0.75)), GROUND, 0.26).gap == [0.25]


def test_point_is_midway():
    found = touch(sphere_plane, (sphere(0.5), at(1.0, 2.0, 0.75)), GROUND, 1.0)
    np.testing.assert_array_equal(found.point, [[1.0, 2.0, 0.125]])
    found = touch(sphere_plane, (sphere(0.5), at(1.0, 2.0, 0.25)), GROUND, 1.0)
    np.testing.assert_array_equal(found.point, [[1.0, 2.0, -0.125]])


def test_ellipsoid_touches_at_its_support_point():
    rng = np.random.default_rng(3)
    semi = np.array([0.1, 0.2, 0.4])
    for _ in range(20):
        pose = Pose(random_rotation(rng), rng.normal(scale=0.1, size=3))
        found = touch(ellipsoid_plane, (ellipsoid(*semi), pose), GROUND, 1.0)
        x = pose.axes.T @ (found.point[0] + 0.5 * found.gap[0] * found.normal[0] - pose.centre)
        assert np.sum((x / semi) ** 2) == pytest.approx(1.0, abs=1e-13)
        gradient = x / semi**2  # along the inward normal of the plane
        gradient /= np.linalg.norm(gradient)
        np.testing.assert_allclose(pose.axes @ gradient, [0, 0, -1], atol=1e-13)


# ----- Boxes, capsules and hulls --------------------------------------------------------------------------


def test_box_at_rest_has_four_exact_contacts():
    found = touch(box_plane, (box(0.5, 0.5, 0.5), at(3.0, -2.0, 0.5)), GROUND)
    np.testing.assert_array_equal(found.feature, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.gap, 0.0)
    np.testing.assert_array_equal(found.point[:, :2], [[2.5, -2.5], [3.5, -2.5], [2.5, -1.5], [3.5, -1.5]])
    np.testing.assert_array_equal(found.normal, np.tile([0.0, 0.0, 1.0], (4, 1)))


def test_features_of_a_box_are_its_corners():
    upside_down = turn("x", np.pi)
    found = touch(box_plane, (box(0.5, 0.5, 0.5), at(z=0.5, axes=upside_down)), GROUND)
    np.testing.assert_array_equal(found.feature, [4, 5, 6, 7])
    on_edge = touch(box_plane, (box(0.5, 0.5, 0.5), at(z=0.5**0.5, axes=turn("x", np.pi / 4))), GROUND)
    np.testing.assert_array_equal(on_edge.feature, [0, 1])


def test_capsule_lies_on_two_points_and_stands_on_one():
    lying = touch(capsule_plane, (capsule(0.1, 0.4), at(z=0.1, axes=turn("y", np.pi / 2))), GROUND)
    np.testing.assert_allclose(lying.point[:, 0], [-0.4, 0.4], atol=1e-16)
    np.testing.assert_allclose(lying.gap, 0.0, atol=1e-16)
    standing = touch(capsule_plane, (capsule(0.1, 0.4), at(z=0.5)), GROUND)
    np.testing.assert_array_equal(standing.feature, [0])
    assert standing.gap[0] == pytest.approx(0.0, abs=1e-16)


def test_every_low_corner_of_a_hull_is_a_contact():
    found = touch(hull_plane, (hull(CORNERS), at(z=0.3)), GROUND, 0.1)
    heights = CORNERS[:, 2] + 0.3
    np.testing.assert_array_equal(found.feature, np.flatnonzero(heights < 0.1))
    np.testing.assert_allclose(found.gap, heights[heights < 0.1], atol=1e-16)


def test_corners_of_the_second_hull_are_its_own():
    """Two hulls share one array of corners; the plane sees those of its pair only."""
    found = touch(hull_plane, (hull([[0, 0, -1], [0, 0, 1]]), at()), (hull(CORNERS), at()), 5.0)
    np.testing.assert_array_equal(found.gap, [-1.0, 1.0])
    found = touch(
        hull_plane, (hull([[0, 0, -1], [0, 0, 1]]), at()), (hull(CORNERS), at()), 5.0, is_swapped=True
    )
    np.testing.assert_array_equal(found.gap, [-1.0, 1.0])


# ----- Cylinders ------------------------------------------------------------------------------------------


def test_standing_cylinder_has_four_points_fixed_in_the_plane():
    found = touch(cylinder_plane, (cylinder(0.5, 1.0), at(z=1.0)), GROUND)
    np.testing.assert_array_equal(found.feature, [0, 1, 2, 3])
    np.testing.assert_array_equal(found.gap, 0.0)
    np.testing.assert_array_equal(found.point[:, :2], [[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    for angle in np.linspace(0.1, 6.0, 7):
        spun = touch(cylinder_plane, (cylinder(0.5, 1.0), at(z=1.0, axes=turn("z", angle))), GROUND)
        np.testing.assert_array_equal(spun.feature, found.feature)
        np.testing.assert_allclose(spun.point, found.point, atol=1e-16)


def test_standing_upside_down_uses_the_other_rim():
    found = touch(cylinder_plane, (cylinder(0.5, 1.0), at(z=1.0, axes=turn("x", np.pi))), GROUND)
    np.testing.assert_array_equal(found.feature, [4, 5, 6, 7])
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)


def test_points_of_a_cylinder_at_rest_do_not_wander():
    rng = np.random.default_rng(4)
    for _ in range(20):
        tilt = turn("x", rng.normal(scale=1e-8)) @ turn("y", rng.normal(scale=1e-8))
        found = touch(cylinder_plane, (cylinder(0.5, 1.0), at(z=1.0, axes=tilt)), GROUND)
        np.testing.assert_array_equal(found.feature, [0, 1, 2, 3])
        corners = [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, -0.5, 0.0]]
        np.testing.assert_allclose(found.point, corners, atol=1e-7)


@pytest.mark.parametrize("tilt", [0.5 * FLAT, 2 * FLAT, 1e-3, 0.3])
def test_tipping_cylinder_stands_on_the_point_it_tips_over(tilt):
    """Whichever way it tips, the missing depth is at most (1 − 1/√2) r FLAT, and none beyond FLAT."""
    for way in np.linspace(0.0, 2 * np.pi, 9):
        axes = turn("z", way) @ turn("y", tilt) @ turn("z", -way)
        found = touch(cylinder_plane, (cylinder(0.5, 1.0), at(z=1.0, axes=axes)), GROUND, 0.2)
        truth = 1.0 - 0.5 * np.sin(tilt) - np.cos(tilt)
        missed = (1 - 0.5**0.5) * 0.5 * FLAT if tilt <= FLAT else 0.0
        assert -1e-15 <= found.gap.min() - truth <= missed + 1e-15
        if tilt > FLAT:
            across = found.point[0, :2] / np.linalg.norm(found.point[0, :2])
            np.testing.assert_allclose(across, [np.cos(way), np.sin(way)], atol=1e-9)


def test_rolling_cylinder_keeps_two_points_below_its_axis():
    lying = turn("y", np.pi / 2)
    for angle in np.linspace(0.0, 7.0, 50):
        found = touch(
            cylinder_plane, (cylinder(0.5, 1.0), at(z=0.5, axes=lying @ turn("z", angle))), GROUND, 0.05
        )
        np.testing.assert_array_equal(found.feature, [0, 4])
        np.testing.assert_allclose(found.point, [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], atol=1e-15)
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)


def test_rolling_coin_keeps_one_point_below_its_centre():
    for angle in np.linspace(0.0, 7.0, 50):
        axes = turn("z", angle) @ turn("y", 1.2) @ turn("z", 3.0 * angle)
        found = touch(cylinder_plane, (cylinder(0.5, 0.01), at(z=0.47, axes=axes)), GROUND, 0.002)
        np.testing.assert_array_equal(found.feature, [0])
        truth = 0.47 - 0.5 * np.sin(1.2) - 0.01 * np.cos(1.2)
        assert found.gap[0] == pytest.approx(truth, abs=1e-15)
