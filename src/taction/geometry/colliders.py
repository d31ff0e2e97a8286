"""Collision shapes compiled for kernels, their placement in the world, and the list of contacts.

Notation: a contact has a point x midway between the two surfaces, a unit normal n from the second shape to
the first, and a gap g, positive apart; the surfaces are at x ± ½ g n. A pair of shapes is always stored with
the smaller index first; the identity of a contact within its pair is its *feature*, a number that stays the
same while the same vertex, edge or face touches, so that impulses can be carried from step to step.

Each shape has a reach: how far it can move within the coming step. A pair is looked at, and a contact kept,
while the gap is below the sum of both reaches; so nothing that could touch within the step is missed.

Buffers never drop: `add_contact` counts beyond the capacity without writing, and the caller, seeing the
count, makes the buffer larger and detects again.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints, nested
from taction.geometry.hull_graph import HullGraph
from taction.math.vector import add, add_scaled, load3, load9, mat_mul, mat_vec, store3, store9
from taction.model.workspace import AXES, ORIGIN

# Columns of the placement of a shape
PLACED_AXES = np.int64(0)  # 9: shape axes in the world, row by row
PLACED_CENTRE = np.int64(9)  # 3: centre in the world [m]
PLACED_WIDTH = 12

# Columns of the box around a shape, along the world's axes
LOWER, UPPER = np.int64(0), np.int64(3)  # 3 each [m]

COLUMN = np.int64(0)  # where vectors are in arrays (·, 3)
LONE = np.int64(0)  # feature of the only contact of a pair


class Colliders(Layout):
    """Read-only arrays over the collision shapes (n).

    size holds what the `collider` of the shape says. Solids with round caps: radius of the rims, distance of
    the caps from the centre. Hulls: half the sides of a box along their axes; `first` and `count` address
    rows of `vertices`; `face_first` and `face_count` address rows of `face_normal` and entries of
    `face_start`, whose ranges of `face_vertex` are the corners of each face, counter-clockwise seen from
    outside, as rows of `vertices`. Height fields: `first` addresses `height`, row by row (y), with `count`
    the number of columns (x) and `face_count` the number of rows, centred; the lowest and the highest stand
    behind them.
    """

    kind: IntArray = ints("n", "ShapeKind")
    link: IntArray = ints("n", "link that carries the shape, 0 for the world")
    axes: Array = floats("n, 9", "shape axes in the link")
    centre: Array = floats("n, 3", "shape centre in the link [m]")
    size: Array = floats("n, 3", "lengths by kind [m]")
    bound: Array = floats(
        "n", "radius of a sphere around the centre that holds the shape; inf for planes [m]"
    )
    first: IntArray = ints("n", "first corner or height")
    count: IntArray = ints("n", "corners, or columns of heights")
    vertices: Array = floats("m, 3", "corners of all hulls, shape axes [m]")
    face_first: IntArray = ints("n", "first face")
    face_count: IntArray = ints("n", "faces, or rows of heights")
    face_normal: Array = floats("f, 3", "outward unit normals")
    face_start: IntArray = ints("g", "where the corners of each face start, and the end of all")
    face_vertex: IntArray = ints("e", "corners of the faces, rows of `vertices`")
    height: Array = floats("c", "heights of all height fields [m]")
    graph: HullGraph = nested(HullGraph, "ways over the hulls")


class Contacts(Layout, scratch=True):
    """Contacts found, in the order of (pair, feature); entries beyond count are meaningless."""

    count: IntArray = ints("1", "how many were found, also where the capacity was too small")
    shape: IntArray = ints("capacity, 2", "first and second shape")
    feature: IntArray = ints("capacity", "identity within the pair")
    point: Array = floats("capacity, 3", "midway between the surfaces [m]")
    normal: Array = floats("capacity, 3", "from the second shape to the first")
    gap: Array = floats("capacity", "distance, negative in overlap [m]")


def make_contacts(capacity: int) -> Contacts:
    """An empty list of contacts."""
    return Contacts.allocate(capacity=capacity)


@inline_kernel
def add_contact(a, b, feature, is_swapped, point, normal, gap, contacts_io):
    """Append a contact of shapes a < b; is_swapped: the normal given points from a to b."""
    k = contacts_io.count[0]
    contacts_io.count[0] = k + 1
    if k >= contacts_io.gap.shape[0]:
        return
    sign = -1.0 if is_swapped else 1.0
    contacts_io.shape[k, 0] = a
    contacts_io.shape[k, 1] = b
    contacts_io.feature[k] = feature
    contacts_io.gap[k] = gap
    for c in range(3):
        contacts_io.point[k, c] = point[c]
        contacts_io.normal[k, c] = sign * normal[c]


@inline_kernel
def add_on_plane(a, b, feature, is_swapped, x, n, height, contacts_io):
    """Append the contact of the point x at the given height above a plane with normal n."""
    add_contact(a, b, feature, is_swapped, add_scaled(x, -0.5 * height, n), n, height, contacts_io)


@kernel
def place_shapes(colliders, links, placed_out):
    """World placement of every shape into placed_out (n, PLACED_WIDTH); links (·, WIDTH) placed."""
    for i in range(colliders.kind.shape[0]):
        link = colliders.link[i]
        R = load9(links, link, AXES)
        store9(mat_mul(R, load9(colliders.axes, i, 0)), i, PLACED_AXES, placed_out)
        centre = add(load3(links, link, ORIGIN), mat_vec(R, load3(colliders.centre, i, 0)))
        store3(centre, i, PLACED_CENTRE, placed_out)
