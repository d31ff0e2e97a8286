"""Closed loops: gaps against geometry, closing them from nearby, and what cannot be closed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taction as ta
from taction.kinematics.loops import CLOSED
from taction.scenarios import get_scenario


def four_bar(coupler=0.5, kind="point"):
    scenario = get_scenario("four-bar")
    values = scenario.settings({"coupler": coupler, "loop": kind, "angle": 1.0})
    world = scenario.world(values)
    return scenario, values, world


@pytest.mark.parametrize("kind", ["point", "hinge"])
def test_closed_start_has_no_gap_and_stays(kind):
    scenario, values, world = four_bar(kind=kind)
    q = scenario.start(values, world)["q"]
    (gap,) = ta.loop_gaps(world.model, q)
    assert gap.name == "knee"
    assert gap.distance < 1e-12 and gap.angle < 1e-12
    np.testing.assert_allclose(ta.close_loops(world.model, q), q, atol=1e-11)


@pytest.mark.parametrize("kind", ["point", "hinge"])
def test_closing_from_nearby(kind):
    scenario, values, world = four_bar(kind=kind)
    q = scenario.start(values, world)["q"] + np.array([0.2, -0.15, 0.1])
    assert ta.loop_gaps(world.model, q)[0].distance > 0.01
    closed = ta.close_loops(world.model, q)
    assert ta.loop_gaps(world.model, closed)[0].distance <= 2 * CLOSED
    assert np.abs(closed - q).max() < 0.5


def test_gap_is_the_distance_of_the_frames():
    b = ta.ModelBuilder("pair")
    b.body("arm", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.revolute("hinge", parent="world", child="arm", axis=(0, 1, 0))
    b.loop("tip", "arm", "world", pose=ta.Transform(np.eye(3), np.array([1.0, 0, 0])), kind="weld")
    (gap,) = ta.loop_gaps(b.build(), [0.3])
    assert math.isclose(gap.distance, 1.0, rel_tol=1e-12)
    assert math.isclose(gap.angle, 0.3, rel_tol=1e-12)


def test_a_half_turn_is_not_closed():
    """The rows of a hinge vanish for opposite axes as well; the angle says so."""
    b = ta.ModelBuilder("pair")
    b.body("arm", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.revolute("hinge", parent="world", child="arm", axis=(0, 1, 0))
    b.loop("axle", "arm", "world", kind="hinge")
    model = b.build()
    assert ta.loop_gaps(model, [math.pi])[0].angle == pytest.approx(math.pi)
    with pytest.raises(ta.BadInput, match=r"3\.14 rad remain"):
        ta.close_loops(model, [math.pi])
    assert ta.close_loops(model, [0.4]) == pytest.approx([0.0], abs=1e-11)


def test_a_loop_that_is_too_short_is_named():
    _, _, world = four_bar(coupler=0.5)
    spec = world.model.spec
    spec.loops[0].other_pose = ta.Transform(np.eye(3), np.array([9.0, 0.0, 0.0]))
    with pytest.raises(ta.BadInput, match=r"'knee' cannot be closed from here: [0-9.]+ m"):
        ta.close_loops(world.model)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_run_refuses_an_open_loop(coordinates):
    scenario, values, world = four_bar()
    q = scenario.start(values, world)["q"] + np.array([0.0, 0.5, 0.0])
    sim = ta.Simulation(world, dt=1e-3, coordinates=coordinates)
    with pytest.raises(ta.BadInput, match=r"'knee' is open at the start, by 0\.[23].* taction\.close_loops"):
        sim.run(0.01, q=q)
    run = sim.run(0.01, q=ta.close_loops(world.model, q))
    assert run.certificate.joint_gap < 1e-6
