"""Mixed-integer programs of contacts by SCIP.

What it solves: the program of `taction.planning.mixed_program`.

Method: with H = L Lᵀ and v = Lᵀ w + L⁻¹ g the cost is a sum of squares, ½ |v|² − ½ |L⁻¹ g|² + const. SCIP's
objective is linear, so each square has its own variable, t_i ≥ ½ v_i², and Σ t_i is the least: many small
cones are cut off by tangents better than one large. SCIP branches, cuts and presolves; its dual bound is a
proof up to its tolerances. A plan nearby is added as a solution before it starts.

Departures: costs are scaled to `SIZE`, since SCIP's tolerances are absolute.

Cost: linear programs in hundreds; about half a second for 12 binaries of two pushers.

References: [Bolusani2024].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.mixed_program import INFINITE, Branched, Ending, MixedProgram

ENDINGS = {
    "optimal": Ending.DONE,
    "gaplimit": Ending.DONE,
    "timelimit": Ending.LIMIT,
    "infeasible": Ending.INFEASIBLE,
}
FEWEST = 1e-12  # entries of a row that are left out, relative to its largest
SIZE = 100.0  # of costs, of a plan nearby or of doing nothing
TINY = 1e-6  # costs that are none, of the mean diagonal of H
ACCURACY = 1e-7  # to which rows and squares are obeyed; SoPlex cannot do with a thousandth of less


def branch(
    mixed: MixedProgram, gap: float, absolute: float, time_limit: float, start: Array | None
) -> Branched:
    """The best point up to a relative gap, or an absolute one; start (n,): a point that obeys all rows.

    Raises:
        BadInput: PySCIPOpt is not installed.
    """
    try:
        from pyscipopt import Model, quicksum
    except ImportError:
        raise BadInput("planner miqp with solver scip needs SCIP: pip install 'taction[planning]'") from None
    program, size, n = mixed.program, len(mixed.least), len(mixed.program.g)
    L = np.linalg.cholesky(program.H)
    shift = solve_triangular(L, program.g, lower=True)
    floor = program.constant - 0.5 * float(shift @ shift)  # the cost without rows
    worth = program.constant if start is None else program.value(start[:n])
    scale = SIZE / max(worth, TINY * float(np.diag(program.H).mean()))

    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", gap)
    model.setParam("limits/absgap", absolute)
    model.setParam("numerics/feastol", ACCURACY)
    model.setParam("parallel/maxnthreads", 1)
    if math.isfinite(time_limit):
        model.setParam("limits/time", time_limit)

    def end(value: float) -> float | None:
        return None if abs(value) >= INFINITE else float(value)

    y = [
        model.addVar(
            vtype="B" if i >= size - mixed.binaries else "C", lb=end(mixed.least[i]), ub=end(mixed.most[i])
        )
        for i in range(size)
    ]
    v = [model.addVar(lb=None) for _ in range(n)]
    t = [model.addVar(lb=0.0) for _ in range(n)]

    def sum_of(row: Any) -> Any:
        return quicksum(
            float(row[i]) * y[i] for i in np.flatnonzero(np.abs(row) > FEWEST * np.abs(row).max(initial=0.0))
        )

    for row, low, high in zip(mixed.rows, mixed.low, mixed.high, strict=True):
        if high < INFINITE:
            model.addCons(sum_of(row) <= float(high))
        if low > -INFINITE:
            model.addCons(sum_of(row) >= float(low))
    root = math.sqrt(0.5 * scale)
    for i in range(n):
        model.addCons(root * sum_of(L[:, i]) + root * float(shift[i]) == v[i])
        model.addCons(v[i] * v[i] <= t[i])
    model.setObjective(quicksum(t) + scale * floor, "minimize")
    if start is not None:
        _add_start(model, start, y, v, t, root * (L.T @ start[:n] + shift))
    model.optimize()

    ending = ENDINGS.get(model.getStatus(), Ending.FAILED)
    point = None
    if model.getNSols() > 0:
        best = model.getBestSol()
        point = np.array([model.getSolVal(best, one) for one in y])
    bound = -np.inf if ending is Ending.INFEASIBLE else model.getDualbound() / scale
    message = f"SCIP ended with {model.getStatus()}" if ending is Ending.FAILED else ""
    return Branched(ending, point, bound, int(model.getNTotalNodes()), message)


def _add_start(model: Any, start: Array, y: list, v: list, t: list, roots: Array) -> None:
    """A point as SCIP's first solution; it is dropped if SCIP finds that it does not obey a row."""
    first = model.createSol()
    for one, value in zip([*y, *v, *t], [*start, *roots, *(roots * roots)], strict=True):
        model.setSolVal(first, one, float(value))
    model.addSol(first)
