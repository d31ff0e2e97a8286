"""Absolute coordinates: every link a free body, joints as equations of the step.

M is constant and blockwise. Between two places where impulses act bodies turn, and ω × Θ ω turns their
velocities with them, as in free flight (`taction.dynamics.free_flight`); those that no joint locks turn by
the mean of their spins before and after. Joints and what acts on them are rows of the contact problem
(`taction.steppers.ties`), eliminated by one factorisation in every Newton step; sweeps would have to carry
impulses along the chains. Bodies move along their joints, so that joints stay closed; or straight, and are
put back (`moreau-projected`).

Where flight is split from forces, and laws are measured (`half_flight`), bodies fly as their joints let them:
in joint coordinates, by the articulated-body algorithm, whose cost grows with the number of links as well.
Joints are closed, and u_n = u⁻ = 0 along their locked rows, wherever a state or a flight ends. So joints do
no work, and the motion is that of reduced coordinates. (Bodies that fly on their own, and impulses of joints
between, are of order 2 too, but a thousand times farther off in a gyroscope: what a joint does to a fast body
turns with it, by Ω h in a step, of which (Ω h)² / 24 is lost.)

With the other split scheme, `midpoint`, bodies fly as if there were no joints. The step's rows close these
where it looks next, up to third order in h, and the rest is put right there; halfway, at the end of a step, a
body that flies past its joint has them open by the sagitta of its path, of second order. The state then holds
both: `q` with joints closed, for everybody, and `last` as the bodies fly on. The gap booked is that of
`last`.

References: [Transeth2006, Sections II, III, VI].
"""

from __future__ import annotations

from taction._core.jit import call_kernel, kernel
from taction.dynamics.free_flight import fly_all_alone, spin_bodies
from taction.dynamics.rnea import newton_euler
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_velocities, place_links
from taction.kinematics.joint_state import body_state, joint_state
from taction.kinematics.ties import follow_turns, lag_loose, move_bodies, tie_rates, worst_tie_gap
from taction.steppers.columns import JOINT_GAP
from taction.steppers.scene import (
    BEFORE,
    BIAS,
    CARRY_ENTRY,
    FLIGHT_ENTRY,
    FLOWN,
    LAG,
    LOST_FLIGHT,
    NEW,
    PUSH,
    PUT_RIGHT,
    TAKEN_OFF,
    ZERO,
)
from taction.steppers.ties import gather_followers, gather_ties

ABSOLUTE = 1


@kernel
def fly_joined(scene, t, v, ws):
    """Rows FLOWN of ws.flight: bodies after a time t [s], that joints hold, from where ws.links has them.

    v (nv,): their velocities there. Rates of the joints are left in ws.links.
    """
    robot, flight = scene.robot, ws.flight
    q, qdot, q_flown, v_flown = flight.q[TAKEN_OFF], flight.v[TAKEN_OFF], flight.q[FLOWN], flight.v[FLOWN]
    joint_state(scene.tree, scene.ties, v, ws.links, q, qdot)
    integrate_configuration(robot.tree, q, qdot, t, q_flown)
    for d in range(qdot.shape[0]):
        v_flown[d] = qdot[d]
    if ws.entry[FLIGHT_ENTRY] != 0 and t > 0.0:
        lost = call_kernel(
            ws.entry[FLIGHT_ENTRY], (robot.tree, t, q, qdot, flight.zero, False, flight, q_flown, v_flown)
        )
        ws.said[LOST_FLIGHT] += 1 if lost else 0
    fly_all_alone(robot.tree, robot.chains, t, q, qdot, q_flown, v_flown)


@kernel
def look(scene, options, state, ws):
    """Put the bodies where the scheme looks: along their joints, whose rates are those at ``last``.

    Returns 0.
    """
    tree, chains, ties, q, v, last = scene.tree, scene.chains, scene.ties, state.q, state.v, state.last
    if options.is_measured:
        place_links(tree, q, ws.links)
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
        fly_joined(scene, options.ahead * options.h, v, ws)
        body_state(
            tree, scene.robot, ws.flight.q[FLOWN], ws.flight.v[FLOWN], ws.flight.links, ws.q, ws.dof[BEFORE]
        )
        place_links(tree, ws.q, ws.links)
        return 0
    if options.is_split:
        place_links(tree, last, ws.links)
        tie_rates(tree, ties, v, ws.links)
        fly_all_alone(tree, chains, options.ahead * options.h, last, v, ws.q, ws.dof[BEFORE])
        place_links(tree, ws.q, ws.links)
        move_bodies(tree, ties, 0.0, ws.links, ws.q)  # closes what the flight left open
        return 0
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
    return 0


@kernel
def bias(tree, options, ws):
    """Row BIAS of ws.dof: weights of the bodies; their velocities, turned since they moved, into ws.links."""
    v = ws.dof[BEFORE]
    newton_euler(tree, ws.dof[ZERO], ws.dof[ZERO], ws.links, ws.dof[BIAS])
    if not options.is_split:
        if options.ahead > 0.0:  # as they turned since the last place where the scheme looked
            spin_bodies(tree, options.force_h, v)
        link_velocities(tree, v, ws.links)


@kernel
def gather(scene, options, drive, state, ws, blocks_io):
    """Add the joints between bodies; drive (nr + m,): forces held on them, inputs of servos. Returns 0."""
    slot = state.joint_impulse.shape[0] - scene.ties.follow.shape[0]
    v = ws.dof[BEFORE] if options.is_measured else state.v
    gather_followers(
        scene.tree, scene.chains, scene.ties, options, state.angle, state.joint_impulse, slot, ws, blocks_io
    )
    slot -= 6 * scene.ties.turn.shape[0] + 3 * scene.motors.shape[0]
    gather_ties(
        scene.tree, scene.chains, scene.ties, scene.servos, options, drive, v, state.angle,
        state.joint_impulse, slot, ws, blocks_io,
    )  # fmt: skip
    return 0


@kernel
def end_step(scene, options, has_push, ws, state_io):
    """Positions and velocities at the end of the step, or as bodies fly on, into the state; returns 0."""
    tree, ties = scene.tree, scene.ties
    if options.is_measured:
        land(scene, options, has_push, ws, state_io.q, state_io.v, state_io.last)
    elif options.is_split:
        fly_on(tree, scene.chains, ties, options, has_push, ws, state_io.q, state_io.v, state_io.last)
    else:
        move(tree, ties, options, has_push, ws.dof[NEW], ws, state_io.q, state_io.v)
    return 0


@kernel
def move(tree, ties, options, has_push, v, ws, q_out, v_io):
    """Positions at the end of the step into q_out (nq,), from where the scheme looked.

    A scheme that looks at q has velocities v_io (nv,), which are v before, turned at once.
    """
    time = (1.0 - options.ahead) * options.move_h
    tie_rates(tree, ties, v, ws.links)
    if options.ahead == 0.0:
        spin_bodies(tree, options.move_h, v_io)
        for d in range(v.shape[0]):
            ws.dof[LAG, d] = 0.5 * (v[d] - v_io[d])
        lag_loose(tree, ties, ws.dof[LAG], ws.links)
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
def land(scene, options, has_push, ws, q_out, v_out, last_out):
    """The flight that is left, from where the scheme looked to q_out and last_out (nq,), v_out (nv,).

    A correction of positions then carries the momenta of bodies, as far as joints let it.
    """
    tree, robot, flight, end = scene.tree, scene.robot, ws.flight, FLOWN
    place_links(tree, ws.q, ws.links)
    fly_joined(scene, (1.0 - options.ahead) * options.move_h, ws.dof[NEW], ws)
    if has_push:
        # The displacement as joint velocities, where it was found
        joint_state(tree, scene.ties, ws.dof[PUSH], ws.links, flight.q[PUT_RIGHT], flight.v[PUT_RIGHT])
        put, carried = flight.v[PUT_RIGHT], flight.v[TAKEN_OFF]
        if ws.entry[FLIGHT_ENTRY] != 0:
            # On straight ways, as in flight
            q, q_put = flight.q[FLOWN], flight.q[PUT_RIGHT]
            call_kernel(
                ws.entry[FLIGHT_ENTRY],
                (robot.tree, options.h, q, put, flight.zero, False, flight, q_put, carried),
            )
            fly_all_alone(robot.tree, robot.chains, options.h, q, put, q_put, carried)
        else:
            integrate_configuration(robot.tree, flight.q[FLOWN], put, options.h, flight.q[PUT_RIGHT])
        for d in range(flight.zero.shape[0]):
            put[d] = flight.v[FLOWN, d]
        if ws.entry[CARRY_ENTRY] != 0:
            call_kernel(
                ws.entry[CARRY_ENTRY],
                (robot.tree, flight.q[FLOWN], flight.q[PUT_RIGHT], flight.v[FLOWN], flight, carried),
            )
            for d in range(carried.shape[0]):
                if not robot.chains.alone[robot.chains.dof_link[d]]:
                    put[d] = carried[d]
        end = PUT_RIGHT
    for k in range(q_out.shape[0]):
        q_out[k] = ws.q[k]
    body_state(tree, robot, flight.q[end], flight.v[end], flight.links, q_out, v_out)
    for k in range(q_out.shape[0]):
        last_out[k] = q_out[k]


@kernel
def fly_on(tree, chains, ties, options, has_push, ws, q_out, v_out, last_out):
    """Bodies at the end of the step as they fly into last_out (nq,), with joints closed into q_out (nq,)."""
    t = (1.0 - options.ahead) * options.move_h
    fly_all_alone(tree, chains, t, ws.q, ws.dof[NEW], last_out, v_out)
    if has_push:
        integrate_configuration(tree, last_out, ws.dof[PUSH], options.h, last_out)
    for k in range(q_out.shape[0]):
        q_out[k] = last_out[k]
    place_links(tree, q_out, ws.links)
    tie_rates(tree, ties, v_out, ws.links)
    move_bodies(tree, ties, 0.0, ws.links, q_out)


@kernel
def close(scene, options, ws, state_io, record_out):
    """Angles at the end of the step, turns included, into the state; the largest gap of a joint booked.

    Returns 0.
    """
    tree, ties = scene.tree, scene.ties
    place_links(tree, state_io.q, ws.links)
    follow_turns(ties, ws.links, state_io.angle)
    if options.is_split:
        place_links(tree, state_io.last, ws.links)
    record_out[JOINT_GAP] = max(record_out[JOINT_GAP], worst_tie_gap(ties, ws.links))
    return 0
