"""Rows of tendons: limits of their lengths, dry friction, and lengths that must stay.

| element | rows | set | offset |
|---|---|---|---|
| limit of a length | ± l̇ | half-line | by the scheme, e = 0 |
| dry friction | l̇ | ± h f_dry | 0 |
| held length | l̇ | all reals | 0 |

A block each, as of stops, dry friction and couplings of joints; moment arms are those of
`taction.contact.transmission`. Springs, dampers and actuators of tendons are servos
(`taction.steppers.servo_rows`).

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.joint_rows import combined_row
from taction.contact.transmission import measure
from taction.steppers.elements import joint_row, open_box, set_row
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


@kernel
def gather_tendons(scene, options, state, ws, blocks_io):
    """Add the rows of all transmissions, four impulses of each kept in the state; returns 0."""
    tree, chains, tendons, joint_impulse = scene.tree, scene.chains, scene.transmissions, state.joint_impulse
    slot = first_tendon(scene)
    for t in range(tendons.lower.shape[0]):
        first, last, at, rate, free = tendons.start[t], tendons.start[t + 1], ws.length[t], 0.0, 0.0
        for e in range(first, last):
            rate += ws.arm[e] * ws.dof[BEFORE, tendons.dof[e]]
            free += ws.arm[e] * ws.dof[FREE, tendons.dof[e]]
        for kind in range(4):
            limit = tendons.upper[t] if kind == 1 else tendons.lower[t]
            if kind == 3:
                takes_part, sign, low, high = not math.isnan(tendons.held[t]), 1.0, -math.inf, math.inf
                offset, gap = 0.0, at - tendons.held[t]
            else:
                takes_part, sign, low, high, offset, gap = joint_row(
                    limit, tendons.dry[t], options, kind, at, rate, free
                )
            if takes_part:
                k = blocks_io.count[0]
                combined_row(tree, chains, tendons.dof, ws.arm, first, last, sign, k, blocks_io)
                open_box(k, blocks_io)
                set_row(joint_impulse, k, 0, low, high, offset, gap, slot + 4 * t + kind, blocks_io)
    return 0
