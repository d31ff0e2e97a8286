"""The Python side of a step: gives a step what it asks for, and asks again.

A kernel cannot allocate, order a large factor, or call a solver chosen by name; and it should not hold code
that most worlds never need. `Driver.advance` runs steps compiled until one of these is needed, helps, and
goes on from the very point where the kernel stopped. Which help was needed never changes a result: buffers
are only made longer, orderings depend on the pattern alone. Problems of a step are taken in turn.

| the kernel says | help |
|---|---|
| `FIND_PAIRS` | a broad phase for many shapes, once: then the kernel knows its address |
| `GENERAL_PAIRS` | the narrow phase of convex shapes in general, and of terrain, once, likewise |
| `MORE_PAIRS`, `MORE_CONTACTS`, `MORE_ENTRIES`, `MORE_RECORDS` | buffers twice as long as needed |
| `ORDER` | order the pattern of W for elimination; kept while the pattern stays |
| `ORDER_PUSH` | the same for the correction of positions, the step being solved |
| `ORDER_BODIES` | the same for the bodies that touch |
| `ORDER_FLOW` | room for a factor of a pile's closed contacts |
| `PILE` | kernels for hundreds of contacts of loose bodies (`taction.steppers.pile_solve`) |
| `BOUND_PUSH` | a correction of positions within its bounds |
| `PART` | loose bodies that overlap where the last step ended are moved apart |
| `SOLVE_OUTSIDE` | drives as rows; else the step as a `ContactProblem`, to the solver chosen or `auto` |

References: [AcaryBremondHuber2018] for the problem that leaves the kernel.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ContactLimitError, IntegrationError
from taction._core.jit import address_of, direct, plain
from taction.contact.assembly import SOURCE, TREE, problem_rows
from taction.contact.certificate import Certificate
from taction.contact.problem import ContactProblem
from taction.geometry.broad_phase import ALL_PAIRS
from taction.geometry.colliders import Contacts
from taction.model.model import Model
from taction.solvers.base import Solver
from taction.solvers.body_space import order_bodies
from taction.solvers.newton import order_newton
from taction.solvers.newton_memory import FULL_MOST, is_coupled, make_work
from taction.solvers.state_flow import with_room
from taction.steppers import phases
from taction.steppers.change_laws import let_laws_go
from taction.steppers.columns import COLUMNS, ITERATIONS, NOT_UNIQUE, merged
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.held_drives import release_drives
from taction.steppers.impulse_step import advance, pose_problem
from taction.steppers.late_rows import note_addresses
from taction.steppers.memory import make_memory
from taction.steppers.outside_solve import solve_outside, write_verdict
from taction.steppers.parting import ROUNDS, at_start, landing, part_bodies
from taction.steppers.pile_help import help_pile
from taction.steppers.push_bounds import bound_push
from taction.steppers.records import ContactTable, Record, longer, make_record, make_table
from taction.steppers.scene import (
    BOUND_ENTRY,
    GENERAL_ENTRY,
    PAIRS_ENTRY,
    Motion,
    Options,
    Scene,
    State,
    joint_count,
)
from taction.steppers.step_problem import problem_from_rows
from taction.steppers.ties import leaves_first

cut_rows, has_rows = plain(problem_rows), plain(has_joint_rows)
is_one_robot = plain(is_coupled)
CONTACT_STATE = ("key", "impulse", "memory")  # of a state: a row per contact
LEAST_CONTACTS, LEAST_PAIRS = 32, 64
MOST_CONTACTS = 10_000
NOT_FINISHED = (phases.MORE_RECORDS, phases.ORDER_PUSH, phases.BOUND_PUSH)  # solved steps that need help


class Driver:
    """Runs the steps of one world at a time, with memory that grows as needed.

    Args:
        model: what moves.
        scene: for the size of memory; `advance` may be given others of the same world.
        passes: how steps are done: options of each velocity problem of a step, in turn.
        solver: for steps that the compiled solver leaves, or for all if options say so.
        law: of the contacts, for problems that leave the kernel.
        most: contacts that a step may have.
    """

    def __init__(
        self,
        model: Model,
        scene: Scene,
        passes: tuple[Options, ...],
        solver: Solver,
        law: str,
        most: int = MOST_CONTACTS,
    ) -> None:
        self.model, self.passes, self.solver, self.law, self.most = model, passes, solver, law, most
        self.options = passes[-1]  # of the problem at hand
        self._verdict: tuple[int, Certificate] | None = None
        few = min(LEAST_CONTACTS, most)
        self.memory = make_memory(model, scene, few, LEAST_PAIRS, options=passes[0])
        self._weight, self._no_table, self._kernel = np.zeros(1), make_table(0), advance
        self._known: Motion | None = None  # memory whose addresses are noted

    def advance(
        self,
        scene: Scene,
        drive: Array,
        first: int,
        last: int,
        state: State,
        record: Record,
        table: ContactTable | None = None,
    ) -> tuple[int, int, State, ContactTable | None]:
        """Steps first…last−1 of a world.

        Args:
            scene: its constants.
            drive: joint forces and inputs of servos per step, the last row held, shape (n, nr + m).
            first: row of ``record.step`` to begin with.
            last: row to end before.
            state: where it starts; changed in place, or replaced where it must grow.
            record: row ``first`` of the states is the start.
            table: contacts are appended if given.

        Returns:
            Step reached, 0 or the status that ended it (SINGULAR and above), state, table.
        """
        if not drive.flags.carray:
            drive = np.require(drive, float, ("C", "W"))
        if len(self.passes) == 1:
            return self._advance(scene, self.passes[0], drive, first, last, state, record, table)
        part = make_record(self.model, 1, record.angle.shape[1], record.tau.shape[1])
        for n in range(first, last):
            force = drive[min(n, len(drive) - 1) :][:1]
            missing, state, kept = self.take_step(scene, self.passes, force, state, part, table, n)
            if missing != phases.DONE:
                return n, missing, state, table
            record.step[n], record.q[n + 1], record.v[n + 1] = part.step[0], state.q, state.v
            record.angle[n + 1], record.tau[n] = state.angle, part.tau[0]
            table = kept
        return last, phases.DONE, state, table

    def take_step(
        self,
        scene: Scene,
        passes: tuple[Options, ...],
        force: Array,
        state: State,
        part: Record,
        table: ContactTable | None,
        number: int,
    ) -> tuple[int, State, ContactTable | None]:
        """One step of these passes into row 0 of a record; its contacts are those of step ``number``.

        force: held over it, shape (1, nr + m). Returns 0 or the status that ended it, state, table.
        """
        whole, kept = part.step[0], table
        for k, options in enumerate(passes):
            kept = table if k == len(passes) - 1 else None
            _, missing, state, kept = self._advance(scene, options, force, 0, 1, state, part, kept, number)
            if missing != phases.DONE:
                return missing, state, table
            whole = part.step[0].copy() if k == 0 else merged(whole, part.step[0])
        part.step[0] = whole
        return phases.DONE, state, kept

    def _advance(
        self,
        scene: Scene,
        options: Options,
        drive: Array,
        first: int,
        last: int,
        state: State,
        record: Record,
        table: ContactTable | None,
        number: int | None = None,
    ) -> tuple[int, int, State, ContactTable | None]:
        """One pass of the steps first…last−1; contacts are recorded as those of step ``number`` if given."""
        self.options, phase = options, phases.BEGIN
        state = self._prepared(scene, state)
        rows = self._no_table if table is None else table
        start = int(rows.count[0])
        while True:
            first, missing = self._kernel(
                scene, options, drive, first, last, phase, table is not None, self.memory, state,
                self._weight, record, rows,
            )  # fmt: skip
            if self._kernel is advance:
                self._kernel = direct(advance)
            if missing == phases.DONE and self._verdict is None and number is None:
                return first, missing, state, (None if table is None else rows)
            if missing not in NOT_FINISHED:
                self._pronounce(record)
            if missing in (phases.SOLVE_OUTSIDE, phases.PILE) and not self._is_finite():
                missing = phases.NOT_FINITE
            elif self._is_crowded(missing):
                missing = phases.TOO_MANY_CONTACTS
            if missing == phases.DONE or missing >= phases.SINGULAR:
                if number is not None:
                    rows.step[start : int(rows.count[0])] = number
                return first, missing, state, (None if table is None else rows)
            if missing == phases.MORE_RECORDS:
                need = int(rows.count[0]) + int(self.memory.blocks.count[0])
                rows, phase = longer(rows, 2 * need), phases.FINISH
            elif missing in (phases.ORDER, phases.ORDER_BODIES):
                self.order(scene, missing)
                phase = phases.STRONG
            elif missing == phases.SOLVE_OUTSIDE:
                phase = self._ask_outside(scene, first, record.step[first])
            elif missing == phases.PILE:
                help_pile(self, scene, record.step[first])
                phase = phases.CHECK
            elif missing == phases.ORDER_PUSH:
                self.order(scene, missing)
                phase = phases.FINISH
            elif missing == phases.BOUND_PUSH:
                self._bound_push(scene, state)
                phase = phases.MOVE
            elif missing == phases.PART:
                self.part(scene, drive[min(first - 1, len(drive) - 1)], state, record.step[first - 1])
                self.options = options
                record.q[first], record.v[first], record.angle[first] = state.q, state.v, state.angle
                state, phase = self._prepared(scene, state), phases.BEGIN
            else:
                state, phase = self._serve(scene, missing, state)

    def _serve(self, scene: Scene, missing: int, state: State) -> tuple[State, int]:
        """What posing a problem needs; returns the state, longer where it must be, and where to go on."""
        if missing == phases.FIND_PAIRS:
            self._find_pairs(scene)
            return state, phases.NARROW
        if missing == phases.GENERAL_PAIRS:
            self._general_pairs(scene)
            return state, phases.MATCH
        self._grow(scene, missing)
        return self._prepared(scene, state), phases.BEGIN

    def _bound_push(self, scene: Scene, state: State) -> None:
        """The correction of positions within its bounds, of the problem at hand."""
        while bound_push(scene, self.options, state.v, self.memory) != phases.DONE:
            self.order(scene, phases.ORDER_PUSH)
        address = address_of(bound_push, scene, self.options, state.v, self.memory)
        self.memory.motion.entry[BOUND_ENTRY] = address

    def part(self, scene: Scene, drive: Array, state: State, record: Array) -> None:
        """Move bodies apart that overlap at a state, where the step of this record (COLUMNS,) ended."""
        moves = landing(self.passes[-1])
        for _ in range(ROUNDS):
            try:
                self.assemble(scene, drive, state, at_start(self.passes[-1]))
            except (IntegrationError, ContactLimitError):
                return  # the next step will say so
            missing, has_moved = part_bodies(scene, self.options, moves, False, self.memory, state, record)
            while missing != phases.DONE:
                if missing == phases.BOUND_PUSH:
                    self._bound_push(scene, state)
                else:
                    self.order(scene, missing)
                is_bounded = missing == phases.BOUND_PUSH
                missing, has_moved = part_bodies(
                    scene, self.options, moves, is_bounded, self.memory, state, record
                )
            if not has_moved:
                return

    def pose(self, scene: Scene, drive: Array, state: State, name: str = "") -> ContactProblem:
        """The contact problem of the step that starts at a state, which does not change; nothing is solved.

        Args:
            scene: constants of the world.
            drive: joint forces and inputs of servos held over the step, shape (nr + m,).
            state: where it starts.
            name: of the problem.

        Raises:
            IntegrationError: the mass matrix is singular, or numbers are not finite.
        """
        self.assemble(scene, drive, state)
        return self.problem(name)

    def assemble(self, scene: Scene, drive: Array, state: State, options: Options | None = None) -> None:
        """The same, in memory only: free motion, contacts and blocks; by other options if given."""
        self.options = self.passes[-1] if options is None else options
        state, phase, record = self._prepared(scene, state), phases.BEGIN, np.zeros(COLUMNS)
        while True:
            missing = pose_problem(scene, self.options, phase, drive, state, self.memory, record)
            if missing == phases.DONE and self._is_finite():
                return
            if missing == phases.DONE or missing >= phases.SINGULAR:
                raise IntegrationError(f"{self.model.name}: the step cannot be assembled")
            self._refuse_crowd(missing)
            state, phase = self._serve(scene, missing, state)

    def find(self, scene: Scene, state: State) -> Contacts:
        """The contacts at a state, overwritten by what comes next; nothing else is done.

        Raises:
            ContactLimitError: there are more than the driver takes.
        """
        self.options = self.passes[-1]._replace(ahead=0.0, reach_h=0.0, is_search=True)
        if scene.filter.is_listed:
            self.options = self.options._replace(broad=ALL_PAIRS)
        joints = joint_count(scene)
        drive = np.zeros((1, joints + scene.servos.driven))
        record = make_record(self.model, 1, len(scene.ties.turn), joints)
        state, phase = self._prepared(scene, state), phases.BEGIN
        while True:
            _, missing = advance(
                scene, self.options, drive, 0, 1, phase, False, self.memory, state, self._weight, record,
                self._no_table,
            )  # fmt: skip
            contacts = self.memory.sight.contacts
            if missing >= phases.SINGULAR:  # the step itself will say so
                contacts.count[0] = 0
            if missing == phases.FOUND or missing >= phases.SINGULAR:
                return contacts
            self._refuse_crowd(missing)
            state, phase = self._serve(scene, missing, state)

    def _is_crowded(self, missing: int) -> bool:
        """Whether a step that asks for room has more contacts than it may."""
        return missing == phases.MORE_CONTACTS and self._found() > self.most

    def _found(self) -> int:
        """Contacts found in the step at hand, where it looked or where it started."""
        return max(int(sight.contacts.count[0]) for sight in (self.memory.sight, self.memory.back))

    def _refuse_crowd(self, missing: int) -> None:
        if self._is_crowded(missing):
            raise ContactLimitError(f"{self.model.name}: {self.crowd()}")

    def crowd(self) -> str:
        """Why a step with too many contacts was not taken."""
        return f"{self._found()} contacts were found, more than max_contacts = {self.most}"

    def _is_finite(self) -> bool:
        """Whether the problem at hand is made of numbers."""
        problem = cut_rows(self.memory.blocks)
        return bool(np.isfinite(problem.b).all() and np.isfinite(problem.value).all())

    def problem(self, name: str = "") -> ContactProblem:
        """The contact problem at hand."""
        rows = cut_rows(self.memory.blocks)
        source = self.memory.blocks.index[: len(rows.kind), SOURCE]
        return problem_from_rows(rows, source, self.law, name)

    def _find_pairs(self, scene: Scene) -> None:
        from taction.steppers.late_search import search_pairs

        search_pairs(self.options, scene.filter, self.memory.sight)
        self.memory.sight.entry[PAIRS_ENTRY] = address_of(
            search_pairs, self.options, scene.filter, self.memory.sight
        )

    def _general_pairs(self, scene: Scene) -> None:
        from taction.steppers.late_search import search_general

        search_general(scene.colliders, self.memory.sight)
        self.memory.sight.entry[GENERAL_ENTRY] = address_of(
            search_general, scene.colliders, self.memory.sight
        )

    def _prepared(self, scene: Scene, state: State) -> State:
        """A state with room for its contacts, in memory that knows the kernels that steps of a scene call."""
        state = self.with_room(state)
        if self._known is not self.memory.motion:
            note_addresses(scene, self.passes[-1], self._weight, state, self.memory)
            self._known = self.memory.motion
        return state

    def with_room(self, state: State) -> State:
        """A state with room for as many contacts as the memory has: itself, or a longer copy."""
        capacity = len(self.memory.sight.contacts.gap)
        if len(state.key) >= capacity:
            return state
        room = {name: (capacity - len(state.key), *getattr(state, name).shape[1:]) for name in CONTACT_STATE}
        return state._replace(
            **{
                name: np.concatenate([old := getattr(state, name), np.zeros(shape, dtype=old.dtype)])
                for name, shape in room.items()
            }
        )

    def _grow(self, scene: Scene, missing: int) -> None:
        m = self.memory
        contacts, pairs, entries = len(m.sight.contacts.gap), len(m.sight.pairs), len(m.blocks.rows.column)
        if missing == phases.MORE_PAIRS:
            pairs = 2 * int(m.sight.pair_count[0])
        elif missing == phases.MORE_CONTACTS:
            contacts = min(2 * self._found(), self.most)
        else:
            entries = 2 * int(m.blocks.rows.start[m.blocks.count[0]])
        self.memory = make_memory(self.model, scene, contacts, pairs, entries, self.passes[0], m.dense)

    def order(self, scene: Scene, missing: int) -> None:
        """Make the order of elimination that the problem at hand is missing, of `taction.steppers.phases`."""
        m, rows = self.memory, cut_rows(self.memory.blocks)
        k, blocks, entries = len(rows.kind), len(m.blocks.rows.kind), len(m.blocks.rows.column)
        if missing == phases.ORDER_BODIES:
            bodies = order_bodies(scene.chains, m.blocks.index[:k, TREE : TREE + 3], blocks)
            loose = make_work(blocks, entries, 0, len(bodies.first) - 1, bodies=bodies)
            self.memory = m._replace(loose=loose)
            return
        if missing == phases.ORDER_FLOW:
            self.memory = m._replace(flow=with_room(m.flow, blocks, entries))
            return
        if not has_rows(self.options) and is_one_robot(k, len(rows.column)):
            room = min(2 * k, FULL_MOST)
            self.memory = m._replace(dense=make_work(room, room * room, room * room, 1))
            return
        order = leaves_first(m.blocks.index[:k]) if has_rows(self.options) else None
        self.memory = m._replace(large=order_newton(rows, order))

    def _ask_outside(self, scene: Scene, n: int, record: Array) -> int:
        """Solve a problem outside, or pose it anew where held drives or a scheme's laws leave no solution."""
        servos, motion = scene.servos, self.memory.motion
        if not self.options.is_external:
            if release_drives(servos, motion):
                return phases.AGAIN
            if let_laws_go(self.options, self.memory):
                return phases.SOLVE
        if not self._solve(n, record):
            if release_drives(servos, motion):
                self._verdict = None
                return phases.AGAIN
            if let_laws_go(self.options, self.memory):
                self._verdict = None
                return phases.SOLVE
        return phases.CHECK

    def _solve(self, n: int, record: Array) -> bool:
        answer = solve_outside(self.memory.blocks, self.options.tolerance, self.solver, self.law)
        record[ITERATIONS], record[NOT_UNIQUE] = answer.iterations, answer.not_unique
        if answer.certificate is not None:
            self._verdict = n, answer.certificate
        return answer.converged

    def _pronounce(self, record: Record) -> None:
        """Write the verdict on laws that the compiled judge does not know into the record."""
        if self._verdict is None:
            return
        n, certificate = self._verdict
        self._verdict = None
        if n < len(record.step):
            write_verdict(certificate, self.memory.blocks, self.options.tolerance, record.step[n])
