"""URDF for kinematics: descriptions without masses, and models without their meshes."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import taction as ta
from taction.io.urdf import parse_urdf
from taction.kinematics.forward import forward_kinematics
from taction.model.compile import compile_model
from urdf_text import INERTIAL, inertial, joint, link, robot, shape

ARM = robot(
    link("base"),
    link("upper"),
    link("lower"),
    link("tool"),
    joint("shoulder", "base", "upper", '<origin xyz="0 0 0.5"/>', axis='<axis xyz="0 1 0"/>'),
    joint("elbow", "upper", "lower", '<origin xyz="0.4 0 0"/>', axis='<axis xyz="0 1 0"/>'),
    joint("tip", "lower", "tool", '<origin xyz="0.3 0 0"/>', kind="fixed"),
)
SENTENCE = (
    "joint 'shoulder' (<text>:6) moves link 'upper' (<text>:3), link 'lower' (<text>:4) and link 'tool' "
    "(<text>:5), which have no mass: give one of them an <inertial>, the joint an armature, or make it "
    "fixed; likewise joint 'elbow'"
)


def kinematic(text: str, listed: str, **options: bool) -> ta.Model:
    """A model whose one warning ends with this."""
    with pytest.warns(ta.UnsupportedFeatureWarning) as caught:
        model = ta.load_urdf(text, **options)
    assert [str(w.message) for w in caught] == [f"<text>: not supported: {listed}"]
    return model


def test_an_arm_without_masses_moves_as_kinematics_say() -> None:
    """The tool of two links of 0.4 and 0.3 m: x = 0.4 cos q₁ + 0.3 cos (q₁ + q₂), z alike with sines."""
    arm = kinematic(
        ARM,
        "joint that moves what has no inertia (joint 'shoulder' <text>:6, joint 'elbow' <text>:7): "
        "kinematics only: refused when simulated",
    )
    assert [(u.what, u.where) for u in arm.unread] == [
        ("joint that moves what has no inertia, of joint 'shoulder'", "<text>:6"),
        ("joint that moves what has no inertia, of joint 'elbow'", "<text>:7"),
    ]
    q = np.array([0.3, -1.0])
    x, z = 0.4 * np.cos(0.3) + 0.3 * np.cos(-0.7), 0.5 - 0.4 * np.sin(0.3) - 0.3 * np.sin(-0.7)
    tool = arm.body("tool")
    np.testing.assert_allclose(forward_kinematics(arm, q).position[tool], [x, 0.0, z], rtol=0, atol=1e-15)
    J = ta.jacobian(arm, q, "tool")
    np.testing.assert_allclose(J[3:, 0], [z - 0.5, 0.0, -x], rtol=0, atol=1e-15)
    v = np.array([2.0, 3.0])
    assert not ta.mass_matrix(arm, q).any() and not ta.rnea(arm, q, v, v).any()
    assert ta.World(arm, ground=ta.Plane()).model.nv == 2


def test_forces_are_refused_by_joint_link_and_line() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.UnsupportedFeatureWarning)
        arm = ta.load_urdf(ARM)
    for move in (
        lambda: ta.Simulation(arm),
        lambda: ta.Simulation(ta.World(arm, ground=ta.Plane())),
        lambda: ta.aba(arm, arm.q0, np.zeros(2), np.zeros(2)),
        lambda: ta.factor_mass_matrix(arm, arm.q0),
    ):
        with pytest.raises(ta.TactionError, match=re.escape(SENTENCE)):
            move()
    with pytest.raises(ta.ModelError, match=re.escape(SENTENCE)):
        ta.load_urdf(ARM, strict=True)


def test_a_world_with_something_else_is_refused_as_well() -> None:
    with pytest.warns(ta.UnsupportedFeatureWarning):
        arm = ta.load_urdf(ARM)
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0)
    with pytest.raises(ta.ModelError, match=re.escape(f"world: {SENTENCE.replace('elbow', 'r/elbow')}")):
        ta.Simulation(ta.World(arm, ball))


def test_an_armature_is_enough() -> None:
    spec = parse_urdf(ARM)
    for each in ("shoulder", "elbow"):
        spec.joint(each).armature = 0.1
    assert ta.Simulation(compile_model(spec)).run(1e-3).q.shape == (2, 2)


def test_the_floating_base_is_told_by_its_root_link() -> None:
    """The joint that floats is not in the file: its root link is."""
    text = robot(link("base"), link("arm", inertial()), joint("hinge", "base", "arm"))
    model = kinematic(
        text,
        "joint that moves what has no inertia (the floating base <text>:2): kinematics only: refused when "
        "simulated",
        floating_base=True,
    )
    with pytest.raises(
        ta.ModelError,
        match=r"the floating base and joint 'hinge' \(<text>:4\) together move link 'base' \(<text>:2\), "
        "which has no mass: give it an <inertial>, one of the joints an armature, or make it fixed",
    ):
        ta.Simulation(model)
    with pytest.warns(ta.UnsupportedFeatureWarning, match="the floating base <text>:2"):
        point = ta.load_urdf(robot(link("a", inertial(izz="0"))), floating_base=True)
    with pytest.raises(
        ta.ModelError, match=r"the floating base moves link 'a' .*, which has no inertia about some axis"
    ):
        ta.Simulation(point)


def test_frames_without_mass_are_no_matter() -> None:
    """Massless frames that are fixed to something, and massless links in a chain, move like the rest."""
    text = robot(
        link("foot"), link("base", INERTIAL), link("cross"), link("rod", INERTIAL), link("camera"),
        joint("f", "foot", "base", kind="fixed"), joint("a", "base", "cross", axis='<axis xyz="1 0 0"/>'),
        joint("b", "cross", "rod", axis='<axis xyz="0 1 0"/>'), joint("c", "rod", "camera", kind="fixed"),
    )  # fmt: skip
    for floating in (False, True):
        model = ta.load_urdf(text, floating_base=floating, strict=True)
        assert not model.unread and ta.Simulation(model).run(1e-3).q.shape[0] == 2


def test_a_world_without_meshes_says_what_nothing_touches() -> None:
    mesh = shape('<mesh filename="absent.stl"/>')
    text = robot(
        link("a", mesh, inertial()),
        link("b", mesh, shape('<sphere radius="0.1"/>'), inertial()),
        joint("j", "a", "b", '<origin xyz="0 0 1"/>'),
    )
    with pytest.raises(ta.ModelError, match="load_meshes=False to leave meshes out"):
        ta.load_urdf(text)
    model = ta.load_urdf(text, load_meshes=False)
    with pytest.warns(ta.UnsupportedFeatureWarning) as caught:
        world = ta.World(model, ground=ta.Plane())
    said = "r: nothing touches the meshes of 'a', 'b', which were not read (load_meshes=False)"
    assert [str(w.message) for w in caught] == [said]
    assert caught[0].filename == __file__
    assert world.shape_names == ("ground", "b")
    run = ta.Simulation(world, dt=1e-3).run(1e-3, q=[0.1])
    assert run.left_out == ("contact of meshes that were not read",)
