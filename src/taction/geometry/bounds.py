"""Axis-aligned boxes around shapes: what the broad phase sees of them.

What it computes: for each shape the smallest box along the world's axes that holds it, enlarged on all
sides by the shape's reach. Two shapes whose boxes do not meet cannot touch within the step.

Notation: c the centre of the shape, R its axes in the world, R_k the k-th row of R: the world's axis k in
the axes of the shape. A box is lower (x, y, z), upper (x, y, z) [m].

Method: the upper side along axis k is the largest of (c + R x)_k over the points x of the shape, so its
support in the direction R_k, which has a closed form for each kind:
1. convex shape: `box_around` of its file in `taction.geometry.shapes`;
2. height field: as a hull whose corners are all samples and the four corners of its base;
3. plane: a half-space has no bounds, ±`FAR` stands for them. Where its normal is exactly along an axis of
   the world, as on level ground, the box ends at the plane: what is well above it is no candidate.

The sides are exact up to rounding, a few units in the last place of |c| + size. `FAR` is finite so that
sums and differences of sides stay numbers.

Cost: 12 to 17 ns for a simple shape, 4 ns per corner and per sample, so 41 µs for a field of 100 × 100
samples. Shapes that never move need that once: `moving_bounds` leaves their boxes alone.

References: [Ericson2005, Section 4.2] for boxes from support points.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import COLUMN, LOWER, PLACED_AXES, PLACED_CENTRE, UPPER
from taction.geometry.shapes.dispatch import box_around
from taction.math.vector import load3, load9, mat_vec, store3

FAR = 1e300  # the side of a box that has no bound [m]

PLANE, HEIGHT_FIELD = int(ShapeKind.PLANE), int(ShapeKind.HEIGHT_FIELD)

ALL_LINKS, MOVING_LINKS = np.int64(0), np.int64(1)  # the lowest number of a link
NORMAL = PLACED_AXES + 2  # column of the placement: the first component of the shape's z axis


@inline_kernel
def widen(low, high, x):
    """The interval [low, high] made to hold x."""
    return (x if x < low else low), (x if x > high else high)


@kernel
def field_box(colliders, placed, i, boxes_out):
    """Row i of boxes_out: the box of R p over the points p of height field i."""
    R, s = load9(placed, i, PLACED_AXES), load3(colliders.size, i, COLUMN)
    first, columns, rows = colliders.first[i], colliders.count[i], colliders.face_count[i]
    height = colliders.height
    l0, l1, l2 = math.inf, math.inf, math.inf
    h0, h1, h2 = -math.inf, -math.inf, -math.inf
    lowest = math.inf
    for r in range(rows + 2):  # after the samples the corners of the base
        is_base = r >= rows
        y = s[1] * (r - 0.5 * (rows - 1)) if not is_base else s[1] * (r - rows - 0.5) * (rows - 1)
        for c in range(columns):
            h = lowest - s[2] if is_base else height[first + r * columns + c]
            lowest = h if h < lowest and not is_base else lowest
            x0, x1, x2 = mat_vec(R, (s[0] * (c - 0.5 * (columns - 1)), y, h))
            l0, h0 = widen(l0, h0, x0)
            l1, h1 = widen(l1, h1, x1)
            l2, h2 = widen(l2, h2, x2)
    store3((l0, l1, l2), i, LOWER, boxes_out)
    store3((h0, h1, h2), i, UPPER, boxes_out)


@inline_kernel
def plane_box(placed, i, boxes_out):
    """Row i of boxes_out: the box of the half-space below plane i, from its centre."""
    for k in range(3):
        boxes_out[i, k] = -FAR
        boxes_out[i, k + 3] = FAR
        across = abs(placed[i, NORMAL + 3 * ((k + 1) % 3)]) + abs(placed[i, NORMAL + 3 * ((k + 2) % 3)])
        if across == 0.0:
            boxes_out[i, k if placed[i, NORMAL + 3 * k] < 0.0 else k + 3] = 0.0


@kernel
def bound_links(colliders, placed, reach, lowest, boxes_out):
    """Write the boxes of the shapes on links of number lowest and above; see `shape_bounds`."""
    for i in range(colliders.kind.shape[0]):
        if colliders.link[i] < lowest:
            continue
        kind = colliders.kind[i]
        if kind == PLANE:
            plane_box(placed, i, boxes_out)
        elif kind == HEIGHT_FIELD:
            field_box(colliders, placed, i, boxes_out)
        else:
            box_around(kind, colliders, placed, i, boxes_out)
        for k in range(3):
            boxes_out[i, k] += placed[i, PLACED_CENTRE + k] - reach[i]
            boxes_out[i, k + 3] += placed[i, PLACED_CENTRE + k] + reach[i]


@kernel
def shape_bounds(colliders, placed, reach, boxes_out):
    """Boxes of all n shapes into boxes_out (n, 6); placed (n, PLACED_WIDTH), reach (n,) ≥ 0 [m]."""
    bound_links(colliders, placed, reach, ALL_LINKS, boxes_out)


@kernel
def moving_bounds(colliders, placed, reach, boxes_out):
    """As `shape_bounds`, for the shapes that links carry; boxes of shapes fixed to the world stay."""
    bound_links(colliders, placed, reach, MOVING_LINKS, boxes_out)
