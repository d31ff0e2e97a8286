"""Quadratic programs with complementarity: alternating directions between the cost and the contacts.

What it looks for: a stationary point of

    min ½ wᵀ H w + gᵀ w    with    y = K w + k ∈ Y,                                                      (1)

Y a product of sets onto which the nearest point is a formula: p pairs 0 ≤ λ ⊥ η ≥ 0, groups of such pairs
that a free gap φ switches, and bounds y ≤ 0. Y is not convex, so what it finds is a start for others, who
know which of each pair is zero: `taction.planning.consensus`.

Notation: rows of y: λ (p), η (p), φ (c), bounds (r); ρ_j the penalty at level j, D = diag of weights of the
rows; z scaled multipliers; P_j = (H + ρ_j Kᵀ D K)⁻¹.

Method, `ROUNDS` times at each level, the penalty growing from level to level so that the two parts are
forced to agree:

    w ← P_j (−g + ρ_j Kᵀ D (y − z − k)),    y ← nearest point of Y to K w + k + z,    z ← z + K w + k − y.

Departures: none of the pairs is projected together with others, since η is a row of its own; the projection
is then one comparison per pair.

Cost: n² + 2 n (2 p + c + r) products per iteration.

References: [BoydADMM2011]; [AydinogluWeiHuangPosa2024] for complementarity by consensus; [BuiPosa2025] for
slacks as rows of their own.
"""

from __future__ import annotations

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints

ROUNDS = 10


class ConsensusProgram(Layout):
    """A program (1), with P_j for each of its levels."""

    g: Array = floats("n", "first derivatives of the cost at zero")
    P: Array = floats("e, n, n", "P_j of the module text")
    penalty: Array = floats("e", "ρ_j")
    K: Array = floats("t, n", "rows")
    k: Array = floats("t", "their constants")
    weight: Array = floats("t", "diagonal of D")
    guard: IntArray = ints("p", "number of the free gap that switches each pair, −1 for none")


class ConsensusScratch(Layout):
    """Memory of the method, and its answer."""

    w: Array = floats("n", "unknowns")
    rhs: Array = floats("n", "what P is multiplied with")
    t: Array = floats("t", "K w + k + z")
    y: Array = floats("t", "the point of Y")
    z: Array = floats("t", "scaled multipliers")
    share: Array = floats("2*c", "what it would cost each free gap to be closed, and to be open")


@inline_kernel
def pair_cost(a, b):
    """Squared distance of (a, b) from 0 ≤ λ ⊥ η ≥ 0."""
    x, y = min(a, 0.0), min(b, 0.0)
    return x * x + b * b if a > b else a * a + y * y


@kernel
def project(program, ws):
    """The point of Y nearest to ws.t into ws.y."""
    p, t, y = program.guard.shape[0], ws.t, ws.y
    c = ws.share.shape[0] // 2
    for i in range(c):
        gap = t[2 * p + i]
        ws.share[i], ws.share[c + i] = max(gap, 0.0) ** 2, min(gap, 0.0) ** 2
    for i in range(p):
        if program.guard[i] >= 0:
            ws.share[program.guard[i]] += pair_cost(t[i], t[p + i])
            ws.share[c + program.guard[i]] += t[i] * t[i]
    for i in range(p):
        j = program.guard[i]
        if j >= 0 and ws.share[c + j] < ws.share[j]:
            y[i], y[p + i] = 0.0, t[p + i]
        elif t[i] > t[p + i]:
            y[i], y[p + i] = max(t[i], 0.0), 0.0
        else:
            y[i], y[p + i] = 0.0, max(t[p + i], 0.0)
    for i in range(c):
        is_open = ws.share[c + i] < ws.share[i]
        y[2 * p + i] = max(t[2 * p + i], 0.0) if is_open else min(t[2 * p + i], 0.0)
    for i in range(2 * p + c, t.shape[0]):
        y[i] = min(t[i], 0.0)


@kernel
def seek_consensus(program, ws):
    """Iterate from y and z in ws; unknowns into ws.w, the point of Y into ws.y; returns ‖K w + k − y‖∞."""
    n, rows = program.g.shape[0], program.k.shape[0]
    apart = 0.0
    for level in range(program.penalty.shape[0]):
        rho = program.penalty[level]
        for _ in range(ROUNDS):
            for j in range(n):
                ws.rhs[j] = -program.g[j]
            for i in range(rows):
                f = rho * program.weight[i] * (ws.y[i] - ws.z[i] - program.k[i])
                for j in range(n):
                    ws.rhs[j] += f * program.K[i, j]
            for j in range(n):
                s = 0.0
                for m in range(n):
                    s += program.P[level, j, m] * ws.rhs[m]
                ws.w[j] = s
            for i in range(rows):
                s = program.k[i] + ws.z[i]
                for j in range(n):
                    s += program.K[i, j] * ws.w[j]
                ws.t[i] = s
            project(program, ws)
            apart = 0.0
            for i in range(rows):
                apart = max(apart, abs(ws.t[i] - ws.z[i] - ws.y[i]))
                ws.z[i] = ws.t[i] - ws.y[i]
        if level + 1 < program.penalty.shape[0]:
            shrink = rho / program.penalty[level + 1]
            for i in range(rows):
                ws.z[i] *= shrink
    return apart
