"""Algorithms against each other and against finite differences, on random trees of all joint kinds.

Tolerances: algebraic identities hold to rounding (`ROUNDING`, a few hundred ε for sums over trees of a dozen
links); solutions of M x = b to rounding times cond(M). Derivatives are central differences with one
Richardson step, D = (4 D(h/2) − D(h)) / 3: with h = 1e-4 s, truncation h⁴ |f⁽⁵⁾| / 480 is below
1e-18 · 20⁵ ≈ 3e-12 for link speeds up to 20 rad/s, and rounding ε |f| / h is 2e-12 |f|; `DERIVATIVE` leaves
two digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    EPS,
    KINDS,
    PROPERTY,
    Case,
    assert_close,
    cases,
    random_case,
    random_inertia,
    random_pose,
    random_rotation,
    relative_error,
)
from taction._core.arrays import Array
from taction._core.kinds import JointKind
from taction.dynamics.aba import aba, aba_batch
from taction.dynamics.crba import crba_batch, mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea, rnea_batch
from taction.kinematics.configuration import configuration_rate, difference, integrate, random_state
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.compile import compile_model
from taction.model.model import Model
from taction.model.workspace import AXES, ORIGIN, make_workspace

ROUNDING = 1e-13
DERIVATIVE = 1e-9
STEP = 1e-4  # of finite differences [s]
NO_GRAVITY = (0.0, 0.0, 0.0)


def derivative(f: Callable[[float], Array | float], step: float = STEP) -> Array:
    """f'(0) by central differences and one Richardson step."""

    def central(h: float) -> Array:
        return (np.asarray(f(h)) - np.asarray(f(-h))) / (2 * h)

    return (4 * central(step / 2) - central(step)) / 3


def draw(case: Case) -> Array:
    """A random vector of degrees of freedom."""
    return case.rng.uniform(-2, 2, case.model.nv)


def body_of(case: Case) -> str:
    return str(case.rng.choice(case.model.body_names))


def solve_tolerance(M: Array) -> float:
    """Forward error of a stable solution of M x = b."""
    return 100 * EPS * np.linalg.cond(M)


# ----- Inverse and forward dynamics, mass matrix ----------------------------------------------------------


@PROPERTY
@given(cases())
def test_forward_dynamics_inverts_inverse_dynamics(case):
    model, q, v, _ = case
    vdot = draw(case)
    M = mass_matrix(model, q)
    tau = rnea(model, q, v, vdot)
    size = (np.abs(M) @ np.abs(vdot) + np.abs(bias_forces(model, q, v))).max() / np.abs(M @ vdot).max()
    assert_close(aba(model, q, v, tau), vdot, size * solve_tolerance(M))


@PROPERTY
@given(cases())
def test_forward_dynamics_satisfies_the_equation_of_motion(case):
    """Backward error: independent of the condition of M."""
    model, q, v, _ = case
    tau = draw(case)
    vdot = aba(model, q, v, tau)
    scale = (np.abs(mass_matrix(model, q)) @ np.abs(vdot) + np.abs(bias_forces(model, q, v))).max()
    assert_close(rnea(model, q, v, vdot), tau, ROUNDING, scale)


@PROPERTY
@given(cases(gravity=NO_GRAVITY))
def test_mass_matrix_columns_are_forces_of_unit_accelerations(case):
    model, q, _, _ = case
    at_rest = np.zeros(model.nv)
    columns = [rnea(model, q, at_rest, unit) for unit in np.eye(model.nv)]
    assert_close(mass_matrix(model, q), np.transpose(columns), ROUNDING)


@PROPERTY
@given(cases())
def test_inverse_dynamics_is_affine_in_acceleration(case):
    model, q, v, _ = case
    vdot = draw(case)
    expected = mass_matrix(model, q) @ vdot + bias_forces(model, q, v)
    assert_close(rnea(model, q, v, vdot), expected, ROUNDING, np.abs(bias_forces(model, q, v)).max())


@PROPERTY
@given(cases())
def test_mass_matrix_is_symmetric_positive_definite_and_as_sparse_as_the_tree(case):
    model, q, _, _ = case
    M = mass_matrix(model, q)
    assert np.array_equal(M, M.T)
    np.linalg.cholesky(M)
    related = np.eye(model.nv, dtype=bool)
    for k, parent in enumerate(model.tree.dof_parent):
        if parent >= 0:
            related[k, : k + 1] |= related[parent, : k + 1]
    assert not M[~(related | related.T)].any()


@PROPERTY
@given(cases())
def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(case):
    model, q, v, _ = case
    assert_close(totals(model, q, v).kinetic, 0.5 * v @ mass_matrix(model, q) @ v, ROUNDING)


@PROPERTY
@given(cases())
def test_factor_solves_with_the_mass_matrix(case):
    model, q, _, rng = case
    M, b = mass_matrix(model, q), rng.normal(size=(3, model.nv))
    factor = factor_mass_matrix(model, q)
    x = factor.solve(b)
    assert_close(x @ M, b, ROUNDING, (np.abs(x) @ np.abs(M)).max())
    assert np.array_equal(factor.solve(b[1]), x[1])
    L = np.tril(factor.L, -1) + np.eye(model.nv)
    assert_close(L.T @ np.diag(np.diag(factor.L)) @ L, M, ROUNDING)


# ----- Contact space --------------------------------------------------------------------------------------


def random_contacts(case: Case, k: int) -> list[ContactPoint]:
    """Contacts of bodies with the world, with other bodies and with themselves, near their bodies."""
    model, q, _, rng = case
    poses = forward_kinematics(model, q)
    contacts = []
    for _ in range(k):
        b = int(rng.integers(len(model.body_names)))
        other = "world" if rng.random() < 0.4 else body_of(case)
        point = poses.position[b] + rng.uniform(-0.3, 0.3, 3)
        contacts.append(ContactPoint(model.body_names[b], point, random_rotation(rng), other))
    return contacts


@PROPERTY
@given(cases(), st.integers(1, 4))
def test_contact_inertia_by_both_methods(case, k):
    """W = J M⁻¹ Jᵀ and the responses M⁻¹ Jᵀ, by unit test forces and by the factored mass matrix."""
    model, q, _, _ = case
    contacts = random_contacts(case, k)
    J, M = contact_jacobian(model, q, contacts), mass_matrix(model, q)
    response = np.linalg.solve(M, J.T)
    tolerance = solve_tolerance(M)
    for method in ("jacobian", "unit_forces"):
        W, X = contact_inertia(model, q, contacts, method=method)
        assert_close(W, J @ response, tolerance, EPS, method)
        assert_close(X, response, tolerance, EPS, method)


@PROPERTY
@given(cases())
def test_contact_jacobian_is_the_relative_velocity_of_material_points(case):
    model, q, v, _ = case
    contacts = random_contacts(case, 3)
    poses, speeds = forward_kinematics(model, q), body_velocities(model, q, v)

    def velocity(body: str, x: Array) -> Array:
        if body == "world":
            return np.zeros(3)
        b = model.body(body)
        return speeds.linear[b] + np.cross(speeds.angular[b], x - poses.position[b])

    expected = [c.frame.T @ (velocity(c.body, c.point) - velocity(c.other, c.point)) for c in contacts]
    assert_close(contact_jacobian(model, q, contacts) @ v, np.ravel(expected), 1e-12, 1.0)


# ----- Energy and momentum --------------------------------------------------------------------------------


@PROPERTY
@given(cases())
def test_power_of_joint_forces_is_the_rate_of_energy(case):
    """d/dt (T + V) = vᵀ τ along any motion."""
    model, q, v, _ = case
    vdot = draw(case)
    rate = derivative(lambda h: totals(model, integrate(model, q, v, h), v + h * vdot).energy)
    now = totals(model, q, v)
    assert_close(rate, v @ rnea(model, q, v, vdot), DERIVATIVE, now.kinetic + abs(now.potential))


@PROPERTY
@given(cases())
def test_gravity_forces_are_the_gradient_of_potential_energy(case):
    model, q, _, _ = case
    gradient = [
        derivative(lambda h, unit=unit: totals(model, integrate(model, q, unit, h)).potential)
        for unit in np.eye(model.nv)
    ]
    assert_close(gradient, gravity_forces(model, q), DERIVATIVE, abs(totals(model, q).potential))


@PROPERTY
@given(cases(roots=(JointKind.FLOATING,)))
def test_free_trees_keep_their_momentum(case):
    """Internal forces, rotors included, change neither l − m g t nor the angular momentum about the CoM."""
    model, q, v, _ = case
    tau = draw(case)
    for joint in model.joints:
        if model.spec.joint(joint.name).parent == "world":
            tau[joint.v_slice] = 0.0
    vdot = aba(model, q, v, tau)

    def momentum(h: float) -> Array:
        now = totals(model, integrate(model, q, v, h), v + h * vdot)
        return np.r_[now.linear_momentum, now.angular_momentum]

    expected = np.r_[model.total_mass * model.tree.gravity, 0.0, 0.0, 0.0]
    scale = np.abs(mass_matrix(model, q)).max() * np.abs(vdot).max()
    assert_close(derivative(momentum), expected, DERIVATIVE, scale)


@PROPERTY
@given(cases())
def test_momentum_is_that_of_the_centre_of_mass(case):
    model, q, v, _ = case
    rate = derivative(lambda h: totals(model, integrate(model, q, v, h)).com)
    assert_close(rate, totals(model, q, v).com_velocity, DERIVATIVE, 1.0)


def runge_kutta(model: Model, q: Array, v: Array, h: float, n: int) -> tuple[Array, Array]:
    """n classical Runge–Kutta steps of free motion (no joint forces)."""

    def rate(x: Array) -> Array:
        qdot = np.empty(model.nq)
        configuration_rate(model.tree, x[: model.nq], x[model.nq :], qdot)
        return np.r_[qdot, aba(model, x[: model.nq], x[model.nq :], np.zeros(model.nv))]

    x = np.r_[q, v]
    for _ in range(n):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[: model.nq], x[model.nq :]


@pytest.mark.parametrize("seed", range(8))
def test_energy_is_kept_to_the_order_of_the_integrator(seed):
    """Fourth-order Runge–Kutta: halving the step divides the energy drift by 2⁴ or more, less a quarter."""
    model, q, v, _ = random_case(seed, 4, armature=True)
    start, duration = totals(model, q, v), 0.02
    scale = start.kinetic + abs(start.potential)
    drift = []
    for n in (8, 16, 32):
        end = totals(model, *runge_kutta(model, q, v, duration / n, n))
        drift.append(abs(end.energy - start.energy) / scale)
    floor = 1e-13
    assert drift[0] < 1e-4
    assert drift[1] < drift[0] / 12 + floor
    assert drift[2] < drift[1] / 12 + floor


# ----- Lagrangian form ------------------------------------------------------------------------------------


@PROPERTY
@given(cases())
def test_lagrangian_form_agrees_with_the_recursive_algorithms(case):
    model, q, v, _ = case
    form = lagrangian_form(model, q, v)
    bias = bias_forces(model, q, v)
    assert_close(form.M, mass_matrix(model, q), ROUNDING)
    assert_close(form.g, gravity_forces(model, q), ROUNDING, EPS)
    assert_close(form.C @ v + form.g, bias, 10 * ROUNDING, np.abs(form.C).max() * np.abs(v).max())


@PROPERTY
@given(cases())
def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(case):
    model, q, v, _ = case
    M, C, _ = lagrangian_form(model, q, v)
    rate = derivative(lambda h: mass_matrix(model, integrate(model, q, v, h)))
    skew = rate - 2 * C
    assert_close(skew, -skew.T, DERIVATIVE, np.abs(M).max() + np.abs(C).max())


# ----- Jacobians ------------------------------------------------------------------------------------------


@PROPERTY
@given(cases())
def test_jacobian_maps_to_body_velocities(case):
    model, q, v, _ = case
    speeds = body_velocities(model, q, v)
    for b, name in enumerate(model.body_names):
        expected = np.r_[speeds.angular[b], speeds.linear[b]]
        assert_close(jacobian(model, q, name) @ v, expected, 1e-12, 1.0, name)


@PROPERTY
@given(cases())
def test_jacobian_is_the_derivative_of_forward_kinematics(case):
    model, q, _, rng = case
    name, point = body_of(case), rng.uniform(-1, 1, 3)
    b = model.body(name)
    R = forward_kinematics(model, q).rotation[b]

    def placed(unit: Array, h: float) -> Array:
        poses = forward_kinematics(model, integrate(model, q, unit, h))
        turn = poses.rotation[b] @ R.T  # its skew part is the rotation vector, to first order
        angle = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
        return np.r_[angle, poses.position[b] + poses.rotation[b] @ point]

    columns = [derivative(lambda h, unit=unit: placed(unit, h)) for unit in np.eye(model.nv)]
    assert_close(jacobian(model, q, name, point), np.transpose(columns), DERIVATIVE, 1.0)


@PROPERTY
@given(cases())
def test_jacobian_rate_times_velocity(case):
    model, q, v, rng = case
    name, point = body_of(case), rng.uniform(-1, 1, 3)
    rate = derivative(lambda h: jacobian(model, integrate(model, q, v, h), name, point) @ v)
    assert_close(jacobian_dot_v(model, q, v, name, point), rate, DERIVATIVE, 1.0)


# ----- Configurations -------------------------------------------------------------------------------------


def orientations(model: Model, q: Array) -> Array:
    """Quaternions in a configuration, shape (k, 4)."""
    ends = [j.q_slice.stop for j in model.joints if j.kind.nq > j.kind.nv]
    return np.array([q[end - 4 : end] for end in ends]).reshape(-1, 4)


@PROPERTY
@given(cases())
def test_difference_inverts_integration(case):
    """For turns below π: v is drawn from [−2, 2], so up to 2√3 rad; half a second keeps them short."""
    model, q, v, _ = case
    assert_close(difference(model, q, integrate(model, q, v, 0.5)), 0.5 * v, ROUNDING, 1.0)


@PROPERTY
@given(cases())
def test_integration_inverts_difference(case):
    model, q, _, rng = case
    r, _ = random_state(model, rng, 3.0)
    reached = integrate(model, q, difference(model, q, r))
    norms = np.linalg.norm(orientations(model, reached), axis=1)
    assert_close(norms, np.ones_like(norms), 4 * EPS)
    for joint in model.joints:
        a, b = reached[joint.q_slice], r[joint.q_slice]
        if joint.kind.nq > joint.kind.nv and a[-4:] @ b[-4:] < 0:
            a[-4:] *= -1
        assert_close(a, b, ROUNDING, 1.0)


@PROPERTY
@given(cases())
def test_integration_follows_the_rate(case):
    model, q, v, _ = case
    qdot = np.empty(model.nq)
    configuration_rate(model.tree, q, v, qdot)
    assert_close(derivative(lambda h: integrate(model, q, v, h)), qdot, DERIVATIVE, 1.0)


@PROPERTY
@given(cases(max_bodies=4, kinds=(JointKind.SPHERICAL, JointKind.FLOATING)))
def test_orientations_stay_unit_over_many_steps(case):
    model, q, v, _ = case
    for _ in range(300):
        q = integrate(model, q, v, 0.01)
    norms = np.linalg.norm(orientations(model, q), axis=1)
    assert_close(norms, np.ones_like(norms), 4 * EPS)


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
    """Revolute joint, a universal or planar joint (or its axes as separate joints), revolute joint."""
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
        parts = [("revolute", axis), ("revolute", axis2)]
        if kind is JointKind.PLANAR:
            parts = [
                ("prismatic", (1.0, 0.0, 0.0)),
                ("prismatic", (0.0, 1.0, 0.0)),
                ("revolute", (0.0, 0.0, 1.0)),
            ]
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
@given(st.integers(0, 2**32 - 1), st.sampled_from([JointKind.UNIVERSAL, JointKind.PLANAR]))
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
