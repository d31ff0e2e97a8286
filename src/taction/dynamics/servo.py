"""Servos with a largest force, and servos along tendons: force laws that are not linear, or not diagonal.

What it says: with the length ℓ that a servo moves, gear·q of one joint or gear·l of a transmission
(`taction.contact.transmission`), and an input b [N or N m] held over a step, its force is

    f = clip(b − K ℓ − D ℓ̇, low, high),        τ = f ∂ℓ/∂q.                                          (1)

A position servo with gains k_p, k_v and target u has K = k_p, D = k_v, b = k_p u; a velocity servo K = 0,
D = k_v, b = k_v u; a motor K = D = 0, b = u. The springs and dampers of tendons are servos with an input of
their own.

In a step (1) is taken at its end, ℓ + h ℓ̇⁺ and ℓ̇⁺, and is a set-valued law of the impulse Λ = h f, like
friction: with the compliance c = 1/(h D + h² K) and the offset o = −c h (b − K ℓ)

    ℓ̇⁺ + c Λ + o ∈ −N(Λ),   Λ in [h low, h high],                                                    (2)

so that a servo is exact and stable at any gain, within its limits and at them
(`taction.steppers.servo_rows`).

A *drive* is the limit D → ∞ of a velocity servo, b = D u: c = 0 and o = −u. Its input is the velocity u
itself, which ℓ̇⁺ equals with whatever force that takes, up to the limits (`taction.control.drives`).

References: [CastroPermenterHan2023] for implicit gains as compliant rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.layout import Layout, floats, ints, whole

FAR = 1e9  # a limit that no servo reaches [N or N m]


class Servo(NamedTuple):
    """One servo, in the numbers of (1)."""

    K: float  # [N/m or N m/rad]
    D: float  # [N s/m or N m s/rad]; infinite for a drive
    low: float = -np.inf  # [N or N m]
    high: float = np.inf
    dof: int = -1  # degree of freedom of the robot that it moves, or
    transmission: int = -1  # the transmission that it pulls
    gear: float = 1.0
    rest: float = 0.0  # input of its own [N or N m]


class Servos(Layout):
    """Servos whose forces are not part of the linear joint law; read-only."""

    dof: IntArray = ints("m", "degree of freedom that each moves, −1 for none")
    transmission: IntArray = ints("m", "transmission that it pulls, −1 for none")
    gear: Array = floats("m", "length per coordinate, or per length of the transmission")
    stiffness: Array = floats("m", "[N/m or N m/rad]")
    damping: Array = floats("m", "[N s/m or N m s/rad]")
    low: Array = floats("m", "least force [N or N m]")
    high: Array = floats("m", "largest force [N or N m]")
    rest: Array = floats("m", "input of its own [N or N m]")
    driven: int = whole("how many of them, the first ones, have an input of a controller besides")

    def __len__(self) -> int:
        """How many there are."""
        return len(self.low)


def make_servos(servos: Sequence[Servo] = ()) -> Servos:
    """Servos of a controller; one with a limit on one side only has a far one on the other."""
    limits = np.array([(servo.low, servo.high) for servo in servos]).reshape(-1, 2)
    is_bounded = np.isfinite(limits).any(axis=1)
    limits[is_bounded] = np.clip(limits[is_bounded], -FAR, FAR)
    columns = {
        "dof": frozen([servo.dof for servo in servos], np.int64),
        "transmission": frozen([servo.transmission for servo in servos], np.int64),
        "gear": frozen([servo.gear for servo in servos]),
        "stiffness": frozen([servo.K for servo in servos]),
        "damping": frozen([servo.D for servo in servos]),
        "low": frozen(limits[:, 0]),
        "high": frozen(limits[:, 1]),
        "rest": frozen([servo.rest for servo in servos]),
    }
    return Servos(**columns, driven=len(servos))


def both(driven: Servos | None, passive: Servos) -> Servos:
    """Servos of a controller, if any, followed by those that have inputs of their own alone."""
    if driven is None:
        return passive._replace(driven=0)
    names = [name for name in Servos._fields if name != "driven"]
    columns = {
        name: frozen(
            np.concatenate([getattr(driven, name), getattr(passive, name)]), getattr(passive, name).dtype
        )
        for name in names
    }
    return Servos(**columns, driven=len(driven))
