"""Joint coordinates: Featherstone's algorithms, joints never open.

M is that of the kinematic tree, its factor as sparse; there are no rows for joints but those of stops, dry
friction, couplings and loops, which both coordinates have. With momenta carried, C v is a difference of the
links' velocities between the places where the scheme looked (`taction.dynamics.discrete_bias`).

Otherwise C v is that of the mean of velocities before and without impulses, by fixed-point iteration: for a
body that turns it then does no work, and gains no energy. Bodies that are alone turn as in free flight; a
scheme that looks at q turns them by the mean of their spins before and after that, so that their momentum is
kept. Their centres of mass move straight.

Where flight is split from forces, bodies that are alone fly as `taction.dynamics.free_flight` says. A tree
flies to the midpoint and from there on by

    q_M = q ⊕ ½ h v,   M (v_M − v) = −½ h c(v̄);        M (v⁺ − v_M) = −½ h c(v̄),   q⁺ = q_M ⊕ ½ h v⁺

with M and c = C v at q_M and v̄ the mean of both velocities: each the other backwards in time. Fixed-point
iteration, a pass of Newton–Euler and a solve each; joint laws are in the factor of M.

References: [Featherstone2008, Chapter 6].
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.discrete_bias import discrete_bias, remember_velocities
from taction.dynamics.factor import solve_ltdl
from taction.dynamics.free_flight import fly_all_alone, spin_all_alone
from taction.dynamics.rnea import newton_euler
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_speeds, link_velocities, place_links
from taction.steppers.scene import BEFORE, BIAS, CORIOLIS, FLIGHT, FREE, MEAN, NEW, PUSH, ZERO

REDUCED = 0
STEPS = 20  # of the fixed-point iteration
ACCURACY = 1e-11  # change of the velocities, relative, at which it is done
REFINED = 1e-7  # the same, of a bias at mean velocities


@kernel
def look(tree, chains, options, q, v, last, ws):
    """Put the links where the scheme looks; with momenta carried, remember their velocities at ``last``."""
    if options.is_momentum:
        place_links(tree, last, ws.links)
        remember_velocities(tree, v, ws.links)
    if options.ahead > 0.0:
        integrate_configuration(tree, q, v, options.ahead * options.h, ws.q)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
    if options.ahead > 0.0 and not options.is_momentum:
        is_even = not options.is_split
        fly_all_alone(
            tree, chains, is_even, options.ahead * options.h, ws.dof[ZERO], q, v, ws.q, ws.dof[BEFORE]
        )
    place_links(tree, ws.q, ws.links)


@kernel
def carry(tree, chains, t, ws, v_io):
    """What Coriolis forces on trees make of v_io (nv,) in the time t [s]; row BIAS of ws.dof is gravity."""
    mean, force, most = ws.dof[MEAN], ws.dof[CORIOLIS], 0.0
    for d in range(v_io.shape[0]):
        mean[d] = 0.0 if chains.alone[chains.dof_link[d]] else v_io[d]
        force[d] = 0.0
        most = max(most, abs(mean[d]))
    change = most
    for _ in range(STEPS):
        if change <= ACCURACY * most:
            break
        newton_euler(tree, mean, ws.dof[ZERO], ws.links, ws.dof[FLIGHT])
        for d in range(v_io.shape[0]):
            ws.dof[FLIGHT, d] = -t * (ws.dof[FLIGHT, d] - ws.dof[BIAS, d])
        solve_ltdl(tree.dof_parent, tree.column, ws.L, ws.dof[FLIGHT])
        change = 0.0
        for d in range(v_io.shape[0]):
            step = ws.dof[FLIGHT, d] - force[d]
            change = max(change, abs(step))
            force[d] = ws.dof[FLIGHT, d]
            mean[d] += 0.5 * step
    for d in range(v_io.shape[0]):
        v_io[d] += force[d]


@kernel
def bias(tree, chains, options, ws):
    """Row BIAS of ws.dof: forces C v + g of the placed links; their velocities into ws.links."""
    v, mean = ws.dof[BEFORE], ws.dof[MEAN]
    if options.is_momentum:
        discrete_bias(tree, v, options.h, ws.links, ws.dof[BIAS])
        return
    if options.is_split:
        newton_euler(tree, ws.dof[ZERO], ws.dof[ZERO], ws.links, ws.dof[BIAS])
        carry(tree, chains, options.ahead * options.h, ws, v)
        return
    for d in range(v.shape[0]):
        mean[d], ws.dof[CORIOLIS, d] = v[d], 0.0
    spin_all_alone(tree, chains, options.force_h, ws.q, v)
    for d in range(v.shape[0]):
        if chains.alone[chains.dof_link[d]]:
            ws.dof[CORIOLIS, d] = 0.5 * (v[d] - mean[d]) if options.ahead == 0.0 else 0.0
            mean[d] = 0.0
    newton_euler(tree, mean, ws.dof[ZERO], ws.links, ws.dof[BIAS])
    link_velocities(tree, v, ws.links)


@kernel
def refine_bias(tree, chains, options, ws):
    """Row BIAS of ws.dof at the mean of velocities before and free; whether it changed by much."""
    if options.is_momentum or options.is_split:
        return False
    v, free, mean = ws.dof[BEFORE], ws.dof[FREE], ws.dof[MEAN]
    most = change = 0.0
    for d in range(v.shape[0]):
        most = max(most, abs(mean[d]))
        if not chains.alone[chains.dof_link[d]]:
            change = max(change, abs(0.5 * (v[d] + free[d]) - mean[d]))
    if options.force_h * most * change <= REFINED * most:
        return False
    for d in range(v.shape[0]):
        if not chains.alone[chains.dof_link[d]]:
            mean[d] = 0.5 * (v[d] + free[d])
    newton_euler(tree, mean, ws.dof[ZERO], ws.links, ws.dof[BIAS])
    link_velocities(tree, v, ws.links)
    return True


@kernel
def foresee(tree, options, ws):
    """Row FLIGHT of ws.dof from velocities in row FREE, which the links then have."""
    flight = ws.dof[FLIGHT]
    newton_euler(tree, ws.dof[FREE], ws.dof[ZERO], ws.links, flight)
    link_speeds(tree, ws.dof[FREE], ws.links)
    for d in range(flight.shape[0]):
        flight[d] = -(1.0 - options.ahead) * options.h * (flight[d] - ws.dof[BIAS, d])
    solve_ltdl(tree.dof_parent, tree.column, ws.L, flight)


@kernel
def move(tree, chains, options, has_push, ws, q_out, v_io):
    """Positions at the end of the step into q_out (nq,), from where the scheme looked; velocities there."""
    t = (1.0 - options.ahead) * options.move_h
    if options.is_split:
        carry(tree, chains, t, ws, v_io)
    integrate_configuration(tree, ws.q, v_io, t, q_out)
    if not options.is_momentum:
        lag = ws.dof[ZERO] if options.is_split else ws.dof[CORIOLIS]
        fly_all_alone(tree, chains, not options.is_split, t, lag, ws.q, ws.dof[NEW], q_out, v_io)
    if has_push:
        integrate_configuration(tree, q_out, ws.dof[PUSH], options.h, q_out)
