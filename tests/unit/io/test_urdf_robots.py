"""URDF files of real robots against Pinocchio, and files that were tampered with."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taction._core.errors import ModelError
from taction.io.urdf import load_urdf, parse_urdf, read_urdf
from taction.math.transform import Transform
from taction.model.shapes import Mesh
from taction.model.spec import ModelSpec
from urdf_text import INERTIAL, inertial, joint, link, robot, shape

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


@pytest.mark.long
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
# Nothing can be made of this: it is an empty <robot>.
BROKEN = {"ur3.urdf"}
# Something that moves has an inertia that no rigid body has.
UNPHYSICAL = {"romeo_laas_small.urdf", "romeo_small.urdf"}
# Robots that must simply work.
EVERYBODYS = """go2_description/urdf/go2 anymal_b_simple_description/robots/anymal
    anymal_c_simple_description/urdf/anymal solo_description/robots/solo12 talos_data/robots/talos_reduced
    panda_description/urdf/panda""".split()


def read_quietly(path: Path, **options: Any) -> ModelSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return read_urdf(path, **{"load_meshes": False, **options})


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


@pytest.mark.parametrize("name", EVERYBODYS)
def test_everybodys_robots_simply_load(name: str) -> None:
    paths = [path for path in ROBOTS if path.as_posix().endswith(f"{name}.urdf")]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = load_urdf(paths[0], floating_base=True)
    shapes = [shape.geometry for body in model.spec.bodies for shape in body.shapes]
    assert shapes and all(len(shape.vertices) for shape in shapes if isinstance(shape, Mesh))
    assert not any("mesh" in entry.what for entry in model.unread)


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
        assert path.name in UNPHYSICAL, error
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
