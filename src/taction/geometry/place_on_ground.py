"""Robots let down until they touch: every free base shifted along gravity to where its shapes meet ground.

What it solves: for each mechanism that floats, the height s along the vertical u at which the least gap
between its collision shapes and those fixed to the world is zero, with nothing below that. Robots are placed
one by one, against the world alone; orientations and joints stay as they are.

Method
1. raise the robot until its lowest point is above everything fixed to the world that has bounds;
2. ask the narrow phase, at any distance, for the contacts of all pairs that may touch; a contact with gap g
   and normal n (from the ground) would close at s − g / (n·u), if n points up at all;
3. move to the highest of these places, and repeat until nothing moves.

The gap of two convex shapes is a convex function of s, and its slope is n·u: each move is a step of Newton's
method from above, which never passes the root; against planes, flat faces and the points of terrain below
corners it is there at once. What does not point up (a wall, a ceiling made of a plane) holds nothing.

Cost: a narrow phase of robot and ground per move, few moves.

References: none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import plain
from taction.geometry.bounds import shape_bounds
from taction.geometry.colliders import (
    LOWER,
    PLACED_CENTRE,
    PLACED_WIDTH,
    UPPER,
    Colliders,
    Contacts,
    make_contacts,
    place_shapes,
)
from taction.geometry.detect import BEYOND, TRAVEL_WIDTH, narrow_phase
from taction.geometry.filters import Filter, may_collide
from taction.geometry.general import general_pairs
from taction.geometry.scratch import SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.kinematics.forward import place_links
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.spec import WORLD
from taction.model.workspace import make_workspace

FAR = 1e6  # reach of every shape: all pairs are looked at [m]
LEAST_SLOPE = 1e-6  # of a contact that can hold anything up
MOVES = 200
STILL = 1e-12  # move that is none [m]
CLOSED = 1e-9  # gap at which it counts as touching [m]


def place_on_ground(model: Model, colliders: Colliders, filter: Filter, q: ArrayLike | None) -> Array:
    """The configuration (nq,) in which every free-floating robot touches the ground below it.

    Args:
        model: all that moves.
        colliders: its shapes and those of the ground.
        filter: which of them may touch.
        q: configuration, shape (nq,); the neutral one by default.

    Raises:
        BadInput: nothing floats, or there is no ground below a robot.
    """
    q = np.array(model.q0 if q is None else model.check_q(q))
    gravity = np.asarray(model.spec.gravity, dtype=float)
    strength = float(np.linalg.norm(gravity))
    up = -gravity / strength if strength > 0.0 else np.array([0.0, 0.0, 1.0])
    ws = make_workspace(model)
    place_links(model.tree, q, ws)
    placed = np.zeros((len(colliders.kind), PLACED_WIDTH))
    place_shapes(colliders, ws, placed)
    root = _roots(model.tree.parent)
    bases = [j for j in model.spec.joints if j.kind is JointKind.FLOATING and j.parent == WORLD]
    if not bases:
        raise BadInput(f"{model.name}: no robot floats, so there is nothing to place (floating_base=True?)")
    for base in bases:
        link = int(model.body_link[model.body(base.child)])
        mine = np.flatnonzero((root[colliders.link] == link) & (colliders.link > 0))
        pairs = _pairs(mine, np.flatnonzero(colliders.link == 0), filter)
        height = _height(colliders, placed, mine, pairs, up)
        if height is None:
            raise BadInput(f"{model.name}: {base.child!r} has no ground below it that its shapes can touch")
        at = model.joint(base.name).iq
        q[at : at + 3] += base.pose.rotation.T @ (height * up)
    return q


def _roots(parent: IntArray) -> IntArray:
    """For each link the first one of its tree, 0 for the world's."""
    root = np.arange(len(parent))
    for link in range(1, len(parent)):
        if parent[link] > 0:
            root[link] = root[parent[link]]
    return root


def _pairs(mine: IntArray, ground: IntArray, filter: Filter) -> IntArray:
    """Pairs of shapes that may touch, smaller first, shape (m, 2)."""
    both = [(min(i, j), max(i, j)) for i in mine for j in ground if plain(may_collide)(filter, i, j)]
    return np.array(sorted(both), dtype=np.int64).reshape(-1, 2)


def _height(colliders: Colliders, placed: Array, mine: IntArray, pairs: IntArray, up: Array) -> float | None:
    """How far to move up the shapes ``mine`` [m]; None if nothing is below."""
    if not len(pairs):
        return None
    travel = np.zeros((len(colliders.kind), TRAVEL_WIDTH))
    travel[:, BEYOND] = FAR
    contacts, scratch = make_contacts(256), np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))
    height = _clearance(colliders, placed, mine, pairs, up)
    moved = placed.copy()
    for _ in range(MOVES):
        moved[mine, PLACED_CENTRE:] = placed[mine, PLACED_CENTRE:] + height * up
        contacts = _contacts(colliders, moved, travel, pairs, scratch, contacts)
        n = int(contacts.count[0])
        is_first = np.isin(contacts.shape[:n, 0], mine)
        slope = np.where(is_first, 1.0, -1.0) * (contacts.normal[:n] @ up)
        holds = slope > LEAST_SLOPE
        if not holds.any():
            return None
        move = float((-contacts.gap[:n][holds] / slope[holds]).max())
        height += move
        if abs(move) <= STILL * (1.0 + abs(height)):
            break
    return height if abs(move) <= CLOSED else None


def _contacts(
    colliders: Colliders, placed: Array, travel: Array, pairs: IntArray, scratch: Array, contacts: Contacts
) -> Contacts:
    """The contacts of pairs of placed shapes, in a list that is long enough."""
    while True:
        if narrow_phase(colliders, placed, travel, pairs, len(pairs), scratch, contacts) > 0:
            general_pairs(colliders, placed, travel, pairs, len(pairs), scratch, contacts)
        if contacts.count[0] <= len(contacts.gap):
            return contacts
        contacts = make_contacts(2 * int(contacts.count[0]))


def _clearance(colliders: Colliders, placed: Array, mine: IntArray, pairs: IntArray, up: Array) -> float:
    """How far up the shapes are clear of all ground that has bounds [m]; no move where there is none."""
    boxes = np.zeros((len(placed), 6))
    shape_bounds(colliders, placed, np.zeros(len(placed)), boxes)
    ground = np.setdiff1d(np.unique(pairs), mine)
    ground = ground[(np.abs(boxes[ground]) < FAR).all(axis=1)]
    if not len(ground):
        return 0.0
    low = np.where(up > 0.0, boxes[mine, LOWER : LOWER + 3], boxes[mine, UPPER : UPPER + 3]) @ up
    high = np.where(up > 0.0, boxes[ground, UPPER : UPPER + 3], boxes[ground, LOWER : LOWER + 3]) @ up
    return float(high.max() - low.min())
