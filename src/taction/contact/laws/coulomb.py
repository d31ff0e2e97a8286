"""Signorini, Coulomb and maximum dissipation as the textbooks state them: the cone with γ = u + σ(−u_T) e_N.

What it states: 0 ≤ u_N ⊥ Λ_N ≥ 0, Λ_T ∈ Λ_N D, and Λ_T·u_T = −Λ_N σ(−u_T), the least there is. De Saxcé's
change of variable makes these one complementarity, K* ∋ γ ⊥ Λ ∈ K, with K the friction cone of
`taction.contact.friction_cone` and K* = −K°. The law is not the derivative of any potential: γ depends on
u by more than a sum.

Alone (all other blocks held, u = W Λ + q):
1. open: q_N ≥ 0 leaves Λ = 0;
2. stick: Λ = −W⁻¹ q, if it lies in the cone;
3. slide: u_N = 0, u_T = −λ Λ_T with λ > 0 and Λ_T on the rim. Eliminating Λ_N leaves
       (W̃ + λ) Λ_T = −q̃,   W̃ = W_TT − W_TN W_NT / W_NN,   q̃ = q_T − W_TN q_N / W_NN,
   and one equation φ(λ) = a Λ_N / ‖Λ_T‖ − 1 = 0, negative at λ = 0 and nearly linear for large λ: Newton's
   method inside a bracket. An ellipse becomes a disc by scaling the tangents; of two half-ellipses that one
   is right on whose side the solution lies.

Newton's method, with x = Λ − ρ u:  F_N = Λ_N − max(x_N, 0),   F_T = Λ_T − P_{max(x_N, 0) D}(x_T) (normal
and tangential part projected one after the other, so the shift never appears), with ρ = 20/(W_ii + α),
for the two tangential rows that of their mean; the factor 20 by measurement. The derivative of the rim
that [Hueber2008] modify for global convergence is taken as it is.

Limits: μ → 0 leaves Signorini's law alone, μ → ∞ no sliding while in touch. Left out: a coefficient that
depends on velocity, and rolling and drilling friction.

References: [DeSaxceFeng1998] for the change of variable; [JourdanAlartJean1998] and
[AcaryBremondHuber2018] for the problem of one contact; [AlartCurnier1991] and [Hueber2008] for F.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.cone_distance import outside_cone, section_reach
from taction.contact.friction_cone import project_cone, project_parts, scale_cone, support
from taction.math.vector import solve3

EXACT = 0

ROOT_STEPS = 60
ROOT_ACCURACY = 1e-15  # relative, of a root
TINY = 1e-300
RHO = 20.0  # ρ in units of 1/(W_ii + α)
ELLIPSE_STEPS = 80
ROUNDING = 1e-16  # relative, of a root that is as good as it gets


@inline_kernel
def nearest(set_, x0, x1, x2):
    """P_K(x)."""
    return project_cone(set_[0], set_[1], set_[2], x0, x1, x2)


@inline_kernel
def in_turn(set_, x0, x1, x2):
    """The normal part on Λ_N ≥ 0, then the tangential one on the section of that radius."""
    return project_parts(set_[0], set_[1], set_[2], x0, x1, x2)


@inline_kernel
def shift(set_, u1, u2):
    """De Saxcé's σ(−u_T)."""
    return support(set_[0], set_[1], set_[2], -u1, -u2)


@inline_kernel
def origin(set_):
    """This law: its set is not moved."""
    return EXACT


@inline_kernel
def apex(set_):
    """At the origin."""
    return 0.0


@kernel
def slide(a, w0, n1, n2, m1, m2, t11, t12, t21, t22, q0, q1, q2):
    """Step 3 for a disc of radius a: normal row (w0, n1, n2), column (m1, m2), tangential block t, q."""
    i0 = 1.0 / w0
    s11, s12, s21, s22 = t11 - m1 * n1 * i0, t12 - m1 * n2 * i0, t21 - m2 * n1 * i0, t22 - m2 * n2 * i0
    g1, g2 = q1 - m1 * q0 * i0, q2 - m2 * q0 * i0
    low, high, x = 0.0, math.inf, 0.0
    r0 = r1 = r2 = 0.0
    for _ in range(ROOT_STEPS):
        a11, a22 = s11 + x, s22 + x
        det = a11 * a22 - s12 * s21
        if abs(det) <= TINY:
            x = 1e-12 * (abs(s11) + abs(s22)) + TINY if x == 0.0 else 2.0 * x
            continue
        r1, r2 = -(a22 * g1 - s12 * g2) / det, -(a11 * g2 - s21 * g1) / det
        r0 = -(q0 + n1 * r1 + n2 * r2) * i0
        length = math.sqrt(r1 * r1 + r2 * r2)
        if length <= TINY:
            break
        value = a * r0 / length - 1.0
        if abs(value) <= ROOT_ACCURACY:
            break
        if value < 0.0:
            low = x
        else:
            high = x
        d1, d2 = -(a22 * r1 - s12 * r2) / det, -(a11 * r2 - s21 * r1) / det
        slope = -a * (
            (n1 * d1 + n2 * d2) * i0 / length + r0 * (r1 * d1 + r2 * d2) / (length * length * length)
        )
        trial = x - value / slope if slope > 0.0 else math.inf
        if not low < trial < high:
            trial = 0.5 * (low + high) if high < math.inf else 2.0 * low + abs(s11) + abs(s22)
        if abs(trial - x) <= ROOT_ACCURACY * trial:
            break
        x = trial
    r0 = max(r0, 0.0)
    length = math.sqrt(r1 * r1 + r2 * r2)
    s = a * r0 / length if length > TINY else 0.0  # exactly on the rim
    return r0, s * r1, s * r2


@inline_kernel
def slide_side(a1, a2, w, q0, q1, q2):
    """Step 3 with the ellipse (a1, a2): tangents scaled so that it is a disc."""
    a = max(a1, a2)
    s1, s2 = a1 / a, a2 / a
    r0, r1, r2 = slide(
        a,
        w[0],
        w[1] * s1,
        w[2] * s2,
        w[3] * s1,
        w[6] * s2,
        w[4] * s1 * s1,
        w[5] * s1 * s2,
        w[7] * s1 * s2,
        w[8] * s2 * s2,
        q0,
        q1 * s1,
        q2 * s2,
    )
    return r0, s1 * r1, s2 * r2


@kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact with the exact law: w (9,) its block of W, q its velocity without own impulse."""
    if q0 >= 0.0 or w[0] <= 0.0:
        return 0.0, 0.0, 0.0
    r0, r1, r2, det = solve3(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], -q0, -q1, -q2)
    a1, a2 = set_[0] if r1 >= 0.0 else set_[1], set_[2]
    if abs(det) > TINY and r0 >= 0.0 and math.hypot(a2 * r1, a1 * r2) <= a1 * a2 * r0:
        return r0, r1, r2
    r0, r1, r2 = slide_side(set_[0], a2, w, q0, q1, q2)
    if set_[0] != set_[1] and r1 < 0.0:
        r0, r1, r2 = slide_side(set_[1], a2, w, q0, q1, q2)
    return r0, r1, r2


@inline_kernel
def weights(set_, alpha):
    """All of the proximal weight α."""
    return alpha, alpha, alpha


@inline_kernel
def section_derivative(plus, minus, lateral, radius, x1, x2):
    """Projection of (x1, x2) on the section times radius, and its derivatives.

    Returns y (2), ∂y/∂x (3: 11, 12, 22) and ∂y/∂radius (2) for a point outside.
    """
    a1 = plus if x1 >= 0.0 else minus
    if a1 == lateral:
        R = a1 * radius
        length = math.sqrt(x1 * x1 + x2 * x2)
        d1, d2 = x1 / length, x2 / length
        q = R / length
        return R * d1, R * d2, q * d2 * d2, -q * d1 * d2, q * d1 * d1, a1 * d1, a1 * d2
    A1, A2 = a1 * radius, lateral * radius
    theta = ellipse_root(A1, A2, x1, x2)
    e1, e2 = A1 * A1 / (A1 * A1 + theta), A2 * A2 / (A2 * A2 + theta)
    y1, y2 = e1 * x1, e2 * x2
    h1 = x1 * e1 / (A1 * A1 + theta)
    h2 = x2 * e2 / (A2 * A2 + theta)
    S = x1 * h1 / (A1 * A1 + theta) + x2 * h2 / (A2 * A2 + theta)
    p11, p12, p22 = e1 - h1 * h1 / S, -h1 * h2 / S, e2 - h2 * h2 / S
    n1, n2 = (y1 - p11 * x1 - p12 * x2) / radius, (y2 - p12 * x1 - p22 * x2) / radius
    return y1, y2, p11, p12, p22, n1, n2


@kernel
def ellipse_root(A1, A2, x1, x2):
    """θ > 0 with Σ (A_i x_i / (A_i² + θ))² = 1 for a point outside the ellipse with semi-axes A1, A2 > 0."""
    low = 0.0
    high = math.hypot(A1 * x1, A2 * x2)
    theta = 0.0
    for _ in range(ELLIPSE_STEPS):
        z1 = A1 * x1 / (A1 * A1 + theta)
        z2 = A2 * x2 / (A2 * A2 + theta)
        p = math.hypot(z1, z2)
        if p > 1.0:
            low = theta
        else:
            high = theta
        # Newton on 1/p, which is almost linear in θ
        slope = -(z1 * z1 / (A1 * A1 + theta) + z2 * z2 / (A2 * A2 + theta)) / p
        trial = theta + (1.0 - p) * p / slope
        if abs(trial - theta) <= ROUNDING * theta:
            break
        theta = trial if low < trial < high else 0.5 * (low + high)
    return theta


@inline_kernel
def equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F (3), A and B (9 each) of block i with diagonal block w (9,); returns whether they say Λ = 0."""
    c = 3 * i
    rho_n = RHO / (w[0] + alpha)
    rho_t = 2.0 * RHO / (w[4] + w[8] + 2.0 * alpha)
    x0, x1, x2 = r0 - rho_n * u0, r1 - rho_t * u1, r2 - rho_t * u2
    if x0 <= 0.0:
        F_out[c], F_out[c + 1], F_out[c + 2] = r0, r1, r2
        return True
    for k in range(18):
        jacobian_out[i, k] = 0.0
    jacobian_out[i, 0] = rho_n
    F_out[c] = rho_n * u0
    a1 = set_[0] if x1 >= 0.0 else set_[1]
    if math.hypot(set_[2] * x1, a1 * x2) <= a1 * set_[2] * x0:
        F_out[c + 1], F_out[c + 2] = rho_t * u1, rho_t * u2
        jacobian_out[i, 4] = rho_t
        jacobian_out[i, 8] = rho_t
        return False
    y1, y2, p11, p12, p22, n1, n2 = section_derivative(set_[0], set_[1], set_[2], x0, x1, x2)
    F_out[c + 1], F_out[c + 2] = r1 - y1, r2 - y2
    jacobian_out[i, 3], jacobian_out[i, 6] = rho_n * n1, rho_n * n2
    jacobian_out[i, 4], jacobian_out[i, 5] = rho_t * p11, rho_t * p12
    jacobian_out[i, 7], jacobian_out[i, 8] = rho_t * p12, rho_t * p22
    jacobian_out[i, 12], jacobian_out[i, 15] = -n1, -n2
    jacobian_out[i, 13], jacobian_out[i, 14] = 1.0 - p11, -p12
    jacobian_out[i, 16], jacobian_out[i, 17] = -p12, 1.0 - p22
    return False


@inline_kernel
def rescale(set_, w, t, scale_out, sets_out):
    """Scale (3) with mean diagonal one and the larger half of the cone circular, written as block t."""
    scale_cone(set_, w, t, scale_out, sets_out)


@inline_kernel
def judged(set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether it is unilateral, its load, power that is left."""
    reach = section_reach(set_[0], set_[1], set_[2], -u1, -u2)
    g0 = u0 + reach
    e0, e1, e2 = outside_cone(set_[0], set_[1], set_[2], r0 - g0, r1 - u1, r2 - u2)
    e0, e1, e2 = g0 + e0, u1 + e1, u2 + e2
    y0, y1, y2 = outside_cone(set_[0], set_[1], set_[2], r0, r1, r2)
    distance = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
    return e0 * e0 + e1 * e1 + e2 * e2, distance, True, r0, r0 * reach + r1 * u1 + r2 * u2
