"""Fourth stage of a step: impulses.

1. Those of the step before if they solve the problem.
2. Else what is selected near them, all that sticks or slides going on as it did
   (`taction.solvers.active_set`).
3. Else Gauss–Seidel; and from where that leads the selected impulses, states changing one by one on the way
   (`taction.solvers.active_path`).
4. Else Newton's method, from there or from nothing where that leads nowhere soon, and a choice where there
   are many, to a small fraction of the tolerance where that is cheap (`taction.solvers.auto`).
Impulses so large that rounding hides their residual count as none: a stronger solver is asked. Newton's
method alone where joints are equations of the problem. Hundreds of contacts of loose bodies are left to
`taction.steppers.pile_solve`, compiled where there are so many.

References: [AcaryBremondHuber2018] for the problem and its measure.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import COMPLIANCE, problem_rows, row_velocity
from taction.contact.blocks import is_at_rounding, is_rounding_above, multiply, rounding
from taction.contact.laws.dispatch import are_held, is_rowwise, natural_map
from taction.contact.redundancy import (
    NO_CHOICE,
    NOTHING,
    ROWS,
    VELOCITIES,
    active_directions,
    not_unique,
)
from taction.solvers.active_path import follow_path
from taction.solvers.active_set import select_active
from taction.solvers.active_system import may_use_freedoms
from taction.solvers.auto import CHOOSING, ROBOT, STRIVE, cheap
from taction.solvers.body_space import has_bodies, prepare_bodies, scale_bodies
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton import WEIGHT, load, load_scaled, solve_components
from taction.solvers.newton_memory import is_coupled, is_dense, strong_work
from taction.solvers.nsgs import SOLVED
from taction.solvers.selection import ENOUGH, select_components
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.judge import norm
from taction.steppers.phases import DONE, ORDER, ORDER_BODIES, PILE, SOLVE_OUTSIDE, STRONG
from taction.steppers.scene import BEFORE, EXPLICIT

TRY = 20  # Newton steps from the impulses of the step before
STEPS = 400  # Newton steps before a stronger solver is asked for
SELECTING = 60  # Newton steps per component that a choice may cost
LEFT = 0.1  # share of the goal beyond which what impulses left moving is their own doing
KEPT = 0.3  # share of the tolerance up to which impulses of the step before are kept
MANY = 200  # blocks of loose bodies beyond which they are a pile


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


@inline_kernel
def is_accepted(rows, r, error, most, scale):
    """Whether a residual is below ``most`` and proves something, or as small as rounding lets it be."""
    if is_rounding_above(rows, r, most):
        return is_at_rounding(rows, r, error, scale)
    return error <= most


@inline_kernel
def within_reach(rows, r, goal):
    """A goal that rounding allows for impulses like r."""
    return max(goal, rounding(rows, r)) if is_rounding_above(rows, r, goal) else goal


@kernel
def is_for_bodies(options, freedoms, blocks):
    """Whether a problem is one for the space of the bodies: many blocks, no equations, nothing compliant.

    Nor those of one robot, mostly coupled, whose freedoms are not far fewer than the rows of blocks that
    carry something: what is open costs nothing.
    """
    k, loaded = blocks.count[0], 0
    for i in range(k):
        if blocks.r[3 * i] != 0.0 or blocks.r[3 * i + 1] != 0.0 or blocks.r[3 * i + 2] != 0.0:
            loaded += 1
    is_of_robot = 3 * loaded <= 2 * freedoms and is_coupled(k, blocks.rows.start[k])
    if has_joint_rows(options) or k <= DENSE or is_of_robot:
        return False
    for k in range(blocks.count[0]):
        for c in range(3):
            if is_rowwise(blocks.rows.kind[k]) and blocks.rows.sets[k, 2 * c] == -math.inf:
                return False
            if blocks.number[k, COMPLIANCE + c] != 0.0:
                return False
    return True


@inline_kernel
def few_blocks(rows, is_plain, freedoms, blocks):
    """Blocks up to which it is worth asking whether they are unique, and for the selected impulses."""
    if not is_plain:
        return DENSE
    return ROBOT * CHOOSING if freedoms <= CHOOSING and may_use_freedoms(rows, blocks) else CHOOSING


@kernel
def load_by_bodies(rows, blocks, L, column, r, work_out):
    """Scale a problem into memory for the space of the bodies; whether that is ordered for these blocks."""
    has_room = work_out.order.shape[0] >= blocks.count[0] and work_out.target.shape[0] >= rows.column.shape[0]
    if not (has_bodies(work_out.bodies) and has_room and prepare_bodies(blocks, L, column, work_out)):
        return False
    load_scaled(rows, r, work_out)
    scale_bodies(work_out)
    return True


@kernel
def solve_by_bodies(rows, goal, most, scale, weight, is_solved, blocks, L, column, ws, work_io, r_io):
    """Newton's method in the space of the bodies, and a choice; is_solved: r_io solves the problem already.

    Returns (what is missing, steps, what is left).
    """
    if not load_by_bodies(rows, blocks, L, column, r_io, work_io):
        return ORDER_BODIES, 0, NOTHING
    steps = 0
    if not is_solved:
        steps, error = solve_components(goal, weight, STEPS, work_io, r_io, ws.history)
        if not is_accepted(rows, r_io, error, most, scale):
            return SOLVE_OUTSIDE, steps, NO_CHOICE
        if blocks.count[0] > CHOOSING:
            return DONE, steps, NO_CHOICE
        found, is_chosen = choose_directly(rows, column, L, CHOOSING, goal, most, ws, r_io)
        if is_chosen:
            return DONE, steps, found
        load_scaled(rows, r_io, work_io)
    used, _, is_selected = select_components(goal, ENOUGH * most, SELECTING, work_io, r_io, ws.history)
    return DONE, steps + used, VELOCITIES if is_selected else NO_CHOICE


@kernel
def choose_directly(rows, column, L, few, goal, most, ws, r_io):
    """What is not unique about a solution r_io (3k,), and whether that is all: of up to ``few`` blocks.

    It is the only one; or nothing carries a load, which any compliance selects; or contacts stick and slide
    alike under the selected one, which replaces it; or only rows of joints share what all moves alike under.
    """
    if rows.kind.shape[0] > few:
        return VELOCITIES, False
    u = ws.sweeps[0]
    multiply(rows, r_io, u)
    found = not_unique(rows, r_io, u, most, ws.gram)
    is_of_rows, found = found == ROWS, abs(found)
    is_idle = True
    for c in range(3 * rows.kind.shape[0]):
        is_idle = is_idle and r_io[c] == 0.0
    if found == NOTHING or is_idle:
        return found, True
    blocks, trial = ws.blocks, ws.sweeps[1]
    is_selected, _, _ = select_active(rows, blocks, column, L, goal, most, ws.gram, trial, u, r_io)
    if not is_selected and not is_of_rows:
        is_selected, _ = follow_path(rows, blocks, column, L, goal, most, ws.gram, trial, u, r_io)
    return found, is_selected or is_of_rows


@inline_kernel
def was_left_moving(blocks, goal, r, motion):
    """Whether blocks that carry impulses r (3k,) move at the start of the step, faster than ``goal``.

    Where they do at rest, impulses were kept that almost solved the problem. Those that ended the motion
    would start it again, the other way: they are none to keep.
    """
    total = 0.0
    for k in range(blocks.count[0]):
        if r[3 * k] != 0.0 or r[3 * k + 1] != 0.0 or r[3 * k + 2] != 0.0:
            u = row_velocity(blocks, k, motion.dof[BEFORE])
            total += u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    return total > goal * goal


@kernel
def follow(rows, column, L, before, goal, most, ws, r_io):
    """Selected impulses near those of the step before, r_io (3k,); these, or better ones, where that fails.

    What solves the problem already, as at rest, is what it was: selected or not, as ``before`` says.
    Returns (whether it succeeded, systems solved, what is not unique).
    """
    u = ws.sweeps[0]
    multiply(rows, r_io, u)
    error = natural_map(rows.kind, rows.sets, r_io, u)
    is_solved = error <= goal or (
        error <= KEPT * most and was_left_moving(ws.blocks, LEFT * goal, r_io, ws.motion)
    )
    if is_solved and before == NOTHING:
        is_solved = not_unique(rows, r_io, u, most, ws.gram) == NOTHING
    if is_solved:
        return not is_rounding_above(rows, r_io, most), 0, before
    is_found, turns, independent = select_active(
        rows, ws.blocks, column, L, goal, most, ws.gram, ws.sweeps[1], u, r_io
    )
    if not is_found or is_rounding_above(rows, r_io, most):
        return False, turns, NOTHING
    if independent > 0:
        active, _ = active_directions(rows, r_io, u, most, r_io.shape[0], True, ws.gram)
        if active == independent:
            return True, turns, NOTHING
    return True, turns, abs(not_unique(rows, r_io, u, most, ws.gram))


@kernel
def lead(rows, column, L, goal, most, ws, r_io):
    """Selected impulses r_io (3k,) along a path from what is there; returns as `follow`."""
    u = ws.sweeps[0]
    is_found, systems = follow_path(rows, ws.blocks, column, L, goal, most, ws.gram, ws.sweeps[1], u, r_io)
    if not is_found or is_rounding_above(rows, r_io, most):
        return False, systems, NOTHING
    return True, systems, abs(not_unique(rows, r_io, u, most, ws.gram))


@kernel
def choose(rows, found, goal, most, work_io, history_io, r_io):
    """Replace a solution r_io (3k,) that is not unique by the selected one, by Newton's method.

    Returns (steps, what is left).
    """
    load(rows, r_io, work_io)
    steps, _, is_selected = select_components(goal, ENOUGH * most, SELECTING, work_io, r_io, history_io)
    return steps, found if is_selected else NO_CHOICE


@kernel
def solve_afresh(rows, goal, most, scale, weight, work_io, history_io, r_io):
    """Newton's method from a guess r_io (3k,), and from nothing where that leads nowhere soon.

    What carried the step before may be far from what carries this one where impulses are not unique. Returns
    (steps, residual).
    """
    load(rows, r_io, work_io)
    steps, error = solve_components(goal, weight, TRY, work_io, r_io, history_io)
    if is_accepted(rows, r_io, error, most, scale):
        return steps, error
    for c in range(r_io.shape[0]):
        r_io[c] = 0.0
    load(rows, r_io, work_io)
    more, error = solve_components(goal, WEIGHT, STEPS, work_io, r_io, history_io)
    return steps + more, error


@kernel
def solve_cheaply(rows, column, L, before, few, is_loose, goal, most, scale, ws, weight_io, r_io):
    """What needs no factor of Newton's method: follow, sweep, lead on; arguments as `solve_contacts`.

    Returns (whether that was all, whether r_io solves the problem, iterations, what is not unique).
    """
    k, u = rows.kind.shape[0], ws.sweeps[0]
    if k <= few:
        is_found, turns, found = follow(rows, column, L, before, goal, most, ws, r_io)
        if is_found:
            return True, True, turns, found
    enough = goal if k <= few else max(goal, ENOUGH * most)
    is_dear = k > 2 * DENSE and column.shape[0] >= k  # few freedoms make a small system
    end, done, error, weight_io[0] = cheap(rows, enough, is_dear, ws.sweeps, r_io, ws.history)
    multiply(rows, r_io, u)
    is_solved = (end == SOLVED or error <= enough) and is_accepted(rows, r_io, error, most, scale)
    if not is_solved and is_rounding_above(rows, r_io, goal):
        is_solved = is_at_rounding(rows, r_io, natural_map(rows.kind, rows.sets, r_io, u), scale)
    if is_solved:
        if is_loose and k > CHOOSING:
            return True, True, done, NO_CHOICE
        found, is_chosen = choose_directly(rows, column, L, few, goal, most, ws, r_io)
        if not is_chosen:
            weight_io[0] = -float(found)
        return is_chosen, True, done, found
    if k > few:
        return False, False, done, NOTHING
    is_led, systems, found = lead(rows, column, L, goal, most, ws, r_io)
    return is_led, is_led, done + systems, found


@kernel
def solve_contacts(options, phase, tree, L, before, ws, weight_io, r_io):
    """Impulses r_io (3k,); returns (what is missing, iterations, what is not unique).

    before: what was not unique about those of the step before. weight_io (1,): Newton's first weight, found
    by the cheap phase and kept until the strong one; where it is not needed, minus what is not unique.
    """
    blocks, dense, large, column = ws.blocks, ws.dense, ws.large, tree.column
    k = blocks.count[0]
    if k == 0:
        return DONE, 0, NOTHING
    rows = problem_rows(blocks)
    if options.soft == EXPLICIT and are_held(k, rows):
        return DONE, 0, NOTHING
    is_plain = not has_joint_rows(options)
    if not is_plain and k > DENSE and not is_ordered(rows, large.start, large.column):
        return ORDER, 0, NOTHING
    if options.is_external:
        return SOLVE_OUTSIDE, 0, NOTHING
    is_loose = is_for_bodies(options, column.shape[0], blocks)
    if is_loose and k > MANY:
        return PILE, 0, NOTHING
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal = within_reach(rows, r_io, STRIVE * options.tolerance * scale)
    done, is_solved, found, is_chosen = 0, False, NOTHING, False
    few = few_blocks(rows, is_plain, column.shape[0], blocks)
    if not is_plain:
        weight_io[0] = WEIGHT
    elif phase == STRONG:
        is_solved, found = weight_io[0] <= 0.0, int(-weight_io[0])
    else:
        is_done, is_solved, done, found = solve_cheaply(
            rows, column, L, before, few, is_loose, goal, most, scale, ws, weight_io, r_io
        )
        if is_done:
            return DONE, done, found
    goal = within_reach(rows, r_io, goal)
    if is_loose:
        missing, steps, found = solve_by_bodies(
            rows, goal, most, scale, weight_io[0], is_solved, blocks, L, column, ws, ws.loose, r_io
        )
        return missing, done + steps, found
    if not is_dense(rows, is_plain, dense) and not is_ordered(rows, large.start, large.column):
        return ORDER, done, NOTHING
    work = strong_work(rows, is_plain, large, dense)
    if not is_solved:
        steps, error = solve_afresh(rows, goal, most, scale, weight_io[0], work, ws.history, r_io)
        done += steps
        if not is_accepted(rows, r_io, error, most, scale):
            return SOLVE_OUTSIDE, done, NOTHING
        found, is_chosen = choose_directly(rows, column, L, few, goal, most, ws, r_io)
    if not is_chosen:
        steps, found = choose(rows, found, goal, most, work, ws.history, r_io)
        done += steps
    return DONE, done, found
