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
from taction.kinematics.forward import place_links
from taction.math.vector import (
    accumulate3,
    add,
    add_scaled,
    column_z,
    cross,
    dot,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    store3,
    store6,
    sym_rotated,
    sym_vec,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model, of_model
from taction.model.workspace import AXES, BASE_AXES, FIRST, INERTIA, MASS, SHIFT, make_workspace


@inline_kernel
def world_inertias(tree, ws):
    """Each link's own m, h, I in world axes into ws.m, ws.h, ws.A; needs `place_links`."""
    for i in range(1, tree.parent.shape[0]):
        R = load9(ws, i, AXES)
        ws[i, MASS] = tree.constant[i, BODY_MASS]
        store3(mat_vec(R, load3(tree.constant, i, BODY_FIRST)), i, FIRST, ws)
        store6(sym_rotated(R, load6(tree.constant, i, BODY_INERTIA)), i, INERTIA, ws)


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


@inline_kernel
def composite_inertias(tree, ws):
    """Step 1: turn ws.m, ws.h, ws.A from single links into composites, children first."""
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        parent = tree.parent[i]
        m = ws[i, MASS]
        h = load3(ws, i, FIRST)
        r = load3(ws, i, SHIFT)
        I = shifted_inertia(m, h, load6(ws, i, INERTIA), r)
        ws[parent, MASS] += m
        accumulate3(add_scaled(h, m, r), parent, FIRST, ws)
        for k in range(6):
            ws[parent, INERTIA + k] += I[k]


@inline_kernel
def unit_wrench(m, h, I, axis, is_linear):
    """Moment and force about the link origin that a unit acceleration along or about ``axis`` asks for."""
    if is_linear:
        return cross(h, axis), scale(m, axis)
    return sym_vec(I, axis), cross(axis, h)


@inline_kernel
def project(tree, j, row, t, f, ws, M_io):
    """Dot the wrench (t, f) at link j with its free directions: entries of row ``row`` and their mirror."""
    kind = tree.kind[j]
    k = tree.iv[j]
    R = load9(ws, j, AXES)
    if kind == LinkKind.REVOLUTE:
        put_pair(dot(column_z(R), t), row, k, tree.column, M_io)
    elif kind == LinkKind.PRISMATIC:
        put_pair(dot(column_z(R), f), row, k, tree.column, M_io)
    else:
        if kind == LinkKind.FLOATING:
            put_pairs(mat_t_vec(load9(ws, j, BASE_AXES), f), row, k, tree.column, M_io)
            k += 3
        put_pairs(mat_t_vec(R, t), row, k, tree.column, M_io)


@inline_kernel
def put_pair(x, row, k, column, M_io):
    """Write one entry of a symmetric matrix."""
    M_io[row, column[k]] = x
    M_io[k, column[row]] = x


@inline_kernel
def put_pairs(x, row, k, column, M_io):
    """Write three neighbouring entries of a row of a symmetric matrix."""
    put_pair(x[0], row, k, column, M_io)
    put_pair(x[1], row, k + 1, column, M_io)
    put_pair(x[2], row, k + 2, column, M_io)


@inline_kernel
def project_to_root(tree, i, row, t, f, ws, M_io):
    """Step 2 for one degree of freedom of link i: its row of M, up to the root."""
    while i > 0:
        project(tree, i, row, t, f, ws, M_io)
        t = add(t, cross(load3(ws, i, SHIFT), f))
        i = tree.parent[i]


@inline_kernel
def many_freedoms(tree, i, ws, M_io):
    """Step 2 for a spherical or floating link: three or six rows of M."""
    m = ws[i, MASS]
    h = load3(ws, i, FIRST)
    I = load6(ws, i, INERTIA)
    row = tree.iv[i]
    if tree.kind[i] == LinkKind.FLOATING:
        for k in range(3):
            axis = (ws[i, BASE_AXES + k], ws[i, BASE_AXES + 3 + k], ws[i, BASE_AXES + 6 + k])
            t, f = unit_wrench(m, h, I, axis, True)
            project_to_root(tree, i, row + k, t, f, ws, M_io)
        row += 3
    for k in range(3):
        axis = (ws[i, AXES + k], ws[i, AXES + 3 + k], ws[i, AXES + 6 + k])
        t, f = unit_wrench(m, h, I, axis, False)
        project_to_root(tree, i, row + k, t, f, ws, M_io)


@inline_kernel
def composite_rigid_body(tree, ws, M_out):
    """Mass matrix into M_out (nv, nv), zeros included; needs `place_links`."""
    for a in range(M_out.shape[0]):
        for b in range(M_out.shape[1]):
            M_out[a, b] = 0.0
    tree_mass_matrix(tree, ws, M_out)


@inline_kernel
def tree_mass_matrix(tree, ws, M_out):
    """The entries of the mass matrix that the tree couples into M_out (nv, nv), the others left as they are.

    Of a narrow tree (`taction.model.model.narrow`) the lower triangle only, into (nv, depth).
    """
    world_inertias(tree, ws)
    composite_inertias(tree, ws)
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        if kind == LinkKind.SPHERICAL or kind == LinkKind.FLOATING:
            many_freedoms(tree, i, ws, M_out)
        else:
            axis = column_z(load9(ws, i, AXES))
            t, f = unit_wrench(
                ws[i, MASS], load3(ws, i, FIRST), load6(ws, i, INERTIA), axis, kind == LinkKind.PRISMATIC
            )
            project_to_root(tree, i, tree.iv[i], t, f, ws, M_out)
    for a in range(M_out.shape[0]):
        M_out[a, tree.column[a]] += tree.armature[a]


@kernel
def crba_batch(tree, q, ws, M_out):
    """Mass matrix of every row of q (n, nq) into M_out (m, nv, nv), row k to M_out[k mod m]."""
    for k in range(q.shape[0]):
        place_links(tree, q[k], ws)
        composite_rigid_body(tree, ws, M_out[k % M_out.shape[0]])


@of_model
def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Joint-space mass matrix M(q).

    Args:
        model: the mechanism.
        q: configuration, shape (nq,) or (n, nq).

    Returns:
        M, shape (nv, nv) or (n, nv, nv).
    """
    (q,), lead = model.check_batch(q)
    M = np.empty((len(q), model.nv, model.nv))
    if M.size:
        crba_batch(model.tree, q, make_workspace(model), M)
    return M.reshape(*lead, model.nv, model.nv)
