"""Jacobians of points on bodies, and the acceleration J̇ v that velocities alone cause.

What it solves: [ω; ẋ] = J(q) v for a body and a point x that moves with it. Rows 0–2 are angular, rows 3–5
linear, both in world axes; and [ω̇; ẍ] = J v̇ + J̇ v, with ẍ the acceleration of the material point.

Notation: z_j axis and p_j origin of link j, one of the links between the body and the world.

Method: the column of each degree of freedom on the way from the body to the world is
    revolute or rotation about an axis z of a spherical or floating link   [z; z × (x − p_j)]
    prismatic or translation along an axis z                               [0; z]
J̇ v is the acceleration of the point when v̇ = 0 and gravity is off, by the forward pass of Newton–Euler.

Cost: O(depth) for J, O(n) for J̇ v.

References: [Featherstone2008, Sections 2.11 and 4.5].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.kinematics.forward import place_links
from taction.kinematics.motion import link_accelerations
from taction.math.vector import add, column_z, cross, load3, load9, mat_vec, sub
from taction.model.model import Model, of_model
from taction.model.workspace import (
    ACCEL,
    ALPHA,
    AXES,
    BASE_AXES,
    OMEGA,
    ORIGIN,
    make_workspace,
    matrices,
    vectors,
)


@inline_kernel
def put_rotation(z, arm, k, J_out):
    """Column k of a rotation about z, for a point ``arm`` away from the axis."""
    x = cross(z, arm)
    for c in range(3):
        J_out[c, k] = z[c]
        J_out[3 + c, k] = x[c]


@inline_kernel
def put_translation(z, k, J_out):
    """Column k of a translation along z."""
    for c in range(3):
        J_out[c, k] = 0.0
        J_out[3 + c, k] = z[c]


@kernel
def point_jacobian(tree, link, x, ws, J_out):
    """Jacobian J_out (6, nv) of the world point x that moves with a link; needs `place_links`."""
    for r in range(6):
        for k in range(J_out.shape[1]):
            J_out[r, k] = 0.0
    i = link
    while i > 0:
        kind = tree.kind[i]
        k = tree.iv[i]
        arm = sub(x, load3(ws, i, ORIGIN))
        if kind == LinkKind.REVOLUTE:
            put_rotation(column_z(load9(ws, i, AXES)), arm, k, J_out)
        elif kind == LinkKind.PRISMATIC:
            put_translation(column_z(load9(ws, i, AXES)), k, J_out)
        else:
            if kind == LinkKind.FLOATING:
                for c in range(3):
                    put_translation(
                        (ws[i, BASE_AXES + c], ws[i, BASE_AXES + 3 + c], ws[i, BASE_AXES + 6 + c]),
                        k + c,
                        J_out,
                    )
                k += 3
            for c in range(3):
                put_rotation((ws[i, AXES + c], ws[i, AXES + 3 + c], ws[i, AXES + 6 + c]), arm, k + c, J_out)
        i = tree.parent[i]


@kernel
def point_acceleration(tree, link, arm, ws):
    """Angular acceleration of a link, and acceleration of its point ``arm`` (link axes)."""
    rho = mat_vec(load9(ws, link, AXES), arm)
    w = load3(ws, link, OMEGA)
    alpha = load3(ws, link, ALPHA)
    return alpha, add(load3(ws, link, ACCEL), add(cross(alpha, rho), cross(w, cross(w, rho))))


def _arm(model: Model, body: int, point: ArrayLike) -> Array:
    """A point given in body axes, from the link origin in link axes."""
    return model.body_offset[body] + model.body_rotation[body] @ as_float(point, (3,), "point")


def _placed(model: Model, q: ArrayLike) -> Array:
    ws = make_workspace(model)
    place_links(model.tree, model.check_q(q), ws)
    return ws


@of_model
def jacobian(model: Model, q: ArrayLike, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Jacobian of a point on a body.

    Args:
        model: the mechanism.
        q: configuration, shape (nq,).
        body: name of the body.
        point: the point in body axes [m], shape (3,); the body origin by default.

    Returns:
        J, shape (6, nv): angular rows first, world axes.
    """
    ws, b = _placed(model, q), model.body(body)
    link = int(model.body_link[b])
    x = vectors(ws, ORIGIN)[link] + matrices(ws, AXES)[link] @ _arm(model, b, point)
    J = np.empty((6, model.nv))
    point_jacobian(model.tree, link, tuple(x.tolist()), ws, J)
    return J


@of_model
def jacobian_dot_v(
    model: Model, q: ArrayLike, v: ArrayLike, body: str, point: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """J̇ v: angular acceleration of a body and acceleration of its point when v̇ = 0, shape (6,)."""
    ws, b = _placed(model, q), model.body(body)
    v = model.check_v(v)
    link_accelerations(model.tree, v, np.zeros(model.nv), (0.0, 0.0, 0.0), ws)
    arm = tuple(_arm(model, b, point).tolist())
    alpha, a = point_acceleration(model.tree, int(model.body_link[b]), arm, ws)
    return np.array([*alpha, *a])
