"""URDF: the robot descriptions of ROS, read into a `ModelSpec`.

What becomes what
* ``<link>`` is a body. Its ``<inertial>`` gives mass, centre of mass and inertia (none: a massless body):
  `taction.io.urdf_inertia`; every ``<collision>`` a `Shape`: `taction.io.urdf_shapes`; every ``<visual>`` a
  `Visual`: `taction.io.urdf_visuals`.
* ``<joint>`` is a joint; its ``<origin>`` places the joint frame, which is also the child's frame. The types
  are fixed, revolute, continuous, prismatic, planar and floating, plus all others of
  `taction.model.joints` (a second axis in ``<axis2 xyz="..."/>``, 0 1 0 by default). Dynamics and mimics are
  kept, and limits of joints with one freedom.
* A planar joint moves in the plane normal to its ``<axis>``. Ours moves in the xy-plane of its frame, so that
  frame is turned to have z along the axis, and turned back towards the child: at q = 0 nothing changes.
* The root link is fixed to the world by a joint named ``root_joint``, floating with ``floating_base=True``.
  A root link called "world" *is* the world: its children hang from it and its shapes are ground. To float it
  all the same, as Pinocchio would, it becomes a body named "world_link"; so does a link of that name below
  another. (A name already taken gets a ``_``.)
* What has no mass is there for kinematics: a joint that moves nothing but that is listed when a model is
  loaded, and refused when it is to move by forces.
* Joints keep the order of the file; other readers sort siblings by name, so compare by name.

A semantic description beside it (SRDF): `taction.io.srdf`.

Departures from the URDF specification
* A revolute or prismatic joint without limits is unlimited rather than wrong; a ``<limit>`` with only one of
  lower and upper gets 0 for the other, as specified. Missing effort and velocity limits are infinite.
* What other readers load is loaded, and listed: a lower limit above the upper one is none, as for MuJoCo; a
  mimic of a joint that is not there leaves its joint to itself; a collision shape without extent touches
  nothing.
* Of elements that may stand once, the first one counts, as in other readers; others are listed.
* Fixed joints may carry axes, limits and dynamics; they mean nothing and are skipped.
* ``<calibration>`` and ``<safety_controller>`` are not physics and are skipped; so is what is wrong with a
  ``<visual>`` or a ``<material>``. Everything else that is not read is listed, by name, place and what it
  changes, in one `UnsupportedFeatureWarning` and in `ModelSpec.unread`.

Files are not trusted: entities are refused, nothing is fetched, and whatever is not a physical tree of bodies
is a `ModelError` that names file, line, element and reason.

References: http://wiki.ros.org/urdf/XML; Pinocchio (``pinocchio.buildModelFromUrdf``) for the floating base.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.geometry.decompose import decompose_shapes
from taction.io.srdf import read_srdf
from taction.io.urdf_elements import (
    Reading,
    by_name,
    child,
    needed,
    strip_namespace,
    survey,
    text,
    value,
    vector,
)
from taction.io.urdf_inertia import check_inertias, note_loose_joints, read_inertia
from taction.io.urdf_shapes import read_origin, read_shapes
from taction.io.urdf_visuals import read_colours, read_visuals
from taction.io.xml import Element, fail, is_text, parse_xml, read_xml
from taction.math.transform import Transform, rotation_aligning_z
from taction.model.compile import compile_model, joints_in_order
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.spec import WORLD, BodySpec, JointSpec, Mimic, ModelSpec

_KINDS = {kind.value: kind for kind in JointKind}


def load_urdf(source: str | Path, *, decompose: float | None = None, **options: Any) -> Model:
    """Read and compile a URDF file, or URDF text, which begins with ``<``.

    Joints that move what has no inertia are listed with the rest: kinematics need none, and the model is
    refused when it is to move by forces; if strict, at once.

    Args:
        source: the file, or the text.
        decompose: let concave meshes collide as convex pieces, within this distance of the mesh [m]
            (`taction.geometry.decompose`); by default as their hulls.
        options: those of `read_urdf`.
    """
    is_given = is_text(source)
    reading = Reading("<text>" if is_given else str(source), **options)
    spec = _read_robot(parse_xml(str(source)) if is_given else read_xml(source), reading)
    model = compile_model(decompose_shapes(spec, decompose, reading.strict))
    note_loose_joints(model, reading)
    reading.report(model.spec, stacklevel=2)
    return model


def read_urdf(
    path: str | Path,
    *,
    floating_base: bool = False,
    package_dirs: Sequence[str | Path] = (),
    load_meshes: bool = True,
    check_inertia: bool = True,
    srdf: str | Path | None = None,
    strict: bool = False,
) -> ModelSpec:
    """Read a URDF file.

    Args:
        path: the file.
        floating_base: let the root link float instead of fixing it to the world.
        package_dirs: folders searched for ``package://`` meshes, before ``ROS_PACKAGE_PATH`` and the folders
            above the file (see `taction.io.meshes.find_mesh`).
        load_meshes: read collision meshes (STL, OBJ, MSH and, with pycollada, DAE); a missing or broken file
            is an error. If False, a `Mesh` only holds its path and touches nothing, as a `World` of it says.
        check_inertia: reject masses and moments that are negative; if False, keep them. Moments that violate
            the triangle inequality, which no rigid body has, are kept; a warning lists what is kept.
            Links that are fixed to each other count as one body: placeholders among them do no harm.
        srdf: a semantic description (SRDF), file or text: pairs that do not collide, and named poses.
        strict: refuse what is not fully supported, instead of warning. `ModelSpec.unread` lists it otherwise.
            Refuses inertias that no rigid body has.

    Raises:
        ModelError: the file is not a well-formed physical mechanism.
    """
    reading = Reading(str(path), floating_base, package_dirs, load_meshes, check_inertia, srdf, strict)
    spec = _read_robot(read_xml(path), reading)
    reading.report(spec, stacklevel=2)
    return spec


def parse_urdf(source: str | bytes, *, file: str = "<text>", **options: Any) -> ModelSpec:
    """Read URDF text.

    Args:
        source: the text.
        file: name used in messages; meshes are looked for from its folder.
        options: those of `read_urdf`.
    """
    reading = Reading(file, **options)
    spec = _read_robot(parse_xml(source, file), reading)
    reading.report(spec, stacklevel=2)
    return spec


# ----- The tree -------------------------------------------------------------------------------------------


def _read_robot(root: Element, reading: Reading) -> ModelSpec:
    strip_namespace(root)
    if root.tag != "robot":
        fail(root, "a URDF file must have <robot> as its root element")
    survey(root, reading)
    links, joints = by_name(root, "link"), by_name(root, "joint")
    if not links:
        is_macro = any(entry.what.startswith("xacro:") for entry in reading.notes.entries)
        fail(root, "has no links" + ("; expand its xacro macros first" if is_macro else ""))
    top = _root_link(links, joints)
    names = {name: name for name in links}
    if WORLD in links and (top != WORLD or reading.floating_base):
        names[WORLD] = _free_name("world_link", links)
    if WORLD in links and top != WORLD:
        reading.notes.add("link 'world' below another", links[WORLD], f"its body is {names[WORLD]!r}")
    base = names[top]

    name = root.get("name") or Path(reading.file).stem
    spec = ModelSpec(name=name, source=reading.file)
    colours = read_colours(root)
    for name, link in links.items():
        body = BodySpec(names[name], read_inertia(link, reading), read_shapes(link, reading))
        body.source = f"{link.label} ({link.where})"
        body.visuals = read_visuals(link, colours, reading)
        if body.name == WORLD:
            spec.ground, spec.ground_visuals = body.shapes, body.visuals
        else:
            spec.bodies.append(body)
    if base != WORLD:
        kind = JointKind.FLOATING if reading.floating_base else JointKind.FIXED
        root_joint = JointSpec(
            _free_name("root_joint", joints), kind, WORLD, base, source="the floating base"
        )
        spec.joints.append(root_joint)
    for element in joints.values():
        joint = _joint(element, reading)
        joint.parent, joint.child = names[joint.parent], names[joint.child]
        spec.joints.append(joint)
    _check_mimics(spec, joints, reading)
    check_inertias(spec, {names[name]: link for name, link in links.items()}, reading)
    reading.joints = {joint.name: joints.get(joint.name, links[top]) for joint in spec.joints}
    spec.check_mass = reading.strict  # kinematics need none
    if reading.srdf is not None:
        spec.joints = joints_in_order(spec)  # poses are written in the order of the model
        read_srdf(reading.srdf, spec, names, reading.notes)
    return spec


def _root_link(links: dict[str, Element], joints: dict[str, Element]) -> str:
    """The one link without a parent, after checking that the joints make a tree of all links."""
    parent_of: dict[str, str] = {}
    for joint in joints.values():
        parent, below = _link_of(joint, "parent", links), _link_of(joint, "child", links)
        if below in parent_of:
            fail(joint, f"link {below!r} already has the parent {parent_of[below]!r}")
        parent_of[below] = parent
    tops = [name for name in links if name not in parent_of]
    if len(tops) > 1:
        fail(links[tops[1]], f"is a second root: it and {tops[0]!r} are the child of no joint")
    # with one parent at most, a link that never comes to the root runs in a circle
    reaches = set(tops)
    for name, link in links.items():
        path = dict.fromkeys([name])
        while name not in reaches:
            name = parent_of[name]
            if name in path:
                fail(link, f"the joints above it form a cycle through link {name!r}")
            path[name] = None
        reaches.update(path)
    return tops[0]


def _link_of(joint: Element, tag: str, links: dict[str, Element]) -> str:
    name = text(needed(joint, tag), "link")
    if name not in links:
        fail(joint, f"{tag} link {name!r} does not exist")
    return name


def _free_name(name: str, taken: dict[str, Element]) -> str:
    while name in taken:
        name += "_"
    return name


# ----- Joints ---------------------------------------------------------------------------------------------


def _joint(element: Element, reading: Reading) -> JointSpec:
    kind = _KINDS.get(text(element, "type"))
    if kind is None:
        fail(element, f"unknown type {element.get('type')!r}; known are {', '.join(_KINDS)}")
    parent, below = text(needed(element, "parent"), "link"), text(needed(element, "child"), "link")
    joint = JointSpec(element.get("name", ""), kind, parent, below, pose=read_origin(element))
    joint.source = f"{element.label} ({element.where})"
    if kind is JointKind.FIXED:
        return joint
    if kind.motion.axes or kind is JointKind.PLANAR:
        _read_axes(element, joint)
    _read_limit(element, joint, reading)
    _read_dynamics(element, joint, reading)
    mimic = child(element, "mimic")
    if mimic is not None:
        multiplier, offset = value(mimic, "multiplier", 1.0), value(mimic, "offset", 0.0)
        joint.mimic = Mimic(text(mimic, "joint"), multiplier, offset)
    return joint


def _read_axes(element: Element, joint: JointSpec) -> None:
    axis = _axis(element, "axis", (1.0, 0.0, 0.0))
    if joint.kind is JointKind.PLANAR:
        turn = Transform(rotation_aligning_z(axis))
        joint.pose, joint.child_pose = joint.pose @ turn, turn
        return
    joint.axis = _triple(axis)
    if "axis2" in joint.kind.motion.axes:
        axis2 = _axis(element, "axis2", (0.0, 1.0, 0.0))
        if np.linalg.norm(np.cross(axis, axis2)) < 1e-6:
            fail(element, f"the two axes of a {joint.kind.value} joint must not be parallel")
        joint.axis2 = _triple(axis2)


def _axis(joint: Element, tag: str, default: tuple[float, float, float]) -> Array:
    """Unit vector of an <axis>."""
    element = child(joint, tag)
    axis = np.array(default) if element is None else vector(element, "xyz")
    size = np.abs(axis).max()
    if size < 1e-9:
        fail(joint, f"the {tag} is zero")
    axis = axis / size  # so that the norm does not overflow
    return axis / np.linalg.norm(axis)


def _read_limit(element: Element, joint: JointSpec, reading: Reading) -> None:
    limit = child(element, "limit")
    if limit is None:
        return
    joint.effort = value(limit, "effort", np.inf, least=0.0)
    joint.max_velocity = value(limit, "velocity", np.inf)
    if joint.max_velocity < 0.0:
        reading.notes.add("negative velocity of a limit", limit, "no limit", of=element.label)
        joint.max_velocity = np.inf
    if limit.get("lower") is None and limit.get("upper") is None:
        return
    lower, upper = value(limit, "lower", 0.0), value(limit, "upper", 0.0)
    if not joint.kind.is_single or joint.kind is JointKind.CONTINUOUS:
        reading.notes.add(f"lower and upper limit of a {joint.kind.value} joint", limit, "no limit")
        return
    if lower > upper:
        what = f"lower limit {lower:g} above the upper one, {upper:g}"
        reading.notes.add(what, limit, "no limit", of=element.label)
        return
    joint.lower, joint.upper = lower, upper


def _read_dynamics(element: Element, joint: JointSpec, reading: Reading) -> None:
    dynamics = child(element, "dynamics")
    if dynamics is None:
        return
    damping, friction = value(dynamics, "damping", 0.0), value(dynamics, "friction", 0.0)
    for name, amount in (("damping", damping), ("friction", friction)):
        if amount < 0.0:
            reading.notes.add(f"negative {name}", dynamics, "taken as none", of=element.label)
    joint.damping, friction = max(damping, 0.0), max(friction, 0.0)
    if not joint.kind.has_quaternion:
        joint.friction = friction
    elif friction:
        reading.notes.add(f"friction of a {joint.kind.value} joint", dynamics, "no dry friction")


def _check_mimics(spec: ModelSpec, elements: dict[str, Element], reading: Reading) -> None:
    """Every follower must lead, over others perhaps, to an independent joint; one of nobody is one."""
    joints = {joint.name: joint for joint in spec.joints}
    for joint in spec.joints:
        if joint.mimic is not None and joint.mimic.joint not in joints:
            what, element = f"mimic of {joint.mimic.joint!r}, which does not exist", elements[joint.name]
            reading.notes.add(what, needed(element, "mimic"), "it moves by itself", of=element.label)
            joint.mimic = None
    settled = {joint.name for joint in spec.joints if joint.mimic is None}
    for joint in spec.joints:
        path = dict.fromkeys([joint.name])
        while joint.mimic is not None and joint.name not in settled:
            element = needed(elements[joint.name], "mimic")
            leader = joints[joint.mimic.joint]
            if leader.name in path:
                fail(element, f"joint {joint.name!r} mimics itself, at once or by way of others")
            for each in (joint, leader):
                if not each.kind.is_single:
                    fail(element, f"needs single-axis joints, and {each.name!r} is {each.kind.value}")
            path[leader.name] = None
            joint = leader
        settled.update(path)


# ----- Small conversions ----------------------------------------------------------------------------------


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
