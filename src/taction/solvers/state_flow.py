"""A flow from state to state: piles that settle, where every path of solutions folds.

What it solves: the exact law of `taction.contact.laws.coulomb`, F(Λ) = 0, for hundreds of contacts of loose
bodies. Newton's method descends on a residual with local minima, and paths of solutions (in b, in a
compliance, in the share of the shift) turn back tens of times. A flow dΛ/ds = −F does not turn back: it is
what sweeps of Gauss–Seidel follow, 10⁵ of them and more. This takes the same way in long straight pieces,
from one change of a state to the next.

Notation: scaled blocks, and
    state    open, sticking, or sliding along a unit vector d, with t across it
    g        velocities that obey the laws together with Λ in these states; at a solution g = u
    α        weight of the step: 1/α is how far the flow is followed at once

Method, from a guess whose states are read off and whose g is as near to u as they allow:
1. The step with which u would become g, regularised, A (u + W δΛ + α δΛ) + B δΛ = 0 block by block:
       open      δΛ = 0,
       sticking  u + δu + α δΛ = 0,
       sliding   u_N + δu_N + α δΛ_N = 0,   dᵀ δΛ_T + μ δΛ_N = 0,
                 tᵀ (u + δu + α δΛ)_T + κ tᵀ δΛ_T = 0 with κ = dᵀ g / (μ Λ_N),
   so that friction stays on its rim and turns with the slip. g moves by u + δu + α δΛ − g. Solved in the
   space of contacts (`taction.solvers.block_lu`), twice more for what rounding left: in the space of the
   bodies digits are lost with 1/α, and half of the problems with them.
2. For α → ∞ contacts move each by itself, and det (A (W + α) + B) > 0. Where it is negative the flow has a
   mode that grows faster than α; the step would go along it the wrong way, towards a solution that repels. α
   is raised tenfold until all components have a positive one. That is all that keeps the orientation: where
   the sign is the same on both sides of a change, what begins to slide, stick or open goes on doing so.
3. As much of the step is taken as no law forbids (`taction.solvers.active_path`), and no direction of slip
   turns further than `TURN`. Then that one contact changes its state.
4. α falls by `SLOWLY` after a change and by `QUICKLY` after a whole step. Where no state changes any more,
   that is Newton's method.

Whatever is put back into its set on the way (friction on its rim, what rounding left) changes Λ and with it
the defect g − u, nothing else: the flow goes on from there. Judged by the natural map of all blocks; the best
impulses met are kept. No proof that it ends; where it does not, the limit ends it.

Cost: a factor per change of a state; 200 to 1500 of 3 ms for 500 contacts of a pile that settles, which is
why it is not asked first.

References: [AlartCurnier1991] for the states; [CottlePangStone1992, Chapter 4] for orientation by
determinants; [NocedalWright2006, Section 10.3] for the weight.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.dispatch import is_rowwise
from taction.solvers.active_path import TO_CLOSE, TO_OPEN, TO_SLIDE, contact_limit
from taction.solvers.active_set import read_states, slide
from taction.solvers.active_system import FREE, LOW, can_slide
from taction.solvers.block_lu import factor_blocks, solve_lower, solve_upper
from taction.solvers.damped_newton import scaled_rows
from taction.solvers.newton import PIECE, apply, assemble, refresh
from taction.solvers.newton_memory import (
    BLOCKS,
    CENTRE,
    COMPONENTS,
    IMPULSE,
    PREVIOUS,
    PREVIOUS_U,
    RESIDUAL,
    RESPONSE,
    STEP,
    TRIAL,
    TRIAL_U,
    VELOCITY,
)

STATE, VIRTUAL, DRIFT, TURNED = CENTRE, TRIAL_U, RESIDUAL, TRIAL
FIRST = 1e-2  # α
ALPHA_LEAST, ALPHA_MOST = 1e-10, 1e2
SLOWLY, QUICKLY, RAISE = 0.7, 0.1, 10.0
BUSY = 1e-7  # α down to which changes of states lower it
REFINED = 3  # solves with one factor: each takes most of the rounding away, which grows with 1/α
TURN = 0.5  # most that a direction of slip turns in a step [rad]


@kernel
def has_sliding_cones(ws):
    """Whether all blocks are contacts of the exact law with the same friction all round."""
    for i in range(ws.count[BLOCKS]):
        if is_rowwise(ws.rows.kind[i]) or not can_slide(ws.rows.kind[i], ws.rows.sets[i]):
            return False
        if not ws.rows.sets[i, 0] > 0.0:
            return False
    return True


@inline_kernel
def obey(mu, c, r_io, g_io, state_io):
    """Put the contact with rows c… where its state says: friction on its rim, velocities that agree."""
    d1, d2 = state_io[c + 1], state_io[c + 2]
    if state_io[c] != FREE:
        r_io[c] = r_io[c + 1] = r_io[c + 2] = 0.0
        g_io[c] = max(g_io[c], 0.0)
        return
    r_io[c], rim = max(r_io[c], 0.0), mu * max(r_io[c], 0.0)
    if d1 != 0.0 or d2 != 0.0:
        r_io[c + 1], r_io[c + 2] = -rim * d1, -rim * d2
        slip = max(d1 * g_io[c + 1] + d2 * g_io[c + 2], 0.0)
        g_io[c], g_io[c + 1], g_io[c + 2] = 0.0, slip * d1, slip * d2
        return
    size = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2])
    if size > rim:
        r_io[c + 1], r_io[c + 2] = r_io[c + 1] * rim / size, r_io[c + 2] * rim / size
    g_io[c] = g_io[c + 1] = g_io[c + 2] = 0.0


@kernel
def start_flow(ws):
    """States of the impulses in ws, and velocities g; returns the residual."""
    v, k = ws.vectors, ws.count[BLOCKS]
    r, u, g = v[IMPULSE], v[VELOCITY], v[VIRTUAL]
    read_states(scaled_rows(ws), r, v[STATE])
    error = refresh(0, k, r, ws, u)
    for c in range(3 * k):
        g[c] = u[c]
    for i in range(k):
        obey(ws.rows.sets[i, 0], 3 * i, r, g, v[STATE])
    return error


@kernel
def write_equations(ws):
    """Method 1: A and B of all blocks."""
    v, jacobian = ws.vectors, ws.jacobian
    for i in range(ws.count[BLOCKS]):
        c, mu = 3 * i, ws.rows.sets[i, 0]
        ws.is_identity[i] = v[STATE, c] != FREE
        d1, d2 = v[STATE, c + 1], v[STATE, c + 2]
        for m in range(18):
            jacobian[i, m] = 0.0
        jacobian[i, 0] = 1.0
        if d1 == 0.0 and d2 == 0.0:
            jacobian[i, 4] = jacobian[i, 8] = 1.0
            continue
        jacobian[i, 12], jacobian[i, 13], jacobian[i, 14] = mu, d1, d2
        slip, rim = max(d1 * v[VIRTUAL, c + 1] + d2 * v[VIRTUAL, c + 2], 0.0), mu * v[IMPULSE, c]
        if rim > 0.0:  # scaled by rim, where that is less than the slip
            size = max(slip, rim)
            jacobian[i, 7], jacobian[i, 8] = -d2 * rim / size, d1 * rim / size
            jacobian[i, 16], jacobian[i, 17] = -d2 * slip / size, d1 * slip / size
        else:
            jacobian[i, 16], jacobian[i, 17] = -d2, d1


@kernel
def is_oriented(ws):
    """Whether the determinant is positive in each component."""
    for n in range(ws.count[COMPONENTS]):
        is_positive = True
        for i in range(ws.component[n], ws.component[n + 1]):
            if ws.is_identity[i]:
                continue
            a = ws.inverse[i]
            det = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6])
            det += a[2] * (a[3] * a[7] - a[4] * a[6])
            is_positive = is_positive == (det > 0.0)
        if not is_positive:
            return False
    return True


@kernel
def factor_flow(alpha, ws):
    """Method 1: the factor of A (W + α) + B; whether there is one that is oriented."""
    k = ws.count[BLOCKS]
    write_equations(ws)
    for begin in range(0, k, PIECE):
        end = min(begin + PIECE, k)
        assemble(begin, end, alpha, ws, ws.lu)
        if factor_blocks(ws.pattern, begin, end, ws.is_identity, ws.place, ws.lu, ws.inverse):
            return False
    return is_oriented(ws)


@kernel
def correct_step(alpha, ws):
    """Method 1: add to the step what its equations miss, and update its response."""
    v, J, k, x = ws.vectors, ws.jacobian, ws.count[BLOCKS], ws.vectors[PREVIOUS_U]
    for i in range(k):
        c = 3 * i
        if ws.is_identity[i]:
            x[c] = x[c + 1] = x[c + 2] = 0.0
            continue
        r0, r1, r2 = v[STEP, c], v[STEP, c + 1], v[STEP, c + 2]
        a0, a1 = v[VELOCITY, c] + v[RESPONSE, c] + alpha * r0, v[VELOCITY, c + 1] + v[RESPONSE, c + 1]
        a1, a2 = a1 + alpha * r1, v[VELOCITY, c + 2] + v[RESPONSE, c + 2] + alpha * r2
        for m in range(3):
            n = 3 * m
            x[c + m] = -(J[i, n] * a0 + J[i, n + 1] * a1 + J[i, n + 2] * a2)
            x[c + m] -= J[i, n + 9] * r0 + J[i, n + 10] * r1 + J[i, n + 11] * r2
    solve_lower(ws.pattern, 0, k, ws.is_identity, ws.lu, x)
    solve_upper(ws.pattern, 0, k, ws.is_identity, ws.lu, ws.inverse, x)
    for c in range(3 * k):
        v[STEP, c] += x[c]
    apply(ws.rows, 0, k, v[STEP], v[RESPONSE])


@kernel
def aim_flow(alpha, ws):
    """Method 1: changes of Λ, g and of directions of slip, into ws; returns the largest of the last."""
    v, k, largest = ws.vectors, ws.count[BLOCKS], 0.0
    for c in range(3 * k):
        v[STEP, c] = v[RESPONSE, c] = 0.0
    for _ in range(REFINED):
        correct_step(alpha, ws)
    for i in range(k):
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


@kernel
def first_change(ws):
    """Method 3: how far the step may be taken, at most 1; whose law ends it, −1 for none, and how."""
    v, share, who, then = ws.vectors, 1.0, -1, 0
    for i in range(ws.count[BLOCKS]):
        limit, what = contact_limit(
            ws.rows.kind[i], ws.rows.sets[i], 3 * i, v[IMPULSE], v[VIRTUAL], v[STEP], v[DRIFT], v[STATE]
        )
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
        obey(ws.rows.sets[i, 0], c, r, g, state)


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
    obey(mu, c, r, g, state)


@kernel
def state_flow(goal, limit, ws):
    """Solve what `taction.solvers.newton.load` put in, in the space of contacts.

    goal: residual; limit: of systems. Returns (systems, residual) of the best point.
    """
    v, k = ws.vectors, ws.count[BLOCKS]
    r, u, best = v[IMPULSE], v[VELOCITY], v[PREVIOUS]
    for c in range(3 * k):
        best[c] = r[c]
    least = refresh(0, k, r, ws, u)
    start_flow(ws)
    alpha, systems = FIRST, 0
    while least > goal and systems < limit:
        has_factor = factor_flow(alpha, ws)
        systems += 1
        if not has_factor and alpha < ALPHA_MOST:
            alpha *= RAISE
            continue
        turn = aim_flow(alpha, ws)
        share, who, then = first_change(ws)
        if share * turn > TURN:
            share, who = TURN / turn, -1
        go(share, ws)
        if who >= 0:
            change(who, then, ws)
            alpha = max(SLOWLY * alpha, min(alpha, BUSY))
        elif share == 1.0:
            alpha = max(QUICKLY * alpha, ALPHA_LEAST)
        error = refresh(0, k, r, ws, u)
        if not error < math.inf:
            break
        if error < least:
            least = error
            for c in range(3 * k):
                best[c] = r[c]
    for c in range(3 * k):
        r[c] = best[c]
    return systems, least
