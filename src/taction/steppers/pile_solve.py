"""Impulses of piles: hundreds of contacts of loose bodies, outside the compiled step.

The step stops (`PILE` of `taction.steppers.phases`) where it has more than `MANY` blocks of
`taction.steppers.contact_solve`, none of them an equation or compliant; `taction.steppers.driver` calls the
kernel here, which worlds without piles never compile.

1. Gauss–Seidel from the impulses of the step before; enough where little touches.
2. Newton's method in the space of the bodies with sweeps in between (`taction.solvers.damped_newton`).
3. The same from a solution of the convex law (`taction.solvers.interior_start`), where the pile is at rest
   but for a few contacts.
4. A few proximal rounds (`taction.solvers.newton`) from where 2 ended.
5. A flow from state to state (`taction.solvers.state_flow`), from where 1 ended, then from sweeps of
   the best there is; in the space of contacts, whose order is made outside.

Where that fails, too, the impulses reached are kept and the step counts as unconverged: the methods of
`taction.solvers.auto` take minutes for so many contacts, and failed on all that were tried.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.contact.assembly import problem_rows
from taction.contact.blocks import is_at_rounding, is_rounding_above, multiply
from taction.contact.laws.dispatch import natural_map
from taction.solvers.auto import STRIVE
from taction.solvers.damped_newton import damped_newton, scaled_rows
from taction.solvers.interior_start import has_round_cones, interior_start
from taction.solvers.newton import WEIGHT, load, load_scaled, solve_components, unload
from taction.solvers.newton_memory import IMPULSE
from taction.solvers.nsgs import SOLVED, gauss_seidel, sweep
from taction.solvers.state_flow import has_sliding_cones, state_flow
from taction.steppers.contact_solve import ENOUGH, is_accepted, load_by_bodies, within_reach
from taction.steppers.judge import norm
from taction.steppers.phases import DONE, ORDER, ORDER_BODIES

SWEEPS = 30  # of Gauss–Seidel before anything is factored
NEAR = 1e-4  # residual, relative to ‖b‖, below which contacts hardly change over any more
NEAR_STEPS, NEAR_SWEEPS = 8, 10  # of the damped method from there
FAR_STEPS, FAR_SWEEPS = 12, 30  # and from further away
LIGHTEST, HEAVIEST = 1e-6, 1e-2  # first weights of it
FEW_STEPS = 120  # Newton steps of rounds before the flow
FLOWS, FLOW_SWEEPS = 4, 100  # flows that are tried, and sweeps more before each
FLOW_STEPS, FLOW_ENOUGH = 1000, 0.5  # systems of a flow; its goal, as a share of the tolerance
CALM = 2e-3  # residual, relative to ‖b‖, of the guess of a pile at rest but for a few contacts
CONVEX_ENOUGH, CONVEX_STEPS = 1e-5, 40  # residual, likewise, and iterations of the convex law


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
def newton_from_convex(rows, goal, most, scale, work_io, history_io, r_io):
    """Method 3; impulses into r_io (3k,) if it succeeds, else r_io is loaded again.

    Returns (steps, residual, infinite if r_io is as it was).
    """
    steps, _ = interior_start(CONVEX_ENOUGH * scale, CONVEX_STEPS, work_io)
    scaled = scaled_rows(work_io)
    for _ in range(FAR_SWEEPS):
        sweep(scaled, 1.0, work_io.vectors[IMPULSE])
    more, error = damped_newton(goal, HEAVIEST, NEAR_STEPS, FAR_SWEEPS, work_io, history_io)
    if error <= most:
        unload(work_io, r_io)
        return steps + more, error
    load_scaled(rows, r_io, work_io)
    return steps + more, math.inf


@kernel
def newton_rounds(rows, goal, most, scale, ws, work_io, history_io, r_io):
    """Methods 2 to 4 on what is loaded in work_io; impulses into r_io (3k,).

    Returns (whether they solve the problem, steps).
    """
    multiply(rows, r_io, ws[0])
    error = natural_map(rows.kind, rows.sets, r_io, ws[0])
    limit, sweeps = (NEAR_STEPS, NEAR_SWEEPS) if error <= NEAR * scale else (FAR_STEPS, FAR_SWEEPS)
    first = min(max(error / scale, LIGHTEST), HEAVIEST)
    is_calm = error <= CALM * scale and has_round_cones(work_io)
    steps, error = damped_newton(goal, first, limit, sweeps, work_io, history_io)
    unload(work_io, r_io)
    if is_calm and not is_accepted(rows, r_io, error, most, scale):
        more, error = newton_from_convex(rows, goal, most, scale, work_io, history_io, r_io)
        steps += more
    if not is_accepted(rows, r_io, error, most, scale):
        more, error = solve_components(goal, WEIGHT, FEW_STEPS, work_io, r_io, history_io)
        steps += more
    return is_accepted(rows, r_io, error, most, scale), steps


@kernel
def solve_pile(column, options, is_first, ws, r_io):
    """Impulses r_io (3k,), as good as they get; returns (what is missing or DONE, sweeps, Newton steps).

    is_first: before bodies were ordered; column (nv,): of the factor of the mass matrix. Where ORDER is
    missing, `flow_pile` goes on.
    """
    blocks, work = ws.blocks, ws.loose
    rows = problem_rows(blocks)
    done, scale = 0, norm(rows.b, 3 * blocks.count[0])
    most = options.tolerance * scale
    goal = within_reach(rows, r_io, STRIVE * most)
    if is_first:
        is_enough, done = sweep_pile(rows, goal, most, scale, ws.sweeps, ws.history, r_io)
        if is_enough:
            return DONE, done, 0
    if not load_by_bodies(rows, blocks, ws.motion.L, column, r_io, work):
        return ORDER_BODIES, done, 0
    for c in range(3 * blocks.count[0]):
        ws.sweeps[1, c] = r_io[c]
    is_solved, steps = newton_rounds(rows, goal, most, scale, ws.sweeps, work, ws.history, r_io)
    return (DONE if is_solved else ORDER), done, steps


@kernel
def flow_pile(options, ws, r_io):
    """Method 5 from the sweeps of `solve_pile`, then from more of the best impulses met, r_io (3k,).

    ws.large: ordered for the problem. Returns systems.
    """
    blocks, work, trial, systems = ws.blocks, ws.large, ws.sweeps[1], 0
    rows, n = problem_rows(blocks), 3 * blocks.count[0]
    scale = norm(rows.b, n)
    most = options.tolerance * scale
    goal = max(within_reach(rows, r_io, STRIVE * most), FLOW_ENOUGH * most)
    multiply(rows, r_io, ws.sweeps[0])
    least = natural_map(rows.kind, rows.sets, r_io, ws.sweeps[0])
    load(rows, trial, work)
    if not has_sliding_cones(work):
        return 0
    for turn in range(FLOWS):
        if turn > 0:
            for c in range(n):
                trial[c] = r_io[c]
            for _ in range(turn * FLOW_SWEEPS):
                sweep(rows, 1.0, trial)
            load(rows, trial, work)
        more, error = state_flow(goal, FLOW_STEPS, work)
        systems += more
        unload(work, trial)
        if error < least:
            least = error
            for c in range(n):
                r_io[c] = trial[c]
        if is_accepted(rows, r_io, least, most, scale):
            break
    return systems
