"""SRDF: what MoveIt and Pinocchio keep beside a URDF file, read into the same `ModelSpec`.

What becomes what
* ``<disable_collisions link1= link2=>`` is a pair of `ModelSpec.exclude`.
* ``<disable_default_collisions link=>`` excludes a link from all others, but for those that
  ``<enable_collisions link1= link2=>`` names.
* ``<group_state name=>`` is a `Keyframe`: joints that it does not name stay at the neutral configuration.
  States of the same name, of several groups, are one. The values of a floating joint are position and
  quaternion (x, y, z, w), as Pinocchio writes them, and become (w, x, y, z); cosine and sine of a joint
  that turns without end become its angle.

Groups, end effectors, virtual and passive joints say nothing about the mechanism and are skipped, as are what
planners keep here (`SKIPPED`). Listed: a link or joint that the robot lacks (``root_joint`` on a fixed base
is no loss and is not), ``<rotor_params>``, and elements that are not known.

References: http://wiki.ros.org/srdf; Pinocchio (``pinocchio.loadReferenceConfigurations``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from taction._core.arrays import Array
from taction.io.notes import Notes
from taction.io.urdf_elements import by_name, children, shown_tag, strip_namespace, text
from taction.io.xml import Element, fail, floats, is_text, parse_xml, read_xml
from taction.model.joints import JointKind
from taction.model.spec import JointSpec, Keyframe, ModelSpec

READ = frozenset(
    "disable_collisions disable_collision enable_collisions disable_default_collisions group_state".split()
)
# Elements about planning, grasping and feet.
SKIPPED = frozenset(
    "group end_effector virtual_joint passive_joint link_sphere_approximation joint_property handle contact "
    "gripper specificities torque_constant group_tcps kinematics_plugin_config calibration_config "
    "contact_managers_plugin_config".split()
)
_ROOT = "root_joint"
_ROUNDED = 1e-3  # how far cosine and sine in a file may be from the unit circle


def read_srdf(source: str | Path, spec: ModelSpec, renamed: Mapping[str, str], notes: Notes) -> None:
    """Add a semantic description to the robot that it belongs to.

    Args:
        source: the file; or the text itself, which begins with ``<``.
        spec: the robot.
        renamed: names of links in the file → names of bodies, where they differ.
        notes: takes what names something that the robot lacks.

    Raises:
        ModelError: the file is not a well-formed SRDF.
    """
    root = parse_xml(str(source), "<srdf>") if is_text(source) else read_xml(source)
    strip_namespace(root)
    if root.tag != "robot":
        fail(root, "an SRDF file must have <robot> as its root element")
    for element in children(root):
        if element.tag == "rotor_params":
            notes.add(element.tag, element, "rotors have no inertia; give it as JointSpec.armature")
        elif element.tag not in READ and element.tag not in SKIPPED:
            notes.add(shown_tag(element.tag), element, "not known here")
    bodies = [body.name for body in spec.bodies]
    disabled = _pairs(root, ("disable_collisions", "disable_collision"), bodies, renamed, notes)
    enabled = {frozenset(pair) for pair in _pairs(root, ("enable_collisions",), bodies, renamed, notes)}
    for element in children(root, "disable_default_collisions"):
        link = text(element, "link")
        name = renamed.get(link, link)
        if name not in bodies:
            notes.add(f"{element.tag} of link {name!r}, which does not exist", element, "nothing")
            continue
        disabled += [(name, other) for other in bodies if other != name]
    known = {frozenset(pair) for pair in spec.exclude} | enabled
    for pair in disabled:
        if frozenset(pair) not in known:
            known.add(frozenset(pair))
            spec.exclude.append(pair)
    _read_states(root, spec, notes)


def _pairs(
    root: Element, tags: tuple[str, ...], bodies: list[str], renamed: Mapping[str, str], notes: Notes
) -> list[tuple[str, str]]:
    """The pairs of bodies that elements with these tags name."""
    out = []
    for element in (each for tag in tags for each in children(root, tag)):
        first, second = (renamed.get(text(element, name), text(element, name)) for name in ("link1", "link2"))
        missing = [name for name in (first, second) if name not in bodies]
        if missing:
            notes.add(f"{element.tag} of link {missing[0]!r}, which does not exist", element, "nothing")
        elif first != second:
            out.append((first, second))
    return out


# ----- Named poses ------------------------------------------------------------------------------------------


def _read_states(root: Element, spec: ModelSpec, notes: Notes) -> None:
    joints = [joint for joint in spec.joints if joint.kind is not JointKind.FIXED]
    starts = dict(zip((j.name for j in joints), np.cumsum([0, *(j.kind.nq for j in joints)]), strict=False))
    nv = sum(joint.kind.nv for joint in joints)
    by_joint = {joint.name: joint for joint in joints}
    fixed = {joint.name for joint in spec.joints} - by_joint.keys()
    for state in children(root, "group_state"):
        name = text(state, "name")
        if name not in spec.keyframes:
            neutral = [np.zeros(0), *(_neutral(joint) for joint in joints)]
            spec.keyframes[name] = Keyframe(
                np.concatenate(neutral), np.zeros(nv), np.zeros(len(spec.actuators))
            )
        q = spec.keyframes[name].q
        for called, element in by_name(state, "joint").items():
            joint = by_joint.get(called)
            if joint is not None:
                q[starts[called] : starts[called] + joint.kind.nq] = _values(element, joint)
            elif called != _ROOT and called not in fixed:
                notes.add(f"state of joint {called!r}, which does not exist", element, "nothing")


def _neutral(joint: JointSpec) -> Array:
    q = np.zeros(joint.kind.nq)
    if joint.kind.has_quaternion:
        q[-4] = 1.0
    return q


def _values(element: Element, joint: JointSpec) -> Array:
    """Position coordinates of one joint."""
    values = floats(element, "value")
    if values is None:
        fail(element, "has no attribute 'value'")
    if joint.kind.is_single and len(values) == 2 and abs(np.hypot(*values) - 1.0) < _ROUNDED:
        values = np.array([np.arctan2(values[1], values[0])])
    if len(values) != joint.kind.nq:
        fail(element, f"value={element.get('value')!r} needs {joint.kind.nq} numbers")
    if joint.kind.has_quaternion:
        x, y, z, w = values[-4:]
        size = float(np.linalg.norm(values[-4:]))
        if not size > 0.0:
            fail(element, f"value={element.get('value')!r} has a zero quaternion")
        values = np.concatenate([values[:-4], np.array([w, x, y, z]) / size])
    return values
