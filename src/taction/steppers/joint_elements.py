"""The force elements of joints in one step: couplings, loops, stops, dry friction.

Mimic couplings first, then loops, then the joints' own rows three to a block: stops, then dry friction, by
degree of freedom.

| element | rows | set | offset |
|---|---|---|---|
| loop | 3 of position; 0, 2 or 3 of orientation | all reals | 0 |
| mimic coupling | v_f − k v_l | all reals | 0 |
| stop of a joint | ± v | half-line | by the scheme, e = 0 |
| dry friction of a joint | v | ± h τ_dry | 0 |
| both, where the stop is closed | ± v | half-line from −h τ_dry | 0 |

Closed stops. The laws of a stop that is reached and of the friction of the same joint state what they state
at the same velocity, so their sum is one law of the same kind, and one row. Two rows would share one force in
many ways. What is beyond friction is kept as the stop's.

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    GAP,
    LENGTH,
    OFFSET,
    ROW_DOF,
    ROW_SIGN,
    SIZE,
    SLOT,
    TURNING,
    pair_rows,
    row_velocity,
)
from taction.contact.chains import is_linear_freedom
from taction.contact.joint_rows import is_void, joint_rows, plane_frame
from taction.math.vector import add, cross, load3, load9, mat_mul, mat_t_vec, mat_vec, scale, sub
from taction.model.workspace import ALPHA, AXES, ORIGIN
from taction.steppers.contact_path import velocity_acceleration
from taction.steppers.elements import open_box, set_free_row
from taction.steppers.scene import BEFORE, FREE, LOOP_FASTEST, LOOP_OMEGA, LOOP_SPEED, LOOP_TURNS
from taction.steppers.schemes.dispatch import contact_offset
from taction.steppers.schemes.half_flight import DAMPED

# A stop takes part while it is nearer than this [rad or m] and the margin, or the joint moves in two steps
STOP_REACH = 1e-3
STRUCK = 0.2  # share of the speeds of what a loop connects, by which it is open, that no smooth step leaves
NO_LEVER = 1e-3  # a lever this short, of the size of what a loop connects, is none


@inline_kernel
def set_row(joint_impulse, k, c, low, high, offset, gap, is_turning, slot, blocks_io):
    """Interval, offset, violation, whether that is an angle, and memory of row c of the box k."""
    set_free_row(k, c, low, high, offset, joint_impulse[slot], blocks_io)
    blocks_io.number[k, GAP + c] = gap
    blocks_io.index[k, SLOT + c] = slot
    blocks_io.index[k, TURNING + c] = 1 if is_turning else 0


@inline_kernel
def has_lever(tree, chains, k, c, size, blocks):
    """Whether anything moves along row c of block k, an equation of a loop of that size [m]."""
    for n in range(blocks.index[k, LENGTH]):
        arm = 1.0 if is_linear_freedom(tree, chains, blocks.dof[k, n]) else size
        if abs(blocks.J[k, n, c]) > NO_LEVER * arm:
            return True
    return False


@inline_kernel
def reflect_rows(tree, chains, k, count, size, start, fastest, before, free, blocks_io):
    """Let the first rows of the equations of block k turn their velocity round, but for its `DAMPED` share.

    start (3): velocities of the rows where the step starts; fastest: of what the loop connects; before and
    free (nv,): velocities without forces and with them; size: of the loop [m]. Two kinds of rows are left
    alone. Those without a lever are what a file rounds, the same in several rows, which such changes would
    contradict. And where the velocity at the start is more than what flight and forces change, and a good
    share of the fastest, it is no error of a step: the loop was struck, or starts so, and is stopped at once.
    """
    u, forced = row_velocity(blocks_io, k, before), row_velocity(blocks_io, k, free)
    for c in range(count):
        usual = max(abs(u[c] - start[c]) + abs(forced[c] - u[c]), STRUCK * fastest)
        is_struck = abs(start[c]) > usual
        if is_struck or not has_lever(tree, chains, k, c, size, blocks_io):
            continue
        change = u[c] - DAMPED * start[c]
        blocks_io.number[k, OFFSET + c] += change
        blocks_io.number[k, AHEAD + c] += u[c] - start[c]


@kernel
def gather_loop(tree, chains, loops, options, joint_impulse, i, first_slot, ws, blocks_io):
    """Add the blocks of loop i: rows of position, and of orientation if it has them; void ones are still."""
    links = ws.links
    a, b = loops.link[i, 0], loops.link[i, 1]
    A, B = load9(links, a, AXES), load9(links, b, AXES)
    xa = add(load3(links, a, ORIGIN), mat_vec(A, load3(loops.point, 2 * i, 0)))
    xb = add(load3(links, b, ORIGIN), mat_vec(B, load3(loops.point, 2 * i + 1, 0)))
    A, B = mat_mul(A, load9(loops.axes, 2 * i, 0)), mat_mul(B, load9(loops.axes, 2 * i + 1, 0))
    apart = sub(xa, xb)
    k = blocks_io.count[0]
    middle = scale(0.5, add(xa, xb))
    pair_rows(tree, chains, a, b, False, middle, middle, A, k, links, blocks_io)
    open_box(k, blocks_io)
    blocks_io.number[k, SIZE] = loops.size[i]
    half, a_rel, alpha = 0.5 * options.h, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if options.is_split and not options.is_measured:  # velocities are those half a step on
        a_rel = sub(velocity_acceleration(a, xa, links), velocity_acceleration(b, xb, links))
        alpha = sub(load3(links, a, ALPHA), load3(links, b, ALPHA))
    reach = max(abs(middle[0]), abs(middle[1]), abs(middle[2]))
    frame, F = A, plane_frame(k, A, reach, blocks_io)
    pair_rows(tree, chains, a, b, False, middle, middle, F, k, links, blocks_io)
    for c in range(3):
        bound = 0.0 if is_void(k, c, reach, blocks_io) else math.inf
        gap = F[c] * apart[0] + F[3 + c] * apart[1] + F[6 + c] * apart[2]
        offset = half * (F[c] * a_rel[0] + F[3 + c] * a_rel[1] + F[6 + c] * a_rel[2])
        set_row(joint_impulse, k, c, -bound, bound, offset, gap, False, first_slot + c, blocks_io)
    if options.is_measured:
        u = mat_vec(frame, load3(ws.loop_start, i, LOOP_SPEED))
        reflect_rows(
            tree, chains, k, 3, loops.size[i], mat_t_vec(F, u), ws.loop_start[i, LOOP_FASTEST],
            ws.dof[BEFORE], ws.dof[FREE], blocks_io,
        )  # fmt: skip
    turning = loops.turning[i]
    if turning == 0:
        return
    # rotation of a against b, to first order
    e = (0.0, 0.0, 0.0)
    for c in range(3):
        e = add(e, cross((B[c], B[3 + c], B[6 + c]), (A[c], A[3 + c], A[6 + c])))
    k += 1
    pair_rows(tree, chains, a, b, True, middle, middle, A, k, links, blocks_io)
    if turning == 3:
        A = plane_frame(k, A, 0.0, blocks_io)
        pair_rows(tree, chains, a, b, True, middle, middle, A, k, links, blocks_io)
    open_box(k, blocks_io)
    blocks_io.number[k, SIZE] = loops.size[i]
    for c in range(turning):
        bound = 0.0 if is_void(k, c, 0.0, blocks_io) else math.inf
        gap = 0.5 * (A[c] * e[0] + A[3 + c] * e[1] + A[6 + c] * e[2])
        offset = half * (A[c] * alpha[0] + A[3 + c] * alpha[1] + A[6 + c] * alpha[2])
        set_row(joint_impulse, k, c, -bound, bound, offset, gap, True, first_slot + 3 + c, blocks_io)
    if options.is_measured:
        w = mat_vec(frame, load3(ws.loop_start, i, LOOP_OMEGA))
        reflect_rows(
            tree, chains, k, turning, 1.0, mat_t_vec(A, w), ws.loop_start[i, LOOP_TURNS],
            ws.dof[BEFORE], ws.dof[FREE], blocks_io,
        )  # fmt: skip


@inline_kernel
def dry_part(low, high, r):
    """The part of the impulse r of a joint's row with this interval that is dry friction."""
    if low > -math.inf and high < math.inf:
        return r
    return min(r, -low) if low < 0.0 and low > -math.inf else 0.0


@inline_kernel
def joint_row(limit, dry, options, kind, at, v, free):
    """Row of a joint velocity: whether it takes part, sign, interval (2), offset and violation.

    kind 0 the lower stop, 1 the upper stop, both at ``limit``, 2 dry friction; ``at`` the coordinate; v and
    free its velocities before and without impulses.
    """
    if kind == 2:
        bound = options.h * dry
        return bound > 0.0, 1.0, -bound, bound, 0.0, 0.0
    sign = 1.0 - 2.0 * kind
    if not abs(limit) < math.inf:
        return False, sign, 0.0, 0.0, 0.0, 0.0
    gap = sign * (at - limit)
    takes_part, offset = contact_offset(options.rule, gap, options.h, 0.0, sign * v, sign * free, 0.0, False)
    is_near = gap <= STOP_REACH + 2.0 * options.h * max(abs(v), abs(free)) + options.margin
    return takes_part and is_near, sign, 0.0, math.inf, offset, gap


@inline_kernel
def closed_stop(joints, options, d, at, v, free):
    """Which stop of freedom d is reached, so that it takes the dry friction: 0, 1, or −1 for none."""
    if not joints.dry[d] > 0.0:
        return -1
    for kind in range(2):
        limit = joints.lower[d] if kind == 0 else joints.upper[d]
        takes_part, _, _, _, offset, _ = joint_row(limit, 0.0, options, kind, at, v, free)
        if takes_part and offset == 0.0:
            return kind
    return -1


@kernel
def gather_joint_rows(tree, chains, joints, iq, options, free, q, v, L, joint_impulse, blocks_io):
    """Add stops and dry friction of all joints, three rows to a block, but of those that a drive holds."""
    place, k, n = 3, -1, v.shape[0]
    for kind in range(3):
        for d in range(n):
            limit, at = joints.lower[d] if kind == 0 else joints.upper[d], q[iq[d]] if iq[d] >= 0 else 0.0
            takes_part, sign, low, high, offset, gap = joint_row(
                limit, joints.dry[d], options, kind, at, v[d], free[d]
            )
            if not takes_part or L[d, tree.column[d]] == math.inf:
                continue
            closed = closed_stop(joints, options, d, at, v[d], free[d])
            if kind == 2 and closed >= 0:
                continue
            if place == 3:
                k, place = blocks_io.count[0], 0
                open_box(k, blocks_io)
            is_turning = not is_linear_freedom(tree, chains, d)
            set_row(joint_impulse, k, place, low, high, offset, gap, is_turning, kind * n + d, blocks_io)
            if kind == closed:
                blocks_io.rows.sets[k, 2 * place] = -options.h * joints.dry[d]
                blocks_io.r[3 * k + place] += sign * joint_impulse[2 * n + d]
            blocks_io.index[k, ROW_DOF + place] = d
            blocks_io.number[k, ROW_SIGN + place] = sign
            place += 1
            dofs = (
                blocks_io.index[k, ROW_DOF], blocks_io.index[k, ROW_DOF + 1], blocks_io.index[k, ROW_DOF + 2]
            )  # fmt: skip
            signs = (
                blocks_io.number[k, ROW_SIGN], blocks_io.number[k, ROW_SIGN + 1],
                blocks_io.number[k, ROW_SIGN + 2],
            )  # fmt: skip
            joint_rows(tree, chains, dofs, signs, (0, 1, 2), k, blocks_io)


@kernel
def gather_joints(tree, chains, joints, iq, options, joint_impulse, ws, blocks_io):
    """Add couplings, loops, stops and dry friction; ws: scratch of the dynamics, with velocities free."""
    q, v = ws.q, ws.dof[BEFORE]
    slot = 3 * v.shape[0]
    for i in range(joints.follower.shape[0]):
        f, l, ratio = joints.follower[i], joints.leader[i], joints.ratio[i]
        k = blocks_io.count[0]
        joint_rows(tree, chains, (f, l, -1), (1.0, -ratio, 0.0), (0, 0, 0), k, blocks_io)
        open_box(k, blocks_io)
        gap = q[iq[f]] - ratio * q[iq[l]] - joints.shift[i]
        is_turning = not is_linear_freedom(tree, chains, f)
        set_row(joint_impulse, k, 0, -math.inf, math.inf, 0.0, gap, is_turning, slot + i, blocks_io)
    slot += joints.follower.shape[0]
    for i in range(joints.loops.turning.shape[0]):
        gather_loop(tree, chains, joints.loops, options, joint_impulse, i, slot + 6 * i, ws, blocks_io)
    gather_joint_rows(tree, chains, joints, iq, options, ws.dof[FREE], q, v, ws.L, joint_impulse, blocks_io)
