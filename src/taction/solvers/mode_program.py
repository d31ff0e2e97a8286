"""The best point of one contact mode of a program with complementarity, compiled.

What it solves: min ½ wᵀ H w + gᵀ w with A w ≤ b, each of p pairs *open*, λ = 0 ≤ η, or *closed*, λ ≥ 0 = η,
and each of c contacts with a free gap φ = G w + γ *away*, φ ≥ 0 and its λ = 0 whatever η, or not, φ ≤ 0. The
λ are among the unknowns w, η = S w + s; the other unknowns are inputs u.

Method: that of `taction.planning.modes`, where S_cc, the columns of closed λ in the rows of closed η, is
regular: λ_c = T u + t by an LU factorisation, a quadratic program in u (`taction.solvers.quadratic_program`),
and multipliers of the pairs' equations from where its cost does not change. Where S_cc is singular, nothing
is found.

Cost: c³/3 for the factor, (p + r) c m for the rows, m³ for the program; 20 inputs, 20 pairs and 160 bounds:
some 60 µs.

References: [LuoPangRalph1996]; [GoldfarbIdnani1983].
"""

from __future__ import annotations

import math

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints, nested
from taction.solvers.dense_lu import factor_dense, solve_dense
from taction.solvers.quadratic_program import (
    SOLVED,
    Program,
    ProgramScratch,
    add_rows,
    cost,
    measure_rows,
    set_up,
)

SINGULAR = 1e9  # ratio of the largest entry of S_cc to the least pivot
BLANK = 1e-13  # of the entries of a row, relative: below it has no unknowns
MISSED = 1e-9  # by which such a row may be missed, relative to the slacks


class ModeProgram(Layout):
    """A program with complementarity."""

    H: Array = floats("n, n", "second derivatives of the cost")
    g: Array = floats("n", "first derivatives at zero")
    S: Array = floats("p, n", "slacks on unknowns")
    s: Array = floats("p", "slacks without any")
    A: Array = floats("r, n", "bounds on unknowns")
    b: Array = floats("r", "what they may reach")
    G: Array = floats("c, n", "free gaps on unknowns")
    gamma: Array = floats("c", "free gaps without any")
    pairs: IntArray = ints("p", "where the λ are among the unknowns")
    inputs: IntArray = ints("m", "where the inputs are")
    guard: IntArray = ints("p", "free gap that decides on each pair, −1 where none does")


class ModeScratch(Layout):
    """A mode, its best point, and memory."""

    is_open: IntArray = ints("p", "1 for pairs that are open")
    is_away: IntArray = ints("c", "1 for contacts that are away")
    w: Array = floats("n", "the best point")
    value: Array = floats("1", "what it costs")
    multiplier: Array = floats("p", "of the pairs' equations: below zero, leaving them would cost less")
    slack: Array = floats("p", "η there")
    closed: IntArray = ints("p", "which pairs are closed")
    T: Array = floats("p, m", "closed λ by inputs")
    t: Array = floats("p", "closed λ without any")
    V: Array = floats("p, m", "slope of the cost along closed λ, by inputs")
    lower: Array = floats("p*p", "L of S_cc")
    upper: Array = floats("p*p", "U of S_cc")
    order: IntArray = ints("p", "its rows")
    one: Array = floats("p", "a right-hand side")
    two: Array = floats("p", "an answer")
    slope: Array = floats("n", "of the cost, less what the rows hold")
    reduced: Program = nested(Program, "in the inputs")
    work: ProgramScratch = nested(ProgramScratch, "of that program")


def make_mode_scratch(n: int, p: int, c: int, r: int, m: int) -> ModeScratch:
    """Memory for n unknowns, p pairs, c free gaps, r bounds and m inputs."""
    rows = p + r + c
    given = {"reduced": Program.allocate(n=m, m=rows), "work": ProgramScratch.allocate(n=m, m=rows)}
    return ModeScratch.allocate(_given=given, n=n, p=p, c=c, m=m)


@inline_kernel
def is_lost(program, i, ws):
    """Whether pair i belongs to a contact that is away."""
    return program.guard[i] >= 0 and ws.is_away[max(program.guard[i], 0)] == 1


@kernel
def eliminate(program, ws):
    """T and t of the closed pairs into ws; returns how many there are, −1 where S_cc is singular."""
    c, largest, least = 0, 0.0, math.inf
    for i in range(program.s.shape[0]):
        if ws.is_open[i] == 0 and not is_lost(program, i, ws):
            ws.closed[c] = i
            c += 1
    for i in range(c):
        for j in range(c):
            value = program.S[ws.closed[i], program.pairs[ws.closed[j]]]
            ws.lower[c * i + j] = value
            largest = max(largest, abs(value))
    if not factor_dense(c, ws.lower, ws.upper, ws.order):
        return -1
    for i in range(c):
        least = min(least, 1.0 / abs(ws.upper[c * i + i]))
    if largest > SINGULAR * least:
        return -1
    for j in range(program.inputs.shape[0] + 1):
        for i in range(c):
            k = ws.closed[i]
            ws.one[i] = -program.s[k] if j == 0 else -program.S[k, program.inputs[max(j - 1, 0)]]
        solve_dense(c, ws.lower, ws.upper, ws.order, ws.one, ws.two)
        for i in range(c):
            if j == 0:
                ws.t[i] = ws.two[i]
            else:
                ws.T[i, j - 1] = ws.two[i]
    return c


@kernel
def reduce_cost(program, c, ws):
    """Cost of the inputs, the closed λ following them, into ws.reduced; returns what it lacks."""
    rest = 0.0
    H, inputs, pairs, m = program.H, program.inputs, program.pairs, program.inputs.shape[0]
    for i in range(c):
        row = pairs[ws.closed[i]]
        ws.one[i] = program.g[row]
        for k in range(c):
            ws.one[i] += H[row, pairs[ws.closed[k]]] * ws.t[k]
        rest += 0.5 * ws.t[i] * (program.g[row] + ws.one[i])
        for j in range(m):
            value = H[row, inputs[j]]
            for k in range(c):
                value += H[row, pairs[ws.closed[k]]] * ws.T[k, j]
            ws.V[i, j] = value
    for a in range(m):
        slope = program.g[inputs[a]]
        for k in range(c):
            slope += H[inputs[a], pairs[ws.closed[k]]] * ws.t[k] + ws.T[k, a] * ws.one[k]
        ws.reduced.g[a] = slope
        for j in range(a + 1):
            value = H[inputs[a], inputs[j]]
            for k in range(c):
                value += H[inputs[a], pairs[ws.closed[k]]] * ws.T[k, j] + ws.T[k, a] * ws.V[k, j]
            ws.reduced.H[a, j] = value
            ws.reduced.H[j, a] = value
    return rest


@inline_kernel
def reduce_row(program, source, row, sign, constant, c, place, ws):
    """Row ``sign (source[row] w + constant) ≥ 0`` by the inputs; returns whether it can be obeyed."""
    largest, left, value = 0.0, 0.0, -sign * constant
    for k in range(c):
        f = source[row, program.pairs[ws.closed[k]]]
        largest = max(largest, abs(f))
        value -= sign * f * ws.t[k]
    for j in range(program.inputs.shape[0]):
        x = source[row, program.inputs[j]]
        largest = max(largest, abs(x))
        for k in range(c):
            x += source[row, program.pairs[ws.closed[k]]] * ws.T[k, j]
        ws.reduced.A[place, j] = sign * x
        left = max(left, abs(x))
    if left > BLANK * largest:
        ws.reduced.b[place] = value
        return True
    for j in range(program.inputs.shape[0]):
        ws.reduced.A[place, j] = 0.0
    ws.reduced.b[place] = 0.0
    return value <= MISSED * (1.0 + abs(constant))


@kernel
def reduce_rows(program, c, ws):
    """Rows of pairs, bounds and free gaps into ws.reduced; returns whether all can be obeyed."""
    p, r = program.s.shape[0], program.b.shape[0]
    can, k = True, 0
    for i in range(p):
        if k < c and ws.closed[k] == i:
            for j in range(program.inputs.shape[0]):
                ws.reduced.A[i, j] = ws.T[k, j]
            ws.reduced.b[i] = -ws.t[k]
            k += 1
        elif is_lost(program, i, ws):
            for j in range(program.inputs.shape[0]):
                ws.reduced.A[i, j] = 0.0
            ws.reduced.b[i] = 0.0
        else:
            can = reduce_row(program, program.S, i, 1.0, program.s[i], c, i, ws) and can
    for i in range(r):
        can = reduce_row(program, program.A, i, -1.0, -program.b[i], c, p + i, ws) and can
    for i in range(program.gamma.shape[0]):
        sign = 1.0 if ws.is_away[i] == 1 else -1.0
        can = reduce_row(program, program.G, i, sign, program.gamma[i], c, p + r + i, ws) and can
    return can


@inline_kernel
def solve_transposed(n, lower, upper, order, b_io, x_out):
    """x_out (n,) = A⁻ᵀ b (n,), by what `factor_dense` left; b is overwritten."""
    for k in range(n):
        value = b_io[k]
        for q in range(k):
            value -= upper[n * k + q] * b_io[q]
        b_io[k] = value * upper[n * k + k]
    for k in range(n - 1, -1, -1):
        value = b_io[k]
        for q in range(k + 1, n):
            value -= lower[n * q + k] * b_io[q]
        b_io[k] = value
    for k in range(n):
        x_out[order[k]] = b_io[k]


@kernel
def find_multipliers(program, c, active, ws):
    """Multipliers of the pairs' equations into ws, from those of the active rows."""
    p, r, n = program.s.shape[0], program.b.shape[0], program.g.shape[0]
    for j in range(n):
        value = program.g[j]
        for k in range(n):
            value += program.H[j, k] * ws.w[k]
        ws.slope[j] = value
    for a in range(active):
        row, force = ws.work.active[a], ws.work.u[a]
        if row < p and ws.is_open[row] == 0:
            ws.slope[program.pairs[row]] -= force
            continue
        for j in range(n):
            if row < p:
                ws.slope[j] -= force * program.S[row, j]
            elif row < p + r:
                ws.slope[j] += force * program.A[row - p, j]
            else:
                sign = 1.0 if ws.is_away[row - p - r] == 1 else -1.0
                ws.slope[j] -= sign * force * program.G[row - p - r, j]
    for k in range(c):
        ws.one[k] = ws.slope[program.pairs[ws.closed[k]]]
    solve_transposed(c, ws.lower, ws.upper, ws.order, ws.one, ws.two)
    for i in range(p):
        value = ws.slope[program.pairs[i]]
        for k in range(c):
            value -= ws.two[k] * program.S[ws.closed[k], program.pairs[i]]
        ws.multiplier[i] = value
    for k in range(c):
        ws.multiplier[ws.closed[k]] = ws.two[k]


@kernel
def place_point(program, c, rest, ws):
    """Unknowns, cost and slacks of the inputs that were found, into ws."""
    n, m = program.g.shape[0], program.inputs.shape[0]
    for j in range(n):
        ws.w[j] = 0.0
    for j in range(m):
        ws.w[program.inputs[j]] = ws.work.x[j]
    for k in range(c):
        value = ws.t[k]
        for j in range(m):
            value += ws.T[k, j] * ws.work.x[j]
        ws.w[program.pairs[ws.closed[k]]] = value
    ws.value[0] = cost(ws.reduced, ws.work.x) + rest
    for i in range(program.s.shape[0]):
        value = program.s[i]
        for j in range(n):
            value += program.S[i, j] * ws.w[j]
        ws.slack[i] = value


@kernel
def solve_mode_program(program, cutoff, ws):
    """The best point of the mode in ws, its cost, slacks and multipliers; returns whether it was found.

    Points that cost more than ``cutoff`` are not looked for: the cost without rows, and then with some of
    them, is a bound that tells.
    """
    c = eliminate(program, ws)
    if c < 0:
        return False
    rest = reduce_cost(program, c, ws)
    if not set_up(ws.reduced, ws.work) or cost(ws.reduced, ws.work.x) + rest > cutoff:
        return False
    if not reduce_rows(program, c, ws):
        return False
    measure_rows(ws.reduced, ws.work)
    status, active = add_rows(ws.reduced, 0, cutoff - rest, ws.work)
    if status != SOLVED:
        return False
    place_point(program, c, rest, ws)
    find_multipliers(program, c, active, ws)
    return True
