"""Robots let down onto the ground: the lowest point of their shapes, found another way, touches it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import taction as ta
from helpers import ROBOTS
from taction.bench.dynamics import robot_data
from taction.geometry import place_on_ground
from taction.geometry.detect import BEYOND

LOW = 1e-9  # asked for against planes [m]


def lowest(model: ta.Model, q, up=(0.0, 0.0, 1.0), at=(0.0, 0.0, 0.0)) -> float:
    """The least height of any collision shape above the plane through ``at``, by closed forms [m]."""
    poses, out, up = ta.forward_kinematics(model, q), [], np.asarray(up)
    for b, body in enumerate(model.spec.bodies):
        for shape in body.shapes:
            if not shape.collides:
                continue
            pose = ta.Transform(poses.rotation[b], poses.position[b]) @ shape.pose
            height, d = up @ (pose.translation - at), pose.rotation.T @ up
            g = shape.geometry
            if isinstance(g, ta.Sphere):
                out.append(height - g.radius)
            elif isinstance(g, ta.Capsule):
                out.append(height - g.radius - 0.5 * g.length * abs(d[2]))
            elif isinstance(g, ta.Cylinder):
                out.append(height - g.radius * np.hypot(d[0], d[1]) - 0.5 * g.length * abs(d[2]))
            else:
                out.append(height + float((g.outline() @ d).min()))
    return min(out)


def turned(model: ta.Model, seed: int) -> np.ndarray:
    """A configuration with a turned base anywhere, and joints a little off neutral."""
    rng = np.random.default_rng(seed)
    return ta.integrate(model, model.q0, rng.uniform(-0.7, 0.7, model.nv))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", ["quadruped", "snake"])
def test_robots_on_a_plane(name, seed):
    model = getattr(ta.robots, name)()
    world, q = ta.World(model, ground=ta.Plane()), turned(model, seed)
    placed = world.place_on_ground(q)
    assert abs(lowest(model, placed)) < LOW
    assert np.array_equal(np.delete(placed, 2), np.delete(q, 2))
    assert np.allclose(world.place_on_ground(placed), placed, rtol=0, atol=LOW)


@pytest.mark.parametrize("name", ["go2", "solo12", "a1"])
def test_quadrupeds_of_urdf_files(name):
    folder = robot_data()
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.UnsupportedFeatureWarning)
        model = ta.load_urdf(
            folder / ROBOTS[name], floating_base=True, package_dirs=[folder], load_meshes=True
        )
    q = turned(model, 4)
    assert abs(lowest(model, ta.World(model, ground=ta.Plane()).place_on_ground(q))) < LOW


def test_a_slope_and_gravity_that_is_not_along_z():
    model, slope = ta.robots.quadruped(), ta.Transform.from_rpy((0, 0, 0.3), (0.3, -0.2, 0.1))
    ground = ta.Shape(ta.Plane(), slope)
    q = ta.World(model, ground=ground).place_on_ground()
    assert abs(lowest(model, q, slope.rotation[:, 2], slope.translation)) < LOW
    gravity = tuple(-9.81 * slope.rotation[:, 2])
    tilted = ta.World(model, ground=ground, gravity=gravity).place_on_ground()
    assert abs(lowest(model, tilted, slope.rotation[:, 2], slope.translation)) < LOW
    moved = tilted[:3] - model.q0[:3]
    assert np.allclose(moved, (moved @ slope.rotation[:, 2]) * slope.rotation[:, 2], atol=1e-12)


def test_walls_and_ceilings_hold_nothing():
    model = ta.robots.quadruped()
    wall = ta.Shape(ta.Plane(), ta.Transform.from_rpy((-0.1, 0, 0), (0, np.pi / 2, 0)))
    roof = ta.Shape(ta.Plane(), ta.Transform.from_rpy((0, 0, 0.2), (np.pi, 0, 0)))
    q = ta.World(model, ground=[ta.Plane(), wall, roof]).place_on_ground()
    assert abs(lowest(model, q)) < LOW


def test_the_highest_of_several_grounds():
    """A ball above the corner of a step: it touches the upper edge as a circle touches a point."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0.06, 0, 3.0))
    step = ta.Shape(ta.Box((1.0, 1.0, 0.5)), ta.Transform(translation=(-0.5, 0, 0.25)))
    q = ta.World(ball, ground=[ta.Plane(), step]).place_on_ground()
    assert q[2] == pytest.approx(0.5 + np.sqrt(0.1**2 - 0.06**2), abs=1e-9)
    beside = ta.World(ball, ground=[ta.Plane(), step]).place_on_ground([0.11, 0, -5.0, 1, 0, 0, 0])
    assert beside[2] == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize(
    "shape", [ta.Box((0.3, 0.2, 0.1)), ta.Cylinder(0.1, 0.3), ta.Ellipsoid((0.1, 0.2, 0.05))]
)
def test_shapes_on_a_box(shape):
    """The top of a box that is larger than the shape is a plane."""
    turn = ta.Transform.from_rpy((0, 0, 0), (0.4, -0.3, 0.2)).rotation
    body = ta.free_body("body", shape, mass=1.0, position=(0.1, 0.1, -2.0), rotation=turn)
    on_box = ta.World(body, ground=ta.Shape(ta.Box((5, 5, 1)), ta.Transform(translation=(0, 0, -0.5))))
    on_plane = ta.World(body, ground=ta.Plane())
    assert on_box.place_on_ground()[2] == pytest.approx(on_plane.place_on_ground()[2], abs=1e-8)


def test_terrain():
    """A sphere over a slope of a height field, and a robot that touches and overlaps nothing."""
    x = np.linspace(-1, 1, 21)
    slope = ta.HeightField(np.tile(0.5 * x, (21, 1)), (0.1, 0.1))
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0.13, 0.02, 0))
    q = ta.World(ball, ground=slope).place_on_ground()
    assert q[2] == pytest.approx(0.5 * 0.13 + 0.1 * np.hypot(1, 0.5), abs=1e-9)
    rough = ta.HeightField(np.random.default_rng(3).uniform(0, 0.2, (40, 40)), (0.1, 0.1))
    sim = ta.Simulation(ta.World(ta.robots.quadruped(), ground=rough))
    q = sim.world.place_on_ground()
    assert sim.overlaps(sim.state(q)) == []
    q[2] -= 2e-6
    assert sim.overlaps(sim.state(q)) != []


def bumps(rows: int = 40, cell: float = 0.1) -> ta.HeightField:
    return ta.HeightField(np.random.default_rng(5).uniform(0.0, 0.2, (rows, rows)), (cell, cell))


@pytest.mark.parametrize("far", [0.0, 30.0])
@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_terrain_is_met_where_all_of_it_would_be(monkeypatch, far, tilt):
    """Contacts within reach, doubled where there is none, lead to the place that those at any distance do."""
    model, q = ta.robots.quadruped(), turned(ta.robots.quadruped(), 6)
    q[:3] = 0.3, -0.2, far
    ground = ta.Shape(bumps(), ta.Transform.from_rpy((0.1, 0.2, -0.3), (tilt, 0.0, 0.5)))
    world = ta.World(model, ground=[ground, ta.Shape(ta.Plane(), ta.Transform(translation=(0, 0, -2.0)))])
    near = world.place_on_ground(q)
    monkeypatch.setattr(place_on_ground, "NEAR", np.inf)
    assert np.allclose(near, world.place_on_ground(q), rtol=0.0, atol=1e-11)


def test_only_terrain_near_the_robot_is_looked_at(monkeypatch):
    """The narrow phase is asked for few pairs within a short reach, however large the terrain is."""
    asked, narrow_phase = [], place_on_ground.narrow_phase

    def noted(colliders, placed, travel, pairs, *rest):
        asked.append((len(pairs), travel[:, BEYOND].max()))
        return narrow_phase(colliders, placed, travel, pairs, *rest)

    monkeypatch.setattr(place_on_ground, "narrow_phase", noted)
    world = ta.World(ta.robots.quadruped(), ground=bumps(400))
    world.place_on_ground()
    assert 1 <= len(asked) <= 12  # reaches from a tenth of the trunk to the height of the bumps, and Newton's
    assert max(reach for _, reach in asked) <= 0.4
    assert min(pairs for pairs, _ in asked) < len(world.shape_names) - 1


@pytest.mark.parametrize("place", [(5.0, 0.0), (2.04, 2.04)])
def test_beside_terrain_there_is_no_ground(place):
    """Far from it, and where the sphere around the shape still reaches over its corner."""
    box = ta.free_body("box", ta.Box((0.01, 0.01, 0.2)), mass=1.0, position=(*place, 0.0))
    with pytest.raises(ta.BadInput, match="'box' has no ground below it"):
        ta.World(box, ground=bumps(41)).place_on_ground()


def test_every_robot_is_placed():
    one, two = (
        ta.robots.quadruped(),
        ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(2, 0, 5)),
    )
    world = ta.World(one, two, ground=ta.Plane())
    q = world.place_on_ground()
    assert q[world.model.joint("box/box free").iq + 2] == pytest.approx(0.1, abs=LOW)
    assert abs(lowest(world.model, q)) < LOW


def test_what_cannot_be_placed():
    arm = ta.robots.double_pendulum()
    with pytest.raises(ta.BadInput, match="no robot floats"):
        ta.World(arm, ground=ta.Plane()).place_on_ground()
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(3.0, 0, 0))
    with pytest.raises(ta.BadInput, match="'ball' has no ground below it"):
        ta.World(ball, ground=ta.Box((1, 1, 1))).place_on_ground()
    with pytest.raises(ta.BadInput, match="no ground below"):
        ta.World(ball).place_on_ground()
