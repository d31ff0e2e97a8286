"""The selected impulses of a few blocks: guess what sticks, slides or is open, and solve one linear system.

What it solves: the problem of `taction.solvers.selection`, that is, of all solutions the one that a vanishing
compliance ε selects, from impulses Λ that are near: those of the step before, or a solution that is not
unique.

Notation: that of `taction.solvers.active_system`.

Method: Newton's method on the states.
1. centre c = 0: solve, ask which states the laws now say, and again until none changes (and directions of
   slip hardly turn).
2. re-centre, c = Λ, with the same factor until the laws hold with the unregularised W, twice at least: what
   is left of ε has one sign and would make loads creep over many steps. A state that changes now makes a new
   factor. Where a motion is almost free a smaller ε takes over.

That a solution was found is judged by the natural map of all blocks, nothing else. All states change at once,
and nothing keeps them from going round: a few systems tell whether the guess was good. Where it was not,
`taction.solvers.active_path` changes them one by one. (Tried: a compliance that falls from 1e4 ε finds many
in 15 systems, and loses more time where it does not.)

Cost: a factor where the states were guessed.

References: [HintermullerItoKunisch2002] for Newton's method on active sets; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import multiply
from taction.contact.laws.dispatch import apex_of, is_rowwise, natural_map
from taction.contact.redundancy import WIDTH
from taction.solvers.active_system import (
    DRAG,
    EPSILON,
    FREE,
    HIGH,
    LOW,
    STATE,
    STEP,
    can_slide,
    compliances,
    factor_system,
    solve_system,
)

TURNS = 6  # systems that are tried: more of them find little more
STALLED, STALLS = 0.5, 2  # a solve that leaves more of the residual than this; how often that may be
LEAP = 1e-3  # how the compliance falls then
SETTLED, TURNING = 1e-3, 3  # change of impulses where directions of slip are found; systems for that
BRISK = 1e-6  # least κ, in units of ε: friction of what hardly slips turns at once
RIM = 1e-9  # share of a cone's section within which friction counts as at its end
ROUNDS = 7  # solves of step 2 with one factor


@inline_kernel
def slide(rim, c, r_io, state_io):
    """Let the contact with rows c… slide against its friction, of which ``rim`` is left [N s]."""
    size = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2])
    if size > 0.0:
        state_io[c + 1], state_io[c + 2] = -r_io[c + 1] / size, -r_io[c + 2] / size
        r_io[c + 1], r_io[c + 2] = -rim * state_io[c + 1], -rim * state_io[c + 2]


@inline_kernel
def slide_at_end(rim, c, r_io, state_io):
    """Let the contact with rows c… slide where its friction is at its end, ``rim``; returns whether it is."""
    if math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2]) < (1.0 - RIM) * rim:
        return False
    slide(rim, c, r_io, state_io)
    return True


@kernel
def read_states(rows, r_io, state_out):
    """States (3k,) that impulses r_io (3k,) speak of, put in their sets; returns whether that moved any."""
    has_moved = False
    for i in range(rows.kind.shape[0]):
        c, set_, kind = 3 * i, rows.sets[i], rows.kind[i]
        if is_rowwise(kind):
            for k in range(3):
                low, high, x = set_[2 * k], set_[2 * k + 1], r_io[c + k]
                state_out[c + k] = LOW if x <= low else (HIGH if x >= high else FREE)
                if not low <= x <= high:
                    r_io[c + k], has_moved = min(max(x, low), high), True
            continue
        load = r_io[c] + apex_of(kind, set_)
        state_out[c], state_out[c + 1], state_out[c + 2] = (FREE if load > 0.0 else LOW), 0.0, 0.0
        if load > 0.0 and can_slide(kind, set_):
            has_moved = slide_at_end(set_[0] * load, c, r_io, state_out) or has_moved
    return has_moved


@kernel
def correct(rows, blocks, n, freedoms, is_sliding, is_centred, u, ws, r_io):
    """Correct r_io (3k,), of velocities u (3k,), by one solve; returns the largest change and impulse."""
    most = 3 * rows.kind.shape[0]
    drag, step = ws[DRAG * most :], ws[STEP * most :]
    solve_system(rows, blocks, n, freedoms, is_sliding, is_centred, r_io, u, ws)
    change = size = 0.0
    for j in range(n):
        at = WIDTH * j
        c = 3 * int(ws[at])
        r_io[c] += step[j] * ws[at + 1]
        r_io[c + 1] += step[j] * (ws[at + 2] + drag[2 * j])
        r_io[c + 2] += step[j] * (ws[at + 3] + drag[2 * j + 1])
        change, size = max(change, abs(step[j])), max(size, abs(r_io[c]), abs(r_io[c + 1]), abs(r_io[c + 2]))
    return change, size


@inline_kernel
def revise_row(low, high, pull, noise, c, r_io, state_io):
    """State of a row that velocity ``pull`` acts on; returns whether it changed."""
    x, state = r_io[c], state_io[c]
    if state == FREE:
        if low <= x <= high:
            return False
        state_io[c], r_io[c] = (LOW, low) if x < low else (HIGH, high)
        return True
    if low < high and ((state == LOW and pull < -noise) or (state == HIGH and pull > noise)):
        state_io[c] = FREE
        return True
    return False


@inline_kernel
def revise_contact(kind, set_, epsilon, noise, c, u, r_io, state_io):
    """State of a contact with rows c… and compliance ε; returns whether it changed.

    Friction of one that slides is put on the rim.
    """
    d1, d2 = state_io[c + 1], state_io[c + 2]
    if state_io[c] != FREE:
        if u[c] >= -noise:
            return False
        state_io[c] = FREE
        size = math.sqrt(u[c + 1] * u[c + 1] + u[c + 2] * u[c + 2])
        if can_slide(kind, set_) and size > -set_[0] * u[c]:
            state_io[c + 1], state_io[c + 2] = u[c + 1] / size, u[c + 2] / size
        return True
    load = r_io[c] + apex_of(kind, set_)
    if load < 0.0:
        state_io[c], state_io[c + 1], state_io[c + 2] = LOW, 0.0, 0.0
        r_io[c], r_io[c + 1], r_io[c + 2] = r_io[c] - load, 0.0, 0.0
        return True
    if not can_slide(kind, set_):
        return False
    rim = set_[0] * load
    if d1 != 0.0 or d2 != 0.0:
        if u[c + 1] * d1 + u[c + 2] * d2 - epsilon * rim < -noise:
            state_io[c + 1] = state_io[c + 2] = 0.0
            return True
        slide(rim, c, r_io, state_io)
        return False
    if math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2]) > (1.0 + RIM) * rim:
        slide(rim, c, r_io, state_io)
        return True
    return False


@kernel
def revise(rows, soft, noise, epsilon, u, r_io, state_io):
    """The states that impulses r_io and velocities u (3k,) say; velocities up to ``noise`` say nothing.

    soft: compliance of what is held, in units of ε. Returns whether one changed.
    """
    has_changed = False
    for i in range(rows.kind.shape[0]):
        c, set_ = 3 * i, rows.sets[i]
        if not is_rowwise(rows.kind[i]):
            has_changed = (
                revise_contact(rows.kind[i], set_, soft * epsilon[i], noise, c, u, r_io, state_io)
                or has_changed
            )
            continue
        for k in range(3):
            pull = u[c + k] + soft * epsilon[i] * r_io[c + k]
            is_new = revise_row(set_[2 * k], set_[2 * k + 1], pull, noise, c + k, r_io, state_io)
            has_changed = is_new or has_changed
    return has_changed


@kernel
def select_active(rows, blocks, column, L, goal, slack, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) from some that are near.

    goal: what the natural map should be; slack: what it may be where no solve comes nearer. u_io (3k,): their
    velocities, also those of what is found; where nothing is r_io are the best impulses met. ws: scratch of
    `scratch` numbers; trial_io (3k,): scratch. Returns (whether found, systems solved, directions if they are
    independent for sure).
    """
    most = 3 * rows.kind.shape[0]
    state, epsilon = ws[STATE * most :], ws[EPSILON * most :]
    compliances(rows, epsilon)
    for c in range(most):
        trial_io[c] = r_io[c]
    best = natural_map(rows.kind, rows.sets, trial_io, u_io)
    if read_states(rows, trial_io, state):
        multiply(rows, trial_io, u_io)
    soft, is_centred, turning, stalls = 1.0, False, 0, 0
    for turn in range(TURNS):
        n, freedoms, is_sliding, is_regular, is_independent = factor_system(
            rows, blocks, column, L, soft, BRISK, trial_io, u_io, ws
        )
        if not is_regular:
            return False, turn + 1, 0
        error, k = math.inf, 0
        while True:
            change, size = correct(rows, blocks, n, freedoms, is_sliding, is_centred, u_io, ws, trial_io)
            multiply(rows, trial_io, u_io)
            has_changed = revise(rows, 0.0 if is_centred else 1.0, goal, epsilon, u_io, trial_io, state)
            if has_changed or is_sliding:
                multiply(rows, trial_io, u_io)
            if not is_centred:
                if has_changed:
                    break
                if is_sliding and change > SETTLED * size and turning < TURNING:
                    turning += 1
                    break
                is_centred = True
                continue
            before, error = error, natural_map(rows.kind, rows.sets, trial_io, u_io)
            has_stalled = error > STALLED * before
            is_found = k > 0 and not has_changed and error <= (slack if has_stalled else goal)
            if is_found or error < best:
                best = error
                for c in range(most):
                    r_io[c] = trial_io[c]
            if is_found:
                return True, turn + 1, n if is_independent else 0
            k += 1
            if has_changed:
                break
            if has_stalled or k == ROUNDS:
                if stalls == STALLS:
                    return False, turn + 1, 0
                soft, stalls = soft * LEAP, stalls + 1
                break
    return False, TURNS, 0
