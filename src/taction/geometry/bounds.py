"""Axis-aligned boxes around shapes: what the broad phase sees of them.

What it computes: for each shape the smallest box along the world's axes that holds it, enlarged on all
sides by the shape's reach. Two shapes whose boxes do not meet cannot touch within the step.

Notation: c the centre of the shape, R its axes in the world, R_k the k-th row of R: the world's axis k in
the axes of the shape. A box is lower (x, y, z), upper (x, y, z) [m].

Method: the upper side along axis k is the largest of (c + R x)_k over the points x of the shape, so its
support in the direction R_k, which has a closed form for each kind:
1. convex shape: `box_around` of its file in `taction.geometry.shapes`;
2. height field: as the box along its own axes that holds it, from its base to its highest sample;
3. plane: a half-space has no bounds, ±`FAR` stands for them. Where its normal is exactly along an axis of
   the world, as on level ground, the box ends at the plane: what is well above it is no candidate.

The sides are exact up to rounding, a few units in the last place of |c| + size. `FAR` is finite so that
sums and differences of sides stay numbers.

Cost: 12 to 17 ns for a simple shape, 4 ns per corner of a hull.

References: [Ericson2005, Section 4.2] for boxes from support points.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import COLUMN, PLACED_AXES, PLACED_CENTRE
from taction.geometry.shapes.dispatch import box_around
from taction.math.vector import load3, load9, mat_vec

FAR = 1e300  # the side of a box that has no bound [m]

PLANE, HEIGHT_FIELD = int(ShapeKind.PLANE), int(ShapeKind.HEIGHT_FIELD)

NORMAL = PLACED_AXES + 2  # column of the placement: the first component of the shape's z axis


@kernel
def field_box(colliders, placed, i, boxes_out):
    """Row i of boxes_out: the box of R p over the corners p of a box around height field i."""
    R, s = load9(placed, i, PLACED_AXES), load3(colliders.size, i, COLUMN)
    columns, rows = colliders.count[i], colliders.face_count[i]
    last = colliders.first[i] + rows * columns  # after the samples the lowest and the highest
    low, high = colliders.height[last] - s[2], colliders.height[last + 1]
    middle = mat_vec(R, (0.0, 0.0, 0.5 * (low + high)))
    half = 0.5 * s[0] * (columns - 1), 0.5 * s[1] * (rows - 1), 0.5 * (high - low)
    for k in range(3):
        side = abs(R[3 * k]) * half[0] + abs(R[3 * k + 1]) * half[1] + abs(R[3 * k + 2]) * half[2]
        boxes_out[i, k], boxes_out[i, k + 3] = middle[k] - side, middle[k] + side


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
def shape_bounds(colliders, placed, reach, boxes_out):
    """Boxes of all n shapes into boxes_out (n, 6); placed (n, PLACED_WIDTH), reach (n,) ≥ 0 [m]."""
    for i in range(colliders.kind.shape[0]):
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
