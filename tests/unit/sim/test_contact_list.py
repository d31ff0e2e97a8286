"""Contacts of a run, one by one and together."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

H, WEIGHT = 1e-3, 9.81


@pytest.fixture(scope="module")
def run():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    return ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=H).run(0.02)


def test_there_are_as_many_as_rows(run, tmp_path):
    """A ball at rest: a contact in each of twenty steps."""
    assert len(run.contacts) == 20 and run.contacts.count[0] == 20
    assert repr(run.contacts).startswith("<20 contacts in 20 steps: step, key")
    again = ta.load_run(run.save(tmp_path / "run.h5"))
    assert len(again.contacts) == 20 and bool(again.contacts)


def test_one_by_one_and_by_masks(run):
    assert [contact.step for contact in run.contacts] == list(range(20))
    last = run.contacts[-1]
    assert last.step == 19 and last.gap == run.contacts.gap[-1]
    assert abs(last.impulse[0]) == pytest.approx(WEIGHT * H) and abs(last.normal[2]) == 1.0
    late = run.contacts[run.contacts.step >= 15]
    assert len(late) == 5 and np.array_equal(late.point, run.contacts.point[15:])
    assert len(run.contacts[:3]) == 3
