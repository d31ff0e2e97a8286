"""Two boxes, against all separating directions, least squares and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from helpers import random_direction, random_rotation
from shape_pairs import (
    Pose,
    Touch,
    at,
    box,
    check_contacts,
    check_motion,
    check_swap,
    signed_distance,
    touch,
    turn,
)
from taction.geometry.box import EDGE_PAIRS, LOOSE, NEAREST, SLACK, TIE, box_box
from taction.geometry.box_axes import BIAS

CUBE = box(0.5, 0.5, 0.5)
DOWN = turn("x", np.pi / 4)  # a cube on an edge along x


def largest_separation(h, pose, g, other):
    """Over the fifteen normals of the difference of two boxes."""
    normals = [*pose.axes.T, *other.axes.T, *(np.cross(a, b) for a in pose.axes.T for b in other.axes.T)]
    normals = np.array([n / np.linalg.norm(n) for n in normals if np.linalg.norm(n) > 1e-7])
    reach = np.abs(normals @ pose.axes) @ h + np.abs(normals @ other.axes) @ g
    return (np.abs(normals @ (other.centre - pose.centre)) - reach).max()


def distance(h, pose, g, other):
    """Of two boxes that are apart, by bounded least squares over a point of each."""
    A = np.column_stack([pose.axes, -other.axes])
    found = lsq_linear(A, other.centre - pose.centre, (-np.r_[h, g], np.r_[h, g]), method="bvls", tol=1e-15)
    return np.sqrt(2.0 * found.cost)


def random_pair(rng, k):
    """Two boxes nearby: anyhow, with a face nearly parallel, or with all axes nearly parallel."""
    pose = Pose(random_rotation(rng), rng.normal(size=3))
    axes = random_rotation(rng)
    tilt = turn("x", 10.0 ** rng.uniform(-9, -1)) @ turn("y", 10.0 ** rng.uniform(-9, -1))
    if k % 3 == 1:
        axes = pose.axes @ turn("z", rng.uniform(0.0, 6.0)) @ tilt
    elif k % 3 == 2:
        axes = pose.axes @ np.roll(np.eye(3), rng.integers(3), axis=0) @ tilt
    centre = pose.centre + rng.choice([0.3, 0.8, 1.3]) * random_direction(rng)
    h, g = 10.0 ** rng.uniform(-1, 0, (2, 3))
    return (box(*h), pose), (box(*g), Pose(axes, centre))


def check_pair(first, second):
    """Everything that is promised of the contacts of two boxes; returns whether they are apart."""
    (h, pose), (g, other) = (np.array(first[0].size), first[1]), (np.array(second[0].size), second[1])
    found = touch(box_box, first, second, 5.0)
    check_contacts(found, 5.0)
    assert 1 <= len(found.gap) <= 9
    most, size = largest_separation(h, pose, g, other), h.sum() + g.sum()
    gap = distance(h, pose, g, other) if most > 0 else most
    # what a face may be preferred by, see the module
    preferred = (2 * LOOSE if most > 0 else BIAS) * abs(gap) + TIE * size
    assert abs(found.gap.min() - gap) <= preferred + 1e-12
    n = found.normal[found.gap.argmin()]
    reach = np.abs(n @ pose.axes) @ h + np.abs(n @ other.axes) @ g
    # the normal parts them; a face preferred within a thousandth of a radian, up to that part of the size
    assert n @ (pose.centre - other.centre) - reach >= gap - 2e-3 * size
    for x, n, z in zip(found.point, found.normal, found.gap, strict=True):
        assert signed_distance(*first, x + 0.5 * z * n) == pytest.approx(0.0, abs=2 * SLACK)
        assert signed_distance(*second, x - 0.5 * z * n) == pytest.approx(0.0, abs=2 * SLACK)
    assert len(touch(box_box, first, second, gap - preferred - 1e-9).gap) == 0
    assert len(touch(box_box, first, second, gap + preferred + 1e-9).gap) >= 1
    return most > 0


def test_gaps_normals_and_points():
    rng = np.random.default_rng(1)
    apart = [check_pair(*random_pair(rng, k)) for k in range(450)]
    assert 100 < sum(apart) < 350


@pytest.mark.parametrize("gap", [1e-13, -1e-13, 1e-9, -1e-9, 1e-4])
def test_pairs_that_barely_touch(gap):
    rng = np.random.default_rng(4)
    for k in range(15):
        first, (shape, other) = random_pair(rng, k)
        centre, way = first[1].centre, other.centre - first[1].centre
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            pose = Pose(other.axes, centre + middle * way)
            is_apart = largest_separation(np.array(first[0].size), first[1], np.array(shape.size), pose) > 0
            low, high = (low, middle) if is_apart else (middle, high)
        check_pair(first, (shape, Pose(other.axes, centre + (high + gap) * way)))


def test_order_and_place_do_not_matter():
    rng = np.random.default_rng(2)
    for k in range(30):
        first, second = random_pair(rng, 3 * k)
        check_swap(box_box, first, second, 1.0)
        check_motion(box_box, first, second, 1.0, rng, 1e-11)


def test_scratch_does_not_matter():
    rng = np.random.default_rng(3)
    for k in range(60):
        first, second = random_pair(rng, k)
        one, two = (touch(box_box, first, second, 1.0, scratch=x) for x in (np.nan, 7.0))
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


# ----- Faces ----------------------------------------------------------------------------------------------


def stacked(gap=0.0, x=0.0, y=0.0, axes=None, half=(0.5, 0.5, 0.5), margin=0.01):
    """A box above a cube of 1 m."""
    return touch(box_box, (box(*half), at(x, y, 0.5 + half[2] + gap, axes=axes)), (CUBE, at()), margin)


def corners(found: Touch):
    """Points in the plane, sorted, without negative zeros."""
    return np.array(sorted(map(tuple, found.point[:, :2].round(12) + 0.0)))


@pytest.mark.parametrize("gap", [0.0, 0.001, -0.001])
def test_flush_stack_has_four_exact_contacts(gap):
    found = stacked(gap)
    np.testing.assert_allclose(found.gap, gap, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.normal, np.tile([0.0, 0.0, 1.0], (4, 1)))
    np.testing.assert_array_equal(corners(found), [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
    np.testing.assert_allclose(found.point[:, 2], 0.5 + gap / 2, atol=1e-15)


@pytest.mark.parametrize("turned", [turn("y", np.pi / 2), turn("x", np.pi), turn("z", np.pi / 2)])
@pytest.mark.parametrize("along", range(3))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_every_face_is_exact(turned, along, side):
    """Axis-aligned boxes: exact zeros, whatever faces meet."""
    axes, centre = turned.round(), np.zeros(3)
    half = np.array([0.25, 0.375, 0.5])
    centre[along] = side * (0.5 + np.abs(axes) @ half)[along]
    found = touch(box_box, (box(*half), Pose(axes, centre)), (CUBE, at()))
    assert len(found.gap) == 4
    np.testing.assert_array_equal(found.gap, 0.0)
    expected = np.zeros(3)
    expected[along] = side
    np.testing.assert_array_equal(found.normal, np.tile(expected, (4, 1)))


def test_overhang_small_on_large_and_large_on_small():
    np.testing.assert_array_equal(
        corners(stacked(x=0.3)), [[-0.2, -0.5], [-0.2, 0.5], [0.5, -0.5], [0.5, 0.5]]
    )
    small = [[-0.1, -0.2], [-0.1, 0.2], [0.1, -0.2], [0.1, 0.2]]
    np.testing.assert_array_equal(corners(stacked(half=(0.1, 0.2, 0.3))), small)
    large = [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]
    np.testing.assert_array_equal(corners(stacked(half=(2.0, 1.0, 0.3))), large)
    crossed = [[-0.5, -0.2], [-0.5, 0.2], [0.5, -0.2], [0.5, 0.2]]
    np.testing.assert_array_equal(corners(stacked(half=(2.0, 0.2, 0.3))), crossed)


def test_turned_by_an_eighth_the_overlap_is_an_octagon():
    found = stacked(axes=turn("z", np.pi / 4))
    k = 0.5**0.5 - 0.5  # where x + y = 0.5 √2 meets x = 0.5
    octagon = sorted((s * a, t * b) for a, b in [(0.5, k), (k, 0.5)] for s in (-1, 1) for t in (-1, 1))
    np.testing.assert_allclose(corners(found), octagon, atol=1e-12)
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-15)


def test_corner_of_the_lower_face_under_the_upper():
    """Overhang along both sides of a turned box: corners of both faces and crossings, the true area."""
    found = stacked(x=0.5, y=0.45, axes=turn("z", 0.3))
    a = found.point[:, :2] - found.point[:, :2].mean(axis=0)
    a = a[np.argsort(np.arctan2(a[:, 1], a[:, 0]))]
    area = 0.5 * abs(np.sum(a[:, 0] * np.roll(a[:, 1], -1) - a[:, 1] * np.roll(a[:, 0], -1)))
    grid = (np.arange(1000) + 0.5) / 1000 - 0.5
    x, y = np.meshgrid(grid, grid)
    c, s = np.cos(0.3), np.sin(0.3)
    dx, dy = x - 0.5, y - 0.45
    inside = (abs(c * dx + s * dy) < 0.5) & (abs(c * dy - s * dx) < 0.5)
    assert area == pytest.approx(inside.mean(), abs=2e-3)  # the grid has cells of 1 mm


def test_heights_of_a_tilted_box_are_exact():
    tilt = 0.05
    half = np.array([0.2, 0.2, 0.2])
    R = turn("y", tilt)
    lowest = np.abs(R[2]) @ half
    found = touch(box_box, (box(*half), at(0, 0, 0.5 + lowest, axes=R)), (CUBE, at()), 0.1)
    np.testing.assert_allclose(np.sort(found.gap), [0, 0, 0.4 * np.sin(tilt), 0.4 * np.sin(tilt)], atol=1e-15)
    assert len(touch(box_box, (box(*half), at(0, 0, 0.5 + lowest, axes=R)), (CUBE, at()), 0.01).gap) == 2


@pytest.mark.parametrize("turned", [np.eye(3), turn("z", 0.4)], ids=["flush", "turned"])
def test_contacts_keep_their_identity_at_rest(turned):
    """Noise of a simulation at rest changes neither features nor, by more than itself, points."""
    rng = np.random.default_rng(5)
    reference = stacked(axes=turned)
    for _ in range(100):
        noise = rng.normal(scale=1e-8, size=6)
        R = turn("x", noise[0]) @ turn("y", noise[1]) @ turn("z", noise[2]) @ turned
        found = stacked(noise[3], noise[4], noise[5], axes=R)
        np.testing.assert_array_equal(found.feature, reference.feature)
        np.testing.assert_allclose(found.point, reference.point, atol=5e-7)


def test_wide_plate_keeps_the_face_of_the_first():
    """A plate that overhangs: tilted this little, its own face would be better by tilt times overhang."""
    for tilt in (0.0, 1e-7, 1e-5, 5e-4):
        R = turn("y", tilt)
        centre = np.array([0.0, 0.0, 0.5]) + R @ [0.0, 0.0, 0.05]
        plate = (box(2.0, 1.0, 0.05), Pose(R, centre))
        found = touch(box_box, (CUBE, at()), plate, 0.01)
        reference = touch(box_box, (CUBE, at()), (box(2.0, 1.0, 0.05), at(z=0.55)), 0.01)
        np.testing.assert_array_equal(found.feature, reference.feature)
        # heights over the cube of points of the plate: exact but for the cosine of the tilt
        np.testing.assert_allclose(
            np.sort(found.gap), np.array([-1, -1, 1, 1]) * 0.5 * np.tan(tilt), atol=1e-9
        )


# ----- Edges and corners ----------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 0.005, -0.005])
def test_crossing_edges_have_one_exact_contact(gap):
    upper = (CUBE, at(0.1, 0.2, 2 * 0.5**0.5 + gap, axes=turn("z", np.pi / 2) @ DOWN))
    found = touch(box_box, upper, (CUBE, at(axes=DOWN)))
    assert len(found.gap) == 1 and EDGE_PAIRS <= found.feature[0] < NEAREST
    assert found.gap[0] == pytest.approx(gap, abs=1e-15)
    np.testing.assert_allclose(found.normal, [[0.0, 0.0, 1.0]], atol=1e-15)
    np.testing.assert_allclose(found.point, [[0.1, 0.0, 0.5**0.5 + gap / 2]], atol=1e-15)


def test_edges_have_different_features():
    found = set()
    for k in range(4):
        for m in range(4):
            upper = (CUBE, at(z=2 * 0.5**0.5, axes=turn("z", np.pi / 2) @ DOWN @ turn("x", k * np.pi / 2)))
            found.add(int(touch(box_box, upper, (CUBE, at(axes=DOWN @ turn("x", m * np.pi / 2)))).feature[0]))
    assert len(found) == 16


def test_edges_nearly_in_a_face_also_have_the_contacts_of_the_face():
    """A box about to close on another like a book, hinged on crossing edges."""
    half = np.array([0.5, 0.5, 0.1])
    R = turn("z", 0.3) @ turn("x", 0.02)
    found = touch(box_box, (box(*half), at(0.45, 0.45, 0.61, axes=R)), (box(0.5, 0.5, 0.5), at()), 0.05)
    pair = np.array([0.5, 0.5, 0.1]), Pose(R, np.array([0.45, 0.45, 0.61])), np.full(3, 0.5), at()
    assert found.gap.min() == pytest.approx(distance(*pair), rel=2 * LOOSE)
    assert len(found.gap) >= 3


def overlap_polygon(corners, half):
    """Corners of a polygon (n, 2) cut by the square |x|, |y| ≤ half, side by side."""
    for axis in (0, 1):
        for side in (-1.0, 1.0):
            room, cut = half - side * corners[:, axis], []
            for k in range(len(corners)):
                p, q, a, b = corners[k - 1], corners[k], room[k - 1], room[k]
                if a * b < 0.0:
                    cut.append(p + a / (a - b) * (q - p))
                if b >= 0.0:
                    cut.append(q)
            corners = np.array(cut)
    return corners


def test_corners_of_the_face_beside_a_crossing_of_edges_are_kept():
    """Cubes of 0.2 m, slightly tilted against each other: each corner of the overlap is a contact.

    Only those within a hundredth of the size of the crossing of edges are not: it stands for them.
    """
    rng, crossings, close = np.random.default_rng(0), 0, 0
    for _ in range(200):
        R = turn("z", rng.uniform(0.2, 1.3)) @ turn("x", rng.uniform(-5e-3, 5e-3)) @ turn("y", 3e-3)
        x, y = rng.uniform(-0.06, 0.06, 2)
        found = touch(
            box_box, (box(0.1, 0.1, 0.1), at(x, y, 0.2013, axes=R)), (box(0.1, 0.1, 0.1), at()), 1e-2
        )
        crossing = found.feature >= EDGE_PAIRS
        if not crossing.any():
            continue
        crossings += 1
        edge = found.point[crossing][0]
        lower = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]]) @ (0.1 * R.T) + [x, y, 0.2013]
        for p in overlap_polygon(lower[:, :2], 0.1):
            away = np.linalg.norm(p - edge[:2])
            if away > 0.01:
                close += away < 0.03
                assert np.linalg.norm(found.point[:, :2] - p, axis=1).min() < 1e-4  # half a gap, tilted
    assert crossings > 20 and close > 10


@pytest.mark.parametrize(
    ("offset", "expected"),
    [((1.003, 1.004, 1.0), 0.005), ((1.002, 1.003, 1.006), 0.007), ((1.0, 0.2, 1.0), 0.0)],
    ids=["edges", "corners", "touching edges"],
)
def test_apart_at_edges_and_corners_the_distance_is_exact(offset, expected):
    found = touch(box_box, (CUBE, at(*offset)), (CUBE, at()), 0.01)
    assert found.gap.min() == pytest.approx(expected, abs=1e-15)
    if expected:
        d = np.maximum(np.array(offset) - 1.0, 0.0)
        np.testing.assert_allclose(found.normal[found.gap.argmin()], d / np.linalg.norm(d), atol=1e-12)
    assert len(touch(box_box, (CUBE, at(*offset)), (CUBE, at()), expected - 1e-6).gap) == 0


def test_corner_on_a_face():
    stand = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]).T / np.sqrt([3, 2, 6])  # a diagonal along x
    R = turn("y", -np.pi / 2) @ stand.T
    found = touch(box_box, (CUBE, at(0.1, 0.2, 0.5 + 0.5 * 3**0.5, axes=R)), (box(1.0, 1.0, 0.5), at()))
    assert len(found.gap) == 1
    assert found.gap[0] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(found.point, [[0.1, 0.2, 0.5]], atol=1e-15)
    np.testing.assert_allclose(found.normal, [[0.0, 0.0, 1.0]], atol=1e-15)


@pytest.mark.parametrize(
    "pose",
    [
        at(),
        at(axes=turn("z", np.pi / 4)),
        at(axes=DOWN),
        at(1.0, 1.0, 1.0),
        at(1.0, 1.0, 0.3),
        at(0.0, 0.0, 1e-300),
    ],
    ids=["same", "turned", "on edge", "corner to corner", "edge along edge", "underflow"],
)
def test_degenerate_pairs_are_finite_and_repeat(pose):
    found = touch(box_box, (CUBE, pose), (CUBE, at()))
    check_contacts(found, 0.01)
    assert len(found.gap) >= 1
    most = largest_separation(np.full(3, 0.5), pose, np.full(3, 0.5), at())
    assert found.gap.min() == pytest.approx(most, rel=2 * BIAS, abs=1e-15)
    for a, b in zip(found, touch(box_box, (CUBE, pose), (CUBE, at())), strict=True):
        np.testing.assert_array_equal(a, b)
