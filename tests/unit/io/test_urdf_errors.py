"""What URDF reading refuses, and what it lists as not read, each with its place."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import taction as ta
from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.urdf import load_urdf, parse_urdf, read_urdf
from taction.model.spec import Unread
from urdf_text import inertial, joint, link, robot, shape

# ----- Refusals


def tree(*parts: str, **options: Any) -> str:
    return robot(link("a"), link("b"), joint("j", "a", "b", *parts, **options))


def moving(*parts: str) -> str:
    return robot(link("a"), link("b", *parts), joint("j", "a", "b"))


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
    "unknown type": (tree(kind="screw"), "joint 'j': unknown type 'screw'"),
    "no type": (tree().replace('type="revolute"', ""), "joint 'j': has no attribute 'type'"),
    "zero axis": (tree(axis='<axis xyz="0 0 0"/>'), "joint 'j': the axis is zero"),
    "nan axis": (tree(axis='<axis xyz="0 nan 0"/>'), "axis: xyz='0 nan 0' is not finite"),
    "parallel axes": (tree('<axis2 xyz="0 0 -2"/>', kind="universal"), "must not be parallel"),
    "two numbers": (tree('<origin xyz="0 0"/>'), "origin: xyz='0 0' needs 3 numbers"),
    "word": (tree('<origin rpy="0 0 east"/>'), "is not numeric"),
    "infinite": (tree('<origin xyz="0 0 inf"/>'), "is not finite"),
    "nan limit": (tree('<limit lower="nan"/>'), "not finite"),
    "negative effort": (tree('<limit effort="-1"/>'), "effort=-1 must not be below 0"),
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
    "negative mass": (
        moving(inertial(mass="-1")),
        "inertial of link 'b': mass must be positive, got -1 kg; check",
    ),
    "nan mass": (robot(link("a", inertial(mass="nan"))), "mass: value='nan' is not finite"),
    "indefinite": (
        moving(inertial(ixy="2")),
        "definite: -1, 1, 3; check_inertia=False keeps it, for kinematics",
    ),
    "no radius": (robot(link("a", shape("<sphere/>"))), "sphere: has no attribute 'radius'"),
    "short box": (robot(link("a", shape('<box size="1 1"/>'))), "needs 3 numbers"),
    "mesh without file": (robot(link("a", shape("<mesh/>"))), "mesh: has no attribute 'filename'"),
    "mesh from the network": (robot(link("a", shape('<mesh filename="http://a.b/c.stl"/>'))), "network"),
    "negative radius": (robot(link("a", shape('<sphere radius="-1"/>'))), "sphere radius must be positive"),
    "mesh with two scales": (
        robot(link("a", shape('<mesh filename="c.stl" scale="1 1"/>'))),
        "mesh: scale='1 1' needs 3 numbers",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_file_line_element_and_reason(case: str) -> None:
    text, reason = BAD[case]
    with pytest.raises(ModelError, match=reason) as caught:
        parse_urdf(text, file="robot.urdf")
    assert str(caught.value).startswith("robot.urdf:")


def test_the_line_is_that_of_the_element() -> None:
    text = robot(link("a"), link("b"), "", "", joint("j", "a", "b", '\n<limit lower="low"/>'))
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
        parse_urdf(robot(link("a"), "<n>" * 4_000 + "</n>" * 4_000))
    with pytest.raises(ModelError, match=r"^robot.urdf:3: more than 5000 elements in each other$"):
        parse_urdf(robot(link("a"), "<n>" * 50_000 + "</n>" * 50_000), file="robot.urdf")
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
    assert [type(w.message) for w in caught] == [UnsupportedFeatureWarning] * 2
    message = str(caught[1].message)
    assert "<text>:2: inertial of link 'a'" in message
    assert "<text>:3: inertial of link 'b'" in message
    assert spec.body("a").inertia.mass == -1.0


def test_a_flat_collision_mesh_is_listed(tmp_path: Path) -> None:
    """A marker glued to a link; a mesh as thin as paper is none such."""
    for thickness, listed in ((0.0, ["collision mesh that is flat, of link 'b'"]), (1e-4, [])):
        corners = f"v 0 0 0\nv 0.1 0 0.1\nv 0 0.1 0\nv 0.1 {0.1 + thickness} 0.1\n"
        (tmp_path / "a.obj").write_text(corners + f"v 0 0 {thickness}\nf 1 2 3\nf 2 4 3\n")
        shapes = shape('<mesh filename="a.obj"/>')
        (tmp_path / "r.urdf").write_text(
            robot(link("a"), link("b", inertial(), shapes), joint("j", "a", "b"))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ta.load_urdf(tmp_path / "r.urdf")
        assert [entry.what for entry in model.unread] == listed
        ta.World(model)


@pytest.mark.parametrize("impossible", [inertial(mass="-1"), inertial(ixy="2")])
def test_an_impossible_base_that_never_moves_is_listed(impossible: str) -> None:
    """As Franka's arm has it in several packages; where the base floats, it is refused."""
    text = robot(link("a", impossible), link("b", inertial()), joint("j", "a", "b"))
    with pytest.warns(UnsupportedFeatureWarning, match="kept as they are:\n  <text>:2: inertial of link 'a'"):
        model = ta.load_urdf(text)
    assert ta.mass_matrix(model, [0.3])[0, 0] == pytest.approx(1.0)
    for options in ({"strict": True}, {"floating_base": True}):
        with pytest.raises(ModelError, match="inertial of link 'a'"):
            ta.load_urdf(text, **options)


@pytest.mark.parametrize(
    ("impossible", "message"),
    [(inertial(izz="3"), "violate the triangle inequality"), (inertial(mass="0"), "mass must be positive")],
)
def test_inertias_of_no_body_are_kept_with_a_warning(impossible: str, message: str) -> None:
    text = robot(
        link("a"), link("b", impossible), link("c", inertial()), joint("j", "a", "b"), joint("k", "b", "c")
    )
    with pytest.warns(
        UnsupportedFeatureWarning, match=f"kept as they are:\n  <text>:3: inertial of link 'b': .*{message}"
    ):
        model = load_urdf(text)
    zz = 3.0 if "triangle" in message else 1.0
    assert model.spec.body("b").inertia.matrix[2, 2] == zz
    assert not model.spec.check_inertia
    with pytest.raises(ModelError, match=message):
        load_urdf(text, strict=True)


def test_overflow_is_an_error_even_then() -> None:
    huge = inertial(ixx="1.7e308", iyy="1.7e308", izz="1.7e308", ixy="1e308")
    huge = huge.replace("<mass", '<origin rpy="0 0 0.8"/><mass')
    with pytest.raises(ModelError, match="<text>:2: inertial: inertia matrix: contains NaN or infinity"):
        parse_urdf(robot(link("a", huge)), check_inertia=False)


# ----- What peers load, and how it is taken

MASS = '<inertial><mass value="2"/></inertial>'
LISTED = {
    "world below": (
        robot(link("a"), link("world"), joint("j", "a", "world")),
        "link 'world' below another (r.urdf:3): its body is 'world_link'",
    ),
    "crossed limits": (
        tree('<limit lower="1" upper="-1"/>'),
        "lower limit 1 above the upper one, -1 (joint 'j' r.urdf:4): no limit",
    ),
    "negative velocity": (
        tree('<limit effort="1" velocity="-1"/>'),
        "negative velocity of a limit (joint 'j' r.urdf:4): no limit",
    ),
    "negative damping": (
        tree('<dynamics damping="-1"/>'),
        "negative damping (joint 'j' r.urdf:4): taken as none",
    ),
    "negative friction": (
        tree('<dynamics friction="-1"/>'),
        "negative friction (joint 'j' r.urdf:4): taken as none",
    ),
    "lower limit alone, above zero": (
        tree('<limit lower="1"/>'),
        "lower limit 1 above the upper one, 0 (joint 'j' r.urdf:4): no limit",
    ),
    "mimic of nobody": (
        tree('<mimic joint="x"/>'),
        "mimic of 'x', which does not exist (joint 'j' r.urdf:4): it moves by itself",
    ),
    "mass without value": (
        robot(link("a", inertial()).replace('value="1"', "")),
        "inertial without a mass (link 'a' r.urdf:2): the link has no mass",
    ),
    "inertial without mass": (
        robot(link("a", "<inertial/>")),
        "inertial without a mass (link 'a' r.urdf:2): the link has no mass",
    ),
    "inertial without inertia": (
        robot(link("a", MASS), link("b", MASS), joint("j", "a", "b")),
        "inertial without inertia (link 'a' r.urdf:2, link 'b' r.urdf:3): the link is a point mass",
    ),
    "no moment": (
        robot(link("a", inertial()).replace('izz="1"', "")),
        "inertia without izz (link 'a' r.urdf:2): the link is a point mass",
    ),
    "no products": (
        robot(link("a", inertial()).replace('ixy="0" ixz="0"', "")),
        "inertia without ixy, ixz (link 'a' r.urdf:2): taken as zero",
    ),
    "no geometry": (
        robot(link("a", "<collision/>")),
        "collision without a shape (link 'a' r.urdf:2): nothing touches it",
    ),
    "no shape": (
        robot(link("a", shape(""))),
        "collision without a shape (link 'a' r.urdf:2): nothing touches it",
    ),
    "two shapes": (
        robot(link("a", shape('<sphere radius="1"/><box size="1 1 1"/>'))),
        "second shape of one geometry (link 'a' r.urdf:2): the first one counts",
    ),
    "two alike": (
        robot(link("a", shape('<sphere radius="1"/><sphere radius="2"/>'))),
        "second sphere of one geometry (r.urdf:2): the first one counts",
    ),
    "no extent": (
        robot(
            link("a", shape('<sphere radius="0"/>')),
            link("b", shape('<box size="1 1 0"/>')),
            link("c", shape('<mesh filename="c.stl" scale="1 0 1"/>')),
            joint("i", "a", "b"),
            joint("j", "a", "c"),
        ),
        "collision shape without extent (link 'a' r.urdf:2, link 'b' r.urdf:3, link 'c' r.urdf:4): nothing "
        "touches it",
    ),
}


@pytest.mark.parametrize("case", LISTED)
def test_what_peers_load_is_loaded_and_listed(case: str) -> None:
    text, listed = LISTED[case]
    with pytest.warns(UnsupportedFeatureWarning) as caught:
        spec = parse_urdf(text, file="r.urdf")
    assert [str(w.message) for w in caught] == [f"r.urdf: not supported: {listed}"]
    assert spec.unread and all(entry.where.startswith("r.urdf:") for entry in spec.unread)
    with pytest.raises(ModelError, match=re.escape(listed)):
        parse_urdf(text, file="r.urdf", strict=True)


@pytest.mark.filterwarnings("ignore::taction._core.errors.UnsupportedFeatureWarning")
def test_how_it_is_taken() -> None:
    spec = parse_urdf(LISTED["world below"][0])
    assert [(b.name, spec.joints[k].child) for k, b in enumerate(spec.bodies)] == [
        ("a", "a"),
        ("world_link",) * 2,
    ]
    for case in ("crossed limits", "lower limit alone, above zero"):
        j = parse_urdf(LISTED[case][0]).joint("j")
        assert (j.lower, j.upper) == (-np.inf, np.inf)
    assert parse_urdf(LISTED["mimic of nobody"][0]).joint("j").mimic is None
    assert parse_urdf(LISTED["inertial without mass"][0]).body("a").inertia.mass == 0.0
    point = parse_urdf(LISTED["inertial without inertia"][0]).body("a").inertia
    assert point.mass == 2.0 and not point.matrix.any()
    whole = parse_urdf(LISTED["no products"][0]).body("a").inertia
    assert np.array_equal(whole.matrix, np.eye(3))
    kept = [
        len(parse_urdf(LISTED[case][0]).body("a").shapes) for case in ("no shape", "two shapes", "no extent")
    ]
    assert kept == [0, 1, 0]


def test_a_scale_of_four_numbers(tmp_path: Path) -> None:
    (tmp_path / "c.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"
    )
    text = robot(link("a", shape('<mesh filename="c.obj" scale="2 1 1 1"/>')))
    with pytest.warns(
        UnsupportedFeatureWarning, match="scale of more than three numbers .*: the first three count"
    ):
        spec = parse_urdf(text, file=str(tmp_path / "r.urdf"))
    assert spec.body("a").shapes[0].geometry.vertices.max() == 2.0


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
        "r.urdf: not supported: attribute 'spring' of dynamics (r.urdf:9): not known here; "
        "contact (r.urdf:2): not known here; gazebo (r.urdf:3, r.urdf:5): settings of another simulator; "
        "heightmap (r.urdf:8): not known here; ros2_control (r.urdf:6): no motor; "
        "sensor (r.urdf:6): no sensor; transmission (r.urdf:4): no motor; "
        "xacro:macro (r.urdf:10): not known here"
    )
    assert len(spec.unread) == 9
    assert Unread("transmission", "r.urdf:4", "no motor") in spec.unread
    with pytest.raises(ModelError, match=r"^r\.urdf: not supported: attribute"):
        parse_urdf(text, file="r.urdf", strict=True)
    assert caught[0].filename == __file__
    assert spec.body("b").shapes == []


def test_of_two_that_exclude_each_other_the_first_counts() -> None:
    with pytest.warns(
        UnsupportedFeatureWarning, match=r"second inertial of one link .*: the first one counts"
    ):
        spec = parse_urdf(robot(link("a", inertial(mass="1"), inertial(mass="2"))))
    assert spec.body("a").inertia.mass == 1.0


def test_long_lists_are_cut_but_counted() -> None:
    with pytest.warns(UnsupportedFeatureWarning, match=r"gazebo \(<text>:3, .*:10 and 92 more\): "):
        parse_urdf(robot(link("a"), *["<gazebo/>"] * 100))


def test_plain_robots_do_not_warn_and_default_namespaces_are_dropped() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = parse_urdf(robot(link("a"), attributes='name="r" version="1.0" xmlns="http://drake.mit.edu"'))
    assert [b.name for b in spec.bodies] == ["a"]
