"""The classical Runge–Kutta method of order 4.

With y = (q, v) and ẏ = (q̇(q, v), v̇(q, v)):
    k₁ = f(y),  k₂ = f(y + h/2 k₁),  k₃ = f(y + h/2 k₂),  k₄ = f(y + h k₃),   y⁺ = y + h/6 (k₁ + 2k₂ + 2k₃ +
    k₄)

Quaternions are integrated as four plain numbers with ṗ = ½ p (0, ω) and normalised once at the end: the
exact flow keeps their length, so normalising changes the result by no more than the method's own error.

Cost: four forward dynamics per step.

References: [HairerNorsettWanner1993, Section II.1, Table 1.2].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taction._core.arrays import Array, frozen
from taction._core.jit import kernel
from taction.kinematics.configuration import configuration_rate, normalize_configuration
from taction.steppers.base import Integrator
from taction.steppers.plant import Plant, Scratch, acceleration

NODES = frozen([0.0, 1 / 2, 1 / 2, 1.0])
WEIGHTS = frozen([1 / 6, 1 / 3, 1 / 3, 1 / 6])


@kernel
def slope(plant, tau, stage, ws):
    """Slopes at the trial state (ws.q, ws.v) into row ``stage`` of ws.kq, ws.kv; returns 0 if regular."""
    configuration_rate(plant.tree, ws.q, ws.v, ws.kq[stage])
    return acceleration(plant, ws.q, ws.v, tau, 0.0, ws, ws.kv[stage])


@kernel
def trial_state(q, v, h, stage, ws):
    """Set the trial state (ws.q, ws.v) to (q, v) + h · slope of a stage; q (nq,), v (nv,)."""
    for k in range(q.shape[0]):
        ws.q[k] = q[k] + h * ws.kq[stage, k]
    for k in range(v.shape[0]):
        ws.v[k] = v[k] + h * ws.kv[stage, k]


@kernel
def runge_kutta4_step(plant, tau, h, ws, q_io, v_io):
    """Advance q_io (nq,), v_io (nv,) by h; returns a StepStatus."""
    # the first stage starts from slope zero: 0 times whatever another world left there could be NaN
    for k in range(q_io.shape[0]):
        ws.kq[0, k] = 0.0
    for k in range(v_io.shape[0]):
        ws.kv[0, k] = 0.0
    for stage in range(4):
        trial_state(q_io, v_io, h * NODES[stage], max(stage - 1, 0), ws)
        if slope(plant, tau, stage, ws) != 0:
            return 1
    for stage in range(4):
        for k in range(q_io.shape[0]):
            q_io[k] += h * WEIGHTS[stage] * ws.kq[stage, k]
        for k in range(v_io.shape[0]):
            v_io[k] += h * WEIGHTS[stage] * ws.kv[stage, k]
    normalize_configuration(plant.tree, q_io)
    return 0


@dataclass(frozen=True)
class RungeKutta4(Integrator):
    """The classical Runge–Kutta method, order 4."""

    order: ClassVar[int] = 4
    summary: ClassVar[str] = "order 4, fixed step, for smooth motion"

    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance by h; see `Integrator.step`."""
        return runge_kutta4_step(plant, tau, h, ws, q_io, v_io)
