"""Parameters, states and the friction ellipse of the snake document's simulation.

Data of `taction.robots.snake_document`, whose text has the notation, and the projection that its friction law
needs: written for itself, as everything there, in NumPy.

References: [Transeth2006, Sections IV-B and VII].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput, ModelError
from taction.robots._parts import PIDGain, require_count, require_not_negative, require_positive
from taction.robots.snake import SNAKE_GAINS

ROOT_STEPS = 60
ROOT_ACCURACY = 1e-14
ROUGH = 1e-3  # change relative to the impulses above which the limit of iterations is a failure
RANGES = {
    "midpoint": ("implicit", "explicit"),
    "friction_at": ("centre", "contact"),
    "damping": ("joint", "link"),
}


@dataclass(frozen=True, kw_only=True)
class SnakeParameters:
    """Numbers of Section VII, and the readings of what is printed ambiguously.

    Attributes:
        links: n, at least 1.
        length: L_i, joint to joint [m]; a number or one per link, as are all up to ``inertia_axial``.
        sphere_distance: L_GS,i, centre of the link to centre of a sphere [m].
        mass: m_i [kg].
        inertia_transverse: Θ_1i [kg m²].
        inertia_axial: Θ_3i [kg m²].
        radius: L_SC, of the spheres [m].
        friction: μ_Tx along the link, μ_Ty across it.
        gravity: g [m/s²], downwards.
        horizontal: gains of α_h, K_h,p [N m] and K_h,d [N m s] (printed in N m).
        vertical: gains of α_v.
        r_N: parameter of (67) [kg].
        r_T: parameter of (68) [kg].
        epsilon: tolerance of (70) [N s].
        max_iterations: of the Modified Newton algorithm in one step. A step that reaches it says so by its
            last change; it fails if that is above `ROUGH` of the impulses.
        midpoint: "implicit", (54) as printed, or "explicit", with F(q_A).
        friction_at: where W_T takes its velocity: "centre" of the sphere, as printed, or "contact" point.
        damping: of the controllers, on the rate of the "joint" or, as printed, of one "link".
    """

    links: int = 11
    length: float | Sequence[float] = 0.269
    sphere_distance: float | Sequence[float] = 0.1016
    mass: float | Sequence[float] = 7.0
    inertia_transverse: float | Sequence[float] = 0.045
    inertia_axial: float | Sequence[float] = 0.0055
    radius: float = 0.0795
    friction: tuple[float, float] = (0.01, 0.05)
    gravity: float = 9.81
    horizontal: PIDGain = SNAKE_GAINS["horizontal"]
    vertical: PIDGain = SNAKE_GAINS["vertical"]
    r_N: float = 2.0
    r_T: float = 0.5
    epsilon: float = 1e-6
    max_iterations: int = 2000
    midpoint: str = "implicit"
    friction_at: str = "centre"
    damping: str = "joint"

    def __post_init__(self) -> None:
        require_count(links=self.links, max_iterations=self.max_iterations)
        require_positive(radius=self.radius, r_N=self.r_N, r_T=self.r_T, epsilon=self.epsilon)
        require_not_negative(gravity=self.gravity)
        if len(self.friction) != 2:
            raise ModelError(f"friction needs (along, across), got {self.friction!r}")
        require_not_negative(along=self.friction[0], across=self.friction[1])
        for name in ("length", "sphere_distance", "mass", "inertia_transverse", "inertia_axial"):
            require_positive(**{f"{name} {i}": v for i, v in enumerate(self.per_link(name), 1)})
        for name, choices in RANGES.items():
            if getattr(self, name) not in choices:
                raise BadInput(f"{name}: {getattr(self, name)!r} must be one of {', '.join(choices)}")

    def per_link(self, name: str) -> Array:
        """The attribute of that name as one number per link, (n,)."""
        value = np.asarray(getattr(self, name), dtype=float)
        if value.shape not in ((), (self.links,)):
            raise ModelError(f"{name}: one number or {self.links} of them, got shape {value.shape}")
        return np.broadcast_to(value, (self.links,)).copy()


class SnakeState(NamedTuple):
    """State of the robot, and the impulses that the next step starts from."""

    q: Array  # (n, 7), positions [m] and Euler parameters
    u: Array  # (n, 6), velocities in world axes [m/s], angular velocities in link axes [rad/s]
    impulse: Array  # (2n, 3), Λ of the last step per sphere: normal, along, across [N s]; 0 where open


class SnakeStep(NamedTuple):
    """What one step did."""

    state: SnakeState
    active: IntArray  # spheres (a,) in contact, from 0: F1 … Fn, R1 … Rn
    joint_impulse: Array  # Λ_J, (n−1, 4) [N s], [N m s]
    iterations: int  # of the Modified Newton algorithm
    change: float  # left side of (70) at its end [N s]; ε or more if the limit of iterations was reached


class SnakeRun(NamedTuple):
    """A simulated motion of N steps: N + 1 states."""

    t: Array  # (N+1,) [s]
    q: Array  # (N+1, n, 7)
    u: Array  # (N+1, n, 6)
    normal_impulse: Array  # (N+1, 2n) [N s], of the step that ends there
    joint_gap: Array  # (N+1,) largest of (8) [m] and (9)
    iterations: IntArray  # (N+1,), 0 for a step without contact
    change: Array  # (N+1,) left side of (70) at the end of the iterations [N s]
    kinetic: Array  # (N+1,) [J]
    potential: Array  # (N+1,) [J]

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy, (N+1,) [J]."""
        return self.kinetic + self.potential


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
