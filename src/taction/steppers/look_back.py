"""What a half flight changes of relative velocities, measured, and laws that allow for it.

What it solves: the offsets of `taction.steppers.schemes.half_flight`, whose equations and names are used:
u_n where the step starts, at q, and u⁻ where it looks, at q_M.

Method
1. `note_start`, before the flight: where links are and how they move, energies, shapes placed, velocities of
   loops.
2. `look_back`, with the elements gathered at q_M: the pairs in contact there are searched once more where
   the step started. A contact found under the same identity, closed in both places, *persists*, unless it
   arrives: faster than twice what forces, or the turning of its velocities, make of its normal velocity in a
   step.
   Offsets of persistent contacts and of joints' own rows get what the flight has changed; normal rows of
   others, found in both places, what it has changed towards closing.
What impulses show about these laws is the matter of `taction.steppers.change_laws`.

Writes: offsets of blocks and what depends on them, energies in the record, `Sight.start`, `Motion.start`,
`Motion.loop_start`, `Motion.said`, and the scratch `Memory.back`.

Limits: a contact whose feature changes between q and q_M, as where a box rolls from corner to corner, is new
and follows the exact law, of order 1, for that step. Tendons around bodies, servos and soft contacts hold at
q_M.

References: [StewartTrinkle1996] for the law of contacts that are new.
"""

from __future__ import annotations

import math

from taction._core.jit import call_kernel, inline_kernel, kernel
from taction.contact.assembly import (
    AHEAD,
    FRAME,
    GAP,
    OFFSET,
    SLIDING,
    SLOT,
    SOURCE,
    STRIKES,
    row_velocity,
)
from taction.dynamics.energy import link_energies
from taction.geometry.colliders import place_shapes
from taction.geometry.detect import TRAVEL_WIDTH, approach, collide
from taction.geometry.match import sort_contacts
from taction.kinematics.forward import link_velocities, place_links
from taction.math.vector import add, cross, dot, load3, load9, mat_mul, mat_t_vec, mat_vec, scale, store3, sub
from taction.model.workspace import AXES, OMEGA, ORIGIN, SPEED
from taction.steppers.columns import KINETIC, POTENTIAL
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.elements import ARRIVES, pair_surface
from taction.steppers.free_motion import start_energy
from taction.steppers.judge import fall
from taction.steppers.ledger import spring_energy
from taction.steppers.phases import DONE, MORE_CONTACTS
from taction.steppers.scene import (
    AT_START,
    BEFORE,
    DAMPER,
    FREE,
    GENERAL_ENTRY,
    LOOP_FASTEST,
    LOOP_OMEGA,
    LOOP_SPEED,
    LOOP_TURNS,
    LOST_FLIGHT,
    PERSISTS,
    PLACED,
    POSED_ANEW,
    RIGID,
    START_OMEGA,
    START_ORIGIN,
    START_SPEED,
    START_VELOCITY,
)
from taction.steppers.schemes.base import PRESSED
from taction.steppers.schemes.half_flight import SLIDES
from taction.steppers.schemes.stewart_trinkle import closed_gap
from taction.steppers.tendon_rows import first_tendon

LEAVES = 0.01  # normal velocity that leads apart, as a share of what a step changes it by


@inline_kernel
def start_velocity(i, x, start):
    """Velocity (3) of the point x (3) of link i where the step starts; start (n, START_WIDTH)."""
    arm = sub(x, load3(start, i, START_ORIGIN))
    return add(load3(start, i, START_SPEED), cross(load3(start, i, START_OMEGA), arm))


@kernel
def note_start(scene, options, state, ws, record_out):
    """Step 1: links and shapes where the step starts, energies into record_out (COLUMNS,); returns 0."""
    tree, motion, links = scene.tree, ws.motion, ws.motion.links
    motion.said[POSED_ANEW] = motion.said[LOST_FLIGHT] = 0
    # Energies are those of the closed joints, velocities those of the bodies as they fly
    if has_joint_rows(options):
        start_energy(tree, scene.own, options, state.q, state.v, motion, record_out)
        place_links(tree, state.last, links)
        link_velocities(tree, state.v, links)
    else:
        place_links(tree, state.q, links)
        link_velocities(tree, state.v, links)
        kinetic, potential = link_energies(tree, state.v, links)
        record_out[KINETIC] = kinetic
        record_out[POTENTIAL] = spring_energy(scene.own, state.q) + potential
        motion.said[PLACED] = AT_START
    for i in range(tree.parent.shape[0]):
        store3(load3(links, i, ORIGIN), i, START_ORIGIN, motion.start)
        store3(load3(links, i, SPEED), i, START_SPEED, motion.start)
        store3(load3(links, i, OMEGA), i, START_OMEGA, motion.start)
    if scene.colliders.kind.shape[0] > 0:
        place_shapes(scene.colliders, links, ws.back.placed)
    loops = scene.joints.loops
    for i in range(loops.turning.shape[0]):
        a, b = loops.link[i, 0], loops.link[i, 1]
        A, B = load9(links, a, AXES), load9(links, b, AXES)
        xa = add(load3(links, a, ORIGIN), mat_vec(A, load3(loops.point, 2 * i, 0)))
        xb = add(load3(links, b, ORIGIN), mat_vec(B, load3(loops.point, 2 * i + 1, 0)))
        middle, frame = scale(0.5, add(xa, xb)), mat_mul(A, load9(loops.axes, 2 * i, 0))
        ua, ub = start_velocity(a, middle, motion.start), start_velocity(b, middle, motion.start)
        wa, wb = load3(motion.start, a, START_OMEGA), load3(motion.start, b, START_OMEGA)
        store3(mat_t_vec(frame, sub(ua, ub)), i, LOOP_SPEED, motion.loop_start)
        store3(mat_t_vec(frame, sub(wa, wb)), i, LOOP_OMEGA, motion.loop_start)
        motion.loop_start[i, LOOP_FASTEST] = math.sqrt(max(dot(ua, ua), dot(ub, ub)))
        motion.loop_start[i, LOOP_TURNS] = math.sqrt(max(dot(wa, wa), dot(wb, wb)))
    return 0


@inline_kernel
def closed_at_start(options):
    """Gap up to which a contact that did not press counts as closed where the step starts [m].

    What the rule lets be where the step looks is closed there and here: of the points of a face some carry
    nothing for a step, a micrometre open, and load that comes back to them is none that strikes.
    """
    return max(PRESSED, closed_gap(options.h, False))


@inline_kernel
def may_persist(options, sight, blocks, k, motion):
    """Whether the contact of block k pressed in the step before, or may have been closed where this began."""
    i = blocks.index[k, SOURCE]
    if sight.warm[i, 0] != 0.0:
        return True
    u, _, _ = row_velocity(blocks, k, motion.dof[BEFORE])
    return blocks.number[k, GAP] <= closed_at_start(options) + 2.0 * options.h * abs(u)


@kernel
def search_start(scene, options, ws):
    """Contacts of pairs that may persist, where the step starts, into ws.back; returns what is missing."""
    colliders, sight, back, blocks = scene.colliders, ws.sight, ws.back, ws.blocks
    back.contacts.count[0] = back.pair_count[0] = general = 0
    last_a = last_b = -1
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0 or not may_persist(options, sight, blocks, k, ws.motion):
            continue
        a, b = sight.contacts.shape[i, 0], sight.contacts.shape[i, 1]
        if a == last_a and b == last_b:
            continue
        last_a, last_b = a, b
        for c in range(TRAVEL_WIDTH):
            back.travel[a, c], back.travel[b, c] = sight.travel[a, c], sight.travel[b, c]
        margin = approach(sight.travel, a, b)
        if collide(colliders, back.placed, a, b, margin, back.narrow, back.contacts) > 0:
            n = back.pair_count[0]
            back.pairs[n, 0], back.pairs[n, 1], back.pair_count[0] = a, b, n + 1
            general += 1
    if general > 0:
        call_kernel(sight.entry[GENERAL_ENTRY], (colliders, back))
    if back.contacts.count[0] > back.contacts.gap.shape[0]:
        return MORE_CONTACTS
    sort_contacts(back.contacts)
    return DONE


@inline_kernel
def velocity_at_start(scene, contacts, j, start):
    """Velocity (3), and normal (3), of contact j where the step starts."""
    x, n, gap = load3(contacts.point, j, 0), load3(contacts.normal, j, 0), contacts.gap[j]
    first = scene.surfaces.link[contacts.shape[j, 0]]
    second = scene.surfaces.link[contacts.shape[j, 1]]
    apart = 0.0 if first != 0 and second != 0 else 0.5 * gap  # as where the step looks
    on_first, on_second = add(x, scale(apart, n)), add(x, scale(-apart, n))
    return sub(start_velocity(first, on_first, start), start_velocity(second, on_second, start)), n


@inline_kernel
def allow(k, c, change, blocks_io):
    """Add to the offset of row c of block k what its velocity changes by."""
    blocks_io.number[k, OFFSET + c] += change
    blocks_io.number[k, AHEAD + c] += change


@inline_kernel
def close_in(scene, options, a, b, k, was, now, blocks_io):
    """Let the law of block k, new and of shapes a and b that do not bounce, heed that it closes ever faster.

    was, now: its normal velocity where the step starts and here; joints turn links off straight ways.
    What led apart counts as nothing, so that impulses do no work.
    """
    change = min(now, 0.0) - min(was, 0.0)
    if change < 0.0 and pair_surface(scene.surfaces, options.combine, a, b)[3] == 0.0:
        allow(k, 0, change, blocks_io)


@kernel
def compare_contact(scene, options, i, j, k, ws):
    """Offsets of block k, contact i here and contact j where the step started, if it persists."""
    sight, back, blocks, motion = ws.sight, ws.back, ws.blocks, ws.motion
    u, n = velocity_at_start(scene, back.contacts, j, motion.start)
    F = load9(blocks.number, k, FRAME)
    t1, t2 = (F[1], F[4], F[7]), (F[2], F[5], F[8])
    normal = dot(n, u)
    slide = sub(u, scale(normal, n))
    was = (normal, dot(t1, slide), dot(t2, slide))
    now, free = row_velocity(blocks, k, motion.dof[BEFORE]), row_velocity(blocks, k, motion.dof[FREE])
    # Closed in both places, and neither bouncing nor arriving
    is_pressed = sight.warm[i, 0] > 0.0
    pace = max(fall(scene.tree, options.h), abs(free[0] - now[0]), abs(now[0] - was[0]))
    is_closed = is_pressed or back.contacts.gap[j] <= closed_at_start(options)
    arrives = blocks.index[k, STRIKES] == 1 and was[0] < -ARRIVES * fall(scene.tree, options.h)
    if arrives or not is_closed or blocks.number[k, OFFSET] < 0.0 or abs(was[0]) > ARRIVES * pace:
        a, b = sight.contacts.shape[i, 0], sight.contacts.shape[i, 1]
        close_in(scene, options, a, b, k, was[0], now[0], blocks)
        return
    sight.start[i, PERSISTS] = 1.0
    blocks.index[k, STRIKES] = 0
    slid = sight.memory[i, SLIDES] > 0.0
    for c in range(3):
        sight.start[i, START_VELOCITY + c] = was[c]
        # What leads apart by more than errors of a step is not asked for again: it would work
        leaves = c == 0 and was[0] > LEAVES * pace
        allow(k, c, now[c] - (0.0 if leaves else was[c]), blocks)
        if slid and c > 0:
            blocks.number[k, SLIDING + c] = was[c]
            blocks.number[k, OFFSET + c] += was[c]


@kernel
def look_back(scene, options, state, ws):
    """Step 2: the offsets of what persists, with the elements gathered; returns what is missing."""
    sight, back, blocks, motion = ws.sight, ws.back, ws.blocks, ws.motion
    contacts, found, constant = sight.contacts, 0, 3 * state.v.shape[0] + scene.joints.follower.shape[0]
    back.contacts.count[0] = 0
    if options.soft == RIGID and contacts.count[0] > 0:
        missing = search_start(scene, options, ws)
        if missing != DONE:
            return missing
        found = back.contacts.count[0]
    j = 0
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i >= 0 and options.soft == RIGID:
            # Contacts come in the order of their keys in both lists
            sight.start[i, PERSISTS] = 0.0
            blocks.index[k, STRIKES] = max(blocks.index[k, STRIKES], 1)
            a, b, feature = contacts.shape[i, 0], contacts.shape[i, 1], contacts.feature[i]
            while j < found and is_before(back.contacts, j, a, b, feature):
                j += 1
            if j < found and is_same(back.contacts, j, a, b, feature):
                compare_contact(scene, options, i, j, k, ws)
                j += 1
        elif i == DAMPER:
            # Viscous friction asks for the velocity of the contact before it
            for c in range(1, 3):
                allow(k, c, blocks.number[k - 1, AHEAD + c], blocks)
        elif i == -1:
            allow_joints(k, constant, first_tendon(scene), scene.transmissions, state, motion, blocks)
    return DONE


@inline_kernel
def turns_never(slot, constant, first, tendons):
    """Whether the direction of a row is the same everywhere: of joints, and of tendons that add joints.

    constant: how many slots those of joints and couplings are; first: slot of the first transmission.
    """
    t = (slot - first) // 4
    if slot >= first and t < tendons.lower.shape[0]:
        return tendons.start[t + 1] > tendons.start[t] and tendons.first[t + 1] == tendons.first[t]
    return 0 <= slot < constant


@inline_kernel
def allow_joints(k, constant, first, tendons, state, motion, blocks_io):
    """Offsets of the rows of block k whose directions do not turn, see `turns_never`."""
    for c in range(3):
        if turns_never(blocks_io.index[k, SLOT + c], constant, first, tendons):
            u, v = row_velocity(blocks_io, k, motion.dof[BEFORE]), row_velocity(blocks_io, k, state.v)
            change = u[0] - v[0] if c == 0 else (u[1] - v[1] if c == 1 else u[2] - v[2])
            allow(k, c, change, blocks_io)


@inline_kernel
def is_before(contacts, j, a, b, feature):
    """Whether contact j comes before the key (a, b, feature)."""
    if contacts.shape[j, 0] != a:
        return contacts.shape[j, 0] < a
    if contacts.shape[j, 1] != b:
        return contacts.shape[j, 1] < b
    return contacts.feature[j] < feature


@inline_kernel
def is_same(contacts, j, a, b, feature):
    """Whether contact j has the key (a, b, feature)."""
    return contacts.shape[j, 0] == a and contacts.shape[j, 1] == b and contacts.feature[j] == feature
