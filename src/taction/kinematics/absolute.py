"""From joint coordinates to absolute ones and back.

What it solves: the placement of every link's centre of mass from joint coordinates, by forward kinematics;
and joint coordinates from the placements of two links, by taking the relative rotation apart.

Notation: A and B the frames of a tie on parent and child (`taction.model.absolute`), R = Aᵀ B, d the origin
of B from that of A in A's axes, ω and u the relative angular velocity, and the relative velocity at B's
origin, in A's axes.

Back: first d and u along the free rows of position, then by how the joint turns
    locked   nothing
    hinge    θ = atan2(R₁₀, R₀₀),  θ̇ = ω_z
    cardan   with c = C e_z and b = R e_z: θ₁ = atan2(b_y, b_x) − atan2(c_y, c_x); θ₂ from what
             C^T R_z(−θ₁) R turns about z; rates by the dual of the two axes, since ω = θ̇₁ e_z + θ̇₂ b
    free     the quaternion of R; ω in B's axes
Placements give angles within a turn; the number of turns comes from elsewhere. Where the joint is not exactly
closed the formulas take what fits best.

References: [Transeth2006, Section V-A] for the angles of a cardan joint.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.kinds import TurnKind
from taction.kinematics.forward import link_velocities, place_links
from taction.math.transform import quaternion_from_rotation
from taction.model.absolute import Absolute, Ties
from taction.model.workspace import AXES, OMEGA, ORIGIN, SPEED, make_workspace, matrices, vectors


def to_bodies(absolute: Absolute, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Absolute coordinates (7 nb,) and velocities (6 nb,) of a state q (nq,), v (nv,) of the robot."""
    robot = absolute.robot
    ws = make_workspace(robot)
    place_links(robot.tree, robot.check_q(q), ws)
    link_velocities(robot.tree, robot.check_v(v), ws)
    link = absolute.link[1:]
    R, w = matrices(ws, AXES)[link], vectors(ws, OMEGA)[link]
    arm = np.einsum("bij,bj->bi", R, absolute.centre[1:])
    position = vectors(ws, ORIGIN)[link] + arm
    velocity = vectors(ws, SPEED)[link] + np.cross(w, arm)
    quaternion = np.array([quaternion_from_rotation(r) for r in R]).reshape(-1, 4)
    spin = np.einsum("bji,bj->bi", R, w)
    return np.hstack([position, quaternion]).ravel(), np.hstack([velocity, spin]).ravel()


def tie_angles(absolute: Absolute, q: ArrayLike) -> Array:
    """Angles (m, 3) of the ties' rows of orientation at joint coordinates q (nq,), turns included."""
    q, ties = np.asarray(q, dtype=float), absolute.ties
    angle = np.zeros((len(ties.turn), 3))
    for t in range(len(angle)):
        for j, c in _angular(ties, t):
            angle[t, c] = q[ties.iq[t] + j]
    return angle


def _angular(ties: Ties, t: int) -> list[tuple[int, int]]:
    """Coordinates of a joint that are angles, each with its row of orientation."""
    if ties.turn[t] == TurnKind.FREE:
        return []
    return [(int(ties.dof[t, 3 + c] - ties.iv[t]), c) for c in range(3) if ties.dof[t, 3 + c] >= 0]


def to_joints(absolute: Absolute, Q: Array, V: Array, angle: Array) -> tuple[Array, Array]:
    """Joint coordinates (n, nq) and velocities (n, nv) of absolute states Q (n, 7 nb), V (n, 6 nb).

    angle (n, m, 3): angles of the ties, from which the number of turns is taken.
    """
    robot, ties = absolute.robot, absolute.ties
    n = len(Q)
    q, v = np.zeros((n, robot.nq)), np.zeros((n, robot.nv))
    place, speed = Q.reshape(n, -1, 7), V.reshape(n, -1, 6)
    R = np.concatenate([np.broadcast_to(np.eye(3), (n, 1, 3, 3)), rotations(place[..., 3:])], axis=1)
    x, u = (np.concatenate([np.zeros((n, 1, 3)), a[..., :3]], axis=1) for a in (place, speed))
    w = np.einsum("nbij,nbj->nbi", R[:, 1:], speed[..., 3:])
    w = np.concatenate([np.zeros((n, 1, 3)), w], axis=1)
    # ties that turn alike and have the same rows free, together
    sorts = 64 * ties.turn + (ties.dof >= 0) @ (1 << np.arange(6))
    for sort in np.unique(sorts):
        k = np.flatnonzero(sorts == sort)
        a, b = ties.link[k, 0], ties.link[k, 1]
        A = R[:, a] @ ties.axes[2 * k].reshape(-1, 3, 3)
        B = R[:, b] @ ties.axes[2 * k + 1].reshape(-1, 3, 3)
        xa = x[:, a] + np.einsum("nbij,bj->nbi", R[:, a], ties.point[2 * k])
        xb = x[:, b] + np.einsum("nbij,bj->nbi", R[:, b], ties.point[2 * k + 1])
        slip = u[:, b] + np.cross(w[:, b], xb - x[:, b]) - u[:, a] - np.cross(w[:, a], xb - x[:, a])
        turn, d, spin, slip = (
            np.swapaxes(A, -1, -2) @ B,
            *(np.einsum("nbji,nbj->nbi", A, y) for y in (xb - xa, w[:, b] - w[:, a], slip)),
        )
        where, rate = _turning(ties.turn[k[0]], ties.middle[k].reshape(-1, 3, 3), turn, spin)
        free = np.flatnonzero(ties.dof[k[0], :3] >= 0)
        where = np.concatenate([d[..., free], where], axis=-1)
        rate = np.concatenate([slip[..., free], rate], axis=-1)
        for j, c in _angular(ties, k[0]):
            turns = np.floor((angle[:, k, c] - where[..., j]) / (2.0 * np.pi) + 0.5)
            where[..., j] += 2.0 * np.pi * turns
        q[:, ties.iq[k][:, None] + np.arange(where.shape[-1])] = where
        v[:, ties.iv[k][:, None] + np.arange(rate.shape[-1])] = rate
    return q, v


def rotations(quaternion: Array) -> Array:
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4)."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _turning(kind: int, C: Array, R: Array, w: Array) -> tuple[Array, Array]:
    """Coordinates and velocities (n, m, ·) of orientation of m joints that turn alike."""
    match kind:
        case TurnKind.LOCKED:
            return R[..., 0, :0], w[..., :0]
        case TurnKind.HINGE:
            return _angle(R)[..., None], w[..., 2:]
        case TurnKind.CARDAN:
            return _cardan(C, R, w)
    quaternion = np.array([quaternion_from_rotation(r) for r in R.reshape(-1, 3, 3)]).reshape(*R.shape[:2], 4)
    return quaternion, np.einsum("nbji,nbj->nbi", R, w)


def _angle(R: Array) -> Array:
    return np.arctan2(R[..., 1, 0], R[..., 0, 0])


def _cardan(C: Array, R: Array, w: Array) -> tuple[Array, Array]:
    b = R[..., 2]
    first = np.arctan2(b[..., 1], b[..., 0]) - np.arctan2(C[:, 1, 2], C[:, 0, 2])
    first = np.arctan2(np.sin(first), np.cos(first))
    c, s, zero = np.cos(first), np.sin(first), np.zeros_like(first)
    back = np.stack(
        [np.stack([c, s, zero], -1), np.stack([-s, c, zero], -1), np.stack([zero, zero, zero + 1.0], -1)], -2
    )
    second = _angle(np.swapaxes(C, -1, -2) @ back @ R)
    # ω = θ̇₁ e_z + θ̇₂ b: solve in the plane of both axes
    along, wb = b[..., 2], np.einsum("nbi,nbi->nb", w, b)
    det = 1.0 - along * along
    rates = np.stack([(w[..., 2] - along * wb) / det, (wb - along * w[..., 2]) / det], axis=-1)
    return np.stack([first, second], axis=-1), rates
