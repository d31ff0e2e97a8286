"""Nearest points of points, segments, boxes and cylinders: what the contacts of round shapes are made of.

What it solves: the signed distance of a point to a box or cylinder with its outward normal, and the nearest
points of a segment to another segment and to a box.

Notation: a box is centred with half extents h, a cylinder has radius r and half length h along z, both in
their own axes. Segments are c + w u with |w| ≤ h and u a unit vector, or p + w v with |w| ≤ 1.

Method
1. Point and box: outside, the nearest point is the point clamped to the box; inside, the nearest face.
   Cylinder: the same in the two coordinates distance from the axis and height.
2. Two segments: if the nearest points of their lines lie within both, those; otherwise one of them is an end,
   so the nearest of the four pairs of an end and its foot on the other segment. Near-parallel lines, whose
   nearest points are ill-conditioned, count as parallel: the ends are exact there.
3. Segment and box: with x(w) = p + w v, half the derivative of the squared distance
       g(w) = Σ_i v_i e_i(w),    e_i = x_i − clamp(x_i, −h_i, h_i)
   grows with w and is linear between the at most six places where the segment crosses a plane of a face.
   Each of these narrows the bracket of the root; within the last bracket the root of a line is exact. No
   iteration, no tolerance.

Where a direction is undefined (a point on the axis of a cylinder) the x axis is taken; at equal distances
the first axis and the positive side. A result is thus always finite and repeats.

Cost: step 3 evaluates g at most eight times.

References: [Ericson2005, Sections 5.1.3 and 5.1.9]; [Lumelsky1985] for segments.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.math.vector import add_scaled, cross, dot, sub

TINY = 1e-290  # squared lengths below this have lost digits to underflow
PARALLEL = 1e-14  # squared sine of the angle below which two lines are parallel


@inline_kernel
def clamp(x, h):
    """X held within [−h, h]."""
    return min(max(x, -h), h)


@kernel
def box_distance(x, h):
    """Signed distance of the point x to the box of half extents h, and the outward unit normal there."""
    e0, e1, e2 = x[0] - clamp(x[0], h[0]), x[1] - clamp(x[1], h[1]), x[2] - clamp(x[2], h[2])
    square = e0 * e0 + e1 * e1 + e2 * e2
    if square > TINY:
        d = math.sqrt(square)
        return d, (e0 / d, e1 / d, e2 / d)
    d, axis = abs(x[0]) - h[0], 0
    if abs(x[1]) - h[1] > d:
        d, axis = abs(x[1]) - h[1], 1
    if abs(x[2]) - h[2] > d:
        d, axis = abs(x[2]) - h[2], 2
    side = 1.0 if (x[0] if axis == 0 else x[1] if axis == 1 else x[2]) >= 0.0 else -1.0
    return d, (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)


@kernel
def cylinder_distance(x, radius, half):
    """Signed distance of the point x to a cylinder about z, and the outward unit normal there."""
    rho = math.sqrt(x[0] * x[0] + x[1] * x[1])
    c, s = (x[0] / rho, x[1] / rho) if rho * rho > TINY else (1.0, 0.0)
    side = 1.0 if x[2] >= 0.0 else -1.0
    er, ez = rho - radius, abs(x[2]) - half
    if er > 0.0 and ez > 0.0:
        square = er * er + ez * ez
        if square > TINY:
            d = math.sqrt(square)
            return d, (er / d * c, er / d * s, side * (ez / d))
    if er > ez:
        return er, (c, s, 0.0)
    return ez, (0.0, 0.0, side)


@kernel
def segment_segment(c1, u1, h1, c2, u2, h2):
    """(w1, w2) of the nearest points c1 + w1 u1 and c2 + w2 u2 of two segments."""
    d = sub(c1, c2)
    b, p, q = dot(u1, u2), dot(d, u1), dot(d, u2)
    across = cross(u1, u2)
    sine2 = dot(across, across)
    if sine2 > PARALLEL:
        w1 = (b * q - p) / sine2
        w2 = q + w1 * b
        if abs(w1) <= h1 and abs(w2) <= h2:
            return w1, w2
    best, best1, best2 = math.inf, 0.0, 0.0
    for k in range(4):
        end = 1.0 if k % 2 else -1.0
        if k < 2:
            w1 = end * h1
            w2 = clamp(q + w1 * b, h2)
        else:
            w2 = end * h2
            w1 = clamp(w2 * b - p, h1)
        e = add_scaled(add_scaled(d, w1, u1), -w2, u2)
        square = dot(e, e)
        if square < best:
            best, best1, best2 = square, w1, w2
    return best1, best2


@inline_kernel
def slope(p, v, h, w):
    """Half the derivative g(w) of the squared distance of p + w v to the box of half extents h."""
    x0, x1, x2 = p[0] + w * v[0], p[1] + w * v[1], p[2] + w * v[2]
    return v[0] * (x0 - clamp(x0, h[0])) + v[1] * (x1 - clamp(x1, h[1])) + v[2] * (x2 - clamp(x2, h[2]))


@inline_kernel
def narrowed(p, v, h, pk, vk, hk, low, g_low, high, g_high):
    """The bracket (low, g(low), high, g(high)) of the root of g after a look where coordinate k meets hk."""
    if vk != 0.0:
        w = (hk - pk) / vk
        if low < w < high:
            g = slope(p, v, h, w)
            if g < 0.0:
                return w, g, high, g_high
            return low, g_low, w, g
    return low, g_low, high, g_high


@kernel
def segment_box(p, v, h):
    """W in [−1, 1] of a point p + w v of the segment nearest to the box of half extents h."""
    low, high = -1.0, 1.0
    g_low, g_high = slope(p, v, h, low), slope(p, v, h, high)
    if g_low >= 0.0:
        return low
    if g_high <= 0.0:
        return high
    low, g_low, high, g_high = narrowed(p, v, h, p[0], v[0], h[0], low, g_low, high, g_high)
    low, g_low, high, g_high = narrowed(p, v, h, p[0], v[0], -h[0], low, g_low, high, g_high)
    low, g_low, high, g_high = narrowed(p, v, h, p[1], v[1], h[1], low, g_low, high, g_high)
    low, g_low, high, g_high = narrowed(p, v, h, p[1], v[1], -h[1], low, g_low, high, g_high)
    low, g_low, high, g_high = narrowed(p, v, h, p[2], v[2], h[2], low, g_low, high, g_high)
    low, g_low, high, g_high = narrowed(p, v, h, p[2], v[2], -h[2], low, g_low, high, g_high)
    return clamp(low - g_low * ((high - low) / (g_high - g_low)), 1.0)
