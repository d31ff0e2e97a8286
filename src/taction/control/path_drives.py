"""Drives along a path: motors that bring joints to given positions at the end of every step.

What it solves: joints follow positions ρ(t) exactly, whatever forces that takes: inverse dynamics with
contact of a whole motion, step by step. Its forces are those of the motors (`Run.tau`).

Notation: h step; P v⁺ = u the equations of the drives (`taction.control.drives`); e = ρ − q.

Method. The velocities

    u = (ρ(t + h) − ρ(t))/h + k e                                                                      (1)

end a step at ρ(t + h) where e = 0, with schemes that move positions by the velocities at the end of a step,
as `stewart-trinkle` does. With `half-flight`, which moves them by the mean of both ends, joints are behind
by ½ h² ρ̈: replays of recorded forces need the former. Errors come from motors at a limit, from rounding and
from the correction of positions. e is the error at the start of the step before, which is what a controller
of a run is told (`taction.control.contract`): e_{n+1} = e_n − k h e_{n−1}, which dies out at about the rate
k and does not swing while k h ≤ 1/4.

References: [BhargavaReport, Eqs. (5), (6)].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction._core.show import brief_repr
from taction.control.drives import Drives
from taction.control.joint_path import JointPath
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos
from taction.model.model import Model

GAIN = 50.0  # k of (1), or less where steps are long [1/s]
SAME = 1e-6  # of a step: times this near are the same


@dataclass(frozen=True, eq=False)
class PathDrives:
    """Joints that follow a path as equations of every step; a controller for `Simulation.run`.

    Attributes:
        model: the mechanism, e.g. ``world.model``.
        path: positions of the driven joints over time.
        dt: step of the simulation [s].
        limit: largest force [N or N m], one for all or one per driven degree of freedom; or ``"model"`` for
            the efforts that the model's file gives. None: no limit.

    Raises:
        BadInput: no path, unknown joints, impossible limits or step.
    """

    model: Model
    path: JointPath
    dt: float
    limit: ArrayLike | str | None = None
    _drives: Drives = field(init=False, repr=False)
    _coordinates: IntArray = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.path, JointPath, "PathDrives: path")
        if not (np.isfinite(number(self.dt, "PathDrives: dt")) and self.dt > 0.0):
            raise BadInput(f"PathDrives: dt must be positive and finite, got {self.dt!r}")
        object.__setattr__(self, "_drives", Drives(self.model, self.joints, self.limit))
        places = [self.model.joint(name).iq for name in self.joints]
        object.__setattr__(self, "_coordinates", np.array(places, dtype=np.int64))

    @property
    def joints(self) -> Sequence[str]:
        """Names of the driven joints."""
        return self.path.joints

    @property
    def dofs(self) -> IntArray:
        """The driven degrees of freedom, shape (m,)."""
        return self._drives.dofs

    def joint_law(self, model: Model) -> JointLaw:
        """No force by law."""
        return self._drives.joint_law(model)

    def gains(self, model: Model) -> JointLaw:
        """The same."""
        return self._drives.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The drives as elements of a step."""
        return self._drives.servos(model)

    def schedule(self, times: Array) -> Array:
        """Mean rates of the path over the steps that start at times (n,) [s]: shape (n, m)."""
        times = self._on_grid(times)
        now, then = self.path.at(times)[0], self.path.at(times + self.dt)[0]
        return (then - now) / self.dt

    def _on_grid(self, times: Array) -> Array:
        """Times (n,) [s] without the rounding by which those of runs that continue others differ."""
        times = np.asarray(times, dtype=np.float64)
        whole = self.dt * np.rint(times / self.dt)
        return np.where(np.abs(times - whole) < SAME * self.dt, whole, times)

    def activate(self, commands: ArrayLike, act: Array, dt: float) -> tuple[Array, Array]:
        """Velocities (1) of rates (n, m) and errors act (m,), or none; what is remembered stays.

        Raises:
            BadInput: the steps are not those that the drives were made for.
        """
        rates, m = as_float(commands, (None, len(self.dofs)), "rates"), len(self.dofs)
        if abs(dt - self.dt) > 1e-9 * self.dt:
            raise BadInput(f"these drives are for steps of {self.dt:g} s, not of {dt:g} s")
        if len(act) not in (0, m):
            raise BadInput(f"state.act: {m} numbers of PathDrives expected, got {len(act)}")
        return rates + min(GAIN, 0.25 / dt) * (act if len(act) else np.zeros(m)), act

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """No joint forces, then velocities (n, m) as inputs of the drives: (n, nv + m)."""
        return self._drives.drive(model, commands)

    def remember(self, times: Array, q: Array, act: Array, dt: float) -> Array:
        """Errors (m,) where the last of the steps that began at times (n,) [s] did so, from q (n, nq)."""
        return self.path.at(self._on_grid(times[-1:]))[0][0] - q[-1, self._coordinates]

    def every(self, dt: float) -> int:
        """Errors count in every step."""
        return 1
