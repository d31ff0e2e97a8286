"""Spheres and capsules against each other, spheres against boxes and cylinders."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_direction, random_rotation
from shape_pairs import (
    Pose,
    at,
    box,
    capsule,
    check_contacts,
    check_motion,
    check_surfaces,
    check_swap,
    cylinder,
    signed_distance,
    sphere,
    touch,
    turn,
)
from taction.geometry.closest import segment_segment
from taction.geometry.round import (
    NEAR_PARALLEL,
    box_sphere,
    capsule_capsule,
    capsule_sphere,
    cylinder_sphere,
    sphere_sphere,
)

PAIRS = {
    "sphere-sphere": (sphere_sphere, sphere(0.3), sphere(0.2)),
    "capsule-sphere": (capsule_sphere, capsule(0.1, 0.4), sphere(0.2)),
    "capsule-capsule": (capsule_capsule, capsule(0.1, 0.4), capsule(0.2, 0.3)),
    "box-sphere": (box_sphere, box(0.3, 0.2, 0.1), sphere(0.2)),
    "cylinder-sphere": (cylinder_sphere, cylinder(0.3, 0.2), sphere(0.2)),
}
LYING = turn("y", np.pi / 2)  # along the world's x axis


def random_poses(rng, spread):
    return (
        Pose(random_rotation(rng), rng.normal(size=3)),
        Pose(random_rotation(rng), spread * random_direction(rng)),
    )


@pytest.mark.parametrize("name", PAIRS)
def test_gaps_normals_and_points(name):
    """Surfaces lie half a gap from the point along the normal; the gap is the signed distance of the pair."""
    function, first, second = PAIRS[name]
    rng = np.random.default_rng(1)
    for spread in np.tile([0.05, 0.2, 0.5, 0.9], 20):
        base, offset = random_poses(rng, spread)
        other = Pose(offset.axes, base.centre + offset.centre)
        found = touch(function, (first, base), (second, other), 2.0)
        check_contacts(found, 2.0)
        check_surfaces(found, (first, base), (second, other), 1e-14)
        if name == "capsule-capsule":
            u1, u2 = base.axes[:, 2], other.axes[:, 2]
            w1, w2 = segment_segment(tuple(base.centre), tuple(u1), 0.4, tuple(other.centre), tuple(u2), 0.3)
            gap = np.linalg.norm(base.centre + w1 * u1 - other.centre - w2 * u2) - 0.3
        else:
            gap = signed_distance(first, base, other.centre) - 0.2
        assert found.gap.min() == pytest.approx(gap, abs=1e-14)
        assert len(touch(function, (first, base), (second, other), gap - 1e-12).gap) == 0


@pytest.mark.parametrize("name", PAIRS)
def test_order_and_place_do_not_matter(name):
    function, first, second = PAIRS[name]
    rng = np.random.default_rng(2)
    for spread in (0.1, 0.4):
        base, other = at(), random_poses(rng, spread)[1]
        check_swap(function, (first, base), (second, other), 1.0)
        check_motion(function, (first, base), (second, other), 1.0, rng)


def test_normal_points_from_second_to_first():
    found = touch(sphere_sphere, (sphere(0.5), at(z=1.0)), (sphere(0.5), at()), 0.1)
    np.testing.assert_array_equal(found.normal, [[0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(found.point, [[0.0, 0.0, 0.5]])
    np.testing.assert_array_equal(found.gap, [0.0])
    found = touch(box_sphere, (box(0.5, 0.5, 0.5), at()), (sphere(0.5), at(z=1.0)), 0.1)
    np.testing.assert_array_equal(found.normal, [[0.0, 0.0, -1.0]])
    np.testing.assert_array_equal(found.gap, [0.0])


@pytest.mark.parametrize("name", PAIRS)
def test_same_centre_and_axes(name):
    """No direction is better than another: the result is finite, repeats, and is as deep as it can be."""
    function, first, second = PAIRS[name]
    rng = np.random.default_rng(3)
    pose = Pose(random_rotation(rng), rng.normal(size=3))
    found = touch(function, (first, pose), (second, pose), 0.1)
    again = touch(function, (first, pose), (second, pose), 0.1)
    check_contacts(found, 0.1)
    np.testing.assert_array_equal(found.normal, again.normal)
    thinnest = 0.1 if name == "box-sphere" else 0.2 if name == "cylinder-sphere" else first.size[0]
    assert found.gap.min() == pytest.approx(-(thinnest + second.size[0]), abs=1e-15)


# ----- Two capsules ---------------------------------------------------------------------------------------


def pair_of_capsules(angle=0.0, z=0.2, x=0.0, half=0.5, margin=0.01):
    """Capsules of radius 0.1 along x, the first z above the second, turned about z by an angle."""
    first = (capsule(0.1, half), at(x, 0.0, z, axes=turn("z", angle) @ LYING))
    return touch(capsule_capsule, first, (capsule(0.1, 0.5), at(axes=LYING)), margin)


@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_parallel_capsules_have_two_contacts(angle):
    found = pair_of_capsules(angle)
    np.testing.assert_array_equal(found.feature, [0, 1])
    side = -1.0 if angle == 0.0 else 1.0  # ends are counted along the first capsule
    np.testing.assert_allclose(found.point, [[side * 0.5, 0.0, 0.1], [-side * 0.5, 0.0, 0.1]], atol=1e-15)
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.normal, [[0, 0, 1], [0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize(("x", "half", "low", "high"), [(0.4, 0.5, -0.1, 0.5), (-0.1, 0.2, -0.3, 0.1)])
def test_contacts_of_parallel_capsules_span_the_common_part(x, half, low, high):
    found = pair_of_capsules(x=x, half=half)
    np.testing.assert_allclose(found.point[:, 0], [low, high], atol=1e-15)


def test_capsules_end_to_end_have_one_contact():
    found = pair_of_capsules(x=1.2, z=0.0)
    np.testing.assert_array_equal(found.feature, [2])
    np.testing.assert_allclose(found.point, [[0.6, 0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(found.normal, [[1.0, 0.0, 0.0]], atol=1e-15)


def test_number_of_contacts_does_not_depend_on_rounding():
    rng = np.random.default_rng(4)
    for _ in range(50):
        noise = rng.normal(scale=1e-9, size=3)
        first = (
            capsule(0.1, 0.5),
            Pose(turn("z", noise[0]) @ turn("y", noise[1]) @ LYING, np.array([0, 0, 0.2])),
        )
        found = touch(capsule_capsule, first, (capsule(0.1, 0.5), at(noise[2], axes=LYING)))
        np.testing.assert_array_equal(found.feature, [0, 1])


def test_almost_parallel_capsules_that_cross_also_touch_in_the_middle():
    found = pair_of_capsules(angle=0.5 * NEAR_PARALLEL, z=0.2)
    np.testing.assert_array_equal(found.feature, [0, 1, 2])
    assert found.gap[2] == pytest.approx(0.0, abs=1e-15) and (found.gap[:2] > 1e-4).all()
    np.testing.assert_allclose(found.point[2], [0.0, 0.0, 0.1], atol=1e-15)
    np.testing.assert_array_equal(pair_of_capsules(angle=2 * NEAR_PARALLEL).feature, [2])


def test_capsules_that_may_turn_parallel_within_the_margin_have_both_ends():
    """One end touches; the other, 7° away, may close as fast."""
    tilt = np.radians(7.0)
    first = (capsule(0.1, 0.5), at(z=0.2 + 0.5 * np.sin(tilt), axes=turn("y", tilt) @ LYING))
    for margin, features in ((0.01, [2]), (0.13, [0, 1])):
        found = touch(capsule_capsule, first, (capsule(0.1, 0.6), at(axes=LYING)), margin)
        np.testing.assert_array_equal(found.feature, features)


def test_tilted_capsule_touches_first_at_its_end():
    """The gap is that of the lower end, and the other end is a contact only within the margin."""
    tilt = 0.02
    first = (capsule(0.1, 0.5), at(z=0.2 + 0.5 * np.sin(tilt), axes=turn("y", tilt) @ LYING))
    found = touch(capsule_capsule, first, (capsule(0.1, 0.6), at(axes=LYING)), 0.05)
    np.testing.assert_array_equal(found.feature, [0, 1])
    np.testing.assert_allclose(found.gap, [np.sin(tilt), 0.0], atol=1e-15)
    found = touch(capsule_capsule, first, (capsule(0.1, 0.6), at(axes=LYING)), 0.01)
    np.testing.assert_array_equal(found.feature, [1])


@pytest.mark.parametrize("z", [0.0, 1e-15, -1e-15])
def test_crossing_axes_part_along_their_common_perpendicular(z):
    found = pair_of_capsules(angle=np.pi / 2, z=z)
    assert found.gap == pytest.approx(-0.2, abs=1e-14)
    np.testing.assert_allclose(np.abs(found.normal), [[0.0, 0.0, 1.0]], atol=1e-15)


def test_sphere_inside_leaves_by_the_nearest_face():
    for x, normal, gap in [((0.4, 0, 0), (-1, 0, 0), -0.2), ((0, -0.45, 0.1), (0, 1, 0), -0.15)]:
        found = touch(box_sphere, (box(0.5, 0.5, 0.5), at()), (sphere(0.1), at(*x)))
        np.testing.assert_array_equal(found.normal, [normal])
        assert found.gap[0] == pytest.approx(gap, abs=1e-15)
    found = touch(cylinder_sphere, (cylinder(0.5, 0.5), at()), (sphere(0.1), at(0.3, 0.2)))
    np.testing.assert_allclose(found.normal, [np.array([-3, -2, 0]) / 13**0.5], atol=1e-15)
    assert found.gap[0] == pytest.approx(0.13**0.5 - 0.6, abs=1e-15)
