"""Rows of tendons: limits of their lengths, dry friction, and lengths that must stay.

| element | rows | set | offset |
|---|---|---|---|
| limit of a length | ± l̇ | half-line | by the scheme, e = 0 |
| dry friction | l̇ | ± h f_dry | 0 |
| held length | l̇ | all reals | 0 |

Three rows to a block, as of stops and dry friction of joints; moment arms are those of
`taction.contact.transmission`. Springs, dampers and actuators of tendons are servos
(`taction.steppers.servo_rows`).

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.chains import is_linear_freedom
from taction.contact.joint_rows import combined_rows
from taction.contact.transmission import measure
from taction.steppers.elements import open_box
from taction.steppers.joint_elements import joint_row, set_row
from taction.steppers.scene import BEFORE, FREE


@inline_kernel
def first_tendon(scene):
    """Where the impulses of tendons start among those of joints."""
    return 3 * scene.law.K.shape[0] + scene.joints.follower.shape[0] + 6 * scene.joints.loops.turning.shape[0]


@kernel
def measure_tendons(scene, ws):
    """Lengths and moment arms of all transmissions where the links are placed, into ws; returns 0."""
    measure(scene.tree, scene.chains, scene.transmissions, scene.law.iq, ws.q, ws.links, ws.length, ws.arm)
    return 0


@inline_kernel
def only_tree(chains, tendons, t):
    """The kinematic tree that transmission t moves, 0 if it moves several."""
    root = chains.root[chains.dof_link[tendons.dof[tendons.start[t]]]]
    for e in range(tendons.start[t], tendons.start[t + 1]):
        if chains.root[chains.dof_link[tendons.dof[e]]] != root:
            return 0
    return root


@inline_kernel
def is_angle(tree, chains, tendons, t):
    """Whether the length of transmission t is a sum of angles, by the first of its joints."""
    first = tendons.start[t]
    is_sum = tendons.start[t + 1] > first and tendons.first[t + 1] == tendons.first[t]
    return is_sum and not is_linear_freedom(tree, chains, tendons.dof[first])


@inline_kernel
def tendon_row(tendons, options, t, kind, at, rate, free):
    """Row of transmission t: takes part, sign, interval (2), offset and violation.

    kind 0 its lower, 1 its upper limit, 2 dry friction, 3 a length that must stay; ``at`` its length, rate
    and free its rates before and without impulses.
    """
    if kind == 3:
        held = tendons.held[t]
        return not math.isnan(held), 1.0, -math.inf, math.inf, 0.0, at - held
    limit = tendons.upper[t] if kind == 1 else tendons.lower[t]
    return joint_row(limit, tendons.dry[t], options, kind, at, rate, free)


@kernel
def gather_tendons(scene, options, state, ws, blocks_io):
    """Add the rows of all transmissions, three to a block; four impulses of each kept in the state.

    Returns 0. Transmissions that move several kinematic trees have blocks of their own.
    """
    tendons, slot, place, k, tree = scene.transmissions, first_tendon(scene), 3, -1, 0
    first, last, signs = (0, 0, 0), (0, 0, 0), (0.0, 0.0, 0.0)
    for t in range(tendons.lower.shape[0]):
        begin, end, rate, free = tendons.start[t], tendons.start[t + 1], 0.0, 0.0
        root = only_tree(scene.chains, tendons, t) if end > begin else 0
        is_turning = is_angle(scene.tree, scene.chains, tendons, t)
        for e in range(begin, end):
            rate += ws.arm[e] * ws.dof[BEFORE, tendons.dof[e]]
            free += ws.arm[e] * ws.dof[FREE, tendons.dof[e]]
        for kind in range(4):
            takes_part, sign, low, high, offset, gap = tendon_row(
                tendons, options, t, kind, ws.length[t], rate, free
            )
            if not takes_part:
                continue
            if place == 3 or root == 0 or root != tree:
                k, place, tree = blocks_io.count[0], 0, root
                first, last, signs = (0, 0, 0), (0, 0, 0), (0.0, 0.0, 0.0)
                open_box(k, blocks_io)
            if place == 0:
                first, last, signs = (begin, 0, 0), (end, 0, 0), (sign, 0.0, 0.0)
            elif place == 1:
                first, last, signs = (first[0], begin, 0), (last[0], end, 0), (signs[0], sign, 0.0)
            else:
                first, last = (first[0], first[1], begin), (last[0], last[1], end)
                signs = (signs[0], signs[1], sign)
            combined_rows(
                scene.tree, scene.chains, tendons.dof, ws.arm, first, last, signs, k, blocks_io
            )  # fmt: skip
            set_row(
                state.joint_impulse, k, place, low, high, offset, gap, is_turning, slot + 4 * t + kind,
                blocks_io,
            )  # fmt: skip
            place += 1
    return 0
