"""Engines and courses: one way to run, whatever moves.

An `Engine` knows a mechanism and a method: the integrator of smooth motion (`taction.sim.smooth_engine`), or
the scheme, law and solver of motion through contact (`taction.sim.contact_engine`). It sets off on a
`Course`, which takes steps and keeps what they leave behind. `take_steps` is the loop around it, the same for
both: between two questions to a controller, or two looks at the clock, steps are taken in one piece. Nothing
about the motion depends on how a course is cut into pieces. Ctrl-C ends a course after a piece
(`taction.sim.interrupt`).

Joint coordinates go in and come out, whatever coordinates the steps are taken in.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import IntegrationError
from taction.control.contract import Control, Remembering
from taction.model.model import Model
from taction.sim.interrupt import Patience, is_kept, whole_runs
from taction.sim.progress import Listener, listener, on_steps
from taction.sim.recorder import Recorder, Rows
from taction.sim.run import Run
from taction.sim.state import SimState

Stop = Callable[[float, Array, Array], bool]

PIECE, SECONDS = 100, 0.2  # steps of a piece: at most so many, and about so long


class Engine(Protocol):
    """A mechanism and the method that moves it."""

    robot: Model  # what goes in and comes out is in its joint coordinates
    dt: float  # time step [s]

    @property
    def settings(self) -> Mapping[str, str]:
        """Scheme, and through contact law, solver and coordinates, for the head of a file."""
        ...

    def start(self, q: ArrayLike | None, v: ArrayLike | None, t: float = 0.0) -> SimState:
        """A state at q (nq,), v (nv,) in which nothing carries yet; neutral and at rest by default."""
        ...

    def set_off(self, start: SimState, steps: int, control: Control) -> Course:
        """Begin a run of at most so many steps.

        Raises:
            BadInput: a state of another world, or of other coordinates.
        """
        ...


class Course(Protocol):
    """A run on its way: its states, and what its steps left behind."""

    taken: int  # steps so far
    dt: float  # time step [s]
    act: Array  # activations of actuators now, (na,) or none
    error: type[IntegrationError]  # of what `advance` says
    ended: str  # why there is no further step, though none failed; or empty

    def inspect(self, is_strict: bool) -> None:
        """Warn of what is wrong with the start, or raise `CertificateError`."""
        ...

    def time(self, step: int) -> float:
        """When a step starts [s]."""
        ...

    def look(self) -> tuple[Array, Array]:
        """Configuration (nq,) and velocity (nv,) now, copies."""
        ...

    def started_from(self, first: int) -> Array:
        """Configurations from which the steps from ``first`` on started, shape (n, nq)."""
        ...

    def hold(self, drive: Array, end: int) -> None:
        """Hold joint forces and inputs of servos over the steps before ``end``: one row, or one for each."""
        ...

    def advance(self, end: int) -> str:
        """Take the steps before ``end``; empty, or why there was no further one."""
        ...

    def require(self, first: int, limit: float) -> None:
        """Raise `CertificateError` if the residual of a step from ``first`` on is above the limit."""
        ...

    def rows(self, first: int) -> Rows:
        """What the steps from ``first`` on left behind, for a file."""
        ...

    def finish(self, wall_s: float) -> Run:
        """The run up to here; its steps took so long [s]."""
        ...


def take_steps(
    course: Course,
    steps: int,
    robot: Model,
    *,
    control: Control,
    every: int = 1,
    see: Callable[[], Any] | None = None,
    stop: Stop | None = None,
    limit: float | None = None,
    progress: Callable[[float], Any] | None = None,
    recorder: Recorder | None = None,
) -> tuple[float, bool]:
    """Take the steps of a course; returns the time that took [s], and whether Ctrl-C ended it.

    Args:
        course: just set off.
        steps: how many.
        robot: whose joint forces a controller gives.
        control: its feedback is asked for joint forces (nv,), its plan for drives.
        every: how many steps apart it is asked.
        see: makes the fourth argument of a feedback that sees.
        stop: asked as often; the course ends early when it says so.
        limit: a larger residual, or a step that did not converge, raises `CertificateError`.
        progress: called with the time now and then.
        recorder: gets all steps, also the last good ones before an error is raised.

    Raises:
        IntegrationError: a step failed; the message says when and why.
        KeyboardInterrupt: within `whole_runs`, or in the middle of a step, by a second Ctrl-C.
    """
    feedback, memory = control.feedback, control.memory
    is_asked = feedback is not None or stop is not None
    piece = every if is_asked else 1  # how long a step takes must show first
    begin = now = clock.perf_counter()
    patience, is_moving, is_stopped, heard = Patience(is_kept()), False, False, listener()
    try:
        with whole_runs(), on_steps(None), patience:  # runs inside controllers are not a matter of their own
            while course.taken < steps:
                first, t = course.taken, course.time(course.taken)
                end = min(first + piece, steps)
                if memory is not None:
                    end = min(end, _next_update(memory, course))
                if progress is not None or heard is not None:
                    with patience.open:
                        _tell(progress, heard, course, steps, robot.name)
                if control.plan is not None:
                    with patience.open:
                        planned = control.plan(_times(course, first, end, every), course.act, course.dt)
                    drive, course.act = planned
                    course.hold(drive, end)
                if feedback is not None:
                    with patience.open:
                        seen = () if see is None else (see(),)
                        asked = feedback(t, *course.look(), *seen)
                    course.hold(robot.check_v(asked, "controller output"), end)
                is_moving = True
                failure = course.advance(end)
                if memory is not None and course.taken > first:
                    times = _times(course, first, course.taken)
                    course.act = memory.remember(times, course.started_from(first), course.act, course.dt)
                if recorder is not None:
                    recorder.append(course)
                is_moving, t = False, course.time(course.taken)
                if failure:
                    raise course.error(f"{robot.name}: at t = {t:.6g} s {failure}")
                if limit is not None:
                    course.require(first, limit)
                if course.ended:
                    break
                if not is_asked:
                    before, now = now, clock.perf_counter()
                    fit = int(SECONDS * piece / max(now - before, 1e-9))
                    piece = max(1, min(PIECE, 2 * piece, fit))
                patience.deliver()
                if stop is not None:
                    with patience.open:
                        is_over = stop(t, *course.look())
                    if is_over:
                        break
    except KeyboardInterrupt:
        if is_moving or not is_kept():
            raise
        is_stopped = True
    return clock.perf_counter() - begin, is_stopped


def _tell(
    progress: Callable[[float], Any] | None, heard: Listener | None, course: Course, steps: int, name: str
) -> None:
    """Say how far a course is, to whom it concerns."""
    if progress is not None:
        progress(course.time(course.taken))
    if heard is not None:
        heard(name, course.dt * course.taken, course.dt * steps)


def _times(course: Course, first: int, end: int, every: int = 1) -> Array:
    """When the steps from ``first`` to before ``end`` start, or the last of every so many before [s]."""
    n = np.arange(first, end)
    return np.asarray(course.time(0) + course.dt * (n - n % every))


def _next_update(memory: Remembering, course: Course) -> int:
    """The step of a course at whose start a controller acts anew on what it keeps."""
    every = memory.every(course.dt)
    return course.taken + every - round(course.time(course.taken) / course.dt) % every
