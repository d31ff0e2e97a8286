"""Mimic joints: coupled dynamics against the reduced equation of motion."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, SINGLE_AXIS, assert_close, random_case
from taction.dynamics.aba import aba
from taction.dynamics.coupling import coupled_dynamics
from taction.dynamics.crba import mass_matrix
from taction.dynamics.rnea import bias_forces
from taction.kinematics.forward import place_links
from taction.model.joints import JointKind
from taction.model.workspace import make_workspace


def solve(case, follower, leader, multiplier, tau):
    m, nv = len(follower), case.model.nv
    ws, vdot = make_workspace(case.model), np.empty(nv)
    place_links(case.model.tree, case.q, ws)
    arrays = np.array(follower, dtype=np.int64), np.array(leader, dtype=np.int64), np.array(multiplier)
    scratch = np.empty((m, nv)), np.empty((m, m)), np.empty(m)
    status = coupled_dynamics(case.model.tree, *arrays, case.v, ws, *scratch, tau, vdot)
    return status, vdot


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_against_reduced_coordinates(seed, m):
    """v = S u for the independent u: Sᵀ M S u̇ = Sᵀ (τ − bias), v̇ = S u̇."""
    case = random_case(seed, 8, kinds=(*SINGLE_AXIS, JointKind.SPHERICAL), roots=(JointKind.FLOATING,))
    model, q, v, rng = case
    axes = [j.iv for j in model.joints if j.kind in SINGLE_AXIS]
    m = min(m, len(axes) - 1)
    if m < 1:
        return
    chosen = rng.permutation(axes)
    follower, leader = chosen[:m], rng.choice(chosen[m:], m)
    multiplier, tau = rng.uniform(-2, 2, m), rng.normal(size=model.nv)
    S = np.eye(model.nv)
    for f, l, k in zip(follower, leader, multiplier, strict=True):
        S[f] = 0.0
        S[f, l] = k
    S = np.delete(S, follower, axis=1)
    M = S.T @ mass_matrix(model, q) @ S
    expected = S @ np.linalg.solve(M, S.T @ (tau - bias_forces(model, q, v)))
    before = tau.copy()
    status, vdot = solve(case, follower, leader, multiplier, tau)
    assert status == 0 and np.array_equal(tau, before)
    assert np.array_equal(vdot[follower], multiplier * vdot[leader])
    assert_close(vdot, expected, 1000 * EPS * np.linalg.cond(mass_matrix(model, q)))


def test_no_couplings_is_free_motion():
    case = random_case(5, 5)
    tau = case.rng.normal(size=case.model.nv)
    status, vdot = solve(case, [], [], [], tau)
    assert status == 0 and np.array_equal(vdot, aba(case.model, case.q, case.v, tau))
