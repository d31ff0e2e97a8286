"""Fourth stage of a step: impulses.

Gauss–Seidel, then Newton's method, from the impulses of the step before (`taction.solvers.auto`), to a small
fraction of the tolerance where that is cheap. Impulses so large that rounding hides their residual count as
none: a stronger solver is asked. Newton's method alone where joints are equations of the problem.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import problem_rows
from taction.contact.blocks import is_rounding_above, multiply
from taction.contact.redundancy import NO_CHOICE, NOTHING, VELOCITIES, not_unique
from taction.solvers.auto import cheap
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton import WEIGHT, load, solve_components
from taction.solvers.newton_work import strong_work
from taction.solvers.nsgs import SOLVED
from taction.solvers.selection import select_components
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.judge import norm
from taction.steppers.phases import DONE, ORDER, SOLVE_OUTSIDE, STRONG

STRIVE = 0.03  # the solvers' own goal in units of the tolerance: Newton's method gets there almost for free
ENOUGH = 0.1  # with more than a few blocks Gauss–Seidel may stop here: a Newton step is dear
STEPS = 400  # Newton steps before a stronger solver is asked for


@inline_kernel
def is_ordered(rows, start, column):
    """Whether the large factor's ordering was made for the pattern of these rows."""
    if start.shape[0] != rows.start.shape[0] or column.shape[0] != rows.column.shape[0]:
        return False
    for i in range(start.shape[0]):
        if start[i] != rows.start[i]:
            return False
    for m in range(column.shape[0]):
        if column[m] != rows.column[m]:
            return False
    return True


@kernel
def choose(rows, found, goal, slack, work_io, history_io, r_io):
    """Replace a solution r_io (3k,) that is not unique by the selected one; returns (steps, what is left)."""
    load(rows, r_io, work_io)
    steps, _, is_selected = select_components(goal, STEPS, work_io, r_io, history_io)
    return steps, found if is_selected else NO_CHOICE


@kernel
def solve_contacts(options, phase, blocks, dense_io, large_io, sweeps_io, history_io, weight_io, r_io):
    """Impulses r_io (3k,); returns (what is missing, iterations, what is not unique).

    weight_io (1,): Newton's first weight, found by the cheap phase and kept until the strong one.
    """
    k = blocks.count[0]
    if k == 0:
        return DONE, 0, NOTHING
    rows = problem_rows(blocks)
    if has_joint_rows(options) and k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, 0, NOTHING
    if options.is_external:
        return SOLVE_OUTSIDE, 0, NOTHING
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal = STRIVE * options.tolerance * scale
    enough = goal if k <= DENSE else ENOUGH * options.tolerance * scale
    done, is_solved = 0, False
    if has_joint_rows(options):
        weight_io[0] = WEIGHT
    elif phase != STRONG:
        end, done, error, weight_io[0] = cheap(rows, enough, sweeps_io, r_io, history_io)
        is_solved = (end == SOLVED or error <= enough) and not is_rounding_above(rows, r_io, most)
        if is_solved and k <= DENSE:
            found = not_unique(rows, r_io, sweeps_io[0], most, dense_io.floats)
            if found == NOTHING:
                return DONE, done, NOTHING
    if k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, done, NOTHING
    work = strong_work(k, dense_io, large_io)
    if not is_solved:
        load(rows, r_io, work)
        steps, error = solve_components(goal, weight_io[0], STEPS, work, r_io, history_io)
        done += steps
        if error > most or is_rounding_above(rows, r_io, most):
            return SOLVE_OUTSIDE, done, NOTHING
    multiply(rows, r_io, sweeps_io[0])
    found = not_unique(rows, r_io, sweeps_io[0], most, dense_io.floats) if k <= DENSE else VELOCITIES
    if found != NOTHING:
        work = strong_work(k, dense_io, large_io)
        steps, found = choose(rows, found, goal, most, work, history_io, r_io)
        done += steps
    return DONE, done, found
