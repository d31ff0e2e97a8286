"""The second-order scheme: its order in flight, sliding and rolling, in both coordinates; and free bodies.

Errors are taken against a run with an eighth of the smallest step, which leaves them wrong by 1/64; orders
are then within 0.15 of 2, where the steps resolve the motion.
"""

import numpy as np
import pytest

import taction as ta
from taction.steppers.schemes.dispatch import SCHEMES

ROUGH = ta.Material(1.0)
STEPS = (2e-3, 1e-3)


def top():
    """A heavy top on a ball joint, and a start in fast spin."""
    b = ta.ModelBuilder("top")
    b.body("top", ta.Inertia.solid(ta.Cylinder(0.04, 0.01), mass=0.5))
    b.spherical("pivot", parent="world", child="top", child_pose=ta.Transform(translation=(0.0, 0.0, -0.06)))
    tilt = 0.35
    return ta.World(b.build()), [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0], [0.0, 1.0, 60.0]


def chain():
    return ta.World(ta.robots.chain(4)), np.full(4, 0.4), [1.0, -2.0, 3.0, 1.0]


def sliding_block():
    """Across a slope: friction turns the direction of sliding."""
    block = ta.free_body(
        "b", ta.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05), material=ta.Material(0.3)
    )
    world = ta.World(block, ground=ta.Plane(friction=0.3), gravity=(2.5, 0.0, -9.5))
    return world, None, [0, 2.0, 0, 0, 0, 0]


def sliding_ball():
    ball = ta.free_body("s", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), material=ta.Material(0.3))
    return ta.World(ball, ground=ta.Plane(friction=0.3)), None, [3.0, 0, 0, 0, 10.0, 20.0]


def rolling_ellipsoid():
    """Its radii of curvature and the height of its centre change as it rolls."""
    body = ta.free_body("e", ta.Ellipsoid((0.1, 0.15, 0.12)), mass=1.0, position=(0, 0, 0.12), material=ROUGH)
    return ta.World(body, ground=ta.Plane(friction=1.0)), None, [-0.36, 0, 0, 0, -3.0, 0]


def ball_on_dome():
    """Both surfaces are curved, and the normal turns."""
    ball = ta.free_body("s", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), material=ROUGH)
    dome = ta.Shape(ta.Sphere(0.5), ta.Transform(translation=(0, 0, -0.5)), ROUGH)
    return ta.World(ball, ground=[dome]), None, [0.5, 0, 0, 0, 5.0, 0]


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("scene", [top, chain, sliding_block, sliding_ball, rolling_ellipsoid, ball_on_dome])
@pytest.mark.parametrize("stepper", ["midpoint", "half-flight"])
def test_order_two(scene, coordinates, stepper):
    world, q, v = scene()
    ends = []
    for h in (*STEPS, STEPS[-1] / 8):
        run = ta.Simulation(world, dt=h, stepper=stepper, coordinates=coordinates).run(0.1, q=q, v=v)
        assert run.certificate.residual <= 1e-9
        ends.append(run)
    errors = [np.abs(ta.difference(world.model, ends[-1].q[-1], run.q[-1])).max() for run in ends[:2]]
    assert np.log2(errors[0] / errors[1]) >= 1.85
    rates = [np.abs(ends[-1].v[-1] - run.v[-1]).max() for run in ends[:2]]
    assert np.log2(rates[0] / rates[1]) >= 1.85


def moment(world, run):
    """Moment of momentum of a single free body about its centre, in the world, of every state."""
    I = world.model.spec.bodies[0].inertia.matrix
    R = np.array([ta.Transform.from_quaternion(quaternion=q[-4:]).rotation for q in run.q])
    return np.einsum("nij,jk,nk->ni", R, I, run.v[:, -3:])


@pytest.mark.parametrize(
    ("shape", "spin"),
    [(ta.Cylinder(0.1, 0.01), (1.0, 0.0, 100.0)), (ta.Box((0.3, 0.2, 0.05)), (11.0, 13.0, 10.0))],
    ids=["disc", "box"],
)
@pytest.mark.parametrize("stepper", [name for name, s in SCHEMES.items() if not s.is_projected])
def test_a_tumbling_body_gains_no_energy(stepper, shape, spin):
    """A step of 1 ms turns the disc by 0.1 rad; explicit gyroscopic forces made it explode."""
    world = ta.World(ta.free_body("body", shape, mass=1.0), gravity=(0, 0, 0))
    run = ta.Simulation(world, dt=1e-3, stepper=stepper).run(2.0, v=[0, 0, 0, *spin])
    assert np.ptp(run.kinetic) <= 1e-12 * run.kinetic[0]  # rounding of 2000 steps
    L = moment(world, run)
    assert np.ptp(np.linalg.norm(L, axis=1)) <= 1e-12 * np.linalg.norm(L[0])
    if not SCHEMES[stepper].is_momentum:
        assert np.abs(L - L[0]).max() <= 1e-12 * np.abs(L[0]).max()


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau", "midpoint"])
def test_a_body_whose_frame_is_not_at_its_centre_keeps_momentum(stepper):
    solid = ta.Inertia.solid(ta.Box((0.3, 0.2, 0.05)), mass=1.0)
    b = ta.ModelBuilder("odd", gravity=(0.0, 0.0, 0.0))
    b.body("odd", solid.placed(ta.Transform(translation=(0.1, -0.05, 0.2))))
    b.floating("free", child="odd")
    world = ta.World(b.build())
    run = ta.Simulation(world, dt=1e-3, stepper=stepper).run(1.0, v=[0.3, 0.1, 0.2, 11.0, 13.0, 10.0])
    assert np.ptp(run.kinetic) <= 1e-12 * run.kinetic[0]
    c = np.array([0.1, -0.05, 0.2])
    R = np.array([ta.Transform.from_quaternion(quaternion=q[3:]).rotation for q in run.q])
    speed = run.v[:, :3] + np.einsum("nij,nj->ni", R, np.cross(run.v[:, 3:], c))
    np.testing.assert_allclose(speed, np.broadcast_to(speed[0], speed.shape), rtol=0, atol=1e-12)


def floating_arm():
    """A body in space with an arm of two links, joints free."""
    b = ta.ModelBuilder("arm", gravity=(0.0, 0.0, 0.0))
    b.body("base", ta.Inertia.solid(ta.Box((0.3, 0.2, 0.1)), mass=2.0))
    b.floating("free", child="base")
    for parent, child, axis in (("base", "upper", (0, 1, 0)), ("upper", "fore", (1, 0, 0))):
        b.body(child, ta.Inertia.solid(ta.Capsule(0.03, 0.3), mass=0.5))
        b.revolute(
            f"{child} joint", parent=parent, child=child, axis=axis,
            pose=ta.Transform(translation=(0, 0, 0.15)),
            child_pose=ta.Transform(translation=(0, 0, -0.15)),
        )  # fmt: skip
    return ta.World(b.build())


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau", "midpoint"])
def test_a_tumbling_robot_gains_no_energy(stepper):
    """A floating base with an arm at 12 rad/s: its error falls with h, and does not add up."""
    world, v = floating_arm(), [0, 0, 0, 10.0, 3.0, -6.0, 1.0, -2.0]
    errors = []
    for h in STEPS:
        run = ta.Simulation(world, dt=h, stepper=stepper).run(4.0, v=v)
        relative = run.kinetic / run.kinetic[0] - 1.0
        errors.append(np.abs(relative).max())
        halves = np.array_split(np.abs(relative), 2)
        assert halves[1].max() <= 3.0 * halves[0].max()  # swings, does not grow
    order = 2 if stepper == "midpoint" else 1
    assert np.log2(errors[0] / errors[1]) >= order - 0.2
    assert errors[1] <= (1e-4 if stepper == "midpoint" else 5e-2)


def wobbling_disc(stepper, dt, time):
    """A disc that rolls on its rim, tilted by 10°, its centre at rest: Euler's disc, steady for ever."""
    tilt, r, thick = np.radians(10.0), 0.1, 0.01
    R = ta.Transform.from_rpy(rpy=(tilt, 0.0, 0.0)).rotation
    arm = R @ np.array([0.0, -r, -0.5 * thick])
    rate = np.sqrt(4.0 * 9.81 / (r * np.sin(tilt)))
    w = -rate * np.sin(tilt) * arm / np.linalg.norm(arm)
    disc = ta.free_body(
        "disc", ta.Cylinder(r, thick), mass=1.0, position=(0, 0, -arm[2]), rotation=R, material=ROUGH
    )
    world = ta.World(disc, ground=ta.Plane(friction=1.0))
    start = np.concatenate([-np.cross(w, arm), R.T @ w])
    return ta.Simulation(world, dt=dt, stepper=stepper).run(time, v=start)


def test_a_wobbling_disc_keeps_its_energy():
    run = wobbling_disc("midpoint", 1e-3, 2.0)
    energy = run.kinetic + run.potential
    lying = 9.81 * 0.005
    assert np.abs(energy - energy[0]).max() <= 1e-3 * (energy[0] - lying)
    assert run.certificate.residual <= 1e-9
    loss = wobbling_disc("stewart-trinkle", 1e-3, 2.0)
    assert loss.kinetic[-1] + loss.potential[-1] - lying < 0.5 * (
        energy[0] - lying
    )  # what order 1 makes of it


def test_a_disc_falls_flat_and_lies():
    """Its rim runs around without end as it comes down; paths are dropped in time, and no energy is made."""
    tilt = np.radians(10.0)
    R = ta.Transform.from_rpy(rpy=(tilt, 0.0, 0.0)).rotation
    height = 0.1 * np.sin(tilt) + 0.005 * np.cos(tilt)
    disc = ta.free_body(
        "disc", ta.Cylinder(0.1, 0.01), mass=1.0, position=(0, 0, height), rotation=R, material=ROUGH
    )
    run = ta.Simulation(ta.World(disc, ground=ta.Plane(friction=1.0)), dt=1e-3, stepper="midpoint").run(2.0)
    energy = run.kinetic + run.potential
    assert energy.max() <= energy[0] * (1 + 1e-5)
    assert abs(run.v[-1]).max() <= 1e-6
    assert run.q[-1, 2] == pytest.approx(0.005, abs=1e-6)
