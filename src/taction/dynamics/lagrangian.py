"""The Lagrangian form M(q) v̇ + C(q, v) v + g(q) = τ, with Ṁ − 2C skew-symmetric.

What it solves: the matrix C itself (not only the product C v), which passivity arguments and adaptive
controllers need.

Notation: per link, J_ω and J_c (3 × nv) the Jacobians of its rotation and of its centre of mass, I its
inertia about the centre of mass in world axes, ω its angular velocity.

Method: with T = Σ ½ m |J_c v|² + ½ (J_ω v)ᵀ I (J_ω v),
    M = Σ m J_cᵀ J_c + J_ωᵀ I J_ω
    C = Σ m J_cᵀ J̇_c + J_ωᵀ I J̇_ω + J_ωᵀ X J_ω,    X = ½ (ω̃ I − I ω̃ − (Iω)~)
X ω = ω × I ω gives C v the right value; İ − 2X = (Iω)~ is skew, so that Ṁ − 2C is skew. (With X = ω̃ I, the
usual reading, C v is the same but Ṁ − 2C is not skew.)
Columns of J̇: a rotation axis z of link j turns with ω_j, and z × (c − p_j) moves with both ends.

Departures: [BhargavaReport, Eq. (1)] leaves C open; any C with the right C v satisfies the equation of
motion.

Cost: O(n nv²), for study; simulation uses `taction.dynamics.rnea`.

References: [BhargavaReport, Section 3.1]; [LiuJain2012]; [EcheandiaWensing2021].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.kinds import LinkKind
from taction._core.show import brief_repr
from taction.dynamics.rnea import gravity_forces
from taction.kinematics.forward import link_velocities, place_links
from taction.math.transform import skew
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model, of_model
from taction.model.workspace import AXES, BASE_AXES, OMEGA, ORIGIN, SPEED, make_workspace, matrices, vectors


class LagrangianForm(NamedTuple):
    """Terms of the equation of motion at one state."""

    M: Array  # (nv, nv) mass matrix
    C: Array  # (nv, nv) Coriolis matrix, Ṁ − 2C skew
    g: Array  # (nv,) gravity forces

    def __repr__(self) -> str:
        return brief_repr(self)


@of_model
def lagrangian_form(model: Model, q: ArrayLike, v: ArrayLike) -> LagrangianForm:
    """M(q), C(q, v) and g(q) with Ṁ − 2C skew-symmetric; q (nq,), v (nv,)."""
    q, v, tree = model.check_q(q), model.check_v(v), model.tree
    ws = make_workspace(model)
    place_links(tree, q, ws)
    link_velocities(tree, v, ws)
    omega = vectors(ws, OMEGA)
    M, C = np.diag(tree.armature), np.zeros((model.nv, model.nv))
    for i in range(1, model.n_links):
        m = tree.constant[i, BODY_MASS]
        xx, xy, xz, yy, yz, zz = tree.constant[i, BODY_INERTIA:]
        c_link = tree.constant[i, BODY_FIRST : BODY_FIRST + 3] / m if m > 0 else np.zeros(3)
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * skew(c_link) @ skew(c_link)
        R = matrices(ws, AXES)[i]
        I, w = R @ about_com @ R.T, omega[i]
        J_w, J_c, J_w_dot, J_c_dot = _link_jacobians(model, ws, i, R @ c_link)
        X = 0.5 * (skew(w) @ I - I @ skew(w) - skew(I @ w))
        M += m * J_c.T @ J_c + J_w.T @ I @ J_w
        C += m * J_c.T @ J_c_dot + J_w.T @ (I @ J_w_dot + X @ J_w)
    return LagrangianForm(M, C, gravity_forces(model, q))


def _link_jacobians(model: Model, ws: Array, link: int, arm: Array) -> tuple[Array, Array, Array, Array]:
    """J_ω, J_c and their time derivatives for the point ``arm`` (world axes) of a link."""
    tree, omega, origin, speed = model.tree, *(vectors(ws, c) for c in (OMEGA, ORIGIN, SPEED))
    J_w, J_c, J_w_dot, J_c_dot = (np.zeros((3, model.nv)) for _ in range(4))
    x, x_dot = origin[link] + arm, speed[link] + np.cross(omega[link], arm)
    i = link
    while i > 0:
        kind, k, R = tree.kind[i], tree.iv[i], matrices(ws, AXES)[i]
        parent = tree.parent[i]
        if kind == LinkKind.PRISMATIC:
            J_c[:, k] = R[:, 2]
            J_c_dot[:, k] = np.cross(omega[i], R[:, 2])
        if kind == LinkKind.FLOATING:
            axes = matrices(ws, BASE_AXES)[i]
            J_c[:, k : k + 3] = axes
            J_c_dot[:, k : k + 3] = np.cross(omega[parent], axes.T).T
            k += 3
        if kind != LinkKind.PRISMATIC:
            axes = R[:, 2:] if kind == LinkKind.REVOLUTE else R
            turning = np.cross(omega[i], axes.T).T
            columns = slice(k, k + axes.shape[1])
            J_w[:, columns], J_w_dot[:, columns] = axes, turning
            J_c[:, columns] = np.cross(axes.T, x - origin[i]).T
            J_c_dot[:, columns] = np.cross(turning.T, x - origin[i]).T + np.cross(axes.T, x_dot - speed[i]).T
        i = parent
    return J_w, J_c, J_w_dot, J_c_dot
