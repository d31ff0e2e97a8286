"""The selected impulses of a few blocks: guess what sticks, slides or is open, and solve one linear system.

What it solves: the problem of `taction.solvers.selection`, that is, of all solutions the one that a vanishing
compliance ε selects, from impulses Λ that are near: those of the step before, or a solution that is not
unique.

Notation
    state    of a contact: open, sticking, or sliding along a unit vector d; of a row with an interval: free,
             or held at one of its ends
    e, f     a row that a state makes an equation, eᵀ (u + ε Λ) = 0, and what its unknown z brings about, f
             Sticking: three unit vectors, f = e. Free rows likewise. Sliding: the normal, which brings
             friction with it, e = (1, 0), f = (1, −μ d); and across d, e = f = (0, t), for friction turns
             with the velocity: tᵀ u + κ z = 0 with κ = dᵀ u / (μ Λ_N)
    S        (eᵢᵀ W fⱼ) + diag(ε or κ), so that z = S⁻¹ (− eᵀ (u + ε (Λ − c))) corrects Λ

Method: Newton's method on the states.
1. centre c = 0: solve, ask which states the laws now say, and again until none changes (and directions of
   slip hardly turn).
2. re-centre, c = Λ, with the same factor until the laws hold with the unregularised W, twice at least: what
   is left of ε has one sign and would make loads creep over many steps. A state that changes now makes a new
   factor. Where a motion is almost free a smaller ε takes over.
Where all sticks S is symmetric and positive definite: Cholesky. Else `taction.solvers.dense_lu`.

That a solution was found is judged by the natural map of all blocks, nothing else. All states change at once,
and nothing keeps them from going round: a few systems tell whether the guess was good. Where it was not,
`taction.solvers.selection` with its line search is asked. (Tried: a compliance that falls from 1e4 ε finds
many more in 15 systems, and loses more time where it does not; exchanges in an order find no more.)

Departures: contacts that slide are those of round cones under the exact law.

Cost: m³/6 products for m directions that stick, once where the states were guessed; m³/3 where one slides.

References: [HintermullerItoKunisch2002] for Newton's method on active sets; [AlartCurnier1991] for the states
of contacts; [GolubVanLoan2013, Section 4.2]; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import multiply
from taction.contact.laws.box import EQUATION
from taction.contact.laws.dispatch import apex_of, has_shift, is_rowwise, natural_map
from taction.contact.redundancy import WIDTH, add_direction, eliminate_row, gram_row
from taction.solvers.dense_lu import factor_dense, solve_dense
from taction.solvers.selection import RIGID, SELECT

TURNS = 6  # systems that are tried: more of them find little more
STALLED, STALLS = 0.5, 2  # a solve that leaves more of the residual than this; how often that may be
LEAP = 1e-3  # how the compliance falls then
SETTLED, TURNING = 1e-3, 3  # change of impulses where directions of slip are found; systems for that
RIM = 1e-9  # share of a cone's section within which friction counts as at its end
LOOSE = 1e30  # κ of a contact that slides and carries nothing yet
ROUNDS = 7  # solves of step 2 with one factor
FREE, LOW, HIGH = 0.0, 1.0, 2.0  # of rows; LOW of a contact: open
# Parts of the scratch, of 3 k numbers each: after the directions their states (of a contact: FREE or LOW, d),
# ε or κ, what friction is brought along (two parts), right-hand sides, steps, exchanges of pivots, ε; then S
STATE, WEIGHT, DRAG, RIGHT, STEP, ORDER, EPSILON, MATRIX = 4, 5, 6, 8, 9, 10, 11, 12


@inline_kernel
def is_coupling(w):
    """Whether a block of W couples anything: few blocks are stored with those of zeros."""
    for c in range(9):
        if w[c] != 0.0:
            return True
    return False


@kernel
def compliances(rows, epsilon_out):
    """ε of each block (k,), in units of the largest mean diagonal of W among contacts that are coupled."""
    k = rows.kind.shape[0]
    for i in range(k):
        w = rows.value[rows.diagonal[i]]
        epsilon_out[i] = 0.0
        if not is_rowwise(rows.kind[i]):
            epsilon_out[i] = SELECT * (w[0] + w[4] + w[8]) / 3.0
        elif rows.sets[i, 1] == math.inf and rows.sets[i, 0] > -math.inf:
            epsilon_out[i] = SELECT * w[0]
    has_changed = True
    while has_changed:
        has_changed = False
        for i in range(k):
            for m in range(rows.start[i], rows.start[i + 1]):
                other = epsilon_out[rows.column[m]]
                if other > epsilon_out[i] and is_coupling(rows.value[m]):
                    epsilon_out[i], has_changed = other, True
    for i in range(k):
        if epsilon_out[i] == 0.0:  # dry friction alone
            w = rows.value[rows.diagonal[i]]
            epsilon_out[i] = SELECT * max(w[0], w[4], w[8])


@inline_kernel
def weight_of(rows, i, c, epsilon):
    """Compliance of row c of block i: ε (k,) of its block, and almost none for an equation."""
    if is_rowwise(rows.kind[i]) and rows.sets[i, 2 * c] == -math.inf and rows.sets[i, 2 * c + 1] == math.inf:
        return RIGID * EQUATION * SELECT * rows.value[rows.diagonal[i], 4 * c]
    return epsilon[i]


@inline_kernel
def can_slide(kind, set_):
    """Whether a contact is of the kind whose sliding this file is made for."""
    is_round = set_[0] == set_[1] and set_[1] == set_[2] and apex_of(kind, set_) == 0.0
    return is_round and has_shift(kind, set_)


@inline_kernel
def slide(rim, c, r_io, state_io):
    """Let the contact with rows c… slide against its friction, of which ``rim`` is left [N s]."""
    size = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2])
    if size > 0.0:
        state_io[c + 1], state_io[c + 2] = -r_io[c + 1] / size, -r_io[c + 2] / size
        r_io[c + 1], r_io[c + 2] = -rim * state_io[c + 1], -rim * state_io[c + 2]


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
            size, rim = math.sqrt(r_io[c + 1] * r_io[c + 1] + r_io[c + 2] * r_io[c + 2]), set_[0] * load
            if size >= (1.0 - RIM) * rim:
                slide(rim, c, r_io, state_out)
                has_moved = True
    return has_moved


@kernel
def free_directions(rows, soft, epsilon, r, u, ws):
    """Directions that the states leave free, with their compliances, ``soft`` times ε; what friction follows.

    Returns (how many, whether one slides).
    """
    most = 3 * rows.kind.shape[0]
    state, weight, drag = ws[STATE * most :], ws[WEIGHT * most :], ws[DRAG * most :]
    n, is_sliding = 0, False
    for i in range(rows.kind.shape[0]):
        c, set_ = 3 * i, rows.sets[i]
        if is_rowwise(rows.kind[i]):
            for k in range(3):
                if state[c + k] == FREE:
                    weight[n], drag[2 * n], drag[2 * n + 1] = soft * weight_of(rows, i, k, epsilon), 0.0, 0.0
                    e0, e1 = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0
                    n = add_direction(i, e0, e1, 1.0 - e0 - e1, n, most, ws)
            continue
        if state[c] != FREE:
            continue
        d1, d2 = state[c + 1], state[c + 2]
        weight[n], drag[2 * n], drag[2 * n + 1] = soft * epsilon[i], -set_[0] * d1, -set_[0] * d2
        n = add_direction(i, 1.0, 0.0, 0.0, n, most, ws)
        for k in range(1, 3):
            if set_[2] == 0.0 if k == 2 else max(set_[0], set_[1]) == 0.0:
                continue
            weight[n], drag[2 * n], drag[2 * n + 1] = soft * epsilon[i], 0.0, 0.0
            if d1 == 0.0 and d2 == 0.0:
                n = add_direction(i, 0.0, 2.0 - k, k - 1.0, n, most, ws)
                continue
            is_sliding = True
            slip, rim = max(u[c + 1] * d1 + u[c + 2] * d2, 0.0), set_[0] * r[c]
            weight[n] = slip / rim if rim > 0.0 else LOOSE
            n = add_direction(i, 0.0, -d2, d1, n, most, ws)
            break
    return n, is_sliding


@kernel
def factor_sticking(rows, n, ws, matrix_io):
    """Cholesky factor of S, rows packed, 1 over the diagonal; returns whether there is one."""
    weight = ws[3 * WEIGHT * rows.kind.shape[0] :]
    for j in range(n):
        gram_row(rows, ws, j, matrix_io)
        at = j * (j + 1) // 2
        pivot = eliminate_row(j, matrix_io[at + j] + weight[j], matrix_io)
        if not pivot > 0.0:
            return False
        matrix_io[at + j] = 1.0 / math.sqrt(pivot)
    return True


@inline_kernel
def solve_sticking(matrix, n, x_io):
    """Overwrite x_io (n,) with S⁻¹ x_io."""
    for j in range(n):
        at, value = j * (j + 1) // 2, x_io[j]
        for q in range(j):
            value -= matrix[at + q] * x_io[q]
        x_io[j] = value * matrix[at + j]
    for j in range(n - 1, -1, -1):
        value = x_io[j] * matrix[j * (j + 1) // 2 + j]
        x_io[j] = value
        at = j * (j + 1) // 2
        for q in range(j):
            x_io[q] -= matrix[at + q] * value


@kernel
def write_sliding(rows, n, direction, weight, drag, matrix_out):
    """S, rows of n, where contacts slide."""
    for j in range(n):
        i = int(direction[WIDTH * j])
        e0, e1, e2 = direction[WIDTH * j + 1], direction[WIDTH * j + 2], direction[WIDTH * j + 3]
        m, last = rows.start[i], rows.start[i + 1]
        for q in range(n):
            block = int(direction[WIDTH * q])
            while m < last and rows.column[m] < block:
                m += 1
            value = 0.0
            if m < last and rows.column[m] == block:
                w, f0 = rows.value[m], direction[WIDTH * q + 1]
                f1, f2 = direction[WIDTH * q + 2] + drag[2 * q], direction[WIDTH * q + 3] + drag[2 * q + 1]
                value = e0 * (w[0] * f0 + w[1] * f1 + w[2] * f2) + e1 * (w[3] * f0 + w[4] * f1 + w[5] * f2)
                value += e2 * (w[6] * f0 + w[7] * f1 + w[8] * f2)
            matrix_out[n * j + q] = value
        matrix_out[n * j + j] += weight[j]


@kernel
def correct(rows, n, is_sliding, is_centred, u, ws, r_io):
    """Correct r_io (3k,), of velocities u (3k,), by one solve; returns the largest change and impulse.

    is_centred: c = Λ, else zero.
    """
    most = 3 * rows.kind.shape[0]
    state, weight, drag, x = ws[STATE * most :], ws[WEIGHT * most :], ws[DRAG * most :], ws[RIGHT * most :]
    step, matrix = ws[STEP * most :], ws[MATRIX * most :]
    for j in range(n):
        at = WIDTH * j
        i = int(ws[at])
        c, e0, e1, e2 = 3 * i, ws[at + 1], ws[at + 2], ws[at + 3]
        d1, d2 = state[c + 1], state[c + 2]
        if not is_rowwise(rows.kind[i]) and e0 == 0.0 and (d1 != 0.0 or d2 != 0.0):
            x[j] = d2 * u[c + 1] - d1 * u[c + 2]  # across the direction of slip that is now
        else:
            x[j] = -(e0 * u[c] + e1 * u[c + 1] + e2 * u[c + 2])
            if not is_centred:
                x[j] -= weight[j] * (e0 * r_io[c] + e1 * r_io[c + 1] + e2 * r_io[c + 2])
        step[j] = x[j]
    if is_sliding:
        solve_dense(n, matrix, matrix[n * n :], ws[ORDER * most :], x, step)
    else:
        solve_sticking(matrix, n, step)
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
def select_active(rows, goal, slack, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) from some that are near.

    goal: what the natural map should be; slack: what it may be where no solve comes nearer. u_io (3k,): their
    velocities, also those of what is found; where nothing is r_io are the best impulses met. ws: scratch of
    `scratch` numbers; trial_io (3k,): scratch. Returns (whether found, systems solved).
    """
    most = 3 * rows.kind.shape[0]
    state, order = ws[STATE * most :], ws[ORDER * most :]
    epsilon, matrix = ws[EPSILON * most :], ws[MATRIX * most :]
    compliances(rows, epsilon)
    for c in range(most):
        trial_io[c] = r_io[c]
    best = natural_map(rows.kind, rows.sets, trial_io, u_io)
    if read_states(rows, trial_io, state):
        multiply(rows, trial_io, u_io)
    soft, is_centred, turning, stalls = 1.0, False, 0, 0
    for turn in range(TURNS):
        n, is_sliding = free_directions(rows, soft, epsilon, trial_io, u_io, ws)
        if is_sliding:
            write_sliding(rows, n, ws, ws[WEIGHT * most :], ws[DRAG * most :], matrix)
            is_factored = factor_dense(n, matrix, matrix[n * n :], order)
        else:
            is_factored = factor_sticking(rows, n, ws, matrix)
        if not is_factored:
            return False, turn + 1
        error, k = math.inf, 0
        while True:
            change, size = correct(rows, n, is_sliding, is_centred, u_io, ws, trial_io)
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
                return True, turn + 1
            k += 1
            if has_changed:
                break
            if has_stalled or k == ROUNDS:
                if stalls == STALLS:
                    return False, turn + 1
                soft, stalls = soft * LEAP, stalls + 1
                break
    return False, TURNS


def scratch(blocks: int) -> int:
    """Numbers that the choice of so many blocks takes."""
    return 18 * blocks * blocks + 36 * blocks
