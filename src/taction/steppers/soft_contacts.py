"""Contact by springs and dampers, in the same step as the set-valued laws.

What it does: where bodies overlap, the contact's block carries the impulse h F of
`taction.contact.forces.spring_damper` in place of one that a law asks for. Joints, servos and tendons are
elements of the step's problem as ever, which sees those impulses.

Where the force acts. Between both undeformed surfaces, at the share of the overlap that each shape takes: one
point for both bodies, so action is reaction about any point, and turning about an axis through it in the
contact plane, which is rolling, stretches nothing.

How. *Explicit*: h F from the overlap where the scheme looks and the velocity before, a block whose set is
that one point. With a scheme that looks at midpoints this is the leapfrog of smooth forces, of order 2 in the
springs; with one that looks at the start it is symplectic Euler's, of order 1. Stable below
2 (√(1 + ζ²) − ζ) / ω only. *Implicit*: the force at the end of the step, linearised; with Λ = h F that is the
exact law with compliance,

    0 ≤ Λ_N ⊥ u_N + Λ_N / (h (h k + d)) − F / (h k + d) ≥ 0,      −(u_T + Λ_T / (h (h k_T + d_T))
                                                                      + k_T s / (h k_T + d_T)) ∈ N(Λ_T),

one problem for the solver, stable at any step; the left side of the second is the speed of the anchor.

Memory of a contact: the stretch of its tangential spring, as a vector that both links carry along in their
own axes. In the next step it is what lies between both, turned into the contact plane at its length: carrying
stores nothing, whatever turns. A spring is attached at length zero where bodies touch, and let go where they
part.

The certificate is that of the set-valued laws: how far the soft ones are from them. Only whether the step's
problem was solved is judged by the soft law itself. The ledger books the work of springs apart, and what they
hold at the start and at the end of the step: first-order extrapolations from where the scheme looked, errors
of second order.

References: [DuindamStramigioli2003, Section 5]; [CundallStrack1979]; [CastroPermenterHan2023] for compliance
in the problem.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    COMPLIANCE,
    FRAME,
    GAP,
    OFFSET,
    SLIDING,
    SOFT_COMPLIANCE,
    SOFT_OFFSET,
    SOURCE,
    SPRING_IMPULSE,
    SPRING_LOSS,
    STRETCH,
    STRIKES,
    VELOCITY,
    pair_rows,
    row_velocity,
)
from taction.contact.forces.soft_pair import (
    normal_damping,
    normal_spring,
    shear_spring,
)
from taction.contact.forces.spring_damper import (
    elastic_energy,
    elastic_force,
    held_stretch,
    linearised,
    normal_force,
    shear_force,
)
from taction.contact.laws.dispatch import are_held, contact_set
from taction.math.vector import add, add_scaled, dot, load3, load9, mat_t_vec, mat_vec, scale, store3, sub
from taction.model.workspace import AXES
from taction.steppers.columns import (
    AT_ROUNDING,
    ELASTIC,
    FRICTION,
    IMPACT,
    STORED,
    STORED_AFTER,
    UNCONVERGED,
)
from taction.steppers.elements import add_damper, hold, open_box, pair_surface, surface_frame
from taction.steppers.judge import fall, judge_contacts
from taction.steppers.scene import BEFORE, DAMPER, FREE, IMPLICIT, NEW
from taction.steppers.soft_twist import SAME, add_twist, end_twist, twist_of

# Columns of a contact's memory: its tangential stretch [m] in the axes of the first link and of the second;
# one more in `taction.steppers.soft_twist`
ON_FIRST, ON_SECOND = 0, 3
TINY = 1e-30


@inline_kernel
def carried_stretch(n, frame, i, first, second, memory, links):
    """Stretch (2) of contact i along the tangents of its frame (9): what both links carried, see above."""
    one = mat_vec(load9(links, first, AXES), load3(memory, i, ON_FIRST))
    two = mat_vec(load9(links, second, AXES), load3(memory, i, ON_SECOND))
    s = scale(0.5, add(one, two))
    s = sub(s, scale(dot(n, s), n))
    size, length = math.sqrt(dot(s, s)), math.sqrt(dot(one, one))
    if size < TINY:
        return 0.0, 0.0
    s = scale(length / size, s)
    return dot((frame[1], frame[4], frame[7]), s), dot((frame[2], frame[5], frame[8]), s)


@inline_kernel
def open_contact(i, k, gap, frame, blocks_io):
    """Make block k that of contact i, without an offset, carrying nothing."""
    open_box(k, blocks_io)
    for c in range(3):
        blocks_io.number[k, SLIDING + c] = blocks_io.number[k, STRETCH + c] = 0.0
        blocks_io.number[k, SPRING_IMPULSE + c] = 0.0
    blocks_io.number[k, SPRING_LOSS] = 0.0
    blocks_io.number[k, GAP] = gap
    for c in range(9):
        blocks_io.number[k, FRAME + c] = frame[c]
    blocks_io.index[k, SOURCE], blocks_io.index[k, STRIKES] = i, 1  # what springs leave of it is a loss


@kernel
def push_apart(soft, options, a, b, k, plus, minus, lateral, depth, s1, s2, u, blocks_io):
    """Explicit: block k carries h F at an overlap, stretch (2) and velocity u (3) of shapes a and b."""
    h, is_crossley = options.force_h, options.is_crossley
    K, p, share = normal_spring(soft, a, b)
    shear, drag = shear_spring(soft, a, b)
    damping = normal_damping(soft, is_crossley, share, a, b)
    elastic, load = normal_force(is_crossley, K, p, damping, depth, u[0])
    h1, h2 = held_stretch(shear, plus, minus, lateral, load, s1, s2)
    f1, f2 = shear_force(shear, drag, plus, minus, lateral, load, h1, h2, u[1], u[2])
    hold(k, h * load, h * f1, h * f2, blocks_io)
    number = blocks_io.number
    number[k, SPRING_IMPULSE] = h * elastic
    number[k, SPRING_IMPULSE + 1], number[k, SPRING_IMPULSE + 2] = -h * shear * h1, -h * shear * h2
    number[k, STRETCH + 1], number[k, STRETCH + 2] = h1, h2
    number[k, SPRING_LOSS] = 0.5 * shear * (s1 * s1 + s2 * s2 - h1 * h1 - h2 * h2)


@kernel
def give_way(soft, options, a, b, k, plus, minus, lateral, depth, s1, s2, warm, blocks_io):
    """Implicit: block k is the exact law of shapes a and b with compliance; warm (3): a first impulse."""
    h, number = options.force_h, blocks_io.number
    K, p, share = normal_spring(soft, a, b)
    damping = normal_damping(soft, options.is_crossley, share, a, b)
    force, stiffness, rate = linearised(options.is_crossley, K, p, damping, depth)
    shear, drag = shear_spring(soft, a, b)
    rows = blocks_io.rows
    rows.kind[k] = contact_set(options.cone, plus, minus, lateral, 0.0, rows.sets[k])
    stiff, slow = h * stiffness + rate, h * shear + drag
    number[k, OFFSET], number[k, COMPLIANCE] = -force / stiff, 1.0 / (h * stiff)
    for c in range(1, 3):
        s = s1 if c == 1 else s2
        number[k, STRETCH + c] = s
        if slow > 0.0:
            number[k, OFFSET + c], number[k, COMPLIANCE + c] = shear * s / slow, 1.0 / (h * slow)
        blocks_io.r[3 * k + c] = warm[c]
    blocks_io.r[3 * k] = warm[0]


@inline_kernel
def add_drag(options, viscous, k, first, second, x, frame, scene, ws, blocks_io):
    """The viscous friction [N s/m] of contact k, a block that follows it."""
    if viscous == 0.0 or options.force_h == 0.0:
        return
    pair_rows(scene.tree, scene.chains, first, second, False, x, x, frame, k + 1, ws.links, blocks_io)
    drag = options.force_h * viscous
    if options.soft == IMPLICIT:
        add_damper(drag, k, ws.dof[BEFORE], blocks_io)
        return
    u = row_velocity(blocks_io, k + 1, ws.dof[BEFORE])
    open_box(k + 1, blocks_io)
    blocks_io.index[k + 1, SOURCE] = DAMPER
    hold(k + 1, 0.0, -drag * u[1], -drag * u[2], blocks_io)


@kernel
def gather_soft_contacts(scene, options, sight, ws, blocks_io):
    """Add every contact of bodies that overlap, or in the implicit way may do so, as a block; returns 0."""
    contacts, surfaces, placed = sight.contacts, scene.surfaces, sight.placed
    is_implicit, h = options.soft == IMPLICIT, options.force_h
    for i in range(contacts.count[0]):
        gap, k = contacts.gap[i], blocks_io.count[0]
        a, b = contacts.shape[i, 0], contacts.shape[i, 1]
        K, p, share = normal_spring(surfaces.soft, a, b)
        if (gap >= 0.0 and (p != 1.0 or not is_implicit)) or K == 0.0 or h == 0.0:
            continue
        minus, lateral, plus, _, _, shape = pair_surface(surfaces, options.combine, a, b)
        first, second = surfaces.link[a], surfaces.link[b]
        n = load3(contacts.normal, i, 0)
        # from the point of the first surface, half the gap off the middle, back by what that one gives way
        x = add_scaled(load3(contacts.point, i, 0), (0.5 - share) * gap, n)
        frame = surface_frame(n, placed, shape)
        pair_rows(scene.tree, scene.chains, first, second, False, x, x, frame, k, ws.links, blocks_io)
        open_contact(i, k, gap, frame, blocks_io)
        s1, s2 = carried_stretch(n, frame, i, first, second, sight.memory, ws.links)
        if is_implicit:
            warm = load3(sight.warm, i, 0)
            give_way(surfaces.soft, options, a, b, k, plus, minus, lateral, -gap, s1, s2, warm, blocks_io)
        else:
            u = row_velocity(blocks_io, k, ws.dof[BEFORE])
            push_apart(surfaces.soft, options, a, b, k, plus, minus, lateral, -gap, s1, s2, u, blocks_io)
        if gap < 0.0:
            viscous = max(surfaces.viscous[a], surfaces.viscous[b])
            add_drag(options, viscous, k, first, second, x, frame, scene, ws, blocks_io)
            load = elastic_force(K, p, -gap) if is_implicit else blocks_io.r[3 * k] / h
            kt = blocks_io.count[0]
            add_twist(scene, options, a, b, i, kt, lateral, load, -gap, frame, sight.memory, ws, blocks_io)
    return 0


@inline_kernel
def end_stretch(soft, options, a, b, k, plus, minus, lateral, blocks):
    """Stretch (2) of the tangential spring of block k a step after where the scheme looked, anchor moved."""
    h, number, r = options.force_h, blocks.number, blocks.r
    s1, s2 = number[k, STRETCH + 1], number[k, STRETCH + 2]
    if options.soft == IMPLICIT:
        w1 = number[k, COMPLIANCE + 1] * r[3 * k + 1] + number[k, OFFSET + 1] - number[k, AHEAD + 1]
        w2 = number[k, COMPLIANCE + 2] * r[3 * k + 2] + number[k, OFFSET + 2] - number[k, AHEAD + 2]
        return s1 - h * w1, s2 - h * w2
    shear, _ = shear_spring(soft, a, b)
    s1, s2 = s1 + h * number[k, VELOCITY + 1], s2 + h * number[k, VELOCITY + 2]
    return held_stretch(shear, plus, minus, lateral, r[3 * k] / h, s1, s2)


@inline_kernel
def end_springs(soft, options, a, b, k, e1, e2, blocks_io):
    """Implicit: the springs of block k act as they are at the end of the step, stretched by e (2)."""
    h, number = options.force_h, blocks_io.number
    K, p, _ = normal_spring(soft, a, b)
    shear, _ = shear_spring(soft, a, b)
    number[k, SPRING_IMPULSE] = h * elastic_force(K, p, -number[k, GAP] - h * number[k, VELOCITY])
    number[k, SPRING_IMPULSE + 1], number[k, SPRING_IMPULSE + 2] = -h * shear * e1, -h * shear * e2


@inline_kernel
def slid(h, number, k, e1, e2):
    """Whether the anchor of block k moved while its spring became stretched by e (2)."""
    t1 = number[k, STRETCH + 1] + h * number[k, VELOCITY + 1]
    t2 = number[k, STRETCH + 2] + h * number[k, VELOCITY + 2]
    return abs(t1 - e1) + abs(t2 - e2) > SAME * (abs(t1) + abs(t2))


@inline_kernel
def book_springs(soft, options, a, b, k, before, e1, e2, blocks, record_io):
    """Works and energies of the springs of block k, off impact and friction.

    before (3): velocity at the start; e (2): stretch a step after where the scheme looked. Energies at the
    start and at the end of the step are extrapolated from there, but for an anchor that slides.
    """
    number, r, t = blocks.number, blocks.r, options.ahead * options.h
    K, p, _ = normal_spring(soft, a, b)
    shear, _ = shear_spring(soft, a, b)
    depth, loss = -number[k, GAP], number[k, SPRING_LOSS]
    s1, s2 = number[k, STRETCH + 1], number[k, STRETCH + 2]
    u0, u1, u2 = number[k, VELOCITY], number[k, VELOCITY + 1], number[k, VELOCITY + 2]
    m0, m1, m2 = 0.5 * (u0 + before[0]), 0.5 * (u1 + before[1]), 0.5 * (u2 + before[2])
    normal = number[k, SPRING_IMPULSE] * m0
    along = number[k, SPRING_IMPULSE + 1] * m1 + number[k, SPRING_IMPULSE + 2] * m2
    sliding = r[3 * k + 1] * m1 + r[3 * k + 2] * m2
    start = 0.5 * shear * (s1 * s1 + s2 * s2)
    end = 0.5 * shear * (e1 * e1 + e2 * e2)
    lost = loss
    if slid(options.h, number, k, e1, e2):
        lost += max(-along - (end - start), 0.0)  # what the spring's work did not store
    else:
        e1, e2 = e1 - t * u1, e2 - t * u2
        end = 0.5 * shear * (e1 * e1 + e2 * e2)
        if loss == 0.0:
            s1, s2 = s1 - t * before[1], s2 - t * before[2]
            start = 0.5 * shear * (s1 * s1 + s2 * s2)
    record_io[ELASTIC] += normal + along
    record_io[IMPACT] -= normal
    record_io[FRICTION] += sliding - along - lost - min(sliding, 0.0)
    record_io[STORED] += elastic_energy(K, p, depth + t * before[0]) + start + loss
    record_io[STORED_AFTER] += elastic_energy(K, p, depth - (options.h - t) * u0) + end


@inline_kernel
def remember(i, k, first, second, s1, s2, blocks, links, memory_io):
    """Keep the stretch s (2) of block k as the memory of contact i."""
    number = blocks.number
    t1 = (number[k, FRAME + 1], number[k, FRAME + 4], number[k, FRAME + 7])
    t2 = (number[k, FRAME + 2], number[k, FRAME + 5], number[k, FRAME + 8])
    s = add(scale(s1, t1), scale(s2, t2))
    store3(mat_t_vec(load9(links, first, AXES), s), i, ON_FIRST, memory_io)
    store3(mat_t_vec(load9(links, second, AXES), s), i, ON_SECOND, memory_io)


@inline_kernel
def set_law(cone, plus, minus, lateral, k, free, blocks_io, kept_out):
    """Make block k a contact under the set-valued law, its own kept; free (3): velocity without impulses."""
    rows, number = blocks_io.rows, blocks_io.number
    kept_out.kind[k] = rows.kind[k]
    for c in range(6):
        kept_out.sets[k, c] = rows.sets[k, c]
    for c in range(3):
        number[k, SOFT_OFFSET + c] = number[k, OFFSET + c]
        number[k, SOFT_COMPLIANCE + c] = number[k, COMPLIANCE + c]
        number[k, OFFSET + c] = number[k, COMPLIANCE + c] = 0.0
        rows.b[3 * k + c] = free[c]
    rows.kind[k] = contact_set(cone, plus, minus, lateral, 0.0, rows.sets[k])


@kernel
def restore_laws(free, kept, blocks_io):
    """Give all contacts their own laws again: a step may be finished twice; free (nv,): without impulses."""
    rows, number = blocks_io.rows, blocks_io.number
    for k in range(blocks_io.count[0]):
        if blocks_io.index[k, SOURCE] < 0:
            continue
        rows.kind[k] = kept.kind[k]
        for c in range(6):
            rows.sets[k, c] = kept.sets[k, c]
        u = row_velocity(blocks_io, k, free)
        for c in range(3):
            number[k, OFFSET + c] = number[k, SOFT_OFFSET + c]
            number[k, COMPLIANCE + c] = number[k, SOFT_COMPLIANCE + c]
            rows.b[3 * k + c] = u[c] + number[k, OFFSET + c]


@kernel
def finish_soft(scene, options, ws, record_io):
    """Springs at the end of the step: works, energies, memories; and the certificate.

    Needs the new velocities, and what all impulses did, booked; returns 0.
    """
    sight, blocks, surfaces, motion = ws.sight, ws.blocks, scene.surfaces, ws.motion
    contacts, unsolved, at_rounding = sight.contacts, 0.0, 0.0
    speed = fall(scene.tree, options.h)
    if not are_held(blocks.count[0], blocks.rows):
        judge_contacts(options.tolerance, speed, contacts.shape, motion.dof[NEW], blocks, record_io)
        unsolved, at_rounding = record_io[UNCONVERGED], record_io[AT_ROUNDING]
    record_io[ELASTIC] = record_io[STORED] = record_io[STORED_AFTER] = 0.0
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            continue
        a, b = contacts.shape[i, 0], contacts.shape[i, 1]
        minus, lateral, plus, _, _, _ = pair_surface(surfaces, options.combine, a, b)
        e1, e2 = end_stretch(surfaces.soft, options, a, b, k, plus, minus, lateral, blocks)
        if options.soft == IMPLICIT:
            end_springs(surfaces.soft, options, a, b, k, e1, e2, blocks)
        before = row_velocity(blocks, k, motion.dof[BEFORE])
        book_springs(surfaces.soft, options, a, b, k, before, e1, e2, blocks, record_io)
        remember(i, k, surfaces.link[a], surfaces.link[b], e1, e2, blocks, motion.links, sight.memory)
        kt = twist_of(k, blocks)
        if kt >= 0:
            turning, _, _ = row_velocity(blocks, kt, motion.dof[BEFORE])
            load, depth = blocks.r[3 * k] / options.force_h, -blocks.number[k, GAP]
            end_twist(
                surfaces.soft, options, a, b, i, kt, turning, load, depth, lateral, blocks, sight.memory,
                record_io,
            )  # fmt: skip
        free = row_velocity(blocks, k, motion.dof[FREE])
        set_law(options.cone, plus, minus, lateral, k, free, blocks, ws.push)
    judge_contacts(options.tolerance, speed, contacts.shape, motion.dof[NEW], blocks, record_io)
    record_io[UNCONVERGED], record_io[AT_ROUNDING] = unsolved, at_rounding
    restore_laws(motion.dof[FREE], ws.push, blocks)
    return 0
