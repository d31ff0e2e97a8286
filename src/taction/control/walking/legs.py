"""Legs of a robot, and the joint angles that put their feet where they should be.

What it solves: a robot whose base floats, or slides without turning, has legs: chains of hinges from the base
to links that carry nothing. For a placement of the base and given positions of the feet, the angles of each
leg, for many instants at once.

Notation, per leg of n hinges: θ angles (n,); p(θ) position of the foot, a point of the last link, in the
axes of the base [m]; J its Jacobian; α rotation of the last link about the axis of the last hinge against the
stance, as a sum of turns about parallel axes.

Method: Newton's for p(θ) = p*. A leg of four joints has one freedom left: its foot keeps its angle,
α(θ) = α*. So has a leg of three parallel joints, whose foot stays in the plane across them. All instants
are solved at once, each from the stance, with steps of at most `LARGEST` rad; a knee that is bent the right
way in the stance stays so.

Which point is a foot: the centre of the lowest sphere of the last link, if it has one, and else the lowest
point of its shapes in the stance.

References: [Siciliano2009, Section 3.7] for the iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.kinds import LinkKind
from taction.control.joint_path import JointPath
from taction.control.walking.base import base_link
from taction.kinematics.forward import BodyPoses, forward_kinematics
from taction.model.model import TREE_AXES, TREE_SHIFT, Model
from taction.model.shapes import Shape, Sphere

LARGEST = 0.3  # turn of a joint in one iteration [rad]
ITERATIONS = 60
REACHED = 1e-9  # [m]
REGULAR = 1e-12  # on the diagonal: a leg that is stretched out has no inverse
PARALLEL = 1e-9  # sine of the angle between two axes


@dataclass(frozen=True, eq=False)
class Leg:
    """A chain of hinges from the base to a foot.

    Attributes:
        name: of the body that carries the foot.
        joints: names of its hinges, from the base on.
        dofs: their degrees of freedom, shape (n,).
        coordinates: their position coordinates, shape (n,).
        axes: of each hinge in the link before it, with z along the hinge, shape (n, 3, 3).
        shift: of each hinge in the link before it [m], shape (n, 3).
        foot: in the last link [m], shape (3,).
        radius: of the foot [m]; 0 for a point.
        stance: angles in the stance [rad], shape (n,).
    """

    name: str
    joints: tuple[str, ...]
    dofs: IntArray
    coordinates: IntArray
    axes: Array
    shift: Array
    foot: Array
    radius: float
    stance: Array

    @cached_property
    def home(self) -> Array:
        """The foot in the stance, in the axes of the base [m], shape (3,)."""
        return self.place(self.stance[None])[0][0]

    @cached_property
    def is_planar(self) -> bool:
        """Whether it is a leg of three parallel hinges."""
        hinge = self.place(self.stance[None])[2][0]
        return len(hinge) == 3 and bool(np.abs(np.cross(hinge, hinge[0])).max() < PARALLEL)

    @cached_property
    def plane(self) -> Array:
        """Two unit vectors across the last hinge in the stance, in the axes of the base, shape (2, 3)."""
        hinge = self.place(self.stance[None])[2][0, -1]
        return np.asarray(np.linalg.svd(hinge[None])[2][1:], dtype=np.float64)

    def place(self, angles: Array) -> tuple[Array, Array, Array, Array]:
        """Foot (k, 3), its Jacobian (k, 3, n), axes and places of the hinges (k, n, 3).

        All in the axes of the base, for angles (k, n).
        """
        k, n = angles.shape
        R, p = np.broadcast_to(np.eye(3), (k, 3, 3)), np.zeros((k, 3))
        origin, hinge = np.empty((k, n, 3)), np.empty((k, n, 3))
        for i in range(n):
            p = p + R @ self.shift[i]
            R = R @ self.axes[i]
            c, s = np.cos(angles[:, i]), np.sin(angles[:, i])
            x, y = R[:, :, 0], R[:, :, 1]
            R = np.stack(
                [c[:, None] * x + s[:, None] * y, c[:, None] * y - s[:, None] * x, R[:, :, 2]], axis=2
            )
            origin[:, i], hinge[:, i] = p, R[:, :, 2]
        foot = p + R @ self.foot
        jacobian = np.cross(hinge, foot[:, None] - origin).transpose(0, 2, 1)
        return foot, jacobian, hinge, origin

    def angles(self, targets: Array) -> Array:
        """Angles (k, n) [rad] that bring the foot to targets (k, 3) in the axes of the base [m].

        Raises:
            BadInput: a target that cannot be reached.
        """
        n = len(self.joints)
        theta = np.tile(self.stance, (len(targets), 1))
        for _ in range(ITERATIONS):
            foot, jacobian, hinge, _ = self.place(theta)
            error = targets - foot
            if np.abs(error).max(initial=0.0) < REACHED:
                return theta
            rest, matrix = error, jacobian
            if n == 4 or self.is_planar:
                along = np.einsum("kij,kj->ki", hinge, hinge[:, -1])  # ±1 where an axis is parallel to it
                turned = (along * (theta - self.stance)).sum(axis=1)
                if self.is_planar:  # two of the three coordinates of the foot
                    rest, matrix = error @ self.plane.T, self.plane @ jacobian
                rest = np.concatenate([rest, -turned[:, None]], axis=1)
                matrix = np.concatenate([matrix, along[:, None, :]], axis=1)
            step = np.linalg.solve(matrix + REGULAR * np.eye(n), rest[:, :, None])[:, :, 0]
            longest = np.abs(step).max(axis=1, keepdims=True)
            theta = theta + step * np.minimum(1.0, LARGEST / np.maximum(longest, LARGEST))
        miss = np.linalg.norm(targets - self.place(theta)[0], axis=1)
        worst = int(np.nanargmax(miss))
        x, y, z = targets[worst]
        raise BadInput(
            f"leg of {self.name}: its foot cannot reach ({x:.3g}, {y:.3g}, {z:.3g}) m from the base; "
            f"it stands at ({self.home[0]:.3g}, {self.home[1]:.3g}, {self.home[2]:.3g}) m"
        )


def find_legs(model: Model, q: Array | None = None, feet: Sequence[str] | None = None) -> tuple[Leg, ...]:
    """The legs of a robot whose base floats or slides.

    Args:
        model: the robot.
        q: its stance, shape (nq,); the neutral configuration by default.
        feet: names of the bodies that carry the feet; by default those at the end of every chain of at least
            three hinges. Arms are chains, too: a robot that has some needs its feet named.

    Raises:
        BadInput: no such base, or a chain that is no leg of three or four hinges.
    """
    stance = model.q0 if q is None else model.check_q(q, "stance")
    base, tree = base_link(model), model.tree
    every = range(len(model.body_names))
    ends = (
        [model.body(name) for name in feet] if feet is not None else [b for b in every if _is_end(model, b)]
    )
    legs: dict[int, Leg] = {}
    poses = forward_kinematics(model, stance)
    for body in ends:
        link = int(model.body_link[body])
        if link in legs or link == base:
            continue
        chain = [link]
        while chain[0] != base and chain[0] > 0:
            chain.insert(0, int(tree.parent[chain[0]]))
        if chain[0] != base:
            raise BadInput(f"{model.name}: {model.body_names[body]} does not hang on the base")
        chain = chain[1:]
        if feet is None and len(chain) < 3:
            continue
        if len(chain) not in (3, 4) or any(tree.kind[i] != LinkKind.REVOLUTE for i in chain):
            raise BadInput(
                f"{model.name}: the chain to {model.body_names[body]} is no leg of three or four hinges; "
                "name the bodies of the feet"
            )
        legs[link] = _leg(model, body, chain, stance, poses)
    if not legs:
        raise BadInput(f"{model.name} has no legs: no chain of three or four hinges on its base")
    return tuple(legs.values())


def in_order(model: Model, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """The legs of a quadruped: right back, left back, right front, left front, by where they stand.

    Raises:
        BadInput: there are not four of them, one in each quarter.
    """
    homes = np.array([leg.home for leg in legs])
    if len(legs) != 4:
        names = ", ".join(leg.name for leg in legs)
        raise BadInput(f"{model.name}: a quadruped has four legs; {len(legs)} were found: {names}")
    middle = homes.mean(axis=0)
    quarter = 2 * (homes[:, 0] > middle[0]) + (homes[:, 1] > middle[1])
    if sorted(quarter) != [0, 1, 2, 3]:
        raise BadInput(f"{model.name}: its feet do not stand one in each quarter around the middle")
    return tuple(legs[int(np.flatnonzero(quarter == k)[0])] for k in range(4))


def joint_path(
    model: Model,
    legs: tuple[Leg, ...],
    feet: Array,
    body: Array,
    rotation: Array,
    interval: float,
    repeated: int = 0,
) -> JointPath:
    """Joint angles for feet (n, legs, 3) and base (n, 3) [m] of a rotation (3, 3), sampled.

    The last ``repeated`` intervals are repeated for ever.

    Raises:
        BadInput: a foot cannot be reached, or a joint's stop is in the way.
    """
    names = tuple(name for leg in legs for name in leg.joints)
    angles = [leg.angles((feet[:, k] - body) @ rotation) for k, leg in enumerate(legs)]
    for leg, found in zip(legs, angles, strict=True):
        low, high = found.min(axis=0), found.max(axis=0)
        for k, name in enumerate(leg.joints):
            least, most = model.lower[leg.dofs[k]], model.upper[leg.dofs[k]]
            if low[k] < least or high[k] > most:
                raise BadInput(
                    f"{model.name}: joint {name} would have to go from {low[k]:.3g} to {high[k]:.3g} rad; "
                    f"its stops are at {least:.3g} and {most:.3g}"
                )
    return JointPath(names, np.concatenate(angles, axis=1), interval, repeated=repeated)


def _is_end(model: Model, body: int) -> bool:
    return not (model.tree.parent == model.body_link[body]).any()


def _leg(model: Model, body: int, chain: list[int], stance: Array, poses: BodyPoses) -> Leg:
    tree = model.tree
    iq, iv = tree.iq[chain], tree.iv[chain]
    by_dof = {joint.iv: joint.name for joint in model.joints if joint.kind.nv == 1}
    if any(int(d) not in by_dof for d in iv):
        raise BadInput(f"{model.name}: a joint on the way to {model.body_names[body]} has several axes")
    foot, radius = _foot(model, chain[-1], poses)
    return Leg(
        name=model.body_names[body],
        joints=tuple(by_dof[int(d)] for d in iv),
        dofs=iv,
        coordinates=iq,
        axes=tree.constant[chain, TREE_AXES : TREE_AXES + 9].reshape(-1, 3, 3),
        shift=tree.constant[chain, TREE_SHIFT : TREE_SHIFT + 3],
        foot=foot,
        radius=radius,
        stance=stance[iq],
    )


def _foot(model: Model, link: int, poses: BodyPoses) -> tuple[Array, float]:
    """A foot in the axes of its link [m], and its radius [m]."""
    spheres, points = [], []
    for body in np.flatnonzero(model.body_link == link):
        name = model.body_names[body]
        R, o = model.body_rotation[body], model.body_offset[body]
        rotation, position = poses.rotation[body], poses.position[body]
        for shape in model.spec.body(name).shapes:
            if not shape.collides:
                continue
            centre = shape.pose.translation
            if isinstance(shape.geometry, Sphere):
                low = (rotation @ centre + position)[2] - shape.geometry.radius
                spheres.append((low, R @ centre + o, shape.geometry.radius))
            else:
                point = _lowest(shape, rotation)
                if point is None:
                    continue
                points.append(((rotation @ point + position)[2], R @ point + o, 0.0))
    found = spheres or points
    if not found:
        raise BadInput(f"{model.name}: the last link of a leg has no shape to stand on")
    _, foot, radius = min(found, key=lambda item: item[0])
    return foot, radius


def _lowest(shape: Shape, rotation: Array) -> Array | None:
    """The lowest point of a shape on a body turned by a rotation (3, 3), in the axes of the body [m]."""
    outline = shape.geometry.outline()
    if not len(outline):
        return None
    points = outline @ shape.pose.rotation.T + shape.pose.translation
    return np.asarray(points[int(np.argmin(points @ rotation[2]))])
