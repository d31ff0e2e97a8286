"""Servos with a largest force, and servos on several joints: force laws that are not linear, or not diagonal.

What it says: with the length ℓ = Σ c_d q_d over the degrees of freedom that a servo moves (one joint, or
those of a fixed tendon) and an input b [N or N m] held over a step, its force is

    f = clip(b − K ℓ − D ℓ̇, low, high),        τ_d = c_d f.                                          (1)

A position servo with gains k_p, k_v and target u has K = k_p, D = k_v, b = k_p u; a velocity servo K = 0,
D = k_v, b = k_v u.

In a step (1) is taken at its end, ℓ + h ℓ̇⁺ and ℓ̇⁺, and is a set-valued law of the impulse Λ = h f, like
friction: with the compliance c = 1/(h D + h² K) and the offset o = −c h (b − K ℓ)

    ℓ̇⁺ + c Λ + o ∈ −N(Λ),   Λ in [h low, h high],                                                    (2)

so that a servo is exact and stable at any gain, within its limits and at them
(`taction.steppers.servo_rows`).

References: [CastroPermenterHan2023] for implicit gains as compliant rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.layout import Layout, floats, ints

FAR = 1e9  # a limit that no servo reaches [N or N m]


class Servo(NamedTuple):
    """One servo, in the numbers of (1)."""

    dofs: Sequence[int]  # degrees of freedom of the robot
    factors: Sequence[float]  # c_d
    K: float  # [N/m or N m/rad]
    D: float  # [N s/m or N m s/rad]
    low: float = -np.inf  # [N or N m]
    high: float = np.inf


class Servos(Layout):
    """Servos whose forces are not part of the linear joint law; read-only."""

    start: IntArray = ints("m + 1", "where the degrees of freedom of each start")
    dof: IntArray = ints("e", "of the robot")
    factor: Array = floats("e", "length per coordinate")
    stiffness: Array = floats("m", "[N/m or N m/rad]")
    damping: Array = floats("m", "[N s/m or N m s/rad]")
    low: Array = floats("m", "least force [N or N m]")
    high: Array = floats("m", "largest force [N or N m]")

    def __len__(self) -> int:
        """How many there are."""
        return len(self.low)


def make_servos(servos: Sequence[Servo] = ()) -> Servos:
    """Several servos as kernels have them; one with a limit on one side only has a far one on the other."""
    limits = np.array([(servo.low, servo.high) for servo in servos]).reshape(-1, 2)
    is_bounded = np.isfinite(limits).any(axis=1)
    limits[is_bounded] = np.clip(limits[is_bounded], -FAR, FAR)
    counts = [len(servo.dofs) for servo in servos]
    return Servos(
        start=frozen(np.cumsum([0, *counts]), np.int64),
        dof=frozen([d for servo in servos for d in servo.dofs], np.int64),
        factor=frozen([c for servo in servos for c in servo.factors]),
        stiffness=frozen([servo.K for servo in servos]),
        damping=frozen([servo.D for servo in servos]),
        low=frozen(limits[:, 0]),
        high=frozen(limits[:, 1]),
    )
