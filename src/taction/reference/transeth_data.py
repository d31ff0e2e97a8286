"""Parameters, states and runs of the snake as its document simulates it.

Data of `taction.reference.transeth_snake`, whose text has the notation.

References: [Transeth2006, Section VII].
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
            last change; it fails if that is above a thousandth of the impulses.
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
