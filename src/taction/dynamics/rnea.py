"""Recursive Newton–Euler algorithm: inverse dynamics of a tree in O(n).

What it solves: τ = M(q) v̇ + C(q, v) v + g(q), with the rotor inertias on the diagonal of M.

Notation (world axes, about the origin of link i; λ is the parent)
    ω_i, α_i   angular velocity and acceleration [rad/s, rad/s²]
    a_i        acceleration of the origin [m/s²]; a_0 = −gravity, so that weight appears by itself
    r_i        origin of i from the origin of λ [m];  z_i joint axis
    m, h, I    mass, first moment m·c, inertia about the link origin
    f_i, t_i   force and moment through the joint of link i [N, N m]

Method
1. Parents first: ω_i, α_i, a_i as in `taction.kinematics.motion`, and the force each link needs by itself:
       f_i = m a_i + α_i × h + ω_i × (ω_i × h)
       t_i = I α_i + ω_i × I ω_i + h × a_i
2. Children first: τ_i is (t_i, f_i) along the joint's free directions, plus armature · v̇; then
       f_λ += f_i,   t_λ += t_i + r_i × f_i.

Departures: [LuhWalkerPaul1980] works in link axes; here only the inertia products do, so that no rotation
is needed between links. Accelerations are those of points (not spatial accelerations), which removes the
linear velocity from the recursion.

Cost: about 170 multiplications per revolute link.

References: [LuhWalkerPaul1980]; [Featherstone2008, Table 5.1].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.kinematics.forward import place_links
from taction.kinematics.motion import link_acceleration
from taction.math.vector import (
    accumulate3,
    add,
    column_z,
    cross,
    dot,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    put3,
    scale,
    store3,
    sym_vec,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model, of_model
from taction.model.workspace import ACCEL, ALPHA, AXES, BASE_AXES, FORCE, MOMENT, OMEGA, SHIFT, make_workspace


@inline_kernel
def joint_force(tree, i, t, f, ws, tau_out):
    """Write the components of the wrench (t, f) along the free directions of link i into tau_out (nv,)."""
    R = load9(ws, i, AXES)
    kind = tree.kind[i]
    k = tree.iv[i]
    if kind == LinkKind.REVOLUTE:
        tau_out[k] = dot(column_z(R), t)
    elif kind == LinkKind.PRISMATIC:
        tau_out[k] = dot(column_z(R), f)
    elif kind == LinkKind.SPHERICAL:
        put3(mat_t_vec(R, t), k, tau_out)
    else:
        put3(mat_t_vec(load9(ws, i, BASE_AXES), f), k, tau_out)
        put3(mat_t_vec(R, t), k + 3, tau_out)


@inline_kernel
def gather_forces(tree, ws, tau_out):
    """Step 2 without rotors: pass MOMENT and FORCE down the tree into tau_out (nv,)."""
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        t = load3(ws, i, MOMENT)
        f = load3(ws, i, FORCE)
        joint_force(tree, i, t, f, ws, tau_out)
        parent = tree.parent[i]
        accumulate3(f, parent, FORCE, ws)
        accumulate3(add(t, cross(load3(ws, i, SHIFT), f)), parent, MOMENT, ws)


@inline_kernel
def newton_euler(tree, v, vdot, ws, tau_out):
    """Inverse dynamics into tau_out (nv,) from v, vdot (nv,); needs `place_links`."""
    zero = (0.0, 0.0, 0.0)
    store3(zero, 0, OMEGA, ws)
    store3(zero, 0, ALPHA, ws)
    store3((-tree.gravity[0], -tree.gravity[1], -tree.gravity[2]), 0, ACCEL, ws)
    store3(zero, 0, MOMENT, ws)
    store3(zero, 0, FORCE, ws)
    for i in range(1, tree.parent.shape[0]):
        w, alpha, a = link_acceleration(tree, i, v, vdot, ws)
        R = load9(ws, i, AXES)
        h = mat_vec(R, load3(tree.constant, i, BODY_FIRST))
        f = add(scale(tree.constant[i, BODY_MASS], a), add(cross(alpha, h), cross(w, cross(w, h))))
        # the inertia stays in link axes: rotate two vectors in and one out instead of a matrix
        I = load6(tree.constant, i, BODY_INERTIA)
        w_link = mat_t_vec(R, w)
        spin = add(sym_vec(I, mat_t_vec(R, alpha)), cross(w_link, sym_vec(I, w_link)))
        t = add(mat_vec(R, spin), cross(h, a))
        store3(w, i, OMEGA, ws)
        store3(alpha, i, ALPHA, ws)
        store3(a, i, ACCEL, ws)
        store3(t, i, MOMENT, ws)
        store3(f, i, FORCE, ws)
    gather_forces(tree, ws, tau_out)
    for k in range(tau_out.shape[0]):
        tau_out[k] += tree.armature[k] * vdot[k]


@kernel
def rnea_batch(tree, q, v, vdot, ws, tau_out):
    """Inverse dynamics of every row of q (n, nq), v, vdot (n, nv) into tau_out (n, nv)."""
    for k in range(q.shape[0]):
        place_links(tree, q[k], ws)
        newton_euler(tree, v[k], vdot[k], ws, tau_out[k])


@of_model
def rnea(model: Model, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
    """Joint forces that produce an acceleration.

    Args:
        model: the mechanism.
        q: configuration, shape (nq,) or (n, nq).
        v: velocity, shape (nv,) or (n, nv).
        vdot: acceleration, time derivative of v, shape (nv,) or (n, nv).

    Returns:
        τ [N or N m], shape (nv,) or (n, nv).
    """
    (q, v, vdot), lead = model.check_batch(q, v=v, vdot=vdot)
    tau = np.empty_like(v)
    rnea_batch(model.tree, q, v, vdot, make_workspace(model), tau)
    return tau.reshape(*lead, model.nv)


@of_model
def bias_forces(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Coriolis, centrifugal and gravity forces C(q, v) v + g(q), shape (nv,) or (n, nv)."""
    return rnea(model, q, v, np.zeros(np.shape(v)))


@of_model
def gravity_forces(model: Model, q: ArrayLike) -> Array:
    """Gravity forces g(q): what the joints must hold at rest, shape (nv,) or (n, nv)."""
    return bias_forces(model, q, np.zeros((*np.shape(q)[:-1], model.nv)))
