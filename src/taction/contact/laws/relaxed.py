"""Cone complementarity: the friction cone with γ = u, which makes contact a convex problem.

What it states: K* ∋ u ⊥ Λ ∈ K, the optimality condition of min ½ ΛᵀW Λ + bᵀΛ over the friction cones. It
is Coulomb's law without De Saxcé's shift: sticking and open contacts are the same, a sliding one leaves
at u_N = μ‖u_T‖ in exchange for convexity, so there is always a solution, and one velocity.

Alone (all other blocks held, u = W Λ + q):
1. open: q ∈ K* leaves Λ = 0;
2. stick: Λ = −W⁻¹ q, if it lies in the cone;
3. slide: Λ on the rim, u normal to it, u = θ S Λ with S = diag(1, −1/a₁², −1/a₂²) and θ > 0, so
       (W − θ S) Λ = −q,   φ(θ) = Λ_N / ‖(Λ₁/a₁, Λ₂/a₂)‖ − 1 = 0.
   Tangents are eliminated first, which W_TT − θ S_TT > 0 allows; with the pivot p of the normal row that is
   left, a root lies ahead where φ < 0 and p > 0, or φ > 0 and p < 0, else behind: up to the pole p = 0 Λ
   comes nearer to the cone, beyond it Λ has turned round and leaves it. Newton's method inside that bracket.
   Of two half-ellipses that one is right on whose side the solution lies.
4. where W is singular, or no root is found: projected gradient steps until they stand still.

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

LOCAL_STEPS, ROOT_STEPS = 200, 60
ROOT_ACCURACY = 1e-15  # change of Λ, relative, at which steps stand still; distance from the rim likewise
ROOT_FOUND = 1e-10  # that counts as on it


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


@inline_kernel
def slide_with(theta, w, a1, a2, q0, q1, q2):
    """Λ with W Λ + q = θ S Λ, and the pivot p of its normal row."""
    t1, t2 = w[4] + theta / (a1 * a1), w[8] + theta / (a2 * a2)
    det = t1 * t2 - w[5] * w[7]
    v1, v2 = (t2 * w[3] - w[5] * w[6]) / det, (t1 * w[6] - w[7] * w[3]) / det
    z1, z2 = (t2 * q1 - w[5] * q2) / det, (t1 * q2 - w[7] * q1) / det
    p = w[0] - theta - w[1] * v1 - w[2] * v2
    r0 = -(q0 - w[1] * z1 - w[2] * z2) / p
    return r0, -z1 - v1 * r0, -z2 - v2 * r0, p


@kernel
def find_slide(w, a1, a2, q0, q1, q2):
    """Λ on the rim of a cone with semi-axes a1, a2, and whether that was found: step 3."""
    low, high, theta, inside = 0.0, math.inf, 0.0, math.inf
    r0 = r1 = r2 = size = 0.0
    for _ in range(ROOT_STEPS):
        r0, r1, r2, p = slide_with(theta, w, a1, a2, q0, q1, q2)
        if p == 0.0:
            theta = 0.5 * (low + theta)
            continue
        x1, x2 = r1 / (a1 * a1), r2 / (a2 * a2)
        size = math.sqrt(x1 * r1 + x2 * r2)
        if not size > 0.0:
            return 0.0, 0.0, 0.0, False
        inside = r0 / size - 1.0
        if abs(inside) <= ROOT_ACCURACY:
            break
        if (inside < 0.0) == (p > 0.0):
            low = theta
        else:
            high = theta
        d0, d1, d2, _ = slide_with(theta, w, a1, a2, -r0, x1, x2)
        slope = d0 / size - r0 * (x1 * d1 + x2 * d2) / (size * size * size)
        new = theta - inside / slope if slope != 0.0 else low
        if not low < new < min(high, 2.0 * theta + w[0]):
            new = 0.5 * (low + high) if high < math.inf else 2.0 * theta + w[0]
        if new == theta:
            break
        theta = new
    if not (r0 > 0.0 and abs(inside) <= ROOT_FOUND):
        return 0.0, 0.0, 0.0, False
    n1, n2 = r1 / size, r2 / size
    u0, u1, u2 = w[0] + w[1] * n1 + w[2] * n2, w[3] + w[4] * n1 + w[5] * n2, w[6] + w[7] * n1 + w[8] * n2
    r0 = -(q0 + n1 * q1 + n2 * q2) / (u0 + n1 * u1 + n2 * u2)  # exactly on the rim, the best of that ray
    return r0, r0 * n1, r0 * n2, r0 > 0.0


@kernel
def project_steps(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ by projected gradient steps from (r0, r1, r2), until they stand still."""
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


@kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact with the convex law, from a guess (r0, r1, r2)."""
    if q0 >= section_reach(set_[0], set_[1], set_[2], -q1, -q2):
        return 0.0, 0.0, 0.0
    if set_[0] > 0.0 and set_[1] > 0.0 and set_[2] > 0.0 and w[4] * w[8] > w[5] * w[7]:
        y0, y1, y2, p = slide_with(0.0, w, 1.0, 1.0, q0, q1, q2)
        a1, a2 = set_[0] if y1 >= 0.0 else set_[1], set_[2]
        if p > 0.0:
            if y0 >= 0.0 and (y1 / a1) * (y1 / a1) + (y2 / a2) * (y2 / a2) <= y0 * y0:
                return y0, y1, y2
            for _ in range(2):
                y0, y1, y2, is_found = find_slide(w, a1, a2, q0, q1, q2)
                if is_found and a1 == (set_[0] if y1 >= 0.0 else set_[1]):
                    return y0, y1, y2
                a1 = set_[1] if a1 == set_[0] else set_[0]
    return project_steps(set_, w, r0, r1, r2, q0, q1, q2)


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
