"""Tracking: proportional–derivative loops whose targets move in time.

What it solves: joints follow given angles ρ(t) and rates σ(t),

    τ = k_p (ρ − q) + k_d (σ − v)        on the chosen joints.                                       (1)

Notation: q, v positions and rates of the controlled degrees of freedom, m of them, in the order of the
joints' names; a joint with two axes counts twice.

Method. (1) is split into the gains −k_p q − k_d v, which go to the step as a joint law and act at its end, so
that any gain is stable at any step (`taction.dynamics.joint_law`), and the drive k_p ρ + k_d σ, which is held
over a step. The reference is that of the time at which the controller is asked: the start of a step, or of
every control interval where `Simulation.run` is given one. A moving target is therefore met late by one step
or interval. The same split serves batches: `Simulation.rollout` asks for the drive of all steps beforehand
(`schedule`, `drive`) and gives the same bits as a run.

Departures: the damping of [Transeth2006, Eqs. (50), (51)] answers to the absolute angular velocity of one
link and knows no reference rate; see `docs/deviations.md`.

References: [Transeth2006, Section V-A]; [BaraffWitkin1998, Eq. (5)].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.show import brief_repr
from taction.control.pd import PD
from taction.dynamics.joint_law import JointLaw
from taction.model.model import Model

Reference = Callable[[float], tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Tracking:
    """Proportional–derivative loops on scalar joints with targets that move.

    Attributes:
        model: the mechanism, e.g. ``world.model``.
        reference: function of time [s] → target positions and rates, shape (m,) each.
        kp: position gains [N/m or N m/rad], one for all or one per controlled degree of freedom.
        kd: velocity gains [N s/m or N m s/rad], likewise.
        joints: names of the controlled joints; all with scalar coordinates by default.

    Raises:
        BadInput: impossible gains, unknown joints, or a reference of the wrong size.
    """

    model: Model
    reference: Reference
    kp: ArrayLike
    kd: ArrayLike = 0.0
    joints: Sequence[str] | None = None
    _law: JointLaw = field(init=False, repr=False)
    _dofs: IntArray = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        if not callable(self.reference):
            raise BadInput("Tracking: reference must be a function of time that returns positions and rates")
        loops = PD(kp=self.kp, kd=self.kd, joints=self.joints)
        law = loops.joint_law(self.model)
        object.__setattr__(self, "_law", law._replace(b=np.zeros(self.model.nv)))
        object.__setattr__(self, "_dofs", loops.controlled(self.model))
        self.targets(0.0)

    @property
    def dofs(self) -> IntArray:
        """The controlled degrees of freedom, shape (m,)."""
        return self._dofs

    def targets(self, t: float) -> tuple[Array, Array]:
        """Positions and rates of the reference at time t [s], shape (m,) each."""
        position, rate = self.reference(t)
        m = len(self._dofs)
        return as_float(position, (m,), "reference positions"), as_float(rate, (m,), "reference rates")

    def joint_law(self, model: Model) -> JointLaw:
        """The gains, with the targets left to the drive.

        Raises:
            BadInput: the controller was made for another model.
        """
        if model is not self.model:
            raise BadInput(f"this tracking belongs to {self.model.name}, not to {model.name}")
        return self._law

    def gains(self, model: Model) -> JointLaw:
        """The same: gains do not depend on the targets."""
        return self.joint_law(model)

    def schedule(self, times: Array) -> Array:
        """Positions, then rates of the reference at times (n,) [s]: shape (n, 2 m)."""
        return np.array([np.concatenate(self.targets(float(t))) for t in times])

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces (n, nv) that targets (n, 2 m), positions then rates, add to the gains."""
        m = len(self._dofs)
        targets = as_float(commands, (None, 2 * m), "targets")
        tau = np.zeros((len(targets), model.nv))
        K, D = self._law.K[self._dofs], self._law.D[self._dofs]
        tau[:, self._dofs] = K * targets[:, :m] + D * targets[:, m:]
        return tau
