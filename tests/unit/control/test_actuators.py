"""Actuators against the forces their definition gives, and against MuJoCo's servo scene in air."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.steppers import SemiImplicitEuler


def sliders(**options) -> ta.Model:
    """A 2 kg slider along x with one actuator, weightless."""
    b = ta.ModelBuilder("slider", gravity=(0.0, 0.0, 0.0))
    b.body("block", ta.Inertia.solid(ta.Sphere(0.1), mass=2.0))
    b.prismatic("slide", parent="world", child="block", axis=(1, 0, 0))
    b.actuator("drive", "slide", **options)
    return b.build()


@pytest.mark.parametrize("implicit", [True, False])
def test_motor_gives_gear_times_control(implicit: bool) -> None:
    model = sliders(kind="motor", gear=3.0, control_range=(-1.0, 1.0))
    sim = ta.Simulation(model, dt=1e-3, integrator=SemiImplicitEuler(implicit_joints=implicit))
    run = sim.run(0.1, controller=ta.Actuators(model, [5.0]))
    # u is clipped to 1, so the force is 3 N on 2 kg; v = a t exactly
    assert run.v[-1, 0] == pytest.approx(1.5 * 0.1, rel=1e-13)


def test_position_servo_is_a_damped_oscillator() -> None:
    # g² (kp (u/g − q) − kv v) on m: w² = g² kp / m, 2 d = g² kv / m; closed form of the under-damped response
    gear, kp, kv, m, u = 2.0, 50.0, 1.0, 2.0, 0.6
    model = sliders(kind="position", gear=gear, kp=kp, kv=kv)
    run = ta.Simulation(model, dt=1e-3, integrator="rk4").run(1.0, controller=ta.Actuators(model, [u]))
    d, w2 = gear**2 * kv / (2 * m), gear**2 * kp / m
    w = np.sqrt(w2 - d * d)
    rest = u / gear
    expected = rest * (1 - np.exp(-d * run.t) * (np.cos(w * run.t) + d / w * np.sin(w * run.t)))
    # RK4: error constant about (w h)⁴/120 per radian
    assert np.abs(run.q[:, 0] - expected).max() < 1e-8


def test_velocity_servo_settles_at_control_over_gear() -> None:
    model = sliders(kind="velocity", gear=2.0, kv=40.0)
    run = ta.Simulation(model, dt=1e-3).run(1.0, controller=ta.Actuators(model, lambda t: [3.0]))
    assert run.v[-1, 0] == pytest.approx(1.5, rel=1e-12)


def test_force_range_limits_the_servo() -> None:
    model = sliders(kind="position", kp=1e4, kv=1.0, force_range=(-4.0, 4.0))
    run = ta.Simulation(model, dt=1e-3).run(0.05, controller=ta.Actuators(model, [1.0]))
    assert run.v[-1, 0] == pytest.approx(4.0 / 2.0 * 0.05, rel=1e-12)
    assert np.abs(run.tau).max() == 4.0


def test_bad_input() -> None:
    model = sliders(kind="motor")
    with pytest.raises(ta.BadInput, match="control: expected shape"):
        ta.Actuators(model, [1.0, 2.0])
    with pytest.raises(ta.BadInput, match="has no actuators"):
        ta.Actuators(ta.robots.double_pendulum(), [])
    with pytest.raises(ta.BadInput, match="belong to"):
        ta.Simulation(ta.robots.double_pendulum()).run(0.1, controller=ta.Actuators(model, [0.0]))


def test_actuators_of_the_same_robot_in_another_world_say_whose_they_must_be():
    block = sliders(kind="motor")
    world = ta.World(block, ground=ta.Plane())
    with pytest.raises(ta.BadInput, match="another model of the name slider; make them of the"):
        ta.Simulation(world).run(0.01, controller=ta.Actuators(block, [1.0]))
