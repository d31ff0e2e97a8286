"""Simulation of a `World` through contact: steps, runs and the problems behind them.

A run is a loop over pieces of steps: between two calls of a controller everything is compiled
(`taction.steppers.driver`). Every step leaves a record: energies and works, residuals of the certificate, and
the contacts with their impulses. Nothing about the motion depends on how a run is cut into pieces.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput, CertificateError, IntegrationError
from taction.contact.problem import ContactProblem
from taction.contact.sets import CONVEX, EXACT
from taction.dynamics.energy import sum_links
from taction.dynamics.joint_law import JointLaw
from taction.geometry.broad_phase import choose_broad_phase
from taction.kinematics.absolute import to_bodies, to_joints
from taction.kinematics.configuration import integrate, normalize_configuration
from taction.kinematics.loops import loop_gaps
from taction.model.absolute import in_absolute_coordinates
from taction.model.model import Model
from taction.model.workspace import make_workspace
from taction.sim.warm_up import compile_step
from taction.sim.world import World
from taction.solvers import make_solver
from taction.solvers.base import Solver
from taction.steppers import impulse_step as step
from taction.steppers.acceleration_level import AccelerationDriver
from taction.steppers.driver import ContactTable, Driver, Record, make_record, make_table
from taction.steppers.ledger import RESIDUAL, UNCONVERGED, WORST_A, WORST_B
from taction.steppers.rules import ACCELERATION, MOREAU
from taction.steppers.scene import Options, Scene, State, make_state
from taction.steppers.time_steppers import get_time_stepper

LAWS = {"exact": "exact", "convex": "convex", "lcp": "pyramid"}
LAW_SUMMARIES = {
    "exact": "Coulomb's law with the round cone: sliding does not lift a contact",
    "convex": "the associated law, a convex problem per step: sliding lifts by friction times speed",
    "lcp": "Coulomb's law with a pyramid, a linear complementarity problem per step",
}
COORDINATES = {
    "reduced": "joint coordinates: Featherstone's algorithms, joints never open",
    "absolute": "every link a free body, joints as equations of the step, eliminated by one factorisation",
}
PIECE = 500  # steps between looks at the clock
OPEN = 1e-3  # gap of a loop [m or rad] that the first steps may close
LIVE_STEPS, LIVE_SECONDS = 100, 0.2  # the same where a file is written meanwhile: so many, and about so long
MESSAGES = {
    step.SINGULAR: "the mass matrix is singular",
    step.NOT_FINITE: "the state is not finite; reduce the time step",
}


@dataclass(frozen=True, eq=False)
class SimState:
    """A moment of a simulation: all that is needed to continue bit for bit.

    Attributes:
        t: time [s].
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        last: where the last step looked, shape (nq,).
        key: shapes and feature of each contact of the last step, shape (c, 3).
        impulse: their impulses [N s], shape (c, 3).
        joint_impulse: impulses of stops, dry friction, couplings and loops.
    """

    t: float
    q: Array
    v: Array
    last: Array
    key: IntArray
    impulse: Array
    joint_impulse: Array

    def save(self, path: str) -> None:
        """Write to a ``.npz`` file."""
        np.savez(path, **{name: getattr(self, name) for name in self.__dataclass_fields__})

    @classmethod
    def load(cls, path: str) -> SimState:
        """Read what `save` wrote.

        Raises:
            BadInput: no such file, or not one of ours.
        """
        try:
            with np.load(path) as file:
                values = {name: file[name] for name in cls.__dataclass_fields__}
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"{path}: not a saved state ({error})") from None
        return cls(**{**values, "t": float(values["t"])})


@dataclass(frozen=True, eq=False)
class Motion:
    """What `ContactEngine.run` brings back: a record per step, contacts, and where it ended."""

    record: Record
    tau: Array
    table: ContactTable
    state: SimState
    wall_s: float


class ContactEngine:
    """A world, its coordinates, a scheme, a law and a solver.

    Attributes:
        robot: the world's model; controllers, forces and records are in its joint coordinates.
        model: what the steps move: the same, or its bodies in absolute coordinates. States are in these.

    Args:
        world: what moves and touches.
        dt: time step [s].
        contact: law of friction: ``"exact"``, ``"convex"`` or ``"lcp"`` (pyramid).
        stepper: name of a time-stepping scheme.
        solver: ``"auto"`` runs compiled; any other solver takes every problem to Python.
        tol: tolerance on the relative natural-map residual of each step.
        coordinates: ``"reduced"`` or ``"absolute"``.
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
    ) -> None:
        if coordinates not in COORDINATES:
            raise BadInput(f"coordinates {coordinates!r}: choose from {', '.join(COORDINATES)}")
        if contact not in LAWS:
            raise BadInput(f"contact {contact!r}: choose from {', '.join(LAWS)}")
        if not (np.isfinite(tol) and 1e-14 <= tol <= 1e-2):
            raise BadInput(f"tol: must lie between 1e-14 and 1e-2, got {tol:g}")
        self._choice = stepper, contact, coordinates
        self.robot, self.dt, self.law, self.coordinates = world.model, dt, LAWS[contact], coordinates
        self.absolute = in_absolute_coordinates(world.model) if coordinates == "absolute" else None
        self.world = world if self.absolute is None else world.of_bodies(self.absolute)
        self.model = self.world.model
        self.solver = make_solver(solver, tol=tol) if isinstance(solver, str) else solver
        if self.law not in self.solver.laws:
            raise BadInput(f"solver {self.solver.name!r} cannot solve the law of contact={contact!r}")
        self.viscous = np.array(world.viscous) if any(world.viscous) else None
        scheme = get_time_stepper(stepper)
        rule = scheme.rule
        if self.absolute is not None and rule == ACCELERATION:
            raise BadInput(f"stepper {stepper!r} works in reduced coordinates only")
        if self.absolute is None and scheme.is_projected:
            raise BadInput(f"stepper {stepper!r} moves single bodies: coordinates='absolute'")
        self.options = Options(
            h=dt,
            rule=rule,
            cone=CONVEX if contact == "convex" else EXACT,
            combine=world.combine,
            broad=int(choose_broad_phase(world.filter)),
            tolerance=tol,
            is_external=contact == "lcp" or self.solver.name != "auto" or self.viscous is not None,
            force_h=dt,
            move_h=dt,
            is_direct=self.absolute is not None,
            is_momentum=scheme.is_momentum,
            is_projected=scheme.is_projected,
        )

    def driver(self, scene: Scene) -> Driver:
        """Working memory and help for one world at a time."""
        compile_step(*self._choice)
        kind = AccelerationDriver if self.options.rule == ACCELERATION else Driver
        return kind(self.model, scene, self.options, self.solver, self.law, self.viscous)

    @cached_property
    def _bare(self) -> Scene:
        """The world's constants without a controller."""
        return self.scene()

    @cached_property
    def _joint_impulses(self) -> int:
        """How many impulses of joints a state keeps."""
        return len(make_state(self._bare, np.zeros(self.model.nq), np.zeros(self.model.nv), 0).joint_impulse)

    def scene(self, law: JointLaw | None = None) -> Scene:
        """The world's constants with a linear controller of the joints."""
        return self.world.scene(law, self.absolute)

    def joint_state(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Joint coordinates and velocities of states (n, ·) as the steps have them."""
        return (q, v) if self.absolute is None else to_joints(self.absolute, q, v)

    def start(self, q: ArrayLike | None, v: ArrayLike | None, t: float = 0.0) -> SimState:
        """A state without contact impulses; the neutral configuration at rest by default.

        Raises:
            BadInput: impossible numbers, or a loop that is open by more than a millimetre. What is less the
                first steps close.
        """
        compile_step(*self._choice)
        model = self.robot
        q = np.array(model.q0 if q is None else model.check_q(q))
        v = np.zeros(model.nv) if v is None else np.array(model.check_v(v))
        for c in model.couplings:
            q[c.follower_q] = c.multiplier * q[c.leader_q] + c.offset
            v[c.follower_v] = c.multiplier * v[c.leader_v]
        normalize_configuration(model.tree, q)
        for gap in loop_gaps(model, q):
            if max(gap.distance, gap.angle) > OPEN:
                raise BadInput(
                    f"{model.name}: loop {gap.name!r} is open at the start, by {gap.distance:.3g} m and "
                    f"{gap.angle:.3g} rad; taction.close_loops(model, q) finds a configuration that closes it"
                )
        last = q
        if self.options.rule == MOREAU:
            last = integrate(model, q, v, -0.5 * self.dt)
        if self.absolute is not None:
            (q, _), (last, v) = to_bodies(self.absolute, q, v), to_bodies(self.absolute, last, v)
        inner = make_state(self._bare, q, v, 0, last)
        return SimState(t, q, v, last, inner.key, inner.impulse, inner.joint_impulse)

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
        ]
        for got, expected in [*sizes, (len(state.joint_impulse), joints)]:
            if got != expected:
                raise BadInput(
                    f"state: of another world or other coordinates: {got} numbers where {self.world.name} "
                    f"has {expected}"
                )
        return State(
            np.array(state.q), np.array(state.v), np.array(state.last), np.array([len(state.key)]),
            np.array(state.key), np.array(state.impulse), np.array(state.joint_impulse),
        )  # fmt: skip

    def outer(self, state: State, t: float) -> SimState:
        """The state as users have it, a copy."""
        n = int(state.count[0])
        return SimState(
            t, state.q.copy(), state.v.copy(), state.last.copy(), state.key[:n].copy(),
            state.impulse[:n].copy(), state.joint_impulse.copy(),
        )  # fmt: skip

    def run(
        self,
        steps: int,
        start: SimState,
        *,
        law: JointLaw | None = None,
        feedback: Callable[[float, Array, Array], ArrayLike] | None = None,
        every: int = 1,
        stop: Callable[[float, Array, Array], bool] | None = None,
        strict: float | None = None,
        progress: Callable[[float], Any] | None = None,
        flush: Callable[[Record, ContactTable, int, int, Array], Any] | None = None,
    ) -> Motion:
        """Take steps and record them.

        Args:
            steps: how many.
            start: from where.
            law: a linear controller.
            feedback: joint forces (nv,) from time, configuration and velocity.
            every: how many steps apart it is asked.
            stop: asked as often; the run ends early when it says so.
            strict: a larger residual, or a step that did not converge, raises `CertificateError`.
            progress: called with the time now and then.
            flush: called with the record, the contacts, the range of steps that are new, and the joint
                forces; also with the last good steps before an error is raised.
        """
        scene, model = self.scene(law), self.model
        driver, state = self.driver(scene), self.inner(start)
        record, table = make_record(model, steps), make_table(64)
        record.q[0], record.v[0] = state.q, state.v
        tau = np.zeros((steps + 1, self.robot.nv))
        piece = every if (feedback is not None or stop is not None) else PIECE
        is_free, now = piece == PIECE and flush is not None, clock.perf_counter()
        if is_free:
            piece = 1  # how long a step takes shows
        begin, n = now, 0
        while n < steps:
            t, last = start.t + n * self.dt, min(n + piece, steps)
            if feedback is not None:
                force = feedback(t, *self._look(state))
                tau[n:last] = self.robot.check_v(force, "controller output")
            first, n = n, last
            reached, missing, state, table = driver.advance(scene, tau, first, last, state, record, table)  # type: ignore[assignment]
            if flush is not None:
                flush(record, table, first, reached, tau)
            if missing != step.DONE:
                when = start.t + reached * self.dt
                raise IntegrationError(f"{model.name}: at t = {when:.6g} s {MESSAGES[missing]}")
            if strict is not None:
                self._be_strict(record, first, last, start.t, strict)
            if is_free:
                before, now = now, clock.perf_counter()
                fit = int(LIVE_SECONDS * piece / max(now - before, 1e-9))
                piece = max(1, min(LIVE_STEPS, 2 * piece, fit))
            if progress is not None:
                progress(start.t + n * self.dt)
            if stop is not None and stop(start.t + n * self.dt, *self._look(state)):
                break
        wall_s = clock.perf_counter() - begin
        tau[n] = tau[n - 1] if n else 0.0
        cut = Record(record.q[: n + 1], record.v[: n + 1], record.step[:n])
        end = self.outer(state, start.t + n * self.dt)
        return Motion(cut, tau[: n + 1], trimmed(table), end, wall_s)

    def _look(self, state: State) -> tuple[Array, Array]:
        """Joint coordinates and velocities of a state, copies."""
        q, v = self.joint_state(state.q[None], state.v[None])
        return q[0].copy(), v[0].copy()

    def problem(
        self, state: SimState, law: JointLaw | None = None, tau: Array | None = None
    ) -> ContactProblem:
        """The contact problem of the step that starts here, as a document."""
        scene = self.scene(law)
        options = self.options._replace(is_external=True)
        driver = Driver(self.model, scene, options, self.solver, self.law, self.viscous)
        drive = np.zeros((1, self.robot.nv)) if tau is None else tau[None]
        driver.begin(scene, drive, self.inner(state), make_record(self.model, 1))
        return driver.problem(f"{self.world.name} at t = {state.t:.6g} s")

    def _be_strict(self, record: Record, first: int, last: int, t0: float, limit: float) -> None:
        rows = record.step[first:last]
        bad = np.flatnonzero(~(rows[:, RESIDUAL] <= limit) | (rows[:, UNCONVERGED] > 0))
        if len(bad):
            k = int(bad[0])
            pair = [int(rows[k, c]) for c in (WORST_A, WORST_B)]
            names = [self.world.shape_names[i] for i in pair if i >= 0]
            where = f"contact of {' and '.join(names)}" if names else "a joint row"
            raise CertificateError(
                f"{self.world.name}: at t = {t0 + (first + k) * self.dt:.6g} s the residual is "
                f"{rows[k, RESIDUAL]:.3g}, above {limit:.3g}, worst at {where}"
            )


def trimmed(table: ContactTable) -> ContactTable:
    """The rows that mean something."""
    n = int(table.count[0])
    return table._replace(**{name: a[:n] for name, a in table._asdict().items() if name != "count"})


def final_energy(model: Model, q: Array, v: Array) -> tuple[float, float]:
    """Kinetic energy, and potential energy of gravity and the model's own joint springs [J]."""
    kinetic, potential = sum_links(model.tree, q, v, make_workspace(model))[4:]
    springs = 0.0
    for joint in model.joints:
        if joint.kind.nq == joint.kind.nv:
            stretch = q[joint.q_slice] - model.rest[joint.v_slice]
            springs += float((0.5 * model.stiffness[joint.v_slice] * stretch**2).sum())
    return float(kinetic), float(potential) + springs


Events = Mapping[str, Callable[[float, Array, Array], float]]


def find_events(events: Events, t: Array, q: Array, v: Array) -> list[tuple[float, str]]:
    """Times at which a function of the state changes sign, by linear interpolation between steps."""
    found = []
    for name, function in events.items():
        values = np.array([float(function(t[k], q[k], v[k])) for k in range(len(t))])
        for k in np.flatnonzero(((values[:-1] < 0) != (values[1:] < 0)) & (values[:-1] != 0)):
            share = values[k] / (values[k] - values[k + 1])
            found.append((float(t[k] + share * (t[k + 1] - t[k])), name))
    return sorted(found)
