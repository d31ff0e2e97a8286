"""One time step through contact on the level of velocities and impulses.

What it solves, from (q, v) at t to (q⁺, v⁺) at t + h:

    (M + h D + h² K) (v⁺ − v) = h (τ + b − K (q + h v) − D v − C v − g) + Jᵀ Λ,       u⁺ = J v⁺
    each element: −(u⁺ + o) ∈ N(Λ)                      (one contact problem, `taction.contact.problem`)
    q⁺ = q ⊕ h (v⁺ + w)                                 (Moreau: q ⊕ ½ h v ⊕ ½ h v⁺ ⊕ h w)

with K, D, b the linear joint law (springs, dampers, servos), implicit at the end of the step, so stable for
every gain (a servo that leaves its limits is an element instead, `taction.steppers.servo_rows`); o the
offsets of the scheme (`taction.steppers.schemes`), which also says where M, J and gaps are taken; w the
correction of positions (`taction.steppers.position_correction`). How M is inverted, which rows joints have
and how bodies move is a matter of the coordinates (`taction.steppers.coordinates`).

Method, a stage each:
1. `free_motion`: kinematics, mass matrix and its factor, bias forces, free velocity;
2. `find_contacts`: detected, and matched with those of the step before;
3. `gather_elements`, `assemble`: force elements as blocks, W and b;
4. `solve_impulses`: where something bounces, in phases (`taction.steppers.restitution`); each problem by
   `solve_contacts`, from the impulses of the step before;
5. `finish_step`: v⁺ from the impulses; works and certificate from v⁺; positions corrected and moved.
Loose bodies that overlap in the end are parted before the next step (`taction.steppers.parting`).

The kernels allocate nothing. Where something is missing (a longer buffer, an ordering for a large factor, a
stronger solver) `advance` stops with a status that says what (`taction.steppers.phases`), having changed no
state, and is called again from that point: see `taction.steppers.driver`.

Cost for an 18-dof quadruped on four feet: in the benchmark notes.

References: [Moreau1988]; [StewartTrinkle1996]; [AnitescuPotra1997]; [BaraffWitkin1998] for the implicit joint
law; [CastroPermenterHan2023] for contact with implicit gains.
"""

from __future__ import annotations

from taction._core.jit import call_kernel, kernel
from taction.steppers.contact_search import find_contacts
from taction.steppers.coordinates.dispatch import limit_free
from taction.steppers.finish import finish_step, record_contacts
from taction.steppers.free_motion import free_motion
from taction.steppers.gather import assemble, gather_elements
from taction.steppers.parting import must_part
from taction.steppers.phases import (
    AGAIN,
    BEGIN,
    DONE,
    FINISH,
    FOUND,
    MORE_RECORDS,
    MOVE,
    PART,
    SERVO_LIMIT,
    SOLVE,
)
from taction.steppers.restitution import solve_impulses
from taction.steppers.scene import BACK_ENTRY, CHECK_ENTRY, START_ENTRY, STUCK_ENTRY
from taction.steppers.servo_rows import let_go


@kernel
def pose_problem(scene, options, phase, drive, state, ws, record_out):
    """Stages 1 to 3, from the phase it stopped in: the step's contact problem; returns what is missing."""
    motion, blocks = ws.motion, ws.blocks
    if phase == BEGIN:
        let_go(scene.servos, motion)
    while True:
        if phase <= BEGIN:
            phase = BEGIN
            if options.is_measured:
                call_kernel(motion.entry[START_ENTRY], (scene, options, state, ws, record_out))
            missing = free_motion(scene, options, drive, state, motion, record_out)
            while missing == DONE and limit_free(scene, options, drive, state.q, motion) > 0:
                missing = free_motion(scene, options, drive, state, motion, record_out)
            if missing != DONE:
                return missing
        missing = find_contacts(scene, options, phase, motion, state, ws.sight)
        if missing != DONE:
            return missing
        if options.is_search:
            return FOUND
        gather_elements(scene, options, drive, state, ws.sight, motion, blocks)
        if options.is_measured:
            missing = call_kernel(motion.entry[BACK_ENTRY], (scene, options, state, ws))
            if missing != DONE:
                return missing
        missing = assemble(scene.tree, options, motion, blocks)
        if missing != DONE or motion.entry[STUCK_ENTRY] == 0:
            return missing
        if call_kernel(motion.entry[STUCK_ENTRY], (scene, blocks, motion)) == 0:
            return DONE
        phase = AGAIN


@kernel
def step(scene, options, phase, drive, room, ws, state_io, weight_io, record_out):
    """One step, from the phase it stopped in; room: contacts that can still be recorded, −1 for any.

    drive (nr + m,): forces held on the joints, then inputs of the servos. Returns what is missing, or DONE.
    """
    while True:
        if phase < SOLVE:
            missing = pose_problem(scene, options, phase, drive, state_io, ws, record_out)
            if missing != DONE:
                return missing
        if phase < FINISH:
            missing = solve_impulses(scene, options, phase, state_io.not_unique[0], ws, weight_io, record_out)
            if missing != DONE:
                return missing
        if phase < FINISH and options.is_measured:
            if call_kernel(ws.motion.entry[CHECK_ENTRY], (scene, options, ws)) > 0:
                phase = SOLVE
                continue
        if 0 <= room < ws.blocks.count[0]:
            return MORE_RECORDS
        missing = finish_step(scene, options, phase == MOVE, drive, ws, state_io, record_out)
        if missing != SERVO_LIMIT:
            return missing
        phase = AGAIN


@kernel
def advance(
    scene, options, drive, first, last, phase, has_table, ws, state_io, weight_io, record_io, table_io
):
    """Steps first…last−1; returns (step reached, what is missing or DONE).

    drive (1 or more, nr + m): forces held on the joints in each step, the last row in all that follow.
    record_io: states and angles (n + 1, ·) and records (n, COLUMNS) of all steps, row 0 the start. phase:
    where the first of these steps goes on.
    """
    for n in range(first, last):
        force, record = drive[min(n, drive.shape[0] - 1)], record_io.step[n]
        room = table_io.step.shape[0] - table_io.count[0] if has_table else -1
        missing = step(scene, options, phase, force, room, ws, state_io, weight_io, record)
        if missing != DONE:
            return n, missing
        phase = BEGIN
        for k in range(state_io.q.shape[0]):
            record_io.q[n + 1, k] = state_io.q[k]
        for d in range(state_io.v.shape[0]):
            record_io.v[n + 1, d] = state_io.v[d]
        for t in range(state_io.angle.shape[0]):
            for c in range(3):
                record_io.angle[n + 1, t, c] = state_io.angle[t, c]
        if options.force_h > 0.0:
            for d in range(ws.motion.acted.shape[0]):
                record_io.tau[n, d] = ws.motion.acted[d]
        if has_table:
            record_contacts(n, ws.sight.contacts, ws.blocks, table_io)
        if options.is_parting and must_part(scene, options, force, record, state_io, ws):
            return n + 1, PART
    return last, DONE
