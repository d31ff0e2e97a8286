"""Mixed-integer programs of contacts by the branch and bound of DAQP.

What it solves: the program of `taction.planning.mixed_program`.

Notation: y = (w, z, a), z and a binary; f the value of the best point so far; f₀ the least value without any
rows; ρ what DAQP calls its relative gap.

Method: depth first, each node a quadratic program by a dual active-set method that starts from the active
rows of its parent. The first binary that is not whole, in the order of the steps, is branched on. DAQP
measures values from f₀ and leaves a node whose value there exceeds (f − f₀) / (1 + ρ). So at the end no point
costs less than

    f − (f − f₀) ρ / (1 + ρ) − δ,                                                                       (1)

δ the absolute gap. ρ is the gap that is asked for. If (1) is further from f than that, the search is done
again with the ρ that leads there, from the point that was found.

A plan nearby is a first f: it is handed over as `primal_start`, which DAQP takes as an incumbent if it obeys
all rows.

Departures
- H must be positive definite, so each binary costs ε (z − ½)², which is the same at 0 and 1. Inside it makes
  bounds weaker: over 10 steps of two pushers the longest of 25 searches took 2295 nodes with ε = 1e-3 of the
  mean diagonal of H, and 100411 with 1e-2. f₀ is less by ε/8 a binary. Where the first plan costs little, ε
  is less, so that this stays a hundredth of that cost; near a target not even `LEAST` is little enough, and
  nearly all modes are visited: loops need a limit of time.
- With its binaries fixed a node has no interior: λ ≤ M z and λ ≥ 0 leave one point. Rows obeyed more tightly
  than rounding allows make DAQP call it infeasible, and plans are lost. Against enumeration, 150 starts
  between two walls: rows to 1e-8 lost 101 plans, to 1e-7 8, from 3e-7 to 1e-5 none; two pushers with ε = 1e-6
  and rows to 1e-8 lost 14 of 40. So rows are coarse here; modes are solved exactly afterwards. A program
  without a point is searched once more with coarser rows before that is believed.
- Rows that follow from others have pivots of rounding; with DAQP's own limit for them, 1e-11, it cycled in 11
  of 120 short plans on the level of velocities, with `SINGULAR` in none.
- Costs are scaled, since DAQP's pivots are absolute: with friction the search failed where the mean diagonal
  was 1e-4 and lost plans where it was 1e10; from 1e-2 to 1e8 all was well.

Cost: the nodes are up to twice the modes; each some rows in and out, O(n²) a row.

References: [ArnstromBemporadAxehill2022] for the method; [ArnstromAxehill2023] for its branch and bound.
"""

from __future__ import annotations

import math
import time

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.mixed_program import Branched, Ending, MixedProgram

MEAN = 100.0  # to which the diagonal of H is scaled
EPSILON = 1e-3  # of it
SHARE = 0.01  # of the cost of the first point: what relaxed binaries may take off a bound
LEAST = 1e-5  # of it, whatever the cost
ACCURACY = 3e-6  # to which rows are obeyed, divided by their length in the metric of H
SINGULAR = 1e-9  # pivots below this are zero
COARSER = 30.0  # once more, before a program is called infeasible
ROWS_PER_NODE = 100_000  # changes of active rows in a node before it is given up
SHORTEST = 1e-6  # time that is left if none is [s]
BINARY = 16  # DAQP's mark of a row that must be at one of its bounds
OPTIMAL, INFEASIBLE, TIME_LIMIT = 1, -1, -7  # what DAQP says
ENDINGS = {OPTIMAL: Ending.DONE, INFEASIBLE: Ending.INFEASIBLE, TIME_LIMIT: Ending.LIMIT}


def branch(
    mixed: MixedProgram, gap: float, absolute: float, time_limit: float, start: Array | None
) -> Branched:
    """The best point up to a relative gap, or an absolute one; start (n,): a point that obeys all rows.

    Raises:
        BadInput: DAQP is not installed.
    """
    try:
        import daqp
    except ImportError:
        raise BadInput("planner miqp with solver daqp needs DAQP: pip install 'taction[planning]'") from None
    program, size, n = mixed.program, len(mixed.least), len(mixed.program.g)
    scale = MEAN / float(np.diag(program.H).mean())
    epsilon = EPSILON * MEAN
    if start is not None and mixed.binaries:  # a bound that lacks more than the cost would prune nothing
        cost = max(program.value(start[:n]), absolute)
        epsilon = min(epsilon, max(SHARE * cost * 8.0 * scale / mixed.binaries, LEAST * MEAN))
    # binaries come first: DAQP branches in the order of the rows, and its first rows are bounds of unknowns
    order = np.concatenate([np.arange(n, size), np.arange(n)])
    place = np.argsort(order)
    H, g = np.zeros((size, size)), np.zeros(size)
    H[:n, :n], g[:n] = scale * program.H, scale * program.g
    H[range(n, size), range(n, size)], g[n:] = epsilon, -0.5 * epsilon
    sense = np.zeros(size + len(mixed.rows), dtype=np.intc)
    sense[: mixed.binaries] = BINARY
    floor = program.constant - 0.5 * program.g @ np.linalg.solve(program.H, program.g)
    floor -= mixed.binaries * epsilon / 8.0 / scale
    end, relative, accuracy, nodes = time.perf_counter() + time_limit, gap, ACCURACY, 0
    matrix, rows = np.ascontiguousarray(H[np.ix_(order, order)]), np.ascontiguousarray(mixed.rows[:, order])
    high, low = np.append(mixed.most[order], mixed.high), np.append(mixed.least[order], mixed.low)
    while True:
        y, value, flag, info = daqp.solve(
            matrix, g[order], rows, high, low, sense,
            primal_tol=accuracy, rel_subopt=relative, abs_subopt=absolute * scale, eps_prox=0.0,
            iter_limit=ROWS_PER_NODE, sing_tol=SINGULAR,
            time_limit=0.0 if math.isinf(end) else max(end - time.perf_counter(), SHORTEST),
            primal_start=None if start is None else start[order],
        )  # fmt: skip
        nodes += int(info["nodes"])
        ending = ENDINGS.get(flag, Ending.FAILED)
        if ending is Ending.INFEASIBLE and accuracy == ACCURACY:
            accuracy *= COARSER
            continue
        point = None if ending in (Ending.INFEASIBLE, Ending.FAILED) else y[place]
        if ending is not Ending.DONE:
            message = f"DAQP ended with {flag}" if ending is Ending.FAILED else ""
            return Branched(ending, point, -np.inf, nodes, message)
        cost = value / scale + program.constant
        away = (cost - floor) * relative / (1.0 + relative) + absolute
        if away <= gap * abs(cost) + 2.0 * absolute or relative < gap:
            return Branched(ending, point, cost - away, nodes)
        start, relative = point, gap * abs(cost) / (cost - floor)
