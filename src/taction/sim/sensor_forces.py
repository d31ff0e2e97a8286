"""Forces for sensors: contacts in a zone, and what passes through a body's joint.

*Touch*: the sum of the normal forces of contacts of the site's body whose ray from the point of contact
outwards, along the normal, meets the zone of the site; contacts inside always count.

*Force and torque*: what the rest of the mechanism does to the site's body and all that hangs on it, at the
site: the change of their momenta over the step, less weights, contacts and pushes from outside,

    f = Σ m (a − g) − Σ f_contact − Σ f_push,      moments alike about the site.

Everything else counts as passing through the joint, wherever it acts: tendons, propellers, weights taken
off, closures of loops. A push from outside acts on a link; where several bodies are welded to one link it
counts as acting on the first of them.

References: [LuhWalkerPaul1980] for forces from accelerations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.model.spec import SiteSpec
from taction.sim.sensor_frames import Frames, cross, turn, turn_back
from taction.sim.touch_zone import meets


class Touches(NamedTuple):
    """Contacts of n states: of the steps that ended there."""

    row: IntArray  # (c,) number of the state
    body: IntArray  # (c, 2) both bodies, −1 for the world
    point: Array  # (c, 3) [m]
    normal: Array  # (c, 3) from the second body to the first
    force: Array  # (c, 3) on the first [N]


class Pushes(NamedTuple):
    """Wrenches held on links from outside."""

    row: IntArray  # (p,) number of the state, −1 for all
    link: IntArray  # (p,)
    arm: Array  # (p, 3) where, link axes [m]
    wrench: Array  # (p, 6) moment about that point, force; world axes [N m, N]


def no_touches() -> Touches:
    """Of a motion without contact."""
    none = np.zeros((0, 3))
    return Touches(np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64), none, none, none)


def touch(frames: Frames, site: SiteSpec, touches: Touches) -> Array:
    """Sum of normal forces in the zone of a site [N], shape (n,)."""
    body, out = _number(frames, site.body), np.zeros(frames.n)
    frame = frames.of_part("site", site.name)
    for side, sign in ((0, -1.0), (1, 1.0)):
        mine = np.flatnonzero(touches.body[:, side] == body)
        row, outwards = touches.row[mine], sign * touches.normal[mine]
        axes = frame.axes[row]
        x = turn_back(axes, touches.point[mine] - frame.position[row])
        normal_force = (touches.force[mine] * touches.normal[mine]).sum(axis=1)
        is_felt = (normal_force > 0.0) & meets(site.zone, x, turn_back(axes, outwards))
        np.add.at(out, row[is_felt], normal_force[is_felt])
    return out


def joint_wrench(
    frames: Frames, site: SiteSpec, touches: Touches, pushes: Pushes | None
) -> tuple[Array, Array]:
    """Force and torque through the joint of a site's body, at the site, in its axes, shape (n, 3) each."""
    frame, names = frames.of_part("site", site.name), frames.hanging_on(site.body)
    force, torque = np.zeros((frames.n, 3)), np.zeros((frames.n, 3))
    for mass, inertia, centre in frames.weights(names):
        needed = mass * centre.pull
        force += needed
        torque += cross(centre.position - frame.position, needed) + turn(inertia, centre.turning)
        torque += cross(centre.angular, turn(inertia, centre.angular))
    numbers = [_number(frames, name) for name in names]
    for side, sign in ((0, 1.0), (1, -1.0)):
        mine = np.isin(touches.body[:, side], numbers)
        row, given = touches.row[mine], sign * touches.force[mine]
        np.subtract.at(force, row, given)
        np.subtract.at(torque, row, cross(touches.point[mine] - frame.position[row], given))
    if pushes is not None:
        links = frames.model.body_link
        first = {int(link): int(np.flatnonzero(links == link)[0]) for link in np.unique(links)}
        for row, link, arm, wrench in zip(*pushes, strict=True):
            if first.get(int(link)) in numbers:
                here, (R, p) = slice(row, row + 1) if row >= 0 else slice(None), frames.link(int(link))
                force[here] -= wrench[3:]
                lever = (p + turn(R, arm) - frame.position)[here]
                torque[here] -= wrench[:3] + cross(lever, np.broadcast_to(wrench[3:], lever.shape))
    return turn_back(frame.axes, force), turn_back(frame.axes, torque)


def _number(frames: Frames, body: str) -> int:
    return frames.model.body_names.index(body) if body in frames.model.body_names else -1
