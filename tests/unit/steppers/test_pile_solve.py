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
from taction.solvers.elimination_order import DENSE
from taction.steppers import driver
from taction.steppers.columns import CONTACTS, PENETRATION, RESIDUAL, UNCONVERGED


@pytest.fixture
def piles(monkeypatch):
    """How many steps were solved as piles."""
    calls = []

    def counted(*args):
        calls.append(1)
        return original(*args)

    original = driver.pile_impulses
    monkeypatch.setattr(driver, "pile_impulses", counted)
    return calls


@pytest.mark.parametrize(("text", "steps"), [(bin_mjcf(24), 150), (pile_mjcf(8), 250)])
def test_small_piles_are_solved_in_every_step(piles, text, steps):
    stepper = Stepper(Simulation(World(compile_model(parse_mjcf(text))), tol=1e-8), None)
    stepper.advance(steps)
    record = stepper.record.step
    assert len(piles) == np.sum(record[:, CONTACTS] > DENSE) > 50
    assert record[:, RESIDUAL].max() <= 1e-8 and not record[:, UNCONVERGED].any()
    if "sphere" in text:  # a corner that turns into a face is found when it is in
        assert record[:, PENETRATION].max() <= 1e-6


def test_steps_do_not_depend_on_how_they_are_called():
    world = World(compile_model(parse_mjcf(bin_mjcf(20))))
    ends = []
    for pieces in ((100,), (37, 63)):
        stepper = Stepper(Simulation(world, tol=1e-8), None)
        for steps in pieces:
            stepper.advance(steps)
            stepper.keep()
            stepper.restore()
        ends.append(stepper.state.q.copy())
    assert (ends[0] == ends[1]).all()
