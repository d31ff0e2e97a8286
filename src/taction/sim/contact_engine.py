"""Motion of a `World` through contact: its states, its steps, and the problems behind them.

Steps are compiled in one piece (`taction.steppers.driver`), whatever the coordinates they are taken in. Every
step leaves a row in the record: energies and works, residuals of the certificate; and its contacts with their
impulses in a table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import (
    BadInput,
    CertificateError,
    ContactLimitError,
    IntegrationError,
)
from taction.contact.problem import ContactProblem
from taction.control.contract import Control
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos
from taction.geometry.filters import Filter
from taction.kinematics.absolute import tie_angles, to_bodies, to_joints
from taction.kinematics.configuration import integrate
from taction.kinematics.loops import loop_gaps
from taction.model.absolute import in_absolute_coordinates
from taction.sim.contact_summary import OPEN, first_unsolved, make_certificate, make_ledger
from taction.sim.energy import energies
from taction.sim.failure import explain
from taction.sim.overlap import Overlap, exempt_bodies, name_overlaps, overlapping, warn_of_start
from taction.sim.recorder import Rows
from taction.sim.run import Run
from taction.sim.run_file import CONTACT_FIELDS
from taction.sim.state import SimState, starting_point
from taction.sim.step_options import make_passes
from taction.sim.warm_up import compile_step
from taction.sim.world import World
from taction.solvers import make_solver
from taction.solvers.base import Solver
from taction.steppers import phases
from taction.steppers.columns import KINETIC, POTENTIAL
from taction.steppers.coordinates.dispatch import COORDINATES
from taction.steppers.driver import CONTACT_STATE, Driver
from taction.steppers.records import ContactTable, Record, make_record, make_table
from taction.steppers.scene import Scene, State, make_state
from taction.steppers.schemes.dispatch import get_scheme

LAWS = {"exact": "exact", "convex": "convex", "lcp": "pyramid"}
LAW_SUMMARIES = {
    "exact": "Coulomb's law with the round cone: sliding does not lift a contact",
    "convex": "the associated law, a convex problem per step: sliding lifts by friction times speed",
    "lcp": "Coulomb's law with a pyramid, a linear complementarity problem per step",
}
# The correction of positions: speed at which points of contact are pushed out [m/s] and links turned [rad/s],
# and the most it turns a link in one step [rad], however long: beyond, a linearised displacement means little
PUSH_SPEED, TURN_SPEED, MOST_TURN = 1.0, 10.0, 1e-2
LEAST_CROWD, CROWD = 2000, 50  # contacts that a step may have: so many, or so many per shape


class ContactEngine:
    """A world, its coordinates, a scheme, a law and a solver.

    Attributes:
        given: the world as the user made it.
        robot: its model; controllers, forces and records are in its joint coordinates.
        model: what the steps move: the same, or its bodies in absolute coordinates. States are in these.

    Args:
        world: what moves and touches.
        dt: time step [s].
        contact: law of friction: ``"exact"``, ``"convex"`` or ``"lcp"`` (pyramid).
        stepper: name of a time-stepping scheme.
        solver: ``"auto"`` runs compiled; others take every problem to Python.
        tol: tolerance on the relative natural-map residual of each step.
        coordinates: ``"reduced"`` or ``"absolute"``.
        push_speed: at which the correction of positions pushes points of contact out [m/s].
        turn_speed: at which it turns links at most [rad/s]; None for 10, and 0.01 rad in a step.
        max_contacts: that a step may have; None for 2000, or 50 per shape if that is more.
    """

    def __init__(
        self,
        world: World,
        *,
        dt: float,
        contact: str,
        stepper: str,
        solver: str | Solver,
        tol: float,
        coordinates: str = "reduced",
        push_speed: float = PUSH_SPEED,
        turn_speed: float | None = None,
        max_contacts: int | None = None,
    ) -> None:
        turn = min(TURN_SPEED * dt, MOST_TURN) if turn_speed is None else turn_speed * dt
        for name, speed in (("push_speed", push_speed), ("turn_speed", turn / dt)):
            if not (np.isfinite(speed) and speed > 0.0):
                raise BadInput(f"{name}: must be positive and finite, got {speed}")
        if coordinates not in COORDINATES:
            raise BadInput(f"coordinates {coordinates!r}: choose from {', '.join(COORDINATES)}")
        if contact not in LAWS:
            raise BadInput(f"contact {contact!r}: choose from {', '.join(LAWS)}")
        if not (np.isfinite(tol) and 1e-14 <= tol <= 1e-2):
            raise BadInput(f"tol: must lie between 1e-14 and 1e-2, got {tol:g}")
        if coordinates == "absolute" and world.model.spec.tendons:
            raise BadInput(f"{world.name} has tendons, which need coordinates='reduced'")
        self.robot, self.dt, self.law, self.coordinates = world.model, dt, LAWS[contact], coordinates
        self.stepper, self.contact, self.given = stepper, contact, world
        self.absolute = in_absolute_coordinates(world.model) if coordinates == "absolute" else None
        self.world = world if self.absolute is None else world.of_bodies(self.absolute)
        self.model = self.world.model
        self.solver = make_solver(solver, tol=tol) if isinstance(solver, str) else make_solver(solver)
        if self.law not in self.solver.laws:
            raise BadInput(f"solver {self.solver.name!r} cannot solve the law of contact={contact!r}")
        shapes = len(world.shape_names)
        self.max_contacts = max(LEAST_CROWD, CROWD * shapes) if max_contacts is None else int(max_contacts)
        if self.max_contacts < 1:
            raise BadInput(f"max_contacts: must be at least 1, got {max_contacts}")
        self.scheme = get_scheme(stepper)
        if coordinates not in self.scheme.coordinates:
            raise BadInput(
                f"stepper {stepper!r} works in {' and '.join(self.scheme.coordinates)} coordinates only"
            )
        self.passes = make_passes(
            self.scheme, dt=dt, coordinates=coordinates, contact=contact, world=world, tol=tol,
            is_external=contact == "lcp" or self.solver.name != "auto",
            push=push_speed * dt, turn=turn,
        )  # fmt: skip

    @property
    def settings(self) -> dict[str, str]:
        """Scheme, law, solver and coordinates, for the head of a file."""
        names = {"scheme": self.stepper, "contact": self.contact, "solver": self.solver.name}
        return {**names, "coordinates": self.coordinates}

    def driver(self, scene: Scene) -> Driver:
        """Working memory and help for one world at a time."""
        compile_step(self.stepper, self.contact, self.coordinates)
        return Driver(self.model, scene, self.passes, self.solver, self.law, self.max_contacts)

    def overlaps(self, state: SimState) -> list[Overlap]:
        """Pairs of shapes that overlap at a state by more than a micrometre, the deepest first."""
        return name_overlaps(self._overlapping(self.scene_of(state), self.inner(state)), self.world)

    def _overlapping(self, scene: Scene, state: State) -> dict[tuple[int, int], float]:
        return overlapping(self._seeker.find(scene, state))

    @cached_property
    def _seeker(self) -> Driver:
        """Memory for searches outside of runs."""
        return self.driver(self._whole)

    def _exempt(self, own: Scene, state: State, where: str) -> IntArray:
        """Pairs of bodies of one robot that overlap at a state, so that they shall not collide; warned of.

        own: the world's constants with pairs within robots only.
        """
        found = self._overlapping(own, state) if len(own.filter.pairs) else {}
        return exempt_bodies(found, self.given, where)

    @cached_property
    def _whole(self) -> Scene:
        """The world's constants without a controller, with all pairs, overlapping or not."""
        return self.world.scene(None, self.absolute)

    @cached_property
    def _own(self) -> Scene:
        """The same with the pairs within robots that do not overlap in the neutral pose, and no others."""
        return self._bare._replace(filter=self.given.own_filter(self._neutral_filter))

    @cached_property
    def _bare(self) -> Scene:
        """The world's constants without a controller."""
        return self.scene()

    def _filter(self, exempt: IntArray) -> Filter:
        """Which shapes may collide where bodies (p, 2) do not, nor those that overlap in the neutral pose."""
        if self.given.self_collision != "auto":
            return self.world.filter
        if self.given.exempt is None:
            own = self._whole._replace(filter=self.given.own_filter(self._whole.filter))
            self.given.exempt = self._exempt(
                own, self._inner_start(own, self.robot.q0), "in the neutral pose"
            )
        pairs = np.concatenate([self.given.exempt, exempt])
        return self.world.filter_without(pairs) if len(pairs) else self.world.filter

    @cached_property
    def _joint_impulses(self) -> int:
        """How many impulses of joints a state keeps."""
        return len(make_state(self._bare, np.zeros(self.model.nq), np.zeros(self.model.nv), 0).joint_impulse)

    def scene_of(self, state: SimState, law: JointLaw | None = None, servos: Servos | None = None) -> Scene:
        """As `scene`, for a motion from a state."""
        return self.scene(law, servos)._replace(filter=self.filter_of(state))

    def filter_of(self, state: SimState) -> Filter:
        """Which shapes may collide in a motion from a state."""
        return self._filter(state.exempt) if len(state.exempt) else self._neutral_filter

    def scene(self, law: JointLaw | None = None, servos: Servos | None = None) -> Scene:
        """The world's constants with a linear controller of the joints, and servos."""
        if self.absolute is not None and servos is not None and np.any(servos.transmission >= 0):
            raise BadInput(f"{self.world.name} has actuators at sites, which need coordinates='reduced'")
        return self.world.scene(law, self.absolute, servos, self._neutral_filter)

    @cached_property
    def _neutral_filter(self) -> Filter:
        return self._filter(np.zeros((0, 2), dtype=np.int64))

    def joint_state(self, q: Array, v: Array, angle: Array) -> tuple[Array, Array]:
        """Joint coordinates and velocities of states (n, ·) as the steps have them."""
        return (q, v) if self.absolute is None else to_joints(self.absolute, q, v, angle)

    def record(self, steps: int) -> Record:
        """Room for the states of so many steps."""
        ties = 0 if self.absolute is None else len(self.absolute.ties.turn)
        return make_record(self.model, steps, ties, self.robot.nv)

    def look(self, state: SimState | State) -> tuple[Array, Array]:
        """Joint coordinates (nq,) and velocities (nv,) of a state, copies."""
        q, v = self.joint_state(state.q[None], state.v[None], state.angle[None])
        return q[0].copy(), v[0].copy()

    def start(self, q: ArrayLike | None, v: ArrayLike | None, t: float = 0.0) -> SimState:
        """A state without contact impulses; the neutral configuration at rest by default.

        Raises:
            BadInput: impossible numbers, or a loop that is open by more than a millimetre. What is less the
                first steps close.
        """
        compile_step(self.stepper, self.contact, self.coordinates)
        model = self.robot
        q, v = starting_point(model, q, v)
        for gap in loop_gaps(model, q):
            if max(gap.distance, gap.angle) > OPEN:
                raise BadInput(
                    f"{model.name}: loop {gap.name!r} is open at the start, by {gap.distance:.3g} m and "
                    f"{gap.angle:.3g} rad; taction.close_loops(model, q) finds a configuration that closes it"
                )
        inner, exempt = self._inner_start(self._bare, q, v), np.zeros((0, 2), dtype=np.int64)
        if self.given.self_collision == "auto" and not np.array_equal(q, model.q0):
            exempt = self._exempt(self._own, inner, "where the motion starts")
        return replace(self.outer(inner, t), exempt=exempt)

    def _inner_start(self, scene: Scene, q: Array, v: Array | None = None) -> State:
        """A state without contact impulses as kernels have it; at rest by default."""
        v = np.zeros(self.robot.nv) if v is None else v
        last = q
        if self.scheme.ahead > 0.0 and not self.scheme.is_split:
            last = integrate(self.robot, q, v, -self.scheme.ahead * self.dt)
        angle = None if self.absolute is None else tie_angles(self.absolute, q)
        if self.absolute is not None:
            (q, _), (last, v) = to_bodies(self.absolute, q, v), to_bodies(self.absolute, last, v)
        return make_state(scene, q, v, 0, last, angle, self.scheme.memory)

    def inner(self, state: SimState) -> State:
        """The state as kernels have it, a copy.

        Raises:
            BadInput: a state of another world, or of other coordinates.
        """
        joints = self._joint_impulses
        sizes = [
            (len(state.q), self.model.nq),
            (len(state.v), self.model.nv),
            (len(state.last), self.model.nq),
            (len(state.angle), len(self._bare.ties.turn)),
        ]
        for got, expected in [*sizes, (len(state.joint_impulse), joints)]:
            if got != expected:
                raise BadInput(
                    f"state: of another world or other coordinates: {got} numbers where {self.world.name} "
                    f"has {expected}"
                )
        if len(state.wrench) not in (0, self.model.n_links):
            raise BadInput(f"state.wrench: a row for each of {self.model.n_links} links expected, or none")
        arrays = {name: np.array(getattr(state, name)) for name in State._fields if name != "count"}
        if arrays["memory"].shape[1] != self.scheme.memory:  # of another scheme
            arrays["memory"] = np.zeros((len(state.key), self.scheme.memory))
        return State(count=np.array([len(state.key)]), **arrays)

    def outer(
        self, state: State, t: float, start: SimState | None = None, act: Array | None = None
    ) -> SimState:
        """The state as users have it, a copy.

        start: of this motion, which says what bodies do not collide in it; act (na,): activations now.
        """
        n = int(state.count[0])
        arrays = {name: array for name, array in state._asdict().items() if name != "count"}
        return SimState(
            t,
            **{name: (a[:n] if name in CONTACT_STATE else a).copy() for name, a in arrays.items()},
            exempt=np.zeros((0, 2), dtype=np.int64) if start is None else start.exempt,
            act=np.zeros(0) if act is None else act.copy(),
        )

    def set_off(self, start: SimState, steps: int, control: Control) -> ContactCourse:
        """Begin a run; see `taction.sim.engine.Engine`."""
        return ContactCourse(self, start, steps, control)

    def problem(self, state: SimState, control: Control, drive: Array) -> ContactProblem:
        """The contact problem of the step that starts here, with a drive (nv + m,) held."""
        scene = self.scene_of(state, control.law, control.servos)
        name = f"{self.world.name} at t = {state.t:.6g} s"
        return self.driver(scene).pose(scene, drive, self.inner(state), name)


class ContactCourse:
    """A run through contact on its way; see `taction.sim.engine.Course`.

    Attributes:
        taken: steps so far.
        dt: time step [s].
        act: activations of actuators now.
        record: states, in the coordinates of the steps, and a row per step.
        table: contacts of all steps so far.
        drive: joint forces, then inputs of servos, held over each step, shape (steps, nv + m).
    """

    def __init__(self, engine: ContactEngine, start: SimState, steps: int, control: Control) -> None:
        engine.model.check_q(start.q, "state.q")
        engine.model.check_v(start.v, "state.v")
        self._engine, self._t0, self.taken = engine, start.t, 0
        self._scene, self._state = engine.scene_of(start, control.law, control.servos), engine.inner(start)
        self._start, self.act, self.dt, self._driver = start, start.act, engine.dt, engine.driver(self._scene)
        self.record, self.table = engine.record(steps), make_table(64)
        self.record.q[0], self.record.v[0] = self._state.q, self._state.v
        self.record.angle[0] = self._state.angle
        self.drive = np.zeros((max(steps, 1), engine.robot.nv + self._scene.servos.driven))
        self.error: type[IntegrationError] = IntegrationError

    def inspect(self, is_strict: bool) -> None:
        """Name the overlaps of a start from nothing: warn, or raise where a strict run has deep ones.

        What continues from steps before carries its contacts along, and was named when it started.

        Raises:
            CertificateError: a strict run, and an overlap deeper than one step may repair.
            ContactLimitError: there are more contacts than a step may have.
        """
        if self._state.count[0] > 0:
            return
        engine = self._engine
        found = name_overlaps(overlapping(self._driver.find(self._scene, self._state)), engine.world)
        warn_of_start(found, engine.world.name, engine.passes[-1].push if is_strict else np.inf)

    def time(self, step: int) -> float:
        """When a step starts [s]."""
        return self._t0 + step * self._engine.dt

    def look(self) -> tuple[Array, Array]:
        """Joint coordinates (nq,) and velocities (nv,) now, copies."""
        return self._engine.look(self._state)

    def hold(self, drive: Array, end: int) -> None:
        """Hold joint forces and inputs of servos over the steps before ``end``: one row, or one for each."""
        self.drive[self.taken : end, : drive.shape[-1]] = drive

    def advance(self, end: int) -> str:
        """Take the steps before ``end``; empty, or why there was no further one."""
        self.taken, missing, self._state, self.table = self._driver.advance(  # type: ignore[assignment]
            self._scene, self.drive, self.taken, end, self._state, self.record, self.table
        )
        if missing == phases.TOO_MANY_CONTACTS:
            self.error = ContactLimitError
            return self._driver.crowd()
        return "" if missing == phases.DONE else explain(missing, self._engine.robot, self.look()[0])

    def require(self, first: int, limit: float) -> None:
        """Raise `CertificateError` at the first step from ``first`` on that is not solved to the limit.

        Or that leaves an overlap behind.
        """
        found = first_unsolved(
            self.record.step[first : self.taken], limit, self._engine.passes[-1].tolerance,
            self._engine.world.shape_names,
        )  # fmt: skip
        if found is not None:
            when = self.time(first + found[0])
            raise CertificateError(f"{self._engine.world.name}: at t = {when:.6g} s {found[1]}")

    def rows(self, first: int) -> Rows:
        """What the steps from ``first`` on left behind; states from the start of that step on."""
        now, record = self.taken, self.record
        begin, end = (int(np.searchsorted(self._found(), n)) for n in (first, now))
        part = slice(first, now + 1)
        q, v = self._engine.joint_state(record.q[part], record.v[part], record.angle[part])
        # a step books the energies it starts from; no step starts from the last state
        q_end, v_end, angle_end = (a[now : now + 1] for a in (record.q, record.v, record.angle))
        kinetic, potential = energies(self._engine.model, q_end, v_end, self._engine.absolute, angle_end)
        steps = record.step[first:now]
        data: dict[str, tuple[int, Array]] = {
            "t": (first, np.asarray(self._t0 + self._engine.dt * np.arange(first, now + 1))),
            "q": (first, q),
            "v": (first, v),
            "kinetic": (first, np.append(steps[:, KINETIC], kinetic)),
            "potential": (first, np.append(steps[:, POTENTIAL], potential)),
            "tau": (first, self.record.tau[first:now]),
            "records": (first, steps),
        }
        data |= {f"contacts/{name}": (begin, getattr(self.table, name)[begin:end]) for name in CONTACT_FIELDS}
        return Rows(now, end, data)

    def _found(self) -> IntArray:
        """Step of each contact; a step that failed may have left some behind."""
        return self.table.step[: int(self.table.count[0])]

    def finish(self, wall_s: float) -> Run:
        """The run up to here; its steps took so long [s]."""
        engine, n = self._engine, self.taken
        data = self.rows(0).arrays()
        t, records, names = data["t"], data["records"], engine.world.shape_names
        tau = self.record.tau[:n]
        last = tau[-1:] if n else np.zeros((1, engine.robot.nv))  # no step starts from the last state
        model = engine.robot
        least = model.total_mass * (engine.dt * float(np.linalg.norm(model.tree.gravity))) ** 2
        return Run(
            model=model,
            dt=engine.dt,
            integrator=engine.stepper,
            **{name: data[name] for name in ("t", "q", "v", "kinetic", "potential", "records")},
            tau=np.concatenate([tau, last]),
            certificate=make_certificate(engine.model, t, self.record.q[: n + 1], records, names),
            energy=make_ledger(records, data["kinetic"], data["potential"], least),
            wall_s=wall_s,
            world=engine.given,
            contact=engine.contact,
            solver=engine.solver.name,
            contacts=ContactTable(
                count=np.array([len(data["contacts/step"])]),
                **{name: data[f"contacts/{name}"] for name in CONTACT_FIELDS},
            ),
            state=engine.outer(self._state, self.time(n), self._start, self.act),
            coordinates=engine.coordinates,
            left_out=engine.given.left_out,
        )
