"""Travelling waves of joint angles: the motion patterns of snakes.

What it solves: reference angles and rates of the n − 1 two-axis joints of a snake for a motion pattern, and a
controller that makes the joints follow them.

Notation, as in the document: α_h, α_v angles of joint i, sideways and up and down; A amplitudes, ω angular
frequencies, δ phase offsets from joint to joint, ψ angle offsets, of the horizontal and the vertical wave;
δ₀ the phase of the vertical wave against the horizontal one.

Equations
    α_h,i = A_h sin(ω_h t + (i − 1) δ_h)      + ψ_h                                        (52) there
    α_v,i = A_v sin(ω_v t + (i − 1) δ_v + δ₀) + ψ_v                                        (53) there
and the rates are their derivatives. The wave runs towards the joints of higher number where δ and ω differ in
sign: from link 1, the head, to the tail, and the snake moves the other way, head first.

    lateral undulation   A_v = 0; needs ground that resists sideways sliding more than lengthwise sliding
    turning              the same with ψ_h ≠ 0: every joint bends more to one side, the path is an arc
    sidewinding          both waves with one ω and δ, a quarter of a period apart (δ₀): parts of the body are
                         lifted and set down sideways; needs no difference in friction
    inchworm             A_h = 0: a vertical wave; the lifted parts move, the others hold

Start. A wave that is there at once asks the joints for a jump at t = 0. With a ramp T the angles are
multiplied by s(t/T), s(x) = 10 x³ − 15 x⁴ + 6 x⁵ up to x = 1 and 1 after, whose first two derivatives
vanish at both ends; the rates are the derivatives of the product.

Departures: the ramp, and the rates as references of the damping, are not in the document.

References: [Transeth2006, Section V-B].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.control.tracking import Tracking
from taction.model.joints import JointKind
from taction.model.model import Model


@dataclass(frozen=True)
class Wave:
    """One wave, A sin(ω t + (i − 1) δ + lead) + ψ.

    Attributes:
        amplitude: A [rad].
        frequency: ω [rad/s].
        phase: δ, from joint to joint [rad].
        offset: ψ [rad].
        lead: phase of the whole wave [rad]; δ₀ of a vertical wave.
    """

    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0
    offset: float = 0.0
    lead: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not _is_finite(value):
                raise BadInput(f"wave: {name} must be a finite number, got {value!r}")

    @property
    def reach(self) -> tuple[float, float]:
        """Smallest and largest angle that the wave asks for [rad]."""
        return self.offset - abs(self.amplitude), self.offset + abs(self.amplitude)

    def at(self, t: ArrayLike, joints: int) -> tuple[Array, Array]:
        """Angles [rad] and rates [rad/s] of so many joints at times t (…,) [s]: shapes (…, joints)."""
        phase = np.asarray(t, dtype=np.float64)[..., None] * self.frequency
        phase = phase + self.phase * np.arange(joints) + self.lead
        angle = self.amplitude * np.sin(phase) + self.offset
        return angle, self.amplitude * self.frequency * np.cos(phase)


@dataclass(frozen=True)
class MotionPattern:
    """A horizontal and a vertical wave, with a smooth start.

    Attributes:
        horizontal: of the angles α_h.
        vertical: of the angles α_v.
        ramp: time in which both grow from nothing [s]; 0 for a wave that is there at once.
    """

    horizontal: Wave = field(default_factory=Wave)
    vertical: Wave = field(default_factory=Wave)
    ramp: float = 0.0

    def __post_init__(self) -> None:
        if not (_is_finite(self.ramp) and self.ramp >= 0.0):
            raise BadInput(f"motion pattern: ramp must be finite and at least 0, got {self.ramp!r}")

    @property
    def period(self) -> float:
        """2π / ω of the faster wave [s]; infinite if nothing moves."""
        moving = [abs(w.frequency) for w in (self.horizontal, self.vertical) if w.amplitude != 0.0]
        fastest = max(moving, default=0.0)
        return 2.0 * math.pi / fastest if fastest > 0.0 else math.inf

    def at(self, t: ArrayLike, joints: int) -> tuple[Array, Array]:
        """Reference angles [rad] and rates [rad/s] at times t (…,) [s].

        Returns:
            Angles and rates, shape (…, joints, 2) each: α_h and α_v of joints 1, 2, …
        """
        waves = [wave.at(t, joints) for wave in (self.horizontal, self.vertical)]
        angle, rate = (np.stack([wave[k] for wave in waves], axis=-1) for k in range(2))
        if self.ramp == 0.0:
            return angle, rate
        grown, growth = _ramp(np.asarray(t, dtype=np.float64), self.ramp)
        return grown[..., None, None] * angle, grown[..., None, None] * rate + growth[..., None, None] * angle


def lateral_undulation(
    *,
    amplitude: float = math.radians(30.0),
    frequency: float = math.radians(135.0),
    phase: float = math.radians(-50.0),
    turn: float = 0.0,
    ramp: float = 0.0,
) -> MotionPattern:
    """Lateral undulation; the numbers of [Transeth2006, Section VII-B] by default.

    Args:
        amplitude: A_h [rad].
        frequency: ω_h [rad/s].
        phase: δ_h [rad].
        turn: ψ_h, bends every joint to one side [rad]; 0 for straight ahead.
        ramp: time of the smooth start [s].
    """
    return MotionPattern(Wave(amplitude, frequency, phase, turn), ramp=ramp)


def sidewinding(
    *,
    amplitude: float = math.radians(30.0),
    lift: float = math.radians(5.0),
    frequency: float = math.radians(135.0),
    phase: float = math.radians(-50.0),
    lead: float = math.radians(90.0),
    turn: float = 0.0,
    ramp: float = 0.0,
) -> MotionPattern:
    """Sidewinding: a horizontal and a vertical wave of one frequency, out of phase.

    Args:
        amplitude: A_h [rad].
        lift: A_v [rad].
        frequency: ω of both [rad/s].
        phase: δ of both [rad].
        lead: δ₀ [rad]; the sign decides to which side it goes.
        turn: ψ_h [rad].
        ramp: time of the smooth start [s].
    """
    vertical = Wave(lift, frequency, phase, 0.0, lead)
    return MotionPattern(Wave(amplitude, frequency, phase, turn), vertical, ramp)


def inchworm(
    *,
    amplitude: float = math.radians(20.0),
    frequency: float = math.radians(135.0),
    phase: float = math.radians(-60.0),
    ramp: float = 0.0,
) -> MotionPattern:
    """A vertical wave alone; arguments as for `lateral_undulation`, of the angles α_v."""
    return MotionPattern(vertical=Wave(amplitude, frequency, phase), ramp=ramp)


def follow(
    model: Model,
    pattern: MotionPattern,
    *,
    kp: tuple[float, float],
    kd: tuple[float, float],
    joints: list[str] | None = None,
) -> Tracking:
    """A controller that makes two-axis joints follow a pattern, with gains inside the step.

    Args:
        model: the mechanism, e.g. ``world.model``.
        pattern: what to follow.
        kp: position gains of the horizontal and the vertical angles [N m/rad].
        kd: their velocity gains [N m s/rad].
        joints: universal joints from the head to the tail; all of the model by default, in its order.

    Raises:
        BadInput: no such joints, or the pattern asks for an angle beyond a joint's stop or a right angle.
    """
    if joints is None:
        joints = [j.name for j in model.joints if j.kind is JointKind.UNIVERSAL]
    if not joints:
        raise BadInput(f"{model.name} has no universal joint that could follow a wave")
    for name in joints:
        _require_reachable(model, name, pattern)
    count = len(joints)

    def reference(t: float) -> tuple[Array, Array]:
        angle, rate = pattern.at(t, count)
        return angle.ravel(), rate.ravel()

    gains = [np.tile(np.asarray(pair, dtype=np.float64), count) for pair in (kp, kd)]
    return Tracking(model, reference, kp=gains[0], kd=gains[1], joints=joints)


def _require_reachable(model: Model, name: str, pattern: MotionPattern) -> None:
    """Refuse angles beyond the stops of a joint, and beyond a right angle, where a cardan joint locks."""
    joint = model.joint(name)
    if joint.kind is not JointKind.UNIVERSAL:
        raise BadInput(f"joint {name!r} has no two axes: waves are for universal joints")
    stops = zip(model.lower[joint.v_slice], model.upper[joint.v_slice], strict=True)
    for what, wave, (low, high) in zip(
        ("horizontal", "vertical"), (pattern.horizontal, pattern.vertical), stops, strict=True
    ):
        low, high = max(float(low), -0.5 * math.pi), min(float(high), 0.5 * math.pi)
        for angle in wave.reach:
            if not low <= angle <= high:
                raise BadInput(
                    f"the {what} wave reaches {angle:.4g} rad, but {name} turns from {low:.4g} to "
                    f"{high:.4g} rad: reduce amplitude or offset"
                )


def _ramp(t: Array, duration: float) -> tuple[Array, Array]:
    """s(t/T) and its derivative [1/s] at times t (…,) [s]."""
    x = np.clip(t / duration, 0.0, 1.0)
    grown = x**3 * (10.0 + x * (6.0 * x - 15.0))
    return grown, 30.0 * (x * (1.0 - x)) ** 2 / duration


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False
