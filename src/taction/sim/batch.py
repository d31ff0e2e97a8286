"""`Batch`: many worlds that are moved together, one step at a time, by a policy in Python.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
>>> batch = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3).batch(3)
>>> for _ in range(50):
...     report = batch.step(-0.1 * batch.v)  # joint forces of all worlds, shape (n, nv)
>>> report.q.shape, bool(report.is_converged.all()), report.force("ball")[:, 2].round(6).tolist()
((3, 7), True, [9.81, 9.81, 9.81])

Every world is a `taction.sim.stepper.Stepper`, so its steps are those of `Simulation.step` and of a run, bit
for bit, whatever the threads and the worlds around it. Threads take worlds one after the other; the compiled
part of a step holds no interpreter lock, and working memory belongs to threads, not to worlds.

A world whose step fails is named in `BatchReport.failed`: its numbers are NaN, and it waits for `Batch.reset`
while the others go on.

References: [Carpentier2019] for batches over threads of one read-only model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput, IntegrationError
from taction._core.expect import given
from taction._core.show import count, rows
from taction.control.actuators import Actuators
from taction.control.contract import Commanded, read_controller
from taction.sim.batch_report import BatchRecord, BatchReport
from taction.sim.columns import data_frame
from taction.sim.contact_engine import ContactEngine
from taction.sim.failure import MESSAGES
from taction.sim.state import SimState
from taction.sim.stepper import Stepper
from taction.sim.worlds import (
    Queue,
    Scenes,
    crew_size,
    has_overflown,
    name_loops_at_start,
    name_overlaps_at_start,
    name_ranges_at_start,
    read_starts,
    wait_for,
)
from taction.steppers import phases
from taction.steppers.driver import Driver


class Batch:
    """Many worlds of one simulation on their way.

    Args:
        engine: of a `Simulation` of a `World`.
        states: where they start: how many, all neutral and at rest; or an array (n, nq + nv), a pair of q
            (n, nq) and v (n, nv), or n `SimState`.
        controller: a `PD` or `Actuators`, whose commands come with the steps.
        threads: by default one per core.
        parameters: masses and friction of each world, as in `taction.sim.rollout.rollout`.
        record: whether every step is kept, for `to_dataframe`.

    Raises:
        BadInput: impossible arguments.
    """

    def __init__(
        self,
        engine: ContactEngine,
        states: Any,
        *,
        controller: object = None,
        threads: int | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        record: bool = False,
    ) -> None:
        if isinstance(states, (int, np.integer)) and not isinstance(states, bool):
            if states < 1:
                raise BadInput(f"states: at least one world, got {states}")
            states = [engine.start(None, None)] * int(states)
        self.engine, self._starts = engine, read_starts(engine, states)
        self._controller, self._parameters = controller, dict(parameters or {})
        self._crew = crew_size(threads, len(self._starts))
        self._pool = ThreadPoolExecutor(self._crew) if self._crew > 1 else None
        self._sets: dict[bool, tuple[list[Stepper], list[Driver]]] = {}
        self._mode = False  # whether the model's actuators drive a batch without a controller
        self.failed: dict[int, str] = {}
        self.steps = 0
        self._record = BatchRecord() if record else None
        self._steppers, self._drivers = self._make(controller)
        self._sets[False] = self._steppers, self._drivers

    def _make(self, controller: object) -> tuple[list[Stepper], list[Driver]]:
        """Worlds under a controller, and memory for each thread."""
        engine, robot = self.engine, self.engine.robot
        control = read_controller(controller, robot)
        if control.feedback is not None:
            raise BadInput("a batch is given forces with each step: call the function yourself")
        law = controller.gains(robot) if isinstance(controller, Commanded) else control.law
        common = engine.scene(law, control.servos)
        scenes = Scenes(engine, common, len(self._starts), self._parameters)
        drivers = [engine.driver(common) for _ in range(self._crew)]
        return [
            Stepper(engine, start, controller, scene=scenes.of(i, start), driver=drivers[0])
            for i, start in enumerate(self._starts)
        ], drivers

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def t(self) -> Array:
        """Times of the worlds [s], shape (n,)."""
        return np.array([world.t for world in self._steppers])

    @property
    def q(self) -> Array:
        """Configurations, shape (n, nq), a copy; NaN of worlds that failed."""
        return self._known(np.array([world.q for world in self._steppers]))

    @property
    def v(self) -> Array:
        """Velocities, shape (n, nv), a copy; NaN of worlds that failed."""
        return self._known(np.array([world.v for world in self._steppers]))

    def _known(self, numbers: Array) -> Array:
        numbers[list(self.failed)] = np.nan
        return numbers

    def world(self, i: int) -> Stepper:
        """World i as it is now: its contacts, sensors, pushes from outside. Its steps are the batch's."""
        return self._steppers[self._number(i)]

    def state(self, i: int) -> SimState:
        """A copy of the state of world i, from which runs, steppers and rollouts continue bit for bit.

        Raises:
            BadInput: no such world, or one that failed.
        """
        if self._number(i) in self.failed:
            raise BadInput(f"world {i} has no state, it failed: {self.failed[i]}; reset it")
        return self._steppers[i].state()

    def reset(self, worlds: int | ArrayLike | None = None, state: Any = None) -> None:
        """Put worlds to states, by default where they started.

        Args:
            worlds: the number of one, those of several, or a mask of all, shape (n,); all by default.
            state: one for all of them, a `SimState` or an array (nq + nv,); or one for each: an array
                (k, nq + nv), a pair of q (k, nq) and v (k, nv), or k `SimState`.

        Raises:
            BadInput: no such world, or states that do not fit.
        """
        chosen = self._numbers(worlds)
        for i, start in zip(chosen, self._states_for(chosen, state), strict=True):
            self._steppers[i].reset(start)
            self.failed.pop(i, None)

    def _numbers(self, worlds: int | ArrayLike | None) -> list[int]:
        """Numbers of worlds from any of their forms."""
        if worlds is None:
            return list(range(len(self)))
        if np.ndim(worlds) == 0:
            return [self._number(worlds)]
        several = np.asarray(worlds)
        if several.dtype == bool and several.shape == (len(self),):
            return [int(i) for i in np.flatnonzero(several)]
        if several.ndim != 1 or (several.size and not np.issubdtype(several.dtype, np.integer)):
            raise BadInput(f"worlds: numbers, or a mask of {len(self)}, expected, got {given(worlds)}")
        return [self._number(i) for i in several]

    def _states_for(self, chosen: Sequence[int], state: Any) -> list[SimState]:
        """A state for each of these worlds."""
        if state is None:
            return [self._starts[i] for i in chosen]
        if isinstance(state, SimState):
            return [state] * len(chosen)
        if isinstance(state, str) or not (isinstance(state, Sequence) or np.ndim(state)):
            raise BadInput(f"state must be a SimState, or an array of nq + nv numbers, got {given(state)}")
        if not (isinstance(state, Sequence) and any(isinstance(part, SimState) for part in state)):
            is_pair = isinstance(state, tuple) and len(state) == 2
            state = tuple(np.atleast_2d(part) for part in state) if is_pair else np.atleast_2d(state)
        found = read_starts(self.engine, state)
        if len(found) == 1:
            return found * len(chosen)
        if len(found) != len(chosen):
            raise BadInput(f"state: one, or {len(chosen)} for as many worlds, expected, got {len(found)}")
        return found

    def _number(self, i: Any) -> int:
        if not isinstance(i, (int, np.integer)) or isinstance(i, bool) or not 0 <= i < len(self):
            raise BadInput(f"worlds have numbers from 0 to {len(self) - 1}, got {given(i)}")
        return int(i)

    def step(self, tau: ArrayLike | None = None, *, ctrl: ArrayLike | None = None) -> BatchReport:
        """Take a step in every world that did not fail.

        Args:
            tau: joint forces held over it, shape (n, nv), besides the controller's; none by default.
            ctrl: commands for this step, shape (n, nu): targets of a `PD`, controls of `Actuators`. Without a
                controller, controls of the model's actuators. By default the controller's own.

        Raises:
            BadInput: wrong shapes, numbers that are not finite, or commands without anything to take them.
        """
        n, nv = len(self), self.engine.robot.nv
        force = None if tau is None else as_float(tau, (n, nv), "tau")
        commands = None if ctrl is None else as_float(ctrl, (n, None), "ctrl")
        if self._controller is None:
            self._drive_by_actuators(commands is not None)
        queue = Queue(n)

        def work(driver: Driver) -> None:
            with np.errstate(all="ignore"):  # what is not finite is found by checks
                while (i := queue.next()) is not None:
                    try:
                        self._move(i, driver, force, commands)
                    except BaseException:
                        queue.stop()
                        raise

        if self._pool is None:
            work(self._drivers[0])
        else:
            jobs = [self._pool.submit(work, driver) for driver in self._drivers]
            wait_for(jobs, queue)
        self.steps += 1
        report = BatchReport(self)
        if self.steps == 1:
            is_new = np.array([len(start.key) == 0 for start in self._starts])
            depths = np.where(is_new, np.nan_to_num(report.penetration), 0.0)
            name_overlaps_at_start(self.engine, depths.tolist(), stacklevel=3)
            name_loops_at_start(self.engine, self._starts, stacklevel=3)
            name_ranges_at_start(self.engine, self._starts, stacklevel=3)
        if self._record is not None:
            self._record.append(report)
        return report

    def _move(self, i: int, driver: Driver, tau: Array | None, ctrl: Array | None) -> None:
        """A step of world i; why it failed, if it did, goes into ``failed``."""
        if i in self.failed:
            return
        world = self._steppers[i]
        world.work_with(driver)
        try:
            world.step(None if tau is None else tau[i], None if ctrl is None else ctrl[i])
        except IntegrationError as error:
            self.failed[i] = str(error)
        except BadInput:
            if not has_overflown(driver):
                raise
            self.failed[i] = MESSAGES[phases.NOT_FINITE]

    def _drive_by_actuators(self, mode: bool) -> None:
        """Under the model's actuators, or under none: other constants, the same states."""
        if mode == self._mode:
            return
        if mode not in self._sets:
            none = np.zeros(len(self.engine.robot.spec.actuators))
            self._sets[mode] = self._make(Actuators(self.engine.robot, none))
        before = self._steppers
        self._mode, (self._steppers, self._drivers) = mode, self._sets[mode]
        for i, world in enumerate(self._steppers):
            if i not in self.failed:
                world.reset(before[i].state())

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every recorded number by name with its unit; one row per step and world that took it.

        ``world`` and ``step`` say which; ``t``, ``q[…]``, ``v[…]`` and ``sensor[…]`` are those where the step
        ended, ``tau[…]``, ``force[body.x]`` and the columns of `taction.steppers.columns` those of the step.

        Raises:
            BadInput: nothing was recorded.
        """
        if self._record is None:
            raise BadInput("nothing was recorded: make the batch with record=True")
        return self._record.columns()

    def to_dataframe(self) -> Any:
        """`columns` as a pandas data frame; the units are in its ``attrs["units"]``.

        Raises:
            BadInput: nothing was recorded, or pandas is not installed.
        """
        return data_frame(self.columns)

    def __repr__(self) -> str:
        settings = ", ".join(f"{key} {value}" for key, value in self.engine.settings.items())
        name, dt = self.engine.world.name, self.engine.dt
        return rows(
            f"<Batch of {count(len(self), 'world')} of {name!r}: dt = {dt:g} s, "
            f"{count(self.steps, 'step')} on {count(self._crew, 'thread')}>",
            settings,
            f"{count(len(self.failed), 'world')} failed" if self.failed else "",
        )
