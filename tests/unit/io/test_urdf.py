"""URDF: every mapping, every refusal, and all robots of example-robot-data against Pinocchio."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction._core.kinds import JointKind
from taction.io.urdf import load_urdf, parse_urdf, read_urdf
from taction.math.transform import Transform, rotation_from_rpy
from taction.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from taction.model.spec import JointSpec, ModelSpec

INERTIAL = """<inertial><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>"""


def robot(*parts: str, attributes: str = 'name="r"') -> str:
    return f"<robot {attributes}>\n" + "\n".join(parts) + "\n</robot>"


def link(name: str, *parts: str) -> str:
    return f'<link name="{name}">{"".join(parts)}</link>'


def joint(
    name: str, parent: str, child: str, *parts: str, kind: str = "revolute", axis: str = '<axis xyz="0 0 1"/>'
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{axis}{"".join(parts)}</joint>'


def shape(geometry: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def inertial(mass: str = "1", ixx: str = "1", iyy: str = "1", izz: str = "1", ixy: str = "0") -> str:
    entries = f'ixx="{ixx}" ixy="{ixy}" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"'
    return f'<inertial><mass value="{mass}"/><inertia {entries}/></inertial>'


def one_joint(*parts: str, **options: Any) -> JointSpec:
    return parse_urdf(robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", *parts, **options))).joint(
        "j"
    )


# ----- Links


def test_inertial() -> None:
    spec = parse_urdf(robot(link("a", INERTIAL), link("b"), joint("j", "a", "b", kind="fixed")))
    body = spec.body("a").inertia
    assert body.mass == 2.0
    np.testing.assert_allclose(body.com, [0.1, 0, 0.2])
    np.testing.assert_allclose(body.matrix, np.diag([0.2, 0.1, 0.25]), atol=1e-15)  # turned by 90° about z
    assert spec.body("b").inertia.mass == 0.0
    assert spec.name == "r"
    assert spec.source == "<text>"


def test_collision_shapes() -> None:
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    spec = parse_urdf(
        robot(
            link(
                "a",
                shape('<box size="1 2 3"/>', origin),
                shape('<sphere radius="0.5"/>'),
                shape('<cylinder radius="0.1" length="2"/>'),
                shape('<capsule radius="0.2" length="3"/>'),
                '<collision name="tip"><geometry><sphere radius="1"/></geometry></collision>',
                '<visual><geometry><mesh filename="http://nobody.reads/this.stl"/></geometry></visual>',
            )
        )
    )
    shapes = spec.body("a").shapes
    assert [s.geometry for s in shapes] == [
        Box((1.0, 2.0, 3.0)),
        Sphere(0.5),
        Cylinder(0.1, 2.0),
        Capsule(0.2, 3.0),
        Sphere(1.0),
    ]
    np.testing.assert_allclose(shapes[0].pose.translation, [1, 2, 3])
    np.testing.assert_allclose(shapes[0].pose.rotation, rotation_from_rpy([0.1, 0.2, 0.3]))
    assert shapes[4].name == "tip"
    assert all(s.collides for s in shapes)


# ----- The root


def test_root_link_is_fixed_or_floats() -> None:
    text = robot(link("a"), link("b"), joint("j", "a", "b"))
    for floating, kind in ((False, JointKind.FIXED), (True, JointKind.FLOATING)):
        spec = parse_urdf(text, floating_base=floating)
        root = spec.joints[0]
        assert (root.name, root.kind, root.parent, root.child) == ("root_joint", kind, "world", "a")
        assert [b.name for b in spec.bodies] == ["a", "b"]


def test_root_link_called_world_is_the_world() -> None:
    text = robot(link("world", shape('<sphere radius="1"/>')), link("b"), joint("j", "world", "b"))
    spec = parse_urdf(text)
    assert [b.name for b in spec.bodies] == ["b"]
    assert [(j.name, j.parent) for j in spec.joints] == [("j", "world")]
    assert [s.geometry for s in spec.ground] == [Sphere(1.0)]

    spec = parse_urdf(text, floating_base=True)
    assert [b.name for b in spec.bodies] == ["world_link", "b"]
    assert [(j.parent, j.child) for j in spec.joints] == [("world", "world_link"), ("world_link", "b")]
    assert spec.joints[0].kind is JointKind.FLOATING
    assert not spec.ground


def test_names_already_taken() -> None:
    text = robot(link("world"), link("world_link"), joint("root_joint", "world", "world_link"))
    spec = parse_urdf(text, floating_base=True)
    assert [b.name for b in spec.bodies] == ["world_link_", "world_link"]
    assert [j.name for j in spec.joints] == ["root_joint_", "root_joint"]


def test_joints_keep_the_order_of_the_file_and_links_may_come_last() -> None:
    text = robot(
        joint("z", "b", "c"), joint("y", "a", "b"), joint("x", "a", "d"), *(link(name) for name in "dcba")
    )
    assert [j.name for j in parse_urdf(text).joints] == ["root_joint", "z", "y", "x"]


# ----- Joints


@pytest.mark.parametrize("kind", [k.value for k in JointKind])
def test_every_type(kind: str) -> None:
    made = one_joint(kind=kind)
    assert made.kind.value == kind
    assert (made.parent, made.child) == ("a", "b")


def test_origin_and_axis() -> None:
    made = one_joint('<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>', axis='<axis xyz="0 3 4"/>')
    np.testing.assert_allclose(made.pose.translation, [1, 2, 3])
    np.testing.assert_allclose(made.pose.rotation, rotation_from_rpy([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(made.axis, [0, 0.6, 0.8])
    np.testing.assert_array_equal(made.child_pose.matrix, np.eye(4))
    assert one_joint(axis="").axis == (1.0, 0.0, 0.0)
    np.testing.assert_allclose(one_joint(axis='<axis xyz="1e200 0 1e200"/>').axis, [0.5**0.5, 0, 0.5**0.5])


def test_fixed_joints_do_not_care_about_axes_and_limits() -> None:
    made = one_joint(
        '<limit lower="1" upper="0"/><mimic joint="j"/>', kind="fixed", axis='<axis xyz="0 0 0"/>'
    )
    assert made.mimic is None


@pytest.mark.parametrize("axis", ["1 0 0", "0 1 0", "0 0 1", "0 0 -1", "1 2 3", "-1 0.5 1e-6"])
def test_planar_joint_moves_normal_to_its_axis(axis: str) -> None:
    rpy = [0.3, -0.2, 0.9]
    made = one_joint('<origin xyz="1 2 3" rpy="0.3 -0.2 0.9"/>', kind="planar", axis=f'<axis xyz="{axis}"/>')
    normal = np.array([float(w) for w in axis.split()])
    normal = rotation_from_rpy(rpy) @ (normal / np.linalg.norm(normal))
    np.testing.assert_allclose(made.pose.rotation[:, 2], normal, atol=1e-12)
    at_zero = made.pose @ made.child_pose.inverse()
    np.testing.assert_allclose(at_zero.matrix, Transform.from_rpy([1, 2, 3], rpy).matrix, atol=1e-12)


def test_universal_joint_has_two_axes() -> None:
    made = one_joint('<axis2 xyz="0 0 2"/>', kind="universal", axis="")
    assert made.axis == (1.0, 0.0, 0.0)
    assert made.axis2 == (0.0, 0.0, 1.0)
    assert one_joint(kind="universal").axis2 == (0.0, 1.0, 0.0)


def test_limits_and_dynamics() -> None:
    made = one_joint(
        '<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/>'
    )
    assert (made.lower, made.upper, made.effort, made.max_velocity) == (-1, 2, 30, 4)
    assert (made.damping, made.friction) == (0.5, 0.25)
    free = one_joint()
    assert (free.lower, free.upper, free.effort, free.max_velocity) == (-np.inf, np.inf, np.inf, np.inf)
    assert (free.damping, free.friction) == (0.0, 0.0)


def test_missing_bounds() -> None:
    unbounded = one_joint('<limit effort="1" velocity="1"/>')
    assert (unbounded.lower, unbounded.upper) == (-np.inf, np.inf)
    half = one_joint('<limit upper="1" effort="1" velocity="1"/>', kind="prismatic")
    assert (half.lower, half.upper) == (0.0, 1.0)


def test_bounds_of_joints_without_bounds_are_reported() -> None:
    with pytest.warns(UnsupportedFeatureWarning, match="limit of a continuous joint"):
        made = one_joint('<limit lower="-1" upper="2" effort="30" velocity="4"/>', kind="continuous")
    assert (made.lower, made.upper, made.effort) == (-np.inf, np.inf, 30)
    with pytest.warns(UnsupportedFeatureWarning, match="friction of a floating joint"):
        made = one_joint('<dynamics damping="1" friction="1"/>', kind="floating", axis="")
    assert (made.damping, made.friction) == (1.0, 0.0)


def test_mimic_and_chains_of_them() -> None:
    spec = parse_urdf(
        robot(
            *(link(name) for name in "abcd"),
            joint("i", "a", "b", '<mimic joint="k" multiplier="-2" offset="0.5"/>'),
            joint("j", "b", "c"),
            joint("k", "c", "d", '<mimic joint="j"/>'),
        )
    )
    first, second = spec.joint("i").mimic, spec.joint("k").mimic
    assert first is not None and (first.joint, first.multiplier, first.offset) == ("k", -2.0, 0.5)
    assert second is not None and (second.joint, second.multiplier, second.offset) == ("j", 1.0, 0.0)


# ----- Refusals


def tree(*parts: str, **options: Any) -> str:
    return robot(link("a"), link("b"), joint("j", "a", "b", *parts, **options))


BOMB = """<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"><link name="a"/></robot>"""
FILE_ENTITY = '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot><link name="a"/>&x;</robot>'

BAD = {
    "empty": ("", "malformed"),
    "malformed": ("<robot><link></robot>", "malformed"),
    "entity bomb": (BOMB, "entities"),
    "external entity": (FILE_ENTITY, "entities"),
    "other root": ("<mujoco/>", "mujoco: a URDF file must have <robot>"),
    "no links": (robot(), "robot 'r': has no links"),
    "xacro": (
        robot("<xacro:arm/>", attributes='xmlns:xacro="http://www.ros.org/wiki/xacro"'),
        "no links; expand its xacro",
    ),
    "nameless link": (robot("<link/>"), "link: has no attribute 'name'"),
    "nameless joint": (tree().replace('joint name="j"', "joint"), "joint: has no attribute 'name'"),
    "duplicate link": (robot(link("a"), link("a")), "link 'a': the name is already used on line 2"),
    "duplicate joint": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "a", "c")),
        "joint 'j': the name is already used on line 5",
    ),
    "unknown parent": (robot(link("a"), joint("j", "x", "a")), "joint 'j': parent link 'x' does not exist"),
    "unknown child": (robot(link("a"), joint("j", "a", "x")), "joint 'j': child link 'x' does not exist"),
    "no parent": (tree().replace('<parent link="a"/>', ""), "joint 'j': has no <parent>"),
    "no child": (tree().replace('<child link="b"/>', ""), "joint 'j': has no <child>"),
    "two roots": (robot(link("a"), link("b")), "link 'b': is a second root"),
    "two parents": (
        robot(link("a"), link("b"), link("c"), joint("i", "a", "c"), joint("j", "b", "c")),
        "joint 'j': link 'c' already has the parent 'a'",
    ),
    "cycle": (robot(link("a"), link("b"), joint("i", "a", "b"), joint("j", "b", "a")), "form a cycle"),
    "cycle apart": (
        robot(link("r"), link("a"), link("b"), joint("i", "a", "b"), joint("j", "b", "a")),
        "link 'a': the joints above it form a cycle",
    ),
    "own child": (robot(link("r"), link("a"), joint("i", "a", "a")), "form a cycle"),
    "world below": (robot(link("a"), link("world"), joint("j", "a", "world")), "only the root link"),
    "unknown type": (tree(kind="screw"), "joint 'j': unknown type 'screw'"),
    "no type": (tree().replace('type="revolute"', ""), "joint 'j': has no attribute 'type'"),
    "zero axis": (tree(axis='<axis xyz="0 0 0"/>'), "joint 'j': the axis is zero"),
    "nan axis": (tree(axis='<axis xyz="0 nan 0"/>'), "axis: xyz='0 nan 0' is not finite"),
    "parallel axes": (tree('<axis2 xyz="0 0 -2"/>', kind="universal"), "must not be parallel"),
    "two numbers": (tree('<origin xyz="0 0"/>'), "origin: xyz='0 0' needs 3 numbers"),
    "word": (tree('<origin rpy="0 0 east"/>'), "is not numeric"),
    "infinite": (tree('<origin xyz="0 0 inf"/>'), "is not finite"),
    "two origins": (tree('<origin xyz="0 0 0"/><origin xyz="1 0 0"/>'), "appears twice in one joint 'j'"),
    "crossed limits": (
        tree('<limit lower="1" upper="-1"/>'),
        "limit: lower 1 is above upper -1 in joint 'j'",
    ),
    "nan limit": (tree('<limit lower="nan"/>'), "not finite"),
    "negative effort": (tree('<limit effort="-1"/>'), "effort=-1 must not be below 0"),
    "negative velocity": (tree('<limit velocity="-1"/>'), "velocity=-1 must not"),
    "negative damping": (tree('<dynamics damping="-1"/>'), "damping=-1 must not"),
    "negative friction": (tree('<dynamics friction="-1"/>'), "friction=-1 must not"),
    "mimic of nobody": (tree('<mimic joint="x"/>'), "joint 'j' mimics 'x', which does not exist"),
    "mimic of itself": (tree('<mimic joint="j"/>'), "joint 'j' mimics itself"),
    "mimic without joint": (tree("<mimic/>"), "mimic: has no attribute 'joint'"),
    "mimic cycle": (
        robot(
            *map(link, "abc"),
            joint("i", "a", "b", '<mimic joint="j"/>'),
            joint("j", "b", "c", '<mimic joint="i"/>'),
        ),
        "mimics itself",
    ),
    "mimic of a fixed joint": (
        robot(
            *map(link, "abc"), joint("i", "a", "b", kind="fixed"), joint("j", "b", "c", '<mimic joint="i"/>')
        ),
        "needs single-axis joints, and 'i' is fixed",
    ),
    "mimic by a planar joint": (tree('<mimic joint="root_joint"/>', kind="planar"), "'j' is planar"),
    "negative mass": (robot(link("a", inertial(mass="-1"))), "inertial of link 'a': mass must be positive"),
    "no mass": (robot(link("a", inertial(mass="0"))), "inertial of link 'a': mass must be positive"),
    "nan mass": (robot(link("a", inertial(mass="nan"))), "mass: value='nan' is not finite"),
    "mass without value": (robot(link("a", inertial()).replace('value="1"', "")), "mass: has no attribute"),
    "inertial without mass": (robot(link("a", "<inertial/>")), "inertial: has no <mass>"),
    "inertial without inertia": (robot(link("a", '<inertial><mass value="1"/></inertial>')), "no <inertia>"),
    "missing entry": (robot(link("a", inertial()).replace('izz="1"', "")), "inertia: has no attribute 'izz'"),
    "two inertials": (robot(link("a", inertial(), inertial())), "appears twice"),
    "triangle": (robot(link("a", inertial(izz="3"))), "inertial of link 'a': .*triangle inequality"),
    "indefinite": (robot(link("a", inertial(ixy="2"))), "not positive semi-definite"),
    "no geometry": (robot(link("a", "<collision/>")), "collision: has no <geometry>"),
    "no shape": (robot(link("a", shape(""))), "geometry: must hold one shape, has 0"),
    "two shapes": (robot(link("a", shape('<sphere radius="1"/><box size="1 1 1"/>'))), "one shape, has 2"),
    "no radius": (robot(link("a", shape("<sphere/>"))), "sphere: has no attribute 'radius'"),
    "zero radius": (
        robot(link("a", shape('<sphere radius="0"/>'))),
        "sphere: sphere radius must be positive",
    ),
    "flat box": (robot(link("a", shape('<box size="1 1 0"/>'))), "box: box size must be positive"),
    "short box": (robot(link("a", shape('<box size="1 1"/>'))), "needs 3 numbers"),
    "mesh without file": (robot(link("a", shape("<mesh/>"))), "mesh: has no attribute 'filename'"),
    "mesh from the network": (robot(link("a", shape('<mesh filename="http://a.b/c.stl"/>'))), "network"),
    "mesh without extent": (
        robot(link("a", shape('<mesh filename="c.stl" scale="1 0 1"/>'))),
        "mesh: scale '1 0 1' has a zero",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_file_line_element_and_reason(case: str) -> None:
    text, reason = BAD[case]
    with pytest.raises(ModelError, match=reason) as caught:
        parse_urdf(text, file="robot.urdf")
    assert str(caught.value).startswith("robot.urdf:")


def test_the_line_is_that_of_the_element() -> None:
    text = robot(link("a"), link("b"), "", "", joint("j", "a", "b", '\n<limit lower="1" upper="0"/>'))
    with pytest.raises(ModelError, match=r"^robot\.urdf:7: limit: "):
        parse_urdf(text, file="robot.urdf")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        read_urdf(tmp_path / "absent.urdf")


@pytest.mark.parametrize("encoding", ["nonsense", "gbk", "base64"])
def test_strange_encodings(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + tree()
    try:
        parse_urdf(text.encode(), file="robot.urdf")
    except ModelError as error:
        assert str(error).startswith("robot.urdf:")
    else:
        pytest.fail("not refused")


def test_absurd_nesting_and_long_chains() -> None:
    with pytest.warns(UnsupportedFeatureWarning, match="n "):
        parse_urdf(robot(link("a"), "<n>" * 50_000 + "</n>" * 50_000))
    n = 2_000
    links = [link(f"l{i}") for i in reversed(range(n))]
    chain = [joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(n - 1)]
    assert len(parse_urdf(robot(*links, *chain)).bodies) == n


def test_massless_link_with_zero_inertia_is_accepted() -> None:
    spec = parse_urdf(robot(link("a", inertial("0", "0", "0", "0"))))
    assert spec.body("a").inertia.mass == 0.0


def test_unphysical_inertia_can_be_tolerated() -> None:
    text = robot(
        link("a", inertial(mass="-1")), link("b", inertial(izz="3")), joint("j", "a", "b"), "<gazebo/>"
    )
    with pytest.warns(UserWarning) as caught:
        spec = parse_urdf(text, check_inertia=False)
    assert [type(w.message) for w in caught] == [UnsupportedFeatureWarning, UserWarning]
    message = str(caught[1].message)
    assert "<text>:2: inertial of link 'a'" in message
    assert "<text>:3: inertial of link 'b'" in message
    assert spec.body("a").inertia.mass == -1.0


def test_overflow_is_an_error_even_then() -> None:
    huge = inertial(ixx="1.7e308", iyy="1.7e308", izz="1.7e308", ixy="1e308")
    huge = huge.replace("<mass", '<origin rpy="0 0 0.8"/><mass')
    with pytest.raises(ModelError, match="<text>:2: inertial: inertia matrix: contains NaN or infinity"):
        parse_urdf(robot(link("a", huge)), check_inertia=False)


# ----- Unsupported elements


def test_unsupported_elements_are_listed_once_with_lines() -> None:
    text = robot(
        link("a", "<contact/>"),
        '<gazebo reference="a"><mu1>1</mu1></gazebo>',
        '<transmission name="t"/>',
        "<gazebo/>",
        '<ros2_control/><sensor name="s"/>',
        '<material name="m"/>',
        link(
            "b", '<visual><geometry><plane/></geometry></visual><material name="m"/>', shape("<heightmap/>")
        ),
        joint("j", "a", "b", '<dynamics damping="0" spring="3"/><safety_controller/><calibration/>'),
        '<x:macro xmlns:x="http://www.ros.org/wiki/xacro"/>',
    )
    with pytest.warns(UnsupportedFeatureWarning) as caught:
        spec = parse_urdf(text, file="r.urdf")
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "r.urdf: not read: attribute 'spring' of dynamics (line 9); contact (line 2); gazebo (lines 3, 5); "
        "heightmap (line 8); ros2_control (line 6); sensor (line 6); transmission (line 4); "
        "xacro:macro (line 10)"
    )
    assert caught[0].filename == __file__
    assert spec.body("b").shapes == []


def test_long_lists_are_cut_but_counted() -> None:
    with pytest.warns(UnsupportedFeatureWarning, match=r"gazebo \(lines 3, .*, 14 and 88 more\)$"):
        parse_urdf(robot(link("a"), *["<gazebo/>"] * 100))


def test_plain_robots_do_not_warn_and_default_namespaces_are_dropped() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = parse_urdf(robot(link("a"), attributes='name="r" version="1.0" xmlns="http://drake.mit.edu"'))
    assert [b.name for b in spec.bodies] == ["a"]


# ----- Meshes

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def mesh_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package on disk: arm/urdf/arm.urdf uses arm/meshes/tip.obj by three kinds of address."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    mesh = tmp_path / "arm" / "meshes" / "tip.obj"
    mesh.parent.mkdir(parents=True)
    mesh.write_text(TETRAHEDRON)
    addresses = ("package://arm/meshes/tip.obj", "../meshes/tip.obj", f"file://{mesh}")
    shapes = [shape(f'<mesh filename="{a}" scale="2 2 -2"/>') for a in addresses]
    path = tmp_path / "arm" / "urdf" / "arm.urdf"
    path.parent.mkdir()
    path.write_text(robot(link("a", *shapes)))
    return path


def test_meshes_are_found_and_only_read_on_request(mesh_robot: Path) -> None:
    target = (mesh_robot.parent.parent / "meshes" / "tip.obj").resolve()
    for load, count in ((False, 0), (True, 4)):
        shapes = read_urdf(mesh_robot, load_meshes=load).body("a").shapes
        assert len(shapes) == 3
        for each in shapes:
            assert isinstance(each.geometry, Mesh)
            assert each.geometry.path is not None and each.geometry.path.resolve() == target
            assert len(each.geometry.vertices) == count
            assert count == 0 or each.geometry.vertices[:, 2].min() == -2.0


def test_package_dirs(mesh_robot: Path, tmp_path: Path) -> None:
    text = robot(link("a", shape('<mesh filename="package://arm/meshes/tip.obj"/>')))
    mesh = parse_urdf(text, file="/nowhere/r.urdf", package_dirs=[tmp_path]).body("a").shapes[0].geometry
    assert isinstance(mesh, Mesh) and mesh.path == tmp_path / "arm" / "meshes" / "tip.obj"


def test_missing_broken_and_foreign_meshes(mesh_robot: Path) -> None:
    folder = mesh_robot.parent
    (folder / "broken.stl").write_bytes(b"not a mesh")
    (folder / "scene.dae").write_bytes(b"<COLLADA/>")

    def read(name: str, load: bool) -> Mesh:
        text = robot(link("a", shape(f'<mesh filename="{name}"/>')))
        mesh = parse_urdf(text, file=str(folder / "r.urdf"), load_meshes=load).body("a").shapes[0].geometry
        assert isinstance(mesh, Mesh) and not len(mesh.vertices)
        return mesh

    with pytest.warns(UnsupportedFeatureWarning, match=r"mesh that does not exist \(line 2\)"):
        assert read("absent.stl", False).path == folder / "absent.stl"
    with pytest.raises(ModelError, match=r"r\.urdf:2: mesh: 'absent\.stl' does not exist"):
        read("absent.stl", True)
    read("broken.stl", False)
    with pytest.raises(ModelError, match=r"r\.urdf:2: mesh: .*broken\.stl: truncated"):
        read("broken.stl", True)
    read("scene.dae", False)
    with pytest.warns(UnsupportedFeatureWarning, match=r"mesh of format \.dae \(line 2\)"):
        assert read("scene.dae", True).path == folder / "scene.dae"


# ----- Compiling


def test_load_urdf_compiles(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.urdf"
    path.write_text(robot(link("a"), link("b", INERTIAL), joint("j", "a", "b")))
    assert load_urdf(path).nv == 1
    with pytest.raises(TypeError):
        load_urdf(path, float_base=True)


# ----- Anything at all

SAMPLE = robot(
    "<!-- sample -->",
    link(
        "a",
        INERTIAL,
        shape('<box size="1 2 3"/>'),
        shape('<mesh filename="package://p/m.stl" scale="1 1 1"/>'),
    ),
    link("b", INERTIAL, shape('<cylinder radius="0.1" length="1"/>', '<origin xyz="0 0 1" rpy="0 0 1"/>')),
    link("c", inertial()),
    joint("j", "a", "b", '<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1"/>'),
    joint("k", "b", "c", '<mimic joint="j" multiplier="2" offset="1"/>', kind="prismatic"),
).encode()
FRAGMENTS = [
    word.encode()
    for word in """nan inf - 1e999 1e308 0 < > " /> & &lt; ]]> <link <joint link= planar universal world file://
    http:// %00 a b""".split()
]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_files_raise_nothing_but_model_errors(data: st.DataObject) -> None:
    text = bytearray(SAMPLE)
    for _ in range(data.draw(st.integers(1, 5))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 12))
        text[at : at + cut] = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from(FRAGMENTS)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        for strict in (True, False):
            try:
                parse_urdf(bytes(text), file="fuzz.urdf", check_inertia=strict, load_meshes=strict)
            except ModelError as error:
                assert str(error).startswith("fuzz.urdf:")


# ----- Real robots


def robot_files() -> list[Path]:
    """The URDF files of example-robot-data, if it is installed (it comes in Pinocchio's cmeel prefix)."""
    spec = importlib.util.find_spec("cmeel")
    places = [Path(p).parent for p in (spec.submodule_search_locations if spec else None) or []]
    pattern = "cmeel.prefix/share/example-robot-data/robots/**/*.urdf"
    return sorted(path for place in places for path in place.glob(pattern))


ROBOTS = robot_files()
# Nothing can be made of these: the first is an empty <robot>, the second mimics joints that it lacks.
BROKEN = {"ur3.urdf", "alex_psyonic_hands.urdf"}
# Some link of these has an inertia that no rigid body has.
UNPHYSICAL = """
    allegro_hand_description anymal_b_simple_description anymal_c_simple_description b1_description
    bolt_description go1_description hyq_description icub_description pr2_description romeo_description
    tiago_description""".split()


def read_quietly(path: Path, **options: Any) -> ModelSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_urdf(path, **options)


def poses_at_zero(spec: ModelSpec) -> dict[str, Transform]:
    """Placement of every body with all coordinates zero."""
    parent_joint = {j.child: j for j in spec.joints}

    def pose(body: str) -> Transform:
        if body == "world":
            return Transform()
        made = parent_joint[body]
        return pose(made.parent) @ made.pose @ made.child_pose.inverse()

    return {b.name: pose(b.name) for b in spec.bodies}


def test_there_are_robots() -> None:
    if not ROBOTS:
        pytest.skip("example-robot-data is not installed")
    assert len(ROBOTS) > 50


@pytest.mark.parametrize("path", ROBOTS, ids=lambda p: f"{p.parent.parent.name}/{p.name}")
def test_real_robots_agree_with_pinocchio(path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    if path.name in BROKEN:
        with pytest.raises(ModelError):
            read_quietly(path, check_inertia=False)
        return
    try:
        spec = read_quietly(path)
    except ModelError as error:
        assert path.parent.parent.name in UNPHYSICAL, error
        spec = read_quietly(path, check_inertia=False)

    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    frames = {f.name: i for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
    ours = poses_at_zero(spec)
    assert len(frames.keys() - {"world"}) == len(ours)
    assert sum(j.kind.nv for j in spec.joints) == model.nv
    assert sum(b.inertia.mass for b in spec.bodies) == pytest.approx(sum(i.mass for i in model.inertias))
    # inertia of everything about the world's origin, with all joints at zero
    turned = sum(b.inertia.placed(ours[b.name]).about_origin for b in spec.bodies)
    expected = sum((data.oMi[i] * inertia).matrix()[3:, 3:] for i, inertia in enumerate(model.inertias))
    np.testing.assert_allclose(turned, expected, rtol=1e-9, atol=1e-12)
    for name, pose in ours.items():
        np.testing.assert_allclose(pose.matrix, data.oMf[frames[name]].homogeneous, atol=1e-9, err_msg=name)
