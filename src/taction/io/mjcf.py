"""MJCF: the model files of MuJoCo, read into a `ModelSpec` as MuJoCo 4.0's compiler understands them.

What becomes what
* Bodies, joints and inertias: `taction.io.mjcf_bodies`. Positions q and velocities v of the compiled model
  are MuJoCo's ``qpos`` and ``qvel``, number by number.
* Geoms are shapes: `taction.io.mjcf_geoms`; those of the world are the ground. What they look like:
  `taction.io.mjcf_visuals`.
* Actuators: `taction.io.mjcf_actuators`. Controls are ``ctrl``, number by number.
* ``<equality>`` is a loop or a coupling of joints: `taction.io.mjcf_equalities`. ``<tendon>`` is a length of
  joints or sites: `taction.io.mjcf_tendons`.
* ``<sensor>`` is a `SensorSpec`: `taction.io.mjcf_sensors`.
* Includes, attached models and replicas: `taction.io.mjcf_open`. Default classes, orientations and units:
  `taction.io.mjcf_source`.
* ``<contact><pair>``: `taction.io.mjcf_pairs`. ``<contact><exclude>`` and ``<keyframe>`` are kept; a keyframe
  that is too short is completed with initial positions and zeros. ``<option>`` gives gravity and the time
  step (0.002 s if it says nothing).
* Names that are missing are made up: body3, joint2, actuator0, key0.

Departures
* Contact is rigid here: what softens it (``solref``, ``solimp``, ``impratio`` ...) is listed, like whatever
  else describes physics and is not read, such as fluids and flexible bodies, by name, place and what it
  changes: in one `UnsupportedFeatureWarning` and in `ModelSpec.unread`. Settings of MuJoCo's solver are
  skipped in silence. `taction.io.mjcf_vocabulary` has the tables.
* An unknown element or attribute is listed as well; MuJoCo refuses the file.
* A ``mocap`` body is listed, and fixed where the file puts it.
* ``discardvisual`` drops shapes that do not collide, and what they look like. ``fusestatic`` is without
  effect: welded bodies keep their names and move as one link in any case.

Files are not trusted: entities are refused, nothing is fetched, and whatever is not a physical mechanism is a
`ModelError` that names file, line, element and reason.

References: MuJoCo XML reference and modeling chapter, https://mujoco.readthedocs.io; [TodorovErezTassa2012].
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction.dynamics.crba import mass_matrix
from taction.dynamics.singular import tell_singular
from taction.geometry.decompose import decompose_shapes
from taction.io.mjcf_actuators import read_actuators
from taction.io.mjcf_bodies import read_bodies
from taction.io.mjcf_equalities import read_equalities
from taction.io.mjcf_flags import apply_flags
from taction.io.mjcf_open import open_source
from taction.io.mjcf_pairs import read_pairs
from taction.io.mjcf_sensors import read_sensors
from taction.io.mjcf_source import HIDDEN, Source, children, keyword, named, vector
from taction.io.mjcf_tendons import read_tendons
from taction.io.xml import Element, fail, floats, is_text, number, parse_xml, read_xml
from taction.model.compile import compile_model
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.spec import WORLD, JointSpec, Keyframe, ModelSpec

# Activations that may have more than one number, or none.
_LONG_ACTIVATIONS = {"pid", "dcmotor", "user"}

# MuJoCo's time step if the file gives none [s].
_TIMESTEP = 0.002


def load_mjcf(source: str | Path, *, decompose: float | None = None, strict: bool = False) -> Model:
    """Read and compile an MJCF file, or MJCF text.

    Args:
        source: the file; or the text itself, which begins with ``<``.
        decompose: let concave meshes collide as convex pieces, within this distance of the mesh [m]
            (`taction.geometry.decompose`); by default as their hulls.
        strict: refuse what is not fully supported, instead of warning. `Model.unread` lists it otherwise.

    Raises:
        ModelError: it is not a well-formed physical mechanism, or strict and not fully supported.
    """
    if is_text(source):
        spec = _read(parse_xml(str(source)), "<text>", strict)
    else:
        spec = _read(read_xml(source), str(source), strict)
    return compile_model(decompose_shapes(spec, decompose, strict))


def read_mjcf(path: str | Path, *, strict: bool = False) -> ModelSpec:
    """Read an MJCF file and the files it includes.

    Raises:
        ModelError: the file is not a well-formed physical mechanism, or strict and not fully supported.
    """
    return _read(read_xml(path), str(path), strict)


def parse_mjcf(text: str | bytes, *, file: str = "<text>", strict: bool = False) -> ModelSpec:
    """Read MJCF text; ``file`` is used in messages, and other files are looked for in its folder.

    Raises:
        ModelError: the text is not a well-formed physical mechanism, or strict and not fully supported.
    """
    return _read(parse_xml(text, file), file, strict)


def _read(root: Element, file: str, strict: bool) -> ModelSpec:
    """Everything after parsing; called by the public functions only, for the level of the warning."""
    try:
        with np.errstate(all="ignore"):  # what overflows is found by checks for finite values
            source = open_source(root, file)
            name = root.get("model") or Path(file).stem or "model"
            spec = ModelSpec(name=name, source=file)
            _read_options(source, spec)
            places = read_bodies(source, spec)
            moving = [joint for joint in spec.joints if joint.kind is not JointKind.FIXED]
            joints = {joint.name: joint for joint in moving}
            read_tendons(source, spec, joints)
            read_equalities(source, spec, joints, places)
            read_actuators(source, spec, joints)
            read_sensors(source, spec)
            _read_excludes(source, spec)
            read_pairs(source, spec)
            _read_keyframes(source, spec, moving)
            _settle(source, spec)
            apply_flags(source, spec)
    except RecursionError:
        raise ModelError(f"{file}: elements are nested too deeply") from None
    source.notes.report(file, strict=strict, stacklevel=3)
    spec.unread = tuple(source.notes.entries)
    return spec


def _settle(source: Source, spec: ModelSpec) -> None:
    """Work out the values that depend on the mass matrix at ``qpos0``."""
    if source.later:
        model = compile_model(spec)
        try:
            inverse: Array = np.linalg.inv(mass_matrix(model, model.q0)).astype(float)
        except np.linalg.LinAlgError:
            why = tell_singular(model, model.q0)
            raise ModelError(f"{spec.source}: the mass matrix is singular at qpos0: {why}") from None
        for settle in source.later:
            settle(model, inverse)


def _read_options(source: Source, spec: ModelSpec) -> None:
    spec.timestep = _TIMESTEP
    is_weightless = False
    for option in children(source.root, "option"):
        spec.timestep = number(option, "timestep", spec.timestep)
        if spec.timestep is None or spec.timestep <= 0:
            fail(option, f"timestep={spec.timestep} must be positive")
        x, y, z = vector(option, "gravity", spec.gravity).tolist()
        spec.gravity = (x, y, z)
        for flag in children(option, "flag"):
            if flag.get("gravity"):
                is_weightless = keyword(flag, "gravity", "enable disable", "enable") == "disable"
    if is_weightless:
        spec.gravity = (0.0, 0.0, 0.0)


def _read_excludes(source: Source, spec: ModelSpec) -> None:
    names = {WORLD, *(body.name for body in spec.bodies)}
    for element in source.sections("contact"):
        if element.tag != "exclude":
            continue
        pair = (element.get("body1", ""), element.get("body2", ""))
        unknown = [name for name in pair if name not in names]
        for name in unknown:
            if source.unread_around(name) is None:
                source.missing(element, "body", name, names)
        if not unknown:
            spec.exclude.append(pair)


# ----- Keyframes --------------------------------------------------------------------------------------------


def _read_keyframes(source: Source, spec: ModelSpec, joints: Sequence[JointSpec]) -> None:
    q0 = np.concatenate([np.zeros(0), *(_neutral(joint) for joint in joints)])
    nv, nu = sum(joint.kind.nv for joint in joints), len(spec.actuators)
    activations = [actuator.activation for actuator in spec.actuators if actuator.activation]
    is_whole = not any(next(source.root.iter(tag), None) is not None for tag in HIDDEN)
    keys = (element for element in source.sections("keyframe") if element.tag == "key")
    for name, element in named(keys, "key"):
        if not is_whole:
            source.notes.add("key of a model with bodies that are not read", element, "no such key")
            continue
        q = _normalized(_filled(element, "qpos", q0), joints)
        v = _filled(element, "qvel", np.zeros(nv))
        control = _filled(element, "ctrl", np.zeros(nu))
        if set(activations) & _LONG_ACTIVATIONS:
            activation = np.zeros(len(activations))
            if element.get("act"):
                what = "key act of a model with activations of several numbers"
                source.notes.add(what, element, "activations are zero")
        else:
            activation = _filled(element, "act", np.zeros(len(activations)))
        spec.keyframes[name] = Keyframe(q, v, control, activation)


def _neutral(joint: JointSpec) -> Array:
    return np.array([1.0, 0.0, 0.0, 0.0]) if joint.initial is None else joint.initial


def _filled(element: Element, attribute: str, default: Array) -> Array:
    """The attribute, completed with the default where it is too short."""
    values = floats(element, attribute)
    if values is None:
        return default.copy()
    if len(values) > len(default):
        fail(element, f"{attribute} has {len(values)} numbers, the model {len(default)}")
    return np.concatenate([values, default[len(values) :]])


def _normalized(q: Array, joints: Sequence[JointSpec]) -> Array:
    """Positions with unit quaternions; a zero quaternion becomes the identity, as in MuJoCo."""
    end = 0
    for joint in joints:
        end += joint.kind.nq
        if joint.kind.has_quaternion:
            quaternion, size = q[end - 4 : end], np.abs(q[end - 4 : end]).max()
            scaled = quaternion / size if size > 0 else np.array([1.0, 0.0, 0.0, 0.0])
            q[end - 4 : end] = scaled / np.linalg.norm(scaled)
    return q
