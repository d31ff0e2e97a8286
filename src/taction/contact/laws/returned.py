"""A contact to which an impulse comes back: a friction cone with its apex cut off.

What it states: a ≥ 0 acts along the normal already, and Λ is what acts beside it, which only presses:

    0 ≤ u_N ⊥ Λ_N ≥ 0,     Λ_T ∈ (Λ_N + a) D,     maximum dissipation over that section.

So the contact pushes with a or more, and all of that carries friction. It is the law of the expansion of an
impact by Poisson's law (`taction.steppers.restitution`): a is the share of the compression that comes back.
The set is the cone whose apex is at −a e_N, cut off where Λ_N = 0; De Saxcé's change of variable holds on
it as on the whole cone, since on the face Λ_N = 0 the normal cone has every −γ_N ≤ −σ.

Six numbers: μ₊, μ₋, μ₂, a [N s], the kind of friction (Coulomb's or the convex one), –.

Method. Nearest point: that of the whole cone, if it does not pull; else the nearest of the face, a section
of radius a. Alone: first on the face, by projected steps, which is the answer if the contact then opens;
else the other law's at Λ + a e_N. Newton's method: Coulomb's F with the section of radius max(x_N, 0) + a;
for the convex law that of the whole cone, or of the face where the nearest point lies on it.

Limits: a → 0 is the law without it; μ → 0 a half-line, which needs no kind of its own.

References: [GlockerPfeiffer1995] for the law of expansion; [DeSaxceFeng1998]; [AlartCurnier1991] for F.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.cone_distance import outside_cone, outside_section, section_reach
from taction.contact.friction_cone import project_cone, project_section, scale_cone, support
from taction.contact.laws import coulomb, relaxed
from taction.contact.laws.coulomb import EXACT, RHO, section_derivative
from taction.contact.laws.relaxed import CONVEX

RETURNED = 4

FACE_STEPS = 200
STILL = 1e-15  # change of Λ_T, relative, at which steps on the face stand still


@kernel
def nearest(set_, x0, x1, x2):
    """P_C(x)."""
    y0, y1, y2 = project_cone(set_[0], set_[1], set_[2], x0 + set_[3], x1, x2)
    if y0 >= set_[3]:
        # not y0 − a where x is a member: that would round
        return (x0, y1, y2) if y0 == x0 + set_[3] else (y0 - set_[3], y1, y2)
    y1, y2 = project_section(set_[0], set_[1], set_[2], set_[3], x1, x2)
    return 0.0, y1, y2


@kernel
def in_turn(set_, x0, x1, x2):
    """The normal part on Λ_N ≥ 0, then the tangential one on the section of radius Λ_N + a."""
    y0 = max(x0, 0.0)
    y1, y2 = project_section(set_[0], set_[1], set_[2], y0 + set_[3], x1, x2)
    return y0, y1, y2


@inline_kernel
def shift(set_, u1, u2):
    """That of the other law: σ(−u_T) for Coulomb's."""
    return support(set_[0], set_[1], set_[2], -u1, -u2) if set_[4] == EXACT else 0.0


@inline_kernel
def apex(set_):
    """Not moved: it has no apex."""
    return 0.0


@inline_kernel
def origin(set_):
    """This law: it is no other one that is moved."""
    return RETURNED


@kernel
def rub(set_, w, r1, r2, q1, q2):
    """Λ_T on the face Λ_N = 0 from a guess (r1, r2): w (9,) the block of W, q its tangential velocity."""
    trace = w[4] + w[8]
    if not trace > 0.0:
        return r1, r2
    rho = 2.0 / trace  # below 2 / (largest eigenvalue); one step where both are the same
    for _ in range(FACE_STEPS):
        u1, u2 = w[4] * r1 + w[5] * r2 + q1, w[7] * r1 + w[8] * r2 + q2
        y1, y2 = project_section(set_[0], set_[1], set_[2], set_[3], r1 - rho * u1, r2 - rho * u2)
        change = abs(y1 - r1) + abs(y2 - r2)
        r1, r2 = y1, y2
        if change <= STILL * (abs(r1) + abs(r2)):
            break
    return r1, r2


@kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact, all others held: on the face if it opens there, else the other law's at Λ + a e_N."""
    a = set_[3]
    t1, t2 = rub(set_, w, r1, r2, q1, q2)
    if q0 + w[1] * t1 + w[2] * t2 >= 0.0 or w[0] <= 0.0:
        return 0.0, t1, t2
    q0, q1, q2 = q0 - a * w[0], q1 - a * w[3], q2 - a * w[6]
    if set_[4] == CONVEX:
        y0, y1, y2 = relaxed.solve_alone(set_, w, r0 + a, r1, r2, q0, q1, q2)
    else:
        y0, y1, y2 = coulomb.solve_alone(set_, w, r0 + a, r1, r2, q0, q1, q2)
    return (y0 - a, y1, y2) if y0 >= a else (0.0, t1, t2)


@inline_kernel
def weights(set_, alpha):
    """All of the proximal weight α."""
    return alpha, alpha, alpha


@kernel
def section_rows(set_, radius, slope, rho_n, rho_t, r1, r2, u1, u2, i, jacobian_out, F_out):
    """Tangential rows of F, A and B of block i, on the section of this radius; slope: its ∂/∂x_N, 0 or 1."""
    c = 3 * i
    x1, x2 = r1 - rho_t * u1, r2 - rho_t * u2
    a1 = set_[0] if x1 >= 0.0 else set_[1]
    if math.hypot(set_[2] * x1, a1 * x2) <= a1 * set_[2] * radius:
        F_out[c + 1], F_out[c + 2] = rho_t * u1, rho_t * u2
        jacobian_out[i, 4] = jacobian_out[i, 8] = rho_t
        return
    y1, y2, p11, p12, p22, n1, n2 = section_derivative(set_[0], set_[1], set_[2], radius, x1, x2)
    F_out[c + 1], F_out[c + 2] = r1 - y1, r2 - y2
    jacobian_out[i, 3], jacobian_out[i, 6] = slope * rho_n * n1, slope * rho_n * n2
    jacobian_out[i, 4], jacobian_out[i, 5] = rho_t * p11, rho_t * p12
    jacobian_out[i, 7], jacobian_out[i, 8] = rho_t * p12, rho_t * p22
    jacobian_out[i, 12], jacobian_out[i, 15] = -slope * n1, -slope * n2
    jacobian_out[i, 13], jacobian_out[i, 14] = 1.0 - p11, -p12
    jacobian_out[i, 16], jacobian_out[i, 17] = -p12, 1.0 - p22


@kernel
def equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F (3), A and B (9 each) of block i with diagonal block w (9,); returns whether they say Λ = 0."""
    c, a = 3 * i, set_[3]
    if set_[4] == CONVEX:
        rho_n = rho_t = 3.0 / (w[0] + w[4] + w[8] + 3.0 * alpha)
        x0 = r0 + a - rho_n * u0
        y0, _, _ = project_cone(set_[0], set_[1], set_[2], x0, r1 - rho_n * u1, r2 - rho_n * u2)
        if y0 > a:
            return relaxed.equations(set_, w, alpha, r0 + a, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
        x0 = 0.0
    else:
        rho_n = RHO / (w[0] + alpha)
        rho_t = 2.0 * RHO / (w[4] + w[8] + 2.0 * alpha)
        x0 = max(r0 - rho_n * u0, 0.0)
    if x0 + a <= 0.0:
        F_out[c], F_out[c + 1], F_out[c + 2] = r0, r1, r2
        return True
    for k in range(18):
        jacobian_out[i, k] = 0.0
    is_pressing = x0 > 0.0
    F_out[c] = rho_n * u0 if is_pressing else r0
    jacobian_out[i, 0], jacobian_out[i, 9] = (rho_n, 0.0) if is_pressing else (0.0, 1.0)
    slope = 1.0 if is_pressing else 0.0
    section_rows(set_, x0 + a, slope, rho_n, rho_t, r1, r2, u1, u2, i, jacobian_out, F_out)
    return False


@kernel
def rescale(set_, w, t, scale_out, sets_out):
    """Scale (3) of the cone, and a in that of the normal, written as block t."""
    scale_cone(set_, w, t, scale_out, sets_out)
    sets_out[t, 3], sets_out[t, 4] = set_[3] / scale_out[3 * t], set_[4]


@kernel
def judged(set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether it is unilateral, its load, power that is left."""
    a = set_[3]
    reach = section_reach(set_[0], set_[1], set_[2], -u1, -u2)
    g0 = u0 + reach if set_[4] == EXACT else u0
    x0, x1, x2 = r0 - g0, r1 - u1, r2 - u2
    e0, e1, e2 = outside_cone(set_[0], set_[1], set_[2], x0 + a, x1, x2)
    if x0 - e0 < 0.0:
        e1, e2 = outside_section(set_[0], set_[1], set_[2], a, x1, x2)
        e0 = x0
    e0, e1, e2 = g0 + e0, u1 + e1, u2 + e2
    y0, y1, y2 = outside_cone(set_[0], set_[1], set_[2], r0 + a, r1, r2)
    if r0 - y0 < 0.0:
        y1, y2 = outside_section(set_[0], set_[1], set_[2], a, r1, r2)
        y0 = r0
    distance = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
    return e0 * e0 + e1 * e1 + e2 * e2, distance, True, r0, (r0 + a) * reach + r1 * u1 + r2 * u2
