"""Newton's method for piles: one regularised step for all contacts, then sweeps that put right what it upset.

What it solves: the same equations as `taction.solvers.newton`, F(Λ) = 0, for hundreds of contacts of loose
bodies, most of which stick. There more rows stick than bodies have freedoms or almost as many: W is singular
or nearly so (eigenvalues of 10⁻⁵ of the largest in a settling pile of 200 spheres), and which contacts stick,
slide and open cannot be read off a distant point.

Method, on scaled blocks (mean diagonal 1), from a guess:
1. linearise around Λ, with α on the diagonal of W; solve for all components that are not done yet, in the
   space of the bodies (`taction.solvers.body_space`); take the whole step;
2. a few Gauss–Seidel sweeps (`taction.solvers.nsgs`): each contact is solved exactly, so that those which the
   linear step left outside their cones, or on the wrong branch, change over;
3. keep the new point if its residual has not grown to more than `WORSE` of the old one, and lower α, by more
   where the residual fell a lot; else go back and raise α, in the manner of Levenberg and Marquardt.

No line search: the residual is no measure of distance here, and along flat directions it may well grow before
it falls. Converges in one to four steps from the impulses of the step before where bodies are at rest, in
about ten while they fall; where a pile settles, one may have to go on with `taction.solvers.newton`, whose
proximal rounds wander further. The best point met is kept.

Cost per step: one factorisation of the bodies, and the sweeps. 500 contacts of 200 spheres: 4 ms, and 0.1 ms
per sweep.

References: [AlartCurnier1991] for the equations; [JourdanAlartJean1998] for the sweeps; [NocedalWright2006,
Section 10.3] for the weight.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.solvers.alart_curnier import linearise
from taction.solvers.newton import refresh, scaled_rows, solve_linear, unscaled_residual
from taction.solvers.newton_memory import (
    BLOCKS,
    COMPONENTS,
    IMPULSE,
    PREVIOUS,
    RESIDUAL,
    STEP,
    TRIAL,
    TRIAL_U,
    VELOCITY,
)
from taction.solvers.nsgs import sweep

ALPHA_LEAST, ALPHA_MOST = 1e-9, 10.0
WORSE, GOOD = 2.0, 0.3  # a residual that is kept, and one that fell a lot, relative to the one before
QUICK, SHRINK, GROW = 0.1, 0.3, 10.0  # of the weight


@kernel
def newton_direction(goal, alpha, ws):
    """Method 1 at the impulses and velocities in ws, into STEP of its vectors; whether all were solved."""
    v, component, k = ws.vectors, ws.component, ws.count[BLOCKS]
    r, u = v[IMPULSE], v[VELOCITY]
    linearise(ws.rows, 0, k, alpha, ws.level, r, r, u, ws.jacobian, ws.is_identity, v[RESIDUAL])
    for c in range(3 * k):
        v[STEP, c] = -v[RESIDUAL, c]
    for n in range(ws.count[COMPONENTS]):
        first, last = component[n], component[n + 1]
        if first == last:
            continue
        if unscaled_residual(first, last, r, u, ws) <= goal * math.sqrt((last - first) / k):
            for c in range(3 * first, 3 * last):
                v[STEP, c] = 0.0
        elif solve_linear(first, last, alpha, ws, v[STEP]):
            return False
    return True


@kernel
def damped_newton(goal, alpha, limit, sweeps, ws, history_out):
    """Solve what `taction.solvers.newton.load_scaled` put in; returns (steps, residual) of the best point.

    goal: residual; alpha: first weight; limit: of steps; sweeps: after each of them. history_out (limit,).
    """
    v = ws.vectors
    r, u, best = v[IMPULSE], v[VELOCITY], v[PREVIOUS]
    n, rows = 3 * ws.count[BLOCKS], scaled_rows(ws)
    error = refresh(0, n // 3, r, ws, u)
    least, steps = error, 0
    for c in range(n):
        best[c] = r[c]
    while least > goal and steps < limit:
        new = math.inf
        if newton_direction(goal, alpha, ws):
            for c in range(n):
                v[TRIAL, c] = r[c] + v[STEP, c]
            for _ in range(sweeps):
                sweep(rows, 1.0, v[TRIAL])
            new = refresh(0, n // 3, v[TRIAL], ws, v[TRIAL_U])
        history_out[steps] = new
        steps += 1
        if not new < WORSE * error:
            alpha = min(GROW * alpha, ALPHA_MOST)
            continue
        alpha = max((QUICK if new < GOOD * error else SHRINK) * alpha, ALPHA_LEAST)
        error = new
        for c in range(n):
            r[c], u[c] = v[TRIAL, c], v[TRIAL_U, c]
        if error < least:
            least = error
            for c in range(n):
                best[c] = r[c]
    for c in range(n):
        r[c] = best[c]
    return steps, least
