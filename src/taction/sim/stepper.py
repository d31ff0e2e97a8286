"""`Stepper`: a world on its way, one step at a time, for loops of one's own.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
>>> world = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3).begin()
>>> for _ in range(100):
...     report = world.step()
>>> report.is_converged, len(world.contacts), float(world.contacts.on("ball")[2].round(6))
(True, 1, 9.81)

Steps are those of `Simulation.run`, bit for bit, and nothing is copied: `q` and `v` are views of the state,
and the contacts and the report are those of the last step. All of them change with the next one; `state()` is
a copy that lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, ContactLimitError, IntegrationError
from taction.control.contract import (
    Commanded,
    Control,
    Scheduled,
    driven,
    joint_law_of,
    read_controller,
    refuse_memory,
)
from taction.sim.contact_engine import ContactEngine
from taction.sim.failure import explain
from taction.sim.state import SimState
from taction.steppers import phases
from taction.steppers.columns import (
    AT_ROUNDING,
    CONTACTS,
    INACCURATE,
    ITERATIONS,
    PARTS,
    PENETRATION,
    RESIDUAL,
    UNCONVERGED,
)
from taction.steppers.driver import Driver
from taction.steppers.records import ContactTable, make_table
from taction.steppers.scene import Scene

if TYPE_CHECKING:
    from taction.sim.sensors import Moments, Readings

ROOM = 32  # contacts at first


class StepReport:
    """What the last step says of itself; a view of its record.

    Attributes:
        record: the whole row, at the columns of `taction.steppers.columns`.
    """

    __slots__ = ("record",)

    def __init__(self, record: Array) -> None:
        self.record = record

    @property
    def residual(self) -> float:
        """Relative natural-map residual of all laws."""
        return float(self.record[RESIDUAL])

    @property
    def is_converged(self) -> bool:
        """Whether the residual is within the tolerance, or as small as rounding allows."""
        return bool(self.record[UNCONVERGED] == 0.0)

    @property
    def is_at_rounding(self) -> bool:
        """Whether the tolerance lies below rounding."""
        return bool(self.record[AT_ROUNDING] > 0.0)

    @property
    def is_accurate(self) -> bool:
        """Whether the step is as accurate as it was asked to be, if it was."""
        return bool(self.record[INACCURATE] == 0.0)

    @property
    def parts(self) -> int:
        """Steps that it was divided into; 0 where no accuracy was asked for."""
        return int(self.record[PARTS])

    @property
    def penetration(self) -> float:
        """Deepest overlap [m]."""
        return float(self.record[PENETRATION])

    @property
    def contacts(self) -> int:
        """How many contacts took part."""
        return int(self.record[CONTACTS])

    @property
    def iterations(self) -> int:
        """Of the solver."""
        return int(self.record[ITERATIONS])

    def kept(self) -> StepReport:
        """A copy, which the next step does not change."""
        return StepReport(self.record.copy())

    def __repr__(self) -> str:
        verdict = "converged" if self.is_converged else "NOT converged"
        return f"<StepReport: {self.contacts} contacts, residual {self.residual:.3g}, {verdict}>"


class ContactView:
    """The contacts of the last step: views, in the order of their shapes.

    Attributes:
        shape: numbers of both shapes, shape (n, 2).
        point: where [m], shape (n, 3).
        normal: from the second shape to the first, shape (n, 3).
        gap: distance, negative in overlap [m], shape (n,).
    """

    def __init__(self, table: ContactTable, dt: float, engine: ContactEngine) -> None:
        n = int(table.count[0])
        self._table, self._dt, self._engine, self._n = table, dt, engine, n
        self.shape: IntArray = table.key[:n, :2]
        self.point: Array = table.point[:n]
        self.normal: Array = table.frame[:n, 0::3]
        self.gap: Array = table.gap[:n]

    def __len__(self) -> int:
        return self._n

    @property
    def force(self) -> Array:
        """Force on the first shape, world axes [N], shape (n, 3)."""
        frame = self._table.frame[: self._n].reshape(-1, 3, 3)
        return np.einsum("nij,nj->ni", frame, self._table.impulse[: self._n]) / self._dt

    @property
    def velocity(self) -> Array:
        """Velocity of the first shape against the second at the end of the step [m/s], shape (n, 3)."""
        frame = self._table.frame[: self._n].reshape(-1, 3, 3)
        return np.einsum("nij,nj->ni", frame, self._table.velocity[: self._n])

    @property
    def names(self) -> list[tuple[str, str]]:
        """Names of both shapes of each."""
        names = self._engine.world.shape_names
        return [(names[a], names[b]) for a, b in self.shape]

    def on(self, body: str) -> Array:
        """Sum of the contact forces on a body, world axes [N], shape (3,)."""
        world = self._engine.given
        if body not in world.model.body_names:
            raise BadInput(f"no body {body!r}; there are {', '.join(world.model.body_names)}")
        carrier = world.shape_body[self.shape] == world.model.body(body)
        sign = carrier[:, 0].astype(float) - carrier[:, 1]
        return sign @ self.force

    def __repr__(self) -> str:
        listed = "; ".join(f"{a}–{b}" for a, b in self.names[:6]) + (" …" if self._n > 6 else "")
        return f"<{self._n} contacts{': ' + listed if self._n else ''}>"


class Stepper:
    """A world that is moved step by step.

    Args:
        engine: of a `Simulation` of a `World`.
        start: where it starts.
        controller: a `PD`, `Actuators` or other controller with gains; its commands come with the steps.
        scene: constants of a world that differs from the engine's; with the controller's law and servos.
        driver: working memory, where that is shared with other worlds.

    Attributes:
        t: time [s].
        dt: time step [s].
    """

    def __init__(
        self,
        engine: ContactEngine,
        start: SimState,
        controller: object = None,
        *,
        scene: Scene | None = None,
        driver: Driver | None = None,
    ) -> None:
        self._engine = engine
        control = read_controller(controller, engine.robot)
        if control.feedback is not None:
            raise BadInput("a stepper is given forces with each step: call the function yourself")
        refuse_memory(control, "a stepper")
        self._commanded_by = controller if isinstance(controller, Commanded) else None
        if isinstance(controller, Commanded):  # targets of its own come with the drive, not in the law
            control = control._replace(law=controller.gains(engine.robot))
        self._control: Control = control
        self.dt = engine.dt
        self._start = start
        self._scene = engine.scene_of(start, control.law, control.servos) if scene is None else scene
        self._driver, self._record, self._table = (
            engine.driver(self._scene) if driver is None else driver,
            engine.record(1),
            make_table(ROOM),
        )
        self._drive = np.zeros((1, engine.robot.nv + self._scene.servos.driven))
        self._row = self._drive[0]
        self._shape, self._force = (engine.robot.nv,), self._drive[0, : engine.robot.nv]
        self._report = StepReport(self._record.step[0])
        self._has_sensors, self._before = bool(engine.robot.spec.sensors), np.zeros(0)
        self._is_scheduled = isinstance(controller, Scheduled) and not getattr(
            controller, "is_constant", False
        )
        plan, nv = control.plan, engine.robot.nv
        self._rest = self._drive[0].copy()
        if plan is not None and not self._is_scheduled:
            self._rest = plan(np.array([start.t]), start.act, self.dt)[0][0].copy()
        if control.law is not None:
            whole = joint_law_of(controller, engine.robot)
            self._rest[:nv] += 0.0 if whole is None else whole.b - control.law.b
        self.reset(start)

    def reset(self, start: SimState) -> None:
        """Go to a state."""
        engine = self._engine
        if not np.array_equal(start.exempt, self._start.exempt):
            self._scene = self._scene._replace(filter=engine.filter_of(start))
        self._start, self._act = start, start.act
        self._state, self._t0, self._steps = self._driver.with_room(engine.inner(start)), start.t, 0
        self._before = self._before[:0]
        self._table.count[0] = 0

    def work_with(self, driver: Driver) -> None:
        """Take the steps that follow with another working memory of the same engine; no bit depends on it."""
        self._driver = driver

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._t0 + self._steps * self.dt

    @property
    def q(self) -> Array:
        """Configuration (nq,); in joint coordinates a view."""
        if self._engine.absolute is None:
            return self._state.q
        return self._engine.look(self._state)[0]

    @property
    def v(self) -> Array:
        """Velocity (nv,); in joint coordinates a view."""
        if self._engine.absolute is None:
            return self._state.v
        return self._engine.look(self._state)[1]

    @property
    def tau(self) -> Array:
        """What controllers, actuators and servos did in the last step (nv,) [N or N m]; a view."""
        return self._record.tau[0]

    @property
    def contacts(self) -> ContactView:
        """The contacts of the last step."""
        return ContactView(self._table, self.dt, self._engine)

    @property
    def sensors(self) -> Readings:
        """Readings of the model's sensors now, shape (size,) each; they last."""
        from taction.sim.sensors import Readings

        moment = self.moment()
        return Readings(self._engine.robot, lambda: moment, is_one=True)

    def moment(self) -> Moments:
        """What sensors read from now, copies."""
        from taction.sim.sensor_sources import moment_after, moment_of_state

        engine, q, v, before = self._engine, self.q.copy(), self.v.copy(), self._before
        if not len(before):
            return moment_of_state(self.t, q, v)
        rows = {"t": np.full(2, self.t), "q": np.array([q, q]), "v": np.array([before, v])}
        rows["tau"] = self._record.tau.copy()
        return moment_after(
            engine.robot, rows, self.dt, engine.given, self._table, self._state.wrench, engine.absolute
        )

    @property
    def report(self) -> StepReport:
        """What the last step says of itself."""
        return self._report

    def state(self) -> SimState:
        """A copy of the state, from which runs, steppers and rollouts continue bit for bit."""
        return self._engine.outer(self._state, self.t, self._start, self._act)

    def push(
        self,
        body: str,
        force: Sequence[float] = (0.0, 0.0, 0.0),
        torque: Sequence[float] = (0.0, 0.0, 0.0),
        point: Sequence[float] | None = None,
    ) -> None:
        """Hold a force from outside on a body, in all steps until it is changed.

        Args:
            body: its name.
            force: world axes [N], shape (3,).
            torque: world axes [N m], shape (3,).
            point: where the force acts, world axes [m]; the body's origin by default.
        """
        x = None if point is None else as_float(point, (3,), "point")
        f, moment = as_float(force, (3,), "force"), as_float(torque, (3,), "torque")
        link, wrench = self._engine.wrench(self._state.q, body, f, moment, x)
        if not len(self._state.wrench):
            links = self._engine.world.model.n_links
            self._state = self._state._replace(wrench=np.zeros((links, 6)))
        self._state.wrench[link] = wrench

    def step(self, tau: ArrayLike | None = None, ctrl: ArrayLike | None = None) -> StepReport:
        """Take a step.

        Args:
            tau: joint forces held over it (nv,), besides the controller's; none by default.
            ctrl: commands of the controller for this step: targets of a `PD`, or the control vector of
                `Actuators`; by default the controller's own.

        Raises:
            BadInput: wrong shapes, or commands without a controller.
            IntegrationError: the step failed; the message says when and why.
        """
        drive, plan = self._row, self._control.plan
        if ctrl is not None:
            drive[:] = self._commanded(ctrl)
        elif self._is_scheduled and plan is not None:
            rows, self._act = plan(np.array([self.t]), self._act, self.dt)
            drive[:] = rows[0]
        else:
            drive[:] = self._rest
        if tau is not None:
            if type(tau) is not np.ndarray or tau.shape != self._shape or tau.dtype != np.float64:
                tau = self._engine.robot.check_v(tau, "tau")
            self._force += tau  # what is not finite shows in the step
        self._table.count[0] = 0
        if self._has_sensors:
            self._before = self.v.copy()
        _, missing, self._state, self._table = self._driver.advance(  # type: ignore[assignment]
            self._scene, self._drive, 0, 1, self._state, self._record, self._table
        )
        if missing != phases.DONE:
            self._fail(missing)
        self._steps += 1
        return self._report

    def _fail(self, missing: int) -> None:
        is_crowd = missing == phases.TOO_MANY_CONTACTS
        reason = self._driver.crowd() if is_crowd else explain(missing, self._engine.robot, self.q)
        error = ContactLimitError if is_crowd else IntegrationError
        raise error(f"{self._engine.robot.name}: at t = {self.t:.6g} s {reason}")

    def _commanded(self, ctrl: ArrayLike) -> Array:
        """The drive of commands."""
        controller = self._commanded_by
        if controller is None:
            raise BadInput(
                "ctrl: this stepper has no controller that takes commands; give it a PD or Actuators"
            )
        commands = np.atleast_2d(np.asarray(ctrl))
        rows, self._act = driven(controller, self._engine.robot, commands, self._act, self.dt)
        return rows[0]

    def __repr__(self) -> str:
        return (
            f"<Stepper of {self._engine.world.name!r} at t = {self.t:.6g} s, nv={self._engine.robot.nv}: "
            f"{self._report!r}>"
        )
