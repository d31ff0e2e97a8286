"""Loops with moving targets: what `taction.control.tracking` and `taction.control.replay` share.

The force k_p (ρ − q) + k_d (σ − v) is split into gains, which act at the end of a step and are stable at any
size, and a drive k_p ρ + k_d σ, held over it. With a largest force the loops are servos of the step, as those
of `taction.control.pd`, and the drive is their input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.control.pd import PD
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos
from taction.model.model import Model


class TargetLoops:
    """Gains of a controller on a model, whose targets come as drives; frozen dataclasses derive from it."""

    model: Model
    kp: ArrayLike
    kd: ArrayLike
    limit: ArrayLike | str | None
    _loops: PD
    _law: JointLaw
    _dofs: IntArray

    def _close(self, joints: Sequence[str] | None) -> None:
        """Make the loops on joints; all with scalar coordinates for None.

        Raises:
            BadInput: impossible gains or limits, unknown joints.
        """
        loops = PD(kp=self.kp, kd=self.kd, joints=joints, limit=self.limit)
        law = loops.unlimited_law(self.model)
        object.__setattr__(self, "_loops", loops)
        object.__setattr__(self, "_law", law._replace(b=np.zeros(self.model.nv)))
        object.__setattr__(self, "_dofs", loops.controlled(self.model))

    @property
    def dofs(self) -> IntArray:
        """The controlled degrees of freedom, shape (m,)."""
        return self._dofs

    def joint_law(self, model: Model) -> JointLaw:
        """The gains, with the targets left to the drive.

        Raises:
            BadInput: the controller was made for another model.
        """
        if model is not self.model:
            what = type(self).__name__
            raise BadInput(f"this {what} belongs to {self.model.name}, not to {model.name}")
        return self._law if self.limit is None else self._loops.joint_law(model)

    def gains(self, model: Model) -> JointLaw:
        """The same: gains do not depend on the targets."""
        return self.joint_law(model)

    def servos(self, model: Model) -> Servos:
        """The loops as servos with limits; none without."""
        return self._loops.servos(model)

    def _driven(self, force: Array) -> Array:
        """Drives (n, nv) or (n, nv + m) of forces on the controlled degrees of freedom (n, m)."""
        nv, m = self.model.nv, len(self._dofs)
        if self.limit is None:
            out = np.zeros((len(force), nv))
            out[:, self._dofs] = force
        else:
            out = np.zeros((len(force), nv + m))
            out[:, nv:] = force
        return out
