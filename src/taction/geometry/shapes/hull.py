"""Convex hull of points: corners and faces are rows of `Colliders`, addressed by first and count.

Corners are numbered from the first of the hull, faces from the first of all hulls. Terrain: every corner is a
sharp probe, and peaks are met by the faces.

Half-space: every corner within the margin, or, of more than `MOST_POINTS`, the lowest and those that span the
others: the first corners to touch if the hull were tilted by atan(1/TILT), in sixteen directions fixed to the
hull, opposite ones first, until there are `MOST_POINTS`. A flat foot with up to eight true corners keeps them
all, however finely its rim is divided; of a round one, an octagon at least stays: normal forces reach as far,
to within 1 − cos(π/8) of its radius. Directions turn with the hull, so a foot that stands keeps its points.

References: [Ericson2005, Section 9.5].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import ShapeKind
from taction.geometry.colliders import (
    COLUMN,
    LOWER,
    PLACED_AXES,
    PLACED_CENTRE,
    UPPER,
    add_on_plane,
)
from taction.geometry.hull_graph import walk
from taction.geometry.match import is_after, swap_contacts
from taction.geometry.scratch import MOST_CORNERS, set_corner, unit
from taction.geometry.terrain import sharp_probe, to_field
from taction.math.vector import (
    add,
    add_scaled,
    column_z,
    cross,
    dot,
    load3,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    store3,
    sub,
)

KIND = int(ShapeKind.HULL)
MOST_POINTS = 8  # contacts with a half-space
TILT = 10.0  # how much lower a corner must be to count as much as one farther out
DIRECTIONS = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)  # in sixteenths of a turn
SIXTEENTH = math.pi / 8.0
SAME = 1e-9  # difference of heights that counts as none, relative to the size
TURN_FIRST = 0.1  # off the axes of symmetry, so that no two corners are equally far [rad]


@kernel
def box_around(colliders, placed, i, boxes_out):
    """The least and the largest R v over all corners v; of many corners, over a box along the hull's axes."""
    R, vertices, first = load9(placed, i, PLACED_AXES), colliders.vertices, colliders.first[i]
    if colliders.graph.start[i] >= 0:
        s = load3(colliders.size, i, COLUMN)
        x = abs(R[0]) * s[0] + abs(R[1]) * s[1] + abs(R[2]) * s[2]
        y = abs(R[3]) * s[0] + abs(R[4]) * s[1] + abs(R[5]) * s[2]
        z = abs(R[6]) * s[0] + abs(R[7]) * s[1] + abs(R[8]) * s[2]
        store3((-x, -y, -z), i, LOWER, boxes_out)
        store3((x, y, z), i, UPPER, boxes_out)
        return
    l0, l1, l2 = math.inf, math.inf, math.inf
    h0, h1, h2 = -math.inf, -math.inf, -math.inf
    for m in range(first, first + colliders.count[i]):
        x, y, z = mat_vec(R, load3(vertices, m, COLUMN))
        l0, h0 = (x if x < l0 else l0), (x if x > h0 else h0)
        l1, h1 = (y if y < l1 else l1), (y if y > h1 else h1)
        l2, h2 = (z if z < l2 else l2), (z if z > h2 else h2)
    store3((l0, l1, l2), i, LOWER, boxes_out)
    store3((h0, h1, h2), i, UPPER, boxes_out)


@kernel
def support(colliders, i, d):
    """The first of the farthest corners; of many corners, the first that a walk finds; id: its number."""
    vertices, first = colliders.vertices, colliders.first[i]
    if colliders.graph.start[i] >= 0:
        at = walk(colliders.graph, vertices, i, d)
        return vertices[at, 0], vertices[at, 1], vertices[at, 2], float(at - first)
    best, at = -math.inf, first
    for k in range(first, first + colliders.count[i]):
        value = vertices[k, 0] * d[0] + vertices[k, 1] * d[1] + vertices[k, 2] * d[2]
        if value > best:
            best, at = value, k
    return vertices[at, 0], vertices[at, 1], vertices[at, 2], float(at - first)


@kernel
def facing(colliders, i, d):
    """Of the faces at the corner farthest along d the nearest to d: (face, outward normal, cosine)."""
    m = 0.0, 0.0, 0.0
    best, at = -2.0, np.int64(-1)
    corner = support(colliders, i, d)
    wanted = colliders.first[i] + int(corner[3])
    graph = colliders.graph
    if graph.start[i] >= 0:
        for e in range(graph.face_first[wanted], graph.face_first[wanted + 1]):
            k = load3(colliders.face_normal, graph.face[e], COLUMN)
            value = dot(k, d)
            if value > best:
                best, at, m = value, graph.face[e], k
        return at, m, best
    first = colliders.face_first[i]
    for f in range(first, first + colliders.face_count[i]):
        k = load3(colliders.face_normal, f, COLUMN)
        value = dot(k, d)
        if value > best:
            for e in range(colliders.face_start[f], colliders.face_start[f + 1]):
                if colliders.face_vertex[e] == wanted:
                    best, at, m = value, f, k
    return at, m, best


@kernel
def is_over_face(colliders, i, face, p, slack):
    """Whether p is inside of every edge of the face, up to slack."""
    m = load3(colliders.face_normal, face, COLUMN)
    start, end = colliders.face_start[face], colliders.face_start[face + 1]
    u = load3(colliders.vertices, colliders.face_vertex[end - 1], COLUMN)
    for e in range(start, end):
        v = load3(colliders.vertices, colliders.face_vertex[e], COLUMN)
        if dot(unit(cross(m, sub(v, u))), sub(p, u)) < -slack:
            return False
        u = v
    return True


@kernel
def set_part(colliders, i, face, d, side, row, ws):
    """Corners of a face; of one with more than `MOST_CORNERS` every second, third, … is used."""
    start, end = colliders.face_start[face], colliders.face_start[face + 1]
    count = np.int64(0)
    for e in range(start, end, (end - start + MOST_CORNERS - 1) // MOST_CORNERS):
        v = colliders.face_vertex[e]
        number = float(v - colliders.first[i])
        set_corner(load3(colliders.vertices, v, COLUMN), number, count, side, row, ws)
        count += 1
    return count


@inline_kernel
def first_to_touch(colliders, s, e, middle, margin, tilt, along):
    """Corner of hull s within the margin that is the lowest when tilted along a direction, hull axes.

    The farthest of all corners in that sense is the one, if it is within the margin.
    """
    vertices, first = colliders.vertices, colliders.first[s]
    if colliders.graph.start[s] >= 0:
        i = walk(colliders.graph, vertices, s, add_scaled(along, -tilt, e))
        if middle + dot(e, load3(vertices, i, COLUMN)) < margin:
            return i - first
    best, at = -math.inf, np.int64(0)
    for i in range(colliders.count[s]):
        v = load3(vertices, first + i, COLUMN)
        height = middle + dot(e, v)
        if height < margin:
            value = dot(along, v) - tilt * height
            if value > best:
                best, at = value, np.int64(i)
    return at


@kernel
def span_on_plane(colliders, a, b, s, is_swapped, margin, n, e, middle, c, R, contacts_io):
    """Contacts of the corners of hull s that span all its corners near a half-space.

    n and e: its normal, in the world and in the hull's axes; middle: height of the centre c (3); R (9): axes.
    """
    axis = (1.0, 0.0, 0.0) if abs(e[0]) < 0.9 else (0.0, 1.0, 0.0)
    u = unit(add_scaled(axis, -dot(axis, e), e))
    w = cross(e, u)
    start, kept, least = contacts_io.count[0], 0, math.inf
    lowest = first_to_touch(colliders, s, e, middle, margin, 1.0, (0.0, 0.0, 0.0))
    bottom = middle + dot(e, load3(colliders.vertices, colliders.first[s] + lowest, COLUMN))
    for k in range(len(DIRECTIONS) + 1):
        if kept == MOST_POINTS:
            break
        i, is_new = lowest, True
        is_last = k == len(DIRECTIONS) or kept == MOST_POINTS - 1
        if not (is_last and bottom < least - SAME * colliders.bound[s]):
            angle = SIXTEENTH * DIRECTIONS[k % len(DIRECTIONS)] + TURN_FIRST
            along = add(scale(math.cos(angle), u), scale(math.sin(angle), w))
            i = first_to_touch(colliders, s, e, middle, margin, TILT, along)
        for j in range(start, min(start + kept, contacts_io.gap.shape[0])):
            is_new = is_new and contacts_io.feature[j] != i
        if is_new:
            v = load3(colliders.vertices, colliders.first[s] + i, COLUMN)
            height = middle + dot(e, v)
            add_on_plane(a, b, i, is_swapped, add(c, mat_vec(R, v)), n, height, contacts_io)
            kept, least = kept + 1, min(least, height)
            j = contacts_io.count[0] - 1
            while start < j < contacts_io.gap.shape[0] and is_after(contacts_io, j - 1, j):
                swap_contacts(j - 1, j, contacts_io)
                j -= 1


@kernel
def on_plane(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of the corners of hull s with half-space t; (a, b) is the same pair in stored order."""
    n = column_z(load9(placed, t, PLACED_AXES))
    c = load3(placed, s, PLACED_CENTRE)
    R = load9(placed, s, PLACED_AXES)
    e = mat_t_vec(R, n)
    middle = dot(n, sub(c, load3(placed, t, PLACED_CENTRE)))
    if middle - colliders.bound[s] >= margin:
        return
    lowest = support(colliders, s, scale(-1.0, e))
    if middle + dot(e, (lowest[0], lowest[1], lowest[2])) >= margin:
        return
    first, near = colliders.first[s], 0
    for i in range(colliders.count[s]):
        if middle + dot(e, load3(colliders.vertices, first + i, COLUMN)) < margin:
            near += 1
    if near == 0:
        return
    if near > MOST_POINTS:
        span_on_plane(colliders, a, b, s, is_swapped, margin, n, e, middle, c, R, contacts_io)
        return
    for i in range(colliders.count[s]):
        v = load3(colliders.vertices, first + i, COLUMN)
        height = middle + dot(e, v)
        if height < margin:
            add_on_plane(a, b, i, is_swapped, add(c, mat_vec(R, v)), n, height, contacts_io)


@inline_kernel
def on_field(colliders, placed, a, b, s, t, is_swapped, margin, contacts_io):
    """Contacts of height field s with the corners of hull t."""
    for k in range(colliders.count[t]):
        p = to_field(placed, s, t, load3(colliders.vertices, colliders.first[t] + k, COLUMN))
        sharp_probe(colliders, placed, a, b, s, is_swapped, p, np.int64(k), margin, contacts_io)


@kernel
def height_over(colliders, i, x):
    """Largest height of x (3) over the faces, and the normal of that face."""
    most, normal = -math.inf, (0.0, 0.0, 1.0)
    for f in range(colliders.face_first[i], colliders.face_first[i] + colliders.face_count[i]):
        n = load3(colliders.face_normal, f, COLUMN)
        corner = load3(colliders.vertices, colliders.face_vertex[colliders.face_start[f]], COLUMN)
        height = dot(n, sub(x, corner))
        if height > most:
            most, normal = height, n
    return most, normal
