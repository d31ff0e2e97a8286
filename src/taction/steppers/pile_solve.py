"""Impulses of piles: hundreds of contacts of loose bodies, outside the compiled step.

The step stops (`PILE` of `taction.steppers.phases`) where it has more than `MANY` blocks of
`taction.steppers.contact_solve`, none of them an equation or compliant; `taction.steppers.driver` calls the
kernels here, which worlds without piles never compile.

1. Gauss–Seidel from the impulses of the step before; enough where little touches.
2. Where all blocks are contacts with the same friction all round, of the exact law or the convex one, a
   flow from state to state (`taction.solvers.state_flow`). Where that does not arrive: method 3 where bodies
   lie on faces, whose redundant contacts change to and fro in a flow; Newton's method from a solution of the
   convex law (`taction.solvers.interior_start`) where the pile is at rest but for a few contacts; then flows
   after more sweeps, with a factor for each change: from the best there is with the convex law; with the
   exact one long ones from where the first began.
3. Else Newton's method in the space of the bodies with sweeps in between (`taction.solvers.damped_newton`),
   and from where that ends proximal rounds (`taction.solvers.newton`).

Where that fails, too, the impulses reached are kept and the step counts as unconverged: the methods of
`taction.solvers.auto` take minutes for so many contacts, and failed on all that were tried.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.contact.assembly import TREE, problem_rows
from taction.contact.blocks import is_at_rounding, is_rounding_above, multiply
from taction.contact.laws.dispatch import is_shifted, natural_map
from taction.solvers.auto import STRIVE
from taction.solvers.closed_factor import CHANGES
from taction.solvers.damped_newton import damped_newton
from taction.solvers.interior_start import has_round_cones, interior_start
from taction.solvers.newton import WEIGHT, scaled_rows, solve_components, unload
from taction.solvers.newton_memory import IMPULSE
from taction.solvers.nsgs import SOLVED, gauss_seidel, sweep
from taction.solvers.state_flow import has_sliding_cones, start_flow, state_flow
from taction.steppers.contact_solve import ENOUGH, is_accepted, load_by_bodies, within_reach
from taction.steppers.judge import norm
from taction.steppers.phases import DONE, ORDER_BODIES, ORDER_FLOW

SWEEPS = 30  # of Gauss–Seidel before anything is factored
FLOW_SWEEPS = 100  # more before each flow
FAR = 1e-3  # residual, relative to ‖b‖, beyond which there are as many before the first, with the exact law
FLOW_STEPS, FLOW_ENOUGH = 1000, 0.5  # systems of a flow; its goal, as a share of the tolerance
SECOND_STEPS = 4500  # systems of flows after the first, with the exact law
LAST, LAST_EXACT = 6, 3  # turns of method 2, with the exact law fewer and longer
CALM = 2e-3  # residual, likewise, after sweeps, of a pile at rest but for a few contacts
SHARED = 0.3  # share of contacts between the same bodies as the one before, from which a pile is one of faces
FIRST_STEPS = 200  # systems of the first flow through a pile of faces, or one at rest but for a few contacts
CONVEX_ENOUGH, CONVEX_STEPS = 1e-5, 40  # residual, likewise, and iterations of the convex law
NEAR_STEPS = 8  # of damped steps from there
LIGHTEST, HEAVIEST = 1e-6, 1e-2  # first weights of damped steps
DAMPED_STEPS, DAMPED_SWEEPS = 12, 30  # of them, and sweeps between
ROUND_STEPS = 400  # Newton steps of rounds


@kernel
def sweep_pile(rows, goal, most, scale, ws, history_io, r_io):
    """Method 1 on r_io (3k,); returns (whether that is enough, sweeps). ws (2, ·): scratch."""
    enough = max(goal, ENOUGH * most)
    end, done, error = gauss_seidel(rows, enough, SWEEPS, SWEEPS + 1, 0.0, 1.0, ws[0], r_io, history_io)
    if end != SOLVED and is_rounding_above(rows, r_io, goal):
        multiply(rows, r_io, ws[0])
        error = natural_map(rows.kind, rows.sets, r_io, ws[0])
        return is_at_rounding(rows, r_io, error, scale), done
    return (end == SOLVED or error <= enough) and is_accepted(rows, r_io, error, most, scale), done


@kernel
def newton_pile(rows, column, goal, most, scale, ws, r_io):
    """Method 3 on r_io (3k,); returns (what is missing or DONE, Newton steps, residual)."""
    work = ws.loose
    if not load_by_bodies(rows, ws.blocks, ws.motion.L, column, r_io, work):
        return ORDER_BODIES, 0, math.inf
    multiply(rows, r_io, ws.sweeps[0])
    first = natural_map(rows.kind, rows.sets, r_io, ws.sweeps[0]) / scale
    first = min(max(first, LIGHTEST), HEAVIEST)
    steps, error = damped_newton(goal, first, DAMPED_STEPS, DAMPED_SWEEPS, work, ws.history)
    unload(work, r_io)
    if not is_accepted(rows, r_io, error, most, scale):
        more, error = solve_components(goal, WEIGHT, ROUND_STEPS, work, r_io, ws.history)
        steps += more
    return DONE, steps, error


@kernel
def has_faces(blocks):
    """Whether bodies share several contacts, as where they lie on faces and edges."""
    shared, index = 0, blocks.index
    for i in range(1, blocks.count[0]):
        a, b, c = index[i, TREE], index[i, TREE + 1], index[i, TREE + 2]
        if a == index[i - 1, TREE] and b == index[i - 1, TREE + 1] and c == index[i - 1, TREE + 2]:
            shared += 1
    return shared > SHARED * blocks.count[0]


@kernel
def solve_pile(column, options, is_first, ws, r_io):
    """Impulses r_io (3k,), as good as they get; returns (what is missing or DONE, sweeps, Newton steps).

    is_first: before bodies were ordered; column (nv,): of the factor of the mass matrix. Where ORDER_FLOW is
    missing, `flow_pile` goes on.
    """
    rows = problem_rows(ws.blocks)
    done, scale = 0, norm(rows.b, 3 * ws.blocks.count[0])
    most = options.tolerance * scale
    goal = within_reach(rows, r_io, STRIVE * most)
    if is_first:
        is_enough, done = sweep_pile(rows, goal, most, scale, ws.sweeps, ws.history, r_io)
        if is_enough:
            return DONE, done, 0
    if has_sliding_cones(rows):
        return ORDER_FLOW, done, 0
    missing, steps, _ = newton_pile(rows, column, goal, most, scale, ws, r_io)
    return missing, done, steps


@kernel
def newton_from_convex(goal, most, scale, work_io, history_io, r_io):
    """Newton's method from the convex law for what is loaded; impulses into r_io (3k,) if it succeeds.

    Returns (steps, residual).
    """
    steps, _ = interior_start(CONVEX_ENOUGH * scale, CONVEX_STEPS, work_io)
    scaled = scaled_rows(work_io)
    for _ in range(DAMPED_SWEEPS):
        sweep(scaled, 1.0, work_io.vectors[IMPULSE])
    more, error = damped_newton(goal, HEAVIEST, NEAR_STEPS, DAMPED_SWEEPS, work_io, history_io)
    if error <= most:
        unload(work_io, r_io)
    return steps + more, error


@kernel
def calm_pile(column, options, ws, r_io):
    """Method 2 where the pile is at rest but for a few contacts: from the convex law.

    Impulses r_io (3k,), changed if that succeeds. Returns (what is missing or DONE, steps, whether it does).
    """
    blocks, work = ws.blocks, ws.loose
    rows = problem_rows(blocks)
    scale = norm(rows.b, 3 * blocks.count[0])
    most = options.tolerance * scale
    multiply(rows, r_io, ws.sweeps[0])
    if natural_map(rows.kind, rows.sets, r_io, ws.sweeps[0]) > CALM * scale:
        return DONE, 0, False
    if not load_by_bodies(rows, blocks, ws.motion.L, column, r_io, work):
        return ORDER_BODIES, 0, False
    if not has_round_cones(work):
        return DONE, 0, False
    goal = within_reach(rows, r_io, STRIVE * most)
    steps, error = newton_from_convex(goal, most, scale, work, ws.history, r_io)
    return DONE, steps, error <= most


@kernel
def second_pile(column, options, ws, r_io):
    """Method 2 after the first flow: Newton's method, from there or from the convex law; as `calm_pile`."""
    if not has_faces(ws.blocks):
        return calm_pile(column, options, ws, r_io)
    rows, n = problem_rows(ws.blocks), 3 * ws.blocks.count[0]
    trial = ws.sweeps[1]
    scale = norm(rows.b, n)
    most = options.tolerance * scale
    for c in range(n):
        trial[c] = r_io[c]
    goal = within_reach(rows, r_io, STRIVE * most)
    missing, steps, error = newton_pile(rows, column, goal, most, scale, ws, trial)
    is_solved = missing == DONE and is_accepted(rows, trial, error, most, scale)
    for c in range(n if is_solved else 0):
        r_io[c] = trial[c]
    return missing, steps, is_solved


@kernel
def flow_pile(column, options, turn, is_new, ws, r_io):
    """Method 2 on impulses r_io (3k,): a flow; Newton's method in the second turn; flows after sweeps.

    is_new: from the start, not from where it stopped. Returns (what is missing or DONE, systems, whether that
    was all: it is solved, or nothing is left to try).
    """
    if turn == 1:
        return second_pile(column, options, ws, r_io)
    blocks, trial = ws.blocks, ws.sweeps[1]
    rows, n = problem_rows(blocks), 3 * blocks.count[0]
    scale, is_exact = norm(rows.b, n), is_shifted(rows.kind[0])
    most = options.tolerance * scale
    goal = max(within_reach(rows, r_io, STRIVE * most), FLOW_ENOUGH * most)
    multiply(rows, r_io, ws.sweeps[0])
    least = natural_map(rows.kind, rows.sets, r_io, ws.sweeps[0])
    if is_new:
        for c in range(n):
            if turn == 0:
                ws.flow.guess[c] = r_io[c]
            trial[c] = ws.flow.guess[c] if is_exact else r_io[c]
        is_far = least > FAR * scale and is_exact
        for _ in range(max(turn - 1, 1 if is_far else 0) * FLOW_SWEEPS):
            sweep(rows, 1.0, trial)
        start_flow(rows, scale, trial, ws.flow)
    if turn == 0:
        is_short = least <= CALM * scale or has_faces(blocks)
        limit, many = FIRST_STEPS if is_short else FLOW_STEPS, CHANGES
    else:
        limit, many = SECOND_STEPS if is_exact else FLOW_STEPS, 1
    has_room, systems, error = state_flow(goal, limit, many, ws.flow)
    if not has_room:
        return ORDER_FLOW, 0, False
    if error < least:
        unload(ws.flow.work, r_io)
    is_last = turn == (LAST_EXACT if is_exact else LAST)
    return DONE, systems, is_last or is_accepted(rows, r_io, min(error, least), most, scale)
