"""Semantic descriptions: pairs that do not collide, and named poses."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.urdf import load_urdf, read_urdf
from urdf_text import INERTIAL, joint, link, robot

ROBOT = robot(
    link("a", INERTIAL),
    link("b", INERTIAL),
    link("c", INERTIAL),
    joint("j", "a", "b"),
    joint("k", "b", "c", kind="continuous"),
)


def srdf(*parts: str) -> str:
    return "\n".join(['<robot name="r">', *parts, "</robot>"])


def test_pairs() -> None:
    text = srdf(
        '<disable_collisions link1="a" link2="b" reason="Adjacent"/>',
        '<disable_collisions link1="b" link2="a"/>',
        '<disable_default_collisions link="c"/><enable_collisions link1="b" link2="c"/>',
        '<group name="g"><chain base_link="a" tip_link="c"/></group><passive_joint name="k"/>',
    )
    assert load_urdf(ROBOT, srdf=text).spec.exclude == [("a", "b"), ("c", "a")]


def test_poses() -> None:
    text = srdf(
        '<group_state name="up" group="g"><joint name="root_joint" value="1 2 3 0 0 2 0"/>'
        '<joint name="j" value="0.5"/></group_state>',
        '<group_state name="up" group="h"><joint name="k" value="0 1"/></group_state>',
    )
    floating = load_urdf(ROBOT, srdf=text, floating_base=True)
    np.testing.assert_allclose(floating.spec.keyframes["up"].q, [1, 2, 3, 0, 0, 0, 1, 0.5, np.pi / 2])
    assert floating.spec.keyframes["up"].v.shape == (8,)
    np.testing.assert_allclose(load_urdf(ROBOT, srdf=text).spec.keyframes["up"].q, [0.5, np.pi / 2])


def test_poses_follow_the_joints_whatever_their_order_in_the_file() -> None:
    """A file may list a joint before that of its parent; the model does not."""
    shuffled = robot(
        link("a", INERTIAL),
        link("b", INERTIAL),
        link("c", INERTIAL),
        joint("k", "b", "c"),
        joint("j", "a", "b"),
    )
    text = srdf(
        '<group_state name="up" group="g"><joint name="j" value="0.5"/>'
        '<joint name="k" value="-0.2"/></group_state>'
    )
    model = load_urdf(shuffled, srdf=text)
    q = model.spec.keyframes["up"].q
    assert {joint.name: q[joint.iq] for joint in model.joints} == {"j": 0.5, "k": -0.2}


def test_what_the_robot_lacks_is_listed() -> None:
    text = srdf(
        '<disable_collisions link1="a" link2="x"/>',
        '<group_state name="s" group="g"><joint name="y" value="1"/></group_state>',
    )
    with pytest.warns(UnsupportedFeatureWarning, match="link 'x', which does not exist") as caught:
        model = load_urdf(ROBOT, srdf=text)
    assert len(caught) == 1 and len(model.unread) == 2


@pytest.mark.parametrize(
    "text, reason",
    [
        ("<robots/>", "must have <robot>"),
        (srdf('<disable_collisions link1="a"/>'), "has no attribute 'link2'"),
        (srdf('<group_state name="s"><joint name="j" value="1 2"/></group_state>'), "needs 1 numbers"),
        (srdf('<group_state name="s"><joint name="j"/></group_state>'), "has no attribute 'value'"),
        (
            srdf('<group_state name="s"><joint name="root_joint" value="0 0 0 0 0 0 0"/></group_state>'),
            "zero quaternion",
        ),
    ],
)
def test_broken_ones_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        load_urdf(ROBOT, srdf=text, floating_base=True)


def test_go2_stands_as_pinocchio_says() -> None:
    pin = pytest.importorskip("pinocchio")
    cmeel = importlib.util.find_spec("cmeel")
    places = [Path(p).parent for p in (cmeel.submodule_search_locations if cmeel else None) or []]
    folders = [p / "cmeel.prefix/share/example-robot-data/robots/go2_description" for p in places]
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    urdf, file = folder / "urdf" / "go2.urdf", folder / "srdf" / "go2.srdf"
    theirs = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(theirs, str(file), False)
    q = theirs.referenceConfigurations["standing"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        spec = read_urdf(urdf, srdf=file, floating_base=True, load_meshes=False)
    ours, at = spec.keyframes["standing"].q, 7
    np.testing.assert_allclose(ours[:7], [*q[:3], q[6], *q[3:6]])
    for each in spec.joints:
        if each.kind.is_single:
            assert ours[at] == q[theirs.joints[theirs.getJointId(each.name)].idx_q]
            at += 1
    assert at == len(ours) and len(spec.exclude) > 10
