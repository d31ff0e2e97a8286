"""Springs, dampers and proportional–derivative gains at the joints, as one linear law.

What it solves: the joint force τ = b − K q − D v with diagonal K, D ≥ 0. A spring of stiffness k and rest
position ρ gives K = k, b = kρ; a damper D = d; a PD loop with gains k_p, k_d and targets (ρ, σ) K = k_p, D =
k_d, b = k_p ρ + k_d σ. Laws add. Joints with quaternion coordinates have dampers only.

Implicit treatment: over a step h the law acts at the end of the step, q + h v⁺ and v⁺ = v + h v̇, so that
    M v̇ + bias = τ + b − K (q + h v) − D v − (h D + h² K) v̇.
The last term is a diagonal inertia: it joins the rotor inertia (armature) of the joints, and the O(n)
algorithms solve the implicit step unchanged. Stable for any h, K and D, because it only ever adds inertia.

Notation: K stiffness [N/m or N m/rad], D damping, b constant part [N or N m], all (nv,).

References: [BaraffWitkin1998, Eq. (5)] for one linearised implicit step; [Ayit2015, Table 5.3] for gains
that need it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, frozen
from taction._core.errors import BadInput
from taction._core.jit import kernel
from taction._core.layout import Layout, floats, ints
from taction.model.model import Model


class JointLaw(Layout):
    """τ = b − K q − D v per degree of freedom."""

    K: Array = floats("nv", "stiffness [N/m or N m/rad]")
    D: Array = floats("nv", "damping [N s/m or N m s/rad]")
    b: Array = floats("nv", "constant part [N or N m]")
    iq: IntArray = ints("nv", "position coordinate of each degree of freedom, −1 where it has none")

    def __add__(self, other: JointLaw) -> JointLaw:
        """Both laws at once."""
        return JointLaw(frozen(self.K + other.K), frozen(self.D + other.D), frozen(self.b + other.b), self.iq)


@kernel
def joint_law_force(law, q, v, tau, lookahead, tau_out):
    """Write tau + b − K (q + lookahead · v) − D v to tau_out (nv,); q (nq,), v, tau (nv,), lookahead [s]."""
    for k in range(v.shape[0]):
        force = tau[k] + law.b[k] - law.D[k] * v[k]
        if law.iq[k] >= 0:
            force -= law.K[k] * (q[law.iq[k]] + lookahead * v[k])
        tau_out[k] = force


def joint_law(
    model: Model,
    stiffness: ArrayLike = 0.0,
    damping: ArrayLike = 0.0,
    q_rest: ArrayLike | None = None,
    v_rest: ArrayLike = 0.0,
) -> JointLaw:
    """A linear joint law.

    Args:
        model: the mechanism.
        stiffness: per degree of freedom, or one for all; ≥ 0.
        damping: likewise.
        q_rest: configuration where the springs are slack, shape (nq,); the neutral one by default.
        v_rest: velocity where the dampers are slack, shape (nv,) or one for all.

    Raises:
        BadInput: negative or non-finite gains, wrong shapes, stiffness on a quaternion joint.
    """
    iq = np.full(model.nv, -1, dtype=np.int64)
    for joint in model.joints:
        if joint.kind.nq == joint.kind.nv:
            iq[joint.v_slice] = np.arange(joint.q_slice.start, joint.q_slice.stop)
    K, D, v0 = (
        _spread(x, model.nv, what)
        for x, what in (
            (stiffness, "stiffness"),
            (damping, "damping"),
            (v_rest, "v_rest"),
        )
    )
    if (K < 0).any() or (D < 0).any():
        raise BadInput("stiffness and damping must not be negative")
    if np.ndim(stiffness) == 0:
        K = np.where(iq >= 0, K, 0.0)  # one gain for all means for all that can have it
    elif (K[iq < 0] != 0).any():
        raise BadInput("stiffness is for joints with scalar coordinates only")
    rest = (model.q0 if q_rest is None else model.check_q(q_rest))[iq]
    with np.errstate(over="ignore", invalid="ignore"):  # a step with what overflows is not finite, and ends
        b = K * rest + D * v0
    return JointLaw(frozen(K), frozen(D), frozen(b), frozen(iq, np.int64))


def passive_law(model: Model) -> JointLaw:
    """The model's own joint springs and dampers."""
    law = joint_law(model, model.stiffness, model.damping)
    with np.errstate(over="ignore"):
        return law._replace(b=frozen(model.stiffness * model.rest))


def _spread(value: ArrayLike, n: int, what: str) -> Array:
    out = np.asarray(value, dtype=float)
    if out.shape not in ((), (n,)):
        raise BadInput(f"{what}: expected one number or {n}, got shape {out.shape}")
    if not np.isfinite(out).all():
        raise BadInput(f"{what}: contains NaN or infinity")
    return np.broadcast_to(out, (n,)).copy()
