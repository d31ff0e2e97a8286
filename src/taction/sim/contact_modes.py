"""Inverse dynamics in a contact mode that is given: what sticks, slides or is open, and what forbids it.

What it solves: forces of motors and contacts for velocities u of the driven joints at the end of a step, as
`taction.sim.inverse_dynamics`, but with a guess instead of the laws: each contact *sticks* (u = 0), *slides*
(u_N = 0, friction on the rim of its cone, against the slip), or is *open* (Λ = 0). Then the laws are asked.

Notation: Λ = F z impulses of all rows, z one number per direction that the mode leaves free; E the rows that
it makes equations; W, b the problem of the step with driven joints held (`taction.steppers.held_drives`).

Method
1. E (W F z + b) = 0, the least z where there are many. The direction of slip is that of the velocities which
   come out, by Powell's method from that of the velocities which the laws lead to.
2. Where some point then pulls or leaves its cone and z is not unique, other z of contacts that stick: non-
   negative combinations of `RAYS` edges of each cone, by non-negative least squares. That cone is smaller by
   half a percent.
3. The step is finished with these impulses, and judged from its velocities: sign of the loads, cones,
   velocities as the mode says, limits of the motors. What is wrong has a name.

Departures: joints without a drive may have equations (loops, mimic), but no stop or dry friction in reach.

References: [AlartCurnier1991] for the states of contacts; [LawsonHanson1995, Chapter 23] for step 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput, IntegrationError
from taction._core.jit import plain
from taction._core.names import instead
from taction.contact.assembly import LENGTH, OFFSET, SOURCE, VELOCITY, problem_rows
from taction.contact.blocks import BlockRows
from taction.contact.laws.dispatch import apexes, rowwise
from taction.control.drives import Drives
from taction.sim.simulation import Simulation
from taction.sim.state import SimState
from taction.sim.stepper import ContactView, StepReport
from taction.steppers import phases
from taction.steppers.impulse_step import advance
from taction.steppers.records import make_table
from taction.steppers.scene import SERVO

STICK, SLIDE, OPEN = "stick", "slide", "open"
MODES = (STICK, SLIDE, OPEN)
MOTOR, JOINT = "motor", "joint"  # blocks that are no contacts
TURNED = 1e-14  # of the direction of slip: what may be left [rad]
RAYS = 32
FLAT = 1e-12  # least friction coefficient that is divided by
SLACK = 1e-9  # of impulses and velocities, relative to the largest
cut_rows = plain(problem_rows)


@dataclass(frozen=True, eq=False)
class ModeStep:
    """A step in a given mode.

    Attributes:
        tau: forces on all degrees of freedom [N or N m], shape (nv,).
        velocity: at the end of the step, shape (nv,).
        contacts: of the step.
        report: what the step says of itself, by the laws of contact.
        violated: what the laws forbid about it, in words.
    """

    tau: Array
    velocity: Array
    contacts: ContactView
    report: StepReport
    violated: tuple[str, ...]


class ModeSolver:
    """Steps of a simulation in contact modes that are given, under drives without limits.

    Args:
        sim: of a world, with the exact law and joint coordinates.
        drives: which joints are driven.

    Raises:
        BadInput: another law, or other coordinates.
    """

    def __init__(self, sim: Simulation, drives: Drives) -> None:
        engine = sim.engine
        if engine.contact != "exact" or engine.absolute is not None:
            raise BadInput("modes: for contact='exact' in joint coordinates")
        self.engine, self.drives = engine, Drives(drives.model, drives.joints)
        law, servos = self.drives.joint_law(engine.robot), self.drives.servos(engine.robot)
        self.scene = engine.scene(law, servos)
        self.driver = engine.driver(self.scene)

    def solve(self, state: SimState, wanted: Array, modes: Mapping[str, str], near: Array) -> ModeStep:
        """The step from a state with velocities ``wanted`` (m,) of the driven joints, in a mode per body.

        near (nv,): velocities at its end from which directions of slip are sought.

        Raises:
            BadInput: unknown bodies or modes; a stop or dry friction of an undriven joint takes part.
            IntegrationError: the step cannot be posed.
        """
        world, driver = self.engine.given, self.driver
        for body, mode in modes.items():
            for name, known, what in ((body, world.model.body_names, "body"), (mode, MODES, "mode")):
                if name not in known:
                    raise BadInput(f"modes: no {what} {name!r}; {instead(name, known)}")
        scene = self.scene._replace(filter=self.engine.filter_of(state))
        drive = self.drives.drive(self.engine.robot, wanted[None])
        driver.pose(scene, drive[0], self.engine.inner(state))
        blocks, inner = driver.memory.blocks, driver.with_room(self.engine.inner(state))
        rows = cut_rows(blocks)
        k = len(rows.kind)
        touches = [self._touch(int(i), modes) for i in blocks.index[:k, SOURCE]]
        used = np.arange(blocks.dof.shape[1]) < blocks.index[:k, LENGTH, None]
        slip = np.einsum("kdc,kd->kc", blocks.J[:k], np.where(used, near[blocks.dof[:k]], 0.0)).ravel()
        blocks.r[: 3 * k] = _Guess(rows, touches).impulses(slip)
        record, table = self.engine.record(1), make_table(k + 1)
        options = driver.options._replace(move_h=0.0)
        _, missing = advance(
            scene, options, drive, 0, 1, phases.FINISH, True, driver.memory, inner, np.zeros(1), record, table
        )
        if missing != phases.DONE:
            raise IntegrationError(f"{world.model.name}: the step cannot be finished in this mode")
        u = blocks.number[:k, OFFSET : OFFSET + 3] + blocks.number[:k, VELOCITY : VELOCITY + 3]
        violated = _judge(rows, touches, blocks.r[: 3 * k].reshape(-1, 3), u)
        touching = {name for touch in touches for name in touch.names}
        violated += [f"{b} does not touch" for b, m in modes.items() if m != OPEN and b not in touching]
        return ModeStep(
            tau=record.tau[0],
            velocity=inner.v,
            contacts=ContactView(table, self.engine.dt, self.engine),
            report=StepReport(record.step[0]),
            violated=tuple(dict.fromkeys(violated)),
        )

    def _touch(self, source: int, modes: Mapping[str, str]) -> _Touch:
        """What is behind a block with this source."""
        if source < 0:
            return _Touch(MOTOR if source == SERVO else JOINT)
        world = self.engine.given
        bodies = world.shape_body[self.driver.memory.sight.contacts.shape[source]]
        names = [world.model.body_names[b] if b >= 0 else "the ground" for b in bodies]
        if bodies[0] < 0:
            names.reverse()
        return _Touch(next((modes[name] for name in names if name in modes), OPEN), tuple(names))


class _Touch(NamedTuple):
    """A block: the mode of a contact and its bodies, one that moves first; or what else it is."""

    mode: str
    names: tuple[str, ...] = ()


class _Guess:
    """Impulses of a mode.

    Args:
        rows: the problem.
        touches: its blocks.

    Raises:
        BadInput: a stop or dry friction of an undriven joint takes part.
    """

    def __init__(self, rows: BlockRows, touches: list[_Touch]) -> None:
        self.rows, self.mode = rows, [touch.mode for touch in touches]
        self.W, n = _dense(rows), 3 * len(rows.kind)
        self.given, self.is_smooth = np.zeros(n), rowwise(rows.kind)
        self.equations: list[int] = []  # rows
        self.sliding: list[int] = []  # rows of normals
        for k, name in enumerate(self.mode):
            low, high = rows.sets[k, 0:6:2], rows.sets[k, 1:6:2]
            if name in (MOTOR, JOINT):
                is_free = (low == -math.inf) | ((low < high) & (name == MOTOR))
                if ((low < high) & ~is_free).any():
                    raise BadInput("modes: a stop or the dry friction of an undriven joint takes part")
                self.given[3 * k : 3 * k + 3] = np.where(is_free, 0.0, low)
                self.equations += [3 * k + c for c in range(3) if is_free[c]]
            elif name != OPEN:
                is_rough = not self.is_smooth[k]
                self.equations += [3 * k + c for c in range(3 if is_rough and name == STICK else 1)]
                self.sliding += [3 * k] if is_rough and name == SLIDE else []

    def impulses(self, slip: Array) -> Array:
        """Λ of all rows, shape (3k,); directions of slip are sought from those of slip (3k,)."""
        from scipy.optimize import root

        angle = np.arctan2(slip[[row + 2 for row in self.sliding]], slip[[row + 1 for row in self.sliding]])
        if len(angle):
            angle = root(self._turn, angle, tol=TURNED).x
        F, S, c = self._system(angle)
        impulse = self._least(F, S, c)
        return impulse if self._is_allowed(impulse) else self._other(F, c, impulse)

    def _system(self, angle: Array) -> tuple[Array, Array, Array]:
        """F, E W F and what E (W Λ + b) is without z, for slips at these angles."""
        F, E = np.zeros((len(self.given), len(self.equations))), self.equations
        F[E, np.arange(len(E))] = 1.0
        for row, a in zip(self.sliding, angle, strict=True):
            rim = _rim(self.rows.sets[row // 3], np.array([math.cos(a), math.sin(a)]))
            F[row + 1 : row + 3, E.index(row)] = -rim
        return F, self.W[E] @ F, self.rows.b[E] + self.W[E] @ self.given

    def _least(self, F: Array, S: Array, c: Array) -> Array:
        """Λ of the least z."""
        return self.given + F @ np.linalg.lstsq(S, -c, rcond=1e-10)[0]

    def _turn(self, angle: Array) -> Array:
        """Sines of the angles between slips at these angles and the velocities that come out."""
        u = self.rows.b + self.W @ self._least(*self._system(angle))
        along, across = (u[[row + i for row in self.sliding]] for i in (1, 2))
        return (across * np.cos(angle) - along * np.sin(angle)) / np.maximum(np.hypot(along, across), FLAT)

    def _is_allowed(self, impulse: Array) -> bool:
        slack = SLACK * np.abs(impulse).max(initial=0.0)
        stuck = [k for k, name in enumerate(self.mode) if name in (STICK, SLIDE)]
        return all(_excess(self.rows, k, impulse[3 * k : 3 * k + 3]) <= slack for k in stuck)

    def _other(self, F: Array, c: Array, impulse: Array) -> Array:
        """Impulses within the cones that do the same, where there are; else ``impulse``."""
        from scipy.optimize import nnls

        columns = []
        for j, row in enumerate(self.equations):
            name, k = self.mode[row // 3], row // 3
            if name == STICK and not self.is_smooth[k]:
                if row % 3 == 0:
                    columns += [
                        np.r_[np.zeros(row), 1.0, g, np.zeros(len(F) - row - 3)]
                        for g in _edges(self.rows.sets[k])
                    ]
            else:
                columns += [F[:, j]] if name in MODES else [F[:, j], -F[:, j]]
        G = np.array(columns).T
        share, left = nnls(self.W[self.equations] @ G, -c)
        return self.given + G @ share if left <= SLACK * np.linalg.norm(c) else impulse


def _dense(rows: BlockRows) -> Array:
    """W, shape (3k, 3k)."""
    k = len(rows.kind)
    W = np.zeros((3 * k, 3 * k))
    for i in range(k):
        for m in range(rows.start[i], rows.start[i + 1]):
            j = rows.column[m]
            W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = rows.value[m].reshape(3, 3)
    return W


def _rim(sets: Array, slip: Array) -> Array:
    """Friction against a slip (2,) per load, turned round, shape (2,); none where nothing slips."""
    axes = np.array([sets[1] if slip[0] > 0.0 else sets[0], sets[2]])
    size = float(np.linalg.norm(axes * slip))
    return axes**2 * slip / size if size > 0.0 else np.zeros(2)


def _edges(sets: Array) -> list[Array]:
    """Corners (2,) of a polygon within the section of a cone."""
    angles = 2.0 * np.pi * np.arange(RAYS) / RAYS
    return [
        np.array([(sets[0] if math.cos(a) >= 0.0 else sets[1]) * math.cos(a), sets[2] * math.sin(a)])
        for a in angles
    ]


def _excess(rows: BlockRows, k: int, impulse: Array) -> float:
    """By how much the impulse (3,) of contact k pulls, or leaves its cone; of the size of an impulse."""
    load = impulse[0] + apexes(rows.kind, rows.sets)[k]
    if rowwise(rows.kind)[k]:
        return float(-load)
    axes = np.array([rows.sets[k, 0 if impulse[1] >= 0.0 else 1], rows.sets[k, 2]])
    return float(max(-load, np.linalg.norm(impulse[1:] / np.maximum(axes, FLAT)) - load))


def _judge(rows: BlockRows, touches: list[_Touch], r: Array, u: Array) -> list[str]:
    """What the laws forbid about impulses r and velocities u (k, 3)."""
    violated, load = [], SLACK * np.abs(r).max(initial=0.0)
    speed = SLACK * max(np.abs(rows.b).max(initial=0.0), np.abs(u).max(initial=0.0))
    hold, is_smooth = apexes(rows.kind, rows.sets), rowwise(rows.kind)
    for k, (mode, names) in enumerate(touches):
        slip = float(np.linalg.norm(u[k, 1:]))
        if mode == OPEN and u[k, 0] < -speed:
            violated.append(f"{names[0]} enters {names[1]}")
        if mode not in (STICK, SLIDE):
            continue
        if r[k, 0] + hold[k] < -load:
            violated.append(f"{names[0]} pulls")
        elif _excess(rows, k, r[k]) > load:
            violated.append(f"{names[0]} leaves the cone")
        left = np.zeros(2) if is_smooth[k] else r[k, 1:] + (r[k, 0] + hold[k]) * _rim(rows.sets[k], u[k, 1:])
        if abs(u[k, 0]) > speed or (mode == STICK and slip > speed):
            violated.append(f"{names[0]} cannot {mode}")
        elif mode == SLIDE and slip <= speed:
            violated.append(f"{names[0]} does not slide")
        elif mode == SLIDE and np.abs(left).max() > load:
            violated.append(f"{names[0]} cannot slide")  # in no direction that was found
    return violated
