"""The joints of bodies in absolute coordinates, gathered into blocks of one step: locked rows and motors.

Two blocks of three rows per joint, one of position along the axes of frame A on the parent, at the origin x_B
of frame B on the child, and one of orientation (`taction.model.absolute` for the frames). A row is either
*locked*, an equation without bounds, or *free*: then it belongs to a joint velocity w and carries what acts
on that joint.

    position      u = Aᵀ (v_B − v_A at x_B), gap d = Aᵀ (x_B − x_A): exactly ḋ = u
    orientation   u = Fᵀ (ω_B − ω_A); the columns of F are
        hinge    x and y of A locked, gap: z_A × z_B along them; z of A free
        locked   x, y, z of A locked, gap: half of Σ A_c × B_c along them
        cardan   n = z_A × z_B / s locked, gap (c₀ − z_A·z_B)/s with s = |z_A × z_B|; then the dual
                 of (z_A, z_B) in their plane, free: a unit impulse there works on one angle only
        free     axes of B, free
A floating joint locks nothing; it has its blocks, all rows free, in steps in which something acts on it.

Motors. Springs, dampers, servos, held forces τ and rotors (armature a) act on a free row as
    Λ = h (τ + b − K (θ + h w⁺) − D w⁺) − a (w⁺ − w),
implicit in w⁺, which is the equation of a row without bounds with the compliance c = 1/(a + h D + h² K):
    w⁺ + c Λ − c (a w + h (τ + b − K θ)) = 0.
Where a, D and K vanish, Λ = h (τ + b) is known: an interval of one point.

A rotor changes its speed with its whole joint velocity, w = J(q) u: because of what impulses do to u, because
the row has turned, J̇ u, and because bodies that turn freely have turned their own spins. So its w is the
joint velocity that the last step ended with, where the row was then (`last_rates`), and the rotor's
momentum goes on from step to step. With `half-flight` it is that on arrival: flight has taken rotors along.

A joint f that follows a joint l (mimic) is one more equation, w_f − m w_l = 0 of their free rows; bodies that
move along their joints then keep θ_f = m θ_l + c by themselves.

Stops and dry friction of a joint are blocks of their own, the same as in joint coordinates.

References: [Transeth2006, Sections II-C, III-B] for the cardan joint; [CastroPermenterHan2023] for implicit
gains as compliant rows.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import IntArray
from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    COMPLIANCE,
    OFFSET,
    RATE,
    ROW_DOF,
    ROW_SIGN,
    SOURCE,
    TREE,
    pair_rows,
    row_velocity,
)
from taction.contact.joint_rows import subtract_row
from taction.dynamics.free_flight import central_inertia, spin_freely
from taction.kinematics.ties import (
    PLACE_RATE,
    TURN_RATE,
    is_loose,
    resolve_turns,
    tie_dofs,
    tie_frames,
    tie_velocity,
    turning_part,
)
from taction.math.vector import load3, load9, mat_t_vec, mat_vec, sub
from taction.model.workspace import AXES, OMEGA
from taction.steppers.elements import open_box
from taction.steppers.joint_elements import joint_row, set_row
from taction.steppers.scene import (
    ARMATURE,
    BEFORE,
    CONSTANT,
    DAMPING,
    DRY,
    FREE,
    LOWER,
    SERVO,
    STIFFNESS,
    TIE,
    UPPER,
)
from taction.steppers.servo_rows import servo_input, servo_row


@inline_kernel
def motor_row(motors, options, tau, joint_impulse, d, k, c, at, before, is_turning, slot, blocks_io):
    """Row c of block k: what acts on joint velocity d, whose coordinate is ``at`` and rate ``before``."""
    h = options.force_h
    if options.ahead > 0.0:
        at -= options.ahead * options.h * before  # forces are taken at the start of the step
    a, K = motors[d, ARMATURE], motors[d, STIFFNESS]
    stiff = a + h * motors[d, DAMPING] + h * h * K
    push = a * before + h * (tau[d] + motors[d, CONSTANT] - K * at)
    blocks_io.index[k, ROW_DOF + c] = d
    blocks_io.number[k, RATE + c] = before
    if stiff > 0.0:
        set_row(joint_impulse, k, c, -math.inf, math.inf, -push / stiff, at, is_turning, slot, blocks_io)
        blocks_io.number[k, COMPLIANCE + c] = 1.0 / stiff
    else:
        set_row(joint_impulse, k, c, push, push, 0.0, at, is_turning, slot, blocks_io)
        blocks_io.r[3 * k + c] = push


@kernel
def stop_rows(
    tree, chains, motors, options, v, joint_impulse, ends, is_turning, x, frame, dofs, at, slot, ws,
    blocks_io,
):  # fmt: skip
    """Add blocks for stops and dry friction of the free rows of one part; ends: child and parent link."""
    for kind in range(3):
        sign = -1.0 if kind == 1 else 1.0
        signed = (
            sign * frame[0], sign * frame[1], sign * frame[2], sign * frame[3], sign * frame[4],
            sign * frame[5], sign * frame[6], sign * frame[7], sign * frame[8],
        )  # fmt: skip
        is_open = False
        for c in range(3):
            d = dofs[c]
            if d < 0 or (kind == 2 and motors[d, DRY] == 0.0):
                continue
            limit = motors[d, LOWER] if kind == 0 else motors[d, UPPER]
            if kind < 2 and not abs(limit) < math.inf:
                continue
            k = blocks_io.count[0] - (1 if is_open else 0)
            if not is_open:
                pair_rows(tree, chains, ends[0], ends[1], is_turning, x, x, signed, k, ws.links, blocks_io)
            before, free = row_velocity(blocks_io, k, v), row_velocity(blocks_io, k, ws.dof[FREE])
            takes_part, _, low, high, offset, gap = joint_row(
                limit, motors[d, DRY], options, kind, at[c], sign * before[c], sign * free[c]
            )
            if not takes_part:
                continue
            if not is_open:
                open_box(k, blocks_io)
                blocks_io.number[k, ROW_SIGN] = sign
                is_open = True
            set_row(
                joint_impulse, k, c, low, high, offset, gap, is_turning,
                slot + kind * motors.shape[0] + d, blocks_io,
            )  # fmt: skip


@kernel
def tied_servos(
    tree, chains, servos, options, tau, ends, is_turning, x, frame, dofs, at, rate, ws, blocks_io
):
    """Add the servos that are rows and act on the free rows of one part; a block each."""
    h = options.force_h
    for i in range(servos.low.shape[0]):
        for c in range(3):
            if h == 0.0 or ws.is_row[i] == 0 or dofs[c] < 0 or servos.dof[i] != dofs[c]:
                continue
            k, g = blocks_io.count[0], servos.gear[i]
            scaled = (
                g * frame[0], g * frame[1], g * frame[2], g * frame[3], g * frame[4], g * frame[5],
                g * frame[6], g * frame[7], g * frame[8],
            )  # fmt: skip
            pair_rows(tree, chains, ends[0], ends[1], is_turning, x, x, scaled, k, ws.links, blocks_io)
            open_box(k, blocks_io)
            blocks_io.index[k, SOURCE] = SERVO
            blocks_io.index[k, ROW_DOF + c] = dofs[c]
            blocks_io.number[k, ROW_SIGN] = g
            start = at[c] - options.ahead * options.h * rate[c]  # forces are taken at the start of the step
            b = servo_input(servos, i, tau)
            servo_row(servos, h, b, i, k, c, g * start, g * rate[c], blocks_io)


@inline_kernel
def has_rotor(ties, t, motors):
    """Whether a joint velocity of tie t has a rotor."""
    for c in range(6):
        if ties.dof[t, c] >= 0 and motors[ties.dof[t, c], ARMATURE] != 0.0:
            return True
    return False


@inline_kernel
def spin_before(tree, i, time, ws):
    """Angular velocity (3) of body i, placed in ws, before it turned freely for a time [s]."""
    w = load3(ws, i, OMEGA)
    if i == 0:
        return w
    R, (I, _) = load9(ws, i, AXES), central_inertia(tree, i)
    return mat_vec(R, spin_freely(I, -time, mat_t_vec(R, w)))


@kernel
def last_rates(tree, ties, t, motors, options, ws):
    """Velocities (3 each) that the rows of position and orientation of tie t had as the last step ended.

    And whether they are worked out at all: only rotors ask for them. Bodies, placed in ws, go back to where
    the last step looked, with the spins that it gave them.
    """
    if options.is_measured:
        return False, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # the flight took rotors along, up to where bodies are
    if options.ahead > 0.0 and not options.is_projected:
        # as `taction.steppers.coordinates.absolute.look` left them
        b = ties.link[t, 1]
        return True, load3(ws, b, PLACE_RATE), load3(ws, b, TURN_RATE)
    if not has_rotor(ties, t, motors):
        return False, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    wa = spin_before(tree, ties.link[t, 0], options.force_h, ws)
    wb = spin_before(tree, ties.link[t, 1], options.force_h, ws)
    place, turn = tie_velocity(ties, t, -options.h, wa, wb, ws)
    return True, place, turn


@kernel
def add_part(
    tree, chains, servos, options, tau, v, joint_impulse, ends, is_turning, x, frame, dofs, at, last, slot,
    stops, ws, blocks_io,
):  # fmt: skip
    """Add one block of a tie, and those of its stops and servos.

    at: gaps of locked rows, coordinates of free ones. last: whether the velocities of the rows as the last
    step ended are known otherwise than from those of the bodies, v, and they (3).
    """
    k, motors = blocks_io.count[0], ws.motors
    pair_rows(tree, chains, ends[0], ends[1], is_turning, x, x, frame, k, ws.links, blocks_io)
    open_box(k, blocks_io)
    blocks_io.number[k, ROW_SIGN] = 1.0
    blocks_io.index[k, SOURCE] = TIE
    rate = last[1] if last[0] else row_velocity(blocks_io, k, v)
    has_free = False
    for c in range(3):
        if dofs[c] < 0:
            set_row(joint_impulse, k, c, -math.inf, math.inf, 0.0, at[c], is_turning, slot + c, blocks_io)
        else:
            has_free = True
            motor_row(
                motors, options, tau, joint_impulse, dofs[c], k, c, at[c], rate[c], is_turning, slot + c,
                blocks_io,
            )  # fmt: skip
    if has_free:
        stop_rows(
            tree, chains, motors, options, v, joint_impulse, ends, is_turning, x, frame, dofs, at, stops,
            ws, blocks_io,
        )  # fmt: skip
        tied_servos(
            tree, chains, servos, options, tau, ends, is_turning, x, frame, dofs, at, rate, ws, blocks_io
        )


@inline_kernel
def is_driven(motors, tau, first):
    """Whether a force, a damper, a rotor or dry friction acts on the six velocities of a floating joint."""
    for d in range(first, first + 6):
        if tau[d] != 0.0 or motors[d, DAMPING] != 0.0 or motors[d, CONSTANT] != 0.0:
            return True
        if motors[d, ARMATURE] != 0.0 or motors[d, DRY] != 0.0:
            return True
    return False


@kernel
def gather_followers(tree, chains, ties, options, angle, joint_impulse, slot, ws, blocks_io):
    """Add an equation for every mimic joint; slot: where their impulses start in ``joint_impulse``.

    angle (m, 3): of the joints at the start of the step, turns included.
    """
    for i in range(ties.follow.shape[0]):
        k, gap = blocks_io.count[0], -ties.gear[i, 1]
        for side in range(2):
            t, row = ties.follow[i, 2 * side], ties.follow[i, 2 * side + 1]
            A, xa, B, xb = tie_frames(ties, t, ws.links)
            frame, at = A, mat_t_vec(A, sub(xb, xa))
            if row >= 3:
                frame, at = turning_part(ties.turn[t], A, B, load9(ties.middle, t, 0))
                at = resolve_turns(at, angle, t)
            pair_rows(
                tree, chains, ties.link[t, 1], ties.link[t, 0], row >= 3, xb, xb, frame, k + side,
                ws.links, blocks_io,
            )  # fmt: skip
            gap += at[row % 3] if side == 0 else -ties.gear[i, 0] * at[row % 3]
        subtract_row(k, ties.follow[i, 1] % 3, ties.follow[i, 3] % 3, ties.gear[i, 0], blocks_io)
        open_box(k, blocks_io)
        blocks_io.index[k, SOURCE] = TIE
        is_turning = ties.follow[i, 1] >= 3
        change = 0.0
        if options.is_measured:
            # Flight does not heed it: it is wanted where the step ends
            was = rate_of_row(ties, ties.follow[i, 0], ties.follow[i, 1], ws.links)
            was -= ties.gear[i, 0] * rate_of_row(ties, ties.follow[i, 2], ties.follow[i, 3], ws.links)
            now, _, _ = row_velocity(blocks_io, k, ws.dof[BEFORE])
            change = now - was
        set_row(joint_impulse, k, 0, -math.inf, math.inf, change, gap, is_turning, slot + i, blocks_io)
        blocks_io.number[k, AHEAD] += change


@kernel
def look_ahead(first, last, velocity, free, blocks_io):
    """Add to the offsets of blocks first…last−1 of one part how its velocity (3) half a step on differs.

    free (nv,): velocities of the bodies, held until then.
    """
    for k in range(first, last):
        now = row_velocity(blocks_io, k, free)
        for c in range(3):
            change = blocks_io.number[k, ROW_SIGN] * velocity[c] - now[c]
            blocks_io.number[k, OFFSET + c] += change
            blocks_io.number[k, AHEAD + c] += change


@kernel
def allow_part(first, last, start, before, blocks_io):
    """Add to the offsets of stops and dry friction among blocks first…last−1 what the flight has changed.

    start (3): velocities of the rows where the step starts; before (nv,): of the bodies, without forces.
    """
    for k in range(first, last):
        if blocks_io.index[k, SOURCE] == -1:
            u = row_velocity(blocks_io, k, before)
            for c in range(3):
                change = u[c] - blocks_io.number[k, ROW_SIGN] * start[c]
                blocks_io.number[k, OFFSET + c] += change
                blocks_io.number[k, AHEAD + c] += change


@inline_kernel
def rate_of_row(ties, t, row, ws):
    """Rate of a row, 0…5, of tie t, as `tie_rates` left it in ws."""
    b = ties.link[t, 1]
    return ws[b, PLACE_RATE + row] if row < 3 else ws[b, TURN_RATE + row - 3]


@kernel
def gather_ties(tree, chains, ties, servos, options, tau, v, angle, joint_impulse, slot, ws, blocks_io):
    """Add the joints between bodies: tau (nr + m,) forces on them and inputs of servos, v (nv,) of bodies.

    angle (m, 3): of the joints at the start of the step, turns included. slot: where their impulses start in
    ``joint_impulse``. ws: scratch of the dynamics, with placed links.
    """
    stops = slot + 6 * ties.turn.shape[0]
    for t in range(ties.turn.shape[0]):
        if is_loose(ties, t) and not is_driven(ws.motors, tau, ties.iv[t]):
            continue
        A, xa, B, xb = tie_frames(ties, t, ws.links)
        ends = (ties.link[t, 1], ties.link[t, 0])
        k = blocks_io.count[0]
        is_known, place, turn = last_rates(tree, ties, t, ws.motors, options, ws.links)
        add_part(
            tree, chains, servos, options, tau, v, joint_impulse, ends, False, xb, A, tie_dofs(ties, t, 0),
            mat_t_vec(A, sub(xb, xa)), (is_known, place), slot + 6 * t, stops, ws, blocks_io,
        )  # fmt: skip
        frame, at = turning_part(ties.turn[t], A, B, load9(ties.middle, t, 0))
        at = resolve_turns(at, angle, t)
        m = blocks_io.count[0]
        add_part(
            tree, chains, servos, options, tau, v, joint_impulse, ends, True, xb, frame, tie_dofs(ties, t, 3),
            at, (is_known, turn), slot + 6 * t + 3, stops, ws, blocks_io,
        )  # fmt: skip
        if options.is_measured:
            b = ties.link[t, 1]
            allow_part(k, m, load3(ws.links, b, PLACE_RATE), ws.dof[BEFORE], blocks_io)
            allow_part(m, blocks_io.count[0], load3(ws.links, b, TURN_RATE), ws.dof[BEFORE], blocks_io)
        elif options.is_split:
            wa, wb = load3(ws.links, ends[1], OMEGA), load3(ws.links, ends[0], OMEGA)
            place, turn = tie_velocity(ties, t, (1.0 - options.ahead) * options.h, wa, wb, ws.links)
            look_ahead(k, m, place, ws.dof[FREE], blocks_io)
            look_ahead(m, blocks_io.count[0], turn, ws.dof[FREE], blocks_io)


def leaves_first(index: IntArray) -> IntArray:
    """Order (k,) in which a tree of bodies is eliminated without fill-in, from `Assembly.index` (k, ·).

    Bodies are numbered parents first: from the last to the first, what is on a body, then its joint.
    """
    body = index[:, TREE : TREE + 3].max(axis=1, initial=0)
    return np.lexsort((index[:, SOURCE] == TIE, -body))
