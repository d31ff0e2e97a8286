"""Impulses of piles: many contacts of loose bodies, outside the compiled step.

The step stops (`PILE` of `taction.steppers.phases`) where it has more than a few blocks, none of them an
equation or compliant; `taction.steppers.driver` calls the kernels here, which worlds without piles never
compile.

1. `sweep_pile`: Gauss–Seidel from the impulses of the step before; enough where little touches.
2. `solve_pile`: Newton's method in the space of the bodies, first with sweeps in between
   (`taction.solvers.damped_newton`; of `SMALL` piles only close to a solution), then in proximal rounds
   (`taction.solvers.newton`), which start again with another weight where they fail.
3. The choice among impulses that are not unique, for piles that are not too large.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

from collections.abc import Callable

from taction._core.jit import kernel
from taction.contact.assembly import problem_rows
from taction.contact.blocks import is_at_rounding, is_rounding_above, multiply
from taction.contact.laws.dispatch import natural_map
from taction.contact.redundancy import NO_CHOICE, NOTHING, VELOCITIES
from taction.solvers.auto import CHOOSING, REDUNDANT, STRIVE, cheap
from taction.solvers.body_space import has_bodies, prepare_bodies, scale_bodies
from taction.solvers.damped_newton import damped_newton
from taction.solvers.newton import WEIGHT, load_scaled, solve_components
from taction.solvers.newton_memory import IMPULSE
from taction.solvers.newton_work import carve_work
from taction.solvers.nsgs import SOLVED, gauss_seidel
from taction.solvers.selection import select_components
from taction.steppers.contact_solve import ENOUGH, SELECTING, STEPS, is_accepted, within_reach
from taction.steppers.judge import norm
from taction.steppers.phases import DONE, ORDER, SOLVE_OUTSIDE
from taction.steppers.scene import Memory, Options, Scene

SWEEPS = 30  # of Gauss–Seidel before anything is factored
NEAR = 1e-4  # residual, relative to ‖b‖, below which contacts hardly change over any more
NEAR_STEPS, NEAR_SWEEPS = 8, 10  # of the damped method from there
FAR_STEPS, FAR_SWEEPS = 12, 30  # and from further away
LIGHTEST, HEAVIEST = 1e-6, 1e-2  # first weights of it
RESCUED_MOST = 200  # blocks up to which a pile that Newton's method leaves is worth the methods of `auto`
SMALL = 200  # blocks up to which sweeps between Newton steps gain less than they cost, far from a solution


@kernel
def sweep_pile(options, blocks, ws, history_io, r_io):
    """Method 1 on r_io (3k,); returns (whether that is enough, sweeps, weight for proximal rounds).

    ws (2, ·): scratch.
    """
    rows = problem_rows(blocks)
    k = blocks.count[0]
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal, weight = within_reach(rows, r_io, STRIVE * most), WEIGHT
    enough = max(goal, ENOUGH * most)
    if k <= SMALL:
        end, done, error, weight = cheap(rows, enough, ws, r_io, history_io)
    else:
        end, done, error = gauss_seidel(rows, enough, SWEEPS, SWEEPS + 1, 0.0, 1.0, ws[0], r_io, history_io)
    multiply(rows, r_io, ws[0])
    if end != SOLVED and is_rounding_above(rows, r_io, goal):
        error = natural_map(rows.kind, rows.sets, r_io, ws[0])
        return is_at_rounding(rows, r_io, error, scale), done, weight
    return (end == SOLVED or error <= enough) and is_accepted(rows, r_io, error, most, scale), done, weight


@kernel
def newton_rounds(rows, error, goal, most, scale, weight, work_io, history_io, r_io):
    """Method 2 on what is loaded in work_io, residual ``error``; impulses into r_io (3k,).

    weight: of the first proximal round. Returns (steps, residual).
    """
    is_near, steps = error <= NEAR * scale, 0
    limit, sweeps = (NEAR_STEPS, NEAR_SWEEPS) if is_near else (FAR_STEPS, FAR_SWEEPS)
    if is_near or rows.kind.shape[0] > SMALL:
        first = min(max(error / scale, LIGHTEST), HEAVIEST)
        steps, error = damped_newton(goal, first, limit, sweeps, work_io, history_io)
    order, scale_of, r = work_io.analysis.order, work_io.scale, work_io.vectors[IMPULSE]
    for t in range(order.shape[0]):
        for c in range(3):
            r_io[3 * order[t] + c] = scale_of[3 * t + c] * r[3 * t + c]
    for attempt in range(2):
        if is_accepted(rows, r_io, error, most, scale):
            break
        kept = work_io.vectors[IMPULSE]
        more, error = solve_components(
            goal, weight if attempt == 0 else REDUNDANT, STEPS, work_io, r_io, history_io
        )
        steps += more
        for t in range(order.shape[0]):
            for c in range(3):
                kept[3 * t + c] = r_io[3 * order[t] + c] / scale_of[3 * t + c]
    return steps, error


@kernel
def solve_pile(options, is_ready, weight, blocks, L, column, ws, loose_io, history_io, r_io):
    """Methods 2 and 3 on r_io (3k,); returns (what is missing, steps, what is not unique).

    is_ready: whether the impulses are solved already; weight: from `sweep_pile`; L (nv, ·), column (nv,):
    factor of the mass matrix.
    """
    rows = problem_rows(blocks)
    k, m = blocks.count[0], rows.column.shape[0]
    if not has_bodies(loose_io.bodies) or loose_io.size[0] < k or loose_io.size[1] < m:
        return ORDER, 0, NOTHING
    work = carve_work(k, m, 0, loose_io.size[3], loose_io)
    if not prepare_bodies(blocks, L, column, work.analysis, work.bodies):
        return ORDER, 0, NOTHING
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal = within_reach(rows, r_io, STRIVE * most)
    load_scaled(rows, r_io, work)
    scale_bodies(work.scale, work.bodies)
    steps = 0
    if not is_ready:
        multiply(rows, r_io, ws[0])
        error = natural_map(rows.kind, rows.sets, r_io, ws[0])
        steps, error = newton_rounds(rows, error, goal, most, scale, weight, work, history_io, r_io)
        if not is_accepted(rows, r_io, error, most, scale):
            return SOLVE_OUTSIDE, steps, NO_CHOICE
    if k > CHOOSING:
        return DONE, steps, NO_CHOICE
    load_scaled(rows, r_io, work)
    used, _, is_selected = select_components(goal, SELECTING, work, r_io, history_io)
    return DONE, steps + used, VELOCITIES if is_selected else NO_CHOICE


def pile_impulses(
    scene: Scene, options: Options, memory: Memory, order: Callable[[], Memory]
) -> tuple[bool, int, int]:
    """Impulses into memory: (whether they are to be kept, iterations, what is not unique).

    Args:
        scene: constants of the world.
        options: of the step.
        memory: of the step, which has posed its problem.
        order: orders the bodies, and returns the memory that has their order.
    """
    blocks, r = memory.blocks, memory.blocks.r
    is_ready, done, weight = sweep_pile(options, blocks, memory.sweeps, memory.history, r)
    count = int(blocks.count[0])
    if is_ready and count > CHOOSING:
        return True, done, NO_CHOICE
    missing = ORDER
    while missing == ORDER:
        missing, steps, found = solve_pile(
            options, is_ready, weight, blocks, memory.motion.L, scene.tree.column, memory.sweeps,
            memory.loose, memory.history, r,
        )  # fmt: skip
        if missing == ORDER:
            memory = order()
    return missing == DONE or count > RESCUED_MOST, done + steps, found
