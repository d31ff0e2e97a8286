"""A solid that is not convex: an angle bracket."""

from __future__ import annotations

import numpy as np

import taction as ta

SIDE, ARM = 0.3, 0.1  # of an angle bracket [m]
CORNERS = np.array([(0, 0), (SIDE, 0), (SIDE, ARM), (ARM, ARM), (ARM, SIDE), (0, SIDE)])


def bracket() -> ta.Mesh:
    """A prism of 0.1 m over an L."""
    points = np.vstack([np.column_stack([CORNERS, np.full(6, z)]) for z in (0.0, 0.1)])
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(c, b, a) for a, b, c in cap] + [(a + 6, b + 6, c + 6) for a, b, c in cap]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return ta.Mesh(points, np.array(faces))
