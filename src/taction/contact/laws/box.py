"""Three independent intervals [lo, hi]: everything in a problem that is not a friction cone.

The law of a row: Λ = min(max(Λ − ρ u, lo), hi) for any ρ > 0, i.e. u ≥ 0 at the lower end, u ≤ 0 at the
upper end, u = 0 in between. A half-line (0, ∞) makes unilateral contacts and joint stops, (−c, c) dry
friction in a joint, (−∞, ∞) an equation, (0, 0) a row that carries nothing, lo = hi one that carries a
given impulse.

Newton's method: F = Λ − min(max(Λ − ρ u, lo), hi) row by row with ρ = 1/(W_ii + α). Equations get less of
the proximal weight α than contacts: chains of joints are stiff against more.

References: [Moreau1988] for force elements as sets; [AlartCurnier1991] for F.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel
from taction.contact.cone_distance import outside_interval

BOX = 2

EQUATION = 1e-6  # weight of equations in units of α


@inline_kernel
def nearest(set_, x0, x1, x2):
    """P_C(x), row by row."""
    y0 = min(max(x0, set_[0]), set_[1])
    y1 = min(max(x1, set_[2]), set_[3])
    y2 = min(max(x2, set_[4]), set_[5])
    return y0, y1, y2


@inline_kernel
def in_turn(set_, x0, x1, x2):
    """The same: rows do not depend on each other."""
    return nearest(set_, x0, x1, x2)


@inline_kernel
def shift(set_, u1, u2):
    """No shift: γ = u."""
    return 0.0


@inline_kernel
def origin(set_):
    """This law: its set is not moved."""
    return BOX


@inline_kernel
def apex(set_):
    """Not moved: intervals say themselves where they end."""
    return 0.0


@inline_kernel
def clamp(value, slope, low, high):
    """The impulse in [low, high] of one row with u = slope Λ + value."""
    if slope > 0.0:
        return min(max(-value / slope, low), high)
    if low == high:
        return low
    return min(max(0.0, low), high)


@inline_kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Impulses of three interval rows, one after the other."""
    r0 = clamp(q0 + w[1] * r1 + w[2] * r2, w[0], set_[0], set_[1])
    r1 = clamp(q1 + w[3] * r0 + w[5] * r2, w[4], set_[2], set_[3])
    r2 = clamp(q2 + w[6] * r0 + w[7] * r1, w[8], set_[4], set_[5])
    return r0, r1, r2


@inline_kernel
def row_weight(low, high, alpha):
    """Proximal weight of a row; less than α where it is an equation."""
    return EQUATION * alpha if low == -math.inf and high == math.inf else alpha


@inline_kernel
def weights(set_, alpha):
    """Proximal weights of the three rows."""
    w0, w1 = row_weight(set_[0], set_[1], alpha), row_weight(set_[2], set_[3], alpha)
    return w0, w1, row_weight(set_[4], set_[5], alpha)


@inline_kernel
def equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """Row by row F = Λ − min(max(Λ − ρu, lo), hi) for block i; returns whether all rows are Λ = bound."""
    open_rows = 0
    for k in range(18):
        jacobian_out[i, k] = 0.0
    for k in range(3):
        r = r0 if k == 0 else (r1 if k == 1 else r2)
        u = u0 if k == 0 else (u1 if k == 1 else u2)
        d = w[4 * k] + row_weight(set_[2 * k], set_[2 * k + 1], alpha)
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


@inline_kernel
def rescale(set_, w, t, scale_out, sets_out):
    """Scale (3) that makes the diagonal of w (9,) one, and the intervals for Λ' = Λ / s, as block t."""
    for k in range(3):
        s = 1.0 / math.sqrt(w[4 * k]) if w[4 * k] > 0.0 else 1.0
        scale_out[3 * t + k] = s
        sets_out[t, 2 * k], sets_out[t, 2 * k + 1] = set_[2 * k] / s, set_[2 * k + 1] / s


@inline_kernel
def judged(set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether row 0 is unilateral, its load, power that is left.

    The load counts from the lower end of the interval; no power is asked of intervals.
    """
    e0 = u0 + outside_interval(set_[0], set_[1], r0 - u0)
    e1 = u1 + outside_interval(set_[2], set_[3], r1 - u1)
    e2 = u2 + outside_interval(set_[4], set_[5], r2 - u2)
    y0 = outside_interval(set_[0], set_[1], r0)
    y1 = outside_interval(set_[2], set_[3], r1)
    y2 = outside_interval(set_[4], set_[5], r2)
    is_unilateral = set_[1] == math.inf and set_[0] > -math.inf
    distance = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
    return e0 * e0 + e1 * e1 + e2 * e2, distance, is_unilateral, r0 - set_[0], 0.0
