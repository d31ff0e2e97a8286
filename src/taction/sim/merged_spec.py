"""One description of several models: what a world is made of.

Names of each part get its name before them, with a number where several parts have the same name. A part of
one body lends its name to that body. Shapes that are fixed to the world stay what they are.

Where one part says what its ground looks like, the ground of the others is drawn by its shapes: a description
has looks of all of its ground, or of none (`taction.model.visual.looks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from taction._core.errors import ModelError
from taction.model.model import Model
from taction.model.shapes import Shape
from taction.model.spec import WORLD, ModelSpec
from taction.model.visual import looks


def merged(parts: Sequence[Model], gravity: tuple[float, float, float] | None) -> ModelSpec:
    """One description of all parts; their gravities must agree unless one is given for all.

    Raises:
        ModelError: they do not.
    """
    if len(parts) == 1:
        spec = parts[0].spec
        return replace(spec, ground=list(spec.ground), ground_visuals=list(spec.ground_visuals))
    first = parts[0].spec
    out = ModelSpec(name="world", gravity=first.gravity, timestep=first.timestep)
    names = [part.name for part in parts]
    has_looks = any(part.spec.ground_visuals for part in parts)
    seen: dict[str, int] = {}
    for part in parts:
        name = part.name
        if names.count(name) > 1:
            seen[name] = seen.get(name, 0) + 1
            name = f"{name}{seen[name]}"
        spec = deepcopy(part.spec)
        if gravity is None and not np.allclose(spec.gravity, first.gravity):
            raise ModelError(
                f"{part.name}: its gravity differs from that of {parts[0].name}; give the world one"
            )
        alone = len(spec.bodies) == 1
        rename = {WORLD: WORLD} | {b.name: name if alone else f"{name}/{b.name}" for b in spec.bodies}
        for body in spec.bodies:
            body.name = rename[body.name]
            body.shapes = [
                replace(s, name=f"{name}/{s.name}" if s.name and not alone else name) for s in body.shapes
            ]
            body.shapes = [_keyed(s, name) for s in body.shapes]
            body.visuals = [
                replace(v, name=f"{name}/{v.name}" if v.name and not alone else name) for v in body.visuals
            ]
        for joint in spec.joints:
            joint.name = f"{name}/{joint.name}"
            joint.parent, joint.child = rename[joint.parent], rename[joint.child]
            if joint.mimic is not None and joint.mimic.joint:
                joint.mimic.joint = f"{name}/{joint.mimic.joint}"
        for actuator in spec.actuators:
            actuator.name = f"{name}/{actuator.name}"
            for target in ("joint", "tendon", "site", "refsite"):
                if getattr(actuator, target):
                    setattr(actuator, target, f"{name}/{getattr(actuator, target)}")
        for loop in spec.loops:
            loop.name, loop.body, loop.other = f"{name}/{loop.name}", rename[loop.body], rename[loop.other]
        for site in spec.sites:
            site.name, site.body = f"{name}/{site.name}", rename[site.body]
        for tendon in spec.tendons:
            tendon.name = f"{name}/{tendon.name}"
            tendon.joints = {f"{name}/{joint}": c for joint, c in tendon.joints.items()}
            tendon.path = [(divisor, [f"{name}/{s}" for s in sites]) for divisor, sites in tendon.path]
        for sensor in spec.sensors:
            sensor.name = f"{name}/{sensor.name}"
            sensor.target = _renamed(sensor.part, sensor.target, name, rename)
            sensor.other = _renamed(sensor.other_part, sensor.other, name, rename)
        out.bodies += spec.bodies
        out.joints += spec.joints
        out.ground += [_keyed(s, name) for s in spec.ground]
        if has_looks:
            out.ground_visuals += looks(spec.ground, spec.ground_visuals)
        out.pairs += [replace(p, shape=f"{name}/{p.shape}", other=f"{name}/{p.other}") for p in spec.pairs]
        out.actuators += spec.actuators
        out.exclude += [(rename[a], rename[b]) for a, b in spec.exclude]
        out.loops += spec.loops
        out.sites += spec.sites
        out.tendons += spec.tendons
        out.sensors += spec.sensors
        out.unread += spec.unread
        out.check_inertia = out.check_inertia and spec.check_inertia
        out.check_mass = out.check_mass and spec.check_mass
    return out


def add_ground(spec: ModelSpec, shapes: list[Shape]) -> None:
    """Fix more shapes to the world of a description, before those it has."""
    spec.ground = shapes + spec.ground
    if spec.ground_visuals:
        spec.ground_visuals = looks(shapes, []) + spec.ground_visuals


def _keyed(shape: Shape, part: str) -> Shape:
    """The shape with a key of its part's own, if it has one."""
    return replace(shape, key=f"{part}/{shape.key}") if shape.key else shape


def _renamed(part: str, target: str, name: str, bodies: dict[str, str]) -> str:
    """What a sensor's target is called in the world of several models."""
    return bodies.get(target, target) if part in ("body", "xbody") else f"{name}/{target}" if target else ""
