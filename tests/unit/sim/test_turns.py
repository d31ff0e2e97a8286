"""Joints that turn several times in absolute coordinates: angles, stops, targets know how often."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.model.inertia import Inertia

DT = 2e-3


def wheel(**joint) -> ta.Model:
    """A balanced wheel on a hinge, without gravity's help; a second one on it."""
    b = ta.ModelBuilder("wheel")
    for name in ("hub", "rim"):
        b.body(name, Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)))
    b.revolute("axle", parent="world", child="hub", axis=(0, 0, 1), **joint)
    b.revolute("ring", parent="hub", child="rim", axis=(0, 0, 1), damping=0.01)
    return b.build()


def both(model: ta.Model, duration: float, **options) -> list[ta.Run]:
    out = []
    for coordinates in ("reduced", "absolute"):
        sim = ta.Simulation(ta.World(model), dt=DT, stepper="moreau-momentum", coordinates=coordinates)
        out.append(sim.run(duration, **options))
    return out


def test_angles_go_on_beyond_a_turn():
    reduced, absolute = both(wheel(), 2.0, v=[9.0, -3.0])
    assert reduced.q[-1, 0] > 4.0 * np.pi
    assert np.abs(reduced.q - absolute.q).max() < 1e-9


def test_a_stop_beyond_a_turn_stops():
    """The axle runs into its stop at 5 rad, most of a turn away from where a single turn would see it.

    Moreau's scheme sees a stop when the midpoint is beyond it: at most half a step of 6 rad/s late.
    """
    for run in both(wheel(upper=5.0), 2.0, v=[6.0, 0.0]):
        assert 5.0 - 1e-6 < run.q[:, 0].max() < 5.0 + 0.5 * DT * 6.0
        assert run.q[-1, 0] == pytest.approx(5.0, abs=1e-6)


def test_springs_and_targets_beyond_a_turn_pull_there():
    """A servo with its target at 11 rad gets there, but for what the ring's friction pulls: d ω / k.

    Nearly static: the ring slows down at d (1/I + 1/I) = 0.2 per second, the servo follows at k_p/k_d = 7.
    """
    for run in both(wheel(), 4.0, controller=ta.PD(kp=[40.0, 0.0], kd=[6.0, 0.0], target=[11.0, 0.0])):
        assert run.q[-1, 0] - 11.0 == pytest.approx(0.01 * run.v[-1, 1] / 40.0, rel=0.2 / 7.0)


def test_a_start_beyond_a_turn_and_a_state_that_continues():
    world = ta.World(wheel())
    sim = ta.Simulation(world, dt=DT, stepper="moreau-momentum", coordinates="absolute")
    whole = sim.run(1.0, q=[-20.0, 15.0], v=[9.0, 0.0])
    assert whole.q[0].tolist() == pytest.approx([-20.0, 15.0], abs=1e-12)
    half = sim.run(0.5, q=[-20.0, 15.0], v=[9.0, 0.0])
    rest = sim.run(0.5, state=half.state)
    assert whole.hashes[250:] == rest.hashes


def test_controllers_see_the_turns():
    seen = []

    def controller(t, q, v):
        seen.append(q[0])
        return np.zeros(2)

    sim = ta.Simulation(ta.World(wheel()), dt=DT, stepper="moreau-momentum", coordinates="absolute")
    run = sim.run(1.0, v=[12.0, 0.0], controller=controller)
    assert np.allclose(seen, run.q[:-1, 0], atol=1e-12) and seen[-1] > 3.0 * np.pi
