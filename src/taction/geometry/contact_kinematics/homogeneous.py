"""Points, free vectors, poses and twists in homogeneous coordinates.

A pose is a matrix H (4, 4) that takes coordinates in frame 2 to coordinates in frame 1: H_2^1. A point is
(x, y, z, 1), a free vector (x, y, z, 0); H acts on both, and moves free vectors by its rotation alone. A
twist (ω, v) of body 2 against body 1, in frame 1, is the matrix
    T̃ = [ω̃ v; 0 0] = Ḣ H⁻¹,
so that T̃ p is the velocity of a point p of body 2 and T̃ n the rate of a vector n of body 2.

References: [DuindamStramigioli2003, Section 2.1 and Table 1].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction.math.transform import Transform, skew

ORTHOGONAL = 1e-9  # by which R Rᵀ may differ from 1


def as_pose(H: ArrayLike | Transform) -> Array:
    """A pose (4, 4), checked; a `Transform` as its matrix."""
    if isinstance(H, Transform):
        return H.matrix
    H = as_float(H, (4, 4), "pose H")
    R = H[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > ORTHOGONAL or np.linalg.det(R) < 0.0:
        raise BadInput("pose H: its upper left part is not a rotation matrix")
    if (H[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise BadInput("pose H: its last row must be 0, 0, 0, 1")
    return H


def as_twist(T: ArrayLike) -> Array:
    """A twist (6,), angular first [rad/s, m/s]."""
    return as_float(T, (6,), "twist")


def inverse(H: Array) -> Array:
    """H_1^2 of H_2^1."""
    out = np.eye(4)
    out[:3, :3] = H[:3, :3].T
    out[:3, 3] = -H[:3, :3].T @ H[:3, 3]
    return out


def tilde(T: Array) -> Array:
    """T̃ (4, 4) of a twist (6,)."""
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = skew(T[:3]), T[3:]
    return out


def point(p: Array) -> Array:
    """(p, 1)."""
    return np.append(p, 1.0)


def free(n: Array) -> Array:
    """(n, 0)."""
    return np.append(n, 0.0)


def tensor(g: Array) -> Array:
    """A matrix (3, 3) of free vectors as one (4, 4)."""
    out = np.zeros((4, 4))
    out[:3, :3] = g
    return out
