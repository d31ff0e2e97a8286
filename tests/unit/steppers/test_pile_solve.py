"""Many contacts of loose bodies: solved outside the compiled step, judged by the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from taction.bench.step import Stepper
from taction.bench.step_models import bin_mjcf, pile_mjcf
from taction.contact.certificate import certify
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers import driver, phases, pile_help
from taction.steppers.columns import CONTACTS, PENETRATION, RESIDUAL, UNCONVERGED
from taction.steppers.contact_solve import MANY
from taction.steppers.pile_solve import has_faces, second_pile

ORDER_ONE = "stewart-trinkle"  # piles overlap by less than a micrometre with it


@pytest.fixture
def piles(monkeypatch):
    """How many steps were solved as piles."""
    calls = []

    def counted(*args):
        calls.append(1)
        return original(*args)

    original = pile_help.solve_pile
    monkeypatch.setattr(pile_help, "solve_pile", counted)
    return calls


@pytest.mark.long
@pytest.mark.parametrize(("text", "steps"), [(bin_mjcf(24), 150), (bin_mjcf(90), 60), (pile_mjcf(8), 250)])
def test_piles_are_solved_in_every_step(piles, text, steps):
    stepper = Stepper(Simulation(World(compile_model(parse_mjcf(text))), tol=1e-8, stepper=ORDER_ONE), None)
    stepper.advance(steps)
    record = stepper.record.step
    many = int(np.sum(record[:, CONTACTS] > MANY))
    assert len(piles) >= many and bool(piles) == (many > 0) == (text.count("<body") == 90)
    assert record[:, RESIDUAL].max() <= 1e-8 and not record[:, UNCONVERGED].any()
    if "sphere" in text:  # a corner that turns into a face is found when it is in
        assert record[:, PENETRATION].max() <= 1e-6


@pytest.mark.long
def test_piles_of_the_convex_law_are_solved_in_every_step(piles):
    stepper = Stepper(
        Simulation(World(compile_model(parse_mjcf(bin_mjcf(90)))), tol=1e-8, contact="convex"), None
    )
    stepper.advance(60)
    record = stepper.record.step
    assert piles and record[:, RESIDUAL].max() <= 1e-8 and not record[:, UNCONVERGED].any()
    assert record[:, PENETRATION].max() <= 1e-6


def tees_mjcf(bodies):
    """Bodies of two boxes in loose layers of four above a narrow bin."""
    rng, text = np.random.default_rng(0), '<geom type="plane" size="1 1 1"/>'
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        text += f'<geom type="plane" size="1 1 1" pos="{-0.16 * x} {-0.16 * y} 0" zaxis="{x} {y} 0"/>'
    for k in range(bodies):
        (a, b, c), (layer, place) = rng.uniform(-3.0, 3.0, 3), divmod(k, 4)
        x, y, z = 0.15 * (place % 2 - 0.5), 0.15 * (place // 2 - 0.5), 0.1 + 0.14 * layer
        text += f"""<body pos="{x} {y} {z}" euler="{a} {b} {c}"><freejoint/>
          <geom type="box" size=".06 .015 .015" mass=".3"/>
          <geom type="box" pos="0 .03 0" size=".015 .03 .015" mass=".2"/></body>"""
    head = '<compiler angle="radian"/><option timestep="0.005"/><default><geom friction="0.5"/></default>'
    return f"<mujoco>{head}<worldbody>{text}</worldbody></mujoco>"


@pytest.mark.long
def test_piles_of_faces_are_solved_in_every_step(piles):
    """Up to six rows per freedom: a flow changes them to and fro, and Newton's method takes over."""
    stepper = Stepper(
        Simulation(World(compile_model(parse_mjcf(tees_mjcf(32)))), tol=1e-8, stepper=ORDER_ONE), None
    )
    stepper.advance(110)
    record = stepper.record.step
    assert piles and record[:, CONTACTS].max() > MANY
    assert record[:, RESIDUAL].max() <= 1e-8 and not record[:, UNCONVERGED].any()
    assert record[:, PENETRATION].max() <= 1e-6


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "steps", "is_flat"), [(tees_mjcf(32), 100, True), (bin_mjcf(90), 50, False)]
)
def test_the_second_try(text, steps, is_flat):
    """Of faces Newton's method, from nothing; of balls nothing but where they are at rest."""
    stepper = Stepper(Simulation(World(compile_model(parse_mjcf(text))), tol=1e-8, stepper=ORDER_ONE), None)
    stepper.advance(steps)
    scene, work, column = stepper.scene, stepper.driver, stepper.scene.tree.column
    work.assemble(scene, stepper.drive[0], stepper.state)
    assert has_faces(work.memory.blocks) == is_flat
    n = 3 * int(work.memory.blocks.count[0])
    work.memory.blocks.r[:n] = 0.0
    missing = phases.ORDER_BODIES
    while missing == phases.ORDER_BODIES:
        work.order(scene, missing)
        missing, _, is_solved = second_pile(column, work.options, work.memory, work.memory.blocks.r)
    assert missing == phases.DONE and is_solved == is_flat
    problem = work.problem("pile")
    assert (certify(problem, work.memory.blocks.r[:n]).residual <= 1e-8) == is_flat


def test_steps_do_not_depend_on_how_they_are_called():
    world = World(compile_model(parse_mjcf(bin_mjcf(90))))
    ends = []
    for pieces in ((50,), (44, 6)):
        stepper = Stepper(Simulation(world, tol=1e-8, stepper=ORDER_ONE), None)
        for steps in pieces:
            stepper.advance(steps)
            stepper.keep()
            stepper.restore()
        ends.append(stepper.state.q.copy())
    assert (ends[0] == ends[1]).all()


def test_an_order_that_is_kept_is_the_one_that_would_be_made(monkeypatch):
    made, original = [], driver.order_bodies

    def counted(*args):
        made.append(1)
        return original(*args)

    monkeypatch.setattr(driver, "order_bodies", counted)
    world, ends, orders = World(compile_model(parse_mjcf(pile_mjcf(8)))), [], []
    for is_kept in (True, False):
        made.clear()
        stepper = Stepper(Simulation(world, tol=1e-8, stepper=ORDER_ONE), None)
        none = stepper.driver.memory.loose
        for _ in range(200):
            stepper.advance(1)
            if not is_kept:
                stepper.driver.memory = stepper.driver.memory._replace(loose=none)
        ends.append(stepper.state.q.copy())
        orders.append(len(made))
    assert (ends[0] == ends[1]).all()
    assert 0 < 2 * orders[0] < orders[1]
