"""Many contacts of loose bodies: solved outside the compiled step, judged by the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from taction.bench.step import Stepper
from taction.bench.step_models import bin_mjcf, pile_mjcf
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers import driver
from taction.steppers.columns import CONTACTS, PENETRATION, RESIDUAL, UNCONVERGED
from taction.steppers.contact_solve import MANY


@pytest.fixture
def piles(monkeypatch):
    """How many steps were solved as piles."""
    calls = []

    def counted(*args):
        calls.append(1)
        return original(*args)

    original = driver.solve_pile
    monkeypatch.setattr(driver, "solve_pile", counted)
    return calls


@pytest.mark.parametrize(("text", "steps"), [(bin_mjcf(24), 150), (bin_mjcf(90), 60), (pile_mjcf(8), 250)])
def test_piles_are_solved_in_every_step(piles, text, steps):
    stepper = Stepper(Simulation(World(compile_model(parse_mjcf(text))), tol=1e-8), None)
    stepper.advance(steps)
    record = stepper.record.step
    many = int(np.sum(record[:, CONTACTS] > MANY))
    assert len(piles) >= many and bool(piles) == (many > 0) == (text.count("<body") == 90)
    assert record[:, RESIDUAL].max() <= 1e-8 and not record[:, UNCONVERGED].any()
    if "sphere" in text:  # a corner that turns into a face is found when it is in
        assert record[:, PENETRATION].max() <= 1e-6


def test_steps_do_not_depend_on_how_they_are_called():
    world = World(compile_model(parse_mjcf(bin_mjcf(90))))
    ends = []
    for pieces in ((50,), (44, 6)):
        stepper = Stepper(Simulation(world, tol=1e-8), None)
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
        stepper = Stepper(Simulation(world, tol=1e-8), None)
        none = stepper.driver.memory.loose
        for _ in range(200):
            stepper.advance(1)
            if not is_kept:
                stepper.driver.memory = stepper.driver.memory._replace(loose=none)
        ends.append(stepper.state.q.copy())
        orders.append(len(made))
    assert (ends[0] == ends[1]).all()
    assert 0 < 2 * orders[0] < orders[1]
