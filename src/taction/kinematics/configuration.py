"""Arithmetic of configurations: q ⊕ δ, q₁ ⊖ q₀, and q̇ from v.

Scalar coordinates add. Orientations live on the unit quaternions: with ω in child axes,

    integrate   p ⊕ φ = p · exp(φ)            difference   p₁ ⊖ p₀ = log(p₀⁻¹ p₁)
    rate        ṗ = ½ p · (0, ω)

A floating joint is position and orientation side by side: its linear velocity is measured in the joint's own
axes (the world's, for a free body), so that x ⊕ δ = x + δ is exact and a body in free flight keeps its
momentum.
`integrate(q, difference(q, r)) = r` to rounding, and differences are the shortest rotations, of at most π.

References: [Sola2017, Eqs. (101), (105), (117)].
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.jit import kernel
from taction._core.kinds import LinkKind
from taction.math.rotation import quat_exp, quat_load, quat_log, quat_mul
from taction.math.vector import scale, segment3
from taction.model.model import Model, of_model

# A quaternion just normalised has a squared length within a few rounding units of one; leaving it alone makes
# normalising idempotent, so that a run restarted from a recorded state repeats bit for bit.
UNIT_LENGTH = 4e-15


@kernel
def turn_orientation(q, k, h, w, q_out):
    """The quaternion at q[k] turned by h w (3) in its own axes, into q_out, which may be q itself."""
    turned = quat_mul(quat_load(q, k), quat_exp(scale(h, w)))
    # renormalise: rounding must not accumulate over a long run
    s = 1.0 / math.sqrt(
        turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2] + turned[3] * turned[3]
    )
    for c in range(4):
        q_out[k + c] = s * turned[c]


@kernel
def integrate_configuration(tree, q, v, h, q_out):
    """Write q ⊕ h v to q_out (nq,), which may be q itself; q (nq,), v (nv,), h time [s]."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.iq[i]
        j = tree.iv[i]
        if kind == LinkKind.REVOLUTE or kind == LinkKind.PRISMATIC:
            q_out[k] = q[k] + h * v[j]
        else:
            if kind == LinkKind.FLOATING:
                for c in range(3):
                    q_out[k + c] = q[k + c] + h * v[j + c]
                k += 3
                j += 3
            turn_orientation(q, k, h, segment3(v, j), q_out)


@kernel
def difference_configuration(tree, q0, q1, v_out):
    """Write q1 ⊖ q0 to v_out (nv,): the velocity that leads from q0 to q1 in unit time."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.iq[i]
        j = tree.iv[i]
        if kind == LinkKind.REVOLUTE or kind == LinkKind.PRISMATIC:
            v_out[j] = q1[k] - q0[k]
        else:
            if kind == LinkKind.FLOATING:
                for c in range(3):
                    v_out[j + c] = q1[k + c] - q0[k + c]
                k += 3
                j += 3
            w, x, y, z = quat_load(q0, k)
            phi = quat_log(quat_mul((w, -x, -y, -z), quat_load(q1, k)))
            for c in range(3):
                v_out[j + c] = phi[c]


@kernel
def configuration_rate(tree, q, v, qdot_out):
    """Write q̇ to qdot_out (nq,) from q (nq,) and v (nv,); quaternions need not be normalised."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        k = tree.iq[i]
        j = tree.iv[i]
        if kind == LinkKind.REVOLUTE or kind == LinkKind.PRISMATIC:
            qdot_out[k] = v[j]
        else:
            if kind == LinkKind.FLOATING:
                for c in range(3):
                    qdot_out[k + c] = v[j + c]
                k += 3
                j += 3
            p = (q[k], q[k + 1], q[k + 2], q[k + 3])
            rate = quat_mul(p, (0.0, 0.5 * v[j], 0.5 * v[j + 1], 0.5 * v[j + 2]))
            for c in range(4):
                qdot_out[k + c] = rate[c]


@kernel
def normalize_configuration(tree, q_io):
    """Scale every quaternion in q_io (nq,) to unit length; those that have it keep every bit."""
    for i in range(1, tree.parent.shape[0]):
        kind = tree.kind[i]
        if kind == LinkKind.SPHERICAL or kind == LinkKind.FLOATING:
            k = tree.iq[i]
            if kind == LinkKind.FLOATING:
                k += 3
            n2 = q_io[k] ** 2 + q_io[k + 1] ** 2 + q_io[k + 2] ** 2 + q_io[k + 3] ** 2
            if abs(n2 - 1.0) > UNIT_LENGTH:
                p = quat_load(q_io, k)
                for c in range(4):
                    q_io[k + c] = p[c]


@of_model
def integrate(model: Model, q: ArrayLike, v: ArrayLike, time: float = 1.0) -> Array:
    """Configuration reached from q (nq,) by the constant velocity v (nv,) after ``time`` [s]."""
    q = np.array(model.check_q(q))
    integrate_configuration(model.tree, q, model.check_v(v), float(as_float(time, (), "time")), q)
    return q


@of_model
def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """Velocity (nv,) that leads from q0 to q1 (nq,) in one second, along the shortest rotations."""
    v = np.empty(model.nv)
    difference_configuration(model.tree, model.check_q(q0, "q0"), model.check_q(q1, "q1"), v)
    return v


def random_state(model: Model, rng: np.random.Generator, spread: float = 1.0) -> tuple[Array, Array]:
    """A random configuration and velocity: coordinates within ``spread``, orientations uniform."""
    q = rng.uniform(-spread, spread, model.nq)
    for joint in model.joints:
        if joint.kind.nq != joint.kind.nv:
            quaternion = rng.normal(size=4)
            q[joint.q_slice.stop - 4 : joint.q_slice.stop] = quaternion / np.linalg.norm(quaternion)
    return q, rng.uniform(-spread, spread, model.nv)
