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

With a largest force, |τ| ≤ limit, the loops are servos of the step, as those of `taction.control.pd`.

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
from taction.control.joint_path import JointPath
from taction.control.pd import PD
from taction.control.target_loops import TargetLoops
from taction.dynamics.joint_law import JointLaw
from taction.model.model import Model

Reference = Callable[[float], tuple[ArrayLike, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Tracking(TargetLoops):
    """Proportional–derivative loops on scalar joints with targets that move.

    Attributes:
        model: the mechanism, e.g. ``world.model``.
        reference: function of time [s] → target positions and rates, shape (m,) each; or a `JointPath`, which
            names its joints.
        kp: position gains [N/m or N m/rad], one for all or one per controlled degree of freedom.
        kd: velocity gains [N s/m or N m s/rad], likewise.
        joints: names of the controlled joints; those of the path, or all with scalar coordinates by default.
        limit: largest force [N or N m], one for all or one per controlled degree of freedom; or ``"model"``
            for the efforts that the model's file gives. None: no limit.

    Raises:
        BadInput: impossible gains, unknown joints, or a reference of the wrong size.
    """

    model: Model
    reference: Reference
    kp: ArrayLike
    kd: ArrayLike = 0.0
    joints: Sequence[str] | None = None
    limit: ArrayLike | str | None = None
    _loops: PD = field(init=False, repr=False)
    _law: JointLaw = field(init=False, repr=False)
    _dofs: IntArray = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        if not callable(self.reference):
            raise BadInput("Tracking: reference must be a function of time that returns positions and rates")
        if self.joints is None and isinstance(self.reference, JointPath):
            object.__setattr__(self, "joints", self.reference.joints)
        self._close(self.joints)
        self.targets(0.0)

    def targets(self, t: float) -> tuple[Array, Array]:
        """Positions and rates of the reference at time t [s], shape (m,) each."""
        position, rate = self.reference(t)
        m = len(self._dofs)
        return as_float(position, (m,), "reference positions"), as_float(rate, (m,), "reference rates")

    def schedule(self, times: Array) -> Array:
        """Positions, then rates of the reference at times (n,) [s]: shape (n, 2 m)."""
        if isinstance(self.reference, JointPath):
            return np.concatenate(self.reference.at(times), axis=1)
        return np.array([np.concatenate(self.targets(float(t))) for t in times])

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces (n, nv) that targets (n, 2 m), positions then rates, add to the gains.

        Where there is a limit, inputs of as many servos stand behind them, (n, nv + m).
        """
        m = len(self._dofs)
        targets = as_float(commands, (None, 2 * m), "targets")
        K, D = self._law.K[self._dofs], self._law.D[self._dofs]
        return self._driven(K * targets[:, :m] + D * targets[:, m:])
