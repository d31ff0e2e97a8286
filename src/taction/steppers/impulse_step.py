"""One time step through contact on the level of velocities and impulses.

What it solves, from (q, v) at t to (q⁺, v⁺) at t + h:

    (M + h D + h² K) (v⁺ − v) = h (τ + b − K (q + h v) − D v − C v − g) + Jᵀ Λ,       u⁺ = J v⁺
    each element: −(u⁺ + o) ∈ N(Λ)                      (one contact problem, `taction.contact.problem`)
    q⁺ = q ⊕ h (v⁺ + w)                                 (Moreau: q ⊕ ½ h v ⊕ ½ h v⁺ ⊕ h w)

with K, D, b the linear joint law (springs, dampers, servos), implicit at the end of the step, so stable for
every gain; o the offsets of the rule (`taction.steppers.rules`); w the correction of positions below. M, J and
gaps are taken where the rule looks: at q, or at the midpoint q ⊕ ½ h v for Moreau's rule.

Method
1. *Begin*: kinematics, mass matrix and its factor, bias forces, free velocity; contacts detected and matched
   with those of the step before; elements gathered; W and b assembled.
2. *Solve*: Gauss–Seidel, then Newton's method, from the impulses of the step before
   (`taction.solvers.auto`), to a small fraction of the tolerance where that is cheap.
3. *Finish*: v⁺ from the impulses; works and certificate from v⁺; positions.

Correction of positions. Where the step would end with a violated gap or an open loop (linearisation errors,
second order in h; with Moreau's rule also the depth reached before the contact was seen), a displacement h w
repairs it, w = M⁻¹ Jᵀ π with the least impulses π ≥ 0 that close the violation without friction, by a few
Gauss–Seidel sweeps on the same W. It moves positions only: no kinetic energy is made. The ledger books the
potential energy it costs.

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
    couple,
    half_solve,
    impulse_response,
    lay_out,
    problem_rows,
    row_velocity,
)
from taction.contact.blocks import BlockRows
from taction.contact.sets import BOX
from taction.dynamics.crba import composite_rigid_body
from taction.dynamics.energy import sum_links
from taction.dynamics.factor import factor_ltdl, solve_ltdl
from taction.dynamics.joint_law import joint_law_force
from taction.dynamics.rnea import newton_euler
from taction.geometry.detect import FOUND, detect_contacts, shape_reach
from taction.geometry.match import match_contacts
from taction.kinematics.configuration import integrate_configuration
from taction.kinematics.forward import link_velocities, place_links
from taction.solvers.auto import cheap
from taction.solvers.block_lu import DENSE, Analysis, Pattern
from taction.solvers.newton import Work, load, solve_components
from taction.solvers.nsgs import SOLVED, sweep
from taction.steppers.elements import gather_elements
from taction.steppers.judge import judge_contacts, judge_motion, norm
from taction.steppers.ledger import (
    CONTACTS,
    CORRECTION,
    ITERATIONS,
    KINETIC,
    POTENTIAL,
    UNCONVERGED,
    book_works,
    correction_work,
    gravity_energy,
    mass_times,
    spring_energy,
)
from taction.steppers.rules import MOREAU, SLOP, end_gap

# What `advance` needs before it can go on
DONE, MORE_PAIRS, MORE_CONTACTS, MORE_ENTRIES, ORDER, SOLVE_OUTSIDE, MORE_RECORDS = 0, 1, 2, 3, 4, 5, 6
SINGULAR, NOT_FINITE = 10, 11
# Where it goes on
BEGIN, STRONG, FINISH = 0, 1, 2

STRIVE = 0.03  # the solvers' own goal in units of the tolerance: Newton's method gets there almost for free
STEPS = 400  # Newton steps before a stronger solver is asked for
PUSH_SWEEPS = 30  # of the position correction


@inline_kernel
def start_energy(scene, options, q, v, ws, record_out):
    """Kinetic and potential energy at q, v; needs the mass matrix at q unless the rule looks elsewhere."""
    record_out[POTENTIAL] = spring_energy(scene.own, q)
    if options.rule == MOREAU:
        _, _, _, _, kinetic, potential = sum_links(scene.tree, q, v, ws.links)
        record_out[KINETIC] = kinetic
        record_out[POTENTIAL] += potential
        return
    mass_times(scene.tree.dof_parent, ws.M, v, ws.change)
    kinetic = 0.0
    for d in range(v.shape[0]):
        kinetic += 0.5 * v[d] * ws.change[d]
    record_out[KINETIC] = kinetic
    record_out[POTENTIAL] += gravity_energy(scene.tree, ws.links)


@kernel
def free_motion(scene, options, tau, q, v, ws, record_out):
    """Step 1 up to the free velocity: links, M, its factor, bias, v_free in ws; returns 0 if regular."""
    h, tree, law = options.h, scene.tree, scene.law
    if options.rule == MOREAU:
        start_energy(scene, options, q, v, ws, record_out)
        integrate_configuration(tree, q, v, 0.5 * h, ws.q)
        place_links(tree, ws.q, ws.links)
    else:
        for k in range(q.shape[0]):
            ws.q[k] = q[k]
        place_links(tree, q, ws.links)
    newton_euler(tree, v, ws.zero, ws.links, ws.bias)
    composite_rigid_body(tree, ws.links, ws.M)
    if options.rule != MOREAU:
        start_energy(scene, options, q, v, ws, record_out)
    joint_law_force(law, q, v, tau, h, ws.force)
    for d in range(v.shape[0]):
        i = d
        while i >= 0:
            ws.L[d, i] = ws.M[d, i]
            i = tree.dof_parent[i]
        ws.L[d, d] += h * law.D[d] + h * h * law.K[d]
        ws.v_free[d] = h * (ws.force[d] - ws.bias[d])
    if factor_ltdl(tree.dof_parent, ws.L) != 0:
        return 1
    solve_ltdl(tree.dof_parent, ws.L, ws.v_free)
    for d in range(v.shape[0]):
        ws.v_free[d] += v[d]
    return 0


@kernel
def find_contacts(scene, options, v, state, ws):
    """Step 1, contacts: detected, and their impulses of the step before; returns what is missing."""
    if scene.colliders.kind.shape[0] == 0:
        ws.contacts.count[0] = 0
        return DONE
    link_velocities(scene.tree, v, ws.links)
    shape_reach(scene.colliders, ws.links, 0.0 if options.rule == MOREAU else options.h, ws.reach)
    found = detect_contacts(
        scene.colliders, scene.filter, options.broad, ws.reach, ws.links, ws.placed, ws.boxes, ws.pairs,
        ws.broad, ws.narrow, ws.contacts,
    )  # fmt: skip
    if found != FOUND:
        return found
    match_contacts(state.count[0], state.key, state.impulse, ws.contacts, ws.warm)
    return DONE


@kernel
def assemble(scene, options, q, v, joint_impulse, ws):
    """Step 1, the contact problem of all elements; returns what is missing."""
    gather_elements(scene, options, ws.q, v, joint_impulse, ws)
    assembly = ws.assembly
    if lay_out(assembly.rows.column.shape[0], assembly) > assembly.rows.column.shape[0]:
        return MORE_ENTRIES
    for k in range(assembly.count[0]):
        half_solve(scene.tree.dof_parent, ws.L, k, assembly)
        u0, u1, u2 = row_velocity(assembly, k, ws.v_free)
        c = 3 * k
        assembly.rows.b[c] = u0 + assembly.offset[c]
        assembly.rows.b[c + 1] = u1 + assembly.offset[c + 1]
        assembly.rows.b[c + 2] = u2 + assembly.offset[c + 2]
    couple(ws.L, assembly)
    return DONE


@inline_kernel
def dense_work(k, ws):
    """The working memory of Newton's method for k blocks, all coupled: cut from that for `DENSE` blocks."""
    pattern, analysis = ws.analysis.pattern, ws.analysis
    for i in range(k):
        analysis.order[i] = i
        pattern.start[i] = i * k
        pattern.diagonal[i] = i * (k + 1)
        for j in range(k):
            pattern.column[i * k + j] = j
    pattern.start[k] = k * k
    analysis.component[0], analysis.component[1] = 0, k
    m, rows = k * k, ws.rows
    return Work(
        BlockRows(
            rows.start[: k + 1], rows.column[:m], rows.value[:m], rows.diagonal[:k], rows.b[: 3 * k],
            rows.kind[:k], rows.sets[:k],
        ),
        ws.sets[:k],
        ws.scale[: 3 * k],
        Analysis(
            analysis.order[:k], analysis.component, Pattern(pattern.start[: k + 1], pattern.column[:m], pattern.diagonal[:k])
        ),
        ws.target[:m],
        ws.vectors,
        ws.jacobian[:k],
        ws.is_identity[:k],
        ws.place[:k],
        ws.lu[:m],
        ws.inverse[:k],
        ws.record,
    )  # fmt: skip


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
def solve_contacts(options, phase, weight_io, ws):
    """Step 2: impulses ws.r; returns (what is missing, iterations, relative residual).

    weight_io (1,): Newton's first weight, found by the cheap phase and kept until the strong one.
    """
    k = ws.assembly.count[0]
    if k == 0:
        return DONE, 0, 0.0
    if options.is_external:
        return SOLVE_OUTSIDE, 0, 0.0
    rows = problem_rows(ws.assembly)
    scale = norm(rows.b, 3 * k)
    goal = STRIVE * options.tolerance * scale
    done = 0
    if phase == BEGIN:
        end, done, error, weight_io[0] = cheap(rows, goal, ws.sweeps, ws.r, ws.history)
        if end == SOLVED or error <= goal:
            return DONE, done, error / scale
    if k <= DENSE:
        work = dense_work(k, ws.dense)
        load(rows, ws.r, work)
        steps, error = solve_components(goal, weight_io[0], STEPS, work, ws.r, ws.history)
    else:
        if not is_ordered(rows, ws.large_start, ws.large_column):
            return ORDER, done, 0.0
        load(rows, ws.r, ws.large)
        steps, error = solve_components(goal, weight_io[0], STEPS, ws.large, ws.r, ws.history)
    missing = DONE if error <= options.tolerance * scale else SOLVE_OUTSIDE
    return missing, done + steps, error / scale


@kernel
def position_targets(options, ws):
    """Gaps that positions would end with, as the problem of the correction; returns whether any is violated."""
    is_needed = False
    rows, h = ws.assembly.rows, options.h
    for k in range(ws.assembly.count[0]):
        u0, u1, u2 = row_velocity(ws.assembly, k, ws.v_new)
        ws.kind[k] = BOX
        for c in range(3):
            u = u0 if c == 0 else (u1 if c == 1 else u2)
            low, high = rows.sets[k, 2 * c], rows.sets[k, 2 * c + 1]
            if ws.source[k] >= 0:
                low, high = 0.0, math.inf if c == 0 else 0.0
            elif low == -high and high < math.inf:
                low = high = 0.0  # dry friction holds no position
            gap = end_gap(options.rule, ws.gap[3 * k + c], h, u)
            if low == -math.inf:
                is_needed = is_needed or abs(gap) > SLOP
            elif high == math.inf:
                is_needed = is_needed or gap < -SLOP
            ws.sets[k, 2 * c], ws.sets[k, 2 * c + 1] = low, high
            ws.target[3 * k + c] = (gap if low == -math.inf else gap + 0.5 * SLOP) / h
    return is_needed


@kernel
def correct_positions(scene, options, ws):
    """The displacement per time that repairs violated gaps, in ws.push (nv,); returns whether there is one."""
    for d in range(ws.push.shape[0]):
        ws.push[d] = 0.0
    if not position_targets(options, ws):
        return False
    k = ws.assembly.count[0]
    rows = problem_rows(ws.assembly)
    gaps = BlockRows(
        rows.start, rows.column, rows.value, rows.diagonal, ws.target[: 3 * k], ws.kind[:k], ws.sets[:k]
    )
    for c in range(3 * k):
        ws.sweeps[0, c] = 0.0
    for _ in range(PUSH_SWEEPS):
        if math.sqrt(sweep(gaps, 1.0, ws.sweeps[0])) * options.h <= 0.1 * SLOP:
            break
    impulse_response(scene.tree.dof_parent, ws.L, ws.assembly, ws.sweeps[0], ws.push)
    return True


@kernel
def finish_step(scene, options, tau, ws, state_io, record_out):
    """Step 3: works, certificate, new state; record_out (COLUMNS,). Returns 0, or NOT_FINITE."""
    tree, q, v, h = scene.tree, state_io.q, state_io.v, options.h
    impulse_response(tree.dof_parent, ws.L, ws.assembly, ws.r, ws.v_new)
    for d in range(v.shape[0]):
        ws.v_new[d] += ws.v_free[d]
    book_works(scene, options, tau, q, v, ws, record_out)
    judge_contacts(ws.r, ws.source, ws.gap, ws.contacts.shape, ws.assembly, ws.v_new, record_out)
    judge_motion(scene, options, tau, q, v, ws, record_out)
    record_out[CONTACTS] = float(ws.assembly.count[0])
    has_push = correct_positions(scene, options, ws)
    record_out[CORRECTION] = 0.0
    if has_push:
        record_out[CORRECTION] = correction_work(
            tree, scene.own, ws.q, ws.push, h, ws.zero, ws.links, ws.change
        )
    for d in range(v.shape[0]):
        if not abs(ws.v_new[d]) < math.inf:
            return NOT_FINITE
    step = 0.5 * h if options.rule == MOREAU else h
    integrate_configuration(tree, ws.q, ws.v_new, step, state_io.q)
    if has_push:
        integrate_configuration(tree, state_io.q, ws.push, h, state_io.q)
    for d in range(v.shape[0]):
        state_io.v[d] = ws.v_new[d]
    keep_impulses(ws, state_io)
    return DONE


@kernel
def keep_impulses(ws, state_io):
    """Identities and impulses of this step's elements into the state, for the next step."""
    n = 0
    for j in range(state_io.joint_impulse.shape[0]):
        state_io.joint_impulse[j] = 0.0
    for k in range(ws.assembly.count[0]):
        i = ws.source[k]
        if i < 0:
            for c in range(3):
                if ws.slot[k, c] >= 0:
                    state_io.joint_impulse[ws.slot[k, c]] = ws.r[3 * k + c]
            continue
        state_io.key[n, 0] = ws.contacts.shape[i, 0]
        state_io.key[n, 1] = ws.contacts.shape[i, 1]
        state_io.key[n, 2] = ws.contacts.feature[i]
        for c in range(3):
            state_io.impulse[n, c] = ws.r[3 * k + c]
        n += 1
    state_io.count[0] = n


@inline_kernel
def record_contacts(step, ws, table_io):
    """Append this step's contacts to the table of a run, which has room for them."""
    n = table_io.count[0]
    for k in range(ws.assembly.count[0]):
        i = ws.source[k]
        if i < 0:
            continue
        table_io.step[n] = step
        table_io.key[n, 0], table_io.key[n, 1] = ws.contacts.shape[i, 0], ws.contacts.shape[i, 1]
        table_io.key[n, 2] = ws.contacts.feature[i]
        u0, u1, u2 = row_velocity(ws.assembly, k, ws.v_new)
        table_io.gap[n] = ws.contacts.gap[i]
        for c in range(3):
            table_io.point[n, c] = ws.contacts.point[i, c]
            table_io.impulse[n, c] = ws.r[3 * k + c]
            table_io.velocity[n, c] = u0 if c == 0 else (u1 if c == 1 else u2)
        for c in range(9):
            table_io.frame[n, c] = ws.frame[k, c]
        n += 1
    table_io.count[0] = n


@kernel
def advance(scene, options, drive, first, last, phase, has_table, ws, state_io, weight_io, record_io, table_io):
    """Steps first…last−1; returns (step reached, what is missing or DONE).

    drive (1 or more, nv): joint forces of each step, the last row held. record_io: states (n + 1, nq), (n + 1,
    nv) and records (n, COLUMNS) of all steps, row 0 the start. phase: where the first of these steps goes on.
    """
    for n in range(first, last):
        tau = drive[min(n, drive.shape[0] - 1)]
        record = record_io.step[n]
        if phase == BEGIN:
            record[UNCONVERGED] = 0.0
            if free_motion(scene, options, tau, state_io.q, state_io.v, ws, record) != 0:
                return n, SINGULAR
            missing = find_contacts(scene, options, state_io.v, state_io, ws)
            if missing == DONE:
                missing = assemble(scene, options, state_io.q, state_io.v, state_io.joint_impulse, ws)
            if missing != DONE:
                return n, missing
        if phase != FINISH:
            missing, iterations, _ = solve_contacts(options, phase, weight_io, ws)
            record[ITERATIONS] = float(iterations)
            if missing != DONE:
                return n, missing
        if has_table and table_io.count[0] + ws.assembly.count[0] > table_io.step.shape[0]:
            return n, MORE_RECORDS
        phase = BEGIN
        if finish_step(scene, options, tau, ws, state_io, record) != DONE:
            return n, NOT_FINITE
        for k in range(state_io.q.shape[0]):
            record_io.q[n + 1, k] = state_io.q[k]
        for d in range(state_io.v.shape[0]):
            record_io.v[n + 1, d] = state_io.v[d]
        if has_table:
            record_contacts(n, ws, table_io)
    return last, DONE
