"""Sensors of MJCF files, and scenes that hold nothing else."""

from __future__ import annotations

import pytest

from mjcf_text import GEOM, scene
from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.model.compile import compile_model
from taction.model.spec import SensorSpec

WORLD = f'<body name="b">{GEOM}<joint name="j"/><site name="s"/><geom name="g" size="1"/></body>'
ACTUATOR = '<actuator><motor name="m" joint="j"/></actuator>'


def sensors(text):
    return scene(WORLD, after=f"{ACTUATOR}<sensor>{text}</sensor>").sensors


@pytest.mark.parametrize(
    "text, expected",
    [
        ('<jointpos joint="j"/>', SensorSpec("sensor0", "jointpos", "joint", "j")),
        ('<actuatorfrc name="f" actuator="m"/>', SensorSpec("f", "actuatorfrc", "actuator", "m")),
        ('<touch site="s" cutoff="5"/>', SensorSpec("sensor0", "touch", "site", "s", cutoff=5.0)),
        ('<subtreecom body="b"/>', SensorSpec("sensor0", "subtreecom", "body", "b")),
        ('<clock name="t"/>', SensorSpec("t", "clock")),
        (
            '<framequat objtype="xbody" objname="b" reftype="site" refname="s"/>',
            SensorSpec("sensor0", "framequat", "xbody", "b", "site", "s"),
        ),
    ],
)
def test_sensors(text, expected):
    assert sensors(text) == [expected]


def test_a_sensor_without_a_reading_is_kept_and_listed():
    with pytest.warns(UnsupportedFeatureWarning, match=r"sensor/distance .*: no reading \(no distances"):
        found = sensors('<distance geom1="g" body2="world"/>')
    assert found == [SensorSpec("sensor0", "distance", "geom", "g", "body", "world")]


@pytest.mark.parametrize(
    "text, reason",
    [
        ('<jointpos joint="x"/>', "joint 'x' does not exist"),
        ('<framepos objtype="xbody" objname="x"/>', "body 'x' does not exist"),
        ('<clock name="t"/><clock name="t"/>', "the name 't' is used twice"),
    ],
)
def test_sensors_that_are_refused(text, reason):
    with pytest.raises(ModelError, match=reason):
        sensors(text)


def test_scenes_without_bodies_compile():
    arena = compile_model(scene('<geom type="plane" size="1 1 1"/>'))
    assert (arena.nv, len(arena.spec.ground)) == (0, 1)


def test_gravity_compensation_is_kept():
    assert scene(f'<body gravcomp="0.5">{GEOM}</body>').bodies[0].gravity_compensation == 0.5
