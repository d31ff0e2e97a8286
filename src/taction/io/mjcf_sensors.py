"""Sensors of an MJCF model: what each measures, and on what.

A sensor changes no motion. Its kind keeps MuJoCo's word, and its target is the joint, tendon, actuator, site,
body or frame that it names. Sensors of the whole model (clock, energies) have no target. What a sensor names
must exist, where it is something that is read. `taction.sim.sensors` reads them.

Listed as not supported: sensors that have no reading (`taction.model.sensors.why_not`), noise, delays, and
forces beside joints that a force sensor counts as passing through one.

References: MuJoCo XML reference, section "sensor".
"""

from __future__ import annotations

from taction.io.mjcf_source import Source, least, named
from taction.io.xml import Element, floats
from taction.model.sensors import why_not
from taction.model.spec import WORLD, ModelSpec, SensorSpec

# Attributes that name a target, and what it is; the first one that is there counts.
PARTS = ("joint", "tendon", "actuator", "site", "body", "geom", "camera")
# Pairs of attributes that say of a frame, or of one of two bodies, what it is and what it is called.
_FRAMES = (("objtype", "objname"), ("reftype", "refname"))
_PAIRS = ("geom1", "body1", "site1"), ("geom2", "body2", "site2")
# What else a sensor may say; `nsample` and `interp` have no use without delays.
_KNOWN = {"name", "class", "cutoff", "user", "nsample", "interp", *PARTS, *sum((*_FRAMES, *_PAIRS), ())}
# Attributes that would change a reading, and what it is without them.
_UNHEEDED = {
    "noise": "readings without noise",
    "delay": "readings at once",
    "interval": "a reading at every state",
}


def read_sensors(source: Source, spec: ModelSpec) -> None:
    """Add the sensors of a file to a model that has all that they may name.

    Raises:
        ModelError: a sensor names something that does not exist, or has a name that is used twice.
    """
    bodies = {WORLD, *(body.name for body in spec.bodies)}
    known = {
        "joint": {joint.name for joint in spec.joints},
        "tendon": {tendon.name for tendon in spec.tendons},
        "actuator": {actuator.name for actuator in spec.actuators},
        "site": {site.name for site in spec.sites},
        "body": bodies,
        "xbody": bodies,
    }
    for name, element in named(source.sections("sensor"), "sensor"):
        (part, target), (other_part, other) = _targets(element)
        for kind, called in ((part, target), (other_part, other)):
            if kind in known and called not in known[kind]:
                source.missing(element, kind.removeprefix("x"), called, known[kind])
        cutoff = least(element, "cutoff")
        sensor = SensorSpec(name, element.tag, part, target, other_part, other, cutoff)
        spec.sensors.append(sensor)
        _note(source, spec, element, sensor)


def _note(source: Source, spec: ModelSpec, element: Element, sensor: SensorSpec) -> None:
    """List what a sensor lacks."""
    reason = why_not(spec, sensor)
    if reason:
        source.notes.add(f"sensor/{sensor.kind}", element, f"no reading ({reason})")
    for name, without in _UNHEEDED.items():
        values = floats(element, name)
        if values is not None and values.any():
            source.notes.add(f"sensor {name}", element, without)
    for name in element.keys() if not reason else ():
        if name not in _KNOWN and name not in _UNHEEDED:
            source.notes.add(f"sensor {name}", element, "not known here")
    is_beside = bool(spec.loops) or any(tendon.path for tendon in spec.tendons)
    if sensor.kind in ("force", "torque") and is_beside:
        source.notes.add(f"sensor/{sensor.kind}", element, "loops and tendons count as pulling at the joint")


def _targets(element: Element) -> list[tuple[str, str]]:
    """Kind and name of what a sensor measures, and of what it measures by; empty where there is none."""
    out = [(element.get(kind, ""), element.get(name, "")) for kind, name in _FRAMES]
    plain = next((part for part in PARTS if element.get(part)), "")
    if not out[0][0] and plain:
        out[0] = (plain, element.get(plain, ""))
    for side, attributes in enumerate(_PAIRS):
        given = next((name for name in attributes if element.get(name)), "")
        if given and not out[side][0]:
            out[side] = (given[:-1], element.get(given, ""))
    return out
