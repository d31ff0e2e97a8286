"""A box and a capsule: two contacts where the capsule lies along a face, one where it crosses an edge.

What it solves: the capsule is its axis, a segment, thickened by the radius r. Gap and normal are those of the
axis and the box, less r: exact while the axis is outside the box, and the least translation that parts them
while it is inside.

Notation, in axes of the box: half extents h; the axis p + w v with |w| ≤ 1; x(w) a point of it.

Method
1. Bounds: apart by the margin along an axis of the box, nothing to do.
2. The point w* of the axis nearest to the box, its distance and the outward normal there.
3. If the axis is inside the box or grazes it: the directions in which segment and box can be parted shortest
   are the normals of the faces of their difference, a polytope whose edges are those of the box and v: the
   three axes of the box and their three vector products with v. The largest separation (the least overlap)
   wins; a face wins over an edge unless the edge is better by a small part, so that it does not alternate.
4. An edge: one contact, where the axis is nearest to that edge.
   A face, or outside the face to whose normal that at w* is closest: the part of the axis above that face,
   found by clipping with the four planes around it. Its two ends become contacts with their heights as gaps.
   If w* lies beyond one of the ends, it takes the place of that end, with its own normal: the axis slopes
   down over the edge of the face. If no part is above the face, w* is the only contact.
No angle decides whether there are two contacts; the margin does, since an end far from the face has a large
gap.

Features: 0 and 1 the ends −z and +z of the part of the axis above the face, 2 a lone contact.

Departure: the planes around a face give way by `SLACK`, so that a capsule along an edge of the box does not
alternate between one contact and two.

Cost: at most eight evaluations of the derivative of the distance and two clippings.

References: [CameronCulley1986] for step 3; [LiangBarsky1984] for the clipping.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.geometry.closest import box_distance, clamp, segment_box
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, add_contact
from taction.math.vector import add, add_scaled, column_z, load3, load9, mat_t_vec, mat_vec, scale, sub

FIRST = np.int64(0)  # first column of sizes
LOW_END, HIGH_END, LONE = np.int64(0), np.int64(1), np.int64(2)  # features
GRAZING = 1e-10  # an axis nearer to the box than this part of its size has no normal of its own
EDGE_BIAS = 1e-3  # part of the overlap by which an edge must be better than a face,
EDGE_SLACK = 1e-8  # and part of the size
SLACK = 1e-6  # part of the size of a face by which its sides give way
SHORTEST = 1e-6  # products of unit vectors below this have no direction


@kernel
def clipped(p, v, h, low, high):
    """The part of [low, high] in which |p + w v| ≤ h; empty if the first number is larger."""
    if abs(v) > 0.0:
        w0, w1 = (-h - p) / v, (h - p) / v
        return max(low, min(w0, w1)), min(high, max(w0, w1))
    if abs(p) > h:
        return 1.0, -1.0
    return low, high


@inline_kernel
def component(x, k):
    """Component k of a vector."""
    return x[0] if k == 0 else x[1] if k == 1 else x[2]


@kernel
def face_overlap(p, v, h):
    """(axis, separation) of the axis of the box along which it and the segment overlap least."""
    best, axis = abs(p[0]) - abs(v[0]) - h[0], 0
    separation = abs(p[1]) - abs(v[1]) - h[1]
    if separation > best:
        best, axis = separation, 1
    separation = abs(p[2]) - abs(v[2]) - h[2]
    if separation > best:
        best, axis = separation, 2
    return axis, best


@inline_kernel
def edge_overlap(p1, p2, v1, v2, h1, h2):
    """Separation along the product of an axis of the box and v, in the two coordinates across that axis."""
    length = math.sqrt(v1 * v1 + v2 * v2)
    if length <= SHORTEST * (abs(v1) + abs(v2) + h1 + h2):
        return -math.inf
    return (abs(p1 * v2 - p2 * v1) - h1 * abs(v2) - h2 * abs(v1)) / length


@kernel
def edge_contact(i, p, v, h):
    """W of the axis nearest to the edge along axis i that it crosses, and the outward normal there."""
    i1, i2 = (i + 1) % 3, (i + 2) % 3
    p1, p2, v1, v2 = component(p, i1), component(p, i2), component(v, i1), component(v, i2)
    h1, h2 = component(h, i1), component(h, i2)
    square = v1 * v1 + v2 * v2
    length = math.sqrt(square)
    side = 1.0 if p1 * v2 - p2 * v1 >= 0.0 else -1.0
    n1, n2 = side * v2 / length, -side * v1 / length
    e1 = h1 if n1 >= 0.0 else -h1
    e2 = h2 if n2 >= 0.0 else -h2
    w = clamp(((e1 - p1) * v1 + (e2 - p2) * v2) / square, 1.0)
    if i == 0:
        return w, (0.0, n1, n2)
    if i == 1:
        return w, (n2, 0.0, n1)
    return w, (n1, n2, 0.0)


@kernel
def overlap_axis(p, v, h):
    """Step 3: (kind, separation), with kind 0–2 a face of the box, 3–5 an edge."""
    kind, separation = face_overlap(p, v, h)
    size = h[0] + h[1] + h[2]
    e0 = edge_overlap(p[1], p[2], v[1], v[2], h[1], h[2])
    e1 = edge_overlap(p[2], p[0], v[2], v[0], h[2], h[0])
    e2 = edge_overlap(p[0], p[1], v[0], v[1], h[0], h[1])
    best = max(e0, e1, e2)
    if best > separation + EDGE_BIAS * abs(separation) + EDGE_SLACK * size:
        return (3 if best == e0 else 4 if best == e1 else 5), best
    return kind, separation


@inline_kernel
def part_above(k, p, v, h):
    """Ends of the part of the axis between the four planes around the faces ±k."""
    k1, k2 = (k + 1) % 3, (k + 2) % 3
    grow = 1.0 + SLACK
    low, high = clipped(component(p, k1), component(v, k1), grow * component(h, k1), -1.0, 1.0)
    return clipped(component(p, k2), component(v, k2), grow * component(h, k2), low, high)


@inline_kernel
def steepest(n):
    """Axis along which a vector is longest."""
    k = 0 if abs(n[0]) >= abs(n[1]) else 1
    return k if abs(component(n, k)) >= abs(n[2]) else 2


@kernel
def box_capsule(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of box s with capsule t; (a, b) is the same pair in stored order."""
    R, c = load9(placed, s, PLACED_AXES), load3(placed, s, PLACED_CENTRE)
    h = load3(colliders.size, s, FIRST)
    radius, half = colliders.size[t, 0], colliders.size[t, 1]
    p = mat_t_vec(R, sub(load3(placed, t, PLACED_CENTRE), c))
    v = scale(half, mat_t_vec(R, column_z(load9(placed, t, PLACED_AXES))))
    if face_overlap(p, v, h)[1] - radius >= margin:
        return
    w = segment_box(p, v, h)
    distance, n = box_distance(add_scaled(p, w, v), h)
    is_inside = distance <= GRAZING * (h[0] + h[1] + h[2])
    if not is_inside and distance - radius >= margin:
        return
    k = steepest(n)
    side = 1.0 if component(n, k) >= 0.0 else -1.0
    if is_inside:
        kind, distance = overlap_axis(p, v, h)
        k = kind % 3
        side = 1.0 if component(p, k) >= 0.0 else -1.0
        if kind >= 3:
            w, n = edge_contact(k, p, v, h)
            add_axis_point(a, b, LONE, is_swapped, R, c, p, v, w, n, radius, distance, margin, contacts_io)
            return
        n = (side if k == 0 else 0.0, side if k == 1 else 0.0, side if k == 2 else 0.0)
    low, high = part_above(k, p, v, h)
    if low > high:
        add_axis_point(a, b, LONE, is_swapped, R, c, p, v, w, n, radius, distance, margin, contacts_io)
        return
    face = (side if k == 0 else 0.0, side if k == 1 else 0.0, side if k == 2 else 0.0)
    for end in range(2):
        w_end, n_end = (high, face) if end else (low, face)
        d_end = side * (component(p, k) + w_end * component(v, k)) - component(h, k)
        if not is_inside and ((w > high) if end else (w < low)):
            w_end, n_end, d_end = w, n, distance
        add_axis_point(a, b, end, is_swapped, R, c, p, v, w_end, n_end, radius, d_end, margin, contacts_io)


@inline_kernel
def add_axis_point(a, b, feature, is_swapped, R, c, p, v, w, n, radius, distance, margin, contacts_io):
    """Contact of the point p + w v of the capsule's axis, at a distance from the box along n (box axes)."""
    gap = distance - radius
    if gap < margin:
        x = add_scaled(add_scaled(p, w, v), -(radius + 0.5 * gap), n)
        normal = scale(-1.0, mat_vec(R, n))
        add_contact(a, b, feature, is_swapped, add(c, mat_vec(R, x)), normal, gap, contacts_io)
