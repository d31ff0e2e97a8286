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

Randomised parameters replace arrays of the scene, world by world: masses with first moments and inertias in
proportion (the centre of mass and the radii of gyration stay), friction coefficients of all shapes and pairs.

References: [Carpentier2019] for batches over threads of one read-only model.
"""

from __future__ import annotations

import os
import threading
import time as clock
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float, frozen
from taction._core.errors import BadInput, OverlapWarning
from taction._core.expect import number
from taction._core.show import brief, count, rows
from taction.control.contract import (
    Activated,
    Commanded,
    HasJointLaw,
    Scheduled,
    driven,
    joint_law_of,
    rest_plan,
    servos_of,
)
from taction.dynamics.joint_law import JointLaw
from taction.model.model import BODY_MASS, Model
from taction.sim.contact_engine import MESSAGES, ContactEngine
from taction.sim.overlap import NAMED
from taction.sim.state import SimState, digest
from taction.steppers import phases
from taction.steppers.columns import MOTION, PENETRATION, RESIDUAL, UNCONVERGED
from taction.steppers.driver import Driver
from taction.steppers.elements import RESTITUTION
from taction.steppers.records import Record
from taction.steppers.scene import Scene

RECORDS = ("states", "final")
PARAMETERS = ("mass_scale", "friction_scale", "friction")
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
        threads: how many threads took part.
        wall_s: time it took [s].
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
    threads: int
    wall_s: float

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
            f"{self.wall_s:.3g} s on {count(self.threads, 'thread')}",
        )

    @property
    def is_done(self) -> np.ndarray:
        """Which worlds took all their steps, shape (n,)."""
        return np.array([s == DONE for s in self.status])

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
    """
    model = engine.robot
    if record not in RECORDS:
        raise BadInput(f"record {record!r}: choose from {', '.join(RECORDS)}")
    starts = _starts(engine, states)
    count = len(starts)
    commands, steps = _check_controls(controls, count, steps)
    law, drive = _controls(engine, controller, commands, steps)
    scenes = _Scenes(engine, engine.scene(law, servos_of(controller, model)), count, parameters or {})
    crew = _crew(threads, count)
    rows = steps + 1 if record == "states" else 1
    q, v = np.full((count, rows, model.nq), np.nan), np.full((count, rows, model.nv), np.nan)
    ends: list[_End | None] = [None] * count
    queue = _Queue(count)

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
            for job in [pool.submit(work) for _ in range(crew)]:
                job.result()
    wall_s = clock.perf_counter() - begin
    done = [end for end in ends if end is not None]
    _name_overlaps(engine, [end.overlap for end in done])
    return Rollout(
        q=q,
        v=v,
        dt=engine.dt,
        final=[end.state for end in done],
        status=[DONE if end.missing == phases.DONE else MESSAGES[end.missing] for end in done],
        steps=np.array([end.reached for end in done], dtype=np.int64),
        residual=np.array([end.worst[0] for end in done]),
        motion=np.array([end.worst[1] for end in done]),
        penetration=np.array([end.worst[2] for end in done]),
        unconverged=np.array([end.unconverged for end in done], dtype=np.int64),
        threads=crew,
        wall_s=wall_s,
    )


class _End(NamedTuple):
    """How a world ended."""

    reached: int
    missing: int
    state: SimState
    worst: tuple[float, float, float]  # residual, motion, penetration
    unconverged: int
    overlap: float  # at a start from nothing


def _name_overlaps(engine: ContactEngine, depths: list[float]) -> None:
    """One warning about all worlds that started with an overlap; the first step of each has met it."""
    worlds = [i for i, depth in enumerate(depths) if depth > NAMED]
    if worlds:
        worst = max(worlds, key=lambda i: depths[i])
        text = (
            f"{engine.world.name}: {len(worlds)} of {len(depths)} worlds start with overlaps, the deepest of "
        )
        text += f"{depths[worst]:.3g} m in world {worst}; Simulation.overlaps(state) names the shapes"
        warnings.warn(text, OverlapWarning, stacklevel=4)


class _Queue:
    """Numbers of worlds, each handed out once."""

    def __init__(self, count: int) -> None:
        self._lock, self._at, self._count = threading.Lock(), 0, count

    def next(self) -> int | None:
        with self._lock:
            if self._at >= self._count:
                return None
            self._at += 1
            return self._at - 1

    def stop(self) -> None:
        """Hand out no more."""
        with self._lock:
            self._at = self._count


class _Scenes:
    """The scene of each world: one for all, or with arrays of its own where a parameter is randomised."""

    def __init__(
        self, engine: ContactEngine, common: Scene, count: int, parameters: Mapping[str, ArrayLike]
    ) -> None:
        self.common, self._engine = common, engine
        unknown = [name for name in parameters if name not in PARAMETERS]
        if unknown:
            raise BadInput(f"parameters: no {unknown[0]!r}; choose from {', '.join(PARAMETERS)}")
        if "friction" in parameters and "friction_scale" in parameters:
            raise BadInput("parameters: give friction or friction_scale, not both")
        values = {name: _parameter(engine.robot, name, value, count) for name, value in parameters.items()}
        self._mass, self._scale = values.get("mass_scale"), values.get("friction_scale")
        if self._mass is not None and engine.absolute is not None:
            self._mass = self._mass[:, engine.absolute.link]
        self._friction = values.get("friction")

    def of(self, i: int, start: SimState) -> Scene:
        """The scene of world i, which starts from there."""
        scene = self.common
        if len(start.exempt):
            scene = scene._replace(filter=self._engine.filter_of(start))
        if self._mass is not None:
            constant = np.array(scene.tree.constant)
            constant[:, BODY_MASS:] *= self._mass[i][:, None]
            scene = scene._replace(tree=scene.tree._replace(constant=frozen(constant)))
        if self._scale is not None or self._friction is not None:
            shape, pair = np.array(scene.surfaces.shape), np.array(scene.surfaces.pair)
            for numbers in (shape, pair):
                if self._friction is not None:
                    numbers[:, :RESTITUTION] = self._friction[i]
                elif self._scale is not None:
                    numbers[:, :RESTITUTION] *= self._scale[i]
            surfaces = scene.surfaces._replace(shape=frozen(shape), pair=frozen(pair))
            scene = scene._replace(surfaces=surfaces)
        return scene


def _parameter(model: Model, name: str, value: ArrayLike, count: int) -> Array:
    """Checked values of a parameter, (n,); scales of mass per link, (n, links)."""
    what = f"parameters[{name!r}]"
    if name != "mass_scale":
        out = as_float(value, (count,), what)
        if (out < 0).any():
            raise BadInput(f"{what}: must not be negative")
        return out
    bodies = len(model.body_names)
    out = as_float(value, (count,) if np.ndim(value) == 1 else (count, bodies), what)
    if (out <= 0).any():
        raise BadInput(f"{what}: must be positive")
    if out.ndim == 1:
        return np.repeat(out[:, None], model.n_links, axis=1)
    links = np.ones((count, model.n_links))
    links[:, model.body_link] = out
    if (links[:, model.body_link] != out).any():
        raise BadInput(f"{what}: bodies that are welded together scale together")
    return links


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
        b = driver.memory.blocks.rows.b[: 3 * int(driver.memory.blocks.count[0])]
        if np.isfinite(b).all():
            raise
        # the free velocity overflowed, and no solver takes such a problem
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
    unconverged = int((rows[:, UNCONVERGED] > 0).sum())
    return _End(reached, missing, end, (worst[0], worst[1], worst[2]), unconverged, overlap)


def _starts(engine: ContactEngine, states: Any) -> list[SimState]:
    """The states to start from, from any of their forms."""
    if isinstance(states, Sequence) and states and all(isinstance(s, SimState) for s in states):
        for i, state in enumerate(states):
            engine.model.check_q(state.q, f"states[{i}].q")
            engine.model.check_v(state.v, f"states[{i}].v")
        return list(states)
    model = engine.robot
    if isinstance(states, tuple) and len(states) == 2 and np.ndim(states[0]) == 2:
        (q, v), _ = model.check_batch(states[0], v=states[1])
    else:
        both = as_float(states, (None, model.nq + model.nv), "states")
        (q, v), _ = model.check_batch(both[:, : model.nq], v=both[:, model.nq :])
    if not len(q):
        raise BadInput("states: no worlds")
    return [engine.start(qi, vi) for qi, vi in zip(q, v, strict=True)]


def _check_controls(controls: ArrayLike | None, count: int, steps: int | None) -> tuple[Array | None, int]:
    """Controls as an array (n or 1, steps, nu), and the number of steps."""
    if steps is not None and (number(steps, "steps") != int(steps) or steps < 0):
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


def _crew(threads: int | None, count: int) -> int:
    if threads is None:
        return min(os.cpu_count() or 1, count)
    if isinstance(threads, bool) or int(threads) != threads or threads < 1:
        raise BadInput(f"threads: {threads!r} must be a whole number, at least 1")
    return min(int(threads), count)
