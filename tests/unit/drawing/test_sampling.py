"""How many frames and how many curves a run gets."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.drawing.panels import MOST_CURVES, most_moving
from taction.drawing.sampling import CONTACT_BYTES, FEWEST, PER_SECOND, POSE_BYTES, choose_rows


@pytest.fixture(scope="module")
def pendulum():
    return ta.Simulation(ta.robots.double_pendulum(), dt=1e-3)


@pytest.mark.parametrize(
    ("duration", "low", "high"),
    [
        (0.1, 101, 101),  # every step
        (1.0, 0.8 * FEWEST, FEWEST + 1),  # more than sixty a second
        (10.0, 9.0 * PER_SECOND, 10.0 * PER_SECOND + 1),
    ],
)
def test_short_runs_have_more_frames_a_second(pendulum, duration, low, high):
    run = pendulum.run(duration, q=[1.0, 0.5])
    rows, sentence = choose_rows(run)
    assert low <= len(rows) <= high and rows[0] == 0 and rows[-1] == run.steps
    assert ("Every step" in sentence) == (len(rows) == run.steps + 1)


def test_frames_stay_within_the_budget(pendulum):
    rows, _ = choose_rows(pendulum.run(1.0), budget=72 * 50)  # a frame of two bodies takes 72 bytes
    assert 30 <= len(rows) <= 51


def test_of_very_many_curves_those_that_span_most_are_drawn():
    rng = np.random.default_rng(0)
    spans = rng.permutation(np.linspace(0.0, 1.0, MOST_CURVES + 20))
    kept, sentence = most_moving(np.stack([np.zeros_like(spans), spans]))
    assert len(kept) == MOST_CURVES and (np.diff(kept) > 0).all()
    assert spans[kept].min() > np.delete(spans, kept).max()
    assert str(MOST_CURVES + 20) in sentence
    few, nothing = most_moving(np.zeros((2, MOST_CURVES)))
    assert few.tolist() == list(range(MOST_CURVES)) and nothing == ""


@pytest.fixture(scope="module")
def run():
    block = ta.free_body("block", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    world = ta.World(block, ground=ta.Plane(friction=0.4))
    return ta.Simulation(world, dt=1e-3).run(0.997, v=[1.0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("budget", [2000, 5000, 10_000])
def test_the_budget_is_respected(run, budget):
    rows, _ = choose_rows(run, budget)
    strides = np.diff(rows)
    assert rows[0] == 0 and rows[-1] == run.steps
    assert (strides[:-1] == strides[0]).all() and 0 < strides[-1] <= strides[0]
    contacts = len(run.contacts.step) / run.steps
    each = POSE_BYTES + CONTACT_BYTES * contacts
    assert len(rows) * each <= budget < 3 * len(rows) * each


def test_the_smallest_budget_leaves_both_ends(run):
    assert choose_rows(run, 1)[0].tolist() == [0, run.steps]


def test_a_run_of_no_steps_is_one_frame():
    run = ta.Simulation(ta.robots.chain(1), dt=0.05).run(0.0)
    assert choose_rows(run)[0].tolist() == [0]
