"""Joints between bodies in absolute coordinates: their frames, gaps and angles, and motion along them.

What it solves: bodies that moved straight for a time would open their joints, to second order in that time.
`move_bodies` moves them along their joints instead, so that these never open:
1. `tie_rates`: joint rates from the velocities of the bodies, where these obey the joints;
2. joint coordinates from the placements, plus rates times h;
3. from parent to child: the child's frame B at these coordinates from the parent's frame A.
This is the step of positions in joint coordinates, so that both coordinates agree.

Notation, frames and rows: `taction.model.absolute`. Rows of position are along A, of orientation along the
columns of `turning_part`; a row is locked, with a gap, or free, with a joint velocity and a coordinate.

Turns. Placements give an angle within a turn; how often a joint has turned is kept beside them, as its angle
at the end of the last step: `resolve_turns` finds the angle within half a turn of that. A joint must not turn
by half a turn or more in one step.

Departures from [Transeth2006, Section VI-C], who move the bodies straight and then project, link 1 kept:
nothing has to be projected, and no link is special. `taction.reference.transeth_snake` does it as written.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import TurnKind
from taction.kinematics.forward import link_velocities
from taction.math.rotation import quat_exp, quat_load, quat_mul, quat_to_mat, rotate_z
from taction.math.vector import (
    add,
    add_scaled,
    column_z,
    cross,
    dot,
    load3,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    scale,
    segment3,
    store3,
    store9,
    sub,
)
from taction.model.workspace import AXES, FORCE, INERTIA, MOMENT, OMEGA, ORIGIN, SPEED

# Columns of the workspace that are free between the mass matrix and the next: joint rates, and free turns
PLACE_RATE, TURN_RATE, TURN = INERTIA + 6, INERTIA + 9, INERTIA + 12

FULL_TURN = 2.0 * math.pi


@inline_kernel
def tie_frames(ties, t, ws):
    """Frames A and B (9 each) and origins (3 each) of tie t; needs `place_links` in ws."""
    a, b = ties.link[t, 0], ties.link[t, 1]
    R, S = load9(ws, a, AXES), load9(ws, b, AXES)
    xa = add(load3(ws, a, ORIGIN), mat_vec(R, load3(ties.point, 2 * t, 0)))
    xb = add(load3(ws, b, ORIGIN), mat_vec(S, load3(ties.point, 2 * t + 1, 0)))
    return mat_mul(R, load9(ties.axes, 2 * t, 0)), xa, mat_mul(S, load9(ties.axes, 2 * t + 1, 0)), xb


@inline_kernel
def tie_dofs(ties, t, first):
    """Joint velocities of three rows of tie t, −1 where locked; first: 0 of position, 3 of orientation."""
    return ties.dof[t, first], ties.dof[t, first + 1], ties.dof[t, first + 2]


@inline_kernel
def is_loose(ties, t):
    """Whether tie t locks nothing."""
    for c in range(6):
        if ties.dof[t, c] < 0:
            return False
    return True


@inline_kernel
def plane_angle(A, B):
    """Angle about z from frame A to frame B."""
    x = dot((A[0], A[3], A[6]), (B[0], B[3], B[6]))
    y = dot((A[1], A[4], A[7]), (B[0], B[3], B[6]))
    return math.atan2(y, x)


@kernel
def cardan_part(A, B, C):
    """Frame, and gap and angles of the rows of orientation of a cardan joint."""
    za, zb = column_z(A), column_z(B)
    along, n = dot(za, zb), cross(za, zb)
    s = math.sqrt(dot(n, n))
    n = scale(1.0 / s, n)
    g1 = scale(1.0 / (s * s), sub(za, scale(along, zb)))
    g2 = scale(1.0 / (s * s), sub(zb, scale(along, za)))
    frame = (n[0], g1[0], g2[0], n[1], g1[1], g2[1], n[2], g1[2], g2[2])
    b = mat_t_vec(A, zb)
    first = math.atan2(b[1], b[0]) - math.atan2(C[5], C[2])
    cos, sin = math.cos(first), math.sin(first)
    first = math.atan2(sin, cos)
    # the x-axis of B in A, turned back by the first angle and C, lies in a plane
    x = mat_t_vec(A, (B[0], B[3], B[6]))
    x = mat_t_vec(C, (cos * x[0] + sin * x[1], cos * x[1] - sin * x[0], x[2]))
    second = math.atan2(x[1], x[0])
    return frame, ((C[8] - along) / s, first, second)


@kernel
def turning_part(kind, A, B, C):
    """Frame (9) and gaps or coordinates (3) of the rows of orientation of a joint that turns by its kind."""
    if kind == TurnKind.CARDAN:
        return cardan_part(A, B, C)
    if kind == TurnKind.FREE:
        return B, (0.0, 0.0, 0.0)
    if kind == TurnKind.LOCKED:
        e = (0.0, 0.0, 0.0)
        for c in range(3):
            e = add(e, cross((A[c], A[3 + c], A[6 + c]), (B[c], B[3 + c], B[6 + c])))
        return A, mat_t_vec(A, scale(0.5, e))
    e = mat_t_vec(A, cross(column_z(A), column_z(B)))
    return A, (e[0], e[1], plane_angle(A, B))


@inline_kernel
def resolve(angle, near):
    """The angle, whole turns added so that it lies within half a turn of ``near``."""
    return angle + FULL_TURN * math.floor((near - angle) / FULL_TURN + 0.5)


@inline_kernel
def resolve_turns(at, angle, t):
    """Angles (3) of tie t with the turns of row t of angle (m, 3), known from nearby."""
    return resolve(at[0], angle[t, 0]), resolve(at[1], angle[t, 1]), resolve(at[2], angle[t, 2])


@kernel
def follow_turns(ties, ws, angle_io):
    """Angles of all ties where the links are, their turns followed from angle_io (m, 3)."""
    for t in range(ties.turn.shape[0]):
        A, _, B, _ = tie_frames(ties, t, ws)
        _, at = turning_part(ties.turn[t], A, B, load9(ties.middle, t, 0))
        store3(resolve_turns(at, angle_io, t), t, 0, angle_io)


@kernel
def worst_tie_gap(ties, ws):
    """The largest gap of a locked row [m or rad]; needs `place_links` in ws."""
    worst = 0.0
    for t in range(ties.turn.shape[0]):
        if is_loose(ties, t):
            continue
        A, xa, B, xb = tie_frames(ties, t, ws)
        at, angles = tie_coordinates(ties, t, A, xa, B, xb)
        for c in range(3):
            if ties.dof[t, c] < 0:
                worst = max(worst, abs(at[c]))
            if ties.dof[t, 3 + c] < 0:
                worst = max(worst, abs(angles[c]))
    return worst


@inline_kernel
def transposed(A):
    """Of a 3×3 matrix by rows."""
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@inline_kernel
def turn_link(R, i, k, ws, q_io):
    """Give link i, whose quaternion is at q_io[k], the axes R (9)."""
    change = mat_mul(R, transposed(load9(ws, i, AXES)))
    # half the rotation vector of a small turn, from its sine
    s = scale(0.5, (change[7] - change[5], change[2] - change[6], change[3] - change[1]))
    cosine = 0.5 * (change[0] + change[4] + change[8] - 1.0)
    w = math.sqrt(max(0.5 * (1.0 + cosine), 0.25))
    p = quat_mul((w, 0.5 * s[0] / w, 0.5 * s[1] / w, 0.5 * s[2] / w), quat_load(q_io, k))
    length = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3])
    for c in range(4):
        q_io[k + c] = p[c] / length
    store9(R, i, AXES, ws)


@inline_kernel
def tie_coordinates(ties, t, A, xa, B, xb):
    """Place (3) along A and angles (3) along the rows of `turning_part` of tie t, as they are."""
    _, at = turning_part(ties.turn[t], A, B, load9(ties.middle, t, 0))
    return mat_t_vec(A, sub(xb, xa)), at


@kernel
def tie_rates(tree, ties, v, ws):
    """Step 1: joint rates into columns PLACE_RATE and TURN_RATE; needs `place_links` in ws.

    v (nv,): velocities of the bodies. Angles of joints that turn freely are angular velocities in B's axes.
    """
    link_velocities(tree, v, ws)
    for t in range(ties.turn.shape[0]):
        kind, a, b = ties.turn[t], ties.link[t, 0], ties.link[t, 1]
        A, _, B, xb = tie_frames(ties, t, ws)
        wa, wb = load3(ws, a, OMEGA), load3(ws, b, OMEGA)
        ua = add(load3(ws, a, SPEED), cross(wa, sub(xb, load3(ws, a, ORIGIN))))
        ub = add(load3(ws, b, SPEED), cross(wb, sub(xb, load3(ws, b, ORIGIN))))
        spin = sub(wb, wa)
        store3(mat_t_vec(A, sub(ub, ua)), b, PLACE_RATE, ws)
        if kind == TurnKind.FREE:
            store3(mat_t_vec(B, spin), b, TURN_RATE, ws)
        elif kind == TurnKind.CARDAN:
            frame, _ = cardan_part(A, B, load9(ties.middle, t, 0))
            store3(mat_t_vec(frame, spin), b, TURN_RATE, ws)
        else:
            store3(mat_t_vec(A, spin), b, TURN_RATE, ws)


@kernel
def lag_loose(tree, ties, lag, ws):
    """Make bodies on ties that lock nothing turn less than by their spin, by lag (nv,): after `tie_rates`."""
    for t in range(ties.turn.shape[0]):
        if is_loose(ties, t):
            b = ties.link[t, 1]
            turn = mat_t_vec(load9(ties.axes, 2 * t + 1, 0), segment3(lag, tree.iv[b] + 3))
            store3(sub(load3(ws, b, TURN_RATE), turn), b, TURN_RATE, ws)


@kernel
def tie_velocity(ties, t, time, wa, wb, ws):
    """Velocities (3 each) of the rows of position and of orientation of tie t after a time [s], or before.

    Its bodies, placed in ws with SPEED, fly straight and turn evenly until then, with spins wa and wb (3).
    """
    a, b = ties.link[t, 0], ties.link[t, 1]
    A, _, B, xb = tie_frames(ties, t, ws)
    va, vb = load3(ws, a, SPEED), load3(ws, b, SPEED)
    P, Q = quat_to_mat(quat_exp(scale(time, wa))), quat_to_mat(quat_exp(scale(time, wb)))
    arm = mat_vec(Q, sub(xb, load3(ws, b, ORIGIN)))
    x = add(add_scaled(load3(ws, b, ORIGIN), time, vb), arm)
    ua = add(va, cross(wa, sub(x, add_scaled(load3(ws, a, ORIGIN), time, va))))
    A, B = mat_mul(P, A), mat_mul(Q, B)
    frame, _ = turning_part(ties.turn[t], A, B, load9(ties.middle, t, 0))
    return mat_t_vec(A, sub(add(vb, cross(wb, arm)), ua)), mat_t_vec(frame, sub(wb, wa))


@inline_kernel
def child_axes(kind, A, C, turn, at):
    """Frame B (9) at angles ``at`` (3), from A; turn: Aᵀ B of a free turn."""
    if kind == TurnKind.FREE:
        return mat_mul(A, turn)
    if kind == TurnKind.LOCKED:
        return A
    if kind == TurnKind.CARDAN:
        middle = mat_mul(rotate_z(A, math.cos(at[1]), math.sin(at[1])), C)
        return rotate_z(middle, math.cos(at[2]), math.sin(at[2]))
    return rotate_z(A, math.cos(at[2]), math.sin(at[2]))


@inline_kernel
def child_origin(dofs, A, xa, d):
    """Origin of frame B (3) at place d (3) along A; locked rows stay closed."""
    x, y, z = d[0] if dofs[0] >= 0 else 0.0, d[1] if dofs[1] >= 0 else 0.0, d[2] if dofs[2] >= 0 else 0.0
    return add(xa, mat_vec(A, (x, y, z)))


@kernel
def move_bodies(tree, ties, h, ws, q_io):
    """Steps 2 and 3: move the bodies at q_io (nq,) for a time h along the rates that `tie_rates` left in ws.

    Needs `place_links` at q_io in ws, and leaves the links there where they come to.
    """
    for t in range(ties.turn.shape[0]):
        b = ties.link[t, 1]
        A, xa, B, xb = tie_frames(ties, t, ws)
        d, at = tie_coordinates(ties, t, A, xa, B, xb)
        store3(add_scaled(d, h, load3(ws, b, PLACE_RATE)), b, FORCE, ws)
        rate = load3(ws, b, TURN_RATE)
        if ties.turn[t] == TurnKind.FREE:
            turn = mat_mul(mat_mul(transposed(A), B), quat_to_mat(quat_exp(scale(h, rate))))
            store9(turn, b, TURN, ws)
        else:
            store3(add_scaled(at, h, rate), b, MOMENT, ws)
    for t in range(ties.turn.shape[0]):
        b = ties.link[t, 1]
        A, xa, _, _ = tie_frames(ties, t, ws)
        x = child_origin(tie_dofs(ties, t, 0), A, xa, load3(ws, b, FORCE))
        B = child_axes(ties.turn[t], A, load9(ties.middle, t, 0), load9(ws, b, TURN), load3(ws, b, MOMENT))
        R = mat_mul(B, transposed(load9(ties.axes, 2 * t + 1, 0)))
        x = sub(x, mat_vec(R, load3(ties.point, 2 * t + 1, 0)))
        turn_link(R, b, tree.iq[b] + 3, ws, q_io)
        store3(x, b, ORIGIN, ws)
        for c in range(3):
            q_io[tree.iq[b] + c] = x[c]
