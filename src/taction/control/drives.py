"""Drives: motors that bring joints to given velocities by the end of a step, with whatever force that takes.

What it solves: P v⁺ = u, the velocities u of the driven degrees of freedom at the end of a step, as equations
of the step beside its contacts. Their impulses are those of the motors: a step under drives is inverse
dynamics with contact (`taction.sim.inverse_dynamics`).

With a largest force, |τ| ≤ limit, a drive is the set-valued law of `taction.dynamics.servo` with an infinite
gain: u is met while the force is within its limits; at a limit the joint lags behind. In joint coordinates it
costs no row while it is within them (`taction.steppers.held_drives`).

References: [BhargavaReport, Eqs. (5), (6)] for P; [AnitescuPotra1997] for equations beside contacts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.control.pd import PD
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.dynamics.servo import Servo, Servos, make_servos
from taction.model.model import Model


def motor_joints(model: Model) -> tuple[str, ...]:
    """Names of the joints with scalar coordinates that have motors, as far as the description says so.

    Where it has actuators, those with an actuator, of their own or along a tendon; otherwise those whose
    largest force is not zero. All, where that leaves none: a description may be silent.
    """
    scalar = [joint for joint in model.joints if joint.kind.nq == joint.kind.nv]
    driven = {actuator.joint for actuator in model.spec.actuators if actuator.joint}
    pulled = {actuator.tendon for actuator in model.spec.actuators if actuator.tendon}
    driven |= {name for tendon in model.spec.tendons if tendon.name in pulled for name in tendon.joints}
    if driven:
        found = [joint.name for joint in scalar if joint.name in driven]
    else:
        found = [joint.name for joint in scalar if model.effort[joint.v_slice].any()]
    return tuple(found or (joint.name for joint in scalar))


@dataclass(frozen=True, eq=False)
class Drives:
    """Velocities of joints as equations of a step; for `Simulation.begin`, with velocities as commands.

    Attributes:
        model: the mechanism, e.g. ``world.model``.
        joints: names of the driven joints; those with motors by default, see `motor_joints`.
        limit: largest force [N or N m], one for all or one per driven degree of freedom; or ``"model"`` for
            the efforts that the model's file gives. None: no limit.

    Raises:
        BadInput: unknown joints, or impossible limits.
    """

    model: Model
    joints: Sequence[str] | None = None
    limit: ArrayLike | str | None = None

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.model, Model, "the first argument of Drives")
        _ = self.limits  # bad ones show here

    @cached_property
    def dofs(self) -> IntArray:
        """The driven degrees of freedom, shape (m,)."""
        return PD(kp=0.0, joints=self._driven).controlled(self.model)

    @cached_property
    def _driven(self) -> Sequence[str]:
        return motor_joints(self.model) if self.joints is None else self.joints

    @cached_property
    def limits(self) -> Array:
        """Largest force of each driven degree of freedom [N or N m], shape (m,); infinite for none."""
        if self.limit is None:
            return np.full(len(self.dofs), math.inf)
        return PD(kp=0.0, joints=self._driven, limit=self.limit).limits(self.model)

    def joint_law(self, model: Model) -> JointLaw:
        """No force by law.

        Raises:
            BadInput: the drives were made for another model.
        """
        if model is not self.model:
            raise BadInput(f"these drives belong to {self.model.name}, not to {model.name}")
        return joint_law(model)

    def gains(self, model: Model) -> JointLaw:
        """The same."""
        return self.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The drives as elements of a step."""
        pairs = zip(self.dofs, self.limits, strict=True)
        return make_servos([Servo(0.0, math.inf, -f, f, dof=int(d)) for d, f in pairs])

    def inputs(self, model: Model) -> Array:
        """Velocities where no commands come: rest."""
        return np.zeros(len(self.dofs))

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """No joint forces, then velocities (n, m) as inputs of the drives: (n, nv + m)."""
        wanted = as_float(commands, (None, len(self.dofs)), "velocities")
        return np.concatenate([np.zeros((len(wanted), model.nv)), wanted], axis=1)
