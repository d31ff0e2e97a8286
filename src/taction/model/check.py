"""Checks of a description that need no tree: names, references and numbers of what hangs on bodies.

Every message names the model, or the file it came from, the element and the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput, ModelError
from taction.model.joints import JointKind
from taction.model.spec import WORLD, ActuatorSpec, JointSpec, ModelSpec, TendonSpec

LONGEST_NAME = 1000  # characters
LARGEST = 1e30  # mass [kg], moment [kg m²], acceleration [m/s²], coefficient, force or torque of friction
# Control characters, halves of characters, and what turns the direction of text
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_ACTUATORS = ("motor", "position", "velocity", "affine", "none")
_ACTIVATIONS = ("", "integrator", "filter", "filterexact")


def place(spec: ModelSpec) -> str:
    """How a message about a description begins."""
    return f"{spec.source or spec.name}: "


def numbers(value: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Finite numbers of a given shape, or a `ModelError`."""
    try:
        return as_float(value, shape, what)
    except BadInput as error:
        raise ModelError(str(error)) from None


def check_spec(spec: ModelSpec) -> None:
    """Check everything but the tree of bodies and joints.

    Raises:
        ModelError: a name is missing, used twice or unknown, or a number is impossible.
    """
    check_text(spec.name, "model name")
    for what, names in (
        ("body", [b.name for b in spec.bodies]),
        ("joint", [j.name for j in spec.joints]),
        ("actuator", [a.name for a in spec.actuators]),
        ("site", [s.name for s in spec.sites]),
        ("tendon", [t.name for t in spec.tendons]),
        ("sensor", [s.name for s in spec.sensors]),
    ):
        _check_unique(what, names, place(spec))
    for name in (*(loop.name for loop in spec.loops), *spec.keyframes):
        check_text(name, f"{place(spec)}name")
    numbers(spec.gravity, (3,), f"{place(spec)}gravity")
    if spec.timestep is not None and not (np.isfinite(spec.timestep) and spec.timestep > 0):
        raise ModelError(f"{place(spec)}timestep {spec.timestep} must be positive")
    _check_sizes(spec)
    _check_bodies(spec)
    _check_tendons(spec)
    parts: list[JointSpec | TendonSpec] = [*spec.joints, *spec.tendons]
    for part in parts:
        low, high = part.force_range
        if not low <= high:
            raise ModelError(f"{place(spec)}{part.name!r}: range of forces {low} to {high} is empty")
    known = _Targets(
        {joint.name: joint.kind for joint in spec.joints},
        {tendon.name for tendon in spec.tendons},
        {site.name for site in spec.sites},
    )
    for actuator in spec.actuators:
        _check_actuator(spec, actuator, known)


def _check_unique(what: str, names: list[str], where: str) -> None:
    seen = {WORLD} if what == "body" else set()
    for name in names:
        if not name:
            raise ModelError(f"{where}a {what} has no name")
        check_text(name, f"{where}{what} name")
        if name in seen:
            raise ModelError(f"{where}{what} name {name!r} is used twice")
        seen.add(name)


def check_text(text: str, what: str) -> None:
    """Raise `ModelError` for a name that no file, terminal or page can show."""
    if len(text) > LONGEST_NAME:
        raise ModelError(f"{what} {text[:20]!r}… has {len(text)} characters, more than {LONGEST_NAME}")
    if UNSHOWN.search(text):
        raise ModelError(f"{what} {text!r} has control characters, or half of one")


def _check_sizes(spec: ModelSpec) -> None:
    """Refuse names of shapes that cannot be shown, and numbers that no robot has and no step survives."""
    where = place(spec)
    _require_size(spec.gravity, f"{where}gravity")
    for body in spec.bodies:
        _require_size((body.inertia.mass, body.inertia.matrix), f"{where}body {body.name!r}: mass or inertia")
    for joint in spec.joints:
        _require_size((joint.friction,), f"{where}joint {joint.name!r}: friction")
    for shape in (shape for shapes in (spec.ground, *(b.shapes for b in spec.bodies)) for shape in shapes):
        check_text(shape.name, f"{where}shape name")
        _require_size(shape.material.friction, f"{where}shape {shape.name!r}: friction")


def _require_size(values: Iterable[ArrayLike], what: str) -> None:
    for value in values:
        largest = float(np.abs(value).max())
        if largest > LARGEST:
            raise ModelError(
                f"{what} of {largest:.3g} is more than {LARGEST:.0e}, the largest that is computed with"
            )


def _check_bodies(spec: ModelSpec) -> None:
    """What names bodies: exclusions, loops and sites."""
    bodies = {body.name for body in spec.bodies} | {WORLD}
    named: list[tuple[str, tuple[str, ...]]] = [("exclude", pair) for pair in spec.exclude]
    named += [(f"loop {loop.name!r}", (loop.body, loop.other)) for loop in spec.loops]
    named += [(f"site {site.name!r}", (site.body,)) for site in spec.sites]
    for what, names in named:
        for name in names:
            if name not in bodies:
                raise ModelError(f"{place(spec)}{what} names an unknown body {name!r}")
    for loop in spec.loops:
        if loop.kind not in ("point", "hinge", "weld"):
            raise ModelError(
                f"{place(spec)}loop {loop.name!r}: kind {loop.kind!r}; choose point, hinge or weld"
            )


def _check_tendons(spec: ModelSpec) -> None:
    sites = {site.name for site in spec.sites}
    kinds = {joint.name: joint.kind for joint in spec.joints}
    for tendon in spec.tendons:
        where = f"{place(spec)}tendon {tendon.name!r}: "
        if bool(tendon.joints) == bool(tendon.path):
            raise ModelError(f"{where}needs joints or a path over sites, one of them")
        for name in tendon.joints:
            if name not in kinds or not kinds[name].is_single:
                raise ModelError(f"{where}{name!r} is not a single-axis joint")
        for name in (name for _, names in tendon.path for name in names):
            if name not in sites:
                raise ModelError(f"{where}site {name!r} does not exist")
        if not tendon.lower <= tendon.upper:
            raise ModelError(f"{where}range {tendon.lower} to {tendon.upper} is empty")


class _Targets(NamedTuple):
    """What an actuator may act on, by name."""

    joints: dict[str, JointKind]
    tendons: set[str]
    sites: set[str]


def _check_actuator(spec: ModelSpec, actuator: ActuatorSpec, known: _Targets) -> None:
    where = f"{place(spec)}actuator {actuator.name!r}: "
    if actuator.kind not in _ACTUATORS:
        raise ModelError(f"{where}unknown kind {actuator.kind!r}")
    gains = (actuator.gear, actuator.kp, actuator.kv, actuator.gain, actuator.bias, *actuator.gears)
    numbers(gains, (len(gains),), f"{where}gear and gains")
    for low, high in (actuator.control_range, actuator.force_range, actuator.activation_range):
        if not low <= high:
            raise ModelError(f"{where}range {low} to {high} is empty")
    if actuator.kind == "none":
        return
    if actuator.activation not in _ACTIVATIONS:
        raise ModelError(f"{where}unknown activation {actuator.activation!r}")
    targets = [name for name in (actuator.joint, actuator.tendon, actuator.site) if name]
    if len(targets) != 1:
        raise ModelError(f"{where}needs one of joint, tendon and site, has {len(targets)}")
    _check_target(known, actuator, where)


def _check_target(known: _Targets, actuator: ActuatorSpec, where: str) -> None:
    """The joint, tendon or site exists, and has as many gears as it needs."""
    if actuator.joint:
        kind = known.joints.get(actuator.joint)
        if kind is None or not kind.nv or (not kind.is_single and not actuator.gears):
            raise ModelError(f"{where}{actuator.joint!r} is not a single-axis joint")
        if actuator.gears and len(actuator.gears) != kind.nv:
            raise ModelError(f"{where}needs {kind.nv} gears, has {len(actuator.gears)}")
    elif actuator.tendon:
        if actuator.tendon not in known.tendons:
            raise ModelError(f"{where}tendon {actuator.tendon!r} does not exist")
    else:
        for name in filter(None, (actuator.site, actuator.refsite)):
            if name not in known.sites:
                raise ModelError(f"{where}site {name!r} does not exist")
        if len(actuator.gears) != 6:
            raise ModelError(f"{where}a site needs 6 gears, has {len(actuator.gears)}")
