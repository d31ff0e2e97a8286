"""Algorithms of dynamics against each other and against finite differences, on random trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import (
    EPS,
    PROPERTY,
    Case,
    assert_close,
    cases,
    random_case,
    random_rotation,
)
from identities import DERIVATIVE, NO_GRAVITY, ROUNDING, body_of, derivative, draw, solve_tolerance
from taction._core.arrays import Array
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.kinematics.configuration import configuration_rate, integrate
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.model.joints import JointKind
from taction.model.model import Model

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
