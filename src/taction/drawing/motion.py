"""Frames of a run: poses of all bodies and the contacts of some of its steps.

A frame is a recorded state, not a mean of several: what is shown at its time was simulated. Its contacts and
their forces are those of the step that starts there, the last frame's those of the last step. Friction in
use is that of `taction.drawing.friction_use`; on the boundary means all but `EDGE_SLACK` of it.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.drawing.description import EDGE, INSIDE, OPEN, Frames
from taction.drawing.friction_use import friction_use, presses
from taction.drawing.open_forces import open_steps
from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.sim.run import Run

# A force that uses all but this share of its cone is on the boundary.
EDGE_SLACK = 1e-4
# Contacts of a frame that are kept, those with the largest forces.
MOST_CONTACTS = 600


def frames_of_run(run: Run, rows: IntArray) -> Frames:
    """Frames at recorded states ``rows`` (n,), in order."""
    position, quaternion = poses(run.model, run.q[rows])
    table, world = run.contacts, run.world
    if table is None or world is None or run.records is None or not run.steps:
        return frames_of_poses(run.model, run.t[rows], position, quaternion)
    steps = np.minimum(rows, run.steps - 1)
    taken, first = _contacts(table.step, np.linalg.norm(table.impulse, axis=1), steps)
    used = friction_use(run)
    state, friction = np.full(len(table.step), OPEN), np.zeros((len(table.step), 2))
    state[presses(table.impulse[:, 0])] = INSIDE
    state[used.rows[used.share > 1.0 - EDGE_SLACK]] = EDGE
    friction[used.rows] = np.stack([used.along, used.lateral], axis=1)
    axes = table.frame[taken].reshape(-1, 3, 3)
    pair = world.shape_body[table.key[taken, :2]].reshape(-1, 2)
    free = np.append(free_bodies(run.model), False)[pair]  # the world is no body
    is_carried = np.where(free[:, 0] == free[:, 1], axes[:, 2, 0] < 0.0, free[:, 1])
    turned = (pair[:, 0] < 0) | ((pair[:, 1] >= 0) & is_carried)
    sign = np.where(turned, -1.0, 1.0)[:, None]
    return Frames(
        t=run.t[rows],
        position=position,
        quaternion=quaternion,
        com=centre_of_mass(run.model, position, quaternion),
        first=first,
        point=table.point[taken],
        normal=sign * axes[:, :, 0],
        tangent=axes[:, :, 1],
        friction=friction[taken],
        force=sign * np.einsum("cij,cj->ci", axes, table.impulse[taken]) / run.dt,
        state=state[taken],
        pair=np.where(turned[:, None], pair[:, ::-1], pair),
        is_open=open_steps(run, steps),
    )


def frames_of_poses(model: Model, t: Array, position: Array, quaternion: Array) -> Frames:
    """Frames without contacts, at times (n,), of positions (n, b, 3) and quaternions (n, b, 4)."""
    vectors, numbers = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    return Frames(
        t=t,
        position=position,
        quaternion=quaternion,
        com=centre_of_mass(model, position, quaternion),
        first=np.zeros(len(t) + 1, dtype=np.int64),
        point=vectors,
        normal=vectors,
        tangent=vectors,
        friction=np.zeros((0, 2)),
        force=vectors,
        state=numbers,
        pair=numbers.reshape(0, 2),
        is_open=np.zeros(len(t), dtype=bool),
    )


def free_bodies(model: Model) -> Array:
    """Which bodies nothing holds, and which carry no others: things, not robots; shape (b,)."""
    parents = {joint.parent for joint in model.spec.joints}
    alone = {joint.child for joint in model.spec.joints if joint.parent == "world"} - parents
    return np.array([name in alone for name in model.body_names], dtype=bool)


def _contacts(step: IntArray, size: Array, steps: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of a table sorted by ``step`` that belong to ``steps`` (n,), the largest of each, and firsts."""
    begin, end = np.searchsorted(step, steps), np.searchsorted(step, steps, side="right")
    taken, first = [np.zeros(0, dtype=np.int64)], [0]
    for a, b in zip(begin.tolist(), end.tolist(), strict=True):
        mine = np.arange(a, b)
        if b - a > MOST_CONTACTS:
            mine = np.sort(a + np.argsort(-size[a:b], kind="stable")[:MOST_CONTACTS])
        taken.append(mine)
        first.append(first[-1] + len(mine))
    return np.concatenate(taken), np.array(first, dtype=np.int64)


def poses(model: Model, Q: Array) -> tuple[Array, Array]:
    """Positions (n, b, 3) [m] and quaternions (n, b, 4) of all bodies at configurations Q (n, nq)."""
    found = [forward_kinematics(model, q) for q in Q]
    count = len(model.body_names)
    position = np.array([pose.position for pose in found]).reshape(len(Q), count, 3)
    rotation = np.array([pose.rotation for pose in found]).reshape(len(Q), count, 3, 3)
    return position, continuous(quaternions(rotation))


def quaternions(R: Array) -> Array:
    """Quaternions (…, 4), w first, of rotations (…, 3, 3): the largest component by its own square root.

    Method: of the four components the squares follow from the diagonal; the others follow from the largest
    one and the sums and differences across the diagonal, so that nothing is divided by a small number.
    """
    d = np.diagonal(R, axis1=-2, axis2=-1)
    trace = d.sum(axis=-1, keepdims=True)
    squares = 0.25 * (1.0 + np.concatenate([trace, 2.0 * d - trace], axis=-1))
    best = squares.argmax(axis=-1)
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 1, 0] + R[..., 0, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 2, 1] + R[..., 1, 2]
    s = 4.0 * squares
    rows = np.stack(
        [
            np.stack([s[..., 0], x, y, z], axis=-1),
            np.stack([x, s[..., 1], xy, xz], axis=-1),
            np.stack([y, xy, s[..., 2], yz], axis=-1),
            np.stack([z, xz, yz, s[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    chosen = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    return chosen / np.linalg.norm(chosen, axis=-1, keepdims=True)


def continuous(P: Array) -> Array:
    """Quaternions (n, b, 4) with signs such that each is on the side of the one before it."""
    flips = (P[1:] * P[:-1]).sum(axis=-1) < 0.0
    signs = np.concatenate([np.ones((min(len(P), 1), P.shape[1])), np.where(flips, -1.0, 1.0)])
    return P * np.cumprod(signs, axis=0)[..., None]


def centre_of_mass(model: Model, position: Array, quaternion: Array) -> Array:
    """Centre of mass of all bodies [m], shape (n, 3), at their positions (n, b, 3) and quaternions."""
    mass = np.array([body.inertia.mass for body in model.spec.bodies])
    arm = np.array([body.inertia.com for body in model.spec.bodies]).reshape(-1, 3)
    if not mass.sum() > 0.0:
        return np.zeros((len(position), 3))
    places = position + rotate(quaternion, arm)
    return np.einsum("b,nbi->ni", mass / mass.sum(), places)


def rotate(P: Array, v: Array) -> Array:
    """Vectors v (…, 3) turned by quaternions P (…, 4)."""
    w, u = P[..., :1], P[..., 1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)
