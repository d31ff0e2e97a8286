"""Inverse dynamics with contact: forces of the motors, and of the contacts, for a motion that is wanted.

What it solves: at a state, velocities u of the driven joints at the end of a time step are wanted. Which
forces τ bring them about, and which contact forces go with them, by the laws of contact? Undriven freedoms, a
floating base say, move as they must.

Notation: P selects the driven freedoms; v, v⁺ velocities before and after the step h; Λ impulses of contacts.

Method. The step of a simulation with the equations P v⁺ = u beside its contacts (`taction.control.drives`),

    M (v⁺ − v) = h (f + Pᵀ τ) + Jᵀ Λ,    P v⁺ = u,    Λ and J v⁺ by the laws of contact,               (1)

solved by the solvers of the step, judged by its certificate, and not taken: h τ are the impulses of the
equations. Laws, schemes and coordinates are those of the simulation, joint friction and stops included: a
step with the forces τ of (1) ends with the same v⁺, since it solves the same problem, with τ given and
P v⁺ = u found. In joint coordinates driven freedoms are eliminated (`taction.steppers.held_drives`). In
absolute coordinates a step has rates about the axes of the joints at its start, which differ by something of
order h from those about the axes at its end: there the step is aimed again, at u less what it missed, which
falls by that order each time. Where (1) leaves forces open (a robot that presses its feet apart) those are
taken that a vanishing compliance of the contacts selects.

With limits on τ (1) always has a solution: where a motor is at its limit its joint lags behind u. Without,
joints may be driven against each other or into a wall, and then no force is enough. Such a request is solved
again with `STRONG` times the weight as a limit, and what is missed is part of the answer.

With the law ``lcp`` (1) is a linear complementarity problem whose matrix is singular and no P-matrix. Lemke's
method ends with a solution, or with the word that there is none or that it is undecided. Then the same
request is tried under Coulomb's cone, and its answer is taken where it is the better one; `Torques.contact`
says so.

Given what contacts do, stick, slide or open, the laws are asked afterwards (`taction.sim.contact_modes`).

A scheme whose laws allow for what flight changes, `half-flight`, the default, has no such equation (1): what
is found there is that of `LINEAR` for the same world, law and step. The round trip is exact with that scheme;
with `half-flight` the motion differs by what both schemes differ by in a step, of second order in h.

Departures: a scheme whose contacts are switched by the free motion, which τ changes (`anitescu-potra`), may
pose another problem for τ given than for τ sought.

References: [BhargavaReport, Eqs. (5)–(7)], where friction is a pyramid and motors have no limits; (7) is (1)
with the law ``lcp``, for closed contacts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.contact.forces.parameters import SoftContact
from taction.control.drives import Drives
from taction.sim.simulation import Simulation
from taction.sim.state import SimState
from taction.sim.stepper import ContactView, Stepper, StepReport
from taction.sim.world import World

if TYPE_CHECKING:
    from taction.model.model import Model
    from taction.sim.contact_modes import ModeSolver

LINEAR = "stewart-trinkle"  # the scheme of (1) where that of a simulation has no such equation
TOLERANCE = 1e-12  # on the residual of (1)
STRONG = 1e3  # times the weight of everything, at a lever of a metre
NEAR = 1e-9  # relative, to a limit
AIMS, AIMED = 8, 1e-14  # steps in absolute coordinates, and what they may miss of the largest velocity
MET = 1e-8  # what a solved request may miss, of the largest velocity that is wanted or of 1


class Answer(Enum):
    """How a request ended, the best first."""

    SOLVED = "solved"  # forces and motion as wanted
    LIMITED = "limited"  # motors at their limits: another motion
    INFEASIBLE = "infeasible"  # no forces bring the motion about
    UNSOLVED = "unsolved"  # the laws of contact were not solved to the tolerance, or the motion is not met


@dataclass(frozen=True, eq=False)
class Torques:
    """Forces for a motion, and the motion they lead to.

    Attributes:
        answer: how the request ended.
        tau: forces on all degrees of freedom [N or N m], shape (nv,); zero where nothing is driven.
        velocity: at the end of the step, shape (nv,).
        missed: P v⁺ − u of each driven degree of freedom [m/s or rad/s], shape (m,).
        limited: joints that lag behind because their motors are at a limit.
        forces: contact force on each body that presses on something [N], world axes, shape (3,) each.
        residual: of the laws of contact and the equations, relative.
        dt: length of the step [s].
        contact: law of contact that answered: that of the simulation, or ``"exact"`` where the pyramid of
            ``"lcp"`` had no solution, or none was found.
        violated: what the laws forbid about the contact mode that was given, e.g. ``"left_foot pulls"``.
    """

    answer: Answer
    tau: Array
    velocity: Array
    missed: Array
    limited: tuple[str, ...]
    forces: dict[str, Array]
    residual: float
    dt: float
    contact: str
    violated: tuple[str, ...] = ()

    __repr__ = brief_repr

    @property
    def is_solved(self) -> bool:
        """Whether the motion is the one that was wanted."""
        return self.answer is Answer.SOLVED


class InverseDynamics:
    """Inverse dynamics of the steps of a simulation.

    Args:
        sim: of a world; its scheme, law, coordinates and step are those of the problem, ``stewart-trinkle``
            in place of ``half-flight``. A small ``tol`` makes the round trip exact.
        joints: names of the driven joints; those with motors by default, see `taction.control.drives`.
        limit: largest forces [N or N m], one for all or one per driven degree of freedom; ``"model"`` for
            those of the robot's file; None for none.

    Raises:
        BadInput: no world, unknown joints, impossible limits.
    """

    def __init__(
        self,
        sim: Simulation,
        *,
        joints: Sequence[str] | None = None,
        limit: ArrayLike | str | None = None,
    ) -> None:
        instance(sim, Simulation, "the first argument of InverseDynamics")
        if sim.engine.scheme.is_measured:
            sim = _twin(sim, sim.contact, LINEAR)
        self.sim, self.model = sim, sim.engine.robot
        self.drives = Drives(self.model, joints, limit)
        self._names = {d: j.name for j in self.model.joints for d in range(j.iv, j.iv + j.kind.nv)}
        self._stepper: Stepper | None = None
        self._strong: Stepper | None = None
        self._modes: ModeSolver | None = None
        self._latest: Stepper | None = None
        self._exact: InverseDynamics | None = None

    def after(self) -> SimState:
        """Where the forces found last lead to, with the contacts that carry there.

        Raises:
            BadInput: none were asked for yet.
        """
        if self._latest is None:
            raise BadInput("inverse dynamics: nothing was solved yet")
        return self._latest.state()

    def solve(
        self,
        state: SimState,
        acceleration: ArrayLike | None = None,
        *,
        velocity: ArrayLike | None = None,
        modes: Mapping[str, str] | None = None,
    ) -> Torques:
        """Forces for accelerations over the step, or velocities at its end.

        Args:
            state: where the step starts, as from `Simulation.state` or `Run.state`; it does not change.
            acceleration: of the driven degrees of freedom, shape (m,), or of all, shape (nv,).
            velocity: likewise, instead.
            modes: what the contacts of bodies shall do, ``"stick"``, ``"slide"`` or ``"open"`` by the name of
                a body, open for all others; by default what the laws say. Where the laws forbid it the answer
                is ``INFEASIBLE``, ``violated`` says why, and the motion is that of the laws.

        Raises:
            BadInput: neither or both are given, shapes are wrong, or modes are not known.
            IntegrationError: the step cannot be posed.
        """
        wanted = self._wanted(state, acceleration, velocity)
        by_laws = self._by_laws(state, wanted)
        if modes is None:
            return by_laws
        found = self._in_mode(state, wanted, modes, by_laws.velocity)
        if not found.violated:
            return found
        return replace(by_laws, answer=found.answer, violated=found.violated)

    def _in_mode(self, state: SimState, wanted: Array, modes: Mapping[str, str], near: Array) -> Torques:
        """Forces in a mode, and what is violated by it; near: the velocities by the laws."""
        from taction.sim.contact_modes import ModeSolver

        if self._modes is None:
            self._modes = ModeSolver(self.sim, self.drives)
        step, dofs = self._modes.solve(state, wanted, modes, near), self.drives.dofs
        is_late = np.abs(step.tau[dofs]) > self.drives.limits * (1.0 + NEAR)
        late = self._joints(dofs[is_late])
        violated = step.violated + tuple(f"motor {name} at its limit" for name in late)
        return Torques(
            answer=Answer.INFEASIBLE if violated else Answer.SOLVED,
            contact=self._law,
            tau=step.tau,
            velocity=step.velocity,
            missed=step.velocity[dofs] - wanted,
            limited=late,
            forces=self._contact_forces(step.contacts),
            residual=step.report.residual,
            dt=self.sim.dt,
            violated=violated,
        )

    def _by_laws(self, state: SimState, wanted: Array) -> Torques:
        """Forces by the laws of contact; by Coulomb's cone where the pyramid leaves none."""
        found, order = self._by_own_law(state, wanted), list(Answer)
        if self._law != "lcp" or found.answer in (Answer.SOLVED, Answer.LIMITED):
            return found
        if self._exact is None:
            self._exact = InverseDynamics(
                _twin(self.sim, "exact", self.sim.stepper),
                joints=self.drives.joints,
                limit=self.drives.limits,
            )
        other = self._exact._by_own_law(state, wanted)
        if order.index(other.answer) >= order.index(found.answer):
            return found
        self._latest = self._exact._latest
        return other

    def _by_own_law(self, state: SimState, wanted: Array) -> Torques:
        """Forces by the law of the simulation."""
        if self._stepper is None:
            self._stepper = self.sim.begin(state=state, controller=self.drives)
        limits, stepper = self.drives.limits, self._stepper
        report = self._attempt(stepper, limits, state, wanted)
        answer = Answer.SOLVED
        if not report.is_converged and not np.isfinite(limits).all():
            strong = np.minimum(limits, self._strongest())
            if self._strong is None:
                drives = Drives(self.model, self.drives.joints, strong)
                self._strong = self.sim.begin(state=state, controller=drives)
            stepper, limits, answer = self._strong, strong, Answer.INFEASIBLE
            report = self._attempt(stepper, limits, state, wanted)
        self._latest = stepper
        dofs, tau = self.drives.dofs, stepper.tau.copy()
        missed, is_late = stepper.v[dofs] - wanted, self._are_late(stepper, limits)
        if not report.is_converged:
            answer = Answer.UNSOLVED
        elif answer is Answer.INFEASIBLE:
            answer = Answer.INFEASIBLE if is_late.any() else Answer.SOLVED
        elif is_late.any():
            answer = Answer.LIMITED
        if answer is Answer.SOLVED and not _is_met(missed, wanted):
            answer = Answer.UNSOLVED
        return Torques(
            answer=answer,
            contact=self._law,
            tau=tau,
            velocity=stepper.v.copy(),
            missed=missed,
            limited=self._joints(dofs[is_late]),
            forces=self._contact_forces(stepper.contacts),
            residual=report.residual,
            dt=self.sim.dt,
        )

    @property
    def _law(self) -> str:
        return self.sim.engine.contact

    def _attempt(self, stepper: Stepper, limits: Array, state: SimState, wanted: Array) -> StepReport:
        """A step from a state under drives, which is not kept; aimed again where axes turn with it."""
        dofs, aim = self.drives.dofs, wanted
        for _ in range(1 if self.sim.engine.absolute is None else AIMS):
            stepper.reset(state)
            report = stepper.step(ctrl=aim)
            missed = np.where(self._are_late(stepper, limits), 0.0, stepper.v[dofs] - wanted)
            if np.abs(missed).max(initial=0.0) <= AIMED * np.abs(stepper.v).max(initial=0.0):
                break
            aim = aim - missed
        return report

    def _are_late(self, stepper: Stepper, limits: Array) -> NDArray[np.bool_]:
        """Which drives are at their limits, shape (m,)."""
        return np.abs(stepper.tau[self.drives.dofs]) >= limits * (1.0 - NEAR)

    def _joints(self, dofs: IntArray) -> tuple[str, ...]:
        """Names of the joints of degrees of freedom."""
        return tuple(dict.fromkeys(self._names[int(d)] for d in dofs))

    def _contact_forces(self, contacts: ContactView) -> dict[str, Array]:
        """Contact force on each body that presses on something [N], world axes, shape (3,) each."""
        world = self.sim.engine.given
        bodies = np.unique(world.shape_body[contacts.shape])
        on = {name: contacts.on(name) for name in (world.model.body_names[b] for b in bodies if b >= 0)}
        return {name: force for name, force in on.items() if force.any()}

    def _strongest(self) -> float:
        gravity = float(np.linalg.norm(self.model.tree.gravity)) or 9.81
        return STRONG * gravity * self.model.total_mass

    def _wanted(self, state: SimState, acceleration: ArrayLike | None, velocity: ArrayLike | None) -> Array:
        """Velocities at the end of the step, shape (m,)."""
        instance(state, SimState, "state")
        if velocity is not None and acceleration is None:
            return self._of_driven(velocity, "velocity")
        if velocity is not None or acceleration is None:
            raise BadInput("inverse dynamics: give an acceleration or a velocity, one of both")
        now = self.sim.engine.look(self.sim.engine.inner(state))[1][self.drives.dofs]
        return now + self.sim.dt * self._of_driven(acceleration, "acceleration")

    def _of_driven(self, values: ArrayLike, what: str) -> Array:
        """Values of the driven degrees of freedom (m,), from those or from values of all (nv,)."""
        dofs, nv = self.drives.dofs, self.model.nv
        size = nv if np.shape(values) == (nv,) else len(dofs)
        given = as_float(values, (size,), what)
        return given[dofs] if size == nv else given


def _is_met(missed: Array, wanted: Array) -> bool:
    """Whether velocities are as wanted."""
    return bool(np.abs(missed).max(initial=0.0) <= MET * max(1.0, np.abs(wanted).max(initial=0.0)))


def _twin(sim: Simulation, contact: str | SoftContact | None, stepper: str) -> Simulation:
    """The same simulation under another law or scheme."""
    engine = sim.engine
    options = engine.passes[0]
    return Simulation(
        engine.given, dt=sim.dt, contact=contact, stepper=stepper, tol=options.tolerance,
        coordinates=engine.coordinates, push_speed=options.push / sim.dt, turn_speed=options.turn / sim.dt,
        max_contacts=engine.max_contacts, restitution_law=engine.restitution_law,
    )  # fmt: skip


def inverse_dynamics(
    world: World | Model,
    q: ArrayLike,
    v: ArrayLike,
    acceleration: ArrayLike,
    *,
    dt: float = 1e-3,
    contact: str | SoftContact = "exact",
    joints: Sequence[str] | None = None,
    limit: ArrayLike | str | None = None,
    coordinates: str | None = None,
) -> Torques:
    """Forces of the motors, and of contacts, for accelerations that are wanted over one step.

    Args:
        world: what moves and touches.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        acceleration: wanted, of the driven degrees of freedom, shape (m,), or of all, shape (nv,).
        dt: time step [s].
        contact: law of contact, as for `Simulation`.
        joints: names of the driven joints; those with motors by default, see `taction.control.drives`.
        limit: largest forces, see `InverseDynamics`.
        coordinates: as for `Simulation`.

    Raises:
        BadInput: impossible arguments.
    """
    sim = Simulation(world, dt=dt, contact=contact, coordinates=coordinates, tol=TOLERANCE, stepper=LINEAR)
    return InverseDynamics(sim, joints=joints, limit=limit).solve(sim.state(q, v), acceleration)
