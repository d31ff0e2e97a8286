"""Servos in a step: part of the linear law while they stay within their limits, otherwise rows.

What it solves: the force law (1), (2) of `taction.dynamics.servo`, exactly, at the price of a linear one
where that is the same. A servo on one joint starts a step as *linear*: its K, D and b are added to the joint
law of the step, and its force costs nothing. Where that force leaves [low, high], with the free velocities or
with those that the impulses lead to, the servo becomes a *row*: a block of one scalar row with compliance c,
offset o and the interval [h low, h high], which is exact on both sides of the limit, and the step is posed
again. Rows stay rows until the step ends, so a step is posed at most once more per servo; mostly never.
Servos along transmissions, whose stiffness is not diagonal, are always rows. Drives, which have no force law
but a velocity, are *held* instead of linear where that can be (`taction.steppers.held_drives`).

A scheme may look ahead of the start of the step, where links are placed and lengths are taken; forces refer
to the start, ℓ − a h ℓ̇ with the share a of the step (`taction.steppers.scene.Options.ahead`).

The first guess of a row is the force that it would have at the velocity before the step.

Departures: none; where a servo's force is just at its limit, both ways give the same.

References: [CastroPermenterHan2023] for implicit gains as compliant rows.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import AHEAD, COMPLIANCE, GAP, ROW_DOF, SOURCE, VELOCITY
from taction.contact.joint_rows import combined_row, joint_rows
from taction.steppers.elements import open_box, set_free_row
from taction.steppers.scene import BEFORE, CONSTANT, DAMPING, HOLD_ENTRY, SERVO, SPRING, STIFFNESS, TIE


@inline_kernel
def servo_input(servos, i, drive):
    """Input b of servo i; drive (nr + m,): joint forces, then inputs of controllers."""
    if i >= servos.driven:
        return servos.rest[i]
    return servos.rest[i] + drive[drive.shape[0] - servos.driven + i]


@kernel
def let_go(servos, ws):
    """All servos on one joint linear, and drives held where they can be, for a new step."""
    for i in range(servos.low.shape[0]):
        is_drive = servos.damping[i] == math.inf
        can_be_linear = servos.transmission[i] < 0 and not (is_drive and ws.entry[HOLD_ENTRY] == 0)
        ws.is_row[i] = 0 if can_be_linear else 1


@kernel
def apply_linear(scene, drive, ws):
    """The joint law of the step into ws.law, or ws.motors: the scene's, and servos that are linear."""
    law, motors, servos = scene.law, scene.motors, scene.servos
    for d in range(law.K.shape[0]):
        ws.law.K[d], ws.law.D[d], ws.law.b[d] = law.K[d], law.D[d], law.b[d]
    for d in range(motors.shape[0]):
        for c in range(motors.shape[1]):
            ws.motors[d, c] = motors[d, c]
    for i in range(servos.low.shape[0]):
        if ws.is_row[i] == 1 or servos.damping[i] == math.inf:
            continue
        d, g, b = servos.dof[i], servos.gear[i], servo_input(servos, i, drive)
        if motors.shape[0] > 0:
            ws.motors[d, STIFFNESS] += g * g * servos.stiffness[i]
            ws.motors[d, DAMPING] += g * g * servos.damping[i]
            ws.motors[d, CONSTANT] += g * b
        else:
            ws.law.K[d] += g * g * servos.stiffness[i]
            ws.law.D[d] += g * g * servos.damping[i]
            ws.law.b[d] += g * b


@inline_kernel
def is_beyond(servos, i, drive, at, rate):
    """Whether servo i would leave its limits, at a joint coordinate and rate."""
    length, speed = servos.gear[i] * at, servos.gear[i] * rate
    force = servo_input(servos, i, drive) - servos.stiffness[i] * length - servos.damping[i] * speed
    return force < servos.low[i] or force > servos.high[i]


@kernel
def limit_servos(servos, iq, h, drive, q, v, ws):
    """Make rows of the linear servos that leave their limits at the end of a step; returns how many.

    In joint coordinates: q (nq,) at the start, v (nv,) over the step.
    """
    found = 0
    for i in range(servos.low.shape[0]):
        d = servos.dof[i]
        is_linear = ws.is_row[i] == 0 and servos.damping[i] < math.inf
        if is_linear and is_beyond(servos, i, drive, q[iq[d]] + h * v[d], v[d]):
            ws.is_row[i] = 1
            found += 1
    return found


@kernel
def limit_tied(servos, h, drive, blocks, ws):
    """The same for joints between bodies in absolute coordinates, from their rows and new velocities."""
    found = 0
    if servos.low.shape[0] == 0:
        return 0
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] != TIE:
            continue
        for c in range(3):
            d = blocks.index[k, ROW_DOF + c]
            if d < 0:
                continue
            rate = blocks.number[k, VELOCITY + c] + blocks.number[k, AHEAD + c]
            at = blocks.number[k, GAP + c] + h * rate
            for i in range(servos.low.shape[0]):
                is_mine = ws.is_row[i] == 0 and servos.dof[i] == d
                if is_mine and is_beyond(servos, i, drive, at, rate):
                    ws.is_row[i] = 1
                    found += 1
    return found


@inline_kernel
def servo_row(servos, h, b, i, k, c, at, rate, blocks_io):
    """Row c of block k is that of servo i with input b, length ``at`` and rate before ``rate``."""
    if servos.damping[i] == math.inf:
        set_free_row(k, c, h * servos.low[i], h * servos.high[i], -b, 0.0, blocks_io)
        return
    stiff = h * servos.damping[i] + h * h * servos.stiffness[i]
    push, low, high = h * (b - servos.stiffness[i] * at), h * servos.low[i], h * servos.high[i]
    guess = min(max(push - stiff * rate, low), high)
    if stiff > 0.0:
        set_free_row(k, c, low, high, -push / stiff, guess, blocks_io)
        blocks_io.number[k, COMPLIANCE + c] = 1.0 / stiff
    else:
        set_free_row(k, c, guess, guess, 0.0, guess, blocks_io)


@kernel
def gather_servos(scene, options, drive, state, ws, blocks_io):
    """Add the servos that are rows, in joint coordinates; drive (nr + m,). Returns 0."""
    tree, chains, servos, transmissions = scene.tree, scene.chains, scene.servos, scene.transmissions
    h, q, iq = options.force_h, state.q, scene.law.iq
    if h == 0.0:
        return 0
    v = ws.dof[BEFORE]
    for i in range(servos.low.shape[0]):
        if ws.is_row[i] == 0:
            continue
        k, g, t, at, rate = blocks_io.count[0], servos.gear[i], servos.transmission[i], 0.0, 0.0
        if t < 0:
            d = servos.dof[i]
            joint_rows(tree, chains, (d, -1, -1), (g, 0.0, 0.0), (0, 0, 0), k, blocks_io)
            at, rate = g * q[iq[d]], g * v[d]
        else:
            first, last = transmissions.start[t], transmissions.start[t + 1]
            combined_row(tree, chains, transmissions.dof, ws.arm, first, last, g, k, blocks_io)
            for e in range(first, last):
                rate += g * ws.arm[e] * v[transmissions.dof[e]]
            at = g * ws.length[t] - options.ahead * options.h * rate
        open_box(k, blocks_io)
        blocks_io.index[k, SOURCE] = SERVO if i < servos.driven else SPRING
        servo_row(servos, h, servo_input(servos, i, drive), i, k, 0, at, rate, blocks_io)
    return 0
