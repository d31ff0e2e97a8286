"""Velocities after a displacement: every link keeps its momenta, so far as joints let it.

What it solves: a correction of positions moves a tree from q to q* in no time. Joint velocities held
meanwhile would be other velocities of the links, and ½ vᵀ M(q) v another energy. What a link has is the
momentum of its centre of mass, m V, and its spin, Θ ω in its own axes; at q* the velocities nearest to those
in the metric of the masses are

    M(q*) v* = Σ J_i(q*)ᵀ (m_i V_i, Θ_i ω_i),

a projection: kinetic energy cannot rise. Rotors keep theirs.

Method
1. links at q: V in world axes and ω in link axes (`taction.dynamics.discrete_bias`);
2. links at q*: wrenches m V, Θ ω passed down the tree, mass matrix, factor, solution.

References: [Moreau1988] for velocities that jump to the nearest admissible ones.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.dynamics.crba import tree_mass_matrix
from taction.dynamics.discrete_bias import (
    PREVIOUS_SPEED,
    PREVIOUS_SPIN,
    about_centre,
    centre_of,
    remember_velocities,
)
from taction.dynamics.factor import factor_ltdl, solve_ltdl
from taction.dynamics.rnea import gather_forces
from taction.kinematics.forward import place_links
from taction.math.vector import add, cross, load3, load6, load9, mat_vec, scale, store3
from taction.model.model import BODY_INERTIA, BODY_MASS
from taction.model.workspace import AXES, FORCE, MOMENT


@kernel
def carry_momenta(tree, q_from, q_to, v, ws, v_out):
    """Velocities v_out (nv,) at q_to (nq,) from v (nv,) at q_from (nq,); scratch: ws.links, ws.M, ws.L.

    Returns 0, or another number where the mass matrix at q_to is singular: then v_out is v.
    """
    links, M, L = ws.links, ws.M, ws.L
    place_links(tree, q_from, links)
    remember_velocities(tree, v, links)
    place_links(tree, q_to, links)
    # Wrenches that would give every link, at rest at q_to, its momenta in unit time
    store3((0.0, 0.0, 0.0), 0, MOMENT, links)
    store3((0.0, 0.0, 0.0), 0, FORCE, links)
    for i in range(1, tree.parent.shape[0]):
        m, c, I = tree.constant[i, BODY_MASS], centre_of(tree, i), load6(tree.constant, i, BODY_INERTIA)
        R = load9(links, i, AXES)
        f = scale(m, load3(links, i, PREVIOUS_SPEED))
        spin = mat_vec(R, about_centre(m, c, I, load3(links, i, PREVIOUS_SPIN)))
        store3(f, i, FORCE, links)
        store3(add(spin, cross(mat_vec(R, c), f)), i, MOMENT, links)
    gather_forces(tree, links, v_out)
    for d in range(v.shape[0]):
        v_out[d] += tree.armature[d] * v[d]
    # What the joints make of them
    tree_mass_matrix(tree, links, M)
    for d in range(v.shape[0]):
        i = d
        while i >= 0:
            L[d, tree.column[i]] = M[d, tree.column[i]]
            i = tree.dof_parent[i]
    if factor_ltdl(tree.dof_parent, tree.column, L) != 0:
        for d in range(v.shape[0]):
            v_out[d] = v[d]
        return 1
    solve_ltdl(tree.dof_parent, tree.column, L, v_out)
    return 0
