"""A step that divides itself where its estimated error asks for it.

What it solves: the state at t + dt to an accuracy [m], whatever the scheme. With S_h a step over h, a part of
length h = dt / 2ᵏ is taken once, whole, and once as two halves:

    w = S_h(s)                  f = S_{h/2}(S_{h/2}(s))                d = distance of w and f

Both end at the same time, so that d is made of errors only. Where the motion is smooth a part of order p is
off by C h^(p+1), which leaves

    e = d / (2ᵖ − 1)            the error of f                         p = 2: d / 3

At an *event*, a contact or stop that opens, closes, strikes, sticks or slides in f, in w or between them, a
scheme is of order 1 whatever it is elsewhere, and e = d.

Method, for a part that starts at s with w known:
1. Take both halves. Where e is small enough f is the end of the part: the finer one is kept.
2. Otherwise each half is such a part of its own; that of the first is known, the first half of f.
3. A part whose halves are 2⁻ᵏ dt long with k = `most` is the end of it: f is kept, and the step says that it
   is not as accurate as was asked for. So it is where a whole part cannot be taken: its error is infinite.

Small enough, with the distances of places e_x and of velocities e_v (`taction.kinematics.state_distance`):

    smooth      max(e_x, dt e_v) ≤ accuracy
    an event    max(e_x, h e_v) ≤ accuracy

In smooth motion what a velocity is off by counts for the whole step. A bounce that comes one part late is off
by its whole velocity, but for the time h alone. Every part may be off by so much: halving divides the errors
of smooth parts by 8 and their sum by 4, so that a step of many parts is off by a few times the accuracy.

Nothing of a step but its start decides how it is divided: not the one before, the clock, or the thread. The
drive is held over all parts; lengths, and what the correction of positions may move, are those of a part. One
row is recorded per step (`taction.sim.joined_parts`).

Cost: three steps where one would have done, and 3 · 2 more for each that is divided. A bounce within dt costs
3 · 2 steps per level, since one of two halves is smooth.

Limits: an event that w and f both miss, as it comes so late that both take it at the start of the next part,
is not seen in d. Schemes that look ahead for contacts are late by rounding at most; those of Moreau by what
is left of the part in which the event should have been. Schemes that carry lengths of the last step along
(`midpoint`, the curvature of paths) lose an order where lengths change.

References: [HairerNorsettWanner1993, Section II.4] for doubled steps; [StuderLeineGlocker2008] for non-smooth
motion.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import given, number
from taction.kinematics.state_distance import StateRuler
from taction.model.model import Model
from taction.sim.joined_parts import join_contacts, join_rows
from taction.solvers.base import Solver
from taction.steppers import phases
from taction.steppers.columns import INACCURATE, PARTS, POSITION_ERROR, VELOCITY_ERROR
from taction.steppers.driver import Driver
from taction.steppers.records import ContactTable, Record, make_record
from taction.steppers.scene import Options, Scene, State

Touch = tuple[bytes, bytes]  # of `touch`

MOST_DIVISIONS = 10  # how often a step is halved at most, by default: parts of a thousandth of dt
DEEPEST = 40  # and with any setting: parts that still change a time of seconds


WHOLE, HALF, FINE, MIDDLE = range(4)  # what the room for a state is for, at each level


class Part(NamedTuple):
    """A part of a step that was taken: where it ends, and what it left behind."""

    state: State
    touch: Touch
    row: Array  # its record (COLUMNS,)
    tau: Array  # what controllers, actuators and servos did (nr,)
    level: int  # its length is dt / 2^level


class Failed(Exception):
    """A part that could not be taken, at the bound of division."""

    def __init__(self, missing: int) -> None:
        self.missing = missing


class DividedDriver(Driver):
    """Runs the steps of one world, each as finely divided as its accuracy asks for.

    Args:
        model: what moves.
        scene: for the size of memory.
        passes: how steps are done: options of each velocity problem of a step, in turn.
        solver: for steps that the compiled solver leaves.
        law: of the contacts, for problems that leave the kernel.
        most_contacts: that a part may have.
        accuracy: of the places of links where a step ends [m].
        most: how often a step may be halved.
    """

    def __init__(
        self,
        model: Model,
        scene: Scene,
        passes: tuple[Options, ...],
        solver: Solver,
        law: str,
        most_contacts: int,
        *,
        accuracy: float,
        most: int = MOST_DIVISIONS,
    ) -> None:
        super().__init__(model, scene, passes, solver, law, most_contacts)
        self.accuracy, self.most_divisions = accuracy, most
        self._ruler = StateRuler(self.model)
        self._lengths = [shortened(self.passes, level) for level in range(most + 1)]
        self._rooms: dict[tuple[int, int], State] = {}
        self._part: Record | None = None

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
        """Steps first…last−1 of a world, divided; see `Driver.advance`."""
        drive = np.require(drive, float, ("C", "W"))
        if self._part is None:
            self._part = make_record(self.model, 1, record.angle.shape[1], record.tau.shape[1])
        for n in range(first, last):
            start = 0 if table is None else int(table.count[0])
            step = Division(self, scene, drive[min(n, len(drive) - 1) :][:1], n, self._part, table)
            try:
                end, row, tau = step.take(self.with_room(state))
            except Failed as failure:
                if table is not None:
                    table.count[0] = start
                return n, failure.missing, state, table
            state, table = kept_in(state, end), step.table
            if table is not None:
                join_contacts(table, start)
            record.step[n], record.tau[n] = row, tau
            record.q[n + 1], record.v[n + 1], record.angle[n + 1] = state.q, state.v, state.angle
        return last, phases.DONE, state, table

    def keep(self, level: int, purpose: int, source: State) -> State:
        """A copy of a state, in the room that is kept for this purpose at a level."""
        room = self._rooms.get((level, purpose))
        room = copied(source) if room is None else kept_in(room, source)
        self._rooms[level, purpose] = room
        return room

    def measure(self, a: State, b: State) -> Array:
        """Distances of places [m] and of velocities [m/s] of two states."""
        return np.array(self._ruler.measure(a.q, a.v, b.q, b.v))

    def passes_of(self, level: int) -> tuple[Options, ...]:
        """Options of a part."""
        return self._lengths[level]

    @property
    def smooth_order(self) -> int:
        """Of the scheme, where the motion is smooth."""
        return 2 if self.passes[0].is_split else 1


class Division:
    """One step and its parts.

    Args:
        driver: takes them.
        scene: the world's constants.
        force: held over the step, shape (1, nr + m).
        number: of the step, for the contacts of its parts.
        part: row 0 is where each part writes.
        table: of contacts, if they are kept.
    """

    def __init__(
        self,
        driver: DividedDriver,
        scene: Scene,
        force: Array,
        number: int,
        part: Record,
        table: ContactTable | None,
    ) -> None:
        self.driver, self.scene, self.force, self.number = driver, scene, force, number
        self.record, self.table = part, table
        self.parts: list[Part] = []
        self.error = np.zeros(2)  # of places and velocities, so far
        self.is_inaccurate = False

    def take(self, start: State) -> tuple[State, Array, Array]:
        """The step from a state, which does not change: its end, record (COLUMNS,), forces of drives (nr,).

        Raises:
            Failed: a shortest part could not be taken.
        """
        begun = self._count()
        whole = self._take(0, WHOLE, start, is_kept=False)
        end = self._divide(0, start, touch(start), whole, begun)
        row, tau = join_rows([(part.row, part.tau, part.level) for part in self.parts])
        row[PARTS], row[INACCURATE] = len(self.parts), float(self.is_inaccurate)
        row[POSITION_ERROR], row[VELOCITY_ERROR] = self.error
        return end.state, row, tau

    def _divide(self, level: int, start: State, touched: Touch, whole: Part | None, begun: int) -> Part:
        """The end of a part from its start, and from its end as a whole if there is one."""
        driver, below = self.driver, level + 1
        is_last = below >= driver.most_divisions
        half = self._take(below, HALF, start, is_needed=is_last)
        fine = None if half is None else self._take(below, FINE, half.state, is_needed=is_last)
        if half is not None and fine is not None:
            error, is_event = self._estimate(touched, whole, half, fine)
            lasts = driver.passes[-1].h * (0.5**level if is_event else 1.0)
            is_enough = max(error[0], lasts * error[1]) <= driver.accuracy
            if is_enough or is_last:
                self.is_inaccurate |= not is_enough
                self.error += np.where(np.isfinite(error), error, 0.0)
                self.parts += [half, fine]
                return fine
        self._forget(begun)
        end = self._divide(below, start, touched, half, begun)
        # The second half: its start lasts while the rooms below it are used again
        middle, begun = driver.keep(below, MIDDLE, end.state), self._count()
        whole = self._take(below, WHOLE, middle, is_kept=False)
        return self._divide(below, middle, end.touch, whole, begun)

    def _take(
        self, level: int, purpose: int, start: State, *, is_kept: bool = True, is_needed: bool = False
    ) -> Part | None:
        """A part from a state, which does not change; None if it cannot be taken.

        is_kept: its contacts go into the table. is_needed: that it cannot be taken is an error.

        Raises:
            Failed: it cannot, though it is needed.
        """
        driver = self.driver
        missing, state, table = driver.take_step(
            self.scene, driver.passes_of(level), self.force, driver.keep(level, purpose, start), self.record,
            self.table if is_kept else None, self.number,
        )  # fmt: skip
        if is_kept:
            self.table = table
        if missing == phases.DONE:
            return Part(state, touch(state), self.record.step[0].copy(), self.record.tau[0].copy(), level)
        if is_needed:
            raise Failed(missing)
        return None

    def _estimate(self, touched: Touch, whole: Part | None, half: Part, fine: Part) -> tuple[Array, bool]:
        """Estimated errors of places and velocities of the finer end of a part; whether it has an event."""
        if whole is None:
            return np.full(2, math.inf), True
        is_event = not touched == whole.touch == half.touch == fine.touch
        difference = self.driver.measure(whole.state, fine.state)
        return difference / (2.0 ** (1 if is_event else self.driver.smooth_order) - 1.0), is_event

    def _count(self) -> int:
        return 0 if self.table is None else int(self.table.count[0])

    def _forget(self, count: int) -> None:
        """Contacts of parts that are not kept."""
        if self.table is not None:
            self.table.count[0] = count


def check_accuracy(accuracy: float | None, most: int) -> tuple[float | None, int]:
    """The accuracy [m] and how often a step may be halved, as users give them."""
    if accuracy is not None:
        accuracy = number(accuracy, "accuracy")
        if not (math.isfinite(accuracy) and accuracy > 0.0):
            raise BadInput(f"accuracy: must be positive and finite [m], or None, got {accuracy}")
    if not isinstance(most, (int, np.integer)) or isinstance(most, bool) or not 1 <= most <= DEEPEST:
        raise BadInput(f"most_divisions: a whole number from 1 to {DEEPEST}, got {given(most)}")
    return accuracy, int(most)


def shortened(passes: tuple[Options, ...], level: int) -> tuple[Options, ...]:
    """Options of the passes of a step 2^−level as long."""
    share = 0.5**level
    lengths = ("h", "force_h", "move_h", "reach_h", "push", "turn")
    return tuple(
        options._replace(**{name: share * getattr(options, name) for name in lengths}) for options in passes
    )


def touch(state: State) -> Touch:
    """Who touches whom where a step ended, and which joint rows carry: equal while all stays as it is."""
    carries = (state.joint_impulse != 0.0).tobytes()
    if not (n := int(state.count[0])):
        return b"", carries
    return state.key[:n][state.impulse[:n, 0] > 0.0].tobytes(), carries


def copied(state: State) -> State:
    """A copy of a state."""
    return State(*(array.copy() for array in state._asdict().values()))


def kept_in(state: State, source: State) -> State:
    """The numbers of a source in the arrays of a state, or a copy of it where they do not fit."""
    pairs = [(getattr(state, name), getattr(source, name)) for name in State._fields]
    if any(old.shape != new.shape for old, new in pairs):
        return copied(source)
    for old, new in pairs:
        np.copyto(old, new)
    return state
