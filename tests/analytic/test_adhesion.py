"""Adhesion in motion: what holds, what lets go, what slides, against closed forms of the schemes."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.math.transform import Transform, rotation_about
from taction.model.shapes import Box, Material, Plane, Shape, Sphere
from taction.sim.world import ContactPair

H, MASS, C = 1e-3, 0.5, 20.0  # step [s], mass [kg], adhesion [N]
TOL = 1e-9


def ceiling(mu=0.5, adhesion=0.0):
    turned = Transform(rotation_about([1.0, 0.0, 0.0], np.pi))
    return Shape(Plane(), turned, Material((mu, mu), adhesion=adhesion), "ceiling")


def hanging(load, *, shape=None, mu=0.5, side=0.0, pairs=(), own=C):
    """A body under a ceiling, pulled down by load · c and sideways by a force ``side`` [N]."""
    shape = Sphere(0.05) if shape is None else shape
    top = 0.05 if isinstance(shape, Sphere) else 0.5 * shape.size[2]
    surface = Material((mu, mu), adhesion=own)
    body = ta.free_body("body", shape, mass=MASS, position=(0.0, 0.0, -top), material=surface)
    gravity = (side / MASS, 0.0, -load * C / MASS)
    return ta.World(body, ground=ceiling(mu), gravity=gravity, pairs=pairs)


def run(world, duration, stepper="stewart-trinkle", **options):
    out = ta.Simulation(world, dt=H, stepper=stepper, **options).run(duration)
    assert out.certificate.unconverged_steps == 0 and out.certificate.residual <= 1e-8
    return out


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau", "anitescu-potra"])
def test_it_lets_go_in_one_step_and_falls(stepper):
    """v_1 = h (load − 1) c/m, then v_{k+1} = v_k + h g: exact for all schemes, positions by their rule.

    Positions end with h v⁺ (Moreau: the mean of both velocities). Tolerance: the residual, over all steps.
    """
    load, n = 1.01, 40
    out = run(hanging(load), n * H, stepper)
    g = load * C / MASS
    v = -H * (load - 1.0) * C / MASS - H * g * np.arange(n)
    ends = np.concatenate([[0.0], v])
    moved = H * (0.5 * (ends[:-1] + ends[1:]) if stepper == "moreau" else ends[1:])
    noise = TOL * g * H
    assert out.v[1:, 2] == pytest.approx(v, abs=10 * noise * n)
    assert out.q[1:, 2] - out.q[0, 2] == pytest.approx(np.cumsum(moved), abs=10 * noise * n * n * H)


@pytest.mark.parametrize("shape", [Sphere(0.05), Box((0.04, 0.04, 0.01))], ids=["point", "four corners"])
@pytest.mark.parametrize("contact", ["exact", "convex", "lcp"])
def test_a_pair_holds_what_its_points_share(shape, contact):
    """One point or four: the pair's adhesion is c. 0.99 holds to rounding, and the ceiling pulls 0.99 c."""
    out = run(hanging(0.99, shape=shape), 0.05, contact=contact)
    assert np.abs(out.q[-1, :3] - out.q[0, :3]).max() <= 1e-9
    assert out.contact_forces()["body"][:, 2] == pytest.approx(0.99 * C, rel=1e-7)
    fallen = run(hanging(1.05, shape=shape), 0.05, contact=contact)
    assert fallen.q[-1, 2] - fallen.q[0, 2] < -0.5 * 0.5 * 1.05 * C / MASS * 0.05**2


@pytest.mark.parametrize(("ratio", "slides"), [(0.999, False), (1.001, True)])
@pytest.mark.parametrize("load", [-0.5, 0.0, 0.6])
def test_friction_counts_the_adhesion(load, ratio, slides):
    """A pad pressed by N = −load · c resists sideways up to μ (N + c): pressed, weightless and hanging."""
    mu, n = 0.4, 50
    bound = mu * C * (1.0 - load)
    pad = Box((0.04, 0.04, 0.001))  # flat: it does not tip
    out = run(hanging(load, shape=pad, mu=mu, side=ratio * bound), n * H)
    expected = (ratio - 1.0) * bound / MASS * n * H if slides else 0.0
    noise = 10 * TOL * (C + ratio * bound) / MASS * H * n
    assert out.v[-1, 0] == pytest.approx(expected, abs=noise)


def test_an_open_contact_does_not_pull():
    """A ball a micrometre below the ceiling falls freely, whatever its adhesion: v_k = −h g k to rounding."""
    body = ta.free_body(
        "body", Sphere(0.05), mass=MASS, position=(0, 0, -0.050001), material=Material(adhesion=1e6)
    )
    out = run(ta.World(body, ground=ceiling(), gravity=(0, 0, -9.81)), 0.02)
    assert out.v[:, 2] == pytest.approx(-9.81 * H * np.arange(21), abs=1e-14)


def test_the_larger_material_or_the_pair_s_own_number_counts():
    """The foot may be sticky or the wall; a pair of bodies may say otherwise."""
    for world in (
        hanging(0.99),
        ta.World(
            ta.free_body("body", Sphere(0.05), mass=MASS, position=(0, 0, -0.05)),
            ground=ceiling(adhesion=C),
            gravity=(0, 0, -0.99 * C / MASS),
        ),
        hanging(0.99, own=0.0, pairs=[ContactPair("body", "world", adhesion=C)]),
    ):
        assert abs(run(world, 0.02).v[-1, 2]) <= 1e-9
    loose = hanging(0.99, pairs=[ContactPair("body", "world", adhesion=0.5 * C)])
    assert run(loose, 0.02).v[-1, 2] < -0.1


def test_an_impact_bounces():
    """e = 0.5 at 1 m/s upwards: −0.5 m/s in the step of the impact, whatever force holds on meanwhile."""
    surface = Material((0.0, 0.0), restitution=0.5, adhesion=C)
    body = ta.free_body("body", Sphere(0.05), mass=MASS, position=(0, 0, -0.0505), material=surface)
    world = ta.World(body, ground=ceiling(), gravity=(0, 0, 0.0))
    out = ta.Simulation(world, dt=H).run(0.01, v=[0, 0, 1.0, 0, 0, 0])
    assert out.v[-1, 2] == pytest.approx(-0.5, abs=1e-8)


def test_acceleration_level_and_ledger():
    """The scheme on accelerations holds and lets go alike; the ledger closes through both."""
    held = run(hanging(0.99), 0.02, "acceleration-level")
    assert abs(held.v[-1, 2]) <= 1e-9
    out = run(hanging(1.2), 0.02, "acceleration-level")
    g = 1.2 * C / MASS
    assert out.v[-1, 2] == pytest.approx(-H * 0.2 * C / MASS - 19 * H * g, rel=1e-9)
    for r in (held, out):
        assert r.energy.closure <= 1e-9
