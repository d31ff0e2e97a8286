"""Free flight of kinematic trees: motion over a time without forces, weight left out.

What it solves, over a time t, for every tree that is no body alone (those have a closed form,
`taction.dynamics.free_flight`):

    q̇ = v,      M(q) v̇ = −C(q, v) v

A tree in flight keeps its kinetic energy and its momentum. Whatever a method adds to them, a time step adds
in every step, so that a fast chain would blow up on it: the error per flight must be small, not only its
order.

Method: explicit Runge–Kutta methods over the articulated-body algorithm, whose cost follows what turns. With
a_k the acceleration at stage k and s the largest entry of v, in a piece of the time of length p

0. where p Ω ≤ `STILL`, Ω the sum of all rates of rotation, which no link exceeds, nothing turns, and
   velocities stay as they are: accelerations are products of Ω and velocities;
1. where p ‖a₁‖ ≤ `SLIGHT` s velocities hardly change: Euler's method, whose error is (p ω)²;
2. where p ‖a₂ − a₁‖ ≤ `GENTLE` s the midpoint rule, whose error is (p ω)³ / 12, some 1e-13 then;
   s may be a spin that nothing changes, and hide what others do;
3. else the classical method of four stages; where p ‖a₃ − a₂‖ > `BRISK` s the time is cut into twice as many
   pieces, and begun again. The energy that a piece makes goes with the fourth power of its length: in chains
   that whip, with joints at 300 rad/s, it is some 1e-7 of the whole at that bound.

Orientations are integrated as four numbers, ṗ = ½ p (0, ω), and normalised, which does not lower the order.

Where no number of pieces up to `MOST_PIECES` is enough, as where three axes come into one plane and an
inertia is lost, links keep their joint velocities, and the caller is told.

Scratch `ws`: `links` of the tree, and `flight_q` (FLIGHT_ROWS, nq), `flight_v` (FLIGHT_ROWS, nv), slopes and
trial states.

Cost: none, one, two or four passes of the articulated-body algorithm per piece.

References: [HairerNorsettWanner1993, Section II.1] for the methods; [Featherstone2008, Chapter 7] for v̇.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.dynamics.aba import velocity_acceleration
from taction.kinematics.configuration import (
    configuration_rate,
    integrate_configuration,
    normalize_configuration,
)
from taction.kinematics.forward import place_links

STILL = 1e-12  # angle of which nothing shows [rad]
SLIGHT, GENTLE, BRISK = 1e-6, 1e-8, 5e-6  # changes of velocity, relative, that a method is good for
MOST_PIECES = 64
TRIAL, FLIGHT_ROWS = 4, 5  # rows of scratch: the slopes of four stages, then the trial state


@inline_kernel
def turning(tree, v):
    """How fast the joints turn together, for velocities v (nv,): no link turns faster [rad/s]."""
    total = 0.0
    for i in range(1, tree.parent.shape[0]):
        kind, k = tree.kind[i], tree.iv[i]
        if kind == LinkKind.REVOLUTE:
            total += abs(v[k])
        elif kind == LinkKind.SPHERICAL:
            total += abs(v[k]) + abs(v[k + 1]) + abs(v[k + 2])
        elif kind == LinkKind.FLOATING:
            total += abs(v[k + 3]) + abs(v[k + 4]) + abs(v[k + 5])
    return total


@inline_kernel
def try_state(q, v, time, stage, ws):
    """The trial state, (q, v) after a time along the slopes of a stage, into the last rows."""
    for k in range(q.shape[0]):
        ws.flight_q[TRIAL, k] = q[k] + time * ws.flight_q[stage, k]
    for d in range(v.shape[0]):
        ws.flight_v[TRIAL, d] = v[d] + time * ws.flight_v[stage, d]


@inline_kernel
def slope_of_trial(tree, stage, zero, ws):
    """Slopes at the trial state into row ``stage`` of ws.flight_q and ws.flight_v."""
    q, v = ws.flight_q[TRIAL], ws.flight_v[TRIAL]
    configuration_rate(tree, q, v, ws.flight_q[stage])
    place_links(tree, q, ws.links)
    velocity_acceleration(tree, v, zero, ws.links, ws.flight_v[stage])


@inline_kernel
def finite_size(x):
    """|x|, infinite for NaN."""
    return abs(x) if abs(x) < math.inf else math.inf


@inline_kernel
def largest(x):
    """Largest entry of x (n,) by size."""
    most = 0.0
    for d in range(x.shape[0]):
        most = max(most, finite_size(x[d]))
    return most


@inline_kernel
def largest_change(one, other, rate):
    """Largest difference of two rows of rate (·, nv) by size."""
    most = 0.0
    for d in range(rate.shape[1]):
        most = max(most, finite_size(rate[one, d] - rate[other, d]))
    return most


@inline_kernel
def follow_slope(time, stage, ws, q_io, v_io):
    """Add the slopes of a stage, for a time [s], to q_io (nq,) and v_io (nv,)."""
    for k in range(q_io.shape[0]):
        q_io[k] += time * ws.flight_q[stage, k]
    for d in range(v_io.shape[0]):
        v_io[d] += time * ws.flight_v[stage, d]


@kernel
def fly_piece(tree, p, zero, is_placed, ws, q_io, v_io):
    """One piece of flight of length p [s]; returns whether it is accurate enough, else nothing changes.

    zero (nv,): zeros; is_placed: whether the links are placed at q_io (nq,).
    """
    rate, size = ws.flight_v, largest(v_io)
    # What velocities do where the piece starts: often nothing worth another look
    if not is_placed:
        place_links(tree, q_io, ws.links)
    velocity_acceleration(tree, v_io, zero, ws.links, rate[0])
    change = p * largest(rate[0])
    if change <= SLIGHT * size:
        for d in range(v_io.shape[0]):
            rate[TRIAL, d] = v_io[d] + 0.5 * p * rate[0, d]
            v_io[d] += p * rate[0, d]
        integrate_configuration(tree, q_io, rate[TRIAL], p, q_io)
        return True
    if not change < math.inf:
        return False
    # The slope halfway: all that a gentle motion asks for
    configuration_rate(tree, q_io, v_io, ws.flight_q[0])
    try_state(q_io, v_io, 0.5 * p, 0, ws)
    slope_of_trial(tree, 1, zero, ws)
    if p * largest_change(0, 1, rate) <= GENTLE * size:
        follow_slope(p, 1, ws, q_io, v_io)
        normalize_configuration(tree, q_io)
        return True
    # Two slopes halfway, and whether they agree
    try_state(q_io, v_io, 0.5 * p, 1, ws)
    slope_of_trial(tree, 2, zero, ws)
    if not p * largest_change(1, 2, rate) <= BRISK * size:
        return False
    # The classical method
    try_state(q_io, v_io, p, 2, ws)
    slope_of_trial(tree, 3, zero, ws)
    follow_slope(p / 6.0, 0, ws, q_io, v_io)
    follow_slope(p / 3.0, 1, ws, q_io, v_io)
    follow_slope(p / 3.0, 2, ws, q_io, v_io)
    follow_slope(p / 6.0, 3, ws, q_io, v_io)
    normalize_configuration(tree, q_io)
    return True


@inline_kernel
def keep_velocities(tree, t, q, v, q_out, v_out):
    """Links after the time t [s] with the joint velocities that they have."""
    for d in range(v.shape[0]):
        v_out[d] = v[d]
    integrate_configuration(tree, q, v, t, q_out)


@kernel
def fly_trees(tree, t, q, v, zero, is_placed, ws, q_out, v_out):
    """All links of q (nq,), v (nv,) after the time t [s] into q_out, v_out, other arrays than q and v.

    zero (nv,): zeros; is_placed: whether the links are placed at q. Bodies that are alone fly as well, less
    exactly than by their closed form. Returns whether the flight could not be followed: then joint velocities
    are as they were.
    """
    if t * turning(tree, v) <= STILL:
        keep_velocities(tree, t, q, v, q_out, v_out)
        return False
    pieces = 1
    while pieces <= MOST_PIECES:
        for k in range(q.shape[0]):
            q_out[k] = q[k]
        for d in range(v.shape[0]):
            v_out[d] = v[d]
        flown = 0
        while flown < pieces:
            is_there = is_placed and pieces == 1
            if not fly_piece(tree, t / pieces, zero, is_there, ws, q_out, v_out):
                break
            flown += 1
        if flown == pieces:
            return False
        pieces *= 2
    keep_velocities(tree, t, q, v, q_out, v_out)
    return True
