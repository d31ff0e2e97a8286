"""The force laws of MJCF actuators: gain, bias, activation, and how classes hand them on.

MuJoCo has one actuator: force = gain · u + bias, with bias = b₀ + b₁ l + b₂ l̇ (zero for biastype "none"),
where l is the length of the transmission. With a dyntype, an activation a stands for u: ȧ = u (integrator),
or ȧ = (u − a)/T (filter, filterexact). Tags are shorthands:

===========  ======  ==================  ======================  ===================================
shorthand    gain    bias b₀, b₁, b₂     activation              becomes `ActuatorSpec.kind`
===========  ======  ==================  ======================  ===================================
motor        1       none                none                    motor
position     kp      0, −kp, −kv         filterexact, timeconst  position
velocity     kv      0, 0, −kv           none                    velocity
intvelocity  kp      0, −kp, −kv         integrator              position
cylinder     area    bias                filter, timeconst       affine
general      any     any                 any                     whichever of these it equals
===========  ======  ==================  ======================  ===================================

A law without bias is a motor with gain 1, affine with another. A positive b₂ of a position servo is a damping
ratio.

A class has one actuator, which any of the tags changes: gain and bias are inherited by ``general`` always, by
other shorthands from the nearest class whose actuator was written with the same tag or with ``general``;
``motor`` inherits no gain. ``inheritrange`` is inherited by all.

Damper, muscle, adhesion, dcmotor, pid, orientation, gains that depend on the state and laws that feed energy
in (b₁ or b₂ positive, negative gains of servos among them) have no kind here: they are `kind="none"`, listed.

References: MuJoCo XML reference, section "actuator", and "Actuator shortcuts" of the modeling chapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from taction.io.mjcf_source import DefaultClass, keyword, least, vector
from taction.io.xml import Element, fail, floats

_GAINS = "fixed affine muscle dcmotor pid so3 user"
_BIASES = "none affine muscle dcmotor so3 user"
_DYNAMICS = "none integrator filter filterexact pid dcmotor muscle user"

# Activations that are a first-order law of one number; others are kept by name only.
_SIMPLE = ("none", "integrator", "filter", "filterexact")

# What makes the force of tags that have no law here: gaintype and dyntype.
_STRANGE = {
    "damper": ("affine", "none"),
    "muscle": ("muscle", "muscle"),
    "adhesion": ("adhesion", "none"),
    "dcmotor": ("dcmotor", "dcmotor"),
    "pid": ("pid", "pid"),
    "orientation": ("so3", "none"),
    "plugin": ("user", "none"),
}


@dataclass(frozen=True)
class Law:
    """Gain, bias and activation of the actuator of a class, or of one actuator.

    Attributes:
        written: the tag that set them.
        time: time constant of a filter [s].
        inherit: share of the target's range that becomes the control range; 0 for none.
    """

    written: str = "general"
    gaintype: str = "fixed"
    gain: float = 1.0
    biastype: str = "none"
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    dyntype: str = "none"
    time: float = 1.0
    inherit: float = 0.0

    @property
    def affine(self) -> tuple[float, float, float]:
        """b₀, b₁, b₂."""
        return self.bias if self.biastype == "affine" else (0.0, 0.0, 0.0)

    @property
    def is_position(self) -> bool:
        """Whether the control is a position: gain = −b₁."""
        return self.gaintype == "fixed" and self.gain != 0.0 and self.affine[1] == -self.gain


class Servo(NamedTuple):
    """What an `ActuatorSpec` takes from a law."""

    kind: str
    kp: float = 0.0
    kv: float = 0.0
    gain: float = 1.0
    bias: float = 0.0
    damping_ratio: float = 0.0


def law_of(element: Element, this: DefaultClass) -> Law:
    """The law of one actuator of a class, as it is written."""
    return _applied(element, _laws(this))


def _laws(this: DefaultClass) -> list[Law]:
    """The actuator of a class, followed by those of the classes around it."""
    outer = [Law()] if this.parent is None else _laws(this.parent)
    laws = [outer[0], *outer]
    for element in this.actuators:
        laws[0] = _applied(element, laws)
    return laws


def _applied(element: Element, laws: Sequence[Law]) -> Law:
    """The law after an element has changed the innermost of ``laws``."""
    inherit = least(element, "inheritrange", laws[0].inherit)
    base = next((law for law in laws if _inherits(element.tag, law)), Law())
    return replace(_changed(element, base), written=element.tag, inherit=inherit)


def _changed(element: Element, base: Law) -> Law:
    match element.tag:
        case "general":
            return _general(element, base)
        case "motor":
            return Law()
        case "position" | "intvelocity":
            return _position(element, base)
        case "velocity":
            kv = least(element, "kv", base.gain)
            return Law(gain=kv, biastype="affine", bias=(0.0, 0.0, -kv))
        case "cylinder":
            area = least(element, "area", base.gain, minimum=-np.inf)
            if element.get("diameter"):
                area = 0.25 * np.pi * least(element, "diameter") ** 2
            b0, b1, b2 = vector(element, "bias", base.affine).tolist()
            time = least(element, "timeconst", base.time)
            return Law(gain=area, biastype="affine", bias=(b0, b1, b2), dyntype="filter", time=time)
    gaintype, dyntype = _STRANGE[element.tag]
    return Law(gaintype=gaintype, dyntype=dyntype)


def _inherits(tag: str, law: Law) -> bool:
    return tag == "general" or law.written == tag or (law.written == "general" and law.gaintype == "fixed")


def _position(element: Element, base: Law) -> Law:
    kp = least(element, "kp", base.gain, minimum=-np.inf)
    if element.get("kv") and element.get("dampratio"):
        fail(element, "has both kv and dampratio")
    b2 = -least(element, "kv") if element.get("kv") else base.affine[2]
    b2 = least(element, "dampratio") if element.get("dampratio") else b2
    dyntype, time = ("integrator", 1.0) if element.tag == "intvelocity" else (base.dyntype, base.time)
    if element.tag == "position" and element.get("timeconst"):
        time = least(element, "timeconst")
        dyntype = "filterexact" if time > 0.0 else "none"
    return Law(gain=kp, biastype="affine", bias=(0.0, -kp, b2), dyntype=dyntype, time=time)


def _general(element: Element, base: Law) -> Law:
    gain, bias, dynamics = (floats(element, name) for name in ("gainprm", "biasprm", "dynprm"))
    b = list(base.bias)
    if bias is not None:
        b[: len(bias[:3])] = bias[:3].tolist()
    return replace(
        base,
        gaintype=keyword(element, "gaintype", _GAINS, base.gaintype),
        gain=base.gain if gain is None else float(gain[0]),
        biastype=keyword(element, "biastype", _BIASES, base.biastype),
        bias=(b[0], b[1], b[2]),
        dyntype=keyword(element, "dyntype", _DYNAMICS, base.dyntype),
        time=base.time if dynamics is None else float(dynamics[0]),
    )


def servo_of(law: Law) -> Servo:
    """The kind and the numbers of an equal actuator; kind "none" if there is none."""
    if law.gaintype != "fixed" or law.biastype not in ("none", "affine") or law.dyntype not in _SIMPLE:
        return Servo("none")
    k, (b0, b1, b2) = law.gain, law.affine
    ratio = b2 if law.is_position and b2 > 0.0 else 0.0
    if b1 > 0.0 or (b2 > 0.0 and not ratio):
        return Servo("none")
    if b0 == b1 == b2 == 0.0 and k == 1.0:
        return Servo("motor")
    if law.is_position and b0 == 0.0:
        return Servo("position", kp=k, kv=max(0.0, -b2), damping_ratio=max(0.0, b2))
    if b0 == b1 == 0.0 and b2 == -k:
        return Servo("velocity", kv=k)
    return Servo("affine", kp=0.0 - b1, kv=max(0.0, -b2), gain=k, bias=b0, damping_ratio=ratio)


def n_controls(element: Element, law: Law) -> int:
    """How many entries of the control vector an actuator takes."""
    words = element.get("input", "").split()
    match law.gaintype:
        case "pid":
            return len(words) or 2
        case "so3":
            return 4 if words == ["quat"] else 3
        case "dcmotor":
            return 0 if words == ["none"] else len(words) or 1
    return 1
