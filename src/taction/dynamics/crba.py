"""Composite-rigid-body algorithm: the mass matrix of a tree.

What it solves: M(q), symmetric positive definite, with ½ vᵀ M v the kinetic energy; rotor inertias are
added on the diagonal.

Notation (world axes, about the origin of link i)
    m_i, h_i, I_i   mass, first moment and inertia of link i and everything it carries
    t, f            moment and force that a unit joint acceleration asks for

Method
1. Children first, add each composite to its parent λ, shifted by r:
       m_λ += m,  h_λ += h + m r,  I_λ += I + (shift terms in r, h, m)
2. For each degree of freedom of link i: force f and moment t of its unit acceleration, dotted with the free
   directions of i (the diagonal block) and, walking to the root with t ← t + r × f, of every ancestor.

In world axes the walk costs nine multiplications per ancestor and no rotation.

Cost: O(n) for step 1, O(Σ depth) for step 2: one operation per structural non-zero of M.

References: [WalkerOrin1982]; [Featherstone2008, Table 6.2].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.kinematics.forward import joint_axes, place_links
from taction.math.vector import (
    accumulate3,
    add,
    add_scaled,
    column,
    column_z,
    cross,
    dot,
    load3,
    load6,
    load9,
    mat_vec,
    store3,
    store6,
    sym_rotated,
    sym_vec,
)
from taction.model.model import Model
from taction.model.workspace import make_workspace


@kernel
def world_inertias(tree, ws):
    """Each link's own m, h, I in world axes into ws.m, ws.h, ws.A; needs `place_links`."""
    for i in range(1, tree.parent.shape[0]):
        R = load9(ws.R, i)
        ws.m[i] = tree.mass[i]
        store3(mat_vec(R, load3(tree.moment, i)), i, ws.h)
        store6(sym_rotated(R, load6(tree.inertia, i)), i, ws.A)


@inline_kernel
def shifted_inertia(m, h, I, r):
    """Inertia about a point −r away: I + (2 r·h + m r·r) 1 − (r hᵀ + h rᵀ + m r rᵀ)."""
    g = add_scaled(h, m, r)  # first moment about the new point
    xx = r[0] * g[0] + r[0] * h[0]
    yy = r[1] * g[1] + r[1] * h[1]
    zz = r[2] * g[2] + r[2] * h[2]
    return (
        I[0] + yy + zz,
        I[1] - (r[0] * g[1] + h[0] * r[1]),
        I[2] - (r[0] * g[2] + h[0] * r[2]),
        I[3] + xx + zz,
        I[4] - (r[1] * g[2] + h[1] * r[2]),
        I[5] + xx + yy,
    )


@kernel
def composite_inertias(tree, ws):
    """Step 1: turn ws.m, ws.h, ws.A from single links into composites, children first."""
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        parent = tree.parent[i]
        m = ws.m[i]
        h = load3(ws.h, i)
        r = load3(ws.r, i)
        I = shifted_inertia(m, h, load6(ws.A, i), r)
        ws.m[parent] += m
        accumulate3(add_scaled(h, m, r), parent, ws.h)
        for k in range(6):
            ws.A[parent, k] += I[k]


@inline_kernel
def unit_wrench(tree, i, dof, ws):
    """Moment and force about the origin of link i that a unit acceleration of its dof-th freedom asks for."""
    R = load9(ws.R, i)
    h = load3(ws.h, i)
    kind = tree.kind[i]
    is_linear = kind == LinkKind.PRISMATIC or (kind == LinkKind.FLOATING and dof < 3)
    axis = column_z(R)
    if kind == LinkKind.SPHERICAL:
        axis = column(R, dof)
    elif kind == LinkKind.FLOATING:
        axis = column(joint_axes(tree, i, ws), dof) if dof < 3 else column(R, dof - 3)
    if is_linear:
        return cross(h, axis), (ws.m[i] * axis[0], ws.m[i] * axis[1], ws.m[i] * axis[2])
    return sym_vec(load6(ws.A, i), axis), cross(axis, h)


@inline_kernel
def project_row(tree, j, t, f, row, ws, M_io):
    """Dot the wrench (t, f) at link j with the free directions of j: entries (row, ·) and (·, row) of M."""
    kind = tree.kind[j]
    k = tree.iv[j]
    R = load9(ws.R, j)
    if kind == LinkKind.REVOLUTE:
        x = dot(column_z(R), t)
        M_io[row, k] = x
        M_io[k, row] = x
    elif kind == LinkKind.PRISMATIC:
        x = dot(column_z(R), f)
        M_io[row, k] = x
        M_io[k, row] = x
    elif kind == LinkKind.SPHERICAL:
        for c in range(3):
            x = dot(column(R, c), t)
            M_io[row, k + c] = x
            M_io[k + c, row] = x
    else:
        J = joint_axes(tree, j, ws)
        for c in range(3):
            x = dot(column(J, c), f)
            y = dot(column(R, c), t)
            M_io[row, k + c] = x
            M_io[k + c, row] = x
            M_io[row, k + 3 + c] = y
            M_io[k + 3 + c, row] = y


@kernel
def composite_rigid_body(tree, ws, M_out):
    """Mass matrix into M_out (nv, nv), zeros included; needs `place_links`."""
    world_inertias(tree, ws)
    composite_inertias(tree, ws)
    for a in range(M_out.shape[0]):
        for b in range(M_out.shape[1]):
            M_out[a, b] = 0.0
    for i in range(1, tree.parent.shape[0]):
        freedoms = 1
        if tree.kind[i] == LinkKind.SPHERICAL:
            freedoms = 3
        elif tree.kind[i] == LinkKind.FLOATING:
            freedoms = 6
        for dof in range(freedoms):
            row = tree.iv[i] + dof
            t, f = unit_wrench(tree, i, dof, ws)
            project_row(tree, i, t, f, row, ws, M_out)
            j = i
            while tree.parent[j] > 0:
                t = add(t, cross(load3(ws.r, j), f))
                j = tree.parent[j]
                project_row(tree, j, t, f, row, ws, M_out)
    for a in range(M_out.shape[0]):
        M_out[a, a] += tree.armature[a]


@kernel
def crba_batch(tree, q, ws, M_out):
    """Mass matrix of every row of q (n, nq) into M_out (n, nv, nv)."""
    for k in range(q.shape[0]):
        place_links(tree, q[k], ws)
        composite_rigid_body(tree, ws, M_out[k])


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Joint-space mass matrix M(q).

    Args:
        model: the mechanism.
        q: configuration, shape (nq,) or (n, nq).

    Returns:
        M, shape (nv, nv) or (n, nv, nv).
    """
    q = model.check_q(q)
    M = np.empty((*q.shape[:-1], model.nv, model.nv))
    crba_batch(model.tree, np.atleast_2d(q), make_workspace(model), M.reshape(-1, model.nv, model.nv))
    return M
