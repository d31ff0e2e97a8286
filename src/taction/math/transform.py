"""Rigid placements for descriptions and compilation (plain NumPy; the kernels have their own form).

A `Transform` X_AB maps coordinates in frame B to coordinates in frame A: p_A = R p_B + t.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float, is_finite
from taction._core.errors import BadInput
from taction._core.expect import given, instance
from taction._core.show import brief


def skew(v: ArrayLike) -> Array:
    """Matrix of the cross product: ``skew(v) @ w == cross(v, w)``."""
    x, y, z = np.asarray(v, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotation matrix by ``angle`` [rad] about a unit ``axis`` (Rodrigues)."""
    k = skew(axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Rotation matrix from fixed-axis roll, pitch, yaw [rad]: Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = np.asarray(rpy, dtype=float)
    turns = ([0, 0, 1], yaw), ([0, 1, 0], pitch), ([1, 0, 0], roll)
    # descriptions of robots are full of zeros
    made = [rotation_about(axis, angle) for axis, angle in turns if angle != 0.0]
    out = made[0] if made else np.eye(3)
    for rotation in made[1:]:
        out = out @ rotation
    return out


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation matrix from a quaternion (w, x, y, z) of any non-zero length."""
    q = as_float(quaternion, (4,), "quaternion")
    norm = np.linalg.norm(q)
    if norm < 1e-12:
        raise BadInput("quaternion: has zero length")
    w, x, y, z = q / norm
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(rotation: ArrayLike) -> Array:
    """Unit quaternion (w, x, y, z), w ≥ 0, of a rotation matrix (largest-component form, never singular)."""
    R = np.asarray(rotation, dtype=float)
    # 4 q qᵀ, whose largest row is far from cancellation
    K = np.array(
        [
            [1 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - R[0, 0] + R[1, 1] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - R[0, 0] - R[1, 1] + R[2, 2]],
        ]
    )
    q = K[int(np.argmax(np.diag(K)))]
    q = q / np.linalg.norm(q)
    return -q if q[0] < 0 else q


def rotation_aligning_z(axis: ArrayLike) -> Array:
    """A rotation whose third column is the unit vector ``axis``; identity for +z, smooth near it.

    The frame of [Duff2017]: no case distinction but the sign of z, accurate to rounding everywhere.
    """
    x, y, z = np.asarray(axis, dtype=float)
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array(
        [
            [1.0 + sign * x * x * a, b, x],
            [sign * b, sign + y * y * a, y],
            [-sign * x, -y, z],
        ]
    )


_IDENTITY = np.eye(3).tobytes()


@dataclass(frozen=True, eq=False)
class Transform:
    """Placement X_AB of frame B in frame A.

    Attributes:
        rotation: R_AB, shape (3, 3).
        translation: origin of B in A [m], shape (3,).
    """

    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        R = as_float(self.rotation, (3, 3), "rotation")
        is_plain = R.tobytes() == _IDENTITY  # as most are
        if not is_plain and (np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0):
            raise BadInput("rotation: not a proper rotation matrix")
        object.__setattr__(self, "rotation", R)
        object.__setattr__(self, "translation", as_float(self.translation, (3,), "translation"))

    @classmethod
    def from_rpy(cls, xyz: ArrayLike = (0, 0, 0), rpy: ArrayLike = (0, 0, 0)) -> Transform:
        """Placement from a translation [m] and fixed-axis roll, pitch, yaw [rad], as in URDF."""
        return _made(rotation_from_rpy(as_float(rpy, (3,), "rpy")), as_float(xyz, (3,), "xyz"))

    @classmethod
    def from_quaternion(cls, xyz: ArrayLike = (0, 0, 0), quaternion: ArrayLike = (1, 0, 0, 0)) -> Transform:
        """Placement from a translation [m] and a quaternion (w, x, y, z)."""
        return cls(rotation_from_quaternion(quaternion), as_float(xyz, (3,), "xyz"))

    def __repr__(self) -> str:
        R = self.rotation
        rpy = np.arctan2(R[2, 1], R[2, 2]), np.arcsin(np.clip(-R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
        if abs(R[2, 0]) > 1.0 - 1e-12:  # pitch of a right angle: yaw alone
            rpy = 0.0, rpy[1], np.arctan2(-R[0, 1], R[1, 1])
        return f"Transform(xyz={brief(self.translation + 0.0)} m, rpy={brief(np.array(rpy) + 0.0)} rad)"

    def __matmul__(self, other: Transform) -> Transform:
        instance(other, Transform, "what a Transform is multiplied with (@)")
        return _made(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def inverse(self) -> Transform:
        """The placement X_BA."""
        return _made(np.ascontiguousarray(self.rotation.T), -self.rotation.T @ self.translation)

    def apply(self, points: ArrayLike) -> Array:
        """Map points from B to A coordinates; shape (..., 3)."""
        try:
            return np.asarray(points, dtype=float) @ self.rotation.T + self.translation
        except (TypeError, ValueError):
            raise BadInput(f"points must be numbers of shape (..., 3), got {given(points)}") from None

    @property
    def quaternion(self) -> Array:
        """Rotation as a unit quaternion (w, x, y, z)."""
        return quaternion_from_rotation(self.rotation)

    @property
    def matrix(self) -> Array:
        """Homogeneous 4×4 matrix."""
        out = np.eye(4)
        out[:3, :3] = self.rotation
        out[:3, 3] = self.translation
        return out


def _made(rotation: Array, translation: Array) -> Transform:
    """A placement made of checked ones: its rotation is one, its translation may have overflowed."""
    if not is_finite(translation):
        raise BadInput("translation: contains NaN or infinity")
    out = object.__new__(Transform)
    object.__setattr__(out, "rotation", rotation)
    object.__setattr__(out, "translation", translation)
    return out
