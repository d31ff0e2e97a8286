"""With impulses at hand: whether laws that allow for what flight changes were the right ones in this step.

What it solves: contacts that persist follow laws that hold where the step ends
(`taction.steppers.look_back`). Its answer may show that something else happens in the step, which those laws
would get wrong.

Method
1. `change_laws`: whether the problem is to be solved once more, with which offsets. If a contact struck that
   did not persist, all that hangs together with it follows the exact law where the step looks. If sliding
   ends or turns round, the sliding velocity before is taken out, so that the contact may stick. If contacts
   would work on what moves, all follow the exact law, under which impulses take ½ ΛᵀWΛ: once more, too, where
   the second answer does so.
2. `let_laws_go`, where no impulses are found under them, as where a flight turns a wedged body against its
   walls, or fingers that press on each other against their stops: all follow the exact law where the step
   looks, under which rest is a solution.
3. `remember_sliding`, with the step's velocities: who slid.

Writes: offsets of blocks and what depends on them, `Sight.start`, `Motion.said`.

Cost: one product of W and impulses; at most two more problems.

References: [StewartTrinkle1996] for the law of contacts that are new.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel, plain
from taction.contact.assembly import (
    AHEAD,
    GIVES_BACK,
    OFFSET,
    SLIDING,
    SOURCE,
    STRIKES,
    TREE,
    VELOCITY,
    row_velocity,
)
from taction.steppers.impact_phases import NOTHING_STRUCK
from taction.steppers.judge import fall
from taction.steppers.look_back import LEAVES
from taction.steppers.scene import BEFORE, MOMENTUM, PERSISTS, POSED_ANEW, RIGID, Memory, Options
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.half_flight import SLIDES

MADE_MOST = 1e-7  # work of contacts on what moves, as a share of its kinetic energy, that is let be
GOES_ON = 0.25  # share of its sliding velocity along which a contact must still slide [squared speeds]


@inline_kernel
def take_out(k, c, amount, blocks_io):
    """Take an amount out of the offset of row c of block k, and of the problem."""
    blocks_io.number[k, OFFSET + c] -= amount
    blocks_io.rows.b[3 * k + c] -= amount


@inline_kernel
def forget_sliding(k, blocks_io):
    """Take the sliding velocity before out of the offsets of block k."""
    for c in range(1, 3):
        take_out(k, c, blocks_io.number[k, SLIDING + c], blocks_io)
        blocks_io.number[k, SLIDING + c] = 0.0


@inline_kernel
def mark_struck(sight, blocks):
    """Mark with 1, in the list of trees, what hangs together with a contact that struck; whether any did."""
    mark, index, has_struck = blocks.head, blocks.index, False
    for t in range(mark.shape[0]):
        mark[t] = 0
    for k in range(blocks.count[0]):
        i = index[k, SOURCE]
        if i >= 0 and sight.start[i, PERSISTS] == 0.0 and blocks.r[3 * k] > 0.0:
            has_struck = True
            for s in range(3):
                mark[index[k, TREE + s]] = 1
    mark[0] = 0  # the world connects nothing
    is_growing = has_struck
    while is_growing:
        is_growing = False
        for k in range(blocks.count[0]):
            a, b, c = index[k, TREE], index[k, TREE + 1], index[k, TREE + 2]
            if (mark[a] | mark[b] | mark[c]) == 1 and blocks.r[3 * k] != 0.0:
                for tree in (a, b, c):
                    if tree != 0 and mark[tree] == 0:
                        mark[tree], is_growing = 1, True
    return has_struck


@inline_kernel
def velocity_after(k, blocks):
    """Velocity (3) of contact k where the scheme looks, by the impulses found."""
    rows, r = blocks.rows, blocks.r
    u0 = rows.b[3 * k] - blocks.number[k, OFFSET]
    u1 = rows.b[3 * k + 1] - blocks.number[k, OFFSET + 1]
    u2 = rows.b[3 * k + 2] - blocks.number[k, OFFSET + 2]
    for m in range(rows.start[k], rows.start[k + 1]):
        W, j = rows.value[m], 3 * rows.column[m]
        u0 += W[0] * r[j] + W[1] * r[j + 1] + W[2] * r[j + 2]
        u1 += W[3] * r[j] + W[4] * r[j + 1] + W[5] * r[j + 2]
        u2 += W[6] * r[j] + W[7] * r[j + 1] + W[8] * r[j + 2]
    return u0, u1, u2


@inline_kernel
def sliding_after(k, blocks):
    """Sliding velocity (2) of contact k where the step ends, by the impulses found."""
    _, u1, u2 = velocity_after(k, blocks)
    number = blocks.number
    u1 += number[k, OFFSET + 1] - number[k, SLIDING + 1]
    return u1, u2 + number[k, OFFSET + 2] - number[k, SLIDING + 2]


@inline_kernel
def makes_energy(tree, h, blocks, motion):
    """Whether contacts work on what moves, by more than errors of a smooth step."""
    work = press = kinetic = 0.0
    for d in range(motion.dof.shape[1]):
        kinetic += 0.5 * motion.dof[BEFORE, d] * motion.dof[MOMENTUM, d]
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] >= 0:
            r, now = blocks.r, row_velocity(blocks, k, motion.dof[BEFORE])
            after = velocity_after(k, blocks)
            press += abs(r[3 * k])
            for c in range(3):
                work += 0.5 * r[3 * k + c] * (now[c] + after[c])
    return work > MADE_MOST * kinetic and work > LEAVES * press * fall(tree, h)


@inline_kernel
def hold_exactly(sight_io, blocks_io):
    """Give all contacts the exact law, under which impulses can only take energy; returns how many change."""
    changes = 0
    for k in range(blocks_io.count[0]):
        i = blocks_io.index[k, SOURCE]
        if i < 0:
            continue
        forget_sliding(k, blocks_io)
        for c in range(3):
            if blocks_io.number[k, AHEAD + c] != 0.0:
                take_out(k, c, blocks_io.number[k, AHEAD + c], blocks_io)
                blocks_io.number[k, AHEAD + c] = 0.0
                blocks_io.index[k, STRIKES] = max(blocks_io.index[k, STRIKES], 1)
                changes += 1
        sight_io.start[i, PERSISTS] = 0.0
    return changes


@kernel
def change_laws(scene, options, ws):
    """Step 1: whether the problem must be solved once more, with the offsets that are then there."""
    sight, blocks, motion = ws.sight, ws.blocks, ws.motion
    if options.soft != RIGID or blocks.count[0] == 0 or motion.said[POSED_ANEW] > 1:
        return 0
    if motion.said[POSED_ANEW] == 1:
        motion.said[POSED_ANEW] = 2
        return hold_exactly(sight, blocks) if makes_energy(scene.tree, options.h, blocks, motion) else 0
    has_struck, changes = mark_struck(sight, blocks), 0
    index, number, mark = blocks.index, blocks.number, blocks.head
    for k in range(blocks.count[0]):
        i = index[k, SOURCE]
        if i >= 0 and sight.start[i, PERSISTS] > 0.0:
            s1, s2 = number[k, SLIDING + 1], number[k, SLIDING + 2]
            is_struck = (mark[index[k, TREE]] | mark[index[k, TREE + 1]] | mark[index[k, TREE + 2]]) == 1
            if has_struck and is_struck:
                # With something that struck: the exact law where the step looks
                changes += 1
                forget_sliding(k, blocks)
                for c in range(3):
                    if c > 0 or number[k, AHEAD] > 0.0 or number[k, GIVES_BACK] > 0.0:
                        take_out(k, c, number[k, AHEAD + c], blocks)
                        number[k, AHEAD + c] = 0.0
                sight.start[i, PERSISTS] = 0.0
                index[k, STRIKES] = 1
            elif s1 != 0.0 or s2 != 0.0:
                # Sliding that ends or turns round: the contact may stick
                u1, u2 = sliding_after(k, blocks)
                if u1 * s1 + u2 * s2 <= GOES_ON * (s1 * s1 + s2 * s2):
                    changes += 1
                    forget_sliding(k, blocks)
    if changes == 0 and makes_energy(scene.tree, options.h, blocks, motion):
        changes = hold_exactly(sight, blocks)
    motion.said[POSED_ANEW] += 1 if changes > 0 else 0
    return changes


def let_laws_go(options: Options, memory: Memory) -> bool:
    """Step 2: whether there were laws to let go, and the problem is to be solved once more, from zero."""
    said, is_impact = memory.motion.said, memory.impact.stage[0] != NOTHING_STRUCK
    if not options.is_measured or options.soft != RIGID or is_impact or said[POSED_ANEW] > 1:
        return False
    said[POSED_ANEW], blocks = 2, memory.blocks
    changes = plain(hold_exactly)(memory.sight, blocks)
    for k in range(int(blocks.count[0])):
        for c in range(3):
            blocks.r[3 * k + c] = 0.0
            if blocks.number[k, AHEAD + c] != 0.0:
                plain(take_out)(k, c, blocks.number[k, AHEAD + c], blocks)
                blocks.number[k, AHEAD + c] = 0.0
                changes += 1
    return changes > 0


@kernel
def remember_sliding(h, blocks, memory_io):
    """Step 3: who slides where the step ends, into memory_io (c, m); needs velocities after the impulses."""
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            continue
        number = blocks.number
        u1 = number[k, VELOCITY + 1] + number[k, AHEAD + 1]
        u2 = number[k, VELOCITY + 2] + number[k, AHEAD + 2]
        slides = blocks.r[3 * k] > 0.0 and (u1 * u1 + u2 * u2) * h * h > SLOP * SLOP
        memory_io[i, SLIDES] = 1.0 if slides else 0.0
