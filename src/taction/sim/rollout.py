"""Rollouts: many worlds over many steps on all cores, for sampling, learning and sensitivity.

What it does: n worlds of one `Simulation`, each from its own state, with its own controls and, if asked for,
its own masses and friction. Threads take worlds one after the other; the whole horizon of a world is one call
of compiled code, which holds no interpreter lock (`taction.steppers.driver`).

Same bits whatever the circumstances. World i is the same, bit for bit, for any number of threads, any batch
around it and any order, and is what `Simulation.run` gives: a step reads its world's state, the scene and its
controls, and nothing that an earlier world left in the thread's memory (`taction.steppers.scene`). A final
state continues like the end of a run.

Controls are held over a step. They are
* joint forces τ (nv,), without a controller;
* position targets of the controlled joints, with a `PD`: the gains are implicit in the step as always, and a
  target ρ enters through the constant part of the law alone, as the joint force k_p ρ;
* the control vector of the actuators, with `Actuators`: k_p u, k_v u or u, times the gear.

A world that fails (a state that is not finite, a singular mass matrix) is reported in `Rollout.status`; its
rows from there on are NaN, its final state is the last good one, and the others go on.

Parameters of each world are those of `taction.sim.worlds`.

References: [Carpentier2019] for batches over threads of one read-only model.
"""

from __future__ import annotations

import time as clock
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import number
from taction._core.show import brief, count, rows
from taction.control.contract import (
    Activated,
    Commanded,
    HasJointLaw,
    Scheduled,
    driven,
    joint_law_of,
    read_controller,
    refuse_memory,
    rest_plan,
    servos_of,
)
from taction.dynamics.joint_law import JointLaw
from taction.model.model import Model
from taction.sim.columns import data_frame, position_columns, velocity_columns
from taction.sim.contact_engine import ContactEngine
from taction.sim.failure import explain
from taction.sim.state import SimState, digest
from taction.sim.step_count import require_room
from taction.sim.worlds import (
    Queue,
    Scenes,
    crew_size,
    has_overflown,
    name_loops_at_start,
    name_overlaps_at_start,
    name_ranges_at_start,
    read_starts,
    wait_for,
)
from taction.steppers import phases
from taction.steppers.columns import INACCURATE, MOTION, PENETRATION, RESIDUAL, UNCONVERGED
from taction.steppers.driver import Driver
from taction.steppers.records import Record
from taction.steppers.scene import Scene

RECORDS = ("states", "final")
DONE = "done"


@dataclass(frozen=True, eq=False)
class Rollout:
    """What `rollout` brings back, one row per world.

    Attributes:
        q: configurations, shape (n, steps + 1, nq), or (n, 1, nq) where only the end was asked for.
        v: velocities, shape (n, steps + 1, nv) or (n, 1, nv).
        dt: time step [s].
        final: where each world ended; `Simulation.run` and `rollout` continue from it bit for bit.
        status: ``"done"``, or why a world stopped early.
        steps: steps that each world took, shape (n,).
        residual: worst relative natural-map residual of the contact laws, shape (n,).
        motion: worst relative residual of the equation of motion, shape (n,).
        penetration: deepest overlap [m], shape (n,).
        unconverged: steps whose contact problem was not solved to the tolerance, shape (n,).
        inaccurate: steps that were less accurate than asked for, shape (n,).
        threads: how many threads took part.
        wall_s: time it took [s].
        model: what moved.
    """

    q: Array
    v: Array
    dt: float
    final: list[SimState]
    status: list[str]
    steps: IntArray
    residual: Array
    motion: Array
    penetration: Array
    unconverged: IntArray
    inaccurate: IntArray
    threads: int
    wall_s: float
    model: Model

    def __len__(self) -> int:
        return len(self.final)

    def __repr__(self) -> str:
        ended, most = Counter(self.status), int(self.steps.max(initial=0))
        residual, motion = (brief(x.max(initial=0.0)) for x in (self.residual, self.motion))
        return rows(
            f"<Rollout of {count(len(self), 'world')}: up to {count(most, 'step')} of {self.dt:g} s>",
            f"q {self.q.shape}, v {self.v.shape}",
            ", ".join(f"{number} {text}" for text, number in ended.most_common(4)),
            f"worst residual {residual}, motion {motion}; {int(self.unconverged.sum())} steps not converged",
            f"{missed} steps less accurate than asked for" if (missed := int(self.inaccurate.sum())) else "",
            f"{self.wall_s:.3g} s on {count(self.threads, 'thread')}",
        )

    @property
    def is_done(self) -> np.ndarray:
        """Which worlds took all their steps, shape (n,)."""
        return np.array([s == DONE for s in self.status])

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every recorded number by name with its unit; one row per world and state that it reached.

        ``world`` and ``step`` say which; ``t``, ``q[…]`` and ``v[…]`` are named as in a run.
        """
        is_whole = self.q.shape[1] == 1
        step = self.steps[:, None] if is_whole else np.arange(self.q.shape[1])[None]
        step = np.broadcast_to(step, self.q.shape[:2])
        is_there = step <= self.steps[:, None]
        ends = np.array([state.t for state in self.final])
        t = ends[:, None] - self.dt * (self.steps[:, None] - step)
        world = np.broadcast_to(np.arange(len(self))[:, None], step.shape)
        out = {"world": (world[is_there], "1"), "step": (step[is_there], "1"), "t": (t[is_there], "s")}
        for name, columns, array in (
            ("q", position_columns(self.model), self.q),
            ("v", velocity_columns(self.model), self.v),
        ):
            found = array[is_there]
            out |= {f"{name}[{column.name}]": (found[:, c], column.unit) for c, column in enumerate(columns)}
        return out

    def to_dataframe(self) -> Any:
        """`columns` as a pandas data frame; the units are in its ``attrs["units"]``.

        Raises:
            BadInput: pandas is not installed.
        """
        return data_frame(self.columns)

    def hashes(self) -> list[str]:
        """A digest of each world's recorded configurations and velocities: equal digests mean equal bits."""
        return [digest(q, v) for q, v in zip(self.q, self.v, strict=True)]


def rollout(
    engine: ContactEngine,
    states: Any,
    controls: ArrayLike | None = None,
    *,
    steps: int | None = None,
    controller: HasJointLaw | None = None,
    threads: int | None = None,
    record: str = "states",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Rollout:
    """Run many worlds of a simulation.

    Args:
        engine: of a `Simulation` of a `World`.
        states: where they start: an array (n, nq + nv), a pair of q (n, nq) and v (n, nv), or n `SimState`.
        controls: held over each step, shape (n, steps, nu), or (steps, nu) for all worlds; the module text
            says what they mean. None: no forces, or the controller's own targets.
        steps: how many; by default as many as there are controls.
        controller: a `PD` or the model's `Actuators`.
        threads: by default one per core.
        record: ``"states"`` keeps all states, ``"final"`` the last ones.
        parameters: numbers of each world: ``"mass_scale"`` (n,), or (n, nb) body by body;
            ``"friction_scale"`` (n,); ``"friction"`` (n,), one coefficient for everything.

    Raises:
        BadInput: impossible arguments. A world that fails is no error: see `Rollout.status`.

    Warns:
        OverlapWarning: worlds start with overlaps.
        LoopWarning: worlds start with open loops.
        RangeWarning: worlds start with joints or tendons beyond their stops.
    """
    model = engine.robot
    if record not in RECORDS:
        raise BadInput(f"record {record!r}: choose from {', '.join(RECORDS)}")
    starts = read_starts(engine, states)
    count = len(starts)
    commands, steps = _check_controls(controls, count, steps)
    law, drive = _controls(engine, controller, commands, steps)
    scenes = Scenes(engine, engine.scene(law, servos_of(controller, model)), count, parameters or {})
    crew = crew_size(threads, count)
    rows = steps + 1 if record == "states" else 1
    kept, each = count * rows * (model.nq + model.nv), model.nq + 5 * model.nv + 4
    require_room(kept + steps * each, f"{count} worlds of {steps:.3g} steps", "take fewer steps or worlds")
    q, v = np.full((count, rows, model.nq), np.nan), np.full((count, rows, model.nv), np.nan)
    ends: list[_End | None] = [None] * count
    queue = Queue(count)

    def work() -> None:
        driver, scratch = engine.driver(scenes.common), engine.record(steps)
        is_kept = record == "states" and engine.absolute is None
        while (i := queue.next()) is not None:
            kept = scratch._replace(q=q[i], v=v[i]) if is_kept else scratch
            try:
                scene = scenes.of(i, starts[i])
                ends[i] = end = _run_world(engine, driver, scene, drive, i, starts[i], kept, steps)
            except BaseException:
                queue.stop()
                raise
            if record == "final":
                s = end.state
                q[i], v[i] = engine.joint_state(s.q[None], s.v[None], s.angle[None])
            elif not is_kept:
                n = end.reached + 1
                q[i, :n], v[i, :n] = engine.joint_state(kept.q[:n], kept.v[:n], kept.angle[:n])

    begin = clock.perf_counter()
    if crew == 1:
        work()
    else:
        with ThreadPoolExecutor(crew) as pool:
            jobs = [pool.submit(work) for _ in range(crew)]
            wait_for(jobs, queue)
    wall_s = clock.perf_counter() - begin
    done = [end for end in ends if end is not None]
    name_overlaps_at_start(engine, [end.overlap for end in done], stacklevel=4)
    name_loops_at_start(engine, starts, stacklevel=4)
    name_ranges_at_start(engine, starts, stacklevel=4)
    return Rollout(
        q=q,
        v=v,
        dt=engine.dt,
        final=[end.state for end in done],
        status=[_status(engine, end) for end in done],
        steps=np.array([end.reached for end in done], dtype=np.int64),
        residual=np.array([end.worst[0] for end in done]),
        motion=np.array([end.worst[1] for end in done]),
        penetration=np.array([end.worst[2] for end in done]),
        unconverged=np.array([end.unconverged for end in done], dtype=np.int64),
        inaccurate=np.array([end.inaccurate for end in done], dtype=np.int64),
        threads=crew,
        wall_s=wall_s,
        model=model,
    )


class _End(NamedTuple):
    """How a world ended."""

    reached: int
    missing: int
    state: SimState
    worst: tuple[float, float, float]  # residual, motion, penetration
    unconverged: int
    inaccurate: int
    overlap: float  # at a start from nothing


def _status(engine: ContactEngine, end: _End) -> str:
    """How a world ended, in words."""
    if end.missing == phases.DONE:
        return DONE
    return explain(end.missing, engine.robot, engine.look(end.state)[0])


def _run_world(
    engine: ContactEngine,
    driver: Driver,
    scene: Scene,
    drive: Drive,
    i: int,
    start: SimState,
    record: Record,
    steps: int,
) -> _End:
    """All steps of world i."""
    state, (tau, act) = engine.inner(start), drive(i, start, steps)
    record.v[1:] = np.nan
    record.q[0], record.v[0], record.angle[0] = state.q, state.v, state.angle
    try:
        reached, missing, state, _ = driver.advance(scene, tau, 0, steps, state, record)
    except BadInput:
        if not has_overflown(driver):
            raise
        reached, missing = int(np.isfinite(record.v).all(axis=1).sum()) - 1, phases.NOT_FINITE
    t, rows = start.t + reached * engine.dt, record.step[:reached]
    if missing == phases.DONE:
        end = engine.outer(state, t, start, act)
    else:  # the failed step may have left anything in the state: the last good one is in the record
        none = state._replace(
            q=record.q[reached],
            v=record.v[reached],
            angle=record.angle[reached],
            count=np.zeros(1, dtype=np.int64),
        )
        end = engine.outer(none, t, start, drive(i, start, reached)[1])
    worst = [float(rows[:, c].max(initial=0.0)) for c in (RESIDUAL, MOTION, PENETRATION)]
    overlap = float(rows[0, PENETRATION]) if len(rows) and not len(start.key) else 0.0
    unconverged, inaccurate = (int((rows[:, c] > 0).sum()) for c in (UNCONVERGED, INACCURATE))
    return _End(reached, missing, end, (worst[0], worst[1], worst[2]), unconverged, inaccurate, overlap)


def _check_controls(controls: ArrayLike | None, count: int, steps: int | None) -> tuple[Array | None, int]:
    """Controls as an array (n or 1, steps, nu), and the number of steps."""
    if steps is not None and not (np.isfinite(number(steps, "steps")) and 0 <= steps == int(steps)):
        raise BadInput(f"steps: {steps!r} must be a whole number, not negative")
    if controls is None:
        if steps is None:
            raise BadInput("give steps, or controls for every step")
        return None, int(steps)
    out = as_float(controls, (None, None) if np.ndim(controls) == 2 else (count, None, None), "controls")
    out = out[None] if out.ndim == 2 else out
    if steps is not None and out.shape[1] != steps:
        raise BadInput(f"controls: expected {steps} steps, got {out.shape[1]}")
    return out, out.shape[1]


# The drive (steps or 1, nv + m) of a world over steps from its start, and its activations after them
Drive = Callable[[int, SimState, int], tuple[Array, Array]]


def _controls(
    engine: ContactEngine, controller: Any, commands: Array | None, steps: int
) -> tuple[JointLaw | None, Drive]:
    """The law that steps treat implicitly, and what drives each world."""
    model = engine.robot
    nothing = np.zeros((1, model.nv))
    if controller is None:
        if commands is None:
            return None, lambda i, start, n: (nothing, start.act)
        if commands.shape[2] != model.nv:
            raise BadInput(f"controls: {model.nv} joint forces per step expected, got {commands.shape[2]}")
        return None, lambda i, start, n: (_own(commands, i), start.act)
    if not isinstance(controller, HasJointLaw) or not isinstance(controller, Commanded):
        raise BadInput(
            f"a rollout is controlled by a PD or Actuators, not by {type(controller).__name__}: "
            "functions are for Simulation.run"
        )
    refuse_memory(read_controller(controller, model), "a rollout")
    if commands is not None and len(commands) == 1 and not isinstance(controller, Activated):
        shared = controller.drive(model, commands[0])  # converted once for all worlds
        return controller.gains(model), lambda i, start, n: (shared, start.act)
    if commands is not None:
        return controller.gains(model), lambda i, start, n: driven(
            controller, model, _own(commands, i)[:n], start.act, engine.dt
        )
    if isinstance(controller, Scheduled):
        times = engine.dt * np.arange(max(steps, 1))
        return controller.gains(model), lambda i, start, n: driven(
            controller, model, controller.schedule(start.t + times[:n]), start.act, engine.dt
        )
    plan = rest_plan(controller, model, servos_of(controller, model))
    held = nothing if plan is None else plan(np.zeros(1), np.zeros(0), engine.dt)[0]
    return joint_law_of(controller, model), lambda i, start, n: (held, start.act)


def _own(commands: Array, i: int) -> Array:
    """Those of world i of commands (n or 1, steps, nu)."""
    return commands[0] if len(commands) == 1 else commands[i]
