"""Actuators of an MJCF model: what they act on, their ranges, and their place in the control vector.

The force law of an actuator, its activation, and what classes hand on: `taction.io.mjcf_laws`. The control
vector has the length that it has in MuJoCo: what is not supported stays in it as ``kind="none"``, without
force, and is listed. An actuator with several controls (pid, orientation) becomes as many of that kind.

Transmissions, where f is the force of the law
* ``joint``: a hinge or slide feels gear · f. A ball or free joint feels f times its ``gear`` of 3 or 6
  numbers (`ActuatorSpec.gears`), in the axes of its velocity coordinates.
* ``tendon``: gear · f along a tendon.
* ``site``: f times ``gear``, a force and a torque of 6 numbers, in the axes of the site, or of ``refsite``,
  where the reaction acts.
* ``jointinparent`` is ``joint`` for joints of one axis. For others, with a slider-crank or on a body
  (adhesion) the actuator has no force here.

``armature`` and ``damping`` of an actuator act at its joint or along its tendon, times gear², and are added
there; at a ball or free joint, gear is the first of its numbers.

Ranges: ``inheritrange`` of a position servo makes its control range (with an integrator, the range of its
activation) from that of its joint or tendon: the same middle, so many times the width. A damping ratio ζ,
from ``dampratio`` or a positive b₂, becomes kv = 2 ζ √(kp m), where 1/m = J M⁻¹ Jᵀ at ``qpos0`` and J is how
the length of the transmission changes with the coordinates.

Actuators of a group in ``<option actuatorgroupdisable=>`` make no force.

Departures. Servos on sites, ball and free joints, actuators between two sites, and delays are listed. So are
bounds of the sum of forces on a joint or tendon where they do not hold exactly
(`taction.control.actuator_lines`).

References: MuJoCo XML reference, section "actuator".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from taction._core.arrays import Array
from taction.control.actuator_lines import loose_bounds
from taction.io.mjcf_flags import is_disabled
from taction.io.mjcf_laws import Law, law_of, n_controls, servo_of
from taction.io.mjcf_source import Source, keyword, least, limits, named
from taction.io.mjcf_vocabulary import ACTUATORS
from taction.io.xml import Element, fail, floats
from taction.model.model import Model
from taction.model.spec import ActuatorSpec, JointSpec, ModelSpec, TendonSpec

_UNLIMITED = (-np.inf, np.inf)
_IDLE = "makes no force"
_TARGETS = ("joint", "jointinparent", "tendon", "site", "body", "cranksite")


@dataclass
class _Reading:
    """The model in the making, with what actuators act on by name."""

    source: Source
    spec: ModelSpec
    joints: Mapping[str, JointSpec]
    tendons: Mapping[str, TendonSpec]
    sites: set[str]


def read_actuators(source: Source, spec: ModelSpec, joints: Mapping[str, JointSpec]) -> None:
    """Add all actuators; their armature and damping are added to the joints.

    Raises:
        ModelError: unknown target or class, repeated name, or a bad value.
    """
    tendons = {tendon.name: tendon for tendon in spec.tendons}
    reading = _Reading(source, spec, joints, tendons, {site.name for site in spec.sites})
    elements, written = (e for e in source.sections("actuator") if e.tag in ACTUATORS), list[Element]()
    for name, element in named(elements, "actuator"):
        _read_actuator(element, name, reading)
        written += [element] * (len(spec.actuators) - len(written))
    for holder, numbers in loose_bounds(spec):
        what = f"{'tendon' if isinstance(holder, TendonSpec) else 'joint'} actuatorfrcrange of several forces"
        source.notes.add(
            what, written[numbers[0]], f"each force on {holder.name!r} is bounded, not their sum"
        )


def _read_actuator(written: Element, name: str, reading: _Reading) -> None:
    element = reading.source.completed(written)
    law = law_of(written, reading.source.default_class(written, "main"))
    actuator = ActuatorSpec(name, activation="" if law.dyntype == "none" else law.dyntype)
    _read_target(element, actuator, reading)
    if is_disabled(element, reading.source):
        actuator.kind = "none"
    servo = servo_of(law)
    kept = actuator.kind == "none" or servo.kind == "none"
    if kept:
        _refuse(element, actuator, servo.kind == "none", reading)
    else:
        _read_force(element, actuator, law, reading)
    for k in range(n_controls(written, law)):
        reading.spec.actuators.append(actuator if k == 0 else replace(actuator, name=f"{name}/{k}"))


def _refuse(element: Element, actuator: ActuatorSpec, is_strange: bool, reading: _Reading) -> None:
    """Keep an actuator without force, and list why."""
    actuator.kind = "none"
    actuator.control_range = limits(element, "ctrlrange", "ctrllimited", reading.source) or _UNLIMITED
    if is_strange and element.tag == "general":
        reading.source.notes.add("general actuator that is no motor and no servo", element, _IDLE)
    elif is_strange:
        reading.source.notes.add(f"actuator/{element.tag}", element, _IDLE)


def _read_force(element: Element, actuator: ActuatorSpec, law: Law, reading: _Reading) -> None:
    """Law, gear and ranges of an actuator that has a kind."""
    source, servo = reading.source, servo_of(law)
    actuator.kind, actuator.kp, actuator.kv = servo.kind, servo.kp, servo.kv
    actuator.gain, actuator.bias = servo.gain, servo.bias
    if actuator.gears and (servo.kp or servo.kv):
        source.notes.add("servo on a site, ball or free joint", element, _IDLE)
    inherited = _inherited_range(element, actuator, law.inherit, reading) if law.is_position else None
    heir = "" if inherited is None else ("actrange" if actuator.activation == "integrator" else "ctrlrange")

    def span(attribute: str, flag: str) -> tuple[float, float]:
        if attribute == heir and inherited is not None:
            is_off = keyword(element, flag, "false true auto", "auto") == "false"
            return _UNLIMITED if is_off else inherited
        return limits(element, attribute, flag, source) or _UNLIMITED

    actuator.control_range = span("ctrlrange", "ctrllimited")
    actuator.force_range = span("forcerange", "forcelimited")
    if actuator.activation:
        actuator.time_constant = law.time
        actuator.activation_range = span("actrange", "actlimited")
    if servo.damping_ratio:
        _damp_later(element, actuator, servo.damping_ratio, reading)


# ----- Transmissions ----------------------------------------------------------------------------------------


def _read_target(element: Element, actuator: ActuatorSpec, reading: _Reading) -> None:
    """What the actuator acts on; its kind becomes "none" if that is not supported."""
    target = next((name for name in _TARGETS if element.get(name)), None)
    if target is None:
        fail(element, "names nothing to act on; write joint=, tendon= or site=")
    name, notes = element.get(target, ""), reading.source.notes
    gears = floats(element, "gear")
    if gears is not None and len(gears) > 6:
        fail(element, f"gear={element.get('gear')!r} has more than 6 numbers")
    every = np.zeros(6)
    every[0] = 1.0
    if gears is not None:
        every[: len(gears)] = gears
        for gear in every[~np.isfinite(every * every)]:
            fail(element, f"gear={gear:g} is too large")
    actuator.gear = float(every[0])
    match target:
        case "joint" | "jointinparent":
            _read_joint(element, actuator, name, every, target == "jointinparent", reading)
        case "tendon":
            if name not in reading.tendons:
                reading.source.missing(element, "tendon", name, reading.tendons)
            actuator.tendon = name
            _add_inertia_and_damping(element, actuator.gear, reading.tendons[name])
            if least(element, "armature"):
                notes.add("actuator armature along a tendon", element, "no inertia along the tendon")
        case "site":
            for each in filter(None, (name, element.get("refsite"))):
                if each not in reading.sites:
                    reading.source.missing(element, "site", each, reading.sites)
            if least(element, "armature") or least(element, "damping", most=3):
                fail(element, "armature and damping need an actuator on a joint or tendon, not on a site")
            actuator.site, actuator.refsite = name, element.get("refsite", "")
            actuator.gear, actuator.gears = 1.0, tuple(every.tolist())
            if actuator.refsite:
                notes.add("actuator between two sites", element, _IDLE)
        case _:
            actuator.kind = "none"
            if element.tag != "adhesion":  # listed as such
                notes.add(f"actuator on a {target}", element, _IDLE)


def _read_joint(
    element: Element, actuator: ActuatorSpec, name: str, gears: Array, in_parent: bool, reading: _Reading
) -> None:
    if name not in reading.joints:
        reading.source.missing(element, "joint", name, reading.joints)
    joint, actuator.joint = reading.joints[name], name
    _add_inertia_and_damping(element, actuator.gear, joint)
    if joint.kind.is_single:
        return
    actuator.gear, actuator.gears = 1.0, tuple(gears[: joint.kind.nv].tolist())
    if in_parent:
        reading.source.notes.add("actuator in the parent of a ball or free joint", element, _IDLE)
        actuator.kind = "none"


def _add_inertia_and_damping(element: Element, gear: float, target: JointSpec | TendonSpec) -> None:
    square = gear * gear
    armature, damping = square * least(element, "armature"), square * least(element, "damping", most=3)
    if not np.isfinite(square + armature + damping):
        fail(element, f"gear={gear:g} is too large")
    target.armature, target.damping = target.armature + armature, target.damping + damping


# ----- Ranges and damping ratios ----------------------------------------------------------------------------


def _inherited_range(
    element: Element, actuator: ActuatorSpec, share: float, reading: _Reading
) -> tuple[float, float] | None:
    """So many times the range of what the actuator acts on, None where none is asked for."""
    if not share:
        return None
    target = reading.joints.get(actuator.joint) or reading.tendons.get(actuator.tendon)
    low, high = (target.lower, target.upper) if target is not None else _UNLIMITED
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        fail(element, "inherits the range of a target that has none")
    middle, half = 0.5 * (low + high), 0.5 * (high - low) * share
    return float(middle - half), float(middle + half)


def _damp_later(element: Element, actuator: ActuatorSpec, ratio: float, reading: _Reading) -> None:
    """Damping of a position servo from its damping ratio, once the mass matrix is known."""
    tendon = reading.tendons.get(actuator.tendon)
    parts = tendon.joints if tendon is not None else {actuator.joint: 1.0} if actuator.joint else {}
    if not parts or actuator.gears:
        what = "damping ratio of an actuator that is not on joints"
        reading.source.notes.add(what, element, "no damping")
        return

    def settle(model: Model, inverse: Array) -> None:
        dofs = [model.joint(name).iv for name in parts]
        J = actuator.gear * np.array(list(parts.values()))
        response = float(J @ inverse[np.ix_(dofs, dofs)] @ J)
        if response > 0.0:
            actuator.kv = 2.0 * ratio * float(np.sqrt(abs(actuator.kp) / response))

    reading.source.later.append(settle)
