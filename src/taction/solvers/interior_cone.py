"""Interior points of cones and bounds: the parts of the interior-point method that work on one block.

Notation as in `taction.solvers.interior_point`: x and z in the cone L = {x : x_N ≥ ‖x_T‖}, Jordan product
x ∘ z = (xᵀz, x_N z_T + z_N x_T), multipliers p, q of the bounds of a row. All arrays are over the rows of the
blocks, (3k,), kind (k,) and sets (k, 6).

References: [AlizadehGoldfarb2003] for cones and directions.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.dispatch import is_rowwise, is_shifted

EDGE = 1e-14  # smallest relative distance from the boundary of a cone


@inline_kernel
def to_boundary(x0, x1, x2, d0, d1, d2):
    """Largest a with x + a d in the cone, for x inside; infinity if none."""
    # (x0 + a d0)² = ‖x_T + a d_T‖²:  q2 a² + 2 q1 a + q0 = 0 with q0 > 0
    t = math.sqrt(x1 * x1 + x2 * x2)
    q0 = (x0 - t) * (x0 + t)
    q1 = x0 * d0 - x1 * d1 - x2 * d2
    q2 = d0 * d0 - d1 * d1 - d2 * d2
    best = math.inf
    if d0 < 0.0:
        best = -x0 / d0
    disc = q1 * q1 - q2 * q0
    if q2 < 0.0:
        root = math.sqrt(max(disc, 0.0))
        # one positive root
        a = q0 / (root - q1) if q1 <= 0.0 else (q1 + root) / (-q2)
        best = min(best, a)
    elif disc >= 0.0 and q1 < 0.0:
        best = min(best, q0 / (-q1 + math.sqrt(disc)))
    return best


@inline_kernel
def jordan(x0, x1, x2, z0, z1, z2):
    """The product x ∘ z = (xᵀz, x₀ z_T + z₀ x_T)."""
    return x0 * z0 + x1 * z1 + x2 * z2, x0 * z1 + z0 * x1, x0 * z2 + z0 * x2


@inline_kernel
def divide(x0, x1, x2, t0, t1, t2):
    """The y with x ∘ y = t, for x inside the cone."""
    t = math.sqrt(x1 * x1 + x2 * x2)
    y = (x0 * t0 - x1 * t1 - x2 * t2) / (x0 - t) / (x0 + t)
    return y, (t1 - y * x1) / x0, (t2 - y * x2) / x0


@inline_kernel
def direction(kind, z1, z2):
    """z_T / ‖z_T‖ for the exact law, else zero: minus the tangential part of the first row of D."""
    t = math.sqrt(z1 * z1 + z2 * z2)
    if not is_shifted(kind) or t == 0.0:
        return 0.0, 0.0
    return z1 / t, z2 / t


@kernel
def linearise(kind, sets, x, z, p, q, delta, DH_out):
    """Blocks of D H, (k, 9), at the point x, z, p, q (3k,); delta for free rows, 1 for rows held at zero."""
    for i in range(kind.shape[0]):
        c = 3 * i
        H = DH_out[i]
        if is_rowwise(kind[i]):
            for j in range(9):
                H[j] = 0.0
            for j in range(3):
                lo, hi, at = sets[i, 2 * j], sets[i, 2 * j + 1], x[c + j]
                if lo == hi:
                    H[4 * j] = 1.0
                elif lo == -math.inf and hi == math.inf:
                    H[4 * j] = delta
                else:
                    H[4 * j] = p[c + j] / (at - lo) + q[c + j] / (hi - at)
            continue
        x0, x1, x2, z0, z1, z2 = x[c], x[c + 1], x[c + 2], z[c], z[c + 1], z[c + 2]
        H[0], H[3], H[6] = divide(x0, x1, x2, z0, z1, z2)
        H[1], H[4], H[7] = divide(x0, x1, x2, z1, z0, 0.0)
        H[2], H[5], H[8] = divide(x0, x1, x2, z2, 0.0, z0)
        d1, d2 = direction(kind[i], z1, z2)
        for j in range(3):
            H[j] -= d1 * H[3 + j] + d2 * H[6 + j]


@kernel
def bound_target(distance, multiplier, target, product):
    """(target − product) / distance − multiplier for a bound; 0 where it is infinitely far."""
    if distance == math.inf or distance == 0.0:
        return 0.0
    return (target - product) / distance - multiplier


@kernel
def targets(kind, sets, x, z, p, q, dx, dz, dp, dq, target, g_out, gp_out, gq_out):
    """Step 2: g (3k,) of cones, gp and gq (3k,) of bounds; dx, dz, dp, dq (3k,) are the predictor's."""
    for i in range(kind.shape[0]):
        c = 3 * i
        if is_rowwise(kind[i]):
            for j in range(3):
                m = c + j
                low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
                gp_out[m] = bound_target(low, p[m], target, dx[m] * dp[m])
                gq_out[m] = bound_target(high, q[m], target, -dx[m] * dq[m])
                g_out[m] = gp_out[m] - gq_out[m]
            continue
        x0, x1, x2, z0, z1, z2 = x[c], x[c + 1], x[c + 2], z[c], z[c + 1], z[c + 2]
        a0, a1, a2 = jordan(dx[c], dx[c + 1], dx[c + 2], dz[c], dz[c + 1], dz[c + 2])
        y0, y1, y2 = divide(x0, x1, x2, target - a0, -a1, -a2)
        g_out[c], g_out[c + 1], g_out[c + 2] = y0 - z0, y1 - z1, y2 - z2


@kernel
def right_side(kind, u, z, g, right_out):
    """Step 3: −F + D g, (3k,), with F = u − φ(z)."""
    for i in range(kind.shape[0]):
        c = 3 * i
        d1, d2 = direction(kind[i], z[c + 1], z[c + 2])
        f0 = u[c] - (z[c] - d1 * z[c + 1] - d2 * z[c + 2])
        f1, f2 = u[c + 1] - z[c + 1], u[c + 2] - z[c + 2]
        right_out[c] = g[c] - d1 * g[c + 1] - d2 * g[c + 2] - f0
        right_out[c + 1], right_out[c + 2] = g[c + 1] - f1, g[c + 2] - f2


@kernel
def recover(kind, sets, x, u, z, p, q, gp, gq, dx, dz_io, dp_out, dq_out):
    """Steps dz of cones and dp, dq of bounds (then dz = dp − dq) from dx, all (3k,); dz_io holds A dx before.

    For cones dz = D⁻¹ (F + A dx), which keeps the equation of motion where g − H dx would lose digits.
    """
    for i in range(kind.shape[0]):
        c = 3 * i
        if is_rowwise(kind[i]):
            for j in range(3):
                m = c + j
                low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
                dp_out[m] = gp[m] - (p[m] / low * dx[m] if low > 0.0 else 0.0)
                dq_out[m] = gq[m] + (q[m] / high * dx[m] if high > 0.0 else 0.0)
                dz_io[m] = dp_out[m] - dq_out[m]
            continue
        d1, d2 = direction(kind[i], z[c + 1], z[c + 2])
        dz_io[c + 1] += u[c + 1] - z[c + 1]
        dz_io[c + 2] += u[c + 2] - z[c + 2]
        dz_io[c] += u[c] - z[c] + d1 * (z[c + 1] + dz_io[c + 1]) + d2 * (z[c + 2] + dz_io[c + 2])


@kernel
def longest_step(kind, sets, x, z, p, q, dx, dz, dp, dq):
    """Largest step for which all cones and bounds still hold, at most 1e30; arrays (3k,)."""
    best = 1e30
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            a = to_boundary(x[c], x[c + 1], x[c + 2], dx[c], dx[c + 1], dx[c + 2])
            b = to_boundary(z[c], z[c + 1], z[c + 2], dz[c], dz[c + 1], dz[c + 2])
            best = min(best, a, b)
            continue
        for j in range(3):
            m = c + j
            if sets[i, 2 * j] == sets[i, 2 * j + 1]:
                continue
            if dx[m] < 0.0:
                best = min(best, (sets[i, 2 * j] - x[m]) / dx[m])
            if dx[m] > 0.0:
                best = min(best, (sets[i, 2 * j + 1] - x[m]) / dx[m])
            if dp[m] < 0.0:
                best = min(best, -p[m] / dp[m])
            if dq[m] < 0.0:
                best = min(best, -q[m] / dq[m])
    return best


@kernel
def centrality(kind, sets, x, z, p, q):
    """Mean gap, and smallest eigenvalue of x ∘ z over cones and bounds relative to it; arrays (3k,)."""
    least, total, count = math.inf, 0.0, 0
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            tx, tz = math.hypot(x[c + 1], x[c + 2]), math.hypot(z[c + 1], z[c + 2])
            if not (x[c] > tx and z[c] > tz):
                return 0.0, 0.0
            product = x[c] * z[c] + x[c + 1] * z[c + 1] + x[c + 2] * z[c + 2]
            det = (x[c] - tx) * (x[c] + tx) * (z[c] - tz) * (z[c] + tz)
            least = min(least, det / (product + math.sqrt(max(product * product - det, 0.0))))
            total += product
            count += 1
            continue
        for j in range(3):
            m = c + j
            low, high = x[m] - sets[i, 2 * j], sets[i, 2 * j + 1] - x[m]
            if 0.0 < low < math.inf:
                least = min(least, low * p[m])
                total += low * p[m]
                count += 1
            if 0.0 < high < math.inf:
                least = min(least, high * q[m])
                total += high * q[m]
                count += 1
    if not total > 0.0:
        return 0.0, 1.0
    return total / count, least * count / total


@kernel
def keep_inside(kind, x_io, z_io):
    """Undo rounding that put x_io or z_io (3k,) on the boundary of a cone."""
    for i in range(kind.shape[0]):
        if not is_rowwise(kind[i]):
            c = 3 * i
            x_io[c] = max(x_io[c], (1.0 + EDGE) * math.sqrt(x_io[c + 1] ** 2 + x_io[c + 2] ** 2))
            z_io[c] = max(z_io[c], (1.0 + EDGE) * math.sqrt(z_io[c + 1] ** 2 + z_io[c + 2] ** 2))


@kernel
def start(kind, sets, u, margin, z_out, p_out, q_out, x_io):
    """Pull x_io (3k,) and the slacks of velocities u (3k,) into the interior by margin."""
    for i in range(kind.shape[0]):
        c = 3 * i
        if not is_rowwise(kind[i]):
            t = math.hypot(x_io[c + 1], x_io[c + 2])
            x_io[c] = max(x_io[c], t) + margin
            t = math.hypot(u[c + 1], u[c + 2])
            shift = t if is_shifted(kind[i]) else 0.0
            z_out[c], z_out[c + 1], z_out[c + 2] = max(u[c] + shift, t) + margin, u[c + 1], u[c + 2]
            continue
        for j in range(3):
            m = c + j
            lo, hi = sets[i, 2 * j], sets[i, 2 * j + 1]
            inset = min(margin, 0.25 * (hi - lo))
            x_io[m] = min(max(x_io[m], lo + inset), hi - inset)
            p_out[m] = max(u[m], 0.0) + margin if math.isfinite(lo) and lo < hi else 0.0
            q_out[m] = max(-u[m], 0.0) + margin if math.isfinite(hi) and lo < hi else 0.0
            z_out[m] = p_out[m] - q_out[m]
