"""Absolute coordinates: every link a free body, joints as equations of the step.

M is constant and blockwise, C v = ω × Θ ω. Joints and what acts on them are rows of the contact problem
(`taction.steppers.ties`), eliminated by one factorisation in every Newton step; sweeps would have to carry
impulses along the chains. Bodies move along their joints, so that joints stay closed; or straight, and are
put back (`moreau-projected`).

References: [Transeth2006, Sections II, III, VI].
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.rnea import newton_euler
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_speeds, place_links
from taction.kinematics.ties import follow_turns, move_bodies, tie_rates, worst_tie_gap
from taction.steppers.columns import JOINT_GAP
from taction.steppers.scene import BIAS, PUSH, ZERO
from taction.steppers.ties import gather_followers, gather_ties

ABSOLUTE = 1


@kernel
def look(tree, ties, options, q, v, last, ws):
    """Put the bodies where the scheme looks: along their joints, whose rates are those at ``last``."""
    is_along = options.ahead > 0.0 and not options.is_projected
    if options.ahead > 0.0 and not is_along:
        integrate_configuration(tree, q, v, options.ahead * options.h, ws.q)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
    if is_along:
        place_links(tree, last, ws.links)
        tie_rates(tree, ties, v, ws.links)
    place_links(tree, ws.q, ws.links)
    if is_along:
        move_bodies(tree, ties, options.ahead * options.h, ws.links, ws.q)


@kernel
def bias(tree, v, ws):
    """Row BIAS of ws.dof: forces ω × Θ ω + g of the bodies; their velocities into ws.links."""
    newton_euler(tree, v, ws.dof[ZERO], ws.links, ws.dof[BIAS])
    link_speeds(tree, v, ws.links)


@kernel
def gather(scene, options, drive, state, ws, blocks_io):
    """Add the joints between bodies; drive (nr,): forces held on them."""
    slot = state.joint_impulse.shape[0] - scene.ties.follow.shape[0]
    gather_followers(
        scene.tree, scene.chains, scene.ties, state.angle, state.joint_impulse, slot, ws, blocks_io
    )
    slot -= 6 * scene.ties.turn.shape[0] + 3 * scene.motors.shape[0]
    gather_ties(
        scene.tree, scene.chains, scene.ties, scene.motors, options, drive, state.v, state.angle,
        state.joint_impulse, slot, ws, blocks_io,
    )  # fmt: skip


@kernel
def move(tree, ties, options, has_push, v, ws, q_out):
    """Positions at the end of the step into q_out (nq,), from where the scheme looked."""
    time = (1.0 - options.ahead) * options.move_h
    tie_rates(tree, ties, v, ws.links)
    if options.is_projected:
        integrate_configuration(tree, ws.q, v, time, q_out)
        place_links(tree, q_out, ws.links)
        move_bodies(tree, ties, 0.0, ws.links, q_out)  # from parent to child, each joint closed as turned
    else:
        for k in range(q_out.shape[0]):
            q_out[k] = ws.q[k]
        move_bodies(tree, ties, time, ws.links, q_out)
    if has_push:
        place_links(tree, ws.q, ws.links)
        tie_rates(tree, ties, ws.dof[PUSH], ws.links)
        place_links(tree, q_out, ws.links)
        move_bodies(tree, ties, options.h, ws.links, q_out)


@kernel
def close(tree, ties, ws, state_io, record_out):
    """Angles at the end of the step, turns included, into the state; the largest gap of a joint booked."""
    place_links(tree, state_io.q, ws.links)
    follow_turns(ties, ws.links, state_io.angle)
    record_out[JOINT_GAP] = worst_tie_gap(ties, ws.links)
