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
   e² of what the blow took, e the largest coefficient; and, where friction acted and there are several
   contacts, no more than leaves them the energy of blow and expansion without friction, solved for that.

What it guarantees. Let n = M⁻¹J_NᵀΛ_c be what the normal impulses of the blow do to the velocities. With one
e the expansion gives at most ½ e² nᵀMn, and the blow takes at least that much, without the e², where it does
not couple normal and sliding velocities. The first bound is for where it does. The second one is for where an
expansion without friction is held up by a contact that friction opens: once in some thousand random impacts
of a body on points. Both are met exactly, since energy is a parabola in κ. At κ = 0 the impact is plastic:
its energy is never above that before, nor above that of the plastic impact without friction, whose end is the
admissible velocity nearest to the start. Cones are convex and velocities linear in κ, so friction stays in
its cone and nobody is left approaching.

Where nothing bounces nothing here is done but looking: approach that the tolerance cannot tell from rest
counts as rest. All phases but 3 are solved as any step is, pile or outside solver included; phase 3 by
Gauss–Seidel, then Newton's method; where that fails nothing comes back. `judge_contacts` judges each phase
from velocities and impulses, and the record has the worst.

Reads: blocks with `BOUNCE` and `GIVES_BACK`, velocities `BEFORE` and `FREE`. Writes: impulses ``blocks.r``;
`Impact`. What the blocks had is back in place when it ends. A phase may stop as any solve does: `stage` says
which it was, and the step goes on there.

References: [GlockerPfeiffer1995] for both phases; [Moreau1988] for Newton's law as an offset.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import BOUNCE, OFFSET, SOURCE, VELOCITY, problem_rows
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
from taction.steppers.impact_phases import (
    BLOW,
    COMPRESSION,
    EXPANSION,
    GAIN,
    KEPT,
    LOSS,
    NOTHING_STRUCK,
    OVER,
    SLACK,
    SMOOTH_BLOW,
    allow_smooth,
    end_impact,
    end_phase,
    is_rubbed,
    pose_blow,
    pose_compression,
    pose_expansion,
    pose_smooth_blow,
    pose_smooth_expansion,
    weigh_expansion,
)
from taction.steppers.judge import norm
from taction.steppers.phases import CHECK, DONE, ORDER, ORDER_BODIES, SOLVE, STRONG
from taction.steppers.scene import BEFORE, FREE, RIGID

SWEEPS = 50  # of Gauss–Seidel in the expansion before anything is factored
PHASES = 3  # that are judged: those without friction are a bound


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
    start = motion.dof[BEFORE] if stage == SMOOTH_BLOW else impact.velocity[1]
    end_phase(scene, options, stage, start, shape, motion, blocks, impact)
    if stage == EXPANSION:
        weigh_expansion(options, blocks, impact)
        if is_rubbed(blocks, impact):
            pose_smooth_blow(options, motion, blocks, impact)
            return True
    elif stage == SMOOTH_BLOW:
        pose_smooth_expansion(scene, motion, blocks, impact)
        return True
    else:
        allow_smooth(blocks, impact)
    end_impact(motion, blocks, impact)
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
                if impact.stage[0] <= COMPRESSION:
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
    for n in range(PHASES):
        if not verdict[n, RESIDUAL] <= verdict[worst, RESIDUAL]:
            worst = n
    for c in (RESIDUAL, WORST_A, WORST_B, CONTACTS):
        record_io[c] = verdict[worst, c]
    for c in (SIGNORINI, CONE, DISSIPATION, PENETRATION, JOINT_GAP, AT_ROUNDING, UNCONVERGED):
        record_io[c] = max(verdict[0, c], verdict[1, c], verdict[2, c])
