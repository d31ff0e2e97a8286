"""The base of a walking robot: the link its legs hang on, where it is, and what a push does to it.

A base floats, or slides along some axes without turning (planar walkers). Both have freedoms that move it
along straight lines, and a force at its origin acts on those alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.kinds import LinkKind
from taction.kinematics.forward import forward_kinematics, place_links
from taction.kinematics.jacobian import jacobian
from taction.model.model import Model
from taction.model.workspace import AXES, ORIGIN, make_workspace, matrices, vectors


class Base(NamedTuple):
    """The link that legs hang on.

    Attributes:
        body: name of its first body.
        dofs: freedoms that move it along straight lines, shape (k,).
        coordinates: their position coordinates, shape (k,).
        directions: of these lines in the world, shape (k, 3).
        origin: where the body is at the neutral configuration [m], shape (3,).
        neutral: coordinates there [m], shape (k,).
        quaternion: first coordinate of its orientation, or −1 where it cannot turn.
    """

    body: str
    dofs: IntArray
    coordinates: IntArray
    directions: Array
    origin: Array
    neutral: Array
    quaternion: int

    def place(self, q: Array) -> Array:
        """Where it is at configurations (n, nq): shape (n, 3) [m]."""
        return self.origin + (q[:, self.coordinates] - self.neutral) @ self.directions

    def upright(self, q: Array) -> Array:
        """Cosine of its lean at configurations (n, nq), shape (n,)."""
        if self.quaternion < 0:
            return np.ones(len(q))
        x, y = q[:, self.quaternion + 1], q[:, self.quaternion + 2]
        return 1.0 - 2.0 * (x * x + y * y)


def base_of(model: Model) -> Base:
    """The base of a robot.

    Raises:
        BadInput: it neither floats nor slides.
    """
    link = base_link(model)
    body = int(np.flatnonzero(model.body_link == link)[0])
    name = model.body_names[body]
    J = jacobian(model, model.q0, name)
    dofs = np.flatnonzero((np.abs(J[:3]) < 1e-12).all(axis=0) & (np.abs(J[3:]) > 1e-12).any(axis=0))
    places = {j.iv + k: j.iq + k for j in model.joints for k in range(j.kind.nv)}
    coordinates = np.array([places[int(d)] for d in dofs], dtype=np.int64)
    is_floating = model.tree.kind[link] == LinkKind.FLOATING
    return Base(
        body=name,
        dofs=dofs,
        coordinates=coordinates,
        directions=J[3:, dofs].T.copy(),
        origin=forward_kinematics(model, model.q0).position[body].copy(),
        neutral=model.q0[coordinates].copy(),
        quaternion=int(model.tree.iq[link]) + 3 if is_floating else -1,
    )


def base_link(model: Model) -> int:
    """The link of the first floating joint, or the last one of the slides that the robot hangs on.

    Raises:
        BadInput: there is none.
    """
    floating = np.flatnonzero(model.tree.kind == LinkKind.FLOATING)
    if len(floating):
        return int(floating[0])
    base = 0
    while base + 1 < model.n_links and model.tree.kind[base + 1] == LinkKind.PRISMATIC:
        base += 1
    if base == 0:
        raise BadInput(f"{model.name} has no floating base to walk with; load it with floating_base=True")
    return base


def dofs_to(model: Model, link: int) -> list[int]:
    """First degrees of freedom of the links between the base and a link, from the base on.

    Empty where the link does not hang on the base.
    """
    base = base_link(model)
    dofs: list[int] = []
    while link not in (base, 0):
        dofs.insert(0, int(model.tree.iv[link]))
        link = int(model.tree.parent[link])
    return dofs if link == base else []


def base_pose(model: Model, q: Array) -> tuple[Array, Array]:
    """Axes (3, 3) and origin (3,) [m] of the base in the world."""
    ws = make_workspace(model)
    place_links(model.tree, q, ws)
    base = base_link(model)
    return matrices(ws, AXES)[base].copy(), vectors(ws, ORIGIN)[base].copy()
