"""MJCF reading: every mapping of bodies, joints and geoms, and whole models."""

from __future__ import annotations

import numpy as np
import pytest

from mjcf_text import FILES, GEOM, TETRAHEDRON, one_geom, one_joint, scene
from taction.io.mjcf import load_mjcf, parse_mjcf, read_mjcf
from taction.math.transform import rotation_about
from taction.model.joints import JointKind
from taction.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from taction.model.spec import WORLD

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
        <geom size="1" rgba="1 0 0 1" group="2" material="m" margin="0" gap="0.0" user="1 2"/>""",
        """<option wind="0 0 0" density="0" integrator="RK4" iterations="3" impratio="1" cone="elliptic"/>
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
    slick = one_geom('size="1" condim="1" priority="-2"')[0].material
    assert (slick.friction, slick.slick, slick.priority, slick.combine) == ((1.0, 1.0), True, -2, "larger")
    assert not shape.material.slick and shape.material.priority == 0
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
