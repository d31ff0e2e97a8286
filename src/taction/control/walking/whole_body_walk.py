"""Walking with the whole body: torques that follow a plan, and steps that go where the robot would fall.

What it solves: a robot with a floating base and feet walks along x in a simulation that pushes back. At every
state, torques for the plan of `taction.control.walking.plan` by the program of `taction.control.whole_body`,
and, after a push, other footsteps.

Notation, in the plane of the ground: c, ċ centre of mass; ω² = g/z of the inverted pendulum of height z;
ξ = c + ċ/ω, the point at which a standing robot would have to step to come to rest; c*, ξ* those of the plan.

Method
1. *Tasks.* Centre of mass c̈ = c̈* + k_p (c* − c) + k_d (ċ* − ċ), height and attitude of the base kept, joints
   drawn to the stance; feet in the air follow their paths, feet on the ground stay.
2. *Other steps.* The plan's error ξ − ξ* grows with e^{ωt} whatever a small foot does. If a foot lands T from
   now, then Δ = (ξ − ξ*) e^{ωT} is by how much it should land elsewhere, and the plan goes on from there,
   moved by Δ. Errors below `DEAD` are left to the ankles. Until the foot lands, the plan's own centre of mass
   goes along the growing mode, c* + ½ Δ e^{−ωT}, and afterwards back along the decaying one: both are motions
   of the pendulum that ask the feet for nothing.
3. *Limits.* A foot lands at most `REACH` of the height from where it was planned, and a robot of two legs
   does not cross them: its feet stay at least `APART` of their distance in the stance apart.

The controller remembers its steps: it belongs to one run at a time, and begins anew where time goes back. A
program that is not solved is an error.

Departures: single footsteps are moved; their times are not.

References: [Kajita2003] for the plan; [Englsberger2015] for ξ and its plans; [Herzog2016] for the program.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taction._core.arrays import Array
from taction._core.errors import BadInput, CertificateError
from taction._core.expect import instance
from taction.control.walking.footsteps import smooth_step
from taction.control.walking.gaits import STRIDE, Gait, get_gait
from taction.control.walking.plan import Plan, plan_walk
from taction.control.whole_body import WholeBody, WholeBodyAnswer
from taction.dynamics.operational_space import Terms

Motion = tuple[Array, Array, Array]  # place, velocity, acceleration

INTERVAL = 5e-3  # between two samples of the plan [s]
DEAD = 0.045  # error of ξ that footsteps leave alone, of the height of the centre of mass
REACH = 0.5  # longest change of a footstep, of the height of the centre of mass
APART = 0.75  # smallest distance of two feet, of that in the stance
BACK = 0.2  # part of the way back to the plan that a step makes
SOLVED = 1e-8  # residual that a program may have
LATE = 0.15  # part of a swing, at its end, in which footsteps do not change any more


class Gains(NamedTuple):
    """Stiffness [ω²] and damping [ω] of each task, in the time of the robot's pendulum."""

    centre: tuple[float, float] = (2.7, 3.1)
    height: tuple[float, float] = (7.0, 5.2)
    attitude: tuple[float, float] = (7.0, 5.2)
    swing: tuple[float, float] = (27.0, 10.4)
    stand: tuple[float, float] = (0.0, 13.0)
    joints: tuple[float, float] = (2.7, 3.1)


class WholeBodyWalk:
    """A controller that walks; for `Simulation.run`.

    Args:
        body: the robot's program, with its feet, and its base among the frames.
        stance: from which it starts, on the ground, shape (nq,).
        gait: when feet lift, in the order of ``body.feet``: a name of `taction.control.walking.gaits` for
            four, a stride for two by default.
        speed: ahead [m/s].
        step_height: by which feet rise [m].
        start: how long it stands first [s].
        ramp: time in which the speed grows [s].
        duration: of the plan [s], until it is steady; its last period is repeated for ever.
        base: name of the body that is kept upright; the first frame by default.
        is_adapting: whether footsteps change after a push.
        gains: of the tasks.

    Attributes:
        plan: of the walk.

    Raises:
        BadInput: feet that the gait does not fit, impossible numbers.
    """

    def __init__(
        self,
        body: WholeBody,
        stance: ArrayLike,
        *,
        gait: str | Gait | None = None,
        speed: float = 0.2,
        step_height: float = 0.05,
        start: float = 1.0,
        ramp: float = 1.0,
        duration: float = 60.0,
        base: str | None = None,
        is_adapting: bool = True,
        gains: Gains = Gains(),  # noqa: B008  # it never changes
    ) -> None:
        instance(body, WholeBody, "the first argument of WholeBodyWalk")
        shape = STRIDE if gait is None else get_gait(gait) if isinstance(gait, str) else gait
        model, q = body.model, body.model.check_q(stance, "stance")
        if not (np.isfinite(duration) and duration >= start + ramp + shape.period):
            raise BadInput(
                f"WholeBodyWalk: a duration of at least {start + ramp + shape.period:g} s is needed, until "
                f"the plan repeats itself, got {duration!r}"
            )
        others = [name for name in body.frames if name not in body.feet]
        if not others:
            raise BadInput("WholeBodyWalk: the program needs a frame, the base, that is kept upright")
        self.body, self.stance, self.base = body, q, base or others[0]
        self.is_adapting = is_adapting
        self._feet = tuple(body.feet)
        terms = body.look(q, np.zeros(model.nv))
        self._rows = np.array([body.frames[name] for name in self._feet])
        homes = terms.place[self._rows].copy()
        self._axes = {name: terms.axes[k].reshape(3, 3).copy() for name, k in body.frames.items()}
        self._height = float(terms.centre[2])
        gravity = float(np.linalg.norm(model.tree.gravity))
        self.plan: Plan = plan_walk(
            homes, terms.centre.copy(), shape, speed=speed, step_height=step_height, start=start, ramp=ramp,
            interval=INTERVAL, count=round(duration / INTERVAL) + 2, ground=float(homes[:, 2].mean()),
            gravity=gravity,
        )  # fmt: skip
        self._omega = math.sqrt(gravity / self.plan.height)
        w = self._omega
        self._gains = Gains(*((kp * w * w, kd * w) for kp, kd in gains))
        plan, T = self.plan, INTERVAL
        rate = np.gradient(plan.centre, T, axis=0)
        self._centre = np.stack([plan.centre, rate, self._omega**2 * (plan.centre - plan.zmp)], axis=1)
        foot_rate = np.gradient(plan.feet, T, axis=0)
        self._swing = np.stack([plan.feet, foot_rate, np.gradient(foot_rate, T, axis=0)], axis=1)
        self._homes, self._stride = homes, speed * shape.period
        self._begin()

    def _begin(self) -> None:
        """Forget all steps."""
        self._last = -math.inf
        self._moved = np.zeros(2)  # by which the plan is moved from now on
        self._late = np.zeros(2)  # of the decaying mode
        self._change = np.zeros(2)  # Δ of the feet in the air
        self._offset = np.zeros((len(self._feet), 2))  # by which every foot stands elsewhere
        self._was_up = np.zeros(len(self._feet), dtype=bool)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Torques at a time [s] and a state, shape (nv,)."""
        if t <= self._last:
            self._begin()
        terms = self.body.look(q, v)
        (c, rate, push), (place, speed, swing) = self._planned(t)
        gait, start = self.plan.gait, self.plan.start
        swung = [gait.swung(k, t, start) for k in range(len(self._feet))]
        self._step(t, terms, swung, c + rate / self._omega, place)
        growing = self._growing(swung)
        w = self._omega
        c = c + self._moved + growing + self._late
        rate = rate + w * (growing - self._late)
        push = push + w * w * (growing + self._late)
        self._last = t
        answer = self._solve(q, v, terms, (c, rate, push), (place, speed, swing), swung)
        if not (answer.is_solved and answer.residual <= SOLVED):
            raise CertificateError(
                f"whole-body control: the program at t = {t:.4g} s ended as {answer.status.name.lower()} "
                f"with a residual of {answer.residual:.3g}"
            )
        return answer.tau

    def _planned(self, t: float) -> tuple[Motion, Motion]:
        """Motion of the centre of mass (2,) and of the feet (k, 3) of the plan at a time [s]."""
        end, period = float(self.plan.t[-2]), self.plan.gait.period
        again = max(math.ceil((t - end) / period), 0)
        x = max((t - again * period) / INTERVAL, 0.0)
        i = min(int(x), len(self.plan.t) - 2)
        s = x - i
        c, rate, push = (1.0 - s) * self._centre[i] + s * self._centre[i + 1]
        place, speed, swing = (1.0 - s) * self._swing[i] + s * self._swing[i + 1]
        if again:
            c[0] += again * self._stride
            place[:, 0] += again * self._stride
        return (c, rate, push), (place, speed, swing)

    def _left(self, swung: list[float]) -> float:
        """Time until the feet in the air land [s]."""
        return (1.0 - max(swung)) * self.plan.gait.swing

    def _growing(self, swung: list[float]) -> Array:
        """The growing mode of the moved plan, ½ Δ e^{−ωT}."""
        if max(swung) < 0.0:
            return np.zeros(2)
        return 0.5 * self._change * math.exp(-self._omega * self._left(swung))

    def _step(self, t: float, terms: Terms, swung: list[float], wanted: Array, place: Array) -> None:
        """Feet that land, and where those in the air should."""
        up = np.array(swung) >= 0.0
        if self._last > -math.inf:
            self._late = self._late * math.exp(-self._omega * (t - self._last))
        landed = self._was_up & ~up
        if landed.any():
            now = terms.place[self._rows[landed], :2] - place[landed, :2]
            self._offset[landed] = now
            change = now.mean(axis=0) - self._moved
            self._moved = self._moved + change
            self._late = self._late - 0.5 * change
            self._change = np.zeros(2)
        self._was_up = up
        if not (self.is_adapting and up.any()) or max(swung) > 1.0 - LATE:
            return
        now = terms.centre[:2] + terms.centre_rate[:2] / self._omega
        error = now - wanted - self._moved
        size = math.hypot(*error)
        error = error * max(0.0, 1.0 - DEAD * self.plan.height / size) if size > 0.0 else error
        change = error * math.exp(self._omega * self._left(swung))
        back = -BACK * self._moved
        self._change = self._within_reach(change + back, up)

    def _within_reach(self, change: Array, up: NDArray[np.bool_]) -> Array:
        """A change of footsteps (2,) [m] that the feet in the air can make."""
        longest = REACH * self.plan.height
        size = math.hypot(*change)
        change = change * (longest / size) if size > longest else change
        if len(self._feet) != 2:
            return change
        k = int(np.argmax(up))
        apart = self._homes[k, 1] - self._homes[1 - k, 1]
        stands = self._homes[1 - k, 1] + self._offset[1 - k, 1]
        gap = (self._homes[k, 1] + self._moved[1] + change[1] - stands) / apart
        if gap < APART:
            change = np.array([change[0], change[1] + (APART - gap) * apart])
        return change

    def _solve(
        self, q: Array, v: Array, terms: Terms, centre: Motion, feet: Motion, swung: list[float]
    ) -> WholeBodyAnswer:
        """The program for a place, velocity and acceleration of the centre of mass and of the feet."""
        g, body = self._gains, self.body
        (c, rate, push), (place, speed, swing) = centre, feet
        want = np.empty(3)
        want[:2] = push + g.centre[0] * (c - terms.centre[:2]) + g.centre[1] * (rate - terms.centre_rate[:2])
        want[2] = g.height[0] * (self._height - terms.centre[2]) - g.height[1] * terms.centre_rate[2]
        frames: dict[str, tuple[Array | None, Array | None]] = {
            self.base: (self._upright(self.base, terms, *g.attitude), None)
        }
        standing = []
        for k, name in enumerate(self._feet):
            f = self._rows[k]
            turn, move = terms.rate[f, :3], terms.rate[f, 3:]
            if swung[k] < 0.0:
                standing.append(name)
                frames[name] = (-g.stand[1] * turn, -g.stand[1] * move)
                continue
            s = swung[k]
            way = self._moved + self._change - self._offset[k]
            goal, goal_rate = place[k].copy(), speed[k].copy()
            goal[:2] += self._offset[k] + float(smooth_step(np.float64(s))) * way
            goal_rate[:2] += 30.0 * (s * (1.0 - s)) ** 2 / self.plan.gait.swing * way
            frames[name] = (
                self._upright(name, terms, *g.swing),
                swing[k] + g.swing[0] * (goal - terms.place[f]) + g.swing[1] * (goal_rate - move),
            )
        joints = g.joints[0] * (self.stance - q)[body.coordinates] - g.joints[1] * v[body.dofs]
        for name in self._feet:
            if len(body.feet[name]) == 1:
                frames[name] = (None, frames[name][1])
        return body.solve(q, v, centre=want, frames=frames, joints=joints, standing=standing)

    def _upright(self, name: str, terms: Terms, kp: float, kd: float) -> Array:
        """Angular acceleration that turns a frame back to its attitude in the stance."""
        k = self.body.frames[name]
        R = self._axes[name] @ terms.axes[k].reshape(3, 3).T
        turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return kp * turn - kd * terms.rate[k, :3]
