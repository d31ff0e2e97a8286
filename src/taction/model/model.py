"""`Model`: a mechanism compiled for computing. Nothing in it changes after compilation.

`Tree` is what kernels see: links numbered so that parents come first, link 0 being the world. A *body* is
what the user described; a *link* is what moves on its own. Fixed joints merge bodies into one link, joints of
several axes become several links (`taction.model.joints`).

The frame of a revolute or prismatic link has its origin on the joint and its z-axis along the joint axis,
so that the motion subspace is one unit vector, angular or linear, and a joint rotation is a plane rotation
of two columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.layout import Layout, floats, ints
from taction._core.names import instead
from taction._core.show import count, rows, some
from taction.model.joints import JointKind
from taction.model.spec import ModelSpec, Unread

# Columns of Tree.constant; NumPy integers for the reason given in taction.model.workspace
TREE_AXES = np.int64(0)  # 9: joint axes in the parent link, row by row
TREE_SHIFT = np.int64(9)  # 3: joint origin in the parent link [m]
BODY_MASS = np.int64(12)  # 1: mass [kg]
BODY_FIRST = np.int64(13)  # 3: first moment of mass m·c in link axes [kg m]
BODY_INERTIA = np.int64(16)  # 6: inertia about the link origin, link axes (xx, xy, xz, yy, yz, zz) [kg m²]


class Tree(Layout):
    """Read-only arrays over links (n, link 0 is the world) and degrees of freedom (nv)."""

    parent: IntArray = ints("n", "parent link")
    kind: IntArray = ints("n", "LinkKind")
    iq: IntArray = ints("n", "first position coordinate")
    iv: IntArray = ints("n", "first velocity coordinate")
    constant: Array = floats("n, 22", "numbers of each link, at the columns above")
    armature: Array = floats("nv", "rotor inertia [kg or kg m²]")
    dof_parent: IntArray = ints("nv", "previous degree of freedom on the way to the world, −1 at the root")
    column: IntArray = ints("nv", "column of M that a degree of freedom has: its number, see `narrow`")
    gravity: Array = floats("3", "gravity [m/s²]")


def narrow(tree: Tree) -> Tree:
    """The same tree for mass matrices with one column per *level*: (nv, depth) instead of (nv, nv).

    An entry (d, i) of the lower triangle is not zero only if i is on the way from d to the world, and one
    degree of freedom of each level is: its level says which. Worlds of many bodies stay small that way.
    """
    level = np.zeros(len(tree.dof_parent), dtype=np.int64)
    for d, up in enumerate(tree.dof_parent):
        level[d] = level[up] + 1 if up >= 0 else 0
    level.flags.writeable = False
    return tree._replace(column=level)


F = TypeVar("F", bound=Callable[..., Any])


def of_model(function: F) -> F:
    """Decorate a public function whose first argument is a model: anything else there is one clear line."""

    @wraps(function)
    def checked(model: Model, *rest: Any, **options: Any) -> Any:
        instance(model, Model, f"{function.__name__}: the first argument")
        return function(model, *rest, **options)

    return cast(F, checked)


@dataclass(frozen=True, eq=False)
class JointInfo:
    """Where a user joint lives in the coordinate vectors."""

    name: str
    kind: JointKind
    iq: int
    iv: int

    @property
    def q_slice(self) -> slice:
        """Its entries of a position vector."""
        return slice(self.iq, self.iq + self.kind.nq)

    @property
    def v_slice(self) -> slice:
        """Its entries of a velocity vector."""
        return slice(self.iv, self.iv + self.kind.nv)


@dataclass(frozen=True, eq=False)
class Coupling:
    """Linear coupling of a mimic joint: q[follower] = multiplier · q[leader] + offset."""

    follower_q: int
    follower_v: int
    leader_q: int
    leader_v: int
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled mechanism.

    Attributes:
        spec: the description it was compiled from.
        tree: arrays for kernels.
        nq: number of position coordinates.
        nv: number of velocity coordinates.
        body_names: names of the bodies, the world excluded.
        body_link: link that carries each body, shape (nb,).
        body_rotation: body axes in its link, shape (nb, 3, 3).
        body_offset: body origin in its link [m], shape (nb, 3).
        joints: moving joints in coordinate order.
        q0: neutral configuration, shape (nq,).
        lower: lower position limits per velocity coordinate [rad or m], shape (nv,).
        upper: upper position limits, shape (nv,).
        effort: largest actuator forces [N or N m], shape (nv,).
        max_velocity: largest speeds, shape (nv,).
        damping: viscous joint friction, shape (nv,).
        friction: Coulomb joint friction [N or N m], shape (nv,).
        stiffness: joint springs [N/m or N m/rad], shape (nv,).
        rest: spring rest positions [m or rad], shape (nv,).
        couplings: mimic joints, leaders resolved to independent joints.
    """

    spec: ModelSpec
    tree: Tree
    nq: int
    nv: int
    body_names: tuple[str, ...]
    body_link: IntArray
    body_rotation: Array
    body_offset: Array
    joints: tuple[JointInfo, ...]
    q0: Array
    lower: Array
    upper: Array
    effort: Array
    max_velocity: Array
    damping: Array
    friction: Array
    stiffness: Array
    rest: Array
    couplings: tuple[Coupling, ...]

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.spec.name

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What its file says and is not heeded, each with its place and what it changes."""
        return self.spec.unread

    @property
    def n_links(self) -> int:
        """Number of links, the world included."""
        return len(self.tree.parent)

    @property
    def total_mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(self.tree.constant[:, BODY_MASS].sum())

    @cached_property
    def _joint_by_name(self) -> dict[str, JointInfo]:
        return {joint.name: joint for joint in self.joints}

    def joint(self, name: str) -> JointInfo:
        """The moving joint of that name."""
        found = self._joint_by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise BadInput(f"{self.name}: no moving joint {name!r}; {instead(name, self._joint_by_name)}")
        return found

    def body(self, name: str) -> int:
        """Index of the body of that name."""
        try:
            return self.body_names.index(name)
        except ValueError:
            raise BadInput(f"{self.name}: no body {name!r}; {instead(name, self.body_names)}") from None

    def pose(self, **positions: ArrayLike) -> Array:
        """A configuration (nq,): the neutral one with the named joints set.

        Args:
            positions: by joint, one number, or as many as the joint has coordinates [rad, m, or 1 in
                quaternions, which are made of unit length]. Names that Python does not take as keywords go in
                as ``model.pose(**{"go2/FR_hip": 0.1})``. Joints that follow others are set with them.

        Raises:
            BadInput: no such joint, another number of coordinates, or a joint that follows another.
        """
        q, followers = np.array(self.q0), {c.follower_q for c in self.couplings}
        for name, value in positions.items():
            joint = self.joint(name)
            if joint.iq in followers:
                raise BadInput(f"{self.name}: joint {name!r} follows another (mimic); set that one")
            size = joint.kind.nq
            shape = () if size == 1 and np.ndim(value) == 0 else (size,)
            q[joint.q_slice] = as_float(value, shape, f"{self.name}: joint {name!r}")
        for c in self.couplings:
            q[c.follower_q] = c.multiplier * q[c.leader_q] + c.offset
        self._check_quaternions(q, "pose")
        for joint in self.joints:
            if joint.kind.has_quaternion:
                last = slice(joint.q_slice.stop - 4, joint.q_slice.stop)
                q[last] /= np.linalg.norm(q[last])
        return q

    def check_q(self, q: ArrayLike, what: str = "q") -> Array:
        """Validate one configuration, shape (nq,); quaternions may have any length but zero."""
        return self._check_quaternions(as_float(q, (self.nq,), what), what)

    def check_v(self, v: ArrayLike, what: str = "v") -> Array:
        """Validate one vector over the degrees of freedom, shape (nv,)."""
        return as_float(v, (self.nv,), what)

    def check_batch(self, q: ArrayLike, **vectors: ArrayLike) -> tuple[list[Array], tuple[int, ...]]:
        """Validate one state, or a batch of equally many of each.

        Args:
            q: configurations, shape (nq,) or (n, nq).
            vectors: what goes with them by name, shape (nv,) or (n, nv).

        Returns:
            All of them with shape (n, ·), and the leading shape of the result: () or (n,).
        """
        shape = (None, self.nq) if np.ndim(q) == 2 else (self.nq,)
        rows = [self._check_quaternions(as_float(q, shape, "q"), "q")]
        lead = rows[0].shape[:-1]
        rows += [as_float(v, (*lead, self.nv), what) for what, v in vectors.items()]
        return [np.ascontiguousarray(row) if lead else row[None] for row in rows], lead

    def _check_quaternions(self, q: Array, what: str) -> Array:
        for joint in self.joints:
            if joint.kind.has_quaternion and not q[..., joint.q_slice][..., -4:].any(axis=-1).all():
                raise BadInput(f"{what}: the quaternion of joint {joint.name!r} is zero")
        return q

    def __str__(self) -> str:
        return f"<Model {self.name!r}: {len(self.body_names)} bodies, nq={self.nq}, nv={self.nv}>"

    def __repr__(self) -> str:
        spec, kinds = self.spec, {joint.kind for joint in self.joints}
        shown = [f"{j.name} ({j.kind.value})" if len(kinds) > 1 else j.name for j in self.joints]
        collide = sum(shape.collides for body in spec.bodies for shape in body.shapes)
        return rows(
            f"<Model {self.name!r}: {count(self.body_names, 'body', 'bodies')}, {self.total_mass:.6g} kg, "
            f"nq={self.nq}, nv={self.nv}>",
            f"bodies: {some(self.body_names)}",
            f"joints: {some(shown) or 'none that moves'}",
            f"actuators: {some(a.name for a in spec.actuators)}" if spec.actuators else "",
            f"keyframes: {some(spec.keyframes)}" if spec.keyframes else "",
            f"couplings: {len(self.couplings)}" if self.couplings else "",
            f"loops: {some(loop.name for loop in spec.loops)}" if spec.loops else "",
            f"shapes: {collide} that collide, {len(spec.ground)} of the ground",
        )
