"""Any world near a state as a linear complementarity system, from the step's own assembly.

What it makes: the `ContactSystem` of one step of length h from (q₀, v₀) under joint forces u₀. With v_f the
velocity of the step without impulses, J the rows of all contacts in reach and of stops, friction and loops of
joints, M̂ the inertia of the step (`taction.steppers.impulse_step`), and Λ = Γ λ + γ the impulses as
variables with signs (`taction.contact.pyramid`):

    v⁺ = v_f(q, v, u) + M̂⁻¹ Jᵀ (Γ λ + γ),      q⁺ = q ⊕ h v⁺,
    η  = Γᵀ (J v_f + o) + Γᵀ W Γ λ + …  ≥ 0.

On the level of positions o = (g + J δq)/h for gaps g, as Stewart and Trinkle have them; on the level of
velocities o = 0, and contacts take part whose free gap g + J (δq + h v_f) is not positive, as Anitescu and
Potra have them.

Method
1. The step is posed at (q₀, v₀, u₀) as in a simulation, but with contacts in reach that are far from
   touching: J, W, gaps, M̂.
2. v_f is differentiated by central differences of the free motion (v_f − v)/h, which vanish exactly where
   nothing depends on a coordinate; by u it is linear.
3. Loops and other equations are eliminated with the unknowns Λ.

Departures: J is held, so what turning normals and levers do to second order is not in the system. Stops and
friction of joints are in; servos are not, since their forces are the inputs.

Cost: 4 nv free motions, and one contact problem.

References: [StewartTrinkle1996]; [AnitescuPotra1997]; [AydinogluWeiHuangPosa2024] for
such systems in control.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction._core.jit import plain
from taction._core.names import instead
from taction.contact.assembly import GAP as ROW_GAP
from taction.contact.assembly import LENGTH, SOURCE, problem_rows
from taction.contact.elements import Bilateral, JointFriction
from taction.contact.problem import ContactProblem
from taction.contact.pyramid import REDUNDANT, pyramid_lcp
from taction.dynamics.crba import mass_matrix
from taction.kinematics.configuration import difference, integrate
from taction.planning.system import ContactSystem, Guard, Reach
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers.driver import Driver
from taction.steppers.scene import FREE
from taction.steppers.step_problem import given, problem_from_rows, slots

POSITION, VELOCITY = "position", "velocity"
LEVELS = (POSITION, VELOCITY)
SMALL = 1e-5  # step of the differences [m, rad, m/s or rad/s]
STILL = 1e-12  # of the velocities that variables cause: below, friction moves nothing
cut_rows = plain(problem_rows)


class Lineariser:
    """Contact systems of a world.

    Args:
        world: what moves and touches.
        dt: length of a step [s].
        inputs: names of joints with one freedom whose forces are the inputs; all such joints by default.
        level: of the gaps: ``"position"`` or ``"velocity"``.
        has_friction: contacts rub, with a pyramid; else they are smooth.
        sides: of the pyramid, an even number.
        reach: distance up to which contacts and stops are in the system [m or rad].
        bodies: contacts of these alone, by name; of all by default.

    Raises:
        BadInput: unknown joints, bodies or levels, numbers out of range.
    """

    def __init__(
        self,
        world: World,
        dt: float,
        *,
        inputs: Sequence[str] | None = None,
        level: str = POSITION,
        has_friction: bool = True,
        sides: int = 4,
        reach: float = 1.0,
        bodies: Sequence[str] | None = None,
    ) -> None:
        instance(world, World, "world")
        if level not in LEVELS:
            raise BadInput(f"level {level!r}: choose from {', '.join(LEVELS)}")
        if isinstance(sides, bool) or not isinstance(sides, int) or sides < 4 or sides % 2:
            raise BadInput(f"sides: must be an even number, at least 4, got {sides!r}")
        reach = number(reach, "reach")
        if not (np.isfinite(reach) and reach >= 0.0):
            raise BadInput(f"reach: must be finite and not negative, got {reach}")
        self.simulation = Simulation(world, dt=dt, contact="lcp", stepper="stewart-trinkle")
        self.world, self.model, self.dt = world, world.model, self.simulation.dt
        self.level, self.sides, self.reach = level, sides, reach
        self.law = "pyramid" if has_friction else "frictionless"
        single = {joint.name: joint.iv for joint in self.model.joints if joint.kind.nv == 1}
        names = list(single) if inputs is None else list(inputs)
        for name in names:
            if name not in single:
                raise BadInput(f"inputs: no joint with one freedom {name!r}; {instead(name, list(single))}")
        self.inputs, self.input_dofs = tuple(names), np.array([single[n] for n in names], dtype=np.int64)
        known = (*self.model.body_names, "world")
        for name in bodies or ():
            if name not in known:
                raise BadInput(f"bodies: no body {name!r}; {instead(name, known)}")
        self.bodies = None if bodies is None else frozenset(bodies)
        seen = None if bodies is None else tuple(bodies)
        self.seen = Reach(has_friction, sides, reach, seen)
        engine = self.simulation.engine
        self._scene = engine.scene()
        passes = tuple(p._replace(margin=0.5 * reach) for p in engine.passes)
        self._driver = Driver(engine.model, self._scene, passes, engine.solver, engine.law)

    def at(self, q: ArrayLike, v: ArrayLike | None = None, u: ArrayLike | None = None) -> ContactSystem:
        """The system near a configuration (nq,), velocities (nv,) and inputs (m,), by default zero."""
        model, h = self.model, self.dt
        q = model.check_q(q, "q")
        v = np.zeros(model.nv) if v is None else model.check_v(v, "v")
        u = np.zeros(len(self.inputs)) if u is None else as_float(u, (len(self.inputs),), "u")
        S = np.zeros((model.nv, len(u)))
        S[self.input_dofs, np.arange(len(u))] = 1.0
        engine = self.simulation.engine
        state = engine.start(q, v)
        scene = self._scene._replace(filter=engine.filter_of(state))
        inner, tau = engine.inner(state), S @ u

        def free(q: Array, v: Array) -> Array:
            """Velocities after the step without impulses (nv,), the step in the driver's memory."""
            inner.q[:], inner.last[:], inner.v[:] = q, q, v
            self._driver.assemble(scene, tau, inner)
            return self._driver.memory.motion.dof[FREE].copy()

        Vq, Vv = self._slopes(free, q, v)
        now = free(q, v)
        law = self._driver.memory.motion.law
        inertia = mass_matrix(model, q) + np.diag(h * law.D + h * h * law.K)
        inverse = np.asarray(np.linalg.inv(inertia), dtype=np.float64)
        found = self._rows()
        now = now + inverse @ found.held
        slopes = np.hstack([Vq, Vv, h * inverse @ S])
        y = np.concatenate([np.zeros(model.nv), v, u])
        return self._system(q, _Affine(slopes, now - slopes @ y), now, inverse, found)

    def _slopes(self, free: Callable[[Array, Array], Array], q: Array, v: Array) -> tuple[Array, Array]:
        """Derivatives of v_f by δq and v, shape (nv, nv) each."""
        n = self.model.nv
        Vq, Vv = np.zeros((n, n)), np.zeros((n, n))
        for j in range(n):
            e = np.zeros(n)
            e[j] = SMALL
            ahead, back = integrate(self.model, q, e), integrate(self.model, q, -e)
            Vq[:, j] = (free(ahead, v) - free(back, v)) / (2.0 * SMALL)
            more, less = free(q, v + e) - (v + e), free(q, v - e) - (v - e)
            Vv[:, j] = (more - less) / (2.0 * SMALL)
        return Vq, Vv + np.eye(n)

    def _rows(self) -> _Rows:
        """The rows of the step that is posed."""
        memory = self._driver.memory
        blocks, rows = memory.blocks, cut_rows(memory.blocks)
        k = len(rows.kind)
        J = np.zeros((3 * k, self.model.nv))
        for i in range(k):
            n = blocks.index[i, LENGTH]
            np.add.at(J[3 * i : 3 * i + 3].T, blocks.dof[i, :n], blocks.J[i, :n])
        source = blocks.index[:k, SOURCE]
        gap = blocks.number[:k, ROW_GAP : ROW_GAP + 3].ravel().copy()
        touching = np.flatnonzero(source >= 0)
        gap[3 * touching] = memory.sight.contacts.gap[source[touching]]
        slot, shapes = slots(rows), memory.sight.contacts.shape
        problem = replace(problem_from_rows(rows, source, "pyramid"), law=self.law, sides=self.sides)
        bodies = [tuple(self.world.body_name(int(s)) for s in shapes[i]) if i >= 0 else () for i in source]
        return _Rows(J[slot], gap[slot], [bodies[i // 3] for i in slot], problem, J.T @ given(rows))

    def _system(self, q: Array, free: _Affine, moving: Array, inverse: Array, found: _Rows) -> ContactSystem:
        """The system from free velocities by y = (δq, v, u), those at q (nv,), M̂⁻¹ and rows."""
        n, h, J = self.model.nv, self.dt, found.J
        is_gap = np.array(
            [not isinstance(e, Bilateral | JointFriction) for e in found.problem.elements], bool
        )
        first = np.asarray(found.problem.first_row, dtype=np.int64)[: len(is_gap)]
        normal = first[is_gap]
        b = free.by(J)
        if self.level == POSITION:
            b.slope[normal, :n] += J[normal] / h
            b.value[normal] += np.maximum(found.gap[normal], 0.0) / h
        pyramid = pyramid_lcp(replace(found.problem, b=b.value))
        push = inverse @ J.T
        kept = self._kept(found, pyramid.element, push @ pyramid.map)
        G = pyramid.map[:, kept]
        after = free.plus(-push @ _balance(found.problem, pyramid.W) @ b.slope, push @ pyramid.offset)
        move = self._moved(q, moving).of(after)
        A, slack = np.vstack([move.slope, after.slope]), G.T @ b.slope
        C = push @ G
        number = np.cumsum(is_gap) - 1  # of the contact or stop of each element
        guard = None
        if self.level == VELOCITY:
            gap = free.by(h * J[normal])
            gap.slope[:, :n] += J[normal]
            of = np.where(is_gap, number, -1)[pyramid.element[kept]]
            gap.value[:] += found.gap[normal]
            guard = Guard(gap.slope[:, : 2 * n], gap.slope[:, 2 * n :], gap.value, of)
        return ContactSystem(
            A=A[:, : 2 * n], B=A[:, 2 * n :], C=np.vstack([self._moved(q, moving).velocity @ C, C]),
            d=np.concatenate([move.value, after.value]), D=slack[:, : 2 * n], E=slack[:, 2 * n :],
            F=pyramid.lcp.M[np.ix_(kept, kept)], c=pyramid.lcp.q[kept], dt=h, load=G[normal],
            contacts=tuple(" - ".join(found.bodies[i]) or "stop" for i in normal), inputs=self.inputs,
            guard=guard, origin=q, simulation=self.simulation, seen=self.seen,
        )  # fmt: skip

    def _kept(self, found: _Rows, element: IntArray, effect: Array) -> IntArray:
        """Which variables the system has: of contacts asked for, and of friction that moves something.

        effect (nv, m): velocities by each variable.
        """
        out = []
        still = np.abs(effect).max(axis=0, initial=0.0) <= STILL * np.abs(effect).max(initial=0.0)
        for i, row in enumerate(np.asarray(found.problem.first_row)[: len(found.problem.elements)]):
            columns = list(np.flatnonzero(element == i))
            bodies = found.bodies[row] if columns else ()
            if self.bodies is not None and bodies and not self.bodies.intersection(bodies):
                continue
            if len(columns) > 2:  # normal, corners, sliding
                corners = [j for j in columns[1:-1] if not still[j]]
                columns = [columns[0], *corners, columns[-1]] if corners else columns[:1]
            out += columns
        return np.array(out, dtype=np.int64)

    def _moved(self, q: Array, v: Array) -> _Move:
        """Q ⊕ δq ⊕ h v⁺ ⊖ q, affine in δq and v⁺, near velocities v (nv,)."""
        model, h, n = self.model, self.dt, self.model.nv
        if model.nq == n:
            return _Move(np.eye(n), h * np.eye(n), np.zeros(n))
        Tq, Tv = np.zeros((n, n)), np.zeros((n, n))

        def end(dq: Array, v: Array) -> Array:
            return difference(model, q, integrate(model, integrate(model, q, dq), v, h))

        for j in range(n):
            e = np.zeros(n)
            e[j] = SMALL
            Tq[:, j] = (end(e, v) - end(-e, v)) / (2.0 * SMALL)
            Tv[:, j] = (end(0.0 * e, v + e) - end(0.0 * e, v - e)) / (2.0 * SMALL)
        return _Move(Tq, Tv, end(np.zeros(n), v) - Tv @ v)


class _Rows(NamedTuple):
    """Rows of a step: directions (r, nv), gaps (r,), bodies of each, the problem, impulses held (nv,)."""

    J: Array
    gap: Array
    bodies: list[tuple[str, ...]]
    problem: ContactProblem
    held: Array


class _Affine(NamedTuple):
    """Numbers that are affine in y = (δq, v, u)."""

    slope: Array
    value: Array

    def by(self, J: Array) -> _Affine:
        return _Affine(J @ self.slope, J @ self.value)

    def plus(self, slope: Array, value: Array) -> _Affine:
        return _Affine(self.slope + slope, self.value + value)


class _Move(NamedTuple):
    """How coordinates move: by δq, by v⁺, and else."""

    place: Array
    velocity: Array
    rest: Array

    def of(self, after: _Affine) -> _Affine:
        """δq⁺ from v⁺."""
        out = after.by(self.velocity)
        out.slope[:, : len(self.rest)] += self.place
        out.value[:] += self.rest
        return out


def _balance(problem: ContactProblem, W: Array) -> Array:
    """Impulses of equations by what they must balance, zero elsewhere, shape (r, r)."""
    rows = [
        row + i
        for row, e in zip(problem.first_row, problem.elements, strict=False)
        if isinstance(e, Bilateral)
        for i in range(e.rows)
    ]
    out = np.zeros_like(W)
    if rows:
        out[np.ix_(rows, rows)] = np.linalg.pinv(W[np.ix_(rows, rows)], rcond=REDUNDANT)
    return out
