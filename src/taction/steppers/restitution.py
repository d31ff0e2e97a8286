"""Impacts that make no energy: Poisson's law of restitution, in phases, between posing and finishing a step.

What it solves. Newton's law prescribes the velocity after an impact, e times that before, whatever friction
did meanwhile; where slip turns round friction works, and energy is made. Poisson's law speaks of impulses: of
those that stopped a contact, Λ_c, the share e comes back,

    compression     0 ≤ u_c,N ⊥ Λ_c,N ≥ 0,                friction in the cone, against u_c
    expansion       0 ≤ u_N ⊥ Λ_E,N − e Λ_c,N ≥ 0,        friction in the cone of Λ_E, against u

In a step forces act, too, and what carries a weight is no blow. So what comes back is measured without them:

1. *blow*: the compression from the velocities before the step, in which no force acts: Λ_c;
2. *compression*: the step itself, without restitution: Λ_1;
3. *expansion*: from there, with a = e Λ_c given along the normals. What acts beside it obeys
   `taction.contact.laws.returned` at contacts, and the step's own law elsewhere, counted from Λ_1: Λ_2;
4. *bound*: Λ = Λ_1 + κ Λ_E, Λ_E = a + Λ_2, with the largest κ ≤ 1 for which Λ_E gives the bodies no more than
   e² of what the blow took, e the largest coefficient.

What it guarantees. Let n = M⁻¹J_NᵀΛ_c be what the normal impulses of the blow do to the velocities. With one
e the expansion gives at most ½ e² nᵀMn, and the blow takes at least that much, without the e², where it does
not couple normal and sliding velocities. The bound is for where it does; it was needed in none of the random
impacts of ``tools/impacts.py``. It is met exactly, since energy is a parabola in κ. At κ = 0 the impact is
plastic: its energy is never above that before, nor above that of the plastic impact without friction, whose
end is the admissible velocity nearest to the start. Cones are convex and velocities linear in κ, so friction
stays in its cone and nobody is left approaching.

Where nothing bounces nothing here is done but looking: approach that the tolerance cannot tell from rest
counts as rest. Phases 1 and 2 are solved as any step is, pile or outside solver included; phase 3 by
Gauss–Seidel, then Newton's method; where that fails nothing comes back. `judge_contacts` judges each phase
from velocities and impulses, and the record has the worst.

Reads: blocks with `BOUNCE` and `GIVES_BACK`, velocities `BEFORE` and `FREE`. Writes: impulses ``blocks.r``;
`Impact`. What the blocks had is back in place when it ends. A phase may stop as any solve does: `stage` says
which it was, and the step goes on there.

References: [GlockerPfeiffer1995] for both phases; [Moreau1988] for Newton's law as an offset.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    BOUNCE,
    COMPLIANCE,
    GIVES_BACK,
    OFFSET,
    SOURCE,
    VELOCITY,
    impulse_response,
    problem_rows,
    row_velocity,
)
from taction.contact.laws.dispatch import is_rowwise, returned_set
from taction.solvers.auto import STRIVE
from taction.solvers.newton import WEIGHT, load, solve_components
from taction.solvers.newton_memory import is_dense, strong_work
from taction.solvers.nsgs import SOLVED, gauss_seidel
from taction.steppers.columns import (
    APPROACH,
    AT_ROUNDING,
    CONE,
    CONTACTS,
    DISSIPATION,
    HELD_BACK,
    ITERATIONS,
    JOINT_GAP,
    MADE,
    NOT_UNIQUE,
    PENETRATION,
    RESIDUAL,
    SIGNORINI,
    UNCONVERGED,
    WORST_A,
    WORST_B,
)
from taction.steppers.contact_solve import (
    STEPS,
    is_for_bodies,
    is_ordered,
    load_by_bodies,
    solve_contacts,
    within_reach,
)
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.impact_memory import POISSON
from taction.steppers.judge import fall, judge_contacts, norm, pronounce
from taction.steppers.phases import CHECK, DONE, ORDER, ORDER_BODIES, SOLVE, STRONG
from taction.steppers.scene import BEFORE, FREE, NEW, RIGID

NOTHING_STRUCK, BLOW, COMPRESSION, EXPANSION, OVER = range(5)  # of Impact.stage
# Of Impact.number: ‖b‖ of the compression; what the blow took [J]; κ, and what the expansion gave with it
# [J]; the largest coefficient; energy that the tolerance hides [J]
SIZE, LOSS, KEPT, GAIN, LARGEST, SLACK = range(6)
SWEEPS = 50  # of Gauss–Seidel in the expansion before anything is factored


@kernel
def strikes(options, blocks):
    """Whether a contact bounces, faster than the tolerance can tell from rest."""
    fastest = 0.0
    if options.soft == RIGID:
        for k in range(blocks.count[0]):
            if blocks.index[k, SOURCE] >= 0:
                fastest = max(fastest, -blocks.number[k, BOUNCE])
    return fastest > 0.0 and fastest > options.tolerance * norm(blocks.rows.b, 3 * blocks.count[0])


@inline_kernel
def is_active(impact):
    """Whether a phase of an impact is being solved."""
    return NOTHING_STRUCK < impact.stage[0] < OVER


@kernel
def put_velocity(v, blocks_io):
    """Free velocities b of the blocks: J v plus their offsets; v (nv,)."""
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, v)
        for c in range(3):
            blocks_io.rows.b[3 * k + c] = u[c] + blocks_io.number[k, OFFSET + c]


@kernel
def put_own(is_whole, impact, blocks_io):
    """Kinds, sets and offsets that the step had; bounces only if it is whole."""
    for k in range(blocks_io.count[0]):
        blocks_io.rows.kind[k] = impact.kind[k]
        for c in range(6):
            blocks_io.rows.sets[k, c] = impact.sets[k, c]
        for c in range(3):
            blocks_io.number[k, OFFSET + c] = impact.offset[3 * k + c]
        if blocks_io.index[k, SOURCE] >= 0 and not is_whole:
            blocks_io.number[k, OFFSET] -= blocks_io.number[k, BOUNCE]


@inline_kernel
def without_forces(options, k, blocks_io):
    """Block k while no force acts: what is bounded carries nothing, stops and equations stay."""
    sets = blocks_io.rows.sets
    if not is_rowwise(blocks_io.rows.kind[k]):
        # a force holds on: no adhesion in a blow
        blocks_io.rows.kind[k] = returned_set(options.cone, 0.0, sets[k])
        return
    for c in range(3):
        if sets[k, 2 * c] > -math.inf or blocks_io.number[k, COMPLIANCE + c] != 0.0:
            sets[k, 2 * c] = 0.0
        if sets[k, 2 * c + 1] < math.inf or blocks_io.number[k, COMPLIANCE + c] != 0.0:
            sets[k, 2 * c + 1] = 0.0


@kernel
def pose_blow(options, motion, blocks_io, impact_io):
    """Phase 1 as the problem at hand; keeps what the step had."""
    for k in range(blocks_io.count[0]):
        impact_io.kind[k] = blocks_io.rows.kind[k]
        for c in range(6):
            impact_io.sets[k, c] = blocks_io.rows.sets[k, c]
        for c in range(3):
            impact_io.offset[3 * k + c] = blocks_io.number[k, OFFSET + c]
            impact_io.first[3 * k + c] = blocks_io.r[3 * k + c]
            blocks_io.r[3 * k + c] = 0.0
    put_own(False, impact_io, blocks_io)
    for k in range(blocks_io.count[0]):
        without_forces(options, k, blocks_io)
    put_velocity(motion.dof[BEFORE], blocks_io)
    impact_io.stage[0], impact_io.count[0] = BLOW, 0


@kernel
def end_phase(scene, options, phase, start, shape, motion, blocks_io, impact_io):
    """Velocities at the end of a phase from those at its start (nv,), and its verdict; into the blocks, too.

    motion: scratch; shape (c, 2): of the contacts.
    """
    end, change = impact_io.velocity[1], motion.dof[NEW]
    impulse_response(scene.tree, motion.L, blocks_io, blocks_io.r, change)
    for d in range(end.shape[0]):
        end[d] = start[d] + change[d]
    for k in range(blocks_io.count[0]):
        u = row_velocity(blocks_io, k, end)
        for c in range(3):
            blocks_io.number[k, VELOCITY + c] = u[c]
    speed = fall(scene.tree, options.h)
    judge_contacts(options.tolerance, speed, shape, end, blocks_io, impact_io.verdict[phase - BLOW])


@kernel
def pose_compression(motion, blocks_io, impact_io):
    """Phase 2 as the problem at hand; keeps what comes back, and what the blow took."""
    loss, largest = 0.0, 0.0
    for k in range(blocks_io.count[0]):
        number = blocks_io.number[k]
        u = row_velocity(blocks_io, k, motion.dof[BEFORE])
        for c in range(3):
            loss -= 0.5 * blocks_io.r[3 * k + c] * (u[c] + number[VELOCITY + c])
            impact_io.given[3 * k + c] = 0.0
        if blocks_io.index[k, SOURCE] < 0:
            for c in range(3):
                blocks_io.r[3 * k + c] = impact_io.first[3 * k + c]
        elif blocks_io.r[3 * k] > 0.0 and number[GIVES_BACK] > 0.0:
            impact_io.given[3 * k] = number[GIVES_BACK] * blocks_io.r[3 * k]
            largest = max(largest, number[GIVES_BACK])
    put_own(False, impact_io, blocks_io)
    put_velocity(motion.dof[FREE], blocks_io)
    impact_io.number[LOSS], impact_io.number[LARGEST] = max(loss, 0.0), largest
    impact_io.number[SIZE] = norm(blocks_io.rows.b, 3 * blocks_io.count[0])
    impact_io.stage[0] = COMPRESSION


@inline_kernel
def count_from(options, k, given, blocks_io):
    """The set of block k for what acts beside ``given`` and the impulses of the compression, which it has."""
    kind, sets = blocks_io.rows.kind, blocks_io.rows.sets
    if not is_rowwise(kind[k]):
        kind[k] = returned_set(options.cone, given, sets[k])
        return
    if blocks_io.index[k, SOURCE] >= 0:
        sets[k, 0] = 0.0
        return
    for c in range(3):
        sets[k, 2 * c] -= blocks_io.r[3 * k + c]
        sets[k, 2 * c + 1] -= blocks_io.r[3 * k + c]
        blocks_io.number[k, OFFSET + c] += blocks_io.number[k, COMPLIANCE + c] * blocks_io.r[3 * k + c]


@kernel
def pose_expansion(scene, options, motion, blocks_io, impact_io):
    """Phase 3 as the problem at hand, from where phase 2 ended."""
    start, change = impact_io.velocity[0], motion.dof[NEW]
    impulse_response(scene.tree, motion.L, blocks_io, impact_io.given, change)
    for d in range(start.shape[0]):
        start[d] = impact_io.velocity[1, d]
        change[d] += start[d]
    for k in range(blocks_io.count[0]):
        count_from(options, k, impact_io.given[3 * k], blocks_io)
        for c in range(3):
            impact_io.first[3 * k + c] = blocks_io.r[3 * k + c]
            blocks_io.r[3 * k + c] = 0.0
    put_velocity(change, blocks_io)
    for d in range(start.shape[0]):
        impact_io.velocity[1, d] = change[d]
    impact_io.stage[0] = EXPANSION


@kernel
def solve_expansion(options, is_strong, tree, L, ws, r_io):
    """Impulses r_io (3k,) of phase 3 from zero; returns (what is missing, iterations, residual)."""
    blocks = ws.blocks
    rows, n = problem_rows(blocks), 3 * blocks.count[0]
    scale = norm(rows.b, n)
    most = options.tolerance * scale
    goal = within_reach(rows, r_io, STRIVE * most)
    done = 0
    if not is_strong:
        end, done, error = gauss_seidel(
            rows, goal, SWEEPS, SWEEPS + 1, 0.0, 1.0, ws.sweeps[0], r_io, ws.history
        )
        if end == SOLVED:
            return DONE, done, error
    if is_for_bodies(options, tree.column.shape[0], blocks):
        if not load_by_bodies(rows, blocks, L, tree.column, r_io, ws.loose):
            return ORDER_BODIES, done, 0.0
        steps, error = solve_components(goal, WEIGHT, STEPS, ws.loose, r_io, ws.history)
        return DONE, done + steps, error
    is_plain = not has_joint_rows(options)
    if not is_dense(rows, is_plain, ws.dense) and not is_ordered(rows, ws.large.start, ws.large.column):
        return ORDER, done, 0.0
    work = strong_work(rows, is_plain, ws.large, ws.dense)
    load(rows, r_io, work)
    steps, error = solve_components(goal, WEIGHT, STEPS, work, r_io, ws.history)
    return DONE, done + steps, error


@kernel
def share_kept(options, blocks, impact):
    """Phase 4: κ, what the expansion gives with it, and energy that the tolerance hides [J].

    Along κ it gives κ Λ_E·u_1 + ½ κ² Λ_E·(u − u_1), and may give e² of what the blow took, to the tolerance.
    """
    linear = square = 0.0
    for k in range(blocks.count[0]):
        u = row_velocity(blocks, k, impact.velocity[0])
        for c in range(3):
            r = impact.given[3 * k + c] + blocks.r[3 * k + c]
            linear += r * u[c]
            square += 0.5 * r * (blocks.number[k, VELOCITY + c] - u[c])
    e = impact.number[LARGEST]
    allowed = e * e * impact.number[LOSS]
    slack = options.tolerance * impact.number[SIZE] * norm(impact.given, 3 * blocks.count[0])
    if linear + square <= allowed + slack:
        return 1.0, linear + square, slack
    root = math.sqrt(max(linear * linear + 4.0 * square * allowed, 0.0))
    share = (root - linear) / (2.0 * square) if square > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return share, share * (linear + share * square), slack


@kernel
def end_impact(options, motion, blocks_io, impact_io):
    """Impulses of all phases together, and the step's own problem back in place."""
    rows, number = problem_rows(blocks_io), impact_io.number
    verdict, size = impact_io.verdict[EXPANSION - BLOW], norm(blocks_io.rows.b, 3 * blocks_io.count[0])
    # the expansion as exact as the compression: where little comes back its own velocities are rounding
    if size < number[SIZE]:
        pronounce(options.tolerance, verdict[RESIDUAL] * size / number[SIZE], verdict)
    share, gain, number[SLACK] = share_kept(options, blocks_io, impact_io)
    if verdict[UNCONVERGED] > 0.0 or not abs(gain) < math.inf:
        share, gain = 0.0, 0.0
    for c in range(3 * rows.kind.shape[0]):
        more = impact_io.given[c] + blocks_io.r[c]
        blocks_io.r[c] = impact_io.first[c] + share * more if share > 0.0 else impact_io.first[c]
    number[KEPT], number[GAIN] = share, gain
    put_own(True, impact_io, blocks_io)
    put_velocity(motion.dof[FREE], blocks_io)
    impact_io.stage[0] = OVER


@kernel
def next_phase(scene, options, ws):
    """Ends the phase that is solved and poses the next one; returns whether there is one."""
    motion, blocks, impact = ws.motion, ws.blocks, ws.impact
    stage, shape = impact.stage[0], ws.sight.contacts.shape
    if stage == BLOW:
        end_phase(scene, options, BLOW, motion.dof[BEFORE], shape, motion, blocks, impact)
        pose_compression(motion, blocks, impact)
        return True
    if stage == COMPRESSION:
        end_phase(scene, options, COMPRESSION, motion.dof[FREE], shape, motion, blocks, impact)
        pose_expansion(scene, options, motion, blocks, impact)
        return True
    if stage == EXPANSION:
        end_phase(scene, options, EXPANSION, impact.velocity[1], shape, motion, blocks, impact)
        end_impact(options, motion, blocks, impact)
    return False


@kernel
def solve_impulses(scene, options, phase, before, ws, weight_io, record_io):
    """Impulses of a step, from the phase it stopped in: one problem, or those of an impact.

    before: what was not unique in the step before. Returns what is missing.
    """
    impact, tree, L, r = ws.impact, scene.tree, ws.motion.L, ws.blocks.r
    if phase < STRONG:
        impact.stage[0] = NOTHING_STRUCK
        if options.restitution == POISSON and strikes(options, ws.blocks):
            pose_blow(options, ws.motion, ws.blocks, impact)
    while True:
        if phase < CHECK:
            missing, iterations, found = DONE, 0, before
            if impact.stage[0] == EXPANSION:
                missing, iterations, _ = solve_expansion(options, phase == STRONG, tree, L, ws, r)
            else:
                missing, iterations, found = solve_contacts(options, phase, tree, L, before, ws, weight_io, r)
                record_io[NOT_UNIQUE] = float(found)
            record_io[ITERATIONS] = float(iterations)
            if missing != DONE:
                return missing
        if not is_active(impact):
            return DONE
        impact.count[0] += int(record_io[ITERATIONS])
        if not next_phase(scene, options, ws):
            record_io[ITERATIONS] = float(impact.count[0])
            return DONE
        phase = SOLVE


@inline_kernel
def left_approaching(blocks):
    """Fastest approach of contacts, beyond what their open gaps allow [m/s]."""
    fastest = 0.0
    for k in range(blocks.count[0]):
        if blocks.index[k, SOURCE] >= 0:
            number = blocks.number[k]
            fastest = max(fastest, -(number[VELOCITY] + number[OFFSET] - number[BOUNCE]))
    return fastest


@kernel
def report_bounce(options, work, blocks, impact, record_io):
    """What the law of restitution cost, into the record; work: of friction where it should only take [J].

    Of an impact in phases also the verdict on the step: the worst of those on its phases.
    """
    record_io[MADE] = record_io[APPROACH] = record_io[HELD_BACK] = 0.0
    if not strikes(options, blocks):
        return
    record_io[APPROACH] = left_approaching(blocks)
    if options.restitution != POISSON:
        record_io[MADE] = work
        return
    number, verdict = impact.number, impact.verdict
    more = number[GAIN] - number[LOSS]
    record_io[MADE] = more if more > number[SLACK] else 0.0
    record_io[HELD_BACK] = 1.0 - number[KEPT]
    worst = 0
    for n in range(verdict.shape[0]):
        if not verdict[n, RESIDUAL] <= verdict[worst, RESIDUAL]:
            worst = n
    for c in (RESIDUAL, WORST_A, WORST_B, CONTACTS):
        record_io[c] = verdict[worst, c]
    for c in (SIGNORINI, CONE, DISSIPATION, PENETRATION, JOINT_GAP, AT_ROUNDING, UNCONVERGED):
        record_io[c] = max(verdict[0, c], verdict[1, c], verdict[2, c])
