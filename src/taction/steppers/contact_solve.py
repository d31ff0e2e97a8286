"""Fourth stage of a step: impulses.

Gauss–Seidel, then Newton's method, from the impulses of the step before (`taction.solvers.auto`), to a small
fraction of the tolerance where that is cheap. Impulses so large that rounding hides their residual count as
none: a stronger solver is asked. Newton's method alone where joints are equations of the problem.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import problem_rows
from taction.contact.blocks import is_rounding_above
from taction.solvers.auto import cheap
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton import WEIGHT, load, solve_components
from taction.solvers.newton_work import strong_work
from taction.solvers.nsgs import SOLVED
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
def solve_contacts(options, phase, blocks, dense_io, large_io, sweeps_io, history_io, weight_io, r_io):
    """Impulses r_io (3k,); returns (what is missing, iterations, relative residual).

    weight_io (1,): Newton's first weight, found by the cheap phase and kept until the strong one.
    """
    k = blocks.count[0]
    if k == 0:
        return DONE, 0, 0.0
    rows = problem_rows(blocks)
    if has_joint_rows(options) and k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, 0, 0.0
    if options.is_external:
        return SOLVE_OUTSIDE, 0, 0.0
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal = STRIVE * options.tolerance * scale
    enough = goal if k <= DENSE else ENOUGH * options.tolerance * scale
    done = 0
    if has_joint_rows(options):
        weight_io[0] = WEIGHT
    elif phase != STRONG:
        end, done, error, weight_io[0] = cheap(rows, enough, sweeps_io, r_io, history_io)
        if (end == SOLVED or error <= enough) and not is_rounding_above(rows, r_io, most):
            return DONE, done, error / scale
    if k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, done, 0.0
    work = strong_work(k, dense_io, large_io)
    load(rows, r_io, work)
    steps, error = solve_components(goal, weight_io[0], STEPS, work, r_io, history_io)
    missing = SOLVE_OUTSIDE if error > most or is_rounding_above(rows, r_io, most) else DONE
    return missing, done + steps, error / scale
