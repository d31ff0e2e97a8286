"""Loose bodies that turn into each other within a step are apart when it ends."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.sim.step_options import make_passes
from taction.steppers.columns import (
    COLUMNS,
    CORRECTION,
    KINETIC,
    LEFT,
    PENETRATION,
    POSITION_ERROR,
    POTENTIAL,
    PUSHED,
    VELOCITY_ERROR,
)
from taction.steppers.schemes.dispatch import SCHEMES

SHAPES = {
    "box": ta.Box((0.1, 0.14, 0.2)),
    "capsule": ta.Capsule(0.04, 0.15),
    "cylinder": ta.Cylinder(0.08, 0.06),
    "ellipsoid": ta.Ellipsoid((0.05, 0.07, 0.1)),
}


def heap(shape, bodies=6):
    """Bodies above each other that fall and turn."""
    rng = np.random.default_rng(1)
    parts = []
    for i in range(bodies):
        axis = rng.normal(size=3)
        R = ta.Transform.from_rpy(tuple(axis)).rotation
        place = (*rng.uniform(-0.03, 0.03, 2), 0.15 + 0.25 * i)
        parts.append(ta.free_body(f"b{i}", shape, mass=1.0, position=place, rotation=R))
    return ta.World(*parts, ground=ta.Plane(friction=0.5))


def start(world, spin=10.0):
    v = np.zeros(world.model.nv).reshape(-1, 6)
    v[:, 3:] = spin * np.random.default_rng(2).normal(size=(len(v), 3))
    return v.ravel()


@pytest.mark.parametrize("stepper", ["half-flight", "stewart-trinkle"])
@pytest.mark.parametrize("name", SHAPES)
def test_nothing_overlaps_where_a_step_ends(name, stepper):
    """Without it the same heaps overlap by 0.05 to 1 mm, and are parted one step later."""
    world = heap(SHAPES[name])
    run = ta.Simulation(world, dt=2e-3, stepper=stepper).run(0.6, v=start(world))
    r = run.records
    assert r[:, PENETRATION].max() <= 1e-6 and r[:, LEFT].max() <= 1e-6
    assert r[:, PUSHED].max() > 2e-6  # there was something to part
    energy = r[:, KINETIC] + r[:, POTENTIAL]
    # Bodies that meet in the middle of a step gain what its order allows
    bound = 1e-12 if stepper == "stewart-trinkle" else 1e-6
    assert (np.diff(energy) - r[:-1, CORRECTION]).max() <= bound * energy[0]


def test_velocities_stay_as_they_are(monkeypatch):
    """One step with and without it: q differs by what the record says, v not at all."""
    world, options = heap(SHAPES["capsule"]), {"dt": 2e-3, "stepper": "stewart-trinkle"}
    sim = ta.Simulation(world, **options)
    run = sim.run(0.6, v=start(world))
    n = int(run.records[:, PUSHED].argmax())
    state = sim.run(2e-3 * n, v=start(world)).state
    with_it, report = sim.step(state)

    def make(*args, **settings):
        return tuple(p._replace(is_parting=False) for p in make_passes(*args, **settings))

    monkeypatch.setattr("taction.sim.contact_setup.make_passes", make)
    without, _ = ta.Simulation(world, **options).step(state)
    assert np.array_equal(with_it.v, without.v)
    moved = np.abs(with_it.q - without.q).reshape(-1, 7)[:, :3].max()
    assert 1e-6 < moved <= 3.0 * report.record[PUSHED]


def test_steps_in_pieces_are_the_same_bits():
    world = heap(SHAPES["cylinder"])
    sim = ta.Simulation(world, dt=2e-3)
    whole = sim.run(0.5, v=start(world))
    half = sim.run(0.25, v=start(world))
    rest = sim.run(0.25, state=half.state)
    assert np.array_equal(np.concatenate([half.q, rest.q[1:]]), whole.q)
    # Which steps are taken again to estimate their errors goes by their number in the run
    same = np.ones(whole.records.shape[1], dtype=bool)
    same[[POSITION_ERROR, VELOCITY_ERROR]] = False
    assert np.array_equal(np.concatenate([half.records, rest.records])[:, same], whole.records[:, same])


@pytest.mark.parametrize("scheme, coordinates, parts", [
    ("half-flight", "reduced", True),
    ("half-flight", "absolute", True),
    ("stewart-trinkle", "reduced", True),
    ("moreau", "reduced", False),
    ("stewart-trinkle", "absolute", False),
])  # fmt: skip
def test_who_parts(scheme, coordinates, parts):
    world = heap(SHAPES["box"], 1)
    options = make_passes(
        SCHEMES[scheme], dt=1e-3, coordinates=coordinates, contact="exact", world=world, tol=1e-9,
        is_external=False, push=1e-3, turn=1e-2,
    )  # fmt: skip
    assert options[-1].is_parting == parts


def test_robots_alone_are_parted_where_flight_is_measured():
    world = ta.World(ta.robots.quadruped(), ground=ta.Plane(friction=0.5))
    for stepper, parts in (("half-flight", True), ("stewart-trinkle", False)):
        assert ta.Simulation(world, dt=1e-3, stepper=stepper).engine.passes[-1].is_parting == parts


def test_deep_overlaps_at_the_start_leave_at_a_bounded_speed():
    """A capsule 2 cm in the ground that turns: no faster than without."""
    body = ta.free_body("capsule", SHAPES["capsule"], mass=1.0, position=(0.0, 0.0, 0.02))
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 5.0])
    with pytest.warns(ta.OverlapWarning):
        run = ta.Simulation(ta.World(body, ground=ta.Plane(friction=0.5)), dt=2e-3).run(0.01, v=v)
    assert run.records[0, PENETRATION] > 0.01
    limit = ta.Simulation(ta.World(body, ground=ta.Plane(friction=0.5)), dt=2e-3).engine.passes[-1].push
    assert run.records[:, PUSHED].max() <= 1.001 * limit


def test_memory_that_grows_while_bodies_are_parted_serves_the_next_step():
    """Ten boxes sunk by 0.1 mm have more contacts than memory has room for at first."""
    boxes = [
        ta.free_body(f"b{i}", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.2 * i, 0.0, 0.0499))
        for i in range(10)
    ]
    engine = ta.Simulation(ta.World(*boxes, ground=ta.Plane(friction=0.5)), dt=1e-3).engine
    scene, nv = engine.scene(), engine.robot.nv
    driver, state = engine.driver(scene), engine.inner(engine.start(None, None))
    room = len(driver.memory.sight.contacts.gap)
    driver.part(scene, np.zeros(nv), state, np.zeros(COLUMNS))
    assert len(driver.memory.sight.contacts.gap) > room
    record = engine.record(1)
    reached, missing, _, _ = driver.advance(scene, np.zeros((1, nv)), 0, 1, state, record)
    assert (reached, missing) == (1, 0) and record.step[0, PENETRATION] <= 1e-6
