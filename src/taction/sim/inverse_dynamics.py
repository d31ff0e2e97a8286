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
P v⁺ = u found. In absolute coordinates P v⁺ are rates about the axes of the joints at the start of the step;
read about those at its end they miss u by something of order h. Where (1) leaves forces open (a robot that
presses its feet apart) those are taken that a vanishing compliance selects.

With limits on τ (1) always has a solution: where a motor is at its limit its joint lags behind u. Without,
joints may be driven against each other or into a wall, and then no force is enough. Such a request is solved
again with `STRONG` times the weight as a limit, and what is missed is part of the answer.

References: [BhargavaReport, Eqs. (5)–(7)], where friction is a pyramid and motors have no limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.contact.forces.parameters import SoftContact
from taction.control.drives import Drives
from taction.sim.simulation import Simulation
from taction.sim.state import SimState
from taction.sim.stepper import Stepper, StepReport
from taction.sim.world import World

if TYPE_CHECKING:
    from taction.model.model import Model

TOLERANCE = 1e-12  # on the residual of (1)
STRONG = 1e3  # times the weight of everything, at a lever of a metre
NEAR = 1e-9  # relative, to a limit


class Answer(Enum):
    """How a request ended."""

    SOLVED = "solved"  # forces and motion as wanted
    LIMITED = "limited"  # motors at their limits: another motion
    INFEASIBLE = "infeasible"  # no forces bring the motion about
    UNSOLVED = "unsolved"  # the laws of contact were not solved to the tolerance


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
    """

    answer: Answer
    tau: Array
    velocity: Array
    missed: Array
    limited: tuple[str, ...]
    forces: dict[str, Array]
    residual: float
    dt: float

    __repr__ = brief_repr

    @property
    def is_solved(self) -> bool:
        """Whether the motion is the one that was wanted."""
        return self.answer is Answer.SOLVED


class InverseDynamics:
    """Inverse dynamics of the steps of a simulation.

    Args:
        sim: of a world; its scheme, law, coordinates and step are those of the problem. A small ``tol`` makes
            the round trip exact.
        joints: names of the driven joints; all with scalar coordinates by default.
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
        self.sim, self.model = sim, sim.engine.robot
        self.drives = Drives(self.model, joints, limit)
        self._names = {d: j.name for j in self.model.joints for d in range(j.iv, j.iv + j.kind.nv)}
        self._stepper: Stepper | None = None
        self._strong: Stepper | None = None

    def solve(
        self, state: SimState, acceleration: ArrayLike | None = None, *, velocity: ArrayLike | None = None
    ) -> Torques:
        """Forces for accelerations over the step, or velocities at its end.

        Args:
            state: where the step starts, as from `Simulation.state` or `Run.state`; it does not change.
            acceleration: of the driven degrees of freedom, shape (m,), or of all, shape (nv,).
            velocity: likewise, instead.

        Raises:
            BadInput: neither or both are given, or shapes are wrong.
            IntegrationError: the step cannot be posed.
        """
        wanted = self._wanted(state, acceleration, velocity)
        if self._stepper is None:
            self._stepper = self.sim.begin(state=state, controller=self.drives)
        limits, stepper = self.drives.limits, self._stepper
        report = _attempt(stepper, state, wanted)
        answer = Answer.SOLVED
        if not report.is_converged and not np.isfinite(limits).all():
            strong = np.minimum(limits, self._strongest())
            if self._strong is None:
                drives = Drives(self.model, self.drives.joints, strong)
                self._strong = self.sim.begin(state=state, controller=drives)
            stepper, limits, answer = self._strong, strong, Answer.INFEASIBLE
            report = _attempt(stepper, state, wanted)
        dofs, tau = self.drives.dofs, stepper.tau.copy()
        missed = stepper.v[dofs] - wanted
        is_late = np.abs(tau[dofs]) >= limits * (1.0 - NEAR)
        if not report.is_converged:
            answer = Answer.UNSOLVED
        elif answer is Answer.INFEASIBLE:
            answer = Answer.INFEASIBLE if is_late.any() else Answer.SOLVED
        elif is_late.any():
            answer = Answer.LIMITED
        return Torques(
            answer=answer,
            tau=tau,
            velocity=stepper.v.copy(),
            missed=missed,
            limited=tuple(dict.fromkeys(self._names[int(d)] for d in dofs[is_late])),
            forces=self._contact_forces(stepper),
            residual=report.residual,
            dt=self.sim.dt,
        )

    def _contact_forces(self, stepper: Stepper) -> dict[str, Array]:
        """Contact force on each body that presses on something [N], world axes, shape (3,) each."""
        world, contacts = self.sim.engine.given, stepper.contacts
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


def _attempt(stepper: Stepper, state: SimState, wanted: Array) -> StepReport:
    """A step from a state under drives, which is not kept."""
    stepper.reset(state)
    return stepper.step(ctrl=wanted)


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
        joints: names of the driven joints; all with scalar coordinates by default.
        limit: largest forces, see `InverseDynamics`.
        coordinates: as for `Simulation`.

    Raises:
        BadInput: impossible arguments.
    """
    sim = Simulation(world, dt=dt, contact=contact, coordinates=coordinates, tol=TOLERANCE)
    return InverseDynamics(sim, joints=joints, limit=limit).solve(sim.state(q, v), acceleration)
