"""Actuators of an MJCF model.

MuJoCo has one actuator: force = gain · u + bias, with bias = b₀ + b₁ l + b₂ l̇ (zero for biastype "none"),
where l = gear · q is the length of the transmission; the joint feels gear times the force. ``motor``,
``position`` and ``velocity`` are shorthands that set gain and bias:

=========  ======  ==================  ============================
shorthand  gain    bias b₀, b₁, b₂     becomes `ActuatorSpec.kind`
=========  ======  ==================  ============================
motor      1       none                motor
position   kp      0, −kp, −kv         position
velocity   kv      0, 0, −kv           velocity
general    any     any                 whichever of these it equals
=========  ======  ==================  ============================

A ``general`` without bias and with gain k ≠ 1 is a motor with gear k · gear and the force range divided by k,
which puts the same force on the joint.

Defaults. A class has one actuator, which any of the tags changes: plain attributes (``gear``, ``ctrlrange``
and so on) are inherited by all of them, gain and bias by ``general`` always, and by ``position`` and
``velocity`` from the nearest class whose actuator was written with the same tag or with ``general``;
``motor`` inherits no gain.

``armature`` and ``damping`` of an actuator act at the joint, times gear², and are added there.

Departures: damping ratios, filters and delays are listed as not supported, and the servo is read without
them; other shorthands and laws, and actuators on ball and free joints, tendons, sites and bodies are listed
and left out.

References: MuJoCo XML reference, section "actuator", and "Actuator shortcuts" of the modeling chapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from taction.io.mjcf_source import DefaultClass, Source, keyword, least, limits
from taction.io.mjcf_survey import TRANSMISSIONS
from taction.io.xml import Element, fail, floats
from taction.model.spec import ActuatorSpec, JointSpec

_GAINS = "fixed affine muscle dcmotor pid so3 user"
_BIASES = "none affine muscle dcmotor so3 user"
_DYNAMICS = "none integrator filter filterexact pid dcmotor muscle user"

# Shorthands with one control each, though they are not supported; of the others the number is not known.
_ONE_CONTROL = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
)
_UNLIMITED = (-np.inf, np.inf)


@dataclass(frozen=True)
class _Law:
    """Gain and bias of the actuator of a class, or of one actuator; ``written`` is the tag that set them."""

    written: str = "general"
    gaintype: str = "fixed"
    gain: float = 1.0
    biastype: str = "none"
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    dyntype: str = "none"


@dataclass
class Actuators:
    """What was read, and where each control of MuJoCo went.

    Attributes:
        specs: the supported actuators.
        controls: for every control of MuJoCo, the index of its actuator in ``specs``, or None; None as a
            whole if an unsupported actuator has an unknown number of controls.
    """

    specs: list[ActuatorSpec]
    controls: list[int | None] | None


def read_actuators(source: Source, joints: dict[str, JointSpec]) -> Actuators:
    """Read all actuators; armature and damping of actuators are added to the joints.

    Raises:
        ModelError: unknown joint or class, repeated name, or a bad value.
    """
    elements = list(source.sections("actuator"))
    taken = {element.get("name") for element in elements}
    used: set[str] = set()
    actuators = Actuators([], [])
    for index, element in enumerate(elements):
        name = element.get("name") or _free_name(f"actuator{index}", taken)
        if name in used:
            fail(element, f"the name {name!r} is used twice")
        used.add(name)
        spec = _read_actuator(element, name, source, joints)
        if actuators.controls is not None:
            actuators.controls.append(None if spec is None else len(actuators.specs))
        if spec is not None:
            actuators.specs.append(spec)
        elif element.tag not in _ONE_CONTROL:
            actuators.controls = None
    return actuators


def _free_name(name: str, taken: set[str | None]) -> str:
    while name in taken:
        name += "_"
    return name


def _read_actuator(
    written: Element, name: str, source: Source, joints: dict[str, JointSpec]
) -> ActuatorSpec | None:
    """One actuator, or None if it is not supported (it is then noted)."""
    if written.tag not in ("general", "motor", "position", "velocity"):
        return None  # noted by the survey
    element = source.completed(written)
    joint = _target(element, source, joints)
    if joint is None:
        return None
    gear = least(element, "gear", 1.0, minimum=-np.inf, most=6)
    armature, damping = (
        gear * gear * least(element, "armature"),
        gear * gear * least(element, "damping", most=3),
    )
    if not np.isfinite(gear * gear + armature + damping):
        fail(element, f"gear={gear:g} is too large")
    joint.armature, joint.damping = joint.armature + armature, joint.damping + damping
    law = _applied(written, _laws(source.default_class(written, "main")))
    servo = _servo(law)
    if servo is None:
        source.notes.add("general actuator that is no motor, position or velocity servo", element)
        return None
    kind, factor, kp, kv = servo
    control = limits(element, "ctrlrange", "ctrllimited", source) or _UNLIMITED
    low, high = limits(element, "forcerange", "forcelimited", source) or _UNLIMITED
    if factor < 0:
        low, high = high, low
    return ActuatorSpec(name, joint.name, kind, gear * factor, kp, kv, control, (low / factor, high / factor))


def _target(element: Element, source: Source, joints: dict[str, JointSpec]) -> JointSpec | None:
    other = next((t for t in TRANSMISSIONS if element.get(t)), None)
    if other is not None:
        source.notes.add(f"actuator on a {other}", element)
        return None
    name = element.get("joint") or element.get("jointinparent")
    if not name:
        fail(element, "names no joint to act on")
    if name not in joints:
        fail(element, f"joint {name!r} does not exist")
    joint = joints[name]
    if not joint.kind.is_single:
        source.notes.add("actuator on a ball or free joint", element)
        return None
    return joint


# ----- Gain and bias ----------------------------------------------------------------------------------------


def _laws(this: DefaultClass) -> list[_Law]:
    """The actuator of a class, followed by those of the classes around it."""
    outer = [_Law()] if this.parent is None else _laws(this.parent)
    laws = [outer[0], *outer]
    for element in this.actuators:
        laws[0] = _applied(element, laws)
    return laws


def _applied(element: Element, laws: Sequence[_Law]) -> _Law:
    """The law after an element has changed the innermost of ``laws``."""
    base = next((law for law in laws if _inherits(element.tag, law)), _Law())
    match element.tag:
        case "general":
            return _general(element, base)
        case "motor":
            return _Law("motor")
        case "position":
            kp = least(element, "kp", base.gain, minimum=-np.inf)
            b2 = -least(element, "kv") if element.get("kv") else base.bias[2]
            return _Law("position", gain=kp, biastype="affine", bias=(0.0, -kp, b2))
        case "velocity":
            kv = least(element, "kv", base.gain)
            return _Law("velocity", gain=kv, biastype="affine", bias=(0.0, 0.0, -kv))
    return _Law(element.tag, gaintype="user")


def _inherits(tag: str, law: _Law) -> bool:
    return tag == "general" or law.written == tag or (law.written == "general" and law.gaintype == "fixed")


def _general(element: Element, base: _Law) -> _Law:
    gain, bias = floats(element, "gainprm"), floats(element, "biasprm")
    b = list(base.bias)
    if bias is not None:
        b[: len(bias[:3])] = bias[:3].tolist()
    return replace(
        base,
        written="general",
        gaintype=keyword(element, "gaintype", _GAINS, base.gaintype),
        gain=base.gain if gain is None else float(gain[0]),
        biastype=keyword(element, "biastype", _BIASES, base.biastype),
        bias=(b[0], b[1], b[2]),
        dyntype=keyword(element, "dyntype", _DYNAMICS, base.dyntype),
    )


def _servo(law: _Law) -> tuple[str, float, float, float] | None:
    """Kind, factor on the gear, kp and kv of an equal actuator; None if there is none."""
    if law.gaintype != "fixed" or law.biastype not in ("none", "affine") or law.dyntype != "none":
        return None
    k = law.gain
    b0, b1, b2 = law.bias if law.biastype == "affine" else (0.0, 0.0, 0.0)
    if b0 == b1 == b2 == 0.0 and k != 0.0:
        return "motor", k, 0.0, 0.0
    if b0 != 0.0 or b2 > 0.0:  # a positive b2 is a damping ratio to MuJoCo
        return None
    if b1 == -k:
        return "position", 1.0, k, -b2
    if b1 == 0.0 and b2 == -k:
        return "velocity", 1.0, 0.0, k
    return None
