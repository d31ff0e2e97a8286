"""Terrain against convex shapes: a flat field is a plane, slopes have normals, ridges and peaks hold."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

H = 1e-3
SHAPES = {
    "sphere": (ta.Sphere(0.1), 0.1),
    "capsule": (ta.Capsule(0.05, 0.3), 0.05),
    "box": (ta.Box((0.3, 0.2, 0.1)), 0.05),
    "cylinder": (ta.Cylinder(0.1, 0.1), 0.05),
    "cone": (ta.Cone(0.1, 0.1), 0.05),
    "ellipsoid": (ta.Ellipsoid((0.15, 0.1, 0.08)), 0.08),
    "hull": (ta.Mesh(0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])), 0.1),
}
LYING = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # a capsule's axis turned from z to y


def resting(name, ground, position=(0.03, 0.02), lift=0.0, seconds=0.3):
    """The shape put on the ground at rest and left alone for a while."""
    geometry, height = SHAPES[name]
    mass = ta.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    body = ta.free_body(
        "body",
        geometry,
        mass=1.0,
        position=(*position, height + lift),
        rotation=LYING if name == "capsule" else None,
        inertia=mass,
    )
    return ta.Simulation(ta.World(body, ground=ground), dt=H).run(seconds)


@pytest.mark.parametrize("name", SHAPES)
def test_flat_field_is_a_plane(name):
    """The grid must not be felt: rest where a plane would hold it, forces straight up."""
    run = resting(name, ta.HeightField(np.zeros((9, 9)), cell=(0.25, 0.25)))
    assert run.q[-1, 2] == pytest.approx(SHAPES[name][1], abs=2e-9)
    np.testing.assert_allclose(run.contact_forces()["body"][-1], [0, 0, 9.81], atol=1e-6)


def test_ball_slides_over_cells_without_feeling_them():
    ball = ta.free_body(
        "ball", ta.Sphere(0.1), mass=1.0, position=(-0.8, 0.013, 0.1), material=ta.Material(0.0)
    )
    sim = ta.Simulation(ta.World(ball, ground=ta.HeightField(np.zeros((41, 41)), cell=(0.05, 0.05))), dt=H)
    run = sim.run(1.0, v=[1.0, 0.3, 0, 0, 0, 0])
    np.testing.assert_allclose(run.v[-1, :3], [1.0, 0.3, 0.0], atol=1e-9)


def test_slope_has_its_own_normal():
    """A frictionless ball on a field that rises with x accelerates down the slope by g sin θ."""
    slope = np.tan(np.radians(10.0))
    x = 0.25 * (np.arange(21) - 10)
    field = ta.HeightField(np.tile(slope * x, (21, 1)), cell=(0.25, 0.25))
    height = 0.1 / np.cos(np.radians(10.0))
    ball = ta.free_body(
        "ball", ta.Sphere(0.1), mass=1.0, position=(0, 0.06, height), material=ta.Material(0.0)
    )
    run = ta.Simulation(ta.World(ball, ground=field), dt=H).run(0.3)
    along = run.v[-1, :3] @ [-np.cos(np.radians(10)), 0, -np.sin(np.radians(10))]
    assert along == pytest.approx(9.81 * np.sin(np.radians(10)) * 0.3, rel=1e-6)
    assert abs(run.v[-1, 1]) <= 1e-9


def test_valley_holds_a_ball_on_two_faces():
    x = 0.5 * np.abs(np.arange(11) - 5.0)
    run = resting("sphere", ta.HeightField(np.tile(0.5 * x, (11, 1)), cell=(0.5, 0.5)), (0.0, 0.1), 0.02)
    # in a valley of slope ½ the centre rests r / cos(atan ½) above the bottom
    assert run.q[-1, 2] == pytest.approx(0.1 * np.sqrt(1.25), abs=1e-7)
    assert int(run.records[-1, 17]) == 2


def test_peak_carries_a_box():
    heights = np.zeros((9, 9))
    heights[4, 4] = 0.05
    run = resting("box", ta.HeightField(heights, cell=(0.5, 0.5)), (0.0, 0.0), 0.05, seconds=0.02)
    np.testing.assert_allclose(run.contact_forces()["body"][-1], [0, 0, 9.81], atol=1e-6)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-8)


def test_beyond_the_border_there_is_no_ground():
    run = resting("box", ta.HeightField(np.zeros((3, 3)), cell=(0.5, 0.5)), (2.0, 0.0), seconds=0.1)
    assert run.v[-1, 2] == pytest.approx(-0.981, rel=1e-9)


def test_a_ball_on_a_face_meets_a_ridge_beside_it_in_time():
    """What it hits in the next step is a contact of this one, though the face below is nearer."""
    heights = np.zeros((21, 41))
    heights[:, 22] = 0.008  # a ridge along y, lower than the ball's centre
    ball = ta.free_body(
        "ball", ta.Sphere(0.05), mass=0.2, position=(-0.05, 0.003, 0.05), material=ta.Material(0.0)
    )
    sim = ta.Simulation(ta.World(ball, ground=ta.HeightField(heights, cell=(0.01, 0.01))), dt=H)
    run = sim.run(0.3, v=[0.3, 0.02, 0, 0, 0, 0])
    assert run.q[:, 0].max() > -0.02  # it got there
    assert run.certificate.penetration <= 1e-6
