"""The sets that impulses live in: a friction cone or a box, and the projections on them.

What it solves: every force element of `taction.contact.elements` obeys −γ ∈ N_C(Λ), equivalently
Λ = prox_C(Λ − ργ) for any ρ > 0. Two families of C are enough:

* **cone**  K = {Λ : Λ_T ∈ Λ_N D, Λ_N ≥ 0}, where the section D is made of two half-ellipses that share the
  lateral axis: semi-axes (μ₊, μ₂) where Λ_1 ≥ 0 and (μ₋, μ₂) where Λ_1 < 0. Equal coefficients make
  Coulomb's disc, μ₊ = μ₋ an ellipse;
* **box**  three independent intervals [lo, hi]: half-line (0, ∞) for unilateral elements and limits,
  (−c, c) for dry friction in a joint, (−∞, ∞) for a bilateral row, (0, 0) for a row that carries nothing.

Notation: x = (x_N, x_1, x_2) a point in the frame (normal, t₁, t₂); σ(w) = sup {w·Λ_T : Λ_T ∈ D} the support
function of the section, √(μ±² w_1² + μ₂² w_2²) with the sign of w_1 choosing the half; K° polar cone.

Kinds of block: `EXACT` is the cone with γ = u + σ(−u_T) e_N, the change of variable of De Saxcé that
makes Signorini, Coulomb and maximum dissipation one complementarity, K* ∋ γ ⊥ Λ ∈ K; `CONVEX` is the cone
with γ = u; `BOX` is the box with γ = u.

Method. Circular section: closed form. Otherwise the projection of x ∉ K ∪ K° is
    Λ_i = a_i² x_i / (a_i² + θ),   Λ_N = p(θ) = √Σ (a_i x_i / (a_i² + θ))²,
with θ > 0 the root of h(θ) = (1 − θ) p(θ) − x_N, which decreases strictly from p(0) − x_N > 0 to
−σ(x_T) − x_N < 0: Newton's method inside a bracket cannot miss it. Since both halves contain the section
through t₂, a point with x_1 ≥ 0 is projected on the half with Λ_1 ≥ 0: the sign of x_1 chooses a_1.

Limits: μ → 0 is the half-line with Λ_T = 0; a single zero axis is allowed.

References: [DeSaxceFeng1998] for the change of variable; [Moreau1962] for the decomposition;
[AcaryBremondHuber2018] for the natural map.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel

EXACT, CONVEX, BOX = 0, 1, 2

ROOT_ITERATIONS = 100
LARGE = 1e30
ROOT_ACCURACY = 1e-15  # relative width of the bracket at which the root counts as found


@inline_kernel
def support(plus, minus, lateral, w1, w2):
    """σ(w): the largest w·Λ_T over the section with semi-axes (plus | minus, lateral)."""
    a = plus if w1 >= 0.0 else minus
    if a == lateral:
        return a * math.sqrt(w1 * w1 + w2 * w2)
    return math.sqrt(a * a * w1 * w1 + lateral * lateral * w2 * w2)


@inline_kernel
def shrink(a, x, theta):
    """Value of a x / (a² + θ), 0 for a zero axis."""
    return a * x / (a * a + theta) if a > 0.0 else 0.0


@inline_kernel
def steepness(a, y, theta):
    """−y² / (a² + θ): half the derivative of `shrink` squared with respect to θ."""
    return -y * y / (a * a + theta) if a > 0.0 else 0.0


@kernel
def project_ellipse_cone(a1, a2, n, x1, x2):
    """Projection of (n, x1, x2), outside cone and polar, on the cone with elliptic section (a1, a2)."""
    high = 1.0  # h(1) = −n: the root is below 1 for n ≥ 0
    while high < LARGE and (1.0 - high) * math.hypot(shrink(a1, x1, high), shrink(a2, x2, high)) > n:
        high *= 4.0
    low = theta = 0.0
    for _ in range(ROOT_ITERATIONS):
        y1, y2 = shrink(a1, x1, theta), shrink(a2, x2, theta)
        p = math.hypot(y1, y2)
        h = (1.0 - theta) * p - n
        if h > 0.0:
            low = theta
        else:
            high = theta
        if p == 0.0 or high - low <= ROOT_ACCURACY * high:
            break  # with a zero axis this can be the first point: the rest of x is inside already
        trial = theta - h / ((1.0 - theta) * (steepness(a1, y1, theta) + steepness(a2, y2, theta)) / p - p)
        theta = trial if low < trial < high else 0.5 * (low + high)
    y1, y2 = shrink(a1, x1, theta), shrink(a2, x2, theta)
    return (math.hypot(y1, y2) if theta > 0.0 else n), a1 * y1, a2 * y2


@inline_kernel
def project_cone(plus, minus, lateral, n, x1, x2):
    """Projection of (n, x1, x2) on the friction cone with semi-axes (plus | minus, lateral)."""
    a = plus if x1 >= 0.0 else minus
    if a == lateral:
        t = math.sqrt(x1 * x1 + x2 * x2)
        if n >= 0.0 and t <= a * n:
            return n, x1, x2
        if a * t <= -n:
            return 0.0, 0.0, 0.0
        y = (n + a * t) / (1.0 + a * a)
        return y, a * y * (x1 / t), a * y * (x2 / t)
    is_within = abs(x1) <= a * n and abs(x2) <= lateral * n  # decides alone where an axis is zero
    if is_within and math.hypot(lateral * x1, a * x2) <= a * lateral * n:
        return n, x1, x2
    if math.hypot(a * x1, lateral * x2) <= -n:
        return 0.0, 0.0, 0.0
    return project_ellipse_cone(a, lateral, n, x1, x2)


@inline_kernel
def project_block(kind, set_, x0, x1, x2):
    """Projection on the set of one block: set_ (6,) is (μ₊, μ₋, μ₂, …) of a cone, (lo, hi) × 3 of a box."""
    if kind == BOX:
        y0 = min(max(x0, set_[0]), set_[1])
        y1 = min(max(x1, set_[2]), set_[3])
        y2 = min(max(x2, set_[4]), set_[5])
        return y0, y1, y2
    return project_cone(set_[0], set_[1], set_[2], x0, x1, x2)


@inline_kernel
def correction(kind, set_, u1, u2):
    """σ(−u_T) for the exact law, 0 for the others: what is added to u_N before the laws are compared."""
    if kind == EXACT:
        return support(set_[0], set_[1], set_[2], -u1, -u2)
    return 0.0


@inline_kernel
def natural_map_block(kind, set_, r0, r1, r2, u0, u1, u2):
    """Λ − P_C(Λ − γ) of one block: zero exactly when the block obeys its law."""
    u0 += correction(kind, set_, u1, u2)
    x0, x1, x2 = r0 - u0, r1 - u1, r2 - u2
    y0, y1, y2 = project_block(kind, set_, x0, x1, x2)
    # not Λ − y: where Λ is so large that Λ − γ rounds γ off, that would be zero
    return u0 + (x0 - y0), u1 + (x1 - y1), u2 + (x2 - y2)


@kernel
def natural_map(kind, sets, r, u):
    """‖Λ − P_C(Λ − γ)‖ over all blocks; kind (k,), sets (k, 6), impulses r and velocities u (3k,)."""
    total = 0.0
    for i in range(kind.shape[0]):
        c = 3 * i
        e0, e1, e2 = natural_map_block(kind[i], sets[i], r[c], r[c + 1], r[c + 2], u[c], u[c + 1], u[c + 2])
        total += e0 * e0 + e1 * e1 + e2 * e2
    return math.sqrt(total)


@kernel
def project(kind, sets, x, y_out):
    """Projection y_out (3k,) of x (3k,) on the product of the sets: kind (k,), sets (k, 6)."""
    for i in range(kind.shape[0]):
        c = 3 * i
        y_out[c], y_out[c + 1], y_out[c + 2] = project_block(kind[i], sets[i], x[c], x[c + 1], x[c + 2])
