"""A drawing of a run: its parts belong together, and it says what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.drawing import draw
from taction.drawing.draw import MOST_TRAILS, draw_run, trails_of_model
from taction.drawing.panels import Curve, Panel


@pytest.fixture(scope="module")
def stack():
    boxes = [
        ta.free_body(f"box{k}", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
        for k in (0, 1)
    ]
    return ta.Simulation(ta.World(*boxes, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.1)


def test_a_drawing_of_contact(stack):
    drawing = draw_run(stack)
    assert drawing.title == stack.model.name and drawing.bodies == tuple(stack.model.body_names)
    assert drawing.frames.position.shape == (drawing.frames.count, 2, 3)
    assert {part.body for part in drawing.parts} == {-1, 0, 1} and drawing.dt == stack.dt
    assert {"Residual of every step", "Energies and works"} <= {panel.title for panel in drawing.panels}
    open_steps = stack.certificate.impulses_not_unique
    assert open_steps and any(f"In {open_steps} of {stack.steps} steps" in note for note in drawing.notes)


def test_a_run_from_a_file_is_drawn_alike(stack, tmp_path):
    path = stack.save(tmp_path / "run.h5")
    drawing, again = draw_run(stack), draw_run(ta.load_run(path).as_run())
    np.testing.assert_array_equal(again.frames.force, drawing.frames.force)
    np.testing.assert_array_equal(again.frames.quaternion, drawing.frames.quaternion)
    assert again.notes == drawing.notes and len(again.parts) == len(drawing.parts)


def test_contacts_left_out_are_said(stack, monkeypatch):
    monkeypatch.setattr(draw, "MOST_CONTACTS", 3)
    assert any("the 3 contacts with the largest forces" in note for note in draw_run(stack).notes)


def test_fewer_bytes_give_fewer_frames(stack):
    assert draw_run(stack, budget=2000).frames.count < draw_run(stack).frames.count


def test_curves_of_ones_own(stack):
    own = [Panel("Mine", "x [m]", [Curve("x", stack.t, stack.q[:, 0])])]
    assert draw_run(stack, panels=own).panels == own


def test_smooth_motion_and_no_motion():
    sim = ta.Simulation(ta.robots.chain(2), dt=0.01)
    moving, still = draw_run(sim.run(0.1), title="chain"), draw_run(sim.run(0.0))
    assert moving.title == "chain" and moving.frames.count > 1 and moving.panels
    assert still.frames.count == 1 and still.panels == []


def test_trails_are_of_the_centre_of_mass_and_of_tips():
    trails = trails_of_model(ta.robots.chain(3))
    assert [trail.body for trail in trails] == [-1, 2]
    np.testing.assert_allclose(trails[1].point, [0, 0, -0.3], atol=1e-12)
    balls = [
        ta.free_body(f"ball{k}", ta.Sphere(0.1), mass=1.0, position=(k, 0, 0)) for k in range(MOST_TRAILS + 1)
    ]
    assert len(trails_of_model(ta.World(*balls).model)) == 1
    assert len(trails_of_model(ta.World(*balls[:-1]).model)) == 1 + MOST_TRAILS
