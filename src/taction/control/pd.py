"""Proportional–derivative control of the joints.

τ = k_p (target − q) + k_d (target velocity − v) on the chosen joints. Given to a simulation as an object
rather than a callable, so that integrators can treat the gains implicitly (`taction.dynamics.joint_law`):
stiff gains stay stable at any step. With a largest force, |τ| ≤ limit, the loops are set-valued elements of
the step (`taction.dynamics.servo`), exact within the limit and at it, again for any gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float, frozen
from taction._core.errors import BadInput
from taction._core.expect import given
from taction._core.show import brief_repr
from taction.dynamics.joint_law import JointLaw, joint_law
from taction.dynamics.servo import Servo, Servos, make_servos
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
        limit: largest force [N or N m], likewise; or ``"model"`` for the efforts that the model's file gives.
            None: no limit.
    """

    kp: ArrayLike
    kd: ArrayLike = 0.0
    target: ArrayLike | None = None
    joints: Sequence[str] | None = None
    target_velocity: ArrayLike = 0.0
    limit: ArrayLike | str | None = None
    _kept: list[Any] = field(default_factory=list, init=False, repr=False)

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
        law = self.unlimited_law(model)
        if self.limit is None:
            return law
        self.limits(model)
        return law._replace(**{name: np.zeros(model.nv) for name in ("K", "D", "b")})

    def unlimited_law(self, model: Model) -> JointLaw:
        """Gains and targets, limits aside."""
        dofs, coordinates = self._controlled(model)
        K, D, v_rest, q_rest = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv), np.array(model.q0)
        for out, value, what in (
            (K, self.kp, "kp"),
            (D, self.kd, "kd"),
            (v_rest, self.target_velocity, "target_velocity"),
        ):
            out[dofs] = gain_per_joint(value, len(dofs), what)
        if self.target is not None:
            target = np.asarray(self.target, dtype=float)
            if target.shape == (model.nq,) and model.nq != len(dofs):
                target = target[coordinates]
            q_rest[coordinates] = gain_per_joint(target, len(dofs), "target")
        return joint_law(model, K, D, q_rest, v_rest)

    def gains(self, model: Model) -> JointLaw:
        """The law without its position targets, for targets that come as commands."""
        law = self.joint_law(model)
        if self.limit is not None:
            return law
        v_rest = np.zeros(model.nv)
        v_rest[self._controlled(model)[0]] = self.target_velocity
        return law._replace(b=frozen(law.D * v_rest))

    def servos(self, model: Model) -> Servos:
        """The loops as servos with limits; none without."""
        if self.limit is None:
            return make_servos()
        law, limit = self.unlimited_law(model), self.limits(model)
        dofs = self._controlled(model)[0]
        return make_servos(
            [Servo(law.K[d], law.D[d], -f, f, dof=int(d)) for d, f in zip(dofs, limit, strict=True)]
        )

    def inputs(self, model: Model) -> Array:
        """What the servos are given where targets do not come as commands, shape (m,)."""
        return self.unlimited_law(model).b[self._controlled(model)[0]]

    def drive(self, model: Model, commands: ArrayLike) -> Array:
        """Joint forces beyond the gains, or inputs of servos, of targets (n, nu): (n, nv + m).

        One target per controlled degree of freedom; m of them are servos where there is a limit.
        """
        dofs, gain, rest = self._commands(model)
        targets = as_float(commands, (None, len(dofs)), "PD targets")
        if self.limit is None:
            out = np.zeros((len(targets), model.nv))
            out[:, dofs] = gain * targets
        else:
            out = np.zeros((len(targets), model.nv + len(dofs)))
            out[:, model.nv :] = gain * targets + rest
        return out

    def _commands(self, model: Model) -> tuple[IntArray, Array, Array]:
        """Controlled degrees of freedom, force per target, force at targets of zero; kept for later calls."""
        if not self._kept or self._kept[0] is not model:
            dofs, law = self._controlled(model)[0], self.unlimited_law(model)
            rest = law.D[dofs] * gain_per_joint(self.target_velocity, len(dofs), "target_velocity")
            self._kept[:] = [model, (dofs, law.K[dofs], rest)]
        return self._kept[1]

    def limits(self, model: Model) -> Array:
        """Largest force of each controlled degree of freedom, shape (nu,)."""
        dofs = self._controlled(model)[0]
        if isinstance(self.limit, str):
            if self.limit != "model":
                raise BadInput(f"PD: limit must be a number, one per joint, or 'model', got {self.limit!r}")
            return model.effort[dofs]
        limit = np.broadcast_to(gain_per_joint(self.limit, len(dofs), "limit"), (len(dofs),))
        if not (limit >= 0).all():
            raise BadInput("PD: limit must not be negative")
        return limit

    def controlled(self, model: Model) -> IntArray:
        """The controlled degrees of freedom of a model, shape (nu,), in the order of the joints' names."""
        return self._controlled(model)[0]

    def coordinates(self, model: Model) -> IntArray:
        """Their position coordinates, shape (nu,)."""
        return self._controlled(model)[1]

    def _controlled(self, model: Model) -> tuple[IntArray, IntArray]:
        """Degrees of freedom and position coordinates under control, (nu,) each."""
        chosen = [model.joint(n) for n in self.joints] if self.joints is not None else list(model.joints)
        if self.joints is not None and any(j.kind.nq != j.kind.nv for j in chosen):
            raise BadInput("PD: only joints with scalar coordinates can be controlled")
        chosen = [j for j in chosen if j.kind.nq == j.kind.nv]
        dofs = np.array([k for j in chosen for k in range(j.iv, j.iv + j.kind.nv)], dtype=np.int64)
        coordinates = np.array([k for j in chosen for k in range(j.iq, j.iq + j.kind.nq)], dtype=np.int64)
        return dofs, coordinates


def gain_per_joint(value: Any, n: int, what: str, who: str = "PD") -> np.ndarray:
    """A gain as numbers, shape () or (n,)."""
    try:
        out = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(f"{who}: {what} must be numeric, got {value!r}") from None
    if out.shape not in ((), (n,)):
        raise BadInput(f"{who}: {what} needs one number or {n}, got shape {out.shape}")
    return out
