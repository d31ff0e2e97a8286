"""`Simulation`: a world or a model, a time step and a way to step; `run` moves it and records.

A `World` moves through contact, by a time-stepping scheme; a `Model` alone by the same scheme, as a world in
which nothing touches. An integrator of choice moves a model smoothly, without stops, dry friction, tendons.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.5))
>>> sim = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3, contact="exact")
>>> run = sim.run(1.0)
>>> bool(abs(run.q[-1, 2] - 0.1) < 1e-6)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.errors import BadInput, BlowUpWarning, StoppedWarning
from taction._core.expect import as_path, function, given, instance, number
from taction._core.show import rows, some
from taction.control.contract import Feedback, HasJointLaw, read_controller
from taction.model.model import Model
from taction.sim.columns import RECORD_COLUMNS
from taction.sim.engine import Course, Engine, Stop, take_steps
from taction.sim.events import Events, find_events
from taction.sim.recorder import Recorder
from taction.sim.run import Run
from taction.sim.smooth_engine import SmoothEngine
from taction.sim.state import SimState
from taction.sim.step_count import whole_steps
from taction.steppers.base import Integrator

if TYPE_CHECKING:  # smooth motion starts a fifth of a second sooner without them
    from taction.contact.forces.parameters import SoftContact
    from taction.contact.problem import ContactProblem
    from taction.sim.batch import Batch
    from taction.sim.contact_engine import ContactEngine
    from taction.sim.out_of_range import OutOfRange
    from taction.sim.overlap import Overlap
    from taction.sim.rollout import Rollout
    from taction.sim.seen import Seen
    from taction.sim.sensors import Readings
    from taction.sim.stepper import Stepper, StepReport
    from taction.sim.world import World
    from taction.solvers.base import Solver

TOLERANCE = 1e-9
STRICT = 1e-8  # residual above which a strict run raises


class Simulation:
    """Motion in time.

    Args:
        world: a `World`; or a `Model`, which moves as ``World(model, contact=False)`` does.
        dt: time step [s]; the model's own, if it has one, or 1 ms.
        contact: ``"exact"``, the default, ``"convex"`` or ``"lcp"``; or as a force, ``"penalty"`` or
            ``"compliant"``, a `Penalty` or `Compliant`. Given with a model, its shapes touch each other.
        stepper: time-stepping scheme through contact; `taction.steppers.schemes.dispatch.SCHEMES`.
        solver: ``"auto"`` is compiled into the step; other solvers work outside it, more slowly.
        tol: tolerance on the relative natural-map residual of each step.
        strict: through contact, raise `CertificateError` at the first step with a residual above 1e-8 or not
            converged, or that leaves an overlap of more than a micrometre, or a joint beyond its stop by more
            than a millionth, to the next; and before the first one where shapes overlap, or joints are
            beyond their stops, by more than a step repairs.
        coordinates: ``"reduced"`` (joint coordinates, the default) or ``"absolute"`` (every link a free body,
            joints as equations of the step). What goes in and comes out is in joint coordinates either way.
        integrator: method for smooth motion, of a model alone, in place of a stepper. It knows no contact,
            tendons, gravity compensation, stops or dry friction: `Run.left_out` names them.
        push_speed: at which bodies that overlap are pushed apart, and slides beyond their stops brought back
            [m/s]; 1 by default.
        turn_speed: at which links are turned for that, at most, and hinges beyond their stops brought back
            [rad/s]; by default 10, and never by more than 0.1 rad in a step.
        max_contacts: of a step, before a `ContactLimitError`; 2000, or 50 per shape if that is more.
        restitution_law: ``"poisson"`` (the default, makes no energy) or ``"newton"``; see the guide.
        accuracy: through contact, steps divide themselves until the links' places are estimated to be that
            accurate where each ends [m]; None, the default, for plain steps. See `taction.sim.divided_step`.
        most_divisions: how often a step is halved for that at most; 10 by default, so 1024 parts.
    """

    def __init__(
        self,
        world: World | Model,
        *,
        dt: float | None = None,
        contact: str | SoftContact | None = None,
        stepper: str | None = None,
        solver: str | Solver = "auto",
        tol: float = TOLERANCE,
        strict: bool = False,
        coordinates: str | None = None,
        integrator: str | Integrator | None = None,
        push_speed: float | None = None,
        turn_speed: float | None = None,
        max_contacts: int | None = None,
        restitution_law: str | None = None,
        accuracy: float | None = None,
        most_divisions: int | None = None,
    ) -> None:
        is_model = isinstance(world, Model)
        if not is_model and not hasattr(world, "model"):
            raise BadInput(f"a simulation is of a World or a Model, got {given(world)}")
        speeds = {"push_speed": push_speed, "turn_speed": turn_speed}
        chosen: dict[str, Any] = {
            name: number(speed, name) for name, speed in speeds.items() if speed is not None
        }
        division: dict[str, Any] = {"accuracy": accuracy, "most_divisions": most_divisions}
        division = {name: value for name, value in division.items() if value is not None}
        number(tol, "tol")
        if max_contacts is not None and not isinstance(max_contacts, (int, np.integer)):
            raise BadInput(f"max_contacts must be a whole number, got {given(max_contacts)}")
        instance(strict, (bool, np.bool_), "strict", called="True or False")
        self.model: Model = world if is_model else world.model  # type: ignore[assignment, union-attr]
        dt = (self.model.spec.timestep or 1e-3) if dt is None else dt
        dt = number(dt, "dt")
        if not (np.isfinite(dt) and dt > 0):
            raise BadInput(f"dt must be positive and finite, got {dt}")
        self.dt, self.strict = float(dt), strict
        self.world: World | None = None
        self.contact: str | None = None
        self.integrator: Integrator | None = None
        self._engine: Engine
        self._steppers: dict[bool, Stepper] = {}  # of `step`, without and with controls
        self._latest: tuple[SimState, Stepper] | None = None  # what `step` gave last, and who made it
        if integrator is not None:
            if not is_model or contact is not None:
                raise BadInput("through contact the scheme is a stepper, not an integrator")
            others = (coordinates, stepper, max_contacts, restitution_law)
            if chosen or division or any(x is not None for x in others):
                raise BadInput(
                    "an integrator chooses nothing but the step: leave it out, or what is of a stepper"
                )
            if self.model.spec.loops:
                raise BadInput(
                    f"{self.model.name} has loops, which integrators do not know; leave the integrator out"
                )
            smooth = self._engine = SmoothEngine(self.model, dt=self.dt, integrator=integrator)
            self.integrator = smooth.integrator
            return
        from taction.sim.contact_engine import ContactEngine
        from taction.sim.contact_setup import default_stepper
        from taction.sim.world import World

        self.world = World(world, contact=contact is not None) if isinstance(world, Model) else world
        if not isinstance(self.world, World):
            raise BadInput(f"expected a World or a Model, got {type(world).__name__}")
        contact = "exact" if contact is None else contact
        self._engine = ContactEngine(
            self.world, dt=self.dt, contact=contact, stepper=stepper or default_stepper(contact),
            solver=solver, tol=tol, coordinates=coordinates or "reduced", max_contacts=max_contacts,
            restitution_law=restitution_law or "poisson", **chosen, **division,
        )  # fmt: skip
        self.contact, self.stepper = self._engine.contact, self._engine.stepper
        if strict and self._engine.soft is not None:
            raise BadInput(f"strict asks for laws that contact={self.contact!r} does not keep; leave it out")

    def __repr__(self) -> str:
        settings = ", ".join(f"{key} {value}" for key, value in self._engine.settings.items())
        touches = self.world is not None and self.world.contact
        return rows(
            f"<Simulation of {self.model.name!r}: dt = {self.dt:g} s, nv={self.model.nv}"
            f"{', strict' if self.strict else ''}>",
            settings if touches else f"smooth motion, no contact: {settings}",
            f"shapes: {some(self.world.shape_names)}" if self.world is not None and touches else "",
        )

    @property
    def engine(self) -> ContactEngine:
        """What steps a world; `BadInput` where an integrator moves a model."""
        from taction.sim.contact_engine import ContactEngine

        if not isinstance(self._engine, ContactEngine):
            raise BadInput("an integrator moves this model, in no steps of a world: leave the integrator out")
        return self._engine

    def run(
        self,
        duration: float,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        state: SimState | None = None,
        controller: HasJointLaw | Feedback | None = None,
        control_dt: float | None = None,
        stop: Stop | None = None,
        events: Events | None = None,
        record: str | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Run:
        """Simulate and record every step.

        Args:
            duration: simulated time [s], rounded to whole steps.
            q: initial configuration, shape (nq,); the neutral one by default. Mimic joints are set.
            v: initial velocity, shape (nv,); rest by default.
            state: where an earlier run ended (`Run.state`), instead of q and v: continues bit for bit.
            controller: a `PD`, `Tracking` or `PID`, the model's `Actuators`, or a function (t, q, v) → joint
                forces (nv,). A function (t, q, v, seen) sees ``seen.contacts`` and ``seen.sensors``, too:
                `taction.sim.seen`.
            control_dt: how often a function is asked [s]; every step by default. Forces are held in between.
            stop: asked as often with (t, q, v); the run ends early when it returns True.
            events: functions of (t, q, v); their changes of sign are listed in `Run.events`.
            record: an HDF5 file to write while running: what was flushed survives a crash.
            progress: called with the simulated time now and then.

        Raises:
            BadInput: impossible arguments.
            IntegrationError: a step failed; the message says when and why.
            ContactLimitError: a step has more contacts than it may.
            CertificateError: a strict simulation met a residual or an overlap above its limit.

        Warns:
            OverlapWarning: shapes overlap at the start; they are named.
            RangeWarning: joints or tendons are beyond their stops at the start; they are named.
            LoopWarning: loops are open at the start, by more than a millimetre; they are named.
            StabilityWarning: steps are longer than the springs and dampers of contact as a force allow.
            BlowUpWarning: contact as a force made energy; the run ends there.
            StoppedWarning: Ctrl-C ended the run; what was done is returned, with ``stopped`` set.
        """
        model, control = self.model, read_controller(controller, self.model)
        engine = self._engine
        if control.servos is not None and isinstance(engine, SmoothEngine):
            raise BadInput(
                "a servo with a largest force is an element of a step, which integrators do not know; leave "
                "the integrator out"
            )
        every, steps = self._interval(control_dt), self.count_steps(duration)
        if state is not None and (q is not None or v is not None):
            raise BadInput("give a state, or q and v, not both")
        if state is not None:
            instance(state, SimState, "state")
        if stop is not None:
            function(stop, "t, q, v", "stop")
        if progress is not None:
            function(progress, "t", "progress")
        if events is not None:
            instance(events, Mapping, "events", called="a dictionary of functions")
            for name, event in events.items():
                function(event, "t, q, v", f"event {name!r}")
        if record is not None:
            as_path(record, "record")
        start = engine.start(q, v) if state is None else state
        course = engine.set_off(start, steps, control)
        course.inspect(self.strict)
        recorder = None
        if record is not None:
            recorder = Recorder(
                record, model, self.dt, course.rows(0), world=self.world, settings=engine.settings
            )
        try:
            wall_s, is_stopped = take_steps(
                course, steps, model, control=control, every=every, stop=stop, progress=progress,
                see=self._eyes(course, engine, start) if control.is_seeing else None,
                limit=STRICT if self.strict else None, recorder=recorder,
            )  # fmt: skip
            run = replace(course.finish(wall_s), stopped=is_stopped)
            if run.blew_up:
                warnings.warn(run.blew_up, BlowUpWarning, stacklevel=2)
            if events:
                run = replace(run, events=find_events(events, run.t, run.q, run.v))
            if recorder is not None:
                recorder.finish(run.summary(), run.state, run.residuals)
        except KeyboardInterrupt:
            if recorder is not None:
                recorder.close(is_over=False)
            raise
        finally:
            if recorder is not None:
                recorder.close()
        if run.stopped:
            when, end = run.t[-1], course.time(steps)
            text = f"stopped by Ctrl-C at t = {when:.6g} s of {end:.6g} s; what was done is kept"
            warnings.warn(text, StoppedWarning, stacklevel=2)
        return run

    def count_steps(self, duration: float) -> int:
        """Whole steps in a duration [s]; `BadInput` if memory does not hold a run of so many."""
        columns = 0 if self.world is None else len(RECORD_COLUMNS)
        kept = self.model.nq + 5 * self.model.nv + 4 + columns
        return whole_steps(number(duration, "duration"), self.dt, kept)

    def _eyes(self, course: Course, engine: Engine, start: SimState) -> Callable[[], Seen]:
        """Makes what a controller of a course sees."""
        from taction.sim.contact_engine import ContactEngine
        from taction.sim.seen import Seen

        through = engine if isinstance(engine, ContactEngine) else None
        return lambda: Seen(course, self.model, self.dt, through, start.wrench)

    def _interval(self, control_dt: float | None) -> int:
        """Steps between two questions to a controller."""
        if control_dt is None:
            return 1
        control_dt = number(control_dt, "control_dt")
        every = round(control_dt / self.dt) if np.isfinite(control_dt) else 0
        if every < 1 or abs(every * self.dt - control_dt) > 1e-9 * control_dt:
            raise BadInput(f"control_dt: must be a whole multiple of dt = {self.dt:g} s, got {control_dt}")
        return every

    def begin(
        self,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        state: SimState | None = None,
        controller: object = None,
    ) -> Stepper:
        """The world on its way, for a loop of one's own: nothing is recorded, nothing copied.

        Args:
            q: initial configuration, shape (nq,); the neutral one by default.
            v: initial velocity, shape (nv,); rest by default.
            state: where an earlier motion ended, instead of q and v.
            controller: a `PD`, `Tracking`, `Drives` or `Actuators`, whose commands come with the steps.
        """
        from taction.sim.stepper import Stepper

        if state is not None and (q is not None or v is not None):
            raise BadInput("give a state, or q and v, not both")
        return Stepper(self.engine, self.state(q, v) if state is None else state, controller)

    def step(
        self, state: SimState, tau: ArrayLike | None = None, *, ctrl: ArrayLike | None = None
    ) -> tuple[SimState, StepReport]:
        """One step from a state, which does not change; the new state, and what the step says of itself.

        Args:
            state: as from `state`, `Run.state` or the step before.
            tau: joint forces held over the step, shape (nv,); none by default.
            ctrl: control vector of the model's actuators, instead, shape (nu,).

        Loops that need no copies of the state are faster with `begin`.
        """
        stepper = self._steppers.get(ctrl is not None)
        if stepper is None:
            from taction.control.actuators import Actuators

            none = np.zeros(len(self.model.spec.actuators))
            actuators = None if ctrl is None else Actuators(self.model, none)
            stepper = self._steppers[ctrl is not None] = self.begin(state=state, controller=actuators)
        stepper.reset(state)
        report = stepper.step(tau, ctrl)
        after = stepper.state()
        self._latest = after, stepper
        return after, report.kept()

    def sensors(self, state: SimState) -> Readings:
        """Readings of the model's sensors at a state, shape (size,) each.

        Accelerations and forces are those of the step that ended there: known of the state that the last
        `step` gave, NaN of others.
        """
        from taction.sim.sensor_sources import moment_of_state
        from taction.sim.sensors import Readings

        instance(state, SimState, "state")
        if self._latest is not None and state is self._latest[0]:
            return self._latest[1].sensors
        if isinstance(self._engine, SmoothEngine):
            q, v = self.model.check_q(state.q, "state.q"), self.model.check_v(state.v, "state.v")
        else:
            q, v = self.engine.look(self.engine.inner(state))
        return Readings(self.model, lambda: moment_of_state(state.t, q, v), is_one=True)

    def problem(
        self,
        state: SimState,
        *,
        controller: HasJointLaw | Feedback | None = None,
        tau: ArrayLike | None = None,
    ) -> ContactProblem:
        """The contact problem of the step that starts at a state, e.g. for `taction.write_fclib`.

        Args:
            state: as from `Run.state`.
            controller: as in `run`, asked at the state.
            tau: joint forces held over the step besides, shape (nv,).
        """
        return self.engine.problem_under(state, controller, tau)

    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0) -> SimState:
        """A state to start from: q (nq,), v (nv,), no contact impulses yet."""
        return self._engine.start(q, v, number(t, "t"))

    def overlaps(self, state: SimState | None = None) -> list[Overlap]:
        """Pairs of shapes that overlap at a state, neutral by default, by more than 1 µm; deepest first."""
        return self.engine.overlaps(self.state() if state is None else instance(state, SimState, "state"))

    def out_of_range(self, state: SimState | None = None) -> list[OutOfRange]:
        """Joints and tendons beyond their stops at a state, neutral by default; the farthest first."""
        state = self.state() if state is None else instance(state, SimState, "state")
        return self.engine.out_of_range(state, is_start=False)

    def view(self, duration: float = np.inf, **options: Any) -> Any:
        """Show the simulation live in a browser, or in a notebook; a `taction.viewer.view.View`.

        Args:
            duration: when it stops by itself [s].
            options: ``q``, ``v``, ``state``, ``controller``, ``control_dt`` as in `run`; ``host``, ``port``,
                ``browser`` (False: only serve), ``folder`` for files that the page may open.
        """
        from importlib import import_module

        return import_module("taction.viewer.view").view_simulation(self, duration, **options)

    def batch(self, states: Any, **options: Any) -> Batch:
        """Many worlds for a loop of one's own, moved together step by step; see `taction.sim.batch.Batch`."""
        from taction.sim.batch import Batch

        return Batch(self.engine, states, **options)

    def rollout(self, states: Any, controls: ArrayLike | None = None, **options: Any) -> Rollout:
        """Many worlds at once, over all cores; see `taction.sim.rollout.rollout`."""
        from taction.sim.rollout import rollout

        return rollout(self.engine, states, controls, **options)
