"""Samples of the error of plain steps: some steps of a run are taken again as two halves, beside it.

What it solves: the error of step n of length h from the state s where it starts, with w = S_h(s), the step
of the run, and f = S_{h/2}(S_{h/2}(s)): off by C h^(p+1) and by a 2ᵖ-th of that, so that the step is off by

    e = 2ᵖ d / (2ᵖ − 1),        d = distance of w and f,        p: the order of the scheme

in metres and metres per second (`taction.kinematics.state_distance`). The state of the run takes no part in
that, so that no bit of it depends on samples.

Which steps: every 16th at first, every 64th and 512th later, `SCHEDULE`; by number alone, whatever the clock
says or how a run is cut into pieces. Their estimates stand in their records; the others are judged beside
them (`taction.sim.motion_errors`).

Cost: two steps and some 0.3 ms of Python for each: 30 in 10 000 steps, so 0.6 % more steps. Single steps take
none. A problem that the compiled solver leaves gets a few iterations, where the run itself goes through all
last resorts; a sample with a step that is not solved says nothing.

References: [HairerNorsettWanner1993, Section II.4] for doubled steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from taction._core.arrays import Array
from taction.kinematics.state_distance import StateRuler
from taction.sim.divided_step import copied, kept_in, shortened
from taction.steppers import phases
from taction.steppers.columns import POSITION_ERROR, UNCONVERGED, VELOCITY_ERROR
from taction.steppers.driver import Driver
from taction.steppers.outside_solve import FEW
from taction.steppers.records import Record, make_record
from taction.steppers.scene import Scene, State

NOTHING = 1e-300  # estimate where whole and halves are the same, as in flights that cut themselves alike
SCHEDULE = ((64, 16), (512, 64), (1 << 62, 512))  # before step …, every …-th is a sample


def next_sample(n: int) -> int:
    """The first step from n on that is taken again as two halves."""
    for end, every in SCHEDULE:
        found = n + (every // 8 - n) % every
        if found < end:
            return found
    raise AssertionError("the schedule has no end")


def pieces(first: int, last: int) -> Iterator[tuple[int, int, bool]]:
    """Steps first…last−1 in pieces (first, last, is a sample), so that samples stand alone."""
    while first < last:
        n = next_sample(first)
        if n == first:
            yield first, first + 1, True
            first += 1
        else:
            yield first, min(n, last), False
            first = min(n, last)


class StepSampler:
    """Takes steps of a driver again, as two halves, and says what the whole ones are off by."""

    def __init__(self, driver: Driver, record: Record) -> None:
        self._driver, self._ruler = driver, StateRuler(driver.model)
        self._passes = shortened(driver.passes, 1)
        order = 2 if driver.passes[0].is_split else 1
        self._share = 2.0**order / (2.0**order - 1.0)
        self._part = make_record(driver.model, 1, record.angle.shape[1], record.tau.shape[1])
        self._start: State | None = None
        self._solver = driver.solver
        if not driver.options.is_external:
            self._solver = replace(driver.solver, max_iterations=min(driver.solver.max_iterations, FEW))

    def begin(self, state: State) -> None:
        """Keep the state where a step starts."""
        self._start = copied(state) if self._start is None else kept_in(self._start, state)

    def compare(self, scene: Scene, drive: Array, number: int, end: State, row: Array) -> None:
        """Estimate the errors of the step that led from there to an end, into its record (COLUMNS,)."""
        assert self._start is not None
        driver, solver = self._driver, self._driver.solver
        force = drive[min(number, len(drive) - 1) :][:1]
        state, unsolved = self._start, row[UNCONVERGED]
        driver.solver = self._solver
        for _ in range(2):
            if not unsolved:
                missing, state, _ = driver.take_step(
                    scene, self._passes, force, state, self._part, None, number
                )
                unsolved = missing != phases.DONE or self._part.step[0, UNCONVERGED]
        driver.solver = solver
        if not unsolved:
            place, speed = self._ruler.measure(end.q, end.v, state.q, state.v)
            row[POSITION_ERROR] = max(self._share * place, NOTHING)
            row[VELOCITY_ERROR] = max(self._share * speed, NOTHING)
