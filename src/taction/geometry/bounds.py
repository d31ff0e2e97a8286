"""Axis-aligned boxes around shapes: what the broad phase sees of them.

What it computes: for each shape the smallest box along the world's axes that holds it, enlarged on all sides
by the shape's reach. Two shapes whose boxes do not meet cannot touch within the step.

Notation: c the centre of the shape, R its axes in the world, R_k the k-th row of R: the world's axis k in the
axes of the shape. A box is lower (x, y, z), upper (x, y, z) [m].

Method: the upper side along axis k is the largest of (c + R x)_k over the points x of the shape, so its
support in the direction R_k, which has a closed form for each kind:
1. sphere: r;
2. capsule: l |R_k2| + r;
3. box: Σ_j |R_kj| s_j;
4. cylinder: l |R_k2| + r √(R_k0² + R_k1²);
5. ellipsoid: √(Σ_j (R_kj s_j)²);
6. hull: the largest R_k · v over all corners v; the lower side is the smallest;
7. height field: as a hull whose corners are all samples and the four corners of its base;
8. plane: a half-space has no bounds, ±`FAR` stands for them. Where its normal is exactly along an axis of the
   world, as on level ground, the box ends at the plane: what is well above it is no candidate.
In 1 to 5 the lower side is the mirror image.

The sides are exact up to rounding, a few units in the last place of |c| + size. `FAR` is finite so that
sums and differences of sides stay numbers.

Cost: some 15 ns for a simple shape, 1 ns per corner and per sample, so a field of 100 × 100 samples costs
10 µs. Shapes that never move need that once: `moving_bounds` leaves their boxes alone.

References: [Ericson2005, Section 4.2] for boxes from support points.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE
from taction.math.vector import load3

FAR = 1e300  # the side of a box that has no bound [m]

PLANE, SPHERE, CAPSULE = int(ShapeKind.PLANE), int(ShapeKind.SPHERE), int(ShapeKind.CAPSULE)
BOX, CYLINDER, ELLIPSOID = int(ShapeKind.BOX), int(ShapeKind.CYLINDER), int(ShapeKind.ELLIPSOID)
HULL = int(ShapeKind.HULL)

SIZE = np.int64(0)  # column of Colliders.size
NORMAL = PLACED_AXES + 2  # column of the placement: the first component of the shape's z axis


@inline_kernel
def half_width(kind, x, y, z, s):
    """Half the extent of a shape of kinds 1 to 5 and size s along the unit vector (x, y, z) of its axes."""
    if kind == SPHERE:
        return s[0]
    if kind == CAPSULE:
        return s[1] * abs(z) + s[0]
    if kind == BOX:
        return s[0] * abs(x) + s[1] * abs(y) + s[2] * abs(z)
    if kind == CYLINDER:
        return s[1] * abs(z) + s[0] * math.sqrt(x * x + y * y)
    x, y, z = s[0] * x, s[1] * y, s[2] * z
    return math.sqrt(x * x + y * y + z * z)


@kernel
def hull_range(x, y, z, vertices, first, count):
    """Smallest and largest (x, y, z) · v over rows first… of vertices (m, 3)."""
    low, high = math.inf, -math.inf
    for m in range(first, first + count):
        side = x * vertices[m, 0] + y * vertices[m, 1] + z * vertices[m, 2]
        low = side if side < low else low
        high = side if side > high else high
    return low, high


@kernel
def field_range(x, y, z, s, height, first, columns, rows):
    """Smallest and largest (x, y, z) · p over a height field of size s; heights from entry first on."""
    low, high, lowest = math.inf, -math.inf, math.inf
    for r in range(rows):
        across = y * s[1] * (r - 0.5 * (rows - 1))
        for c in range(columns):
            h = height[first + r * columns + c]
            side = x * s[0] * (c - 0.5 * (columns - 1)) + across + z * h
            low = side if side < low else low
            high = side if side > high else high
            lowest = h if h < lowest else lowest
    corner = 0.5 * (abs(x) * s[0] * (columns - 1) + abs(y) * s[1] * (rows - 1))
    base = z * (lowest - s[2])
    low = base - corner if base - corner < low else low
    high = base + corner if base + corner > high else high
    return low, high


@inline_kernel
def plane_range(placed, i, k):
    """Lower and upper side along axis k of the half-space below plane i."""
    height = placed[i, PLACED_CENTRE + k]
    across = abs(placed[i, NORMAL + 3 * ((k + 1) % 3)]) + abs(placed[i, NORMAL + 3 * ((k + 2) % 3)])
    if across != 0.0:
        return -FAR, FAR
    if placed[i, NORMAL + 3 * k] > 0.0:
        return -FAR, height
    return height, FAR


@kernel
def bound_shape(colliders, placed, reach, i, boxes_out):
    """Write the box of shape i; see `shape_bounds`."""
    kind = colliders.kind[i]
    s = load3(colliders.size, i, SIZE)
    first, count, rows = colliders.first[i], colliders.count[i], colliders.face_count[i]
    for k in range(3):
        x, y, z = load3(placed, i, PLACED_AXES + 3 * k)
        middle = placed[i, PLACED_CENTRE + k]
        if kind == PLANE:
            low, high = plane_range(placed, i, k)
            middle = 0.0
        elif kind < HULL:
            high = half_width(kind, x, y, z, s)
            low = -high
        elif kind == HULL:
            low, high = hull_range(x, y, z, colliders.vertices, first, count)
        else:
            low, high = field_range(x, y, z, s, colliders.height, first, count, rows)
        boxes_out[i, k] = middle + low - reach[i]
        boxes_out[i, k + 3] = middle + high + reach[i]


@kernel
def shape_bounds(colliders, placed, reach, boxes_out):
    """Boxes of all n shapes into boxes_out (n, 6); placed (n, PLACED_WIDTH), reach (n,) ≥ 0 [m]."""
    for i in range(colliders.kind.shape[0]):
        bound_shape(colliders, placed, reach, i, boxes_out)


@kernel
def moving_bounds(colliders, placed, reach, boxes_out):
    """As `shape_bounds`, for the shapes that links carry; boxes of shapes fixed to the world stay."""
    for i in range(colliders.kind.shape[0]):
        if colliders.link[i] != 0:
            bound_shape(colliders, placed, reach, i, boxes_out)
