"""Bias forces from the velocities that the links had and have: the midpoint rule in joint coordinates.

What it solves: c = C(q, v) v + g(q) for a time step, such that a step in joint coordinates is the same as one
of the single bodies. Bodies carry their momentum from midpoint to midpoint: over a step from q_M⁻ to q_M the
force on link i, by which joint coordinates bend its path, is

    m (V(q_M, v) − V(q_M⁻, v)) / h,     q_M = q ⊕ ½ h v,   q_M⁻ the midpoint of the step before,

with V the velocity of its centre of mass in the world, and in link axes with the angular velocity ω

    Θ (ω(q_M, v) − ω(q_M⁻, v)) / h + ω̄ × Θ ω̄,     ω̄ as in the free flight of a body that turns by ω(q_M⁻, v)

(`taction.dynamics.free_flight`).

At the start q_M⁻ = q ⊖ ½ h v. Both are central differences of what the velocity product in
`taction.dynamics.rnea` takes analytically at one point. A step of bodies in absolute coordinates
(`taction.steppers.ties`) and this one are then the same equations. What a link's momentum has across the new
directions of its joints is lost: the scheme takes energy, to first order in h, and adds none.

Method
1. `remember_velocities`, links at q_M⁻: V and ω of every link;
2. `discrete_bias`, links at q_M: wrenches as above, weight included, passed down the tree.

Cost: kinematics once more than `taction.dynamics.rnea`.

References: [Moreau1988] for the midpoint; [Transeth2006, Section VI-A] for bodies.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.dynamics.free_flight import gyroscopic_moment
from taction.dynamics.rnea import gather_forces
from taction.kinematics.forward import link_velocities
from taction.math.vector import (
    add,
    add_scaled,
    cross,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    store3,
    sub,
    sym_vec,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS
from taction.model.workspace import AXES, FORCE, INERTIA, MOMENT, OMEGA, SPEED

PREVIOUS_SPIN, PREVIOUS_SPEED = INERTIA + 6, INERTIA + 9  # columns of the workspace that wait meanwhile


@inline_kernel
def centre_of(tree, i):
    """Centre of mass of link i in its axes; the origin if it has no mass."""
    m = tree.constant[i, BODY_MASS]
    return scale(1.0 / m if m > 0.0 else 0.0, load3(tree.constant, i, BODY_FIRST))


@inline_kernel
def about_centre(m, c, I, x):
    """Θ x about the centre of mass c from the inertia I about the origin."""
    return add_scaled(sym_vec(I, x), m, cross(c, cross(c, x)))


@kernel
def remember_velocities(tree, v, ws):
    """Step 1: needs `place_links` at q_M⁻; keeps the velocities until `discrete_bias`."""
    link_velocities(tree, v, ws)
    for i in range(1, tree.parent.shape[0]):
        R, w = load9(ws, i, AXES), load3(ws, i, OMEGA)
        arm = mat_vec(R, centre_of(tree, i))
        store3(mat_t_vec(R, w), i, PREVIOUS_SPIN, ws)
        store3(add(load3(ws, i, SPEED), cross(w, arm)), i, PREVIOUS_SPEED, ws)


@kernel
def discrete_bias(tree, v, h, ws, tau_out):
    """Step 2: bias forces into tau_out (nv,); needs `place_links` at q_M. Leaves OMEGA and SPEED there."""
    link_velocities(tree, v, ws)
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    store3((0.0, 0.0, 0.0), 0, MOMENT, ws)
    store3((0.0, 0.0, 0.0), 0, FORCE, ws)
    for i in range(1, tree.parent.shape[0]):
        m, c, I = tree.constant[i, BODY_MASS], centre_of(tree, i), load6(tree.constant, i, BODY_INERTIA)
        R, w, before = load9(ws, i, AXES), load3(ws, i, OMEGA), load3(ws, i, PREVIOUS_SPIN)
        arm = mat_vec(R, c)
        speed = add(load3(ws, i, SPEED), cross(w, arm))
        a = sub(scale(1.0 / h, sub(speed, load3(ws, i, PREVIOUS_SPEED))), g)
        f = scale(m, a)
        alpha = scale(1.0 / h, sub(mat_t_vec(R, w), before))
        spin = add(about_centre(m, c, I, alpha), gyroscopic_moment(tree, i, h, before))
        store3(f, i, FORCE, ws)
        store3(add(mat_vec(R, spin), cross(arm, f)), i, MOMENT, ws)
    gather_forces(tree, ws, tau_out)
