"""Motions that nothing resists: joints that move what has no inertia, so that forces would have no answer.

Kinematics need no masses, and descriptions of arms often have none. Dynamics do: where a motion of the joints
moves no mass, the mass matrix is singular and a force on it accelerates without bound. A joint at the end of
a chain may do that alone; a base without mass does it together with a hinge on it, one turning back what the
other turns. Here such motions are found, and told in the words of whoever described the mechanism.

Method: the articulated-body recursion on dense matrices, in link axes, order (angular, linear), in a
configuration without special angles, so that what is singular there is singular everywhere.
1. Children first: with IA the inertia that a link shows with its joint held and all joints beyond it free, a
   joint with motion subspace S is loose if K = Sᵀ IA S + armature is singular. It shows its parent
   IA − U K⁺ Uᵀ, U = IA S, shifted.
2. Parents first, from a loose joint: q̇ = −K⁺ Uᵀ v of every joint beyond it is what moves together with it.
A tree whose links all have a mass and three moments has no such motion, and is not looked at any closer.

References: [Featherstone2008, Section 7.1].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.kinds import LinkKind
from taction._core.show import some
from taction.math.transform import rotation_about, skew
from taction.model.joints import JointKind
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, TREE_AXES, TREE_SHIFT, Model
from taction.model.spec import BodySpec, JointSpec

# An inertia below this share of what the same joint moves when all beyond it is held is a rounding error.
ROUNDED = 1e-13
# So is a radius of gyration below a picometre [m²].
SMALLEST = 1e-24
# Share of a velocity below which it is none.
STILL = 1e-9
MOST_LOOKED = 100_000  # links that are looked at for what moves together
# Angles [rad] and lengths [m] of the configuration without special ones: multiples of the golden ratio.
GOLDEN = 0.6180339887498949


class Loose(NamedTuple):
    """A motion that nothing resists.

    Attributes:
        joints: those that move in it, the one nearest to the world first.
        bodies: what they move.
    """

    joints: tuple[JointSpec, ...]
    bodies: tuple[BodySpec, ...]


def require_inertia(model: Model) -> None:
    """Refuse a model that cannot move as forces ask.

    Raises:
        ModelError: joints move what has no inertia; the message says which, where they stand in their file,
            and what to write instead.
    """
    found = loose_motions(model)
    if found:
        raise ModelError(f"{model.spec.source or model.name}: {tell_loose(found)}")


def tell_loose(motions: list[Loose]) -> str:
    """The first motion in a sentence with advice, and the joints of the others."""
    first, *others = motions
    names = some((repr(motion.joints[0].name) for motion in others), most=8)
    likewise = f"; likewise joint{'s' if len(others) > 1 else ''} {names}" if others else ""
    return f"{_sentence(first)}{likewise}"


def called(part: BodySpec | JointSpec) -> str:
    """What a body or a joint is called in its file, with its place there; or what it is called here."""
    return part.source or f"{'body' if isinstance(part, BodySpec) else 'joint'} {part.name!r}"


def some_of(names: Iterable[str]) -> str:
    """Up to three names, as they stand in a sentence."""
    known = list(names)
    last = known[2:] if len(known) <= 3 else [f"{len(known) - 2} more"]
    return " and ".join([", ".join(known[:2]), *last] if len(known) > 2 else known)


def _sentence(motion: Loose) -> str:
    top, *others = motion.joints
    body, more = motion.bodies[0], len(motion.bodies) > 1
    moved = some_of(map(called, motion.bodies))
    lacks = "have" if more else "has"
    if not any(b.inertia.mass > 0.0 for b in motion.bodies):
        lacks += " no mass"
    elif others:
        lacks += " no inertia against that"
    elif top.kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS):
        lacks += " no inertia about the joint's axis"
    else:
        lacks += " no inertia about some axis"
    it = f"{'one of them' if more else 'it'} an {'<inertial>' if body.source else 'inertia'}"
    if others:
        joints = some_of(map(called, motion.joints))
        return (
            f"{joints} together move {moved}, which {lacks}: give {it}, one of the joints an armature, or "
            "make it fixed"
        )
    if top.kind is JointKind.FLOATING:
        return f"{called(top)} moves {moved}, which {lacks}: give {it}, or fix it to the world"
    return f"{called(top)} moves {moved}, which {lacks}: give {it}, the joint an armature, or make it fixed"


# ----- The recursion ----------------------------------------------------------------------------------------


def loose_motions(model: Model) -> list[Loose]:
    """Every joint that nothing resists, with those that move together with it; none in a sound model."""
    with np.errstate(all="ignore"):  # what overflows is no statement about inertia, and found elsewhere
        return [] if _is_solid(model.tree.constant[1:]) else _Search(model).motions()


def _is_solid(constant: Array) -> bool:
    """Whether each of these links resists every motion by itself."""
    mass, h = constant[:, BODY_MASS], constant[:, BODY_FIRST : BODY_FIRST + 3]
    if not (mass > 0.0).all():
        return False
    about_origin, (a, b) = _full(constant[:, BODY_INERTIA:]), (h[:, :, None], h[:, None, :])
    steiner = ((h * h).sum(1)[:, None, None] * np.eye(3) - a * b) / mass[:, None, None]
    if not np.isfinite(steiner).all():
        return False
    least = np.linalg.eigvalsh(about_origin - steiner)[:, 0]
    return bool((least > ROUNDED * np.abs(about_origin).max((1, 2)) + SMALLEST * mass).all())


def _full(entries: Array) -> Array:
    """Symmetric matrices (n, 3, 3) of (xx, xy, xz, yy, yz, zz) in rows."""
    return entries[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


class _Search:
    """The recursion over one model.

    Attributes:
        loose: by link, its motion (6,) that nothing resists.
    """

    def __init__(self, model: Model) -> None:
        self._model, tree = model, model.tree
        n = model.n_links
        self._parent = tree.parent.tolist()
        self._shift: list[Array] = [np.eye(6)] * n
        self._answer: list[Array] = [np.zeros((6, 6))] * n  # S K⁺ Uᵀ: v of the link before → by its joint
        self.loose: dict[int, Array] = {}
        inertia = np.zeros((n, 6, 6))
        inertia[:, :3, :3] = _full(tree.constant[:, BODY_INERTIA:])
        for i in range(1, n):
            h = skew(tree.constant[i, BODY_FIRST : BODY_FIRST + 3])
            inertia[i, :3, 3:], inertia[i, 3:, :3] = h, -h
            inertia[i, 3:, 3:] = tree.constant[i, BODY_MASS] * np.eye(3)
        whole = inertia.copy()  # with all joints held
        for i in range(n - 1, 0, -1):
            X = self._shift[i] = self._wrench_shift(i)
            shown, parent = self._release(i, inertia[i], whole[i]), self._parent[i]
            inertia[parent] += X @ shown @ X.T
            whole[parent] += X @ whole[i] @ X.T

    def _wrench_shift(self, i: int) -> Array:
        """Wrenches of link i in its parent's frame, in the configuration without special angles."""
        tree, value = self._model.tree, 2.0 * (GOLDEN * i % 1.0) + 0.5
        R = tree.constant[i, TREE_AXES : TREE_AXES + 9].reshape(3, 3)
        p = tree.constant[i, TREE_SHIFT : TREE_SHIFT + 3]
        if tree.kind[i] == LinkKind.PRISMATIC:
            p = p + value * R[:, 2]
        elif tree.kind[i] == LinkKind.REVOLUTE:
            R = R @ rotation_about((0.0, 0.0, 1.0), value)
        elif tree.kind[i] == LinkKind.SPHERICAL:
            R = R @ rotation_about((0.6, 0.0, 0.8), value)
        X = np.zeros((6, 6))
        X[:3, :3] = X[3:, 3:] = R
        X[:3, 3:] = skew(p) @ R
        return X

    def _release(self, i: int, inertia: Array, whole: Array) -> Array:
        """The inertia that link i shows its parent with its joint free."""
        tree = self._model.tree
        kind, iv = tree.kind[i], tree.iv[i]
        columns = {LinkKind.REVOLUTE: [2], LinkKind.PRISMATIC: [5], LinkKind.SPHERICAL: [0, 1, 2]}.get(kind)
        if columns is None:  # of a floating link: as it has no use for its parent, it shows it nothing
            self._check_floating(i, inertia, whole, tree.armature[iv : iv + 6])
            self._answer[i] = np.eye(6)
            return np.zeros((6, 6))
        S = np.eye(6)[:, columns]
        armature = tree.armature[iv : iv + len(columns)]
        U = inertia @ S
        values, axes = np.linalg.eigh(_finite(S.T @ U + np.diag(armature)))
        least = ROUNDED * np.abs(S.T @ whole @ S if kind == LinkKind.PRISMATIC else whole[:3, :3]).max()
        is_loose = values <= (least if kind == LinkKind.PRISMATIC else least + SMALLEST * whole[5, 5])
        if len(columns) == 1 and armature[0] > 0.0:
            is_loose[:] = False
        if is_loose.any():
            self.loose[i] = S @ axes[:, np.argmin(values)]
        inverse = (axes * np.where(is_loose, 0.0, 1.0 / np.where(is_loose, 1.0, values))) @ axes.T
        self._answer[i] = S @ inverse @ U.T
        return inertia - U @ inverse @ U.T

    def _check_floating(self, i: int, inertia: Array, whole: Array, armature: Array) -> None:
        rotors = np.diag(
            np.concatenate([armature[3:], armature[:3]])
        )  # they come with velocities, linear first
        K = _finite(inertia + rotors)
        values, axes = np.linalg.eigh(K[3:, 3:])
        if values[0] <= ROUNDED * np.abs(whole[5, 5]):
            self.loose[i] = np.concatenate([np.zeros(3), axes[:, 0]])
            return
        pull = -np.linalg.solve(K[3:, 3:], K[3:, :3])
        values, axes = np.linalg.eigh(_finite(K[:3, :3] + K[:3, 3:] @ pull))
        if values[0] <= ROUNDED * np.abs(whole[:3, :3]).max() + SMALLEST * whole[5, 5]:
            self.loose[i] = np.concatenate([axes[:, 0], pull @ axes[:, 0]])

    def motions(self) -> list[Loose]:
        """What was found, a joint once, those nearest to the world first; of thousands, the first."""
        spec = self._model.spec
        joint_of = {
            d: joint.name for joint in self._model.joints for d in range(joint.iv, joint.iv + joint.kind.nv)
        }
        joints = {joint.name: joint for joint in spec.joints}
        found: dict[str, Loose] = {}
        looked = 0  # at links
        for i in sorted(self.loose):
            looked += self._model.n_links - i
            if found and looked > MOST_LOOKED:
                break
            moving, links = self._together(i)
            names = list(dict.fromkeys(joint_of[int(self._model.tree.iv[k])] for k in moving))
            bodies = [spec.bodies[b] for b in np.flatnonzero(np.isin(self._model.body_link, links))]
            bodies.sort(key=lambda body: body.name != joints[names[0]].child)  # that of the first joint first
            bodies = bodies or [spec.body(joints[names[0]].child)]
            found.setdefault(names[0], Loose(tuple(joints[name] for name in names), tuple(bodies)))
        return list(found.values())

    def _together(self, i: int) -> tuple[list[int], list[int]]:
        """Links whose joints move, and links that move, in the motion of loose link i."""
        velocity, joints = {i: self.loose[i]}, [i]
        for k in range(i + 1, self._model.n_links):
            before = velocity.get(self._parent[k])
            if before is None:
                continue
            carried = self._shift[k].T @ before
            size, own = np.abs(carried).max(), self._answer[k] @ carried
            if np.abs(own).max() > STILL * size:
                joints.append(k)
            if np.abs(carried - own).max() > STILL * size:
                velocity[k] = carried - own
        return joints, list(velocity)


def _finite(matrix: Array) -> Array:
    """The matrix, or the identity where it overflows: no statement about inertia."""
    return matrix if np.isfinite(matrix).all() else np.eye(len(matrix))
