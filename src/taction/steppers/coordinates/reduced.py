"""Joint coordinates: Featherstone's algorithms, joints never open.

M is that of the kinematic tree, its factor as sparse; there are no rows for joints but those of stops, dry
friction, couplings and loops, which both coordinates have. With momenta carried, C v is a difference of the
links' velocities between the places where the scheme looked (`taction.dynamics.discrete_bias`).

Otherwise C v is that of the mean v̄ of v and of what Coriolis forces alone make of it within the step, by
fixed-point iteration: for a body that turns it then does no work, and gains no energy. Where three axes come
into one plane an inertia is lost and the iteration runs away: in such a step C v is left out, joints keep
their speeds, energy is not kept, and the equation of motion counts as not solved. Bodies that
are alone fly freely, to where the scheme looks and on from there after impulses
(`taction.dynamics.free_flight`).

Where flight is split from forces, a tree without springs, dampers and servos flies as well, to the midpoint
and from there on by

    q_M = q ⊕ ½ h v,   M (v_M − v) = −½ h c(v̄);        M (v⁺ − v_M) = −½ h c(v̄),   q⁺ = q_M ⊕ ½ h v⁺

with M and c = C v at q_M and v̄ the mean of both velocities: each the other backwards in time. With springs
and the like, which are of order 1 anyway, c acts together with them: they must hold against it.

References: [Featherstone2008, Chapter 6].
"""

from __future__ import annotations

import math

from taction._core.jit import call_kernel, inline_kernel, kernel
from taction.dynamics.discrete_bias import discrete_bias, remember_velocities
from taction.dynamics.factor import solve_ltdl
from taction.dynamics.free_flight import fly_all_alone
from taction.dynamics.rnea import joint_force, newton_euler
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_speeds, link_velocities, place_links
from taction.kinematics.motion import link_accelerations
from taction.math.vector import cross, load3, scale
from taction.model.workspace import FIRST, MASS
from taction.steppers.scene import (
    AT_START,
    BEFORE,
    BIAS,
    CARRY_ENTRY,
    CORIOLIS,
    FLIGHT,
    FLIGHT_ENTRY,
    FREE,
    GAIN,
    IN_MIDDLE,
    LOST_FLIGHT,
    MEAN,
    NEW,
    PLACED,
    PUSH,
    SOMEWHERE,
    ZERO,
)

REDUCED = 0
STEPS = 20  # of the fixed-point iteration
ACCURACY = 1e-11  # change of the velocities, relative, at which it is done
SLIGHT = 1e-3  # change of velocities that is never taken for running away [m/s or rad/s]
REFINED = 1e-5  # the same where flight is not split


@inline_kernel
def fly_all(tree, chains, t, q, v, place, ws, q_out, v_out):
    """All links of q (nq,), v (nv,) after the time t [s] into q_out, v_out, other arrays than q and v.

    Trees that joints hold fly if there are any; place: the one at which links count as placed at q.
    """
    if ws.entry[FLIGHT_ENTRY] != 0 and t > 0.0:
        is_placed = ws.said[PLACED] == place
        lost = call_kernel(ws.entry[FLIGHT_ENTRY], (tree, t, q, v, ws.dof[ZERO], is_placed, ws, q_out, v_out))
        ws.said[LOST_FLIGHT] += 1 if lost else 0
    else:
        integrate_configuration(tree, q, v, t, q_out)
    fly_all_alone(tree, chains, t, q, v, q_out, v_out)
    ws.said[PLACED] = SOMEWHERE


@kernel
def look(tree, chains, options, q, v, last, ws):
    """Put the links where the scheme looks; with momenta carried, remember their velocities at ``last``."""
    if options.is_momentum:
        place_links(tree, last, ws.links)
        remember_velocities(tree, v, ws.links)
    if options.is_measured:
        fly_all(tree, chains, options.ahead * options.h, q, v, AT_START, ws, ws.q, ws.dof[BEFORE])
        place_links(tree, ws.q, ws.links)
        ws.said[PLACED] = IN_MIDDLE
        return
    if options.ahead > 0.0:
        integrate_configuration(tree, q, v, options.ahead * options.h, ws.q)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
    if options.ahead > 0.0 and not options.is_momentum:
        fly_all_alone(tree, chains, options.ahead * options.h, q, v, ws.q, ws.dof[BEFORE])
    place_links(tree, ws.q, ws.links)


@inline_kernel
def weigh(tree, ws, g_out):
    """Forces against gravity into g_out (nv,), from the composite masses that the mass matrix left in ws."""
    g = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
    for i in range(1, tree.parent.shape[0]):
        moment = cross(load3(ws.links, i, FIRST), g)
        joint_force(tree, i, moment, scale(ws.links[i, MASS], g), ws.links, g_out)


@kernel
def coriolis(tree, chains, t, accuracy, v, ws):
    """Row CORIOLIS of ws.dof: C v̄ on trees, v̄ the mean of v (nv,) and of what that makes of it in t [s].

    Row FLIGHT: by how much it changes v. Row BIAS is gravity; bodies that are alone are left out. Returns
    whether the iteration ran away; both rows are zero then.
    """
    mean, force, change, most = ws.dof[MEAN], ws.dof[CORIOLIS], ws.dof[FLIGHT], 0.0
    for d in range(v.shape[0]):
        mean[d] = 0.0 if chains.alone[chains.dof_link[d]] else v[d]
        force[d] = change[d] = 0.0
        most = max(most, abs(mean[d]))
    step = most if t > 0.0 else 0.0
    for n in range(STEPS):
        if step <= accuracy * most:
            break
        newton_euler(tree, mean, ws.dof[ZERO], ws.links, force)
        for d in range(v.shape[0]):
            force[d] -= ws.dof[BIAS, d]
            ws.dof[GAIN, d] = -t * force[d]
        solve_ltdl(tree.dof_parent, tree.column, ws.L, ws.dof[GAIN])
        last, step = step if n > 0 else math.inf, 0.0
        for d in range(v.shape[0]):
            more = ws.dof[GAIN, d] - change[d]
            step = max(step, abs(more))
            change[d] = ws.dof[GAIN, d]
            mean[d] += 0.5 * more
        if step > last and step > max(most, SLIGHT):
            for d in range(v.shape[0]):
                force[d] = change[d] = 0.0
            return True
    return False


@inline_kernel
def is_sprung(ws):
    """Whether springs, dampers or servos act on joints: implicit, they must see all forces of the step."""
    for d in range(ws.law.K.shape[0]):
        if ws.law.K[d] > 0.0 or ws.law.D[d] > 0.0:
            return True
    return ws.is_row.shape[0] > 0


@kernel
def bias(tree, chains, options, ws):
    """Row BIAS of ws.dof: forces C v + g of the placed links; their velocities into ws.links.

    What trees that fly do by themselves changes velocities in row BEFORE instead. Returns whether C v ran
    away.
    """
    v = ws.dof[BEFORE]
    if options.is_momentum:
        discrete_bias(tree, v, options.h, ws.links, ws.dof[BIAS])
        return False
    weigh(tree, ws, ws.dof[BIAS])
    if options.is_measured:
        return ws.said[LOST_FLIGHT] > 0
    if options.is_split and not is_sprung(ws):
        ran_away = coriolis(tree, chains, options.ahead * options.h, ACCURACY, v, ws)
        for d in range(v.shape[0]):
            v[d] += ws.dof[FLIGHT, d]
        return ran_away
    ran_away = coriolis(tree, chains, options.force_h, REFINED, v, ws)
    for d in range(v.shape[0]):
        ws.dof[BIAS, d] += ws.dof[CORIOLIS, d]
    if options.needs_turning:
        link_accelerations(tree, v, ws.dof[ZERO], (0.0, 0.0, 0.0), ws.links)
        link_speeds(tree, v, ws.links)
    else:
        link_velocities(tree, v, ws.links)
    return ran_away


@kernel
def foresee(tree, chains, options, ws):
    """Row FLIGHT of ws.dof from velocities in row FREE, which the links then have."""
    if options.is_measured:
        link_velocities(tree, ws.dof[FREE], ws.links)
        return
    flight, t = ws.dof[FLIGHT], (1.0 - options.ahead) * options.h
    newton_euler(tree, ws.dof[FREE], ws.dof[ZERO], ws.links, flight)
    link_speeds(tree, ws.dof[FREE], ws.links)
    weigh(tree, ws, ws.dof[GAIN])
    flies = not is_sprung(ws)
    for d in range(flight.shape[0]):
        is_flying = flies or chains.alone[chains.dof_link[d]]
        flight[d] = -t * (flight[d] - ws.dof[GAIN, d]) if is_flying else 0.0
    solve_ltdl(tree.dof_parent, tree.column, ws.L, flight)


@kernel
def land(tree, chains, t, has_push, h, ws, q_out, v_out):
    """The flight that is left, of t [s], from the midpoint to q_out (nq,), v_out (nv,); returns as `move`.

    A correction of positions then carries the momenta of links, not the velocities of joints.
    """
    fly_all(tree, chains, t, ws.q, ws.dof[NEW], IN_MIDDLE, ws, q_out, v_out)
    if has_push:
        # Links that are pushed go straight ways, as in flight: joints that turned at fixed rates would swing
        # what is far along by the square of it
        carried = ws.dof[FREE]
        for k in range(q_out.shape[0]):
            ws.q[k] = q_out[k]
        if ws.entry[FLIGHT_ENTRY] != 0:
            arguments = (tree, h, ws.q, ws.dof[PUSH], ws.dof[ZERO], False, ws, q_out, carried)
            call_kernel(ws.entry[FLIGHT_ENTRY], arguments)
            fly_all_alone(tree, chains, h, ws.q, ws.dof[PUSH], q_out, carried)
        else:
            integrate_configuration(tree, ws.q, ws.dof[PUSH], h, q_out)
        if ws.entry[CARRY_ENTRY] != 0:
            call_kernel(ws.entry[CARRY_ENTRY], (tree, ws.q, q_out, v_out, ws, carried))
            for d in range(v_out.shape[0]):
                if not chains.alone[chains.dof_link[d]]:
                    v_out[d] = carried[d]
    return ws.said[LOST_FLIGHT] > 0


@kernel
def move(tree, chains, options, has_push, ws, q_out, v_io):
    """Positions at the end of the step into q_out (nq,), from where the scheme looked; velocities there.

    Returns whether Coriolis forces ran away.
    """
    ran_away, t = False, (1.0 - options.ahead) * options.move_h
    if options.is_measured:
        return land(tree, chains, t, has_push, options.h, ws, q_out, v_io)
    if options.is_split and not is_sprung(ws):
        ran_away = coriolis(tree, chains, t, ACCURACY, ws.dof[NEW], ws)
        for d in range(v_io.shape[0]):
            v_io[d] += ws.dof[FLIGHT, d]
    integrate_configuration(tree, ws.q, v_io, t, q_out)
    if not options.is_momentum:
        fly_all_alone(tree, chains, t, ws.q, ws.dof[NEW], q_out, v_io)
    if has_push:
        integrate_configuration(tree, q_out, ws.dof[PUSH], options.h, q_out)
    return ran_away
