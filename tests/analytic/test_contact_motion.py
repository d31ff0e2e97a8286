"""Contact points along motions for which they are known in closed form, and the classics of rolling."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from contact_motions import ExactMotion, within_an_octant
from taction.geometry.contact_kinematics import (
    ContactPoints,
    closest_points,
    generalised_rates,
    regular_rates,
    track,
)
from taction.geometry.surfaces import Ellipsoid, Plane, Sphere, Superquadric, Torus
from taction.math.transform import rotation_about, skew

DURATION = 10.0
LONG, FLAT = Ellipsoid((0.3, 0.2, 0.25)), Ellipsoid((0.15, 0.2, 0.22))
ROUNDED, PILLOW = Superquadric((0.3, 0.2, 0.25), (0.8, 0.7)), Superquadric((0.2, 0.25, 0.15), (1.2, 0.9))
PAIRS = {
    "ellipsoids": (LONG, FLAT),
    "sphere, plane": (Sphere(0.2), Plane()),
    "ellipsoid, plane": (LONG, Plane()),
    "superquadric, plane": (ROUNDED, Plane()),
    "sphere, ellipsoid": (Sphere(0.2), LONG),
    "superquadric, ellipsoid": (ROUNDED, FLAT),
    "superquadrics": (PILLOW, ROUNDED),
    "sphere, superquadric": (Sphere(0.2), PILLOW),
}
DISTANCES = {
    "apart": lambda t: 0.15 + 0.1 * np.sin(t),
    "touching": lambda t: 0.0 * t,
    "overlapping": lambda t: -0.03 + 0.01 * np.cos(2.0 * t),
    "through": lambda t: 0.04 * np.cos(1.5 * t),
}


def motion_of(pair, distance):
    first, second = PAIRS[pair]
    options = (within_an_octant,) if "superquadric" in pair else ()
    return ExactMotion(first, second, DISTANCES[distance], *options)


def start_of(motion):
    moment = motion.at(0.0)
    return ContactPoints(moment.p1, moment.p2, moment.distance)


def error_of(found, motion, every=1):
    """The largest error of a point over the whole motion, and of Δ [m]."""
    points, distances = [0.0], [0.0]
    for t, p1, p2, delta in zip(
        *(x[::every] for x in (found.t, found.p1, found.p2, found.distance)), strict=True
    ):
        moment = motion.at(float(t))
        points += [np.linalg.norm(p1 - moment.p1), np.linalg.norm(p2 - moment.p2)]
        distances.append(abs(delta - moment.distance))
    return max(points), max(distances)


CASES = [("ellipsoids", distance) for distance in DISTANCES]
CASES += [pytest.param(pair, "through", marks=pytest.mark.long) for pair in list(PAIRS)[1:]]


@pytest.mark.parametrize(("pair", "distance"), CASES)
def test_corrected_points_are_exact(pair, distance):
    """Ten seconds in steps of 0.1 s. Allowed: rounding of 0.3 m times a condition of some hundred."""
    motion = motion_of(pair, distance)
    found = track(*PAIRS[pair], motion, start_of(motion), DURATION, 100)
    points, distances = error_of(found, motion)
    assert points <= 1e-14 and distances <= 1e-14


@pytest.mark.parametrize(("pair", "distance"), CASES)
def test_uncorrected_points_have_order_four(pair, distance):
    """Three steps, each half as long: errors fall by 2⁴ in the limit, by 2^3.5 to 2^5 on the way."""
    motion = motion_of(pair, distance)
    duration, coarse = (DURATION, 60) if pair == "ellipsoids" else (4.0, 20)
    errors = []
    for n in (coarse, 2 * coarse, 4 * coarse):
        found = track(*PAIRS[pair], motion, start_of(motion), duration, n, is_corrected=False)
        errors.append(error_of(found, motion, n // 20)[0])
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert 1e-11 < errors[-1] < errors[0] < 1e-2
    assert all(3.5 < order < 5.0 for order in orders), (errors, orders)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("pair", ["ellipsoids", "ellipsoid, plane", "superquadric, ellipsoid"])
def test_the_search_finds_them_without_a_start(pair, distance):
    motion = motion_of(pair, distance)
    for t in np.linspace(0.0, DURATION, 4):
        moment = motion.at(float(t))
        found = closest_points(*PAIRS[pair], moment.H)
        assert abs(found.distance - moment.distance) <= 1e-13
        np.testing.assert_allclose(found.p1, moment.p1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.p2, moment.p2, rtol=0, atol=1e-12)


# ----- Classics of rolling --------------------------------------------------------------------------------

RADIUS = 0.1


def rolled(legs, per_leg):
    """Roll a ball on a plane along straight legs (direction, length): the pose and the contact at the end."""
    H = np.eye(4)
    H[2, 3] = RADIUS
    points = ContactPoints(np.zeros(3), np.array([0.0, 0.0, -RADIUS]), 0.0)
    for angle, length in legs:
        c = np.array([math.cos(angle), math.sin(angle), 0.0])
        axis = np.cross([0.0, 0.0, 1.0], c)
        R0, x0 = H[:3, :3].copy(), H[:3, 3].copy()

        def motion(t, c=c, axis=axis, R0=R0, x0=x0):
            G = np.eye(4)
            G[:3, :3], G[:3, 3] = rotation_about(axis, t / RADIUS) @ R0, x0 + t * c
            return G, np.concatenate([axis, RADIUS * c - np.cross(axis, G[:3, 3])]) / RADIUS

        found = track(Plane(), Sphere(RADIUS), motion, points, length, per_leg, is_corrected=False)
        points = ContactPoints(found.p1[-1], found.p2[-1], found.distance[-1])
        H = motion(length)[0]
    return H, points


def test_rolling_round_an_octant_turns_a_ball_by_its_area():
    """Three legs of a quarter turn with right angles between them: π/2 about the normal."""
    quarter = 0.5 * math.pi * RADIUS
    H, points = rolled([(0.0, quarter), (0.5 * math.pi, quarter), (math.pi, quarter)], 80)
    np.testing.assert_allclose(H[:3, :3], rotation_about([0, 0, 1], -0.5 * math.pi), atol=1e-14)
    np.testing.assert_allclose(points.p2, [0.0, 0.0, -RADIUS], atol=1e-8)
    np.testing.assert_allclose(points.p1, [0.0, quarter, 0.0], atol=1e-12)


@pytest.mark.parametrize("colatitude", [0.4, 1.0, 1.4])
def test_rolling_round_a_circle_turns_a_ball_by_the_solid_angle(colatitude):
    """Contact runs round a circle of the ball while the ball rolls along an arc of the plane.

    The arc has the geodesic curvature κ = cot θ/r of the circle. With α = κ and unit speed the rotation is
    Rz(α t) exp(t (ŷ/r − α ẑ)); once around it is Rz(2π cos θ), minus the solid angle 2π (1 − cos θ).
    """
    kappa = 1.0 / (RADIUS * math.tan(colatitude))
    axis = np.array([0.0, 1.0 / RADIUS, -kappa])
    rate = float(np.linalg.norm(axis))

    def motion(t):
        H = np.eye(4)
        H[:3, :3] = rotation_about([0, 0, 1], kappa * t) @ rotation_about(axis / rate, rate * t)
        c = np.array([math.cos(kappa * t), math.sin(kappa * t), 0.0])
        H[:3, 3] = math.sin(kappa * t) / kappa, (1.0 - math.cos(kappa * t)) / kappa, RADIUS
        omega = np.cross([0.0, 0.0, 1.0], c) / RADIUS
        return H, np.concatenate([omega, c - np.cross(omega, H[:3, 3])])

    start = ContactPoints(np.zeros(3), np.array([0.0, 0.0, -RADIUS]), 0.0)
    length = 2.0 * math.pi * RADIUS * math.sin(colatitude)
    found = track(Plane(), Sphere(RADIUS), motion, start, length, 160, is_corrected=False)
    np.testing.assert_allclose(found.p2[-1], start.p2, atol=1e-8)
    np.testing.assert_allclose(found.p1[-1], motion(length)[0][:3, 3] * (1, 1, 0), atol=1e-8)
    solid_angle = 2.0 * math.pi * (1.0 - math.cos(colatitude))
    np.testing.assert_allclose(motion(length)[0][:3, :3], rotation_about([0, 0, 1], -solid_angle), atol=1e-13)
    opposite = RADIUS * np.array([0.0, math.sin(2 * colatitude), -math.cos(2 * colatitude)])
    np.testing.assert_allclose(found.p2[80], opposite, atol=1e-8)


@pytest.mark.parametrize("tilt", [0.0, 0.3, 0.9])
def test_a_coin_rolls_round_a_circle(tilt):
    """A thin torus at a constant tilt: contact runs with σ (a + ε cos τ) on coin and ground."""
    a, e, turning, rolling = 0.05, 0.002, 1.3, 4.0
    coin = Torus(a, e)

    def turned(t):
        upright = rotation_about([1, 0, 0], 0.5 * math.pi - tilt)
        return rotation_about([0, 0, 1], turning * t) @ upright @ rotation_about([0, 0, 1], rolling * t)

    def arm(R):
        """From the centre to the contact: to the lowest point of the ring, then down through the tube."""
        axis = R[:, 2]
        low = np.array([0.0, 0.0, -1.0]) + axis[2] * axis
        return a * low / np.linalg.norm(low) - np.array([0.0, 0.0, e])

    def motion(t):
        R = turned(t)
        omega = np.array([0.0, 0.0, turning]) + rolling * R[:, 2]
        velocity = -np.cross(omega, arm(R))  # no slip
        H = np.eye(4)
        H[:3, :3] = R
        H[:3, 3] = np.cross(velocity, [0.0, 0.0, 1.0]) / turning  # v = Ω ẑ × centre
        H[2, 3] = -arm(R)[2]
        return H, np.concatenate([omega, velocity - np.cross(omega, H[:3, 3])])

    H = motion(0.0)[0]
    start = ContactPoints(H[:3, 3] + arm(H[:3, :3]), H[:3, :3].T @ arm(H[:3, :3]), 0.0)
    rates = regular_rates(Plane(), coin, *motion(0.0), start)
    speed = rolling * (a + e * math.cos(tilt))
    assert np.linalg.norm(rates.p1) == pytest.approx(speed, rel=1e-12)
    assert np.linalg.norm(rates.p2) == pytest.approx(speed, rel=1e-12)
    np.testing.assert_allclose(rates.p1, H[:3, :3] @ rates.p2, atol=1e-14)
    found = track(Plane(), coin, motion, start, 2.0 * math.pi / turning, 100)
    np.testing.assert_allclose(found.p1[-1], found.p1[0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.p1, axis=1), speed / turning, atol=1e-12)
    np.testing.assert_allclose(found.distance, 0.0, atol=1e-14)


def spheroid(a, c, latitude):
    """Principal radii of curvature around and along a meridian, by the latitude of the normal [m]."""
    h = math.hypot(a * math.cos(latitude), c * math.sin(latitude))
    return a * a / h, (a * c) ** 2 / h**3


def test_montanas_equations_for_spheroids():
    """Coordinates (u_1, u_2, ψ) of two spheroids: prescribed rates, Montana's formula, and the rates here.

    With axes to the east and north and the normal: M the lengths of both coordinates, K the curvatures, T the
    torsion; (v, ω) body 1 against body 2 at the contact, in axes of body 1 [Montana1988, Eqs. (1) to (3)].
    """
    sizes = (0.2, 0.3), (0.25, 0.1)
    surfaces = [Ellipsoid((a, a, c)) for a, c in sizes]
    motion = ExactMotion(*surfaces, lambda t: 0.0 * t)
    for t in np.linspace(0.1, 6.0, 20):
        moment = motion.at(float(t))
        u, du, psi = moment.angles[:4].reshape(2, 2), moment.rates[:4].reshape(2, 2), moment.angles[4]
        radii = [spheroid(*size, latitude) for size, (_, latitude) in zip(sizes, u, strict=True)]
        M = [np.diag([r[0] * math.cos(latitude), r[1]]) for r, (_, latitude) in zip(radii, u, strict=True)]
        K = [np.diag(1.0 / np.array(r)) for r in radii]
        T = [np.array([math.sin(x[1]) / m[0, 0], 0.0]) for x, m in zip(u, M, strict=True)]
        turn = np.array([[math.cos(psi), -math.sin(psi)], [-math.sin(psi), -math.cos(psi)]])
        (c, s), (q, z) = ((math.cos(x), math.sin(x)) for x in u[0])
        axes = np.array([[-s, -z * c, q * c], [c, -z * s, q * s], [0.0, q, z]])
        omega = -axes.T @ moment.twist[:3]
        v = -axes.T @ (moment.twist[3:] + skew(moment.twist[:3]) @ moment.p1)
        assert abs(v[2]) < 1e-12
        K2 = turn @ K[1] @ turn
        both = np.linalg.inv(K[0] + K2)
        rolling = np.array([-omega[1], omega[0]])
        du1 = np.linalg.solve(M[0], both @ (rolling - K2 @ v[:2]))
        du2 = np.linalg.solve(M[1], turn @ both @ (rolling + K[0] @ v[:2]))
        np.testing.assert_allclose([du1, du2], du, atol=1e-11)
        dpsi = omega[2] + T[0] @ M[0] @ du1 + T[1] @ M[1] @ du2
        assert dpsi == pytest.approx(moment.rates[4], abs=1e-11)
        points = ContactPoints(moment.p1, moment.p2, 0.0)
        for rates in (
            f(*surfaces, moment.H, moment.twist, points) for f in (regular_rates, generalised_rates)
        ):
            np.testing.assert_allclose(axes[:, :2].T @ rates.p1, M[0] @ du1, atol=1e-11)
            assert np.linalg.norm(rates.p2) == pytest.approx(np.linalg.norm(M[1] @ du2), abs=1e-11)
