"""A run at other times: states, forces and energies between the recorded ones.

Between two recorded times t_k ≤ s ≤ t_{k+1}, with the share w = (s − t_k) / (t_{k+1} − t_k):

1. positions, velocities and energies are (1 − w) x_k + w x_{k+1}; 2. a quaternion turns at a constant rate
about a fixed axis, p = p_k ⊗ exp(w log(p_k* ⊗ p_{k+1})), on the shorter of
   the two ways [Shoemake1985]: exact where the angular velocity is constant, of unit length always;
3. joint forces are those held since t_k.

Linear interpolation is off by at most ⅛ h² |ẍ|, except across an impact: there a velocity jumps within one
step.

References: [Shoemake1985].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.expect import number
from taction._core.show import brief_repr

# A new time this close to a recorded one, in recorded steps, is that one: rounding must not pick the next.
SAME = 1e-9


class Samples(NamedTuple):
    """States, forces and energies at evenly spaced times."""

    t: Array  # (m,) [s]
    q: Array  # (m, nq)
    v: Array  # (m, nv)
    tau: Array  # (m, nv) [N or N m]
    kinetic: Array  # (m,) [J]
    potential: Array  # (m,) [J]

    def __repr__(self) -> str:
        return brief_repr(self)


def new_times(t: Array, dt: float) -> Array:
    """Times from the first of t (n,) on, dt apart, none later than the last."""
    dt = number(dt, "dt")
    if not (np.isfinite(dt) and dt > 0):
        raise BadInput(f"dt must be positive and finite, got {dt}")
    count = int((t[-1] - t[0]) / dt * (1.0 + SAME)) + 1
    return np.minimum(t[0] + dt * np.arange(count), t[-1])


def place(t: Array, times: Array) -> tuple[IntArray, Array]:
    """Recorded time before each new one, and the share of the interval that has passed, shapes (m,)."""
    if len(t) == 1:
        return np.zeros(len(times), dtype=np.int64), np.zeros(len(times))
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    share = (times - t[k]) / (t[k + 1] - t[k])
    is_next = share > 1.0 - SAME
    k, share = np.where(is_next, k + 1, k), np.where(is_next | (share < SAME), 0.0, share)
    return k, share


def interpolate(x: Array, k: IntArray, share: Array) -> Array:
    """Rows of x (n, …) between rows k and k + 1."""
    after = np.minimum(k + 1, len(x) - 1)
    w = share.reshape(-1, *[1] * (x.ndim - 1))
    return np.where(w == 0.0, x[k], (1.0 - w) * x[k] + w * x[after])


def turn(p: Array, k: IntArray, share: Array) -> Array:
    """Unit quaternions between rows k and k + 1 of p (n, 4), at a constant rate."""
    a, b = p[k], p[np.minimum(k + 1, len(p) - 1)]
    cosine = (a * b).sum(1)
    b = np.where(cosine < 0.0, -1.0, 1.0)[:, None] * b
    half = np.arctan2(np.linalg.norm(b - a, axis=1), np.linalg.norm(b + a, axis=1))
    angle = 2.0 * half  # between a and b on the sphere; exact for small ones, where arccos is not
    sine = np.sin(angle)
    is_small = sine < 1e-8
    safe = np.where(is_small, 1.0, sine)
    one = np.where(is_small, 1.0 - share, np.sin((1.0 - share) * angle) / safe)
    other = np.where(is_small, share, np.sin(share * angle) / safe)
    out = one[:, None] * a + other[:, None] * b
    out /= np.linalg.norm(out, axis=1)[:, None]
    return np.where((share == 0.0)[:, None], a, out)
