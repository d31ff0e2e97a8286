"""The force elements of one step, gathered into blocks; here contacts, and what all elements share.

Blocks come in a fixed order: contacts as detected, then joints with their couplings and loops
(`taction.steppers.joint_elements`), then tendons (`taction.steppers.tendon_rows`), then servos
(`taction.steppers.servo_rows`); in absolute coordinates the joints themselves with theirs
(`taction.steppers.ties`). Each row knows its position violation (`GAP`), for the correction of drift, and
where its impulse is kept between steps (`SLOT`).

| element | rows | set | offset |
|---|---|---|---|
| contact | normal, t₁, t₂ | friction cone; half-line if μ = 0; moved by adhesion | by the scheme |
| viscous friction of a contact | t₁, t₂ | all reals, compliance 1/(c h) | that of the contact |
| servo at its limits, or along a tendon | Σ c v | h times its limits | `taction.steppers.servo_rows` |

Surfaces. Friction coefficients of a pair come from both shapes: the smaller, the larger, or the geometric
mean, as the world says or else the shapes themselves: of two that differ the larger wins over the smaller,
both over the mean, and what is said over what is not (smaller). A shape of higher priority gives its own
numbers alone. Two shapes marked as slick have no friction, one of them alone takes part with its number.
Restitution is the larger of the two; a pair may have its own numbers instead. A shape whose
friction differs by direction fixes the tangents: t₁ is its x-axis in the tangent plane, and the partner
counts with its first coefficient. Otherwise t₁ is the world's x-axis in that plane, or its y-axis where x is
too close to the normal.

Faces. Contacts of the same two links with the same normal that follow each other, as those of a foot, act at
one height, that of the first, if theirs differs by less than `LEVEL`. A foot that closes its gaps of parts of
a micrometre turns; at heights of their own its corners could not all stick then, and would ask for impulses
without bound, or for a creep of 1e-9.

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
    BOUNCE,
    COMPLIANCE,
    FRAME,
    GAP,
    GIVES_BACK,
    OFFSET,
    ROW_DOF,
    SIZE,
    SLIDING,
    SLOT,
    SOURCE,
    STRIKES,
    TURNING,
    pair_rows,
    row_velocity,
)
from taction.contact.laws.dispatch import BOX, contact_set
from taction.geometry.colliders import PLACED_AXES
from taction.math.vector import (
    add,
    cross,
    dot,
    load9,
    scale,
    sub,
)
from taction.steppers.contact_path import path_offset, slide_before, velocity_acceleration
from taction.steppers.judge import fall
from taction.steppers.scene import BEFORE, DAMPER, FREE
from taction.steppers.schemes.base import PRESSED, SLOP
from taction.steppers.schemes.dispatch import contact_offset
from taction.steppers.touch import touch_points

LEVEL = 2.0 * PRESSED  # points of one face that differ by less than this in height are taken as level [m]
PARALLEL = 1.0 - 1e-12  # cosine beyond which normals are parallel
# Columns of the surface parameters of a shape or pair
FRICTION_X, FRICTION_Y, FRICTION_BACK, RESTITUTION, ADHESION = range(5)
RULE, PRIORITY, SLICK, SURFACE_WIDTH = range(5, 9)
UPRIGHT = 1.0 - 1e-9  # |n·x| above which a shape's own axis has no direction in the tangent plane
# How the friction of two shapes is combined; as the shapes themselves say, or, of a shape, not said
SMALLER, LARGER, MEAN, THEIR_OWN = 0, 1, 2, -1
# A contact that struck anew in the step before arrives still if it is faster than so many steps of weight
ARRIVES = 2.0
# A contact that pulls with all but this share of what it can lets go
LETTING_GO = 1e-6


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
    blocks_io.number[k, SIZE] = 0.0
    for c in range(6):
        blocks_io.rows.sets[k, c] = 0.0
    for c in range(3):
        blocks_io.index[k, SLOT + c] = blocks_io.index[k, ROW_DOF + c] = -1
        blocks_io.index[k, TURNING + c] = 0
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
def hold(k, r0, r1, r2, blocks_io):
    """Make block k carry the impulse (r0, r1, r2), whatever moves."""
    set_free_row(k, 0, r0, r0, 0.0, r0, blocks_io)
    set_free_row(k, 1, r1, r1, 0.0, r1, blocks_io)
    set_free_row(k, 2, r2, r2, 0.0, r2, blocks_io)


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


@inline_kernel
def level(n, height, x):
    """A point x (3) moved along the unit vector n to this height, if that is not far."""
    rise = height - dot(n, x)
    return add(x, scale(rise, n)) if abs(rise) <= LEVEL else x


@inline_kernel
def note_bounce(restitution, before, offset, gap, k, blocks_io):
    """Keep of contact k how much of its offset is a bounce, and what it may give back if it is closed."""
    bounce = restitution * min(before, 0.0)
    blocks_io.number[k, BOUNCE] = bounce if offset == bounce else 0.0
    is_closed = gap <= PRESSED or blocks_io.number[k, BOUNCE] < 0.0
    blocks_io.number[k, GIVES_BACK] = restitution if is_closed else 0.0


@inline_kernel
def begin_contact(k, i, offset, warm, blocks_io):
    """Block k as one of contact i with this normal offset, and impulses (·, 3) of the step before."""
    for c in range(3):
        blocks_io.number[k, OFFSET + c] = blocks_io.number[k, GAP + c] = 0.0
        blocks_io.number[k, COMPLIANCE + c] = blocks_io.number[k, SLIDING + c] = 0.0
        blocks_io.number[k, AHEAD + c] = 0.0
        blocks_io.index[k, SLOT + c] = -1
        blocks_io.r[3 * k + c] = warm[i, c]
    blocks_io.number[k, OFFSET] = offset


@kernel
def gather_contacts(tree, chains, surfaces, options, colliders, sight, ws, blocks_io):
    """Add every contact that the scheme takes as a block; ws: scratch, with velocities before and free."""
    contacts, placed, warm = sight.contacts, sight.placed, sight.warm
    last_first = last_second = -1
    last_n, height_first, height_second = (0.0, 0.0, 0.0), 0.0, 0.0
    for i in range(contacts.count[0]):
        k = blocks_io.count[0]
        a, b = contacts.shape[i, 0], contacts.shape[i, 1]
        forward, lateral, backward, restitution, adhesion, shape = pair_surface(
            surfaces, options.combine, a, b
        )
        first, second = surfaces.link[a], surfaces.link[b]
        is_shared = options.is_measured and first != 0 and second != 0
        n, on_first, on_second, gap = touch_points(
            colliders, placed, options.h, restitution, contacts, i, is_shared, ws.links
        )
        if first == last_first and second == last_second and dot(n, last_n) > PARALLEL:
            on_first, on_second = level(n, height_first, on_first), level(n, height_second, on_second)
        else:
            last_first, last_second, last_n = first, second, n
            height_first, height_second = dot(n, on_first), dot(n, on_second)
        frame = surface_frame(n, placed, shape)
        x = scale(0.5, add(on_first, on_second))
        pair_rows(tree, chains, first, second, False, on_first, on_second, frame, k, ws.links, blocks_io)
        before, _, _ = row_velocity(blocks_io, k, ws.dof[BEFORE])
        free, _, _ = row_velocity(blocks_io, k, ws.dof[FREE])
        rising = 0.0
        if options.needs_turning:
            rising = turning_acceleration(first, second, x, n, ws.links)
        hold = shared_hold(contacts, i, options.force_h * adhesion)
        loaded = is_loaded(hold, warm[i, 0])
        takes_part, offset = contact_offset(
            options.rule, gap, options.h, restitution, before, free, rising, loaded
        )
        if contacts.gap[i] > (PRESSED if loaded else SLOP):
            hold = 0.0
        if not takes_part and not (hold > 0.0 and options.asks_free_motion):
            continue  # what leads apart is held, where the rule asks the free motion
        rows = blocks_io.rows
        rows.kind[k] = contact_set(options.cone, backward, forward, lateral, hold, rows.sets[k])
        begin_contact(k, i, offset, warm, blocks_io)
        note_bounce(restitution, before, offset, contacts.gap[i], k, blocks_io)
        if options.is_split and loaded and not options.is_measured:
            size = min(colliders.bound[a], colliders.bound[b])
            add_path(options.h, size, first, second, x, n, frame, i, k, sight.memory, ws.links, blocks_io)
        blocks_io.number[k, GAP] = contacts.gap[i]
        for c in range(9):
            blocks_io.number[k, FRAME + c] = frame[c]
        blocks_io.index[k, SOURCE] = i
        has_struck, pace = sight.memory[i, options.memory - 1] > 0.0, ARRIVES * fall(tree, options.h)
        still_arrives = 1 if has_struck and before < -pace else 0
        blocks_io.index[k, STRIKES] = 2 if not loaded or offset < 0.0 else still_arrives
        blocks_io.count[0] = k + 1
        viscous = options.force_h * max(surfaces.viscous[a], surfaces.viscous[b])
        if viscous > 0.0 and contacts.gap[i] <= PRESSED:
            pair_rows(
                tree, chains, first, second, False, on_first, on_second, frame, k + 1, ws.links, blocks_io
            )
            add_damper(viscous, k, ws.dof[BEFORE], blocks_io)
