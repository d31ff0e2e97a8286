"""Inverse dynamics with contact: forward and back again, statics, limits, what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.sim.inverse_dynamics import Answer

H = 1e-3
TOL = 1e-12


def legged(body_contacts=False):
    robot = ta.robots.walker(body_contacts=body_contacts)
    return ta.World(robot.model, ground=ta.Plane(friction=0.5)), robot.stance, robot.joints


def humanoid():
    model = ta.robots.planar_humanoid()
    driven = [j.name for j in model.joints if j.kind.value == "revolute"]
    return ta.World(model, ground=ta.Plane(friction=0.6)), model.q0, driven


def snake():
    model = ta.robots.snake(links=5, friction=(0.1, 0.4))
    return ta.World(model, ground=ta.Plane(friction=1.0)), model.q0, [j.name for j in model.joints][1:]


ROBOTS = {"quadruped": legged, "humanoid": humanoid, "snake": snake}


def random_state(world, stance, sim, rng):
    """A state on, or just above, the ground, moving slowly, fast, or up: feet stick, slide or lift off."""
    model = world.model
    bent = ta.integrate(model, stance, 0.05 * rng.normal(size=model.nv))
    q = world.place_on_ground(bent) if any(j.kind.value == "floating" for j in model.joints) else stance
    return sim.state(q, rng.choice([0.0, 0.02, 0.5]) * rng.normal(size=model.nv))


def round_trip(name, contact, count, seed=1):
    """Largest relative error of the velocities that the forces lead to, and how the requests ended."""
    world, stance, driven = ROBOTS[name]()
    sim = ta.Simulation(world, dt=H, contact=contact, tol=TOL)
    inverse = ta.InverseDynamics(sim, joints=driven)
    forward = sim.begin(state=sim.state(stance))
    rng, worst, answers = np.random.default_rng(seed), 0.0, []
    for _ in range(count):
        state = random_state(world, stance, sim, rng)
        wanted = rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=len(inverse.drives.dofs))
        found = inverse.solve(state, wanted)
        answers.append(found.answer)
        forward.reset(state)
        forward.step(found.tau)
        scale = max(np.abs(found.velocity).max(), H * 9.81)
        worst = max(worst, np.abs(forward.v - found.velocity).max() / scale)
        if found.is_solved:
            worst = max(worst, np.abs(found.missed).max() / scale)
    return worst, answers


@pytest.mark.parametrize("name", ROBOTS)
def test_the_forces_lead_to_the_motion_they_are_for(name):
    worst, answers = round_trip(name, "exact", 60)
    assert worst <= 1e-10
    assert set(answers) == {Answer.SOLVED}


def test_the_same_with_a_pyramid():
    worst, answers = round_trip("quadruped", "lcp", 8)
    assert worst <= 1e-10 and set(answers) == {Answer.SOLVED}


def test_standing_still_carries_the_weight():
    world, stance, driven = legged()
    q = world.place_on_ground(stance)
    found = ta.inverse_dynamics(world, q, np.zeros(world.model.nv), np.zeros(16), joints=driven)
    weight = 9.81 * world.model.total_mass
    assert found.is_solved and set(found.forces) == {f"{leg}_foot" for leg in
        ("right_back", "left_back", "right_front", "left_front")}  # fmt: skip
    np.testing.assert_allclose(sum(found.forces.values()), [0.0, 0.0, weight], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.velocity, 0.0, atol=1e-12)
    assert not found.tau[:6].any()  # nobody pushes the base
    # the motors hold what gravity and the ground put on the joints: rigid-body statics
    load = ta.gravity_forces(world.model, q)
    for name, force in found.forces.items():
        foot = world.model.body(name)
        tip = ta.forward_kinematics(world.model, q).position[foot] + [0.0, 0.0, -0.22]
        J = ta.jacobian(world.model, q, name)
        arm = tip - ta.forward_kinematics(world.model, q).position[foot]
        load = load - J[3:].T @ force - J[:3].T @ np.cross(arm, force)
    np.testing.assert_allclose(found.tau, load, atol=1e-4)  # dry friction of the joints takes next to nothing


def test_without_contact_it_is_newton_and_euler():
    """As the step vanishes, the forces are those of the recursive algorithm at the same accelerations."""
    model = ta.robots.chain(4)
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, model.nv))
    exact = ta.rnea(model, q, v, a)
    errors = [np.abs(ta.inverse_dynamics(model, q, v, a, dt=h).tau - exact).max() for h in (4e-5, 2e-5, 1e-5)]
    assert errors[0] / errors[1] > 1.8 and errors[1] / errors[2] > 1.8
    assert errors[-1] < 1e-2 * np.abs(exact).max()


def test_motors_at_their_limits_lag_behind_and_are_named():
    model = ta.robots.chain(2)
    q, v = np.array([0.3, 0.2]), np.zeros(2)
    free = ta.inverse_dynamics(model, q, v, [50.0, -20.0])
    first = model.joints[0].name
    assert free.is_solved and abs(free.tau[0]) > 1.0
    half = 0.5 * abs(free.tau[0])
    found = ta.inverse_dynamics(model, q, v, [50.0, -20.0], limit=[half, 1e3])
    assert found.answer is Answer.LIMITED and found.limited == (first,)
    assert abs(found.tau[0]) == pytest.approx(half) and found.missed[0] < 0.0
    assert abs(found.missed[1]) < 1e-12  # the other one is still met
    again = ta.Simulation(ta.World(model), dt=H, tol=TOL)
    after, _ = again.step(again.state(q, v), found.tau)
    np.testing.assert_allclose(after.v, found.velocity, atol=1e-12)


def piston():
    b = ta.ModelBuilder("piston")
    b.body("head", ta.Inertia.solid(ta.Sphere(0.1), mass=2.0), [ta.Shape(ta.Sphere(0.1))])
    b.prismatic("rail", parent="world", child="head", axis=(0, 0, 1), initial=np.array([0.1]))
    return ta.World(b.build(), ground=ta.Plane(friction=0.5))


def test_no_force_pushes_through_the_ground():
    """Driven into it: the typed answer says so, names the motor, and the nearest motion is rest."""
    world = piston()
    found = ta.inverse_dynamics(world, [0.1], [0.0], [-100.0])
    assert found.answer is Answer.INFEASIBLE and found.limited == ("rail",)
    assert found.velocity[0] == pytest.approx(0.0, abs=1e-12) and found.missed[0] == pytest.approx(0.1)
    up = ta.inverse_dynamics(world, [0.1], [0.0], [5.0])
    assert up.is_solved and up.tau[0] == pytest.approx(2.0 * (9.81 + 5.0)) and up.forces == {}


def test_a_state_is_left_as_it_was_and_may_continue_a_run():
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL)
    run = sim.run(0.02, q=world.place_on_ground(stance), controller=ta.PD(kp=2e4, kd=100.0))
    inverse = ta.InverseDynamics(sim, joints=driven)
    before = run.state.to_bytes()
    found = inverse.solve(run.state, velocity=run.state.v)
    assert run.state.to_bytes() == before
    after, _ = sim.step(run.state, found.tau)
    np.testing.assert_allclose(after.v[6:], run.state.v[6:], atol=1e-11)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(3)), "acceleration: expected"),
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(n), joints=["tail"]), "tail"),
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(n), limit=-1.0), "negative"),
        (lambda w, n: ta.InverseDynamics(w), "first argument of InverseDynamics"),
        (
            lambda w, n: ta.InverseDynamics(s := ta.Simulation(w)).solve(s.state()),
            "give an acceleration or a velocity",
        ),
    ],
)
def test_wrong_requests_are_one_clear_line(call, text):
    world, _, _ = legged()
    with pytest.raises(ta.BadInput, match=text):
        call(world, world.model.nv)
