"""A mechanism in absolute coordinates: every link a free body at its centre of mass, every joint a tie.

What it makes: from a compiled `Model` in joint coordinates a second one, of the same bodies, in which each
link floats on its own. Its coordinates are the position of the centre of mass and a unit quaternion, its
velocities that of the centre of mass in world axes and the angular velocity in link axes: the mass matrix is
block diagonal and constant. Joints become `Ties`: which links, where the joint's frame is on each, how it
turns, and which of its six rows are free: three of position along x, y and z of the frame on the parent,
three of orientation. The table of `taction.model.joints` says so for each kind; what is not free is locked.
By how it turns:

    hinge     z of the frame free
    locked    none free
    cardan    a row about the normal of both axes locked, then one free row for each axis
    free      all three free; a floating joint has no locked row at all, its coordinates are still asked for

Frames: A is the joint's frame on the parent at zero coordinates, B the frame of the child's link. At zero
coordinates both coincide, but for the constant turn C between the two axes of a cardan joint:
B = R_z(θ₁) C R_z(θ₂) seen from A. Links that a joint consists of and that carry nothing (the cross of a
cardan joint) disappear, and two hinges in a row whose axes meet with nothing between them are a cardan joint.

References: [Transeth2006, Section II] for the coordinates and the cardan joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.errors import ModelError
from taction._core.kinds import LinkKind
from taction._core.layout import Layout, floats, ints
from taction.math.transform import Transform
from taction.model.compile import compile_model
from taction.model.joints import JointKind, Motion
from taction.model.loose import called, loose_motions
from taction.model.model import BODY_FIRST, BODY_MASS, TREE_AXES, TREE_SHIFT, JointInfo, Model
from taction.model.spec import WORLD, JointSpec, ModelSpec


class Ties(Layout):
    """Joints between bodies in absolute coordinates, read-only; one per moving joint, in their order."""

    link: IntArray = ints("m, 2", "parent and child link of the body model, 0 for the world")
    turn: IntArray = ints("m", "TurnKind")
    dof: IntArray = ints(
        "m, 6", "joint velocity of each row, three of position, three of orientation; −1: locked"
    )
    axes: Array = floats("2*m, 9", "axes of frames A and B in their links, row by row")
    point: Array = floats("2*m, 3", "their origins from the links' origins, link axes [m]")
    middle: Array = floats("m, 9", "C of a cardan joint")
    iq: IntArray = ints("m", "first joint coordinate")
    iv: IntArray = ints("m", "first joint velocity")
    follow: IntArray = ints(
        "c, 4", "mimic joints: tie and row of the follower, tie and row of the leader; rows 0…5"
    )
    gear: Array = floats("c, 2", "multiplier and offset")


@dataclass(frozen=True, eq=False)
class Absolute:
    """A mechanism in both coordinates.

    Attributes:
        robot: in joint coordinates.
        bodies: in absolute coordinates: a floating link per moving link with a mass.
        ties: the joints between them.
        link: link of ``robot`` that each link of ``bodies`` is, shape (nb + 1,); the world first.
        centre: centre of mass in that link [m], shape (nb + 1, 3).
    """

    robot: Model
    bodies: Model
    ties: Ties
    link: IntArray
    centre: Array


def no_ties() -> Ties:
    """Of a mechanism in joint coordinates."""
    none = frozen([], np.int64)
    return Ties(
        frozen(np.zeros((0, 2)), np.int64), none, frozen(np.zeros((0, 6)), np.int64),
        frozen(np.zeros((0, 9))), frozen(np.zeros((0, 3))), frozen(np.zeros((0, 9))), none, none,
        frozen(np.zeros((0, 4)), np.int64), frozen(np.zeros((0, 2))),
    )  # fmt: skip


def in_absolute_coordinates(robot: Model) -> Absolute:
    """Free bodies and ties that are the same mechanism.

    Raises:
        ModelError: a moving body has no mass or moments of its own, or a joint follows another one (mimic)
            that is on two other bodies.
    """
    tree = robot.tree
    parts = _parts(robot)
    kept = [0, *(part.links[-1] for part in parts)]
    number = {link: k for k, link in enumerate(kept)}
    mass = tree.constant[kept, BODY_MASS]
    for part in parts:
        if not tree.constant[part.links[-1], BODY_MASS] > 0.0:
            moving = robot.spec.joint(part.joint.name)
            raise ModelError(
                f"{robot.name}: {called(moving)} moves {called(robot.spec.body(moving.child))}, which has no "
                "mass of its own: that exists in reduced coordinates only"
            )
    centre = tree.constant[kept, BODY_FIRST : BODY_FIRST + 3] / np.where(mass > 0.0, mass, 1.0)[:, None]
    centre[0] = 0.0

    m = len(parts)
    link, dof = np.zeros((m, 2)), np.full((m, 6), -1)
    axes, point, middle = np.zeros((2 * m, 9)), np.zeros((2 * m, 3)), np.tile(np.eye(3).ravel(), (m, 1))
    for k, (joint, motion, links) in enumerate(parts):
        A, C = _turns(robot, links)
        middle[k] = C.ravel()
        parent = number[int(tree.parent[links[0]])]
        link[k] = parent, k + 1
        dof[k, list(motion.rows)] = joint.iv + np.arange(len(motion.rows))
        axes[2 * k], axes[2 * k + 1] = A.ravel(), np.eye(3).ravel()
        point[2 * k] = tree.constant[links[0], TREE_SHIFT : TREE_SHIFT + 3] - centre[parent]
        point[2 * k + 1] = -centre[k + 1]
    follow, gear = _followers(robot, parts, link)
    ties = Ties(
        frozen(link, np.int64), frozen([int(p.motion.turn) for p in parts], np.int64),
        frozen(dof, np.int64), frozen(axes), frozen(point), frozen(middle),
        frozen([p.joint.iq for p in parts], np.int64), frozen([p.joint.iv for p in parts], np.int64),
        frozen(follow, np.int64), frozen(gear),
    )  # fmt: skip
    bodies = compile_model(_free_spec(robot, parts, centre))
    for loose in loose_motions(bodies):
        raise ModelError(
            f"{robot.name}: {called(loose.bodies[0])} has no inertia of its own about some axis: that exists "
            "in reduced coordinates only"
        )
    return Absolute(robot, bodies, ties, frozen(kept, np.int64), frozen(centre))


class _Part(NamedTuple):
    joint: JointInfo  # the first, if there are two
    motion: Motion
    links: list[int]  # parents first


def _turns(robot: Model, links: list[int]) -> tuple[Array, Array]:
    """Axes A on the parent of the first link that turns (of the last one, if none does), and C after them."""
    turns = robot.tree.constant[links, TREE_AXES : TREE_AXES + 9].reshape(-1, 3, 3)
    A, C, has_turned = turns[0], np.eye(3), robot.tree.kind[links[0]] == LinkKind.REVOLUTE
    for link, turn in zip(links[1:], turns[1:], strict=True):
        if has_turned:
            C = C @ turn
        else:
            A, has_turned = A @ turn, robot.tree.kind[link] == LinkKind.REVOLUTE
    return A, C


def _parts(robot: Model) -> list[_Part]:
    """The ties to be: moving joints with their links, pairs of hinges that meet taken together."""
    tree, first = robot.tree, {int(joint.iv): joint for joint in robot.joints}
    by_joint: dict[int, list[int]] = {iv: [] for iv in first}
    starts = sorted(first)
    for i in range(1, robot.n_links):
        by_joint[starts[int(np.searchsorted(starts, tree.iv[i], side="right")) - 1]].append(i)
    parts: list[_Part] = []
    hinge, cardan = JointKind.REVOLUTE.motion, JointKind.UNIVERSAL.motion
    for joint in robot.joints:
        links = by_joint[joint.iv]
        before = parts[-1] if parts else None
        if (
            before is not None
            and before.motion == joint.kind.motion == hinge
            and tree.parent[links[0]] == before.links[-1]
            and not tree.constant[before.links[-1], BODY_MASS] > 0.0
            and np.abs(tree.constant[links[0], TREE_SHIFT : TREE_SHIFT + 3]).max() < 1e-12
            and np.count_nonzero(tree.parent == before.links[-1]) == 1
        ):
            parts[-1] = _Part(before.joint, cardan, before.links + links)
        else:
            parts.append(_Part(joint, joint.kind.motion, links))
    return parts


def _followers(robot: Model, parts: list[_Part], link: Array) -> tuple[Array, Array]:
    """`Ties.follow` and `Ties.gear` of the robot's mimic joints; link (m, 2) the bodies of each tie."""
    first = np.array([part.joint.iv for part in parts], dtype=np.int64)
    follow, gear = np.zeros((len(robot.couplings), 4)), np.zeros((len(robot.couplings), 2))
    for k, c in enumerate(robot.couplings):
        touched = set()
        for side, d in enumerate((c.follower_v, c.leader_v)):
            t = int(np.flatnonzero(first <= d)[np.argmax(first[first <= d])])
            follow[k, 2 * side : 2 * side + 2] = t, parts[t].motion.rows[d - int(first[t])]
            touched |= set(link[t].tolist()) - {0}
        if len(touched) > 3:
            names = [parts[int(follow[k, s])].joint.name for s in (0, 2)]
            raise ModelError(
                f"{robot.name}: joint {names[0]!r} follows {names[1]!r}, which shares no body with it: that "
                "exists in reduced coordinates only"
            )
        gear[k] = c.multiplier, c.offset
    return follow, gear


def _free_spec(robot: Model, parts: list[_Part], centre: Array) -> ModelSpec:
    """The description of the free bodies: one floats per link, the others of that link are fixed to it."""
    spec, kept = robot.spec, [0, *(part.links[-1] for part in parts)]
    carried: dict[int, list[int]] = {link: [] for link in kept}
    lost: list[str] = []
    for b, link in enumerate(robot.body_link):
        if int(link) in carried:  # what is on a massless cross has no mass and no place of its own
            carried[int(link)].append(b)
        elif spec.bodies[b].shapes:
            raise ModelError(f"{robot.name}: body {robot.body_names[b]!r} has shapes but no mass: not free")
        else:
            lost.append(robot.body_names[b])

    def placed(b: int) -> Transform:
        return Transform(robot.body_rotation[b], robot.body_offset[b])

    joints, fixed = [], []
    for k, link in enumerate(kept):
        first = carried[link][0] if k and carried[link] else None
        if first is not None:
            name, frame = robot.body_names[first], placed(first).inverse() @ Transform(np.eye(3), centre[k])
            joints.append(
                JointSpec(parts[k - 1].joint.name, JointKind.FLOATING, WORLD, name, child_pose=frame)
            )
        for b in carried[link]:
            if b == first:
                continue
            parent = WORLD if first is None else robot.body_names[first]
            pose = placed(b) if first is None else placed(first).inverse() @ placed(b)
            fixed.append(
                JointSpec(f"{robot.body_names[b]} fixed", JointKind.FIXED, parent, robot.body_names[b], pose)
            )
    return replace(
        spec,
        bodies=[body for body in spec.bodies if body.name not in lost],
        joints=joints + fixed,
        exclude=[pair for pair in spec.exclude if not set(pair) & set(lost)],
        actuators=[],
        keyframes={},
        check_mass=False,  # `in_absolute_coordinates` says it in its own words
    )
