"""Reduced against absolute coordinates: two formulations of one mechanism, of which each judges the other.

With momenta carried from midpoint to midpoint both discretise the same equations, so what differs is rounding
and the tolerance of the contact solver, and what impacts make of them: they are compared before those grow.
"""

import numpy as np
import pytest

import taction as ta
from taction.kinematics.forward import forward_kinematics
from taction.robots.snake import place_snake
from taction.scenarios import get_scenario


def centre_of_mass(model, q):
    masses = np.array([body.inertia.mass for body in model.spec.bodies])
    places = forward_kinematics(model, q)
    offsets = np.array([body.inertia.com for body in model.spec.bodies])
    centres = places.position + np.einsum("bij,bj->bi", places.rotation, offsets)
    return masses @ centres / masses.sum()


def apart(world, dt, duration, stepper="moreau-momentum", **start):
    """Distance of the centres of mass at the end [m]."""
    ends = []
    for coordinates in ("reduced", "absolute"):
        run = ta.Simulation(world, dt=dt, stepper=stepper, coordinates=coordinates).run(duration, **start)
        assert run.certificate.residual <= 1e-8 and run.certificate.unconverged_steps == 0
        assert run.energy.closure <= 1e-9
        ends.append(centre_of_mass(world.model, run.q[-1]))
    return float(np.abs(ends[0] - ends[1]).max())


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_a_snake_drops_alike(dt):
    model = ta.robots.snake(links=6)
    world = ta.World(model, ground=ta.Plane(friction=1.0))
    q = place_snake(model, position=(0.0, 0.0, 0.2), incline=np.deg2rad(30))
    assert apart(world, dt, 0.4, q=q) <= 1e-6


def test_a_quadruped_falls_alike():
    model = ta.robots.quadruped()
    world = ta.World(model, ground=ta.Plane(friction=0.7))
    q = model.q0.copy()
    q[2] += 0.05
    assert apart(world, 5e-4, 0.2, q=q, controller=ta.PD(kp=500.0, kd=20.0)) <= 1e-7


def test_schemes_of_order_one_converge_to_each_other():
    """Stewart and Trinkle's scheme takes velocity products at a point here, as differences there."""
    model = ta.robots.snake(links=3)
    rng = np.random.default_rng(0)
    start = {"q": model.q0 + 0.0, "v": rng.normal(size=model.nv)}
    start["q"][2] = 5.0
    world = ta.World(model)
    coarse, fine = (apart(world, h, 0.3, "stewart-trinkle", **start) for h in (2e-3, 1e-3))
    assert 1.8 <= coarse / fine <= 2.2


def test_a_four_bar_loop_turns_alike():
    scenario = get_scenario("four-bar")
    values = scenario.settings({})
    world = scenario.world(values)
    start = {k: v for k, v in scenario.start(values, world).items() if k in ("q", "v")}
    for dt in (1e-3, 5e-4):
        assert apart(world, dt, 0.2, **start) <= 1e-8
