"""One answer where the laws leave many: the impulses that a vanishing compliance selects.

What it solves. A box on four corners stands in one way, but its corners share the weight in many; under the
exact law of friction not even velocities need be unique. Of all solutions of a problem the one is wanted that
depends on the problem alone: not on the guess, not on the method, not on the coordinates. Give every contact
the same compliance ε [velocity per impulse], that is, let the laws hold between Λ and u + ε Λ, and let ε
vanish. Under the convex law that is the solution of least norm ‖Λ‖ (Tikhonov); where contacts stick it is the
one whose loads follow from a rigid motion of the bodies against equal springs.

Notation
    ε = α w̄   the compliance: α small, w̄ the largest mean diagonal of W over contacts that belong together
    c         centre of the proximal problem: the laws hold between Λ and u + ε (Λ − c)

Method, on the scaled blocks of `taction.solvers.newton`, component by component:
1. centre zero: c = 0, by Newton's method to rounding. The guess is where Newton's method starts and nothing
   else. If that leads nowhere it starts again with α = `FIRST`, which falls in steps of ten, still with c =
   0: the way that the compliance takes as it vanishes, each problem solved roughly but the last. Large piles
   are spared the way: there the choice may fail, and says so.
2. re-centre: c = Λ, again to rounding, until the laws hold to the goal with the unregularised W; ε falls
   tenfold where a round gains less than a digit. While the same contacts stick and slide the impulses stay in
   the range of the same matrix, so that no part of the choice is lost: the sticking answer is the one of
   least norm to rounding, whatever ε is. Else it is that up to O(ε). A motion that almost no force resists,
   as of a block between faces that are parallel to 1e-6, makes rounds end early: it is let be where what is
   left is within the tolerance, and so are forces without bound that would stop it.

Errors of the linear solves in the directions that W does not see are amplified by 1/ε: hence to rounding, and
α = 1e-6 balances that (1e-10) against O(ε).

Rows. Equations of joints get 1e-8 of the weight: they are taken to be rigid before contacts are. Stops and
dry friction in joints count as contacts, in SI units. The tangential compliance is that in which the larger
half of the friction cone is circular.

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
from taction.solvers.body_space import has_bodies, solve_bodies
from taction.solvers.newton import apply, line_search, note, refresh, solve_linear, unload
from taction.solvers.newton_memory import (
    BLOCKS,
    CENTRE,
    COMPONENTS,
    IMPULSE,
    PREVIOUS,
    PREVIOUS_U,
    RECORDED,
    RESIDUAL,
    RESPONSE,
    STEP,
    TOTAL,
    TRIAL,
    TRIAL_U,
    VELOCITY,
)

SELECT = 1e-6  # α: ε in units of w̄
BODIES_LEAST = 1e-8  # least α in the space of bodies, where errors are larger by 1/α
RIGID = 1e-2  # of the weight that equations have otherwise, a millionth: rigid before contacts are
FIRST, LOWER, ALPHA_LEAST = 1e-2, 0.1, 1e-13  # α: where the way down begins, its steps, the least
LEAP = 1e-3  # a step of α where a round gains nothing
ROUGH = 0.1  # share of ‖F‖ to which a problem on the way is solved
DIRECT, PATIENCE, PROGRESS = 15, 3, 0.3  # Newton steps without the way; so many must gain this share of ‖F‖
LONG_WAY = 16  # blocks of a component up to which the way down is worth its cost
INNER_STEPS, ROUNDS = 25, 12  # Newton steps of a problem, problems of step 2
ENOUGH = 0.1  # of the tolerance: what may be left where no round comes nearer
ROUNDING = 1e-14  # of F in units of the scaled b and Λ: what a problem is solved to
NEAR = 1e-9  # likewise: near enough to stop where a step gains less than half
CLOSE = 1e-5  # likewise: from here rounding of updates shows
SPARE = 1e-2  # of the goal: what is left of ε has one sign, and would make loads creep over many steps
GAIN = 0.1  # of ‖F‖, that makes a step with an old factor worth it


@kernel
def weigh(first, last, ws):
    """Levels of the blocks first…last−1 so that α is the same compliance, in units of w̄, everywhere."""
    unit = 0.0
    for i in range(first, last):
        unit = max(unit, 1.0 / block_scale(i, ws))
    for i in range(first, last):
        scale = block_scale(i, ws)
        ws.level[i] = unit * scale if scale < math.inf else RIGID


@inline_kernel
def block_scale(i, ws):
    """s² of a block: of a contact's normal, of the largest interval; infinite if all are equations."""
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
    """‖b‖ + ‖Λ‖ of the scaled blocks that carry something: of open ones, far off perhaps, nothing rounds."""
    b2 = r2 = 0.0
    for i in range(first, last):
        if r[3 * i] != 0.0 or r[3 * i + 1] != 0.0 or r[3 * i + 2] != 0.0:
            for c in range(3 * i, 3 * i + 3):
                b2 += ws.rows.b[c] * ws.rows.b[c]
                r2 += r[c] * r[c]
    return math.sqrt(b2) + math.sqrt(r2)


@kernel
def solve_again(first, last, ws, x_io):
    """Solve with the factor that is there."""
    if has_bodies(ws.bodies):
        solve_bodies(first, last, ws.held, ws.bodies, x_io)
        return
    pattern = ws.pattern
    solve_lower(pattern, first, last, ws.held, ws.lu, x_io)
    solve_upper(pattern, first, last, ws.held, ws.lu, ws.inverse, x_io)


@inline_kernel
def equations_at(first, last, alpha, r, u, ws):
    """F, A and B at impulses r and velocities u; returns ‖F‖."""
    v = ws.vectors
    return linearise(
        ws.rows, first, last, alpha, ws.level, v[CENTRE], r, u, ws.jacobian, ws.is_identity, v[RESIDUAL]
    )


@inline_kernel
def velocities(first, last, r, ws, u_out):
    """u_out = W r + b of blocks first…last−1."""
    apply(ws.rows, first, last, r, u_out)
    for c in range(3 * first, 3 * last):
        u_out[c] += ws.rows.b[c]


@kernel
def chord(first, last, alpha, merit, ws, r_io, u_io):
    """A step with the factor that is there, kept if it gains a digit; returns (whether it did, ‖F‖)."""
    v, low, high = ws.vectors, 3 * first, 3 * last
    for c in range(low, high):
        v[STEP, c] = -v[RESIDUAL, c]
    solve_again(first, last, ws, v[STEP])
    for c in range(low, high):
        v[TRIAL, c] = r_io[c] + v[STEP, c]
    velocities(first, last, v[TRIAL], ws, v[TRIAL_U])
    value = equations_at(first, last, alpha, v[TRIAL], v[TRIAL_U], ws)
    if not value <= GAIN * merit:
        return False, equations_at(first, last, alpha, r_io, u_io, ws)
    for c in range(low, high):
        r_io[c], u_io[c] = v[TRIAL, c], v[TRIAL_U, c]
    return True, value


@kernel
def settle(first, last, alpha, decrease, patience, limit, has_factor, ws, r_io, u_io):
    """The proximal problem around CENTRE from r_io, to rounding or until ‖F‖ has fallen by ``decrease``.

    patience: Newton steps that must gain `PROGRESS` together, or it is given up. has_factor: one for this α
    is there already. Returns (steps, whether it was solved).
    """
    v = ws.vectors
    merit = equations_at(first, last, alpha, r_io, u_io, ws)
    goal, mark = decrease * merit, math.inf
    for k in range(limit):
        if k % patience == 0:
            if merit > PROGRESS * mark:
                return k, False
            mark = merit
        size = size_of(first, last, r_io, ws)
        floor = max(ROUNDING * size, goal)
        while has_factor and merit > floor:
            has_factor, merit = chord(first, last, alpha, merit, ws, r_io, u_io)
        if merit <= floor:
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
        if merit <= CLOSE * size:
            velocities(first, last, r_io, ws, u_io)  # without the rounding of updates
            merit = equations_at(first, last, alpha, r_io, u_io, ws)
        has_factor = merit <= GAIN * before
    return limit, merit <= NEAR * size_of(first, last, r_io, ws)


@kernel
def follow_path(first, last, limit, ws, r_io, u_io):
    """Step 1: the problem around zero, at once or by the way down; returns (steps, success)."""
    v = ws.vectors
    for c in range(3 * first, 3 * last):
        v[CENTRE, c] = 0.0
        v[PREVIOUS, c], v[PREVIOUS_U, c] = r_io[c], u_io[c]
    steps, is_solved = settle(first, last, SELECT, 0.0, PATIENCE, min(DIRECT, limit), False, ws, r_io, u_io)
    if is_solved or last - first > LONG_WAY:
        return steps, is_solved
    for c in range(3 * first, 3 * last):
        r_io[c], u_io[c] = v[PREVIOUS, c], v[PREVIOUS_U, c]
    alpha = FIRST
    while alpha > 0.5 * SELECT:
        decrease = ROUGH if alpha > 2.0 * SELECT else 0.0
        used, is_solved = settle(
            first, last, alpha, decrease, INNER_STEPS, min(INNER_STEPS, limit - steps), False, ws, r_io,
            u_io,
        )  # fmt: skip
        steps += used
        alpha *= LOWER
    return steps, is_solved


@kernel
def select_component(first, last, goal, enough, limit, ws, r_io, u_io, history_io):
    """Steps 1 and 2 for one component; returns (Newton steps, residual, whether it was selected)."""
    v = ws.vectors
    steps, is_solved = follow_path(first, last, limit, ws, r_io, u_io)
    error = refresh(first, last, r_io, ws, u_io)
    note(error, ws.record, history_io)
    if not is_solved:
        return steps, error, False
    alpha, least, has_factor = SELECT, BODIES_LEAST if has_bodies(ws.bodies) else ALPHA_LEAST, steps > 0
    for n in range(ROUNDS):
        if error <= goal and (n >= 2 or error <= SPARE * goal):
            return steps, error, True
        for c in range(3 * first, 3 * last):
            v[CENTRE, c] = v[PREVIOUS, c] = r_io[c]
        used, is_solved = settle(
            first, last, alpha, 0.0, INNER_STEPS, min(INNER_STEPS, limit - steps), has_factor, ws, r_io, u_io
        )
        steps += used
        before, error = error, refresh(first, last, r_io, ws, u_io)
        note(error, ws.record, history_io)
        if n >= 2 and error <= enough and 0.5 * before < error <= before:
            return steps, error, True
        has_factor = True
        if error > 0.1 * before:
            alpha, has_factor = max((LOWER if error < 0.5 * before else LEAP) * alpha, least), False
        if not error < before:
            for c in range(3 * first, 3 * last):
                r_io[c] = v[PREVIOUS, c]
            error = refresh(first, last, r_io, ws, u_io)
    return steps, error, error <= enough


@kernel
def select_components(goal, enough, limit, ws, r_io, history_io):
    """The selected impulses of what `load` put in; r_io (3k,) as the problem has them, kept where it fails.

    goal: residual of the whole, and what is enough where no round comes nearer; limit: Newton steps per
    component. Returns (steps, residual, whether all components were selected).
    """
    v, component, k = ws.vectors, ws.component, ws.count[BLOCKS]
    r, u = v[IMPULSE], v[VELOCITY]
    refresh(0, k, r, ws, u)
    ws.record[RECORDED] = ws.record[TOTAL] = 0.0
    reached, steps, is_selected = 0.0, 0, True
    for n in range(ws.count[COMPONENTS]):
        first, last = component[n], component[n + 1]
        if first == last:
            continue
        weigh(first, last, ws)
        share = math.sqrt((last - first) / k)
        used, after, is_done = select_component(
            first, last, share * goal, share * enough, limit, ws, r, u, history_io
        )
        steps += used
        reached += after * after
        is_selected = is_selected and is_done
    if is_selected:
        unload(ws, r_io)
    return steps, math.sqrt(reached), is_selected
