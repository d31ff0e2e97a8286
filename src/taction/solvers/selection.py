"""One answer where the laws leave many: the impulses that a vanishing compliance, equal at all contacts, selects.

What it solves. A box on four corners stands in one way, but its corners share the weight in many; under the
exact law of friction not even velocities need be unique. Of all solutions of a problem the one is wanted that
depends on the problem alone: not on the guess, not on the method, not on the coordinates. Give every contact
the same compliance ε [velocity per impulse], that is, let the laws hold between Λ and u + ε Λ, and let ε
vanish. Under the convex law that is the solution of least norm ‖Λ‖ (Tikhonov); where contacts stick it is the
one whose loads follow from a rigid motion of the bodies against equal springs.

Notation
    ε = α w̄   the compliance: w̄ the largest mean diagonal of W over the contacts that belong together, α small
    c         centre of the proximal problem: the laws hold between Λ and u + ε (Λ − c)

Method, on the scaled blocks of `taction.solvers.newton`, component by component:
1. centre zero: c = 0, by Newton's method to rounding. The guess is where Newton's method starts and nothing
   else. If it fails, ε is raised a hundredfold and comes down again in steps of ten, still with c = 0: the way
   that the compliance takes as it vanishes.
2. re-centre: c = Λ, again to rounding, until the laws hold to the goal with the unregularised W; ε falls
   tenfold where a round gains less than a digit. While the same contacts stick and slide the impulses stay in
   the range of the same matrix, so that no part of the choice is lost: the sticking answer is the one of
   least norm to rounding, whatever ε is. Else it is that up to O(ε).

Errors of the linear solves in the directions that W does not see are amplified by 1/ε: hence to rounding, and
α = 1e-6 balances that (1e-10) against O(ε).

Rows. Equations of joints get a millionth of the weight, as in all of Newton's method: they are taken to be
rigid before contacts are. Stops and dry friction in joints count as contacts, in SI units. The tangential
compliance is that in which the larger half of the friction cone is circular.

Limits. The regularised problem has one solution where friction is not so strong that it jams; where it has
several, the guess may decide after all. `select_components` says whether it succeeded.

Cost: a factorisation per Newton step; two rounds of one or two steps where the guess is good.

References: [Tikhonov1963] for the choice; [Rockafellar1976] for the proximal point method;
[AcaryBremondHuber2018] for its use with friction.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.dispatch import is_rowwise
from taction.solvers.alart_curnier import linearise
from taction.solvers.block_lu import solve_lower, solve_upper
from taction.solvers.newton import apply, line_search, note, refresh, solve_linear, unscaled_residual
from taction.solvers.newton_memory import (
    CENTRE,
    IMPULSE,
    PREVIOUS,
    RECORDED,
    RESIDUAL,
    RESPONSE,
    STEP,
    TOTAL,
    VELOCITY,
)

SELECT = 1e-6  # α: ε in units of w̄
ALPHA_LEAST, ALPHA_MOST = 1e-13, 1e3
RAISE, LOWER = 100.0, 0.1  # of α, where a round fails and where it succeeds again
ROUNDS = 60
INNER_STEPS = 25  # Newton steps of a round
ROUNDING = 1e-14  # of F in units of the scaled b and Λ: what a round is solved to
NEAR = 1e-9  # likewise: near enough to stop where a step gains less than half
CHORDS = 3  # steps with a factor that is there already


@kernel
def weigh(first, last, ws):
    """Levels of the blocks first…last−1 so that α is the same compliance, in units of w̄, everywhere."""
    unit = 0.0
    for i in range(first, last):
        unit = max(unit, 1.0 / block_scale(ws, i))
    for i in range(first, last):
        scale = block_scale(ws, i)
        ws.level[i] = unit * scale if scale < math.inf else 1.0


@inline_kernel
def block_scale(ws, i):
    """s² of a block: of a contact's normal; of the interval that has the largest; infinite if all are equations."""
    if not is_rowwise(ws.rows.kind[i]):
        return ws.scale[3 * i] * ws.scale[3 * i]
    largest = 0.0
    for c in range(3):
        low, high = ws.sets[i, 2 * c], ws.sets[i, 2 * c + 1]
        if low < high and (low > -math.inf or high < math.inf):
            largest = max(largest, ws.scale[3 * i + c] * ws.scale[3 * i + c])
    return largest if largest > 0.0 else math.inf


@inline_kernel
def size_of(first, last, r, ws):
    """‖b‖ + ‖Λ‖ of the scaled blocks."""
    b2 = r2 = 0.0
    for c in range(3 * first, 3 * last):
        b2 += ws.rows.b[c] * ws.rows.b[c]
        r2 += r[c] * r[c]
    return math.sqrt(b2) + math.sqrt(r2)


@kernel
def settle(first, last, alpha, limit, ws, r_io, u_io):
    """The proximal problem around CENTRE to rounding, from r_io; returns (steps, whether it was solved)."""
    v = ws.vectors
    merit = linearise(
        ws.rows, first, last, alpha, ws.level, v[CENTRE], r_io, u_io, ws.jacobian, ws.is_identity, v[RESIDUAL]
    )
    for k in range(limit):
        size = size_of(first, last, r_io, ws)
        if merit <= ROUNDING * size:
            return k, True
        for c in range(3 * first, 3 * last):
            v[STEP, c] = -v[RESIDUAL, c]
        if solve_linear(first, last, alpha, ws, v[STEP]):
            return k + 1, False
        before = merit
        apply(ws.rows, first, last, v[STEP], v[RESPONSE])
        merit = line_search(first, last, alpha, merit, ws, r_io, u_io)
        if not merit < math.inf:
            return k + 1, before <= NEAR * size
        if merit > 0.5 * before and merit <= NEAR * size:
            return k + 1, True
    return limit, False


@kernel
def select_component(first, last, goal, limit, ws, r_io, u_io, history_io):
    """Steps 1 and 2 for one component; returns (Newton steps, residual, whether it was selected)."""
    v = ws.vectors
    steps, alpha, is_zero = 0, SELECT, True
    error, before = math.inf, math.inf
    for c in range(3 * first, 3 * last):
        v[CENTRE, c] = 0.0
        v[PREVIOUS, c] = r_io[c]
    for _ in range(ROUNDS):
        used, is_solved = settle(first, last, alpha, min(INNER_STEPS, limit - steps), ws, r_io, u_io)
        steps += used
        error = refresh(first, last, r_io, ws, u_io)
        note(error, ws.record, history_io)
        if is_solved and is_zero and alpha > SELECT:
            alpha = max(LOWER * alpha, SELECT)
            continue
        if not is_solved:
            if not is_zero or alpha >= ALPHA_MOST or steps >= limit:
                return steps, error, False
            alpha *= RAISE
            continue
        is_zero = False
        if error <= goal:
            return steps, error, True
        if error > 0.1 * before:
            alpha = max(LOWER * alpha, ALPHA_LEAST)
        before = error
        for c in range(3 * first, 3 * last):
            v[CENTRE, c] = r_io[c]
    return steps, error, False


@kernel
def select_components(goal, limit, ws, r_io, history_io):
    """The selected impulses of what `load` put in; r_io (3k,) as the problem has them, kept where it fails.

    goal: residual of the whole; limit: Newton steps per component. Returns (steps, residual, whether all
    components were selected).
    """
    v, component, order = ws.vectors, ws.analysis.component, ws.analysis.order
    r, u = v[IMPULSE], v[VELOCITY]
    k = order.shape[0]
    refresh(0, k, r, ws, u)
    ws.record[RECORDED] = ws.record[TOTAL] = 0.0
    reached, steps, is_selected = 0.0, 0, True
    for n in range(component.shape[0] - 1):
        first, last = component[n], component[n + 1]
        weigh(first, last, ws)
        share = goal * math.sqrt((last - first) / k)
        used, after, is_done = select_component(first, last, share, limit, ws, r, u, history_io)
        steps += used
        reached += after * after
        is_selected = is_selected and is_done
    if is_selected:
        for t in range(k):
            for c in range(3):
                r_io[3 * order[t] + c] = ws.scale[3 * t + c] * r[3 * t + c]
    return steps, math.sqrt(reached), is_selected
