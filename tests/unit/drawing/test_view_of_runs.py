"""Where to look from in runs: what swings in a plane across it, the rest from a corner; cameras by name."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from helpers import has_one_line
from taction.drawing.draw import draw_run
from taction.drawing.motion import frames_of_run
from taction.drawing.parts import parts_of_model
from taction.drawing.view import VIEWS, choose_view, named_view
from taction.scenarios import get_scenario


def view_of(run):
    shop = parts_of_model(run.model)
    return choose_view(frames_of_run(run, np.arange(run.steps + 1)), shop.parts, shop.meshes)


@pytest.mark.parametrize(("axis", "name"), [((0, 1, 0), "side"), ((1, 0, 0), "front")])
def test_a_pendulum_is_seen_across_its_plane(axis, name):
    b = ta.ModelBuilder("pendulum")
    b.body("bob", ta.Inertia.solid(ta.Sphere(0.05), mass=1.0), [ta.Shape(ta.Sphere(0.05))])
    b.revolute(
        "pin", parent="world", child="bob", axis=axis, child_pose=ta.Transform(translation=(0, 0, 1.0))
    )
    assert view_of(ta.Simulation(b.build(), dt=0.01).run(1.0, q=[1.2])).name == name


def test_a_stack_of_boxes_is_not_seen_from_above():
    view = view_of(get_scenario("box-stack").run(duration=0.02).run)
    assert view.name != "above" and not view.follow


def test_a_block_that_slides_is_seen_from_the_side():
    block = ta.free_body("block", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    run = ta.Simulation(ta.World(block, ground=ta.Plane(friction=0.1)), dt=2e-3).run(
        0.6, v=[3.0, 0, 0, 0, 0, 0]
    )
    assert view_of(run).name == "side"


def test_everything_is_inside_the_box_of_the_view():
    run = ta.Simulation(ta.robots.chain(3), dt=0.01).run(0.5, q=[0.5, 0.3, -0.2])
    view = view_of(run)
    assert (np.abs(frames_of_run(run, np.arange(51)).com - view.target) <= view.half + 1e-12).all()
    assert view.radius == pytest.approx(np.linalg.norm(view.half))


def test_a_robot_that_goes_far_is_followed():
    b = ta.ModelBuilder("train")
    for name, x in (("engine", 0.0), ("wagon", 0.3)):
        b.body(name, ta.Inertia.solid(ta.Box((0.2, 0.1, 0.1)), mass=1.0), [ta.Shape(ta.Box((0.2, 0.1, 0.1)))])
        b.prismatic(name, parent="world", child=name, axis=(1, 0, 0), initial=np.array([x]))
    far = ta.Simulation(b.build(), dt=0.01).run(1.0, v=[5.0, 5.0])
    assert view_of(far).follow
    assert not view_of(ta.Simulation(ta.robots.chain(2), dt=0.01).run(0.1)).follow


def test_ground_alone_has_a_view():
    run = ta.Simulation(ta.robots.chain(1), dt=0.01).run(0.01)
    shop = parts_of_model(run.model)
    frames = frames_of_run(run, np.array([0]))
    fixed = [part for part in shop.parts if part.body < 0]
    assert choose_view(frames, fixed, shop.meshes).name == "corner"


# ----- Cameras by name -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chosen():
    return draw_run(ta.Simulation(ta.robots.chain(2), dt=0.01).run(0.1)).view


@pytest.mark.parametrize("name", VIEWS)
def test_a_camera_by_name(chosen, name):
    view = named_view(chosen, name)
    assert (view.azimuth, view.elevation) == VIEWS[name] and view.name == name
    np.testing.assert_array_equal(view.target, chosen.target)
    np.testing.assert_array_equal(view.half, chosen.half)


def test_a_camera_by_angles(chosen):
    view = named_view(chosen, "30,-10")
    assert (view.azimuth, view.elevation, view.radius) == (30.0, -10.0, chosen.radius)


def test_a_camera_by_angles_and_radius(chosen):
    assert named_view(chosen, "30, 20, 2.5").radius == pytest.approx(2.5, rel=1e-15)


def test_no_camera_looks_straight_down(chosen):
    assert named_view(chosen, "0,90").elevation == 89.0


@pytest.mark.parametrize(
    "camera", ["", "nowhere", "1", "1,2,3,4", "1,x", "nan,2", "1,inf", "1,2,0", "1,2,-1"]
)
def test_a_bad_camera_is_refused(chosen, camera):
    with pytest.raises(ta.BadInput, match="camera") as caught:
        named_view(chosen, camera)
    assert has_one_line(caught.value) and "corner" in str(caught.value)
