"""Small dense quadratic programs: a dual active-set method.

What it solves: for H symmetric positive definite

    min ½ xᵀ H x + gᵀ x    with    A x = b in the first e rows,  A x ≥ b in the others.                 (1)

Notation: n unknowns, m rows; the *active* rows N (k of them) hold with equality at the current point;
H = L Lᵀ; Q an orthogonal basis in which L⁻¹ Nᵀ = Q [R; 0], and T = Qᵀ L⁻¹, whose first k rows span what the
active rows fix and whose others what is still free; u multipliers of the active rows.

Method: from the minimum without constraints, rows that are violated become active one by one, the worst
first, the equations before all others. With n₊ the new row, d = T n₊:

    z = T₂ᵀ d₂    the direction that changes none of the active rows,    r = R⁻¹ d₁    what it costs them;

x moves along z and u along (−r, 1) until the new row holds, or until a multiplier becomes zero: its row
leaves, and the step goes on. If z vanishes and no multiplier decreases, no point obeys all rows. Every full
step raises the minimum, so no set of active rows comes twice: the method ends. A row joins and leaves by
plane rotations of T and R.

The answer is judged by its own residual, `kkt_residual`, which knows nothing of how it was found.

Departures: none from the method; rows that are equations and follow from those before them are left out.

Cost: n³ for T, and some 8 n² per change of the active rows.

References: [GoldfarbIdnani1983].
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints

ROUNDING = 1e-12  # relative: below, a row is obeyed, a direction vanishes
DEPENDENT = 1e-9  # relative: by which a row may be missed that follows from active ones
STEPS = 10  # times rows and unknowns
TINY = 1e-300


# How a program ends: solved; no point obeys all rows; H is not positive definite; too many steps
SOLVED, INFEASIBLE, NOT_CONVEX, OUT_OF_STEPS = (np.int64(code) for code in range(4))


class Status(IntEnum):
    """How a quadratic program ended."""

    SOLVED = 0
    INFEASIBLE = 1
    NOT_CONVEX = 2
    OUT_OF_STEPS = 3


class Program(Layout):
    """A quadratic program (1)."""

    H: Array = floats("n, n", "second derivatives; both triangles")
    g: Array = floats("n", "first derivatives at zero")
    A: Array = floats("m, n", "rows of the constraints")
    b: Array = floats("m", "what they must reach")


class ProgramScratch(Layout):
    """Memory of the method, and its answer."""

    x: Array = floats("n", "the answer")
    u: Array = floats("m + 1", "multipliers of the active rows, in the order in which they came")
    T: Array = floats("n, n", "rows: the basis of the module text")
    L: Array = floats("n, n", "Cholesky factor of H")
    R: Array = floats("n, n", "columns of active rows, upper triangle")
    d: Array = floats("n", "T n₊")
    z: Array = floats("n", "direction of x")
    r: Array = floats("n", "direction of u, less its last entry")
    norm: Array = floats("m", "length of each row")
    active: IntArray = ints("m", "which rows are active")
    is_active: IntArray = ints("m", "1 for those")


@kernel
def set_up(program, ws):
    """L, T = L⁻¹ and the minimum without constraints into ws; returns whether H is positive definite."""
    n = program.g.shape[0]
    L, T = ws.L, ws.T
    for i in range(n):
        for j in range(i + 1):
            s = program.H[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = s / L[j, j]
            elif s > 0.0:
                L[i, i] = math.sqrt(s)
            else:
                return False
    for i in range(n):  # forward substitution, all columns of the unit matrix at once
        for j in range(n):
            T[i, j] = 0.0
        T[i, i] = 1.0 / L[i, i]
        for k in range(i):
            c = L[i, k] / L[i, i]
            for j in range(k + 1):
                T[i, j] -= c * T[k, j]
    for i in range(n):
        ws.x[i] = 0.0
    for k in range(n):  # x = −Tᵀ T g
        s = 0.0
        for j in range(k + 1):
            s += T[k, j] * program.g[j]
        for j in range(k + 1):
            ws.x[j] -= s * T[k, j]
    return True


@inline_kernel
def largest(x):
    """Largest entry of x (n,), in size."""
    long = 0.0
    for j in range(x.shape[0]):
        long = max(long, abs(x[j]))
    return long


@inline_kernel
def slack(program, p, x):
    """A x − b of row p."""
    s = -program.b[p]
    for j in range(x.shape[0]):
        s += program.A[p, j] * x[j]
    return s


@inline_kernel
def directions(program, p, sign, k, ws):
    """d, z and r of row p, taken ``sign`` times, with k active rows; returns n₊ · z."""
    n = ws.x.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += ws.T[i, j] * program.A[p, j]
        ws.d[i] = sign * s
        ws.z[i] = 0.0
    for i in range(k, n):
        d = ws.d[i]
        for j in range(n):
            ws.z[j] += d * ws.T[i, j]
    for i in range(k - 1, -1, -1):
        s = ws.d[i]
        for j in range(i + 1, k):
            s -= ws.R[i, j] * ws.r[j]
        ws.r[i] = s / ws.R[i, i]
    along = 0.0
    for i in range(k, n):
        along += ws.d[i] * ws.d[i]
    return along


@inline_kernel
def rotate(i, j, c, s, T_io):
    """Rows i and j of T_io (n, n) turned by the rotation (c, s)."""
    for q in range(T_io.shape[1]):
        one, other = T_io[i, q], T_io[j, q]
        T_io[i, q] = c * one + s * other
        T_io[j, q] = c * other - s * one


@inline_kernel
def join(k, ws):
    """The row whose d is in ws becomes column k of R: the rest of d is turned into its entry k."""
    n = ws.x.shape[0]
    for i in range(n - 1, k, -1):
        if ws.d[i] == 0.0:
            continue
        long = math.hypot(ws.d[i - 1], ws.d[i])
        c, s = ws.d[i - 1] / long, ws.d[i] / long
        ws.d[i - 1] = long
        rotate(i - 1, i, c, s, ws.T)
    for i in range(k + 1):
        ws.R[i, k] = ws.d[i]


@kernel
def leave(l, k, ws):
    """The active row at place l of k leaves."""
    ws.is_active[ws.active[l]] = 0
    for j in range(l + 1, k):
        ws.active[j - 1], ws.u[j - 1] = ws.active[j], ws.u[j]
        for i in range(j + 1):
            ws.R[i, j - 1] = ws.R[i, j]
    ws.u[k - 1] = ws.u[k]
    for j in range(l, k - 1):
        long = math.hypot(ws.R[j, j], ws.R[j + 1, j])
        if long == 0.0:
            continue
        c, s = ws.R[j, j] / long, ws.R[j + 1, j] / long
        ws.R[j, j], ws.R[j + 1, j] = long, 0.0
        for q in range(j + 1, k - 1):
            one, other = ws.R[j, q], ws.R[j + 1, q]
            ws.R[j, q], ws.R[j + 1, q] = c * one + s * other, c * other - s * one
        rotate(j, j + 1, c, s, ws.T)


@inline_kernel
def blocking(e, k, ws):
    """Place of the active inequality whose multiplier vanishes first, and after which step."""
    place, longest = -1, math.inf
    for i in range(k):
        if ws.active[i] >= e and ws.r[i] > 0.0 and ws.u[i] < longest * ws.r[i]:
            place, longest = i, ws.u[i] / ws.r[i]
    return place, longest


@kernel
def make_active(program, e, p, k, ws):
    """Make row p hold, k rows being active; returns how many are now, or −1 if no point obeys all.

    A row that follows from active ones, and is missed by rounding only, is counted as obeyed.
    """
    n = ws.x.shape[0]
    s = slack(program, p, ws.x)
    sign = 1.0 if s < 0.0 else -1.0  # equations may be missed on either side
    ws.u[k] = 0.0
    while True:
        along = directions(program, p, sign, k, ws)
        whole = 0.0
        for i in range(n):
            whole += ws.d[i] * ws.d[i]
        place, shortest = blocking(e, k, ws)
        is_free = along > ROUNDING * whole
        full = abs(s) / along if is_free else math.inf
        step = min(shortest, full)
        if step == math.inf:
            ws.is_active[p] = 1
            return k if abs(s) <= DEPENDENT * (abs(program.b[p]) + ws.norm[p] * largest(ws.x)) else -1
        for i in range(k):
            ws.u[i] -= step * ws.r[i]
        ws.u[k] += step
        if is_free:
            for i in range(n):
                ws.x[i] += step * ws.z[i]
            s = slack(program, p, ws.x)
        if full <= shortest:
            join(k, ws)
            ws.active[k], ws.is_active[p] = p, 1
            if sign < 0.0:
                for i in range(k + 1):
                    ws.R[i, k] = -ws.R[i, k]
                ws.u[k] = -ws.u[k]
            return k + 1
        leave(place, k, ws)
        k -= 1


@inline_kernel
def most_violated(program, e, ws):
    """The inequality that is violated most, in its own length; −1 if none is."""
    worst, least, long = -1, 0.0, largest(ws.x)
    for p in range(e, program.b.shape[0]):
        if ws.is_active[p] == 1 or ws.norm[p] == 0.0:
            continue
        s = slack(program, p, ws.x) / ws.norm[p]
        if s < least and s < -ROUNDING * (long + abs(program.b[p]) / ws.norm[p]):
            worst, least = p, s
    return worst


@kernel
def measure_rows(program, ws):
    """Lengths of the rows, none of them active, into ws."""
    for p in range(program.b.shape[0]):
        s = 0.0
        for j in range(program.g.shape[0]):
            s += program.A[p, j] * program.A[p, j]
        ws.norm[p], ws.is_active[p] = math.sqrt(s), 0


@inline_kernel
def cost(program, x):
    """½ xᵀ H x + gᵀ x."""
    total = 0.0
    for i in range(x.shape[0]):
        s = program.g[i]
        for j in range(x.shape[0]):
            s += 0.5 * program.H[i, j] * x[j]
        total += s * x[i]
    return total


@kernel
def add_rows(program, e, cutoff, ws):
    """From the minimum without rows to that with them; returns a Status and how many rows are active.

    The cost only rises on the way. Where it exceeds ``cutoff``, the way ends: OUT_OF_STEPS.
    """
    k, m, n = 0, program.b.shape[0], program.g.shape[0]
    for i in range(e + STEPS * (m + n)):
        p = i if i < e else most_violated(program, e, ws)
        if p < 0:
            return SOLVED, k
        k = make_active(program, e, p, k, ws)
        if k < 0:
            return INFEASIBLE, 0
        if cutoff < math.inf and cost(program, ws.x) > cutoff:
            return OUT_OF_STEPS, k
    return OUT_OF_STEPS, k


@kernel
def solve_program(program, e, ws):
    """Solve (1) with e equations into ws.x; returns a Status and how many rows are active."""
    if not set_up(program, ws):
        return NOT_CONVEX, 0
    measure_rows(program, ws)
    return add_rows(program, e, math.inf, ws)


@kernel
def kkt_residual(program, e, k, ws):
    """How far ws.x and the multipliers of k active rows are from the conditions of a minimum, relative.

    The largest of: H x + g − Aᵀ u; rows that are missed; active rows that are not at their bound;
    multipliers of the wrong sign. Each against the size of what it is made of.
    """
    n, x, A, b = ws.x.shape[0], ws.x, program.A, program.b
    slope, force, worst, size, long = 0.0, TINY, 0.0, largest(ws.u[:k]) + TINY, largest(ws.x)
    for i in range(n):
        s = program.g[i]
        force = max(force, abs(s))
        for j in range(n):
            s += program.H[i, j] * x[j]
        for a in range(k):
            part = A[ws.active[a], i] * ws.u[a]
            s -= part
            force = max(force, abs(part))
        slope = max(slope, abs(s))
    for a in range(k):
        if ws.active[a] >= e:
            worst = max(worst, -ws.u[a] / size)
    for p in range(b.shape[0]):
        s = slack(program, p, x)
        is_held = p < e
        for a in range(k):
            is_held = is_held or ws.active[a] == p
        worst = max(worst, (abs(s) if is_held else -s) / (abs(b[p]) + ws.norm[p] * long + TINY))
    return max(worst, slope / force)


class Answer(NamedTuple):
    """What a quadratic program has as its answer."""

    x: Array  # (n,)
    multipliers: Array  # (m,) of the rows, zero where they are not active
    status: Status
    residual: float  # see `kkt_residual`


def solve_quadratic_program(
    H: ArrayLike, g: ArrayLike, A: ArrayLike | None = None, b: ArrayLike | None = None, *, equations: int = 0
) -> Answer:
    """The minimum of ½ xᵀ H x + gᵀ x with A x = b in the first rows and A x ≥ b in the others.

    Args:
        H: symmetric positive definite, shape (n, n).
        g: shape (n,).
        A: rows of the constraints, shape (m, n); none by default.
        b: what they must reach, shape (m,).
        equations: how many of the rows are equations.

    Raises:
        BadInput: shapes that do not fit.
    """
    g = as_float(g, (None,), "g")
    n = len(g)
    H = as_float(H, (n, n), "H")
    A = as_float(np.empty((0, n)) if A is None else A, (None, n), "A")
    b = as_float(np.empty(0) if b is None else b, (len(A),), "b")
    if not 0 <= equations <= len(A):
        raise BadInput(f"{equations} equations of {len(A)} rows")
    program, ws = Program(H=H, g=g, A=A, b=b), ProgramScratch.allocate(n=n, m=len(A))
    code, k = solve_program(program, equations, ws)
    multipliers = np.zeros(len(A))
    multipliers[ws.active[:k]] = ws.u[:k]
    return Answer(ws.x.copy(), multipliers, Status(code), kkt_residual(program, equations, k, ws))
