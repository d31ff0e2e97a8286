"""Kinds of sensors: how many numbers each gives, in what unit, and what it can be attached to.

The words are MJCF's. A sensor *of a state* reads positions and velocities. One *of a step* reads
accelerations and forces: means over the step that ended there, the change of velocity over its duration, and
impulses over it. In a step with an impact these are large, the larger the shorter the step.

What cannot be read has a reason, `why_not`.
"""

from __future__ import annotations

from typing import NamedTuple

from taction._core.names import a
from taction.model.joints import JointKind
from taction.model.shapes import Mesh
from taction.model.spec import WORLD, ModelSpec, SensorSpec

FRAMES = ("site", "body", "xbody", "geom")
_COMPONENTS = {1: ("",), 3: tuple("xyz"), 4: tuple("wxyz")}


class SensorKind(NamedTuple):
    """What a sensor gives.

    In ``unit``, L stands for the unit of a joint's coordinate (m or rad), F for that of its force.
    """

    size: int  # numbers of a reading
    unit: str
    parts: tuple[str, ...]  # what it may be attached to
    is_of_step: bool = False
    is_cut: bool = True  # whether a cutoff bounds its numbers


KINDS = {
    "jointpos": SensorKind(1, "L", ("joint",)),
    "jointvel": SensorKind(1, "L/s", ("joint",)),
    "jointlimitpos": SensorKind(1, "L", ("joint",)),
    "jointlimitvel": SensorKind(1, "L/s", ("joint",)),
    "jointactuatorfrc": SensorKind(1, "F", ("joint",), True),
    "ballquat": SensorKind(4, "1", ("joint",), is_cut=False),
    "ballangvel": SensorKind(3, "rad/s", ("joint",)),
    "tendonpos": SensorKind(1, "m or rad", ("tendon",)),
    "tendonvel": SensorKind(1, "m/s or rad/s", ("tendon",)),
    "tendonlimitpos": SensorKind(1, "m or rad", ("tendon",)),
    "tendonlimitvel": SensorKind(1, "m/s or rad/s", ("tendon",)),
    "actuatorpos": SensorKind(1, "m or rad", ("actuator",)),
    "actuatorvel": SensorKind(1, "m/s or rad/s", ("actuator",)),
    "actuatorfrc": SensorKind(1, "N or N m", ("actuator",), True),
    "framepos": SensorKind(3, "m", FRAMES),
    "framequat": SensorKind(4, "1", FRAMES, is_cut=False),
    "framexaxis": SensorKind(3, "1", FRAMES, is_cut=False),
    "frameyaxis": SensorKind(3, "1", FRAMES, is_cut=False),
    "framezaxis": SensorKind(3, "1", FRAMES, is_cut=False),
    "framelinvel": SensorKind(3, "m/s", FRAMES),
    "frameangvel": SensorKind(3, "rad/s", FRAMES),
    "framelinacc": SensorKind(3, "m/s²", FRAMES, True),
    "frameangacc": SensorKind(3, "rad/s²", FRAMES, True),
    "velocimeter": SensorKind(3, "m/s", ("site",)),
    "gyro": SensorKind(3, "rad/s", ("site",)),
    "accelerometer": SensorKind(3, "m/s²", ("site",), True),
    "touch": SensorKind(1, "N", ("site",), True),
    "force": SensorKind(3, "N", ("site",), True),
    "torque": SensorKind(3, "N m", ("site",), True),
    "subtreecom": SensorKind(3, "m", ("body",)),
    "subtreelinvel": SensorKind(3, "m/s", ("body",)),
    "subtreeangmom": SensorKind(3, "kg m²/s", ("body",)),
    "clock": SensorKind(1, "s", ("",)),
    "e_potential": SensorKind(1, "J", ("",)),
    "e_kinetic": SensorKind(1, "J", ("",)),
}
# What others would need.
_LACKS = {
    "rangefinder": "no rays are cast",
    "magnetometer": "no magnetic field",
    "camprojection": "no cameras",
    "jointlimitfrc": "impulses of stops are not recorded",
    "tendonlimitfrc": "impulses of stops are not recorded",
    "tendonactuatorfrc": "forces of tendons are not recorded",
    "distance": "no distances of bodies that are apart",
    "normal": "no distances of bodies that are apart",
    "fromto": "no distances of bodies that are apart",
}
_AXES = ("framequat", "framexaxis", "frameyaxis", "framezaxis")


def why_not(spec: ModelSpec, sensor: SensorSpec) -> str:
    """Why a sensor has no reading, in a few words; empty if it has one."""
    kind = KINDS.get(sensor.kind)
    if kind is None:
        return _LACKS.get(sensor.kind, "a kind that is not known here")
    if sensor.part not in kind.parts:
        return f"it is attached to {a(sensor.part)}" if sensor.part else "it is attached to nothing"
    if sensor.other_part and (sensor.other_part not in FRAMES or not sensor.kind.startswith("frame")):
        return f"it is measured by {a(sensor.other_part)}"
    for part, name in ((sensor.part, sensor.target), (sensor.other_part, sensor.other)):
        if not _exists(spec, part, name):
            return f"there is no {part.removeprefix('x')} {name!r}"
    if (sensor.part == "body" and sensor.kind in _AXES) or sensor.other_part == "body":
        return "which way the axes of an inertia point is open"
    if sensor.part == "joint":
        return _joint_reason(spec, sensor)
    return _actuator_reason(spec, sensor) if sensor.part == "actuator" else ""


def _exists(spec: ModelSpec, part: str, name: str) -> bool:
    """Whether a part is there; a geom must have a frame that is known."""
    if part in ("body", "xbody"):
        return name == WORLD or any(body.name == name for body in spec.bodies)
    if part == "geom":
        shapes = [*spec.ground, *(shape for body in spec.bodies for shape in body.shapes)]
        return any(s.key == name and name and not isinstance(s.geometry, Mesh) for s in shapes)
    groups = {"joint": spec.joints, "tendon": spec.tendons, "actuator": spec.actuators, "site": spec.sites}
    return part == "" or any(one.name == name for one in groups[part])  # type: ignore[attr-defined]


def _joint_reason(spec: ModelSpec, sensor: SensorSpec) -> str:
    kind = spec.joint(sensor.target).kind
    is_fit = is_ball(kind) if sensor.kind.startswith("ball") else kind.is_single
    return "" if is_fit else f"not of a {kind.value} joint"


def is_ball(kind: JointKind) -> bool:
    """Whether a joint has a quaternion for its position, and nothing else."""
    return kind.has_quaternion and kind.nq == 4


def _actuator_reason(spec: ModelSpec, sensor: SensorSpec) -> str:
    actuator = next(a for a in spec.actuators if a.name == sensor.target)
    if actuator.refsite:
        return "its actuator pushes one site against another"
    if not (actuator.joint or actuator.tendon or actuator.site):
        return "what its actuator drives is not read"
    return ""


def components(sensor: SensorSpec) -> tuple[str, ...]:
    """Names of the numbers of a reading: one without a name, x y z, or w x y z."""
    return _COMPONENTS[KINDS[sensor.kind].size]


def unit_of(spec: ModelSpec, sensor: SensorSpec) -> str:
    """Unit of a reading."""
    unit = KINDS[sensor.kind].unit
    if sensor.part != "joint":
        return unit
    length = spec.joint(sensor.target).kind.motion.velocities[0].unit
    force = "N" if length == "m" else "N m"
    return {"L": length, "L/s": f"{length}/s", "F": force}.get(unit, unit)
