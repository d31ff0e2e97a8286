"""Systems along a path against the simulator's own steps."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction import BadInput
from taction.planning.along_path import along_path
from taction.planning.linearise import Lineariser
from taction.robots.hopper import hopper

H = 0.01


@pytest.fixture(scope="module")
def lineariser() -> Lineariser:
    return Lineariser(ta.World(hopper(), ground=ta.Plane(friction=0.7)), H, inputs=("hip", "leg"), reach=2.0)


PLACES = np.array([[0.3, 0.47, 0.1, -0.3, 0.0], [0.1, 0.62, -0.2, 0.4, 0.03]])
PLACES[0, 1] = 0.47 * np.cos(0.2) + 0.03  # the foot on the ground
RATES = np.array([[0.4, -0.8, 0.3, 1.0, 0.1], [0.5, 0.7, -0.2, 0.6, -0.4]])


@pytest.mark.parametrize("level", ["position", "velocity"])
def test_each_step_is_that_of_the_simulator_where_it_is_linearised(lineariser, level):
    own = Lineariser(lineariser.world, H, inputs=("hip", "leg"), reach=2.0, level=level)
    origin, u = np.array([-0.4, 0.5, 0.0, 0.2, 0.1]), np.array([2.0, 60.0])
    simulation = lineariser.simulation
    for system, q, v in zip(along_path(own, origin, PLACES, RATES), PLACES, RATES, strict=True):
        assert np.array_equal(system.origin, origin)
        after, _ = system.step(system.state(q, v), u)
        place, rate = system.place(after)
        run = simulation.run(H, q=q, v=v, controller=lambda t, q, v: np.array([0.0, 0.0, 0.0, *u]))
        # one is a pivoting method, the other iterates to 1e-10 on its own scale
        assert np.allclose(rate, run.v[-1], rtol=0.0, atol=1e-8)
        assert np.allclose(place, run.q[-1], rtol=0.0, atol=1e-8)


def test_the_origin_does_not_count(lineariser):
    x = np.concatenate([PLACES[1] + 0.01, RATES[1]])
    found = []
    for origin in (PLACES[1], np.zeros(5), PLACES[0]):
        (system,) = along_path(lineariser, origin, PLACES[1:], RATES[1:])
        after, impulse = system.step(x - np.concatenate([origin, np.zeros(5)]), [1.0, 20.0])
        found.append(np.concatenate([*system.place(after), impulse]))
    assert np.allclose(found[1], found[0], rtol=0.0, atol=1e-12)
    assert np.allclose(found[2], found[0], rtol=0.0, atol=1e-12)


def test_floating_bodies_are_refused():
    world = ta.World(ta.robots.quadruped(), ground=ta.Plane())
    own = Lineariser(world, H)
    q = world.model.q0
    with pytest.raises(BadInput, match="coordinates are not added"):
        along_path(own, q, q[None], np.zeros((1, world.model.nv)))
