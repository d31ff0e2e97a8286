"""Scratch of one world for all tree algorithms: never saved, never read before it is written."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.model.model import Model


class Workspace(NamedTuple):
    """Per-link scratch (n links), all in world axes about the link origin."""

    R: Array  # (n, 9) link axes in the world
    J: Array  # (n, 9) axes of a floating link's linear coordinates in the world
    r: Array  # (n, 3) link origin from the parent's origin [m]
    p: Array  # (n, 3) link origin in the world [m]
    w: Array  # (n, 3) angular velocity [rad/s]
    alpha: Array  # (n, 3) angular acceleration [rad/s²]
    a: Array  # (n, 3) linear acceleration of the origin [m/s²]
    t: Array  # (n, 3) moment [N m]
    f: Array  # (n, 3) force [N]
    m: Array  # (n,) composite mass [kg]
    h: Array  # (n, 3) first moment of mass [kg m]
    A: Array  # (n, 6) angular block of an inertia [kg m²]
    B: Array  # (n, 9) coupling block [kg m]
    D: Array  # (n, 6) linear block [kg]
    c_w: Array  # (n, 3) velocity-product angular acceleration [rad/s²]
    c_a: Array  # (n, 3) velocity-product linear acceleration [m/s²]
    U_w: Array  # (n, 3) articulated inertia times joint axis, angular part
    U_a: Array  # (n, 3) the same, linear part
    K: Array  # (n, 6) inverse joint-space inertia of a spherical link
    d: Array  # (n,) inverse joint-space inertia of a single-axis link
    u: Array  # (n, 3) joint force left after the bias
    dof: Array  # (nv,) one vector of degrees of freedom


_WIDTH = {"R": 9, "J": 9, "B": 9, "A": 6, "D": 6, "K": 6, "m": 0, "d": 0}


def make_workspace(model: Model) -> Workspace:
    """Allocate the scratch of one world."""
    arrays = {}
    for name in Workspace._fields[:-1]:
        width = _WIDTH.get(name, 3)
        arrays[name] = np.zeros((model.n_links, width) if width else model.n_links)
    arrays["R"][0] = np.eye(3).ravel()
    return Workspace(**arrays, dof=np.zeros(model.nv))
