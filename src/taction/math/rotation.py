"""Rotations in kernels: quaternions (w, x, y, z) and rotation matrices as 9-tuples.

The exponential and logarithm of unit quaternions use series near zero, so that they are accurate to
rounding for every angle: with θ = ‖φ‖, exp(φ) = (cos θ/2, sin(θ/2)/θ · φ) [Sola2017, Eq. (101)].
"""

from __future__ import annotations

import math

from taction._core.jit import kernel

# Below this squared angle [rad²] the series for sin(θ/2)/θ is exact to rounding with three terms:
# the next term is θ⁶/645120 relative to 1/2, under 1e-17 for θ² < 1e-4.
SMALL_SQUARED_ANGLE = 1e-4


@kernel
def rotate_z(R, c, s):
    """R·Rz(θ) given c = cos θ and s = sin θ."""
    return (
        R[0] * c + R[1] * s, R[1] * c - R[0] * s, R[2],
        R[3] * c + R[4] * s, R[4] * c - R[3] * s, R[5],
        R[6] * c + R[7] * s, R[7] * c - R[6] * s, R[8],
    )  # fmt: skip


@kernel
def quat_load(q, k):
    """Quaternion at entries k…k+3 of a flat array, normalised."""
    w, x, y, z = q[k], q[k + 1], q[k + 2], q[k + 3]
    s = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * s, x * s, y * s, z * s


@kernel
def quat_to_mat(p):
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = p
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@kernel
def quat_mul(a, b):
    """Product a b of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def quat_of_mat(R):
    """Unit quaternion, with either sign, of a rotation matrix; its largest entry comes first, so no loss."""
    trace = R[0] + R[4] + R[8]
    if trace > 0.0:
        w = 1.0 + trace
        p = (w, R[7] - R[5], R[2] - R[6], R[3] - R[1])
    elif R[0] >= R[4] and R[0] >= R[8]:
        p = (R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6])
    elif R[4] >= R[8]:
        p = (R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7])
    else:
        p = (R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4])
    s = 1.0 / math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    return s * p[0], s * p[1], s * p[2], s * p[3]


@kernel
def quat_exp(phi):
    """Unit quaternion of the rotation vector phi [rad]."""
    t2 = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    if t2 < SMALL_SQUARED_ANGLE:
        k = 0.5 - t2 / 48.0 + t2 * t2 / 3840.0
        w = 1.0 - t2 / 8.0 + t2 * t2 / 384.0
    else:
        t = math.sqrt(t2)
        k = math.sin(0.5 * t) / t
        w = math.cos(0.5 * t)
    return w, k * phi[0], k * phi[1], k * phi[2]


@kernel
def quat_log(p):
    """Rotation vector [rad], of length at most π, of a unit quaternion."""
    w, x, y, z = p
    n2 = x * x + y * y + z * z
    if n2 < SMALL_SQUARED_ANGLE * 0.25 * w * w:
        # 2 atan(n/w)/n = 2/w (1 − u/3 + u²/5 − …) with u = n²/w²; the sign of w picks the shorter rotation
        u = n2 / (w * w)
        k = 2.0 / w * (1.0 - u / 3.0 + u * u / 5.0 - u * u * u / 7.0)
    else:
        n = math.sqrt(n2)
        k = 2.0 * math.atan2(n, abs(w)) / n
        if w < 0.0:
            k = -k
    return k * x, k * y, k * z
