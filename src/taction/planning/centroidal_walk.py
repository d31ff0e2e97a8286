"""A robot that walks by plans of a body on feet, which decide at each time which feet carry.

What it does, every ``plan_dt``: the robot at its state becomes a body on feet
(`taction.planning.centroidal`), one system per step of the horizon, and a planning method looks for forces of
the legs. Between two plans torques follow the first step by the program of `taction.control.whole_body`.

Notation: c, ċ centre of mass; T_s how long a foot of the gait stands; a bar, a target.

Method
1. *Targets.* The centre of mass goes ahead with the speed, level and upright. The heights of the feet are
   those of a gait. That is a wish: which feet carry, and when one leaves the ground or lands, follows from
   the plan, whose heights and impulses are complementary.
2. *Footholds.* A foot that flies, or will, lands where it stands below the body in the middle of its stance,
   and further along the error of the velocity,

       r = c + ċ (t_land − t) + home + ½ T_s ċ + k (ċ − c̄̇),      k = `CATCH` √(z/g).

3. *Levers* of a step are those of feet where they stand, or of the footholds they fly to, about the centre of
   mass where it is expected.
4. *Torques.* A foot that is on the ground, and that the plan leaves there, stands. The others follow the
   heights of the plan and, ahead and aside, a smooth path to the foothold. Centre of mass and attitude
   follow the plan, accelerations first.

The controller remembers its plan: it belongs to one run at a time, and begins anew where time goes back. A
plan that is not found is recorded, and the last one goes on. A program that is not solved is an error.

References: [DiCarlo2018]; [Raibert1986] for where feet land; [Herzog2016] for the torques.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taction._core.arrays import Array
from taction._core.errors import BadInput, CertificateError
from taction.control.walking.footsteps import progress, smooth_step
from taction.control.walking.gaits import Gait
from taction.control.whole_body import WholeBody, WholeBodyAnswer
from taction.dynamics.operational_space import Terms
from taction.planning.centroidal import BODY, Body, centroidal_system, leg_forces, shares
from taction.planning.dispatch import make_planner
from taction.planning.predictive import PlanRecord, moved_on
from taction.planning.problem import Cost, Motion, Plan, PlanningProblem, Polytope

CATCH = 0.7  # part of √(z/g) by which feet land further along an error of the velocity
NEAR = 0.3  # how far a target may be from the centre of mass, of its height
ON, LANDED = 0.01, 0.001  # heights, of z, up to which a foot that stood, or flew, is on the ground
STILL = 0.02  # slower than this, of ω z, a foot that flew has landed at the first height already
SOLVED = 1e-8  # residual that a program may have
FOLLOW, SWING, STAND = (7.0, 5.2), (27.0, 10.4), (0.0, 13.0)  # stiffness [ω²] and damping [ω] of tasks
JOINTS = (2.7, 3.1)
# Weights, lengths in heights z of the centre of mass, times in √(z/g), forces in weights
PLACE, ANGLE, RATE, TURN = (10.0, 10.0, 50.0), (20.0, 20.0, 20.0), (2.0, 2.0, 2.0), (0.2, 0.2, 0.2)
FOOT, FOOT_RATE, FORCE, LAST = 100.0, 0.1, 0.02, 5.0
FAR = 100.0  # bounds of states, in the same units


@dataclass(frozen=True)
class Course:
    """Where a robot should go: along x, after standing for a while.

    Attributes:
        gait: when feet lift.
        speed: ahead [m/s].
        step_height: by which feet rise [m].
        start: how long it stands first [s].
        ramp: time in which the speed grows [s].
    """

    gait: Gait
    speed: float = 0.2
    step_height: float = 0.05
    start: float = 1.0
    ramp: float = 1.0

    def heights(self, t: Array) -> tuple[Array, Array]:
        """Of the feet over the ground, and their rates, at times (n,): shape (n, k) each [m, m/s]."""
        legs = range(len(self.gait.lift))
        s = np.array([[self.gait.swung(k, float(one), self.start) for k in legs] for one in t])
        x = np.clip(s, 0.0, 1.0)
        rise = 64.0 * self.step_height * (x * (1.0 - x)) ** 3
        return rise, 192.0 * self.step_height * (x * (1.0 - x)) ** 2 * (1.0 - 2.0 * x) / self.gait.swing

    def place(self, t: Array) -> tuple[Array, Array]:
        """Way along x and speed at times (n,): shape (n,) each [m, m/s]."""
        way = progress(t, self.start, self.speed, self.ramp)
        gone = np.clip((t - self.start) / max(self.ramp, 1e-9), 0.0, 1.0)
        return way, self.speed * gone


class CentroidalWalk:
    """A controller that walks by plans; for `Simulation.run`.

    Args:
        body: the robot's program, with its feet, and its base the first other frame.
        stance: from which it starts, on the ground, shape (nq,).
        course: where it goes, and how feet should lift.
        friction: μ that plans count on.
        method: of planning, a name of `taction.planning.dispatch.METHODS`.
        horizon: steps of a plan.
        plan_dt: length of a step, and time between two plans [s].
        options: of the method.

    Attributes:
        record: what it planned since the motion began.

    Raises:
        BadInput: a gait of another number of feet, no base among the frames.
    """

    def __init__(
        self,
        body: WholeBody,
        stance: ArrayLike,
        course: Course,
        *,
        friction: float = 0.5,
        method: str = "admm",
        horizon: int = 10,
        plan_dt: float = 0.03,
        **options: Any,
    ) -> None:
        model, q = body.model, body.model.check_q(stance, "stance")
        frames = [name for name in body.frames if name not in body.feet]
        if not frames or len(course.gait.lift) != len(body.feet):
            raise BadInput("CentroidalWalk: the program needs the feet of the gait, and the base as a frame")
        self.body, self.stance, self.course, self.base = body, q, course, frames[0]
        self.method, self.horizon, self.dt, self.options = method, horizon, plan_dt, options
        self._feet = tuple(body.feet)
        self._rows = np.array([body.frames[name] for name in self._feet])
        terms = body.look(q, np.zeros(model.nv))
        k = body.frames[self.base]
        self._axes = terms.axes[k].reshape(3, 3).copy()
        self._homes, self._start = terms.place[self._rows].copy(), terms.centre.copy()
        self._middle = self._homes[:, :2].mean(axis=0)
        self._ground = float(self._homes[:, 2].mean())
        self._z = float(terms.centre[2]) - self._ground
        gravity = float(np.linalg.norm(model.tree.gravity))
        self._w = math.sqrt(gravity / self._z)
        turn = terms.J[k, :3]
        arm = terms.centre - terms.place[k]
        mass = model.total_mass
        whole = np.linalg.pinv(turn.T) @ terms.M @ np.linalg.pinv(turn)  # about the base's origin
        inertia = whole - mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        self.robot = Body(mass, inertia, self._feet, gravity)
        self._forces = leg_forces(self.robot, friction)
        self._cost, self._bounds = self._weights()
        self._begin()

    def _weights(self) -> tuple[Cost, Polytope]:
        """Weights and bounds of plans, for a robot of this size."""
        k, z, w = len(self._feet), self._z, self._w
        unit = np.concatenate([np.full(3, z), np.ones(3), np.full(3, z * w), np.full(3, w),
                               np.full(k, z), np.full(k, z * w)])  # fmt: skip
        Q = np.diag(
            np.concatenate([PLACE, ANGLE, RATE, TURN, np.full(k, FOOT), np.full(k, FOOT_RATE)]) / unit**2
        )
        return Cost(Q, FORCE * np.eye(3 * k), LAST * Q), Polytope.box(-FAR * unit, FAR * unit)

    def _begin(self) -> None:
        """Forget all plans."""
        self.record = PlanRecord()
        self._last, self._planned = -math.inf, -math.inf
        self._plan: Plan | None = None
        self._next: Plan | None = None
        self._from = self._homes[:, :2].copy()  # where feet left the ground, or stand
        self._lifted = np.zeros(len(self._feet))  # when they left it
        self._up = np.zeros(len(self._feet), dtype=bool)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques at a time [s] and a state, shape (nv,)."""
        if t <= self._last:
            self._begin()
        self._last = t
        terms = self.body.look(q, v)
        if t >= self._planned + self.dt - 1e-9:
            self._make_plan(t, terms)
        answer = self._follow(t, q, v, terms)
        if not (answer.is_solved and answer.residual <= SOLVED):
            raise CertificateError(
                f"whole-body control: the program at t = {t:.4g} s ended as {answer.status.name.lower()} "
                f"with a residual of {answer.residual:.3g}"
            )
        return answer.tau

    def _state(self, terms: Terms) -> Array:
        """The state of the body on feet."""
        k = self.body.frames[self.base]
        height, rate, on = self._heights(terms)
        height, rate = np.where(on, 0.0, height), np.where(on, np.maximum(rate, 0.0), rate)
        return np.concatenate(
            [terms.centre, self._angles(terms), terms.centre_rate, terms.rate[k, :3], height, rate]
        )

    def _heights(self, terms: Terms) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Of the feet over the ground, their rates, and whether they are on it, (k,) each.

        A round foot that leans has its lowest point elsewhere, and so a height that is not quite zero.
        """
        height, rate = terms.place[self._rows, 2] - self._homes[:, 2], terms.rate[self._rows, 5]
        rests = (height < ON * self._z) & (~self._up | (np.abs(rate) < STILL * self._w * self._z))
        return height, rate, rests | (height < LANDED * self._z)

    def _angles(self, terms: Terms) -> Array:
        """By which the base is turned from its attitude in the stance, (3,)."""
        R = terms.axes[self.body.frames[self.base]].reshape(3, 3) @ self._axes.T
        return 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])

    def _targets(self, t: Array, x: Array) -> tuple[Array, Array, Array]:
        """x̄ (n, …), ū (n, …) and the centre of mass (n, 3) that is expected at times (n,)."""
        k, n = len(self._feet), len(t)
        way, speed = self.course.place(t)
        ease = smooth_step(np.clip(t / max(self.course.start, 1e-9), 0.0, 1.0))[:, None]
        place = np.zeros((n, 3))
        place[:, :2] = (1.0 - ease) * self._start[:2] + ease * self._middle
        place[:, 0] += way
        place[:, 2] = self._start[2]
        away = place[0, :2] - x[:2]
        place[:, :2] -= away - np.clip(away, -NEAR * self._z, NEAR * self._z)
        target = np.zeros((n, BODY + 2 * k))
        target[:, :3], target[:, 6] = place, speed
        target[:, BODY : BODY + k], target[:, BODY + k :] = self.course.heights(t)
        drawn = np.linspace(1.0, 0.0, n)[:, None]
        return (
            target,
            shares(self.robot, target[:, BODY : BODY + k] <= 0.0),
            place + drawn * (x[:3] - place[0]),
        )

    def _foothold(self, k: int, t: float, land: float, x: Array) -> Array:
        """Where foot k should land at a time [s], (2,)."""
        _, speed = self.course.place(np.array([t]))
        rate = x[6:8]
        error = rate - np.array([float(speed[0]), 0.0])
        ahead = rate * (land - t + 0.5 * self.course.gait.stance) + CATCH / self._w * error
        return x[:2] + self._homes[k, :2] - self._middle + ahead

    def _landing(self, k: int, t: float) -> float:
        """When foot k lands next in the gait, if it does not stand at a time [s]; else minus infinity."""
        gone = self.course.gait.swung(k, t, self.course.start)
        return t + (1.0 - gone) * self.course.gait.swing if gone >= 0.0 else -math.inf

    def _arms(self, times: Array, x: Array, terms: Terms, centre: Array) -> list[Array]:
        """Feet (k, 3) from the centre of mass that is expected (n, 3), at times (n,) [s]."""
        t, feet, out = float(times[0]), terms.place[self._rows].copy(), []
        moved = self._up.copy()
        for k in map(int, np.flatnonzero(moved)):
            feet[k, :2] = self._foothold(k, t, max(self._landing(k, t), t), x)
            feet[k, 2] = self._homes[k, 2]
        for now, middle in zip(map(float, times), centre, strict=True):
            for k in map(int, np.flatnonzero(~moved)):
                land = self._landing(k, now)
                if land > now:
                    feet[k, :2], moved[k] = self._foothold(k, t, land, x), True
            out.append(feet - middle)
        return out

    def _make_plan(self, t: float, terms: Terms) -> None:
        x, times = self._state(terms), np.asarray(t + self.dt * np.arange(self.horizon + 1), dtype=float)
        target, rest, centre = self._targets(times, x)
        arms = self._arms(times[:-1], x, terms, centre[:-1])
        systems = [centroidal_system(self.robot, feet, self.dt) for feet in arms]
        problem = PlanningProblem(systems, self.horizon, self._cost, self._bounds, self._forces)
        planner = make_planner(self.method, problem, **self.options)
        plan = planner.solve(x, target, rest[:-1], warm=self._next)
        good = plan if plan.motion is not None else self._next
        if good is None:
            raise CertificateError(f"the first plan of the walk was not found: {plan.message}")
        self.record.note(t, problem, x, good.u[0], (target[0], rest[0]), plan)
        self._plan, self._planned, self._next = good, t, moved_on(good)

    def _follow(self, t: float, q: Array, v: Array, terms: Terms) -> WholeBodyAnswer:
        """Torques that follow the first step of the plan."""
        assert self._plan is not None and self._plan.motion is not None
        motion, s, w = self._plan.motion, t - self._planned, self._w
        before, after = motion.x[0], motion.x[1]
        push = (after[6:12] - before[6:12]) / self.dt
        rate = before[6:12] + s * push
        place = before[:6] + s * before[6:12] + 0.5 * s * s * push
        k = self.body.frames[self.base]
        now = np.concatenate([terms.centre, self._angles(terms)])
        now_rate = np.concatenate([terms.centre_rate, terms.rate[k, :3]])
        want = push + FOLLOW[0] * w * w * (place - now) + FOLLOW[1] * w * (rate - now_rate)
        frames: dict[str, tuple[Array | None, Array | None]] = {self.base: (want[3:], None)}
        standing, x = [], self._state(terms)
        _, _, on = self._heights(terms)
        for i, name in enumerate(self._feet):
            f = self._rows[i]
            move = terms.rate[f, 3:]
            if on[i] and after[BODY + i] < ON * self._z:
                standing.append(name)
                frames[name] = (None, -STAND[1] * w * move)
                self._up[i], self._from[i] = False, terms.place[f, :2]
                continue
            if not self._up[i]:
                self._up[i], self._lifted[i] = True, t
            land = max(self._landing(i, t), self._lifted[i] + 0.5 * self.course.gait.swing, t)
            part = np.clip((t - self._lifted[i]) / (land - self._lifted[i]), 0.0, 1.0)
            way = self._foothold(i, t, land, x) - self._from[i]
            goal, goal_rate, swing = np.zeros(3), np.zeros(3), np.zeros(3)
            goal[:2] = self._from[i] + float(smooth_step(part)) * way
            goal_rate[:2] = 30.0 * (part * (1.0 - part)) ** 2 / (land - self._lifted[i]) * way
            goal[2], goal_rate[2], swing[2] = self._rise(motion, i, s)
            goal[2] += self._homes[i, 2]
            frames[name] = (
                None,
                swing + SWING[0] * w * w * (goal - terms.place[f]) + SWING[1] * w * (goal_rate - move),
            )
        joints = (
            JOINTS[0] * w * w * (self.stance - q)[self.body.coordinates] - JOINTS[1] * w * v[self.body.dofs]
        )
        return self.body.solve(q, v, centre=want[:3], frames=frames, joints=joints, standing=standing)

    def _rise(self, motion: Motion, i: int, s: float) -> tuple[float, float, float]:
        """Height, rate and acceleration of foot i, a time s after the plan: a cubic to the next height."""
        k, h = len(self._feet), self.dt
        begin, end = float(motion.x[0, BODY + i]), float(motion.x[1, BODY + i])
        later = float(motion.x[min(2, len(motion.x) - 1), BODY + i])
        rate = float(motion.x[0, BODY + k + i])
        last = 0.0 if end < 1e-6 * self._z else (later - begin) / (2.0 * h)
        way = (end - begin) / h
        b, c = (3.0 * way - 2.0 * rate - last) / h, (rate + last - 2.0 * way) / (h * h)
        return begin + s * (rate + s * (b + s * c)), rate + s * (2.0 * b + 3.0 * s * c), 2.0 * b + 6.0 * s * c
