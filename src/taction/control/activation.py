"""Activations: what stands for the control of an actuator that is slow, or that integrates.

With the control u, clipped to its range and held over a step, the activation a follows

    integrator   ȧ = u                      a⁺ = a + h u
    filter       ȧ = (u − a)/T              a⁺ = a + h (u − a)/T
    filterexact  the same                   a⁺ = a + (1 − exp(−h/T)) (u − a)

and is clipped to its own range; over the step the actuator acts with a, as it was at the start. Activations
do not depend on the motion: those of many steps follow from the controls, before any step is taken.

References: MuJoCo, computation chapter, *Activation dynamics*, for these updates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.model.spec import ActuatorSpec

LEAST_TIME = 1e-15  # of a filter [s]: below, it follows at once


class Activations:
    """The activations of actuators, na of them, in the order of these.

    Attributes:
        count: na.
        which: number of the actuator of each, shape (na,).
    """

    def __init__(self, actuators: Sequence[ActuatorSpec]) -> None:
        self.which: IntArray = np.array([k for k, a in enumerate(actuators) if a.activation], dtype=np.int64)
        some = [actuators[k] for k in self.which]
        self.count = len(some)
        self._kind = [a.activation for a in some]
        self._time = np.array([max(a.time_constant, LEAST_TIME) for a in some])
        self._low, self._high = np.array([a.activation_range for a in some]).reshape(-1, 2).T
        self._least, self._most = np.array([a.control_range for a in some]).reshape(-1, 2).T

    def follow(self, controls: Array, act: Array, dt: float) -> tuple[Array, Array]:
        """What stands for controls (n, nu), each held over a step [s], and the activations (na,) after them.

        Args:
            controls: one row for each step.
            act: activations at the start, shape (na,); an empty array for zeros.
            dt: time step [s].

        Raises:
            BadInput: another number of activations.
        """
        if len(act) not in (0, self.count):
            raise BadInput(f"state.act: {self.count} activations expected, got {len(act)}")
        now = act.copy() if len(act) else np.zeros(self.count)
        pull, own = np.zeros(self.count), np.zeros(self.count)  # a⁺ = a + pull (u − own a)
        out = np.array(controls)
        with np.errstate(over="ignore", invalid="ignore"):  # the step that it runs away in says so
            for k, kind in enumerate(self._kind):
                share = dt / self._time[k]
                is_filter = kind.startswith("filter")
                own[k] = float(is_filter)
                if kind == "integrator":
                    pull[k] = dt
                elif is_filter:
                    pull[k] = share if kind == "filter" else -np.expm1(-share)
            for row in out:
                u = np.minimum(np.maximum(row[self.which], self._least), self._most)
                row[self.which] = now
                now = np.minimum(np.maximum(now + pull * (u - own * now), self._low), self._high)
        return out, now
