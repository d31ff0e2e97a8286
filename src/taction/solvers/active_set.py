"""The selected impulses while every contact sticks, slides or stays open as it does: one factorisation.

What it solves: `taction.solvers.selection` for a problem whose active directions E
(`taction.contact.redundancy`) are known from a solution. There the laws are equations, Eᵀ u + ε (z − c) = 0
with u = W F z + W Λ₀ + b: z are the impulses along E, F what they bring about, and Λ₀ the impulses that are
fixed. Where everything sticks F = E; the normal impulse of a contact that slides along d brings friction with
it, a column (1, −μ d) of F. Both steps of the selection are solves with one matrix

    S = Eᵀ W F + ε,      z ← z − S⁻¹ (Eᵀ u + ε (z − c)),

first with c = 0, twice for the sake of rounding where that changes much, then with c = z until the laws
hold, twice at least: what is left of ε has one sign and would make loads creep over many steps. Where all
sticks S is symmetric and positive definite: Cholesky. Else LU with pivoting, and again as long as other loads
make contacts slide along other d. That all sticks and slides alike is not assumed but checked at the end: the
natural map of all blocks must be below the goal.

Rows of stops and dry friction that would be beyond their intervals are held at the ends of them, and let go
where the law between z and u + ε z does not hold them there: an active-set method, begun with what is held in
the solution given.

Whether a contact sticks is asked twice: with what may be left of a solution, and where that leads nowhere
with a tenth of it, for a contact may slide as slowly.

Departures: contacts that slide are those of round cones under the exact law.

Cost: m³/6 products for m directions that stick, a third of a Newton step of `taction.solvers.selection`; m³/3
where one slides.

References: [GolubVanLoan2013, Sections 3.4 and 4.2]; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import multiply
from taction.contact.laws.box import EQUATION
from taction.contact.laws.dispatch import apex_of, has_shift, is_rowwise, natural_map
from taction.contact.redundancy import WIDTH, active_directions, eliminate_row, gram_row
from taction.solvers.selection import RIGID, SELECT

ROUNDS = 6  # solves in all, with one matrix
TURNS, NEARER = 8, 0.1  # matrices, and what each must leave at most while contacts turn to where they slide
ENOUGH = 0.1  # of the slack: what may be left where no solve comes nearer
STALLED = 0.5  # a solve that leaves more of the residual than this does not: something slides or opens
INSIDE = 1e-6  # of an interval's end: how far beyond it counts as there
LOW, HIGH = 1.0, 2.0  # where a row is held
FOUND, FAILED, OUTSIDE = 0, 1, 2  # how a matrix ends
# Parts of the scratch, of 3 k numbers each: after the directions their right-hand sides, centres of the
# proximal problems, velocities of slip, exchanges of pivots, steps, rows that are held, ε of blocks; then S
RIGHT, CENTRE, SLIP, ORDER, STEP, HELD, EPSILON, MATRIX = range(WIDTH, WIDTH + 8)
LITTLE = 1e-3  # a change of this share leaves nothing for a second solve around zero to mend


@inline_kernel
def place_of(direction, j):
    """Row of the blocks that direction j is."""
    row = 3 * int(direction[WIDTH * j])
    return (
        row if direction[WIDTH * j + 1] == 1.0 else (row + 1 if direction[WIDTH * j + 2] == 1.0 else row + 2)
    )


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
def weight_of(rows, row, epsilon):
    """Compliance of a row: ε (k,) of its block, and almost none for an equation."""
    i, c = row // 3, row % 3
    if is_rowwise(rows.kind[i]) and rows.sets[i, 2 * c] == -math.inf and rows.sets[i, 2 * c + 1] == math.inf:
        return RIGID * EQUATION * SELECT * rows.value[rows.diagonal[i], 4 * c]
    return epsilon[i]


@kernel
def factor_sticking(rows, direction, n, epsilon, matrix_io):
    """Cholesky factor of S, rows packed, 1 over the diagonal; returns whether there is one."""
    for j in range(n):
        gram_row(rows, direction, j, matrix_io)
        at = j * (j + 1) // 2
        pivot = matrix_io[at + j] + weight_of(rows, place_of(direction, j), epsilon)
        pivot = eliminate_row(j, pivot, matrix_io)
        if not pivot > 0.0:
            return False
        matrix_io[at + j] = 1.0 / math.sqrt(pivot)
    return True


@inline_kernel
def solve_factor(matrix, n, x_io):
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


@inline_kernel
def slide_along(rows, i, u, slow):
    """Friction per normal impulse (2) of block i if it slides at velocities u (3k,), else zero."""
    size = math.sqrt(u[3 * i + 1] * u[3 * i + 1] + u[3 * i + 2] * u[3 * i + 2])
    if is_rowwise(rows.kind[i]) or not size > slow:
        return 0.0, 0.0
    return -rows.sets[i, 0] * u[3 * i + 1] / size, -rows.sets[i, 0] * u[3 * i + 2] / size


@kernel
def can_slide(rows, direction, n, u, slow):
    """Whether all contacts that slide are of the kind that this file is made for."""
    for j in range(n):
        i = int(direction[WIDTH * j])
        f1, f2 = slide_along(rows, i, u, slow)
        if f1 == 0.0 and f2 == 0.0:
            continue
        set_, kind = rows.sets[i], rows.kind[i]
        is_round = set_[0] == set_[1] and set_[1] == set_[2] and apex_of(kind, set_) == 0.0
        if not (is_round and has_shift(kind, set_)):
            return False
    return True


@kernel
def factor_sliding(rows, direction, n, epsilon, slip, slow, matrix_out, order_out):
    """LU of S, rows of n, for contacts that slide as slip (3k,) says; returns whether there is one.

    order_out (n,): which row each pivot comes from.
    """
    for j in range(n):
        row = place_of(direction, j)
        i, c = row // 3, row % 3
        m, last = rows.start[i], rows.start[i + 1]
        for q in range(n):
            other = place_of(direction, q)
            block, d = other // 3, other % 3
            while m < last and rows.column[m] < block:
                m += 1
            value = 0.0
            if m < last and rows.column[m] == block:
                w = rows.value[m]
                value = w[3 * c + d]
                if d == 0:
                    f1, f2 = slide_along(rows, block, slip, slow)
                    value += w[3 * c + 1] * f1 + w[3 * c + 2] * f2
            matrix_out[n * j + q] = value
        matrix_out[n * j + j] += weight_of(rows, row, epsilon)
        order_out[j] = j
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(matrix_out[n * i + k]) > abs(matrix_out[n * p + k]):
                p = i
        if not abs(matrix_out[n * p + k]) > 0.0:
            return False
        if p != k:
            order_out[k], order_out[p] = order_out[p], order_out[k]
            for q in range(n):
                matrix_out[n * k + q], matrix_out[n * p + q] = matrix_out[n * p + q], matrix_out[n * k + q]
        pivot = 1.0 / matrix_out[n * k + k]
        for i in range(k + 1, n):
            factor = matrix_out[n * i + k] * pivot
            matrix_out[n * i + k] = factor
            if factor != 0.0:
                for q in range(k + 1, n):
                    matrix_out[n * i + q] -= factor * matrix_out[n * k + q]
    return True


@inline_kernel
def solve_sliding(matrix, order, n, x, z_out):
    """S⁻¹ x (n,) into z_out, by the factor of `factor_sliding`."""
    for k in range(n):
        value = x[int(order[k])]
        for q in range(k):
            value -= matrix[n * k + q] * z_out[q]
        z_out[k] = value
    for k in range(n - 1, -1, -1):
        value = z_out[k]
        for q in range(k + 1, n):
            value -= matrix[n * k + q] * z_out[q]
        z_out[k] = value / matrix[n * k + k]


@kernel
def drag_along(rows, slip, slow, r_io):
    """Friction of the contacts that slide as slip (3k,) says."""
    for i in range(rows.kind.shape[0]):
        f1, f2 = slide_along(rows, i, slip, slow)
        if f1 != 0.0 or f2 != 0.0:
            r_io[3 * i + 1], r_io[3 * i + 2] = f1 * r_io[3 * i], f2 * r_io[3 * i]


@kernel
def hold_rows(rows, n, epsilon, direction, u, r, held_io):
    """Hold rows of intervals at the ends that their impulses r are beyond, let go what is held in vain.

    held_io (3k,): 0, LOW or HIGH. n directions are free. Returns whether anything changed.
    """
    has_changed = False
    for c in range(3 * rows.kind.shape[0]):
        if held_io[c] != 0.0:
            low, high = rows.sets[c // 3, 2 * (c % 3)], rows.sets[c // 3, 2 * (c % 3) + 1]
            end = low if held_io[c] == LOW else high
            pull, noise = u[c] + epsilon[c // 3] * end, INSIDE * epsilon[c // 3] * abs(end)
            if (held_io[c] == LOW and pull < -noise) or (held_io[c] == HIGH and pull > noise):
                held_io[c], has_changed = 0.0, True
    for j in range(n):
        c = place_of(direction, j)
        if is_rowwise(rows.kind[c // 3]):
            low, high = rows.sets[c // 3, 2 * (c % 3)], rows.sets[c // 3, 2 * (c % 3) + 1]
            slack = INSIDE * min(-low, high)
            if r[c] < low - slack:
                held_io[c], has_changed = LOW, True
            elif r[c] > high + slack:
                held_io[c], has_changed = HIGH, True
    return has_changed


@kernel
def free_directions(n, held, direction_io):
    """Leave out of n directions those that are held; returns how many are left."""
    m = 0
    for j in range(n):
        if held[place_of(direction_io, j)] == 0.0:
            for c in range(WIDTH):
                direction_io[WIDTH * m + c] = direction_io[WIDTH * j + c]
            m += 1
    return m


@kernel
def relax(rows, n, epsilon, is_sliding, goal, slack, slip, slow, ws, u_io, trial_io):
    """Both steps of the selection with the factor that is there, from trial_io (3k,) with velocities u_io.

    slip (3k,): velocities that say where contacts slide, faster than ``slow``. Returns FOUND, FAILED or
    OUTSIDE, where rows are beyond their intervals or held in vain, and the natural map.
    """
    most = 3 * rows.kind.shape[0]
    x, centre, order = ws[RIGHT * most :], ws[CENTRE * most :], ws[ORDER * most :]
    step, held, matrix = ws[STEP * most :], ws[HELD * most :], ws[MATRIX * most :]
    for j in range(n):
        centre[j] = 0.0
    zero, error = 2, math.inf  # solves around zero
    for k in range(ROUNDS):
        for j in range(n):
            row = place_of(ws, j)
            if k >= zero:
                centre[j] = trial_io[row]
            x[j] = step[j] = -u_io[row] - weight_of(rows, row, epsilon) * (trial_io[row] - centre[j])
        if is_sliding:
            solve_sliding(matrix, order, n, x, step)
        else:
            solve_factor(matrix, n, step)
        change = size = 0.0
        for j in range(n):
            row = place_of(ws, j)
            trial_io[row] += step[j]
            change, size = max(change, abs(step[j])), max(size, abs(trial_io[row]))
        if is_sliding:
            drag_along(rows, slip, slow, trial_io)
        if k == 0 and change <= LITTLE * size:
            zero = 1
        multiply(rows, trial_io, u_io)
        if k == zero - 1 and hold_rows(rows, n, epsilon, ws, u_io, trial_io, held):
            return OUTSIDE, math.inf
        before, error = error, natural_map(rows.kind, rows.sets, trial_io, u_io)
        has_stalled = k >= zero and error > STALLED * before
        if has_stalled and error > max(goal, ENOUGH * slack):
            return FAILED, error
        if k > zero and (error <= goal or has_stalled):
            return FOUND, error
    return FAILED, error


@kernel
def select_at(rows, goal, slack, slow, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) if contacts faster than ``slow`` slide; returns whether found."""
    most = 3 * rows.kind.shape[0]
    slip, order, held = ws[SLIP * most :], ws[ORDER * most :], ws[HELD * most :]
    epsilon, matrix, error = ws[EPSILON * most :], ws[MATRIX * most :], math.inf
    compliances(rows, epsilon)
    for c in range(most):
        low, high = rows.sets[c // 3, 2 * (c % 3)], rows.sets[c // 3, 2 * (c % 3) + 1]
        slip[c], held[c] = u_io[c], 0.0
        if is_rowwise(rows.kind[c // 3]) and low < high and abs(u_io[c]) <= slack:
            held[c] = LOW if r_io[c] <= low else (HIGH if r_io[c] >= high else 0.0)
    for _ in range(TURNS):
        multiply(rows, r_io, u_io)
        n, _, is_sliding = active_directions(rows, r_io, u_io, slack, slow, most, True, ws)
        n = free_directions(n, held, ws)
        if n == 0 or (is_sliding and not can_slide(rows, ws, n, slip, slow)):
            return False
        for c in range(most):
            trial_io[c] = r_io[c]
            if held[c] != 0.0:
                trial_io[c] = rows.sets[c // 3, 2 * (c % 3) + (0 if held[c] == LOW else 1)]
        if is_sliding:
            is_factored = factor_sliding(rows, ws, n, epsilon, slip, slow, matrix, order)
            drag_along(rows, slip, slow, trial_io)
        else:
            is_factored = factor_sticking(rows, ws, n, epsilon, matrix)
        if not is_factored:
            return False
        multiply(rows, trial_io, u_io)
        before = error
        end, error = relax(rows, n, epsilon, is_sliding, goal, slack, slip, slow, ws, u_io, trial_io)
        if end == FOUND:
            for c in range(most):
                r_io[c] = trial_io[c]
            return True
        if end == FAILED and (not is_sliding or error > NEARER * before):
            return False
        if end == FAILED:
            for c in range(most):
                slip[c] = u_io[c]
        else:
            error = before
    return False


@kernel
def select_active(rows, goal, slack, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) from a solution with velocities u_io (3k,); returns whether found.

    Velocities up to ``slack`` are what may be left of a solution. ws: scratch of `scratch` numbers; trial_io
    (3k,): scratch.
    """
    is_slow = False  # whether a contact counts as sliding in the second attempt alone
    for i in range(rows.kind.shape[0]):
        f1, f2 = slide_along(rows, i, u_io, ENOUGH * slack)
        g1, g2 = slide_along(rows, i, u_io, slack)
        is_slow = is_slow or f1 != g1 or f2 != g2
    if select_at(rows, goal, slack, slack, ws, trial_io, u_io, r_io):
        return True
    if not is_slow:
        return False
    multiply(rows, r_io, u_io)
    return select_at(rows, goal, slack, ENOUGH * slack, ws, trial_io, u_io, r_io)


def scratch(blocks: int) -> int:
    """Numbers that the choice of so many blocks takes."""
    return 9 * blocks * blocks + 33 * blocks
