"""The friction cone as solvers see it: its support function, the nearest point of it, its scaling.

What it solves: for the cone
    K = {Λ : Λ_T ∈ Λ_N D, Λ_N ≥ 0},
whose section D is made of two half-ellipses that share the lateral axis, semi-axes (μ₊, μ₂) where Λ_1 ≥ 0
and (μ₋, μ₂) where Λ_1 < 0, the projection of a point, that of its tangential part on a section of given
radius, and σ(w) = sup {w·Λ_T : Λ_T ∈ D}. Equal coefficients make Coulomb's disc, μ₊ = μ₋ an ellipse. The
laws of contact with friction (`taction.contact.laws`) are built on it.

Notation: x = (x_N, x_1, x_2) a point in the frame (normal, t₁, t₂); a_i semi-axes; K° polar cone.

Method. Circular section: closed form. Otherwise the projection of x ∉ K ∪ K° is
    Λ_i = a_i² x_i / (a_i² + θ),   Λ_N = p(θ) = √Σ (a_i x_i / (a_i² + θ))²,
with θ > 0 the root of h(θ) = (1 − θ) p(θ) − x_N, which decreases strictly from p(0) − x_N > 0 to
−σ(x_T) − x_N < 0: Newton's method inside a bracket cannot miss it. Since both halves contain the section
through t₂, a point with x_1 ≥ 0 is projected on the half with Λ_1 ≥ 0: the sign of x_1 chooses a_1.

Limits: μ → 0 is the half-line with Λ_T = 0; a single zero axis is allowed.

The judges do not call this file; theirs is `taction.contact.cone_distance`.

References: [Moreau1962] for the decomposition; [AlartCurnier1991] for the section that follows Λ_N.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel

ROOT_ITERATIONS = 100
LARGE = 1e30
ROOT_ACCURACY = 1e-15  # relative width of the bracket at which a root counts as found
FLAT = 1e-13  # smallest ratio of friction coefficients that scaling divides by


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


@kernel
def nearest_on_ellipse(a1, a2, x1, x2):
    """Nearest point of the ellipse with semi-axes a1, a2 to (x1, x2) outside it.

    y_i = a_i² x_i / (a_i² + θ) with θ > 0 the root of Σ (a_i x_i / (a_i² + θ))² = 1, which falls in θ.
    """
    low, high = 0.0, math.hypot(a1 * x1, a2 * x2)
    for _ in range(ROOT_ITERATIONS):
        theta = 0.5 * (low + high)
        y1 = a1 * x1 / (a1 * a1 + theta) if a1 > 0.0 else 0.0
        y2 = a2 * x2 / (a2 * a2 + theta) if a2 > 0.0 else 0.0
        if y1 * y1 + y2 * y2 > 1.0:
            low = theta
        else:
            high = theta
        if high - low <= ROOT_ACCURACY * high:
            break
    y1 = a1 * x1 / (a1 * a1 + high) if a1 > 0.0 else 0.0
    y2 = a2 * x2 / (a2 * a2 + high) if a2 > 0.0 else 0.0
    return a1 * y1, a2 * y2


@inline_kernel
def project_section(plus, minus, lateral, radius, x1, x2):
    """Nearest point to (x1, x2) of the section with semi-axes (plus | minus, lateral) times radius."""
    a1, a2 = radius * (plus if x1 >= 0.0 else minus), radius * lateral
    if a1 == a2:
        t = math.sqrt(x1 * x1 + x2 * x2)
        return (x1, x2) if t <= a1 else (a1 * (x1 / t), a1 * (x2 / t))
    if a1 == 0.0:
        return 0.0, min(max(x2, -a2), a2)
    if a2 == 0.0:
        return min(max(x1, -a1), a1), 0.0
    if math.hypot(a2 * x1, a1 * x2) <= a1 * a2:
        return x1, x2
    return nearest_on_ellipse(a1, a2, x1, x2)


@inline_kernel
def project_parts(plus, minus, lateral, n, x1, x2):
    """The normal part of (n, x1, x2) on n ≥ 0, then the tangential one on the section of that radius."""
    y = max(n, 0.0)
    y1, y2 = project_section(plus, minus, lateral, y, x1, x2)
    return y, y1, y2


@inline_kernel
def largest_axes(set_):
    """(largest coefficient along t₁, along t₂, of all) of a cone, none of them zero."""
    a1 = max(set_[0], set_[1])
    a = max(a1, set_[2])
    return max(a1, FLAT * a), max(set_[2], FLAT * a), a


@inline_kernel
def scale_cone(set_, w, t, scale_out, sets_out):
    """Scale (3) of a contact with diagonal block w (9,), and its cone for Λ' = Λ / s, written as block t."""
    c = 3 * t
    a1, a2, a = largest_axes(set_)
    s1, s2 = a1 / a, a2 / a
    mean = (w[0] + s1 * s1 * w[4] + s2 * s2 * w[8]) / 3.0
    s = 1.0 / math.sqrt(mean) if mean > 0.0 else 1.0
    scale_out[c], scale_out[c + 1], scale_out[c + 2] = s, s * s1, s * s2
    for k in range(2):
        sets_out[t, k] = a if set_[k] >= a1 else max(set_[k] * (a / a1), FLAT * a)
    sets_out[t, 2] = a
