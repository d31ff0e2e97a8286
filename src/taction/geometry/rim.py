"""Rims and lines of round solids, as the corners of polygons.

A rim has no corners: eight points stand for it, fixed to the solid, but the one nearest to the farthest point
of the rim along d moves there, so that this is always among them, tilted or not. Points are numbered 0–7 on
the rim of the lower cap, 8–15 on that of the upper one; 16 and 17 are the lower and the upper end of a line
on the side.

References: none; contact points are cut out of these polygons in `manifold`.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import kernel
from taction.geometry.scratch import set_corner

TILT = 1e-9  # of a cap against d below which no point of its rim is the farthest [rad]
OCTANT = 0.25 * math.pi
RIM_NUMBERS = 18  # numbers of corners are below this
LOWER_CAP, UPPER_CAP = np.int64(4), np.int64(5)  # numbers of faces, those of a box on ∓z


@kernel
def set_rim(r, h, face, d, side, row, ws):
    """Points of the rim with radius r of a cap at ∓h, counter-clockwise from outside; their number."""
    angle, is_tilted = math.atan2(d[1], d[0]), d[0] * d[0] + d[1] * d[1] > TILT * TILT
    moved = math.floor(angle / OCTANT + 0.5) % 8
    for k in range(8):
        j = k if face == UPPER_CAP else 7 - k
        x, z, number = OCTANT * j, -h if face == LOWER_CAP else h, j + 8 * (face - LOWER_CAP)
        if is_tilted and j == moved:
            x = angle
        set_corner((r * math.cos(x), r * math.sin(x), z), float(number), k, side, row, ws)
    return np.int64(8)


@kernel
def set_line_ends(lower, upper, side, row, ws):
    """The ends of a line on the side, or of a segment; their number."""
    set_corner(lower, 16.0, 0, side, row, ws)
    set_corner(upper, 17.0, 1, side, row, ws)
    return np.int64(2)
