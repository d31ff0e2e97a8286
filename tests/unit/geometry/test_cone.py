"""Cones: distances against a closed form, and how they stand, topple and lie."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from helpers import random_direction, random_rotation
from taction.geometry.colliders import PLACED_WIDTH, make_contacts
from taction.geometry.compile import compile_colliders
from taction.geometry.general import general_pairs
from taction.geometry.scratch import SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.math.transform import rotation_from_quaternion

RADIUS, HEIGHT = 0.1, 0.3
CONE = ta.Cone(RADIUS, HEIGHT)
GRAVITY = 9.81
TILT = np.arctan2(RADIUS, HEIGHT)  # of the side's normal against the base
H = 1e-3


def turn(angle):
    """Rotation about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def distance(x):
    """Signed distance of a point to the cone: in the half-plane of x it is a triangle."""
    p = np.array([np.hypot(x[0], x[1]), x[2]])
    apex, rim = np.array([0.0, HEIGHT / 2]), np.array([RADIUS, -HEIGHT / 2])
    out = np.array([np.cos(TILT), np.sin(TILT)])
    side, base = out @ (p - apex), rim[1] - p[1]
    if side <= 0 and base <= 0:
        return max(side, base)
    along = np.clip((p - rim) @ (apex - rim) / ((apex - rim) @ (apex - rim)), 0, 1)
    to_side = np.linalg.norm(p - rim - along * (apex - rim))
    to_base = np.linalg.norm(p - [min(p[0], RADIUS), rim[1]])
    return min(to_side, to_base)


def test_distance_of_a_ball_is_that_of_its_centre():
    """Apart and overlapping, on base, rim, side and apex, to rounding of coordinates below a metre."""
    rng, radius = np.random.default_rng(2), 0.05
    colliders = compile_colliders([(0, ta.Transform(), g) for g in (CONE, ta.Sphere(radius))])
    seen = []
    for _ in range(400):
        R, x = random_rotation(rng), rng.uniform(0.0, 0.3) * random_direction(rng)
        expected = distance(x)
        placed = np.zeros((2, PLACED_WIDTH))
        placed[:, :9], placed[1, 9:] = R.ravel(), R @ x
        contacts, ws = make_contacts(8), np.full((SCRATCH_ROWS, SCRATCH_COLUMNS), np.nan)
        general_pairs(
            colliders, placed, np.array([[0.0, 0.0, 0.0, 1.0]] * 2), np.array([[0, 1]]), 1, ws, contacts
        )
        assert contacts.count[0] == 1
        assert contacts.gap[0] == pytest.approx(expected - radius, abs=1e-13)
        seen.append(expected)
        if abs(expected) > 1e-2:  # the normal is the gradient of the distance, from the ball to the cone
            e = 1e-6 * np.eye(3)
            gradient = np.array([distance(x + d) - distance(x - d) for d in e]) / 2e-6
            if np.linalg.norm(gradient) > 0.999:  # not where two faces are equally near
                np.testing.assert_allclose(contacts.normal[0], -R @ gradient, rtol=0, atol=1e-6)
    assert min(seen) < -0.01 and max(seen) > 0.1


def run(position, rotation=None, others=(), ground=None, seconds=0.3):
    body = ta.free_body("cone", CONE, mass=1.0, position=position, rotation=rotation)
    world = ta.World(body, *others, ground=ground or ta.Plane(friction=0.8))
    return ta.Simulation(world, dt=H).run(seconds)


GROUNDS = {
    "plane": (ta.Plane(friction=0.8), 0.0, ()),
    "terrain": (ta.HeightField(np.zeros((9, 9)), (0.25, 0.25)), 0.0, ()),
    "box": (
        ta.Plane(friction=0.8),
        0.2,
        (ta.free_body("box", ta.Box((0.4, 0.4, 0.2)), mass=2.0, position=(0.0, 0.0, 0.1)),),
    ),
}


@pytest.mark.parametrize("name", GROUNDS)
def test_it_stands_on_its_base(name):
    ground, level, others = GROUNDS[name]
    r = run((0.03, 0.02, level + HEIGHT / 2), others=others, ground=ground)
    np.testing.assert_allclose(r.q[-1, :7], [0.03, 0.02, level + HEIGHT / 2, 1, 0, 0, 0], atol=1e-9)
    assert np.abs(r.v[-1]).max() <= 1e-9
    assert r.certificate.residual <= 1e-8
    assert r.contact_forces()["cone"][-1][2] == pytest.approx(GRAVITY, abs=1e-6)


def test_on_its_tip_it_stands_straight_and_topples_tilted():
    """Balanced it stays; a thousandth of a radian off it falls on its side and stays there."""
    up_down = np.diag([1.0, -1.0, -1.0])
    assert run((0, 0, HEIGHT / 2), up_down, seconds=0.1).q[-1, 2] == pytest.approx(HEIGHT / 2, abs=1e-12)
    r = run((0, 0, HEIGHT / 2 * np.cos(1e-3)), turn(1e-3) @ up_down, seconds=2.0)
    assert r.certificate.residual <= 1e-8
    assert np.abs(r.v[-1]).max() <= 1e-9
    # its middle is half a height from the apex, so that much of its sine above the line it lies on
    assert r.q[-1, 2] == pytest.approx(HEIGHT / 2 * np.sin(TILT), abs=1e-6)


def test_it_lies_on_a_line_of_its_side():
    """Two contacts, apex and rim; the rim carries more, the centre of mass being nearer to it."""
    lying = turn(np.pi / 2 + TILT)  # normal of one side straight down
    r = run((0, 0, HEIGHT / 2 * np.sin(TILT)), lying)
    assert np.abs(r.v[-1]).max() <= 1e-9
    last = r.contacts.step == r.steps - 1
    assert last.sum() == 2 and r.certificate.residual <= 1e-8


def test_it_rolls_about_its_apex():
    """Without sliding, a cone that rolls on its side turns about its apex, which stays, at constant speed."""
    lying = turn(np.pi / 2 + TILT)
    middle = HEIGHT / 2 * np.array([-np.cos(TILT), 0.0, np.sin(TILT)])  # with the apex in the origin
    omega = np.array([2.0, 0.0, 0.0])  # about the line of contact
    body = ta.free_body("cone", CONE, mass=1.0, position=tuple(middle), rotation=lying)
    sim = ta.Simulation(ta.World(body, ground=ta.Plane(friction=0.8)), dt=H)
    r = sim.run(1.0, v=[*np.cross(omega, middle), *(lying.T @ omega)])
    apex = [q[:3] + HEIGHT / 2 * rotation_from_quaternion(q[3:7])[:, 2] for q in r.q]
    np.testing.assert_allclose(apex, 0.0, atol=1e-3)
    assert np.linalg.norm(r.v[-1, 3:6]) == pytest.approx(2.0, rel=1e-2)
    # the centre goes round by ω tan α, α half the angle at the apex
    angle = np.unwrap(np.arctan2(-r.q[:, 1], -r.q[:, 0]))
    assert abs(angle[-1]) == pytest.approx(2.0 * np.tan(TILT), rel=1e-2)
