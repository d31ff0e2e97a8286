"""Compilation: how a description is laid out in links and coordinates, and every way it can be refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from helpers import assert_close, random_case, random_pose
from taction._core.errors import BadInput, ModelError
from taction._core.kinds import LinkKind
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import Transform, rotation_about
from taction.model.compile import compile_model
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, TREE_SHIFT
from taction.model.spec import ActuatorSpec, BodySpec, JointSpec, Mimic, ModelSpec

BALL = Inertia(1.0, np.zeros(3), np.eye(3))
HINGE = {"name": "j", "kind": JointKind.REVOLUTE, "parent": "world", "child": "a"}


def describe(*joints: JointSpec, **options) -> ModelSpec:
    """One ball per joint, in the order of the joints."""
    return ModelSpec(bodies=[BodySpec(j.child, BALL) for j in joints], joints=list(joints), **options)


def joint(name: str, parent: str, child: str, kind: str = "revolute", **options) -> JointSpec:
    return JointSpec(name, JointKind(kind), parent, child, **options)


def one(kind: str = "revolute", **options) -> ModelSpec:
    return describe(joint("j", "world", "a", kind, **options))


# ----- Layout ---------------------------------------------------------------------------------------------


def test_every_kind_becomes_its_links_and_coordinates():
    kinds = list(JointKind)
    model = compile_model(describe(*(joint(k.value, "world", f"b{k.value}", k.value) for k in kinds)))
    assert [j.kind for j in model.joints] == [k for k in kinds if k is not JointKind.FIXED]
    assert model.nq == sum(k.nq for k in kinds) == 21 and model.nv == sum(k.nv for k in kinds) == 19
    R, P, S, F = LinkKind.REVOLUTE, LinkKind.PRISMATIC, LinkKind.SPHERICAL, LinkKind.FLOATING
    assert model.tree.kind.tolist() == [LinkKind.WORLD, R, R, P, R, R, P, R, S, P, P, R, F]
    ends = [(j.q_slice.stop, j.v_slice.stop) for j in model.joints]
    starts = [(j.iq, j.iv) for j in model.joints]
    assert starts == [(0, 0), *ends[:-1]] and ends[-1] == (model.nq, model.nv)


def test_degrees_of_freedom_know_their_way_to_the_world():
    chain = compile_model(
        describe(
            joint("u", "world", "a", "universal"),
            joint("s", "a", "b", "spherical"),
            joint("f", "b", "c", "fixed"),
            joint("r", "c", "d", "revolute"),
            joint("side", "a", "e", "prismatic"),
            joint("free", "world", "g", "floating"),
        )
    )
    assert chain.tree.dof_parent.tolist() == [-1, 0, 1, 2, 3, 4, 1, -1, 7, 8, 9, 10, 11]
    assert chain.tree.parent.tolist() == [0, 0, 1, 2, 3, 2, 0]


def test_fixed_joints_merge_bodies_into_one_link():
    spec = describe(
        joint("r", "world", "a"),
        joint("f", "a", "b", "fixed", pose=Transform(translation=(1, 0, 0))),
        joint("w", "world", "c", "fixed"),
    )
    model = compile_model(spec)
    assert model.n_links == 2 and model.body_link.tolist() == [1, 1, 0]
    row = model.tree.constant[1]
    assert row[BODY_MASS] == 2.0
    assert row[BODY_FIRST : BODY_FIRST + 3].tolist() == [1.0, 0.0, 0.0]
    assert row[BODY_INERTIA:].tolist() == [2.0, 0.0, 0.0, 3.0, 0.0, 3.0]  # the second ball adds m d² = 1
    assert model.total_mass == 2.0  # the body welded to the world does not move
    assert not model.tree.constant[0, BODY_MASS:].any()


@pytest.mark.parametrize("kind", [k.value for k in JointKind])
def test_at_zero_the_frames_are_as_described(kind):
    """X_parent,child(0) = pose · child_pose⁻¹ for every kind."""
    rng = np.random.default_rng(3)
    X, Y, Z = (random_pose(rng) for _ in range(3))
    first = joint("first", "world", "a", "prismatic", pose=X, axis=(1, 1, 0))
    model = compile_model(describe(first, joint("j", "a", "b", kind, pose=Y, child_pose=Z)))
    poses = forward_kinematics(model, model.q0)
    expected = X @ Y @ Z.inverse()
    assert_close(poses.rotation[1], expected.rotation, 1e-14)
    assert_close(poses.position[1], expected.translation, 1e-14)


def test_motion_is_in_the_joint_frame():
    """X(q) = pose · X_J(q) · child_pose⁻¹, with axes of any length given in the joint frame."""
    rng = np.random.default_rng(4)
    Y, Z = random_pose(rng), random_pose(rng)
    a, b = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    q = rng.uniform(-1, 1, 7)
    q[3:] /= np.linalg.norm(q[3:])
    turn = Transform.from_quaternion(quaternion=q[3:])
    motions = {
        "revolute": Transform(rotation_about(a, q[0])),
        "continuous": Transform(rotation_about(a, q[0])),
        "prismatic": Transform(translation=q[0] * a),
        "universal": Transform(rotation_about(a, q[0]) @ rotation_about(b, q[1])),
        "cylindrical": Transform(rotation_about(a, q[1]), q[0] * a),
        "planar": Transform(rotation_about([0, 0, 1], q[2]), [q[0], q[1], 0.0]),
        "spherical": turn,
        "floating": Transform(translation=q[:3]) @ turn,
    }
    for kind, motion in motions.items():
        model = compile_model(one(kind, pose=Y, child_pose=Z, axis=tuple(2 * a), axis2=tuple(5 * b)))
        value = q[3:] if kind == "spherical" else q[: model.nq]
        poses, expected = forward_kinematics(model, value), Y @ motion @ Z.inverse()
        assert_close(poses.rotation[0], expected.rotation, 1e-14, 0.0, kind)
        assert_close(poses.position[0], expected.translation, 1e-14, 0.0, kind)


def test_joints_keep_their_order_where_it_is_possible():
    parts = [joint("r", "world", "a"), joint("s", "a", "b"), joint("t", "world", "c"), joint("u", "b", "d")]
    assert [j.name for j in compile_model(describe(*parts)).joints] == ["r", "s", "t", "u"]
    late = [parts[3], parts[0], parts[1], parts[2]]
    assert [j.name for j in compile_model(describe(*late)).joints] == ["r", "s", "t", "u"]


def test_a_long_chain_in_reverse():
    names = ["world", *(f"b{i}" for i in range(60))]
    parts = [joint(f"j{i}", names[i], names[i + 1]) for i in range(60)]
    model = compile_model(describe(*reversed(parts)))
    assert [j.name for j in model.joints] == [j.name for j in parts]
    assert model.body_names[0] == "b59" and model.tree.parent.tolist() == [0, *range(60)]


def test_values_per_degree_of_freedom():
    model = compile_model(
        describe(
            joint(
                "u", "world", "a", "universal", damping=0.5, lower=(-1, -2), upper=3.0, armature=(0.1, 0.2)
            ),
            joint(
                "p",
                "a",
                "b",
                "prismatic",
                stiffness=7.0,
                rest=0.1,
                friction=0.3,
                effort=9.0,
                max_velocity=2.0,
            ),
        )
    )
    assert model.damping.tolist() == [0.5, 0.5, 0.0]
    assert model.lower.tolist() == [-1.0, -2.0, -np.inf] and model.upper.tolist() == [3.0, 3.0, np.inf]
    assert model.tree.armature.tolist() == [0.1, 0.2, 0.0]
    assert (model.stiffness[2], model.rest[2], model.friction[2]) == (7.0, 0.1, 0.3)
    assert (model.effort[2], model.max_velocity[2], model.effort[0]) == (9.0, 2.0, np.inf)


def test_neutral_configuration():
    spec = describe(
        joint("s", "world", "a", "spherical"),
        joint("f", "world", "b", "floating", initial=np.array([1, 2, 3, 0, 0, 2, 0])),
        joint("r", "world", "c", initial=np.array([0.5])),
    )
    model = compile_model(spec)
    assert model.q0.tolist() == [1, 0, 0, 0, 1, 2, 3, 0, 0, 1, 0, 0.5]


def test_a_model_cannot_be_changed():
    model = random_case(0, 5).model
    arrays = [
        *model.tree._asdict().values(),
        model.q0,
        model.lower,
        model.damping,
        model.body_link,
        model.body_offset,
    ]
    assert not any(array.flags.writeable for array in arrays)


def test_far_from_the_origin_constants_are_those_of_the_description():
    model = compile_model(one(pose=Transform(translation=(1e4, -1e4, 0))))
    assert model.tree.constant[1, TREE_SHIFT : TREE_SHIFT + 3].tolist() == [1e4, -1e4, 0.0]


# ----- Mimics ---------------------------------------------------------------------------------------------


def test_chains_of_mimics_lead_to_the_independent_joint():
    """q2 = 2 q1 + 1 and q3 = 3 q2 + 5, so q3 = 6 q1 + 8."""
    model = compile_model(
        describe(
            joint("q3", "world", "a", mimic=Mimic("q2", 3.0, 5.0)),
            joint("q2", "world", "b", "prismatic", mimic=Mimic("q1", 2.0, 1.0)),
            joint("q1", "world", "c", "continuous"),
        )
    )
    last, middle = model.couplings
    assert (last.follower_q, last.leader_q, last.multiplier, last.offset) == (0, 2, 6.0, 8.0)
    assert (middle.follower_v, middle.leader_v, middle.multiplier, middle.offset) == (1, 2, 2.0, 1.0)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ([joint("j", "world", "a", mimic=Mimic("k"))], "joint 'j': mimics 'k', which is not a moving joint"),
        ([joint("j", "world", "a", mimic=Mimic("j"))], "joint 'j': mimic joints form a cycle"),
        (
            [joint("j", "world", "a", mimic=Mimic("k")), joint("k", "world", "b", mimic=Mimic("j"))],
            "joint 'k': mimic joints form a cycle",
        ),
        (
            [joint("j", "world", "a", mimic=Mimic("k")), joint("k", "world", "b", "fixed")],
            "joint 'j': mimics 'k', which is not a moving joint",
        ),
        (
            [joint("j", "world", "a", mimic=Mimic("k")), joint("k", "world", "b", "spherical")],
            "joint 'j': mimic needs two single-axis joints",
        ),
        (
            [joint("j", "world", "a", "planar", mimic=Mimic("k")), joint("k", "world", "b")],
            "joint 'j': mimic needs two single-axis joints",
        ),
    ],
)
def test_mimics_that_cannot_be(joints, message):
    refused(describe(*joints), message)


# ----- Refusals -------------------------------------------------------------------------------------------


def refused(spec: ModelSpec, message: str) -> None:
    with pytest.raises(ModelError, match=f"^model: .*{re.escape(message)}"):
        compile_model(spec)


def with_bodies(*bodies: str, joints: list[JointSpec]) -> ModelSpec:
    return ModelSpec(bodies=[BodySpec(b, BALL) for b in bodies], joints=joints)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (with_bodies("", joints=[joint("j", "world", "")]), "a body has no name"),
        (with_bodies("a", joints=[joint("", "world", "a")]), "a joint has no name"),
        (with_bodies("a", "a", joints=[joint("j", "world", "a")]), "body name 'a' is used twice"),
        (with_bodies("world", joints=[joint("j", "world", "world")]), "body name 'world' is used twice"),
        (
            with_bodies("a", "b", joints=[joint("j", "world", "a"), joint("j", "a", "b")]),
            "joint name 'j' is used twice",
        ),
        (with_bodies("a", joints=[joint("j", "ghost", "a")]), "joint 'j': unknown parent body 'ghost'"),
        (with_bodies("a", joints=[joint("j", "world", "ghost")]), "joint 'j': unknown child body 'ghost'"),
        (with_bodies("a", joints=[joint("j", "a", "world")]), "joint 'j': unknown child body 'world'"),
        (
            with_bodies("a", joints=[joint("j", "world", "a"), joint("k", "world", "a")]),
            "joint 'k': body 'a' already has a parent",
        ),
        (with_bodies("a", "b", joints=[joint("j", "world", "a")]), "body 'b' is attached to nothing"),
        (
            with_bodies("a", joints=[joint("j", "a", "a")]),
            "bodies 'a' form a cycle that never reaches the world",
        ),
        (
            with_bodies(
                "a", "b", "c", joints=[joint("j", "b", "a"), joint("k", "a", "b"), joint("l", "world", "c")]
            ),
            "bodies 'a', 'b' form a cycle",
        ),
    ],
)
def test_trees_that_are_none(spec, message):
    refused(spec, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gravity": (0.0, 0.0, np.nan)}, "gravity: contains NaN"),
        ({"timestep": 0.0}, "timestep 0.0 must be positive"),
        ({"timestep": np.inf}, "timestep inf must be positive"),
        ({"actuators": [ActuatorSpec("m", "ghost")]}, "actuator 'm': 'ghost' is not a single-axis joint"),
        ({"actuators": [ActuatorSpec("m", "j", kind="magic")]}, "actuator 'm': unknown kind 'magic'"),
        ({"actuators": [ActuatorSpec("", "j")]}, "a actuator has no name"),
        ({"actuators": [ActuatorSpec("m", "j"), ActuatorSpec("m", "j")]}, "actuator name 'm' is used twice"),
    ],
)
def test_worlds_that_cannot_be(options, message):
    refused(replace(one(), **options), message)


def test_actuators_are_for_single_axes():
    refused(replace(one("planar"), actuators=[ActuatorSpec("m", "j")]), "'j' is not a single-axis joint")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("revolute", {"axis": (0, 0, 0)}, "axis (0, 0, 0) is zero"),
        ("revolute", {"axis": (0, 0, np.nan)}, "axis: contains NaN"),
        ("revolute", {"axis": (0, 1)}, "axis: expected shape (3,)"),
        ("universal", {"axis2": (0, 0, 0)}, "is zero"),
        (
            "universal",
            {"axis": (0, 1, 0), "axis2": (0, -2, 0)},
            "axes of a universal joint must not be parallel",
        ),
        ("revolute", {"lower": 1.0, "upper": -1.0}, "lower limit 1.0 is above upper limit -1.0"),
        ("universal", {"lower": (0, 1), "upper": (1, 0)}, "is above upper limit"),
        ("revolute", {"lower": np.nan}, "lower must be a number"),
        ("revolute", {"upper": (1, 2)}, "upper must be one number or 1 of them"),
        ("universal", {"damping": (1, 2, 3)}, "damping must be one number or 2 of them"),
        ("revolute", {"damping": -1.0}, "damping must be at least 0"),
        ("revolute", {"damping": np.nan}, "damping must be at least 0"),
        ("revolute", {"friction": -1.0}, "friction must be at least 0"),
        ("revolute", {"armature": -1.0}, "armature must be at least 0"),
        ("revolute", {"stiffness": -1.0}, "stiffness must be at least 0"),
        ("revolute", {"effort": -1.0}, "effort must be at least 0"),
        ("revolute", {"max_velocity": -1.0}, "max_velocity must be at least 0"),
        ("revolute", {"rest": np.nan}, "rest must be a number"),
        (
            "spherical",
            {"stiffness": 1.0},
            "stiffness is for joints with scalar coordinates, not spherical ones",
        ),
        ("spherical", {"upper": 1.0}, "limits are for joints with scalar coordinates, not spherical ones"),
        ("floating", {"lower": 0.0}, "limits are for joints with scalar coordinates, not floating ones"),
        ("revolute", {"initial": np.zeros(2)}, "initial: expected shape"),
        ("floating", {"initial": np.array([0, 0, 0, np.nan, 0, 0, 0])}, "initial: contains NaN"),
        ("floating", {"initial": np.zeros(7)}, "initial quaternion is zero"),
    ],
)
def test_joints_that_cannot_be(kind, options, message):
    refused(one(kind, **options), message)
    with pytest.raises(ModelError, match="joint 'j'"):
        compile_model(one(kind, **options))


def test_fixed_joints_ignore_what_moves():
    compile_model(one("fixed", axis=(0, 0, 0)))


def test_messages_name_the_file():
    with pytest.raises(ModelError, match=r"^robot\.urdf: "):
        compile_model(replace(one(axis=(0, 0, 0)), source="robot.urdf"))


# ----- Mass -----------------------------------------------------------------------------------------------


def loaded(kind: str, inertia: Inertia, **options) -> ModelSpec:
    return ModelSpec(bodies=[BodySpec("a", inertia)], joints=[joint("j", "world", "a", kind, **options)])


POINT = Inertia(1.0)  # on the joint
ROD = Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 0.0]))  # along z


@pytest.mark.parametrize(
    ("kind", "inertia", "message"),
    [
        ("revolute", Inertia(), "has no mass"),
        ("prismatic", Inertia(), "has no mass"),
        ("spherical", Inertia(), "has no mass"),
        ("floating", Inertia(), "has no mass"),
        ("revolute", POINT, "has no inertia about the joint's axis"),
        ("revolute", ROD, "has no inertia about the joint's axis"),
        ("spherical", ROD, "has no inertia about some axis"),
        ("floating", POINT, "has no inertia about some axis"),
    ],
)
def test_ends_that_resist_nothing(kind, inertia, message):
    refused(loaded(kind, inertia), f"joint 'j' moves body 'a', which {message}: give it an inertia")


def test_rotors_stand_in_for_mass():
    assert compile_model(loaded("revolute", Inertia(), armature=0.1)).nv == 1
    assert compile_model(loaded("planar", Inertia(), armature=0.1)).nv == 3
    assert compile_model(loaded("revolute", ROD, axis=(1, 0, 0))).nv == 1
    assert compile_model(loaded("prismatic", POINT)).nv == 1
    refused(loaded("planar", Inertia(), armature=(0.1, 0.0, 0.1)), "which has no mass")


def test_massless_bodies_inside_a_chain():
    parts = [joint("j", "world", "a"), joint("k", "a", "b", axis=(1, 0, 0))]
    spec = ModelSpec(bodies=[BodySpec("a"), BodySpec("b", BALL)], joints=parts)
    assert compile_model(spec).nv == 2
    refused(ModelSpec(bodies=[BodySpec("a", BALL), BodySpec("b")], joints=parts), "joint 'k' moves body 'b'")


def test_impossible_inertias_are_refused_unless_told_otherwise():
    spec = loaded("revolute", Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])))
    refused(spec, "body 'a': principal moments 1, 1, 3 kg m² violate the triangle inequality")
    assert compile_model(replace(spec, check_inertia=False)).nv == 1


# ----- Numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        one("universal", lower=(0, 0, 0), upper=(1, 1)),
        one(lower="low"),
        one(damping="much"),
        one(axis=1.0),
        one(armature=np.inf),
        one(damping=np.inf),
        one(stiffness=np.inf),
        one(rest=np.inf),
        one(lower=np.inf, upper=np.inf),
        one(initial="up"),
        replace(one(), gravity=(0.0, -9.81)),
        describe(joint("j", "world", "a", mimic=Mimic("k", np.nan)), joint("k", "world", "b")),
        describe(joint("j", "world", "a", mimic=Mimic("k", 1.0, np.inf)), joint("k", "world", "b")),
        replace(one(), actuators=[ActuatorSpec("m", "j", gear=np.nan)]),
        replace(one(), actuators=[ActuatorSpec("m", "j", control_range=(1.0, -1.0))]),
        replace(one(), exclude=[("ghost", "a")]),
    ],
)
def test_numbers_that_nothing_can_be_made_of(spec):
    with pytest.raises(ModelError):
        compile_model(spec)


def test_model_errors_are_bad_input():
    assert issubclass(ModelError, BadInput) and issubclass(ModelError, ValueError)
