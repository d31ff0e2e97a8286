"""Articulated-body algorithm: forward dynamics of a tree in O(n).

What it solves: v̇ from M(q) v̇ = τ − C(q, v) v − g(q), without forming M.

Notation (world axes, about the origin of link i; λ is the parent)
    [A B; Bᵀ D]   articulated inertia: moment t = A α + B a, force f = Bᵀ α + D a
    t, f          articulated bias: the wrench the sub-tree needs at zero acceleration
    (c_w, c_a)    accelerations due to velocities alone, so that α_i = α_λ + c_w + joint term, and
                  a_i = a_λ + α_λ × r_i + c_a + joint term
    z             joint axis;  U = inertia times (z, 0) or (0, z);  1/d the joint-space inertia inverted
    u             τ minus the bias along the joint

Method
1. Parents first: ω_i, (c_w, c_a), the link's own inertia and bias  t = ω × I ω,  f = ω × (ω × h).
2. Children first: with the joint free, the link shows its parent the inertia IA − U Uᵀ / d and the bias
   p + (IA − U Uᵀ/d) c + U u / d, shifted by r:
       D' = D,   B' = B + r̃ D,   A' = A + r̃ Bᵀ − B' r̃.
   A spherical link has the 3×3 joint inertia K = A + R·diag(armature)·Rᵀ in place of d; a floating link
   passes on nothing but its own joint force, and its six equations are solved directly, with the rotors of
   a joint to the world.
3. Parents first: v̇ = (u − Uᵀ a') / d with a' the acceleration with the joint locked; then a = a' + (z, 0) v̇.

Departures: textbook forms use spatial accelerations in link axes. With accelerations of points in world
axes the 6×6 congruence transform becomes a shift (about 45 multiplications), the motion subspace of a
single-axis joint is one 3-vector, and linear velocities are not needed at all.

Cost: about 290 multiplications per revolute link.

References: [Featherstone2008, Table 7.1]; [Mirtich1996, Chapter 4]; the direct 6×6 solve of the floating
base is [Ayit2015, Eq. (3.46)].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import SingularError
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.kinematics.forward import place_links
from taction.math.spatial import (
    accumulate_inertia,
    inertia_times,
    inertia_without_axis,
    inertia_without_rotation,
    load_inertia,
    shift_inertia,
    solve_inertia,
    store_rigid,
)
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
    put3,
    scale,
    segment3,
    store3,
    store6,
    sub,
    sym_add,
    sym_factor,
    sym_rotated,
    sym_solve,
    sym_vec,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model, of_model
from taction.model.workspace import (
    ACCEL,
    ALPHA,
    AXES,
    BASE_AXES,
    BIAS_A,
    BIAS_W,
    FACTOR_K,
    FORCE,
    INERTIA,
    INVERSE_D,
    MOMENT,
    OMEGA,
    REST,
    SHIFT,
    U_A,
    U_W,
    make_workspace,
)

ROUNDING = 1e-10  # share of an inertia that differences and the digits of files leave where nothing is


@inline_kernel
def velocity_products(tree, i, v, ws):
    """ω_i and the accelerations (c_w, c_a) that velocities alone cause at link i."""
    parent = tree.parent[i]
    R = load9(ws, i, AXES)
    w_parent = load3(ws, parent, OMEGA)
    c_a = cross(w_parent, cross(w_parent, load3(ws, i, SHIFT)))
    c_w = (0.0, 0.0, 0.0)
    w = w_parent
    kind = tree.kind[i]
    k = tree.iv[i]
    if kind == LinkKind.REVOLUTE:
        rate = scale(v[k], column_z(R))
        w = add(w, rate)
        c_w = cross(w_parent, rate)
    elif kind == LinkKind.PRISMATIC:
        c_a = add_scaled(c_a, 2.0 * v[k], cross(w_parent, column_z(R)))
    elif kind == LinkKind.SPHERICAL:
        rate = mat_vec(R, segment3(v, k))
        w = add(w, rate)
        c_w = cross(w_parent, rate)
    else:
        c_a = add_scaled(c_a, 2.0, cross(w_parent, mat_vec(load9(ws, i, BASE_AXES), segment3(v, k))))
        rate = mat_vec(R, segment3(v, k + 3))
        w = add(w, rate)
        c_w = cross(w_parent, rate)
    return w, c_w, c_a


@inline_kernel
def start_links(tree, v, ws):
    """Step 1: velocities, velocity products, own inertia and bias of every link."""
    store3((0.0, 0.0, 0.0), 0, OMEGA, ws)
    for i in range(1, tree.parent.shape[0]):
        w, c_w, c_a = velocity_products(tree, i, v, ws)
        R = load9(ws, i, AXES)
        m = tree.constant[i, BODY_MASS]
        h = mat_vec(R, load3(tree.constant, i, BODY_FIRST))
        I = sym_rotated(R, load6(tree.constant, i, BODY_INERTIA))
        store3(w, i, OMEGA, ws)
        store3(c_w, i, BIAS_W, ws)
        store3(c_a, i, BIAS_A, ws)
        store3(cross(w, sym_vec(I, w)), i, MOMENT, ws)
        store3(cross(w, cross(w, h)), i, FORCE, ws)
        store_rigid(m, h, I, i, INERTIA, ws)


@inline_kernel
def inverse_pivot(pivot, whole, floor):
    """1 / pivot; 0 where the pivot is no more than a share of what it is left over from: rounding."""
    return 1.0 / pivot if pivot > floor * whole or floor == 0.0 else 0.0


@inline_kernel
def articulate_axis(tree, i, tau, floor, ws):
    """Step 2 for a revolute or prismatic link: inertia and bias that its parent feels, unshifted."""
    A, B, D = load_inertia(ws, i, INERTIA)
    t = load3(ws, i, MOMENT)
    f = load3(ws, i, FORCE)
    z = column_z(load9(ws, i, AXES))
    k = tree.iv[i]
    if tree.kind[i] == LinkKind.REVOLUTE:
        U_w = sym_vec(A, z)
        U_a = mat_t_vec(B, z)
        d = inverse_pivot(dot(z, U_w) + tree.armature[k], A[0] + A[3] + A[5], floor)
        u = tau[k] - dot(z, t)
    else:
        U_w = mat_vec(B, z)
        U_a = sym_vec(D, z)
        d = inverse_pivot(dot(z, U_a) + tree.armature[k], D[0] + D[3] + D[5], floor)
        u = tau[k] - dot(z, f)
    store3(U_w, i, U_W, ws)
    store3(U_a, i, U_A, ws)
    ws[i, INVERSE_D] = d
    ws[i, REST] = u
    A, B, D = inertia_without_axis(A, B, D, U_w, U_a, d)
    c_t, c_f = inertia_times(A, B, D, load3(ws, i, BIAS_W), load3(ws, i, BIAS_A))
    t = add(t, add_scaled(c_t, u * d, U_w))
    f = add(f, add_scaled(c_f, u * d, U_a))
    return A, B, D, t, f


@inline_kernel
def articulate_spherical(tree, i, tau, ws):
    """Step 2 for a spherical link: its rotation is free, so mostly the linear block remains."""
    A, B, D = load_inertia(ws, i, INERTIA)
    t = load3(ws, i, MOMENT)
    R = load9(ws, i, AXES)
    k = tree.iv[i]
    rotor = sym_rotated(R, (tree.armature[k], 0.0, 0.0, tree.armature[k + 1], 0.0, tree.armature[k + 2]))
    F = sym_factor(sym_add(A, rotor))
    u = sub(mat_vec(R, segment3(tau, k)), t)
    store6(F, i, FACTOR_K, ws)
    store3(u, i, REST, ws)
    g = sym_solve(F, u)
    t = add(t, sym_vec(A, g))
    f = add(load3(ws, i, FORCE), mat_t_vec(B, g))
    A, B, D = inertia_without_rotation(A, B, D, F, rotor)
    c_t, c_f = inertia_times(A, B, D, load3(ws, i, BIAS_W), load3(ws, i, BIAS_A))
    return A, B, D, add(t, c_t), add(f, c_f)


@inline_kernel
def pass_to_parent(parent, r, A, B, D, t, f, ws):
    """Add a shifted inertia and bias to the parent's rows."""
    A, B = shift_inertia(A, B, D, r)
    accumulate_inertia(A, B, D, parent, INERTIA, ws)
    accumulate3(add(t, cross(r, f)), parent, MOMENT, ws)
    accumulate3(f, parent, FORCE, ws)


@inline_kernel
def articulate(tree, tau, floor, ws):
    """Step 2: articulated inertias and biases, children first.

    floor: share of an inertia about other axes below which that about a joint's own counts as none, and the
    joint as one that nothing accelerates; 0 where it is to show as a division by zero.
    """
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        parent = tree.parent[i]
        kind = tree.kind[i]
        r = load3(ws, i, SHIFT)
        if kind == LinkKind.SPHERICAL:
            A, B, D, t, f = articulate_spherical(tree, i, tau, ws)
            pass_to_parent(parent, r, A, B, D, t, f, ws)
        elif kind == LinkKind.FLOATING:
            k = tree.iv[i]
            f = mat_vec(load9(ws, i, BASE_AXES), segment3(tau, k))
            t = mat_vec(load9(ws, i, AXES), segment3(tau, k + 3))
            accumulate3(scale(-1.0, f), i, FORCE, ws)
            accumulate3(scale(-1.0, t), i, MOMENT, ws)
            accumulate3(add(t, cross(r, f)), parent, MOMENT, ws)
            accumulate3(f, parent, FORCE, ws)
        else:
            A, B, D, t, f = articulate_axis(tree, i, tau, floor, ws)
            if parent > 0:
                pass_to_parent(parent, r, A, B, D, t, f, ws)


@inline_kernel
def _free_rotors(tree, k, R, base):
    """Rotor inertias of a floating joint, of turning and of moving, from degree of freedom k; world axes."""
    r = tree.armature
    turning = sym_rotated(R, (r[k + 3], 0.0, 0.0, r[k + 4], 0.0, r[k + 5]))
    return turning, sym_rotated(base, (r[k], 0.0, 0.0, r[k + 1], 0.0, r[k + 2]))


@inline_kernel
def accelerate_link(tree, i, alpha, a, ws, vdot_out):
    """Step 3 for link i: its joint's v̇ and its motion, from the motion (alpha, a) with the joint locked."""
    kind = tree.kind[i]
    k = tree.iv[i]
    R = load9(ws, i, AXES)
    if kind == LinkKind.FLOATING:
        # six equations of its own: bias and joint force are all that acts on it
        A, B, D = load_inertia(ws, i, INERTIA)
        t = scale(-1.0, load3(ws, i, MOMENT))
        f = scale(-1.0, load3(ws, i, FORCE))
        if tree.parent[i] == 0:  # its rotors resist motion against the world
            turning, moving = _free_rotors(tree, k, R, load9(ws, i, BASE_AXES))
            A, D = sym_add(A, turning), sym_add(D, moving)
            t, f = add(t, sym_vec(turning, alpha)), add(f, sym_vec(moving, a))
        alpha_new, a_new = solve_inertia(A, B, D, t, f)
        put3(mat_t_vec(load9(ws, i, BASE_AXES), sub(a_new, a)), k, vdot_out)
        put3(mat_t_vec(R, sub(alpha_new, alpha)), k + 3, vdot_out)
        return alpha_new, a_new
    if kind == LinkKind.SPHERICAL:
        inertial = add(sym_vec(load6(ws, i, INERTIA), alpha), mat_vec(load9(ws, i, INERTIA + 6), a))
        x = sym_solve(load6(ws, i, FACTOR_K), sub(load3(ws, i, REST), inertial))
        put3(mat_t_vec(R, x), k, vdot_out)
        return add(alpha, x), a
    x = ws[i, INVERSE_D] * (ws[i, REST] - dot(load3(ws, i, U_W), alpha) - dot(load3(ws, i, U_A), a))
    vdot_out[k] = x
    if kind == LinkKind.REVOLUTE:
        return add_scaled(alpha, x, column_z(R)), a
    return alpha, add_scaled(a, x, column_z(R))


@inline_kernel
def accelerate(tree, gravity, ws, vdot_out):
    """Step 3: accelerations, parents first, into vdot_out (nv,), under gravity (3)."""
    store3((0.0, 0.0, 0.0), 0, ALPHA, ws)
    store3(scale(-1.0, gravity), 0, ACCEL, ws)
    for i in range(1, tree.parent.shape[0]):
        parent = tree.parent[i]
        alpha_parent = load3(ws, parent, ALPHA)
        alpha = add(alpha_parent, load3(ws, i, BIAS_W))
        a = add(add(load3(ws, parent, ACCEL), load3(ws, i, BIAS_A)), cross(alpha_parent, load3(ws, i, SHIFT)))
        alpha, a = accelerate_link(tree, i, alpha, a, ws, vdot_out)
        store3(alpha, i, ALPHA, ws)
        store3(a, i, ACCEL, ws)


@inline_kernel
def articulated_body(tree, v, tau, ws, vdot_out):
    """Forward dynamics into vdot_out (nv,) from v, tau (nv,); needs `place_links`."""
    start_links(tree, v, ws)
    articulate(tree, tau, 0.0, ws)
    accelerate(tree, (tree.gravity[0], tree.gravity[1], tree.gravity[2]), ws, vdot_out)


@inline_kernel
def velocity_acceleration(tree, v, zero, ws, vdot_out):
    """What velocities v (nv,) alone do: v̇ without weight into vdot_out (nv,); zero (nv,): no joint forces.

    Two joints about one axis without anything between them keep their velocities.
    """
    start_links(tree, v, ws)
    articulate(tree, zero, ROUNDING, ws)
    accelerate(tree, (0.0, 0.0, 0.0), ws, vdot_out)


@kernel
def aba_batch(tree, q, v, tau, ws, vdot_out):
    """Forward dynamics of every row of q (n, nq), v, tau (n, nv) into vdot_out (n, nv)."""
    for k in range(q.shape[0]):
        place_links(tree, q[k], ws)
        articulated_body(tree, v[k], tau[k], ws, vdot_out[k])


@of_model
def aba(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """Accelerations that joint forces produce.

    Args:
        model: the mechanism.
        q: configuration, shape (nq,) or (n, nq).
        v: velocity, shape (nv,) or (n, nv).
        tau: joint forces [N or N m], shape (nv,) or (n, nv).

    Returns:
        v̇, shape (nv,) or (n, nv).

    Raises:
        SingularError: the mass matrix is singular, e.g. where two axes of a chain without mass coincide.
    """
    (q, v, tau), lead = model.check_batch(q, v=v, tau=tau)
    vdot = np.empty_like(v)
    aba_batch(model.tree, q, v, tau, make_workspace(model), vdot)
    if not np.isfinite(vdot).all():
        from taction.dynamics.singular import tell_singular

        why = tell_singular(model, q[int(np.argmin(np.isfinite(vdot).all(axis=1)))])
        raise SingularError(f"{model.name}: the mass matrix is singular at this configuration: {why}")
    return vdot.reshape(*lead, model.nv)
