"""Whole-body control: torques for accelerations of centre of mass, feet, bodies and joints at once.

What it solves: the program (1)–(4) of `taction.solvers.whole_body` for a robot, its feet and whatever else
is to be moved; at every state anew, in a fraction of a millisecond.

>>> import numpy as np
>>> import taction as ta
>>> robot = ta.robots.walker()
>>> body = ta.WholeBody(robot.model, {leg.name: ta.sole(robot.model, leg.name) for leg in robot.legs})
>>> answer = body.solve(robot.stance, np.zeros(robot.model.nv), centre=(0.0, 0.0, 0.0))
>>> weight = float(sum(answer.forces.values()).sum(axis=0)[2])
>>> answer.is_solved, round(weight / robot.model.total_mass, 2)
(True, 9.81)

What is not mentioned counts nothing: without wishes for centre of mass or frames, feet stay where they are
and joints are held, as far as their small weights go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.control.drives import Drives
from taction.control.pd import PD
from taction.dynamics.operational_space import Terms, frames_of, operational_terms
from taction.model.model import Model
from taction.model.workspace import make_workspace
from taction.solvers.quadratic_program import Program, ProgramScratch, Status
from taction.solvers.whole_body import Points, Tasks, solve_whole_body

FORCE_UNIT = 0.1  # of the weight
MARGIN, NEAR = 0.15, 0.1  # how near to a stop a joint turns back [rad or m], and as a part of its range
STOP = (400.0, 40.0)  # stiffness [1/s²] and damping [1/s] with which it does
LEAST = 1e-6  # weight of accelerations that nobody asks for


class Weights(NamedTuple):
    """How much tasks count; squares of accelerations [m/s², rad/s²], forces in tenths of the weight."""

    standing: float = 1e4  # feet that stand
    centre: float = 1e3
    swinging: float = 3e2  # feet in the air
    tilting: float = 3e1  # their attitude
    frame: float = 1e2
    joints: float = 1.0
    legs: float = 1e-3  # joints on the way to a foot, which feet, base and centre of mass determine
    stops: float = 1e2  # joints that are near a stop
    force: float = 1e-2


@dataclass(frozen=True, eq=False)
class WholeBodyAnswer:
    """Torques, and what they lead to if the contacts are as assumed.

    Attributes:
        tau: forces of the motors on all degrees of freedom [N or N m], shape (nv,); zero where none drives.
        acceleration: of all degrees of freedom, shape (nv,).
        forces: on the points of each foot, world axes [N], shape (k, 3) each.
        status: how the program ended.
        residual: of its conditions of a minimum, relative.
    """

    tau: Array
    acceleration: Array
    forces: dict[str, Array]
    status: Status
    residual: float

    __repr__ = brief_repr

    @property
    def is_solved(self) -> bool:
        """Whether the program has this answer."""
        return self.status is Status.SOLVED


class WholeBody:
    """A whole-body controller's program, posed and solved for one state at a time.

    Args:
        model: the robot.
        feet: points with which each foot touches, body axes [m], shape (k, 3), by the name of the body; see
            `taction.control.walking.soles.sole`.
        frames: names of other bodies whose motion may be asked for, at their origins.
        joints: names of the driven joints; those with motors by default, see `taction.control.drives`.
        limit: largest forces of the motors: ``"model"`` for those of its file, numbers as for `Drives`, or
            None.
        friction: μ that forces may use, one for all feet.
        weights: of the tasks.

    Raises:
        BadInput: unknown bodies or joints, impossible numbers.
    """

    def __init__(
        self,
        model: Model,
        feet: Mapping[str, ArrayLike],
        *,
        frames: Sequence[str] = (),
        joints: Sequence[str] | None = None,
        limit: ArrayLike | str | None = "model",
        friction: float = 0.5,
        weights: Weights = Weights(),  # noqa: B008  # it never changes
    ) -> None:
        instance(model, Model, "the first argument of WholeBody")
        if not (np.isfinite(friction) and friction > 0.0):
            raise BadInput(f"whole-body control: friction must be positive and finite, got {friction!r}")
        if min(weights) <= 0.0 or not np.isfinite(weights).all():
            raise BadInput(f"whole-body control: weights must be positive and finite, got {weights}")
        self.model, self.weights = model, weights
        points = {name: as_float(given, (None, 3), f"points of {name}") for name, given in feet.items()}
        self.feet = points
        self._rows = {}
        listed: list[tuple[str, Array]] = []
        for name, given in points.items():
            self._rows[name] = slice(len(listed), len(listed) + len(given))
            listed += [(name, point) for point in given]
        count = len(listed)
        listed += [(name, given.mean(axis=0)) for name, given in points.items()]
        listed += [(name, np.zeros(3)) for name in frames]
        self.frames = {name: count + k for k, name in enumerate([*points, *frames])}
        self._frames = frames_of(model, listed)
        drives = Drives(model, joints, limit)
        self.dofs = drives.dofs
        nv, f = model.nv, len(listed)
        unit = FORCE_UNIT * (float(np.linalg.norm(model.tree.gravity)) or 9.81) * model.total_mass
        self._unit, self._ws, self._mass = unit, make_workspace(model), model.total_mass
        self._q, self._v = np.zeros(model.nq), np.zeros(nv)
        self.terms = Terms.allocate(nv=nv, f=f)
        self.terms.still[:] = 0.0
        self._tasks = Tasks.allocate(nv=nv, f=f)
        self._points = Points(
            axes=np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], (count, 1)),
            friction=np.full(count, float(friction)),
            is_on=np.zeros(count, dtype=np.int64),
        )
        n, m = nv + 3 * count, nv + len(self.dofs) + 4 * count
        self._program = Program.allocate(n=n, m=m)
        self._scratch = ProgramScratch.allocate(n=n, m=m)
        self._tau, self._force = np.zeros(nv), np.zeros((count, 3))
        tasks = self._tasks
        tasks.limit[:] = 0.0
        tasks.limit[self.dofs] = drives.limits
        tasks.joint_weight[:] = LEAST
        self.look(model.q0, np.zeros(nv))
        moves_feet = (self.terms.J[:count] != 0.0).any(axis=(0, 1))
        self._joint_weight = np.where(moves_feet[self.dofs], weights.legs, weights.joints)
        self.coordinates = PD(kp=0.0, joints=joints).coordinates(model)
        self._low, self._high = model.lower[self.dofs], model.upper[self.dofs]
        self._margin = np.minimum(MARGIN, NEAR * (self._high - self._low))
        tasks.force_weight[0] = weights.force

    def look(self, q: Array, v: Array) -> Terms:
        """Operational-space terms at q (nq,), v (nv,): where frames and centre of mass are and how they move.

        They change with the next call.
        """
        self._q[:], self._v[:] = q, v  # one kind of array, so one specialisation
        operational_terms(
            self.model.tree, self._frames, self._mass, self._q, self._v, self._ws, self.terms
        )  # fmt: skip
        return self.terms

    def solve(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        centre: ArrayLike | None = None,
        frames: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = None,
        joints: ArrayLike | None = None,
        standing: Iterable[str] | None = None,
    ) -> WholeBodyAnswer:
        """Torques at a state.

        Args:
            q: configuration, shape (nq,).
            v: velocity, shape (nv,).
            centre: acceleration that is wanted of the centre of mass [m/s²], shape (3,).
            frames: of feet and frames, by name: angular [rad/s²] and linear [m/s²], shape (3,) each, or None.
            joints: of the driven joints, shape (m,); zero by default.
            standing: names of the feet that stand, which are pushed and stay; all by default.

        Raises:
            BadInput: unknown names, wrong shapes.
        """
        q, v = self.model.check_q(q), self.model.check_v(v)
        self.look(q, v)
        tasks, weights = self._tasks, self.weights
        tasks.weight[:], tasks.wanted[:] = 0.0, 0.0
        self._points.is_on[:] = 0
        for name in self.feet if standing is None else standing:
            k = self._frame(name, self.feet)
            self._points.is_on[self._rows[name]] = 1
            tasks.weight[k, 3 if len(self.feet[name]) == 1 else 0 :] = weights.standing
        for name, (angular, linear) in (frames or {}).items():
            k = self._frame(name, self.frames)
            is_on = name in self.feet and self._points.is_on[self._rows[name]].any()
            is_up = name in self.feet and not is_on
            turn = weights.standing if is_on else weights.tilting if is_up else weights.frame
            move = weights.standing if is_on else weights.swinging if is_up else weights.frame
            for rows, weight, wanted in ((slice(0, 3), turn, angular), (slice(3, 6), move, linear)):
                if wanted is not None:
                    tasks.weight[k, rows] = weight
                    tasks.wanted[k, rows] = as_float(wanted, (3,), f"acceleration of {name}")
        tasks.centre_weight[:] = 0.0 if centre is None else weights.centre
        tasks.centre_wanted[:] = 0.0 if centre is None else as_float(centre, (3,), "centre")
        self._want_joints(q, v, 0.0 if joints is None else as_float(joints, (len(self.dofs),), "joints"))
        tasks.passive[:] = -self.model.damping * v
        return self._solved()

    def _want_joints(self, q: Array, v: Array, wanted: Array | float) -> None:
        """What joints should do; near a stop, more and more, to turn back."""
        dofs, tasks = self.dofs, self._tasks
        at, rate = q[self.coordinates], v[dofs]
        below, above = self._low + self._margin - at, at - self._high + self._margin
        inside = np.maximum(np.maximum(below, above), 0.0)
        share = np.minimum(inside / self._margin, 1.0) ** 2
        kp, kd = STOP
        back = kp * np.where(below > above, inside, -inside) - kd * rate
        weight = self._joint_weight + share * self.weights.stops
        tasks.joint_weight[dofs] = weight
        tasks.joint_wanted[dofs] = (self._joint_weight * wanted + share * self.weights.stops * back) / weight

    def _solved(self) -> WholeBodyAnswer:
        status, residual = solve_whole_body(
            self.terms, self._points, self._tasks, self._unit, self._scratch, self._program,
            self._tau, self._force,
        )  # fmt: skip
        x = self._scratch.x
        return WholeBodyAnswer(
            tau=self._tau.copy(),
            acceleration=x[: self.model.nv].copy(),
            forces={name: self._force[rows].copy() for name, rows in self._rows.items()},
            status=Status(status),
            residual=residual,
        )

    def _frame(self, name: str, among: Mapping[str, object]) -> int:
        if name not in among:
            raise BadInput(f"whole-body control: no foot or frame {name!r}; there are {', '.join(among)}")
        return self.frames[name]
