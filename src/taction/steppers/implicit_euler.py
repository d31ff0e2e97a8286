"""Implicit Euler: both slopes at the end of the step.

    v⁺ = v + h v̇(q⁺, v⁺),      q⁺ = q ⊕ h v⁺

Order 1, stable for stiff forces, and dissipative: a spring of frequency ω loses the factor 1/√(1 + h²ω²) of
its amplitude per step.

Notation: x = v⁺ the unknown, F(x) = x − v − h v̇(q ⊕ h x, x).

Method
1. Fixed point x ← v + h v̇(q ⊕ h x, x) while it contracts: each correction below 0.5 of the one before.
2. Where it does not, Newton on F with a forward-difference Jacobian (nv + 1 forward dynamics), LU with
pivoting,
   and a step halved until ‖F‖ falls.
Either ends when the largest correction is below tolerance · (1 + max |x|).

Cost: a few forward dynamics per step when step 1 works; O(nv) of them per Newton iteration.

References: [BhargavaReport, Section 3.1], which uses step 1 alone; [HairerLubichWanner2006, Section I.1.2].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from taction._core.arrays import Array
from taction._core.jit import kernel
from taction.kinematics.configuration import integrate_configuration
from taction.math.dense import lu_solve
from taction.steppers.base import Integrator
from taction.steppers.plant import Plant, Scratch, acceleration

# Rows of Scratch.kv
GUESS = 0  # x
STEP = 1  # F(x), then the correction
TRIAL = 2  # F at a trial point
SLOPE = 3  # acceleration
# Largest ratio of successive corrections for which fixed-point iteration goes on: 40 iterations then reach
# 1e-12, about the cost of one Newton iteration of a humanoid.
CONTRACTION = 0.5
# Relative increment of the forward differences: near the square root of the rounding unit.
DIFFERENCE = 1e-7
# Halvings of a Newton step before it is given up.
HALVINGS = 12
# Where rounding in F leaves nothing to descend, a correction within this many tolerances is accepted:
# forward differences with that increment carry seven digits, so Newton gains at least three per iteration.
STALLED = 1e3


@kernel
def largest(x):
    """Largest absolute entry of x (n,); infinity if one is not a number, so that no test passes by it."""
    out = 0.0
    for k in range(x.shape[0]):
        if not abs(x[k]) <= out:
            out = abs(x[k])
        if not out <= math.inf:
            return math.inf
    return out


@kernel
def residual(plant, q, v, tau, h, x, ws, F_out):
    """F(x) into F_out (nv,); x (nv,) is the trial velocity at the end of the step; returns 0 if regular."""
    integrate_configuration(plant.tree, q, x, h, ws.q)
    status = acceleration(plant, ws.q, x, tau, 0.0, ws, ws.kv[SLOPE])
    for k in range(x.shape[0]):
        F_out[k] = x[k] - v[k] - h * ws.kv[SLOPE, k]
    return status


@kernel
def fixed_point(plant, q, v, tau, h, tolerance, limit, ws, x_io):
    """Step 1 on x_io (nv,); returns 0 if converged, 1 if singular, 2 if it does not contract."""
    before = 1e300
    for _ in range(limit):
        if residual(plant, q, v, tau, h, x_io, ws, ws.kv[STEP]) != 0:
            return 1
        change = largest(ws.kv[STEP])
        for k in range(x_io.shape[0]):
            x_io[k] -= ws.kv[STEP, k]
        if change <= tolerance * (1.0 + largest(x_io)):
            return 0
        if not change < CONTRACTION * before:
            return 2
        before = change
    return 2


@kernel
def newton_direction(plant, q, v, tau, h, x, ws, dx_io):
    """Overwrite dx_io = F(x) (nv,) by F′(x)⁻¹ F(x); returns 0 if regular."""
    for j in range(x.shape[0]):
        for k in range(x.shape[0]):
            ws.v[k] = x[k]
        step = DIFFERENCE * (1.0 + abs(x[j]))
        ws.v[j] += step
        if residual(plant, q, v, tau, h, ws.v, ws, ws.kv[TRIAL]) != 0:
            return 1
        for k in range(x.shape[0]):
            ws.jacobian[k, j] = (ws.kv[TRIAL, k] - dx_io[k]) / step
    return lu_solve(ws.jacobian, dx_io)


@kernel
def damped_update(plant, q, v, tau, h, norm, ws, x_io):
    """Move x_io (nv,) against row STEP, halved until ‖F‖ < norm; returns the step length, 0 if none."""
    length = 1.0
    for _ in range(HALVINGS):
        for k in range(x_io.shape[0]):
            ws.v[k] = x_io[k] - length * ws.kv[STEP, k]
        if residual(plant, q, v, tau, h, ws.v, ws, ws.kv[TRIAL]) == 0 and largest(ws.kv[TRIAL]) < norm:
            for k in range(x_io.shape[0]):
                x_io[k] = ws.v[k]
            return length
        length *= 0.5
    return 0.0


@kernel
def newton(plant, q, v, tau, h, tolerance, limit, ws, x_io):
    """Step 2 on x_io (nv,); returns 0 if converged, 1 if singular, 2 if not converged."""
    for _ in range(limit):
        if residual(plant, q, v, tau, h, x_io, ws, ws.kv[STEP]) != 0:
            return 1
        norm = largest(ws.kv[STEP])
        small = tolerance * (1.0 + largest(x_io))
        if norm <= small:
            return 0
        if newton_direction(plant, q, v, tau, h, x_io, ws, ws.kv[STEP]) != 0:
            return 1
        if damped_update(plant, q, v, tau, h, norm, ws, x_io) == 0.0:
            # no descent left: rounding in F, fine if the proposed correction is already negligible
            return 0 if largest(ws.kv[STEP]) <= STALLED * small else 2
    return 2


@kernel
def implicit_euler_step(plant, tau, h, tolerance, limit, newton_limit, ws, q_io, v_io):
    """Advance q_io (nq,), v_io (nv,) by h; returns a StepStatus."""
    for k in range(v_io.shape[0]):
        ws.kv[GUESS, k] = v_io[k]
    status = fixed_point(plant, q_io, v_io, tau, h, tolerance, limit, ws, ws.kv[GUESS])
    if status == 2:
        for k in range(v_io.shape[0]):
            ws.kv[GUESS, k] = v_io[k]
        status = newton(plant, q_io, v_io, tau, h, tolerance, newton_limit, ws, ws.kv[GUESS])
    if status != 0:
        return status
    for k in range(v_io.shape[0]):
        v_io[k] = ws.kv[GUESS, k]
    integrate_configuration(plant.tree, q_io, v_io, h, q_io)
    return 0


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    """Implicit Euler, order 1, for stiff forces.

    Attributes:
        tolerance: largest accepted correction relative to 1 + max |v|, 1e-14 to 1e-6.
        max_iterations: of the fixed point, before Newton takes over.
        max_newton: Newton iterations before the step is reported as not converged.
    """

    order: ClassVar[int] = 1
    summary: ClassVar[str] = "order 1, stable for stiff forces, loses energy"

    tolerance: float = 1e-12
    max_iterations: int = 40
    max_newton: int = 30

    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance by h; see `Integrator.step`."""
        return implicit_euler_step(
            plant, tau, h, self.tolerance, self.max_iterations, self.max_newton, ws, q_io, v_io
        )
