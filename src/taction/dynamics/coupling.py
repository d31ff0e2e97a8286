"""Mimic joints: degrees of freedom that follow others exactly.

What it solves: forward dynamics under v_f = k v_l for each follower f and its leader l. With
J_c = e_f − k e_l,
    M v̇ = τ − C v − g + Jᵀ λ,      J v̇ = 0,
where the coupling forces λ do no work.

Notation: a free acceleration; w_c response of the joints to a unit of λ_c; W = J [w_1 … w_m], symmetric
positive definite.

Method
1. a by the articulated-body algorithm; forward dynamics is affine in τ, so w_c = aba(τ + J_cᵀ) − a.
2. W λ = −J a by Cholesky, v̇ = a + Σ λ_c w_c, and v̇_f = k v̇_l set exactly.

Cost: m + 1 forward dynamics and O(m³) for m mimic joints. References: [Featherstone2008, Section 3.2].
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.aba import articulated_body
from taction.math.dense import cholesky, cholesky_solve


@kernel
def forward_dynamics(tree, v, tau, ws, vdot_out):
    """Articulated-body algorithm as a call of its own, for those who need it several times."""
    articulated_body(tree, v, tau, ws, vdot_out)


@kernel
def coupled_dynamics(
    tree, follower, leader, multiplier, v, ws, response_out, W_out, lambda_out, tau_io, vdot_out
):
    """Forward dynamics with couplings into vdot_out (nv,); tau_io (nv,) is left as it was.

    follower, leader, multiplier (m,); response_out (m, nv), W_out (m, m) and lambda_out (m,) are scratch.
    Needs `place_links`. Returns 0, or a positive number if the couplings contradict each other.
    """
    m = follower.shape[0]
    forward_dynamics(tree, v, tau_io, ws, vdot_out)
    for c in range(m):
        f = follower[c]
        l = leader[c]
        tau_f = tau_io[f]
        tau_l = tau_io[l]
        tau_io[f] = tau_f + 1.0
        tau_io[l] = tau_l - multiplier[c]
        forward_dynamics(tree, v, tau_io, ws, response_out[c])
        tau_io[f] = tau_f
        tau_io[l] = tau_l
        for k in range(v.shape[0]):
            response_out[c, k] -= vdot_out[k]
    for c in range(m):
        lambda_out[c] = multiplier[c] * vdot_out[leader[c]] - vdot_out[follower[c]]
        for d in range(m):
            W_out[c, d] = response_out[d, follower[c]] - multiplier[c] * response_out[d, leader[c]]
    status = cholesky(W_out)
    if status == 0:
        cholesky_solve(W_out, lambda_out)
        for c in range(m):
            for k in range(v.shape[0]):
                vdot_out[k] += lambda_out[c] * response_out[c, k]
        for c in range(m):
            vdot_out[follower[c]] = multiplier[c] * vdot_out[leader[c]]
    return status
