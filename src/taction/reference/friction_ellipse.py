"""The nearest point of a friction ellipse, for many contacts at once.

Written for `taction.reference.transeth_snake` alone, as everything there, in NumPy: the projection that its
friction law (68) needs.

References: [Transeth2006, Section IV-B].
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array

ROOT_STEPS = 60
ROOT_ACCURACY = 1e-14  # of |y| = 1


class Ellipses:
    """prox_{C_T} of (68) on many ellipses with semi-axes μ_x Λ_N, μ_y Λ_N at once.

    The nearest point of an ellipse (a_1, a_2) to x outside it is a_i² x_i / (a_i² + θ) with θ > 0 the root of
    |y| = 1, y_i = a_i x_i / (a_i² + θ). 1/|y| is increasing and concave in θ: Newton's method on it from any
    θ ≥ 0 lands at or below the root and then rises to it. θ is kept for the next call.
    """

    def __init__(self, mu: tuple[float, float], count: int) -> None:
        self.mu = mu
        self.theta = np.zeros(count)

    def project(self, x: Array, y: Array, normal: Array) -> tuple[Array, Array]:
        """Nearest points, (a,) and (a,), to (x, y) of the ellipses that belong to Λ_N (a,) ≥ 0."""
        closed = normal > 0.0
        size = np.where(closed, normal, 1.0)  # an open contact gets zero at the end
        a, b = self.mu[0] * size, self.mu[1] * size
        if self.mu[0] == self.mu[1] or min(self.mu) == 0.0:
            if self.mu[0] == self.mu[1] and self.mu[0] > 0.0:
                scale = np.maximum(np.sqrt(x * x + y * y) / a, 1.0)
                x, y = x / scale, y / scale
            else:
                x, y = np.minimum(np.maximum(x, -a), a), np.minimum(np.maximum(y, -b), b)
            return np.where(closed, x, 0.0), np.where(closed, y, 0.0)
        aa, bb = a * a, b * b
        ax, by = a * x, b * y
        s, t = ax / aa, by / bb
        outside = s * s + t * t > 1.0
        theta = np.where(outside, self.theta, 0.0)
        for _ in range(ROOT_STEPS):
            d, e = aa + theta, bb + theta
            s, t = ax / d, by / e
            ss, tt = s * s, t * t
            pp = ss + tt
            excess = np.where(outside, np.sqrt(pp) - 1.0, 0.0)
            if max(excess.max(), -excess.min()) <= ROOT_ACCURACY:
                break
            slope = np.where(outside, ss / d + tt / e, 1.0)
            theta = np.maximum(theta + excess * pp / slope, 0.0)
        self.theta = theta
        x, y = np.where(outside, a * s, x), np.where(outside, b * t, y)
        return np.where(closed, x, 0.0), np.where(closed, y, 0.0)
