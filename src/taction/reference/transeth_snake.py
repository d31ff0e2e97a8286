"""The snake robot exactly as its document simulates it: absolute coordinates, midpoint rule, Modified Newton.

What it is: a second, independent implementation of the robot of `taction.robots.snake`. Nothing of the
package's kinematics, dynamics, collision, steppers or solvers is used; the equations of [Transeth2006] are
written one by one in NumPy, with their numbers. It reproduces the document, and judges the general simulator.

Notation, the document's: link i of n has position r_G, Euler parameters p = (e_0, e), velocity v_G in world
axes, angular velocity ω in link axes; e_z of a link is its axis; F, R front and rear sphere, at ±L_GS; g
gaps, γ velocities, Λ impulses of the step; A, M, E beginning, middle and end of the step; N, T, J normal,
tangential, joint. Contacts are counted F1 … Fn, R1 … Rn.

One step
1. Midpoint (54). F is linear in p, ṗ = ½ Ω(ω) p with Ω² = −|ω|² 1, so with c = Δt/4 the implicit equation
   has the solution p_M = (1 + c Ω_A) p_A / (1 + c²|ω_A|²): no iteration. The explicit reading, F(q_A), is the
   same without the denominator. The two p_M are parallel, hence so are the two p_E = (1 + c Ω_E) p_M, and
   the normalisation of VI-C makes them equal: both readings are one scheme, to rounding. With Ω_E = Ω_A the
   implicit one is Cayley's map and keeps |p| = 1 by itself.
2. Active contacts: g_N(q_M) ≤ 0. Matrices W at q_M, forces h at u_A, torques of the joints.
3. The joint impulses are eliminated (64): with W = [W_N W_T] of the active contacts,
       γ = S Λ + c,    S = WᵀM⁻¹W − WᵀM⁻¹W_J (W_JᵀM⁻¹W_J)⁻¹ W_JᵀM⁻¹W,
   where S and c do not change within a step and are computed once; (64)–(66) per iteration is the same
   arithmetic in another order. Then (67), (68) until (70).
4. u_E from (66), q_E from (63), and the projection of VI-C: unit quaternions; from link 2 on, each link is
   turned about its axis e_z until (9) holds, then moved until (8) holds.

Order: 1 in Δt, both readings of (54). Positions are a trapezoidal rule, but h and the torques are taken at
u_A, and W_J(q_M)ᵀ u_E = 0 pairs a velocity with a position half a step older. Ballistic flight of one link is
exact.

Limits
* Contact is on velocity level, so a sphere stays as deep in the floor as it was when it was first seen there,
  at most |v| Δt. Nothing brings it back.
* r_N and r_T are in kg and have to fit the masses: r_N < 2/λ_max(S_NN), which is 4.4 kg for the lying robot
  of Section VII. Larger ones diverge, and then a step raises `IntegrationError`.
* The 2n normal impulses of a lying robot are not unique, since n + 1 freedoms lift it. Velocities converge
  long before impulses do; ``change`` of a step is how far (70) came.
* Torques are explicit: the printed gains need Δt < 2/λ_max(K_d A⁻¹), 1.19 ms, A the inertia of the joints.
* The projection keeps link 1, so it moves the centre of gravity: by O(Δt) over a run, even in free flight.

Departures
* (10), (16), (18): printed with the velocity of the sphere's *centre*; kept (``friction_at="centre"``). The
  body-fixed contact point also has −L_SC ω × e_z: ``friction_at="contact"``.
* (47), (50), (51): with (47) as printed, +τ_h turns link i about its e_y and link i + 1 back, which reduces
  α_h; so +K_p(α − α_r) restores and is kept. The printed damping terms −K_d(ω_i)_2 and +K_d(ω_{i+1})_1 are
  one half each of +K_d α̇, with the right sign, but they answer to the rotation of the whole snake. Default
  is +K_d α̇ (``damping="joint"``); ``damping="link"`` is as printed.
* (21) has no direction for a vertical link; the limit for a link that was pitched up from lying is used.
* (56), (30), (64), (8) and others have slips that do not leave a choice: see the page on the snake.
* R(q_M) is computed from p_M/|p_M|, as a rotation.
* ε of (70) is not printed.

References: [Transeth2006]; [AlartCurnier1991] for the iteration.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, IntegrationError
from taction.contact.elements import Bilateral, Contact, Element
from taction.contact.problem import ContactProblem
from taction.control.waves import MotionPattern
from taction.reference.friction_ellipse import Ellipses
from taction.reference.transeth_data import SnakeParameters, SnakeRun, SnakeState, SnakeStep
from taction.reference.transeth_kinematics import SnakeKinematics, quaternion_rates, rotations

ROUGH = 1e-3  # change relative to the impulses above which the limit of iterations is a failure


class TransethSnake(SnakeKinematics):
    """The robot and its simulation, as printed.

    Args:
        parameters: numbers and readings; those of Section VII by default.
    """

    def __init__(self, parameters: SnakeParameters | None = None) -> None:
        super().__init__(parameters or SnakeParameters())
        p = self.parameters
        self.mass = p.per_link("mass")
        transverse, axial = p.per_link("inertia_transverse"), p.per_link("inertia_axial")
        self.inertia = np.stack([transverse, transverse, axial], axis=1)
        self.M = np.hstack([np.repeat(self.mass[:, None], 3, axis=1), self.inertia])  # (34), (35): diagonal
        self._inverse = 1.0 / self.M.ravel()

    # -- states ------------------------------------------------------------------------------------------

    def drop_state(self, angle: float = math.pi / 6.0, height: float = 0.38) -> SnakeState:
        """Straight robot at rest, inclined and above the floor, as before the drop of Section VII-A.

        Link 1 is the lowest one: it is the link whose height Fig. 6 shows, and "z_1" is the third component
        of its r_G. So z_1 is the height of its centre of gravity. The robot rises along the world's +x; e_y
        of all links is in the vertical plane, so that α_h bends sideways.

        Args:
            angle: of the robot against the floor [rad]; 0 lies.
            height: z_1 [m].
        """
        half = 0.5 * angle
        # (½, ½, ½, ½) lays e_z along x with e_y up; then −angle about the world's y
        c, s = math.cos(half), math.sin(half)
        q = np.zeros((self.n, 7))
        q[:, 3:] = 0.5 * np.array([c + s, c - s, c - s, c + s])
        q[0, 2] = height
        return self.at_rest(self.project(q))

    def at_rest(self, q: ArrayLike) -> SnakeState:
        """State without velocity and impulses at coordinates q (n, 7)."""
        q = as_float(q, (self.n, 7), "q")
        return SnakeState(q, np.zeros((self.n, 6)), np.zeros((2 * self.n, 3)))

    # -- forces ------------------------------------------------------------------------------------------

    def control(self, q: Array, u: Array, angles: Array) -> Array:
        """Torques τ_h, τ_v of the joints (n−1, 2) [N m] that lead to the angles (n−1, 2): Eqs. (50), (51).

        Their sign is that of (47): positive turns link i about +e_y^i, +e_x^{i+1} and link i+1 the other way.
        """
        p, R = self.parameters, rotations(q[:, 3:])
        K_p = np.array([p.horizontal.kp, p.vertical.kp])
        K_d = np.array([p.horizontal.kd, p.vertical.kd])
        if p.damping == "joint":
            rate = self._joint_rates(R, u)
        else:
            rate = np.stack([-u[:-1, 4], u[1:, 3]], axis=1)
        return K_p * (self._joint_angles(R) - angles) + K_d * rate

    def applied_torques(self, q: Array, torques: Array) -> Array:
        """τ_C, (n, 6), of joint torques τ_h, τ_v (n−1, 2): Eqs. (47)–(49)."""
        return self._applied(rotations(q[:, 3:]), torques)

    def _applied(self, R: Array, torques: Array) -> Array:
        out = np.zeros((self.n, 6))
        h, v = torques[:, :1], torques[:, 1:]
        out[:-1, 4] += h[:, 0]
        out[1:, 3] -= v[:, 0]
        out[1:, 3:] -= h * np.einsum("iab,ia->ib", R[1:], R[:-1, :, 1])  # e_y^{i−1} in axes of link i
        out[:-1, 3:] += v * np.einsum("iab,ia->ib", R[:-1], R[1:, :, 0])  # e_x^{i+1} in axes of link i
        return out

    def smooth_forces(self, u: Array) -> Array:
        """Weight and gyroscopic moments, h of (33), (n, 6)."""
        h = np.zeros((self.n, 6))
        h[:, 2] = -self.parameters.gravity * self.mass
        (x, y, z), (a, b, c) = u[:, 3:].T, self.inertia.T
        h[:, 3], h[:, 4], h[:, 5] = (b - c) * y * z, (c - a) * z * x, (a - b) * x * y  # −ω × Θω
        return h

    def energies(self, q: Array, u: Array) -> tuple[float, float]:
        """Kinetic and potential energy [J], the latter from the floor."""
        potential = self.parameters.gravity * float(self.mass @ q[:, 2])
        return 0.5 * float((self.M * u * u).sum()), potential

    def momenta(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Linear momentum (3,) [N s], and angular momentum about the origin (3,) [N m s], in world axes."""
        linear = self.mass[:, None] * u[:, :3]
        spin = np.einsum("iab,ib->ia", rotations(q[:, 3:]), self.inertia * u[:, 3:])
        return linear.sum(axis=0), (np.cross(q[:, :3], linear) + spin).sum(axis=0)

    def centre(self, q: Array) -> Array:
        """Centre of gravity of the robot [m], (3,); (…, 3) for coordinates (…, n, 7)."""
        return np.tensordot(q[..., :3], self.mass, axes=([-2], [0])) / self.mass.sum()

    # -- one step ----------------------------------------------------------------------------------------

    def contact_problem(
        self, state: SnakeState, torques: ArrayLike | None = None, dt: float = 1e-3
    ) -> tuple[ContactProblem, IntArray]:
        """The problem (57)–(62) of one step for any solver, and the spheres in contact (a,).

        Elements: a contact per active sphere, frame (up, along the link, across it), then 4 (n−1) bilateral
        rows.
        """
        _, R, free, active = self._begin(state, self._torques(torques), dt)
        rows = np.vstack([self.contact_rows(R, active), self.joint_rows(R)])
        W = (rows * self._inverse) @ rows.T
        mu = self.parameters.friction
        elements: list[Element] = [Contact(mu[0], lateral=mu[1]) for _ in active]
        if self.n > 1:
            elements.append(Bilateral(4 * (self.n - 1)))
        return ContactProblem(0.5 * (W + W.T), rows @ free, elements, name="snake"), active

    def step(self, state: SnakeState, torques: ArrayLike | None = None, dt: float = 1e-3) -> SnakeStep:
        """One step of dt [s] with joint torques τ_h, τ_v (n−1, 2) [N m], none by default.

        Raises:
            IntegrationError: the Modified Newton algorithm diverges, or is far from a solution at its limit.
        """
        middle, R, free, active = self._begin(state, self._torques(torques), dt)
        J = self.joint_rows(R)
        C = self.contact_rows(R, active)
        JM = J * self._inverse
        if self.n > 1:
            # (W_JᵀM⁻¹W_J)⁻¹ W_Jᵀ [M⁻¹W, u_free]: all that (64) needs in any iteration
            K = np.linalg.solve(JM @ J.T, np.column_stack([JM @ C.T, J @ free]))
        else:
            K = np.zeros((0, len(C) + 1))
        impulse = np.zeros_like(state.impulse)
        count, change, contact = 0, 0.0, np.zeros(0)
        if len(active):
            S = (C * self._inverse) @ C.T - (C @ JM.T) @ K[:, :-1]
            c = C @ free - (C @ JM.T) @ K[:, -1]
            # the document's warm start: impulses of the last step, zero where it was open
            contact, count, change = self._modified_newton(S, c, state.impulse[active].ravel())
            impulse[active] = contact.reshape(-1, 3)
        joint = -K[:, -1] - K[:, :-1] @ contact  # (64)
        u = (free + self._inverse * (J.T @ joint + C.T @ contact)).reshape(self.n, 6)  # (66)
        end = SnakeState(self.project(self._moved(middle, middle, u, 0.5 * dt)), u, impulse)  # (63)
        return SnakeStep(end, active, joint.reshape(-1, 4), count, change)

    def _torques(self, torques: ArrayLike | None) -> Array | None:
        return None if torques is None else as_float(torques, (self.n - 1, 2), "torques")

    def _begin(
        self, state: SnakeState, torques: Array | None, dt: float
    ) -> tuple[Array, Array, Array, IntArray]:
        """q_M, its rotations, the velocity (6n,) without impulses of contacts and joints, active spheres."""
        if not 0.0 < dt < math.inf:
            raise BadInput(f"dt: {dt!r} must be above 0 and finite")
        q, u = state.q, state.u
        middle = self._moved(q, q, u, 0.5 * dt)  # (54) with F(q_A)
        if self.parameters.midpoint == "implicit":
            turn = 0.25 * dt * u[:, 3:]
            middle[:, 3:] /= 1.0 + (turn * turn).sum(axis=1)[:, None]
        R = rotations(middle[:, 3:])
        force = self.smooth_forces(u)
        if torques is not None:
            force += self._applied(R, torques)
        free = (u + dt * force / self.M).ravel()
        return middle, R, free, np.flatnonzero(self.placed_gaps(middle, R) <= 0.0)

    @staticmethod
    def _moved(q: Array, at: Array, u: Array, time: float) -> Array:
        """Value of q + time · F(at) u, (n, 7): Eqs. (55), (56)."""
        out = np.empty_like(q)
        out[:, :3] = q[:, :3] + time * u[:, :3]
        out[:, 3:] = q[:, 3:] + time * quaternion_rates(at[:, 3:], u[:, 3:])
        return out

    def _modified_newton(self, S: Array, c: Array, impulse: Array) -> tuple[Array, int, float]:
        """Impulses (3a,) with the laws (59), (60) at γ = S Λ + c, iterations, last change: (67)–(70)."""
        p = self.parameters
        a = len(c) // 3
        order = np.arange(3 * a).reshape(a, 3).T.ravel()  # all normal, all along, all across
        S, c, x = S[np.ix_(order, order)], c[order], impulse[order]
        r = np.repeat([p.r_N, p.r_T, p.r_T], a)
        ellipses = Ellipses(p.friction, a)
        new = np.empty_like(x)
        with np.errstate(all="ignore"):  # a diverging iteration may overflow, and is reported below
            for k in range(1, p.max_iterations + 1):  # noqa: B007
                y = x - r * (S @ x + c)  # (69)
                np.maximum(y[:a], 0.0, out=new[:a])  # (67)
                new[a : 2 * a], new[2 * a :] = ellipses.project(y[a : 2 * a], y[2 * a :], new[:a])  # (68)
                step = new - x
                x, new = new, x
                change = math.sqrt(step[:a] @ step[:a]) + math.sqrt(step[a:] @ step[a:])
                if not p.epsilon <= change < math.inf:  # (70)
                    break
            size = math.sqrt(x @ x)
        if not change < max(p.epsilon, ROUGH * size) < math.inf:
            raise IntegrationError(
                f"Modified Newton: the impulses of {a} contacts still change by {change:.1e} N s after {k} "
                f"iterations with r_N = {p.r_N:g} kg and r_T = {p.r_T:g} kg; smaller ones may converge"
            )
        out = np.empty_like(x)
        out[order] = x
        return out, k, change

    # -- a motion ----------------------------------------------------------------------------------------

    def run(
        self,
        duration: float,
        dt: float = 1e-3,
        reference: MotionPattern | None = None,
        *,
        state: SnakeState | None = None,
        start: float = 0.0,
    ) -> SnakeRun:
        """Simulate.

        Args:
            duration: [s], rounded to whole steps, at least one.
            dt: step [s].
            reference: angles that the joint controllers follow; None turns them off.
            state: where to begin; `drop_state` by default.
            start: time at the beginning [s], which the reference sees.

        Raises:
            IntegrationError: a step did not converge; the message says when.
        """
        if not (0.0 < duration < math.inf and 0.0 < dt < math.inf):
            raise BadInput(f"duration {duration!r} and dt {dt!r} must be above 0 and finite")
        state = self.drop_state() if state is None else state
        count = max(1, round(duration / dt))
        t: Array = start + dt * np.arange(count + 1, dtype=np.float64)
        q, u = np.empty((count + 1, self.n, 7)), np.empty((count + 1, self.n, 6))
        normal, gap = np.zeros((count + 1, 2 * self.n)), np.zeros(count + 1)
        kinetic, potential = np.empty(count + 1), np.empty(count + 1)
        iterations, change = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1)
        for k in range(count + 1):
            q[k], u[k], normal[k] = state.q, state.u, state.impulse[:, 0]
            gap[k] = np.abs(self.joint_gaps(state.q)).max(initial=0.0)
            kinetic[k], potential[k] = self.energies(state.q, state.u)
            if k == count:
                break
            torques = None
            if reference is not None:
                torques = self.control(state.q, state.u, reference.at(float(t[k]), self.n - 1)[0])
            try:
                state, _, _, iterations[k + 1], change[k + 1] = self.step(state, torques, dt)
            except IntegrationError as error:
                raise IntegrationError(f"at t = {t[k]:g} s: {error}") from None
        return SnakeRun(t, q, u, normal, gap, iterations, change, kinetic, potential)

    def last_state(self, run: SnakeRun) -> SnakeState:
        """The end of a run, to go on from, without the impulses of its last step."""
        return SnakeState(run.q[-1].copy(), run.u[-1].copy(), np.zeros((2 * self.n, 3)))
