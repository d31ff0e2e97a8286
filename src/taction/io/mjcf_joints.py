"""Joints of an MJCF model: what they allow, their limits, and what acts on them.

What becomes what
* ``hinge``, ``slide`` and ``ball`` joints turn or move the body about ``pos`` in its own frame:

      X_parent,body = X_body · Π_k  T(pos_k) X_k(q_k − ref_k) T(−pos_k)

  ``ref`` goes into the placement of the joint, as X_k(−ref), so that q is MuJoCo's ``qpos`` and not the
  displacement from ``ref``; it is the initial position. ``springref`` is a value of q.
* ``actuatorfrcrange`` is the effort limit, and `JointSpec.force_range` where its sides differ.
* ``springdamper`` T ζ is the damping 2 I/T and the stiffness I/(T ζ)², where 1/I is the joint's entry of M⁻¹
  at ``qpos0``.

Departures
* Listed as not supported: limits of ball joints; springs of ball and free joints; negative damping and
  friction, which would drive.
* Negative armature and stiffness are refused.

References: MuJoCo XML reference, section "body/joint".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array
from taction.io.mjcf_source import Source, keyword, least, limits, located, resistance, unit, vector
from taction.io.xml import Element, fail
from taction.math.transform import Transform, rotation_about, rotation_from_quaternion
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.spec import WORLD, JointSpec

_KINDS = {
    "hinge": JointKind.REVOLUTE,
    "slide": JointKind.PRISMATIC,
    "ball": JointKind.SPHERICAL,
    "free": JointKind.FLOATING,
}
_ROTATIONS = (JointKind.REVOLUTE, JointKind.SPHERICAL)


def check_combination(body: Element, joints: Sequence[JointSpec]) -> None:
    """Refuse joints that a body cannot have together.

    Raises:
        ModelError: more than six degrees of freedom, or a ball joint before another rotation.
    """
    kinds = [joint.kind for joint in joints]
    if sum(kind.nv for kind in kinds) > 6:
        fail(body, "its joints have more than six degrees of freedom")
    rotations = [kind for kind in kinds if kind in _ROTATIONS]
    if JointKind.SPHERICAL in rotations[:-1]:
        fail(body, "a ball joint cannot be followed by another rotation")


def relaxed_places(joints: Sequence[JointSpec]) -> dict[str, tuple[Array, Array]]:
    """Axes (3, 3) and origins (3,) of bodies, hinges and slides at ``springref``, others where they begin.

    Args:
        joints: all of a model, parents first.
    """
    placed = {WORLD: (np.eye(3), np.zeros(3))}
    for joint in joints:
        R, p = placed[joint.parent]
        R, p = R @ joint.pose.rotation, p + R @ joint.pose.translation
        match joint.kind:
            case JointKind.REVOLUTE:
                R = R @ rotation_about(joint.axis, float(joint.rest))
            case JointKind.PRISMATIC:
                p = p + R @ (float(joint.rest) * np.array(joint.axis))
            case JointKind.FLOATING if joint.initial is not None:
                p = p + R @ joint.initial[:3]
                R = R @ rotation_from_quaternion(joint.initial[3:])
        R = R @ joint.child_pose.rotation.T
        placed[joint.child] = R, p - R @ joint.child_pose.translation
    return placed


def read_joint(written: Element, name: str, frame: Transform, active: str, source: Source) -> JointSpec:
    """A joint whose placement is that in the body; parent and child are filled in later.

    Args:
        written: the joint, or free joint.
        name: its name.
        frame: the frame in which it stands, in the body.
        active: default class that holds there.
        source: the file.

    Raises:
        ModelError: a bad value.
    """
    is_free = written.tag == "freejoint"
    element = written if is_free else source.completed(written, active)
    kind = JointKind.FLOATING if is_free else _KINDS[keyword(element, "type", " ".join(_KINDS), "hinge")]
    joint = JointSpec(name, kind, WORLD, WORLD, source=f"{written.tag} {name!r} ({written.where})")
    if is_free:
        return joint
    joint.damping = resistance(element, "damping", source, most=3)
    if kind is not JointKind.FLOATING:
        anchor = frame.apply(vector(element, "pos", (0.0, 0.0, 0.0)))
        with located(element):
            joint.pose = joint.child_pose = Transform(translation=anchor)
    if kind.is_single:
        _read_single_axis(element, frame, joint, source)
    else:
        _read_quaternion_joint(element, joint, source)
    return joint


def _read_single_axis(element: Element, frame: Transform, joint: JointSpec, source: Source) -> None:
    scale = source.settings(element).angle_unit if joint.kind is JointKind.REVOLUTE else 1.0
    x, y, z = frame.rotation @ unit(element, vector(element, "axis", (0.0, 0.0, 1.0)), "axis")
    joint.axis = (float(x), float(y), float(z))
    joint.armature = least(element, "armature")
    joint.friction = resistance(element, "frictionloss", source)
    joint.stiffness = least(element, "stiffness", most=3)
    joint.rest = least(element, "springref", minimum=-np.inf) * scale
    ref = least(element, "ref", minimum=-np.inf) * scale
    joint.initial = np.array([ref])
    with located(element):
        if joint.kind is JointKind.REVOLUTE:
            back = Transform(rotation_about(joint.axis, -ref))
        else:
            back = Transform(translation=-ref * np.array(joint.axis))
        joint.pose = joint.pose @ back
    _read_spring_damper(element, joint, source)
    span = limits(element, "range", "limited", source)
    if span is not None:
        joint.lower, joint.upper = span[0] * scale, span[1] * scale
    force = limits(element, "actuatorfrcrange", "actuatorfrclimited", source)
    if force is not None:
        joint.effort = max(abs(force[0]), abs(force[1]))
        if force[0] != -force[1]:
            joint.force_range = force
        if force[0] > 0.0 or force[1] < 0.0:
            source.notes.add("joint actuatorfrcrange without zero", element, "no force without an actuator")


def _read_spring_damper(element: Element, joint: JointSpec, source: Source) -> None:
    """A spring and a damper by time constant and damping ratio, for the inertia I that the joint moves."""
    time, ratio = vector(element, "springdamper", (0.0, 0.0)).tolist()
    if time <= 0.0 or ratio <= 0.0:
        return

    def settle(model: Model, inverse: Array) -> None:
        dof = model.joint(joint.name).iv
        inertia, scale = 1.0 / inverse[dof, dof], np.float64(time * ratio)
        joint.damping, joint.stiffness = float(2.0 * inertia / time), float(inertia / (scale * scale))
        if not np.isfinite([joint.damping, joint.stiffness]).all():
            fail(element, f"springdamper={element.get('springdamper')!r}: endless spring or damper")

    source.later.append(settle)


def _read_quaternion_joint(element: Element, joint: JointSpec, source: Source) -> None:
    joint.armature = least(element, "armature")
    joint.friction = resistance(element, "frictionloss", source)
    if joint.kind is JointKind.SPHERICAL:
        if vector(element, "springdamper", (0.0, 0.0)).min() > 0.0:
            source.notes.add("joint springdamper of a ball joint", element, "no spring")
        lower, upper = vector(element, "range", (0.0, 0.0)).tolist()
        if lower != 0.0:
            fail(element, f"range={element.get('range')!r} of a ball joint must begin with 0")
        is_limited = keyword(element, "limited", "false true auto", "auto") == "true"  # also to an angle of 0
        if is_limited or (upper > 0.0 and limits(element, "range", "limited", source) is not None):
            source.notes.add("joint range of a ball joint", element, "no limit")
    if least(element, "stiffness", most=3):
        source.notes.add("joint stiffness of a ball or free joint", element, "no spring")
