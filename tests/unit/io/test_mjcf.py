"""MJCF reading: every mapping, every error with its place, the warning, includes, and hostile input."""

import re
import warnings
import xml.etree.ElementTree as ET
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction._core.kinds import JointKind
from taction.io.mjcf import load_mjcf, parse_mjcf, read_mjcf
from taction.math.transform import rotation_about
from taction.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from taction.model.spec import WORLD

DATA = Path(__file__).parents[2] / "data" / "mjcf"
FILES = sorted(DATA.glob("*.xml"))
GEOM = '<geom size="0.1"/>'


def scene(world="", before="", after=""):
    """A model with this worldbody and these sections around it."""
    return parse_mjcf(f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>")


def one_joint(attributes, before="", after=""):
    return scene(f'<body name="b">{GEOM}<joint name="j" {attributes}/></body>', before, after).joint("j")


def one_geom(attributes, before="", body='<body name="b"><joint/><geom {}/></body>'):
    spec = scene(body.format(attributes), before)
    return spec.bodies[0].shapes[0], spec.bodies[0].inertia


def unsupported(text):
    """The text of the one warning that reading gives."""
    with pytest.warns(UnsupportedFeatureWarning) as caught:
        spec = parse_mjcf(text, file="model.xml")
    assert len(caught) == 1
    return spec, str(caught[0].message)


# ----- Whole models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_models_load_without_a_warning(path):
    model = load_mjcf(path)
    assert model.nv > 0
    assert model.spec.source == str(path)


def test_quadruped_scene():
    """Multi-joint legs, unnamed bodies, servos and a visual-only trunk, as in a typical benchmark scene."""
    leg = """<body pos="0.5 0.3 0">
      <joint name="a{i}" axis="1 0 0" damping="1"/><joint name="b{i}" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.28" size=".04" mass="4.4" contype="0" conaffinity="0"/>
      <body pos="0 0 -.28"><joint name="c{i}" axis="0 1 0"/>
        <geom type="sphere" pos="0 0 -.3" size=".03" mass=".1"/></body></body>"""
    servos = "".join(f'<position joint="{j}{i}" kp="2000" kv="50"/>' for i in range(4) for j in "abc")
    spec = parse_mjcf(f"""<mujoco><option timestep="0.001" cone="elliptic" solver="Newton" impratio="1"/>
      <worldbody>
      <geom type="plane" size="5 5 .1" friction=".7"/>
      <body name="torso" pos="0 0 .62"><freejoint/>
        <geom type="box" size=".6 .3 .075" mass="50" contype="0" conaffinity="0"/>
        {"".join(leg.format(i=i) for i in range(4))}</body>
      </worldbody><actuator>{servos}</actuator></mujoco>""")
    names = [j.name for j in spec.joints]
    assert names == ["joint0", *(f"{j}{i}" for i in range(4) for j in "abc")]
    assert (spec.joint("a0").parent, spec.joint("a0").child) == ("torso", "body2/a0")
    assert (spec.joint("b0").parent, spec.joint("b0").child) == ("body2/a0", "body2")
    assert spec.joint("c3").child == "body9"
    assert spec.body("body2/a0").inertia.mass == 0.0
    assert sum(b.inertia.mass for b in spec.bodies) == pytest.approx(50 + 4 * 4.5)
    assert [a.joint for a in spec.actuators] == names[1:]
    assert {(a.kind, a.kp, a.kv) for a in spec.actuators} == {("position", 2000.0, 50.0)}
    assert spec.timestep == 0.001
    assert not spec.body("torso").shapes[0].collides
    assert spec.ground[0].material.friction == (0.7, 0.7)


def test_name_and_source(tmp_path):
    path = tmp_path / "thing.xml"
    path.write_text(f"<mujoco><worldbody><body>{GEOM}<freejoint/></body></worldbody></mujoco>")
    spec = read_mjcf(path)
    assert (spec.name, spec.source) == ("thing", str(path))
    assert parse_mjcf('<mujoco model="x"/>').name == "x"


def test_options():
    spec = scene(before='<option timestep="0.1"/><option gravity="1 2 3" solver="CG"/>')
    assert (spec.timestep, spec.gravity) == (0.1, (1.0, 2.0, 3.0))
    assert scene().timestep == 0.002
    assert scene(before='<option><flag gravity="disable"/></option>').gravity == (0.0, 0.0, 0.0)


def test_what_is_not_physics_is_silent():
    scene(
        """<site name="s"/><camera/><light/><body sleep="auto" user="1" gravcomp="0"/>
        <geom size="1" rgba="1 0 0 1" solref="0.01 1" solimp="0.9 1 1" group="2" material="m" margin="0"
        gap="0.0" priority="0" user="1 2"/>""",
        """<option wind="0 0 0" density="0" integrator="RK4" iterations="3"/>
        <visual/><statistic/><size/><custom/><asset><texture/><material name="m"/></asset>
        <default><site size="1"/><geom rgba="1 1 1 1"/></default>""",
        '<sensor><gyro site="s"/></sensor><keyframe><key time="3"/></keyframe>',
    )


# ----- Bodies and frames ------------------------------------------------------------------------------------


def test_bodies_come_depth_first_through_frames():
    spec = scene(f"""<body name="a">{GEOM}<body name="a1"/></body>
      <frame><body name="b"><frame><body name="b1"/></frame><body name="b2"/></body></frame>
      <body name="c"/>""")
    assert [b.name for b in spec.bodies] == ["a", "a1", "b", "b1", "b2", "c"]
    assert [(j.parent, j.child) for j in spec.joints[1:4]] == [("a", "a1"), (WORLD, "b"), ("b", "b1")]
    assert all(j.kind is JointKind.FIXED for j in spec.joints)


def test_sections_may_be_repeated():
    spec = parse_mjcf("""<mujoco><worldbody><geom name="g" size="1"/><body name="a"/></worldbody>
      <worldbody><geom name="h" size="1"/><body name="b"/></worldbody></mujoco>""")
    assert [s.name for s in spec.ground] == ["g", "h"]
    assert [b.name for b in spec.bodies] == ["a", "b"]


def test_made_up_names_avoid_given_ones():
    spec = scene(f"""<body>{GEOM}<joint/><joint/></body>
      <body name="body1">{GEOM}<joint name="joint0"/></body>
      <body name="body1_/joint0_">{GEOM}<joint name="body1_/joint0_/weld"/></body>""")
    assert len({b.name for b in spec.bodies}) == 4
    assert len({j.name for j in spec.joints}) == 4
    assert spec.bodies[1].name == "body1_"


def test_frames_compose():
    spec = scene("""<frame pos="0 0 1" euler="0 0 90">
      <body name="b" pos="1 0 0"><joint name="j" axis="1 0 0"/>
      <frame pos="0 2 0" euler="0 90 0"><geom size="1" pos="0 0 3"/><joint name="k" pos="0 0 1" axis="0 0 1"/>
      </frame></body></frame>""")
    np.testing.assert_allclose(spec.joint("j").pose.translation, [0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(
        spec.joint("j").pose.rotation, rotation_about([0, 0, 1], np.pi / 2), atol=1e-12
    )
    np.testing.assert_allclose(spec.body("b").shapes[0].pose.translation, [3, 2, 0], atol=1e-12)
    np.testing.assert_allclose(spec.joint("k").child_pose.translation, [1, 2, 0], atol=1e-12)
    np.testing.assert_allclose(spec.joint("k").axis, [1, 0, 0], atol=1e-12)


def test_long_chains_are_no_problem():
    n = 1100  # Python's limit of recursion is 1000
    spec = scene(f'<body pos="0 0 1">{GEOM}<joint/>' * n + "</body>" * n)
    assert len(spec.joints) == n


def test_static_bodies_keep_their_shapes():
    spec = scene('<geom size="1" name="g"/><body name="pillar"><geom type="plane" size="1 1 1"/></body>')
    assert [s.name for s in spec.ground] == ["g"]
    assert isinstance(spec.body("pillar").shapes[0].geometry, Plane)


@pytest.mark.parametrize(
    "orientation, expected",
    [
        ('quat="2 0 0 2"', rotation_about([0, 0, 1], np.pi / 2)),
        ('axisangle="0 0 5 30"', rotation_about([0, 0, 1], np.pi / 6)),
        ('euler="90 0 90"', rotation_about([1, 0, 0], np.pi / 2) @ rotation_about([0, 0, 1], np.pi / 2)),
        ('xyaxes="0 2 0 -1 1 0"', rotation_about([0, 0, 1], np.pi / 2)),
        ('zaxis="1 0 0"', rotation_about([0, 1, 0], np.pi / 2)),
        ('zaxis="0 0 -1"', np.diag([1.0, -1.0, -1.0])),
    ],
)
def test_orientations(orientation, expected):
    shape, _ = one_geom(f'type="box" size="1 2 3" {orientation}')
    np.testing.assert_allclose(shape.pose.rotation, expected, atol=1e-12)


@pytest.mark.parametrize(
    "sequence, order",
    [("zyx", "zyx"), ("XYZ", "zyx"), ("xyz", "xyz"), ("xZy", "Zxy")],
)
def test_euler_sequences(sequence, order):
    angles = dict(zip(sequence.lower(), np.deg2rad([10, 20, 30]), strict=True))
    turns = [rotation_about(np.eye(3)["xyz".index(a)], angles[a]) for a in order.lower()]
    shape, _ = one_geom('size="1" euler="10 20 30"', f'<compiler eulerseq="{sequence}"/>')
    np.testing.assert_allclose(shape.pose.rotation, turns[0] @ turns[1] @ turns[2], atol=1e-12)


# ----- Joints -----------------------------------------------------------------------------------------------


def test_joint_kinds():
    kinds = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "floating"}
    for theirs, ours in kinds.items():
        assert one_joint(f'type="{theirs}"').kind is JointKind(ours)


def test_hinge_in_degrees():
    joint = one_joint(
        'axis="0 3 4" range="-90 180" springref="30" ref="60" stiffness="2" damping="3" frictionloss="4" '
        'armature="5"'
    )
    np.testing.assert_allclose(joint.axis, [0, 0.6, 0.8])
    np.testing.assert_allclose([joint.lower, joint.upper], [-np.pi / 2, np.pi])
    np.testing.assert_allclose([joint.rest, joint.initial[0]], [np.pi / 6, np.pi / 3])
    assert (joint.stiffness, joint.damping, joint.friction, joint.armature) == (2.0, 3.0, 4.0, 5.0)


def test_slide_keeps_lengths():
    joint = one_joint('type="slide" range="-90 180" springref="30" ref="60"')
    assert (joint.lower, joint.upper, joint.rest, joint.initial[0]) == (-90.0, 180.0, 30.0, 60.0)


def test_blank_attributes_say_nothing():
    joint = one_joint('range="" axis=" " type=""', '<default><joint axis="1 0 0"/></default>')
    assert (joint.kind, joint.axis, joint.upper) == (JointKind.REVOLUTE, (1.0, 0.0, 0.0), np.inf)


def test_radians():
    assert one_joint('range="-1 2"', after='<compiler angle="radian"/>').upper == 2.0


def test_reference_position_is_baked_into_the_pose():
    joint = one_joint('axis="1 0 0" ref="90" pos="0 0 1"')
    np.testing.assert_allclose(joint.pose.translation, [0, 0, 1])
    np.testing.assert_allclose(joint.pose.rotation, rotation_about([1, 0, 0], -np.pi / 2), atol=1e-12)
    np.testing.assert_allclose(joint.child_pose.rotation, np.eye(3))
    np.testing.assert_allclose(one_joint('type="slide" ref="2"').pose.translation, [0, 0, -2])


def test_free_joint_starts_at_the_body():
    spec = scene(f'<body name="b" pos="1 2 3" euler="0 0 90">{GEOM}<freejoint name="f"/></body>')
    joint = spec.joint("f")
    np.testing.assert_allclose(joint.initial, [1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-12)
    np.testing.assert_array_equal(joint.pose.matrix, np.eye(4))


def test_freejoint_takes_no_defaults():
    spec = scene(f"<body>{GEOM}<freejoint/></body>", '<default><joint damping="3"/></default>')
    assert spec.joints[0].damping == 0.0


@pytest.mark.parametrize(
    "attributes, compiler, is_limited",
    [
        ('range="-1 1"', "", True),
        ("", "", False),
        ('range="0 0"', "", False),
        ('range="-1 1" limited="false"', "", False),
        ('range="-1 1" limited="true"', 'autolimits="false"', True),
        ('range="-1 1" limited="false"', 'autolimits="false"', False),
    ],
)
def test_limits(attributes, compiler, is_limited):
    joint = one_joint(attributes, f"<compiler {compiler}/>")
    assert np.isfinite(joint.upper) == np.isfinite(joint.lower) == is_limited


def test_actuator_force_range_is_the_effort():
    assert one_joint('actuatorfrcrange="-3 3"').effort == 3.0
    assert one_joint('actuatorfrcrange="-3 3" actuatorfrclimited="false"').effort == np.inf


# ----- Geoms and inertia ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes, geometry",
    [
        ('size="1"', Sphere(1.0)),
        ('type="sphere" size="1 2 3"', Sphere(1.0)),
        ('type="capsule" size="1 2"', Capsule(1.0, 4.0)),
        ('type="cylinder" size="1 2"', Cylinder(1.0, 4.0)),
        ('type="ellipsoid" size="1 2 3"', Ellipsoid((1.0, 2.0, 3.0))),
        ('type="box" size="1 2 3"', Box((2.0, 4.0, 6.0))),
        ('type="capsule" size="1" fromto="0 0 0 0 3 4"', Capsule(1.0, 5.0)),
        ('type="box" size="1" fromto="0 0 0 0 3 4"', Box((2.0, 2.0, 5.0))),
        ('type="ellipsoid" size="1" fromto="0 0 0 0 3 4"', Ellipsoid((1.0, 1.0, 2.5))),
    ],
)
def test_geometries(attributes, geometry):
    assert one_geom(attributes)[0].geometry == geometry


def test_fromto_placement():
    shape, _ = one_geom('type="cylinder" size="1" fromto="1 0 0 3 0 0"')
    np.testing.assert_allclose(shape.pose.translation, [2, 0, 0])
    np.testing.assert_allclose(shape.pose.rotation[:, 2], [-1, 0, 0], atol=1e-12)


def test_surface_and_filters():
    shape, _ = one_geom('size="1" friction="0.3 0.1 0.2" contype="6" conaffinity="-1" name="g"')
    assert (shape.material.friction, shape.group, shape.mask, shape.name) == ((0.3, 0.3), 6, 0xFFFFFFFF, "g")
    assert shape.collides
    assert one_geom('size="1" condim="1"')[0].material.friction == (0.0, 0.0)
    assert not one_geom('size="1" contype="0" conaffinity="0"')[0].collides
    assert one_geom('size="1" contype="0"')[0].collides


def test_mass_from_geoms():
    assert one_geom('type="box" size="0.5 0.5 0.5"')[1].mass == 1000.0
    assert one_geom('type="box" size="0.5 0.5 0.5" density="2"')[1].mass == 2.0
    assert one_geom('type="box" size="0.5 0.5 0.5" density="2" mass="3" pos="1 0 0"')[1].mass == 3.0
    inertia = one_geom('type="box" size="1 1 1" mass="3" pos="1 0 0"')[1]
    np.testing.assert_allclose(inertia.com, [1, 0, 0])
    np.testing.assert_allclose(inertia.matrix, 2 * np.eye(3))


def test_inertial_wins_unless_told_otherwise():
    body = """<body name="b"><joint/><inertial pos="0 0 1" mass="2" diaginertia="1 2 2.5" euler="0 0 90"/>
      <geom {}/></body>"""
    box = 'type="box" size="0.5 0.5 0.5" mass="7"'
    inertia = one_geom(box, body=body)[1]
    assert inertia.mass == 2.0
    np.testing.assert_allclose(inertia.matrix, np.diag([2, 1, 2.5]), atol=1e-12)
    assert one_geom(box, '<compiler inertiafromgeom="true"/>', body)[1].mass == 7.0
    assert one_geom(box, '<compiler inertiafromgeom="false"/>', body)[1].mass == 2.0


def test_inertia_groups():
    two = '<body name="b"><joint/><geom {}/><geom size="1" mass="5" group="4"/></body>'
    assert one_geom('size="1" mass="2"', body=two)[1].mass == 7.0
    assert one_geom('size="1" mass="2"', '<compiler inertiagrouprange="0 3"/>', two)[1].mass == 2.0


def test_full_inertia():
    spec = scene('<body><joint/><inertial pos="1 0 0" mass="2" fullinertia="3 4 5 .1 .2 .3"/></body>')
    np.testing.assert_allclose(spec.bodies[0].inertia.matrix, [[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]])


def test_corrections_of_inertia():
    body = (
        '<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/></body><body name="e"/>'
    )
    spec = scene(body, '<compiler boundmass="2" boundinertia="1.2" balanceinertia="true" settotalmass="10"/>')
    assert [b.inertia.mass for b in spec.bodies] == [5.0, 5.0]
    np.testing.assert_allclose(spec.body("b").inertia.matrix, 16 / 3 * np.eye(3))
    np.testing.assert_allclose(spec.body("e").inertia.matrix, 3 * np.eye(3))


def test_discardvisual_keeps_mass():
    spec = scene('<body><joint/><geom size="1" mass="3" contype="0" conaffinity="0"/></body>',
                 '<compiler discardvisual="true"/>')  # fmt: skip
    assert (spec.bodies[0].shapes, spec.bodies[0].inertia.mass) == ([], 3.0)


TETRAHEDRON = 'vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3"'


def test_meshes():
    shape, inertia = one_geom(
        'type="mesh" mesh="t"', f'<asset><mesh name="t" scale="1 2 3" {TETRAHEDRON}/></asset>'
    )
    assert isinstance(shape.geometry, Mesh)
    np.testing.assert_allclose(shape.geometry.vertices[2], [0, 2, 0])
    assert inertia.mass == pytest.approx(1000.0)
    np.testing.assert_allclose(inertia.com, [0.25, 0.5, 0.75])


def test_mesh_files_are_read_only_where_they_matter(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    path = tmp_path / "m.xml"
    path.write_text("""<mujoco><compiler assetdir="sub"/>
      <asset><mesh file="t.obj"/><mesh file="no.stl"/></asset>
      <worldbody><geom type="mesh" mesh="t"/><geom type="mesh" mesh="no" contype="0" conaffinity="0"/>
      </worldbody></mujoco>""")
    read, left = read_mjcf(path).ground
    assert len(read.geometry.vertices) == 4
    assert len(left.geometry.vertices) == 0
    assert left.geometry.path == tmp_path / "sub" / "no.stl"


# ----- Defaults and includes --------------------------------------------------------------------------------


CLASSES = """<default><geom size="1" friction="0.1 0.2"/><default class="a"><geom size="2"/>
  <default class="b"><geom type="box" size="3 4"/></default></default><geom size="1 8 9"/></default>"""


@pytest.mark.parametrize(
    "geom, geometry",
    [
        ("<geom/>", Sphere(1.0)),
        ('<geom class="a"/>', Sphere(2.0)),
        ('<geom class="b"/>', Box((6.0, 8.0, 18.0))),
        ('<geom class="b" size="5"/>', Box((10.0, 8.0, 18.0))),
        ('<frame childclass="a"><geom/></frame>', Sphere(2.0)),
        ('<frame childclass="a"><frame childclass="b"><geom class="main"/></frame></frame>', Sphere(1.0)),
    ],
)
def test_default_classes(geom, geometry):
    assert scene(geom, CLASSES).ground[0].geometry == geometry


def test_childclass_reaches_grandchildren():
    spec = scene('<body childclass="a"><body name="in"><geom/></body></body>', CLASSES)
    assert spec.body("in").shapes[0].geometry == Sphere(2.0)


def test_own_orientation_replaces_inherited():
    shape, _ = one_geom('size="1" zaxis="0 0 1"', '<default><geom euler="90 0 0"/></default>')
    np.testing.assert_allclose(shape.pose.rotation, np.eye(3))


def write(folder, **files):
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "main.xml"


def test_includes_are_found_next_to_the_main_file_first(tmp_path):
    path = write(
        tmp_path,
        main='<mujoco><include file="sub/a.xml"/><worldbody><include file="c.xml"/></worldbody></mujoco>',
        sub__a='<any><include file="b.xml"/><include file="d.xml"/></any>',
        sub__b='<x><default><geom size="2"/></default></x>',
        b='<x><default><geom size="3"/></default></x>',
        sub__d='<x><option timestep="7"/></x>',
        c="<x><geom/><geom/></x>",
    )
    spec = read_mjcf(path)
    assert [s.geometry for s in spec.ground] == [Sphere(3.0)] * 2
    assert spec.timestep == 7.0


@pytest.mark.parametrize(
    "main, included, reason",
    [
        ('\n<include file="b.xml"/>', "", r"main\.xml:2: include: file 'b\.xml' does not exist"),
        ("\n<include/>", "", r"main\.xml:2: include: has no attribute 'file'"),
        ('\n<include file="main.xml"/>', "", r"main\.xml:2: .*includes itself"),
        ('<include file="a.xml"/>', '\n<include file="a.xml"/>', r"a\.xml:2: .*includes itself"),
        ('<include file="a.xml"/>\n<include file="a.xml"/>', "<visual/>", r"main\.xml:2: .*included twice"),
        ('<include file="a.xml"/>', "", "nothing to include"),
        ('<include file="a.xml"/>', "\n<", r"a\.xml:2: malformed XML"),
        ('<include file="a.xml"><x/></include>', "<visual/>", "cannot have children"),
        ('<include file="a.xml"/>', '<worldbody>\n<geom size="0"/></worldbody>', r"a\.xml:2: geom"),
    ],
)
def test_bad_includes(tmp_path, main, included, reason):
    path = write(tmp_path, main=f"<mujoco>{main}</mujoco>", a=f"<x>{included}</x>")
    with pytest.raises(ModelError, match=reason):
        read_mjcf(path)


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
        ('gainprm="-2"', ("motor", -4.0, 0.0, 0.0, (-4.0, 2.0))),
        ('gainprm="5" biasprm="1 2 3"', ("motor", 10.0, 0.0, 0.0, (-0.8, 1.6))),
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


# ----- The warning ------------------------------------------------------------------------------------------


def test_one_warning_lists_everything_with_its_place():
    spec, message = unsupported(f"""<mujoco>
      <option density="1.2" o_margin="1" magnetic="0 1 0"><flag contact="disable"/></option>
      <default><geom margin="0.01"/></default>
      <worldbody>
        <geom size="1" condim="4"/>
        <geom size="1" condim="6" gap="0.1" priority="1"/>
        <body name="b" gravcomp="1" novelty="2">{GEOM}
          <joint name="j" margin="0.1" springdamper="1 1" damping="1 2" actuatorfrcrange="-1 3"/>
          <composite type="cable"/>
        </body>
        <body>{GEOM}<joint name="k" type="ball" range="0 30" stiffness="3" frictionloss="1"/></body>
        <body mocap="true"/>
        <geom type="hfield"/>
        <body>{GEOM}<joint type="free" armature="1"/></body>
      </worldbody>
      <tendon><fixed name="t"/></tendon>
      <equality><weld body1="b"/></equality>
      <contact><pair/></contact>
      <actuator>
        <motor tendon="t"/>
        <muscle joint="j"/>
        <position joint="j" dampratio="1" timeconst="0.1" inheritrange="1"/>
        <general joint="j" dyntype="filter"/>
        <motor joint="k"/>
        <motor joint="j" delay="0.1"/>
      </actuator>
      <keyframe><key act="1" ctrl="1 2 3 4 5 6"/></keyframe>
    </mujoco>""")
    expected = {
        "option density": 2, "option o_margin": 2, "option magnetic": 2, "flag contact": 2, "geom margin": 3,
        "geom gap": 6, "geom priority": 6, "body gravcomp": 7, "body novelty": 7, "joint margin": 8,
        "joint springdamper": 8, "joint damping of higher order": 8, "body/composite": 9,
        "joint actuatorfrcrange that is not symmetric": 8, "joint range of a ball joint": 11,
        "joint stiffness of a ball or free joint": 11, "joint frictionloss of a ball or free joint": 11,
        "body mocap": 12, "geom of type hfield": 13, "joint armature of a free joint": 14, "tendon/fixed": 16,
        "equality/weld": 17, "contact/pair": 18, "actuator on a tendon": 20, "actuator/muscle": 21,
        "position dampratio": 22, "position timeconst": 22, "position inheritrange": 22,
        "general actuator that is no motor, position or velocity servo": 23,
        "actuator on a ball or free joint": 24, "motor delay": 25, "key act": 27,
        "key of a model with bodies that are not read": 27,
    }  # fmt: skip
    for what, line in expected.items():
        assert f"{what} (model.xml:{line})" in message
    assert "geom condim above 3 (torsional and rolling friction) (model.xml:5, model.xml:6)" in message
    assert len(re.findall(r"model\.xml:\d", message)) == len(expected) + 2
    assert [a.kind for a in spec.actuators] == ["position", "motor"]
    assert spec.joint("j").effort == 3.0


def test_long_lists_are_cut_but_counted():
    _, message = unsupported(
        "<mujoco><worldbody>" + '<geom size="1" gap="1"/>' * 20 + "</worldbody></mujoco>"
    )
    assert "and 12 more" in message


def test_controls_of_unsupported_actuators_are_left_out():
    world = f'<body>{GEOM}<joint name="j"/></body>'
    keys = '<keyframe><key name="k" ctrl="1 2 3"/></keyframe>'
    one = '<actuator><motor joint="j"/><muscle joint="j"/><motor joint="j"/></actuator>'
    with pytest.warns(UnsupportedFeatureWarning, match="muscle"):
        assert scene(world, after=one + keys).keyframes["k"].control.tolist() == [1.0, 3.0]
    unknown = '<actuator><pid joint="j"/><motor joint="j"/></actuator>'
    with pytest.warns(UnsupportedFeatureWarning, match="key ctrl"):
        assert scene(world, after=unknown + keys).keyframes["k"].control.tolist() == [0.0]


@pytest.mark.parametrize(
    "asset, geom, what",
    [
        ('vertex="0 0 0  1 0 0  0 1 0  0 0 1"', 'mesh="m"', "mesh without faces"),
        ('builtin="sphere" params="1"', 'mesh="m"', "mesh builtin"),
        ('file="a.msh"', 'mesh="m"', "mesh file of format .msh"),
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
    "negative damping": (massive('\n<joint damping="-1"/>'), "damping=-1 must not be below 0"),
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
    "mesh faces": (mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 7"'), "face index out of range"),
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
    "no joint": (actuator("\n<motor/>"), "names no joint"),
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


# ----- Fuzz -------------------------------------------------------------------------------------------------

EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(min_size=1, max_size=6)), min_size=1, max_size=5
)
TOKENS = st.sampled_from(
    b'"" "0" "-1" "1e999" "nan" <body> </body> <joint/> <frame> <freejoint/> type="mesh" free ball mesh '
    b"class= 1e308 -0 <geom/> childclass= &a; <!-- ]]> fromto=".split()
)


def mutated(data, edits, tokens):
    """The bytes after replacing, inserting, deleting or repeating pieces at some places."""
    data = bytearray(data)
    for (place, kind, junk), token in zip(edits, tokens, strict=False):
        i = int(place * (len(data) - 1))
        match kind:
            case 0:
                data[i : i + len(junk)] = junk
            case 1:
                data[i:i] = token
            case 2:
                del data[i : i + 8 * len(junk)]
            case _:
                data[i:i] = data[i : i + 40]
    return bytes(data)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FILES), EDITS, st.lists(TOKENS, min_size=5, max_size=5))
def test_no_input_raises_anything_but_a_model_error(path, edits, tokens):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # above all no RuntimeWarning
        warnings.simplefilter("ignore", UnsupportedFeatureWarning)
        try:
            parse_mjcf(mutated(path.read_bytes(), edits, tokens), file=str(path))
        except ModelError:
            pass


WORDS = "0 -1 1 1e308 1e-320 true false auto mesh ball free slide plane box capsule main leg world j1"
VECTORS = ["", "0 0 0", "1 2 3", "1e308 -1e308 1e308", "0 0 0 0", "1 0 0 0 0 1e200"]
VALUES = st.sampled_from([*WORDS.split(), *VECTORS])
SHAKES = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 3), VALUES), min_size=1, max_size=6
)


def shaken(data, shakes):
    """Well-formed text with other attribute values, and elements in other places."""
    root = ET.fromstring(data)
    names = sorted({name for element in root.iter() for name in element.keys()})
    for first, second, kind, value in shakes:
        elements = list(root.iter())
        one, other = elements[first % len(elements)], elements[second % len(elements)]
        if kind == 0:
            one.set(names[second % len(names)], value)
        elif kind == 1 and len(one.keys()):
            one.set(sorted(one.keys())[second % len(one.keys())], value)
        elif kind == 2:
            one.append(deepcopy(other))
        elif len(one):
            one.remove(one[second % len(one)])
    return ET.tostring(root)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FILES), SHAKES)
def test_no_well_formed_input_raises_anything_but_a_model_error(path, shakes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnsupportedFeatureWarning)
        try:
            spec = parse_mjcf(shaken(path.read_bytes(), shakes), file=str(path))
        except ModelError:
            return
    for body in spec.bodies:
        body.inertia.check(body.name)
    for joint in spec.joints:
        assert np.all(np.isfinite(joint.pose.matrix))
