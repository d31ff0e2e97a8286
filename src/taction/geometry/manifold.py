"""Contact points of flat and straight parts: how two convex shapes touch, given where and along which normal.

What it solves: bodies rest on faces, edges and rims, not on one point. Given the normal n (from B to A), find
a few points whose separations along n describe the patch where the shapes meet. (Notation of `support`.)

Method:
1. The part of each shape that faces the other, as its file gives it; a sphere or ellipsoid has none, and
   then the pair touches in one point.
2. If a face is within acos FLUSH of the contact plane, it is the reference: the other part is cut by the
   prism over it along n, edge by edge, or by the cylinder over a cap. Of two caps, the points of each rim
   within the other disc are taken, and the two where the rims cross. Each point has its own separation along
   n.
3. Otherwise the patch is a line at most: of each face the edge farthest towards the other shape; of two lines
   nearly parallel, the ends of the stretch they share.

Features: each point is a corner of one shape or the crossing of an edge of each, whichever shape is the
reference and however the cuts were ordered, and is numbered by these corners and edges. Corners less than
`SLACK` outside count as inside, so that two equal boxes on top of each other keep their corners.

Departures: cutting planes hold the contact normal, not the normal of the face, so that opposite points lie
opposite along n; caps cut as circles, not as polygons.

Cost: about 30 operations per edge of the reference and corner of the other face.

References: [Ericson2005, Section 8.3.4] for cutting polygons; [Gregorius2013] for reference faces;
[Catto2007] for features.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.geometry.rim import RIM_NUMBERS
from taction.geometry.scratch import (
    AFTER,
    AT,
    BEFORE,
    BUFFER,
    FIRST,
    MOST_CORNERS,
    NUMBER,
    OFFSET,
    PLACE,
    SECOND,
    TURN,
    UNCUT,
    unit,
)
from taction.geometry.shapes.dispatch import has_parts, is_round, side_line
from taction.geometry.support import facing_part, set_part, shape_of, towards
from taction.math.vector import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    mat_vec,
    scale,
    store3,
    sub,
)

MOST_CUT = 2 * MOST_CORNERS + 4
REFERENCE = BUFFER  # rows of the polygon that cuts
INCIDENT = REFERENCE + MOST_CORNERS  # rows of the polygon that is cut
CUT = INCIDENT + MOST_CUT  # rows of what is left of it
FOUND = CUT + MOST_CUT  # rows of the contact points

# Columns of a contact point; the first three are its place on the core of A
FEATURE = np.int64(3)
SEPARATION = np.int64(4)  # of the cores along n [m]

FLUSH = 0.98  # cosine of the angle to the contact plane up to which a face takes part as a whole
RIM_ONLY = 0.2  # sine of the angle to a round side from which on it does not touch along a line
SLANT = 1e-2  # sine of the angle up to which two lines touch along a stretch
EDGE_SLANT = 1e-6  # the same if one is the edge of a face
SLACK = 1e-9  # corners this far outside count as inside, relative to the size of the pair


@kernel
def copy_corner(source, target, ws):
    """Copy the corner of a polygon to another row."""
    for c in range(UNCUT):
        ws[target, c] = ws[source, c]


@kernel
def set_cut(i, j, t, before, after, row, ws):
    """Write the corner at the fraction t of the edge from row i to row j."""
    p, q = load3(ws, i, AT), load3(ws, j, AT)
    store3(add_scaled(p, min(max(t, 0.0), 1.0), sub(q, p)), row, AT, ws)
    ws[row, NUMBER] = -1.0
    ws[row, BEFORE] = before
    ws[row, AFTER] = after


@kernel
def cut_by_edge(k, inward, p, slack, count, ws):
    """Keep what of the INCIDENT polygon or line lies inside of edge k of the reference; new count.

    The edge goes through p; inward is a unit vector.
    """
    least = math.inf
    for j in range(INCIDENT, INCIDENT + count):
        least = min(least, dot(inward, sub(load3(ws, j, AT), p)))
    if least >= -slack:
        return count  # nothing to cut, as most edges of a face with many corners
    new = CUT
    i = INCIDENT + count - 1
    x = dot(inward, sub(load3(ws, i, AT), p))
    for j in range(INCIDENT, INCIDENT + count):
        y = dot(inward, sub(load3(ws, j, AT), p))
        if (x < -slack) != (y < -slack) and (count > 2 or j > INCIDENT):
            if y < -slack:
                set_cut(i, j, x / (x - y), ws[i, AFTER], -1.0 - k, new, ws)
            else:
                set_cut(i, j, x / (x - y), -1.0 - k, ws[i, AFTER], new, ws)
            new += 1
        if y >= -slack:
            copy_corner(j, new, ws)
            new += 1
        i, x = j, y
    for c in range(new - CUT):
        copy_corner(CUT + c, INCIDENT + c, ws)
    return new - CUT


@kernel
def cut_by_disc(centre, axis, radius, out, slack, count, ws):
    """Keep the corners of the INCIDENT polygon or line within a disc seen along out, and the crossings.

    Crossings inwards count as edge 0 of the reference, outwards as edge 1. Returns the new count.
    """
    new = CUT
    rr = (radius + slack) * (radius + slack)
    for c in range(count):
        i, j = INCIDENT + c, INCIDENT + (c + 1) % count
        p, e = sub(load3(ws, i, AT), centre), sub(load3(ws, j, AT), load3(ws, i, AT))
        p = add_scaled(p, -dot(axis, p) / dot(axis, out), out)
        e = add_scaled(e, -dot(axis, e) / dot(axis, out), out)
        ee, pe, pp = dot(e, e), dot(p, e), dot(p, p)
        is_in, is_end_in = pp <= rr, pp + 2.0 * pe + ee <= rr
        if is_in:
            copy_corner(i, new, ws)
            new += 1
        root = pe * pe - ee * (pp - radius * radius)
        if (is_in and is_end_in) or (count == 2 and c == 1) or not root > 0.0:
            continue
        root = math.sqrt(root)
        if not is_in and 0.0 <= -pe - root <= ee:
            set_cut(i, j, (-pe - root) / ee, -1.0, float(c), new, ws)
            new += 1
        if not is_end_in and 0.0 <= root - pe <= ee:
            set_cut(i, j, (root - pe) / ee, float(c), -2.0, new, ws)
            new += 1
    for c in range(new - CUT):
        copy_corner(CUT + c, INCIDENT + c, ws)
    return new - CUT


@kernel
def add_point(a, apart, feature, most, found, ws):
    """Add a contact point at a on A unless its separation is too large; returns the number found."""
    if not apart < most:
        return found
    row = FOUND + found
    store3(a, row, AT, ws)
    ws[row, FEATURE] = feature
    ws[row, SEPARATION] = apart
    return found + 1


@kernel
def corner_numbers(colliders, side, ws):
    """Upper bound of the numbers of corners of a shape."""
    count = colliders.count[shape_of(side, ws)[1]]
    return count if count > 0 else RIM_NUMBERS


@kernel
def corner_feature(side, number):
    """Feature of a corner of the shape on a side."""
    return 4.0 * number + (1.0 if side == FIRST else 2.0)


@kernel
def cut_feature(colliders, row, reference, n_reference, n_incident, ws):
    """Feature of a corner of the cut polygon: a corner of either shape, or an edge of each."""
    incident = SECOND if reference == FIRST else FIRST
    if ws[row, NUMBER] >= 0.0:
        return corner_feature(incident, ws[row, NUMBER])
    before, after = int(ws[row, BEFORE]), int(ws[row, AFTER])
    if before < 0 and after < 0:
        return corner_feature(reference, ws[REFERENCE - 1 - after, UNCUT])
    i, k = max(before, after), -1 - min(before, after)
    p, q = ws[INCIDENT + i, UNCUT], ws[INCIDENT + (i + 1) % n_incident, UNCUT]
    x = int(min(p, q)) * corner_numbers(colliders, incident, ws) + int(max(p, q))
    y = k
    if n_reference > 0:
        p, q = ws[REFERENCE + k, UNCUT], ws[REFERENCE + (k + 1) % n_reference, UNCUT]
        y = int(min(p, q)) * corner_numbers(colliders, reference, ws) + int(max(p, q))
    if reference == FIRST:
        x, y = y, x
    numbers = corner_numbers(colliders, SECOND, ws)
    return float(4 * (x * numbers * numbers + y) + 3)


@kernel
def cut_faces(colliders, reference, face, m, other, n, most, slack, ws):
    """Step 2: contact points between a face, the reference, and the face or line of the other shape.

    m: outward normal of the reference, A's axes; other: the other's face, −1 for a line; most: separation
    from which on a point is left out. Returns their number.
    """
    is_first = reference == FIRST
    incident = SECOND if is_first else FIRST
    out = scale(-1.0, n) if is_first else n
    d = towards(incident, n, ws)
    n_incident = set_part(colliders, incident, other, d, INCIDENT, ws)
    count, n_reference = n_incident, np.int64(0)
    kind, i = shape_of(reference, ws)
    if is_round(kind):
        o = scale(colliders.size[i, 1], m)
        if not is_first:
            o = add(o, load3(ws, PLACE, OFFSET))
        count = cut_by_disc(o, m, colliders.size[i, 0], out, slack, count, ws)
    else:
        n_reference = set_part(colliders, reference, face, d, REFERENCE, ws)
        o = load3(ws, REFERENCE, AT)
        for k in range(n_reference):
            p, q = load3(ws, REFERENCE + k, AT), load3(ws, REFERENCE + (k + 1) % n_reference, AT)
            if count > 0:
                count = cut_by_edge(k, unit(cross(out, sub(q, p))), p, slack, count, ws)
    found = np.int64(0)
    for k in range(count):
        p = load3(ws, INCIDENT + k, AT)
        apart = dot(m, sub(p, o)) / dot(m, out)
        if is_first:
            p = add_scaled(p, apart, n)
        feature = cut_feature(colliders, INCIDENT + k, reference, n_reference, n_incident, ws)
        found = add_point(p, apart, feature, most, found, ws)
    return found


@kernel
def match_caps(colliders, face_a, face_b, m_a, m_b, n, most, slack, ws):
    """Step 2 for two caps, with outward normals m_a, m_b in A's axes; returns the number of points."""
    i, j = shape_of(FIRST, ws)[1], shape_of(SECOND, ws)[1]
    o_a = scale(colliders.size[i, 1], m_a)
    o_b = add_scaled(load3(ws, PLACE, OFFSET), colliders.size[j, 1], m_b)
    r_a, r_b = colliders.size[i, 0], colliders.size[j, 0]
    set_part(colliders, FIRST, face_a, towards(FIRST, n, ws), INCIDENT, ws)
    set_part(colliders, SECOND, face_b, towards(SECOND, n, ws), REFERENCE, ws)
    found = np.int64(0)
    for k in range(8):
        p = load3(ws, INCIDENT + k, AT)
        apart = dot(m_b, sub(p, o_b)) / dot(m_b, n)
        q = sub(add_scaled(p, -apart, n), o_b)
        if dot(q, q) <= (r_b + slack) * (r_b + slack):
            feature = corner_feature(FIRST, ws[INCIDENT + k, NUMBER])
            found = add_point(p, apart, feature, most, found, ws)
        p = load3(ws, REFERENCE + k, AT)
        apart = -dot(m_a, sub(p, o_a)) / dot(m_a, n)
        p = add_scaled(p, apart, n)
        q = sub(p, o_a)
        if dot(q, q) <= (r_a + slack) * (r_a + slack):
            feature = corner_feature(SECOND, ws[REFERENCE + k, NUMBER])
            found = add_point(p, apart, feature, most, found, ws)
    u = sub(o_b, o_a)
    u = add_scaled(u, -dot(u, m_a), m_a)
    far = math.sqrt(dot(u, u))
    x = 0.5 * (far + (r_a - r_b) * (r_a + r_b) / far) if far > slack else math.inf
    if abs(x) < r_a:
        y, v = math.sqrt(r_a * r_a - x * x), cross(m_a, u)
        for k in range(2):
            p = add_scaled(add_scaled(o_a, x / far, u), y / far if k == 0 else -y / far, v)
            apart = dot(m_b, sub(p, o_b)) / dot(m_b, n)
            found = add_point(p, apart, 4.0 * k + 3.0, most, found, ws)
    return found


@kernel
def set_line(colliders, side, face, n, row, ws):
    """Line of a shape for step 3 in two rows: of a face its farthest edge towards the other shape."""
    count = set_part(colliders, side, face, towards(side, n, ws), row, ws)
    if count > 2:
        best, at = -math.inf, np.int64(0)
        for k in range(count):
            p = add(load3(ws, row + k, AT), load3(ws, row + (k + 1) % count, AT))
            value = -dot(n, p) if side == FIRST else dot(n, p)
            if value > best:
                best, at = value, k
        copy_corner(row + at, CUT, ws)
        copy_corner(row + (at + 1) % count, row + 1, ws)
        copy_corner(CUT, row, ws)


@kernel
def line_radius(colliders, side, n, x, ws):
    """Radius of curvature across the line of a round side, at the fraction x of it; 0 for edges [m]."""
    kind, i = shape_of(side, ws)
    if not is_round(kind):
        return 0.0
    line = side_line(kind, colliders, i, towards(side, n, ws))
    return line[3] + x * (line[4] - line[3])


@kernel
def match_lines(colliders, face_a, face_b, n, most, slack, ws):
    """Step 3: the ends of the stretch that two nearly parallel lines share; returns their number."""
    set_line(colliders, FIRST, face_a, n, REFERENCE, ws)
    set_line(colliders, SECOND, face_b, n, INCIDENT, ws)
    p, q = load3(ws, REFERENCE, AT), load3(ws, INCIDENT, AT)
    e, g = sub(load3(ws, REFERENCE + 1, AT), p), sub(load3(ws, INCIDENT + 1, AT), q)
    ee, eg, across = dot(e, e), dot(e, g), cross(e, g)
    slant = SLANT if face_a < 0 and face_b < 0 else EDGE_SLANT
    if dot(across, across) > slant * slant * ee * dot(g, g):
        return np.int64(0)
    found = np.int64(0)
    for end in range(2):
        # the end of A's line, or that of B's if it comes first, at the fraction x of A's
        k = INCIDENT + (end if eg > 0.0 else 1 - end)
        x, y = float(end), dot(e, sub(load3(ws, k, AT), p)) / ee
        feature = corner_feature(FIRST, ws[REFERENCE + end, NUMBER])
        if y > slack if end == 0 else y < 1.0 - slack:
            x, feature = y, corner_feature(SECOND, ws[k, NUMBER])
        a = add_scaled(p, x, e)
        y = dot(e, sub(a, q)) / eg
        v = sub(a, add_scaled(q, y, g))
        radius = line_radius(colliders, FIRST, n, x, ws) + line_radius(colliders, SECOND, n, y, ws)
        apart, beside = dot(n, v) + radius, dot(unit(cross(n, e)), v)
        apart = math.sqrt(apart * apart + beside * beside) - radius if beside != 0.0 else apart - radius
        if -slack <= x <= 1.0 + slack and -slack <= y <= 1.0 + slack:
            found = add_point(a, apart, feature, most, found, ws)
    return found


@kernel
def find_points(colliders, n, most, size, ws):
    """Contact points with a separation below most, in the rows FOUND…; their number, 0 if a point touches."""
    (kind_a, i), (kind_b, j) = shape_of(FIRST, ws), shape_of(SECOND, ws)
    if not (has_parts(kind_a) and has_parts(kind_b)):
        return np.int64(0)
    R = load9(ws, PLACE, TURN)
    d_a, d_b = towards(FIRST, n, ws), towards(SECOND, n, ws)
    face_a, m_a, cos_a = facing_part(kind_a, colliders, i, d_a)
    face_b, m_b, cos_b = facing_part(kind_b, colliders, j, d_b)
    is_round_a, is_round_b = is_round(kind_a), is_round(kind_b)
    is_a, is_b = cos_a >= FLUSH, cos_b >= FLUSH
    if is_a and is_b:
        if is_round_a and is_round_b:
            return match_caps(colliders, face_a, face_b, m_a, mat_vec(R, m_b), n, most, SLACK * size, ws)
        is_a = not is_round_a and (is_round_b or cos_a >= cos_b - EDGE_SLANT)
    if is_a:
        return cut_faces(colliders, FIRST, face_a, m_a, face_b, n, most, SLACK * size, ws)
    if is_b:
        return cut_faces(colliders, SECOND, face_b, mat_vec(R, m_b), face_a, n, most, SLACK * size, ws)
    if is_round_a and abs(dot(side_line(kind_a, colliders, i, d_a)[1], d_a)) > RIM_ONLY:
        return np.int64(0)
    if is_round_b and abs(dot(side_line(kind_b, colliders, j, d_b)[1], d_b)) > RIM_ONLY:
        return np.int64(0)
    return match_lines(colliders, face_a, face_b, n, most, SLACK, ws)
