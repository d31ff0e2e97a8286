"""Grounds and obstacles: the surface is where the height says, and only skin meets pegs."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import taction as ta
from taction.robots import terrain
from taction.robots.snake import place_snake

GROUNDS = {
    "flat": terrain.flat(),
    "inclined": terrain.inclined(0.2),
    "steps": terrain.steps(count=3, rise=0.1, depth=1.0, start=-0.5),
    "sinusoidal": terrain.sinusoidal(amplitude=0.1, wavelength=2.0, x=(-5, 5), y=(-2, 2)),
    "rough": terrain.rough(amplitude=0.1, x=(-5, 5), y=(-2, 2)),
}


def resting_ball(ground: terrain.Terrain, x: float, y: float) -> float:
    """Height above the surface at which the only contact of a small ball says its lowest point is."""
    radius, z = 1e-3, float(ground.height(np.array(x), np.array(y)))
    ball = ta.free_body("ball", ta.Sphere(radius), mass=1.0, position=(x, y, z + radius))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.OverlapWarning)  # on a slope, by what the test allows
        run = ta.Simulation(ta.World(ball, ground=ground.shapes), dt=1e-4).run(1e-4)
    return float(run.contacts.gap.min())


@pytest.mark.parametrize("name", ["flat", "inclined", "steps"])
@pytest.mark.parametrize("x", [0.3, -0.9, -1.8, -2.7])
def test_surface_is_where_the_height_says(name, x):
    """A ball of 1 mm put down there touches; on a slope θ its gap is R (cos θ − 1) in magnitude."""
    assert abs(resting_ball(GROUNDS[name], x, 0.4)) <= 1e-3 * (1 - math.cos(0.2)) + 1e-12


@pytest.mark.parametrize("name", ["sinusoidal", "rough"])
def test_fields_pass_through_the_surface_at_their_grid_points(name):
    shape, height = GROUNDS[name].shapes[0], GROUNDS[name].height
    z, cell = shape.geometry.heights, shape.geometry.cell
    x = shape.pose.translation[0] + cell[0] * (np.arange(z.shape[1]) - 0.5 * (z.shape[1] - 1))
    y = shape.pose.translation[1] + cell[1] * (np.arange(z.shape[0]) - 0.5 * (z.shape[0] - 1))
    np.testing.assert_allclose(z, height(x[None, :], y[:, None]), atol=1e-12)
    assert 0.02 < np.ptp(z) <= 0.2
    assert not height(np.array([0.5]), np.array([0.0])).any()  # level where a robot starts


def test_hills_come_from_their_seed():
    a, b, c = (terrain.rough(seed=s, x=(-3, 1), y=(-1, 1)).shapes[0].geometry.heights for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def touching(skin: float | None) -> set[str]:
    """Shapes in contact of a snake beside a peg, with or without skin."""
    ground = terrain.pegs([(0.1, 0.0795 + 0.05)], radius=0.05)
    world = ta.World(ta.robots.snake(links=2, skin=skin), ground=ground.shapes)
    run = ta.Simulation(world, dt=1e-3).run(1e-3)
    pairs = [{world.shape_names[k] for k in key[:2]} for key in run.contacts.key]
    return {name for pair in pairs if "peg1" in pair for name in pair}


def test_pegs_meet_the_skin_and_nothing_else():
    assert touching(None) == set()
    assert touching(0.3) == {"peg1", "link1_skin"}


def test_pegs_along_a_sine_push_forward():
    """At the zeros of y = a sin kx, on the side from which the normal of the body points to the head, −x."""
    x = np.linspace(0.2, 6.5, 640)
    points = terrain.pegs_along(np.column_stack([x, 0.3 * np.sin(x)]), 0.1)
    assert len(points) == 2  # at π and 2π
    for at, (px, py) in zip((math.pi, 2 * math.pi), points, strict=True):
        slope = 0.3 * math.cos(at)
        side = -math.copysign(1.0, slope)
        normal = np.array([-slope, 1.0]) / math.hypot(1.0, slope)
        np.testing.assert_allclose([px, py], [at, 0.0] + side * 0.1 * normal, atol=0.02)
        assert -side * normal[0] < 0.0  # the peg pushes the body towards −x


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: terrain.inclined(1.7), "angle must lie between"),
        (lambda: terrain.steps(count=0), "count must be an integer of at least 1"),
        (lambda: terrain.steps(rise=0.0), "rise must be positive"),
        (lambda: terrain.sinusoidal(wavelength=-1.0), "wavelength must be positive"),
        (lambda: terrain.rough(cell=0.0), "cell must be positive"),
        (lambda: terrain.pegs([(0, 0)], radius=0.0), "radius must be positive"),
        (
            lambda: terrain.height_field(lambda x, y: x + y, x=(1, 0), y=(0, 1)),
            "extent in x must be positive",
        ),
    ],
)
def test_bad_input(make, text):
    with pytest.raises(ta.ModelError, match=text):
        make()


# ----- The snake that moves on them ----------------------------------------------------------------------


def test_snake_in_place():
    """Inclined by θ the chain rises along x; yaw turns it about the vertical; angles are those given."""
    model = ta.robots.snake(links=3)
    q = place_snake(model, position=(0.1, 0.2, 0.9), incline=0.5)
    at = ta.forward_kinematics(model, q).position
    along = 0.269 * np.array([math.cos(0.5), 0.0, math.sin(0.5)])
    np.testing.assert_allclose(at, [0.1, 0.2, 0.9] + np.arange(3)[:, None] * along, atol=1e-14)
    q = place_snake(model, position=(0, 0, 1), yaw=0.3, angles=np.array([[0.2, 0.0], [-0.1, 0.0]]))
    axes = ta.forward_kinematics(model, q).rotation[:, :, 2]
    np.testing.assert_allclose(np.arctan2(axes[:, 1], axes[:, 0]), [0.3, 0.5, 0.4], atol=1e-14)
    with pytest.raises(ta.BadInput, match="angles"):
        place_snake(model, position=(0, 0, 1), angles=np.zeros((3, 2)))


def sliding(direction: int, roll: float = 0.0, **options) -> np.ndarray:
    """Acceleration [m/s²] of a link that slides head first (−1) or tail first (+1), rolled by an angle."""
    model = ta.robots.snake(links=1, **options)
    q, v = np.array(model.q0), np.zeros(6)
    turn = ta.Transform.from_rpy((0, 0, 0), (roll, 0, 0)).rotation
    start = ta.Transform.from_quaternion((0, 0, 0), q[3:7]).rotation
    q[3:7] = ta.Transform(turn @ start).quaternion
    v[0] = direction * 1.0
    sim = ta.Simulation(ta.World(model, ground=ta.Plane(friction=1.0)), dt=1e-3)
    run = sim.run(0.05, q=q, v=v)
    return (run.v[-1, :2] - run.v[0, :2]) / 0.05


@pytest.mark.parametrize("roll", [0.0, 1.0, 2.5])
def test_friction_forward_and_backward(roll):
    """Head first, towards −x, slides with the first coefficient, tail first with `backward`, at any roll."""
    head = sliding(-1, roll, friction=(0.02, 0.3), backward=0.1)
    tail = sliding(+1, roll, friction=(0.02, 0.3), backward=0.1)
    np.testing.assert_allclose(head, [0.02 * 9.81, 0.0], atol=1e-6)
    np.testing.assert_allclose(tail, [-0.1 * 9.81, 0.0], atol=1e-6)


def test_snake_stops_and_friction_are_checked():
    assert ta.robots.snake(links=2, joint_limit=0.7).upper[6:].tolist() == [0.7, 0.7]
    for options, text in (
        ({"joint_limit": 0.0}, "joint_limit must be positive"),
        ({"friction": (0.1, 0.1, 0.1)}, "friction needs two coefficients"),
        ({"backward": -0.1}, "friction must be non-negative"),
        ({"length": 0.0}, "length must be positive"),
        ({"skin": -1.0}, "friction must be non-negative"),
    ):
        with pytest.raises(ta.ModelError, match=text):
            ta.robots.snake(links=2, **options)
