"""A program with complementarity as a mixed-integer quadratic program: binaries say which of a pair vanishes.

What it makes: of `taction.planning.program.Program`, with one binary z per pair, one binary a per guard, and
bounds M of `taction.planning.big_m`,

    min ½ wᵀ H w + gᵀ w + const        over y = (w, z, a),   z, a binary,
    with  0 ≤ λ ≤ M_λ z,      0 ≤ η ≤ M_η (1 − z),      A w ≤ b,                                        (1)

and on the level of velocities, for a contact that is away where a = 1,

    −Φ₋ (1 − a) ≤ φ ≤ Φ₊ a,     z ≤ 1 − a,     −L a ≤ η ≤ M_η (1 − z) + L₊ a.                           (2)

z = 1 is a closed pair, z = 0 an open one. Rows are divided by their bounds: all binaries have one size.

Departures: none.

Cost: a copy of the rows per start.

References: [BemporadMorari1999].
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.planning.big_m import Bounds
from taction.planning.program import Program

INFINITE = 1e30  # what solvers take for no bound


class MixedProgram(NamedTuple):
    """Program (1), (2): low ≤ rows · y ≤ high, and least ≤ y ≤ most."""

    program: Program
    rows: Array  # (r, n)
    low: Array  # (r,)
    high: Array  # (r,)
    least: Array  # (n,)
    most: Array  # (n,)
    binaries: int  # the last of the unknowns are binary: z, then a


class Modes(NamedTuple):
    """Which pairs are open (p,), and which contacts away (k,)."""

    is_open: np.ndarray
    is_away: np.ndarray


class Ending(Enum):
    """How a branch and bound ended."""

    DONE = "done"
    LIMIT = "limit"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


class Branched(NamedTuple):
    """What a branch and bound found."""

    ending: Ending
    point: Array | None  # the best y, if any
    bound: float  # of the program's value, −∞ if nothing is known
    nodes: int
    message: str = ""


def mixed_program(program: Program, bounds: Bounds) -> MixedProgram:
    """The mixed-integer program with bounds of all pairs (p,) and guards (k,) of the horizon."""
    n, p, k = len(program.g), len(program.pairs), len(program.gamma)
    size = n + p + k
    guarded = np.flatnonzero(program.guard >= 0)
    owner = n + p + program.guard[guarded]
    one = np.arange(p)

    press = np.zeros((p, size))  # λ / M − z ≤ 0
    press[one, program.pairs] = 1.0 / bounds.contact
    press[one, n + one] = -1.0
    lift = np.zeros((p, size))  # η / M + z − (L₊ / M) a ≤ 1
    lift[:, :n] = program.S / bounds.slack[:, None]
    lift[one, n + one] = 1.0
    lift[guarded, owner] = -bounds.away_high[guarded] / bounds.slack[guarded]
    stay = np.zeros((p, size))  # η + L a ≥ 0
    stay[:, :n] = program.S
    stay[guarded, owner] = bounds.away_low[guarded]
    either = np.zeros((len(guarded), size))  # z + a ≤ 1
    either[np.arange(len(guarded)), n + guarded] = 1.0
    either[np.arange(len(guarded)), owner] = 1.0
    rise, fall = np.zeros((k, size)), np.zeros((k, size))  # φ / Φ₊ − a ≤ 0,  −φ / Φ₋ + a ≤ 1
    rise[:, :n] = program.G / bounds.gap_high[:, None]
    rise[np.arange(k), n + p + np.arange(k)] = -1.0
    fall[:, :n] = -program.G / bounds.gap_low[:, None]
    fall[np.arange(k), n + p + np.arange(k)] = 1.0
    given = np.zeros((len(program.b), size))
    given[:, :n] = program.A

    rows = np.vstack([press, lift, stay, either, rise, fall, given])
    high = np.concatenate([
        np.zeros(p), 1.0 - program.s / bounds.slack, np.full(p, INFINITE), np.ones(len(guarded)),
        -program.gamma / bounds.gap_high, 1.0 + program.gamma / bounds.gap_low, program.b,
    ])  # fmt: skip
    low = np.full(len(rows), -INFINITE)
    low[2 * p : 3 * p] = -program.s
    least, most = np.full(size, -INFINITE), np.full(size, INFINITE)
    least[program.pairs], least[n:], most[n:] = 0.0, 0.0, 1.0
    return MixedProgram(program, rows, low, high, least, most, p + k)


def as_modes(program: Program, binary: Array) -> Modes:
    """Modes of binaries (p + k,), rounded."""
    p = len(program.pairs)
    return Modes(binary[:p] < 0.5, binary[p:] > 0.5)


def as_point(w: Array, modes: Modes) -> Array:
    """The point (w, z, a) of unknowns w in a mode."""
    return np.concatenate([w, ~modes.is_open, modes.is_away]).astype(float)
