"""How far the correction of positions may go in one step, and how far it went.

What it solves: a linearised displacement w is only as good as it is small. Where the lever of a joint
vanishes the least displacement that opens a gap turns the joint by any angle; bodies that start one inside
another would jump; and where a stop is in the way there is none at all. So of a correction h w

* a contact point moves against its partner by at most p = `Options.push` [m] in a step, or by as much as the
  step itself moves it, if that is more: what one step closed too far, the same step may undo;
* a link turns, in the world and against the link it hangs on, by at most a = `Options.turn` [rad], a loose
  body by as much as the step itself turns it, if that is more;
* no joint passes its stop, whether or not that has a row in the problem.

Method
1. *Caps*. One contact k alone, with the impulse π, moves points and turns links in proportion to π; let π₁
   be the impulse at which the first bound is reached, and e ≤ 1 the share of the wanted motion of its own gap
   that is reached then. Its impulse is bounded by e π₁. An upper bound on a multiplier is a bounded price of
   its violation, min ½ wᵀ M w + Σ π_max,k max(0, −(g/h + J w)_k): a contact that no small motion opens gives
   up, as e² with its lever, and what can be opened is opened as if it were not there. Only violated contacts
   have caps: open ones, stops and loops are never given up.
2. *Scale*. What exceeds the bounds still, several contacts together, is scaled by a factor s < 1, one for
   everything that rows of the problem connect. g/h + s J w = (1 − s) g/h + s (g/h + J w) is not negative
   where both g and g/h + J w are not: no gap that was open is closed, no stop passed, and every violation
   shrinks.

Cost: nothing but a look at all links and blocks while the bounds are kept; otherwise a response of the
mechanism per contact. `bound_push` is rare, and no part of the compiled step: compiled when first needed.

References: [Moreau1988] for velocities as unknowns; [NocedalWright2006, Section 17.2] for exact penalties.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.contact.assembly import (
    GAP,
    RATE,
    ROW_DOF,
    SLOT,
    SOURCE,
    TREE,
    VELOCITY,
    impulse_response,
    row_velocity,
)
from taction.kinematics.forward import link_velocities
from taction.math.vector import dot, load3, sub
from taction.model.workspace import OMEGA
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.phases import DONE
from taction.steppers.push_easing import solve_eased
from taction.steppers.push_problem import most_in_step, position_targets, solve_push
from taction.steppers.scene import LOWER, NEW, PUSH, RIGID, TIE, UPPER

# A stop that the solved problem violates by more is in the way of everything else [m or rad]: solvers stop
# within a tenth of the slop, thirty sweeps over many contacts within some hundreds of that
STOP_SLOP = 1e-7


@inline_kernel
def turn_rate(links, one, other):
    """Larger of the angular velocities of a link in the world and against another one [rad/s]."""
    w = load3(links, one, OMEGA)
    r = sub(w, load3(links, other, OMEGA))
    return math.sqrt(max(dot(w, w), dot(r, r)))


@inline_kernel
def loose_spin(scene, i, v):
    """Squared angular velocity of link i under velocities v (nv,), 0 unless it is a loose body [rad²/s²]."""
    if scene.chains.alone[i] == 0 or scene.tree.kind[i] != LinkKind.FLOATING:
        return 0.0
    d = scene.tree.iv[i] + 3
    return v[d] * v[d] + v[d + 1] * v[d + 1] + v[d + 2] * v[d + 2]


@inline_kernel
def most_turn(scene, options, i, v):
    """How far link i may be turned in a step [rad]; v (nv,) at its start."""
    return max(options.turn, options.h * math.sqrt(loose_spin(scene, i, v)))


@inline_kernel
def point_rate(blocks, k, w):
    """Speed of the points of contact k against each other under velocities w (nv,) [m/s]."""
    u = row_velocity(blocks, k, w)
    return math.sqrt(dot(u, u))


@inline_kernel
def clear(count, push_io):
    """No impulses, of so many blocks."""
    for c in range(3 * count):
        push_io.impulse[c] = 0.0


@kernel
def respond(scene, options, k, ws):
    """Row PUSH of ws.motion.dof: velocities that a unit impulse of contact k causes, joints closed.

    Targets and sets of ws.push are used up; the velocities of links are those under it.
    """
    blocks, push = ws.blocks, ws.push
    clear(blocks.count[0], push)
    for i in range(blocks.count[0]):
        for c in range(3):
            push.target[3 * i + c] = 0.0
            if blocks.index[i, SOURCE] != TIE or push.sets[i, 2 * c] > -math.inf:
                push.sets[i, 2 * c] = push.sets[i, 2 * c + 1] = 0.0
    push.impulse[3 * k] = push.sets[k, 0] = push.sets[k, 1] = 1.0
    if has_joint_rows(options):
        solve_push(scene, options, ws)
    else:
        impulse_response(scene.tree, ws.motion.L, blocks, push.impulse, ws.motion.dof[PUSH])
        link_velocities(scene.tree, ws.motion.dof[PUSH], ws.motion.links)


@kernel
def cap_impulses(scene, options, v, ws):
    """Step 1 into the sets of ws.push; row PUSH of ws.motion.dof and the velocities of links are used up."""
    blocks, push, w, links = ws.blocks, ws.push, ws.motion.dof[PUSH], ws.motion.links
    is_rigid = options.soft == RIGID  # else contacts are no matter of positions
    for k in range(blocks.count[0]):
        push.cap[k] = -push.target[3 * k] if is_rigid and blocks.index[k, SOURCE] >= 0 else 0.0
    for k in range(blocks.count[0]):
        wanted = push.cap[k]
        push.cap[k] = math.inf
        if wanted <= 0.0:
            continue
        respond(scene, options, k, ws)
        price = options.h * point_rate(blocks, k, w) / most_in_step(options, blocks, k, 0, v, math.inf)
        for i in range(1, scene.tree.parent.shape[0]):
            most = most_turn(scene, options, i, v)
            price = max(price, options.h * turn_rate(links, i, scene.tree.parent[i]) / most)
        for t in range(scene.ties.turn.shape[0]):
            a, b = scene.ties.link[t, 0], scene.ties.link[t, 1]
            price = max(price, options.h * turn_rate(links, b, a) / options.turn)
        if price > 0.0:
            gain, _, _ = row_velocity(blocks, k, w)
            push.cap[k] = min(max(gain, 0.0) / (price * wanted), 1.0) / price
    _ = position_targets(options, blocks, v, push)
    clear(blocks.count[0], push)
    for k in range(blocks.count[0]):
        if is_rigid and blocks.index[k, SOURCE] >= 0:
            push.sets[k, 1] = push.cap[k]


@kernel
def rooms(scene, options, stops, blocks, motion, push_out):
    """How far joints can go to stops that have no row, into push_out.room (2, ·); infinite for others.

    stops: where the impulses of stops start among those of joints.
    """
    room, joints, n = push_out.room, scene.joints, scene.joints.lower.shape[0]
    a, h, new = options.ahead, options.h, motion.dof[NEW]
    for d in range(room.shape[1]):
        room[0, d] = room[1, d] = math.inf
    if has_joint_rows(options):
        n = scene.motors.shape[0]
        for k in range(blocks.count[0]):
            for c in range(3):
                d = blocks.index[k, ROW_DOF + c]
                if blocks.index[k, SOURCE] == TIE and d >= 0:
                    number = blocks.number[k]
                    at = number[GAP + c] + h * (a * number[RATE + c] + (1.0 - a) * number[VELOCITY + c])
                    room[0, d], room[1, d] = at - scene.motors[d, LOWER], scene.motors[d, UPPER] - at
    else:
        for d in range(n):
            i = scene.law.iq[d]
            if i >= 0:
                at = motion.q[i] + (1.0 - a) * h * new[d]
                room[0, d], room[1, d] = at - joints.lower[d], joints.upper[d] - at
    for k in range(blocks.count[0]):
        for c in range(3):
            slot = blocks.index[k, SLOT + c] - stops
            if blocks.index[k, SOURCE] == -1 and blocks.index[k, SLOT + c] >= 0 and 0 <= slot < 2 * n:
                room[slot // n, slot % n] = math.inf


@inline_kernel
def share(most, wanted):
    """Factor that keeps a displacement within a bound."""
    return most / wanted if wanted > most else 1.0


@inline_kernel
def hold_tree(root, factor, push_io):
    """A kinematic tree moves by no more than this factor."""
    push_io.scale[root] = min(push_io.scale[root], factor)


@inline_kernel
def stop_share(room, rate, h):
    """Factor with which a joint does not pass its stops, room (2) away."""
    if rate > 0.0:
        return share(max(room[1], 0.0), h * rate)
    return share(max(room[0], 0.0), -h * rate)


@inline_kernel
def hold_at_stops(options, blocks, k, w, push_io):
    """Rows of stops in block k: where the push leads through one, the problem has no solution."""
    if blocks.index[k, SOURCE] != -1:
        return
    u = row_velocity(blocks, k, w)
    for c in range(3):
        rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
        gap = options.h * push_io.target[3 * k + c]
        if push_io.sets[k, 2 * c + 1] == math.inf and push_io.sets[k, 2 * c] == 0.0:
            if rate < 0.0 and gap + options.h * rate < -STOP_SLOP:
                factor = share(max(gap, 0.0), -options.h * rate)
                hold_tree(blocks.index[k, TREE], factor, push_io)


@kernel
def scale_trees(scene, options, v, blocks, motion, push_out):
    """Factors of all kinematic trees by themselves into push_out.scale; returns the smallest."""
    w, links, root, h = motion.dof[PUSH], motion.links, scene.chains.root, options.h
    scale, room = push_out.scale, push_out.room
    for i in range(scale.shape[0]):
        scale[i] = 1.0
    for i in range(1, scene.tree.parent.shape[0]):
        turned = h * turn_rate(links, i, scene.tree.parent[i])
        hold_tree(root[i], share(most_turn(scene, options, i, v), turned), push_out)
    for t in range(scene.ties.turn.shape[0]):
        a, b = scene.ties.link[t, 0], scene.ties.link[t, 1]
        hold_tree(root[b], share(options.turn, h * turn_rate(links, b, a)), push_out)
    is_tied = has_joint_rows(options)
    for k in range(blocks.count[0]):
        hold_at_stops(options, blocks, k, w, push_out)
        tree, source = blocks.index[k, TREE], blocks.index[k, SOURCE]
        if source >= 0:
            size = h * point_rate(blocks, k, w)
            hold_tree(tree, share(most_in_step(options, blocks, k, 0, v, size), size), push_out)
        elif is_tied and source == TIE:
            u = row_velocity(blocks, k, w)
            for c in range(3):
                d = blocks.index[k, ROW_DOF + c]
                if d >= 0:
                    rate = u[0] if c == 0 else (u[1] if c == 1 else u[2])
                    hold_tree(tree, stop_share((room[0, d], room[1, d]), rate, h), push_out)
    if not is_tied:
        for d in range(w.shape[0]):
            at = root[scene.chains.dof_link[d]]
            hold_tree(at, stop_share((room[0, d], room[1, d]), w[d], h), push_out)
    least = 1.0
    for i in range(scale.shape[0]):
        least = min(least, scale[i])
    return least


@kernel
def scale_push(scene, blocks, push_io, w_io):
    """Step 2: trees that rows connect take the smallest of their factors; w_io (nv,) is scaled."""
    scale, is_changed = push_io.scale, True
    scale[0] = 1.0  # the world moves with nothing
    while is_changed:
        is_changed = False
        for k in range(blocks.count[0]):
            least = 1.0
            for s in range(3):
                tree = blocks.index[k, TREE + s]
                if tree != 0:
                    least = min(least, scale[tree])
            for s in range(3):
                tree = blocks.index[k, TREE + s]
                if tree != 0 and scale[tree] > least:
                    scale[tree] = least
                    is_changed = True
    for d in range(w_io.shape[0]):
        w_io[d] *= scale[scene.chains.root[scene.chains.dof_link[d]]]


@kernel
def bound_push(scene, options, v, ws):
    """Steps 1 and 2: a correction within the bounds into row PUSH of ws.motion.dof, after `scale_trees`.

    With loops that give way where ws.push says so. v (nv,): velocities at the start of the step. Leaves the
    velocities of links under it. Returns what is missing, before it can be called again.
    """
    blocks, push, motion = ws.blocks, ws.push, ws.motion
    cap_impulses(scene, options, v, ws)
    missing = solve_eased(scene, options, ws) if push.is_eased[0] else solve_push(scene, options, ws)
    if missing != DONE:
        return missing
    if scale_trees(scene, options, v, blocks, motion, push) < 1.0:
        push.is_held[0] = True
        scale_push(scene, blocks, push, motion.dof[PUSH])
        link_velocities(scene.tree, motion.dof[PUSH], motion.links)
    return DONE


@kernel
def push_size(scene, h, blocks, motion):
    """(metres, radians) by which h w moves points of contact and turns links; needs their velocities."""
    points = turns = 0.0
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] >= 0:
            points = max(points, point_rate(blocks, k, motion.dof[PUSH]))
    for i in range(1, scene.tree.parent.shape[0]):
        turns = max(turns, turn_rate(motion.links, i, scene.tree.parent[i]))
    for t in range(scene.ties.turn.shape[0]):
        turns = max(turns, turn_rate(motion.links, scene.ties.link[t, 1], scene.ties.link[t, 0]))
    return h * points, h * turns
