"""Computed torque with contact: forces from the measured state and a model of the robot and its contacts.

What it solves: joints should follow positions ρ(t). At every step the state q, v of the real robot is
measured, and the forces are found that would bring about the accelerations

    a = ρ̈ + k_d (ρ̇ − v) + k_p (ρ − q)                                                                (1)

in a *nominal* world, contacts included (`taction.sim.inverse_dynamics`). They act on the real world, whose
masses or friction may be others.

Method. Differences over a step h stand for derivatives, σ(t) = (ρ(t) − ρ(t − h))/h for the rate with which
steps that follow the path arrive at t:

    a = (σ(t + h) − σ(t))/h + k_d (σ(t) − v) + k_p (ρ(t) − q),                                         (2)

so that in a world like the nominal one a step ends at ρ(t + h) to rounding, whatever the gains. Errors obey
ë + k_d ė + k_p e = 0 as the step vanishes.

The nominal world sees the gaps and velocities of the measured state; where it thinks that a foot touches
earlier or later than it does, forces are off for a moment, and (1) corrects what comes of it. Contacts that
carried in its step before are believed to carry still: a gap of a nanometre is none for those. Asked for
another time than the next one, the controller starts without such belief.

Departures: the law of [Craig2005] has no contacts; here they are part of what is inverted.

References: [Craig2005, Chapter 10]; [BhargavaReport, Section 4].
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.control.joint_path import JointPath
from taction.control.pd import gain_per_joint
from taction.sim.inverse_dynamics import Answer, InverseDynamics
from taction.sim.simulation import Simulation
from taction.sim.state import SimState

SAME = 1e-6  # of a step: times this near are the same


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """Forces from a nominal world for a path; a function (t, q, v) for `Simulation.run`.

    Attributes:
        nominal: simulation of the nominal world, with the step at which the controller is asked.
        path: positions of the driven joints over time.
        kp: gain of the position error [1/s²], one for all or one per driven degree of freedom.
        kd: gain of the velocity error [1/s], likewise; 2 √kp, which is critical, by default.
        limit: largest force [N or N m], one for all or one per driven degree of freedom; ``"model"`` for the
            efforts of the robot's file; None for none.
        answers: how many requests ended in which way so far.

    Raises:
        BadInput: no simulation of a world, no path, impossible gains or limits.
    """

    nominal: Simulation
    path: JointPath
    kp: ArrayLike = 400.0
    kd: ArrayLike | None = None
    limit: ArrayLike | str | None = None
    answers: dict[Answer, int] = field(default_factory=dict, init=False)
    _inverse: InverseDynamics = field(init=False, repr=False)
    _gains: tuple[Array, Array] = field(init=False, repr=False)
    _coordinates: IntArray = field(init=False, repr=False)
    _believed: list[SimState] = field(default_factory=list, init=False, repr=False)  # where its last step led

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        instance(self.nominal, Simulation, "ComputedTorque: the first argument")
        instance(self.path, JointPath, "ComputedTorque: path")
        inverse = InverseDynamics(self.nominal, joints=self.path.joints, limit=self.limit)
        m, model = len(inverse.drives.dofs), inverse.model
        if m != len(self.path.joints):
            raise BadInput("ComputedTorque: joints of a path have one coordinate each")
        kp = np.broadcast_to(gain_per_joint(self.kp, m, "kp", "ComputedTorque"), (m,))
        given = 2.0 * np.sqrt(np.maximum(kp, 0.0)) if self.kd is None else self.kd
        kd = np.broadcast_to(gain_per_joint(given, m, "kd", "ComputedTorque"), (m,))
        for name, gain in (("kp", kp), ("kd", kd)):
            if not (np.isfinite(gain).all() and (gain >= 0.0).all()):
                raise BadInput(f"ComputedTorque: {name} must be finite and not negative")
        places = [model.joint(name).iq for name in self.path.joints]
        object.__setattr__(self, "_inverse", inverse)
        object.__setattr__(self, "_gains", (kp, kd))
        object.__setattr__(self, "_coordinates", np.array(places, dtype=np.int64))

    @property
    def dofs(self) -> IntArray:
        """The driven degrees of freedom, shape (m,)."""
        return self._inverse.drives.dofs

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Equation (2) at a time [s] and a measured state q (nq,), v (nv,): shape (m,)."""
        h, (kp, kd) = self.nominal.dt, self._gains
        before, now, then = self.path.at(np.array([t - h, t, t + h]))[0]
        rate = (now - before) / h
        wanted = (then - 2.0 * now + before) / (h * h)
        return wanted + kd * (rate - v[self.dofs]) + kp * (now - q[self._coordinates])

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Joint forces (nv,) at a time [s] and a measured state q (nq,), v (nv,)."""
        state = self.nominal.state(q, v, t)
        if self._believed and abs(self._believed[0].t - t) < SAME * self.nominal.dt:
            state = replace(self._believed[0], q=state.q, v=state.v)
        found = self._inverse.solve(state, self.acceleration(t, q, v))
        self._believed[:] = [self._inverse.after()]
        self.answers[found.answer] = self.answers.get(found.answer, 0) + 1
        return found.tau
