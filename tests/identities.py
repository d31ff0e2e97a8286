"""What tests of identities on random trees share: tolerances and derivatives.

Tolerances: algebraic identities hold to rounding (`ROUNDING`, a few hundred ε for sums over trees of a dozen
links); solutions of M x = b to rounding times cond(M). Derivatives are central differences with one
Richardson step, D = (4 D(h/2) − D(h)) / 3: with h = 1e-4 s, truncation h⁴ |f⁽⁵⁾| / 480 is below
1e-18 · 20⁵ ≈ 3e-12 for link speeds up to 20 rad/s, and rounding ε |f| / h is 2e-12 |f|; `DERIVATIVE` leaves
two digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers import (
    EPS,
    Case,
)
from taction._core.arrays import Array

ROUNDING = 1e-13
DERIVATIVE = 1e-9
STEP = 1e-4  # of finite differences [s]
NO_GRAVITY = (0.0, 0.0, 0.0)


def derivative(f: Callable[[float], Array | float], step: float = STEP) -> Array:
    """f'(0) by central differences and one Richardson step."""

    def central(h: float) -> Array:
        return (np.asarray(f(h)) - np.asarray(f(-h))) / (2 * h)

    return (4 * central(step / 2) - central(step)) / 3


def draw(case: Case) -> Array:
    """A random vector of degrees of freedom."""
    return case.rng.uniform(-2, 2, case.model.nv)


def body_of(case: Case) -> str:
    return str(case.rng.choice(case.model.body_names))


def solve_tolerance(M: Array) -> float:
    """Forward error of a stable solution of M x = b."""
    return 100 * EPS * np.linalg.cond(M)
