"""Replay: the forces of a recorded run once more, as they were or corrected by feedback.

What it solves: a run recorded forces τ_k of every step k, and the motion q_k, v_k. In another simulation the
same forces act,

    τ = τ_k                                                 open loop,
    τ = τ_k + k_p (q_{k+1} − q) + k_d (v_{k+1} − v)         with feedback on the chosen joints.         (1)

Open loop is exact for the recorded start, model, step and rounding. Whatever differs grows at the rate of the
motion's own instability: a robot on its legs is an inverted pendulum. Feedback holds the joints near what was
recorded.

Method. (1) is split as in `taction.control.tracking`: the gains act at the end of a step, so that any of them
is stable at any step, and the drive τ_k + k_p q_{k+1} + k_d v_{k+1} is held over it. Targets are those at the
end of the step, where the gains act: a replay of what was recorded has no error to correct. Forces are those
of the recorded step in which a step starts; targets are interpolated where steps differ. After the last
recorded step there are no forces, and targets stay.

Forces are recorded as they acted, those of gains and servos included (`Run.tau`); those from outside are not
among them.

References: [BhargavaReport, Section 6 and Figure 5].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.control.pd import PD
from taction.control.target_loops import TargetLoops
from taction.dynamics.joint_law import JointLaw
from taction.model.model import Model

SAME = 1e-9  # of a step: times this near are the same


class Recorded(Protocol):
    """What a replay needs of a `Run`."""

    @property
    def dt(self) -> float:
        """Time step [s]."""

    @property
    def t(self) -> Array:
        """Times [s], shape (n + 1,)."""

    @property
    def q(self) -> Array:
        """Configurations, shape (n + 1, nq)."""

    @property
    def v(self) -> Array:
        """Velocities, shape (n + 1, nv)."""

    @property
    def tau(self) -> Array:
        """Joint forces over each step, shape (n, nv) or more."""


@dataclass(frozen=True, eq=False)
class Replay(TargetLoops):
    """Recorded forces, with or without feedback about the recorded motion.

    Attributes:
        model: the mechanism, e.g. ``world.model``; with the joints of the recorded one.
        run: a recorded motion through contact, a `Run`.
        kp: position gains [N/m or N m/rad], one for all or one per chosen degree of freedom; 0: open loop.
        kd: velocity gains [N s/m or N m s/rad], likewise.
        joints: names of the joints whose forces are replayed; those with actuators by default, or all with
            scalar coordinates where there are none.
        limit: largest force [N or N m], one for all or one per chosen degree of freedom; or ``"model"`` for
            the efforts that the model's file gives. None: no limit.

    Raises:
        BadInput: no run with forces, another robot's, unknown joints, impossible gains or limits.
    """

    model: Model
    run: Recorded
    kp: ArrayLike = 0.0
    kd: ArrayLike = 0.0
    joints: Sequence[str] | None = None
    limit: ArrayLike | str | None = None
    _loops: PD = field(init=False, repr=False)
    _law: JointLaw = field(init=False, repr=False)
    _dofs: IntArray = field(init=False, repr=False)
    _table: Array = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.model, Model, "Replay: the first argument")
        for name in ("dt", "t", "q", "v", "tau"):
            if not hasattr(self.run, name):
                raise BadInput(f"Replay: the second argument must be a Run, got a {type(self.run).__name__}")
        if self.run.q.shape[1] != self.model.nq or self.run.tau.shape[1] != self.model.nv:
            raise BadInput(
                f"Replay: a run of {self.run.q.shape[1]} coordinates for {self.model.name}, which has "
                f"{self.model.nq}"
            )
        if len(self.run.t) < 2:
            raise BadInput("Replay: the run has no steps")
        driven = list(dict.fromkeys(a.joint for a in self.model.spec.actuators if a.joint)) or None
        names = driven if self.joints is None else self.joints
        self._close(names)
        dofs = self._dofs
        steps = len(self.run.t) - 1
        force = np.concatenate([self.run.tau[:steps, dofs], np.zeros((1, len(dofs)))])
        table = np.concatenate([force, self.run.q[:, self._law.iq[dofs]], self.run.v[:, dofs]], axis=1)
        object.__setattr__(self, "_table", as_float(table, (None, 3 * len(dofs)), "a recorded run"))

    def schedule(self, times: Array) -> Array:
        """Forces, then positions and rates to be reached, of steps at times (n,) [s]: shape (n, 3 m)."""
        m, last = len(self._dofs), len(self._table) - 1
        place = (np.asarray(times, dtype=np.float64) - self.run.t[0]) / self.run.dt + SAME
        step = np.floor(place).astype(np.int64)
        is_recorded = (step >= 0) & (step < last)
        force = self._table[np.where(is_recorded, step, last), :m]
        ahead = np.clip(place + 1.0, 0.0, last)
        k = np.minimum(np.floor(ahead).astype(np.int64), last - 1)
        share = np.where(ahead - k < 2.0 * SAME, 0.0, ahead - k)[:, None]
        target = (1.0 - share) * self._table[k, m:] + share * self._table[k + 1, m:]
        target[:, m:] = np.where(is_recorded[:, None], target[:, m:], 0.0)
        return np.concatenate([force, target], axis=1)

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces (n, nv) that forces and targets (n, 3 m) add to the gains.

        Where there is a limit, inputs of as many servos stand behind them, (n, nv + m).
        """
        m = len(self._dofs)
        given = as_float(commands, (None, 3 * m), "forces and targets")
        K, D = self._law.K[self._dofs], self._law.D[self._dofs]
        return self._driven(given[:, :m] + K * given[:, m : 2 * m] + D * given[:, 2 * m :])
