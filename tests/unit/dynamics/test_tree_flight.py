"""Free flight of trees: what it keeps, what it may be spared, and that scratch does not show."""

import numpy as np
import pytest

import taction as ta
from taction._core.jit import plain
from taction.dynamics.tree_flight import STILL, fly_trees, turning
from taction.kinematics.forward import place_links
from taction.robots import snake

TIME = 5e-4


def scratch(model, fill):
    """Links and slopes, with some number left over from whoever used them before."""
    engine = ta.Simulation(ta.World(model), stepper="half-flight").engine
    ws = engine.driver(engine.scene(None)).memory.motion
    for array in (ws.links[1:], ws.flight_q, ws.flight_v):
        array[:] = fill
    return ws


def fly(model, q, v, time=TIME, is_placed=False, fill=np.nan):
    """(q, v, whether it was lost) after a flight."""
    ws = scratch(model, fill)
    if is_placed:
        plain(place_links)(model.tree, q, ws.links)
    q_out, v_out = np.empty(model.nq), np.empty(model.nv)
    lost = fly_trees(model.tree, time, q, v, np.zeros(model.nv), is_placed, ws, q_out, v_out)
    return q_out, v_out, lost


@pytest.mark.parametrize("rate", [0.0, 1e-10, 1e-3, 1.0, 30.0, 300.0])
def test_links_placed_before_and_scratch_change_no_bit(rate):
    """Of every method: nothing turns, one pass, two, four, and several pieces of time."""
    model = ta.robots.quadruped()
    q = model.q0.copy()
    v = rate * np.random.default_rng(1).normal(size=model.nv)
    one, other, third = fly(model, q, v), fly(model, q, v, is_placed=True), fly(model, q, v, fill=3.0)
    for k in range(2):
        np.testing.assert_array_equal(one[k], other[k])
        np.testing.assert_array_equal(one[k], third[k])


def test_what_does_not_turn_keeps_its_velocity():
    model = ta.robots.quadruped()
    q, v = model.q0.copy(), np.zeros(model.nv)
    v[:3] = 3.0, -2.0, 1.0
    end, velocity, lost = fly(model, q, v)
    np.testing.assert_array_equal(velocity, v)
    np.testing.assert_allclose(end, [*(q[:3] + TIME * v[:3]), *q[3:]], rtol=0, atol=1e-15)
    assert not lost


def test_what_is_still_would_hardly_change_its_velocity():
    """Just below the bound, against accelerations: products of rates and velocities, some lever in front."""
    model, rng = ta.robots.quadruped(), np.random.default_rng(2)
    for _ in range(20):
        v = rng.normal(size=model.nv)
        v *= 0.9 * STILL / TIME / plain(turning)(model.tree, v)
        _, velocity, _ = fly(model, model.q0.copy(), v)
        np.testing.assert_array_equal(velocity, v)
        change = TIME * (
            ta.aba(model, model.q0, v, np.zeros(model.nv)) - ta.aba(model, model.q0, 0 * v, 0 * v)
        )
        assert np.abs(change).max() <= 100 * STILL * np.abs(v).max() + 1e-13 * TIME * 9.81


def test_no_link_turns_faster_than_all_rates_together():
    model, rng = ta.robots.quadruped(), np.random.default_rng(3)
    q, v = model.q0, rng.normal(size=model.nv)
    rates = np.linalg.norm(ta.body_velocities(model, q, v).angular, axis=1)
    assert rates.max() <= plain(turning)(model.tree, v)


@pytest.mark.parametrize("speed", [1.0, 10.0, 100.0])
def test_a_chain_that_whips_keeps_its_energy_in_every_flight(speed):
    """Half a millisecond; in a single piece the error at 100 rad/s is 2e-7, and a sixteenth per halving."""
    model, rng = snake(links=10), np.random.default_rng(0)
    for _ in range(5):
        q, v = model.q0.copy(), speed * rng.normal(size=model.nv)
        q[7:] += 0.3 * rng.normal(size=model.nq - 7)
        v[:6] *= 0.1
        at, speeds, lost = fly(model, q, v)
        assert not lost
        before, after = (0.5 * u @ ta.mass_matrix(model, x) @ u for x, u in ((q, v), (at, speeds)))
        assert abs(after / before - 1.0) <= 1e-8
