"""Lengths and forces of tendons and actuators at many states, for their sensors.

What it gives: lengths l(q) of tendons; lengths, rates and forces of actuators. The length of an actuator is
gear·q of a joint of one axis, gear·l of a tendon, the gears times the rotation vector of a ball joint, and
none (zero) for free joints and sites; its rate is Σ c v with its moment arms c = ∂l̇/∂v.

Forces of actuators come from the joint forces τ = Σ cᵢ fᵢ that acted, which a run records: f is their
solution of least squares. Where several actuators work on the same joints, so that f is not unique, it is
NaN. Forces of other controllers count as the actuators' own. Actuators that make no force read zero.

References: [TodorovErezTassa2012] for moment arms.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from taction._core.arrays import Array
from taction.contact.chains import make_chains
from taction.contact.transmission import make_transmissions, measure, numbers_of
from taction.dynamics.joint_law import joint_law
from taction.kinematics.forward import place_links
from taction.model.model import Model
from taction.model.sensors import is_ball
from taction.model.spec import ActuatorSpec
from taction.model.workspace import make_workspace

UNIQUE = 1e-9  # share in a direction that makes no joint force above which a force is not unique


class Lengths:
    """Transmissions of a model at n states.

    Args:
        model: the mechanism.
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
    """

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        self._model, self._q, self._v = model, np.ascontiguousarray(q, dtype=float), v
        self._actuators = {a.name: i for i, a in enumerate(model.spec.actuators)}
        self._numbers = numbers_of(model)

    @cached_property
    def _measured(self) -> tuple[Array, Array]:
        """Lengths (n, t) and moment arms (n, t, nv) of tendons and of sites that actuators push."""
        model, ws = self._model, make_workspace(self._model)
        chains = make_chains(model.tree)
        ways, iq = make_transmissions(model, chains), joint_law(model).iq
        n, t = len(self._q), len(ways)
        length, arms = np.empty((n, t)), np.zeros((n, t, model.nv))
        arm, owner = np.empty(len(ways.dof)), np.repeat(np.arange(t), np.diff(ways.start))
        for k in range(n):
            place_links(model.tree, self._q[k], ws)
            measure(model.tree, chains, ways, iq, self._q[k], ws, length[k], arm)
            arms[k, owner, ways.dof] = arm
        return length, arms

    def tendon(self, name: str) -> tuple[Array, Array]:
        """Length and rate of a tendon, shape (n,) each."""
        length, arms = self._measured
        i = self._numbers["tendon", name]
        return length[:, i], (arms[:, i] * self._v).sum(axis=1)

    def actuator(self, name: str) -> tuple[Array, Array]:
        """Length and rate of an actuator, shape (n,) each."""
        i = self._actuators[name]
        rate = (self._moments[:, i] * self._v).sum(axis=1)
        return self._length(self._model.spec.actuators[i]), rate

    def _length(self, actuator: ActuatorSpec) -> Array:
        if actuator.tendon:
            return actuator.gear * self.tendon(actuator.tendon)[0]
        if actuator.joint:
            joint = self._model.joint(actuator.joint)
            if joint.kind.is_single:
                gear = actuator.gears[0] if actuator.gears else actuator.gear
                return gear * self._q[:, joint.iq]
            if is_ball(joint.kind):
                return _rotation_vector(self._q[:, joint.q_slice]) @ np.array(actuator.gears)
        return np.zeros(len(self._q))

    @cached_property
    def _moments(self) -> Array:
        """Moment arms of all actuators, gears included, shape (n, nu, nv)."""
        model, actuators = self._model, self._model.spec.actuators
        out = np.zeros((len(self._q), len(actuators), model.nv))
        for i, actuator in enumerate(actuators):
            if actuator.joint:
                joint = model.joint(actuator.joint)
                out[:, i, joint.v_slice] = actuator.gears or actuator.gear
            elif actuator.tendon:
                number = self._numbers["tendon", actuator.tendon]
                out[:, i] = actuator.gear * self._measured[1][:, number]
            elif actuator.site and not actuator.refsite:
                out[:, i] = self._measured[1][:, self._numbers["actuator", actuator.name]]
        return out

    def force(self, name: str, tau: Array) -> Array:
        """Force of an actuator, shape (n,); tau: joint forces that acted, shape (n, nv)."""
        actuators = self._model.spec.actuators
        works = np.array([a.kind != "none" for a in actuators])
        i = self._actuators[name]
        if not works[i]:
            return np.zeros(len(tau))
        at = int(works[:i].sum())
        arms, out = self._moments[:, works], np.full(len(tau), np.nan)
        known = np.isfinite(tau).all(axis=1)
        if (arms == arms[:1]).all():  # joints and fixed tendons alone
            out[known] = tau[known] @ _solve_row(arms[0], at)
            return out
        for k in np.flatnonzero(known):
            out[k] = tau[k] @ _solve_row(arms[k], at)
        return out


def _solve_row(arms: Array, i: int) -> Array:
    """Row i of the pseudo-inverse of armsᵀ (nv, nu), or NaN where its solution is not unique or none."""
    if not np.isfinite(arms).all():
        return np.full(arms.shape[1], np.nan)
    U, s, Vt = np.linalg.svd(arms, full_matrices=True)
    rank = int((s > 1e-12 * s.max(initial=0.0)).sum())
    if np.abs(U[i, rank:]).max(initial=0.0) > UNIQUE:
        return np.full(arms.shape[1], np.nan)
    return (U[i, :rank] / s[:rank]) @ Vt[:rank]


def _rotation_vector(quaternion: Array) -> Array:
    """Axis times angle of quaternions (n, 4), angles between −π and π; shape (n, 3)."""
    unit = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    unit = np.where(unit[:, :1] < 0.0, -unit, unit)
    sine = np.linalg.norm(unit[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, unit[:, :1])
    return unit[:, 1:] * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)
