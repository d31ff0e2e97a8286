"""Proportional–integral–derivative loops whose targets move in time.

What it solves: joints follow given angles ρ(t) and rates σ(t), and what a load holds back is made up for,

    τ = k_p (ρ − q) + k_d (σ − v) + k_i z,        ż = ρ − q        on the chosen joints.              (1)

Notation: q, v positions and rates of the controlled degrees of freedom, m of them; z the integral of the
error since the start [rad s or m s]; h the time step.

Method. Gains k_p, k_d and the drive of the targets are those of `taction.control.tracking`: the gains act at
the end of a step, stable for any gain and step. The integral adds h (ρ − q) of the start of every step; its
force k_i z is brought up to date at whole multiples of an interval and held in between, as in a controller
with a slow integral. It is explicit: stable while k_i stays below k_p k_d / I of the inertia I moved (Routh's
condition for I q̈ = τ), or while the model's own joint friction makes up for it. A load that is constant is
carried with no error left after a time of about k_p / k_i.

The integral and its held value are in the state (`SimState.act`): a run that is continued, or cut into pieces
anywhere, gives the same bits.

Departures: [Ayit2015, Table 5.3] prints gains and no equations; the time constants k_p/k_i there are 50 to
583 s, against which an interval of 10 ms is nothing.

References: [AstromMurray2008, Section 10.1]; [Ayit2015, Section 5.4].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import number
from taction.control.pd import gain_per_joint
from taction.control.tracking import Tracking
from taction.model.model import Model


@dataclass(frozen=True, eq=False)
class PID(Tracking):
    """Proportional–integral–derivative loops on scalar joints with targets that move.

    Besides those of `Tracking`:

    Attributes:
        ki: integral gains [N/(m s) or N m/(rad s)], one for all or one per controlled degree of freedom.
        interval: after which the force of the integral is brought up to date [s].

    Raises:
        BadInput: impossible gains or interval, unknown joints, or a reference of the wrong size.
    """

    ki: ArrayLike = 0.0
    interval: float = 1e-2
    _ki: Array = field(init=False, repr=False)
    _coordinates: IntArray = field(init=False, repr=False)
    _latest: list[Array] = field(default_factory=list, init=False, repr=False)  # times, their targets

    def __post_init__(self) -> None:
        super().__post_init__()
        ki = np.broadcast_to(gain_per_joint(self.ki, len(self.dofs), "ki", "PID"), (len(self.dofs),))
        if not (np.isfinite(ki).all() and (ki >= 0.0).all()):
            raise BadInput("PID: ki must be finite and not negative")
        interval = number(self.interval, "PID: interval")
        if not (np.isfinite(interval) and interval > 0.0):
            raise BadInput(f"PID: interval must be positive and finite, got {interval:g}")
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "_ki", ki)
        object.__setattr__(self, "_coordinates", self._law.iq[self.dofs])

    def schedule(self, times: Array) -> Array:
        """Positions, then rates of the reference at times (n,) [s]: shape (n, 2 m)."""
        if not (self._latest and np.array_equal(self._latest[0], times)):
            self._latest[:] = [times, super().schedule(times)]
        return self._latest[1]

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """Targets (n, 2 m) with the held integral behind them (n, 3 m); what is remembered stays."""
        targets = as_float(commands, (None, 2 * len(self.dofs)), "targets")
        held = self._memory(act)[0]
        return np.concatenate([targets, np.broadcast_to(held, (len(targets), len(held)))], axis=1), act

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces, or inputs of servos, that targets and integrals (n, 3 m) add to the gains."""
        m = len(self.dofs)
        given = as_float(commands, (None, 3 * m), "targets and integrals")
        return super().drive(model, given[:, : 2 * m]) + self._driven(self._ki * given[:, 2 * m :])

    def remember(self, times: Array, q: Array, act: Array, dt: float) -> Array:
        """What is remembered after steps that started at times (n,) [s] from q (n, nq), each dt [s] long.

        Held integrals, then integrals up to now, shape (2 m,). No update of what is held lies between them.
        """
        held, now = self._memory(act)
        error = self.schedule(times)[:, : len(self.dofs)] - q[:, self._coordinates]
        now = np.add.accumulate(np.concatenate([now[None], dt * error]))[-1]  # one by one, in every cut
        if round(float(times[-1]) / dt + 1.0) % self.every(dt) == 0:
            held = now
        return np.concatenate([held, now])

    def every(self, dt: float) -> int:
        """Steps [s] between two updates of what is held."""
        return max(round(self.interval / dt), 1)

    def _memory(self, act: Array) -> Array:
        """Held integrals and integrals up to now, shape (2, m)."""
        m = len(self.dofs)
        if len(act) not in (0, 2 * m):
            raise BadInput(f"state.act: {2 * m} numbers of a PID expected, got {len(act)}")
        return act.reshape(2, m) if len(act) else np.zeros((2, m))
