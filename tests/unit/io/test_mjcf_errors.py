"""What MJCF reading says: the one warning, and every error with its place."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mjcf_text import GEOM, TETRAHEDRON, one_joint, scene, unsupported
from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.mjcf import parse_mjcf, read_mjcf

SOFT = 'solreflimit="0.01 1"'

# ----- The warning ------------------------------------------------------------------------------------------


def test_one_warning_lists_everything_with_its_place():
    spec, message = unsupported(f"""<mujoco>
      <option density="1.2" o_margin="1" magnetic="0 1 0" cone="pyramidal"><flag override="enable"/></option>
      <default><geom margin="0.01"/></default>
      <worldbody>
        <geom size="1" condim="4"/>
        <geom size="1" condim="6" gap="0.1" solref="0.01 1" solimp="0.9 1 1" solmix="2" name="g"/>
        <body name="b" gravcomp="1" novelty="2">{GEOM}
          <joint name="j" margin="0.1" springyield="1" damping="1 2" actuatorfrcrange="-1 3" {SOFT}/>
          <composite type="cable"/>
        </body>
        <body>{GEOM}<joint name="k" type="ball" range="0 30" stiffness="3" frictionloss="1"/></body>
        <body mocap="true"/>
        <geom type="hfield"/>
        <body>{GEOM}<joint type="free" armature="1"/></body>
      </worldbody>
      <tendon><fixed name="t" stiffness="1" armature="1"><joint joint="j" coef="1"/></fixed></tendon>
      <equality><weld body1="b" solref="0.1 1"/></equality>
      <contact><pair/><pair geom1="g" geom2="h" margin="1" solref="0.01 1"/></contact>
      <actuator>
        <motor tendon="t"/>
        <muscle joint="j"/>
        <position joint="j" dampratio="1" timeconst="0.1"/>
        <general joint="j" gaintype="affine"/>
        <motor joint="k"/>
        <motor joint="j" delay="0.1"/>
      </actuator>
      <keyframe><key act="1" ctrl="1 2 3 4 5 6"/></keyframe>
    </mujoco>""")
    expected = {
        "option density": 2, "option o_margin": 2, "option magnetic": 2, "flag override": 2, "geom margin": 3,
        "option cone": 2, "geom solref": 6, "geom solimp": 6,
        "geom solmix": 6, "joint solreflimit": 8, "pair margin": 18, "pair solref": 18,
        "contact/pair with geom 'h', which is not read": 18,
        "geom gap": 6, "body novelty": 7, "joint margin": 8,
        "joint springyield": 8, "joint damping of higher order": 8, "body/composite": 9,
        "joint range of a ball joint": 11,
        "joint stiffness of a ball or free joint": 11,
        "body mocap": 12, "geom of type hfield": 13,
        "tendon armature": 16, "weld solref": 17, "geom condim 4": 5, "geom condim 6": 6,
        "contact/pair with geom '', which is not read": 18, "actuator/muscle": 21,
        "general actuator that is no motor and no servo": 23,
        "motor delay": 25,
        "key of a model with bodies that are not read": 27,
    }  # fmt: skip
    for what, line in expected.items():
        assert f"{what} (model.xml:{line})" in message
    assert len(re.findall(r"model\.xml:\d", message)) == len(spec.unread) == len(expected)
    assert {entry.what: entry.where for entry in spec.unread} == {
        what: f"model.xml:{line}" for what, line in expected.items()
    }
    assert all(entry.changes and "\n" not in entry.changes for entry in spec.unread)
    for what in ("geom solref", "joint solreflimit", "pair solref", "weld solref"):
        assert {entry.changes for entry in spec.unread if entry.what == what} == {"rigid here"}
    assert "geom condim 4 (model.xml:5): no torsional friction" in message
    assert [a.kind for a in spec.actuators] == ["motor", "none", "position", "none", "motor", "motor"]
    assert (spec.joint("j").effort, spec.joint("j").force_range[1]) == (3.0, 3.0)


def test_strict_reading_refuses_with_one_error():
    text = '<mujoco><worldbody><geom size="1" gap="1"/><body mocap="true"/></worldbody></mujoco>'
    message = r"^model.xml: not supported: body mocap \(model.xml:1\): fixed .*; geom gap .*meet$"
    with pytest.raises(ModelError, match=message):
        parse_mjcf(text, file="model.xml", strict=True)
    parse_mjcf(text.replace('gap="1"', "").replace('mocap="true"', ""), strict=True)


def test_flags_switch_parts_off():
    def flagged(name):
        return scene(
            f'<body name="a">{GEOM}<joint name="j" range="-1 1" {acts}/></body>'
            f'<body>{GEOM}<joint name="k"/></body>',
            f'<option><flag {name}="disable"/></option>',
            '<equality><weld body1="a"/><joint joint1="j" joint2="k"/></equality>'
            '<actuator><motor joint="j" ctrlrange="-1 1"/></actuator>',
        )

    acts = 'frictionloss="1" stiffness="2" damping="3"'
    everything = flagged("energy")
    for name, off in {
        "equality": {"equality"},
        "limit": {"limit"},
        "frictionloss": {"frictionloss"},
        "contact": {"contact"},
        "constraint": {"equality", "limit", "frictionloss", "contact"},
        "spring": {"spring"},
        "damper": {"damper"},
        "clampctrl": {"clampctrl"},
        "actuation": {"actuation"},
    }.items():
        spec = flagged(name)
        j, (shape,), (actuator,) = spec.joint("j"), spec.body("a").shapes, spec.actuators
        found = {
            "equality": not spec.loops and j.mimic is None,
            "limit": j.upper == np.inf,
            "frictionloss": j.friction == 0.0,
            "contact": not (shape.collides or shape.group or shape.mask),
            "spring": j.stiffness == 0.0,
            "damper": j.damping == 0.0,
            "clampctrl": actuator.control_range[1] == np.inf,
            "actuation": actuator.kind == "none",
        }
        assert {part for part, is_off in found.items() if is_off} == off
    assert everything.loops and everything.joint("j").mimic.joint == "k"


def test_long_lists_are_cut_but_counted():
    _, message = unsupported(
        "<mujoco><worldbody>" + '<geom size="1" gap="1"/>' * 20 + "</worldbody></mujoco>"
    )
    assert "and 12 more" in message


def test_controls_of_unsupported_actuators_keep_their_places():
    world = f'<body>{GEOM}<joint name="j"/></body>'
    keys = '<keyframe><key name="k" ctrl="1 2 3 4"/></keyframe>'
    strange = '<motor name="a" joint="j"/><pid name="b" joint="j"/><motor name="c" joint="j"/>'
    with pytest.warns(UnsupportedFeatureWarning, match="actuator/pid"):
        spec = scene(world, after=f"<actuator>{strange}</actuator>{keys}")
    assert [(a.name, a.kind) for a in spec.actuators] == [
        ("a", "motor"), ("b", "none"), ("b/1", "none"), ("c", "motor"),
    ]  # fmt: skip
    assert spec.keyframes["k"].control.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "asset, geom, what",
    [
        ('builtin="sphere" params="1"', 'mesh="m"', "mesh builtin"),
        ('file="a.ply"', 'mesh="m"', "mesh file of format .ply"),
        (TETRAHEDRON, 'type="box" mesh="m"', "geom fitted to a mesh"),
    ],
)
def test_unsupported_meshes(asset, geom, what):
    with pytest.warns(UnsupportedFeatureWarning, match=what):
        scene(
            f'<geom type="mesh" {geom}/>'.replace('type="mesh" type', "type"),
            f'<asset><mesh name="m" {asset}/></asset>',
        )


def test_warning_points_at_the_caller():
    with pytest.warns(UnsupportedFeatureWarning) as caught:
        parse_mjcf('<mujoco><worldbody><geom size="1" gap="1"/></worldbody></mujoco>')
    assert caught[0].filename == __file__


def test_reversed_range_is_ignored_but_listed():
    with pytest.warns(UnsupportedFeatureWarning, match="joint range that is not increasing"):
        assert one_joint('range="1 -1"').upper == np.inf


# ----- Errors -----------------------------------------------------------------------------------------------

MASS = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
HINGE = f'<worldbody><body>{GEOM}<joint name="j"/></body></worldbody>'


def world(text):
    return f"<worldbody>{text}</worldbody>"


def massive(text):
    return world(f"<body>{GEOM}{text}</body>")


def mesh(attributes):
    return f'<asset>\n<mesh name="t" {attributes}/></asset>' + world('<geom type="mesh" mesh="t"/>')


def actuator(text):
    return f"{HINGE}<actuator>{text}</actuator>"


# What stands inside <mujoco>, with the culprit on line 2, and the reason given.
ERRORS = {
    "global coordinates": ('\n<compiler coordinate="global"/>', "coordinate='global'"),
    "keyword": ('\n<compiler angle="grad"/>', "angle='grad' must be one of radian, degree"),
    "boolean": ('\n<compiler autolimits="True"/>', "must be one of false, true"),
    "eulerseq": ('\n<compiler eulerseq="xyw"/>', "eulerseq='xyw'"),
    "timestep": ('\n<option timestep="0"/>', "timestep=0.0 must be positive"),
    "gravity": ('\n<option gravity="1 2"/>', "needs 3 numbers"),
    "unknown class": (world('\n<geom class="q" size="1"/>'), "unknown default class 'q'"),
    "unknown childclass": (world('\n<body childclass="q"/>'), "unknown default class 'q'"),
    "class twice": ('<default><default class="a"/>\n<default class="a"/></default>', "'a' is defined twice"),
    "nested class without name": ("<default>\n<default/></default>", "needs a class name"),
    "main renamed": ('\n<default class="x"/>', "cannot be renamed"),
    "bad number in a class": ('<default>\n<geom size="b"/></default>', "not numeric"),
    "body twice": (world('<body name="a"/>\n<body name="a"/>'), "'a' is used twice"),
    "body called world": (world('\n<body name="world"/>'), "'world' is used twice"),
    "joint twice": (massive('<joint name="a"/>\n<joint name="a"/>'), "'a' is used twice"),
    "geom twice": (world('<geom name="a" size="1"/>\n<geom name="a" size="1"/>'), "used twice"),
    "joint in the world": (world("\n<joint/>"), "the world cannot have joints"),
    "inertial in the world": (world("\n" + MASS), "the world cannot have joints or inertia"),
    "two inertials": (massive(f"{MASS}\n{MASS}"), "is the second one"),
    "free joint inside": (massive(f"<body>{GEOM}\n<freejoint/></body>"), "children of the world"),
    "free and hinge": (world(f"\n<body>{GEOM}<freejoint/><joint/></body>"), "more than six"),
    "ball, then hinge": (world(f'\n<body>{GEOM}<joint type="ball"/><joint/></body>'), "another rotation"),
    "joint type": (massive('\n<joint type="screw"/>'), "type='screw' must be one of"),
    "zero axis": (massive('\n<joint axis="0 0 0"/>'), "axis is zero"),
    "limits": (massive('\n<joint range="1 -1" limited="true"/>'), "lower 1 is not below upper -1"),
    "limited without range": (massive('\n<joint limited="true"/>'), "not below"),
    "range without limited": (
        '<compiler autolimits="false"/>' + massive('\n<joint range="0 1"/>'),
        "autolimits is off",
    ),
    "negative armature": (massive('\n<joint armature="-1"/>'), "armature=-1 must not be below 0"),
    "too many numbers": (massive('\n<joint armature="1 2"/>'), "has more than 1 numbers"),
    "too many sizes": (world('\n<geom size="1 2 3 4"/>'), "has more than 3 numbers"),
    "named default": ('<default>\n<joint name="a"/></default>', "a default has no name"),
    "nan": (world('\n<geom size="nan"/>'), "not finite"),
    "text for a number": (world('\n<body pos="1 2 x"/>'), "not numeric"),
    "too few numbers": (world('\n<body pos="1 2"/>'), "needs 3 numbers"),
    "not an integer": (world('\n<geom size="1" contype="1.5"/>'), "not an integer"),
    "zero quaternion": (world('\n<body quat="0 0 0 0"/>'), "quat is zero"),
    "zero axisangle": (world('\n<body axisangle="0 0 0 1"/>'), "axis of axisangle is zero"),
    "parallel axes": (world('\n<body xyaxes="1 0 0 2 0 0"/>'), "y axis"),
    "two orientations": (world('\n<body quat="1 0 0 0" euler="1 2 3"/>'), "more than once: quat, euler"),
    "geom type": (world('\n<geom type="cone" size="1"/>'), "type='cone' must be one of"),
    "no size": (world("\n<geom/>"), "a sphere needs 1 positive numbers in size"),
    "missing size": (world('\n<geom type="box" size="1 1"/>'), "a box needs 3 positive"),
    "plane size": (world('\n<geom type="plane"/>'), "a plane needs 3"),
    "negative size": (world('\n<geom type="box" size="1 1 -1"/>'), "a box needs 3 positive"),
    "fromto and pos": (
        world('\n<geom type="capsule" size="1" pos="1 0 0" fromto="0 0 0 0 0 1"/>'),
        "both pos and fromto",
    ),
    "fromto of a sphere": (world('\n<geom size="1" fromto="0 0 0 0 0 1"/>'), "not for a sphere"),
    "fromto a point": (world('\n<geom type="capsule" size="1" fromto="0 0 0 0 0 0"/>'), "the same"),
    "condim": (world('\n<geom size="1" condim="2"/>'), "condim=2"),
    "friction": (world('\n<geom size="1" friction="-1"/>'), "friction=-1"),
    "negative mass of a geom": (massive('\n<geom size="1" mass="-1"/>'), "mass=-1"),
    "plane that moves": (massive('<joint/>\n<geom type="plane" size="1 1 1"/>'), "a body that moves"),
    "unknown mesh": (world('\n<geom type="mesh" mesh="t"/>'), "mesh 't' does not exist"),
    "no mesh": (world('\n<geom type="mesh"/>'), "needs the attribute 'mesh'"),
    "mesh file": (mesh('file="no.stl"'), "no such mesh file"),
    "mesh twice": ('<asset><mesh file="a.stl"/>\n<mesh file="b/a.stl"/></asset>', "'a' is used twice"),
    "mesh without a name": ("<asset>\n<mesh/></asset>", "neither a name nor a file"),
    "mesh faces": (
        mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 7"'),
        "face 0 uses vertex 7, but vertices are numbered 0 to 3",
    ),
    "mesh vertices": (mesh('vertex="0 0 0 1 0"'), "at least four vertices"),
    "mesh scale": (mesh(f'scale="1 0 1" {TETRAHEDRON}'), "has a zero"),
    "no mass": (world("\n<body><joint/></body>"), "moves, but has no mass"),
    "only the child has mass": (world(f"\n<body><joint/><body>{GEOM}<joint/></body></body>"), "no mass"),
    "no mass allowed": (
        '<compiler inertiafromgeom="false"/>' + world(f"\n<body>{GEOM}<joint/></body>"),
        "no mass",
    ),
    "negative mass": (massive('\n<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "mass=-1"),
    "inertial without mass": (
        massive('\n<inertial pos="0 0 0" diaginertia="1 1 1"/>'),
        "no attribute 'mass'",
    ),
    "inertial without pos": (massive('\n<inertial mass="1" diaginertia="1 1 1"/>'), "no attribute 'pos'"),
    "triangle inequality": (
        world('\n<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>'),
        "triangle inequality",
    ),
    "indefinite inertia": (
        world('\n<body><joint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/></body>'),
        "not positive semi-definite",
    ),
    "two inertias": (
        massive('\n<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
        "excludes",
    ),
    "unknown joint": (actuator('\n<motor joint="q"/>'), "joint 'q' does not exist"),
    "no joint": (actuator("\n<motor/>"), "names nothing to act on"),
    "unknown actuator class": (actuator('\n<motor class="q" joint="j"/>'), "unknown default class 'q'"),
    "actuator twice": (actuator('<motor name="a" joint="j"/>\n<motor name="a" joint="j"/>'), "used twice"),
    "control range": (
        actuator('\n<motor joint="j" ctrlrange="1 0" ctrllimited="true"/>'),
        "ctrlrange: lower 1",
    ),
    "negative kv": (actuator('\n<position joint="j" kv="-1"/>'), "kv=-1"),
    "gear": (actuator('\n<motor joint="j" gear="1e200"/>'), "gear=1e+200 is too large"),
    "unknown body in exclude": (
        '<contact>\n<exclude body1="q" body2="world"/></contact>',
        "'q' does not exist",
    ),
    "long keyframe": ('<keyframe>\n<key qpos="1"/></keyframe>', "qpos has 1 numbers, the model 0"),
    "long velocity": ('<keyframe>\n<key qvel="1"/></keyframe>', "qvel has 1 numbers, the model 0"),
    "long control": ('<keyframe>\n<key ctrl="1 2"/></keyframe>', "ctrl has 2 numbers, the model 0"),
    "keyframe twice": ('<keyframe><key name="a"/>\n<key name="a"/></keyframe>', "'a' is used twice"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_name_file_line_and_reason(case):
    text, reason = ERRORS[case]
    with pytest.raises(ModelError) as caught:
        parse_mjcf(f"<mujoco>{text}</mujoco>", file="model.xml")
    assert str(caught.value).startswith("model.xml:2: ")
    assert str(caught.value).count("model.xml:") == 1
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("<mujoco>\n<worldbody", "model.xml:2: malformed XML"),
        ("\n<robot/>", "model.xml:2: robot: an MJCF file must have <mujoco> as its root"),
        ('<!DOCTYPE m [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>', "model.xml: refused"),
    ],
)
def test_what_is_no_model_at_all(text, reason):
    with pytest.raises(ModelError, match=reason):
        parse_mjcf(text, file="model.xml")


def test_missing_mass_is_traced_to_what_is_not_supported():
    with pytest.raises(ModelError, match=r"no mass.*not supported: geom of type sdf"):
        scene('<body><joint/><geom type="sdf"/></body>')


def test_missing_file():
    with pytest.raises(ModelError, match=r"nowhere\.xml: cannot be read"):
        read_mjcf("nowhere.xml")


@pytest.mark.parametrize("encoding", ["utf-7", "nonsense", "idna", "hex"])
def test_odd_encodings(encoding):
    with pytest.raises(ModelError, match="cannot be decoded"):
        parse_mjcf(f'<?xml version="1.0" encoding="{encoding}"?><mujoco/>'.encode())


@pytest.mark.parametrize(
    "text",
    [
        '<body pos="1e308 1e308 0"><joint/><geom size="1e200"/></body>',
        '<body><joint axis="1e-200 1e-300 1e-250"/><geom size="1e-200"/></body>',
        '<frame pos="1e308 0 0"><body pos="1e308 0 0"/></frame>',
        f'<body>{GEOM}<joint type="slide" ref="1.5e308" axis="1 0 0" pos="-1.5e308 0 0"/></body>',
        '<geom type="capsule" size="1" fromto="-1e308 0 0 1e308 0 0"/>',
        '<body><inertial pos="0 0 0" mass="1e300" fullinertia="1e300 1e300 1e308 1e308 0 0"/></body>',
    ],
)
def test_huge_and_tiny_numbers(text):
    with pytest.raises(ModelError, match=r"model\.xml:1: "):
        parse_mjcf(f"<mujoco>{world(text)}</mujoco>", file="model.xml")
