"""Scratch of one world for all tree algorithms: never saved, never read before it is written.

One row per link, one array for everything, so that kernels pass one argument and a link's numbers lie
together. Columns start at the constants below; all quantities are in world axes, about the link origin.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.model import Model

AXES = 0  # 9: link axes in the world
SHIFT = 9  # 3: link origin from the parent's origin [m]
ORIGIN = 12  # 3: link origin in the world [m]
BASE_AXES = 15  # 9: axes of a floating link's linear coordinates in the world
OMEGA = 24  # 3: angular velocity [rad/s]
SPEED = 27  # 3: velocity of the origin [m/s]
ALPHA = 30  # 3: angular acceleration [rad/s²]
ACCEL = 33  # 3: acceleration of the origin [m/s²]
MOMENT = 36  # 3: moment [N m]
FORCE = 39  # 3: force [N]
MASS = 42  # 1: composite mass [kg]
FIRST = 43  # 3: composite first moment of mass [kg m]
INERTIA = 46  # 21: blocks A (6), B (9), D (6) of an inertia [kg m², kg m, kg]
BIAS_W = 67  # 3: angular acceleration due to velocities [rad/s²]
BIAS_A = 70  # 3: linear acceleration due to velocities [m/s²]
U_W = 73  # 3: articulated inertia times joint axis, angular part
U_A = 76  # 3: the same, linear part
INVERSE_D = 79  # 1: inverse joint-space inertia of a single-axis link
FACTOR_K = 80  # 6: factored joint-space inertia of a spherical link
REST = 86  # 3: joint force left after the bias
WIDTH = 89


def make_workspace(model: Model) -> Array:
    """Allocate the scratch of one world, shape (n, WIDTH)."""
    ws = np.zeros((model.n_links, WIDTH))
    ws[0, AXES : AXES + 9] = np.eye(3).ravel()
    return ws


def vectors(ws: Array, column: int) -> Array:
    """The 3-vectors of all links that start at a column, shape (n, 3)."""
    return ws[:, column : column + 3]


def matrices(ws: Array, column: int) -> Array:
    """The 3×3 matrices of all links that start at a column, shape (n, 3, 3)."""
    return ws[:, column : column + 9].reshape(-1, 3, 3)
