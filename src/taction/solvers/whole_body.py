"""Whole-body control as a quadratic program: accelerations, contact forces and torques together.

What it solves: at one state, joint torques τ with which a robot comes as near as it can to accelerations
that are wanted of its centre of mass, of frames on its bodies and of its joints, pushed by contacts that can
only push, and rub no more than friction allows.

Notation: a = v̇ accelerations (nv); f forces of c contact points [N], the robot being pushed by Σ Jᵢᵀ fᵢ;
M, h, J, J̇ v as in `taction.dynamics.operational_space`; P the driven joints, U the others (a floating base);
w weights; ȧ* what is wanted of a task with Jacobian J_t.

    min ½ Σ_t w_t ‖J_t a + J̇_t v − a_t*‖² + ½ w_q ‖a_P − a_P*‖² + ½ w_f ‖f‖²                          (1)
    U (M a + h − Jᵀ f) = 0                              nobody pushes the base,                        (2)
    −τ_max ≤ P (M a + h − Jᵀ f) ≤ τ_max                 motors have limits,                            (3)
    ± f·t₁ ≤ μ/√2 f·n,  ± f·t₂ ≤ μ/√2 f·n               forces lie in a pyramid inside the cone.       (4)

τ = P (M a + h − Jᵀ f). Feet that stand are tasks with large weights: priorities are weights. (1)–(4) always
has a solution: no force, no torque and free fall obey all rows.

Method: (a, f) are the unknowns of `taction.solvers.quadratic_program`; forces in units of a tenth of the
weight, so that both parts have like sizes. Points in the air keep their unknowns, which nothing moves away
from zero.

References: [Escande2014], [Herzog2016] for whole-body control by quadratic programs; [Khatib1987] for tasks.
"""

from __future__ import annotations

import math

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints
from taction.solvers.quadratic_program import kkt_residual, solve_program


class Points(Layout):
    """Contact points; frames of the operational space, the first ones."""

    axes: Array = floats("c, 9", "normal and two tangents of the ground, rows")
    friction: Array = floats("c", "μ of each")
    is_on: IntArray = ints("c", "1 where a point may push")


class Tasks(Layout):
    """What is wanted, and how much it counts."""

    wanted: Array = floats("f, 6", "accelerations of frames [rad/s², m/s²]")
    weight: Array = floats("f, 6", "of each row")
    centre_wanted: Array = floats("3", "acceleration of the centre of mass [m/s²]")
    centre_weight: Array = floats("3", "of each row")
    joint_wanted: Array = floats("nv", "accelerations of joints")
    joint_weight: Array = floats("nv", "of each")
    force_weight: Array = floats("1", "of every force, in tenths of the weight")
    limit: Array = floats("nv", "largest force of each motor [N or N m]; 0 where nothing is driven")
    passive: Array = floats("nv", "forces of dampers and springs on the joints [N or N m]")


@inline_kernel
def add_task(n, row, weight, wanted, program_io):
    """Add ½ weight (row · a − wanted)² to the program, row (nv,)."""
    H, g = program_io.H, program_io.g
    for i in range(n):
        c = weight * row[i]
        if c == 0.0:
            continue
        g[i] -= c * wanted
        for j in range(i + 1):
            H[i, j] += c * row[j]


@kernel
def pose_tasks(terms, tasks, program_io):
    """H and g of (1)."""
    nv, n = terms.bias.shape[0], program_io.g.shape[0]
    for i in range(n):
        program_io.g[i] = 0.0
        for j in range(i + 1):
            program_io.H[i, j] = 0.0
        program_io.H[i, i] = tasks.force_weight[0]
    for i in range(nv):
        program_io.H[i, i] = tasks.joint_weight[i]
        program_io.g[i] = -tasks.joint_weight[i] * tasks.joint_wanted[i]
    for c in range(3):
        wanted = tasks.centre_wanted[c] - terms.centre_drift[c]
        add_task(nv, terms.centre_J[c], tasks.centre_weight[c], wanted, program_io)
    for f in range(tasks.weight.shape[0]):
        for c in range(6):
            weight = tasks.weight[f, c]
            if weight > 0.0:
                add_task(nv, terms.J[f, c], weight, tasks.wanted[f, c] - terms.drift[f, c], program_io)
    for i in range(n):
        for j in range(i):
            program_io.H[j, i] = program_io.H[i, j]


@inline_kernel
def force_row(terms, points, d, sign, unit, row_out):
    """Row of sign · (M a − Jᵀ f) of degree of freedom d into row_out (n,)."""
    nv = terms.bias.shape[0]
    for j in range(nv):
        row_out[j] = sign * terms.M[d, j]
    for p in range(points.friction.shape[0]):
        for c in range(3):
            push = terms.J[p, 3 + c, d] if points.is_on[p] == 1 else 0.0
            row_out[nv + 3 * p + c] = -sign * unit * push


@kernel
def pose_rows(terms, points, tasks, unit, program_io):
    """A and b of (2) to (4); returns how many rows are equations."""
    nv, n, e = terms.bias.shape[0], program_io.g.shape[0], 0
    A, b = program_io.A, program_io.b
    for d in range(nv):
        if tasks.limit[d] == 0.0:
            force_row(terms, points, d, 1.0, unit, A[e])
            b[e] = tasks.passive[d] - terms.bias[d]
            e += 1
    r = e
    for d in range(nv):
        if tasks.limit[d] == 0.0:
            continue
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            if tasks.limit[d] < math.inf:
                force_row(terms, points, d, sign, unit, A[r])
                b[r] = sign * (tasks.passive[d] - terms.bias[d]) - tasks.limit[d]
                r += 1
    for p in range(points.friction.shape[0]):
        if points.is_on[p] == 0:
            continue
        for side in range(4):
            sign, tangent = 1.0 if side % 2 == 0 else -1.0, 3 + 3 * (side // 2)
            for j in range(n):
                A[r, j] = 0.0
            for c in range(3):
                normal = math.sqrt(0.5) * points.friction[p] * points.axes[p, c]
                A[r, nv + 3 * p + c] = normal + sign * points.axes[p, tangent + c]
            b[r] = 0.0
            r += 1
    while r < b.shape[0]:  # rows of points in the air and of motors without limits
        for j in range(n):
            A[r, j] = 0.0
        b[r] = 0.0
        r += 1
    return e


@kernel
def solve_whole_body(terms, points, tasks, unit, ws, program_io, tau_out, force_out):
    """Torques (nv,) and forces (c, 3) [N] of (1)–(4); accelerations stay in ws.x.

    Returns a status, and the residual of the conditions of a minimum.
    """
    nv = terms.bias.shape[0]
    pose_tasks(terms, tasks, program_io)
    e = pose_rows(terms, points, tasks, unit, program_io)
    status, k = solve_program(program_io, e, ws)
    for p in range(force_out.shape[0]):
        for c in range(3):
            force_out[p, c] = unit * ws.x[nv + 3 * p + c] if points.is_on[p] == 1 else 0.0
    for d in range(nv):
        s = terms.bias[d] - tasks.passive[d]
        for j in range(nv):
            s += terms.M[d, j] * ws.x[j]
        for p in range(force_out.shape[0]):
            for c in range(3):
                s -= terms.J[p, 3 + c, d] * force_out[p, c]
        tau_out[d] = s if tasks.limit[d] > 0.0 else 0.0
    return status, kkt_residual(program_io, e, k, ws)
