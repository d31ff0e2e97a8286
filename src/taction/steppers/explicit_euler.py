"""Explicit Euler: position and velocity both move with the slopes at the start of the step.

    q⁺ = q ⊕ h v,      v⁺ = v + h v̇(q, v)

Order 1. It adds energy to oscillations: the amplitude of a spring of frequency ω grows by √(1 + h²ω²) per
step, so it is here for comparison, as in the report that uses it. Cost: one forward dynamics per step.

References: [BhargavaReport, Section 3.1]; [HairerNorsettWanner1993, Section I.7].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taction._core.arrays import Array
from taction._core.jit import kernel
from taction.kinematics.configuration import integrate_configuration
from taction.steppers.base import Integrator
from taction.steppers.plant import Plant, Scratch, acceleration


@kernel
def explicit_euler_step(plant, tau, h, ws, q_io, v_io):
    """Advance q_io (nq,), v_io (nv,) by h; returns a StepStatus."""
    status = acceleration(plant, q_io, v_io, tau, 0.0, ws, ws.kv[0])
    if status != 0:
        return 1
    integrate_configuration(plant.tree, q_io, v_io, h, q_io)
    for k in range(v_io.shape[0]):
        v_io[k] += h * ws.kv[0, k]
    return 0


@dataclass(frozen=True)
class ExplicitEuler(Integrator):
    """Explicit Euler, order 1; for comparison, it gains energy."""

    order: ClassVar[int] = 1
    summary: ClassVar[str] = "order 1, gains energy; for comparison"

    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance by h; see `Integrator.step`."""
        return explicit_euler_step(plant, tau, h, ws, q_io, v_io)
