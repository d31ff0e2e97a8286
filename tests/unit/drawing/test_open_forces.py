"""Steps in which single contact forces are open: those that the solver found, and none without contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from taction.contact.redundancy import IMPULSES, VELOCITIES
from taction.drawing import open_forces
from taction.drawing.draw import draw_run
from taction.drawing.open_forces import describe_steps, open_steps
from taction.scenarios import get_scenario
from taction.sim.run import Run
from taction.steppers.columns import NOT_UNIQUE

GROUND = ta.Plane(friction=0.5)


def falling_box() -> Run:
    """A box that falls on an edge, and on its face: flight, two contacts, four."""
    box = ta.free_body("box", ta.Box((0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.15))
    tilted = box.q0.copy()
    tilted[3:7] = [np.cos(0.05), 0.0, np.sin(0.05), 0.0]
    return ta.Simulation(ta.World(box, ground=GROUND), dt=2e-3).run(0.4, q=tilted)


def rolling_ball() -> Run:
    """One contact: its force is what it is."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    return ta.Simulation(ta.World(ball, ground=GROUND), dt=2e-3).run(0.1, v=[1.0, 0, 0, 0, 0, 0])


def stiff_table() -> Run:
    """Two legs on hinges with dry friction: the legs alone share the load in one way, held they do not."""
    b = ta.ModelBuilder("table")
    b.body("top", ta.Inertia.solid(ta.Box((0.6, 0.3, 0.1)), mass=2.0))
    b.floating("free", child="top", pose=ta.Transform(translation=(0, 0, 0.4)))
    for name, x in (("left", -0.25), ("right", 0.25)):
        leg = ta.Transform(translation=(0, 0, -0.15))
        b.body(name, ta.Inertia.solid(ta.Capsule(0.03, 0.3), mass=0.2).placed(leg))
        b.shape(name, ta.Sphere(0.05), ta.Transform(translation=(0, 0, -0.35)))
        at = ta.Transform(translation=(x, 0, 0))
        b.revolute(f"{name} hip", parent="top", child=name, axis=(0, 1, 0), pose=at, friction=5.0)
    return ta.Simulation(ta.World(b.build(), ground=GROUND), dt=2e-3).run(0.1)


@pytest.mark.parametrize("make", [falling_box, rolling_ball, stiff_table])
def test_contacts_say_what_the_solver_found(make, monkeypatch):
    """Two ways to one answer: rows of the step's problem while it was solved, and the Jacobian afterwards."""
    run = make()
    flagged = run.records[:, NOT_UNIQUE] >= IMPULSES
    assert flagged[-1] == (make is not rolling_ball)
    presses = np.bincount(run.contacts.step, run.contacts.impulse[:, 0] > 0, run.steps) > 0
    assert (open_steps(run) == flagged & presses).all()
    monkeypatch.setattr(open_forces, "is_settled", lambda run, steps: np.zeros(len(steps), dtype=bool))
    # flagged everywhere, as if the steps had more blocks than are tested
    records = run.records.copy()
    records[:, NOT_UNIQUE] = VELOCITIES
    assumed = open_steps(replace(run, records=records))
    assert (assumed == flagged & presses).mean() > 0.98 and not (assumed & ~presses).any()
    assert (assumed[-10:] == flagged[-10:]).all()


def test_in_flight_nothing_is_open_whatever_was_assumed():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 1.0))
    run = ta.Simulation(ta.World(ball, ground=GROUND), dt=1e-3).run(0.02)
    records = run.records.copy()
    records[:, NOT_UNIQUE] = VELOCITIES
    assumed = replace(run, records=records, coordinates="absolute")
    assert not open_steps(assumed).any()
    assert not any("unique" in note for note in draw_run(assumed).notes)


def test_steps_may_be_chosen():
    run = falling_box()
    chosen = np.array([150, 3, 199, 199])
    assert (open_steps(run, chosen) == open_steps(run)[chosen]).all()


def test_the_sentence_counts_steps_with_contact():
    run = falling_box()
    is_open = open_steps(run)
    touched = len(np.unique(run.contacts.step[run.contacts.impulse[:, 0] > 0]))
    assert 0 < is_open.sum() < touched < run.steps
    sentence = f"In {is_open.sum()} of {touched} steps with contact single forces are not unique."
    assert describe_steps(is_open, run) == sentence
    assert any(note.startswith(sentence) for note in draw_run(run).notes)
    assert describe_steps(np.zeros(run.steps, dtype=bool), run) == ""


@pytest.mark.long
def test_a_snake_that_falls_has_open_forces_when_it_lies():
    """With all its joints as equations a step has more blocks than are tested: every record is flagged."""
    run = get_scenario("snake-drop").run(dt=1e-3, duration=0.8, stepper="moreau", coordinates="absolute").run
    assert (run.records[:, NOT_UNIQUE] >= IMPULSES).all()
    is_open, first = open_steps(run), int(run.contacts.step.min())
    assert first > 200 and not is_open[:first].any() and is_open[-20:].all()
