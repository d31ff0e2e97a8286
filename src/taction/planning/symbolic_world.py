"""The step of a world in CasADi symbols: what a simulation does in a step, as equations to optimise over.

What it makes, for states x = (q ⊖ q₀, v), inputs u and contact variables z ≥ 0 of one step of length h:

    M̂(q) (v⁺ − v) − h (S u + b − K (q + h v) − D v − c(q, v̄)) − J(q)ᵀ Λ(z) = 0,      q⁺ = q ⊕ h v⁺,      (1)
    v̄ = v + ½ y,      M̂ y = −h (c(q, v̄) − c(q, 0)),                                                      (2)
    0 ≤ z  ⊥  η(x, z, v⁺) ≥ 0,                                                                           (3)

with M̂ = M + h D + h² K the inertia of the step, c the bias forces, K, D, b the joints' springs and dampers,
and J the rows of contacts and stops. y is what Coriolis forces alone do in the step, as in
`taction.steppers.coordinates.reduced`: an unknown of its own, where there are such forces. A body that hangs
on nothing has none; it flies freely after the step, from velocities that are unknowns of their own and take
the place of v⁺ in (1) and (3) (`taction.dynamics.free_flight`). With o = g/h for gaps g and 0 for friction,
u⁺ = J v⁺ + o, and the variables and slacks (3) are those of `taction.contact.pyramid`:

| element | variables | slacks |
|---|---|---|
| contact | Λ_N; β_j of corners d_j; λ | u_N⁺; d_j·u_T⁺ + λ; Λ_N − Σ β_j |
| stop | Λ | u⁺ |
| dry friction ±c of a joint | y = Λ + c; s | u⁺ + s; 2 c − y |

These are the equations of the simulator under contact="lcp" and stepper="stewart-trinkle".

Method
1. M (v⁺ − v)/h + c is one pass of the recursive Newton–Euler algorithm with accelerations (v⁺ − v)/h: no mass
   matrix is ever formed (`taction.planning.symbolic_tree`).
2. Contacts are closed forms of the shapes (`taction.planning.symbolic_shapes`), with points on each body's
   own surface. Jᵀ Λ is one reverse sweep through the velocities J v⁺, so J is not formed either.
3. Units of impulses are those of the pyramid at q₀, so that all z and η are in √J with entries near one.

Departures: a simulation lets gaps below a micrometre be, levels points of a face by as little, takes an
overlap as closed and corrects positions afterwards, and finds y to 1e-5 of the velocities. Here g is what it
is, so that an overlap leaves by the velocities of the next step, and y is exact. Corners of the pyramid that
move nothing are left out. Contacts are those in reach at q₀: what comes into reach later is not seen.

Cost: some 300 operations per link and 100 per contact.

References: [StewartTrinkle1996]; [PosaCantuTedrake2014]; [LuhWalkerPaul1980].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction._core.jit import plain
from taction._core.names import instead
from taction.contact.elements import Contact
from taction.contact.pyramid import corners
from taction.geometry.filters import candidate_pairs
from taction.planning.symbolic_shapes import find_form
from taction.planning.symbolic_tree import Placed, SymbolicTree, casadi
from taction.sim.simulation import Simulation
from taction.steppers.elements import UPRIGHT, pair_surface

STILL = 1e-12  # of the largest effect of a row: below, friction moves nothing
LOOKS = 4  # places about q₀ where effects of friction are looked at
SPREAD = 0.3  # how far those places are from it [m or rad]
surface_of = plain(pair_surface)


class Touch(NamedTuple):
    """A possible contact in symbols: bodies, gap, normal, points on both surfaces, links, coefficients."""

    bodies: tuple[str, str]
    gap: Any
    normal: Any
    on_first: Any
    on_second: Any
    links: tuple[int, int]
    axis: Any  # (3, 1) that fixes t₁, and how near to the normal it may be
    limit: float
    law: Contact


class SymbolicWorld:
    """The step of a world near a configuration.

    Args:
        simulation: of the world, under contact="lcp" and stepper="stewart-trinkle".
        origin: q₀ from which positions are counted, shape (nq,).
        inputs: names of joints with one freedom whose forces are the inputs; all such joints by default.
        has_friction: contacts rub, with a pyramid; else they are smooth.
        sides: of the pyramid, an even number.
        reach: distance at q₀ up to which contacts and stops are in [m or rad].
        bodies: contacts of these alone, by name; of all by default.

    Attributes:
        step: CasADi function (x, u, z, y, x⁺) → residuals of (1) and (2), η (l,).
        inertia: CasADi function x → M (nv, nv), bias forces (nv,).
        rows: CasADi function x → gaps (k,) of contacts then stops, rows J: normal, t₁, t₂ of each contact,
            then one per stop and per joint with dry friction.
        contacts: names of the contacts and stops, k of them.
        sizes: numbers of states, inputs and contact variables.
        spare: length of y, with velocities of bodies that fly alone; zero where there is neither.

    Raises:
        BadInput: a part of the world has no equations here, or CasADi is missing.
    """

    def __init__(
        self,
        simulation: Simulation,
        origin: ArrayLike,
        *,
        inputs: Sequence[str] | None = None,
        has_friction: bool = True,
        sides: int = 4,
        reach: float = 1.0,
        bodies: Sequence[str] | None = None,
    ) -> None:
        self._ca = casadi()
        instance(simulation, Simulation, "simulation")
        if simulation.world is None or (simulation.contact, simulation.stepper) != ("lcp", "stewart-trinkle"):
            raise BadInput("symbolic world: needs a world under contact='lcp' and stepper='stewart-trinkle'")
        self.simulation, self.world, self.dt = simulation, simulation.world, simulation.dt
        self.model, self.scene = simulation.model, simulation.engine.scene()
        self._refuse()
        self.origin = self.model.check_q(origin, "origin")
        self._tree = SymbolicTree(self.model, self.origin)
        single = {joint.name: joint.iv for joint in self.model.joints if joint.kind.nv == 1}
        names = list(single) if inputs is None else list(inputs)
        for name in names:
            if name not in single:
                raise BadInput(f"inputs: no joint with one freedom {name!r}; {instead(name, list(single))}")
        self.inputs, self._dofs = tuple(names), [single[n] for n in names]
        if isinstance(sides, bool) or not isinstance(sides, int) or sides < 4 or sides % 2:
            raise BadInput(f"sides: must be an even number, at least 4, got {sides!r}")
        known = (*self.model.body_names, "world")
        for name in bodies or ():
            if name not in known:
                raise BadInput(f"bodies: no body {name!r}; {instead(name, known)}")
        self._reach, self._bodies = number(reach, "reach"), None if bodies is None else frozenset(bodies)
        self._sides = sides if has_friction else 0
        self._build()

    def _refuse(self) -> None:
        """One line for what (1) does not have."""
        scene, name = self.scene, self.model.name
        for what, is_there in (
            ("loops", len(scene.joints.loops.turning)),
            ("mimic joints", len(scene.joints.follower)),
            ("tendons", len(scene.transmissions)),
            ("servos", len(scene.servos)),
            ("weights taken off", len(scene.lifts.link)),
            ("viscous friction of contacts", scene.surfaces.viscous.any()),
            ("absolute coordinates", len(scene.motors)),
        ):
            if is_there:
                raise BadInput(f"{name}: {what} are not among the equations of direct transcription")

    # ----- contacts ---------------------------------------------------------------------------------------

    def _touches(self, placed: Placed) -> list[Touch]:
        """Contacts of all pairs that may collide, in the order of a simulation."""
        ca, world, scene = self._ca, self.world, self.scene
        colliders, engine = scene.colliders, self.simulation.engine
        allowed = candidate_pairs(engine.filter_of(engine.start(self.origin, None)))
        rule, out = engine.passes[-1].combine, []
        R, p = placed[0], placed[1]
        axes = [R[k] @ colliders.axes[i].reshape(3, 3) for i, k in enumerate(colliders.link)]
        centre = [p[k] + R[k] @ colliders.centre[i] for i, k in enumerate(colliders.link)]
        for a, b in allowed.tolist():
            bodies = world.body_name(a), world.body_name(b)
            if self._bodies is not None and not self._bodies.intersection(bodies):
                continue
            form, is_swapped, what = find_form(int(colliders.kind[a]), int(colliders.kind[b]))
            s, t = (b, a) if is_swapped else (a, b)
            if form is None:
                self._refuse_pair(a, b, what)
                continue
            forward, lateral, backward, bounce, hold, of = surface_of(scene.surfaces, rule, a, b)
            if bounce or hold:
                raise BadInput(f"{bodies[0]} - {bodies[1]}: bouncing and adhesion have no equations here")
            fixed = (ca.SX([1.0, 0.0, 0.0]), 0.95) if of < 0 else (axes[of][:, 0], UPRIGHT)
            law = Contact(forward, lateral, backward)
            sizes = colliders.size[s], colliders.size[t]
            for n, x, gap in form(ca, (axes[s], centre[s], sizes[0]), (axes[t], centre[t], sizes[1])):
                normal = -n if is_swapped else n
                links = int(colliders.link[a]), int(colliders.link[b])
                half = 0.5 * gap * normal
                out.append(Touch(bodies, gap, normal, x + half, x - half, links, *fixed, law))
        return out

    def _refuse_pair(self, a: int, b: int, what: str) -> None:
        """One line for a pair of shapes without a closed form, if it can be in reach."""
        ca, colliders, out = self._ca, self.scene.colliders, []
        R, p, *_ = self._tree.place([ca.SX(float(value)) for value in self.origin])
        for i in (a, b):
            k = int(colliders.link[i])
            out.append(np.array(ca.DM(p[k] + R[k] @ colliders.centre[i])).ravel())
        apart = float(np.linalg.norm(out[0] - out[1])) - colliders.bound[a] - colliders.bound[b]
        if not apart > self._reach:
            names = f"{self.world.shape_names[a]} - {self.world.shape_names[b]}"
            raise BadInput(f"{names}: direct transcription has no equations of {what}; leave the pair out")

    def _frame(self, touch: Touch) -> Any:
        """Columns (n, t₁, t₂); see `taction.steppers.elements.contact_frame`."""
        ca, n = self._ca, touch.normal
        spare = ca.if_else(ca.fabs(n[0]) < 0.9, ca.SX([1.0, 0.0, 0.0]), ca.SX([0.0, 1.0, 0.0]))
        axis = ca.if_else(ca.fabs(ca.dot(n, touch.axis)) > touch.limit, spare, touch.axis)
        t = axis - ca.dot(n, axis) * n
        t1 = t / ca.sqrt(ca.dot(t, t))
        return ca.horzcat(n, t1, ca.cross(n, t1))

    def _velocities(self, v: Any, touches: list[Touch], placed: Placed) -> Any:
        """Velocities (n, t₁, t₂) of all contacts, (3 k,)."""
        ca, p, out = self._ca, placed[1], []
        w, s = self._tree.speeds(v, placed)
        for touch in touches:
            at = [
                s[k] + ca.cross(w[k], x - p[k])
                for k, x in zip(touch.links, (touch.on_first, touch.on_second), strict=True)
            ]
            out.append(self._frame(touch).T @ (at[0] - at[1]))
        return ca.vertcat(ca.SX(0, 1), *out)

    # ----- the step ---------------------------------------------------------------------------------------

    def _stops(self) -> list[tuple[int, float, float]]:
        """Freedom, sign and limit of all stops in reach."""
        joints, out = self.scene.joints, []
        for d, k in enumerate(self.scene.law.iq):
            for sign, limit in ((1.0, float(joints.lower[d])), (-1.0, float(joints.upper[d]))):
                if k >= 0 and math.isfinite(limit) and sign * (self.origin[k] - limit) < self._reach:
                    out.append((d, sign, limit))
        return out

    def _near(self, x: Any, placed: Placed) -> list[Touch]:
        """Contacts in reach at q₀."""
        ca, touches = self._ca, self._touches(placed)
        gaps = ca.Function("gaps", [x], [ca.vertcat(ca.SX(0, 1), *(touch.gap for touch in touches))])
        is_near = np.array(gaps(np.zeros(x.shape[0]))).ravel() < self._reach
        return [touch for touch, near in zip(touches, is_near, strict=True) if near]

    def _build(self) -> None:
        ca, tree, h, n, law = self._ca, self._tree, self.dt, self.model.nv, self.scene.law
        x, u, after = ca.SX.sym("x", 2 * n), ca.SX.sym("u", len(self.inputs)), ca.SX.sym("after", 2 * n)
        dq, v = x[:n], x[n:]
        q = tree.configuration(dq)
        placed = tree.place(q)
        at = ca.vertcat(*[q[k] if k >= 0 else ca.SX(0.0) for k in law.iq])
        touches, stops = self._near(x, placed), self._stops()
        dry = [d for d in range(n) if self.scene.joints.dry[d] > 0.0]
        self.contacts = (*(" - ".join(touch.bodies) for touch in touches), *("stop" for _ in stops))

        def velocities(v: Any) -> Any:
            own = [sign * v[d] for d, sign, _ in stops] + [v[d] for d in dry]
            return ca.vertcat(self._velocities(v, touches, placed), *own)

        gap = [touch.gap for touch in touches] + [sign * (at[d] - limit) for d, sign, limit in stops]
        rate, mean = ca.SX.sym("rate", n), ca.SX.sym("mean", n)
        tau = tree.inverse_dynamics(mean, rate, placed)

        def forces(mean_value: Any, rate_value: Any) -> Any:
            both = ca.vertcat(mean_value, rate_value)
            return ca.substitute(tau, ca.vertcat(mean, rate), both)

        none = ca.SX.zeros(n)
        self.inertia = ca.Function("inertia", [x], [ca.jacobian(tau, rate), forces(v, none)])
        self.rows = ca.Function("rows", [x], [ca.vertcat(ca.SX(0, 1), *gap), ca.jacobian(velocities(v), v)])
        flying = [i for i in range(1, self.model.n_links) if self.scene.chains.alone[i]]
        free = [d for i in flying for d in tree.freedoms(i)]
        on_trees = np.array([d not in free for d in range(n)], dtype=float)
        is_turning = bool(ca.depends_on(forces(on_trees * mean, none), mean))
        change, own = ca.SX.sym("y", n if is_turning else 0), ca.SX.sym("own", len(free))
        new = ca.vertcat(*[own[free.index(d)] if d in free else after[n + d] for d in range(n)])
        middle = on_trees * (v + 0.5 * change if is_turning else v)
        z, impulse, slack = self._variables(touches, len(stops), dry, velocities(new), gap)
        force = law.b - law.K * (at + h * v) - law.D * v
        for k, d in enumerate(self._dofs):
            force[d] += u[k]
        extra = h * law.D + h * h * law.K
        pushed = ca.jtimes(velocities(new), new, impulse, True)
        balance = h * (forces(middle, (new - v) / h) - force) + extra * (new - v) - pushed
        residual = [tree.apart(dq, after[:n], h * new), balance]
        for i in flying:
            where, turned = tree.flight(i, dq, new, after[:n], after[n:], h)
            residual[0][tree.freedoms(i)] = where
            residual.append(turned)
        if is_turning:
            residual.append(h * (forces(middle, change / h) - forces(none, none)) + extra * change)
        y = ca.vertcat(change, own)
        self.sizes, self.spare = (2 * n, len(self.inputs), z.shape[0]), y.shape[0]
        self.step = ca.Function("step", [x, u, z, y, after], [ca.vertcat(*residual), slack])

    def _variables(
        self, touches: list[Touch], stops: int, dry: list[int], u: Any, gap: list[Any]
    ) -> tuple[Any, Any, Any]:
        """Variables z, impulses of all rows, and slacks η, of velocities u after the step."""
        ca, h = self._ca, self.dt
        unit, effect = self._units(len(touches), stops + len(dry))
        z: list[Any] = []
        impulse: list[Any] = []
        slack: list[Any] = []

        def new() -> Any:
            z.append(ca.SX.sym(f"z{len(z)}"))
            return z[-1]

        for k, touch in enumerate(touches):
            m, normal, tangent = unit[k], new(), [ca.SX(0.0), ca.SX(0.0)]
            slack.append(m * (gap[k] / h + u[3 * k]))
            shape = corners(touch.law, self._sides) if self._sides else np.zeros((0, 2))
            moving = [d for d in shape if np.abs(d @ effect[k]).max(initial=0.0) > STILL]
            shares = [new() for _ in moving]
            if moving:
                sliding = new()
                slack += [m * (d[0] * u[3 * k + 1] + d[1] * u[3 * k + 2]) + sliding for d in moving]
                slack.append(normal - sum(shares))
                tangent = [
                    sum(d[c] * share for d, share in zip(moving, shares, strict=True)) for c in range(2)
                ]
            impulse += [m * normal, m * tangent[0], m * tangent[1]]
        for k in range(stops + len(dry)):
            m, row, variable = unit[len(touches) + k], 3 * len(touches) + k, new()
            if k < stops:
                slack.append(m * (gap[len(touches) + k] / h + u[row]))
                impulse.append(m * variable)
                continue
            bound, sliding = h * self.scene.joints.dry[dry[k - stops]], new()
            slack += [m * u[row] + sliding, 2.0 * bound / m - variable]
            impulse.append(m * variable - bound)
        empty = ca.SX(0, 1)
        return ca.vertcat(empty, *z), ca.vertcat(empty, *impulse), ca.vertcat(empty, *slack)

    def _units(self, contacts: int, others: int) -> tuple[Array, Array]:
        """Units of impulses at q₀; J_T of contacts where they were looked at, (k, 2, nv · looks)."""
        n, law, h = self.model.nv, self.scene.law, self.dt
        rng = np.random.default_rng(0)
        effect = []
        for look in range(LOOKS):
            x = np.concatenate([SPREAD * rng.uniform(-1.0, 1.0, n) * (look > 0), np.zeros(n)])
            J = np.array(self.rows(x)[1]).reshape(3 * contacts + others, n)
            if look == 0:
                M = np.array(self.inertia(x)[0]).reshape(n, n) + np.diag(h * law.D + h * h * law.K)
                W = np.einsum("ij,ji->i", J, np.linalg.solve(M, J.T))
            effect.append(J[: 3 * contacts].reshape(contacts, 3, n)[:, 1:])
        mean = np.concatenate([W[: 3 * contacts].reshape(-1, 3).mean(axis=1), W[3 * contacts :]])
        return 1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0)), np.concatenate(effect, axis=2)
