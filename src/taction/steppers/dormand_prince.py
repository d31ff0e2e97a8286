"""Dormand and Prince's embedded Runge–Kutta pair of orders 5 and 4, with step-size control.

One call advances by exactly h, in as many inner steps s as the tolerance asks for.

Notation: a_ij, b_i coefficients of the order-5 formula, e_i = b_i − b̂_i those of its error estimate; y =
(q, v).

Method
1. k_i = f(y + s Σ_j a_ij k_j), seven stages, the last at the new state.
2. err = rms over all coordinates of  s Σ e_i k_i / (atol + rtol · max(|y|, |y⁺|)).
3. Accept if err ≤ 1; next s ← s · clip(0.9 err^(−1/5), 0.2, 5), not beyond the end of the call.

Quaternions as in `taction.steppers.runge_kutta4`. The first inner step of a call is all of h: nothing is
carried from call to call, so that a run restarts from (q, v) alone.

Departures: the seventh slope is not reused for the next inner step, because normalising quaternions moves
the state.

Cost: seven forward dynamics per inner step.

References: [DormandPrince1980, Table 2]; [HairerNorsettWanner1993, Table II.5.2 and Section II.4].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taction._core.arrays import Array, frozen
from taction._core.jit import kernel
from taction.kinematics.configuration import normalize_configuration
from taction.steppers.base import Integrator
from taction.steppers.plant import STAGES, Plant, Scratch
from taction.steppers.runge_kutta4 import slope

A = np.zeros((STAGES, STAGES))
A[1, :1] = [1 / 5]
A[2, :2] = [3 / 40, 9 / 40]
A[3, :3] = [44 / 45, -56 / 15, 32 / 9]
A[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
A[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
A[6, :6] = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
TABLEAU = frozen(A)
ERROR_WEIGHTS = frozen(
    [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
)
# An inner step below this fraction of the call is rounding, not progress.
SMALLEST = 1e-10


@kernel
def stage_state(q, v, s, stage, ws):
    """Step 1: set the trial state (ws.q, ws.v) of a stage from q (nq,), v (nv,) and the earlier slopes."""
    for k in range(q.shape[0]):
        ws.q[k] = q[k]
        for j in range(stage):
            ws.q[k] += s * TABLEAU[stage, j] * ws.kq[j, k]
    for k in range(v.shape[0]):
        ws.v[k] = v[k]
        for j in range(stage):
            ws.v[k] += s * TABLEAU[stage, j] * ws.kv[j, k]


@kernel
def squared_error(y, y_new, slopes, s, rtol, atol):
    """Step 2: sum over coordinates of the scaled squared error; y, y_new (n,), slopes (7, n)."""
    total = 0.0
    for k in range(y.shape[0]):
        e = 0.0
        for j in range(STAGES):
            e += ERROR_WEIGHTS[j] * slopes[j, k]
        e *= s / (atol + rtol * max(abs(y[k]), abs(y_new[k])))
        total += e * e
    return total


@kernel
def dormand_prince_step(plant, tau, h, rtol, atol, ws, q_io, v_io):
    """Advance q_io (nq,), v_io (nv,) by h with inner steps; returns a StepStatus."""
    done = 0.0
    s = h
    while done < h:
        s = min(s, h - done)
        status = 0
        for stage in range(STAGES):
            stage_state(q_io, v_io, s, stage, ws)
            status += slope(plant, tau, stage, ws)
        if status != 0:
            return 1
        # the last stage sits at the new state
        total = squared_error(q_io, ws.q, ws.kq, s, rtol, atol) + squared_error(
            v_io, ws.v, ws.kv, s, rtol, atol
        )
        err = math.sqrt(total / (q_io.shape[0] + v_io.shape[0]))
        if err <= 1.0:
            done = h if h - done <= s else done + s
            for k in range(q_io.shape[0]):
                q_io[k] = ws.q[k]
            for k in range(v_io.shape[0]):
                v_io[k] = ws.v[k]
            normalize_configuration(plant.tree, q_io)
        if err > 1e-12:
            s *= min(5.0, max(0.2, 0.9 * err**-0.2))
        elif err >= 0.0:
            s *= 5.0
        else:  # not a number: the trial state was far out of range
            s *= 0.2
        if not err <= 1.0 and s < SMALLEST * h:
            return 3
    return 0


@dataclass(frozen=True)
class DormandPrince(Integrator):
    """Adaptive Runge–Kutta 5(4).

    Attributes:
        rtol: relative tolerance per inner step, 1e-13 to 1e-3.
        atol: absolute tolerance per inner step [m, rad, m/s, rad/s].
    """

    order: ClassVar[int] = 5
    summary: ClassVar[str] = "order 5 with error control, for reference solutions"

    rtol: float = 1e-9
    atol: float = 1e-11

    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance by h; see `Integrator.step`."""
        return dormand_prince_step(plant, tau, h, self.rtol, self.atol, ws, q_io, v_io)
