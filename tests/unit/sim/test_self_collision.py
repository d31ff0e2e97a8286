"""Which links of one robot collide: not those that overlap, unless asked for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import taction as ta


def robot(apart: float) -> ta.Model:
    """A base with two sliders, whose balls of 0.1 m radius overlap where they are less than 0.2 m apart."""
    b = ta.ModelBuilder("robot", gravity=(0.0, 0.0, 0.0))
    ball = ta.Inertia.solid(ta.Sphere(0.1), mass=1.0)
    b.body("base", ball)
    b.floating("free", child="base")
    for name, x in (("one", 0.0), ("two", apart)):
        b.body(name, ball, [ta.Shape(ta.Sphere(0.1))])
        pose = ta.Transform(translation=(x, 1.0, 0.0))
        b.prismatic(f"slide_{name}", parent="base", child=name, axis=(1, 0, 0), pose=pose)
    return b.build()


def contacts(model: ta.Model, q=None, **options) -> int:
    sim = ta.Simulation(ta.World(model, **options), dt=1e-3)
    return len(sim.run(2e-3, q=q).contacts.step)


def test_links_that_overlap_in_the_neutral_pose_do_not_collide():
    with pytest.warns(ta.OverlapWarning, match="neutral pose do not collide: one and two by 0.05 m"):
        assert contacts(robot(0.15)) == 0
    with pytest.warns(ta.OverlapWarning, match="overlap at the start"):
        assert contacts(robot(0.15), self_collision="all") > 0


def test_links_apart_collide_and_are_not_named():
    model = robot(0.3)
    q = model.q0.copy()
    q[7] = 0.1 - 1e-7  # touching
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert contacts(model, q) > 0
        assert contacts(model, q, self_collision="none") == 0
        assert contacts(model, q, self_collision=[("one", "two")]) > 0
        assert contacts(model, q, self_collision=[("base", "two")]) == 0


def test_links_that_overlap_where_a_motion_starts_do_not_collide_in_it():
    model = robot(0.3)
    q = model.q0.copy()
    q[7] = 0.15
    sim = ta.Simulation(ta.World(model), dt=1e-3)
    with pytest.warns(ta.OverlapWarning, match="where the motion starts do not collide"):
        run = sim.run(2e-3, q=q)
    assert len(run.contacts.step) == 0 and run.state.exempt.tolist() == [[1, 2]]
    assert len(sim.run(2e-3, state=run.state).contacts.step) == 0
    assert np.abs(run.q[-1] - q).max() == 0.0
    q[7] = 0.1 - 1e-7
    assert len(sim.run(2e-3, q=q).contacts.step) > 0  # another motion, without overlap


def test_two_robots_do_collide():
    world = ta.World(robot(0.3), robot(0.3))
    assert list(world.robot_of) == [0, 0, 0, 1, 1, 1]


def test_wrong_rules():
    for rule, text in (("some", "choose from auto, all, none"), ([("one", "three")], "no body 'three'")):
        with pytest.raises(ta.BadInput, match=text):
            ta.World(robot(0.3), self_collision=rule)
