"""One time step through contact on the level of velocities and impulses.

What it solves, from (q, v) at t to (q⁺, v⁺) at t + h:

    (M + h D + h² K) (v⁺ − v) = h (τ + b − K (q + h v) − D v − C v − g) + Jᵀ Λ,       u⁺ = J v⁺
    each element: −(u⁺ + o) ∈ N(Λ)                      (one contact problem, `taction.contact.problem`)
    q⁺ = q ⊕ h (v⁺ + w)                                 (Moreau: q ⊕ ½ h v ⊕ ½ h v⁺ ⊕ h w)

with K, D, b the linear joint law (springs, dampers, servos), implicit at the end of the step, so stable for
every gain; o the offsets of the rule (`taction.steppers.rules`); w the correction of positions
(`taction.steppers.position_correction`). M, J and gaps are taken where the rule looks: at q, or at the
midpoint q ⊕ ½ h v for Moreau's rule. Bodies in absolute coordinates have C v = ω × Θ ω and their joints among
the elements (`taction.steppers.ties`); for the same equations in joint coordinates C v is a difference of the
links' velocities from midpoint to midpoint (`taction.dynamics.discrete_bias`).

Method
1. *Begin*: kinematics, mass matrix and its factor, bias forces, free velocity; contacts detected and matched
   with those of the step before; elements gathered; W and b assembled.
2. *Solve*: Gauss–Seidel, then Newton's method, from the impulses of the step before
   (`taction.solvers.auto`), to a small fraction of the tolerance where that is cheap. Impulses so large that
   rounding hides their residual count as none: a stronger solver is asked. Newton's method alone
   where the joints are among the elements: sweeps would have to carry impulses along the chains.
3. *Finish*: v⁺ from the impulses; works and certificate from v⁺; positions.

The kernels allocate nothing. Where something is missing (a longer buffer, an ordering for a large factor, a
stronger solver) `advance` stops with a status that says what, having changed no state, and is called again
from that point: see `taction.steppers.driver`.

Cost for an 18-dof quadruped on four feet: in the benchmark notes.

References: [Moreau1988]; [StewartTrinkle1996]; [AnitescuPotra1997]; [BaraffWitkin1998] for the implicit joint
law; [CastroPermenterHan2023] for contact with implicit gains.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    FRAME,
    OFFSET,
    SLOT,
    SOURCE,
    VELOCITY,
    couple,
    half_solve,
    impulse_response,
    lay_out,
    problem_rows,
    row_velocity,
)
from taction.contact.blocks import is_rounding_above
from taction.dynamics.crba import tree_mass_matrix
from taction.dynamics.discrete_bias import discrete_bias, remember_velocities
from taction.dynamics.energy import sum_links
from taction.dynamics.factor import factor_ltdl, solve_ltdl
from taction.dynamics.joint_law import joint_law_force
from taction.dynamics.rnea import newton_euler
from taction.geometry.all_pairs import listed_pairs
from taction.geometry.broad_phase import ALL_PAIRS
from taction.geometry.detect import narrow_phase, place_and_bound
from taction.geometry.match import match_contacts
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_speeds, place_links
from taction.kinematics.ties import move_bodies, tie_rates, worst_tie_gap
from taction.solvers.auto import cheap
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton import WEIGHT, load, solve_components, strong_work
from taction.solvers.nsgs import SOLVED
from taction.steppers.elements import gather_contacts, gather_joints
from taction.steppers.judge import judge_contacts, judge_motion, norm
from taction.steppers.ledger import (
    CORRECTION,
    ITERATIONS,
    JOINT_GAP,
    KINETIC,
    POTENTIAL,
    book_works,
    correction_work,
    gravity_energy,
    mass_times,
    spring_energy,
)
from taction.steppers.position_correction import correct_positions
from taction.steppers.rules import MOREAU
from taction.steppers.scene import BIAS, CHANGE, FORCE, FREE, MOMENTUM, NEW, PUSH, ZERO
from taction.steppers.ties import gather_followers, gather_ties

# What `advance` needs before it can go on
DONE, FIND_PAIRS, GENERAL_PAIRS, MORE_PAIRS, MORE_CONTACTS, MORE_ENTRIES = 0, 1, 2, 3, 4, 5
ORDER, SOLVE_OUTSIDE, MORE_RECORDS = 6, 7, 8
SINGULAR, NOT_FINITE = 10, 11
# Where it goes on: from the start, with pairs found, with all contacts found, with an ordering, with impulses
BEGIN, NARROW, MATCH, STRONG, FINISH = 0, 1, 2, 3, 4

STRIVE = 0.03  # the solvers' own goal in units of the tolerance: Newton's method gets there almost for free
ENOUGH = 0.1  # with more than a few blocks Gauss–Seidel may stop here: a Newton step is dear
STEPS = 400  # Newton steps before a stronger solver is asked for


@kernel
def start_energy(tree, own, rule, q, v, ws, record_out):
    """Kinetic and potential energy at q, v; needs the mass matrix at q unless the rule looks elsewhere."""
    record_out[POTENTIAL] = spring_energy(own, q)
    if rule == MOREAU:
        _, _, _, _, kinetic, potential = sum_links(tree, q, v, ws.links)
        record_out[KINETIC] = kinetic
        record_out[POTENTIAL] += potential
        return
    kinetic = 0.0
    for d in range(v.shape[0]):
        kinetic += 0.5 * v[d] * ws.dof[MOMENTUM, d]
    record_out[KINETIC] = kinetic
    record_out[POTENTIAL] += gravity_energy(tree, ws.links)


@kernel
def bias_and_mass(tree, is_discrete, h, v, ws):
    """Bias forces, mass matrix and momentum of the placed links, and their velocities."""
    if is_discrete:
        discrete_bias(tree, v, h, ws.links, ws.dof[BIAS])
    else:
        newton_euler(tree, v, ws.dof[ZERO], ws.links, ws.dof[BIAS])
        link_speeds(tree, v, ws.links)
    tree_mass_matrix(tree, ws.links, ws.M)
    mass_times(tree, ws.M, v, ws.dof[MOMENTUM])


@kernel
def place(tree, ties, options, q, v, last, ws):
    """Links where the rule looks; bodies in absolute coordinates moved along their joints, or straight."""
    is_ahead = options.rule == MOREAU
    is_along = is_ahead and options.is_direct and not options.is_projected
    if is_ahead and not is_along:
        integrate_configuration(tree, q, v, 0.5 * options.h, ws.q)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
    if is_along:
        place_links(tree, last, ws.links)
        tie_rates(tree, ties, v, ws.links)
    place_links(tree, ws.q, ws.links)
    if is_along:
        move_bodies(tree, ties, 0.5 * options.h, ws.links, ws.q)


@kernel
def move(tree, ties, options, has_push, v, ws, q_out):
    """Positions at the end of the step into q_out (nq,), from where the rule looked."""
    time = 0.5 * options.move_h if options.rule == MOREAU else options.move_h
    if not options.is_direct:
        integrate_configuration(tree, ws.q, v, time, q_out)
        if has_push:
            integrate_configuration(tree, q_out, ws.dof[PUSH], options.h, q_out)
        return
    tie_rates(tree, ties, v, ws.links)
    if options.is_projected:
        integrate_configuration(tree, ws.q, v, time, q_out)
        place_links(tree, q_out, ws.links)
        move_bodies(
            tree, ties, 0.0, ws.links, q_out
        )  # from parent to child, each joint closed as it is turned
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
def free_motion(tree, ties, law, own, options, tau, q, v, last, ws, record_out):
    """Step 1 up to the free velocity: links, M, its factor, bias, FREE in ws; returns 0 if regular."""
    h, free = options.force_h, ws.dof[FREE]
    is_discrete = options.is_momentum and not options.is_direct
    if options.rule == MOREAU:
        start_energy(tree, own, options.rule, q, v, ws, record_out)
    if is_discrete:
        place_links(tree, last, ws.links)
        remember_velocities(tree, v, ws.links)
    place(tree, ties, options, q, v, last, ws)
    bias_and_mass(tree, is_discrete, options.h, v, ws)
    if options.rule != MOREAU:
        start_energy(tree, own, options.rule, q, v, ws, record_out)
    joint_law_force(law, q, v, tau, h, ws.dof[FORCE])
    for d in range(v.shape[0]):
        i = d
        while i >= 0:
            ws.L[d, tree.column[i]] = ws.M[d, tree.column[i]]
            i = tree.dof_parent[i]
        ws.L[d, tree.column[d]] += h * law.D[d] + h * h * law.K[d]
        free[d] = h * (ws.dof[FORCE, d] - ws.dof[BIAS, d])
    if factor_ltdl(tree.dof_parent, tree.column, ws.L) != 0:
        return 1
    solve_ltdl(tree.dof_parent, tree.column, ws.L, free)
    for d in range(v.shape[0]):
        free[d] += v[d]
    return 0


@kernel
def find_contacts(colliders, filter, options, phase, links, state, ws):
    """Step 1, contacts: detected, and their impulses of the step before; returns what is missing."""
    contacts = ws.contacts
    if phase == BEGIN:
        contacts.count[0] = ws.pair_count[0] = 0
        if colliders.kind.shape[0] == 0:
            return DONE
        h = 0.0 if options.rule == MOREAU else options.h
        place_and_bound(colliders, links, h, ws.reach, ws.placed, ws.boxes)
        if options.broad != ALL_PAIRS or filter.is_listed == 0:
            return FIND_PAIRS
        ws.pair_count[0] = listed_pairs(filter.pairs, ws.boxes, ws.pairs)
    if ws.pair_count[0] > ws.pairs.shape[0]:
        return MORE_PAIRS
    if phase <= NARROW:
        general = narrow_phase(
            colliders, ws.placed, ws.reach, ws.pairs, ws.pair_count[0], ws.narrow, contacts
        )
        if general > 0:
            return GENERAL_PAIRS
    if contacts.count[0] > contacts.gap.shape[0]:
        return MORE_CONTACTS
    match_contacts(state.count[0], state.key, state.impulse, contacts, ws.key, ws.warm)
    return DONE


@kernel
def assemble(tree, motion, blocks_io):
    """Step 1, the contact problem of the elements gathered; returns what is missing."""
    if lay_out(blocks_io.rows.column.shape[0], blocks_io) > blocks_io.rows.column.shape[0]:
        return MORE_ENTRIES
    for k in range(blocks_io.count[0]):
        half_solve(tree, motion.L, k, blocks_io)
        u0, u1, u2 = row_velocity(blocks_io, k, motion.dof[FREE])
        blocks_io.rows.b[3 * k] = u0 + blocks_io.number[k, OFFSET]
        blocks_io.rows.b[3 * k + 1] = u1 + blocks_io.number[k, OFFSET + 1]
        blocks_io.rows.b[3 * k + 2] = u2 + blocks_io.number[k, OFFSET + 2]
    couple(tree.column, motion.L, blocks_io)
    return DONE


@kernel
def begin_step(scene, options, phase, tau, drive, state, ws, sight_io, blocks_io, record_out):
    """Step 1, from the phase it stopped in; returns what is missing.

    tau (nv,): forces on the coordinates; drive (nr,): forces on joints between bodies.
    """
    if phase == BEGIN:
        status = free_motion(
            scene.tree,
            scene.ties,
            scene.law,
            scene.own,
            options,
            tau,
            state.q,
            state.v,
            state.last,
            ws,
            record_out,
        )
        if status != 0:
            return SINGULAR
    missing = find_contacts(scene.colliders, scene.filter, options, phase, ws.links, state, sight_io)
    if missing != DONE:
        return missing
    blocks_io.count[0] = 0
    gather_contacts(
        scene.tree, scene.chains, scene.surfaces, options, sight_io.contacts, sight_io.placed, sight_io.warm,
        state.v, ws, blocks_io,
    )  # fmt: skip
    gather_joints(
        scene.tree, scene.chains, scene.joints, scene.law.iq, options, ws.q, state.v, state.joint_impulse, ws,
        blocks_io,
    )  # fmt: skip
    if scene.ties.kind.shape[0] > 0:
        slot = state.joint_impulse.shape[0] - scene.ties.follow.shape[0]
        gather_followers(scene.tree, scene.chains, scene.ties, state.joint_impulse, slot, ws, blocks_io)
        slot -= 6 * scene.ties.kind.shape[0] + 3 * scene.motors.shape[0]
        gather_ties(
            scene.tree, scene.chains, scene.ties, scene.motors, options, drive, state.v, state.joint_impulse,
            slot, ws, blocks_io,
        )  # fmt: skip
    return assemble(scene.tree, ws, blocks_io)


@inline_kernel
def is_ordered(rows, start, column):
    """Whether the large factor's ordering was made for the pattern of these rows."""
    if start.shape[0] != rows.start.shape[0] or column.shape[0] != rows.column.shape[0]:
        return False
    for i in range(start.shape[0]):
        if start[i] != rows.start[i]:
            return False
    for m in range(column.shape[0]):
        if column[m] != rows.column[m]:
            return False
    return True


@kernel
def solve_contacts(options, phase, blocks, dense_io, large_io, sweeps_io, history_io, weight_io, r_io):
    """Step 2: impulses r_io (3k,); returns (what is missing, iterations, relative residual).

    weight_io (1,): Newton's first weight, found by the cheap phase and kept until the strong one.
    """
    k = blocks.count[0]
    if k == 0:
        return DONE, 0, 0.0
    rows = problem_rows(blocks)
    if options.is_direct and k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, 0, 0.0
    if options.is_external:
        return SOLVE_OUTSIDE, 0, 0.0
    scale = norm(rows.b, 3 * k)
    most = options.tolerance * scale
    goal = STRIVE * options.tolerance * scale
    enough = goal if k <= DENSE else ENOUGH * options.tolerance * scale
    done = 0
    if options.is_direct:
        weight_io[0] = WEIGHT
    elif phase != STRONG:
        end, done, error, weight_io[0] = cheap(rows, enough, sweeps_io, r_io, history_io)
        if (end == SOLVED or error <= enough) and not is_rounding_above(rows, r_io, most):
            return DONE, done, error / scale
    if k > DENSE and not is_ordered(rows, large_io.start, large_io.column):
        return ORDER, done, 0.0
    work = strong_work(k, dense_io, large_io)
    load(rows, r_io, work)
    steps, error = solve_components(goal, weight_io[0], STEPS, work, r_io, history_io)
    missing = SOLVE_OUTSIDE if error > most or is_rounding_above(rows, r_io, most) else DONE
    return missing, done + steps, error / scale


@kernel
def new_velocity(tree, ws, blocks_io):
    """Velocities after the impulses: v⁺ into row NEW of ws.dof, u⁺ = J v⁺ into the blocks."""
    impulse_response(tree, ws.L, blocks_io, blocks_io.r, ws.dof[NEW])
    for d in range(ws.dof.shape[1]):
        ws.dof[NEW, d] += ws.dof[FREE, d]
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, ws.dof[NEW])
        for c in range(3):
            blocks_io.number[k, VELOCITY + c] = u[c]


@kernel
def finish_step(scene, options, tau, drive, ws, state_io, record_out):
    """Step 3: works, certificate, new state; record_out (COLUMNS,). Returns 0, or NOT_FINITE."""
    tree, law, own, h = scene.tree, scene.law, scene.own, options.force_h
    contacts, motion, blocks = ws.sight.contacts, ws.motion, ws.blocks
    new = motion.dof[NEW]
    new_velocity(tree, motion, blocks)
    book_works(
        tree, law, own, scene.motors, h, tau, drive, state_io.q, state_io.v, blocks, motion, record_out
    )
    judge_contacts(options.tolerance, contacts.shape, new, blocks, record_out)
    judge_motion(law, h, tau, state_io.q, blocks, motion, record_out)
    record_out[CORRECTION] = 0.0
    has_push = False
    if options.move_h > 0.0:
        has_push = correct_positions(
            tree, options, blocks, motion.L, ws.push, ws.dense, ws.large, ws.history, motion.dof[PUSH]
        )  # fmt: skip
    if has_push:
        record_out[CORRECTION] = correction_work(
            tree, own, motion.q, motion.dof[PUSH], options.h, motion.dof[ZERO], motion.links,
            motion.dof[CHANGE],
        )  # fmt: skip
    for d in range(new.shape[0]):
        if not abs(new[d]) < math.inf:
            return NOT_FINITE
    for d in range(new.shape[0]):
        state_io.v[d] = new[d]
    for k in range(motion.q.shape[0]):
        state_io.last[k] = motion.q[k]
    move(tree, scene.ties, options, has_push, new, motion, state_io.q)
    keep_impulses(contacts, blocks, state_io)
    if options.is_direct:
        place_links(tree, state_io.q, motion.links)
        record_out[JOINT_GAP] = worst_tie_gap(scene.ties, motion.links)
    return DONE


@kernel
def keep_impulses(contacts, blocks, state_io):
    """Identities and impulses of this step's elements into the state, for the next step."""
    n = 0
    for j in range(state_io.joint_impulse.shape[0]):
        state_io.joint_impulse[j] = 0.0
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            for c in range(3):
                if blocks.index[k, SLOT + c] >= 0:
                    state_io.joint_impulse[blocks.index[k, SLOT + c]] = blocks.r[3 * k + c]
            continue
        state_io.key[n, 0] = contacts.shape[i, 0]
        state_io.key[n, 1] = contacts.shape[i, 1]
        state_io.key[n, 2] = contacts.feature[i]
        for c in range(3):
            state_io.impulse[n, c] = blocks.r[3 * k + c]
        n += 1
    state_io.count[0] = n


@kernel
def record_contacts(step, contacts, blocks, table_io):
    """Append this step's contacts to the table of a run, which has room for them."""
    n = table_io.count[0]
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            continue
        table_io.step[n] = step
        table_io.key[n, 0], table_io.key[n, 1] = contacts.shape[i, 0], contacts.shape[i, 1]
        table_io.key[n, 2] = contacts.feature[i]
        table_io.gap[n] = contacts.gap[i]
        for c in range(3):
            table_io.point[n, c] = contacts.point[i, c]
            table_io.impulse[n, c] = blocks.r[3 * k + c]
            table_io.velocity[n, c] = blocks.number[k, VELOCITY + c]
        for c in range(9):
            table_io.frame[n, c] = blocks.number[k, FRAME + c]
        n += 1
    table_io.count[0] = n


@kernel
def advance(
    scene, options, drive, first, last, phase, has_table, ws, state_io, weight_io, record_io, table_io
):
    """Steps first…last−1; returns (step reached, what is missing or DONE).

    drive (1 or more, nv): joint forces of each step, the last row held; of bodies in absolute coordinates on
    the joints between them, (·, nr). record_io: states (n + 1, nq), (n +
    1, nv) and records (n, COLUMNS) of all steps, row 0 the start. phase: where the first of these steps goes
    on.
    """
    for n in range(first, last):
        force = drive[min(n, drive.shape[0] - 1)]
        tau = ws.motion.dof[ZERO] if options.is_direct else force
        record = record_io.step[n]
        if phase < STRONG:
            missing = begin_step(
                scene, options, phase, tau, force, state_io, ws.motion, ws.sight, ws.blocks, record
            )
            if missing != DONE:
                return n, missing
        if phase != FINISH:
            missing, iterations, _ = solve_contacts(
                options,
                phase,
                ws.blocks,
                ws.dense,
                ws.large,
                ws.push.sweeps,
                ws.history,
                weight_io,
                ws.blocks.r,
            )
            record[ITERATIONS] = float(iterations)
            if missing != DONE:
                return n, missing
        if has_table and table_io.count[0] + ws.blocks.count[0] > table_io.step.shape[0]:
            return n, MORE_RECORDS
        phase = BEGIN
        if finish_step(scene, options, tau, force, ws, state_io, record) != DONE:
            return n, NOT_FINITE
        for k in range(state_io.q.shape[0]):
            record_io.q[n + 1, k] = state_io.q[k]
        for d in range(state_io.v.shape[0]):
            record_io.v[n + 1, d] = state_io.v[d]
        if has_table:
            record_contacts(n, ws.sight.contacts, ws.blocks, table_io)
    return last, DONE
