"""Impacts by Poisson's law make no energy; by Newton's they may, and say so."""

from __future__ import annotations

import numpy as np
import pytest

import routh
import taction as ta
from struck import RADIUS, balls, cluster, cluster_velocity, on_points, random_arms, strike
from taction.steppers.schemes.dispatch import SCHEMES

D = 2.0 * RADIUS
ONTO_TWO = np.array([[0.0, 0.0, 0.0], [D * np.sqrt(3) / 2, D / 2, 0.0], [D * np.sqrt(3) / 2, -D / 2, 0.0]])
MORE = 1e-9  # of the energy before: what the tolerance of a step, 1e-9, can hide


def one_onto_two(mu: float, law: str, **options):
    v = np.zeros(18)
    v[0] = 8.0
    return strike(balls(ONTO_TWO, mu, 0.95), v, is_free=True, restitution_law=law, **options)


def assert_lawful(out, smooth=None):
    """No more energy than before and than without friction, nobody approaching, everything solved."""
    assert out.after <= out.before * (1.0 + MORE)
    assert smooth is None or out.after <= smooth.after + MORE * out.before
    assert out.certificate.unconverged_steps == out.certificate.steps_held_back == 0
    assert out.certificate.made == 0.0 and out.momentum <= 1e-12
    assert out.certificate.approach <= 1e-8  # velocities of some m/s, solved to 1e-9


def test_one_ball_onto_two_ends_below_the_frictionless_outcome():
    smooth = one_onto_two(0.0, "poisson")
    for mu in (0.06, 0.2, 0.5):
        assert_lawful(one_onto_two(mu, "poisson"), smooth)


def test_newtons_law_says_what_it_made():
    smooth, rough = one_onto_two(0.0, "newton"), one_onto_two(0.06, "newton")
    assert rough.after > smooth.after + 0.1
    assert rough.certificate.made > 0.1 and "restitution made 0.1" in repr(rough.certificate)
    assert smooth.certificate.made == 0.0 and "restitution" not in repr(smooth.certificate)


@pytest.mark.parametrize("stepper", SCHEMES)
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_every_scheme_takes_the_law(stepper, coordinates):
    if coordinates not in SCHEMES[stepper].coordinates:
        pytest.skip("not in these coordinates")
    options = {"stepper": stepper, "coordinates": coordinates}
    smooth, rough = (one_onto_two(mu, "poisson", **options) for mu in (0.0, 0.06))
    assert_lawful(rough, smooth)
    assert smooth.after == pytest.approx(5.1218, abs=1e-3) and rough.after == pytest.approx(4.8823, abs=1e-3)


@pytest.mark.parametrize("options", [{"solver": "nsgs"}, {"solver": "newton"}, {"contact": "convex"}])
def test_solvers_outside_and_the_convex_law(options):
    smooth, rough = (one_onto_two(mu, "poisson", **options) for mu in (0.0, 0.06))
    assert_lawful(rough, smooth)


def test_a_ball_is_as_in_the_closed_form():
    rng = np.random.default_rng(0)
    for _ in range(20):
        e, mu = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        v = np.array([*rng.normal(size=2), -rng.uniform(0.1, 3.0), *(40.0 * rng.normal(size=3))])
        body = ta.free_body(
            "b", ta.Sphere(RADIUS), mass=1.0, position=(0, 0, RADIUS), material=ta.Material(mu, e)
        )
        world = ta.World(body, ground=ta.Plane(friction=mu), gravity=(0.0, 0.0, 0.0))
        slip = v[:2] + RADIUS * np.array([-v[4], v[3]])
        speed = np.linalg.norm(slip)
        dv = -slip / speed * min(-mu * (1.0 + e) * v[2], 2.0 / 7.0 * speed)
        must = np.array(
            [*(v[:2] + dv), -e * v[2], v[3] + 2.5 / RADIUS * dv[1], v[4] - 2.5 / RADIUS * dv[0], v[5]]
        )
        assert np.abs(strike(world, v).v - must).max() <= 1e-9 * np.abs(v).max()


def test_a_rod_follows_routh_where_slip_does_not_turn_round():
    rng, seen = np.random.default_rng(2), [0, 0]
    for _ in range(25):
        angle, e, mu = rng.uniform(0.0, np.pi), rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        arm, moment = np.array([np.cos(angle), 0.0, -np.sin(angle)]), rng.uniform(0.05, 1.0) / 3.0
        v = np.array([2.0 * rng.normal(), 0.0, -rng.uniform(0.1, 2.0), 0.0, 0.0, 0.0])
        low = arm - [0.0, 0.0, 1e-3]
        across = -low[0] * low[2] / moment
        W = np.array([[1 + low[0] ** 2 / moment, across], [across, 1 + low[2] ** 2 / moment]])
        L, turned = routh.follow(W, np.array([v[2], v[0]]), mu, e)
        out, smooth = (strike(on_points(arm[None], np.full(3, moment), m, e), v) for m in (mu, 0.0))
        assert_lawful(out, smooth)
        seen[sum(turned) > 0] += 1
        if not sum(turned):
            assert np.abs(out.v[[0, 2]] - v[[0, 2]] - L[::-1]).max() <= 1e-8
    assert min(seen) >= 2


@pytest.mark.parametrize("seed", range(3))
def test_touching_balls_and_a_body_on_points(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        places, e, mu = cluster(rng), rng.uniform(), rng.uniform(0.0, 1.5)
        v = cluster_velocity(len(places), rng)
        assert_lawful(*(strike(balls(places, m, e), v, is_free=True) for m in (mu, 0.0)))
        arms = random_arms(rng.integers(1, 5), rng)
        v = np.array([*(2.0 * rng.normal(size=3) - [0, 0, 2]), *(2.0 * rng.normal(size=3))])
        assert_lawful(*(strike(on_points(arms, np.array([0.1, 0.12, 0.15]), m, e), v) for m in (mu, 0.0)))


def test_what_would_end_above_the_frictionless_outcome_is_held_back():
    """Without friction the second point holds the expansion up, with it that point opens."""
    arms = np.array([[-1.33185251, -0.15330728, -0.72452157], [1.44263119, 0.46192165, -1.42949496]])
    v = np.array([0.29281452, 1.08651809, -0.44999836, -1.56005067, 2.99911562, 0.46236038])
    rough, smooth = (
        strike(on_points(arms, np.array([0.41724782, 0.26665251, 0.22007911]), mu, 0.8146247), v)
        for mu in (0.3632523, 0.0)
    )
    assert rough.after == pytest.approx(smooth.after, rel=1e-8)
    assert rough.certificate.steps_held_back == 1 and rough.certificate.approach <= 1e-8
    assert "held back in 1 step" in repr(rough.certificate)


def test_energy_never_rises_where_each_contact_has_its_own_coefficient():
    rng = np.random.default_rng(5)
    for _ in range(6):
        places = cluster(rng)
        world = balls(places, rng.uniform(0.0, 1.5), 0.0)
        names = world.model.body_names
        pairs = [
            ta.ContactPair(a, b, friction=rng.uniform(0.0, 1.5), restitution=rng.uniform())
            for i, a in enumerate(names)
            for b in names[:i]
        ]
        world = ta.World(world.model, pairs=pairs, gravity=(0.0, 0.0, 0.0))
        assert_lawful(strike(world, cluster_velocity(len(places), rng), is_free=True))


def test_where_nothing_bounces_nothing_changes():
    body = ta.free_body("b", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.06))
    for world in (ta.World(body, ground=ta.Plane(friction=0.5)),):
        one, two = (
            ta.Simulation(world, dt=1e-3, restitution_law=law).run(0.1, v=[0.5, 0, 0, 0, 0, 1.0])
            for law in ("poisson", "newton")
        )
        assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v)


def test_a_ball_comes_to_rest_and_stays():
    material = ta.Material(0.5, 0.5)
    body = ta.free_body("b", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.2), material=material)
    run = ta.Simulation(ta.World(body, ground=ta.Plane(friction=0.5)), dt=1e-3).run(1.5)
    assert abs(run.v[-1]).max() <= 1e-9 and run.q[-1][2] == pytest.approx(0.1, abs=1e-6)
    assert run.certificate.residual <= 1e-9 and run.certificate.unconverged_steps == 0


def test_a_quadruped_lands_on_its_tips():
    """Joints and four feet at once, both coordinates: energy falls, and every phase is solved."""
    world = ta.World(ta.robots.quadruped(restitution=0.5), ground=ta.Plane(friction=0.6))
    model, rng = world.model, np.random.default_rng(1)
    q = world.place_on_ground()
    for coordinates in ("reduced", "absolute"):
        v = 0.5 * rng.normal(size=model.nv)
        v[2] -= 1.0
        sim = ta.Simulation(world, dt=1e-4, coordinates=coordinates)
        run = sim.run(0.01, q=q, v=v)
        energy = run.kinetic + run.potential
        # all that acts in this time is gravity and contact; the scheme is of order 1
        assert energy.max() <= energy[0] * (1.0 + 1e-3) and energy[-1] < energy[0] - 0.1 * run.kinetic[0]
        assert run.certificate.unconverged_steps == 0 and run.certificate.made == 0.0
        assert run.certificate.approach <= 1e-7


def test_a_pile_of_balls_in_a_blow():
    """More than 200 contacts of loose bodies: solved outside the step, the expansion by bodies."""
    n, rng = (6, 6, 4), np.random.default_rng(0)
    places = D * np.array(list(np.ndindex(*n)), dtype=float)
    v = np.zeros((len(places), 6))
    v[:, :3] = [0.0, 0.0, -1.0] + 0.3 * rng.normal(size=(len(places), 3))
    outs = [strike(balls(places, mu, 0.5), v.ravel(), is_free=True) for mu in (0.3, 0.0)]
    assert_lawful(*outs)
    assert outs[0].after < 0.99 * outs[0].before


def test_worlds_side_by_side_are_as_one_alone():
    world = balls(ONTO_TWO, 0.3, 0.8)
    sim = ta.Simulation(world, dt=1e-3)
    starts = [sim.state(v=3.0 * np.random.default_rng(k).normal(size=18)) for k in range(6)]
    one, two = (sim.rollout(starts, steps=20, threads=k) for k in (1, 2))
    assert np.array_equal(one.v, two.v)
    for k in (0, 5):
        assert np.array_equal(sim.run(20e-3, state=starts[k]).v, one.v[k])


def test_names_of_the_law():
    world = balls(ONTO_TWO, 0.1, 0.5)
    assert "restitution newton" in repr(ta.Simulation(world, restitution_law="newton"))
    with pytest.raises(ta.BadInput, match="restitution_law 'poison': did you mean 'poisson'"):
        ta.Simulation(world, restitution_law="poison")
    with pytest.raises(ta.BadInput, match="an integrator chooses nothing but the step"):
        ta.Simulation(world.model, restitution_law="newton", integrator="rk4")
