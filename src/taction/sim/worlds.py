"""Many worlds of one simulation: where they start, what differs between them, who takes which.

Randomised parameters replace arrays of the scene, world by world: masses with first moments and inertias in
proportion (the centre of mass and the radii of gyration stay), friction coefficients of all shapes and pairs.

References: [Carpentier2019] for batches over threads of one read-only model.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float, frozen
from taction._core.errors import BadInput, LoopWarning, OverlapWarning, RangeWarning
from taction._core.names import choose
from taction.model.model import BODY_MASS, Model
from taction.sim import open_loops, out_of_range
from taction.sim.contact_engine import ContactEngine
from taction.sim.overlap import NAMED
from taction.sim.state import SimState
from taction.steppers.driver import Driver
from taction.steppers.elements import RESTITUTION
from taction.steppers.scene import Scene

PARAMETERS = ("mass_scale", "friction_scale", "friction")


def name_overlaps_at_start(engine: ContactEngine, depths: Sequence[float], stacklevel: int) -> None:
    """One warning about all worlds that started with an overlap; the first step of each has met it."""
    worlds = [i for i, depth in enumerate(depths) if depth > NAMED]
    if worlds:
        worst = max(worlds, key=lambda i: depths[i])
        text = (
            f"{engine.world.name}: {len(worlds)} of {len(depths)} worlds start with overlaps, the deepest of "
        )
        text += f"{depths[worst]:.3g} m in world {worst}; Simulation.overlaps(state) names the shapes"
        warnings.warn(text, OverlapWarning, stacklevel=stacklevel)


def name_ranges_at_start(engine: ContactEngine, starts: Sequence[SimState], stacklevel: int) -> None:
    """One warning about all worlds that start, from nothing, with a joint or tendon beyond its stop."""
    q, v, angle = (np.stack([getattr(start, name) for start in starts]) for name in ("q", "v", "angle"))
    farthest = out_of_range.farthest_out(engine.robot, engine.joint_state(q, v, angle)[0])
    is_out = farthest > out_of_range.NAMED
    worlds = [i for i, start in enumerate(starts) if is_out[i] and engine.is_new(start)]
    if worlds:
        k = worlds[int(farthest[worlds].argmax())]
        warnings.warn(
            f"{engine.world.name}: {len(worlds)} of {len(starts)} worlds start with joints or tendons beyond "
            f"their stops, world {k} farthest: {out_of_range.describe(engine.out_of_range(starts[k]))}",
            RangeWarning,
            stacklevel=stacklevel,
        )


def name_loops_at_start(engine: ContactEngine, starts: Sequence[SimState], stacklevel: int) -> None:
    """One warning about all worlds that start, from nothing, with an open loop."""
    if not engine.robot.spec.loops:
        return
    found = {i: loops for i, start in enumerate(starts) if (loops := engine.open_loops(start))}
    if found:
        k = max(found, key=lambda i: max(found[i][0].distance, found[i][0].angle))
        warnings.warn(
            f"{engine.world.name}: {len(found)} of {len(starts)} worlds start with open loops, world {k} "
            f"widest: {open_loops.describe(found[k])}; the first steps close them",
            LoopWarning,
            stacklevel=stacklevel,
        )


class Queue:
    """Numbers of worlds, each handed out once."""

    def __init__(self, count: int) -> None:
        self._lock, self._at, self._count = threading.Lock(), 0, count

    def next(self) -> int | None:
        """The next one, None when all are handed out."""
        with self._lock:
            if self._at >= self._count:
                return None
            self._at += 1
            return self._at - 1

    def stop(self) -> None:
        """Hand out no more."""
        with self._lock:
            self._at = self._count


def wait_for(jobs: Iterable[Future[None]], queue: Queue) -> None:
    """Wait until jobs are done; where one fails, and at Ctrl-C, worlds that did not start do not."""
    try:
        for job in jobs:
            job.result()
    except BaseException:
        queue.stop()
        raise


class Scenes:
    """The scene of each world: one for all, or with arrays of its own where a parameter is randomised."""

    def __init__(
        self, engine: ContactEngine, common: Scene, count: int, parameters: Mapping[str, ArrayLike]
    ) -> None:
        self.common, self._engine = common, engine
        unknown = [name for name in parameters if name not in PARAMETERS]
        if unknown:
            raise BadInput(f"parameters: no {unknown[0]!r}; {choose(unknown[0], PARAMETERS)}")
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


def read_starts(engine: ContactEngine, states: Any) -> list[SimState]:
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


def has_overflown(driver: Driver) -> bool:
    """Whether the free velocity of the step at hand overflowed, so that no solver took its problem."""
    blocks = driver.memory.blocks
    return not np.isfinite(blocks.rows.b[: 3 * int(blocks.count[0])]).all()


def crew_size(threads: int | None, count: int) -> int:
    """How many threads take part; by default one per core."""
    if threads is None:
        return min(os.cpu_count() or 1, count)
    if isinstance(threads, bool) or int(threads) != threads or threads < 1:
        raise BadInput(f"threads: {threads!r} must be a whole number, at least 1")
    return min(int(threads), count)
