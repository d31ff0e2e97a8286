"""Semi-implicit Euler: new velocity from the old state, new position from the new velocity.

    v⁺ = v + h v̇,      q⁺ = q ⊕ h v⁺

Order 1; symplectic for a conservative system whose mass matrix is constant in coordinates that add up, so
that its energy error stays bounded. Not so for a body that spins: gyroscopic forces are those of the start of
the step, and add energy. By default the linear joint law (springs, dampers, PD gains) acts at the end of the
step, which is stable for every gain and step: its derivative joins the rotor inertia, v̇ solving

    (M + h D + h² K) v̇ = τ + b − K (q + h v) − D v − C v − g        (`taction.dynamics.joint_law`).

Cost: one forward dynamics per step, with or without the implicit joint law.

References: [HairerLubichWanner2006, Section I.1.2]; [BaraffWitkin1998, Eq. (5)].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taction._core.arrays import Array, frozen
from taction._core.jit import kernel
from taction.kinematics.configuration import integrate_configuration
from taction.steppers.base import Integrator
from taction.steppers.plant import Plant, Scratch, acceleration


@kernel
def semi_implicit_euler_step(plant, tau, h, lookahead, ws, q_io, v_io):
    """Advance q_io (nq,), v_io (nv,) by h; springs act at q + lookahead · v; returns a StepStatus."""
    status = acceleration(plant, q_io, v_io, tau, lookahead, ws, ws.kv[0])
    if status != 0:
        return 1
    for k in range(v_io.shape[0]):
        v_io[k] += h * ws.kv[0, k]
    integrate_configuration(plant.tree, q_io, v_io, h, q_io)
    return 0


@dataclass(frozen=True)
class SemiImplicitEuler(Integrator):
    """Semi-implicit Euler, order 1, the default.

    Attributes:
        implicit_joints: treat joint springs, dampers and PD gains implicitly.
    """

    order: ClassVar[int] = 1
    summary: ClassVar[str] = "order 1, bounded energy error; joint springs and gains implicit"

    implicit_joints: bool = True

    def prepare(self, plant: Plant, h: float) -> Plant:
        """Add h D + h² K of the joint law to the rotor inertia."""
        if not self.implicit_joints:
            return plant
        armature = plant.tree.armature + h * plant.law.D + h * h * plant.law.K
        return plant._replace(tree=plant.tree._replace(armature=frozen(armature)))

    def step(self, plant: Plant, tau: Array, h: float, ws: Scratch, q_io: Array, v_io: Array) -> int:
        """Advance by h; see `Integrator.step`."""
        lookahead = h if self.implicit_joints else 0.0
        return semi_implicit_euler_step(plant, tau, h, lookahead, ws, q_io, v_io)
