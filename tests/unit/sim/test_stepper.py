"""Steps one by one: the bits of a run, views of the last step, forces from outside, wrong calls."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

HOLD = ta.PD(kp=500.0, kd=20.0)
G = 9.81


@pytest.fixture(scope="module")
def sim() -> ta.Simulation:
    return ta.Simulation(ta.World(ta.robots.quadruped(), ground=ta.Plane(friction=0.8)), dt=1e-3)


def test_the_bits_of_a_run(sim):
    run = sim.run(0.05, controller=HOLD)
    world = sim.begin(controller=HOLD)
    for k in range(50):
        world.step()
        assert np.array_equal(world.q, run.q[k + 1]) and np.array_equal(world.v, run.v[k + 1])
        assert np.abs(world.tau - run.tau[k]).max() < 1e-10  # the same terms in another order
    assert world.t == run.t[-1] and world.report.is_converged
    again = sim.run(0.01, state=world.state(), controller=HOLD)
    assert np.array_equal(again.q[-1], sim.run(0.06, controller=HOLD).q[-1])


def test_commands_are_targets_for_one_step(sim):
    q0 = sim.model.q0[7:]
    own, told = sim.begin(controller=HOLD), sim.begin(controller=HOLD)
    for _ in range(5):
        own.step()
        told.step(ctrl=q0)
    assert np.abs(own.q - told.q).max() < 1e-12
    told.step(ctrl=q0 + 0.1)
    own.step()
    assert np.abs(own.v - told.v).max() > 1e-3


def test_a_step_is_a_function_of_its_state(sim):
    start = sim.state()
    tau = np.zeros(sim.model.nv)
    tau[6] = 3.0
    one, report = sim.step(start, tau)
    two, _ = sim.step(start, tau)
    assert np.array_equal(one.v, two.v) and report.is_converged and start.t == 0.0 and one.t == sim.dt
    run = sim.run(sim.dt, controller=lambda t, q, v: tau)
    assert np.array_equal(one.v, run.v[-1])


def test_contacts_carry_the_weight(sim):
    world = sim.begin(controller=HOLD)
    for _ in range(400):
        world.step()
    feet = [name for name in sim.model.body_names if name.endswith("foot")]
    load = sum(world.contacts.on(foot)[2] for foot in feet)
    # what is not weight accelerates the robot, which still sags a little
    kept = sim.model.total_mass * G
    assert load == pytest.approx(kept, rel=0.02) and len(world.contacts) == 4
    assert world.contacts.names[0][0] == "ground" and "contacts" in repr(world.contacts)
    with pytest.raises(ta.BadInput, match="no body 'paw'"):
        world.contacts.on("paw")


def test_a_force_from_outside_is_held():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=2.0, position=(0, 0, 1))
    world = ta.Simulation(ta.World(ball), dt=1e-3).begin()
    world.push("ball", force=(4.0, 0.0, 2.0 * G))
    for _ in range(100):
        world.step()
    assert world.v[:3] == pytest.approx([0.2, 0.0, 0.0], abs=1e-12)
    world.push("ball")
    world.step()
    assert world.v[2] == pytest.approx(-G * 1e-3)


def test_wrong_calls(sim):
    world = sim.begin()
    for call, text in (
        (lambda: world.step(tau=[1.0]), "tau: expected shape"),
        (lambda: world.step(ctrl=[1.0]), "no controller that takes commands"),
        (lambda: world.push("paw"), "no body 'paw'"),
        (lambda: sim.begin(controller=lambda t, q, v: q), "call the function yourself"),
        (lambda: sim.begin(q=sim.model.q0, state=sim.state()), "not both"),
        (lambda: ta.Simulation(sim.model, integrator="rk4").begin(), "leave the integrator out"),
    ):
        with pytest.raises(ta.BadInput, match=text):
            call()
