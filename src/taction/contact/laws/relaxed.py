"""Cone complementarity: the friction cone with γ = u, which makes contact a convex problem.

What it states: K* ∋ u ⊥ Λ ∈ K, the optimality condition of min ½ ΛᵀW Λ + bᵀΛ over the friction cones. It
is Coulomb's law without De Saxcé's shift: sticking and open contacts are the same, a sliding one leaves
at u_N = μ‖u_T‖ in exchange for convexity, so there is always a solution, and one velocity.

Alone: projected gradient steps on the problem of three rows until they stand still.

Newton's method: F = Λ − P_K(Λ − ρ u) with ρ = 3/(tr W_ii + 3 α), A = ρ P′ and B = 1 − P′.

References: [AcaryBremondHuber2018] for the relation to Coulomb's law; [AlartCurnier1991] for F;
[MazharHeynNegrutTasora2015] for the convex problem.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.cone_distance import outside_cone, section_reach
from taction.contact.friction_cone import project_cone, project_parts, scale_cone

CONVEX = 1

LOCAL_STEPS = 200
ROOT_ACCURACY = 1e-15  # change of Λ, relative, at which the steps stand still


@kernel
def nearest(set_, x0, x1, x2):
    """P_K(x)."""
    return project_cone(set_[0], set_[1], set_[2], x0, x1, x2)


@kernel
def in_turn(set_, x0, x1, x2):
    """The normal part on Λ_N ≥ 0, then the tangential one on the section of that radius."""
    return project_parts(set_[0], set_[1], set_[2], x0, x1, x2)


@inline_kernel
def shift(set_, u1, u2):
    """No shift: γ = u."""
    return 0.0


@inline_kernel
def origin(set_):
    """This law: its set is not moved."""
    return CONVEX


@inline_kernel
def apex(set_):
    """At the origin."""
    return 0.0


@kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact with the convex law, by projected gradient steps from (r0, r1, r2)."""
    rho = w[0] + w[4] + w[8]
    if rho <= 0.0:
        return r0, r1, r2
    rho = 1.0 / rho
    for _ in range(LOCAL_STEPS):
        u0 = w[0] * r0 + w[1] * r1 + w[2] * r2 + q0
        u1 = w[3] * r0 + w[4] * r1 + w[5] * r2 + q1
        u2 = w[6] * r0 + w[7] * r1 + w[8] * r2 + q2
        y0, y1, y2 = project_cone(set_[0], set_[1], set_[2], r0 - rho * u0, r1 - rho * u1, r2 - rho * u2)
        change = abs(y0 - r0) + abs(y1 - r1) + abs(y2 - r2)
        r0, r1, r2 = y0, y1, y2
        if change <= ROOT_ACCURACY * (abs(r0) + abs(r1) + abs(r2)):
            break
    return r0, r1, r2


@inline_kernel
def weights(set_, alpha):
    """All of the proximal weight α."""
    return alpha, alpha, alpha


@inline_kernel
def store_cone_row(rho, p0, p1, p2, i, row, jacobian_out):
    """Row of A = ρP' and B = 1 − P' of block i."""
    jacobian_out[i, 3 * row], jacobian_out[i, 3 * row + 1], jacobian_out[i, 3 * row + 2] = (
        rho * p0,
        rho * p1,
        rho * p2,
    )
    jacobian_out[i, 9 + 3 * row] = -p0
    jacobian_out[i, 10 + 3 * row] = -p1
    jacobian_out[i, 11 + 3 * row] = -p2
    jacobian_out[i, 9 + 4 * row] += 1.0


@kernel
def equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F (3), A and B (9 each) of block i with diagonal block w (9,); returns whether they say Λ = 0."""
    c = 3 * i
    rho = 3.0 / (w[0] + w[4] + w[8] + 3.0 * alpha)
    x0, x1, x2 = r0 - rho * u0, r1 - rho * u1, r2 - rho * u2
    y0, y1, y2 = project_cone(set_[0], set_[1], set_[2], x0, x1, x2)
    F_out[c], F_out[c + 1], F_out[c + 2] = r0 - y0, r1 - y1, r2 - y2
    if y0 <= 0.0:
        return True
    for k in range(18):
        jacobian_out[i, k] = 0.0
    if y0 == x0 and y1 == x1 and y2 == x2:
        for k in range(3):
            jacobian_out[i, 4 * k] = rho
        return False
    a1, a2 = set_[0] if x1 >= 0.0 else set_[1], set_[2]
    theta = 1.0 - x0 / y0
    s1, s2 = 1.0 / (a1 * a1 + theta), 1.0 / (a2 * a2 + theta)
    g1, g2 = y1 * s1 / y0, y2 * s2 / y0  # ∂p/∂x
    slope = -(y1 * g1 / (a1 * a1) + y2 * g2 / (a2 * a2))  # ∂p/∂θ
    down = (1.0 - theta) * slope - y0
    t0, t1, t2 = 1.0 / down, -(1.0 - theta) * g1 / down, -(1.0 - theta) * g2 / down  # ∂θ
    store_cone_row(rho, slope * t0, slope * t1 + g1, slope * t2 + g2, i, 0, jacobian_out)
    store_cone_row(rho, -y1 * s1 * t0, a1 * a1 * s1 - y1 * s1 * t1, -y1 * s1 * t2, i, 1, jacobian_out)
    store_cone_row(rho, -y2 * s2 * t0, -y2 * s2 * t1, a2 * a2 * s2 - y2 * s2 * t2, i, 2, jacobian_out)
    return False


@inline_kernel
def rescale(set_, w, t, scale_out, sets_out):
    """Scale (3) with mean diagonal one and the larger half of the cone circular, written as block t."""
    scale_cone(set_, w, t, scale_out, sets_out)


@kernel
def judged(set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether it is unilateral, its load, power that is left."""
    reach = section_reach(set_[0], set_[1], set_[2], -u1, -u2)
    g0 = u0
    e0, e1, e2 = outside_cone(set_[0], set_[1], set_[2], r0 - g0, r1 - u1, r2 - u2)
    e0, e1, e2 = g0 + e0, u1 + e1, u2 + e2
    y0, y1, y2 = outside_cone(set_[0], set_[1], set_[2], r0, r1, r2)
    distance = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
    return e0 * e0 + e1 * e1 + e2 * e2, distance, True, r0, r0 * reach + r1 * u1 + r2 * u2
