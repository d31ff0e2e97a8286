"""The best plan of one contact mode, with inputs as its only unknowns.

What it solves: a `taction.planning.program.Program` in which each pair is *open*, λ = 0 ≤ η, or *closed*,
λ ≥ 0 = η, and each contact with a guard *away*, λ = 0 and φ ≥ 0 whatever η, or not, φ ≤ 0.

Notation: c closed pairs, o open ones; S_cc, S_cu the columns of λ_c and of the inputs u in the rows of η_c.

Method: λ_o = 0, and η_c = 0 gives λ_c = T u + t + Z y with T = −S_cc⁺ S_cu, t = −S_cc⁺ s_c. S_cc is regular
most of the time; then there is no y. Where it is not, as with feet that share a load in many ways, the
columns of Z span its null space, and those of N that of its transpose: Nᵀ (S_cu u + s_c) = 0 is left as
equations. What remains is a quadratic program in (u, y), with λ_c ≥ 0, η_o ≥ 0 and the bounds as its rows.

Multipliers of the pairs' equations follow from where the cost does not change: with σ its slope less what the
rows hold, and ν the multipliers of the equations, those of η_c = 0 are μ = S_cc⁺ᵀ σ_c + N ν, and those of
λ_o = 0 what is left, σ_o − S_coᵀ μ.

`taction.planning.program.solve_mode` solves the same with closed λ as unknowns and η_c = 0 as equations, and
is the reference for this. `taction.solvers.mode_program` is this for regular S_cc, compiled.

Cost: c³ for T, c (N m) per row, (N m)³ for the program.

References: [LuoPangRalph1996] for pieces of such programs; [GoldfarbIdnani1983] for the program in u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.planning.program import ModeAnswer, Program
from taction.solvers.quadratic_program import Status, solve_quadratic_program

SINGULAR = 1e-9  # of singular values, relative to the largest: below is zero
MISSED = 1e-9  # by which a row without unknowns may be missed, relative to the slacks


class _Elimination(NamedTuple):
    """What the closed pairs give."""

    T: Array  # (c, N m)
    t: Array  # (c,)
    Z: Array  # (c, k)
    N: Array  # (c, k)
    inverse: Array  # S_cc⁺, (c, c)


def best_of_mode(
    program: Program, inputs: IntArray, is_open: np.ndarray, is_away: np.ndarray | None = None
) -> ModeAnswer:
    """The best unknowns of a mode; inputs (N m,): their places among the unknowns.

    is_open (p,): which pairs; is_away (k,): which contacts with a guard, None where there are none.
    """
    counts, sign = np.ones(len(program.pairs), dtype=bool), np.zeros(0)
    if len(program.gamma):
        assert is_away is not None
        counts = (program.guard < 0) | ~is_away[program.guard]
        sign = np.where(is_away, 1.0, -1.0)
    closed, rising = np.flatnonzero(~is_open & counts), np.flatnonzero(is_open & counts)
    at, m = program.pairs[closed], len(inputs)
    e = _eliminate(program.S[closed], program.s[closed], inputs, at)
    whole, rest = np.zeros((len(program.g), m + e.Z.shape[1])), np.zeros(len(program.g))
    whole[inputs, np.arange(m)] = 1.0  # w = whole (u, y) + rest
    whole[at], rest[at] = np.hstack([e.T, e.Z]), e.t
    left = np.vstack([program.S[rising], -program.A, sign[:, None] * program.G])
    least = np.concatenate([-program.s[rising], -program.b, -sign * program.gamma]) - left @ rest
    equations = np.zeros((e.N.shape[1], whole.shape[1]))
    equations[:, :m] = e.N.T @ program.S[closed][:, inputs]
    rows = np.vstack([equations, whole[at], left @ whole])
    values = np.concatenate([-e.N.T @ program.s[closed], -e.t, least])
    size = float(np.abs(program.s).max(initial=0.0))
    used = np.abs(rows).max(axis=1, initial=0.0) > 1e-14 * float(np.abs(program.S).max(initial=0.0))
    lost = np.where(np.arange(len(values)) < len(equations), np.abs(values), values)[~used]
    blank = ModeAnswer(np.zeros(len(program.g)), np.inf, np.zeros(len(is_open)), Status.INFEASIBLE)
    if (lost > MISSED * (1.0 + size)).any():
        return blank
    HW = program.H @ whole
    answer = solve_quadratic_program(
        whole.T @ HW, whole.T @ program.g + HW.T @ rest, rows[used], values[used],
        equations=int(used[: len(equations)].sum()),
    )  # fmt: skip
    if answer.status is not Status.SOLVED:
        return blank._replace(status=answer.status)
    w, force = whole @ answer.x + rest, np.zeros(len(values))
    force[used] = answer.multipliers
    return ModeAnswer(w, program.value(w), _multipliers(program, w, force, left, closed, e), Status.SOLVED)


def _eliminate(S: Array, s: Array, inputs: IntArray, at: IntArray) -> _Elimination:
    """T, t, Z, N and the inverse, from the rows of the closed pairs (c, n) and their constants (c,)."""
    own, none = S[:, at], np.zeros((len(at), 0))
    try:
        exact = np.asarray(np.linalg.inv(own), dtype=np.float64)
        is_regular = not len(at) or np.abs(exact).max() * np.abs(own).max() * SINGULAR < 1.0
    except np.linalg.LinAlgError:
        is_regular = False
    if is_regular:
        return _Elimination(-exact @ S[:, inputs], -exact @ s, none, none, exact)
    left, sizes, right = np.linalg.svd(own)
    k = int((sizes > SINGULAR * sizes[0]).sum())
    inverse: Array = (right[:k].T / sizes[:k]) @ left[:, :k].T
    return _Elimination(-inverse @ S[:, inputs], -inverse @ s, right[k:].T, left[:, k:], inverse)


def _multipliers(
    program: Program, w: Array, force: Array, left: Array, closed: IntArray, e: _Elimination
) -> Array:
    """Multipliers (p,) of the pairs' equations, from those of the rows: equations, λ_c ≥ 0, then ``left``."""
    k, c = e.N.shape[1], len(closed)
    slope = program.H @ w + program.g - force[k + c :] @ left
    slope[program.pairs[closed]] -= force[k : k + c]
    own = e.inverse.T @ slope[program.pairs[closed]] + e.N @ force[:k]
    out = slope[program.pairs] - own @ program.S[closed][:, program.pairs]
    out[closed] = own
    return out
