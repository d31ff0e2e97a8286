"""Closed loops: how far a configuration leaves them open, and the nearest one that closes them.

What it solves: g(q) = 0, with for every loop of the model

    position       x_B − x_A, the distance of its two frames                       (all kinds)
    orientation    z_A × z_B for a hinge, ½ Σ A_c × B_c for a weld                 (columns c of the frames)

and q_f − m q_l − c for a joint f that follows a joint l.

Method: Gauss–Newton, q ← q ⊕ −J⁺ g with the least-squares inverse J⁺: redundant loops (a planar four-bar in
space) do no harm, and what loops leave free stays where it is. The derivatives of the orientation rows are
those at g = 0, which is where it ends. Steps are cut to a radian or a metre.

References: [Featherstone2008, Section 8.3] for loops; [GolubVanLoan2013, Section 5.5] for the inverse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.kinematics.configuration import integrate
from taction.kinematics.forward import BodyPoses, forward_kinematics
from taction.kinematics.jacobian import jacobian
from taction.math.transform import Transform
from taction.model.model import Model, of_model
from taction.model.spec import WORLD, LoopSpec

CLOSED = 1e-12  # [m or rad]
STEPS, LONGEST = 100, 1.0


class LoopGap(NamedTuple):
    """How far a loop is open."""

    name: str
    distance: float  # of the frames' origins [m]
    angle: float  # between axes that should be parallel, or of the turn that is left [rad]


@of_model
def loop_gaps(model: Model, q: ArrayLike) -> list[LoopGap]:
    """Gaps of all closed loops of a model at a configuration q (nq,)."""
    poses = forward_kinematics(model, q)
    out = []
    for loop in model.spec.loops:
        A, B = _frames(model, loop, poses)
        gap = _gap(loop, A, B)
        cosine: Any = 1.0
        if loop.kind == "hinge":
            cosine = A.rotation[:, 2] @ B.rotation[:, 2]
        elif loop.kind == "weld":
            cosine = 0.5 * (np.trace(A.rotation.T @ B.rotation) - 1.0)
        angle = np.arctan2(np.linalg.norm(gap[3:]), cosine)
        out.append(LoopGap(loop.name, float(np.linalg.norm(gap[:3])), float(angle)))
    return out


@of_model
def close_loops(model: Model, q: ArrayLike | None = None) -> Array:
    """The configuration (nq,) near q, or near the neutral one, in which all loops are closed.

    Raises:
        BadInput: they cannot be closed from there; the message says how near it came.
    """
    q = np.array(model.q0 if q is None else model.check_q(q))
    for _ in range(STEPS):
        gap, J = _equations(model, q)
        if np.abs(gap).max(initial=0.0) <= CLOSED or not (np.isfinite(gap).all() and np.isfinite(J).all()):
            break
        step = -np.linalg.lstsq(J, gap, rcond=1e-10)[0]
        if not np.abs(step).max() > CLOSED:
            break
        q = integrate(model, q, step * min(1.0, LONGEST / np.abs(step).max()))
    worst = max(loop_gaps(model, q), key=lambda g: max(g.distance, g.angle), default=LoopGap("", 0.0, 0.0))
    if max(worst.distance, worst.angle) <= np.sqrt(CLOSED):
        return q
    raise BadInput(
        f"{model.name}: loop {worst.name!r} cannot be closed from here: {worst.distance:.3g} m and "
        f"{worst.angle:.3g} rad remain"
    )


def _frames(model: Model, loop: LoopSpec, poses: BodyPoses) -> list[Transform]:
    out = []
    for name, pose in ((loop.body, loop.pose), (loop.other, loop.other_pose)):
        if name == WORLD:
            out.append(pose)
        else:
            b = model.body(name)
            out.append(Transform(poses.rotation[b], poses.position[b]) @ pose)
    return out


def _gap(loop: LoopSpec, A: Transform, B: Transform) -> Array:
    """Rows of one loop, world axes: three of position, and three of orientation where it has any."""
    parts = [B.translation - A.translation]
    if loop.kind == "hinge":
        parts.append(np.cross(A.rotation[:, 2], B.rotation[:, 2]))
    elif loop.kind == "weld":
        parts.append(0.5 * np.cross(A.rotation, B.rotation, axis=0).sum(axis=1))
    return np.concatenate(parts)


def _equations(model: Model, q: Array) -> tuple[Array, Array]:
    """All rows g, and their derivatives, shape (rows, nv)."""
    poses, gaps, rows = forward_kinematics(model, q), [np.zeros(0)], [np.zeros((0, model.nv))]
    for loop in model.spec.loops:
        frames = _frames(model, loop, poses)
        gaps.append(_gap(loop, *frames))
        J = np.zeros((6, model.nv))
        for name, pose, sign in ((loop.body, loop.pose, -1.0), (loop.other, loop.other_pose, 1.0)):
            if name != WORLD:
                J += sign * jacobian(model, q, name, pose.translation)
        turning = J[:3]
        if loop.kind == "hinge":
            z = frames[0].rotation[:, 2]
            turning = turning - np.outer(z, z @ turning)
        rows.append(J[3:] if loop.kind == "point" else np.vstack([J[3:], turning]))
    for c in model.couplings:
        gaps.append(np.array([q[c.follower_q] - c.multiplier * q[c.leader_q] - c.offset]))
        row = np.zeros((1, model.nv))
        row[0, c.follower_v], row[0, c.leader_v] = 1.0, -c.multiplier
        rows.append(row)
    return np.concatenate(gaps), np.vstack(rows)
