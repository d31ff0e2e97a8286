"""Whole-body control: time of one program with its tasks, of a humanoid and of a quadruped.

What is timed is `WholeBody.solve` from Python: kinematics and dynamics of the robot, tasks, posing the
program, and its solution, at states about the stance, with all feet on the ground or one in the air, and
accelerations that are wanted of centre of mass, base and feet. Mean over the states, of the best of several
rounds each; the largest residual of the conditions of a minimum beside it.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput, UnsupportedFeatureWarning
from taction.control.walking.base import base_of
from taction.control.walking.soles import sole
from taction.control.whole_body import WholeBody
from taction.kinematics.configuration import integrate
from taction.model.model import Model
from taction.robots.bipeds import biped
from taction.robots.walkers import walker

STATES = 40
LIMIT = 1000.0  # µs


def bench_whole_body(rounds: int) -> list[dict[str, Any]]:
    """Rows of `taction bench step`: time of a whole-body program."""
    rows = []
    for name in ("g1", "document"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnsupportedFeatureWarning)
                model, stance, feet = _robot(name)
        except BadInput:  # its files are not installed
            continue
        rows.append(_row(name, model, stance, feet, rounds))
    return rows


def _robot(name: str) -> tuple[Model, Array, tuple[str, ...]]:
    if name == "document":
        four = walker(name)
        return four.model, four.stance, tuple(leg.name for leg in four.legs)
    two = biped(name)
    return two.model, two.stance, two.feet


def _row(name: str, model: Model, stance: Array, feet: tuple[str, ...], rounds: int) -> dict[str, Any]:
    base, rng = base_of(model).body, np.random.default_rng(0)
    body = WholeBody(model, {foot: sole(model, foot, stance) for foot in feet}, frames=(base,))
    times, residual = [], 0.0
    for k in range(STATES):
        q = integrate(model, stance, 0.03 * rng.normal(size=model.nv))
        v, up = 0.1 * rng.normal(size=model.nv), feet[k % len(feet)] if k % 2 else None
        wanted = {base: (rng.normal(size=3), None)} | ({up: (None, 5.0 * rng.normal(size=3))} if up else {})
        standing, centre = [foot for foot in feet if foot != up], rng.normal(size=3)
        best = np.inf
        for _ in range(rounds):
            begin = time.perf_counter()
            answer = body.solve(q, v, centre=centre, frames=wanted, standing=standing)
            best = min(best, 1e6 * (time.perf_counter() - begin))
        times.append(best)
        residual = max(residual, answer.residual)
    return {
        "case": f"whole-body program, {name}", "ours": float(np.mean(times)), "peer": None, "peer_name": None,
        "unit": "µs", "ratio": None, "limit": LIMIT, "residual": residual, "peer_residual": None,
        "longest": max(times), "nv": model.nv, "states": STATES,
    }  # fmt: skip
