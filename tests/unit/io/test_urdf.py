"""URDF: every mapping of links, joints and meshes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.urdf import load_urdf, parse_urdf, read_urdf
from taction.math.transform import Transform, rotation_from_rpy
from taction.model.joints import JointKind
from taction.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from urdf_text import INERTIAL, inertial, joint, link, one_joint, robot, shape

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


def test_cylindrical_joint_has_one_axis_and_no_limits() -> None:
    with pytest.warns(UnsupportedFeatureWarning, match="lower and upper limit of a cylindrical joint"):
        made = one_joint(
            '<limit lower="-1" upper="1"/><dynamics damping="0.5" friction="0.1"/>',
            kind="cylindrical",
            axis='<axis xyz="0 3 4"/>',
        )
    np.testing.assert_allclose(made.axis, [0, 0.6, 0.8])
    assert (made.damping, made.friction, made.lower) == (0.5, 0.1, -np.inf)


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


def test_meshes_are_found_and_read_unless_told_otherwise(mesh_robot: Path) -> None:
    target = (mesh_robot.parent.parent / "meshes" / "tip.obj").resolve()
    for options, count in (({"load_meshes": False}, 0), ({}, 4)):
        shapes = read_urdf(mesh_robot, **options).body("a").shapes
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


def test_missing_broken_and_foreign_meshes(mesh_robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mesh_robot.parent
    (folder / "broken.stl").write_bytes(b"not a mesh")
    (folder / "scene.dae").write_bytes(b"<COLLADA/>")
    (folder / "scene.ply").write_bytes(b"ply")

    def read(name: str, load: bool) -> Mesh:
        text = robot(link("a", shape(f'<mesh filename="{name}"/>')))
        mesh = parse_urdf(text, file=str(folder / "r.urdf"), load_meshes=load).body("a").shapes[0].geometry
        assert isinstance(mesh, Mesh) and not len(mesh.vertices)
        return mesh

    for name in ("absent.stl", "broken.stl", "scene.dae", "scene.ply"):
        assert read(name, False).path == folder / name
    for name, reason in (
        ("absent.stl", r"'absent\.stl' does not exist; give the file beside the description, or load_meshes"),
        ("package://p/a.stl", r"'package://p/a\.stl' does not exist; give package_dirs=\[folder of the"),
        ("broken.stl", r".*broken\.stl: truncated"),
        ("scene.ply", r".*scene\.ply: mesh format '\.ply' is not read"),
    ):
        with pytest.raises(ModelError, match=rf"r\.urdf:2: mesh: {reason}"):
            read(name, True)
    monkeypatch.setitem(sys.modules, "collada", None)
    with pytest.raises(
        ModelError, match=r"scene\.dae: DAE files need pycollada: pip install 'taction\[dae\]'"
    ):
        read("scene.dae", True)


# ----- Placeholders and text


def test_what_is_fixed_together_counts_as_one_body() -> None:
    ones = inertial(*["1e-6"] * 5).replace('"0"', '"1e-6"')
    massless = inertial("0", "1e-9", "1e-9", "1e-9")
    text = robot(
        link("base", ones),
        link("trunk", INERTIAL),
        link("foot", massless),
        joint("f", "base", "trunk", kind="fixed"),
        joint("g", "trunk", "foot", kind="fixed"),
    )
    assert load_urdf(text, floating_base=True).nv == 6
    for alone in (ones, massless):
        moving = robot(link("base", INERTIAL), link("foot", alone), joint("j", "base", "foot"))
        with pytest.raises(ModelError, match="inertial of link 'foot'"):
            load_urdf(moving, strict=True)
        assert load_urdf(moving.replace('type="revolute"', 'type="fixed"')).nv == 0


def test_text_instead_of_a_file() -> None:
    assert load_urdf(robot(link("a"), link("b", INERTIAL), joint("j", "a", "b"))).nv == 1


def test_lines_above_a_declaration_are_counted() -> None:
    plain = robot(link("a"), link("b", INERTIAL), joint("j", "a", "b"), "<gazebo/>")
    lines = []
    for given in (
        plain,
        '\n\n<?xml version="1.0"?>\n' + plain,
        b"\n\n<?xml version='1.0'?>\n" + plain.encode(),
    ):
        with pytest.warns(UnsupportedFeatureWarning):
            spec = parse_urdf(given)
        lines += [int(entry.where.removeprefix("<text>:")) for entry in spec.unread]
    assert lines == [lines[0], lines[0] + 3, lines[0] + 3]


# ----- Compiling


def test_load_urdf_compiles(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.urdf"
    path.write_text(robot(link("a"), link("b", INERTIAL), joint("j", "a", "b")))
    assert load_urdf(path).nv == 1
    with pytest.raises(TypeError):
        load_urdf(path, float_base=True)
