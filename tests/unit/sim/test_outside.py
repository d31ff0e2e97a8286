"""What acts on a world from outside, and what a state keeps of contacts besides impulses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taction as ta

MASS, DT = 2.0, 1e-3


def box(coordinates: str = "reduced", **world) -> ta.Simulation:
    body = ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=MASS, position=(0, 0, 0.1))
    return ta.Simulation(ta.World(body, **world), dt=DT, coordinates=coordinates)


def pushed(sim: ta.Simulation, moment, force, q=None) -> ta.SimState:
    state = sim.state(q)
    wrench = np.zeros((sim.engine.model.n_links, 6))
    wrench[-1] = [*moment, *force]
    return replace(state, wrench=wrench)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_force_on_a_free_body_accelerates_it(coordinates):
    """Forces that cancel gravity and push along x by F: v = F t / m, and F·x is booked as actuation."""
    sim = box(coordinates)
    run = sim.run(0.5, state=pushed(sim, (0, 0, 0), (3.0, 0.0, 9.81 * MASS)))
    assert run.v[-1, :3] == pytest.approx([3.0 * 0.5 / MASS, 0.0, 0.0], abs=1e-12)
    gain = 0.5 * MASS * (3.0 * 0.5 / MASS) ** 2
    assert run.energy.actuation == pytest.approx(gain, rel=1e-9)
    assert run.certificate.motion < 1e-12 and run.energy.closure < 1e-12


def test_friction_resists_up_to_its_bound():
    """On the ground, μ = 0.5: 9.7 N hold, 9.9 N slide, of 9.81 N."""
    for force, moves in ((9.7, False), (9.9, True)):
        sim = box(ground=ta.Plane(friction=0.5))
        run = sim.run(0.2, state=pushed(sim, (0, 0, 0), (force, 0.0, 0.0)))
        assert (run.q[-1, 0] > 1e-5) == moves
        assert run.certificate.residual < 1e-8 and run.certificate.unconverged_steps == 0


def test_a_wrench_is_the_force_of_its_jacobian():
    """On a link of a chain: the same motion as the joint forces Jᵀ w, held in one step."""
    chain = ta.robots.chain(3)
    sim = ta.Simulation(ta.World(chain), dt=DT)
    rng = np.random.default_rng(3)
    q, w = rng.uniform(-1, 1, chain.nq), rng.uniform(-5, 5, 6)
    link = chain.body_link[-1]
    wrench = np.zeros((sim.engine.model.n_links, 6))
    wrench[link] = w
    point = -chain.body_rotation[-1].T @ chain.body_offset[-1]
    J = ta.jacobian(chain, q, chain.body_names[-1], point=point)
    one = sim.run(DT, state=replace(sim.state(q), wrench=wrench))
    two = sim.run(DT, q=q, controller=lambda t, q, v: J.T @ w)
    assert np.allclose(one.v, two.v, atol=1e-12)


def test_wrenches_of_other_worlds_are_refused():
    sim = box()
    with pytest.raises(ta.BadInput, match=r"state.wrench: a row for each of 2 links"):
        sim.run(0.1, state=replace(sim.state(), wrench=np.zeros((5, 6))))


def test_states_are_saved_with_all_of_it(tmp_path):
    sim = box(ground=ta.Plane(friction=0.5))
    state = sim.run(0.01, state=pushed(sim, (0, 0, 0.1), (3.0, 0.0, 0.0))).state
    state.save(str(tmp_path / "state.npz"))
    again = ta.SimState.load(str(tmp_path / "state.npz"))
    for name in state.__dataclass_fields__:
        assert np.array_equal(getattr(state, name), getattr(again, name)), name
    assert again.wrench[-1].tolist() == [0, 0, 0.1, 3.0, 0, 0]
    assert sim.run(0.01, state=state).hashes == sim.run(0.01, state=again).hashes
