"""Scratch of one world for all tree algorithms: never saved, never read before it is written.

One row per link, one array for everything, so that kernels pass one argument and a link's numbers lie
together. Columns start at the constants below; all quantities are in world axes, about the link origin.

The constants are NumPy integers because Numba by itself compiles a function anew for every *literal* integer
it is called with; `taction._core.jit_inner` does not, but is left out with versions of Numba it was not tried
with.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.model import Model

AXES = np.int64(0)  # 9: link axes in the world
SHIFT = np.int64(9)  # 3: link origin from the parent's origin [m]
ORIGIN = np.int64(12)  # 3: link origin in the world [m]
OMEGA = np.int64(15)  # 3: angular velocity [rad/s]
ALPHA = np.int64(18)  # 3: angular acceleration [rad/s²]
ACCEL = np.int64(21)  # 3: acceleration of the origin [m/s²]
MOMENT = np.int64(24)  # 3: moment [N m]
FORCE = np.int64(27)  # 3: force [N]
INERTIA = np.int64(30)  # 21: blocks A (6), B (9), D (6) of an inertia [kg m², kg m, kg]
U_W = np.int64(51)  # 3: articulated inertia times joint axis, angular part
U_A = np.int64(54)  # 3: the same, linear part
INVERSE_D = np.int64(57)  # 1: inverse joint-space inertia of a single-axis link
REST = np.int64(58)  # 3: joint force left after the bias
SPEED = np.int64(61)  # 3: velocity of the origin [m/s]
MASS = np.int64(64)  # 1: composite mass [kg]
FIRST = np.int64(65)  # 3: composite first moment of mass [kg m]
WIDTH = 72  # nine cache lines

# Columns with two names. Accelerations start as their velocity-dependent part; a floating link has no joint
# axis and a spherical one no single axis, so theirs hold what those need instead.
BIAS_W = ALPHA  # 3: angular acceleration due to velocities [rad/s²]
BIAS_A = ACCEL  # 3: linear acceleration due to velocities [m/s²]
BASE_AXES = U_W  # 9: axes of a floating link's linear coordinates in the world
FACTOR_K = U_W  # 6: factored joint-space inertia of a spherical link


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
