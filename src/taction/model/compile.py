"""From description to model: validate a `ModelSpec`, order it, and lay it out in arrays.

Method
1. Check names and references (`taction.model.check`), axes, limits and inertias; order joints so that parents
   come first (the order of the description is kept where it already does).
2. Turn every joint into links whose z-axis is the joint axis; remember where each body sits in its link.
3. Sum the inertias of the bodies of each link.
4. Check that every degree of freedom moves some inertia, so that the mass matrix is positive definite
   (`taction.model.loose`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from taction._core.arrays import Array, frozen
from taction._core.errors import BadInput, ModelError
from taction._core.kinds import LinkKind
from taction.math.transform import Transform, rotation_aligning_z
from taction.model.check import check_spec, numbers, place
from taction.model.inertia import Inertia, are_possible
from taction.model.joints import JointKind
from taction.model.loose import called, require_inertia
from taction.model.model import BODY_MASS, Coupling, JointInfo, Model, Tree
from taction.model.spec import WORLD, BodySpec, JointSpec, ModelSpec

_MAY_BE_INFINITE = ("lower", "upper", "effort", "max_velocity")
_OVERFLOW = "masses or lengths are so large that products of them overflow"


@dataclass
class _Link:
    kind: LinkKind
    parent: int
    iq: int
    iv: int
    pose: Transform  # joint frame in the parent link
    name: str
    parts: list[tuple[Inertia, Transform]] = field(default_factory=list)  # inertia, and where it sits


@np.errstate(over="ignore", invalid="ignore")  # what overflows is found by checks for finite values
def compile_model(spec: ModelSpec) -> Model:
    """Validate and compile a description.

    Raises:
        ModelError: the description is not a well-formed physical mechanism; the message names the element.
    """
    check_spec(spec)
    joints = joints_in_order(spec)
    if spec.check_inertia:
        for body in impossible_bodies(spec):
            body.inertia.check(f"{place(spec)}body {body.name!r}")

    links = [_Link(LinkKind.WORLD, 0, 0, 0, Transform(), WORLD)]
    placed: dict[str, tuple[int, Transform]] = {WORLD: (0, Transform())}
    moving: list[JointInfo] = []
    nq = nv = 0
    for joint in joints:
        _check_joint(spec, joint)
        parent_link, body_pose = placed[joint.parent]
        placed[joint.child] = _add_links(joint, links, parent_link, body_pose @ joint.pose, nq, nv)
        if joint.kind is not JointKind.FIXED:
            moving.append(JointInfo(joint.name, joint.kind, nq, nv))
            nq, nv = nq + joint.kind.nq, nv + joint.kind.nv

    for body in spec.bodies:
        link, pose = placed[body.name]
        links[link].parts.append((body.inertia, pose))

    moving_specs = [j for j in joints if j.kind is not JointKind.FIXED]
    armature = _per_dof(spec, moving_specs, "armature", minimum=0.0)
    tree = _tree(spec, links, armature, nv)
    if not np.isfinite(tree.constant).all():
        raise ModelError(f"{place(spec)}{_OVERFLOW}")
    _check_reach(spec, links, tree)
    bodies = [placed[b.name] for b in spec.bodies]
    lower, upper = _per_dof(spec, moving_specs, "lower"), _per_dof(spec, moving_specs, "upper")
    model = Model(
        spec=spec,
        tree=tree,
        nq=nq,
        nv=nv,
        body_names=tuple(b.name for b in spec.bodies),
        body_link=frozen([link for link, _ in bodies], np.int64),
        body_rotation=frozen(np.reshape([pose.rotation for _, pose in bodies], (-1, 3, 3))),
        body_offset=frozen(np.reshape([pose.translation for _, pose in bodies], (-1, 3))),
        joints=tuple(moving),
        q0=frozen(_neutral(spec, moving_specs)),
        lower=frozen(lower),
        upper=frozen(upper),
        effort=frozen(_per_dof(spec, moving_specs, "effort", minimum=0.0)),
        max_velocity=frozen(_per_dof(spec, moving_specs, "max_velocity", minimum=0.0)),
        damping=frozen(_per_dof(spec, moving_specs, "damping", minimum=0.0)),
        friction=frozen(_per_dof(spec, moving_specs, "friction", minimum=0.0)),
        stiffness=frozen(_per_dof(spec, moving_specs, "stiffness", minimum=0.0)),
        rest=frozen(_per_dof(spec, moving_specs, "rest")),
        couplings=_couplings(spec, moving_specs, moving),
    )
    if spec.check_mass:
        require_inertia(model)
    return model


def impossible_bodies(spec: ModelSpec, *, is_moving: bool = False) -> Iterator[BodySpec]:
    """Bodies with an inertia that no rigid body has, and that make one of what moves as one.

    Files put placeholders on links that are fixed to others: only the sum of what is fixed together counts.
    is_moving: without what is fixed to the world.
    """
    if are_possible([body.inertia for body in spec.bodies]):
        return
    groups: dict[str, list[tuple[BodySpec, Transform]]] = {}
    placed: dict[str, tuple[str, Transform]] = {}
    at_rest: set[str] = set()
    for joint in joints_in_order(spec):
        head, pose = joint.child, Transform()
        if joint.kind is JointKind.FIXED and joint.parent == WORLD:
            at_rest.add(head)
        elif joint.kind is JointKind.FIXED:
            head, above = placed[joint.parent]
            pose = above @ joint.pose @ joint.child_pose.inverse()
        placed[joint.child] = head, pose
    for body in spec.bodies:
        head, pose = placed[body.name]
        groups.setdefault(head, []).append((body, pose))
    for head, members in groups.items():
        total = Inertia.sum([body.inertia.placed(pose) for body, pose in members])
        if not (total.is_possible or (is_moving and head in at_rest)):
            yield from (body for body, _ in members if not body.inertia.is_possible)


# ---------------------------------------------------------------------------------------------------------
# 1. Checks and order


def joints_in_order(spec: ModelSpec) -> list[JointSpec]:
    """Joints with parents first; errors for unknown, repeated, unattached and cyclic bodies."""
    bodies = {b.name for b in spec.bodies}
    seen: set[str] = set()
    for joint in spec.joints:
        where = f"{place(spec)}joint {joint.name!r}: "
        if joint.parent not in bodies and joint.parent != WORLD:
            raise ModelError(f"{where}unknown parent body {joint.parent!r}")
        if joint.child not in bodies:
            raise ModelError(f"{where}unknown child body {joint.child!r}")
        if joint.child in seen:
            raise ModelError(f"{where}body {joint.child!r} already has a parent")
        seen.add(joint.child)
    for body in spec.bodies:
        if body.name not in seen:
            raise ModelError(
                f"{place(spec)}body {body.name!r} is attached to nothing; join it to a body or to the world"
            )

    placed, order, rest = {WORLD}, [], list(spec.joints)
    while rest:
        waiting = []
        for joint in rest:
            if joint.parent in placed:
                placed.add(joint.child)
                order.append(joint)
            else:
                waiting.append(joint)
        if len(waiting) == len(rest):
            names = ", ".join(repr(j.child) for j in waiting[:5])
            raise ModelError(f"{place(spec)}bodies {names} form a cycle that never reaches the world")
        rest = waiting
    return order


def _check_joint(spec: ModelSpec, joint: JointSpec) -> None:
    where = f"{place(spec)}joint {joint.name!r}: "
    asked = dict.fromkeys(("axis", *joint.kind.motion.axes)) if joint.kind.nv else {}
    for axis in (getattr(joint, name) for name in asked):
        if np.linalg.norm(numbers(axis, (3,), f"{where}axis")) < 1e-9:
            raise ModelError(f"{where}axis {tuple(axis)} is zero")
    if "axis2" in asked and np.linalg.norm(np.cross(joint.axis, joint.axis2)) < 1e-6:
        raise ModelError(f"{where}the two axes of a {joint.kind.value} joint must not be parallel")
    lower, upper = (_per_dof(spec, [joint], what) for what in ("lower", "upper"))
    if (lower > upper).any():
        raise ModelError(f"{where}lower limit {joint.lower} is above upper limit {joint.upper}")
    if (lower == np.inf).any() or (upper == -np.inf).any():
        raise ModelError(f"{where}no position lies between the limits {joint.lower} and {joint.upper}")
    if joint.kind.has_quaternion:
        if np.any(np.asarray(joint.stiffness) != 0):
            raise ModelError(
                f"{where}stiffness is for joints with scalar coordinates, not {joint.kind.value} ones"
            )
        if np.any(np.isfinite(joint.lower)) or np.any(np.isfinite(joint.upper)):
            raise ModelError(
                f"{where}limits are for joints with scalar coordinates, not {joint.kind.value} ones"
            )
    if joint.kind is JointKind.FLOATING and joint.parent != WORLD and np.any(np.asarray(joint.armature) != 0):
        raise ModelError(f"{where}a floating joint on another body has no rotor, so no armature")


# ---------------------------------------------------------------------------------------------------------
# 2. Links


def _add_links(
    joint: JointSpec, links: list[_Link], parent: int, pose: Transform, iq: int, iv: int
) -> tuple[int, Transform]:
    """Append the links of one joint; returns the child's link and the child body's placement in it.

    ``pose`` is the joint frame in the parent link.
    """
    to_child = joint.child_pose.inverse()
    # previous link frame → joint frame, updated as axes are added
    for kind, along in joint.kind.motion.links:
        if along is None:  # alone, in the joint's own frame
            links.append(_Link(kind, parent, iq, iv, pose, joint.name))
            return len(links) - 1, to_child
        axis = getattr(joint, along) if isinstance(along, str) else along
        align = Transform(rotation_aligning_z(np.asarray(axis, dtype=float) / np.linalg.norm(axis)))
        links.append(_Link(kind, parent, iq, iv, pose @ align, joint.name))
        parent, iq, iv, pose = len(links) - 1, iq + 1, iv + 1, align.inverse()
    return parent, pose @ to_child


def _tree(spec: ModelSpec, links: list[_Link], armature: Array, nv: int) -> Tree:
    try:
        bodies = [Inertia.sum(part.placed(pose) for part, pose in link.parts) for link in links]
    except BadInput:
        raise ModelError(f"{place(spec)}{_OVERFLOW}") from None
    bodies[0] = Inertia()  # whatever is fixed to the world does not move
    upper = np.triu_indices(3)
    dof_parent = np.full(nv, -1, dtype=np.int64)
    last_dof = np.full(len(links), -1, dtype=np.int64)
    for i, link in enumerate(links[1:], start=1):
        count = {LinkKind.SPHERICAL: 3, LinkKind.FLOATING: 6}.get(link.kind, 1)
        dof_parent[link.iv] = last_dof[link.parent]
        dof_parent[link.iv + 1 : link.iv + count] = np.arange(link.iv, link.iv + count - 1)
        last_dof[i] = link.iv + count - 1
    return Tree(
        parent=frozen([link.parent for link in links], np.int64),
        kind=frozen([int(link.kind) for link in links], np.int64),
        iq=frozen([link.iq for link in links], np.int64),
        iv=frozen([link.iv for link in links], np.int64),
        constant=frozen(
            [
                [
                    *link.pose.rotation.ravel(),
                    *link.pose.translation,
                    b.mass,
                    *(b.mass * b.com),
                    *b.about_origin[upper],
                ]
                for link, b in zip(links, bodies, strict=True)
            ]
        ),
        armature=frozen(armature),
        dof_parent=frozen(dof_parent, np.int64),
        column=frozen(np.arange(nv), np.int64),
        gravity=frozen(spec.gravity),
    )


def _check_reach(spec: ModelSpec, links: list[_Link], tree: Tree) -> None:
    """Inertias about the joints that a link hangs on must be finite, wherever those turn it."""
    reach = np.zeros(len(links))
    for i, link in enumerate(links[1:], start=1):
        if not tree.parent[i]:
            continue
        reach[i] = reach[tree.parent[i]] + np.linalg.norm(link.pose.translation)
        if not np.isfinite(tree.constant[i, BODY_MASS] * reach[i] ** 2):
            raise ModelError(
                f"{place(spec)}{called(spec.joint(link.name))} lies so far from those before it that "
                "products of masses and lengths overflow"
            )


# ---------------------------------------------------------------------------------------------------------
# 3. Coordinates


def _per_dof(spec: ModelSpec, joints: list[JointSpec], what: str, minimum: float | None = None) -> Array:
    parts: list[float] = []
    least = -np.inf if minimum is None else minimum
    for joint in joints:
        given = getattr(joint, what)
        if type(given) is float and least <= given and (what in _MAY_BE_INFINITE or abs(given) < np.inf):
            parts += [given] * joint.kind.nv  # as most are
            continue
        where = f"{place(spec)}joint {joint.name!r}: {what} "
        try:
            value = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{where}must be a number, got {given!r}") from None
        if value.ndim > 1 or (value.ndim == 1 and value.shape != (joint.kind.nv,)):
            raise ModelError(f"{where}must be one number or {joint.kind.nv} of them")
        if np.isnan(value).any() or (minimum is not None and (value < minimum).any()):
            raise ModelError(f"{where}must be {'a number' if minimum is None else 'at least 0'}, got {value}")
        if what not in _MAY_BE_INFINITE and np.isinf(value).any():
            raise ModelError(f"{where}must be finite, got {value}")
        parts += np.broadcast_to(value, (joint.kind.nv,)).tolist()
    return np.array(parts, dtype=float)


def _neutral(spec: ModelSpec, joints: list[JointSpec]) -> Array:
    parts = []
    for joint in joints:
        value = np.zeros(joint.kind.nq)
        if joint.kind.has_quaternion:
            value[-4] = 1.0
        if joint.initial is not None:
            value = numbers(joint.initial, (joint.kind.nq,), f"{place(spec)}joint {joint.name!r}: initial")
            if joint.kind.has_quaternion:
                norm = np.linalg.norm(value[-4:])
                if norm < 1e-9:
                    raise ModelError(f"{place(spec)}joint {joint.name!r}: initial quaternion is zero")
                value = np.concatenate([value[:-4], value[-4:] / norm])
        parts.append(value)
    return np.concatenate(parts) if parts else np.zeros(0)


def _couplings(spec: ModelSpec, joints: list[JointSpec], infos: list[JointInfo]) -> tuple[Coupling, ...]:
    """Mimic joints, with chains of mimics resolved to the independent joint at their end."""
    by_name = {j.name: (j, info) for j, info in zip(joints, infos, strict=True)}
    out = []
    for joint, info in zip(joints, infos, strict=True):
        if joint.mimic is None:
            continue
        multiplier, offset, leader, visited = 1.0, 0.0, joint, {joint.name}
        while (mimic := leader.mimic) is not None:
            where = f"{place(spec)}joint {leader.name!r}: "
            numbers([mimic.multiplier, mimic.offset], (2,), f"{where}mimic")
            offset += multiplier * mimic.offset
            if not mimic.joint:
                multiplier, leader = 0.0, _bystander(spec, joint, joints)
                break
            if mimic.joint not in by_name:
                raise ModelError(f"{where}mimics {mimic.joint!r}, which is not a moving joint")
            if mimic.joint in visited:
                raise ModelError(f"{where}mimic joints form a cycle")
            multiplier *= mimic.multiplier
            leader = by_name[mimic.joint][0]
            visited.add(leader.name)
            if not (joint.kind.is_single and leader.kind.is_single):
                raise ModelError(f"{where}mimic needs two single-axis joints")
        target = by_name[leader.name][1]
        out.append(Coupling(info.iq, info.iv, target.iq, target.iv, multiplier, offset))
    return tuple(out)


def _bystander(spec: ModelSpec, joint: JointSpec, joints: list[JointSpec]) -> JointSpec:
    """A joint to hold another one by, with multiplier zero: the nearest with one axis."""
    here = [other.name for other in joints].index(joint.name)
    others = [k for k, other in enumerate(joints) if k != here and other.kind.is_single]
    if not joint.kind.is_single or not others:
        raise ModelError(
            f"{place(spec)}joint {joint.name!r}: a joint that is held needs one axis, and another such "
            "joint; make it fixed instead"
        )
    return joints[min(others, key=lambda k: abs(k - here))]
