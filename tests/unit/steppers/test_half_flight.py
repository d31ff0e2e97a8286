"""The scheme of two half flights, in motions with closed forms or with references of high order.

Each is one that a scheme of order 1 spoils within seconds though every step solves its problem: rolling over
an edge, spin behind hinges, fast loops, pendulums over minutes; and impacts, where a scheme of order 2 must
be as exact as one of order 1. Steps are of 1 ms, options those that users get.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taction as ta
from moving_scenes import (
    GIMBAL,
    PENDULUM,
    axis_height,
    crank,
    leaning_coin,
    tilted_disc,
)
from taction.steppers import columns as column

SCHEME = "half-flight"


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("degrees", [10.0, 30.0])
def test_a_disc_that_rolls_in_place_keeps_its_tilt(degrees, coordinates):
    """The path of the rim in a step is (Ω h)² of its radius off: hundredths of a degree."""
    world, q, v = tilted_disc(degrees)
    run = ta.Simulation(world, dt=1e-3, stepper=SCHEME, coordinates=coordinates).run(10.0, q=q, v=v)
    tilt = np.degrees(np.arccos(axis_height(run)))
    assert np.abs(tilt - degrees).max() <= 0.01
    assert abs(run.energy.final - run.energy.initial) <= 1e-5 * run.energy.initial
    assert run.certificate.residual <= 1e-9


def test_a_coin_on_a_circle_keeps_its_lean_for_a_minute():
    world, q, v = leaning_coin()
    run = ta.Simulation(world, dt=1e-3, stepper=SCHEME).run(60.0, q=q, v=v)
    lean = 90.0 - np.degrees(np.arccos(axis_height(run)))
    assert np.abs(lean - 20.0).max() <= 0.005
    axis = Rotation.from_quat(run.q[:, [4, 5, 6, 3]]).apply([0.0, 0.0, 1.0])
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    assert abs(turned[-1] - turned[0] - 120.0) <= 0.01 * 120.0


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_gyroscope_in_a_gimbal_nods_as_it_must(coordinates):
    """Against an integrator of order 5 whose steps adapt."""
    model, start = ta.load_mjcf(GIMBAL), {"q": [0.0, 1.0, 0.0], "v": [0.0, 2.0, 100.0]}
    exact = ta.Simulation(model, dt=1e-2, integrator="dormand-prince").run(10.0, **start)
    sim = ta.Simulation(ta.World(model), dt=1e-3, stepper=SCHEME, coordinates=coordinates)
    run = sim.run(10.0, **start)
    assert run.certificate.joint_gap <= 1e-14
    assert np.abs(np.degrees(run.q[::10, 1] - exact.q[:, 1])).max() <= 0.005


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize(("rate", "bound"), [(50.0, 1e-4), (300.0, 0.01)])
def test_a_slider_crank_keeps_its_energy(rate, bound, coordinates):
    """At 300 rad/s a step of 1 ms turns the crank by a third of a radian."""
    world = ta.World(ta.load_mjcf(crank()))
    sim = ta.Simulation(world, dt=1e-3, stepper=SCHEME, coordinates=coordinates)
    run = sim.run(1.0, v=[rate, -1.25 * rate, 0.0])
    assert np.abs(run.kinetic / run.kinetic[0] - 1.0).max() <= bound


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_double_pendulum_keeps_its_energy_for_a_minute(coordinates):
    world = ta.World(ta.load_mjcf(PENDULUM), self_collision="none")
    sim = ta.Simulation(world, dt=1e-3, stepper=SCHEME, coordinates=coordinates)
    run = sim.run(60.0, q=[2.5, 1.0])
    energy, most = run.kinetic + run.potential, run.kinetic.max()
    assert np.abs(energy - energy[0]).max() <= 5e-4 * most
    assert abs(energy[-10_000:].mean() - energy[:10_000].mean()) <= 1e-4 * most


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_balls_strike_as_newton_and_coulomb_say(coordinates):
    """Forty balls, each on its own, with any spin, friction and restitution, against the closed form."""
    rng, r, count, h = np.random.default_rng(7), 0.1, 40, 1e-3
    parts, q, v, after = [], [], [], []
    for k in range(count):
        mu, e = rng.uniform(0.0, 1.5), rng.choice([0.0, rng.uniform()])
        material = ta.Material(friction=mu, restitution=e)
        parts.append(ta.free_body(f"ball {k}", ta.Sphere(r), mass=1.0, material=material))
        u, w = rng.normal(size=3) * 2.0, rng.normal(size=3) * 30.0
        u[2] = -rng.uniform(0.1, 5.0)
        q += [3.0 * k, 0.0, r - rng.uniform(0.0, 0.9) * h * u[2], 1.0, 0.0, 0.0, 0.0]
        v += [*u, *w]
        # Normal impulse, then the tangential one that would stick, or as much as friction has of it
        arm, normal = np.array([0.0, 0.0, -r]), -(1.0 + e) * u[2]
        slip = (u + np.cross(w, arm)) * [1.0, 1.0, 0.0]
        tangential = -slip / 3.5
        size = np.linalg.norm(tangential)
        tangential *= min(1.0, mu * normal / size)
        after.append(
            [*(u + tangential + [0.0, 0.0, normal]), *(w + np.cross(arm, tangential) / (0.4 * r * r))]
        )
    world = ta.World(*parts, ground=ta.Plane(friction=10.0), gravity=(0, 0, 0), combine="smaller")
    run = ta.Simulation(world, dt=h, stepper=SCHEME, coordinates=coordinates).run(5 * h, q=q, v=v)
    end, poses = run.v[-1].reshape(count, 6).copy(), run.q[-1].reshape(count, 7)
    end[:, 3:] = Rotation.from_quat(poses[:, [4, 5, 6, 3]]).apply(end[:, 3:])
    np.testing.assert_allclose(end, after, rtol=0, atol=1e-8)


def falling_chain(links, length=0.05, radius=0.01, inset=0.006):
    """Capsules in ball joints, nearly upright above the ground, as a file has them."""
    text, ends, bends = "", "", ("0 1 -3", "0 0 4")
    for k in range(links):
        turn, x, z = ("0 -80 0", 0.01, 0.06) if k == 0 else (bends[k % 2], length, 0.0)
        joint = "<freejoint/>" if k == 0 else '<joint type="ball"/>'
        text += f"""<body pos="{x} 0 {z}" euler="{turn}">{joint}
          <geom type="capsule" fromto="{inset} 0 0 {length - inset} 0 0" size="{radius}" mass="0.02"
            friction="0.5 0 0"/>"""
        ends += "</body>"
    return f"<mujoco><worldbody>{text}{ends}</worldbody></mujoco>"


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3])
def test_a_chain_that_falls_in_a_heap(dt, coordinates):
    """Energy, and overlap of shapes where steps end: links pass each other at 2 m/s and turn by 100 rad/s.

    What an impact changes of the ways of others, by some a = 500 m/s², is parted before the next step.
    """
    model = ta.load_mjcf(falling_chain(30))
    sim = ta.Simulation(
        ta.World(model, ground=ta.Plane(friction=0.5)), dt=dt, stepper=SCHEME, coordinates=coordinates
    )
    run = sim.run(1.0)
    energy = run.kinetic + run.potential
    assert np.diff(energy).max() <= 1e-6 * energy[0] and energy.max() <= energy[0] * (1.0 + 1e-12)
    assert run.certificate.unconverged_steps == 0 and run.certificate.joint_gap <= 1e-14
    depth = np.array([deepest(model, q) for q in run.q])
    assert depth.max() <= 1e-6


def deepest(model, q, length=0.05, radius=0.01, inset=0.006):
    """Deepest overlap of links that are no neighbours, and of links with the ground, in closed form [m]."""
    bodies = ta.forward_kinematics(model, q)
    axis = bodies.rotation[:, :, 0]
    p, d = bodies.position + inset * axis, (length - 2.0 * inset) * axis
    i, j = np.triu_indices(len(p), 2)
    r = p[i] - p[j]
    a, b, c, e, f = _dot(d[i], d[i]), _dot(d[i], d[j]), _dot(d[i], r), _dot(d[j], d[j]), _dot(d[j], r)
    s = np.clip((b * f - c * e) / np.maximum(a * e - b * b, 1e-14), 0.0, 1.0)
    t = (b * s + f) / e
    s = np.where(t < 0.0, np.clip(-c / a, 0.0, 1.0), np.where(t > 1.0, np.clip((b - c) / a, 0.0, 1.0), s))
    apart = r + s[:, None] * d[i] - np.clip(t, 0.0, 1.0)[:, None] * d[j]
    floor = min(p[:, 2].min(), (p + d)[:, 2].min())
    return max(2.0 * radius - np.linalg.norm(apart, axis=1).min(), radius - floor)


def _dot(a, b):
    return np.einsum("ni,ni->n", a, b)


def test_a_chain_that_falls_on_the_ground_makes_no_energy():
    """A thousand joint velocities, a hundred contacts of links with each other and the ground."""
    world = ta.World(ta.load_mjcf(falling_chain(30)), ground=ta.Plane(friction=0.5))
    run = ta.Simulation(world, dt=1e-3, stepper=SCHEME).run(0.5)
    energy = run.kinetic + run.potential
    assert np.diff(energy).max() <= 1e-6 * energy[0]
    assert run.certificate.unconverged_steps == 0


HALVED = (2e-3, 1e-3, 5e-4, 2.5e-4)  # s
END = 0.2  # s


def rolling():
    """A disc that wobbles on its rim, faster than precession alone would have it."""
    world, q, v = tilted_disc(30.0)
    return world, q, [*v[:3], *(1.1 * np.array(v[3:]))]


def rolling_without_slip():
    """The same, with the velocity of its centre that rolling asks for."""
    world, q, v = rolling()
    axes = Rotation.from_quat([*q[4:], q[3]]).as_matrix()
    # The lowest point of the rim from the centre
    axis = axes[:, 2]
    down = np.array([0.0, 0.0, -1.0])
    across = down - (down @ axis) * axis
    arm = 0.04 * across / np.linalg.norm(across) - 0.001 * np.sign(axis[2]) * axis
    return world, q, [*(-np.cross(axes @ v[3:], arm)), *v[3:]]


def spinning():
    """A heavy top, off its centre, in a gimbal of three hinges."""
    text = GIMBAL.replace('gravity="0 0 0"', 'gravity="0 0 -9.81"')
    text = text.replace('<inertial pos="0 0 0" mass="0.5"', '<inertial pos="0 0 0.05" mass="0.5"')
    return ta.World(ta.load_mjcf(text)), [0.0, 1.0, 0.0], [0.0, 20.0, 100.0]


def chain():
    """A double pendulum."""
    return ta.World(ta.load_mjcf(PENDULUM), self_collision="none"), [2.5, 1.0], [3.0, -5.0]


def loop():
    """A slider crank at 50 rad/s."""
    return ta.World(ta.load_mjcf(crank())), None, [50.0, -62.5, 0.0]


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("scene", [rolling_without_slip, spinning, chain, loop])
def test_order_two_over_four_steps(scene, coordinates):
    """Ends of runs whose steps are halved differ by ¾ c h²: by a quarter of it each time."""
    world, q, v = scene()
    ends = []
    for dt in HALVED:
        sim = ta.Simulation(world, dt=dt, stepper=SCHEME, coordinates=coordinates)
        run = sim.run(END, q=q, v=v)
        ends.append(np.concatenate([run.q[-1], run.v[-1] * END]))
    apart = [np.linalg.norm(b - a) for a, b in pairwise(ends)]
    orders = np.log2(np.array(apart[:-1]) / apart[1:])
    assert (orders >= 1.7).all(), (apart, orders)
    assert orders[-1] <= 2.6, (apart, orders)


WEDGE = """<mujoco><worldbody><geom type="plane" size="9 9 1" friction="0.8"/>
<geom name="lid" type="box" size="3 3 0.5" pos="0 0 0.6" friction="0.8"/>
<geom name="left" type="box" size="0.5 3 0.5" pos="-1 0 0.5" friction="0.8"/>
<geom name="right" type="box" size="0.5 3 0.5" pos="1 0 0.5" friction="0.8"/>
<body name="plank" pos="0 0 0.05"><freejoint/><geom type="box" size="0.5 0.1 0.05" friction="0.8"/>
<body name="flap"><joint axis="0 1 0" range="-10 10"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.02"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("solver", ["auto", "newton"])
def test_a_plank_wedged_between_walls_has_impulses_in_every_step(solver):
    """In steps of 10 ms it turns against them: a flight changes velocities as no contact could make good."""
    model = ta.load_mjcf(WEDGE)
    for seed in range(6):
        v = np.random.default_rng(seed).normal(size=model.nv)
        run = ta.Simulation(ta.World(model), dt=0.01, solver=solver).run(0.2, v=v)
        assert not run.records[:, column.UNCONVERGED].any()
        whole = run.kinetic + run.potential
        assert whole[-1] < whole[0]
