"""Free flight of a body that hangs on nothing else: no energy gained or lost at any spin, momentum kept.

What it solves, over a time t and without forces, for a link that is alone on a floating joint, or on a
spherical one about a fixed point:

    Θ ω̇ = −ω × Θ ω,      Ṙ = R ω̂,      ẋ_c constant

with Θ the inertia about the centre of mass c (about the fixed point, for a spherical joint), ω in its axes.

Method: the midpoint rule on the rotation group, with ω̄ = ½ (ω + ω'),

    Θ (ω' − ω) = −t κ ω̄ × Θ ω̄,      R' = R exp(t ω̄),      κ = tan(s)/s,  s = ½ t ‖ω̄‖.

That is Θ ω' = exp(−t ω̄) Θ ω: the factor κ makes Cayley's rotation of the midpoint rule the exponential. So
R Θ ω is kept, to rounding, and so is ½ ω·Θ ω, because ω̄·(ω̄ × Θ ω̄) = 0. A spin about a principal axis keeps
its angle, too. Order 2, symmetric in time. Newton's method on three equations, κ held in its derivative.

Beyond a quarter turn per step s is cut off, where tan would run away: momentum then turns by a wrong angle,
energy is still kept. Where Newton's method does not converge, or there is no inertia about some axis, the
spin stays as it is.

References: [LewisSimo1994] for the conserving midpoint rule on the rotation group.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction.kinematics.configuration import turn_orientation
from taction.math.rotation import quat_load, quat_to_mat
from taction.math.vector import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load6,
    mat_vec,
    put3,
    scale,
    segment3,
    solve3,
    sub,
    sym_vec,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS

STEPS = 30  # of Newton's method
ACCURACY = 4e-16  # change of ω, relative, at which it is done
CLOSE = 1e-9  # the same, below which it did converge
QUARTER = 1.5  # largest s [rad]
REGULAR = 1e-14  # determinant, relative to the trace of Θ cubed, of a body with inertia about every axis


@inline_kernel
def stretch(t, w):
    """κ for the mean spin w (3)."""
    s = min(0.5 * t * math.sqrt(dot(w, w)), QUARTER)
    return math.tan(s) / s if s > 1e-4 else 1.0 + s * s / 3.0


@kernel
def spin_freely(I, t, w):
    """ω' after the time t from ω = w (3), with the inertia I (6) in the same axes."""
    new = w
    change, size = math.inf, math.sqrt(dot(w, w))
    for _ in range(STEPS):
        mean = scale(0.5, add(w, new))
        L = sym_vec(I, mean)
        tk = t * stretch(t, mean)
        F = add_scaled(sym_vec(I, sub(new, w)), tk, cross(mean, L))
        s = 0.5 * tk
        # Θ + ½ t κ (ω̄× Θ − (Θ ω̄)×), column by column
        a = add_scaled(add_scaled((I[0], I[1], I[2]), s, cross(mean, (I[0], I[1], I[2]))), -s,
                       (0.0, L[2], -L[1]))  # fmt: skip
        b = add_scaled(add_scaled((I[1], I[3], I[4]), s, cross(mean, (I[1], I[3], I[4]))), -s,
                       (-L[2], 0.0, L[0]))  # fmt: skip
        c = add_scaled(add_scaled((I[2], I[4], I[5]), s, cross(mean, (I[2], I[4], I[5]))), -s,
                       (L[1], -L[0], 0.0))  # fmt: skip
        x, y, z, det = solve3(a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2], F[0], F[1], F[2])
        if abs(det) <= REGULAR * (I[0] + I[3] + I[5]) ** 3:
            return w
        new = sub(new, (x, y, z))
        before, change = change, math.sqrt(x * x + y * y + z * z)
        if change <= ACCURACY * size or (change <= CLOSE * size and change >= before):
            break
    return new if change <= CLOSE * size else w


@inline_kernel
def central_inertia(tree, i):
    """Inertia (6) of link i about its centre of mass, and that centre (3), in its axes."""
    I, m = load6(tree.constant, i, BODY_INERTIA), tree.constant[i, BODY_MASS]
    x, y, z = scale(1.0 / m, load3(tree.constant, i, BODY_FIRST))
    I = (
        I[0] - m * (y * y + z * z), I[1] + m * x * y, I[2] + m * x * z, I[3] - m * (x * x + z * z),
        I[4] + m * y * z, I[5] - m * (x * x + y * y),
    )  # fmt: skip
    return I, (x, y, z)


@kernel
def fly_alone(tree, i, t, q, v, q_out, v_out):
    """Link i of q (nq,), v (nv,) after the time t [s] into q_out, v_out."""
    k, j = tree.iq[i], tree.iv[i]
    if tree.kind[i] == LinkKind.SPHERICAL:
        w = segment3(v, j)
        new = spin_freely(load6(tree.constant, i, BODY_INERTIA), t, w)
        turn_orientation(q, k, t, scale(0.5, add(w, new)), q_out)
        put3(new, j, v_out)
        return
    I, c = central_inertia(tree, i)
    w = segment3(v, j + 3)
    new = spin_freely(I, t, w)
    R = quat_to_mat(quat_load(q, k + 3))
    speed = add(segment3(v, j), mat_vec(R, cross(w, c)))
    centre = add_scaled(add(segment3(q, k), mat_vec(R, c)), t, speed)
    turn_orientation(q, k + 3, t, scale(0.5, add(w, new)), q_out)
    R = quat_to_mat(quat_load(q_out, k + 3))
    put3(sub(centre, mat_vec(R, c)), k, q_out)
    put3(sub(speed, mat_vec(R, cross(new, c))), j, v_out)
    put3(new, j + 3, v_out)


@kernel
def gyroscopic_moment(tree, i, t, w):
    """Mean of ω × Θ ω about the centre of link i (3) in free flight over t [s] from the spin w (3)."""
    if tree.constant[i, BODY_MASS] <= 0.0:
        return cross(w, sym_vec(load6(tree.constant, i, BODY_INERTIA), w))
    I, _ = central_inertia(tree, i)
    mean = scale(0.5, add(w, spin_freely(I, t, w)))
    return scale(stretch(t, mean), cross(mean, sym_vec(I, mean)))


@kernel
def fly_all_alone(tree, chains, t, q, v, q_out, v_out):
    """Bodies that are alone after the time t [s] into q_out (nq,), v_out (nv,)."""
    for i in range(1, tree.parent.shape[0]):
        if chains.alone[i]:
            fly_alone(tree, i, t, q, v, q_out, v_out)


@kernel
def spin_bodies(tree, t, v_io):
    """Velocities v_io (nv,) of bodies in absolute coordinates turned as free flight over t [s] does."""
    for i in range(1, tree.parent.shape[0]):
        I, _ = central_inertia(tree, i)
        j = tree.iv[i] + 3
        put3(spin_freely(I, t, segment3(v_io, j)), j, v_io)
