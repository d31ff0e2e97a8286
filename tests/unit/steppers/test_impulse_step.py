"""One step through contact and short runs of it: exact answers, every element, every scheme."""

import numpy as np
import pytest

import taction as ta
from taction.model.workspace import ACCEL, ALPHA
from taction.sim.contact_summary import WORKS
from taction.steppers import columns
from taction.steppers.schemes.dispatch import SCHEMES

G = 9.81
H = 1e-3


def ball(**options):
    return ta.free_body("ball", ta.Sphere(0.1), mass=1.0, **{"position": (0, 0, 0.1), **options})


def slider(friction=0.0, lower=-np.inf, upper=np.inf, **options):
    """A block of 2 kg on a horizontal slide without any shape."""
    b = ta.ModelBuilder("slider")
    b.body("block", ta.Inertia.solid(ta.Box((0.1, 0.1, 0.1)), mass=2.0))
    b.prismatic(
        "slide",
        parent="world",
        child="block",
        axis=(1, 0, 0),
        friction=friction,
        lower=lower,
        upper=upper,
        **options,
    )
    return ta.World(b.build())


def simulate(world, stepper):
    coordinates = "absolute" if SCHEMES[stepper].is_projected else "reduced"
    return ta.Simulation(world, dt=H, stepper=stepper, coordinates=coordinates)


@pytest.mark.parametrize("stepper", SCHEMES)
def test_ball_at_rest_carries_its_weight_and_stays(stepper):
    run = simulate(ta.World(ball(), ground=ta.Plane(friction=0.5)), stepper).run(0.1)
    # a closed contact is closed to a nanometre; the acceleration-level and velocity schemes may sink by that
    assert abs(run.q[-1, 2] - 0.1) <= 2e-9
    assert abs(run.v[-1]).max() <= 1e-12
    np.testing.assert_allclose(run.contact_forces()["ball"][-1], [0, 0, G], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.contact_forces("shape")["ground"][-1], [0, 0, -G], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stepper", SCHEMES)
def test_fall_and_impact_close_the_ledger(stepper):
    sim = simulate(ta.World(ball(position=(0, 0, 0.3)), ground=ta.Plane(friction=0.5)), stepper)
    run = sim.run(0.5, v=[1.0, 0.3, 0, 0, 2.0, 5.0])
    assert run.certificate.residual <= 1e-9
    assert run.certificate.motion <= 1e-12
    assert run.certificate.unconverged_steps == 0
    assert run.energy.closure <= 1e-14
    booked = sum(getattr(run.energy, name) for name in (*WORKS, "remainder"))
    assert run.energy.final - run.energy.initial == pytest.approx(booked, abs=1e-12)
    assert run.energy.friction < 0 and run.energy.impact < 0


def test_moreau_is_exact_in_free_flight_and_elastic_impact():
    world = ta.World(
        ball(position=(0, 0, 0.5), material=ta.Material(0.5, 1.0)), ground=ta.Plane(friction=0.5)
    )
    run = ta.Simulation(world, dt=H, stepper="moreau").run(2.0)
    energy = run.kinetic + run.potential
    assert abs(energy / energy[0] - 1.0).max() <= 1e-12  # rounding of 2000 steps
    assert (run.q[:, 2] < 0.11).any()


def test_a_step_reads_nothing_that_another_world_left():
    """Accelerations that velocities cause are asked for at rest, too, where none of their forces is."""
    b = ta.ModelBuilder("arm")
    b.body("arm", ta.Inertia.solid(ta.Capsule(0.05, 0.4), mass=1.0), [ta.Shape(ta.Capsule(0.05, 0.4))])
    b.revolute("hinge", parent="world", child="arm", axis=(0, 1, 0))
    ground = [ta.Shape(ta.Plane(), ta.Transform(translation=(0.0, 0.0, -0.05)))]
    world = ta.World(b.build(), ground=ground)
    engine = ta.Simulation(world, dt=H, stepper="acceleration-level")._engine
    scene, state = engine.scene(), engine.inner(engine.start([np.pi / 2], [0.0]))
    driver = engine.driver(scene)
    fresh = driver.pose(scene, np.zeros(1), state).b.copy()
    driver.memory.motion.links[:, ALPHA : ACCEL + 3] = 7.0
    assert len(fresh) and np.array_equal(driver.pose(scene, np.zeros(1), state).b, fresh)


def test_stewart_trinkle_lands_on_the_surface():
    run = ta.Simulation(ta.World(ball(position=(0, 0, 0.5)), ground=ta.Plane()), dt=H).run(0.5)
    assert run.certificate.penetration <= 1e-12
    assert run.energy.correction == 0.0


def test_judge_agrees_with_the_certificate_of_the_problem():
    """The step's own residual, from new velocities, against `certify` on the exported problem."""
    boxes = [
        ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
        for k in range(2)
    ]
    sim = ta.Simulation(ta.World(*boxes, ground=ta.Plane(friction=0.4)), dt=H, tol=1e-6)
    start = sim.state(v=[1.0, 0.2, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1.0])
    run = sim.run(H, state=start)
    problem = sim.problem(start)
    judged = ta.certify(problem, run.contacts.impulse.ravel())
    # both see the same impulses; velocities differ by rounding of J v⁺ against W Λ + b
    assert run.records[0, columns.RESIDUAL] == pytest.approx(judged.residual, rel=1e-3, abs=1e-14)
    assert 3 * len(run.contacts.impulse) == problem.size


def test_dry_joint_friction_holds_and_slides():
    push = 3.0
    for friction, speed in ((3.001, 0.0), (2.0, (push - 2.0) / 2.0 * 0.1)):
        run = ta.Simulation(slider(friction=friction), dt=H).run(0.1, controller=lambda t, q, v: [push])
        assert run.v[-1, 0] == pytest.approx(speed, abs=1e-12)
        assert run.energy.joint_friction <= 0.0


def test_joint_stops_hold_on_both_sides():
    for push, stop in ((5.0, 0.02), (-5.0, -0.03)):
        run = ta.Simulation(slider(lower=-0.03, upper=0.02), dt=H).run(
            0.5, controller=lambda t, q, v, p=push: [p]
        )
        assert run.q[-1, 0] == pytest.approx(stop, abs=2e-9)
        assert run.v[-1, 0] == pytest.approx(0.0, abs=1e-12)
        assert run.q[:, 0].max() <= 0.02 + 2e-9 and run.q[:, 0].min() >= -0.03 - 2e-9


def test_stiff_servo_is_stable_at_any_gain():
    run = ta.Simulation(slider(damping=1.0), dt=H).run(0.3, controller=ta.PD(kp=1e7, kd=1e3, target=[0.01]))
    assert abs(run.q[-1, 0] - 0.01) <= 1e-9


def test_mimic_joint_follows_through_contact():
    b = ta.ModelBuilder("pair")
    for name in ("left", "right"):
        b.body(name, ta.Inertia.solid(ta.Box((0.1, 0.1, 0.1)), mass=1.0))
    b.prismatic("lead", parent="world", child="left", axis=(1, 0, 0))
    from taction.model.spec import Mimic

    b.prismatic("follow", parent="world", child="right", axis=(1, 0, 0), mimic=Mimic("lead", -2.0, 0.1))
    run = ta.Simulation(ta.World(b.build()), dt=H).run(0.2, controller=lambda t, q, v: [1.0, 0.0])
    np.testing.assert_allclose(run.q[:, 1], -2.0 * run.q[:, 0] + 0.1, atol=1e-9)
    # the pair moves as one mass of 1 + 4 kg
    assert run.v[-1, 0] == pytest.approx(0.2 / 5.0, rel=1e-9)


@pytest.mark.parametrize("kind", ["point", "hinge", "weld"])
def test_loop_holds_two_bodies_together(kind):
    parts = ta.ModelBuilder("two")
    for name, x in (("a", 0.0), ("b", 0.5)):
        parts.body(name, ta.Inertia.solid(ta.Box((0.4, 0.1, 0.1)), mass=1.0))
        parts.floating(f"{name} free", child=name, initial=np.array([x, 0, 1.0, 1, 0, 0, 0]))
    parts.loop(
        "tie",
        "a",
        "b",
        pose=ta.Transform(translation=(0.25, 0, 0)),
        other_pose=ta.Transform(translation=(-0.25, 0, 0)),
        kind=kind,
    )
    v = np.zeros(12)
    v[3:6] = [0.3, -0.5, 1.0]
    v[9:12] = v[3:6] if kind == "weld" else [0.0, 0.0, 1.0]
    if kind == "weld":
        v[6:9] = np.cross(v[3:6], [0.5, 0, 0])
    run = ta.Simulation(ta.World(parts.build()), dt=H).run(0.3, v=v)
    # Velocities disagree at the start, so that the first half flight opens the loop; then it is closed
    assert run.records[0, columns.JOINT_GAP] <= 0.5 * H * 1.0
    assert run.records[2:, columns.JOINT_GAP].max() <= 1e-6
    momentum = run.v[-1, :3] + run.v[-1, 6:9]
    np.testing.assert_allclose(momentum, (v[:3] + v[6:9]) + [0, 0, -2 * G * 0.3], atol=1e-9)


def test_friction_ellipse_is_attached_to_the_body():
    """Sliding along its own x-axis a box meets one coefficient, across it another, backward a third."""
    material = ta.Material(friction=(0.1, 0.4), backward=0.2)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # the body's x-axis points along the world's y
    box = ta.free_body(
        "box", ta.Box((0.3, 0.3, 0.02)), mass=1.0, position=(0, 0, 0.01), rotation=turn, material=material
    )
    sim = ta.Simulation(ta.World(box, ground=ta.Plane(friction=1.0)), dt=H)
    for direction, mu in (((0, 1), 0.1), ((0, -1), 0.2), ((1, 0), 0.4), ((-1, 0), 0.4)):
        v = np.zeros(6)
        v[:2] = direction
        run = sim.run(0.05, v=v)
        assert np.linalg.norm(run.v[-1, :2]) == pytest.approx(1.0 - mu * G * 0.05, rel=1e-9)


def test_contact_pair_overrides_materials():
    world = ta.World(
        ta.free_body("box", ta.Box((0.3, 0.3, 0.02)), mass=1.0, position=(0, 0, 0.01)),
        ground=ta.Plane(friction=1.0),
        pairs=[ta.ContactPair("world", "box", friction=0.3)],
    )
    run = ta.Simulation(world, dt=H).run(0.05, v=[1.0, 0, 0, 0, 0, 0])
    assert run.v[-1, 0] == pytest.approx(1.0 - 0.3 * G * 0.05, rel=1e-9)


def test_viscous_friction_adds_to_coulombs():
    """m v̇ = −μ m g − ν v, solved outside the compiled step; implicit in v, so of first order in the step."""
    material = ta.Material(friction=0.1, viscous=0.5)
    box = ta.free_body("box", ta.Box((0.3, 0.3, 0.02)), mass=1.0, position=(0, 0, 0.01), material=material)
    run = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.1)), dt=H).run(0.1, v=[1.0, 0, 0, 0, 0, 0])
    limit = 0.1 * G / (4 * 0.5)  # four corners share it
    exact = (1.0 + limit) * np.exp(-4 * 0.5 * 0.1) - limit
    assert run.v[-1, 0] == pytest.approx(exact, abs=5e-3)
    assert run.certificate.residual <= 1e-8


def test_pyramid_and_convex_laws_run_and_are_judged():
    world = ta.World(ball(position=(0, 0, 0.11)), ground=ta.Plane(friction=0.5))
    for contact in ("lcp", "convex"):
        run = ta.Simulation(world, dt=H, contact=contact).run(0.1, v=[0.5, 0.2, 0, 0, 0, 0])
        assert run.certificate.residual <= 1e-8
        assert run.certificate.unconverged_steps == 0


def test_solver_by_name_gives_the_same_motion():
    world = ta.World(ball(position=(0, 0, 0.11)), ground=ta.Plane(friction=0.5))
    first = ta.Simulation(world, dt=H).run(0.1, v=[0.5, 0.2, 0, 0, 0, 0])
    second = ta.Simulation(world, dt=H, solver="nsgs").run(0.1, v=[0.5, 0.2, 0, 0, 0, 0])
    np.testing.assert_allclose(second.q[-1], first.q[-1], atol=1e-7)  # tolerance 1e-9 of 1 m/s, 100 steps
