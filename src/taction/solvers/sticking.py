"""The selected impulses where everything that touches sticks: one Cholesky factorisation.

What it solves: `taction.solvers.selection` for a problem whose active directions E
(`taction.contact.redundancy`) are those of sticking contacts and closed rows. Then the laws are equations,
Eᵀ(W Λ + b) + ε (z − c) = 0 with z = EᵀΛ, and both steps of the selection are solves with one symmetric
positive definite matrix

    S = Eᵀ W E + ε,      z ← z − S⁻¹ (Eᵀ u + ε (z − c)),

first with c = 0, twice for the sake of rounding where that changes much, then with c = z until the laws
hold, twice at least: what is left of ε has one sign and would make loads creep over many steps. Whether
contacts stick is not assumed but checked at the end: the natural map of all blocks must be below the goal.

Cost: m³/6 products for m directions, a third of a Newton step of `taction.solvers.selection`.

References: [GolubVanLoan2013, Section 4.2]; [Tikhonov1963].
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.blocks import multiply
from taction.contact.laws.box import EQUATION
from taction.contact.laws.dispatch import is_rowwise, natural_map
from taction.contact.redundancy import WIDTH, active_directions, eliminate_row, gram_row
from taction.solvers.selection import RIGID, SELECT

ROUNDS = 6  # solves in all
STALLED = 0.5  # a solve that leaves more of the residual than this does not: something slides or opens
LITTLE = 1e-3  # a change of this share leaves nothing for a second solve around zero to mend


@inline_kernel
def place_of(direction, j):
    """Row of the blocks that direction j is."""
    row = 3 * int(direction[WIDTH * j])
    return (
        row if direction[WIDTH * j + 1] == 1.0 else (row + 1 if direction[WIDTH * j + 2] == 1.0 else row + 2)
    )


@inline_kernel
def unit_of(rows):
    """w̄: the largest mean diagonal of a contact's block of W."""
    unit = 0.0
    for i in range(rows.kind.shape[0]):
        w = rows.value[rows.diagonal[i]]
        if not is_rowwise(rows.kind[i]):
            unit = max(unit, (w[0] + w[4] + w[8]) / 3.0)
        elif rows.sets[i, 1] == math.inf and rows.sets[i, 0] > -math.inf:
            unit = max(unit, w[0])
    return unit


@inline_kernel
def weight_of(rows, row, epsilon):
    """Compliance of a row: ε, and almost none for an equation."""
    i, c = row // 3, row % 3
    if is_rowwise(rows.kind[i]) and rows.sets[i, 2 * c] == -math.inf and rows.sets[i, 2 * c + 1] == math.inf:
        return RIGID * EQUATION * SELECT * rows.value[rows.diagonal[i], 4 * c]
    return epsilon


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


@kernel
def select_sticking(rows, goal, slack, ws, trial_io, u_io, r_io):
    """Selected impulses r_io (3k,) from a solution with velocities u_io (3k,); returns whether found.

    Velocities up to ``slack`` count as zero. ws: scratch of 5 k² + 20 k numbers; trial_io (3k,): scratch.
    """
    most, blocks = 3 * rows.kind.shape[0], rows.kind.shape[0]
    n, _, is_sliding = active_directions(rows, r_io, u_io, slack, most, ws)
    x, matrix = ws[WIDTH * most : (WIDTH + 1) * most], ws[(WIDTH + 2) * most :]
    centre = ws[(WIDTH + 1) * most : (WIDTH + 2) * most]
    for j in range(n):
        centre[j] = 0.0
    epsilon = SELECT * unit_of(rows)
    if n == 0 or is_sliding or not factor_sticking(rows, ws, n, epsilon, matrix):
        return False
    for c in range(3 * blocks):
        trial_io[c] = r_io[c]
    zero, error = 2, math.inf  # solves around zero
    for k in range(ROUNDS):
        for j in range(n):
            row = place_of(ws, j)
            if k >= zero:
                centre[j] = trial_io[row]
            x[j] = -u_io[row] - weight_of(rows, row, epsilon) * (trial_io[row] - centre[j])
        solve_factor(matrix, n, x)
        change = size = 0.0
        for j in range(n):
            row = place_of(ws, j)
            trial_io[row] += x[j]
            change, size = max(change, abs(x[j])), max(size, abs(trial_io[row]))
        if k == 0 and change <= LITTLE * size:
            zero = 1
        multiply(rows, trial_io, u_io)
        before, error = error, natural_map(rows.kind, rows.sets, trial_io, u_io)
        if k >= zero and error > max(STALLED * before, goal):
            return False
        if k > zero and error <= goal:
            for c in range(3 * blocks):
                r_io[c] = trial_io[c]
            return True
    return False
