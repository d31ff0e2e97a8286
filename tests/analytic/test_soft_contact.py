"""Contact as a force, in whole motions: closed forms, what is conserved, and how it becomes rigid contact."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import taction as ta
from taction._core.jit import plain
from taction.contact.forces.soft_pair import normal_spring
from taction.scenarios.block_slope import block_on_slope
from taction.scenarios.compliant_ball import voigt_impact

G = 9.81


def quiet(sim: ta.Simulation, duration: float, **start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.StabilityWarning)
        return sim.run(duration, **start)


def ball_world(
    height: float = 0.1, *, mass: float = 1.0, radius: float = 0.1, gravity=(0.0, 0.0, -G), **material
):
    surface = ta.Material(**material)
    ball = ta.free_body("ball", ta.Sphere(radius), mass=mass, position=(0, 0, height), material=surface)
    return ta.World(ball, ground=ta.Plane(friction=0.7), gravity=gravity)


def ellipsoids(mu: float, *, gravity=(0.0, 0.0, -G), ground: bool = True) -> ta.World:
    tilt, material = ta.Transform.from_rpy((0, 0, 0), (0.3, 0.4, 0.0)).rotation, ta.Material(friction=mu)
    bodies = [
        ta.free_body(name, ta.Ellipsoid(radii), mass=mass, position=at, rotation=rotation, material=material)
        for name, radii, mass, at, rotation in (
            ("a", (0.1, 0.15, 0.08), 1.0, (0, 0, 0.2), tilt),
            ("b", (0.12, 0.1, 0.09), 2.0, (0.03, 0.02, 0.45), None),
        )
    ]
    return ta.World(*bodies, ground=ta.Plane(friction=mu) if ground else None, gravity=gravity)


@pytest.mark.parametrize("integration", ["explicit", "implicit"])
@pytest.mark.parametrize("kind", [ta.Penalty, ta.Compliant])
def test_a_ball_at_rest_sinks_by_its_weight_over_the_stiffness(kind, integration):
    contact = kind(stiffness=2e4, damping=200.0, damper="kelvin-voigt", integration=integration)
    run = ta.Simulation(ball_world(0.1), dt=1e-3, contact=contact).run(1.0)
    assert run.q[-1, 2] == pytest.approx(0.1 - G / 2e4, abs=1e-9)
    assert run.certificate.penetration == pytest.approx(G / 2e4, rel=0.7)
    assert run.certificate.motion < 1e-12 and run.certificate.unconverged_steps == 0
    assert run.energy.stored == pytest.approx(0.5 * G**2 / 2e4, rel=1e-6)


def test_a_ball_of_rubber_sinks_as_hertz_says():
    young, poisson, radius = 1e5, 0.45, 0.1
    world = ball_world(radius, radius=radius, young=young, poisson=poisson)
    run = ta.Simulation(world, dt=1e-3, contact=ta.Compliant(damping=2.0)).run(6.0)
    stiffness = 4.0 / 3.0 * young / (1.0 - poisson**2) * math.sqrt(radius)
    assert radius - run.q[-1, 2] == pytest.approx((G / stiffness) ** (2.0 / 3.0), rel=1e-3)


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "midpoint"])
def test_pure_rolling_does_not_charge_the_tangential_spring(stepper):
    # an ellipsoid on its equator, with the load that its normal spring carries; one turn
    k, R, omega = 1e4, 0.1, 10.0
    depth = G / k
    wheel = ta.free_body("wheel", ta.Ellipsoid((R, 0.06, R)), mass=1.0, position=(0, 0, R - depth))
    world = ta.World(wheel, ground=ta.Plane(friction=0.7))
    sim = ta.Simulation(world, dt=1e-3, contact=ta.Compliant(stiffness=k), stepper=stepper)
    run = sim.run(2 * math.pi / omega, v=[(R - depth) * omega, 0, 0, 0, omega, 0])
    moving = float(run.kinetic[0])
    assert np.abs(run.stored - 0.5 * k * depth**2).max() <= 1e-9 * moving
    # sliding does charge it, up to what friction holds
    slid = sim.run(0.05, v=[(R - depth) * omega + 0.5, 0, 0, 0, omega, 0])
    held = (0.7 * G) ** 2 / (2 * 0.8 * k)
    assert slid.stored.max() - 0.5 * k * depth**2 == pytest.approx(held, rel=0.2)


def test_action_is_reaction_about_any_point():
    # two bodies that collide in space: momentum, and angular momentum about the origin, are kept
    world = ellipsoids(0.5, gravity=(0.0, 0.0, 0.0), ground=False)
    run = ta.Simulation(world, dt=1e-4, contact=ta.Compliant(stiffness=5e3)).run(
        0.4, v=[0.1, 0, 1.0, 1.0, 0, 2.0, -0.2, 0.1, -1.0, 0, 3.0, 1.0]
    )
    assert len(run.contacts.step) > 50 and run.energy.friction < -1e-4
    before, after = (ta.totals(world.model, run.q[n], run.v[n]) for n in (0, -1))
    assert np.abs(after.linear_momentum - before.linear_momentum).max() < 1e-13
    assert np.abs(after.angular_momentum - before.angular_momentum).max() < 1e-12


@pytest.mark.parametrize(("stepper", "order"), [("stewart-trinkle", 1.0), ("midpoint", 2.0)])
def test_without_dampers_and_friction_energy_is_kept_to_the_order_of_the_scheme(stepper, order):
    contact = ta.Compliant(stiffness=5e3, damping=0.0, tangential_damping=0.0)
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        run = quiet(ta.Simulation(ellipsoids(0.0), dt=h, contact=contact, stepper=stepper), 0.3)
        errors.append(np.abs(run.total_energy - run.total_energy[0]).max())
    # touch and release fall at other places of a step each time, so single ratios scatter
    assert np.log2(errors[0] / errors[-1]) / 3 > order - 0.25, errors
    assert errors[-1] < 0.02 * run.kinetic.max()


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_springs_and_dampers_are_passive(mu):
    rises, books = [], []
    for h in (1e-3, 5e-4, 2.5e-4):
        run = quiet(ta.Simulation(ellipsoids(mu), dt=h, contact=ta.Compliant(stiffness=5e3)), 0.5)
        rises.append((run.total_energy - run.total_energy[0]).max())
        booked = np.append(0.0, np.cumsum(run.records[:, 3] + run.records[:, 4]))  # friction, impact
        books.append(np.abs(run.total_energy - run.total_energy[0] - booked).max())
        assert run.records[:, 3].max() < 1e-5 and run.energy.friction <= 0.0 and run.energy.impact < 0.0
    scale = float(run.total_energy[0])
    # the error of the scheme in the springs, (ω h)² of the energy, ω² = k / m
    for rise, h in zip(rises, (1e-3, 5e-4, 2.5e-4), strict=True):
        assert rise <= 5e3 * h**2 * scale
    assert books[-1] < 0.6 * books[0] and books[-1] < 1e-2 * scale  # the ledger explains the rest


def test_a_penalty_bounce_becomes_the_exact_one_as_stiffness_grows():
    # what a damper that never pulls returns, against Newton's law with that restitution
    zeta = 0.2
    _, _, restitution = voigt_impact(1.0, 1.0, zeta)
    exact = ta.Simulation(ball_world(0.3, restitution=restitution), dt=1e-5, contact="exact").run(0.4)
    errors, depths = [], []
    for k in (1e4, 1e5, 1e6):
        contact = ta.Penalty(stiffness=k, damping=2 * zeta * math.sqrt(k))
        run = ta.Simulation(ball_world(0.3), dt=1e-5, contact=contact).run(0.4)
        errors.append(abs(run.q[-1, 2] - exact.q[-1, 2]))
        depths.append(run.certificate.penetration)
    # it is late by the time in contact, about π √(m/k)
    assert np.log10(np.array(errors[:-1]) / errors[1:]) == pytest.approx([0.5, 0.5], abs=0.1)
    assert errors[-1] < 0.01
    # depth v √(m/k) times what the damper leaves, a root of the stiffness
    assert np.log10(np.array(depths[:-1]) / depths[1:]) == pytest.approx([0.5, 0.5], abs=0.05)


def test_a_penalty_block_that_slides_becomes_the_exact_one_as_stiffness_grows():
    def slide(contact, angle=35.0):
        sim = ta.Simulation(block_on_slope(angle, 0.5), dt=5e-5, contact=contact, stepper="stewart-trinkle")
        return sim.run(0.3)

    exact, errors, depths = slide("exact"), [], []
    for k in (1e4, 1e5, 1e6):
        run = slide(ta.Penalty(stiffness=k))
        errors.append(np.linalg.norm(run.q[-1, :3] - exact.q[-1, :3]))
        depths.append(run.certificate.penetration)
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 2e-5 and errors[1] / errors[2] == pytest.approx(10.0, rel=0.5)
    assert depths[2] < 2e-5


def test_a_sticking_penalty_block_has_a_memory_and_does_not_creep():
    run = ta.Simulation(block_on_slope(20.0, 0.5), dt=2e-4, contact="penalty").run(2.0)
    assert np.abs(run.v[-1]).max() < 1e-9
    # it gave way by the force along the slope over four tangential springs
    way = np.linalg.norm(run.q[-1, :3] - run.q[0, :3])
    assert 1e-5 < way < 1e-3


def test_implicit_and_explicit_springs_agree_as_the_step_shrinks():
    # the implicit one is an element of Kelvin and Voigt in the exact solver; both of first order in the step
    gaps, start = [], [0.02, 0, -0.1, 0, 0, 0]
    for h in (1e-3, 5e-4, 2.5e-4):
        soft = [ta.Penalty(stiffness=5e3, damping=40.0, integration=way) for way in ("explicit", "implicit")]
        one, two = (quiet(ta.Simulation(ball_world(0.1), dt=h, contact=c), 0.1, v=start) for c in soft)
        gaps.append(np.abs(one.q[-1] - two.q[-1]).max())
    assert np.log2(np.array(gaps[:-1]) / gaps[1:]) == pytest.approx([1.0, 1.0], abs=0.1)
    assert gaps[-1] < 2e-5


@pytest.mark.parametrize("contact", ["penalty", "compliant", ta.Penalty(integration="implicit")])
def test_both_coordinates_agree_and_a_state_continues_bit_for_bit(contact):
    robot = ta.robots.quadruped()
    world = ta.World(robot, ground=ta.Plane(friction=0.7))
    q, hold = world.place_on_ground(), ta.PD(kp=2000, kd=20)
    runs = {}
    for coordinates in ("reduced", "absolute"):
        sim = ta.Simulation(world, dt=5e-4, contact=contact, coordinates=coordinates)
        whole = quiet(sim, 0.1, q=q, controller=hold)
        half = quiet(sim, 0.05, q=q, controller=hold)
        assert whole.hashes[100:] == quiet(sim, 0.05, state=half.state, controller=hold).hashes
        assert len(half.state.memory) == 4 and np.abs(half.state.memory).max() > 0.0
        runs[coordinates] = whole
    # the same motion to the order of the scheme: joints are closed by impulses in the one, not in the other
    assert np.abs(runs["reduced"].q[-1] - runs["absolute"].q[-1]).max() < 2e-4


def test_worlds_of_a_rollout_are_single_runs_bit_for_bit():
    sim = ta.Simulation(ball_world(0.12), dt=1e-3, contact="compliant")
    starts = [sim.state(v=[0.1 * k, 0, 0, 0, 0, 0]) for k in range(3)]
    batch = sim.rollout(starts, steps=200)
    for k, start in enumerate(starts):
        assert np.array_equal(batch.q[k, -1], sim.run(0.2, state=start).q[-1])


def test_a_step_that_is_too_long_is_named_and_the_blow_up_ends_the_run():
    sim = ta.Simulation(ball_world(0.3), dt=5e-3, contact=ta.Penalty(stiffness=1e6, damping=10.0))
    with pytest.warns(ta.StabilityWarning, match=r"0\.005 s .* of ground and ball allow, 0\.000495 s"):
        with pytest.warns(ta.BlowUpWarning, match="blew up at t = 0.2"):
            run = sim.run(2.0)
    assert run.blew_up and 0.19 < run.t[-1] < 0.3
    assert np.isfinite(run.q).all() and np.isfinite(run.v).all() and np.isfinite(run.records).all()
    calm = ta.Simulation(
        ball_world(0.3), dt=5e-3, contact=ta.Penalty(stiffness=1e6, damping=10.0, integration="implicit")
    ).run(2.0)
    assert not calm.blew_up and abs(calm.q[-1, 2] - 0.1) < 1e-3


def test_the_limit_of_the_step_is_where_a_ball_blows_up():
    # a ball on its spring, damped: the limit is that of one mass on one spring and damper
    k, d = 1e4, 20.0
    limit = 2 * (math.sqrt(1 + (d / (2 * math.sqrt(k))) ** 2) - d / (2 * math.sqrt(k))) / math.sqrt(k)
    contact = ta.Penalty(stiffness=k, damping=d, tangential_stiffness=0.0)
    start = {"q": [0, 0, 0.1 - G / k + 2e-4, 1, 0, 0, 0]}
    below = quiet(ta.Simulation(ball_world(), dt=0.95 * limit, contact=contact), 4.0, **start)
    above = ta.Simulation(ball_world(), dt=1.05 * limit, contact=contact)
    assert np.abs(below.q[-100:, 2] - (0.1 - G / k)).max() < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown = above.run(4.0, **start)
    assert grown.blew_up or np.abs(grown.q[-100:, 2] - (0.1 - G / k)).max() > 2e-4


def test_a_soft_run_is_not_strict_and_rigid_pairs_are_named():
    with pytest.raises(ta.BadInput, match="strict asks for laws that contact='penalty' does not keep"):
        ta.Simulation(ball_world(), dt=1e-3, contact="penalty", strict=True)
    with pytest.raises(ta.BadInput, match="acceleration-level"):
        ta.Simulation(ball_world(), dt=1e-3, contact="penalty", stepper="acceleration-level")
    mixed = ta.World(
        ta.free_body("ball", ta.Sphere(0.1), mass=1.0, material=ta.Material(young=1e6)),
        ta.free_body(
            "box", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(1, 0, 0), material=ta.Material(stiffness=1e4)
        ),
    )
    with pytest.raises(ta.BadInput, match="of ball and box one has a Young's modulus, the other a stiffness"):
        ta.Simulation(mixed, dt=1e-3, contact="compliant").run(0.01)


def test_springs_of_a_pair_are_those_of_its_materials():
    world = ta.World(
        ta.free_body("ball", ta.Sphere(0.1), mass=1.0, material=ta.Material(stiffness=1e4)),
        ground=ta.Shape(ta.Plane(), material=ta.Material(stiffness=3e4)),
    )
    sim = ta.Simulation(world, dt=1e-3, contact="compliant")
    K, p, share = plain(normal_spring)(sim.engine.springs[0], 0, 1)
    assert (K, p) == (pytest.approx(7500.0), 1.0) and share == pytest.approx(0.25)


@pytest.mark.parametrize("integration", ["explicit", "implicit"])
def test_a_spring_about_the_normal_brakes_a_spinning_ball_as_its_patch_allows(integration):
    # spinning fast, the moment is at its bound: (3π/16) μ m g √(R x)
    k, kappa, spin = 1e4, 2.0, 40.0
    depth, inertia = G / k, 0.4 * 0.1**2
    contact = ta.Compliant(stiffness=k, damping=0.5, torsional_stiffness=kappa, integration=integration)
    sim = ta.Simulation(ball_world(0.1 - depth), dt=1e-4, contact=contact)
    run = sim.run(0.5, v=[0, 0, 0, 0, 0, spin])
    most = 3 * math.pi / 16 * 0.7 * G * math.sqrt(0.1 * depth)
    slope = (run.v[4000, 5] - run.v[1000, 5]) / 0.3
    assert slope == pytest.approx(-most / inertia, rel=1e-6)
    # what the spring holds then, and what friction took: all that the spin lost
    assert run.energy.stored - 0.5 * k * depth**2 == pytest.approx(most**2 / (2 * kappa), rel=1e-3)
    lost = 0.5 * inertia * (spin**2 - run.v[-1, 5] ** 2)
    assert -run.energy.friction == pytest.approx(lost - most**2 / (2 * kappa), rel=1e-3)
    # slowly, it swings: ω² = κ/I
    swing = sim.run(0.3, v=[0, 0, 0, 0, 0, 0.1])
    turns = np.flatnonzero(np.diff(np.sign(swing.v[:, 5])))
    half = math.pi / math.sqrt(kappa / inertia)
    assert np.diff(swing.t[turns])[0] == pytest.approx(half, rel=0.05)


@pytest.mark.parametrize("integration", ["explicit", "implicit"])
def test_viscous_friction_brakes_the_point_of_contact(integration):
    # without Coulomb's: m v̇ = −c u, I ω̇ = c u R, so that u = v − ω R falls as exp(−(7/2) c t / m)
    c, k = 2.0, 1e4
    ball = ta.free_body(
        "ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1 - G / k), material=ta.Material(0.0, viscous=c)
    )
    contact = ta.Penalty(stiffness=k, damping=50.0, integration=integration)
    run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.0)), dt=1e-4, contact=contact).run(
        0.2, v=[1.0, 0, 0, 0, 0, 0]
    )
    arm = 0.1 - G / k
    rate = c * (1.0 + arm**2 / (0.4 * 0.1**2))
    slip = run.v[:, 0] - arm * run.v[:, 4]
    assert slip[-1] == pytest.approx(math.exp(-rate * 0.2), rel=2e-3)
    assert run.energy.friction == pytest.approx(run.kinetic[-1] - run.kinetic[0], rel=1e-3)


def test_a_saved_run_knows_its_springs(tmp_path):
    sim = ta.Simulation(ball_world(0.12), dt=1e-3, contact=ta.Penalty(stiffness=1e4, integration="implicit"))
    said = "stiffness 10000, damper kelvin-voigt, integration implicit"
    assert sim.engine.settings["springs"] == said
    for name in ("run.h5", "run.npz"):
        run = sim.run(0.05)
        loaded = ta.load_run(run.save(tmp_path / name))
        assert loaded.as_run().settings == run.settings and run.settings["springs"] == said
        assert np.array_equal(loaded.records, run.records) and np.array_equal(
            loaded.as_run().stored, run.stored
        )


@pytest.mark.filterwarnings("ignore::taction.RangeWarning")  # that is what is corrected
@pytest.mark.parametrize("integration", ["explicit", "implicit"])
def test_a_correction_of_positions_elsewhere_changes_no_spring(integration):
    # joints beyond their stops are pushed back; together they would turn the last link too far in a step, so
    # that a bounded correction is asked for when the step is solved, and the step is finished twice
    b = ta.ModelBuilder("arm")
    for k in range(4):
        b.body(f"link{k}", ta.Inertia.solid(ta.Box((0.3, 0.1, 0.1)), mass=1.0))
        b.revolute(
            f"hinge{k}", parent=f"link{k - 1}" if k else "world", child=f"link{k}", axis=(0.0, 1.0, 0.0),
            pose=ta.Transform.from_rpy((0.3, 0.0, 0.0)), lower=-1.0, upper=0.0,
        )  # fmt: skip
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 5, 0.1))
    contact = ta.Penalty(stiffness=1e4, damping=20.0, integration=integration)
    options = {"dt": 1e-3, "contact": contact}
    alone = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), **options)
    both = ta.Simulation(ta.World(ball, b.build(), ground=ta.Plane(friction=0.7)), **options)
    start = [0.3, 0, -0.1, 0, 0, 0]
    q = [*both.model.q0[:7], *[0.05] * 4]
    one, two = alone.run(0.2, v=start), both.run(0.2, q=q, v=[*start, *[0.0] * 4])
    assert two.certificate.turned > 0.0  # a correction was made
    assert np.abs(one.q - two.q[:, :7]).max() < 1e-12
    assert one.certificate.unconverged_steps == two.certificate.unconverged_steps == 0


def test_a_loop_that_is_pulled_together_is_no_blow_up():
    # half a millimetre in one step is half a metre per second, from nowhere; contact has no part in it
    b = ta.ModelBuilder("loop")
    for name in ("upper", "lower"):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.revolute("first", parent="world", child="upper")
    b.revolute("second", parent="upper", child="lower", pose=ta.Transform.from_rpy((0.3, 0.0, 0.0)))
    b.loop("closure", "lower", "world", pose=ta.Transform.from_rpy((0.3, 0.0, 0.0)))
    loop = b.build()
    q = np.asarray(ta.close_loops(loop, [0.4, 0.5])) + np.array([2e-3, 0.0])
    run = ta.Simulation(ta.World(loop, gravity=(0.0, 0.0, 0.0)), dt=1e-3, contact="penalty").run(0.05, q=q)
    assert not run.blew_up and len(run.t) == 51
