"""Contact systems of worlds: equal to the simulator where it is linear, else to its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.planning.linearise import LEVELS, Lineariser
from taction.robots.block_and_pusher import behind, block_and_pusher
from taction.robots.cart_pole import cart_pole, walls
from taction.robots.pushers import pushers
from taction.scenarios.pushers import random_start
from taction.steppers.columns import PUSHED, TURNED

H = 0.05


def pushers_system(level="position", **options):
    return Lineariser(ta.World(pushers()), H, inputs=("right", "left"), level=level, reach=4.0, **options).at(
        np.zeros(3)
    )


def test_the_system_of_the_pushers_is_that_of_the_notes():
    """x⁺ = A x + B u + C c_n and 0 ≤ c_n ⊥ J q⁺ + const ≥ 0, up to the units of c_n."""
    system = pushers_system(has_friction=False)
    J = np.array([[-1.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    unit, one, no = np.diag(system.load), np.eye(3), np.zeros((3, 3))
    S = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(system.A, np.block([[one, H * one], [no, one]]), atol=1e-14)
    np.testing.assert_allclose(system.B, np.vstack([H * H * S, H * S]), atol=1e-15)
    np.testing.assert_allclose(system.C, np.vstack([H * J.T, J.T]) * unit, atol=1e-14)
    np.testing.assert_allclose(system.D, unit[:, None] / H * np.hstack([J, H * J]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(system.F, unit[:, None] * (J @ J.T) * unit, atol=1e-14)
    np.testing.assert_allclose(system.c, unit / H * 0.9, rtol=1e-12)
    assert system.contacts == ("puck - right", "puck - left")


@pytest.mark.parametrize("level", LEVELS)
def test_a_linear_world_moves_as_its_system_does(level):
    """Impacts, pushes, pulls apart; the simulator under the scheme of that level."""
    stepper = {"position": "stewart-trinkle", "velocity": "anitescu-potra"}[level]
    system, sim = pushers_system(level), ta.Simulation(ta.World(pushers()), dt=H, stepper=stepper)
    rng, worst, touched = np.random.default_rng(3), 0.0, 0
    for seed in range(1, 13):
        q, v = random_start(seed)
        u = rng.uniform(-10.0, 10.0, (25, 2))
        x, contact = system.roll_out(system.state(q, v), u)
        touched += int((contact > 1e-9).any(axis=0).sum())
        state = sim.state(q, v)
        for k in range(25):
            state, _ = sim.step(state, [0.0, *u[k]])
            worst = max(worst, float(np.abs(np.concatenate([state.q, state.v]) - x[k + 1]).max()))
            if level == "velocity" and (system_gaps(x[k + 1]) < -1e-6).any():
                break  # overlaps are pushed out by the simulator, which no linear system has
    assert touched >= 10
    assert worst < 1e-9


def system_gaps(x):
    return np.array([0.9 - x[0] - x[1], x[0] - x[2] + 0.9])


def test_a_step_with_friction_is_that_of_the_simulator_where_nothing_turned():
    """A block with five rubbing contacts, at velocities in the plane and forces of all kinds."""
    world = ta.World(block_and_pusher(), ground=ta.Plane(friction=0.4), exclude=[("world", "pusher")])
    q = behind(world.model, 0.0, 0.0, 0.2)
    system = Lineariser(world, 0.01, inputs=("push_x", "push_y", "push_turn"), reach=0.015).at(q)
    sim = ta.Simulation(world, dt=0.01, contact="lcp", stepper="stewart-trinkle")
    rng, worst, carried = np.random.default_rng(0), 0.0, 0
    for size in (0.0, 0.01, 0.1, 1.0):
        for _ in range(5):
            x, u = np.zeros(18), 10.0 * rng.normal(size=3) * [1.0, 1.0, 0.05]
            x[[6, 7]] = -2e-3 * size * np.array([np.cos(0.2), np.sin(0.2)])  # the pusher back
            x[[9, 10, 14, 15, 16, 17]] = 0.3 * size * rng.normal(size=6)
            after, contact = system.step(x, u)
            carried += int((system.load @ contact > 1e-9).sum())
            state, report = sim.step(sim.state(*system.place(x)), [*np.zeros(6), *u])
            error = np.abs(system.state(state.q, state.v) - after)
            worst = max(worst, float(error[9:].max()))
            # what turns ends in what it touches, and is parted from it
            assert error[:9].max() <= 1e-9 + 2.0 * report.record[[PUSHED, TURNED]].max()
    assert carried > 60
    assert worst < 1e-9


def test_matrices_are_the_derivatives_of_a_step_without_contact():
    """A cart-pole that leans and moves, far from its walls."""
    world = ta.World(cart_pole(), ground=walls(2.0))
    q, v, u, h = np.array([0.1, 0.5]), np.array([0.3, -1.0]), np.array([2.0]), 0.01
    system = Lineariser(world, h, inputs=("slide",), has_friction=False, reach=0.1).at(q, v, u)
    assert system.sizes == (4, 1, 0)
    sim = ta.Simulation(world, dt=h, stepper="stewart-trinkle")

    def after(x, u):
        state, _ = sim.step(sim.state(*system.place(x)), [u[0], 0.0])
        return system.state(state.q, state.v)

    x = system.state(q, v)
    np.testing.assert_allclose(system.step(x, u)[0], after(x, u), atol=1e-12)
    for j in range(4):
        e = np.zeros(4)
        e[j] = 1e-5
        slope = (after(x + e, u) - after(x - e, u)) / 2e-5
        np.testing.assert_allclose(system.A[:, j], slope, atol=1e-6)
    np.testing.assert_allclose(system.B[:, 0], (after(x, u + 1.0) - after(x, u - 1.0)) / 2.0, atol=1e-9)


def test_friction_across_a_plane_of_motion_is_left_out():
    """A hopper in a plane: two of the four corners of the pyramid move nothing."""
    b = ta.ModelBuilder("foot")
    b.body("rail")
    b.prismatic("x", parent="world", child="rail", axis=(1.0, 0.0, 0.0))
    b.body("foot", ta.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), [ta.Shape(ta.Sphere(0.1))])
    b.prismatic("z", parent="rail", child="foot", axis=(0.0, 0.0, 1.0))
    world = ta.World(b.build(), ground=ta.Plane(friction=0.5))
    assert Lineariser(world, H).at([0.0, 0.1]).sizes == (4, 2, 4)
    assert Lineariser(world, H, has_friction=False).at([0.0, 0.1]).sizes == (4, 2, 1)
    assert Lineariser(world, H, reach=0.1).at([0.0, 0.4]).sizes == (4, 2, 0)


def test_stops_and_loops_and_dry_friction_are_in():
    """A slide with a stop and dry friction, as its simulator has it."""
    b = ta.ModelBuilder("slide", gravity=(0.0, 0.0, 0.0))
    b.body("cart", ta.Inertia(2.0, np.zeros(3), 0.01 * np.eye(3)))
    b.prismatic("x", parent="world", child="cart", axis=(1.0, 0.0, 0.0), upper=0.3, friction=3.0)
    world = ta.World(b.build())
    system, sim = Lineariser(world, H).at([0.0]), ta.Simulation(world, dt=H, stepper="stewart-trinkle")
    state, x = sim.state([0.0]), np.zeros(2)
    for force in [2.0] * 3 + [40.0] * 12 + [-2.0] * 3 + [-30.0] * 5:
        state, _ = sim.step(state, [force])
        x, _ = system.step(x, [force])
        np.testing.assert_allclose([state.q[0], state.v[0]], x, atol=1e-9)
    assert x[1] < -1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inputs": ["lft"]}, "inputs: no joint with one freedom 'lft'"),
        ({"level": "place"}, "level 'place': choose from position, velocity"),
        ({"sides": 5}, "sides: must be an even number"),
        ({"reach": -1.0}, "reach: must be finite and not negative"),
        ({"bodies": ["pick"]}, "bodies: no body 'pick'"),
    ],
)
def test_wrong_input_is_one_line(options, message):
    with pytest.raises(ta.BadInput, match=message):
        Lineariser(ta.World(pushers()), H, **options)
