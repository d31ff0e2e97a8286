"""Routh's construction: an impact of one point in a plane, followed through its impulses.

Normal impulse grows; Coulomb's friction opposes the slip of each instant; where slip stops it stays zero if
the cone allows it, and else goes on the other way. Compression ends where the normal velocity vanishes, and
expansion, by Poisson's law, when the share e of the normal impulse has come back.
"""

from __future__ import annotations

import numpy as np


def follow(W: np.ndarray, b: np.ndarray, mu: float, e: float) -> tuple[np.ndarray, list[float]]:
    """Impulses (normal, tangential) for u = W Λ + b; and for each phase how many times slip turned round."""
    L, u = np.zeros(2), np.array(b, dtype=float)
    slip, turned, goal, phase = float(np.sign(b[1])), [0, 0], np.inf, 0
    if slip == 0.0:
        slip = _after_a_stop(W, mu)
    while True:
        way = np.array([1.0, -slip * mu if slip else -W[0, 1] / W[1, 1]])
        du = W @ way
        until = (-u[0] / du[0] if du[0] > 0.0 else np.inf) if phase == 0 else goal - L[0]
        stops = -u[1] / du[1] if slip and slip * du[1] < 0.0 and slip * u[1] > 0.0 else np.inf
        if not np.isfinite(min(until, stops)):
            raise ValueError("it jams")
        L = L + min(until, stops) * way
        u = W @ L + b
        if stops < until:
            last, slip, u[1] = slip, _after_a_stop(W, mu), 0.0
            turned[phase] += slip == -last
        elif phase == 0:
            phase, goal = 1, (1.0 + e) * L[0]
        else:
            return L, turned


def _after_a_stop(W: np.ndarray, mu: float) -> float:
    """Which way it slips after slip has stopped: 0 where the cone holds it."""
    hold = -W[0, 1] / W[1, 1]
    return 0.0 if abs(hold) <= mu else float(-np.sign(hold))
