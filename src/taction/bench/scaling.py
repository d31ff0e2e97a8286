"""How the cost of a step grows with the length of a snake, in both coordinates, against MuJoCo.

A chain of n links with cardan joints, two contact spheres each, lies on the floor and bends by its servos
from straight to a wave, sliding as it goes. Every engine has the same masses, shapes, friction (isotropic,
which is all that the peer knows), gains and step; each follows its own motion from the same start. The clock
runs over the same stretch of that motion again and again, while the links move, in rounds over all lengths
and engines, so that a slow spell of the machine hits all of them; the best time counts. Where a step of the
peer takes seconds its stretch is shorter.

`slope` is the exponent p of time ~ n^p by least squares over all lengths; `memory` the peak of the arrays
that a step of ours works on [bytes], from what is allocated. In joint coordinates every contact moves every
joint towards the head, so W is full and its factor costs n³: those rows end at `REDUCED_MOST` links.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.layout import Layout
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step import Stepper
from taction.bench.timing import machine
from taction.control.pd import PD
from taction.model.shapes import Plane
from taction.robots.snake import snake
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World
from taction.steppers.columns import CONTACTS, ITERATIONS, JOINT_GAP, RESIDUAL, UNCONVERGED

LINKS = (10, 30, 100, 300, 1000)
REDUCED_MOST = 100
DT, FRICTION, KP, KD = 1e-3, 0.3, 400.0, 20.0
BEND, WAVES = 0.35, 0.87  # [rad] amplitude of the joints, and phase from one to the next
LENGTH, RADIUS, DISTANCE, MASS = 0.269, 0.0795, 0.1016, 7.0
ACROSS, ALONG = 0.045, 0.0055  # moments of inertia of a link [kg m²]
SETTLE, STRETCH = 20, 20  # steps before the clock runs, and while it does
BUDGET, ROUNDS = 3.0, 4  # seconds of timed steps per length and engine, and in how many parts
PEER_MEMORY = 2**21  # bytes per link that the peer may use: with less it drops contacts of long snakes


def bend_targets(links: int) -> Array:
    """Angles (horizontal, vertical) of all joints, shape (2 (links − 1),)."""
    target = np.zeros((links - 1, 2))
    target[:, 0] = BEND * np.sin(WAVES * np.arange(1, links))
    return target.ravel()


def snake_peer(links: int) -> Any:
    """The same snake for the peer, made part by part: files nest no deeper than a few hundred bodies."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.memory = PEER_MEMORY * max(links, 10)
    spec.option.timestep = DT
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[5, 5, 0.1],
        contype=1,
        conaffinity=0,
        friction=[FRICTION, 0, 0],
    )
    body = spec.worldbody
    for i in range(links):
        # a body's frame is its joint, the head's its centre; e_z along the link
        z = 0.0 if i == 0 else 0.5 * LENGTH
        if i == 0:
            body = body.add_body(pos=[0, 0, RADIUS], quat=[0.5, 0.5, 0.5, 0.5])
            body.add_freejoint()
        else:
            body = body.add_body(pos=[0, 0, 0.5 * LENGTH if i == 1 else LENGTH])
            for name, axis in ((f"h{i}", [0, 1, 0]), (f"v{i}", [1, 0, 0])):
                body.add_joint(name=name, axis=axis).damping[0] = KD
                servo = spec.add_actuator(target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                servo.biastype = mujoco.mjtBias.mjBIAS_AFFINE
                servo.gainprm[0], servo.biasprm[1] = KP, -KP
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = MASS, [0, 0, z], [ACROSS, ACROSS, ALONG]
        for side in (DISTANCE, -DISTANCE):
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=[0, 0, z + side], size=[RADIUS, 0, 0], contype=0,
                conaffinity=1, friction=[FRICTION, 0, 0],
            )  # fmt: skip
    return spec.compile()


def bench_scaling(
    *, links: Sequence[int] = LINKS, tol: float = TOLERANCE, budget: float = BUDGET
) -> dict[str, Any]:
    """Time per step by length; rows as in the documentation of ``taction bench``, and the slopes."""
    lengths = [_engines(n, tol, budget) for n in links]
    for _ in range(ROUNDS):
        for engines in lengths:
            for timed in engines.values():
                timed.measure(budget / ROUNDS)
    rows = [_row(n, engines) for n, engines in zip(links, lengths, strict=True)]
    slopes = {
        key: _slope([(r["links"], r[key]) for r in rows if r[key] is not None])
        for key in ("ours", "reduced", "peer", "memory")
    }
    return {"bench": "scaling", "machine": machine(), "tol": tol, "slope": slopes, "rows": rows}


def _slope(points: list[tuple[int, float]]) -> float | None:
    if len(points) < 2:
        return None
    n, cost = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(n, cost, 1)[0])


def our_snake(links: int, coordinates: str, tol: float) -> Stepper:
    """A snake of ours in some coordinates, its servos set to the bend."""
    model = snake(links=links, friction=(FRICTION, FRICTION))
    world = World(model, ground=Plane(friction=FRICTION))
    law = PD(kp=KP, kd=KD, target=bend_targets(links)).joint_law(model)
    return Stepper(Simulation(world, dt=DT, tol=tol, coordinates=coordinates), law)


def memory_of(stepper: Stepper) -> int:
    """Bytes of all arrays that a step works on."""
    return sum(_bytes(part) for part in (stepper.driver.memory, stepper.state, stepper.scene))


def _bytes(part: Any) -> int:
    if isinstance(part, np.ndarray):
        return part.nbytes
    return sum(map(_bytes, part._asdict().values())) if isinstance(part, Layout) else 0


class Timed:
    """An engine at the start of the stretch that is timed, and its best time of a step so far.

    Args:
        engine: at rest; it takes its first steps now.
        budget: seconds that these may take, and half of it the stretch.
    """

    def __init__(self, engine: Any, budget: float) -> None:
        self.engine, self.best = engine, math.inf
        begin, done = time.perf_counter(), 0
        while done < SETTLE and (done == 0 or time.perf_counter() - begin < budget):
            engine.advance(1)
            done += 1
        engine.keep()
        self.steps = max(1, min(STRETCH, int(0.5 * budget * done / (time.perf_counter() - begin))))

    def measure(self, budget: float) -> None:
        """Go over the stretch again and again for so many seconds, at least once."""
        spent = 0.0
        while spent < budget:
            self.engine.restore()
            begin = time.perf_counter()
            self.engine.advance(self.steps)
            took = time.perf_counter() - begin
            self.best, spent = min(self.best, took / self.steps), spent + took


def _engines(links: int, tol: float, budget: float) -> dict[str, Timed]:
    """All that can step a snake of this length."""
    engines = {"ours": Timed(our_snake(links, "absolute", tol), budget)}
    if links <= REDUCED_MOST:
        engines["reduced"] = Timed(our_snake(links, "reduced", tol), budget)
    if mujoco_name() is not None:
        peer = MujocoPeer(snake_peer(links))
        peer.data.ctrl[:] = bend_targets(links)
        engines["peer"] = Timed(peer, budget)
    return engines


def _row(links: int, engines: dict[str, Timed]) -> dict[str, Any]:
    """The row of one length."""
    ours = engines["ours"].engine
    step = ours.record.step
    row: dict[str, Any] = {"case": f"{links} links", "links": links, "unit": "µs"}
    for name in ("ours", "reduced", "peer"):
        row[name] = 1e6 * engines[name].best if name in engines else None
    row |= {
        "memory": memory_of(ours),
        "residual": float(step[:, RESIDUAL].max()),
        "joint_gap": float(step[:, JOINT_GAP].max()),
        "contacts": float(step[:, CONTACTS].mean()),
        "iterations": float(step[:, ITERATIONS].mean()),
        "unconverged": int((step[:, UNCONVERGED] > 0).sum()),
        "speed": float(np.abs(ours.state.v).max()),
        "peer_name": mujoco_name(),
        "ratio": None,
        "peer_residual": None,
    }
    if "peer" in engines:
        row["ratio"] = row["ours"] / row["peer"]
        if links <= REDUCED_MOST:
            row["peer_residual"] = engines["peer"].engine.residual()
    return row
