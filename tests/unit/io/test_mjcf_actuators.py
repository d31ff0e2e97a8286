"""Actuators, excluded pairs and keyframes of MJCF files."""

from __future__ import annotations

import numpy as np
import pytest

from mjcf_text import GEOM, scene
from taction.model.spec import WORLD

# ----- Actuators, pairs and keyframes -----------------------------------------------------------------------


def one_actuator(element, default="", world=f'<body>{GEOM}<joint name="j"/></body>'):
    return scene(world, f"<default>{default}</default>", f"<actuator>{element}</actuator>").actuators[0]


def test_motor():
    motor = one_actuator('<motor name="m" joint="j" gear="3 1" ctrlrange="-1 2" forcerange="-5 5"/>')
    assert (motor.name, motor.joint, motor.kind, motor.gear) == ("m", "j", "motor", 3.0)
    assert (motor.control_range, motor.force_range) == ((-1.0, 2.0), (-5.0, 5.0))
    assert one_actuator('<motor joint="j" ctrlrange="-1 2" ctrllimited="false"/>').control_range == (
        -np.inf,
        np.inf,
    )
    assert one_actuator('<motor jointinparent="j"/>').name == "actuator0"


def test_servos():
    position, velocity = (
        one_actuator('<position joint="j" kp="3" kv="2"/>'),
        one_actuator('<velocity joint="j"/>'),
    )
    assert (position.kind, position.kp, position.kv) == ("position", 3.0, 2.0)
    assert (velocity.kind, velocity.kp, velocity.kv) == ("velocity", 0.0, 1.0)


@pytest.mark.parametrize(
    "attributes, expected",
    [
        ("", ("motor", 2.0, 0.0, 0.0, (-4.0, 8.0))),
        ('gainprm="-2"', ("affine", 2.0, 0.0, 0.0, (-4.0, 8.0))),
        ('gainprm="5" biasprm="1 2 3"', ("affine", 2.0, 0.0, 0.0, (-4.0, 8.0))),
        ('gainprm="5" biastype="affine" biasprm="0 -5 -1"', ("position", 2.0, 5.0, 1.0, (-4.0, 8.0))),
        ('gainprm="5" biastype="affine" biasprm="0 0 -5"', ("velocity", 2.0, 0.0, 5.0, (-4.0, 8.0))),
    ],
)
def test_general_actuators(attributes, expected):
    a = one_actuator(f'<general joint="j" gear="2" forcerange="-4 8" {attributes}/>')
    assert (a.kind, a.gear, a.kp, a.kv, a.force_range) == expected


def test_actuator_defaults():
    defaults = '<position kp="5" kv="2"/><default class="c"><velocity kv="3" gear="4"/></default>'
    position = one_actuator('<position class="c" joint="j"/>', defaults)
    assert (position.kp, position.kv, position.gear) == (5.0, 2.0, 4.0)
    assert one_actuator('<general class="c" joint="j"/>', defaults).kind == "velocity"
    motor = one_actuator('<motor class="c" joint="j"/>', defaults)
    assert (motor.kind, motor.gear) == ("motor", 4.0)


def test_actuator_armature_and_damping_act_at_the_joint():
    spec = scene(
        f'<body>{GEOM}<joint name="j" armature="1" damping="2"/></body>',
        after='<actuator><motor joint="j" gear="3" armature="0.1" damping="0.2"/></actuator>',
    )
    assert (spec.joint("j").armature, spec.joint("j").damping) == pytest.approx((1.9, 3.8))


def test_excluded_pairs():
    spec = scene(
        '<body name="a"/><body name="b"/>',
        after='<contact><exclude body1="a" body2="b"/><exclude body1="world" body2="b"/></contact>',
    )
    assert spec.exclude == [("a", "b"), (WORLD, "b")]


def test_keyframes():
    spec = scene(
        f'<body pos="1 2 3">{GEOM}<freejoint/></body><body>{GEOM}<joint name="j" ref="90"/></body>',
        after="""<actuator><motor joint="j"/></actuator><keyframe><key/>
          <key name="k" qpos="1 2 3 0 0 2 0 4" qvel="0 0 0 0 0 0 7" ctrl="8"/>
          <key name="s" qpos="5"/></keyframe>""",
    )
    initial, key, short = spec.keyframes["key0"], spec.keyframes["k"], spec.keyframes["s"]
    np.testing.assert_allclose(initial.q, [1, 2, 3, 1, 0, 0, 0, np.pi / 2])
    np.testing.assert_allclose(key.q, [1, 2, 3, 0, 0, 1, 0, 4])
    assert (key.v[-1], key.control.tolist(), initial.control.tolist()) == (7.0, [8.0], [0.0])
    np.testing.assert_allclose(short.q, [5, 2, 3, 1, 0, 0, 0, np.pi / 2])
