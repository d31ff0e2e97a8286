"""Proportional–derivative control of the joints.

τ = k_p (target − q) + k_d (target velocity − v) on the chosen joints. Given to a simulation as an object
rather than a callable, so that integrators can treat the gains implicitly (`taction.dynamics.joint_law`):
stiff gains stay stable at any step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float, frozen
from taction._core.errors import BadInput
from taction._core.expect import given
from taction._core.show import brief_repr
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.model.model import Model


@dataclass(frozen=True, eq=False)
class PD:
    """Proportional–derivative loops on scalar joints.

    Attributes:
        kp: position gains [N/m or N m/rad], one for all or one per controlled degree of freedom.
        kd: velocity gains [N s/m or N m s/rad], likewise.
        target: configuration to hold, shape (nq,), or one value per controlled degree of freedom; the model's
            neutral configuration by default.
        joints: names of the controlled joints; all scalar joints by default.
        target_velocity: likewise per controlled degree of freedom; zero by default.
    """

    kp: ArrayLike
    kd: ArrayLike = 0.0
    target: ArrayLike | None = None
    joints: Sequence[str] | None = None
    target_velocity: ArrayLike = 0.0

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        if isinstance(self.joints, str):
            raise BadInput(f"PD: joints must be a list of names, got {given(self.joints)}")
        for name in ("kp", "kd", "target", "target_velocity"):
            value = getattr(self, name)
            if value is None and name == "target":
                continue
            try:
                is_numeric = value is not None and np.asarray(value, dtype=float).dtype.kind == "f"
            except (TypeError, ValueError):
                is_numeric = False
            if not is_numeric:
                raise BadInput(f"PD: {name} must be numbers, got {given(value)}")

    def joint_law(self, model: Model) -> JointLaw:
        """The gains and targets as a linear joint law of a model.

        Raises:
            BadInput: unknown joints, wrong lengths, negative or non-finite gains.
        """
        dofs, coordinates = self._controlled(model)
        K, D, v_rest, q_rest = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv), np.array(model.q0)
        for out, value, what in (
            (K, self.kp, "kp"),
            (D, self.kd, "kd"),
            (v_rest, self.target_velocity, "target_velocity"),
        ):
            out[dofs] = _per_joint(value, len(dofs), what)
        if self.target is not None:
            target = np.asarray(self.target, dtype=float)
            if target.shape == (model.nq,) and model.nq != len(dofs):
                target = target[coordinates]
            q_rest[coordinates] = _per_joint(target, len(dofs), "target")
        return joint_law(model, K, D, q_rest, v_rest)

    def gains(self, model: Model) -> JointLaw:
        """The law without its position targets, for targets that come as commands."""
        law = self.joint_law(model)
        v_rest = np.zeros(model.nv)
        v_rest[self._controlled(model)[0]] = self.target_velocity
        return law._replace(b=frozen(law.D * v_rest))

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces (n, nv) beyond the gains of targets (n, nu), one per controlled degree of freedom."""
        dofs, _ = self._controlled(model)
        targets = as_float(commands, (None, len(dofs)), "PD targets")
        tau = np.zeros((len(targets), model.nv))
        tau[:, dofs] = self.joint_law(model).K[dofs] * targets
        return tau

    def controlled(self, model: Model) -> IntArray:
        """The controlled degrees of freedom of a model, shape (nu,), in the order of the joints' names."""
        return self._controlled(model)[0]

    def _controlled(self, model: Model) -> tuple[IntArray, IntArray]:
        """Degrees of freedom and position coordinates under control, (nu,) each."""
        chosen = [model.joint(n) for n in self.joints] if self.joints is not None else list(model.joints)
        if self.joints is not None and any(j.kind.nq != j.kind.nv for j in chosen):
            raise BadInput("PD: only joints with scalar coordinates can be controlled")
        chosen = [j for j in chosen if j.kind.nq == j.kind.nv]
        dofs = np.array([k for j in chosen for k in range(j.iv, j.iv + j.kind.nv)], dtype=np.int64)
        coordinates = np.array([k for j in chosen for k in range(j.iq, j.iq + j.kind.nq)], dtype=np.int64)
        return dofs, coordinates


def _per_joint(value: ArrayLike, n: int, what: str) -> np.ndarray:
    try:
        out = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(f"PD: {what} must be numeric, got {value!r}") from None
    if out.shape not in ((), (n,)):
        raise BadInput(f"PD: {what} needs one number or {n}, got shape {out.shape}")
    return out
