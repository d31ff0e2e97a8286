"""Robots let down until they touch: every free base shifted along gravity to where its shapes meet ground.

What it solves: for each mechanism that floats, the height s along the vertical u at which the least gap
between its collision shapes and those fixed to the world is zero, with nothing below that. Robots are placed
one by one, against the world alone; orientations and joints stay as they are.

Method
1. raise the robot until its lowest point is above everything fixed to the world that has bounds, of terrain
   above what lies below each shape;
2. ask the narrow phase for the contacts of all pairs that may touch; a contact with gap g and normal n (from
   the ground) would close at s − g / (n·u), if n points up at all;
3. move to the highest of these places, and repeat until nothing moves.

Distance costs nothing but over terrain, all of which would be looked at: there contacts are asked for within
a reach, and only of shapes that are so near. What is farther away is that much lower at least: without a
contact the robot moves down by the reach, which is doubled.

The gap of two convex shapes is a convex function of s, and its slope is n·u: each move is a step of Newton's
method from above, which never passes the root; against planes, flat faces and the points of terrain below
corners it is there at once. What does not point up (a wall, a ceiling made of a plane) holds nothing. Tilted
terrain is not convex along the way: where a step would leave the stretch between a place without overlap and
one with some, its middle is taken; where the border of terrain meets a shape from the side, the lowest place
without overlap is the answer.

Cost: a narrow phase of robot and ground per move, few moves; over terrain, of what is near.

References: none.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.jit import plain
from taction._core.kinds import ShapeKind
from taction.geometry.bounds import NORMAL, shape_bounds
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
UPRIGHT = 1e-9  # difference of the axes of terrain from upward that counts as none
NEAR = 0.1  # first reach over terrain, of the size of the largest shape
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
    limits = _limits(colliders, placed, mine, pairs, up)
    has_ground = limits[:, 0] > -np.inf
    pairs, (clear, under) = pairs[has_ground], limits[has_ground].T
    if not len(pairs):
        return None
    has_terrain = (colliders.kind[pairs] == ShapeKind.HEIGHT_FIELD).any()
    reach = min(FAR, NEAR * colliders.bound[mine].max()) if has_terrain else FAR
    travel = np.zeros((len(colliders.kind), TRAVEL_WIDTH))
    contacts, scratch = make_contacts(256), np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS))
    height = max(clear[clear < np.inf], default=0.0)
    free, blocked = np.inf, -np.inf
    moved = placed.copy()
    for _ in range(MOVES):
        moved[mine, PLACED_CENTRE:] = placed[mine, PLACED_CENTRE:] + height * up
        travel[:, BEYOND] = reach
        contacts = _contacts(colliders, moved, travel, pairs[clear >= height - reach], scratch, contacts)
        n = int(contacts.count[0])
        is_first = np.isin(contacts.shape[:n, 0], mine)
        slope = np.where(is_first, 1.0, -1.0) * (contacts.normal[:n] @ up)
        holds = slope > LEAST_SLOPE
        if not holds.any() and (reach == FAR or (height < under).all()):
            return None
        move = float((-contacts.gap[:n][holds] / slope[holds]).max(initial=-reach))
        if holds.any() and abs(move) <= STILL * (1.0 + abs(height)):
            height += move
            break
        is_clear = contacts.gap[:n][holds].min(initial=np.inf) >= 0.0
        free, blocked = (min(free, height), blocked) if is_clear else (free, max(blocked, height))
        if free - blocked <= STILL * (1.0 + abs(height)):
            return float(free)
        height = height + move if blocked < height + move < free else 0.5 * (blocked + free)
        reach = reach if holds.any() else min(FAR, 2.0 * reach)
    return float(height) if abs(move) <= CLOSED else None


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


def _limits(colliders: Colliders, placed: Array, mine: IntArray, pairs: IntArray, up: Array) -> Array:
    """For each pair, from how far up the shape is surely above, and up to where below the ground, (m, 2) [m].

    Infinite for ground without bounds; above from −∞ where terrain does not reach below the shape.
    """
    boxes = np.zeros((len(placed), 6))
    shape_bounds(colliders, placed, np.zeros(len(placed)), boxes)
    low, high = boxes[:, LOWER : LOWER + 3], boxes[:, UPPER : UPPER + 3]
    bottom, top = np.where(up > 0.0, low, high) @ up, np.where(up > 0.0, high, low) @ up
    far = np.abs(boxes).max(axis=1)
    limits = np.tile([np.inf, -np.inf], (len(pairs), 1))
    for k, (i, j) in enumerate(pairs):
        one, ground = (i, j) if i in mine else (j, i)
        if far[ground] < FAR:
            limits[k] = top[ground] - bottom[one], bottom[ground] - top[one]
            z = placed[ground, NORMAL : NORMAL + 7 : 3]
            if colliders.kind[ground] == ShapeKind.HEIGHT_FIELD and float(np.abs(z - up).max()) < UPRIGHT:
                limits[k, 0] = _highest_below(colliders, placed, ground, one, up) - bottom[one]
    return limits


def _highest_below(colliders: Colliders, placed: Array, field: int, one: int, up: Array) -> float:
    """Height of the highest point of upright terrain below or above a sphere around a shape [m]."""
    R, c = placed[field, :PLACED_CENTRE].reshape(3, 3), placed[field, PLACED_CENTRE:]
    middle, radius = R.T @ (placed[one, PLACED_CENTRE:] - c), colliders.bound[one]
    columns, rows, first = colliders.count[field], colliders.face_count[field], colliders.first[field]
    heights = colliders.height[first : first + rows * columns].reshape(rows, columns)
    x = _span(middle[0], radius, colliders.size[field, 0], columns)
    y = _span(middle[1], radius, colliders.size[field, 1], rows)
    return float(c @ up + heights[y, x].max(initial=-np.inf))


def _span(middle: float, radius: float, cell: float, count: int) -> slice:
    """Of so many points on an axis those around a stretch, up to the next one beyond it."""
    first = math.floor(max((middle - radius) / cell + 0.5 * (count - 1), 0.0))
    last = math.ceil(min((middle + radius) / cell + 0.5 * (count - 1), count - 1.0))
    return slice(first, max(last, -1) + 1)
