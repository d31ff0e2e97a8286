"""Newton's method for a problem that may have no solution: rows give way a little.

What it solves: the correction of positions. A loop and the stops of its joints may ask for what cannot be
had together; W is singular there, impulses grow without bound and no method comes to an end. With the same
compliance ε at every row the laws hold between Λ and u + ε Λ: that has one solution, near those of the
problem if there are any, and else one in which the rows that contradict each other share what is left.

Method: one proximal problem of `taction.solvers.newton`, around zero, from the guess.

References: [Tikhonov1963]; [Rockafellar1976].
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.solvers.newton import newton_steps, refresh, unload
from taction.solvers.newton_memory import BLOCKS, CENTRE, COMPONENTS, IMPULSE, RECORDED, TOTAL, VELOCITY

DECREASE = 1e-6  # fraction of ‖F‖ to which it is solved


@kernel
def solve_softly(goal, alpha, limit, ws, r_out, history_io):
    """Solve what `load` put in with the compliance α, relative to W; r_out (3k,) as the problem has them.

    goal: residual of the whole below which compliance is of no interest; limit: Newton steps per component.
    Returns Newton steps.
    """
    v, component, k = ws.vectors, ws.component, ws.count[BLOCKS]
    r, u = v[IMPULSE], v[VELOCITY]
    refresh(0, k, r, ws, u)
    ws.record[RECORDED] = ws.record[TOTAL] = 0.0
    for c in range(3 * k):
        v[CENTRE, c] = 0.0
    steps = 0
    for n in range(ws.count[COMPONENTS]):
        first, last = component[n], component[n + 1]
        share = goal * math.sqrt((last - first) / k)
        used, _, _ = newton_steps(first, last, alpha, share, DECREASE, limit, ws, r, u, history_io)
        steps += used
    unload(ws, r_out)
    return steps
