"""The force elements of one step, gathered into blocks: contacts, loops, couplings, limits, joint friction.

Blocks come in a fixed order: contacts as detected, then mimic couplings, then loops, then the joints' own
rows three to a block (stops first, then dry friction, by degree of freedom), then tendons
(`taction.steppers.tendon_rows`), then servos (`taction.steppers.servo_rows`); in absolute coordinates the
joints themselves with theirs (`taction.steppers.ties`). Each row knows its position violation (`GAP`), for
the correction of drift, and where its impulse is kept between steps (`SLOT`).

| element | rows | set | offset |
|---|---|---|---|
| contact | normal, t₁, t₂ | friction cone; half-line if μ = 0; moved by adhesion | by the scheme |
| viscous friction of a contact | t₁, t₂ | all reals, compliance 1/(c h) | that of the contact |
| loop | 3 of position; 0, 2 or 3 of orientation | all reals | 0 |
| mimic coupling | v_f − k v_l | all reals | 0 |
| stop of a joint | ± v | half-line | by the scheme, e = 0 |
| dry friction of a joint | v | ± h τ_dry | 0 |
| servo at its limits, or along a tendon | Σ c v | h times its limits | `taction.steppers.servo_rows` |

Surfaces. Friction coefficients of a pair come from both shapes: the smaller, the larger, or the geometric
mean, as the world says or else the shapes themselves: of two that differ the larger wins over the smaller,
both over the mean, and what is said over what is not (smaller). A shape of higher priority gives its own
numbers alone. Two shapes marked as slick have no friction, one of them alone takes part with its number.
Restitution is the larger of the two; a pair may have its own numbers instead. A shape whose
friction differs by direction fixes the tangents: t₁ is its x-axis in the tangent plane, and the partner
counts with its first coefficient. Otherwise t₁ is the world's x-axis in that plane, or its y-axis where x is
too close to the normal.

Viscous friction. A closed contact of shapes with a coefficient c [N s/m], the larger of both, has a second
block that follows it: u_T + Λ/(c h) = 0, a damper beside Coulomb's law. Its impulse adds to that of the
contact.

Adhesion. A pair of shapes holds on with the force c, the larger of its two materials' or its own. Its
contact points share it evenly: c h / n each, with n the points within `PRESSED` of each other. Only a
point that is closed may pull; one that lets go pulls with all it has in that step, and is open in the
next. Points that hold count as loaded in the rules, like those that press. In a collision, which takes no
time, a force gives no impulse.

References: [Moreau1988] for force elements with offsets; [Fremond1988] for adhesion.
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
    ROW_DOF,
    ROW_SIGN,
    SLIDING,
    SLOT,
    SOURCE,
    pair_rows,
    row_velocity,
)
from taction.contact.joint_rows import is_void, joint_rows, plane_frame
from taction.contact.laws.dispatch import BOX, contact_set
from taction.geometry.colliders import PLACED_AXES
from taction.math.vector import (
    add,
    cross,
    dot,
    load3,
    load9,
    mat_mul,
    mat_vec,
    scale,
    sub,
)
from taction.model.workspace import ALPHA, AXES, ORIGIN
from taction.steppers.contact_path import path_offset, slide_before, velocity_acceleration
from taction.steppers.scene import BEFORE, DAMPER, FREE
from taction.steppers.schemes.base import PRESSED, SLOP
from taction.steppers.schemes.dispatch import contact_offset
from taction.steppers.touch import touch_points

# Columns of the surface parameters of a shape or pair
FRICTION_X, FRICTION_Y, FRICTION_BACK, RESTITUTION, ADHESION = range(5)
RULE, PRIORITY, SLICK, SURFACE_WIDTH = range(5, 9)
UPRIGHT = 1.0 - 1e-9  # |n·x| above which a shape's own axis has no direction in the tangent plane
# How the friction of two shapes is combined; as the shapes themselves say, or, of a shape, not said
SMALLER, LARGER, MEAN, THEIR_OWN = 0, 1, 2, -1
# A contact that pulls with all but this share of what it can lets go
LETTING_GO = 1e-6
# A stop takes part while it is nearer than this [rad or m], or than the joint moves in two steps
STOP_REACH = 1e-3


@inline_kernel
def combine(rule, a, b):
    """Friction coefficient of a pair."""
    if rule == SMALLER:
        return min(a, b)
    if rule == LARGER:
        return max(a, b)
    return math.sqrt(a * b)


@inline_kernel
def pair_rule(rule, one, two):
    """How a pair combines: as the world says (rule), or by the rules of its shapes."""
    if rule != THEIR_OWN:
        return rule
    if one == LARGER or two == LARGER:
        return LARGER
    return MEAN if max(one, two) == MEAN and min(one, two) != SMALLER else SMALLER


@inline_kernel
def friction_of(s, rule, one, other, column):
    """Coefficient of shape ``one`` along a column of its surface against shape ``other``; s (n, ·)."""
    if s[one, PRIORITY] > s[other, PRIORITY]:
        return s[one, column] * (1.0 - s[one, SLICK])
    if s[one, PRIORITY] < s[other, PRIORITY]:
        return s[other, FRICTION_X] * (1.0 - s[other, SLICK])
    if s[one, SLICK] * s[other, SLICK] > 0.0:
        return 0.0
    return combine(pair_rule(rule, s[one, RULE], s[other, RULE]), s[one, column], s[other, FRICTION_X])


@inline_kernel
def find_pair(keys, key):
    """Index of key in keys (m,), ascending, or −1."""
    low, high = 0, keys.shape[0] - 1
    while low <= high:
        middle = (low + high) // 2
        if keys[middle] == key:
            return middle
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@inline_kernel
def is_directed(surface, i):
    """Whether the friction of shape i differs by direction."""
    return (
        surface[i, FRICTION_Y] != surface[i, FRICTION_X]
        or surface[i, FRICTION_BACK] != surface[i, FRICTION_X]
    )


@inline_kernel
def pair_surface(surfaces, rule, a, b):
    """(sliding +t₁, lateral, −t₁, restitution, adhesion, shape that fixes tangents or −1) of shapes a, b."""
    s = surfaces.shape
    at = find_pair(surfaces.pair_key, a * s.shape[0] + b)
    if at >= 0:
        p = surfaces.pair
        axis = a if is_directed(p, at) else -1
        forward, lateral, backward = p[at, FRICTION_X], p[at, FRICTION_Y], p[at, FRICTION_BACK]
        return forward, lateral, backward, p[at, RESTITUTION], p[at, ADHESION], axis
    axis, other = -1, b
    if is_directed(s, a):
        axis = a
    elif is_directed(s, b):
        axis, other = b, a
    one = axis if axis >= 0 else a
    forward = friction_of(s, rule, one, other, FRICTION_X)
    lateral = friction_of(s, rule, one, other, FRICTION_Y)
    backward = friction_of(s, rule, one, other, FRICTION_BACK)
    if axis == b:  # the partner slides forward where this shape slides backward
        forward, backward = backward, forward
    restitution, adhesion = max(s[a, RESTITUTION], s[b, RESTITUTION]), max(s[a, ADHESION], s[b, ADHESION])
    return forward, lateral, backward, restitution, adhesion, axis


@inline_kernel
def contact_frame(n, axis, limit):
    """Frame with columns (n, t₁, t₂) whose t₁ is the given axis in the tangent plane, if it leans enough."""
    if abs(dot(n, axis)) > limit:
        axis = (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0)
    t = sub(axis, scale(dot(n, axis), n))
    t1 = scale(1.0 / math.sqrt(dot(t, t)), t)
    t2 = cross(n, t1)
    return n[0], t1[0], t2[0], n[1], t1[1], t2[1], n[2], t1[2], t2[2]


@inline_kernel
def surface_frame(n, placed, axis_shape):
    """Frame (9) with the normal n (3) whose tangents are fixed by the x-axis of a shape, or of the world."""
    axis, limit = (1.0, 0.0, 0.0), 0.95
    if axis_shape >= 0:
        R = load9(placed, axis_shape, PLACED_AXES)
        axis, limit = (R[0], R[3], R[6]), UPRIGHT
    return contact_frame(n, axis, limit)


@inline_kernel
def shared_hold(contacts, i, total):
    """What point i may pull with [N s], if it is closed: its share of the pair's total."""
    if total == 0.0:
        return 0.0
    points = 0
    for j in range(contacts.count[0]):
        a, b = contacts.shape[j, 0], contacts.shape[j, 1]
        is_same = a == contacts.shape[i, 0] and b == contacts.shape[i, 1]
        if is_same and contacts.gap[j] <= PRESSED:
            points += 1
    return total / max(points, 1)


@inline_kernel
def is_loaded(hold, impulse):
    """Whether a contact pressed in the step before, or held on without letting go."""
    return impulse > 0.0 or (impulse < 0.0 and impulse > -(1.0 - LETTING_GO) * hold)


@inline_kernel
def turning_acceleration(first, second, x, n, ws):
    """Normal acceleration of link first against second at x that velocities cause; gravity cancels."""
    return dot(n, sub(velocity_acceleration(first, x, ws), velocity_acceleration(second, x, ws)))


@inline_kernel
def add_path(h, size, first, second, x, n, frame, i, k, memory, ws, blocks_io):
    """Add to the offsets of block k what the path of contact i makes of its velocities."""
    path = path_offset(h, size, first, second, x, n, frame, i, memory, ws)
    slide1, slide2 = slide_before(h, frame, i, memory)
    for c in range(3):
        blocks_io.number[k, OFFSET + c] += path[c]
    blocks_io.number[k, SLIDING + 1], blocks_io.number[k, SLIDING + 2] = slide1, slide2
    blocks_io.number[k, OFFSET + 1] += slide1
    blocks_io.number[k, OFFSET + 2] += slide2


@inline_kernel
def open_box(k, blocks_io):
    """Make block k a box whose rows carry nothing yet."""
    blocks_io.rows.kind[k] = BOX
    blocks_io.index[k, SOURCE] = -1
    for c in range(6):
        blocks_io.rows.sets[k, c] = 0.0
    for c in range(3):
        blocks_io.index[k, SLOT + c] = blocks_io.index[k, ROW_DOF + c] = -1
        blocks_io.number[k, OFFSET + c] = blocks_io.number[k, GAP + c] = blocks_io.r[3 * k + c] = 0.0
        blocks_io.number[k, COMPLIANCE + c] = blocks_io.number[k, AHEAD + c] = 0.0
    blocks_io.count[0] = k + 1


@inline_kernel
def set_free_row(k, c, low, high, offset, guess, blocks_io):
    """Interval, offset and first impulse of row c of the box k, which holds no position and has no memory."""
    blocks_io.rows.sets[k, 2 * c], blocks_io.rows.sets[k, 2 * c + 1] = low, high
    blocks_io.number[k, OFFSET + c] = offset
    blocks_io.r[3 * k + c] = guess


@inline_kernel
def add_damper(viscous, k, v, blocks_io):
    """Block k + 1, whose rows are those of contact k, is its viscous friction [kg]; v (nv,) before."""
    open_box(k + 1, blocks_io)
    blocks_io.index[k + 1, SOURCE] = DAMPER
    before = row_velocity(blocks_io, k + 1, v)
    for c in range(1, 3):
        offset = blocks_io.number[k, OFFSET + c]
        set_free_row(k + 1, c, -math.inf, math.inf, offset, -viscous * (before[c] + offset), blocks_io)
        blocks_io.number[k + 1, COMPLIANCE + c] = 1.0 / viscous


@kernel
def gather_contacts(tree, chains, surfaces, options, colliders, sight, ws, blocks_io):
    """Add every contact that the scheme takes as a block; ws: scratch, with velocities before and free."""
    contacts, placed, warm = sight.contacts, sight.placed, sight.warm
    for i in range(contacts.count[0]):
        k = blocks_io.count[0]
        a, b = contacts.shape[i, 0], contacts.shape[i, 1]
        forward, lateral, backward, restitution, adhesion, shape = pair_surface(
            surfaces, options.combine, a, b
        )
        first, second = surfaces.link[a], surfaces.link[b]
        n, on_first, on_second, gap = touch_points(
            colliders, placed, options.h, restitution, contacts, i, ws.links
        )
        frame = surface_frame(n, placed, shape)
        x = scale(0.5, add(on_first, on_second))
        pair_rows(tree, chains, first, second, False, on_first, on_second, frame, k, ws.links, blocks_io)
        before, _, _ = row_velocity(blocks_io, k, ws.dof[BEFORE])
        free, _, _ = row_velocity(blocks_io, k, ws.dof[FREE])
        turning = 0.0
        if options.needs_turning:
            turning = turning_acceleration(first, second, x, n, ws.links)
        hold = shared_hold(contacts, i, options.force_h * adhesion)
        loaded = is_loaded(hold, warm[i, 0])
        takes_part, offset = contact_offset(
            options.rule, gap, options.h, restitution, before, free, turning, loaded
        )
        if contacts.gap[i] > (PRESSED if loaded else SLOP):
            hold = 0.0
        if not takes_part and not (hold > 0.0 and options.asks_free_motion):
            continue  # what leads apart is held, where the rule asks the free motion
        rows = blocks_io.rows
        rows.kind[k] = contact_set(options.cone, backward, forward, lateral, hold, rows.sets[k])
        for c in range(3):
            blocks_io.number[k, OFFSET + c] = blocks_io.number[k, GAP + c] = 0.0
            blocks_io.number[k, COMPLIANCE + c] = blocks_io.number[k, SLIDING + c] = 0.0
            blocks_io.number[k, AHEAD + c] = 0.0
            blocks_io.index[k, SLOT + c] = -1
            blocks_io.r[3 * k + c] = warm[i, c]
        blocks_io.number[k, OFFSET] = offset
        if options.is_split and loaded:
            size = min(colliders.bound[a], colliders.bound[b])
            add_path(options.h, size, first, second, x, n, frame, i, k, sight.memory, ws.links, blocks_io)
        blocks_io.number[k, GAP] = contacts.gap[i]
        for c in range(9):
            blocks_io.number[k, FRAME + c] = frame[c]
        blocks_io.index[k, SOURCE] = i
        blocks_io.count[0] = k + 1
        viscous = options.force_h * max(surfaces.viscous[a], surfaces.viscous[b])
        if viscous > 0.0 and contacts.gap[i] <= PRESSED:
            pair_rows(
                tree, chains, first, second, False, on_first, on_second, frame, k + 1, ws.links, blocks_io
            )
            add_damper(viscous, k, ws.dof[BEFORE], blocks_io)


@inline_kernel
def set_row(joint_impulse, k, c, low, high, offset, gap, slot, blocks_io):
    """Interval, offset, violation and memory of row c of the box k."""
    set_free_row(k, c, low, high, offset, joint_impulse[slot], blocks_io)
    blocks_io.number[k, GAP + c] = gap
    blocks_io.index[k, SLOT + c] = slot


@kernel
def gather_loop(tree, chains, loops, is_split, h, joint_impulse, i, first_slot, ws, blocks_io):
    """Add the blocks of loop i: rows of position, and of orientation if it has them; void ones are still."""
    a, b = loops.link[i, 0], loops.link[i, 1]
    A, B = load9(ws, a, AXES), load9(ws, b, AXES)
    xa = add(load3(ws, a, ORIGIN), mat_vec(A, load3(loops.point, 2 * i, 0)))
    xb = add(load3(ws, b, ORIGIN), mat_vec(B, load3(loops.point, 2 * i + 1, 0)))
    A, B = mat_mul(A, load9(loops.axes, 2 * i, 0)), mat_mul(B, load9(loops.axes, 2 * i + 1, 0))
    apart = sub(xa, xb)
    k = blocks_io.count[0]
    middle = scale(0.5, add(xa, xb))
    pair_rows(tree, chains, a, b, False, middle, middle, A, k, ws, blocks_io)
    open_box(k, blocks_io)
    half, a_rel, alpha = 0.5 * h, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if is_split:  # velocities are those half a step on
        a_rel = sub(velocity_acceleration(a, xa, ws), velocity_acceleration(b, xb, ws))
        alpha = sub(load3(ws, a, ALPHA), load3(ws, b, ALPHA))
    reach = max(abs(middle[0]), abs(middle[1]), abs(middle[2]))
    F = plane_frame(k, A, reach, blocks_io)
    pair_rows(tree, chains, a, b, False, middle, middle, F, k, ws, blocks_io)
    for c in range(3):
        bound = 0.0 if is_void(k, c, reach, blocks_io) else math.inf
        gap = F[c] * apart[0] + F[3 + c] * apart[1] + F[6 + c] * apart[2]
        offset = half * (F[c] * a_rel[0] + F[3 + c] * a_rel[1] + F[6 + c] * a_rel[2])
        set_row(joint_impulse, k, c, -bound, bound, offset, gap, first_slot + c, blocks_io)
    turning = loops.turning[i]
    if turning == 0:
        return
    # rotation of a against b, to first order
    e = (0.0, 0.0, 0.0)
    for c in range(3):
        e = add(e, cross((B[c], B[3 + c], B[6 + c]), (A[c], A[3 + c], A[6 + c])))
    k += 1
    pair_rows(tree, chains, a, b, True, middle, middle, A, k, ws, blocks_io)
    if turning == 3:
        A = plane_frame(k, A, 0.0, blocks_io)
        pair_rows(tree, chains, a, b, True, middle, middle, A, k, ws, blocks_io)
    open_box(k, blocks_io)
    for c in range(turning):
        bound = 0.0 if is_void(k, c, 0.0, blocks_io) else math.inf
        gap = 0.5 * (A[c] * e[0] + A[3 + c] * e[1] + A[6 + c] * e[2])
        offset = half * (A[c] * alpha[0] + A[3 + c] * alpha[1] + A[6 + c] * alpha[2])
        set_row(joint_impulse, k, c, -bound, bound, offset, gap, first_slot + 3 + c, blocks_io)


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
    is_near = gap <= STOP_REACH + 2.0 * options.h * max(abs(v), abs(free))
    return takes_part and is_near, sign, 0.0, math.inf, offset, gap


@kernel
def gather_joint_rows(tree, chains, joints, iq, options, free, q, v, joint_impulse, blocks_io):
    """Add stops and dry friction of all joints, three rows to a block."""
    place, k = 3, -1
    for kind in range(3):
        for d in range(v.shape[0]):
            limit, at = joints.lower[d] if kind == 0 else joints.upper[d], q[iq[d]] if iq[d] >= 0 else 0.0
            takes_part, sign, low, high, offset, gap = joint_row(
                limit, joints.dry[d], options, kind, at, v[d], free[d]
            )
            if not takes_part:
                continue
            if place == 3:
                k, place = blocks_io.count[0], 0
                open_box(k, blocks_io)
            set_row(joint_impulse, k, place, low, high, offset, gap, kind * v.shape[0] + d, blocks_io)
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
        set_row(joint_impulse, k, 0, -math.inf, math.inf, 0.0, gap, slot + i, blocks_io)
    slot += joints.follower.shape[0]
    for i in range(joints.loops.turning.shape[0]):
        gather_loop(
            tree, chains, joints.loops, options.is_split, options.h, joint_impulse, i, slot + 6 * i, ws.links,
            blocks_io,
        )  # fmt: skip
    gather_joint_rows(tree, chains, joints, iq, options, ws.dof[FREE], q, v, joint_impulse, blocks_io)
