"""Forward kinematics: placements of all links and bodies.

What it solves: from the joint positions q, the axes R_i and origin p_i of every link in the world.

Notation
    R_i   link axes in the world, (9,)       J_i  joint axes in the world before the joint turns, R_λ T_i
    r_i   origin of i minus origin of its parent λ, world axes [m]
    T_i, s_i   constant rotation and offset of the joint in the parent link
    z_i   third column of R_i: the joint axis of a single-axis link

Method, parents first:
    revolute   R_i = J_i Rz(q)            r_i = R_λ s_i
    prismatic  R_i = J_i                  r_i = R_λ s_i + q z_i
    spherical  R_i = J_i R(quaternion)    r_i = R_λ s_i
    floating   R_i = J_i R(quaternion)    r_i = R_λ s_i + J_i x

World axes throughout: inertias and forces then pass from child to parent by a shift r_i alone, with no
rotation, which is what makes the algorithms of `taction.dynamics` cheap; the shift is between neighbouring
origins, so nothing is lost far from the world's origin.

Cost: one 3×3 product, two matrix–vector products and one sine–cosine pair per link.

References: [Featherstone2008, Section 4.4]; quaternions [Sola2017, Eq. (117)].
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import inline_kernel
from taction._core.kinds import LinkKind
from taction._core.show import brief_repr
from taction.math.rotation import quat_load, quat_to_mat, rotate_z
from taction.math.vector import (
    add,
    add_scaled,
    column_z,
    cross,
    load3,
    load9,
    mat_mul,
    mat_vec,
    segment3,
    store3,
    store9,
)
from taction.model.model import TREE_AXES, TREE_SHIFT, Model, of_model
from taction.model.workspace import (
    AXES,
    BASE_AXES,
    OMEGA,
    ORIGIN,
    SHIFT,
    SPEED,
    make_workspace,
    matrices,
    vectors,
)


@inline_kernel
def place_links(tree, q, ws):
    """Fill AXES, SHIFT and ORIGIN of every link, and BASE_AXES of floating ones, from q (nq,)."""
    for i in range(1, tree.parent.shape[0]):
        parent = tree.parent[i]
        R_parent = load9(ws, parent, AXES)
        r = mat_vec(R_parent, load3(tree.constant, i, TREE_SHIFT))
        R = mat_mul(R_parent, load9(tree.constant, i, TREE_AXES))
        kind = tree.kind[i]
        k = tree.iq[i]
        if kind == LinkKind.REVOLUTE:
            R = rotate_z(R, math.cos(q[k]), math.sin(q[k]))
        elif kind == LinkKind.PRISMATIC:
            r = add_scaled(r, q[k], column_z(R))
        elif kind == LinkKind.SPHERICAL:
            R = mat_mul(R, quat_to_mat(quat_load(q, k)))
        else:
            store9(R, i, BASE_AXES, ws)
            r = add(r, mat_vec(R, segment3(q, k)))
            R = mat_mul(R, quat_to_mat(quat_load(q, k + 3)))
        store9(R, i, AXES, ws)
        store3(r, i, SHIFT, ws)
        store3(add(load3(ws, parent, ORIGIN), r), i, ORIGIN, ws)


@inline_kernel
def link_velocities(tree, v, ws):
    """Fill OMEGA and SPEED of every link from v (nv,); needs `place_links`."""
    store3((0.0, 0.0, 0.0), 0, OMEGA, ws)
    store3((0.0, 0.0, 0.0), 0, SPEED, ws)
    for i in range(1, tree.parent.shape[0]):
        parent = tree.parent[i]
        w_parent = load3(ws, parent, OMEGA)
        R = load9(ws, i, AXES)
        kind = tree.kind[i]
        k = tree.iv[i]
        w = w_parent
        u = add(load3(ws, parent, SPEED), cross(w_parent, load3(ws, i, SHIFT)))
        if kind == LinkKind.REVOLUTE:
            w = add_scaled(w, v[k], column_z(R))
        elif kind == LinkKind.PRISMATIC:
            u = add_scaled(u, v[k], column_z(R))
        elif kind == LinkKind.SPHERICAL:
            w = add(w, mat_vec(R, segment3(v, k)))
        else:
            u = add(u, mat_vec(load9(ws, i, BASE_AXES), segment3(v, k)))
            w = add(w, mat_vec(R, segment3(v, k + 3)))
        store3(w, i, OMEGA, ws)
        store3(u, i, SPEED, ws)


@inline_kernel
def link_speeds(tree, v, ws):
    """Fill SPEED of every link from v (nv,), where OMEGA is known already."""
    store3((0.0, 0.0, 0.0), 0, SPEED, ws)
    for i in range(1, tree.parent.shape[0]):
        parent = tree.parent[i]
        u = add(load3(ws, parent, SPEED), cross(load3(ws, parent, OMEGA), load3(ws, i, SHIFT)))
        kind = tree.kind[i]
        k = tree.iv[i]
        if kind == LinkKind.PRISMATIC:
            u = add_scaled(u, v[k], column_z(load9(ws, i, AXES)))
        elif kind == LinkKind.FLOATING:
            u = add(u, mat_vec(load9(ws, i, BASE_AXES), segment3(v, k)))
        store3(u, i, SPEED, ws)


class BodyPoses(NamedTuple):
    """World placements of all bodies, in the order of ``model.body_names``."""

    rotation: Array  # (nb, 3, 3) body axes in the world
    position: Array  # (nb, 3) body origin in the world [m]

    def __repr__(self) -> str:
        return brief_repr(self)


class BodyVelocities(NamedTuple):
    """World velocities of all bodies, in the order of ``model.body_names``."""

    angular: Array  # (nb, 3) angular velocity, world axes [rad/s]
    linear: Array  # (nb, 3) velocity of the body origin, world axes [m/s]

    def __repr__(self) -> str:
        return brief_repr(self)


@of_model
def forward_kinematics(model: Model, q: ArrayLike) -> BodyPoses:
    """Placements of all bodies.

    Args:
        model: the mechanism.
        q: configuration, shape (nq,).

    Raises:
        BadInput: q has the wrong shape or is not finite.
    """
    ws = make_workspace(model)
    place_links(model.tree, model.check_q(q), ws)
    R_links = matrices(ws, AXES)[model.body_link]
    arm = np.einsum("bij,bj->bi", R_links, model.body_offset)
    return BodyPoses(R_links @ model.body_rotation, vectors(ws, ORIGIN)[model.body_link] + arm)


@of_model
def body_velocities(model: Model, q: ArrayLike, v: ArrayLike) -> BodyVelocities:
    """Velocities of all bodies at configuration q (nq,) and velocity v (nv,)."""
    ws = make_workspace(model)
    place_links(model.tree, model.check_q(q), ws)
    link_velocities(model.tree, model.check_v(v), ws)
    arm = np.einsum("bij,bj->bi", matrices(ws, AXES)[model.body_link], model.body_offset)
    angular = vectors(ws, OMEGA)[model.body_link]
    return BodyVelocities(angular, vectors(ws, SPEED)[model.body_link] + np.cross(angular, arm))
