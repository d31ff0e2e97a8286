"""The spring about the normal of a soft contact: one body turns against the other, which is sliding, too.

A moment −κ φ − d φ̇ about the normal, φ the turn since the bodies touched, bounded by what friction holds over
the patch of contact (`taction.contact.forces.spring_damper`); where it would be more, the anchor turns. A row
of its own that follows the contact, whose impulse is given, or in the implicit way an interval with
compliance,

    −(ω + Λ / (h (h κ + d)) + κ φ / (h κ + d)) ∈ N_[−h M, h M](Λ),

M from the normal force at the start of the step. Works and energies are booked as those of the tangential
spring (`taction.steppers.soft_contacts`).

References: [DuindamStramigioli2003, Section 5]; [Johnson1985, Section 7.2].
"""

from __future__ import annotations

from taction._core.jit import inline_kernel
from taction.contact.assembly import (
    AHEAD,
    COMPLIANCE,
    OFFSET,
    SOURCE,
    SPRING_IMPULSE,
    SPRING_LOSS,
    STRETCH,
    VELOCITY,
    pair_rows,
    row_velocity,
)
from taction.contact.forces.soft_pair import CURVATURE, twist_spring
from taction.contact.forces.spring_damper import holding_moment
from taction.steppers.columns import ELASTIC, FRICTION, STORED, STORED_AFTER
from taction.steppers.elements import hold, open_box, set_free_row
from taction.steppers.scene import BEFORE, DAMPER, IMPLICIT, TWIST

# Column of a contact's memory: the angle by which the spring is turned [rad]; and how many there are in all
TURN, SOFT_KEPT = 6, 7
SAME = 1e-9  # a stretch that differs by less, relatively, is that of an anchor at rest


@inline_kernel
def add_twist(scene, options, a, b, i, kt, lateral, load, depth, frame, memory, ws, blocks_io):
    """The spring about the normal of contact i of shapes a and b, if there is one, as block kt.

    load: normal force [N] at the start, whose friction bounds its moment.
    """
    soft, h, surfaces = scene.surfaces.soft, options.force_h, scene.surfaces
    k, d = twist_spring(soft, a, b)
    if k == 0.0:
        return
    x, number = (0.0, 0.0, 0.0), blocks_io.number
    first, second = surfaces.link[a], surfaces.link[b]
    pair_rows(scene.tree, scene.chains, first, second, True, x, x, frame, kt, ws.links, blocks_io)
    open_box(kt, blocks_io)
    blocks_io.index[kt, SOURCE] = TWIST
    most = holding_moment(lateral, load, depth, soft[a, CURVATURE] + soft[b, CURVATURE])
    turn = memory[i, TURN]
    number[kt, SPRING_LOSS] = number[kt, SPRING_IMPULSE] = 0.0
    number[kt, STRETCH] = turn
    if options.soft == IMPLICIT:
        stiff = h * k + d
        set_free_row(kt, 0, -h * most, h * most, k * turn / stiff, 0.0, blocks_io)
        number[kt, COMPLIANCE] = 1.0 / (h * stiff)
        return
    elastic = min(max(-k * turn, -most), most)
    u = row_velocity(blocks_io, kt, ws.dof[BEFORE])
    hold(kt, h * min(max(elastic - d * u[0], -most), most), 0.0, 0.0, blocks_io)
    held = -elastic / k
    number[kt, STRETCH], number[kt, SPRING_IMPULSE] = held, h * elastic
    number[kt, SPRING_LOSS] = 0.5 * k * (turn * turn - held * held)


@inline_kernel
def end_twist(soft, options, a, b, i, kt, before, load, depth, lateral, blocks, memory_io, record_io):
    """Work, energy and memory of the spring about the normal of contact i, block kt; turning before (1)."""
    h, t, number = options.force_h, options.ahead * options.h, blocks.number
    k, _ = twist_spring(soft, a, b)
    turn, u, loss = number[kt, STRETCH], number[kt, VELOCITY], number[kt, SPRING_LOSS]
    if options.soft == IMPLICIT:
        way = number[kt, COMPLIANCE] * blocks.r[3 * kt] + number[kt, OFFSET] - number[kt, AHEAD]
        end = turn - h * way
        number[kt, SPRING_IMPULSE] = -h * k * end
    else:
        most = holding_moment(lateral, load, depth, soft[a, CURVATURE] + soft[b, CURVATURE]) / k
        end = min(max(turn + h * u, -most), most)
    work = number[kt, SPRING_IMPULSE] * 0.5 * (u + before)
    start, after, lost = 0.5 * k * turn * turn, 0.5 * k * end * end, loss
    if abs(turn + h * u - end) > SAME * abs(turn + h * u):
        lost += max(-work - (after - start), 0.0)
    else:
        after = 0.5 * k * (end - t * u) * (end - t * u)
        if loss == 0.0:
            start = 0.5 * k * (turn - t * before) * (turn - t * before)
    record_io[ELASTIC] += work
    record_io[FRICTION] -= work + lost
    record_io[STORED] += start + loss
    record_io[STORED_AFTER] += after
    memory_io[i, TURN] = end


@inline_kernel
def twist_of(k, blocks):
    """Block of the spring about the normal that follows contact k, −1 for none."""
    for kt in range(k + 1, min(k + 3, blocks.count[0])):
        if blocks.index[kt, SOURCE] == TWIST:
            return kt
        if blocks.index[kt, SOURCE] != DAMPER:
            return -1
    return -1
