"""A box and a capsule, against least squares outside and all separating directions inside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

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
    signed_distance,
    touch,
    turn,
)
from taction.geometry.box_capsule import EDGE_BIAS, EDGE_SLACK, box_capsule

CUBE = box(0.5, 0.5, 0.5)
LYING = turn("y", np.pi / 2)  # along x


def least_overlap(h, pose, half, other):
    """Largest separation of box and axis over the normals of their difference."""
    u = other.axes[:, 2]
    normals = [*pose.axes.T, *(np.cross(a, u) for a in pose.axes.T)]
    normals = [n / np.linalg.norm(n) for n in normals if np.linalg.norm(n) > 1e-9]
    d = other.centre - pose.centre
    return max(abs(n @ d) - np.abs(n @ pose.axes) @ h - half * abs(n @ u) for n in normals)


def truth(h, pose, radius, half, other):
    """Gap of box and capsule: the distance of box and axis, or their least overlap, less the radius."""
    A = np.column_stack([half * other.axes[:, 2], -pose.axes])
    b = pose.centre - other.centre
    distance = np.sqrt(2.0 * lsq_linear(A, b, (np.r_[-1, -h], np.r_[1, h]), method="bvls", tol=1e-15).cost)
    return (distance if distance > 1e-7 else least_overlap(h, pose, half, other)) - radius


def random_pair(rng, k):
    """A box and a capsule nearby; every second capsule within a small angle of a face or edge."""
    pose = Pose(random_rotation(rng), rng.normal(size=3))
    h = 10.0 ** rng.uniform(-1, 0, 3)
    axes = random_rotation(rng)
    if k % 2:
        axes = (
            pose.axes @ turn("y", 10.0 ** rng.uniform(-9, -1)) @ np.roll(np.eye(3), rng.integers(3), axis=0)
        )
    centre = pose.centre + rng.choice([0.2, 0.6, 1.0]) * random_direction(rng)
    return h, pose, rng.uniform(0.05, 0.3), 10.0 ** rng.uniform(-1.5, 0), Pose(axes, centre)


def test_gaps_normals_and_points():
    rng = np.random.default_rng(1)
    insides = 0
    for k in range(400):
        h, pose, radius, half, other = random_pair(rng, k)
        gap = truth(h, pose, radius, half, other)
        insides += gap < -radius
        pair = (box(*h), pose), (capsule(radius, half), other)
        found = touch(box_capsule, *pair, 3.0)
        check_contacts(found, 3.0)
        assert 1 <= len(found.gap) <= 2
        # inside, a face is preferred to an edge by a small part
        preferred = EDGE_BIAS * abs(gap + radius) + EDGE_SLACK * h.sum() if gap < -radius else 0.0
        assert -preferred - 1e-12 <= found.gap.min() - gap <= 1e-12
        for x, n, g in zip(found.point, found.normal, found.gap, strict=True):
            # the sides of a face give way by a millionth of its size, so points may lie outside by that
            assert signed_distance(*pair[0], x + 0.5 * g * n) == pytest.approx(0.0, abs=2e-6 * h.max())
            assert signed_distance(*pair[1], x - 0.5 * g * n) <= 1e-14
        if gap > -radius:  # the nearest points are on both surfaces
            k = found.gap.argmin()
            check_surfaces(type(found)(*(array[[k]] for array in found)), *pair, 2e-6)
        assert len(touch(box_capsule, *pair, gap - preferred - 1e-9).gap) == 0
        assert len(touch(box_capsule, *pair, gap + 1e-9).gap) >= 1
    assert insides > 60


def test_order_and_place_do_not_matter():
    rng = np.random.default_rng(2)
    for k in range(20):
        h, pose, radius, half, other = random_pair(rng, 2 * k)
        check_swap(box_capsule, (box(*h), pose), (capsule(radius, half), other), 1.0)
        check_motion(box_capsule, (box(*h), pose), (capsule(radius, half), other), 1.0, rng, 1e-11)


# ----- Capsules on a cube of 1 m ----------------------------------------------------------------------------


def on_top(half=0.3, x=0.0, y=0.0, z=0.6, axes=LYING, margin=0.01):
    """A capsule of radius 0.1 above a cube; z = 0.6 touches."""
    return touch(box_capsule, (CUBE, at()), (capsule(0.1, half), at(x, y, z, axes=axes)), margin)


@pytest.mark.parametrize("gap", [0.0, 0.001, -0.001])
def test_capsule_on_a_face_has_two_contacts(gap):
    found = on_top(z=0.6 + gap)
    np.testing.assert_array_equal(found.feature, [0, 1])
    np.testing.assert_allclose(found.gap, gap, atol=1e-15)
    np.testing.assert_allclose(found.point, [[-0.3, 0, 0.5 + gap / 2], [0.3, 0, 0.5 + gap / 2]], atol=1e-15)
    np.testing.assert_array_equal(found.normal, np.tile([0.0, 0.0, -1.0], (2, 1)))


def test_contacts_end_at_the_edge_of_the_face():
    np.testing.assert_allclose(on_top(x=0.4).point[:, 0], [0.1, 0.5], atol=1e-6)
    np.testing.assert_allclose(on_top(half=2.0).point[:, 0], [-0.5, 0.5], atol=1e-6)


def test_capsule_that_slopes_down_over_an_edge_touches_it():
    """Slightly tilted about the edge x = 0.5, its other end in the air: the edge carries, exactly."""
    tilt = 0.01
    centre = np.array([0.5, 0.0, 0.5]) + 0.1 * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    found = on_top(half=0.4, x=centre[0], z=centre[2], axes=turn("y", tilt) @ LYING, margin=0.01)
    np.testing.assert_array_equal(found.feature, [0, 1])
    assert found.gap[1] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(found.point[1], [0.5, 0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(found.normal[1], [-np.sin(tilt), 0.0, -np.cos(tilt)], atol=1e-14)
    # radius and half length of the axis, seen along z
    expected = centre[2] + 0.4 * np.sin(tilt) - 0.6
    assert found.gap[0] == pytest.approx(expected, abs=1e-15)


def test_standing_and_crossing_capsules_have_one_contact():
    standing = on_top(z=0.9, axes=np.eye(3))
    np.testing.assert_array_equal(standing.feature, [0])
    np.testing.assert_allclose(standing.point, [[0.0, 0.0, 0.5]], atol=1e-15)
    edge = 0.5 + 0.1 * 0.5**0.5
    crossing = on_top(x=edge, z=edge, axes=turn("y", np.pi * 3 / 4), half=0.01)
    np.testing.assert_array_equal(crossing.feature, [2])
    np.testing.assert_allclose(crossing.point, [[0.5, 0.0, 0.5]], atol=1e-15)
    np.testing.assert_allclose(crossing.normal, [[-(0.5**0.5), 0.0, -(0.5**0.5)]], atol=1e-14)


def test_number_of_contacts_does_not_depend_on_rounding():
    """On a face, and along its very edge."""
    rng = np.random.default_rng(3)
    for y in (0.0, 0.5):
        for _ in range(30):
            noise = rng.normal(scale=1e-9, size=4)
            axes = turn("z", noise[0]) @ turn("y", noise[1]) @ LYING
            np.testing.assert_array_equal(on_top(y=y + noise[2], z=0.6 + noise[3], axes=axes).feature, [0, 1])


@pytest.mark.parametrize(
    ("centre", "axes"),
    [
        ((0.0, 0.0, 0.0), np.eye(3)),
        ((0.0, 0.0, 0.0), turn("x", np.pi / 4)),
        ((0.0, 0.0, 0.5), LYING),
        ((0.5, 0.5, 0.0), np.eye(3)),
        ((0.5, 0.5, 0.8), np.eye(3)),
    ],
    ids=["axis", "diagonal", "in the face", "in the edge", "end on the corner"],
)
def test_axis_inside_or_on_the_surface(centre, axes):
    pair = (CUBE, at()), (capsule(0.1, 0.3), at(*centre, axes=axes))
    found = touch(box_capsule, *pair)
    check_contacts(found, 0.01)
    expected = least_overlap(np.full(3, 0.5), pair[0][1], 0.3, pair[1][1]) - 0.1
    assert found.gap.min() == pytest.approx(expected, rel=2 * EDGE_BIAS)
    np.testing.assert_array_equal(found.normal, touch(box_capsule, *pair).normal)
