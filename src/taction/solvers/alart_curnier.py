"""The equations of Alart and Curnier, block by block, with their derivatives.

What it solves: nothing by itself; it writes F(Λ) and the two factors of its derivative, A = −∂F/∂u ... in the
form A δu + B δΛ = −F, for the law of each block. With x = Λ − ρ u:

* exact law:     F_N = Λ_N − max(x_N, 0),   F_T = Λ_T − P_{max(x_N, 0) D}(x_T)
  (normal and tangential part projected one after the other, so the De Saxcé term never appears);
* convex law:    F = Λ − P_K(x);
* intervals:     F = Λ − min(max(x, lo), hi), row by row.

A block whose F is Λ itself (an open contact) is an identity and is reported as such: it costs nothing later.

Departures: ρ = 20/(W_ii + α) with the proximal weight α, for the two tangential rows that of their mean; the
factor 20 by measurement. The derivative of the rim that [Hueber2008] modify for global convergence is taken
as it is.

References: [AlartCurnier1991]; [Hueber2008].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.sets import BOX, EXACT, project_cone

RHO = 20.0  # ρ in units of 1/(W_ii + α)
ELLIPSE_STEPS = 80
ROUNDING = 1e-16
EQUATION = 1e-6  # weight of equations in units of α: chains of joints are stiff against more


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
def linearise_contact(set_, rho_n, rho_t, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """Equations of Alart and Curnier for block i: F (3), A and B (9 each); returns whether it is Λ = 0."""
    c = 3 * i
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
def linearise_cone(set_, rho, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F = Λ − P_K(Λ − ρu) for block i, with A = ρP', B = 1 − P'; returns whether the row is Λ = 0."""
    c = 3 * i
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


@inline_kernel
def proximal_weight(alpha, set_, k):
    """Weight α of row k of intervals; less where it is an equation."""
    return EQUATION * alpha if set_[2 * k] == -math.inf and set_[2 * k + 1] == math.inf else alpha


@inline_kernel
def linearise_box(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """Row by row F = Λ − min(max(Λ − ρu, lo), hi) for block i; returns whether all rows are Λ = bound."""
    open_rows = 0
    for k in range(18):
        jacobian_out[i, k] = 0.0
    for k in range(3):
        r = r0 if k == 0 else (r1 if k == 1 else r2)
        u = u0 if k == 0 else (u1 if k == 1 else u2)
        d = w[4 * k] + proximal_weight(alpha, set_, k)
        rho = 1.0 / d if d > 0.0 else 1.0
        x = r - rho * u
        if set_[2 * k] < x < set_[2 * k + 1]:
            F_out[3 * i + k] = rho * u
            jacobian_out[i, 4 * k] = rho
        else:
            F_out[3 * i + k] = r - min(max(x, set_[2 * k]), set_[2 * k + 1])
            jacobian_out[i, 9 + 4 * k] = 1.0
            open_rows += 1
    return open_rows == 3


@kernel
def linearise(rows, first, last, alpha, centre, r, u, jacobian_out, is_identity_out, F_out):
    """F, A and B of blocks first…last−1 at Λ = r with u + α (r − centre) as velocity; returns ‖F‖."""
    total = 0.0
    for i in range(first, last):
        c = 3 * i
        w, set_ = rows.value[rows.diagonal[i]], rows.sets[i]
        r0, r1, r2 = r[c], r[c + 1], r[c + 2]
        a0 = a1 = a2 = alpha
        if rows.kind[i] == BOX:
            a0, a1, a2 = (
                proximal_weight(alpha, set_, 0),
                proximal_weight(alpha, set_, 1),
                proximal_weight(alpha, set_, 2),
            )
        u0 = u[c] + a0 * (r0 - centre[c])
        u1 = u[c + 1] + a1 * (r1 - centre[c + 1])
        u2 = u[c + 2] + a2 * (r2 - centre[c + 2])
        if rows.kind[i] == BOX:
            is_open = linearise_box(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
        elif rows.kind[i] == EXACT:
            rho_n = RHO / (w[0] + alpha)
            rho_t = 2.0 * RHO / (w[4] + w[8] + 2.0 * alpha)
            is_open = linearise_contact(set_, rho_n, rho_t, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
        else:
            rho = 3.0 / (w[0] + w[4] + w[8] + 3.0 * alpha)
            is_open = linearise_cone(set_, rho, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
        is_identity_out[i] = is_open
        total += F_out[c] * F_out[c] + F_out[c + 1] * F_out[c + 1] + F_out[c + 2] * F_out[c + 2]
    return math.sqrt(total)
