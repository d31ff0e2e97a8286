"""Velocities after a displacement: every link keeps its momenta, so far as joints let it.

What it solves: a correction of positions moves a tree from q to q* in no time. Joint velocities held
meanwhile would be other velocities of the links, and ½ vᵀ M(q) v another energy. What a link has is the
momentum of its centre of mass, m V, and its spin, Θ ω in its own axes; at q* the velocities nearest to those
in the metric of the masses are

    M(q*) v* = Σ J_i(q*)ᵀ (m_i V_i, Θ_i ω_i),

a projection: kinetic energy cannot rise. Rotors keep theirs. Solved for the change v* − v, so that motions
without inertia, as of two joints about one axis with nothing between them, stay as they are.

Method
1. links at q: V in world axes and ω in link axes (`taction.dynamics.discrete_bias`);
2. links at q*, at rest: what wrenches on them would accelerate in unit time that make up for what m V and
   Θ ω lack under v, by the articulated-body algorithm.

Cost: one pass of that algorithm, linear in the number of links.

References: [Moreau1988] for velocities that jump to the nearest admissible ones; [Featherstone2008,
Chapter 7] for the algorithm.
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.dynamics.aba import ROUNDING, accelerate, articulate
from taction.dynamics.discrete_bias import (
    PREVIOUS_SPEED,
    PREVIOUS_SPIN,
    about_centre,
    centre_of,
    remember_velocities,
)
from taction.kinematics.forward import link_velocities, place_links
from taction.math.spatial import store_rigid
from taction.math.vector import (
    add,
    cross,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale,
    store3,
    sub,
    sym_rotated,
)
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS
from taction.model.workspace import AXES, BIAS_A, BIAS_W, FORCE, INERTIA, MOMENT, OMEGA, SPEED

NOTHING = (0.0, 0.0, 0.0)
MOST_CHANGE = 10.0  # of velocities, over the largest: displacements are small


@kernel
def carry_momenta(tree, q_from, q_to, v, ws, v_out):
    """Velocities v_out (nv,) at q_to (nq,) from v (nv,) at q_from (nq,); scratch: ws.links.

    Returns 0, or 1 where an inertia is lost: then v_out is v.
    """
    links = ws.links
    place_links(tree, q_from, links)
    remember_velocities(tree, v, links)
    place_links(tree, q_to, links)
    link_velocities(tree, v, links)
    # Links at rest, with wrenches that would give each in unit time the momenta that it lacks
    for i in range(1, tree.parent.shape[0]):
        m, c, I = tree.constant[i, BODY_MASS], centre_of(tree, i), load6(tree.constant, i, BODY_INERTIA)
        R, w = load9(links, i, AXES), load3(links, i, OMEGA)
        arm = mat_vec(R, c)
        lacks = sub(load3(links, i, PREVIOUS_SPEED), add(load3(links, i, SPEED), cross(w, arm)))
        f = scale(m, lacks)
        spin = mat_vec(R, about_centre(m, c, I, sub(load3(links, i, PREVIOUS_SPIN), mat_t_vec(R, w))))
        moment = add(spin, cross(arm, f))
        store3(scale(-1.0, f), i, FORCE, links)
        store3(scale(-1.0, moment), i, MOMENT, links)
        store3(NOTHING, i, BIAS_W, links)
        store3(NOTHING, i, BIAS_A, links)
        store_rigid(m, mat_vec(R, load3(tree.constant, i, BODY_FIRST)), sym_rotated(R, I), i, INERTIA, links)
    for d in range(v.shape[0]):
        v_out[d] = 0.0
    # What the joints make of them
    articulate(tree, v_out, ROUNDING, links)
    accelerate(tree, NOTHING, links, v_out)
    for d in range(v.shape[0]):
        v_out[d] += v[d]
    # Where a motion has no inertia but rounding, momenta say nothing about it
    size = change = 0.0
    for d in range(v.shape[0]):
        size = max(size, abs(v[d]))
        change = max(change, abs(v_out[d] - v[d]) if abs(v_out[d]) < math.inf else math.inf)
    if not change <= MOST_CHANGE * size:
        for d in range(v.shape[0]):
            v_out[d] = v[d]
        return 1
    return 0
