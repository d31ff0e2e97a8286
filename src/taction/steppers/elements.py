"""The force elements of one step, gathered into blocks: contacts, loops, couplings, limits, joint friction.

Blocks come in a fixed order: contacts as detected, then mimic couplings, then loops, then the joints' own rows
three to a block (stops first, then dry friction, by degree of freedom). Each row knows its position violation
(`Memory.gap`), for the correction of drift, and where its impulse is kept between steps (`Memory.slot`).

| element | rows | set | offset |
|---|---|---|---|
| contact | normal, t₁, t₂ | friction cone; half-line if μ = 0 | by the rule (`taction.steppers.rules`) |
| loop | 3 of position; 0, 2 or 3 of orientation | all reals | 0 |
| mimic coupling | v_f − k v_l | all reals | 0 |
| stop of a joint | ± v | half-line | by the rule, e = 0 |
| dry friction of a joint | v | ± h τ_dry | 0 |

Surfaces. Friction coefficients of a pair come from both shapes: the smaller, the larger, or the geometric mean,
as the world says; restitution is the larger of the two; a pair may have its own numbers instead. A shape whose
friction differs by direction fixes the tangents: t₁ is its x-axis in the tangent plane, and the partner counts
with its first coefficient. Otherwise t₁ is the world's x-axis in that plane, or its y-axis where x is too
close to the normal.

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import coupling_row, joint_rows, point_rows, row_velocity, turning_rows
from taction.contact.sets import BOX
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
from taction.model.workspace import AXES, ORIGIN
from taction.steppers.rules import contact_offset

# Columns of the surface parameters of a shape or pair
FRICTION_X, FRICTION_Y, FRICTION_BACK, RESTITUTION = 0, 1, 2, 3
# How the friction of two shapes is combined
SMALLER, LARGER, MEAN = 0, 1, 2
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
    return surface[i, FRICTION_Y] != surface[i, FRICTION_X] or surface[i, FRICTION_BACK] != surface[i, FRICTION_X]


@inline_kernel
def pair_surface(scene, options, a, b):
    """(sliding +t₁, lateral, sliding −t₁, restitution, shape that fixes the tangents or −1) of shapes a, b."""
    s = scene.surface
    at = find_pair(scene.pair_key, a * s.shape[0] + b)
    if at >= 0:
        p = scene.pair_surface
        axis = a if is_directed(p, at) else -1
        return p[at, FRICTION_X], p[at, FRICTION_Y], p[at, FRICTION_BACK], p[at, RESTITUTION], axis
    axis, other = -1, b
    if is_directed(s, a):
        axis = a
    elif is_directed(s, b):
        axis, other = b, a
    one = axis if axis >= 0 else a
    mu = s[other, FRICTION_X]
    forward = combine(options.combine, s[one, FRICTION_X], mu)
    lateral = combine(options.combine, s[one, FRICTION_Y], mu)
    backward = combine(options.combine, s[one, FRICTION_BACK], mu)
    if axis == b:  # the partner slides forward where this shape slides backward
        forward, backward = backward, forward
    return forward, lateral, backward, max(s[a, RESTITUTION], s[b, RESTITUTION]), axis


@inline_kernel
def contact_frame(n, axis):
    """Frame with columns (n, t₁, t₂) whose t₁ is the given axis in the tangent plane, if that is possible."""
    if abs(dot(n, axis)) > 0.95:
        axis = (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0)
    t = sub(axis, scale(dot(n, axis), n))
    t1 = scale(1.0 / math.sqrt(dot(t, t)), t)
    t2 = cross(n, t1)
    return n[0], t1[0], t2[0], n[1], t1[1], t2[1], n[2], t1[2], t2[2]


@inline_kernel
def set_cone(cone, forward, lateral, backward, k, ws):
    """Kind and set of block k, a contact with these coefficients."""
    rows = ws.assembly.rows
    for c in range(6):
        rows.sets[k, c] = 0.0
    if forward == 0.0 and lateral == 0.0 and backward == 0.0:
        rows.kind[k] = BOX
        rows.sets[k, 1] = math.inf
        return
    rows.kind[k] = cone
    rows.sets[k, 0], rows.sets[k, 1], rows.sets[k, 2] = backward, forward, lateral


@kernel
def gather_contact(scene, options, v, i, ws):
    """Add contact i as the next block if the rule says so; returns whether it did."""
    k, contacts, placed = ws.assembly.count[0], ws.contacts, ws.placed
    a, b = contacts.shape[i, 0], contacts.shape[i, 1]
    forward, lateral, backward, restitution, axis_shape = pair_surface(scene, options, a, b)
    axis = (1.0, 0.0, 0.0)
    if axis_shape >= 0:
        R = load9(placed, axis_shape, PLACED_AXES)
        axis = (R[0], R[3], R[6])
    frame = contact_frame(load3(contacts.normal, i, 0), axis)
    first, second = scene.colliders.link[a], scene.colliders.link[b]
    x = load3(contacts.point, i, 0)
    point_rows(scene.tree, scene.chains, first, second, x, frame, k, ws.links, ws.assembly)
    before, _, _ = row_velocity(ws.assembly, k, v)
    free, _, _ = row_velocity(ws.assembly, k, ws.v_free)
    takes_part, offset = contact_offset(
        options.rule, contacts.gap[i], options.h, restitution, before, free
    )
    if not takes_part:
        return False
    ws.assembly.offset[3 * k] = offset
    ws.assembly.offset[3 * k + 1] = ws.assembly.offset[3 * k + 2] = 0.0
    set_cone(options.cone, forward, lateral, backward, k, ws)
    ws.gap[3 * k], ws.gap[3 * k + 1], ws.gap[3 * k + 2] = contacts.gap[i], 0.0, 0.0
    ws.source[k] = i
    for c in range(3):
        ws.slot[k, c] = -1
        ws.r[3 * k + c] = ws.warm[i, c]
    for c in range(9):
        ws.frame[k, c] = frame[c]
    ws.assembly.count[0] = k + 1
    return True


@inline_kernel
def open_box(k, ws):
    """Make block k a box whose rows carry nothing yet."""
    rows = ws.assembly.rows
    rows.kind[k] = BOX
    ws.source[k] = -1
    for c in range(6):
        rows.sets[k, c] = 0.0
    for c in range(3):
        ws.slot[k, c] = -1
        ws.assembly.offset[3 * k + c] = ws.gap[3 * k + c] = ws.r[3 * k + c] = 0.0
    ws.assembly.count[0] = k + 1


@inline_kernel
def set_row(joint_impulse, k, c, low, high, offset, gap, slot, ws):
    """Interval, offset, violation and memory of row c of the box k."""
    rows = ws.assembly.rows
    rows.sets[k, 2 * c], rows.sets[k, 2 * c + 1] = low, high
    ws.assembly.offset[3 * k + c] = offset
    ws.gap[3 * k + c] = gap
    ws.slot[k, c] = slot
    ws.r[3 * k + c] = joint_impulse[slot]


@kernel
def gather_loop(scene, joint_impulse, i, first_slot, ws):
    """Add the blocks of loop i: three rows of position, and of orientation where it has them."""
    loops, links = scene.loops, ws.links
    a, b = loops.link[i, 0], loops.link[i, 1]
    A, B = load9(links, a, AXES), load9(links, b, AXES)
    xa = add(load3(links, a, ORIGIN), mat_vec(A, load3(loops.point, 2 * i, 0)))
    xb = add(load3(links, b, ORIGIN), mat_vec(B, load3(loops.point, 2 * i + 1, 0)))
    A, B = mat_mul(A, load9(loops.axes, 2 * i, 0)), mat_mul(B, load9(loops.axes, 2 * i + 1, 0))
    x = scale(0.5, add(xa, xb))
    apart = sub(xa, xb)
    k = ws.assembly.count[0]
    point_rows(scene.tree, scene.chains, a, b, x, A, k, links, ws.assembly)
    open_box(k, ws)
    for c in range(3):
        gap = A[c] * apart[0] + A[3 + c] * apart[1] + A[6 + c] * apart[2]
        set_row(joint_impulse, k, c, -math.inf, math.inf, 0.0, gap, first_slot + c, ws)
    turning = loops.turning[i]
    if turning == 0:
        return
    # rotation of a against b, to first order, along the axes of a
    e = (0.0, 0.0, 0.0)
    for c in range(3):
        e = add(e, cross((B[c], B[3 + c], B[6 + c]), (A[c], A[3 + c], A[6 + c])))
    k += 1
    turning_rows(scene.tree, scene.chains, a, b, A, k, links, ws.assembly)
    open_box(k, ws)
    for c in range(turning):
        gap = 0.5 * (A[c] * e[0] + A[3 + c] * e[1] + A[6 + c] * e[2])
        set_row(joint_impulse, k, c, -math.inf, math.inf, 0.0, gap, first_slot + 3 + c, ws)


@inline_kernel
def gather_joint_rows(scene, options, q, v, joint_impulse, ws):
    """Add stops and dry friction of all joints, three rows to a block."""
    nv = v.shape[0]
    place, k = 3, -1
    for kind in range(3):  # lower stop, upper stop, dry friction
        for d in range(nv):
            sign, low, high, offset, gap = 1.0, 0.0, math.inf, 0.0, 0.0
            if kind == 2:
                if scene.dry[d] <= 0.0:
                    continue
                high = options.h * scene.dry[d]
                low = -high
            else:
                limit = scene.lower[d] if kind == 0 else scene.upper[d]
                sign = 1.0 - 2.0 * kind
                if not abs(limit) < math.inf:
                    continue
                gap = sign * (q[scene.law.iq[d]] - limit)
                if gap > STOP_REACH + 2.0 * options.h * max(abs(v[d]), abs(ws.v_free[d])):
                    continue
                takes_part, offset = contact_offset(
                    options.rule, gap, options.h, 0.0, sign * v[d], sign * ws.v_free[d]
                )
                if not takes_part:
                    continue
            if place == 3:
                k, place = ws.assembly.count[0], 0
                open_box(k, ws)
                ws.row_dof[k, 0] = ws.row_dof[k, 1] = ws.row_dof[k, 2] = -1
            ws.row_dof[k, place] = d
            ws.row_sign[k, place] = sign
            set_row(joint_impulse, k, place, low, high, offset, gap, kind * nv + d, ws)
            place += 1
            joint_rows(
                scene.tree,
                scene.chains,
                (ws.row_dof[k, 0], ws.row_dof[k, 1], ws.row_dof[k, 2]),
                (ws.row_sign[k, 0], ws.row_sign[k, 1], ws.row_sign[k, 2]),
                k,
                ws.assembly,
            )


@kernel
def gather_elements(scene, options, q, v, joint_impulse, ws):
    """Fill the blocks of a step: J, offsets, sets, violations and guesses; needs contacts and v_free in ws.

    q (nq,) where the rule looks, v (nv,) at the start of the step, joint_impulse (·,) of the step before.
    """
    ws.assembly.count[0] = 0
    for i in range(ws.contacts.count[0]):
        gather_contact(scene, options, v, i, ws)
    slot = 3 * v.shape[0]
    for i in range(scene.follower.shape[0]):
        f, l, ratio = scene.follower[i], scene.leader[i], scene.ratio[i]
        k = ws.assembly.count[0]
        coupling_row(scene.tree, scene.chains, f, l, ratio, k, ws.assembly)
        open_box(k, ws)
        gap = q[scene.law.iq[f]] - ratio * q[scene.law.iq[l]] - scene.shift[i]
        set_row(joint_impulse, k, 0, -math.inf, math.inf, 0.0, gap, slot + i, ws)
    slot += scene.follower.shape[0]
    for i in range(scene.loops.turning.shape[0]):
        gather_loop(scene, joint_impulse, i, slot + 6 * i, ws)
    gather_joint_rows(scene, options, q, v, joint_impulse, ws)
