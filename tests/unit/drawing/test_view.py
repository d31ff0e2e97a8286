"""Views are chosen by what moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from taction.drawing.draw import draw_poses
from taction.drawing.view import common_view, goes_free, named_view


def drawn(model, places):
    """A motion of a model's bodies along places (n, b, 3), without turning."""
    poses = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*places.shape[:2], 4))
    return draw_poses(model, np.linspace(0.0, 1.0, len(places)), places, poses)


def box(size=(0.4, 0.2, 0.05), ground=True):
    body = ta.free_body("box", ta.Box(size), mass=1.0)
    return ta.World(body, ground=ta.Plane() if ground else None).model


def path(x=0.0, y=0.0, z=0.0, swing=0.0):
    """From nothing to (x, y, z) with a wave across, one body, shape (60, 1, 3)."""
    s = np.linspace(0.0, 1.0, 60)
    out = s[:, None] * np.array([x, y, z])
    out[:, 1] += swing * np.sin(6.0 * np.pi * s)
    return out[:, None]


@pytest.mark.parametrize(
    ("places", "name"),
    [
        (path(x=1.0, swing=0.3), "above"),  # over the ground, both ways
        (path(x=2.0), "side"),
        (path(y=2.0), "front"),
        (path(x=1.0, y=0.5, z=1.0), "corner"),
        (path(), "corner"),
        (path(x=0.02, swing=0.01), "corner"),  # less than it is high
    ],
)
def test_the_motion_chooses_the_view(places, name):
    view = drawn(box(), places).view
    assert view.name == name and not view.follow


def test_what_is_tall_is_not_seen_from_above():
    view = drawn(box(size=(0.1, 0.1, 0.6)), path(x=1.0, swing=0.3)).view
    assert view.name == "corner"


def test_what_is_seen_fits_into_the_box_of_the_view():
    view = drawn(box(), path(x=2.0)).view
    np.testing.assert_allclose(view.target, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(view.half, [1.2, 0.1, 0.025], atol=1e-12)


def test_what_goes_far_is_followed_about_its_centre_of_mass():
    view = drawn(box(), path(x=20.0)).view
    assert view.follow and view.name == "side"
    np.testing.assert_allclose(view.target, 0.0, atol=1e-12)
    np.testing.assert_allclose(view.half, [0.2, 0.1, 0.025], atol=1e-12)


def test_a_fall_is_followed_where_there_is_no_ground():
    places = path(z=-20.0)
    assert drawn(box(ground=False), places).view.follow
    assert not drawn(box(), places).view.follow


def test_motions_beside_each_other_share_a_view_that_holds_them_but_not_what_blew_up():
    views = [
        drawn(box(), path(**way)).view for way in ({"x": 2.0}, {"x": 1.0, "z": 3.0}, {"x": 1e3, "z": 1e3})
    ]
    view = common_view([replace(v, follow=False) for v in views])
    assert (view.name, view.azimuth) == ("side", views[0].azimuth)
    np.testing.assert_allclose(view.target, [1.0, 0.0, 1.5], atol=1e-12)
    np.testing.assert_allclose(view.half, [1.2, 0.1, 1.525], atol=1e-12)
    far = [drawn(box(size), path(x=30.0)).view for size in ((0.4, 0.2, 0.05), (0.2, 0.3, 0.1))]
    together = common_view(far)
    assert together.follow and together.half.tolist() == pytest.approx([0.2, 0.15, 0.05])


def test_one_robot_that_nothing_holds_goes_free():
    boxes = [ta.free_body(name, ta.Box((0.1, 0.1, 0.1)), mass=1.0) for name in "ab"]
    assert goes_free(box()) and goes_free(ta.robots.quadruped())
    assert not goes_free(ta.robots.chain(2)) and not goes_free(ta.World(*boxes).model)


def test_a_common_view_keeps_the_camera_of_the_first():
    chosen = drawn(box(), path(x=2.0)).view
    asked = named_view(chosen, "30,20")
    both = common_view([asked, replace(asked, target=asked.target + 0.5)])
    assert (both.azimuth, both.elevation) == (30.0, 20.0)
    np.testing.assert_allclose(both.half, asked.half + 0.25)
    np.testing.assert_array_equal(common_view([asked]).half, asked.half)
