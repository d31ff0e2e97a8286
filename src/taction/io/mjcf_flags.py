"""``<option><flag/></option>`` of an MJCF model: parts of the physics that a file switches off.

What "disable" does
    equality       loops and couplings of joints are gone
    frictionloss   no dry friction in joints and tendons
    limit          joints and tendons have no limits
    contact        no shape touches anything
    constraint     all of these
    spring         springs of joints and tendons are gone
    damper         dampers of joints and tendons are gone
    clampctrl      controls are not bounded
    actuation      actuators make no force

``gravity`` is read with the options. The last flag of a name holds. Groups of actuators in
``actuatorgroupdisable`` make no force either.

References: MuJoCo XML reference, sections "option" and "option/flag".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taction.io.mjcf_source import Source, children, integers, keyword
from taction.io.xml import Element
from taction.model.shapes import Shape
from taction.model.spec import JointSpec, ModelSpec, TendonSpec

_CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")


def apply_flags(source: Source, spec: ModelSpec) -> None:
    """Take from a finished description what its flags switch off."""
    off: dict[str, bool] = {}
    for element in (flag for option in children(source.root, "option") for flag in children(option, "flag")):
        for name in (*_CONSTRAINTS, "constraint", "spring", "damper", "clampctrl", "actuation"):
            if element.get(name):
                off[name] = keyword(element, name, "enable disable", "enable") == "disable"
    if off.get("constraint"):
        off |= dict.fromkeys(_CONSTRAINTS, True)
    for name, is_off in off.items():
        if is_off and name != "constraint":
            _switch_off(name, spec)


def is_disabled(actuator: Element, source: Source) -> bool:
    """Whether an actuator, defaults filled in, is of a group that the options disable."""
    group = integers(actuator, "group", 1) or [0]
    options = children(source.root, "option")
    return any(group[0] in (integers(o, "actuatorgroupdisable") or ()) for o in options)


def _switch_off(name: str, spec: ModelSpec) -> None:
    match name:
        case "equality":
            spec.loops = []
            for joint in spec.joints:
                joint.mimic = None
            for tendon in spec.tendons:
                tendon.held = None
        case "contact":
            spec.pairs = []
            spec.ground = [_untouchable(shape) for shape in spec.ground]
            for body in spec.bodies:
                body.shapes = [_untouchable(shape) for shape in body.shapes]
        case "clampctrl":
            for actuator in spec.actuators:
                actuator.control_range = (-np.inf, np.inf)
        case "actuation":
            for actuator in spec.actuators:
                actuator.kind = "none"
        case _:
            _switch_off_passive(name, spec)


def _switch_off_passive(name: str, spec: ModelSpec) -> None:
    """Limits, dry friction, springs or dampers of joints and tendons."""
    parts: list[JointSpec | TendonSpec] = [*spec.joints, *spec.tendons]
    for part in parts:
        match name:
            case "limit":
                part.lower, part.upper = -np.inf, np.inf
            case "frictionloss":
                part.friction = 0.0
            case "spring":
                part.stiffness = 0.0
            case "damper":
                part.damping = 0.0


def _untouchable(shape: Shape) -> Shape:
    return replace(shape, collides=False, group=0, mask=0)
