"""Scratch of one world for all tree algorithms: never saved, never read before it is written.

One row per link, one array for everything, so that kernels pass one argument and a link's numbers lie
together. Columns start at the constants below; all quantities are in world axes, about the link origin.

The constants are NumPy integers because Numba compiles a function anew for every *literal* integer it is
called with: twenty columns would make twenty copies of every load and store.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.model import Model

AXES = np.int64(0)  # 9: link axes in the world
SHIFT = np.int64(9)  # 3: link origin from the parent's origin [m]
ORIGIN = np.int64(12)  # 3: link origin in the world [m]
BASE_AXES = np.int64(15)  # 9: axes of a floating link's linear coordinates in the world
OMEGA = np.int64(24)  # 3: angular velocity [rad/s]
SPEED = np.int64(27)  # 3: velocity of the origin [m/s]
ALPHA = np.int64(30)  # 3: angular acceleration [rad/s²]
ACCEL = np.int64(33)  # 3: acceleration of the origin [m/s²]
MOMENT = np.int64(36)  # 3: moment [N m]
FORCE = np.int64(39)  # 3: force [N]
MASS = np.int64(42)  # 1: composite mass [kg]
FIRST = np.int64(43)  # 3: composite first moment of mass [kg m]
INERTIA = np.int64(46)  # 21: blocks A (6), B (9), D (6) of an inertia [kg m², kg m, kg]
BIAS_W = np.int64(67)  # 3: angular acceleration due to velocities [rad/s²]
BIAS_A = np.int64(70)  # 3: linear acceleration due to velocities [m/s²]
U_W = np.int64(73)  # 3: articulated inertia times joint axis, angular part
U_A = np.int64(76)  # 3: the same, linear part
INVERSE_D = np.int64(79)  # 1: inverse joint-space inertia of a single-axis link
FACTOR_K = np.int64(80)  # 6: factored joint-space inertia of a spherical link
REST = np.int64(86)  # 3: joint force left after the bias
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
