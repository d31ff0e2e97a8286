"""Dynamics do not depend on how a mechanism is described: frames, order, batches, joints in series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    EPS,
    KINDS,
    PROPERTY,
    assert_close,
    cases,
    random_case,
    random_inertia,
    random_pose,
    random_rotation,
    relative_error,
)
from identities import ROUNDING, draw, solve_tolerance
from taction._core.arrays import Array
from taction.dynamics.aba import aba, aba_batch
from taction.dynamics.crba import crba_batch, mass_matrix
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea, rnea_batch
from taction.kinematics.configuration import random_state
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.compile import compile_model
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.workspace import AXES, ORIGIN, make_workspace

# ----- The description does not matter --------------------------------------------------------------------


def moved(model: Model, X: Transform) -> Model:
    """The same mechanisms with the whole world, gravity included, placed elsewhere."""
    joints = [replace(j, pose=X @ j.pose) if j.parent == "world" else j for j in model.spec.joints]
    gravity = tuple((X.rotation @ model.tree.gravity).tolist())
    return compile_model(replace(model.spec, joints=joints, gravity=gravity))


@PROPERTY
@given(cases(), st.sampled_from([0.0, 1.0, 1e4]))
def test_joint_space_does_not_know_where_the_world_is(case, distance):
    """M, τ and v̇ to rounding even 10 km away: only differences between neighbouring origins are used."""
    model, q, v, rng = case
    X = Transform(random_rotation(rng), rng.uniform(-distance, distance, 3))
    there = moved(model, X)
    vdot, tau, M = draw(case), draw(case), mass_matrix(model, q)
    assert_close(mass_matrix(there, q), M, ROUNDING)
    forces = rnea(model, q, v, vdot)
    scale = (np.abs(M) @ np.abs(vdot)).max()
    assert_close(rnea(there, q, v, vdot), forces, ROUNDING, scale)
    accelerations = aba(model, q, v, tau)
    size = (np.abs(M) @ np.abs(accelerations) + np.abs(bias_forces(model, q, v))).max()
    assert_close(rnea(model, q, v, aba(there, q, v, tau)), tau, ROUNDING, size)
    # places themselves are rounded where they are
    poses, poses_there = forward_kinematics(model, q), forward_kinematics(there, q)
    assert_close(poses_there.position, X.apply(poses.position), 8 * EPS, 4.0 + distance)
    assert_close(poses_there.rotation, X.rotation @ poses.rotation, ROUNDING)


@PROPERTY
@given(cases(roots=(JointKind.FLOATING,)))
def test_joint_space_does_not_know_where_a_free_robot_is(case):
    """The same, with the distance in the coordinates of the floating base."""
    model, q, v, rng = case
    far, tau = q.copy(), draw(case)
    for joint in model.joints:
        if model.spec.joint(joint.name).parent == "world":
            far[joint.iq : joint.iq + 3] += rng.uniform(-1e4, 1e4, 3)
    assert np.array_equal(mass_matrix(model, far), mass_matrix(model, q))
    assert np.array_equal(aba(model, far, v, tau), aba(model, q, v, tau))
    assert np.array_equal(bias_forces(model, far, v), bias_forces(model, q, v))


@PROPERTY
@given(cases())
def test_order_of_the_description_does_not_matter(case):
    model, q, v, rng = case
    tau = draw(case)
    shuffled = replace(
        model.spec,
        joints=[model.spec.joints[k] for k in rng.permutation(len(model.spec.joints))],
        bodies=[model.spec.bodies[k] for k in rng.permutation(len(model.spec.bodies))],
    )
    other = compile_model(shuffled)
    # where each of the other's coordinates is in ours
    iq = np.concatenate([np.arange(model.nq)[model.joint(j.name).q_slice] for j in other.joints])
    iv = np.concatenate([np.arange(model.nv)[model.joint(j.name).v_slice] for j in other.joints])
    assert_close(mass_matrix(other, q[iq]), mass_matrix(model, q)[np.ix_(iv, iv)], ROUNDING)
    assert_close(bias_forces(other, q[iq], v[iv]), bias_forces(model, q, v)[iv], ROUNDING, EPS)
    vdot = aba(model, q, v, tau)
    size = (np.abs(mass_matrix(model, q)) @ np.abs(vdot) + np.abs(bias_forces(model, q, v))).max()
    back = np.argsort(iv)
    assert_close(rnea(model, q, v, aba(other, q[iq], v[iv], tau[iv])[back]), tau, ROUNDING, size)
    poses, others = forward_kinematics(model, q), forward_kinematics(other, q[iq])
    for name in model.body_names:
        assert_close(others.position[other.body(name)], poses.position[model.body(name)], ROUNDING, 1.0)


@PROPERTY
@given(cases(), st.integers(1, 5))
def test_batches_are_single_calls_bit_for_bit(case, n):
    model, _, _, rng = case
    states = [random_state(model, rng) for _ in range(n)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    w = rng.normal(size=(n, model.nv))
    assert np.array_equal(rnea(model, q, v, w), [rnea(model, *x) for x in zip(q, v, w, strict=True)])
    assert np.array_equal(aba(model, q, v, w), [aba(model, *x) for x in zip(q, v, w, strict=True)])
    assert np.array_equal(bias_forces(model, q, v), [bias_forces(model, *x) for x in zip(q, v, strict=True)])
    assert np.array_equal(gravity_forces(model, q), [gravity_forces(model, x) for x in q])
    assert np.array_equal(mass_matrix(model, q), [mass_matrix(model, x) for x in q])


def poisoned(model: Model) -> Array:
    """A workspace with NaN everywhere but in the world's own placement."""
    ws = make_workspace(model)
    axes, origin = ws[0, AXES : AXES + 9].copy(), ws[0, ORIGIN : ORIGIN + 3].copy()
    ws[:] = np.nan
    ws[0, AXES : AXES + 9], ws[0, ORIGIN : ORIGIN + 3] = axes, origin
    return ws


@PROPERTY
@given(cases())
def test_nothing_is_read_from_the_workspace_before_it_is_written(case):
    model, q, v, _ = case
    w, out, M = draw(case), np.full((1, model.nv), np.nan), np.full((1, model.nv, model.nv), np.nan)
    rnea_batch(model.tree, q[None], v[None], w[None], poisoned(model), out)
    assert np.array_equal(out[0], rnea(model, q, v, w))
    aba_batch(model.tree, q[None], v[None], w[None], poisoned(model), out)
    assert np.array_equal(out[0], aba(model, q, v, w))
    crba_batch(model.tree, q[None], poisoned(model), M)
    assert np.array_equal(M[0], mass_matrix(model, q))


# ----- Joints of several axes -----------------------------------------------------------------------------


def chain(rng: np.random.Generator, kind: JointKind, *, split: bool) -> Model:
    """Revolute joint, a joint of several axes (or these as separate joints), revolute joint."""
    builder = ModelBuilder("chain", gravity=tuple(rng.normal(scale=5.0, size=3)))
    for name in "abc":
        builder.body(name, random_inertia(rng))
    builder.revolute("first", parent="world", child="a", axis=(1.0, 2.0, -1.0), pose=random_pose(rng))
    pose, child_pose, rotors = random_pose(rng), random_pose(rng), rng.uniform(0, 0.1, kind.nv)
    axis, axis2 = (0.3, -1.0, 0.5), (2.0, 0.1, 0.4)
    if not split:
        places = {"pose": pose, "child_pose": child_pose, "axis": axis, "axis2": axis2, "armature": rotors}
        builder.joint("middle", kind, parent="a", child="b", **places)
    else:
        named = {"axis": axis, "axis2": axis2}
        parts = [(link.name.lower(), named.get(along, along)) for link, along in kind.motion.links]
        parent = "a"
        for k, (part, along) in enumerate(parts):
            last = k == len(parts) - 1
            child = "b" if last else builder.body(f"between {k}")
            places = {
                "pose": pose if k == 0 else Transform(),
                "child_pose": child_pose if last else Transform(),
            }
            builder.joint(
                f"middle {k}", part, parent=parent, child=child, axis=along, armature=rotors[k], **places
            )
            parent = child
    builder.revolute("last", parent="b", child="c", axis=(0.0, 1.0, 1.0), pose=random_pose(rng))
    return builder.build()


@settings(PROPERTY, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from([kind for kind in JointKind if len(kind.motion.links) > 1]))
def test_several_axes_are_joints_in_series(seed, kind):
    whole, parts = (chain(np.random.default_rng(seed), kind, split=split) for split in (False, True))
    q, v = random_state(whole, np.random.default_rng(seed))
    assert whole.nv == parts.nv == kind.nv + 2
    assert np.array_equal(mass_matrix(whole, q), mass_matrix(parts, q))
    assert np.array_equal(bias_forces(whole, q, v), bias_forces(parts, q, v))
    ends = [forward_kinematics(m, q).position[m.body("c")] for m in (whole, parts)]
    assert np.array_equal(*ends)


@settings(PROPERTY, max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_a_floating_joint_is_three_slides_and_a_ball(seed):
    """x, y, z along joint axes, then a spherical joint: the same velocities, so the same M and bias."""
    rng = np.random.default_rng(seed)
    inertia, pose, child_pose = random_inertia(rng), random_pose(rng), random_pose(rng)
    free = ModelBuilder()
    free.body("b", inertia)
    free.floating("free", child="b", pose=pose, child_pose=child_pose)
    slides = ModelBuilder()
    parent = "world"
    for k, axis in enumerate(np.eye(3)):
        child = slides.body(f"between {k}")
        slides.prismatic(f"slide {k}", parent=parent, child=child, axis=tuple(axis), pose=pose)
        parent, pose = child, Transform()
    slides.body("b", inertia)
    slides.spherical("ball", parent=parent, child="b", child_pose=child_pose)
    free, slides = free.build(), slides.build()
    q, v = random_state(free, rng)
    tau = rng.normal(size=6)
    assert_close(mass_matrix(free, q), mass_matrix(slides, q), ROUNDING)
    assert_close(bias_forces(free, q, v), bias_forces(slides, q, v), ROUNDING)
    assert relative_error(aba(free, q, v, tau), aba(slides, q, v, tau)) < solve_tolerance(
        mass_matrix(free, q)
    )


def test_random_trees_hold_every_kind():
    """The trees above are not all alike: every joint kind, massless bodies, several trees, rotors."""
    models = [random_case(seed, 8).model for seed in range(30)]
    assert {j.kind for m in models for j in m.spec.joints} == set(KINDS)
    assert any(b.inertia.mass == 0 for m in models for b in m.spec.bodies)
    assert any(np.count_nonzero(m.tree.parent[1:] == 0) > 1 for m in models)
    assert any(m.tree.armature.any() for m in models)
    floating_inside = [
        j for m in models for j in m.spec.joints if j.kind is JointKind.FLOATING and j.parent != "world"
    ]
    assert floating_inside
