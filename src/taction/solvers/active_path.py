"""The selected impulses of a few blocks along a path: states change one by one, where the laws say so.

What it solves: the problem of `taction.solvers.active_set`, where all states at once go round: feet on four
corners, joints that rub, a cube between fingers.

Notation: that of `taction.solvers.active_system`, and
    g        velocities that obey the laws together with Λ: those that u + ε (Λ − c) should be
    τ        share of the way on which g has become u + ε (Λ − c); at 1 the laws hold

Method: Λ and g start with the guess, g from what u + ε Λ says as far as its state allows. That solves the
problem with another b, and the path leads from that b to the own one:
1. S of the states gives the change of Λ, and of g with it, with which τ would be 1.
2. As much of it is taken as no law forbids: until an impulse reaches the end of its interval or of its cone,
   or the velocity of what is held changes its sign. Friction that slides is put back on its rim.
3. That contact or row changes its state, and again. Sticking begins to slide, sliding to stick; what closes
   slides where it moves, else sticks.
4. τ = 1: first with centre c = 0, then with c = Λ as there, until the laws hold with the unregularised W.

With a positive definite S, as without friction, no state comes twice. Exact friction may turn the path
back: the state that was entered would have to be left the other way at once. Then it is let be, in the new
state and outside of its law, until τ moves on; there it is put where it belongs, which changes the b of the
start and nothing else. (Tried: to go back along the path, as Lemke's method does: fewer are found.)

That a solution was found is judged by the natural map of all blocks, nothing else.

Cost: a factor for each change of a state, 15 to 20 where a robot's feet roll over.

References: [FerreauBockDiehl2008] for active sets followed from problem to problem; [CottlePangStone1992,
Chapter 4] for paths; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import multiply
from taction.contact.laws.dispatch import apex_of, is_rowwise, natural_map
from taction.contact.redundancy import WIDTH
from taction.solvers.active_set import (
    LEAP,
    RIM,
    STALLED,
    STALLS,
    read_states,
    slide,
)
from taction.solvers.active_system import (
    AHEAD,
    CENTRE,
    CHANGE,
    DRAG,
    DRIFT,
    EPSILON,
    FREE,
    HIGH,
    IGNORED,
    LOW,
    RIGHT,
    STATE,
    STEP,
    VIRTUAL,
    can_slide,
    compliances,
    factor_system,
    solve_system,
    weight_of,
)

SYSTEMS, BUDGET = 30, 1.5e6  # that are tried, and rows³ of all of them: beyond that other methods are faster
SETTLED, TURNING = 1e-6, 10  # change of impulses where directions of slip are found; systems for that
ROUNDS = 14  # solves of step 4 with one factor
STEADY = 1.0  # least κ, in units of ε
ENOUGH = 0.1  # share of the goal with which a path may end where a state would change
NEAR = 0.1  # share of impulses by which step 4 may change them: more is another solution
PROGRESS = 1e-9  # share of the way that counts as going on
# What a contact begins to do; rows say it by their state
TO_OPEN, TO_CLOSE, TO_STICK, TO_SLIDE = 10, 11, 12, 13


@kernel
def start_path(rows, epsilon, u, r, state, g_out):
    """Velocities g_out (3k,) that obey the laws together with impulses r (3k,) in these states."""
    for i in range(rows.kind.shape[0]):
        c = 3 * i
        if is_rowwise(rows.kind[i]):
            for k in range(3):
                pull = u[c + k] + weight_of(rows, i, k, epsilon) * r[c + k]
                g_out[c + k] = 0.0
                if state[c + k] == LOW:
                    g_out[c + k] = max(pull, 0.0)
                elif state[c + k] == HIGH:
                    g_out[c + k] = min(pull, 0.0)
            continue
        g_out[c] = g_out[c + 1] = g_out[c + 2] = 0.0
        if state[c] != FREE:
            g_out[c], g_out[c + 1], g_out[c + 2] = max(u[c], 0.0), u[c + 1], u[c + 2]
            continue
        d1, d2 = state[c + 1], state[c + 2]
        slip = max((u[c + 1] + epsilon[i] * r[c + 1]) * d1 + (u[c + 2] + epsilon[i] * r[c + 2]) * d2, 0.0)
        g_out[c + 1], g_out[c + 2] = slip * d1, slip * d2


@kernel
def aim(rows, n, is_centred, soft, r, u, ws):
    """Step 1: changes of Λ and g with which τ would be 1, and velocities there, into ws.

    r, u (3k,): impulses and velocities now. Returns the largest change and impulse.
    """
    most = 3 * rows.kind.shape[0]
    drag, step, there = ws[DRAG * most :], ws[STEP * most :], ws[RIGHT * most :]
    g, change, drift, ahead = (
        ws[VIRTUAL * most :],
        ws[CHANGE * most :],
        ws[DRIFT * most :],
        ws[AHEAD * most :],
    )
    epsilon = ws[EPSILON * most :]
    for c in range(most):
        change[c] = 0.0
    for j in range(n):
        at = WIDTH * j
        c = 3 * int(ws[at])
        change[c] += step[j] * ws[at + 1]
        change[c + 1] += step[j] * (ws[at + 2] + drag[2 * j])
        change[c + 2] += step[j] * (ws[at + 3] + drag[2 * j + 1])
    largest = size = 0.0
    for c in range(most):
        there[c] = r[c] + change[c]
        largest, size = max(largest, abs(change[c])), max(size, abs(there[c]))
    multiply(rows, there[:most], ahead)
    for i in range(rows.kind.shape[0]):
        for k in range(3):
            c = 3 * i + k
            yields = soft * (weight_of(rows, i, k, epsilon) if is_rowwise(rows.kind[i]) else epsilon[i])
            drift[c] = ahead[c] + yields * (change[c] if is_centred else there[c]) - g[c]
    return largest, size


@inline_kernel
def row_limit(low, high, x, dx, v, dv, state):
    """How far a row may go, and its state then: impulse x, velocity v and their changes."""
    if state == FREE:
        if dx < 0.0 and low > -math.inf:
            return max((low - x) / dx, 0.0), LOW
        if dx > 0.0 and high < math.inf:
            return max((high - x) / dx, 0.0), HIGH
    elif low < high and ((state == LOW and dv < 0.0) or (state == HIGH and dv > 0.0)):
        return max(-v / dv, 0.0), FREE
    return math.inf, FREE


@inline_kernel
def cone_limit(mu, load, dload, p1, p2, q1, q2):
    """Where friction p + τ q reaches the end of what a load allows."""
    a = q1 * q1 + q2 * q2 - mu * mu * dload * dload
    b = p1 * q1 + p2 * q2 - mu * mu * load * dload
    c = min(p1 * p1 + p2 * p2 - mu * mu * load * load, 0.0)
    root = b * b - a * c
    if root < 0.0 or (a <= 0.0 and b <= 0.0):
        return math.inf
    root = math.sqrt(root)
    return (root - b) / a if b <= 0.0 else -c / (b + root)


@inline_kernel
def load_limit(load, change):
    """Where a load that changes is used up."""
    return max(-load / change, 0.0) if change < 0.0 else math.inf


@inline_kernel
def closed_limit(mu, load, c, r, g, change, drift, state):
    """How far a contact that is closed may go, with friction μ all round, and what it begins to do then."""
    limit, then = load_limit(load, change[c]), TO_OPEN
    d1, d2 = state[c + 1], state[c + 2]
    if d1 == 0.0 and d2 == 0.0:
        rim = cone_limit(mu, load, change[c], r[c + 1], r[c + 2], change[c + 1], change[c + 2])
        return (rim, TO_SLIDE) if rim < limit else (limit, then)
    slip, more = d1 * g[c + 1] + d2 * g[c + 2], d1 * drift[c + 1] + d2 * drift[c + 2]
    if more < 0.0 and -slip / more < limit:
        return max(-slip / more, 0.0), TO_STICK
    return limit, then


@inline_kernel
def contact_limit(kind, set_, c, r, g, change, drift, state):
    """How far the contact with rows c… may go, and what it begins to do then."""
    if state[c] != FREE:
        return (max(-g[c] / drift[c], 0.0) if drift[c] < 0.0 else math.inf), TO_CLOSE
    load = r[c] + apex_of(kind, set_)
    if not can_slide(kind, set_):
        return load_limit(load, change[c]), TO_OPEN
    return closed_limit(set_[0], load, c, r, g, change, drift, state)


@kernel
def first_limit(rows, r, ws):
    """Step 2: how far the path leads, at most to τ = 1; what ends it there, −1 for none, and how."""
    most = 3 * rows.kind.shape[0]
    state, g, ignored = ws[STATE * most :], ws[VIRTUAL * most :], ws[IGNORED * most :]
    change, drift = ws[CHANGE * most :], ws[DRIFT * most :]
    share, who, then = 1.0, -1, 0
    for i in range(rows.kind.shape[0]):
        c, set_ = 3 * i, rows.sets[i]
        if not is_rowwise(rows.kind[i]):
            if ignored[c] == 0.0:
                limit, what = contact_limit(rows.kind[i], set_, c, r, g, change, drift, state)
                if limit < share:
                    share, who, then = limit, c, what
            continue
        for k in range(c, c + 3):
            low, high = set_[2 * (k - c)], set_[2 * (k - c) + 1]
            limit, new = row_limit(low, high, r[k], change[k], g[k], drift[k], state[k])
            if limit < share and ignored[k] == 0.0:
                share, who, then = limit, k, int(new)
    return share, who, then


@inline_kernel
def leads_on(rows, who, then, r, ws):
    """Whether what row or contact ``who`` began to do leads along the path."""
    most = 3 * rows.kind.shape[0]
    state, change, drift = ws[STATE * most :], ws[CHANGE * most :], ws[DRIFT * most :]
    i = who // 3
    if is_rowwise(rows.kind[i]):
        if state[who] == FREE:
            return change[who] >= 0.0 if r[who] <= rows.sets[i, 2 * (who % 3)] else change[who] <= 0.0
        return drift[who] >= 0.0 if state[who] == LOW else drift[who] <= 0.0
    if then == TO_OPEN:
        return drift[who] >= 0.0
    if then == TO_CLOSE:
        return change[who] >= 0.0
    if then == TO_SLIDE:
        return state[who + 1] * drift[who + 1] + state[who + 2] * drift[who + 2] >= 0.0
    size = math.sqrt(r[who + 1] * r[who + 1] + r[who + 2] * r[who + 2])
    turned = r[who + 1] * change[who + 1] + r[who + 2] * change[who + 2]
    return turned <= rows.sets[i, 0] * change[who] * size


@kernel
def advance(rows, share, ws, r_io):
    """Go this share of the way, and put where it belongs what slides, and what was let be.

    Returns (whether that moved an impulse, whether it was that of something let be).
    """
    most, has_moved, was_outside = 3 * rows.kind.shape[0], False, False
    state, g = ws[STATE * most :], ws[VIRTUAL * most :]
    change, drift = ws[CHANGE * most :], ws[DRIFT * most :]
    for c in range(most):
        r_io[c] += share * change[c]
        g[c] += share * drift[c]
    for i in range(rows.kind.shape[0]):
        c, set_, kind = 3 * i, rows.sets[i], rows.kind[i]
        if is_rowwise(kind):
            for k in range(3):
                x = min(max(r_io[c + k], set_[2 * k]), set_[2 * k + 1])
                was_outside = was_outside or x != r_io[c + k]
                r_io[c + k] = x
            continue
        if state[c] != FREE:
            was_outside = was_outside or g[c] < 0.0
            g[c] = max(g[c], 0.0)
            continue
        load = r_io[c] + apex_of(kind, set_)
        if load < 0.0:
            r_io[c], load, was_outside = r_io[c] - load, 0.0, True
        if not can_slide(kind, set_):
            continue
        rim, is_sliding = set_[0] * load, state[c + 1] != 0.0 or state[c + 2] != 0.0
        size = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2])
        if is_sliding:
            slide(rim, c, r_io, state)
            slip, has_moved = state[c + 1] * g[c + 1] + state[c + 2] * g[c + 2], True
            was_outside, slip = was_outside or slip < 0.0, max(slip, 0.0)
            g[c], g[c + 1], g[c + 2] = 0.0, slip * state[c + 1], slip * state[c + 2]
        elif size > (1.0 + RIM) * rim:
            r_io[c + 1], r_io[c + 2], was_outside = r_io[c + 1] * rim / size, r_io[c + 2] * rim / size, True
    return has_moved or was_outside, was_outside


@inline_kernel
def turn_state(rows, who, then, noise, ws, r_io):
    """Step 3 for row or contact ``who``; slip up to ``noise`` is none."""
    most, i = 3 * rows.kind.shape[0], who // 3
    state, g = ws[STATE * most :], ws[VIRTUAL * most :]
    if is_rowwise(rows.kind[i]):
        state[who], g[who] = float(then), 0.0
        if then != int(FREE):
            r_io[who] = rows.sets[i, 2 * (who % 3) + (1 if then == int(HIGH) else 0)]
        return
    state[who], g[who] = FREE, 0.0
    if then == TO_SLIDE:
        slide(rows.sets[i, 0] * (r_io[who] + apex_of(rows.kind[i], rows.sets[i])), who, r_io, state)
        g[who + 1] = g[who + 2] = 0.0
        return
    state[who + 1] = state[who + 2] = 0.0
    if then == TO_OPEN:
        state[who], r_io[who], r_io[who + 1], r_io[who + 2] = (
            LOW, -apex_of(rows.kind[i], rows.sets[i]), 0.0, 0.0,
        )  # fmt: skip
        return
    slip = math.sqrt(g[who + 1] * g[who + 1] + g[who + 2] * g[who + 2])
    if then == TO_CLOSE and slip > noise and can_slide(rows.kind[i], rows.sets[i]):
        state[who + 1], state[who + 2] = g[who + 1] / slip, g[who + 2] / slip
    else:
        g[who + 1] = g[who + 2] = 0.0


@kernel
def take_share(rows, n, is_centred, soft, noise, who, then, ws, u_io, r_io):
    """Steps 1 to 3 once; who, then: what changed last.

    Returns (what changed, how, whether something was let be, the largest change of an impulse, the largest
    impulse).
    """
    most = 3 * rows.kind.shape[0]
    ignored, ahead = ws[IGNORED * most :], ws[AHEAD * most :]
    change, size = aim(rows, n, is_centred, soft, r_io, u_io, ws)
    if who >= 0 and not leads_on(rows, who, then, r_io, ws):
        ignored[who] = 1.0
    share, who, then = first_limit(rows, r_io, ws)
    has_moved, was_outside = advance(rows, share, ws, r_io)
    if has_moved:
        multiply(rows, r_io, u_io)
    else:
        for c in range(most):
            u_io[c] = ahead[c] if share == 1.0 else u_io[c] + share * (ahead[c] - u_io[c])
    if share > PROGRESS:
        for c in range(most):
            ignored[c] = 0.0
    if who >= 0:
        turn_state(rows, who, then, noise, ws, r_io)
    return who, then, was_outside, change, size


@inline_kernel
def is_near(n, centre, r):
    """Whether impulses r (n,) are those that the compliance selected, but for what it left."""
    change = size = 0.0
    for c in range(n):
        change, size = max(change, abs(r[c] - centre[c])), max(size, abs(r[c]))
    return change <= NEAR * size


@kernel
def follow_path(rows, blocks, column, L, goal, slack, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) along a path from some that are near; as `select_active`."""
    most = 3 * rows.kind.shape[0]
    state, ignored, epsilon = ws[STATE * most :], ws[IGNORED * most :], ws[EPSILON * most :]
    centre = ws[CENTRE * most :]
    compliances(rows, epsilon)
    for c in range(most):
        trial_io[c], ignored[c] = r_io[c], 0.0
    read_states(rows, trial_io, state)
    multiply(rows, trial_io, u_io)
    start_path(rows, epsilon, u_io, trial_io, state, ws[VIRTUAL * most :])
    soft, is_centred, turning, stalls, who, then = 1.0, False, 0, 0, -1, 0
    systems, is_factored, error, rounds = 0, False, math.inf, 0
    n, freedoms, is_sliding, is_regular = 0, 0, False, True
    limit = SYSTEMS
    while systems < limit:
        if not is_factored:
            n, freedoms, is_sliding, is_regular, _ = factor_system(
                rows, blocks, column, L, soft, STEADY, trial_io, u_io, ws
            )
            systems, is_factored = systems + 1, True
            limit = min(limit, int(BUDGET / float(max(freedoms if freedoms > 0 else n, 1)) ** 3))
        if not is_regular:
            break
        solve_system(rows, blocks, n, freedoms, is_sliding, is_centred, trial_io, u_io, ws)
        who, then, was_outside, change, size = take_share(
            rows, n, is_centred, soft, goal, who, then, ws, u_io, trial_io
        )
        if not is_centred:
            if who >= 0 or was_outside:
                is_factored = False
            elif is_sliding and change > SETTLED * size and turning < TURNING:
                turning, is_factored = turning + 1, False
            else:
                is_centred = True
                for c in range(most):
                    centre[c] = trial_io[c]
            continue
        before, error = error, natural_map(rows.kind, rows.sets, trial_io, u_io)
        has_stalled, rounds = error > STALLED * before, rounds + 1
        is_done = rounds > 1 and error <= (slack if has_stalled or rounds == ROUNDS else goal)
        if is_done or (who >= 0 and error <= ENOUGH * goal):
            if not is_near(most, centre, trial_io):
                break
            for c in range(most):
                r_io[c] = trial_io[c]
            return True, systems
        if who >= 0:
            is_factored, error, rounds = False, math.inf, 0
        elif has_stalled or rounds == ROUNDS:
            if stalls == STALLS:
                break
            soft, stalls, is_factored, error, rounds = soft * LEAP, stalls + 1, False, math.inf, 0
    return False, systems
