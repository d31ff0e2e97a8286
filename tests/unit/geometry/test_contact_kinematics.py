"""Rates against differences, conditions against closed forms, the search against samples; unions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from helpers import has_one_line, random_direction, random_rotation
from taction._core.errors import BadInput
from taction.geometry.contact_kinematics import (
    ContactPoints,
    closest_points,
    conditions,
    correct,
    generalised_rates,
    regular_rates,
    track,
)
from taction.geometry.contact_kinematics.homogeneous import tilde
from taction.geometry.surfaces import (
    Cylinder,
    Ellipsoid,
    Parametric,
    Plane,
    Sphere,
    Superquadric,
    Torus,
    Union,
)
from taction.math.transform import Transform, rotation_about

BALL, EGG = Sphere(0.2), Ellipsoid((0.1, 0.2, 0.3))
BOX = Superquadric((0.15, 0.2, 0.25), (0.8, 0.7))
RING, BAR = Torus(0.3, 0.08), Cylinder(0.05)


def bowl(x, y):
    """Hollow above: the radius of curvature at the bottom is 1 m."""
    return x, y, 0.5 * (x**2 + y**2)


BOWL = Parametric(bowl, ((-0.5, 0.5), (-0.5, 0.5)), "bowl", grid=(9, 9))
PAIRS = {
    "spheres": (BALL, Sphere(0.3)),
    "ellipsoids": (EGG, Ellipsoid((0.2, 0.15, 0.1))),
    "sphere, plane": (BALL, Plane()),
    "plane, ellipsoid": (Plane(), EGG),
    "superquadric, ellipsoid": (BOX, EGG),
    "superquadric, plane": (BOX, Plane()),
    "ellipsoid, cylinder": (EGG, BAR),
    "cylinders": (BAR, Cylinder(0.1)),
    "torus, sphere": (RING, BALL),
    "ellipsoid, torus": (EGG, RING),
}


def placed(rng, distance):
    """Pose at a random orientation, the origin of body 2 at a distance [m]."""
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = random_rotation(rng), distance * random_direction(rng)
    return H


def check_equation_six(first, second, H, points):
    """p_1 + Δ g_1 = H p_2 and g_1 = −H g_2, both points on their surfaces, to rounding."""
    g1, g2 = first.gauss_map(points.p1), H[:3, :3] @ second.gauss_map(points.p2)
    between = H[:3, :3] @ points.p2 + H[:3, 3] - points.p1
    np.testing.assert_allclose(points.distance * g1, between, atol=2e-14)
    np.testing.assert_allclose(g1, -g2, atol=2e-13)
    np.testing.assert_allclose(first.onto(points.p1), points.p1, atol=1e-15)
    np.testing.assert_allclose(second.onto(points.p2), points.p2, atol=1e-15)


@pytest.mark.parametrize("pair", PAIRS)
def test_generalised_rates_are_derivatives_of_closest_points(pair):
    """Central differences with h = 1e-5 of points that are exact to 1e-15: h² and 1e-15/h, below 1e-8."""
    first, second = PAIRS[pair]
    rng = np.random.default_rng(1)
    h, signs = 1e-5, set()
    for distance in (0.15, 0.3, 0.7) if "torus" not in pair else (0.7, 0.8):
        H, twist = placed(rng, distance), rng.normal(size=6)
        points = closest_points(first, second, H)
        check_equation_six(first, second, H, points)
        signs.add(np.sign(points.distance))
        rates = generalised_rates(first, second, H, twist, points)
        before, after = (correct(first, second, expm(s * h * tilde(twist)) @ H, points) for s in (-1.0, 1.0))
        for name in ("p1", "p2", "distance"):
            slope = (np.asarray(getattr(after, name)) - getattr(before, name)) / (2.0 * h)
            scale = max(1.0, float(np.abs(slope).max()))
            np.testing.assert_allclose(getattr(rates, name), slope, rtol=0, atol=1e-7 * scale)
    assert "plane" in pair or "torus" in pair or signs == {-1.0, 1.0}


@pytest.mark.parametrize(
    "pair", ["ellipsoids", "superquadric, ellipsoid", "plane, ellipsoid", "torus, sphere"]
)
def test_regular_rates_are_those_of_touching_bodies(pair):
    """Body 2 is pushed along the normal until it touches; a twist without normal velocity there."""
    first, second = PAIRS[pair]
    rng = np.random.default_rng(2)
    for _ in range(3):
        H = placed(rng, 0.7)
        points = closest_points(first, second, H)
        n = first.gauss_map(points.p1)
        H[:3, 3] -= points.distance * n
        points = ContactPoints(points.p1, points.p2, 0.0)
        twist = rng.normal(size=6)
        velocity = twist[3:] + np.cross(twist[:3], points.p1)
        with pytest.raises(BadInput, match=r"normal velocity .* must be zero"):
            regular_rates(first, second, H, twist, points)
        twist[3:] -= (n @ velocity) * n
        one, two = (f(first, second, H, twist, points) for f in (regular_rates, generalised_rates))
        np.testing.assert_allclose(one.p1, two.p1, atol=1e-12)
        np.testing.assert_allclose(one.p2, two.p2, atol=1e-12)
        assert one.distance == 0.0 and abs(two.distance) < 1e-14
        rolling = np.concatenate([twist[:3], -np.cross(twist[:3], points.p1)])  # rounding is no velocity
        same = regular_rates(first, second, H, rolling, points)
        np.testing.assert_allclose(same.p1, H[:3, :3] @ same.p2, atol=1e-11)
        # (3): ṗ_1 = Ḣ p_2 + H ṗ_2
        slip = twist[3:] + np.cross(twist[:3], points.p1)
        np.testing.assert_allclose(one.p1, slip + H[:3, :3] @ one.p2, atol=1e-11)


def test_the_printed_order_of_equation_eight_is_wrong():
    """The matrix of the first line belongs to ṗ_1: with ṗ_2, as printed, the line does not hold."""
    first, second = PAIRS["ellipsoids"]
    rng = np.random.default_rng(3)
    H, twist = placed(rng, 0.6), rng.normal(size=6)
    R, points = H[:3, :3], closest_points(first, second, H)
    rates = generalised_rates(first, second, H, twist, points)
    A, B = first.gauss_derivative(points.p1), R @ second.gauss_derivative(points.p2) @ R.T
    M = A + B @ (np.eye(3) + points.distance * A)
    y = R @ points.p2 + H[:3, 3]
    right = np.cross(twist[:3], first.gauss_map(points.p1)) + B @ (twist[3:] + np.cross(twist[:3], y))
    np.testing.assert_allclose(M @ rates.p1, right, atol=1e-10)
    assert np.abs(M @ rates.p2 - right).max() > 0.1


def test_correction_is_quadratic_and_ends_at_rounding():
    first, second = PAIRS["ellipsoids"]
    H = placed(np.random.default_rng(4), 0.6)
    exact = closest_points(first, second, H)
    for shift in (1e-2, 1e-4, 1e-8):
        near = ContactPoints(exact.p1 + shift, exact.p2 - shift, 0.0)
        found = correct(first, second, H, near)
        np.testing.assert_allclose(found.p1, exact.p1, atol=1e-15)
        np.testing.assert_allclose(found.p2, exact.p2, atol=1e-15)


# ----- Conditions -----------------------------------------------------------------------------------------


def test_spheres_overlap_down_to_the_sum_of_their_radii():
    """Δ_min = −(r + s) for spheres: there they are concentric, and every point is a closest one."""
    H = np.eye(4)
    H[0, 3] = 0.4
    one, two = Sphere(0.2), Sphere(0.3)
    found = conditions(one, two, H, closest_points(one, two, H))
    assert found.are_met and found.rank == 2 and found.is_relatively_convex
    assert found.lowest == pytest.approx(-0.5, rel=1e-7) and found.highest == math.inf
    assert found.relative_curvature == pytest.approx(1 / 0.2 + 1 / 0.3)
    H[0, 3] = 0.0
    concentric = conditions(one, two, H, ContactPoints([0.2, 0, 0], [-0.3, 0, 0], -0.5))
    assert concentric.rank == 0 and "overlap of 0.5 m" in concentric.limit
    with pytest.raises(BadInput, match=r"Sphere\(radius=0.2\) and Sphere\(radius=0.3\): overlap"):
        concentric.require()


def test_ellipsoids_overlap_down_to_the_least_sum_of_radii_of_curvature():
    """Coaxial, touching with the ends of their long axes c: radii a²/c and b²/c in both directions."""
    one, two = Ellipsoid((0.1, 0.15, 0.3)), Ellipsoid((0.2, 0.15, 0.25))
    H = np.eye(4)
    H[2, 3] = 0.6
    found = conditions(one, two, H, closest_points(one, two, H))
    sums = 0.1**2 / 0.3 + 0.2**2 / 0.25, 0.15**2 / 0.3 + 0.15**2 / 0.25
    assert found.lowest == pytest.approx(-min(sums), rel=1e-12)


def test_beyond_the_limit_there_are_closer_points():
    """Coaxial ellipsoids in overlap: by symmetry (6) holds on the axis at any depth."""
    one, two = Ellipsoid((0.1, 0.15, 0.3)), Ellipsoid((0.2, 0.15, 0.25))
    H, limit = np.eye(4), 0.15**2 / 0.3 + 0.15**2 / 0.25
    for depth, is_met in ((0.2 * limit, True), (0.99 * limit, True), (1.01 * limit, False)):
        H[2, 3] = 0.55 - depth
        axial = ContactPoints([0, 0, 0.3], [0, 0, -0.25], -depth)
        assert conditions(one, two, H, axial).are_met == is_met
        deepest = closest_points(one, two, H)
        assert deepest.distance >= -depth - 1e-15
        assert is_met or deepest.distance > -depth + 1e-6
        assert conditions(one, two, H, deepest).are_met


def test_a_hollow_surface_limits_the_distance_from_above():
    """A ball of radius r in a bowl of radius 1: relatively convex, and apart up to its centre."""
    H = np.eye(4)
    for height, is_met in ((0.3, True), (0.9, True), (1.1, False)):
        H[2, 3] = height
        found = conditions(BOWL, BALL, H, ContactPoints([0, 0, 0], [0, 0, -0.2], height - 0.2))
        assert found.relative_curvature == pytest.approx(1.0 / 0.2 - 1.0)
        assert found.highest == pytest.approx(1.0 - 0.2) and found.are_met == is_met
    big = conditions(BOWL, Sphere(2.0), H, ContactPoints([0, 0, 0], [0, 0, -2.0], 0.0))
    assert not big.is_relatively_convex and "not relatively convex" in big.limit
    H[2, 3] = 0.25
    assert closest_points(BOWL, BALL, H).distance == pytest.approx(0.05, abs=1e-14)


def test_points_that_are_not_unique_are_named():
    H = np.eye(4)
    H[:3, :3], H[2, 3] = rotation_about([1, 0, 0], math.pi), 1.0
    with pytest.raises(BadInput, match=r"Plane\(\) and Plane\(\)"):
        closest_points(Plane(), Plane(), H)
    twist = np.ones(6)
    with pytest.raises(BadInput, match=r"Plane\(\) and Plane\(\): closest points are not unique") as caught:
        generalised_rates(Plane(), Plane(), H, twist, ContactPoints(np.zeros(3), np.zeros(3), 1.0))
    assert has_one_line(caught.value)
    H[:3, :3], H[:3, 3] = np.eye(3), (0.5, 0.0, 0.0)
    points = ContactPoints([0.05, 0, 0], [-0.05, 0, 0], 0.4)
    assert conditions(BAR, BAR, H, points).rank == 1
    with pytest.raises(BadInput, match="not unique"):
        generalised_rates(BAR, BAR, H, twist, points)


def test_a_track_stops_where_the_conditions_break():
    """A ball pushed through a ball: closest points jump where centres meet, at t = 0.5 s."""

    def motion(t):
        H = np.eye(4)
        H[0, 3] = 0.5 - t
        return H, np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0])

    start = closest_points(BALL, Sphere(0.3), motion(0.0)[0])
    found = track(BALL, Sphere(0.3), motion, start, 0.45, 45)
    np.testing.assert_allclose(found.distance, -found.t, atol=1e-14)
    with pytest.raises(BadInput, match=r"at t = 0.6 s: Sphere.* and Sphere.*: overlap of 0.6 m"):
        track(BALL, Sphere(0.3), motion, start, 0.6, 4, is_corrected=False)


# ----- The search -----------------------------------------------------------------------------------------


def nearest_sample(first, second, H, count=60):
    """An upper bound on the distance of two bounded surfaces, from a grid on each."""
    clouds = []
    for surface in (first, second):
        a, b = np.meshgrid(np.linspace(-math.pi, math.pi, count), np.linspace(-math.pi, math.pi, count))
        clouds.append(np.array([surface.point(u) for u in zip(a.ravel(), b.ravel(), strict=True)]))
    moved = clouds[1] @ H[:3, :3].T + H[:3, 3]
    return min(float(np.linalg.norm(moved - p, axis=1).min()) for p in clouds[0])


@pytest.mark.parametrize("pair", [(RING, Torus(0.2, 0.05)), (EGG, RING), (BOX, EGG), (RING, BOX)])
def test_nothing_is_nearer_than_the_closest_points(pair):
    """Grids of 60 by 60 points are at most 3 cm coarse: their least distance is larger by some mm at most."""
    rng = np.random.default_rng(5)
    for distance in (0.75, 0.9):
        H = placed(rng, distance)
        found = closest_points(*pair, H)
        check_equation_six(*pair, H, found)
        sampled = nearest_sample(*pair, H, 40)
        assert found.distance <= sampled + 1e-12 and sampled - found.distance < 0.02


def test_flat_points_are_found_and_sharp_ones_refused():
    """A rounded box that lies on a plane touches where it is flat; curvature has to be finite elsewhere."""
    H = np.eye(4)
    H[2, 3] = 0.3
    flat = closest_points(Plane(), BOX, H)
    assert flat.distance == pytest.approx(0.05, abs=1e-15)
    np.testing.assert_allclose(flat.p2, [0.0, 0.0, -0.25], atol=1e-15)
    assert conditions(Plane(), BOX, H, flat).rank == 0
    sharp = Superquadric((0.1, 0.2, 0.3), (1.5, 1.5))
    H[2, 3] = 0.6
    with pytest.raises(BadInput, match="no finite curvature"):
        closest_points(BALL, sharp, H)
    H[:3, :3] = rotation_about([0.6, 0.8, 0.0], 0.3)
    check_equation_six(BALL, sharp, H, closest_points(BALL, sharp, H))


def test_bodies_and_poses_can_be_exchanged():
    rng = np.random.default_rng(6)
    for first, second in PAIRS.values():
        H = placed(rng, 0.8)
        one, two = closest_points(first, second, H), closest_points(second, first, np.linalg.inv(H))
        assert one.distance == pytest.approx(two.distance, abs=1e-13)
        np.testing.assert_allclose(one.p1, two.p2, atol=1e-11)


def test_wrong_poses_are_named():
    for H, words in ((np.diag([1.0, 1.0, -1.0, 1.0]), "not a rotation"), (np.eye(3), "expected shape"),
                     (np.diag([1.0, 1.0, 1.0, 2.0]), "last row")):  # fmt: skip
        with pytest.raises(BadInput, match=words):
            closest_points(BALL, EGG, H)
    with pytest.raises(BadInput, match="body 2 must be a surface or a union"):
        closest_points(BALL, "egg", np.eye(4))


def stretched(a, b):
    """`EGG` as a function."""
    return 0.1 * np.cos(b) * np.cos(a), 0.2 * np.cos(b) * np.sin(a), 0.3 * np.sin(b)


def test_a_function_moves_like_the_surface_it_describes():
    function = Parametric(stretched, ((-math.pi, math.pi), (-1.5, 1.5)), grid=(16, 9))
    other = Ellipsoid((0.2, 0.15, 0.1))
    H, twist = placed(np.random.default_rng(10), 0.45), np.linspace(-1.0, 1.0, 6)
    found = [closest_points(surface, other, H) for surface in (function, EGG)]
    assert found[0].distance == pytest.approx(found[1].distance, abs=1e-14)
    np.testing.assert_allclose(found[0].p1, found[1].p1, atol=1e-12)
    one, two = (
        generalised_rates(surface, other, H, twist, points)
        for surface, points in zip((function, EGG), found, strict=True)
    )
    np.testing.assert_allclose(one.p1, two.p1, atol=1e-10)
    np.testing.assert_allclose(one.p2, two.p2, atol=1e-10)


# ----- Unions ---------------------------------------------------------------------------------------------


def test_a_union_reports_the_nearest_member():
    """Two balls as a dumbbell that turns over a plane: the lower ball is the closest, and they take turns."""
    dumbbell = Union([(Sphere(0.1), Transform(translation=(0.3, 0, 0))),
                      (Sphere(0.2), Transform(translation=(-0.3, 0, 0)))])  # fmt: skip
    for angle in np.linspace(-1.0, 1.0, 11):
        H = np.eye(4)
        H[:3, :3], H[2, 3] = rotation_about([0, 1, 0], angle), 0.5
        found = closest_points(Plane(), dumbbell, H)
        heights = 0.5 - 0.3 * math.sin(angle) - 0.1, 0.5 + 0.3 * math.sin(angle) - 0.2
        assert found.distance == pytest.approx(min(heights), abs=1e-14)
        assert found.members == (0, int(heights[1] < heights[0]))
        x = H[:3, :3] @ found.p2 + H[:3, 3]
        np.testing.assert_allclose(x, found.p1 + np.array([0, 0, found.distance]), atol=1e-14)


def test_unions_are_the_least_of_their_pairs():
    rng = np.random.default_rng(7)
    surfaces = [BALL, EGG, Sphere(0.1), BOX]
    places = [Transform(random_rotation(rng), rng.uniform(-0.3, 0.3, 3)) for _ in surfaces]
    one, two = (Union(list(zip(surfaces[k : k + 2], places[k : k + 2], strict=True))) for k in (0, 2))
    H = placed(rng, 0.8)
    found = closest_points(one, two, H)
    least = min(
        (closest_points(a, b, x.inverse().matrix @ H @ y.matrix).distance, (i, j))
        for i, (a, x) in enumerate(one.members)
        for j, (b, y) in enumerate(two.members)
    )
    assert found.distance == pytest.approx(least[0], abs=1e-14) and found.members == least[1]
