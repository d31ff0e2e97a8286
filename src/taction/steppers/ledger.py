"""The energy ledger of one step: what each force did, and what the discretisation left over.

The step solves M (v⁺ − v) = h f + Jᵀ Λ with every force taken where the scheme takes it. With the mean
velocity v̄ = ½ (v + v⁺) that makes an identity, exact in exact arithmetic:

    v̄ᵀ M (v⁺ − v)  =  h f · v̄  +  Λ · ½ (u⁻ + u⁺)

the kinetic energy gained at frozen M on the left, works on the right. The ledger books the works:
    actuation       controllers, PD gains and servos, and springs and dampers of tendons,
    joint friction  the model's dampers, and dry friction of the joints,
    friction        tangential impulses of contacts, so far as they take energy,
    impact          normal impulses of contacts that strike, and of stops,
    pressing        normal impulses of contacts that only press on,
    joints          impulses of loops, couplings and joints between bodies,
    correction      potential energy that the correction of positions added or took.
`closure` is the difference of both sides: mass matrix, bias forces, Jacobians and impulses come from
different algorithms, so it is a check of all of them. What remains of the change of kinetic plus potential
energy after
the booked works is the error of the time discretisation: the remainder.

Pressing and joints are such errors, too: in exact time a contact that presses on does not move along its
normal, and an ideal joint not across its directions. In a step these have turned since the velocities of its
start were admissible, and the impulse that makes them so again takes energy, of second order in the step, or
gives it. A contact *strikes* if it carried nothing in the step before, or bounces, or struck in the step
before and arrives still, as where the first impulse only closed what was left of a gap.

References: [Moreau1988] for the work of an impulse at the mean velocity.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    GAP,
    LENGTH,
    RATE,
    ROW_DOF,
    ROW_SIGN,
    SOURCE,
    STRIKES,
    VELOCITY,
    row_velocity,
)
from taction.dynamics.rnea import newton_euler
from taction.math.vector import add, add_scaled, load3
from taction.model.workspace import FIRST, MASS, ORIGIN
from taction.steppers.columns import (
    ACTUATION,
    CLOSURE,
    FRICTION,
    IMPACT,
    JOINT_FRICTION,
    JOINTS,
    KINETIC,
    MADE,
    POTENTIAL,
    PRESSING,
)
from taction.steppers.joint_elements import dry_part
from taction.steppers.scene import (
    ARMATURE,
    BIAS,
    CHANGE,
    CONSTANT,
    DAMPER,
    DAMPING,
    GAIN,
    NEW,
    OWN_CONSTANT,
    OWN_DAMPING,
    OWN_STIFFNESS,
    SERVO,
    SPRING,
    STIFFNESS,
    TIE,
    TWIST,
)


@inline_kernel
def mass_times(tree, M, x, y_out):
    """y_out = M x (nv,) with the lower triangle of M, along the tree."""
    dof_parent, column = tree.dof_parent, tree.column
    for d in range(x.shape[0]):
        y_out[d] = M[d, column[d]] * x[d]
    for d in range(x.shape[0]):
        i = dof_parent[d]
        while i >= 0:
            y_out[d] += M[d, column[i]] * x[i]
            y_out[i] += M[d, column[i]] * x[d]
            i = dof_parent[i]


@inline_kernel
def spring_energy(own, q):
    """Energy of the model's own joint springs at q (nq,), up to a constant."""
    energy = 0.0
    for d in range(own.K.shape[0]):
        if own.K[d] > 0.0:
            stretch = q[own.iq[d]] - own.b[d] / own.K[d]
            energy += 0.5 * own.K[d] * stretch * stretch
    return energy


@inline_kernel
def gravity_energy(tree, ws):
    """Potential energy of everything from the composite masses that the mass matrix left in ws."""
    first = (0.0, 0.0, 0.0)
    for i in range(1, tree.parent.shape[0]):
        if tree.parent[i] == 0:
            first = add(first, add_scaled(load3(ws, i, FIRST), ws[i, MASS], load3(ws, i, ORIGIN)))
    g = tree.gravity
    return -(first[0] * g[0] + first[1] * g[1] + first[2] * g[2])


@kernel
def contact_work(v, assembly):
    """Works of impulses from v (nv,) to u⁺.

    Of friction, impacts, what presses on, joints, joint friction, servos and tendons, and of none of these.
    Where a contact turns or rolls, its tangents and its arm differ between both velocities, and so tangential
    impulses seem to work even if nothing slides: what they would add belongs to no force.
    """
    friction = impact = pressing = joints = rubbed = servo = unbooked = 0.0
    r = assembly.r
    for k in range(assembly.count[0]):
        b0, b1, b2 = row_velocity(assembly, k, v)
        w0 = 0.5 * r[3 * k] * (assembly.number[k, VELOCITY] + b0)
        w1 = 0.5 * r[3 * k + 1] * (assembly.number[k, VELOCITY + 1] + b1)
        w2 = 0.5 * r[3 * k + 2] * (assembly.number[k, VELOCITY + 2] + b2)
        if assembly.index[k, SOURCE] >= 0:
            if assembly.index[k, STRIKES] > 0:
                impact += w0
            else:
                pressing += w0
            friction += min(w1 + w2, 0.0)
            unbooked += max(w1 + w2, 0.0)
            continue
        if assembly.index[k, SOURCE] == SERVO or assembly.index[k, SOURCE] == SPRING:
            servo += w0 + w1 + w2
            continue
        if assembly.index[k, SOURCE] == DAMPER or assembly.index[k, SOURCE] == TWIST:
            friction += w0 + w1 + w2
            continue
        sets = assembly.rows.sets
        for c in range(3):
            if assembly.index[k, SOURCE] == TIE and assembly.index[k, ROW_DOF + c] >= 0:
                continue  # a motor's, see `motor_work`
            w = w0 if c == 0 else (w1 if c == 1 else w2)
            rubbing = dry_part(sets[k, 2 * c], sets[k, 2 * c + 1], r[3 * k + c])
            part = rubbing / r[3 * k + c] * w if rubbing != 0.0 else 0.0
            rubbed += part
            if sets[k, 2 * c] == -math.inf:
                joints += w
            else:
                impact += w - part
    return friction, impact, pressing, joints, rubbed, servo, unbooked


@kernel
def motor_work(motors, h, tau, v, assembly, acted_out, record_io):
    """Works (actuation, springs and rotors, joint friction) of the motors of ties, from their law.

    Adds the energy that springs and rotors had at the start, velocities v (nv,), to record_io; what
    controllers did is in acted_out (nr,).
    """
    actuation = passive = joint = 0.0
    for d in range(motors.shape[0]):
        acted_out[d] = tau[d]
    for k in range(assembly.count[0]):
        if assembly.index[k, SOURCE] != TIE:
            continue
        b0, b1, b2 = row_velocity(assembly, k, v)
        for c in range(3):
            d = assembly.index[k, ROW_DOF + c]
            if d < 0:
                continue
            before, end = b0 if c == 0 else (b1 if c == 1 else b2), assembly.number[k, VELOCITY + c]
            start, mean, rate = (
                assembly.number[k, GAP + c],
                0.5 * (before + end),
                assembly.number[k, RATE + c],
            )
            end += assembly.number[k, AHEAD + c]  # the law asks for that
            at, m = start + h * end, motors[d]
            control = (
                (m[CONSTANT] - m[OWN_CONSTANT])
                - (m[STIFFNESS] - m[OWN_STIFFNESS]) * at
                - (m[DAMPING] - m[OWN_DAMPING]) * end
            )
            acted_out[d] = tau[d] + control
            actuation += h * mean * (tau[d] + control)
            joint -= h * mean * m[OWN_DAMPING] * end
            passive += h * mean * (m[OWN_CONSTANT] - m[OWN_STIFFNESS] * at)
            passive -= mean * m[ARMATURE] * (end - rate)
            record_io[KINETIC] += 0.5 * m[ARMATURE] * rate * rate
            if m[OWN_STIFFNESS] > 0.0:
                stretch = start - m[OWN_CONSTANT] / m[OWN_STIFFNESS]
                record_io[POTENTIAL] += 0.5 * m[OWN_STIFFNESS] * stretch * stretch
    return actuation, passive, joint


@kernel
def add_servo_forces(h, is_tied, assembly, acted_io):
    """Add the forces of servos that are rows to acted_io (nr,)."""
    for k in range(assembly.count[0]):
        if assembly.index[k, SOURCE] != SERVO:
            continue
        if is_tied:
            for c in range(3):
                d = assembly.index[k, ROW_DOF + c]
                if d >= 0:
                    acted_io[d] += assembly.number[k, ROW_SIGN] * assembly.r[3 * k + c] / h
        else:
            for n in range(assembly.index[k, LENGTH]):
                acted_io[assembly.dof[k, n]] += assembly.J[k, n, 0] * assembly.r[3 * k] / h


@kernel
def book_works(tree, own, h, tau, drive, q, v, assembly, ws, record_out):
    """Fill the works of a step into record_out (COLUMNS,): tau (nv,) held, q (nq,) and v (nv,) at its start.

    drive (nr + m,): forces held on the joints, and inputs of servos. Leaves M (v⁺ − v) in row GAIN of ws.dof,
    what controllers did on each joint in ws.acted.
    """
    law, motors = ws.law, ws.motors
    new, change, gain, bias = ws.dof[NEW], ws.dof[CHANGE], ws.dof[GAIN], ws.dof[BIAS]
    friction, impact, pressing, joints, joint, servo, unbooked = contact_work(v, assembly)
    actuation, passive, damping = motor_work(motors, h, drive, v, assembly, ws.acted, record_out)
    joint += damping
    actuation += servo
    kinetic = 0.0
    for d in range(v.shape[0]):
        change[d] = new[d] - v[d]
    mass_times(tree, ws.M, change, gain)
    for d in range(v.shape[0]):
        mean, end = 0.5 * (v[d] + new[d]), new[d]
        at = q[law.iq[d]] + h * end if law.iq[d] >= 0 else 0.0
        control = (law.b[d] - own.b[d]) - (law.K[d] - own.K[d]) * at - (law.D[d] - own.D[d]) * end
        if motors.shape[0] == 0:
            ws.acted[d] = drive[d] + control
        actuation += h * mean * (tau[d] + control)
        joint -= h * mean * own.D[d] * end
        passive += h * mean * (own.b[d] - own.K[d] * at - bias[d])
        kinetic += mean * gain[d]
    add_servo_forces(h, motors.shape[0] > 0, assembly, ws.acted)
    record_out[ACTUATION] = actuation
    record_out[FRICTION] = friction
    record_out[IMPACT], record_out[PRESSING], record_out[JOINTS] = impact, pressing, joints
    record_out[JOINT_FRICTION] = joint
    record_out[MADE] = unbooked
    booked = actuation + passive + friction + impact + pressing + joints + joint + unbooked
    record_out[CLOSURE] = kinetic - booked


@kernel
def correction_work(tree, own, q, push, h, zero, ws, g_out):
    """Energy that moving by h push (nv,) adds against gravity and joint springs; ws placed at q (nq,)."""
    newton_euler(tree, zero, zero, ws, g_out)
    work = 0.0
    for d in range(push.shape[0]):
        force = g_out[d]
        if own.K[d] > 0.0:
            force += own.K[d] * q[own.iq[d]] - own.b[d]
        work += h * force * push[d]
    return work


@kernel
def spring_work(motors, h, push, assembly):
    """Energy that moving by h push (nv,) adds to the springs of joints between bodies."""
    work = 0.0
    for k in range(assembly.count[0]):
        if assembly.index[k, SOURCE] != TIE:
            continue
        u = row_velocity(assembly, k, push)
        for c in range(3):
            d = assembly.index[k, ROW_DOF + c]
            if d >= 0 and motors[d, OWN_STIFFNESS] > 0.0:
                rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
                stretch = motors[d, OWN_STIFFNESS] * assembly.number[k, GAP + c] - motors[d, OWN_CONSTANT]
                work += h * stretch * rate
    return work
