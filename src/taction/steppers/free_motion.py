"""First stage of a step: where links are, and how they would move without impulses.

With M, bias forces c and joint forces at the place where the scheme looks, the free velocity v_f solves

    (M + h D + h² K) (v_f − v) = h (τ + b − K (q + h v) − D v − c),

with the linear joint law (springs, dampers, servos) implicit at the end of the step, so stable for every
gain. Its matrix is factored once, and the factor serves all impulses of the step.

References: [BaraffWitkin1998] for the implicit joint law; [Featherstone2008, Section 6.5] for the factor.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, inline_kernel, kernel
from taction.dynamics.crba import tree_mass_matrix
from taction.dynamics.energy import sum_links
from taction.dynamics.factor import factor_ltdl, solve_ltdl
from taction.dynamics.joint_law import joint_law_force
from taction.steppers.columns import KINETIC, MOTION, POTENTIAL
from taction.steppers.coordinates.dispatch import bias, foresee, hold_forces, look
from taction.steppers.external_wrench import add_wrenches
from taction.steppers.ledger import gravity_energy, mass_times, spring_energy
from taction.steppers.phases import DONE, SINGULAR
from taction.steppers.scene import BEFORE, BIAS, FORCE, FREE, HELD, HOLD_ENTRY, LENGTHS_ENTRY, MOMENTUM
from taction.steppers.servo_rows import apply_linear


@kernel
def start_energy(tree, own, options, q, v, ws, record_out):
    """Kinetic and potential energy at q, v; needs the mass matrix there unless the scheme looks ahead."""
    record_out[POTENTIAL] = spring_energy(own, q)
    if options.ahead > 0.0:
        _, _, _, _, kinetic, potential = sum_links(tree, q, v, ws.links)
        record_out[KINETIC] = kinetic
        record_out[POTENTIAL] += potential
        return
    kinetic = 0.0
    for d in range(v.shape[0]):
        kinetic += 0.5 * v[d] * ws.dof[MOMENTUM, d]
    record_out[KINETIC] = kinetic
    record_out[POTENTIAL] += gravity_energy(tree, ws.links)


@inline_kernel
def write_inertia(tree, law, h, ws):
    """M + h D + h² K into ws.L."""
    for d in range(tree.dof_parent.shape[0]):
        i = d
        while i >= 0:
            ws.L[d, tree.column[i]] = ws.M[d, tree.column[i]]
            i = tree.dof_parent[i]
        ws.L[d, tree.column[d]] += h * law.D[d] + h * h * law.K[d]


@kernel
def factor_inertia(tree, law, h, ws):
    """Factor of M + h D + h² K into ws.L; returns 0 if it is regular."""
    write_inertia(tree, law, h, ws)
    return factor_ltdl(tree.dof_parent, tree.column, ws.L)


@kernel
def free_motion(scene, options, drive, state, ws, record_out):
    """Links, M and its factor, bias, held and free: rows of ws; returns DONE or SINGULAR.

    drive (nr + m,): forces held on the joints, inputs of servos; energies at the start into record_out
    (COLUMNS,), if they are not there already.
    """
    tree, law, q, v = scene.tree, ws.law, state.q, ws.dof[BEFORE]
    h, free, held = options.force_h, ws.dof[FREE], ws.dof[HELD]
    if options.ahead > 0.0 and not options.is_measured:
        start_energy(tree, scene.own, options, q, state.v, ws, record_out)
    look(scene, options, state, ws)
    apply_linear(scene, drive, ws)
    if scene.transmissions.lower.shape[0] > 0:
        call_kernel(ws.entry[LENGTHS_ENTRY], (scene, ws))
    tree_mass_matrix(tree, ws.links, ws.M)
    if factor_inertia(tree, law, h, ws) != 0:
        return SINGULAR
    record_out[MOTION] = 1.0 if bias(tree, scene.chains, options, ws) else 0.0  # no equation without C v
    mass_times(tree, ws.M, v, ws.dof[MOMENTUM])
    if options.ahead == 0.0:
        start_energy(tree, scene.own, options, q, v, ws, record_out)
    hold_forces(options, drive, held)
    add_wrenches(tree, scene.chains, state.wrench, scene.lifts, ws.links, held)
    joint_law_force(law, q, v, held, h, ws.dof[FORCE])
    for d in range(v.shape[0]):
        free[d] = h * (ws.dof[FORCE, d] - ws.dof[BIAS, d])
    solve_ltdl(tree.dof_parent, tree.column, ws.L, free)
    for d in range(v.shape[0]):
        free[d] += v[d]
    foresee(tree, scene.chains, options, ws)
    if ws.entry[HOLD_ENTRY] != 0:
        return call_kernel(ws.entry[HOLD_ENTRY], (scene, options, drive, ws))
    return DONE
