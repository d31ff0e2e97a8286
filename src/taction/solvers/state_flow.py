"""A flow from state to state: piles that settle, where every path of solutions folds.

What it solves: F(Λ) = 0 for hundreds of contacts of loose bodies, with the exact law of
`taction.contact.laws.coulomb` or the convex one of `taction.contact.laws.relaxed`. With the exact law
Newton's method descends on a residual with local minima, and paths of solutions (in b, in a compliance, in
the share of the shift) turn back tens of times. A flow dΛ/ds = −F does not turn back: it is what sweeps of
Gauss–Seidel follow, 10⁵ of them and more. This takes the same way in long straight pieces, from one change of
a state to the next.

Notation: scaled blocks, and
    state    open, sticking, or sliding along a unit vector d, with t across it
    g        velocities that obey the laws together with Λ in these states; at a solution g = u
    α        weight of the step: 1/α is how far the flow is followed at once

Method, from a guess whose states are read off and whose g is as near to u as they allow:
1. The step with which u would become g, regularised, A (u + W δΛ + α δΛ) + B δΛ = 0 block by block:
       open      δΛ = 0,
       sticking  u + δu + α δΛ = 0,
       sliding   (u + δu + α δΛ)_N = ν dᵀ (u + δu + α δΛ)_T,   dᵀ δΛ_T + μ δΛ_N = 0,
                 tᵀ (u + δu + α δΛ)_T + κ tᵀ δΛ_T = 0 with κ = dᵀ g / (μ Λ_N),
   so that friction stays on its rim and turns with the slip; ν = 0 for the exact law, μ for the convex one,
   in which what slides lifts off, and what is open closes where g reaches the rim of K*. g moves by
   u + δu + α δΛ − g. Solved in the space of contacts, of those that are closed
   (`taction.solvers.closed_factor`): in the space of the bodies digits are lost with 1/α, and half of the
   problems with them.
2. For α → ∞ contacts move each by itself, and det (A (W + α) + B) > 0, as it always is with the convex law.
   Where it is negative the flow has a mode that grows faster than α; the step would go along it the wrong
   way, towards a solution that repels. α is raised tenfold until it is positive. That is all that keeps the
   orientation: where the sign is the same on both sides of a change, what begins to slide, stick or open goes
   on doing so. A solution that repels is one, too: after a whole step a step of the wrong sign is taken if
   nothing changes on its way. Where a contact changes to and fro without getting on, a factor is made anew,
   then α raised.
3. As much of the step is taken as no law forbids (`taction.solvers.active_path`), and no direction of slip
   turns further than `TURN`. Then that one contact changes its state.
4. The factor is kept while contacts change and no slip has turned far: α and the equations of the others
   stay, and what is left of the step is a first guess of the next, which takes the error of rounding along.
   With a new factor α has fallen by `SLOWLY` for each change since the last, or by `QUICKLY` after a whole
   step. Where no state changes any more, that is Newton's method. With a factor of its own each change costs
   half as much again: that is for a second try.

Whatever is put back into its set on the way (friction on its rim, what rounding left) changes Λ and with it
the defect g − u, nothing else: the flow goes on from there. Judged by the natural map of all blocks; the best
impulses met are kept. No proof that it ends; where it does not, the limit ends it.

Cost: 100 to 1500 changes for 550 contacts of a pile that settles, now and then 4000, 0.9 ms each; 10 to 450
with the convex law.

References: [AlartCurnier1991] for the states; [CottlePangStone1992, Chapter 4] for orientation by
determinants; [NocedalWright2006, Section 10.3] for the weight.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, flags, floats, nested
from taction.contact.laws.dispatch import apex_of, has_shift, is_rowwise
from taction.solvers.active_path import TO_CLOSE, TO_OPEN, TO_SLIDE, closed_limit, cone_limit, load_limit
from taction.solvers.active_set import slide, slide_at_end
from taction.solvers.active_system import FREE, LOW
from taction.solvers.closed_factor import (
    CLOSED,
    NEEDED,
    ClosedMemory,
    change_closed,
    factor_changes,
    factor_closed,
    make_closed,
    order_closed,
    solve_closed,
    times_equations,
)
from taction.solvers.newton import apply, load_scaled, refresh
from taction.solvers.newton_memory import (
    BLOCKS,
    CENTRE,
    IMPULSE,
    PREVIOUS,
    RESIDUAL,
    RESPONSE,
    STEP,
    TRIAL,
    TRIAL_U,
    VELOCITY,
    Work,
    make_work,
)

STATE, VIRTUAL, DRIFT, TURNED = CENTRE, TRIAL_U, RESIDUAL, TRIAL
FIRST_LEAST, FIRST_MOST = 1e-6, 1e-2  # α at first
ALPHA_LEAST, ALPHA_MOST = 1e-10, 1e2
SLOWLY, QUICKLY, RAISE = 0.7, 0.1, 10.0
STILL = 1e-6  # share of a step that leads nowhere
BUSY = 1e-7  # least α while states change
FILL = 24  # entries of a factor per contact that there is room for at first
TURN = 0.5  # most that a direction of slip turns in a step, and with one factor under the convex law [rad]
STALE = 0.1  # the same under the exact law, with one factor [rad]
# Entries of FlowMemory.record: α, least residual, systems; changes and turning since the last factor
ALPHA, LEAST, SYSTEMS, SINCE, TURNING, LAST, ENTRIES = 0, 1, 2, 3, 4, 5, 6
# and of FlowMemory.has: an order, a factor, a step that is left, taken the last step as a whole
ORDER, FACTOR, REST, WHOLE, THINGS = 0, 1, 2, 3, 4


class FlowMemory(Layout, scratch=True):
    """A scaled problem, where the flow through it is, and its factor."""

    work: Work = nested(Work, "the problem, in its own order")
    record: Array = floats("ENTRIES", "at the entries above")
    has: NDArray[np.bool_] = flags("THINGS", "at the entries above")
    closed: ClosedMemory = nested(ClosedMemory, "the factor")
    guess: Array = floats("3*k", "impulses that flows start from, for whoever follows several")


def make_flow(k: int, m: int, p: int) -> FlowMemory:
    """Memory for k contacts, m entries of W and p of the factor of those that are closed."""
    given = {"work": make_work(k, m, 0, 1), "closed": make_closed(k, m, p)}
    return FlowMemory.allocate(_given=given, ENTRIES=ENTRIES, THINGS=THINGS, k=k)


@cache
def no_flow() -> FlowMemory:
    """Memory without room for anything; there is one, since nobody writes to it."""
    return make_flow(0, 0, 0)


def with_room(flow: FlowMemory, k: int, m: int) -> FlowMemory:
    """The same for k contacts and m entries of W, with room for twice the factor that there was none for."""
    entries = max(FILL * k, 2 * int(flow.closed.count[NEEDED]))
    if len(flow.closed.turn) != k or len(flow.closed.column) != m:
        return make_flow(k, m, entries)
    return flow._replace(closed=make_closed(k, m, entries))


@inline_kernel
def is_round(kind, set_):
    """Whether a block is a contact with the same friction all round, of the exact law or the convex one."""
    is_same = set_[0] == set_[1] and set_[1] == set_[2] and set_[0] > 0.0
    return not is_rowwise(kind) and is_same and apex_of(kind, set_) == 0.0


@kernel
def has_sliding_cones(rows):
    """Whether all blocks are contacts this file is made for."""
    for i in range(rows.kind.shape[0]):
        if not is_round(rows.kind[i], rows.sets[i]):
            return False
    return True


@inline_kernel
def lift_of(i, ws):
    """What contact i lifts off at for its slip, ν of the method: 0 in the exact law, μ in the convex one."""
    return 0.0 if has_shift(ws.rows.kind[i], ws.rows.sets[i]) else ws.rows.sets[i, 0]


@kernel
def read_flow(ws, r_io, state_out):
    """States (3k,) that impulses r_io (3k,), in their cones, speak of."""
    for i in range(ws.count[BLOCKS]):
        c, rim = 3 * i, ws.rows.sets[i, 0] * r_io[3 * i]
        state_out[c], state_out[c + 1], state_out[c + 2] = (FREE if rim > 0.0 else LOW), 0.0, 0.0
        if rim > 0.0:
            slide_at_end(rim, c, r_io, state_out)


@inline_kernel
def obey(mu, lift, c, r_io, g_io, state_io):
    """Put the contact with rows c… where its state says: friction on its rim, velocities that agree.

    lift: ν of the method.
    """
    d1, d2 = state_io[c + 1], state_io[c + 2]
    if state_io[c] != FREE:
        r_io[c] = r_io[c + 1] = r_io[c + 2] = 0.0
        g_io[c] = max(g_io[c], lift * math.sqrt(g_io[c + 1] * g_io[c + 1] + g_io[c + 2] * g_io[c + 2]))
        return
    r_io[c], rim = max(r_io[c], 0.0), mu * max(r_io[c], 0.0)
    if d1 != 0.0 or d2 != 0.0:
        r_io[c + 1], r_io[c + 2] = -rim * d1, -rim * d2
        slip = max(d1 * g_io[c + 1] + d2 * g_io[c + 2], 0.0)
        g_io[c], g_io[c + 1], g_io[c + 2] = lift * slip, slip * d1, slip * d2
        return
    size = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2])
    if size > rim:
        r_io[c + 1], r_io[c + 2] = r_io[c + 1] * rim / size, r_io[c + 2] * rim / size
    g_io[c] = g_io[c + 1] = g_io[c + 2] = 0.0


@kernel
def start_flow(rows, scale, r, flow_out):
    """Load a problem and impulses r (3k,): states, velocities g, and a first weight.

    scale: what residuals are compared with.
    """
    ws, k = flow_out.work, rows.kind.shape[0]
    ws.count[BLOCKS] = k
    for i in range(k):
        ws.order[i] = i
    load_scaled(rows, r, ws)
    v = ws.vectors
    x, u, g = v[IMPULSE], v[VELOCITY], v[VIRTUAL]
    for c in range(3 * k):
        v[PREVIOUS, c] = x[c]
    error = refresh(0, k, x, ws, u)
    flow_out.record[ALPHA] = min(max(error / scale, FIRST_LEAST), FIRST_MOST)
    flow_out.record[LEAST], flow_out.record[SYSTEMS], flow_out.record[LAST] = error, 0.0, -1.0
    flow_out.has[ORDER] = flow_out.has[FACTOR] = flow_out.has[REST] = flow_out.has[WHOLE] = False
    read_flow(ws, x, v[STATE])
    refresh(0, k, x, ws, u)
    for c in range(3 * k):
        g[c] = u[c]
    for i in range(k):
        obey(ws.rows.sets[i, 0], lift_of(i, ws), 3 * i, x, g, v[STATE])


@inline_kernel
def write_equations(i, ws):
    """Method 1: A and B of contact i."""
    v, jacobian, c, mu = ws.vectors, ws.jacobian, 3 * i, ws.rows.sets[i, 0]
    ws.is_identity[i] = v[STATE, c] != FREE
    d1, d2 = v[STATE, c + 1], v[STATE, c + 2]
    for m in range(18):
        jacobian[i, m] = 0.0
    jacobian[i, 0] = 1.0
    if d1 == 0.0 and d2 == 0.0:
        jacobian[i, 4] = jacobian[i, 8] = 1.0
        return
    lift = lift_of(i, ws)
    jacobian[i, 1], jacobian[i, 2] = -lift * d1, -lift * d2
    jacobian[i, 12], jacobian[i, 13], jacobian[i, 14] = mu, d1, d2
    slip, rim = max(d1 * v[VIRTUAL, c + 1] + d2 * v[VIRTUAL, c + 2], 0.0), mu * v[IMPULSE, c]
    if rim > 0.0:  # scaled by rim, where that is less than the slip
        size = max(slip, rim)
        jacobian[i, 7], jacobian[i, 8] = -d2 * rim / size, d1 * rim / size
        jacobian[i, 16], jacobian[i, 17] = -d2 * slip / size, d1 * slip / size
    else:
        jacobian[i, 16], jacobian[i, 17] = -d2, d1


@kernel
def factor_flow(ws, flow_io):
    """Methods 1 and 4: a factor, kept or new; returns (whether it has room, whether it is oriented)."""
    alpha, closed = flow_io.record[ALPHA], flow_io.closed
    if flow_io.has[FACTOR]:
        return True, factor_changes(alpha, ws, closed)
    for i in range(ws.count[BLOCKS]):
        write_equations(i, ws)
    if not flow_io.has[ORDER]:
        if not order_closed(ws, closed):
            return False, False
        flow_io.has[ORDER] = True
    flow_io.has[FACTOR], flow_io.has[REST] = True, False
    flow_io.record[SINCE] = flow_io.record[TURNING] = 0.0
    return True, factor_closed(alpha, ws, closed)


@kernel
def complete_step(ws, flow_io):
    """Method 1: the step, from what is left of the last one or from nothing, and its response."""
    v, k, closed, alpha = ws.vectors, ws.count[BLOCKS], flow_io.closed, flow_io.record[ALPHA]
    step, response, u, x = v[STEP], v[RESPONSE], v[VELOCITY], flow_io.closed.x
    if not flow_io.has[REST]:
        for c in range(3 * k):
            step[c] = response[c] = 0.0
    for t in range(closed.count[CLOSED]):
        i, to = closed.contact[t], 3 * t
        c = 3 * i
        y0, y1, y2 = u[c] + response[c], u[c + 1] + response[c + 1], u[c + 2] + response[c + 2]
        y0, y1, y2 = times_equations(i, alpha, step[c], step[c + 1], step[c + 2], y0, y1, y2, ws)
        x[to], x[to + 1], x[to + 2] = -y0, -y1, -y2
    solve_closed(alpha, ws, closed)
    for t in range(closed.count[CLOSED]):
        for m in range(3):
            step[3 * closed.contact[t] + m] += x[3 * t + m]
    apply(ws.rows, 0, k, step, response)


@kernel
def aim_flow(ws, flow_io):
    """Method 1: changes of Λ, g and of directions of slip, into ws; returns the largest of the last."""
    v, alpha, largest = ws.vectors, flow_io.record[ALPHA], 0.0
    complete_step(ws, flow_io)
    for i in range(ws.count[BLOCKS]):
        c = 3 * i
        for m in range(c, c + 3):
            v[DRIFT, m] = v[VELOCITY, m] + v[RESPONSE, m] + alpha * v[STEP, m] - v[VIRTUAL, m]
        d1, d2 = v[STATE, c + 1], v[STATE, c + 2]
        across = d1 * (v[VELOCITY, c + 2] + v[RESPONSE, c + 2])
        across -= d2 * (v[VELOCITY, c + 1] + v[RESPONSE, c + 1])
        slip = d1 * v[VIRTUAL, c + 1] + d2 * v[VIRTUAL, c + 2] + alpha * ws.rows.sets[i, 0] * v[IMPULSE, c]
        v[TURNED, i] = across / slip if slip > 0.0 else 0.0
        largest = max(largest, abs(v[TURNED, i]))
    return largest


@inline_kernel
def flow_limit(i, ws):
    """How far contact i may go, and what it begins to do then."""
    v, c, mu, lift = ws.vectors, 3 * i, ws.rows.sets[i, 0], lift_of(i, ws)
    r, g, change, drift, state = v[IMPULSE], v[VIRTUAL], v[STEP], v[DRIFT], v[STATE]
    if state[c] == FREE:
        return closed_limit(mu, r[c], c, r, g, change, drift, state)
    if lift == 0.0:
        return load_limit(g[c], drift[c]), TO_CLOSE
    return cone_limit(1.0 / lift, g[c], drift[c], g[c + 1], g[c + 2], drift[c + 1], drift[c + 2]), TO_CLOSE


@kernel
def first_change(ws):
    """Method 3: how far the step may be taken, at most 1; whose law ends it, −1 for none, and how."""
    share, who, then = 1.0, -1, 0
    for i in range(ws.count[BLOCKS]):
        limit, what = flow_limit(i, ws)
        if limit < share:
            share, who, then = limit, i, what
    return share, who, then


@kernel
def go(share, ws):
    """Take a share of the step; everything is put where its state says."""
    v = ws.vectors
    r, g, state = v[IMPULSE], v[VIRTUAL], v[STATE]
    for i in range(ws.count[BLOCKS]):
        for c in range(3 * i, 3 * i + 3):
            r[c] += share * v[STEP, c]
            g[c] += share * v[DRIFT, c]
        c, angle = 3 * i, share * v[TURNED, i]
        if angle != 0.0:
            x, y, d1, d2 = math.cos(angle), math.sin(angle), state[c + 1], state[c + 2]
            d1, d2 = x * d1 - y * d2, x * d2 + y * d1
            size = math.sqrt(d1 * d1 + d2 * d2)
            state[c + 1], state[c + 2] = d1 / size, d2 / size
        obey(ws.rows.sets[i, 0], lift_of(i, ws), c, r, g, state)


@inline_kernel
def change(i, then, ws):
    """The state of contact i after what ended a step."""
    v, c, mu = ws.vectors, 3 * i, ws.rows.sets[i, 0]
    r, g, state = v[IMPULSE], v[VIRTUAL], v[STATE]
    state[c] = LOW if then == TO_OPEN else FREE
    if then == TO_SLIDE:
        slide(mu * r[c], c, r, state)
        g[c] = g[c + 1] = g[c + 2] = 0.0
        return
    state[c + 1] = state[c + 2] = 0.0
    if then == TO_CLOSE:
        slip = math.sqrt(g[c + 1] * g[c + 1] + g[c + 2] * g[c + 2])
        if slip > 0.0:
            state[c + 1], state[c + 2] = g[c + 1] / slip, g[c + 2] / slip
    obey(mu, lift_of(i, ws), c, r, g, state)


@kernel
def renew(flow_io):
    """Method 4: a new factor is due; α has fallen by what changed since the last."""
    alpha = flow_io.record[ALPHA]
    flow_io.record[ALPHA] = max(SLOWLY ** flow_io.record[SINCE] * alpha, BUSY)
    flow_io.has[FACTOR] = False


@kernel
def follow_step(turn, many, ws, flow_io):
    """Methods 3 and 4 with the step in ws, whose slips turn by ``turn``; many: changes with one factor."""
    v, k, record = ws.vectors, ws.count[BLOCKS], flow_io.record
    share, who, then = first_change(ws)
    stale = STALE if lift_of(0, ws) == 0.0 else TURN
    if share * turn > TURN:
        share, who = TURN / turn, -1
    go(share, ws)
    for c in range(3 * k):
        v[STEP, c] *= 1.0 - share
        v[RESPONSE, c] *= 1.0 - share
    flow_io.has[REST], flow_io.has[WHOLE] = True, share == 1.0
    record[TURNING] += share * turn
    if who >= 0:
        change(who, then, ws)
        is_back, record[LAST] = record[LAST] == who and share < STILL, float(who)
        record[SINCE] += 1.0
        if then == TO_CLOSE and flow_io.closed.turn[who] < 0:
            flow_io.has[ORDER] = False
        if is_back:
            if record[SINCE] <= 2.0:
                record[ALPHA] *= RAISE
            flow_io.has[FACTOR] = False
        elif record[SINCE] < many and record[TURNING] < stale and change_closed(who, ws, flow_io.closed):
            write_equations(who, ws)
        else:
            renew(flow_io)
    elif share == 1.0:
        record[ALPHA] = max(QUICKLY * record[ALPHA], ALPHA_LEAST)
        flow_io.has[FACTOR] = False
    else:
        renew(flow_io)


@kernel
def state_flow(goal, limit, many, flow_io):
    """Solve what `start_flow` put in, from there or from where it stopped.

    goal: residual; limit: of systems; many: changes with one factor. Returns (whether there was room for a
    factor, systems, residual of the best point). Where there was none, `with_room` makes some, and it goes on
    from there.
    """
    ws = flow_io.work
    v, k, record = ws.vectors, ws.count[BLOCKS], flow_io.record
    r, u, best = v[IMPULSE], v[VELOCITY], v[PREVIOUS]
    while record[LEAST] > goal and record[SYSTEMS] < limit:
        has_room, is_oriented = factor_flow(ws, flow_io)
        if not has_room:
            return False, int(record[SYSTEMS]), record[LEAST]
        record[SYSTEMS] += 1.0
        is_oriented = is_oriented or record[ALPHA] >= ALPHA_MOST
        turn = aim_flow(ws, flow_io) if is_oriented or flow_io.has[WHOLE] else math.inf
        if not is_oriented and (turn > TURN or first_change(ws)[0] < 1.0):
            record[ALPHA] *= RAISE
            flow_io.has[FACTOR] = flow_io.has[WHOLE] = False
            continue
        follow_step(turn, many, ws, flow_io)
        error = refresh(0, k, r, ws, u)
        if not error < math.inf:
            break
        if error < record[LEAST]:
            record[LEAST] = error
            for c in range(3 * k):
                best[c] = r[c]
    for c in range(3 * k):
        r[c] = best[c]
    return True, int(record[SYSTEMS]), record[LEAST]
