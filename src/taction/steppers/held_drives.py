"""Drives in a step, in joint coordinates: eliminated while their forces are within limits.

What it solves: P v⁺ = u, the velocities u of driven freedoms at the end of a step, beside its contacts
(`taction.control.drives`), without a row for each.

Notation: A = M + h D + h² K the matrix of the step; f forces of the joint law less bias; driven freedoms d,
all others e; Λ impulses of all elements.

Method. A freedom whose velocity is prescribed is one of infinite inertia. In A = Lᵀ D L, from the tips on,
its pivot is ∞ and its row of L zero: inertia that it carries passes on to its parent unchanged, impulses do
not move it, and all that works with the factor (free velocity, W, response) goes on as it is. What remains is

    v_d = u,      A_ee (v_e − v) = h f_e − M_ed (u − v_d)                      free velocities,      (1)
    h τ = [A (v⁺ − v) − h f − Jᵀ Λ]_d                                           after the impulses.   (2)

Where τ of (2) leaves the limits of its motor the drive becomes a row as in `taction.steppers.servo_rows`,
exact on both sides of the limit, and the step is posed again; so does one that would carry its joint through
a stop, and those behind an element that nothing else can move: its part of W is zero. Where contacts have no
solution with drives held, they all become rows (`taction.steppers.driver`).

Dry friction of a held joint is known, at its limit against u, and counts as bias. Where u = 0, or rounding
(`REST`), any friction within its limits goes with a τ: none is taken.

Bias forces are those of the step without drives: a step with the forces τ has the same.

Departures: schemes that split flight from forces, and absolute coordinates, have rows only.

References: [Featherstone2008, Section 6.5] for the factor; [BhargavaReport, Eqs. (5), (6)] for P.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import LENGTH
from taction.contact.laws.dispatch import is_rowwise
from taction.dynamics.factor import factor_ltdl, solve_ltdl
from taction.dynamics.servo import Servos
from taction.steppers.columns import JOINT_FRICTION
from taction.steppers.free_motion import write_inertia
from taction.steppers.joint_elements import joint_row
from taction.steppers.ledger import mass_times
from taction.steppers.phases import DONE, SINGULAR
from taction.steppers.scene import BEFORE, BIAS, CHANGE, DRIVE, FORCE, FREE, GAIN, NEW, Motion
from taction.steppers.servo_rows import servo_input

REST = 1e-13  # velocities below are rounding [m/s or rad/s]
STUCK = 1e-20  # share of W that driven joints would give an element, below which nothing else moves it


@inline_kernel
def is_held(servos, i, ws):
    """Whether servo i is a drive that is not a row."""
    return servos.damping[i] == math.inf and ws.is_row[i] == 0


def release_drives(servos: Servos, motion: Motion) -> bool:
    """Make rows of all drives that are held; whether there was one."""
    is_in = np.isinf(servos.damping) & (motion.is_row == 0)
    motion.is_row[is_in] = 1
    return bool(is_in.any())


@inline_kernel
def meets_stop(joints, options, d, at, v, u):
    """Whether a stop of freedom d, at coordinate ``at`` and velocity v before, forbids the velocity u."""
    for kind in range(2):
        limit = joints.lower[d] if kind == 0 else joints.upper[d]
        takes_part, sign, _, _, offset, _ = joint_row(limit, 0.0, options, kind, at, v, u)
        if takes_part and sign * u + offset < 0.0:
            return True
    return False


@kernel
def factor_held(tree, servos, law, h, ws):
    """Factor of A into ws.L, held freedoms infinitely inert; returns 0 if it is regular."""
    write_inertia(tree, law, h, ws)
    for i in range(servos.low.shape[0]):
        if is_held(servos, i, ws):
            ws.L[servos.dof[i], tree.column[servos.dof[i]]] = math.inf
    return factor_ltdl(tree.dof_parent, tree.column, ws.L)


@kernel
def hold_drives(scene, options, drive, ws):
    """Equation (1), after the free motion without drives; drive (nr + m,). Returns DONE or SINGULAR."""
    tree, servos, joints, h = scene.tree, scene.servos, scene.joints, options.force_h
    v, free, change, gain = ws.dof[BEFORE], ws.dof[FREE], ws.dof[CHANGE], ws.dof[GAIN]
    for d in range(v.shape[0]):
        change[d] = ws.dof[DRIVE, d] = 0.0
    held = 0
    for i in range(servos.low.shape[0]):
        if h == 0.0 or not is_held(servos, i, ws):
            continue
        d, u = servos.dof[i], servo_input(servos, i, drive) / servos.gear[i]
        if meets_stop(joints, options, d, ws.q[scene.law.iq[d]], v[d], u):
            ws.is_row[i] = 1
            continue
        change[d] = u - v[d]
        if abs(u) > REST:
            ws.dof[BIAS, d] += math.copysign(joints.dry[d], u)
        held += 1
    if held == 0:
        return DONE
    if factor_held(tree, servos, ws.law, h, ws) != 0:
        return SINGULAR
    mass_times(tree, ws.M, change, gain)
    for d in range(v.shape[0]):
        free[d] = h * (ws.dof[FORCE, d] - ws.dof[BIAS, d]) - gain[d]
    solve_ltdl(tree.dof_parent, tree.column, ws.L, free)
    for d in range(v.shape[0]):
        free[d] += v[d] + change[d]
    for i in range(servos.low.shape[0]):
        if is_held(servos, i, ws):
            free[servos.dof[i]] = servo_input(servos, i, drive) / servos.gear[i]
    return DONE


@inline_kernel
def is_stuck(tree, k, c, blocks, ws):
    """Whether row c of block k, which may carry something, moves by driven joints only."""
    rows, total = blocks.rows, 0.0
    if not is_rowwise(rows.kind[k]):
        if c > 0:
            return False
    elif rows.sets[k, 2 * c] == rows.sets[k, 2 * c + 1]:
        return False
    for n in range(blocks.index[k, LENGTH]):
        d, x = blocks.dof[k, n], blocks.J[k, n, c]
        total += x * x / ws.M[d, tree.column[d]]
    return rows.value[rows.diagonal[k], 4 * c] <= STUCK * total


@kernel
def free_stuck(scene, blocks, ws):
    """Make rows of the drives behind elements that nothing else moves; returns how many."""
    found, servos = 0, scene.servos
    for k in range(blocks.count[0]):
        for c in range(3):
            if not is_stuck(scene.tree, k, c, blocks, ws):
                continue
            for n in range(blocks.index[k, LENGTH]):
                for i in range(servos.low.shape[0]):
                    if is_held(servos, i, ws) and servos.dof[i] == blocks.dof[k, n]:
                        ws.is_row[i] = 1
                        found += 1
    return found


@kernel
def drive_forces(scene, options, blocks, ws):
    """Equation (2): forces of held drives into the joint law of the step, for the ledger and the judge.

    Those beyond their limits become rows; returns how many. Asked twice it leaves the same.
    """
    tree, law, servos, h, found = scene.tree, ws.law, scene.servos, options.force_h, 0
    new, v, change, gain = ws.dof[NEW], ws.dof[BEFORE], ws.dof[CHANGE], ws.dof[GAIN]
    for d in range(v.shape[0]):
        change[d] = new[d] - v[d]
    mass_times(tree, ws.M, change, gain)
    for k in range(blocks.count[0]):
        r0, r1, r2 = blocks.r[3 * k], blocks.r[3 * k + 1], blocks.r[3 * k + 2]
        if r0 != 0.0 or r1 != 0.0 or r2 != 0.0:
            for n in range(blocks.index[k, LENGTH]):
                J = blocks.J[k, n]
                gain[blocks.dof[k, n]] -= J[0] * r0 + J[1] * r1 + J[2] * r2
    for i in range(servos.low.shape[0]):
        if h == 0.0 or not is_held(servos, i, ws):
            continue
        d = servos.dof[i]
        implicit = (law.D[d] + h * law.K[d]) * change[d]
        force = gain[d] / h + implicit - ws.dof[FORCE, d] + ws.dof[BIAS, d]
        law.b[d] += force - ws.dof[DRIVE, d]
        ws.dof[DRIVE, d] = force
        force /= servos.gear[i]
        if force < servos.low[i] or force > servos.high[i]:
            ws.is_row[i] = 1
            found += 1
    return found


@kernel
def book_dry(scene, options, drive, ws, record_io):
    """Book the dry friction of held joints, which counted as bias, as joint friction; returns 0."""
    servos, joints = scene.servos, scene.joints
    for i in range(servos.low.shape[0]):
        u, d = servo_input(servos, i, drive), servos.dof[i]
        if options.force_h > 0.0 and is_held(servos, i, ws) and abs(u) > REST * abs(servos.gear[i]):
            rubbing = math.copysign(joints.dry[d], u * servos.gear[i])
            mean = 0.5 * (ws.dof[BEFORE, d] + ws.dof[NEW, d])
            record_io[JOINT_FRICTION] -= options.force_h * mean * rubbing
    return 0
