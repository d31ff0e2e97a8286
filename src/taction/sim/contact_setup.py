"""What steps of a `World` through contact are made of: coordinates, scheme, law, solver; states and problems.

Steps are compiled in one piece (`taction.steppers.driver`), whatever the coordinates they are taken in. What
users give and get is in joint coordinates; `inner` and `outer` lead from there to what kernels have and back.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import (
    BadInput,
)
from taction._core.names import choose
from taction.contact.forces.parameters import Penalty, SoftContact, as_soft
from taction.contact.problem import ContactProblem
from taction.control.contract import Control
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos
from taction.geometry.filters import Filter
from taction.kinematics.absolute import tie_angles, to_bodies, to_joints
from taction.kinematics.configuration import integrate
from taction.kinematics.forward import forward_kinematics
from taction.model.absolute import in_absolute_coordinates
from taction.model.loose import require_inertia
from taction.sim.divided_step import MOST_DIVISIONS, DividedDriver, check_accuracy
from taction.sim.open_loops import OpenLoop, find_open_loops, refuse_wide
from taction.sim.out_of_range import OutOfRange, find_out_of_range
from taction.sim.overlap import Overlap, exempt_bodies, name_overlaps, overlapping
from taction.sim.softness import make_springs
from taction.sim.state import SimState, starting_point
from taction.sim.step_options import RESTITUTION_LAWS, make_passes
from taction.sim.warm_up import compile_step
from taction.sim.world import World
from taction.solvers import make_solver
from taction.solvers.base import Solver
from taction.steppers.coordinates.dispatch import COORDINATES
from taction.steppers.driver import CONTACT_STATE, Driver
from taction.steppers.records import Record, make_record
from taction.steppers.scene import Scene, State, make_state
from taction.steppers.schemes.dispatch import DEFAULT, get_scheme
from taction.steppers.schemes.stewart_trinkle import SCHEME as HOVERING

LAWS = {"exact": "exact", "convex": "convex", "lcp": "pyramid", "penalty": "exact", "compliant": "exact"}
LAW_SUMMARIES = {
    "exact": "Coulomb's law with the round cone: sliding does not lift a contact",
    "convex": "the associated law, a convex problem per step: sliding lifts by friction times speed",
    "lcp": "Coulomb's law with a pyramid, a linear complementarity problem per step",
    "penalty": "springs and dampers against overlap and sliding, stiff: forces, nothing to solve",
    "compliant": "bodies as soft as their materials: springs attached where they first touch, order 2",
}
# The correction of positions: speed at which points of contact are pushed out [m/s] and links turned [rad/s],
# and the most it turns a link in one step [rad], however long: beyond, a linearised displacement means little
PUSH_SPEED, TURN_SPEED, MOST_TURN = 1.0, 10.0, 0.1
STEPLESS = 1e-12  # by how much, relative, what a state of no step looked at last may differ from it: rounding
LEAST_CROWD, CROWD = 2000, 50  # contacts that a step may have: so many, or so many per shape


def default_stepper(contact: str | SoftContact) -> str:
    """The scheme that goes with a kind of contact where none is asked for.

    Contacts that slide by the convex law hover by friction times the way of a step. A scheme that asks which
    contacts stay closed would take them for open, and they would hop.
    """
    soft = as_soft(contact)
    if soft is not None:
        return soft.stepper
    return HOVERING.name if contact == "convex" else DEFAULT


class ContactSetup:
    """A world, its coordinates, a scheme, a law and a solver.

    Attributes:
        given: the world as the user made it.
        robot: its model; controllers, forces and records are in its joint coordinates.
        model: what the steps move: the same, or its bodies in absolute coordinates. States are in these.

    Args:
        world: what moves and touches.
        dt: time step [s].
        contact: law of friction: ``"exact"``, ``"convex"`` or ``"lcp"`` (pyramid); or contact as a force.
        stepper: name of a time-stepping scheme.
        solver: ``"auto"`` runs compiled; others take every problem to Python.
        tol: tolerance on the relative natural-map residual of each step.
        coordinates: ``"reduced"`` or ``"absolute"``.
        push_speed: at which the correction of positions pushes points of contact out [m/s].
        turn_speed: at which it turns links at most [rad/s]; None for 10, and 0.1 rad in a step.
        max_contacts: that a step may have; None for 2000, or 50 per shape if that is more.
        restitution_law: ``"poisson"`` or ``"newton"``.
        accuracy: to which steps divide themselves [m], see `taction.sim.divided_step`; None for plain steps.
        most_divisions: how often a step may be halved for that.
    """

    def __init__(
        self,
        world: World,
        *,
        dt: float,
        contact: str | SoftContact,
        stepper: str,
        solver: str | Solver,
        tol: float,
        coordinates: str = "reduced",
        push_speed: float = PUSH_SPEED,
        turn_speed: float | None = None,
        max_contacts: int | None = None,
        restitution_law: str = "poisson",
        accuracy: float | None = None,
        most_divisions: int = MOST_DIVISIONS,
    ) -> None:
        turn = min(TURN_SPEED * dt, MOST_TURN) if turn_speed is None else turn_speed * dt
        for name, speed in (("push_speed", push_speed), ("turn_speed", turn / dt)):
            if not (np.isfinite(speed) and speed > 0.0):
                raise BadInput(f"{name}: must be positive and finite, got {speed}")
        if coordinates not in COORDINATES:
            raise BadInput(f"coordinates {coordinates!r}: {choose(coordinates, COORDINATES)}")
        self.soft = as_soft(contact)
        contact = self.soft.name if self.soft is not None else contact
        if contact not in LAWS:
            raise BadInput(f"contact {contact!r}: {choose(contact, LAWS)}")
        if not (np.isfinite(tol) and 1e-14 <= tol <= 1e-2):
            raise BadInput(f"tol: must lie between 1e-14 and 1e-2, got {tol:g}")
        if coordinates == "absolute" and world.model.spec.tendons:
            raise BadInput(f"{world.name} has tendons, which need coordinates='reduced'")
        require_inertia(world.model)
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
        if restitution_law not in RESTITUTION_LAWS:
            raise BadInput(
                f"restitution_law {restitution_law!r}: {choose(restitution_law, RESTITUTION_LAWS)}"
            )
        self.restitution_law = restitution_law
        self.accuracy, self.most_divisions = check_accuracy(accuracy, most_divisions)
        self.scheme = get_scheme(stepper)
        if coordinates not in self.scheme.coordinates:
            raise BadInput(
                f"stepper {stepper!r} works in {' and '.join(self.scheme.coordinates)} coordinates only"
            )
        if self.soft is not None and len(self.scheme.passes) > 1:
            raise BadInput(
                f"stepper {stepper!r} takes impacts apart from forces; contact={contact!r} has none"
            )
        self.passes = make_passes(
            self.scheme, dt=dt, coordinates=coordinates, contact=contact, world=world, tol=tol,
            is_external=contact == "lcp" or self.solver.name != "auto", soft=self.soft,
            push=push_speed * dt, turn=turn, restitution=RESTITUTION_LAWS[restitution_law],
        )  # fmt: skip

    @property
    def settings(self) -> dict[str, str]:
        """Scheme, law, solver and coordinates, for the head of a file."""
        names = {"scheme": self.stepper, "contact": self.contact, "solver": self.solver.name}
        springs = {} if self.soft is None else {"springs": str(self.soft)}
        law = {} if self.restitution_law == "poisson" else {"restitution": self.restitution_law}
        accuracy = {} if self.accuracy is None else {"accuracy": f"{self.accuracy:g} m"}
        return {**names, "coordinates": self.coordinates, **law, **springs, **accuracy}

    def driver(self, scene: Scene) -> Driver:
        """Working memory and help for one world at a time."""
        compile_step(self.stepper, self.contact, self.coordinates)
        given = self.model, scene, self.passes, self.solver, self.law, self.max_contacts
        if self.accuracy is None:
            return Driver(*given)
        return DividedDriver(*given, accuracy=self.accuracy, most=self.most_divisions)

    def overlaps(self, state: SimState) -> list[Overlap]:
        """Pairs of shapes that overlap at a state by more than a micrometre, the deepest first."""
        return name_overlaps(self._overlapping(self.scene_of(state), self.inner(state)), self.world)

    def out_of_range(self, state: SimState, is_start: bool = True) -> list[OutOfRange]:
        """Joints and tendons beyond their stops at a state by more than a millionth, the farthest first.

        is_start: none where the state continues from steps before, in which they were named.
        """
        found = find_out_of_range(self.robot, self.look(state)[0])
        return [] if is_start and found and not self.is_new(state) else found

    def open_loops(self, state: SimState) -> list[OpenLoop]:
        """Loops that a state to start from leaves open by more than a millimetre, the widest first."""
        found = self._open_loops(self.look(state)[0])
        return found if found and self.is_new(state) else []

    def _open_loops(self, q: Array) -> list[OpenLoop]:
        return find_open_loops(self.robot, self._bare.joints.loops.size, q)

    def is_new(self, state: SimState) -> bool:
        """Whether a state is one to start from: no impulses yet, and no step that led there."""
        if len(state.key) or state.joint_impulse.any():
            return False
        last = self._inner_start(self._bare, *self.look(state)).last
        return bool(
            np.abs(last - state.last).max(initial=0.0) <= STEPLESS * (1.0 + np.abs(last).max(initial=0.0))
        )

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
        return self._softened(self.world.scene(None, self.absolute))

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
        return self._softened(self.world.scene(law, self.absolute, servos, self._neutral_filter))

    @cached_property
    def springs(self) -> tuple[Array, Array]:
        """Springs and dampers of the shapes, and what moves at each [kg]; see `make_springs`."""
        return make_springs(self.given, self.soft or Penalty())

    def _softened(self, scene: Scene) -> Scene:
        if self.soft is None:
            return scene
        return scene._replace(surfaces=scene.surfaces._replace(soft=self.springs[0]))

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
            BadInput: impossible numbers, or a loop that is open by more than a fifth of what it connects, or
                of a radian. What is less the first steps close.
        """
        compile_step(self.stepper, self.contact, self.coordinates)
        model = self.robot
        q, v = starting_point(model, q, v)
        refuse_wide(self._open_loops(q), model.name)
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
        return make_state(scene, q, v, 0, last, angle, self.passes[0].memory)

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
        if arrays["memory"].shape[1] != self.passes[0].memory:  # of another scheme or law
            arrays["memory"] = np.zeros((len(state.key), self.passes[0].memory))
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

    def wrench(
        self, q: Array, body: str, force: Array, torque: Array, point: Array | None = None
    ) -> tuple[int, Array]:
        """The link of a body, and the row of `SimState.wrench` of a force and a torque on it, shape (6,).

        Args:
            q: configuration as states have it.
            body: its name.
            force: world axes [N], shape (3,).
            torque: world axes [N m], shape (3,).
            point: where the force acts, world axes [m], shape (3,); the body's origin by default.
        """
        model = self.world.model
        if body not in model.body_names:
            raise BadInput(f"no body {body!r}; there are {', '.join(model.body_names)}")
        b = model.body(body)
        poses = forward_kinematics(model, q)
        x = poses.position[b] if point is None else point
        rotation = poses.rotation[b] @ model.body_rotation[b].T
        origin = poses.position[b] - rotation @ model.body_offset[b]
        return int(model.body_link[b]), np.concatenate([torque + np.cross(x - origin, force), force])

    def problem(self, state: SimState, control: Control, drive: Array) -> ContactProblem:
        """The contact problem of the step that starts here, with a drive (nv + m,) held."""
        scene = self.scene_of(state, control.law, control.servos)
        name = f"{self.world.name} at t = {state.t:.6g} s"
        return self.driver(scene).pose(scene, drive, self.inner(state), name)
