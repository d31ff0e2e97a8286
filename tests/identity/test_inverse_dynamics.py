"""Inverse dynamics with contact: forward and back again, statics, limits, what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.model.spec import Mimic
from taction.sim.inverse_dynamics import LINEAR, Answer
from taction.steppers.columns import CLOSURE, JOINT_FRICTION, MOTION

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


def random_state(world, stance, sim, rng, speeds=(0.0, 0.02, 0.5)):
    """A state on, or just above, the ground, moving slowly, fast, or up: feet stick, slide or lift off."""
    model = world.model
    bent = ta.integrate(model, stance, rng.choice([0.0, 1e-4, 0.05]) * rng.normal(size=model.nv))
    q = world.place_on_ground(bent) if any(j.kind.value == "floating" for j in model.joints) else stance
    return sim.state(q, rng.choice(speeds) * rng.normal(size=model.nv))


def random_request(forward, state, dofs, rng):
    """Velocities of driven joints: accelerations that feet must slide at, or what some forces lead to."""
    forward.reset(state)
    if rng.random() < 0.5:
        return forward.v[dofs] + H * rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=len(dofs))
    tau = np.zeros(len(forward.v))
    tau[dofs] = rng.choice([0.01, 0.3, 3.0]) * rng.normal(size=len(dofs))
    forward.step(tau)
    return forward.v[dofs].copy()


def deeds(contacts):
    """What the contacts of a step did: how many stick, slide, and lift off."""
    force, normal, velocity = contacts.force, contacts.normal, contacts.velocity
    load, rise = (np.einsum("ni,ni->n", x, normal) for x in (force, velocity))
    slip = np.linalg.norm(velocity - rise[:, None] * normal, axis=1)
    is_loaded, is_closed = load > 0.0, contacts.gap < 1e-6
    return np.array(
        [
            (is_loaded & (slip < 1e-9)).sum(),
            (is_loaded & (slip > 1e-6)).sum(),
            (is_closed & ~is_loaded & (rise > 1e-6)).sum(),
        ]
    )


def leaves_motion_open(world, q, contacts):
    """Whether points that end closed share loads in many ways while one slides: friction is not unique."""
    model, rows = world.model, []
    place, rise = ta.forward_kinematics(model, q).position, (contacts.velocity * contacts.normal).sum(axis=1)
    for i in np.flatnonzero(contacts.gap + H * rise < 1e-9):
        body = world.shape_body[contacts.shape[i]].max()  # the other is the ground
        J, n = ta.jacobian(model, q, model.body_names[body]), contacts.normal[i]
        rows.append(n @ J[3:] + np.cross(contacts.point[i] - place[body], n) @ J[:3])
    return deeds(contacts)[1] > 0 and np.linalg.matrix_rank(np.array(rows), tol=1e-6) < len(rows)


def round_trip(name, contact, count, seed=1, coordinates=None, speeds=(0.0, 0.02, 0.5)):
    """Largest relative error of the velocities that forces lead to; how requests ended; what contacts did.

    The last: contacts that stick, slide and lift off. Requests that leave the motion open are left out.
    """
    world, stance, driven = ROBOTS[name]()
    sim = ta.Simulation(world, dt=H, contact=contact, tol=TOL, coordinates=coordinates, stepper=LINEAR)
    inverse = ta.InverseDynamics(sim, joints=driven)
    cone = ta.Simulation(world, dt=H, tol=TOL, coordinates=coordinates, stepper=LINEAR)
    forwards = {law.contact: law.begin(state=sim.state(stance)) for law in (cone, sim)}
    rng, worst, answers, done = np.random.default_rng(seed), 0.0, [], np.zeros(3, dtype=int)
    for _ in range(count):
        state = random_state(world, stance, sim, rng, speeds)
        wanted = random_request(forwards[contact], state, inverse.drives.dofs, rng)
        found = inverse.solve(state, velocity=wanted)
        forward = forwards[found.contact]  # the cone's where the pyramid has no solution
        forward.reset(state)
        q = forward.q.copy()
        forward.step(found.tau)
        if leaves_motion_open(world, q, forward.contacts):
            continue
        answers.append(found.answer)
        scale = max(np.abs(found.velocity).max(), H * 9.81)
        worst = max(worst, np.abs(forward.v - found.velocity).max() / scale)
        if found.is_solved:
            worst = max(worst, np.abs(found.missed).max() / scale)
        done += deeds(forward.contacts)
    return worst, answers, done


@pytest.mark.parametrize("name", ROBOTS)
def test_the_forces_lead_to_the_motion_they_are_for(name):
    worst, answers, done = round_trip(name, "exact", 60)
    assert worst <= 1e-10
    assert set(answers) == {Answer.SOLVED}
    assert done.min() >= 5  # of contacts that stick, slide and lift off


@pytest.mark.parametrize("name", ROBOTS)
def test_the_same_with_a_pyramid(name):
    worst, answers, done = round_trip(name, "lcp", 20)
    assert worst <= 1e-10 and set(answers) == {Answer.SOLVED}
    assert done.min() >= 1


def test_the_same_in_absolute_coordinates():
    worst, answers, done = round_trip("snake", "exact", 20, coordinates="absolute", speeds=(0.0, 0.02))
    assert worst <= 1e-10 and set(answers) == {Answer.SOLVED}
    assert done.min() >= 1


def test_axes_that_turn_with_the_step_miss_nothing():
    """What is read back at the end of the step, about other axes than at its start, is what was wanted."""
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, coordinates="absolute", stepper=LINEAR)
    inverse, rng = ta.InverseDynamics(sim, joints=driven), np.random.default_rng(4)
    v = rng.normal(size=world.model.nv)
    found = inverse.solve(sim.state(world.place_on_ground(stance), v), np.zeros(len(driven)))
    assert found.is_solved and np.abs(found.missed).max() <= 1e-12 * np.abs(v).max()


@pytest.mark.parametrize("name", ["quadruped", "snake"])
def test_fast_states_in_absolute_coordinates_are_met_or_not_called_solved(name):
    """Joints at about half a radian per second: an answer that reads solved misses nothing."""
    world, stance, driven = ROBOTS[name]()
    sim = ta.Simulation(world, dt=H, tol=TOL, coordinates="absolute", stepper=LINEAR)
    inverse, rng, solved = ta.InverseDynamics(sim, joints=driven), np.random.default_rng(6), 0
    for _ in range(20):
        state = random_state(world, stance, sim, rng, speeds=(0.5,))
        found = inverse.solve(state, rng.choice([0.0, 1.0, 30.0]) * rng.normal(size=len(inverse.drives.dofs)))
        wanted = found.velocity[inverse.drives.dofs] - found.missed
        is_met = np.abs(found.missed).max() <= 1e-8 * max(1.0, np.abs(wanted).max())
        assert is_met or found.answer is Answer.UNSOLVED
        solved += found.is_solved
    assert solved >= 10


def test_a_step_that_is_not_aimed_again_does_not_read_solved(monkeypatch):
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, coordinates="absolute", stepper=LINEAR)
    inverse, rng = ta.InverseDynamics(sim, joints=driven), np.random.default_rng(8)
    state = random_state(world, stance, sim, rng, speeds=(0.5,))
    assert inverse.solve(state, np.zeros(len(driven))).is_solved
    monkeypatch.setattr("taction.sim.inverse_dynamics.AIMS", 1)
    found = inverse.solve(state, np.zeros(len(driven)))
    assert found.answer is Answer.UNSOLVED and found.limited == () and np.abs(found.missed).max() > 1e-6


def rod_and_slider(**joint):
    """A rod on a driven hinge with a slider on it, clear of everything."""
    b = ta.ModelBuilder("rod")
    for name in ("rod", "slider"):
        b.body(name, ta.Inertia.solid(ta.Box((0.4, 0.1, 0.1)), mass=2.0))
    b.revolute("hinge", parent="world", child="rod", axis=(0, 1, 0), **joint)
    b.prismatic("rail", parent="rod", child="slider", axis=(1, 0, 0))
    return b.build()


def test_dry_friction_of_a_driven_joint_is_part_of_its_force_and_of_the_ledger():
    """Against the motion where there is one, none at rest; the works close and friction has its share."""
    forces, dry = {}, 0.7
    for speed in (0.0, 1.0, -1.0):
        for friction in (0.0, dry):
            sim = ta.Simulation(ta.World(rod_and_slider(friction=friction)), dt=H, tol=TOL, stepper=LINEAR)
            world = sim.begin(
                state=sim.state([0.3, 0.1], [speed, 0.2]), controller=ta.Drives(sim.model, ["hinge"])
            )
            record = world.step(ctrl=[speed]).record
            forces[speed, friction] = world.tau[0]
            assert world.v[0] == speed and record[CLOSURE] == pytest.approx(0.0, abs=1e-14)
            assert record[MOTION] < 1e-14
            assert record[JOINT_FRICTION] == pytest.approx(-H * friction * abs(speed), abs=1e-16)
        assert forces[speed, dry] - forces[speed, 0.0] == pytest.approx(dry * speed, abs=1e-9)


def test_a_stop_holds_a_driven_joint():
    """Within reach it costs nothing; beyond it the stop carries what the motor pushes: no force is enough."""
    model = rod_and_slider(lower=-0.5, upper=0.5)
    near = np.array([0.4995, 0.0]), np.zeros(2)
    short = ta.inverse_dynamics(model, *near, [400.0], joints=["hinge"])
    assert short.is_solved and short.velocity[0] == pytest.approx(0.4)
    far = ta.inverse_dynamics(model, *near, [600.0], joints=["hinge"], limit=500.0)
    assert far.answer is Answer.LIMITED and far.tau[0] == pytest.approx(500.0)
    assert far.velocity[0] == pytest.approx(0.5)  # it stops at the stop


def test_a_joint_that_follows_a_driven_one_loads_its_motor():
    """A mimic joint: the motor carries the inertia of both; driving both alike is the same motion."""
    b = ta.ModelBuilder("pair", gravity=(0.0, 0.0, 0.0))
    for name in ("left", "right"):
        b.body(name, ta.Inertia(mass=1.0, matrix=0.2 * np.eye(3)))
    b.revolute("lead", parent="world", child="left", axis=(0, 0, 1))
    b.revolute("follow", parent="world", child="right", axis=(0, 0, 1), mimic=Mimic("lead", 2.0))
    model = b.build()
    found = ta.inverse_dynamics(model, np.zeros(2), np.zeros(2), [3.0], joints=["lead"])
    assert found.is_solved and found.tau[0] == pytest.approx((0.2 + 4 * 0.2) * 3.0)
    np.testing.assert_allclose(found.velocity, [0.003, 0.006], rtol=1e-12)
    both = ta.inverse_dynamics(model, np.zeros(2), np.zeros(2), [3.0, 6.0])
    assert both.is_solved and both.tau @ [1.0, 2.0] == pytest.approx((0.2 + 4 * 0.2) * 3.0)


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
    again = ta.Simulation(ta.World(model), dt=H, tol=TOL, stepper=LINEAR)
    after, _ = again.step(again.state(q, v), found.tau)
    np.testing.assert_allclose(after.v, found.velocity, atol=1e-12)


def test_rest_up_to_rounding_is_rest():
    """Joints with dry friction that are asked to stand, but for 1e-17 rad/s: nobody rubs, nobody creeps."""
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, stepper=LINEAR)
    state = sim.state(world.place_on_ground(stance))
    inverse, forward = ta.InverseDynamics(sim, joints=driven), sim.begin(state=state)
    still = inverse.solve(state, velocity=np.zeros(16))
    nearly = inverse.solve(state, velocity=1e-17 * np.random.default_rng(5).normal(size=16))
    np.testing.assert_allclose(nearly.tau, still.tau, atol=1e-5)  # friction would be 0.55 N m
    forward.step(nearly.tau)
    np.testing.assert_allclose(forward.v, 0.0, atol=1e-12)


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


FEET = ("right_back_foot", "left_back_foot", "right_front_foot", "left_front_foot")


def test_the_mode_that_the_laws_choose_gives_their_forces():
    """What each foot does by the laws, given as modes, is allowed and the same; another mode is not."""
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, stepper=LINEAR)
    inverse, rng = ta.InverseDynamics(sim, joints=driven), np.random.default_rng(7)
    forward, seen = sim.begin(state=sim.state(stance)), set()
    for _ in range(40):
        state = random_state(world, stance, sim, rng)
        by_laws = inverse.solve(state, velocity=random_request(forward, state, inverse.drives.dofs, rng))
        forward.reset(state)
        forward.step(by_laws.tau)
        contacts, modes = forward.contacts, dict.fromkeys(FEET, "open")
        load = (contacts.force * contacts.normal).sum(axis=1)
        for pair, pressed, speed in zip(contacts.shape, load, contacts.velocity, strict=True):
            foot = world.model.body_names[world.shape_body[pair].max()]
            if pressed > 0.0:  # what is viscous acts on a foot that lifts off as well
                modes[foot] = "stick" if np.linalg.norm(speed[:2]) < 1e-9 else "slide"
        seen |= set(modes.values())
        wanted = by_laws.velocity[inverse.drives.dofs]
        found = inverse.solve(state, velocity=wanted, modes=modes)
        assert found.is_solved and found.violated == () and found.residual <= 1e-9
        scale = max(np.abs(by_laws.velocity).max(), H * 9.81)
        if list(modes.values()).count("open") > 0:  # four feet under held joints share loads in many ways
            np.testing.assert_allclose(found.velocity, by_laws.velocity, atol=1e-8 * scale)
        wrong = modes | {foot: "open" if modes[foot] != "open" else "stick"}
        other = inverse.solve(state, velocity=wanted, modes=wrong)
        if other.violated:
            assert other.answer is Answer.INFEASIBLE
            np.testing.assert_array_equal(other.tau, by_laws.tau)  # the nearest motion is that of the laws
    assert seen == {"stick", "slide", "open"}


def test_a_mode_that_the_laws_forbid_is_named():
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, stepper=LINEAR)
    inverse = ta.InverseDynamics(sim, joints=driven)
    state, still, stuck = sim.state(world.place_on_ground(stance)), np.zeros(16), dict.fromkeys(FEET, "stick")
    standing = inverse.solve(state, still, modes=stuck)
    assert standing.is_solved and sum(standing.forces.values())[2] == pytest.approx(
        9.81 * world.model.total_mass
    )
    # feet that push off faster than the body falls leave the ground: held there they pull
    low = sim.state(world.place_on_ground(stance), np.r_[0.0, 0.0, 0.1, np.zeros(19)])
    pulled = inverse.solve(low, velocity=still, modes=stuck)
    assert pulled.answer is Answer.INFEASIBLE and set(pulled.violated) == {f"{foot} pulls" for foot in FEET}
    assert pulled.forces == {}  # by the laws nothing touches then
    assert inverse.solve(low, velocity=still, modes={}).is_solved
    # open feet under a robot that falls
    fallen = inverse.solve(state, still, modes={})
    assert set(fallen.violated) == {f"{foot} enters the ground" for foot in FEET}
    # standing on three feet is beyond weak motors
    weak = ta.InverseDynamics(sim, joints=driven, limit=1.0).solve(state, still, modes=stuck)
    assert any(name.startswith("motor ") and name.endswith("at its limit") for name in weak.violated)
    high = sim.state(stance + np.r_[0.0, 0.0, 1.0, np.zeros(len(stance) - 3)])
    assert inverse.solve(high, still, modes=stuck).violated == tuple(
        f"{foot} does not touch" for foot in FEET
    )
    sliding = inverse.solve(state, still, modes=dict.fromkeys(FEET, "slide"))
    assert sliding.answer is Answer.INFEASIBLE and all("slide" in name for name in sliding.violated)


def test_boxes_in_modes():
    """One that leans sticks where some share of its load allows it, though the least forces pull."""
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.6)), mass=3.0, position=(0, 0, 0.3))
    sim = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.5)), dt=H, tol=TOL, stepper=LINEAR)
    inverse = ta.InverseDynamics(sim, joints=[])
    found = inverse.solve(sim.state(), np.zeros(0), modes={"box": "stick"})
    assert found.is_solved and found.forces["box"][2] == pytest.approx(3.0 * 9.81)
    kick = 0.23 * 9.81 * H  # its load moves by 7 cm along both edges, towards a corner
    kicked = sim.state(None, [kick, kick, 0.0, 0.0, 0.0, 0.0])
    held = inverse.solve(kicked, np.zeros(0), modes={"box": "stick"})
    assert held.is_solved and held.residual <= 1e-9
    assert "box cannot slide" in inverse.solve(kicked, np.zeros(0), modes={"box": "slide"}).violated
    fast = inverse.solve(sim.state(None, [1.0, 0, 0, 0, 0, 0]), np.zeros(0), modes={"box": "slide"})
    assert fast.violated == ("box pulls",)  # friction at 0.5 of the weight tips it over
    slab = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=3.0, position=(0, 0, 0.05))
    low = ta.Simulation(ta.World(slab, ground=ta.Plane(friction=0.5)), dt=H, tol=TOL, stepper=LINEAR)
    slid = ta.InverseDynamics(low, joints=[]).solve(
        low.state(None, [1.0, 0, 0, 0, 0, 0]), np.zeros(0), modes={"box": "slide"}
    )
    np.testing.assert_allclose(slid.forces["box"], 3.0 * 9.81 * np.array([-0.5, 0.0, 1.0]), atol=1e-9)
    icy = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.0)), dt=H, tol=TOL, stepper=LINEAR)
    glide = ta.InverseDynamics(icy, joints=[])
    moving = icy.state(None, [1.0, 0, 0, 0, 0, 0])
    assert glide.solve(moving, np.zeros(0), modes={"box": "slide"}).is_solved
    assert glide.solve(moving, np.zeros(0), modes={"box": "stick"}).violated == ("box cannot stick",)
    gone = sim.state(None, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert inverse.solve(gone, np.zeros(0), modes={"box": "stick"}).violated == ("box pulls",)


def test_a_state_is_left_as_it_was_and_may_continue_a_run():
    world, stance, driven = legged()
    sim = ta.Simulation(world, dt=H, tol=TOL, stepper=LINEAR)
    run = sim.run(0.02, q=world.place_on_ground(stance), controller=ta.PD(kp=2e4, kd=100.0))
    inverse = ta.InverseDynamics(sim, joints=driven)
    before = run.state.to_bytes()
    found = inverse.solve(run.state, velocity=run.state.v)
    assert run.state.to_bytes() == before
    after, _ = sim.step(run.state, found.tau)
    np.testing.assert_allclose(after.v[6:], run.state.v[6:], atol=1e-11)


def in_mode(world, modes, **options):
    sim = ta.Simulation(world, dt=H, stepper=LINEAR, **options)
    return ta.InverseDynamics(sim).solve(sim.state(), np.zeros(world.model.nv), modes=modes)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(3)), "acceleration: expected"),
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(n), joints=["tail"]), "tail"),
        (lambda w, n: ta.inverse_dynamics(w, w.model.q0, np.zeros(n), np.zeros(n), limit=-1.0), "negative"),
        (lambda w, n: ta.InverseDynamics(w), "first argument of InverseDynamics"),
        (lambda w, n: in_mode(w, {"tail": "stick"}), "modes: no body 'tail'"),
        (lambda w, n: in_mode(w, {"torso": "glue"}), "modes: no mode 'glue'"),
        (lambda w, n: in_mode(w, {}, contact="lcp"), "modes: for contact='exact'"),
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
