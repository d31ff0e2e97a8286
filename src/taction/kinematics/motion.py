"""Velocities and accelerations of all links, parents first.

Notation (world axes; λ is the parent of link i): ω angular velocity, α angular acceleration, a acceleration
of the link origin, r_i origin of i from the origin of λ, z_i joint axis, J_i axes of a floating link's
linear coordinates.

Method
    a_i = a_λ + α_λ × r_i + ω_λ × (ω_λ × r_i)  +  joint term
    revolute   ω_i = ω_λ + z v      α_i = α_λ + z v̇ + ω_λ × z v
    prismatic  a_i += z v̇ + 2 ω_λ × z v
    spherical  ω_i = ω_λ + R v      α_i = α_λ + R v̇ + ω_λ × R v
    floating   as spherical for its angular part; a_i += J v̇ + 2 ω_λ × J v for its linear part

Starting the world at a_0 = −gravity makes weight appear by itself in Newton–Euler.

Departures: these are accelerations of points, not spatial accelerations; linear velocities then drop out.

References: [LuhWalkerPaul1980]; [Featherstone2008, Section 5.3].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.math.vector import (
    add,
    add_scaled,
    column_z,
    cross,
    load3,
    load9,
    mat_vec,
    scale,
    segment3,
    store3,
)
from taction.model.workspace import ACCEL, ALPHA, AXES, BASE_AXES, OMEGA, SHIFT


@inline_kernel
def link_acceleration(tree, i, v, vdot, ws):
    """Motion of link i: ω_i, α_i, a_i from the parent's row of ws and v, vdot (nv,)."""
    parent = tree.parent[i]
    R = load9(ws, i, AXES)
    r = load3(ws, i, SHIFT)
    w_parent = load3(ws, parent, OMEGA)
    alpha_parent = load3(ws, parent, ALPHA)
    a = add(load3(ws, parent, ACCEL), add(cross(alpha_parent, r), cross(w_parent, cross(w_parent, r))))
    w = w_parent
    alpha = alpha_parent
    kind = tree.kind[i]
    k = tree.iv[i]
    if kind == LinkKind.REVOLUTE:
        z = column_z(R)
        w = add_scaled(w, v[k], z)
        alpha = add(alpha, add_scaled(scale(vdot[k], z), v[k], cross(w_parent, z)))
    elif kind == LinkKind.PRISMATIC:
        z = column_z(R)
        a = add(a, add_scaled(scale(vdot[k], z), 2.0 * v[k], cross(w_parent, z)))
    elif kind == LinkKind.SPHERICAL:
        rate = mat_vec(R, segment3(v, k))
        w = add(w, rate)
        alpha = add(alpha, add(mat_vec(R, segment3(vdot, k)), cross(w_parent, rate)))
    else:
        J = load9(ws, i, BASE_AXES)
        a = add(a, mat_vec(J, segment3(vdot, k)))
        a = add_scaled(a, 2.0, cross(w_parent, mat_vec(J, segment3(v, k))))
        rate = mat_vec(R, segment3(v, k + 3))
        w = add(w, rate)
        alpha = add(alpha, add(mat_vec(R, segment3(vdot, k + 3)), cross(w_parent, rate)))
    return w, alpha, a


@kernel
def link_accelerations(tree, v, vdot, a_world, ws):
    """Fill OMEGA, ALPHA, ACCEL of every link for v, vdot (nv,); the world accelerates at a_world [m/s²]."""
    store3((0.0, 0.0, 0.0), 0, OMEGA, ws)
    store3((0.0, 0.0, 0.0), 0, ALPHA, ws)
    store3(a_world, 0, ACCEL, ws)
    for i in range(1, tree.parent.shape[0]):
        w, alpha, a = link_acceleration(tree, i, v, vdot, ws)
        store3(w, i, OMEGA, ws)
        store3(alpha, i, ALPHA, ws)
        store3(a, i, ACCEL, ws)
